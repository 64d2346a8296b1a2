"""Several releases from one spec: paid together or not at all, in one folder."""

import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import dawa as library
from dawa import ledger, paying, pipeline, sources
from dawa.errors import ExhaustedError, OptionError, SourceError
from dawa.publish import recovery
from dawa.results import traces
from helpers.commands import dawa, names, refused

pytestmark = pytest.mark.usefixtures("somewhere")

SPEC = """
out = "both"
[source]
file = "{people}"
[about]
publisher = "The office"
[privacy]
epsilon = 1
ledger = "ledger.db"
dataset = "hr"
[[release]]
name = "ages"
share = "1/3"
[[release.axes]]
column = "age"
start = 0
stop = 120
[[release]]
name = "pay"
where = "age >= 18"
options = {{ effort = "fast" }}
queries = "asked.csv"
[[release.axes]]
column = "income"
start = 0
stop = 500000
step = 100
"""


@pytest.fixture
def spec(people, somewhere):  # noqa: ARG001  it changes the folder
    Path("asked.csv").write_text("lo,hi\n0,20000\n", encoding="utf-8")
    Path("spec.toml").write_text(SPEC.format(people=people), encoding="utf-8")
    assert dawa("ledger", "create", "hr", "--cap", "2", "--ledger", "ledger.db").code == 0
    return Path("spec.toml")


def book():
    return ledger.opened("ledger.db")


def test_all_are_made_and_paid(spec):
    told = dawa("release", spec)
    assert told.code == 0, told.err
    assert names("both") == {"ages", "pay", "README.md", "index.html"}
    ages, pay = (library.load(f"both/{name}/release.json") for name in ("ages", "pay"))
    assert (ages.privacy.epsilon, pay.privacy.epsilon) == (Fraction(1, 3), Fraction(2, 3))
    assert pay.privacy.where == "age >= 18"
    assert (ages.about.publisher, pay.estimate.options["effort"]) == ("The office", "fast")
    assert "answers.csv" in names("both/pay")
    history = book().history()
    assert [entry.kind for entry in history] == ["create", "reserve", "reserve", "finalise", "finalise"]
    assert [entry.file for entry in history[3:]] == [
        str(Path("both/ages").absolute()),
        str(Path("both/pay").absolute()),
    ]
    assert book().account("hr").left == 1
    assert "Together they spent epsilon = 1, and are 1-differentially private for each record." in told.out
    assert "The ledger has 1 of 2 left for hr." in told.out
    said = Path("both/README.md").read_text(encoding="utf-8")
    assert "| [ages](ages/) | along `age` | 1/3 |" in said
    assert "| [pay](pay/) | along `income`, of records where age >= 18 | 2/3 |" in said
    assert "All of them together are 1-differentially private for each record" in said
    assert not names(".") - {"both", "spec.toml", "asked.csv", "ledger.db"}


def test_machines_read_it(spec):
    found = dawa("release", spec, "--json").json
    assert (found["folder"], found["epsilon"], found["ledger"]["left"]) == ("both", "1", "1")
    assert list(found["releases"]) == ["ages", "pay"]
    assert len(found["releases"]["pay"]["answers"]) == 1
    assert found["releases"]["ages"]["folder"] == "both/ages"


@pytest.mark.long
def test_the_budget_of_all_is_checked_at_once(spec):
    assert dawa("release", spec).code == 0
    book().raise_cap("hr", "2.5", why="a half would pay for the first alone")
    assert dawa("release", spec, "--out", "again").code == 0
    refused(dawa("release", spec, "--out", "third"), "has 0.5 left of its cap of 2.5", "the 2 releases", code=3)
    assert not Path("third").exists()
    assert book().account("hr").left == Fraction(1, 2)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('column = "income"', 'column = "incme"', "incme"),
        ("effort =", "efort =", "efort"),
        ('where = "age >= 18"', 'where = "agee >= 18"', "agee"),
        ("stop = 500000", "stop = 0", "income"),
        ('queries = "asked.csv"', 'queries = "none.csv"', "none.csv"),
        ('name = "pay"', 'name = "Ages"', "Two releases"),
        ("epsilon = 1\n", 'epsilon = "1/0"\n', "epsilon"),
    ],
)
def test_nothing_is_spent_if_one_would_be_refused(spec, old, new, said):
    text = spec.read_text(encoding="utf-8")
    assert old in text
    spec.write_text(text.replace(old, new), encoding="utf-8")
    refused(dawa("release", spec), said)
    assert not Path("both").exists()
    assert len(book().history()) == 1


