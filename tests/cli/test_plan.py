"""``dawa plan``: what would be spent and how accurate it would be, without a look at any record."""

import json

import pytest

from dawa.sources.tables import Source
from helpers.commands import dawa, refused

AGES = ("people.parquet", "--column", "age", "--range", "0:512", "--epsilon", "0.5")


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    """Every test works in a folder of its own, without a ledger, and no engine may fetch anything."""

    def opened(*arguments, **fields):
        original(*arguments, **fields)
        object.__setattr__(arguments[0], "fetch", lambda _: pytest.fail("a plan reads no record"))

    original = Source.__init__
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DAWA_LEDGER", raising=False)
    monkeypatch.setattr(Source, "__init__", opened)


def people(tmp_path, header="age,person"):
    (tmp_path / "people.csv").write_text(f"{header}\n31,1\n45,2\n", encoding="utf-8")
    return ("people.csv", *AGES[1:])


def test_a_release_would_be_noticed(tmp_path):
    """That the fixture watches the call by which records are read."""
    with pytest.raises(pytest.fail.Exception, match="reads no record"):
        dawa("release", *people(tmp_path), "--out", "out")


def test_the_columns_are_checked_and_no_record_is_read(tmp_path):
    ages = people(tmp_path)
    assert "The table was opened: it has these columns" in dawa("plan", *ages).out
    assert dawa("plan", *ages, "--json").json["source"]["fits"] is True
    refused(dawa("plan", "people.csv", "--column", "aeg", "--range", "0:512", "--epsilon", "1"), "aeg", "spelling")
    refused(dawa("plan", *ages, "--where", "sex = 'f'"), "sex")
    refused(dawa("plan", *ages, "--unit", "persn", "--max-rows-per-unit", "1"), "persn")
    (tmp_path / "people.parquet").write_bytes(b"PAR1")
    refused(dawa("plan", *AGES), "people.parquet")


def test_a_table_that_is_elsewhere_is_not_missed(tmp_path):
    shown = dawa("plan", *AGES)
    assert "NOT opened" in shown.out
    assert "There is no file people.parquet" in shown.out
    assert dawa("plan", *AGES, "--json").json["source"]["fits"] is False
    people(tmp_path, "other")
    unseen = dawa("plan", "people.csv", *AGES[1:], "--no-open", "--json")
    assert unseen.json["source"] is None


def test_standard_input_is_left_alone():
    assert "can be read only once" in dawa("plan", "-", *AGES[1:]).out


TRIED = ("--records", "5000", "--kind", "smooth")


def test_errors_are_predicted():
    shown = dawa("plan", *AGES, *TRIED)
    assert shown.code == 0, shown.err
    assert "Predicted errors of random ranges" in " ".join(shown.out.split())
    assert "With 5,000 records, if they are like smooth stand-ins" in shown.out
    assert "say about how many records there are" in dawa("plan", *AGES).out


@pytest.mark.long
def test_epsilon_from_an_accuracy(tmp_path):
    ask = ("plan", *AGES[:-2], *TRIED, "--within", "2%")
    found = dawa(*ask, "--json").json
    assert found["within"]["records"] == 100
    assert found["predictions"][0]["most"] <= 100
    shown = dawa(*ask, "--picture", "epsilon.svg")
    assert "is the least that is predicted to keep 19 of 20 ranges within 2% of all records (100)" in shown.out
    assert "The picture is in epsilon.svg." in shown.out
    assert "smaller is more private" in (tmp_path / "epsilon.svg").read_text(encoding="utf-8")
    text = dawa(*ask, "--toml").out
    (tmp_path / "spec.toml").write_text(text, encoding="utf-8")
    again = dawa("plan", "spec.toml", "--json").json
    assert again["epsilon"] == found["epsilon"]
    assert dawa("plan", "spec.toml", *TRIED, "--json").json["predictions"] == found["predictions"]
    assert dawa("plan", "spec.toml", *TRIED, "--within", "10%", "--json").json["within"]["records"] == 500


