"""Releases of groups from tables: one epsilon, one entry in the ledger, one file that is kept."""

import itertools
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dawa
from dawa import ledger, progress
from dawa.errors import AxisError, BudgetError, LedgerError, OptionError, SourceError
from dawa.publish import folder, recovery
from dawa.results import traces

AGE = dawa.Axis("age", 0, 100, outside="own")
RNG = np.random.default_rng(5)
TABLE = pd.DataFrame(
    {
        "age": np.minimum(RNG.gamma(4, 9, 4000), 120).astype(int),
        "city": RNG.choice(["Rome", "Oslo", "Lima", "?"], 4000),
        "sex": RNG.choice([1, 2], 4000),
        "who": RNG.integers(0, 900, 4000),
    }
)
CITIES = {"by": "city", "groups": ["Rome", "Oslo"]}


def release(**options):
    return dawa.release(TABLE, AGE, **{"epsilon": 1, "seed": 1, "effort": "fast", **CITIES, **options})


def test_each_group_has_a_histogram_made_with_all_of_epsilon():
    rel = release(by=["city", "sex"], groups=[["Rome", "Oslo"], [1, 2]])
    assert rel.groups == (("Rome", 1), ("Rome", 2), ("Oslo", 1), ("Oslo", 2))
    assert {one.estimate.epsilon for one in rel.values()} == {Fraction(1)}
    assert rel.none.epsilon == 1
    assert len({one.estimate.buckets.bounds.tobytes() for one in rel.values()}) > 1, "partitions of their own"
    for (city, sex), one in rel.items():
        truth = TABLE[(TABLE.city == city) & (TABLE.sex == sex)].age
        for asked in ((0, 100), (20, 60)):
            found = one.answer(*asked, 0.9999)
            assert found.low <= truth.between(asked[0], asked[1] - 1).sum() <= found.high
    assert {kind.label for kind in rel.apart()} >= {"city not listed", "sex missing"}
    found = next(kind for kind in rel.apart(0.9999) if kind.label == "city not listed").answer
    assert found.low <= (~TABLE.city.isin(["Rome", "Oslo"])).sum() <= found.high


def test_others_are_a_group():
    rel = release(other=True)
    assert rel.groups == ("Rome", "Oslo", "other")
    truth = (~TABLE.city.isin(["Rome", "Oslo"]) & (TABLE.age < 100)).sum()
    assert rel["other"].total.low <= truth <= rel["other"].total.high
    assert [kind.label for kind in rel.apart()] == ["city missing"]


def test_epsilon_is_shared_by_the_records_of_a_unit_in_all_groups():
    rel = release(unit="who", max_rows_per_unit=4)
    assert {one.estimate.epsilon for one in rel.values()} == {Fraction(1, 4)}
    assert "those in none, were counted together" in str(rel.privacy)
    assert sum(rel.privacy.split.values()) == rel.privacy.epsilon == 1
    kept = TABLE.groupby("who").size().clip(upper=4).sum()
    every = rel.total.value + sum(one.others.unbiased.sum() for one in rel.values()) + rel.none.unbiased.sum()
    assert abs(every - kept) < 300


def test_the_looks_for_bounds_and_a_cap():
    rel = dawa.release(TABLE, dawa.Axis.auto("age"), epsilon=4, unit="who", max_rows_per_unit="auto", seed=1, **CITIES)
    assert rel.axes[0].start <= 5
    assert rel.axes[0].stop >= 60
    assert rel.privacy.max_rows_per_unit >= 1
    assert "Only records that are in a group are looked at" in str(rel.privacy)
    assert set(rel.privacy.searched) == {"bounds of 'age'", "records per value of 'who'"}
    assert sum(rel.privacy.split.values()) == 4


