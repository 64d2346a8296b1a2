"""Ledgers under many processes: never overspent in a race, never short of what was used when they are killed."""

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from helpers import ledger_processes
from helpers.ledger_places import in_new_schema, old

SCRIPT = Path(ledger_processes.__file__)
KILLS = {"sqlite": 200, "postgres": 60}
FEW = 40


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    return in_new_schema(request.getfixturevalue("postgres"))


def ran(*arguments):
    """What the script found; one thread for linear algebra, for a process with threads is not safe to fork."""
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    found = subprocess.run(  # noqa: S603  our own script
        command, capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, check=False
    )
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


@pytest.mark.long_but(1, of="place")
@pytest.mark.parametrize("attempts", [1, 4])
def test_sixteen_processes_take_exactly_ten_tenths(place, attempts):
    assert ran("race", place, attempts) == {
        "seen": "r" * (16 * attempts - 10) + "t" * 10,
        "spent": "1",
        "left": "0",
    }


@pytest.mark.long
def test_one_of_sixteen_opens_an_account(place):
    assert ran("create", place) == {"seen": "r" * 15 + "t"}


ENDS = [
    {"seen": "F" + "f" * 15, "booked": ["finalise"], "given back": "0"},
    {"seen": "T" + "b" * 8 + "t" * 7, "booked": ["take-back"], "given back": "1/10"},
]
"""One finalises, and fifteen are told so; or one takes back, and the eight that finalise get an error of its own."""


@pytest.mark.long
def test_a_reservation_is_finalised_or_taken_back_by_one_of_sixteen(place):
    found = ran("close", place, 8)
    assert len(found) == 8
    assert all(end in ENDS for end in found), found


@pytest.mark.long_but(1)
def test_one_of_sixteen_decides_for_whom_an_account_counts(place):
    found = ran("decide", place)
    assert found in (
        {"seen": "." * 8 + "r" * 8, "unit": [], "table": "t0", "spent": "8"},
        {"seen": "." * 8 + "p" * 8, "unit": ["person"], "table": "t1", "spent": "8"},
    )


@pytest.mark.long
def test_factors_that_race_with_spending_count_for_all_of_it(place):
    found = ran("relate", place)
    assert set(found["seen"]) <= set("lrtu")
    assert "u" in found["seen"]
    assert Fraction(found["spent"]) == Fraction(9, 2) * found["seen"].count("t"), "the largest factor is 9"
    assert found["broken"] is None


@pytest.mark.long
def test_one_of_sixteen_upgrades(place):
    old(2, place)
    found = ran("upgrade", place)
    assert found["seen"] == "." * 15 + "u"
    assert (found["kinds"].count("upgrade"), found["kinds"][-1]) == (1, "upgrade")


@pytest.mark.long_but(1)
@pytest.mark.parametrize("few", [True, False])
def test_killed_at_any_point_it_never_shows_less_than_was_used(place, tmp_path, request, few):
    kills = FEW if few else KILLS[request.node.callspec.params["place"]]
    found = ran("crash", place, tmp_path / "used", kills)
    assert found["short"] == 0
    assert found["used"] > kills / 4, "the kills left no time to use anything"
    assert found["pending"] > 0, "no kill fell between a reservation and its release"


@pytest.mark.long
def test_the_check_for_kills_can_fail(tmp_path):
    assert ran("crash", tmp_path / "ledger.db", tmp_path / "used", 40, "careless")["short"] > 0
