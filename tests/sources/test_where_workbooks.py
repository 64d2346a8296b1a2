"""Conditions and units on columns of workbooks: they mean the same, whatever the axes are."""

import pytest

from dawa import Axis, sources
from helpers.binning import everything
from helpers.workbook import Raw, write

CELLS = [
    41275,  # 2013-01-01
    41289,  # 2013-01-15
    41289.5,
    41275.0,  # the same day as the first, stored in another way
    "2013-01-15",
    "2013-01-20 08:00",
    "41289",  # text, so not a day
    "late",
    None,
    20130116,  # a number that is no day, though a format might read it
    60,  # the day that never was
    True,
    Raw('<c r="D7" t="e"><v>#DIV/0!</v></c>'),
]
"""What stands in the column; the cell in place i stands in 2^i rows, so that a count says which cells were counted."""
DAYS, ALL = [0, 1, 2, 3], range(len(CELLS))
TABLE = [
    ["x", "p", "q", "d"],
    *([times % 10, f"p{times % 3}", place, cell] for place, cell in enumerate(CELLS) for times in range(2**place)),
]
AXES = {
    "another column": [Axis("x", 0, 10)],
    "days": [Axis.dates("d", "2013-01-01", "2014-01-01", "1 month")],
    "moments": [Axis.dates("d", "2013-01-01", "2014-01-01", "1 day", "Europe/Berlin", "own")],
    "numbers": [Axis("d", 0, 100)],
    "labels": [Axis.ordered("d", ["late"])],
    "two columns": [Axis("x", 0, 10), Axis.dates("d", "2013-01-01", "2014-01-01", "1 month")],
}
"""Axes that count every record, some of them apart."""
CONDITIONS = {
    "d is missing": [8, 12],
    "d is not missing": [place for place in ALL if place not in (8, 12)],
    "d >= 41289": [1, 2, 6, 9],
    "d < 41289": [0, 3, 10],
    "d = 41275": [0, 3],
    "not d = 41275": [1, 2, 6, 9, 10],
    "d >= '2013-01-15'": [1, 2, 4, 5],
    "d > '2013-01-15'": [2, 5],
    "d = '2013-01-15 12:00'": [2],
    "d < '2013-01-15'": [0, 3],
    "not d < '2013-01-15'": [1, 2, 4, 5],
    "d in ('2013-01-01', '2013-01-15')": [0, 1, 3, 4],
    "d between '2013-01-02' and '2013-01-31' and q != 5": [1, 2, 4],
    "d >= '2013-01-15' or d is missing": [1, 2, 4, 5, 8, 12],
    "d >= '2013-01-15 00:00Z'": [],  # none of them says how far from UTC it is
    "d = '41275'": [0],
    "d = '41289'": [1, 6],
    "d = true": [11],
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write(tmp_path_factory.mktemp("where") / "x.xlsx", TABLE)


def counted(table, axes, **options):
    """The places of the cells whose rows were counted, each of them as often as it stands there."""
    total = sum(everything(table, *axes, **options).values())
    return [place for place in ALL if total >> place & 1]


@pytest.mark.long
@pytest.mark.parametrize("axes", AXES)
def test_conditions_mean_the_same_whatever_the_axes_are(path, axes):
    assert counted(path, AXES[axes]) == list(ALL)
    for where, places in CONDITIONS.items():
        assert counted(path, AXES[axes], where=where) == places, where


@pytest.mark.long
@pytest.mark.parametrize("axes", AXES)
def test_units_are_told_apart_by_the_stored_text(path, axes):
    """41275 and 41275.0 are two units, 41289 and text of the same characters are one."""
    there = [place for place in ALL if place not in (8, 12)]
    assert counted(path, AXES[axes], unit="d", max_rows_per_unit=2**20) == there
    once = everything(path, *AXES[axes], unit="d", max_rows_per_unit=1)
    assert sum(once.values()) == len(there) - 1
    twice = everything(path, *AXES[axes], unit=["d", "q"], max_rows_per_unit=1)
    assert sum(twice.values()) == len(there)


@pytest.mark.long_but(2)
@pytest.mark.parametrize("axes", AXES)
def test_what_is_declared_holds_in_conditions_too(tmp_path, axes):
    cells = [41275, 20130116, "20130116", 99999, "99999"]
    rows = [[0, "p", 0, cell] for place, cell in enumerate(cells) for _ in range(2**place)]
    path = write(tmp_path / "x.xlsx", [TABLE[0], *rows])
    formatted = sources.excel(path, date_format="%Y%m%d")
    assert counted(formatted, AXES[axes], where="d >= '2013-01-01'") == [0, 2, 3], "a number is a day, or no date"
    assert counted(formatted, AXES[axes], where="d < '2013-01-02'") == [0]
    without = sources.excel(path, missing=["99999"])
    assert counted(without, AXES[axes], where="d is missing") == [3, 4]
    assert counted(without, AXES[axes], where="d >= '2013-01-01'") == [0]


def test_numbers_that_mean_a_missing_value_are_no_days(tmp_path):
    path = write(tmp_path / "x.xlsx", [["d"], [41275], [41276], [99999]])
    year = Axis.dates("d", "2013-01-01", "2014-01-01", "1 year")
    assert everything(path, year) == {0: 3}
    assert everything(sources.excel(path, missing=["99999", "41276"]), year) == {0: 1, ("missing",): 2}


def test_days_since_1904_are_these_in_conditions_too(tmp_path):
    path = write(tmp_path / "x.xlsx", [["x", "d"], [1, 39813], [2, 39814], [3, 41275]], late=True)
    axis = Axis("x", 0, 10)
    assert everything(path, axis, where="d = '2013-01-01'") == {1: 1}
    assert everything(path, axis, where="d > '2013-01-01'") == {2: 1, 3: 1}
