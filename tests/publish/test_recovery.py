"""What killed runs leave is found by what was booked, completed and named; nothing else is touched."""

import json
import os
import signal
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path

import pytest

import dawa as library
from dawa import ledger, sources
from dawa.publish import folder, recovery
from dawa.results import traces
from helpers.commands import dawa, refused, taken_back_elsewhere

FILES = {
    "release.json",
    "buckets.csv",
    "apart.csv",
    "answers.csv",
    "release.svg",
    "receipt.json",
    "croissant.json",
    "README.md",
}

DIE = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever a shell ignores in its background
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from dawa.cli import main
from {module} import {owner}
original = {owner}.{name}
calls = []

def die(*arguments, **options):
    calls.append(1)
    if len(calls) == {count}:
        os.kill(os.getpid(), signal.{signal})
        if signal.{signal} != signal.SIGKILL:
            return original(*arguments, **options)
    return original(*arguments, **options)

{owner}.{name} = die
sys.argv = ["dawa", *sys.argv[1:]]
main()
"""


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/proc/nowhere")
    Path("people.csv").write_text("age\n" + "\n".join(str(age % 100) for age in range(5000)) + "\n", encoding="utf-8")
    Path("asked.csv").write_text("lo,hi,name\n18,65,grown up\n", encoding="utf-8")
    assert dawa("ledger", "create", "hr", "--cap", "2", "--unit", "record").code == 0


def run(module="os", owner="os", name="getpid", count=0, sent="SIGKILL", out="out"):
    """A release in a process of its own that is stopped at a call."""
    code = DIE.format(module=module, owner=owner, name=name, count=count, signal=sent)
    if owner == module:
        code = code.replace(f"from {module} import {owner}", f"import {module}")
    options = ["--column", "age", "--range", "0:100", "--epsilon", "0.5", "--queries", "asked.csv", "--dataset", "hr"]
    return subprocess.run(  # noqa: S603  our own
        [sys.executable, "-c", code, "release", "people.csv", *options, "--out", out],
        check=False,
        capture_output=True,
        text=True,
    )


def book():
    return ledger.opened("dawa-ledger.db")


def states():
    return [trace.state for trace in recovery.recovered(book(), dry_run=True)]


STAGES = {
    "before the ledger is told": ("dawa.ledger.reservation", "Reservation", "finalise", 1),
    "before the folder has its name": ("dawa.publish.folder", "places", "named", 1),
    "before the page": ("dawa.publish.folder", "readme", "readme", 1),
    "before the tables": ("dawa.publish.folder", "ranges", "answered", 1),
}


@pytest.mark.long
@pytest.mark.parametrize("stage", STAGES)
def test_a_killed_run_is_completed_and_booked(stage):
    module, owner, name, count = STAGES[stage]
    assert run(module, owner, name, count).returncode == -signal.SIGKILL
    assert states() == [traces.FOUND]
    refused(dawa("ledger", "take-back", "2", "--why", "x"), "The release that entry 2 paid for is in", "recover")
    told = dawa("ledger", "recover", "--json").json
    assert [one["state"] for one in told] == [traces.BOOKED]
    assert {path.name for path in Path("out").iterdir()} == FILES
    assert {path.name for path in Path().iterdir()} == {"people.csv", "asked.csv", "dawa-ledger.db", "out"}
    last = book().history()[-1]
    assert (last.kind, last.release_id) == ("finalise", library.load("out/release.json").id)
    assert last.file == str(Path("out").absolute())
    assert "grown up" in Path("out/answers.csv").read_text(encoding="utf-8")
    assert dawa("ledger", "recover").out == "Every reservation has its release, or was taken back.\n"


@pytest.mark.long_but(1)
@pytest.mark.parametrize(("stage", "named"), [("before the page", True), ("before the ledger is told", False)])
def test_a_killed_run_that_signs_leaves_a_signed_folder(monkeypatch, stage, named):
    """Whoever recovers before the receipt is written needs the key, and afterwards not."""
    assert dawa("ledger", "key", "own.key").code == 0
    monkeypatch.setenv("DAWA_LEDGER_KEY", "own.key")
    assert run(*STAGES[stage]).returncode == -signal.SIGKILL
    if not named:
        monkeypatch.delenv("DAWA_LEDGER_KEY")
    assert "Its receipt is signed." in dawa("ledger", "recover").out
    assert dawa("ledger", "verify", "out", "--key", "own.key.pub", "--ledger", "dawa-ledger.db").code == 0
    assert {path.name for path in Path("out").iterdir()} == FILES


@pytest.mark.long
def test_half_a_file_of_a_killed_run_is_not_published():
    module, owner, name, count = STAGES["before the page"]
    assert run(module, owner, name, count).returncode == -signal.SIGKILL
    (scratch,) = Path().glob(".out-*")
    (scratch / ".dawa-0123456789abcdef").write_text("half", encoding="utf-8")
    assert [trace.state for trace in recovery.recovered(book())] == [traces.BOOKED]
    assert {path.name for path in Path("out").iterdir()} == FILES


@pytest.mark.long
def test_a_run_that_is_killed_before_it_has_made_anything_leaves_nothing_but_its_reservation():
    ran = run("dawa.publish.folder", "FolderKeeper", "keep", 1)
    assert ran.returncode == -signal.SIGKILL
    assert states() == [traces.NOTHING]
    told = dawa("ledger", "recover").out
    assert "no release was found in" in told
    assert f"{Path('out').absolute()}, {Path().absolute()}/.out-" in told
    assert "exchanged or unmounted since would not be seen, nor one that was printed" in told
    refused(dawa("ledger", "take-back", "2", "--why", "killed"), "no release was found in", "--nothing-was-made")
    with pytest.raises(library.errors.LedgerError, match="no release was found"):
        book().take_back(2, why="killed")
    assert dawa("ledger", "take-back", "2", "--nothing-was-made", "--why", "killed").code == 0


@pytest.mark.long_but(1)
@pytest.mark.parametrize("sent", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize(
    ("module", "owner", "name", "count"),
    [
        ("dawa.mechanisms.two_stage", "measure", "measure", 2),  # the first is on an empty table, before it is paid for
        ("dawa.publish.folder", "FolderKeeper", "keep", 1),
        ("dawa.publish.folder", "readme", "readme", 1),
        ("dawa.ledger.reservation", "Reservation", "finalise", 1),
    ],
)
def test_who_is_asked_to_stop_finishes_what_is_paid_for(module, owner, name, count, sent):
    ran = run(module, owner, name, count, sent)
    assert ran.returncode == 128 + getattr(signal, sent), ran.stderr
    assert "Stopped. The release was finished first" in ran.stderr
    assert str(Path("out").absolute()) in ran.stderr
    assert {path.name for path in Path("out").iterdir()} == FILES
    assert states() == []


@pytest.mark.long
@pytest.mark.parametrize("sent", ["SIGINT", "SIGTERM"])
def test_who_is_asked_to_stop_before_that_says_what_it_cost(sent):
    ran = run("dawa.sources.counting", "Query", "counts", 1, sent)
    assert ran.returncode == 128 + getattr(signal, sent), ran.stderr
    assert "Stopped. epsilon=0.5 was spent on dataset 'hr' all the same" in ran.stderr
    assert "take-back 2" in ran.stderr
    assert not Path("out").exists()
    assert {path.name for path in Path().iterdir()} == {"people.csv", "asked.csv", "dawa-ledger.db"}
    assert states() == [traces.NOTHING]


def test_a_run_at_work_is_left_alone():
    with folder.prepared("out") as keeper:
        what = {"kept": {**keeper.where, "release": "x"}}
        book().reserve("hr", "0.5", what=what, mechanism="dawa")
        assert states() == [traces.WORKING]
        assert "still at work" in dawa("ledger", "recover").out
        refused(dawa("ledger", "take-back", "2", "--why", "x"), "still at work")
    assert states() == [traces.NOTHING]


def test_another_release_in_its_place_is_not_taken_for_its_own():
    made = library.release({"age": [1]}, library.Axis("age", 0, 9), epsilon=1)
    with folder.prepared("out") as keeper:
        keeper.keep(made)
    kept = {"folder": str(Path("out").absolute()), "scratch": str(Path(".out-00000000").absolute()), "release": "x"}
    book().reserve("hr", "0.5", what={"kept": kept}, mechanism="dawa")
    assert states() == [traces.NOTHING]


@pytest.mark.parametrize(
    "kept", [None, [], {"folder": 3}, {"folder": "\0"}, {"scratch": "x"}, {"file": "/dev/null"}, {}]
)
def test_strange_descriptions_are_no_obstacle(kept):
    book().reserve("hr", "0.5", what={"kept": kept}, mechanism="dawa")
    (state,) = states()
    assert state in {traces.UNNAMED, traces.UNREADABLE, traces.NOTHING}
    assert dawa("ledger", "recover").code == 0


@pytest.mark.long
def test_a_place_that_was_taken_meanwhile():
    assert run("dawa.publish.folder", "places", "named", 1).returncode == -signal.SIGKILL
    Path("out").mkdir()
    Path("out/mine").touch()
    (trace,) = recovery.recovered(book())
    assert trace.state == traces.BOOKED
    assert {path.name for path in trace.where.iterdir()} == FILES
    assert [path.name for path in Path("out").iterdir()] == ["mine"]


@pytest.mark.long
def test_a_disk_that_is_full_again(monkeypatch):
    assert run("dawa.publish.folder", "readme", "readme", 1).returncode == -signal.SIGKILL

    def full(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(folder.atomic, "write", full)
        ran = dawa("ledger", "recover")
    assert ran.code == 1
    assert "No space left on device" in ran.out
    assert [trace.state for trace in recovery.recovered(book())] == [traces.BOOKED]


def test_python_keeps_a_file_before_the_ledger_is_told(monkeypatch):
    axis = library.Axis("age", 0, 100)
    paid = {"epsilon": "0.5", "ledger": "dawa-ledger.db", "dataset": "hr"}
    released = library.release("people.csv", axis, out="ages.json", **paid)
    assert library.load("ages.json").id == released.id
    assert book().history()[-1].file == str(Path("ages.json").absolute())
    with pytest.raises(library.errors.FolderError, match="exists already"):
        library.release("people.csv", axis, out="ages.json", **paid)

    def die(*_arguments):
        raise SystemExit

    with monkeypatch.context() as dying:
        dying.setattr(ledger.Reservation, "finalise", die)
        with pytest.raises(SystemExit):
            library.release("people.csv", axis, out="b.json", **paid)
    assert json.loads(dawa("ledger", "recover", "--json").out)[0]["where"] == str(Path("b.json").absolute())
    assert states() == []


def test_a_release_that_was_rescued_is_found(tmp_path, monkeypatch):
    """The disk of the folder is full, and so is that of the ledger."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "elsewhere"))

    def full(*_arguments, **_options):
        raise library.errors.LedgerError("The disk is full.", "make room.")

    save = library.Release.save

    def elsewhere(self, path):
        if path.parent.name != "elsewhere":
            raise OSError(28, "No space left on device")
        return save(self, path)

    options = ["--column", "age", "--range", "0:100", "--epsilon", "0.5", "--dataset", "hr", "--out", "out"]
    with monkeypatch.context() as disks:
        disks.setattr(library.Release, "save", elsewhere)
        disks.setattr(ledger.Reservation, "finalise", full)
        ran = dawa("release", "people.csv", *options)
    assert ran.code == 1
    assert "is safe in" in ran.err
    refused(dawa("ledger", "take-back", "2", "--why", "x"), "The release that entry 2 paid for is in")
    (trace,) = recovery.recovered(book())
    assert trace.state == traces.BOOKED
    assert trace.where.parent == tmp_path / "elsewhere"


