# ruff: noqa: DTZ001  times without a zone are part of it
"""Lists, numpy arrays and pandas columns: one value more moves one count at most, whatever it is."""

from collections import Counter, deque
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from uuid import uuid4

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dawa import Axis
from dawa.errors import SourceError
from helpers.binning import bisect_right, date_borders, found
from helpers.hostile import LEAST, MOST, WIDTHS, Rude
from helpers.reading import AWARE, LETTERS, NAIVE, X, check_neighbours, outcome

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


# --- values without a type ------------------------------------------------------------------------------------------


class RudeText(str):
    """Text that cannot be looked at."""

    __slots__ = ()

    def __str__(self):
        raise ValueError("canary4711")

    encode = __str__


class RudeInt(int):
    """A number that cannot be looked at."""

    def __int__(self):
        raise ValueError("canary4711")

    __str__ = __repr__ = __index__ = bit_length = __int__


class Unhashable(type):
    """A class that cannot be put into a set."""

    def __hash__(cls):
        raise TypeError("canary4711")


class Disguised:
    """Has a class that cannot be asked for."""

    @property
    def __class__(self):
        raise ValueError("canary4711")


EAST = timezone(timedelta(hours=5, minutes=53, seconds=28))
RECURSIVE = []
RECURSIVE.append(RECURSIVE)
LOOSE = {
    "None": None,
    "True": True,
    "huge": 10**5000,
    "minus huge": -(10**5000),
    "sNaN": Decimal("sNaN"),
    "NaN": Decimal("NaN"),
    "Infinity": Decimal("Infinity"),
    "far": Decimal("1e999999"),
    "Fraction": Fraction(1, 3),
    "large Fraction": Fraction(10**5000),
    "object": object(),
    "bytes": b"5",
    "bytearray": bytearray(b"5"),
    "Rude": Rude(),
    "RudeText": RudeText("5"),
    "RudeInt": RudeInt(5),
    "Unhashable": Unhashable("Canary", (), {})(),
    "Disguised": Disguised(),
    "float": 0.5,
    "float32": np.float32(0.7),
    "float16": np.float16(0.7),
    "longdouble": np.longdouble("0.7"),
    "int64": np.int64(5),
    "uint64": np.uint64(2**64 - 1),
    "bool_": np.True_,
    "NA": pd.NA,
    "NaT": pd.NaT,
    "nat64": np.datetime64("NaT"),
    "inf": float("inf"),
    "nan": float("nan"),
    "-0.0": -0.0,
    "denormal": 5e-324,
    "complex": 1j,
    "text": "5",
    "late": "late",
    "surrogate": "\ud800",
    "NUL": "5\0",
    "long": "5" * 100_000,
    "datetime": datetime(2013, 1, 1),
    "zone": datetime(2013, 1, 1, tzinfo=UTC),
    "odd zone": datetime(2013, 1, 1, tzinfo=EAST),
    "date": date(2013, 1, 1),
    "year 1": datetime(1, 1, 1),
    "year 9999": date(9999, 12, 31),
    "Timestamp": pd.Timestamp("2013-01-01 00:00:00.123456789"),
    "zoned Timestamp": pd.Timestamp("2013-01-01", tz="Asia/Tokyo"),
    "datetime64": np.datetime64("2013-01-01T00:00:00.123456789"),
    "year 12013": np.datetime64("12013-01-01"),
    "timedelta": timedelta(1),
    "list": [5],
    "tuple": (5,),
    "dict": {5: 5},
    "array": np.array([5]),
    "0-d": np.array(5),
    "type": int,
    "generator": (x for x in [5]),
    "uuid": uuid4(),
    "recursive": RECURSIVE,
}
BASES = {
    "whole numbers": ([5, 1, 7] * 20, (X, Axis("x", 0, 1, "0.1"))),
    "floats": ([np.float32(0.7)] * 40, (Axis("x", 0, 1, "0.1"),)),
    "text": (["A", "B", "5"] * 20, (Axis.ordered("x", ["A", "5"]), Axis.ordered("x", [1, 5]))),
    "truth": ([True, False] * 20, (Axis.ordered("x", [True, False]),)),
    "times": (
        [datetime(2013, 1, 1), datetime(2013, 6, 1, 12)] * 20,
        (
            Axis.dates("x", "2013-01-01", "2014-01-01", "1 day"),
            Axis.dates("x", "2013-01-01", "2014-01-01", "1 day", "Europe/Berlin"),
        ),
    ),
}


def as_objects(values):
    array = np.empty(len(values), object)
    for place, value in enumerate(values):
        array[place] = value
    return array


HOLDERS = {
    "list": lambda values: {"x": values},
    "tuple": lambda values: {"x": tuple(values)},
    "deque": lambda values: {"x": deque(values)},
    "objects": lambda values: {"x": as_objects(values)},
    "pandas": lambda values: pd.DataFrame({"x": pd.Series(as_objects(values), dtype=object)}),
    "masked": lambda values: {"x": np.ma.MaskedArray(as_objects(values), mask=[False] * len(values))},
}


