# ruff: noqa: DTZ001  times without a zone are part of it
"""One record more moves one count at most, and never the outcome: through every source, with the worst of records."""

import csv
import gzip
import io
from collections import Counter, deque
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from uuid import uuid4

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dawa import Axis, sources
from dawa.errors import AxisError, SourceError
from dawa.sources import counting
from helpers.binning import bisect_right, cell, date_borders, found
from helpers.reading import AWARE, INTEGERS, LETTERS, NAIVE, NUMBERS, X, check_neighbours, outcome

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

LAW = settings(max_examples=12, deadline=None)
MANY = 30_000
LEAST, MOST = -(2**63), 2**63 - 1
WIDTHS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


# --- columns of every declared type, with the ends of the type ------------------------------------------------------


def raw(kind, values):
    """An array by its stored whole numbers, unchecked; None is missing."""
    width = np.int32 if pa.types.is_date32(kind) else np.int64
    data = np.array([0 if value is None else value for value in values], width)
    mask = np.packbits(np.array([value is not None for value in values], bool), bitorder="little")
    return pa.Array.from_buffers(kind, len(values), [pa.py_buffer(mask), pa.py_buffer(data)])


def text(kind, values):
    """Text by its bytes, unchecked."""
    wide = pa.types.is_large_string(kind)
    ends = np.cumsum([0, *(len(value or b"") for value in values)]).astype(np.int64 if wide else np.int32)
    mask = np.packbits(np.array([value is not None for value in values], bool), bitorder="little")
    buffers = [pa.py_buffer(mask), pa.py_buffer(ends), pa.py_buffer(b"".join(value or b"" for value in values))]
    return pa.Array.from_buffers(kind, len(values), buffers)


def dictionary(kind, values):
    """Text that is stored once for all its places."""
    known = sorted({value for value in values if value is not None})
    places = pa.array([None if value is None else known.index(value) for value in values], pa.int16())
    return pa.DictionaryArray.from_arrays(places, text(kind.value_type, known))


def built(kind, values):
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return raw(kind, values)
    if pa.types.is_dictionary(kind):
        return dictionary(kind, values)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return text(kind, values)
    return pa.array(values, kind)


def whole(kind):
    limits = np.iinfo(kind.to_pandas_dtype())
    return [limits.min, limits.min + 1, limits.max - 1, limits.max, 0, None]


DEEP = f"{'9' * 8}.{'9' * 30}"
FLOATS = [np.inf, -np.inf, np.nan, -0.0, 0.0, None, 0.5, 9.99]
TICKS = [
    LEAST + 1,
    LEAST + 2,
    LEAST + 999,
    LEAST + 1000,
    LEAST + 1001,
    MOST - 1001,
    MOST - 999,
    MOST - 1,
    MOST,
    -1,
    0,
    None,
]
WORDS = [
    b"A",
    b"B",
    None,
    b"",
    b"\xff",
    b"A\xff",
    b"\xed\xa0\x80",
    b"A\0",
    b"z" * 300_000,
    b'A"\n,',
    "Ä".encode(),
    b"A ",
]
DAYS = [-(2**31), 1 - 2**31, 2 - 2**31, 2**31 - 2, 2**31 - 1, -1, 0, -720_000, -1_500_000, 2_932_897, 15_706, None]
TYPED = {
    **{
        str(kind): (kind, whole(kind), INTEGERS)
        for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
    },
    "float32": (pa.float32(), [np.float32(x) for x in (*FLOATS[:5], 3.4e38, 1e-45, -1e-45, 9.999999, 0.1)], NUMBERS),
    "float64": (pa.float64(), [*FLOATS, 1.7e308, -1.7e308, 5e-324, -5e-324, 9.999999999999999], NUMBERS),
    "decimal(4,2)": (
        pa.decimal128(4, 2),
        [Decimal(x) for x in ("-99.50", "99.99", "-99.99", "0.00", "9.99", "-0.01")],
        NUMBERS,
    ),
    "decimal(38,30)": (
        pa.decimal128(38, 30),
        [Decimal(DEEP), Decimal(f"-{DEEP}"), Decimal("0.5"), None],
        (X, Axis.edges("x", [0, "0.5", 50])),
    ),
    "decimal(38,0)": (
        pa.decimal128(38, 0),
        [Decimal(10**38 - 1), Decimal(1 - 10**38), Decimal(5), Decimal(-1), None],
        (X, Axis("x", -100, 100, 5, "drop")),
    ),
    **{f"timestamp[{unit}]": (pa.timestamp(unit), TICKS, NAIVE) for unit in WIDTHS},
    **{f"timestamp[{unit}, UTC]": (pa.timestamp(unit, "UTC"), TICKS, AWARE) for unit in WIDTHS},
    "timestamp[us, New York]": (pa.timestamp("us", "America/New_York"), TICKS, AWARE),
    "date32": (pa.date32(), DAYS, NAIVE),
    "date64": (pa.date64(), [LEAST + 2, MOST - 1, 0, -1, 86_400_000, 86_399_999, None], NAIVE),
    "string": (pa.string(), WORDS, LETTERS),
    "large string": (pa.large_string(), WORDS, LETTERS),
    "dictionary": (pa.dictionary(pa.int16(), pa.string()), WORDS, LETTERS),
    "bool": (pa.bool_(), [True, False, None], (Axis.ordered("x", [False, True]),)),
}


