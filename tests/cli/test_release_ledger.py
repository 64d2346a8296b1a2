"""``dawa release`` with a ledger: what is paid, what is left, and what it costs when something fails."""

from functools import partial
from pathlib import Path

import pytest

import dawa as library
from dawa import sources
from dawa.errors import LedgerError, SourceError
from dawa.ledger import Ledger, Reservation, opened
from helpers.commands import dawa, names, refused, taken_back_elsewhere
from helpers.people import AGES

pytestmark = pytest.mark.usefixtures("somewhere")


def test_the_ledger_pays(people):
    assert dawa("ledger", "create", "hr", "--cap", "2", "--ledger", "ledger.db").code == 0
    booked = ("--ledger", "ledger.db", "--dataset", "hr")
    first = dawa("release", people, *AGES, *booked, "--json").json
    assert "0 after it" in dawa("plan", people, *AGES, *booked).out
    assert dawa("release", people, *AGES, *booked, "--force").code == 0
    refused(
        dawa("release", people, *AGES, *booked, "--force"), "nothing left of its cap of 2", "ledger history", code=3
    )
    assert "not enough" in dawa("plan", people, *AGES, *booked).out
    assert dawa("plan", people, *AGES, *booked, "--json").json["ledger"]["after"] == "-1"
    error = dawa("release", people, *AGES, *booked, "--force", "--json")
    assert (error.code, error.json["error"]["kind"]) == (3, "ExhaustedError")
    history = dawa("ledger", "history", "--json", "--ledger", "ledger.db").json
    files = {entry["release_id"]: entry["file"] for entry in history if entry["file"]}
    assert files[first["release"]] == str(Path("out").absolute())


def test_a_ledger_that_fails_afterwards_does_not_cost_the_release(people, monkeypatch):
    """As it would on a full disk."""

    def full(*_arguments):
        raise LedgerError("The disk is full.", "make room.")

    dawa("ledger", "create", "hr", "--cap", "1")
    monkeypatch.setattr(Reservation, "finalise", full)
    refused(dawa("release", people, *AGES, "--dataset", "hr"), "The disk is full", "recover")
    assert library.load("out/release.json").privacy.epsilon == 1
    assert dawa("ledger", "show", "hr", "--json").json["accounts"][0]["reserved"] == "1", "it stays spent"


def test_it_says_what_is_left(people):
    dawa("ledger", "create", "hr", "--cap", "7/3")
    first = dawa("release", people, *AGES, "--dataset", "hr", "--json").json["ledger"]
    assert [first[name] for name in ("dataset", "cap", "spent", "reserved", "left")] == ["hr", "7/3", "1", "0", "4/3"]
    assert (first["unit"], first["table"]) == ([], str(people))
    assert "The ledger has 1/3 of 7/3 left for hr." in dawa("release", people, *AGES, "--dataset", "hr", "--force").out
    alone = dawa("release", people, *AGES[:-1], "alone", "--json").json
    assert alone["ledger"] is None


def test_it_says_for_whom_the_ledger_counts(people):
    dawa("ledger", "create", "hr", "--cap", "8")
    assert (
        f"left for hr. It counts what each record in {people} loses."
        in dawa("release", people, *AGES, "--dataset", "HR").out
    )
    mine = (people, *AGES, "--unit", "level", "--max-rows-per-unit", "1", "--dataset", "hr", "--force")
    refused(dawa("release", *mine), "this is spent for each 'level'", "dawa ledger relate hr --unit level", "2 times")
    assert "does not count for this unit of this table: the release would be refused" in dawa("plan", *mine[:-1]).out
    planned = dawa("plan", *mine[:-1], "--json").json["ledger"]
    assert (planned["times"], planned["after"]) == (None, None)
    dawa("ledger", "relate", "hr", "--unit", "level", "--times", "2", "--why", "one row more may swap two")
    assert "5 after it, which counts 2 times." in dawa("plan", *mine[:-1]).out
    assert dawa("plan", *mine[:-1], "--json").json["ledger"]["after"] == "5"
    told = dawa("release", *mine).out
    assert "The ledger has 5 of 8 left for hr." in told
    assert "This release counted 2 times." in told
    found = dawa("release", *mine, "--json").json["ledger"]
    assert [(part["unit"], part["epsilon"], part["times"]) for part in found["parts"]] == [
        ([], "1", 1),
        (["level"], "2", 2),
    ]


def test_a_seed_is_never_booked(people, monkeypatch):
    words = "A run with a seed is not private, so no ledger books it."
    for more in (["--dataset", "hr"], ["--dataset", "hr", "--ledger", "l.db", "--save-spec", "spec.toml"]):
        refused(dawa("release", people, *AGES, "--seed", "1", *more), words, "leave out the seed")
        refused(dawa("plan", people, *AGES, "--seed", "1", *more[:2]), words)
    assert names() == set()
    Path("spec.toml").write_text(
        f'[source]\nfile = "{people}"\n[[axes]]\ncolumn = "age"\nstart = 0\nstop = 100\n[privacy]\nepsilon = 1\n'
        'dataset = "hr"\n[release]\nseed = 1\nout = "out"\n',
        encoding="utf-8",
    )
    refused(dawa("release", "spec.toml"), words)
    monkeypatch.setenv("DAWA_LEDGER", "team.db")
    refused(dawa("release", people, *AGES, "--seed", "1"), "no ledger books a run with a seed", "unset DAWA_LEDGER")