def test_the_public_table_is_read_and_that_is_said(tmp_path, monkeypatch):
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(str(row % 400) for row in range(2000))
    (tmp_path / "last-year.csv").write_text(f"age\n{rows}\n", encoding="utf-8")
    shown = dawa("plan", *AGES, "--like", "last-year.csv")
    assert "WITHOUT any privacy" in shown.out
    assert json.loads(dawa("plan", *AGES, "--like", "last-year.csv", "--json").out)["records"] == 2000


def test_in_words():
    shown = dawa("plan", *AGES)
    assert shown.code == 0, shown.err
    for words in (
        "A release of age over 512 cells would spend epsilon = 0.5: 0.085 on partition and 0.415 on measure.",
        "Each row is protected",
        "numbers from 0 up to 512 in steps of 1",
        "margin at 95%",
        "Expect answers to be off by about ±",
    ):
        assert words in shown.out


def test_a_mechanism_that_does_not_look_needs_no_table():
    shown = dawa("plan", *AGES, "--mechanism", "identity", "--unit", "person", "--max-rows-per-unit", "2")
    assert "margin at 95%" not in shown.out
    assert "Whoever 'person' names" in shown.out


def test_for_machines():
    found = dawa("plan", *AGES, "--json").json
    assert (found["epsilon"], found["shape"], found["ledger"]) == ("1/2", [512], None)
    assert found["depends_on_data"] is True
    assert found["expected"][-1]["buckets"] == 512


def test_for_the_ranges_that_matter(tmp_path):
    (tmp_path / "ranges.csv").write_text("lo,hi\n0,18\n18,65\n", encoding="utf-8")
    assert dawa("plan", *AGES, "--queries", "ranges.csv", "--json").json["queries"] == 2
    assert "Noise of 2 ranges" in " ".join(dawa("plan", *AGES, "--queries", "ranges.csv").out.split())


def test_a_file_and_back(tmp_path):
    text = dawa("plan", *AGES, "--toml").out
    (tmp_path / "spec.toml").write_text(text, encoding="utf-8")
    assert dawa("plan", "spec.toml", "--json").json == dawa("plan", *AGES, "--json").json
    assert dawa("plan", "spec.toml", "--toml").out == text


def test_the_ledger_is_read_and_not_made(tmp_path):
    refused(dawa("plan", *AGES, "--dataset", "hr"), "no ledger")
    assert not list(tmp_path.iterdir())
    dawa("ledger", "create", "hr", "--cap", "2")
    before = dawa("ledger", "history", "--json").json
    assert "2 of 2 left for hr, 1.5 after it" in dawa("plan", *AGES, "--dataset", "hr").out
    assert dawa("plan", *AGES, "--dataset", "hr", "--json").json["ledger"]["after"] == "3/2"
    assert dawa("ledger", "history", "--json").json == before
    refused(dawa("plan", *AGES, "--dataset", "sales"), "no account for 'sales'", "'hr'")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--mechanism", "dewa"], ["no mechanism 'dewa'"]),
        (["--max-rows-per-unit", "2"], ["without a unit"]),
        (["--queries", "none.csv"], ["no file none.csv"]),
        (["--column", "age", "--range", "0:5"], ["same column"]),
        (["--within", "5"], ["Both --epsilon and --within"]),
        (["--kind", "smooth"], ["number of records"]),
        (["--records", "9", "--kind", "wild"], ["no kind of data 'wild'", "periodic"]),
        (["--records", "0"], ["records=0"]),
        (["--picture", "x.svg"], ["number of records"]),
        (["--records", "99", "--kind", "smooth", "--picture", "x.txt"], ["format to draw"]),
        (["--like", "none.csv"], ["no file none.csv"]),
        (["--within", ""], ["--within is empty"]),
    ],
)
def test_wrong_steps_lead_on(arguments, parts):
    refused(dawa("plan", *AGES, *arguments), *parts)


def test_a_form_is_chosen_once():
    assert dawa("plan", *AGES, "--json", "--toml").code == 2


def test_help_says_how_mechanisms_are_compared():
    assert "dawa mechanisms --cells 4096 --workload uniform" in dawa("plan", "--help").out