def twin(kind, axis, value):
    """The cell of a stored value, or why it has none."""
    if value is None:
        return cell(axis, None)
    if isinstance(value, bytes):
        try:
            return cell(axis, value.decode())
        except UnicodeDecodeError:
            return cell(axis, None)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        width = 86_400 * 10**9 if pa.types.is_date32(kind) else 10**6 if pa.types.is_date64(kind) else WIDTHS[kind.unit]
        place = bisect_right(date_borders(axis), Fraction(value * width, 1000)) - 1
        if 0 <= place < axis.size:
            return place
        beyond = ("below", 0) if place < 0 else ("above", axis.size - 1)
        return {"drop": None, "own": beyond[0], "clip": beyond[1]}[axis.outside]
    return cell(axis, value)


def counted(kind, axis, values):
    cells = [twin(kind, axis, value) for value in values]
    cells = [(one,) if isinstance(one, str) else one for one in cells]
    return {one: cells.count(one) for one in set(cells) - {None}}


class _Unwritable(Exception):  # noqa: N818  no error of the library
    """A value that this kind of table cannot hold."""


def parquet(folder, array):
    path = folder / f"{uuid4().hex}.parquet"
    if pa.types.is_date64(array.type):  # it is written as another type, and what does not fit is cut off
        raise _Unwritable
    try:
        pa.parquet.write_table(pa.table({"x": array}), path)
    except pa.ArrowInvalid:
        raise _Unwritable from None
    return path


def arrow(folder, array):
    path = folder / f"{uuid4().hex}.arrow"
    with pa.ipc.new_file(path, pa.schema([("x", array.type)])) as file:
        file.write_table(pa.table({"x": array}), max_chunksize=2)
    return path


def feather(folder, array):
    path = folder / f"{uuid4().hex}.feather"
    pa.feather.write_feather(pa.table({"x": array}), path)
    return path


def polars(folder, array):  # noqa: ARG001  one signature for all
    if pa.types.is_timestamp(array.type) and array.type.unit == "s":  # they become milliseconds, and run over
        raise _Unwritable
    try:
        return pl.DataFrame({"x": pl.from_arrow(array)})
    except Exception:  # noqa: BLE001  what it cannot hold
        raise _Unwritable from None


def pandas(folder, array):  # noqa: ARG001
    return pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(pa.chunked_array([array]))})


WRITERS = {
    "Parquet": parquet,
    "Arrow": arrow,
    "Feather": feather,
    "pyarrow": lambda _, array: pa.table({"x": array}),
    "dict": lambda _, array: {"x": array},
    "Polars": polars,
    "lazy": lambda folder, array: polars(folder, array).lazy(),
    "pandas": pandas,
    "Ibis": lambda _, array: ibis.memtable(pa.table({"x": array})),
}