def test_what_does_not_go_with_several(spec):
    refused(dawa("release", spec, "--force"), "--force does not go with several releases")
    refused(dawa("release", spec, "--epsilon", "1"), "--epsilon does not go with")
    refused(dawa("release", spec, "--save-spec", "x.toml"), "--save-spec does not go with")
    Path("both").mkdir()
    Path("both/mine").touch()
    refused(dawa("release", spec), "both exists already")
    spec.write_text(spec.read_text(encoding="utf-8").replace('out = "both"\n', ""), encoding="utf-8")
    refused(dawa("release", spec), "have no folder to go to")
    assert dawa("release", spec, "--out", "elsewhere").code == 0
    assert names("elsewhere") == {"ages", "pay", "README.md", "index.html"}


def test_one_page_and_commands_about_all_of_them(spec):
    assert dawa("release", spec).code == 0
    page = Path("both/index.html").read_text(encoding="utf-8")
    assert [name in page for name in ('"name":"ages"', '"name":"pay"')] == [True, True]
    refused(dawa("query", "both"), "There is no release.json in 'both'", "it holds several releases", "both/ages")
    assert dawa("explore", "both", "--no-open").code == 0
    assert Path("both/report.html").read_text(encoding="utf-8") == page
    refused(dawa("explore", "nowhere"), "nowhere")


def test_one_of_them_may_have_groups(spec):
    text = spec.read_text(encoding="utf-8").replace(
        '[[release.axes]]\ncolumn = "age"',
        '[[release.by]]\ncolumn = "grade"\nvalues = ["low", "high"]\n[[release.axes]]\ncolumn = "age"',
    )
    spec.write_text(text, encoding="utf-8")
    told = dawa("release", spec)
    assert told.code == 0, told.err
    found = library.load("both/ages/release.json")
    assert found.groups == ("low", "high")
    assert found.privacy.epsilon == Fraction(1, 3)
    assert isinstance(library.load("both/pay/release.json"), library.Release)
    assert "2 groups" in dawa("plan", spec).out


def test_an_empty_folder_takes_them(spec):
    Path("both").mkdir()
    assert dawa("release", spec).code == 0


def test_a_plan_is_about_all_of_them(spec):
    told = dawa("plan", spec)
    assert told.code == 0, told.err
    assert told.out.count("would spend epsilon = 1/3") == told.out.count("would spend epsilon = 2/3") == 1
    assert "All 2 releases together would spend epsilon = 1, at once or not at all." in told.out
    assert "The ledger has 2 of 2 left for hr, 1 after it." in told.out
    found = dawa("plan", spec, "--json").json
    assert (found["epsilon"], found["out"], found["ledger"]["after"]) == ("1", "both", "1")
    assert [found["releases"][name]["epsilon"] for name in ("ages", "pay")] == ["1/3", "2/3"]
    assert len(book().history()) == 1
    for option in (("--toml",), ("--within", "500", "--records", "3000"), ("--picture", "x.svg")):
        refused(dawa("plan", spec, *option), "does not go with a spec of several releases")


def test_a_plan_finds_what_does_not_fit(spec):
    spec.write_text(spec.read_text(encoding="utf-8").replace('column = "income"', 'column = "incme"'), encoding="utf-8")
    refused(dawa("plan", spec), "incme")


def test_one_that_fails_after_paying_leaves_the_others(spec, monkeypatch):
    real = sources.counting.Query.counts

    def counts(query):
        if query.axes[0].column == "age":
            raise SourceError("The disk failed.", "try again.")
        return real(query)

    monkeypatch.setattr(sources.counting.Query, "counts", counts)
    ran = dawa("release", spec)
    assert ran.code == 1
    assert f"pay is made: it is in {Path('both/pay').absolute()}." in ran.err
    assert "Not made: ages." in ran.err
    assert "The disk failed." in ran.err
    assert "entry 2" in ran.err
    assert names("both") == {"pay"}
    assert [entry.number for entry in book().summary().pending] == [2]
    assert library.load("both/pay/release.json").id == book().history()[-1].release_id