@pytest.mark.long
def test_a_release_that_was_moved_aside_is_found():
    module, owner, name, count = STAGES["before the ledger is told"]
    assert run(module, owner, name, count).returncode == -signal.SIGKILL
    options = ["--column", "age", "--range", "0:100", "--epsilon", "0.5", "--dataset", "hr", "--out", "out", "--force"]
    assert dawa("release", "people.csv", *options).code == 0
    (trace,) = recovery.recovered(book())
    assert (trace.state, trace.where.name) == (traces.BOOKED, "out.earlier-1")


@pytest.mark.long
@pytest.mark.parametrize("content", ["", "{}", "no JSON"])
def test_what_is_there_and_cannot_be_read_is_not_nothing(content):
    module, owner, name, count = STAGES["before the ledger is told"]
    assert run(module, owner, name, count).returncode == -signal.SIGKILL
    Path("out/release.json").write_text(content, encoding="utf-8")
    assert states() == [traces.UNREADABLE]
    assert "cannot be read" in dawa("ledger", "recover").out
    refused(dawa("ledger", "take-back", "2", "--why", "x"), "There may be a release")


@pytest.mark.long
def test_a_folder_of_somebody_else_does_not_stop_the_others(monkeypatch):
    for out in ("theirs", "mine"):
        module, owner, name, count = STAGES["before the ledger is told"]
        assert run(module, owner, name, count, out=out).returncode == -signal.SIGKILL
    real = os.open

    def closed(path, *arguments, **options):
        if str(path).endswith("theirs"):
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", closed)
    assert [trace.state for trace in recovery.recovered(book())] == [traces.UNREADABLE, traces.BOOKED]