USUAL = ("int64", "float64", "decimal(4,2)", "timestamp[ns]", "timestamp[us, UTC]", "date32", "string", "dictionary")
"""Types that every kind of table has; files and Arrow's own tables are tested with all."""
PAIRED = [
    (writer, name) for writer in WRITERS for name in (TYPED if writer in {"Parquet", "Arrow", "pyarrow"} else USUAL)
]


@pytest.mark.parametrize(("writer", "name"), PAIRED)
def test_typed_columns_are_counted_as_by_hand_at_the_ends_of_their_type(tmp_path, name, writer):
    """Counting by hand looks at one value at a time; what equals it on both tables obeys the law."""
    kind, odd, axes = TYPED[name]
    base = [value for value in (5, 1, 0) if kind != pa.bool_()] or [True, False]
    if name in {"string", "large string", "dictionary"}:
        base = [b"A", b"B", b"A"]
    if pa.types.is_decimal(kind):
        base = [Decimal(value) for value in base]
    if not fitting(tmp_path, writer, kind, base[0]):
        return
    fits = [value for value in odd if fitting(tmp_path, writer, kind, value)]
    for axis in axes if name not in USUAL or writer == "Parquet" else axes[:2]:
        for values in (base, [*base[:2], *fits, base[-1]]):
            came = outcome(WRITERS[writer](tmp_path, built(kind, values)), axis)
            if came != ("counted", counted(kind, axis, values)):  # say which of them it is
                for value in fits:
                    came = outcome(WRITERS[writer](tmp_path, built(kind, [value])), axis)
                    assert came == ("counted", counted(kind, axis, [value])), (axis, value)
            assert came == ("counted", counted(kind, axis, values)), axis


def fitting(folder, writer, kind, value):
    try:
        WRITERS[writer](folder, built(kind, [value]))
    except _Unwritable:
        return False
    return True


# --- many rows before the one ---------------------------------------------------------------------------------------

ADVERSARIAL = [
    ["5", "line\r\nbreak\n\n"],
    ["5", 'quote " and "" doubled'],
    ["5", "a,b;c|d\te"],
    ["5", "z" * 3_000_000],
    ["late", "x"],
    ["1e999", "x"],
    ["2013-01-01", "x"],
    ["5"],
    ["5", "x", ""],
    ["5", "x", "surplus"],
    ["0.5", "x"],
    ["-9" * 400, "x"],
    ["5\0", "\0"],
    ["NaN", "NA"],
    ["", ""],
    ["'5'", "'"],
    ["#5", "#"],
    ["5", "\\"],
    ["inf", "\ufeff"],
]


def lines(rows):
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue().encode()


