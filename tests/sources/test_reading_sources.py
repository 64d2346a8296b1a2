"""One record more moves one count at most, and never the outcome: in every kind of table, with the worst of records."""

import gzip
from decimal import Decimal
from fractions import Fraction
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from dawa import Axis
from helpers.binning import bisect_right, cell, date_borders
from helpers.hostile import ADVERSARIAL, LEAST, MANY, MOST, WIDTHS, lines
from helpers.reading import AWARE, INTEGERS, LETTERS, NAIVE, NUMBERS, X, check_neighbours, outcome
from helpers.writers import WRITERS, Unwritable

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


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


USUAL = ("int64", "float64", "decimal(4,2)", "timestamp[ns]", "timestamp[us, UTC]", "date32", "string", "dictionary")
"""Types that every kind of table has; files and Arrow's own tables are tested with all."""
PAIRED = [
    (writer, name) for writer in WRITERS for name in (TYPED if writer in {"Parquet", "Arrow", "pyarrow"} else USUAL)
]


@pytest.mark.long_but(1, of="writer")
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
    except Unwritable:
        return False
    return True


# --- many rows before the one ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain_rows():
    rng = np.random.default_rng(4711)
    return [
        [str(int(x)), "y" * int(size)]
        for x, size in zip(rng.integers(0, 10, MANY), rng.integers(50, 150, MANY), strict=True)
    ]


@pytest.mark.long_but(1)
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


@pytest.mark.long_but(2)
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