def test_python_is_at_work_too(monkeypatch):
    seen = []
    counts = sources.Query.counts

    def at_work(self):
        seen.extend(states())
        seen.append(dawa("ledger", "take-back", "2", "--why", "x").err)
        return counts(self)

    monkeypatch.setattr(sources.Query, "counts", at_work)
    paid = {"epsilon": "0.5", "ledger": "dawa-ledger.db", "dataset": "hr", "out": "ages.json"}
    library.release("people.csv", library.Axis("age", 0, 100), **paid)
    assert seen[0] == traces.WORKING
    assert "still at work" in seen[1]
    assert {path.name for path in Path().iterdir()} == {"people.csv", "asked.csv", "dawa-ledger.db", "ages.json"}


def test_a_file_that_is_taken_meanwhile_costs_no_release(monkeypatch):
    counts = sources.Query.counts

    def taken(self):
        Path("ages.json").write_text("mine", encoding="utf-8")
        return counts(self)

    monkeypatch.setattr(sources.Query, "counts", taken)
    paid = {"epsilon": "0.5", "ledger": "dawa-ledger.db", "dataset": "hr", "out": "ages.json"}
    with pytest.warns(library.UnbookedWarning, match="was taken meanwhile: the release is in"):
        released = library.release("people.csv", library.Axis("age", 0, 100), **paid)
    assert Path("ages.json").read_text(encoding="utf-8") == "mine"
    assert library.load(book().history()[-1].file).id == released.id


