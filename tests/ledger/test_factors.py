"""The factors that ``ledger.md`` names: enough on every small table, and no smaller one is.

Truncation is the rule that ``tests/sources/test_unit.py`` holds the engine to: of each unit, the records with the
lowest keys are kept. A release of counts that differ by d in L1, at ε for each record, loses d·ε.
"""

import itertools
import math
from collections import Counter
from fractions import Fraction

import pytest

PERSONS, DAYS, CELLS = ("a", "b"), (1, 2), (0, 1)
ROWS = list(itertools.product(PERSONS, DAYS, CELLS))
TABLES = [table for size in range(4) for table in itertools.product(ROWS, repeat=size)]
"""All tables of up to three records: who, when, where. The place in the table is the key."""


def record(_row, place):
    return place


def person(row, _place):
    return row[0]


def person_and_day(row, _place):
    return row[:2]


def counted(table, unit, most):
    """Records per cell, of at most so many records of each unit; ``None`` stands for a record that is not there."""
    kept, counts = Counter(), Counter()
    for place, row in enumerate(table):
        if row is None:
            continue
        kept[unit(row, place)] += 1
        counts[row[2]] += kept[unit(row, place)] <= most
    return counts


def worst(account, release, most):
    """What a unit of the account loses at most, in units of ε, if records of a unit of the release share ε."""
    found = Fraction(0)
    for table in TABLES:
        for one in {account(row, place) for place, row in enumerate(table)}:
            without = [None if account(row, place) == one else row for place, row in enumerate(table)]
            before, after = counted(table, release, most), counted(without, release, most)
            moved = sum(abs(before[cell] - after[cell]) for cell in CELLS)
            found = max(found, Fraction(moved, most))
    return found


@pytest.mark.parametrize(
    ("account", "release", "most", "times"),
    [
        (record, record, 1, 1),
        (person, person, 1, 1),
        (person, person, 2, 1),
        (person_and_day, person_and_day, 1, 1),
        (person, record, 1, 3),  # a person has at most 3 records in these tables
        (person, person_and_day, 1, 2),  # and records on at most 2 days
        (record, person, 1, 2),
        (record, person, 2, 1),  # the factor does not know how many are kept, so it stays 2
        (person_and_day, person, 1, 2),
        (record, person_and_day, 1, 2),
    ],
)
def test_the_factor_is_enough_and_no_smaller_one_is(account, release, most, times):
    assert worst(account, release, most) == times


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_a_person_in_an_account_of_records_is_not_once_even_if_the_choice_is_secret(epsilon):
    """One record more, kept in place of the other with probability 1/2: exact probabilities under discrete Laplace."""
    law = {k: math.exp(-epsilon * abs(k)) * math.tanh(epsilon / 2) for k in range(-9, 11)}
    losses = []
    for first, second in itertools.product(range(-8, 9), repeat=2):
        alone = law[first - 1] * law[second]
        together = (alone + law[first] * law[second - 1]) / 2
        losses.append(math.log(together / alone))
    assert epsilon * 1.0001 < max(losses) < 2 * epsilon
