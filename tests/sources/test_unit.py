"""At most so many records of a unit are kept: the exact check behind ``unit.md``, and that the choice is fair."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa import Axis
from dawa.sources import counting, units
from helpers.examples import examples

AXIS = Axis("x", 0, 5, outside="drop", missing="drop")

rows = st.lists(
    st.tuples(st.sampled_from([None, "a", "b", "c", "d"]), st.none() | st.integers(-2, 7), st.integers(0, 10**9)),
    max_size=40,
    unique_by=lambda row: row[2],
)
"""Whose it is, its value, and the key that decides which rows of a unit are kept."""


def kept(table, most, key="key"):
    """Counts by cell, with given keys in place of random ones, so that two tables can be compared."""
    columns = {
        "owner": pa.array([owner for owner, _, _ in table], pa.string()),
        "x": pa.array([x for _, x, _ in table], pa.int64()),
        "key": pa.array([key for _, _, key in table], pa.int64()),
    }
    with counting.source(columns, (AXIS, Axis("key", 0, 1)), ("owner",)) as source:
        found = source.fetch(counting.expression(source, (AXIS,), ("owner",), most, key)).to_pylist()
    return {row["cell"]: row["records"] for row in found}


def by_hand(table, most):
    """The same, unit by unit."""
    counts = Counter()
    for owner in {row[0] for row in table} - {None}:
        counted = sorted((key, x) for who, x, key in table if who == owner and x is not None and 0 <= x < 5)
        counts.update(x for _, x in counted[:most])
    return dict(counts)


@pytest.mark.long
@examples(60)
@given(rows, st.integers(1, 4))
def test_the_engine_keeps_what_the_rule_says(table, most):
    assert kept(table, most) == by_hand(table, most)


@pytest.mark.long
@examples(40)
@given(rows, st.integers(1, 4), st.sampled_from(["a", "b", "c", "d", None]))
def test_adding_or_removing_a_unit_changes_at_most_so_many_records(table, most, who):
    """With the keys of all other rows unchanged, the others keep what they had; rows without a unit never count."""
    without = [row for row in table if row[0] != who]
    more, fewer = Counter(kept(table, most)), Counter(kept(without, most))
    assert not fewer - more, "nobody else loses a record"
    own = by_hand([row for row in table if row[0] == who], most)
    assert more - fewer == Counter(own), "and nobody else gains one"
    assert sum((more - fewer).values()) <= (0 if who is None else most)


def test_the_choice_is_random_and_fair():
    """Every row of a unit has the same chance; thresholds are seven standard deviations wide."""
    units, each, most = 4000, 5, 2
    table = {"owner": np.repeat(np.arange(units), each), "x": np.tile(np.arange(each), units)}
    runs = []
    for _ in range(2):
        with counting.source(table, (AXIS,), ("owner",)) as source:
            found = source.fetch(counting.expression(source, (AXIS,), ("owner",), most)).to_pylist()
        counts = {row["cell"]: row["records"] for row in found}
        assert sum(counts.values()) == units * most
        share = most / each
        assert all(
            abs(counts[cell] - units * share) < 7 * math.sqrt(units * share * (1 - share)) for cell in range(each)
        )
        runs.append(counts)
    assert runs[0] != runs[1], "a coincidence of five counts near 1,600 has a chance below one in a million"


def test_rows_that_do_not_count_use_up_nothing():
    table = [("a", None, 1), ("a", -1, 2), ("a", 99, 3), ("a", 4, 4), (None, 2, 5)]
    assert kept(table, 1) == {4: 1}


@pytest.mark.parametrize("owners", [np.array([1.0, 1.0, np.nan, np.nan]), ["a", "a", None, None]])
def test_rows_without_a_unit_are_left_out(owners):
    with counting.query({"x": [1, 1, 1, 1], "who": owners}, (AXIS,), ("who",), 2) as query:
        assert query.source.fetch(query.expression).to_pylist() == [{"cell": 1, "records": 2}]


def test_the_loss_is_exact():
    assert units.loss(Fraction(1, 10) / 3, 3) == Fraction(1, 10)
    assert units.check_rows(("p",), np.int64(3)) == 3
