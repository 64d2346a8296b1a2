"""``dawa plan``: what would be spent and how accurate it would be, without a look at the data."""

import pytest

from dawa import sources
from helpers.commands import dawa, refused

AGES = ("people.parquet", "--column", "age", "--range", "0:512", "--epsilon", "0.5")


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    """Every test works in a folder of its own, without a ledger, and no table can be opened."""

    def query(*_arguments):
        pytest.fail("a plan touches no data")

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DAWA_LEDGER", raising=False)
    monkeypatch.setattr(sources, "query", query)


def test_a_release_would_be_noticed():
    """That the fixture watches the call by which tables are read."""
    with pytest.raises(pytest.fail.Exception, match="touches no data"):
        dawa("release", *AGES, "--out", "out")


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
    ],
)
def test_wrong_steps_lead_on(arguments, parts):
    refused(dawa("plan", *AGES, *arguments), *parts)


def test_a_form_is_chosen_once():
    assert dawa("plan", *AGES, "--json", "--toml").code == 2


def test_help_says_how_mechanisms_are_compared():
    assert "dawa mechanisms --cells 4096 --workload uniform" in dawa("plan", "--help").out