def test_what_is_not_paid_for_is_hidden_and_a_file_of_others_is_not(monkeypatch):
    """The file that was named is somebody else's by then; the release has another name."""
    counts = sources.Query.counts

    def taken(self):
        Path("ages.json").write_text("mine", encoding="utf-8")
        taken_back_elsewhere(book(), 2, who="ada")
        return counts(self)

    monkeypatch.setattr(sources.Query, "counts", taken)
    paid = {"epsilon": "0.5", "ledger": "dawa-ledger.db", "dataset": "hr", "out": "ages.json"}
    with pytest.warns(library.UnbookedWarning), pytest.raises(library.errors.TakenBackError, match="not paid for"):
        library.release("people.csv", library.Axis("age", 0, 100), **paid)
    assert Path("ages.json").read_text(encoding="utf-8") == "mine"
    (hidden,) = {path.name for path in Path().iterdir()} - {"people.csv", "asked.csv", "dawa-ledger.db", "ages.json"}
    assert hidden.startswith(".not-paid-for-")


@pytest.mark.long
def test_a_killed_run_of_python_leaves_no_folder_for_good():
    code = (
        "import os, signal, dawa\nfrom dawa import sources\n"
        "sources.Query.counts = lambda self: os.kill(os.getpid(), signal.SIGKILL)\n"
        "dawa.release('people.csv', dawa.Axis('age', 0, 100), epsilon='0.5', out='ages.json')"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL  # noqa: S603  ours
    (left,) = Path().glob(".dawa-*")
    os.utime(left, (0, 0))
    library.release("people.csv", library.Axis("age", 0, 100), epsilon=1, out="ages.json")
    assert not left.exists()


def test_where_warnings_are_errors_the_release_is_handed_out(monkeypatch, caplog):
    def full(*_arguments):
        raise library.errors.LedgerError("The disk is full.", "make room.")

    monkeypatch.setattr(ledger.Reservation, "finalise", full)
    paid = {"epsilon": "0.5", "ledger": "dawa-ledger.db", "dataset": "hr"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert library.release("people.csv", library.Axis("age", 0, 100), **paid).privacy.epsilon == Fraction(1, 2)
    assert "do not take it back" in caplog.text


@pytest.mark.long
@pytest.mark.parametrize("json_too", [[], ["--json"]])
@pytest.mark.parametrize("target", [">&-", ">/dev/full"])
def test_a_release_that_cannot_be_told_is_not_made_again(target, json_too):
    options = "--column age --range 0:100 --epsilon 0.5 --dataset hr --out out"
    ran = subprocess.run(  # noqa: S602  our own
        f"{sys.executable} -m dawa release people.csv {options} {' '.join(json_too)} {target}",
        shell=True,
        check=False,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1
    assert "The release is complete in out" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert states() == []