@pytest.mark.long
@pytest.mark.usefixtures("spec")
def test_each_is_found_again_if_the_run_is_killed():
    code = """
import os, signal, sys
from dawa.cli import main
from dawa.ledger.reservation import Reservation
original = Reservation.finalise
def finalise(self, *arguments):
    if self.entry.number == {number}:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(self, *arguments)
Reservation.finalise = finalise
sys.argv = ["dawa", "release", "spec.toml"]
main()
"""
    run = subprocess.run([sys.executable, "-c", code.format(number=2)], check=False)  # noqa: S603  our own
    assert run.returncode == -signal.SIGKILL
    states = {trace.entry.number: trace.state for trace in recovery.recovered(book(), dry_run=True)}
    assert states == {2: traces.FOUND, 3: traces.NOTHING}
    assert dawa("ledger", "recover", "--ledger", "ledger.db").code == 0
    assert [entry.number for entry in book().summary().pending] == [3]
    assert library.load("both/ages/release.json").privacy.epsilon == Fraction(1, 3)
    assert dawa("ledger", "take-back", "3", "--why", "killed", "--nothing-was-made", "--ledger", "ledger.db").code == 0
    assert book().account("hr").left == Fraction(5, 3)


def test_a_run_that_is_stopped_says_what_each_that_is_not_made_cost(spec, monkeypatch):
    def stopped(_query):
        raise KeyboardInterrupt

    monkeypatch.setattr(sources.counting.Query, "counts", stopped)
    ran = dawa("release", spec)
    assert ran.code == 130
    assert "entry 2" in ran.err
    assert "entry 3" in ran.err
    assert book().account("hr").left == 1


def test_a_signal_right_after_paying_says_what_was_paid(spec, monkeypatch):
    real = ledger.Ledger.reserve_all

    def reserve_all(*arguments, **options):
        booked = real(*arguments, **options)
        signal.raise_signal(signal.SIGINT)
        return booked

    monkeypatch.setattr(ledger.Ledger, "reserve_all", reserve_all)
    ran = dawa("release", spec)
    assert ran.code == 130
    assert "entry 2" in ran.err
    assert "entry 3" in ran.err
    assert not Path("both").exists()
    with pytest.raises(KeyboardInterrupt) as stopped:
        library.release({"age": [1]}, library.Axis("age", 0, 9), epsilon="0.1", ledger=made_again(), dataset="hr")
    assert "entry" in "".join(stopped.value.__notes__)


def made_again():
    made = ledger.opened("again.db")
    made.create("hr", 1)
    return made


def test_every_place_is_told_if_several_cannot_be_written(spec, monkeypatch):
    from dawa.publish import readme  # noqa: PLC0415  patched here

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(readme, "readme", full)
    ran = dawa("release", spec)
    assert ran.code == 1
    for name in ("ages", "pay"):
        (place,) = Path("both").glob(f"{name}-*/release.json")
        assert str(place.absolute().parent) in ran.err
    assert "Not made" not in ran.err


def test_what_a_killed_run_left_is_not_in_the_way(spec):
    left = Path("both/.ages-0123abcd")
    left.mkdir(parents=True)
    (left / "asked.json").write_text("[]", encoding="utf-8")
    assert dawa("release", spec).code == 0
    assert names("both") >= {"ages", "pay", "README.md", "index.html"}


def test_in_python_runs_are_paid_together(people):
    made = book()
    made.create("hr", 1)
    booked = {"ledger": made, "dataset": "hr"}

    def runs(*budgets):
        return [pipeline.run(people, library.Axis("age", 0, 120), epsilon=each, **booked) for each in budgets]

    first, second = paying.paid(runs("0.1", "0.2"))
    assert (first.privacy.epsilon, second.privacy.epsilon) == (Fraction(1, 10), Fraction(1, 5))
    with pytest.raises(ExhaustedError, match=r"the 2 releases together spend: 0\.8"):
        paying.paid(runs("0.4", "0.4"))
    assert made.account("hr").left == Fraction(7, 10)


def test_one_ledger_pays_for_all(people):
    made = book()
    made.create("hr", 1)
    age = library.Axis("age", 0, 120)
    for other in ({}, {"ledger": made_again(), "dataset": "hr"}):
        runs = [pipeline.run(people, age, epsilon=1, **more) for more in ({"ledger": made, "dataset": "hr"}, other)]
        with pytest.raises(OptionError, match="not paid by one ledger"):
            paying.paid(runs)
        assert made.account("hr").left == 1
        Path("again.db").unlink(missing_ok=True)