@pytest.fixture(scope="module")
def plain_rows():
    rng = np.random.default_rng(4711)
    return [
        [str(int(x)), "y" * int(size)]
        for x, size in zip(rng.integers(0, 10, MANY), rng.integers(50, 150, MANY), strict=True)
    ]


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_text_files_with_one_adversarial_record_anywhere(tmp_path, plain_rows, ending):
    """At the front, in the middle, and behind 30,000 rows with three megabytes of text."""
    path = tmp_path / f"x.{ending}"
    start, half, whole = lines([["x", "y"]]), lines(plain_rows[: MANY // 2]), lines(plain_rows[MANY // 2 :])
    assert len(half + whole) > 2_500_000

    def came(data):
        path.write_bytes(gzip.compress(data, 1) if ending.endswith("gz") else data)
        return outcome(path, X)

    fewer = came(start + half + whole)
    assert fewer[1].total() == MANY
    for number, row in enumerate([*ADVERSARIAL, b"\xff,\xff\n", b'5,"\xc3"\n', b'"5"x,"a"b"c"\n', b"5\r", b"5,x\r\n"]):
        record = row if isinstance(row, bytes) else lines([row])
        parts = [half, whole]
        parts.insert(2 if ending.endswith("gz") else number % 3, record)
        check_neighbours(came(start + b"".join(parts)), fewer)


def write_many(folder, form, values, note, kind):
    table = pa.table({"x": pa.array(values, kind), "note": text(pa.string(), note)})
    path = folder / f"{uuid4().hex}.{form}"
    if form == "parquet":
        pa.parquet.write_table(table, path, row_group_size=9000)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=9000)
    return path


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("place", [0, MANY // 2, MANY])
def test_typed_files_with_one_adversarial_record_anywhere(tmp_path, plain_rows, form, place):
    values, notes = [float(row[0]) for row in plain_rows], [row[1].encode() for row in plain_rows]
    fewer = outcome(write_many(tmp_path, form, values, notes, pa.float64()), X)
    assert fewer[1].total() == MANY
    letters = Axis.ordered("note", [notes[0].decode(), notes[1].decode()])
    less = outcome(write_many(tmp_path, form, values, notes, pa.float64()), letters)
    for value, note in ((np.nan, b"\xff\xfe"), (-np.inf, b"z" * 3_000_000), (5e-324, notes[0] + b"\xff")):
        more = write_many(
            tmp_path,
            form,
            [*values[:place], value, *values[place:]],
            [*notes[:place], note, *notes[place:]],
            pa.float64(),
        )
        check_neighbours(outcome(more, X), fewer)
        check_neighbours(outcome(more, letters), less)


# --- values without a type ------------------------------------------------------------------------------------------


class Rude:
    """Looks like whatever is asked, and raises."""

    def _no(self, *_):
        raise ValueError("canary4711")

    __str__ = __repr__ = __eq__ = __ne__ = __float__ = __int__ = __bool__ = __len__ = __iter__ = __index__ = _no
    __array__ = __lt__ = __gt__ = __getattr__ = _no
    __hash__ = None


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


@pytest.mark.parametrize("name", PANDAS)
def test_pandas_columns(name):
    make, base, odd, axis = PANDAS[name]
    fewer = outcome(pd.DataFrame({"x": make(base)}), axis)
    assert fewer[0] == "counted"
    for value in odd:
        check_neighbours(outcome(pd.DataFrame({"x": make([value, *base])}), axis), fewer)
        check_neighbours(outcome({"x": make([*base, value])}, axis), fewer)


# --- units ----------------------------------------------------------------------------------------------------------

FIVE = Axis("x", 0, 5, outside="drop", missing="drop")
owners = st.sampled_from([None, "a", "b", "7", "07", "NA", "x\ny", "z" * 5000])
people = st.lists(
    st.tuples(owners, st.none() | st.integers(-2, 7), st.integers(10**8, 10**9)),
    max_size=25,
    unique_by=lambda row: row[2],
)


def kept(table, most):
    with counting.source(table, (FIVE, Axis("key", 0, 1)), ("owner",)) as source:
        rows = source.fetch(counting.expression(source, (FIVE,), ("owner",), most, "key"))
    return dict(zip(rows["cell"].to_pylist(), rows["records"].to_pylist(), strict=True))


def as_text(folder, rows):
    path = folder / "x.csv"
    path.write_bytes(lines([["owner", "x", "key"], *[["" if part is None else part for part in row] for row in rows]]))
    return path


def as_parquet(folder, rows):
    path = folder / "x.parquet"
    kinds = {"owner": pa.string(), "x": pa.int64(), "key": pa.int64()}
    pa.parquet.write_table(
        pa.table(
            {name: pa.array([row[place] for row in rows], kind) for place, (name, kind) in enumerate(kinds.items())}
        ),
        path,
    )
    return path


def as_lists(folder, rows):  # noqa: ARG001
    return {name: [row[place] for row in rows] for place, name in enumerate(("owner", "x", "key"))}


@pytest.mark.parametrize("make", [as_text, as_parquet, as_lists], ids=["CSV", "Parquet", "lists"])
def test_one_unit_more_changes_at_most_so_many_records(tmp_path, make):
    @LAW
    @given(people, st.integers(1, 3), owners)
    def check(rows, most, who):
        came = [
            ("counted", Counter(kept(make(tmp_path, some), most)))
            for some in (rows, [row for row in rows if row[0] != who])
        ]
        check_neighbours(*came, most)

    check()


def test_units_in_lists_are_told_apart_by_what_they_are():
    units = [
        7,
        "7",
        7.0,
        np.int64(7),
        True,
        "07",
        b"7",
        Decimal(7),
        None,
        float("nan"),
        object(),
        Rude(),
        10**5000,
        date(2013, 1, 1),
    ]
    assert found({"owner": units, "x": [1] * len(units)}, X, unit="owner")[1] <= len(units) - 3
    for who in units:
        rows = {"owner": ["a", "b", who, who], "x": [1, 1, 1, 1]}
        came = outcome(rows, X, unit="owner")
        assert came[0] == "counted"
        assert came[1][1] in {2, 3}


# --- files and folders ----------------------------------------------------------------------------------------------


def write(path, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    pa.parquet.write_table(pa.table(columns), path)


def test_names_of_folders_say_nothing(tmp_path):
    write(tmp_path / "x=9" / "p.parquet", x=[3, 4])
    write(tmp_path / "x=8" / "p.parquet", x=pa.array([3], pa.int64()))
    assert found(tmp_path, X) == {3: 2, 4: 1}
    assert found(tmp_path / "*" / "*.parquet", X) == {3: 2, 4: 1}
    assert found(tmp_path / "x=9" / "p.parquet", X) == {3: 1, 4: 1}
    write(tmp_path / "other" / "y=5" / "p.parquet", x=["A"])
    with pytest.raises(AxisError, match="no column 'y'"):
        found(tmp_path / "other", Axis("y", 0, 9))
    assert found(tmp_path / "other", Axis.ordered("x", ["A"])) == {0: 1}


@pytest.mark.parametrize(
    "name", ["data[1]", "data*", "data?", "da ta", "data'", "data%20", "{a,b}", "**", "data\\1", "[!a]"]
)
def test_names_that_exist_are_no_patterns(tmp_path, name):
    decoy = tmp_path / "data1"
    write(decoy.with_suffix(".parquet"), x=[9])
    decoy.with_suffix(".csv").write_text("x\n9\n", encoding="utf-8")
    arrow(tmp_path, pa.array([9])).rename(decoy.with_suffix(".arrow"))
    write(tmp_path / f"{name}.parquet", x=[3])
    write(tmp_path / f"{name}.text.parquet", x=["A"])
    (tmp_path / f"{name}.csv").write_text("x\n3\n", encoding="utf-8")
    arrow(tmp_path, pa.array([3])).rename(tmp_path / f"{name}.arrow")
    for ending in ("parquet", "csv", "arrow"):
        assert found(tmp_path / f"{name}.{ending}", X) == {3: 1}
    assert found(tmp_path / f"{name}.text.parquet", Axis.ordered("x", ["A"])) == {0: 1}
    inside = tmp_path / f"{name}.folder"
    write(inside / "p.parquet", x=[4])
    assert found(inside, X) == {4: 1}


def test_hidden_files_are_not_counted(tmp_path):
    write(tmp_path / "p.parquet", x=[1])
    for hidden in (".x.parquet", "_x.parquet", "_tmp/x.parquet", ".tmp/x.parquet", "sub/_delta_log/x.parquet"):
        write(tmp_path / hidden, x=[9], extra=["canary4711"])
    write(tmp_path / "sub" / "p.parquet", x=[2])
    (tmp_path / "_SUCCESS").write_text("")
    assert found(tmp_path, X) == {1: 1, 2: 1}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pa.array([1]), pa.array(["canary4711"])),
        (pa.array([1.5]), pa.array([1])),
        (pa.array([1], pa.timestamp("us")), pa.array([1], pa.timestamp("ms"))),
        (pa.array([1], pa.timestamp("us")), pa.array([1], pa.timestamp("us", "UTC"))),
        (pa.array([1], pa.uint64()), pa.array([1], pa.int64())),
        (pa.array([Decimal("1.5")]), pa.array([Decimal("1.55")])),
        (pa.array([True]), pa.array([1])),
    ],
)
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_files_that_disagree_are_refused_before_rows_are_read(tmp_path, first, second, form):
    for number, array in enumerate((first, second)):
        WRITERS["Parquet" if form == "parquet" else "Arrow"](tmp_path, array).rename(tmp_path / f"p{number}.{form}")
    for axis in (X, NAIVE[0], AWARE[0], LETTERS[0]):
        came = outcome(tmp_path / f"p*.{form}", axis)
        assert came[0] == "opening"
        assert "canary" not in str(came)


def test_files_that_lack_a_column_are_refused_before_rows_are_read(tmp_path):
    write(tmp_path / "a.parquet", x=[1], y=[1])
    write(tmp_path / "b.parquet", y=[1])
    assert outcome(tmp_path, X)[:2] == ("opening", "AxisError")
    assert found(tmp_path, Axis("y", 0, 5)) == {1: 2}
    write(tmp_path / "c.parquet", y=pa.nulls(3))
    write(tmp_path / "d.parquet", y=pa.array([2], pa.int8()), z=[1])
    assert found(tmp_path, Axis("y", 0, 5)) == {1: 2, 2: 1}
    (tmp_path / "e.csv").write_text("y\n1\n", encoding="utf-8")
    (tmp_path / "f.csv").write_text("x,y\n5,1\n", encoding="utf-8")
    assert outcome(tmp_path / "*.csv", X)[:2] == ("opening", "AxisError")


def test_several_text_files_each_have_their_own_order(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,8\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("y,z,x\n8,8,2\n8,8,2", encoding="utf-8")
    (tmp_path / "c.csv").write_text("x\n3\n", encoding="utf-8")
    assert found(tmp_path / "*.csv", X) == found(sources.csv(tmp_path / "?.csv"), X) == {1: 1, 2: 2, 3: 1}
    with pytest.raises(SourceError, match="no file"):
        found(tmp_path / "d*.csv", X)


# --- the tests can fail ---------------------------------------------------------------------------------------------


def test_control_a_sniffed_file_breaks_the_law(tmp_path):
    """DuckDB's own reader looks at the first rows, and then meets a field in quotes with line breaks."""
    path = tmp_path / "x.csv"

    def sniffed(data):
        path.write_bytes(data)
        try:
            with duckdb.connect() as connection:
                rows = connection.execute("select try_cast(x as double) from read_csv(?)", [str(path)]).fetchall()
        except duckdb.Error as error:
            return "reading", type(error).__name__
        counts = outcome({"x": pa.array([row[0] for row in rows], pa.float64())}, X)
        return counts[0], counts[1]

    plain = b"x,y\n" + b"5,a\n" * MANY
    fewer = sniffed(plain)
    broken = [row for row in ADVERSARIAL if not obeyed(sniffed(plain + lines([row])), fewer)]
    assert broken, "a reader that guesses is caught"
    path.write_bytes(plain)
    mine = outcome(path, X)
    for row in ADVERSARIAL:
        path.write_bytes(plain + lines([row]))
        check_neighbours(outcome(path, X), mine)


def obeyed(more, fewer):
    try:
        check_neighbours(more, fewer)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("value", [0.5, "late", 10**5000, object()], ids=["float", "text", "huge", "object"])
def test_control_types_that_are_made_out_break_the_law(value):
    """Arrow chooses one type for all values of a list."""

    def inferred(values):
        try:
            return outcome({"x": pa.array(values)}, Axis("x", 0, 1, "0.1"))
        except (pa.ArrowException, OverflowError) as error:
            return "reading", type(error).__name__

    base = [np.float32(0.7)] * 40
    with pytest.raises(AssertionError):
        check_neighbours(inferred([*base, value]), inferred(base))
    check_neighbours(
        outcome({"x": [*base, value]}, Axis("x", 0, 1, "0.1")), outcome({"x": base}, Axis("x", 0, 1, "0.1"))
    )


def test_control_the_law_itself():
    for more, fewer in (({1: 3}, {1: 1}), ({1: 1}, {1: 1, 2: 1}), ({1: 1, 2: 1}, {3: 1})):
        with pytest.raises(AssertionError):
            check_neighbours(("counted", Counter(more)), ("counted", Counter(fewer)))
    with pytest.raises(AssertionError):
        check_neighbours(("reading", "SourceError", "x"), ("counted", Counter({})))
