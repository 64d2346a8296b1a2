"""Words about the data on the command line, and the warning about a budget that promises little."""

import json
import warnings

import pytest

import dawa as library
from dawa import budget
from dawa.errors import LargeEpsilonWarning
from helpers.commands import dawa, refused
from helpers.words import FLIGHTS

AGES = ("people.csv", "--column", "age", "--range", "0:120")
WORDS = {**FLIGHTS.to_json(), "title": "Ages [bold]of[/bold] \u00e9", "released": "today"}
TYPED = [part for name, text in WORDS.items() for part in (f"--{name.replace('_', '-')}", text)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("age\n" + "\n".join(map(str, range(20, 60))) + "\n")
    return tmp_path


def test_what_is_typed_is_planned_saved_released_and_asked(folder):
    asked = (*AGES, "--epsilon", "1", *TYPED)
    plan = dawa("plan", *asked)
    for line in ("Title: Ages [bold]of[/bold] é", "Description: Every departure.", "A record is: a flight"):
        assert line in plan.out.splitlines()
    assert "Date of the data: 2013-01-01 to 2013-12-31" in plan.out
    assert "Released on: today" in plan.out
    assert dawa("plan", *asked, "--json").json["about"] == WORDS
    typed = dawa("release", *asked, "--out", "typed", "--save-spec", "spec.toml", "--json").json
    assert library.spec.toml.read("spec.toml").about == library.About(**WORDS)
    again = dawa("release", "spec.toml", "--out", "again", "--json").json
    day = again["about"]["released"]
    assert again["about"] == {**WORDS, "released": day}
    assert typed["about"].keys() == WORDS.keys()
    assert library.load(folder / "again/release.json").about == library.About(**{**WORDS, "released": day})
    assert dawa("query", "again").out.splitlines()[0] == "Ages [bold]of[/bold] é"
    assert "Ages" not in dawa("query", "again", "--csv").out
    written = (folder / "again/README.md").read_text(encoding="utf-8")
    assert written.startswith("# Ages \\[bold\\]of\\[/bold\\] é\n\nEvery departure.")
    assert "- A record is: a flight\n" in written
    assert "- Contact: <mailto:answers@example.org>\n" in written


def test_without_words_nothing_is_said(folder):
    assert dawa("release", *AGES, "--epsilon", "1", "--out", "out").code == 0
    assert json.loads((folder / "out/release.json").read_text())["about"] is None
    written = (folder / "out/README.md").read_text(encoding="utf-8")
    assert written.startswith("# How many, along `age`\n\nThis folder says")
    assert "About these data" not in written
    assert dawa("query", "out").out.splitlines()[0].startswith("┏")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("--title", ""), ("--title is empty",)),
        (("--title", "a\nb"), ("The title has a character in it that is no text", "no line break")),
        (("--title", "x" * 301), ("more than 300 characters",)),
        (("--title", "a", "--title", "b"), ("--title is given 2 times",)),
        (("--released", "now"), ("which is not a date", "'today'")),
        (("--data-from", "2013-01-02", "--data-to", "2013-01-01"), ("before they begin",)),
    ],
)
def test_words_that_are_none_cost_nothing(folder, words, parts):
    refused(dawa("release", *AGES, "--epsilon", "1", *words, "--out", "out"), *parts)
    assert not (folder / "out").exists()


def test_beside_a_spec_no_word_is_typed():
    dawa("release", *AGES, "--epsilon", "1", "--out", "a", "--save-spec", "spec.toml")
    refused(dawa("release", "spec.toml", "--title", "x", "--out", "b"), "--title does not go with spec.toml")
    refused(dawa("plan", "spec.toml", "--data-from", "2013-01-01"), "--data-from does not go with spec.toml")


# --- words in a file, and what records are called ---


@pytest.mark.long_but(1)
@pytest.mark.parametrize("name", ["about.toml", "about.json", "inside.toml", "inside.json"])
def test_words_come_from_a_file_and_what_is_typed_wins(folder, name):
    words = {**FLIGHTS.to_json(), "plural": "flights"}
    inner = {"about": words} if name.startswith("inside") else words
    if name.endswith("json"):
        (folder / name).write_text(json.dumps(inner), encoding="utf-8")
    else:
        lines = [f"{key} = {json.dumps(text)}" for key, text in words.items()]
        (folder / name).write_text("\n".join(["[about]"] * ("about" in inner) + lines), encoding="utf-8")
    asked = (*AGES, "--epsilon", "1", "--about", name)
    assert dawa("plan", *asked, "--json").json["about"] == words
    assert dawa("plan", *asked, "--title", "Ages", "--json").json["about"] == {**words, "title": "Ages"}
    dawa("release", *asked, "--out", "out", "--save-spec", "spec.toml")
    assert library.load("out/release.json").about == library.About(**words)
    assert library.spec.toml.read("spec.toml").about == library.About(**words)
    refused(dawa("plan", "spec.toml", "--about", name), "--about does not go with spec.toml")


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("about.txt", "title = 'x'", "is no file of words"),
        ("missing.toml", None, "There is no file missing.toml"),
        ("about.toml", "title = ", "is not TOML"),
        ("about.json", "[1, 2]", "not an object of JSON"),
        ("about.json", "{", "not an object of JSON"),
        ("about.json", '{"titel": "x"}', "titel"),
        ("about.json", '{"title": 3}', "title"),
        ("about.toml", "data_from = 2013-01-02\ndata_to = 2013-01-01", "before they begin"),
        ("about.toml", f"plural = '{'x' * 61}'", "more than 60 characters"),
    ],
)
def test_a_file_of_no_words_is_refused_before_anything_is_paid(folder, name, content, part):
    if content is not None:
        (folder / name).write_text(content, encoding="utf-8")
    refused(dawa("release", *AGES, "--epsilon", "1", "--about", name, "--out", "out"), part)
    assert not (folder / "out").exists()


