"""What counting by groups comes to, and its slow twin."""

import re
from collections import Counter

from dawa import sources
from dawa.axis.apart import patterns
from dawa.axis.groups import combinations, groupings
from dawa.errors import DawaError
from dawa.sources.dialect import MISSING
from helpers.reading import _counter

WORDS = ["AA", " AA", "aa", "AA ", "Ä", "other", "x\ny", 'q"q', "1", "z" * 5000]
BY = {
    "words": groupings({"g": ["AA", " AA", "Ä", "NA"]}),
    "words, and others": groupings({"g": ["AA", "aa", "1"]}, other=True),
    "two columns": groupings({"g": ["AA", "other"], "h": [1, 3]}),
    "two columns, and others": groupings({"g": ["AA"], "h": [2, 1]}, other=True),
    "numbers": groupings({"h": [3, 1]}),
}
USUAL = [(x, g, h) for x in (None, -1, 0, 4, 5) for g in (None, *WORDS, "", "NA") for h in (None, 1, 2, 3)]
"""Rows of a number and two columns that put them into groups."""


def outcome(table, axes, by, unit=(), most=1, where=None):
    """The counts by group, or in their place the words of the refusal; ways of being in no group are marked."""
    step = "opening"
    try:
        with sources.query(table, axes, unit, most, where, by=by) as query:
            step = "checking"
            query.check()
            step = "reading"
            found = query.groups()
    except DawaError as error:
        return step, type(error).__name__, re.sub(r"/\S*/", "", str(error))
    total = Counter({("none", way): count for way, count in _counter(found.none, patterns(by)).items()})
    for group, tally in zip(combinations(by), found.each, strict=True):
        for ways, part in ((None, tally.inside), (patterns(axes), tally.apart)):
            total += Counter({(group, where): count for where, count in _counter(part, ways).items()})
    return "counted", total


def state_of(grouping, value, *, text):
    """Where a value falls in a grouping column: a label, or in which way it is in no group."""
    labels = grouping.axis.labels
    if text and isinstance(value, str) and value not in labels and value in {"", *MISSING}:
        value = None
    if value is None:
        return None, "missing"
    for label in labels:
        same = str(value) == label if isinstance(label, str) else value == label
        if same:
            return label, "inside"
    return ("other", "inside") if grouping.other else (None, "unlisted")


def twin(rows, axis, by, *, text):
    """The counts by group of rows of a number on an axis from 0 that counts all apart, and a value for each column."""
    total = Counter()
    for number, *values in rows:
        found = [state_of(grouping, value, text=text) for grouping, value in zip(by, values, strict=True)]
        if any(state != "inside" for _, state in found):
            total["none", tuple(state for _, state in found)] += 1
            continue
        group = tuple(label for label, _ in found)
        if number is None:
            total[group, ("missing",)] += 1
        elif number < 0:
            total[group, ("below",)] += 1
        else:
            total[group, int(number) if number < axis.size else ("above",)] += 1
    return total