@pytest.mark.long
@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("base", BASES)
def test_values_without_a_type_are_read_one_by_one(holder, base):
    values, axes = BASES[base]
    table = HOLDERS[holder]
    few = dict(list(LOOSE.items())[:: 1 if holder == "list" else 7])
    wrong = {}
    for axis in axes[:1] if holder != "list" else axes[-1:]:
        fewer = outcome(table(values), axis)
        assert fewer[0] == "counted"
        for number, (name, value) in enumerate(few.items()):
            place = (0, len(values) // 2, len(values))[number % 3]
            more = outcome(table([*values[:place], value, *values[place:]]), axis)
            try:
                check_neighbours(more, fewer)
            except AssertionError as error:
                wrong[name] = str(error)
            assert "canary4711" not in str(more)
    assert not wrong


@pytest.mark.long
def test_all_values_at_once_are_as_many_as_they_are_alone():
    for axis in (X, Axis.dates("x", "2013-01-01", "2014-01-01")):
        values = [value for name, value in LOOSE.items() if name != "Unhashable"]
        alone = sum((outcome({"x": [value]}, axis)[1] for value in values), start=Counter())
        assert outcome({"x": values}, axis) == ("counted", alone)


def test_float32_values_keep_their_cell_beside_a_float():
    """A list whose type was made out from all of its values would move 0.7 from one cell to another."""
    axis = Axis("x", 0, 1, "0.1")
    assert found({"x": [np.float32(0.7)] * 40}, axis) == {7: 40}
    assert found({"x": [np.float32(0.7)] * 40 + [0.5]}, axis) == {5: 1, 7: 40}


@pytest.mark.long
def test_one_value_of_two_gigabytes_does_not_stop_the_run():
    """Its memory is a hole: nothing of it is ever touched."""
    size = 2**31 + 5
    ends = np.array([0, 1, 1 + size], np.int64)
    data = np.zeros(1 + size, np.uint8)
    data[0] = ord("A")
    array = pa.Array.from_buffers(pa.large_string(), 2, [None, pa.py_buffer(ends), pa.py_buffer(data)])
    axis = Axis.ordered("x", ["A", "B"])
    check_neighbours(outcome(pa.table({"x": array}), axis), outcome(pa.table({"x": array.slice(0, 1)}), axis))


# --- numpy and pandas, by their own types ---------------------------------------------------------------------------

SURROGATE = "\ud800"
NUMPY = {
    "int64": (np.array([5, 1, 7]), [LEAST, MOST], X),
    "big-endian": (np.array([5, 1, 7], ">i4"), [-(2**31), 2**31 - 1], X),
    "big-endian floats": (np.array([5, 1, 7], ">f8"), [np.inf, np.nan, 5e-324], X),
    "bool": (np.array([True, False]), [True], Axis.ordered("x", [True])),
    "text": (
        np.array(["A", "B", "A"]),
        ["z" * 10_000, SURROGATE, "A\0A", "", "A" + SURROGATE],
        Axis.ordered("x", ["A"]),
    ),
    "big-endian text": (np.array(["A", "B", "A"], ">U1"), ["\U0010ffff", "Ä"], Axis.ordered("x", ["A"])),
    **{
        f"M8[{unit}]": (
            np.array(["2013-01-05", "2013-06-01"], f"M8[{unit}]"),
            [LEAST + 1, LEAST + 2, MOST - 1, MOST, LEAST],
            Axis.dates("x", "2013-01-01", "2014-01-01"),
        )
        for unit in ("ns", "us", "ms", "s", "m", "h", "D", "W", "25s", "3000ns")
    },
    ">M8[us]": (
        np.array(["2013-01-05", "2013-06-01"], ">M8[us]"),
        [LEAST + 1, MOST, LEAST],
        Axis.dates("x", "2013-01-01", "2014-01-01"),
    ),
}


def with_one_more(array, value):
    """The array with a value at its front; it may need more room for text."""
    one = np.array([value])
    if array.dtype.kind == "M":
        one = np.array([value], "i8").view(array.dtype.newbyteorder("=")).astype(array.dtype)
    kind = one.dtype if array.dtype.kind == "U" else array.dtype
    return np.concatenate((one.astype(kind), array.astype(max(kind, array.dtype) if array.dtype.kind == "U" else kind)))


@pytest.mark.long_but(2)
@pytest.mark.parametrize("name", NUMPY)
def test_numpy_arrays(name):
    array, odd, axis = NUMPY[name]
    fewer = outcome({"x": array}, axis)
    assert fewer[0] == "counted"
    for value in odd:
        check_neighbours(outcome({"x": with_one_more(array, value)}, axis), fewer)
        masked = np.ma.MaskedArray(with_one_more(array, value), mask=[True] + [False] * len(array))
        hidden = fewer[1] + Counter([("missing",)] if axis.missing == "own" else [])
        assert outcome({"x": masked}, axis) == ("counted", hidden)


@pytest.mark.parametrize("unit", ["D", "2D", "h", "7h", "m", "s", "10s", "ms", "10us", "us", "1000ns", "4000ns", "ns"])
def test_numpy_times_of_every_unit_are_in_their_cell(unit):
    axis = Axis.dates("x", "1969-12-01", "1970-03-01", "1 day", None, "drop")
    ticks = np.arange(-400, 900, 7) if unit[-1] in "Dh" else np.arange(-30, 50) * (86_400 * 10**9 // 2 // _width(unit))
    values = ticks.astype("i8").view(f"M8[{unit}]")
    expected = [bisect_right(date_borders(axis), Fraction(int(tick) * _width(unit), 1000)) - 1 for tick in ticks]
    inside = [place for place in expected if 0 <= place < axis.size]
    assert found({"x": values}, axis) == {place: inside.count(place) for place in set(inside)}


@pytest.mark.parametrize("unit", ["1500ns", "100ns", "25ns", "M", "Y", "ps"])
def test_numpy_times_of_odd_units_are_refused(unit):
    with pytest.raises(SourceError, match="unit"):
        found({"x": np.array([1], f"M8[{unit}]")}, Axis.dates("x", "1970-01-01", "1970-01-02"))


def test_labels_that_a_type_cannot_hold_are_never_met():
    assert found({"x": np.array([1, 2, 1], np.uint64)}, Axis.ordered("x", [-1, 1])) == {1: 2}
    assert found({"x": np.array([1], np.uint8)}, Axis.ordered("x", [-1, 256])) == {}


def _width(unit):
    number = "".join(filter(str.isdigit, unit)) or "1"
    return int(number) * {**WIDTHS, "m": 60 * 10**9, "h": 3600 * 10**9, "D": 86_400 * 10**9}[unit.lstrip("0123456789")]


PANDAS = {
    "typed": (lambda v: pd.Series(v, dtype="int64"), [5, 1], [LEAST, MOST], X),
    "nullable": (lambda v: pd.Series(v, dtype="Int64"), [5, 1], [LEAST, MOST, pd.NA], X),
    "nullable floats": (lambda v: pd.Series(v, dtype="Float64"), [5.0, 1.0], [np.inf, -np.inf, pd.NA, 5e-324], X),
    "nullable truth": (
        lambda v: pd.Series(v, dtype="boolean"),
        [True, False],
        [pd.NA, True],
        Axis.ordered("x", [True]),
    ),
    "UTC": (
        lambda v: pd.Series(v).astype("datetime64[ns, UTC]"),
        [pd.Timestamp("2013-01-05", tz="UTC")] * 2,
        [pd.Timestamp.min.tz_localize("UTC"), pd.Timestamp.max.tz_localize("UTC"), pd.NaT],
        AWARE[0],
    ),
    "seconds": (
        lambda v: pd.Series(np.array(v, "M8[s]")),
        [datetime(2013, 1, 5)] * 2,
        [np.datetime64(LEAST + 2, "s"), np.datetime64(MOST - 1, "s"), np.datetime64("NaT")],
        NAIVE[0],
    ),
    "text": (lambda v: pd.Series(v, dtype="str"), ["A", "B"], ["z" * 10_000, None, "A\0"], LETTERS[0]),
    "python text": (
        lambda v: pd.Series(v, dtype="string[python]"),
        ["A", "B"],
        [SURROGATE, pd.NA, "z" * 10_000],
        LETTERS[0],
    ),
    "categorical": (lambda v: pd.Series(pd.Categorical(v)), ["A", "B"], ["new", None], LETTERS[0]),
    "categorical python text": (
        lambda v: pd.Series(pd.array(v, dtype="string[python]")).astype("category"),
        ["A", "B"],
        ["new", pd.NA, SURROGATE],
        LETTERS[0],
    ),
    "mixed categorical": (lambda v: pd.Series(pd.Categorical(v)), ["A", 5, "B"], [0.5, None, SURROGATE], LETTERS[0]),
    "whole categorical": (lambda v: pd.Series(pd.Categorical(v)), [5, 1, 5], [7, MOST, None], X),
    "Arrow": (lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.int8())), [5, 1], [-128, 127, None], X),
}


@pytest.mark.long_but(4)
@pytest.mark.parametrize("name", PANDAS)
def test_pandas_columns(name):
    make, base, odd, axis = PANDAS[name]
    fewer = outcome(pd.DataFrame({"x": make(base)}), axis)
    assert fewer[0] == "counted"
    for value in odd:
        check_neighbours(outcome(pd.DataFrame({"x": make([value, *base])}), axis), fewer)
        check_neighbours(outcome({"x": make([*base, value])}, axis), fewer)