def test_records_are_called_what_the_custodian_calls_them(folder):
    dawa("release", *AGES, "--epsilon", "1", "--record", "a flight", "--plural", "flights", "--out", "out")
    shown = " ".join(dawa("query", "out", "20:40").out.split())  # a narrow table wraps what stands below it
    assert "the true number of flights with 95% confidence" in shown
    assert " flights, with age missing" in shown
    assert "flights" in dawa("query", "out", "--band").out
    written = (folder / "out/README.md").read_text(encoding="utf-8")
    assert "how many flights lie between any two points" in written
    assert "Answers count the flights that have a place" in written
    dawa("release", *AGES, "--epsilon", "1", "--record", "a person's income in a year", "--out", "plain")
    assert "the true number of records with" in " ".join(dawa("query", "plain", "20:40").out.split())


# --- a budget that promises little ----------------------------------------------------------------------------------


def test_a_large_epsilon_is_told_by_every_command():
    said = "ε = 10.5 promises little"
    plan = dawa("plan", *AGES, "--epsilon", "10.5")
    assert said in plan.out
    assert not plan.err
    assert said in dawa("plan", *AGES, "--epsilon", "10.5", "--json").json["caution"]
    ran = dawa("release", *AGES, "--epsilon", "10.5", "--out", "out")
    assert ran.code == 0
    assert said in ran.err
    ran = dawa("release", *AGES, "--epsilon", "10.5", "--out", "out2", "--json")
    assert said in ran.json["caution"]
    assert said in ran.err


def test_other_budgets_are_not_talked_about():
    assert dawa("plan", *AGES, "--epsilon", "10", "--json").json["caution"] is None
    ran = dawa("release", *AGES, "--epsilon", "10", "--out", "out", "--json")
    assert (ran.json["caution"], ran.err) == (None, "")
    ran = dawa("release", *AGES, "--epsilon", "20", "--seed", "1", "--out", "seeded", "--json")
    assert (ran.json["caution"], ran.err) == (None, ""), "a seed promises nothing at all, and that is said loudly"


def test_python_warns_where_it_was_called():
    axis = library.Axis("age", 0, 100)
    with pytest.warns(LargeEpsilonWarning, match=r"one person \(a value of 'who'\)") as told:
        library.release({"age": [1], "who": [1]}, axis, epsilon="10.1", unit="who", max_rows_per_unit=1)
    assert told[0].filename == __file__
    with pytest.warns(LargeEpsilonWarning, match="one record") as told:
        library.plan.planned([axis], epsilon=11, mechanism="identity")
    assert told[0].filename == __file__
    with warnings.catch_warnings(action="error"):
        library.release({"age": [1]}, axis, epsilon=10)
        library.release({"age": [1]}, axis, epsilon=20, seed=0)
        library.plan.planned([axis], epsilon=10, mechanism="identity")


@pytest.mark.filterwarnings("ignore::dawa.LargeEpsilonWarning")
@pytest.mark.parametrize(("epsilon", "seed"), [(10, None), (11, None), (1000, None), (1, 0), (11, 0)])
def test_nobody_is_told_that_nobody_is_exposed_unless_it_is_so(epsilon, seed):
    rel = library.release({"age": [31, 45]}, library.Axis("age", 0, 100), epsilon=epsilon, seed=seed)
    files = ("release.json", "buckets.csv")
    readme, page = library.publish.readme.readme(rel, files), library.publish.page.html(rel)
    safe = epsilon <= 10 and seed is None
    for text, claim in (
        (page, "exposes nobody"),
        (page, "In the words of a bet"),
        (readme, "without exposing any of them"),
        (readme, "cannot find single records"),
        (readme, "In the words of a bet"),
    ):
        assert (claim in text) is safe, claim
    if seed is None:
        assert ("nearly the same probability" in str(rel.privacy)) is safe
        assert ("promises little" in str(rel.privacy)) is not safe
        assert ("promises little" in page) is not safe
    assert ("The guarantee assumes nothing" in readme) is (seed is None)
    assert library.load(rel.save("release.json")).privacy == rel.privacy


def test_there_is_one_rule():
    assert budget.caution(budget.LARGE) == ""
    assert budget.caution(budget.LARGE + budget.SMALLEST)