def test_a_ledger_that_cannot_be_asked_what_is_left_costs_nothing(people, monkeypatch):
    def gone(*_arguments):
        raise LedgerError("The disk is gone.", "buy another.")

    dawa("ledger", "create", "hr", "--cap", "2")
    monkeypatch.setattr(Ledger, "account", gone)
    ran = dawa("release", people, *AGES, "--dataset", "hr")
    assert ran.code == 0
    assert "The ledger could not be asked what is left for hr." in ran.out
    assert dawa("release", people, *AGES, "--dataset", "hr", "--force", "--json").json["ledger"] is None


CANARY = "4711"
SPENT = "epsilon=1 was spent on dataset 'hr' all the same (entry 2 of the ledger); 1.5 of 2.5 is left."
LEDGER = "--ledger dawa-ledger.db"
TAKE_BACK = f"if nothing was observed, take it back: dawa ledger take-back 2 --nothing-was-made --why '…' {LEDGER}"
FAILURES = {
    "ours": (
        partial(SourceError, "The table could not be counted by duckdb (Error).", "check its rows."),
        ("SourceError", "The table could not be counted by duckdb (Error).", "check its rows"),
        1,
    ),
    "defect": (
        partial(RuntimeError, f"row {CANARY} is odd"),
        (
            "RuntimeError",
            "Something inside dawa went wrong (RuntimeError).",
            "this is a defect: please report it, with what DAWA_DEBUG=1 shows if that holds nothing private",
        ),
        1,
    ),
    "stopped": (
        partial(KeyboardInterrupt, CANARY),
        ("Stopped", "Stopped.", "budget that a ledger had reserved by then stays spent"),
        130,
    ),
}


@pytest.mark.long_but(1)
@pytest.mark.parametrize(("failure", "told", "code"), FAILURES.values(), ids=FAILURES)
def test_a_failure_after_paying_says_what_it_cost(people, monkeypatch, failure, told, code):
    def broken(_):
        error = failure()
        error.add_note(f"near {CANARY}")
        raise error

    dawa("ledger", "create", "hr", "--cap", "2.5")
    monkeypatch.setattr(sources.Query, "counts", broken)
    kind, problem, hint = told
    ran = dawa("release", people, *AGES, "--dataset", "hr")
    refused(ran, code=code)
    assert ran.err == f"{problem} {SPENT} Hint: {hint}; {TAKE_BACK}\n"
    assert dawa("ledger", "take-back", 2, "--nothing-was-made", "--why", "it failed").code == 0
    again = dawa("release", people, *AGES, "--dataset", "hr", "--json")
    assert again.code == code
    assert again.json["error"] == {
        "kind": kind,
        "problem": f"{problem} {SPENT}".replace("entry 2", "entry 4"),
        "hint": f"{hint}; {TAKE_BACK}".replace("take-back 2", "take-back 4"),
    }
    assert CANARY not in f"{ran} {again}"
    assert names() == {"dawa-ledger.db"}


def test_a_value_that_breaks_the_engine_is_not_shown(postgres):
    import psycopg  # noqa: PLC0415  with its server

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("create schema remarks; create table remarks.notes (age text)")
        connection.execute("insert into remarks.notes values (%s)", (f"{CANARY}x",))
        connection.execute("create view remarks.people as select cast(age as integer) as age from remarks.notes")
    dawa("ledger", "create", "hr", "--cap", "2.5")
    ran = dawa("release", postgres, "--table", "remarks.people", *AGES, "--dataset", "hr")
    refused(ran, "The table could not be counted by postgres", SPENT, TAKE_BACK)
    assert CANARY not in ran.err


def test_what_was_taken_back_meanwhile_is_not_released(people, monkeypatch):
    original = sources.Query.counts

    def counts(self):
        taken_back_elsewhere(opened("dawa-ledger.db"), 2, who="ada")
        return original(self)

    dawa("ledger", "create", "hr", "--cap", "1")
    monkeypatch.setattr(sources.Query, "counts", counts)
    refused(
        dawa("release", people, *AGES, "--dataset", "hr"), "Entry 2 was taken back by ada in entry 3", "not handed out"
    )
    (hidden,) = names() - {"dawa-ledger.db"}
    assert hidden.startswith(".not-paid-for"), "neither people nor servers look there"
    assert dawa("ledger", "show", "hr", "--json").json["accounts"][0]["spent"] == "0"


def test_a_refusal_spends_nothing(people):
    dawa("ledger", "create", "hr", "--cap", "2")
    refused(dawa("release", people, "--column", "agee", *AGES[2:], "--dataset", "hr"), "no column 'agee'")
    refused(dawa("release", "none.csv", *AGES, "--dataset", "hr"), "no file")
    Path("out").mkdir()
    Path("out/mine").touch()
    refused(dawa("release", people, *AGES, "--dataset", "hr"), "exists already")
    assert dawa("ledger", "show", "hr", "--json").json["accounts"][0]["spent"] == "0"


def test_the_usual_ledger(people, monkeypatch):
    monkeypatch.setenv("DAWA_LEDGER", "team.db")
    refused(dawa("release", people, *AGES), "names no dataset", "unset DAWA_LEDGER")
    dawa("ledger", "create", "hr", "--cap", "1")
    assert dawa("release", people, *AGES, "--dataset", "hr").code == 0
    assert dawa("ledger", "show", "hr", "--ledger", "team.db", "--json").json["accounts"][0]["left"] == "0"