def test_progress_names_the_group():
    found = []
    with progress.heard(found.append):
        release()
    assert [stage for stage in found if stage.startswith("Group")][:2] == [
        "Group 1 of 2: choosing buckets",
        "Group 1 of 2: choosing what to measure",
    ]
    assert any(stage.startswith("Group 2 of 2") for stage in found)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"by": "age", "groups": [1]}, OptionError, "is an axis and puts records into groups"),
        ({"by": "town"}, AxisError, "no column 'town'"),
        ({"groups": ["Rome", "Rome"]}, OptionError, "lists a value twice"),
        ({"groups": ["Rome", 1]}, OptionError, "not all text"),
        ({"groups": None}, OptionError, "not listed; they are never read"),
        ({"by": "sex", "groups": ["x", "y"], "other": 1}, OptionError, "other=1"),
        ({"by": "who", "groups": [1, 2], "unit": "who", "max_rows_per_unit": 1}, OptionError, "groups are the units"),
        ({"unit": "who"}, OptionError, "How many records of each unit"),
        ({"mechanism": "mwem"}, OptionError, "does not know the noise"),
        ({"mechanism": "identity", "axes": dawa.Axis("age", 0, 2**40)}, OptionError, "too many to measure"),
        ({"axes": [dawa.Axis("age", 0, 2**31), dawa.Axis("who", 0, 2**31)]}, OptionError, "more than 2\\^62 cells"),
        ({"by": None}, OptionError, "says nothing without by="),
        ({"by": "where", "where": "nope = 3"}, SourceError, "nope|where"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_public_is_refused_before_anything_is_paid(tmp_path, options, error, said):
    book = ledger.opened(tmp_path / "ledger.db")
    book.create("hr", cap=2, unit=() if "unit" not in options else ("who",))
    asked = {"epsilon": 1, "axes": AGE, **CITIES, "ledger": book, "dataset": "hr", **options}
    with pytest.raises((error, AxisError), match=said):
        dawa.release(TABLE, **asked)
    assert book.account("hr").spent == 0


def test_a_unit_of_which_groups_are_a_part():
    """One person in one city is protected, and groups are cities: that makes sense."""
    rel = release(unit=["who", "city"], max_rows_per_unit=1)
    assert rel.privacy.unit_columns == ("who", "city")


def test_a_condition_on_the_grouping_column():
    rel = release(where="city != 'Rome'", epsilon=50)
    assert rel["Rome"].total.value < 3
    assert rel["Oslo"].total.value > 900


# --- the ledger -----------------------------------------------------------------------------------------------------


def booked(tmp_path, **options):
    book = ledger.opened(tmp_path / "ledger.db")
    book.create("hr", cap=2, unit=())
    rel = dawa.release(TABLE, AGE, epsilon=1, ledger=book, dataset="hr", effort="fast", **CITIES, **options)
    return book, rel


def test_all_groups_are_booked_once_with_their_names(tmp_path):
    book, rel = booked(tmp_path)
    assert book.account("hr").spent == 1
    (entry,) = [one for one in book.history() if one.epsilon]
    assert entry.what["by"] == [{"column": "city", "values": ["Rome", "Oslo"], "other": False}]
    assert next(one.release_id for one in book.history() if one.release_id) == rel.id
    with pytest.raises(BudgetError):
        dawa.release(TABLE, AGE, epsilon="1.1", ledger=book, dataset="hr", **CITIES)


def test_a_file_is_kept_before_the_ledger_is_told(tmp_path):
    _, rel = booked(tmp_path, out=tmp_path / "release.json")
    again = dawa.load(tmp_path / "release.json")
    assert (again.id, again.groups, again.total) == (rel.id, rel.groups, rel.total)


def test_a_folder_holds_it(tmp_path):
    with folder.prepared(tmp_path / "out") as keeper:
        _, rel = booked(tmp_path, out=keeper)
    assert dawa.load(tmp_path / "out" / "release.json").id == rel.id


@pytest.mark.parametrize("where", ["file", "folder"])
def test_what_the_ledger_was_not_told_is_recovered(tmp_path, monkeypatch, where):
    def fails(*_):
        raise LedgerError("busy.", "try again.")

    with monkeypatch.context() as patched, warnings.catch_warnings(action="ignore"):
        patched.setattr(ledger.Reservation, "finalise", fails)
        if where == "file":
            book, rel = booked(tmp_path, out=tmp_path / "release.json")
        else:
            with folder.prepared(tmp_path / "out") as keeper:
                book, rel = booked(tmp_path, out=keeper)
    (trace,) = recovery.recovered(book)
    assert trace.state == traces.BOOKED
    assert next(one.release_id for one in book.history() if one.release_id) == rel.id


KILLED = """
import os, signal, sys
import dawa
from dawa.host import atomic
from dawa.publish import folder
original, calls = {owner}, []

def die(*arguments, **options):
    calls.append(1)
    if len(calls) == {count}:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*arguments, **options)

{owner} = die
table = {{"age": [i % 100 for i in range(2000)], "city": ["Rome", "Oslo"] * 1000}}
with folder.prepared("out") as keeper:
    dawa.release(table, dawa.Axis("age", 0, 100), epsilon=1, by="city", groups=["Rome", "Oslo"], effort="fast",
                 ledger="ledger.db", dataset="hr", out=keeper)
"""


@pytest.mark.long
def test_a_folder_whose_run_was_killed_is_completed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    book = ledger.opened("ledger.db")
    book.create("hr", cap=2, unit=())
    code = KILLED.format(owner="folder._completed", count=1)
    came = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603  our own
    assert came.returncode == -9, came.stderr
    (trace,) = recovery.recovered(ledger.opened("ledger.db"))
    assert trace.state == traces.BOOKED
    assert isinstance(dawa.load("out/release.json"), dawa.GroupedRelease)


# --- neighbours -----------------------------------------------------------------------------------------------------


def test_with_the_same_noise_one_record_changes_one_part():
    """A record in one group leaves what is made of all other groups as it is; so does a record in none."""
    options = {"mechanism": "identity", "epsilon": 1, "seed": 7}
    base = {"age": [5, 5, 7], "city": ["Rome", "Oslo", "Rome"]}

    def made(*more):
        rows = {name: [*values, *(one[at] for one in more)] for at, (name, values) in enumerate(base.items())}
        rel = dawa.release(pd.DataFrame(rows), dawa.Axis("age", 0, 9, outside="own"), **options, **CITIES)
        parts = [part.unbiased for pair in zip(rel.estimates, rel.others, strict=True) for part in pair]
        return [*parts, rel.none.unbiased]

    fewer = made()
    for record in itertools.product([5, 30, None], ["Rome", "Oslo", "Lima", None]):
        moved = [np.abs(a - b) for a, b in zip(made(record), fewer, strict=True)]
        assert sum(part.sum() for part in moved) == pytest.approx(1)
        assert sum(part.any() for part in moved) == 1


@pytest.mark.parametrize("mechanism", ["dawa", "identity"])
def test_a_group_is_released_as_its_records_alone_would_be(mechanism):
    """With the same noise, the first group is bit for bit the release of its own records at the same epsilon."""
    options = {"mechanism": mechanism, "epsilon": "1/2", "seed": 4}
    rel = dawa.release(TABLE, AGE, **options, **CITIES)
    alone = dawa.release(TABLE, AGE, where="city = 'Rome'", **options)
    np.testing.assert_array_equal(rel["Rome"].estimate.buckets.bounds, alone.estimate.buckets.bounds)
    np.testing.assert_array_equal(rel["Rome"].estimate.unbiased, alone.estimate.unbiased)
