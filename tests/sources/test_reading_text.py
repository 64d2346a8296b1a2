"""Text files: records are cut as slow twins cut them, whatever the blocks, and each value is read by itself."""

import codecs
import csv
import encodings
import gzip
import io
import math
import pkgutil
import tracemalloc
import zlib
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dawa import Axis, limits, release, sources
from dawa.errors import AxisError, SourceError
from dawa.sources import delimited, places
from dawa.sources.dialect import Dialect
from helpers.binning import found, inside
from helpers.reading import by_row, check_neighbours, cut, fitted, named, outcome, read

LAW = settings(max_examples=60, deadline=None)
X = Axis("x", 0, 10)
BLOCKS = (1, 2, 3, 7, 64, 2**21)
PIECES = [
    b'"',
    b'""',
    b"'",
    b"\r",
    b"\n",
    b"\r\n",
    b",",
    b";",
    b"|",
    b"\t",
    b" ",
    b"\\",
    b"\0",
    codecs.BOM_UTF8,
    b"\xff",
    b"\xc3",
    b"\xa9",
    b"\xed\xa0\x80",
    "é".encode(),
    "日本".encode(),
    "🎲".encode(),
    b"a",
    b"5",
    b"NA",
    b"#",
    b"x" * 70,
]
DIALECTS = [
    {},
    {"delimiter": ";"},
    {"delimiter": "\t", "quote": None},
    {"delimiter": "|", "quote": "'"},
    {"quote": None},
    {"delimiter": " "},
    {"delimiter": '"', "quote": ","},
]
ESCAPED = [{"escape": "\\"}, {"escape": "\\", "quote": None}, {"escape": "|", "quote": "'", "delimiter": ";"}]

nasty = st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join) | st.binary(max_size=40)


@contextmanager
def written(data, name="x.csv"):
    """A file for as long as the block; Hypothesis may not share a fixture's folder."""
    with TemporaryDirectory(prefix="dawa-test-") as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        yield path


def by_python(data, dialect):
    """Records by Python's own reader."""
    text = io.StringIO(data.decode(errors="surrogateescape"), newline="")
    quoting = csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE
    rows = csv.reader(text, delimiter=dialect.delimiter, quotechar=dialect.quote, quoting=quoting)
    return [[field.encode(errors="surrogateescape") for field in row] for row in rows if row]


# --- cutting, against twins -----------------------------------------------------------------------------------------


@LAW
@given(nasty, st.sampled_from(DIALECTS), st.integers(1, 3))
def test_records_are_those_of_pythons_reader(data, marks, columns):
    dialect, data = named(columns, **marks), data.replace(codecs.BOM_UTF8, b"")  # which Python's reader keeps
    twin = fitted(by_python(data, dialect), columns)
    assert twin == fitted([fields for fields, *_ in cut(data, dialect)], columns), "the twins agree"
    with written(data) as path:
        assert read(path, dialect) == twin


@LAW
@given(nasty, st.sampled_from(ESCAPED), st.integers(1, 3))
def test_records_with_an_escape_are_those_of_a_slow_automaton(data, marks, columns):
    dialect = named(columns, **marks)
    with written(data) as path:
        assert read(path, dialect) == fitted([fields for fields, *_ in cut(data, dialect)], columns)


@LAW
@given(nasty, st.sampled_from(DIALECTS + ESCAPED), st.integers(1, 3), st.sampled_from(["x.csv", "x.csv.gz"]))
def test_blocks_do_not_matter(data, marks, columns, name):
    dialect = named(columns, **marks)
    twin = fitted([fields for fields, *_ in cut(data, dialect)], columns)
    with written(gzip.compress(data, mtime=0) if name.endswith("gz") else data, name) as path:
        for block in BLOCKS:
            with patch.object(places, "BLOCK", block):
                assert read(path, dialect) == twin, block


simple = st.sampled_from(
    [
        b"",
        b"5",
        b"12.75",
        b"longer than a word",
        b'"',
        b'"a"',
        b'"a""b"',
        b'"a,b,c"',
        b'"a"b',
        b'"a"""',
        b'"a\nb"',
        b'a"b',
    ]
)
lines = st.lists(simple, min_size=1, max_size=6).map(b",".join)
tidy = st.lists(st.tuples(lines, st.sampled_from([b"\n", b"\r\n", b"\r"])), max_size=12).map(
    lambda rows: b"".join(line + end for line, end in rows)
)


@settings(max_examples=200, deadline=None)
@given(tidy | nasty, st.sets(st.integers(0, 4), min_size=1), st.sampled_from([None, '"']), st.sampled_from(BLOCKS))
def test_fields_that_nobody_wants_take_none_from_others(data, wanted, quote, block):
    """Every set of columns holds what it holds when all of them are wanted."""
    dialect, columns = named(5, quote=quote), [f"c{column}" for column in sorted(wanted)]
    twin = fitted([fields for fields, *_ in cut(data, dialect)], 5)
    with written(data) as path, patch.object(places, "BLOCK", block):
        found = read(path, dialect, columns)
    assert found == [tuple(row[column] for column in sorted(wanted)) for row in twin]


@LAW
@given(nasty, st.sampled_from(DIALECTS + ESCAPED), st.integers(1, 12), st.sampled_from(BLOCKS))
def test_a_record_is_left_out_exactly_if_it_is_too_long(data, marks, most, block):
    """Its own bytes decide, without those of its end, wherever it lies."""
    dialect = named(2, **marks)
    short = [fields for fields, inner, *_ in cut(data, dialect) if len(inner) <= most]
    with (
        written(data) as path,
        patch.object(places, "BLOCK", block),
        patch.object(delimited, "MOST_RECORD_BYTES", most),
    ):
        assert read(path, dialect) == fitted(short, 2)


def test_the_longest_record_in_full_size(tmp_path):
    """At 2^24 bytes, just below and just above, behind rows and before them, whatever its end."""
    path, dialect = tmp_path / "x.csv", named(2)
    for spare, kept in ((1, 1), (0, 1), (-1, 0)):
        long = b"5," + b"z" * (limits.MOST_RECORD_BYTES - 2 - spare)
        for rest, after in ((b"\n2,2\n", ["2"]), (b"\r\n2,2\n", ["2"]), (b"\r2,2\n", ["2"]), (b"\r", []), (b"", [])):
            path.write_bytes(b"1,1\n" * 3 + long + rest)
            assert [row[0] for row in read(path, dialect)] == ["1"] * 3 + ["5"] * kept + after, (spare, rest)


def test_a_header_with_too_few_names_can_be_seen(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("1,31,5\n" * 500)
    rel = release(sources.csv(path, header=["id", "age"]), Axis("age", 0, 100), epsilon=1, seed=1)
    assert rel.apart()[0].answer.low <= 500 <= rel.apart()[0].answer.high


def test_an_open_quote_over_hundreds_of_megabytes_neither_fills_memory_nor_stops_the_run(tmp_path):
    path = tmp_path / "x.csv"
    with path.open("wb") as file:
        file.write(b"x\n" + b"5\n" * 1000 + b'"')
        file.truncate(300 * 2**20)  # a hole, so that it takes no place on the disk
    tracemalloc.start()
    try:
        assert found(path, X) == {5: 1000}
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200 * 2**20
    with path.open("ab") as file:
        file.write(b'"\n7\n')
    assert found(path, X) == {5: 1000, 7: 1}, "what follows the quote's end is read again"


# --- one record more ------------------------------------------------------------------------------------------------


@LAW
@given(
    st.lists(st.lists(st.lists(st.sampled_from(PIECES), max_size=4).map(b"".join), min_size=1, max_size=4), max_size=6),
    st.lists(st.lists(st.sampled_from(PIECES), max_size=4).map(b"".join), min_size=1, max_size=4),
    st.integers(0, 6),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(BLOCKS),
)
def test_a_record_more_changes_no_other_one(rows, more, place, end, block):
    """As ``csv.writer`` writes them; fields may hold anything."""
    place = min(place, len(rows))
    with patch.object(places, "BLOCK", block):
        kept = [_kept(some, end) for some in (rows, [*rows[:place], more, *rows[place:]])]
        alone = _kept([more], end)
    first = len(_kept(rows[:place], end))
    assert kept[1] == kept[0][:first] + alone + kept[0][first:]
    assert len(alone) <= 1


def _kept(rows, end):
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator=end, quoting=csv.QUOTE_ALL)  # it leaves other line breaks bare otherwise
    for row in rows:
        writer.writerow([field.decode(errors="surrogateescape") for field in row])
    data = file.getvalue().encode(errors="surrogateescape")
    with written(b"" if not data else b"c0,c1" + end.encode() + data) as path:
        return read(path, Dialect(), ["c0", "c1"]) if data else []


@LAW
@given(st.lists(nasty, max_size=5), nasty, st.integers(0, 50), st.sampled_from(DIALECTS + ESCAPED))
def test_a_raw_record_more_changes_no_other_one(parts, more, place, marks):
    """Whatever the bytes are, as long as they are whole records: what follows an open quote belongs to its record."""
    dialect = named(2, **marks)
    whole = [raw for _, _, raw, whole in cut(b"".join(parts), dialect) if whole and raw[-1:] in b"\r\n"]
    extra = [raw for _, _, raw, whole in cut(more, dialect) if whole and raw[-1:] in b"\r\n"][:1]
    place = min(place, len(whole))
    start = b"c0" + dialect.delimiter.encode() + b"c1\n"
    apart = Dialect(**marks)
    tables = [
        start + b"".join(some) for some in (whole, [*whole[:place], *extra, *whole[place:]], whole[:place], extra)
    ]
    parsed = []
    for table in tables:
        with written(table) as path:
            parsed.append(read(path, apart, ["c0", "c1"]))
    fewer, many, before, alone = parsed
    assert len(alone) <= 1
    assert many == fewer[: len(before)] + alone + fewer[len(before) :]


def test_ragged_lines_and_empty_lines(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b'x,y\n1\n2,\n3,b,\n4,b,,,\n5,b,c\n6,b,""\n7,b,"",x\n\n\r\n8,b\n""\n,\n9')
    assert [row[0] for row in read(path, Dialect(), ["x"])] == ["1", "2", "3", "4", None, "6", None, "8", "", "", "9"]


# --- compressed -----------------------------------------------------------------------------------------------------


def test_compressed_files_of_several_members(tmp_path):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(b"".join(gzip.compress(part) for part in (b"x,", b"y\n1,", b"", b'2\n"3\n', b'3",4', b"\n5,6")))
    assert read(path, Dialect(), ["x", "y"]) == [("1", "2"), ("3\n3", "4"), ("5", "6")]


@pytest.mark.parametrize("strategy", [zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE, zlib.Z_FIXED])
@pytest.mark.parametrize("rows", [1, 10, 1000, 50_000])
def test_a_compressed_file_has_all_its_rows(tmp_path, strategy, rows):
    """One compressed byte can hold the end of the header and rows after it."""
    path = tmp_path / "x.csv.gz"
    for header in (b"x\n", b"x\r\n", b"\n\nx\n", b"x,\n", b"xx,x,xx\n"):
        line = b"5\n" if header.count(b",") < 2 else b"1,5,1\n"
        packed = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16, 9, strategy)
        path.write_bytes(packed.compress(header + line * rows) + packed.flush())
        assert found(path, X) == {5: rows}, header


@pytest.mark.parametrize("data", [b"", b"x\n1\n"])
def test_a_file_that_is_not_compressed_is_refused_before_it_is_paid_for(tmp_path, data):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(data)
    with pytest.raises(SourceError, match="is not a gzip file"), sources.query(path, (X,)):
        pass


def test_a_damaged_compressed_file_is_an_error_of_our_own(tmp_path):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"x\n1\n") + b"garbage")
    with pytest.raises(SourceError, match="is damaged"):
        found(path, X)


@pytest.mark.parametrize("cut_off", [1, 4, 8, 9, 20])
def test_a_compressed_file_that_ends_early_is_refused_without_a_value(tmp_path, cut_off):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"x\n" + b"canary4711\n" * 1000)[:-cut_off])
    came = outcome(path, X)
    assert came[0] != "counted"
    assert "canary" not in str(came)


# --- encodings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [1, 2, 3, 2**21])
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-8", "cp037"])
def test_encodings(tmp_path, monkeypatch, encoding, block):
    monkeypatch.setattr(places, "BLOCK", block)
    path = tmp_path / "x.csv"
    path.write_bytes('größe,y\r\n"ä\r\nb",1\r\n5,"""ü"""\r\n'.encode(encoding))
    assert read(path, Dialect(encoding=encoding), ["größe", "y"]) == [("ä\r\nb", "1"), ("5", '"ü"')]


@pytest.mark.parametrize("block", [1, 2, 3, 2**21])
def test_marks_at_the_beginning(tmp_path, monkeypatch, block):
    monkeypatch.setattr(places, "BLOCK", block)
    path = tmp_path / "x.csv"
    for encoding, mark in (
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
    ):
        for declared in {encoding, encoding.partition("-le")[0].partition("-be")[0]}:
            for text, header in (('"x"\n5\n', None), ("5\n", ("x",))):
                if header and declared == "utf-16":
                    continue
                path.write_bytes(mark + text.encode(encoding))
                assert read(path, Dialect(encoding=declared, header=header), ["x"]) == [("5",)]
    path.write_bytes(codecs.BOM_UTF8)
    assert read(path, named(1)) == []
    path.write_bytes(codecs.BOM_UTF8[:2])
    assert read(path, named(1)) == [(None,)], "a part of a mark is not a mark"


@pytest.mark.parametrize(
    "name", ["shift_jis", "gb18030", "big5", "utf-7", "utf-32", "punycode", "rot13", "nothing", 5, "\udcff", "a\0b"]
)
def test_encodings_of_several_bytes_are_refused(name):
    with pytest.raises(SourceError, match="Hint:"):
        Dialect(encoding=name)


@pytest.mark.parametrize("name", ["missing", "header"])
def test_words_that_no_file_can_hold_are_refused_before_anything_is_paid(name):
    with pytest.raises(SourceError, match="no text file can hold"):
        Dialect(**{name: ["x", "\udcff"]})


CODECS = sorted(module.name for module in pkgutil.iter_modules(encodings.__path__))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", CODECS)
def test_an_encoding_that_is_taken_reads_every_byte_by_itself(name):
    """One that remembers what it has read would let one record change how the next ones are read."""
    try:
        taken = Dialect(encoding=name).encoding
    except SourceError:
        return
    if taken.startswith("utf"):
        assert taken in {"utf-8", "utf-16", "utf-16-le", "utf-16-be"}
        return
    single = {byte: bytes([byte]).decode(taken, "replace") for byte in range(256)}
    rng = np.random.default_rng(4711)
    stateful = [b"\x1b$B5,1\n5,1\n", b"~{5,1\n5,1\n", b"5\\\n5,1\n", b"\\u0035\\x35\n"]
    for data in (*stateful, *(rng.bytes(400) for _ in range(9))):
        text = codecs.getincrementaldecoder(taken)("replace").decode(data, final=True)
        assert text == "".join(single[byte] for byte in data)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("broken", ["\ud800", "\udc00", "\udc00\ud800", "5\ud83d"])  # noqa: PT014  ruff takes them for one
def test_damaged_characters_do_not_reach_the_next_record(tmp_path, encoding, broken):
    path = tmp_path / "x.csv"
    kept = []
    for rows in (["5"] * 20, ["5"] * 10 + [broken] + ["5"] * 10):
        text = "x\n" + "".join(f"{row}\n" for row in rows)
        path.write_bytes(text.encode(encoding, "surrogatepass"))
        kept.append(read(path, Dialect(encoding=encoding), ["x"]))
    assert kept[1] == [*kept[0][:10], (None,), *kept[0][10:]]


def test_utf16_without_a_header_needs_the_order_of_its_bytes(tmp_path):
    """The first record's first bytes would say it otherwise, and so how all others are read."""
    with pytest.raises(SourceError, match="order"):
        sources.csv(tmp_path / "x.csv", encoding="utf-16", header=["x"])
    path = tmp_path / "x.csv"
    path.write_bytes("x\n5\n".encode("utf-16-le"))
    with pytest.raises(SourceError, match="could not be read as text"):
        found(sources.csv(path, encoding="utf-16"), X)


# --- headers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (b"x,y\n1,2\n", ("x", "y")),
        (b"x,y\r1,2\r", ("x", "y")),
        (b"x,y\r\n1,2\r\n", ("x", "y")),
        (b'"x"," y "\n1,2\n', ("x", "y")),
        (b'"x,1","y""2"\n1,2\n', ("x,1", 'y"2')),
        (b'"x\r\n1",y\n1,2\n', ("x\r\n1", "y")),
        (b"\n\r\n\r\rx,y\n1,2\n", ("x", "y")),
        (b"x,y", ("x", "y")),
        (b" x ,\ty\n1,2", ("x", "y")),
        (b"", ()),
        (b"\n\n\n", ()),
        (codecs.BOM_UTF8 + b'"x",y\n', ("x", "y")),
        ("größe,名前\n".encode(), ("größe", "名前")),
        (b"x,x\n1,2\n", ("x", "x")),
        (b'"x', ("x",)),
    ],
)
def test_headers(tmp_path, data, names):
    path = tmp_path / "x.csv"
    path.write_bytes(data)
    there = delimited.header(places.file(path), Dialect())
    assert there.names == names
    if b"1,2" in data and len(set(names)) == 2:
        assert read(path, Dialect(), list(names)) == [("1", "2")]


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"x,x\n1,2\n", b"canary4711\n5\n", b'"canary4711\n', b"c" * 6000 + b"\n5\n"]
)
def test_headers_that_do_not_name_the_column_once_are_refused_before_rows_are_read(tmp_path, monkeypatch, data):
    monkeypatch.setattr(delimited, "MOST_HEADER_BYTES", 5000)
    path = tmp_path / "x.csv"
    path.write_bytes(data)
    came = outcome(path, X)
    assert came[0] == "opening"
    assert came[1] in {AxisError.__name__, SourceError.__name__}
    assert "canary" not in str(came)


def test_a_header_of_any_length_up_to_its_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "MOST_HEADER_BYTES", 5000)
    path = tmp_path / "x.csv"
    for spare, fits in ((10, True), (-10, False)):
        size = delimited.MOST_HEADER_BYTES - 3 - spare
        path.write_bytes(b"x," + (b"ccccccccc," * size)[:size] + b"\n5,1\n")
        assert (outcome(path, X)[0] == "counted") == fits


def test_nothing_is_read_beyond_a_header(tmp_path):
    """Not even as much as a buffer."""
    path = tmp_path / "x.csv"
    path.write_bytes(b"x,y\n" + b"canary4711,1\n" * 100)
    taken = []
    original = places.File.pieces

    def watched(where, size):
        for chunk in original(where, size):
            taken.append(chunk)
            yield chunk

    with patch.object(places.File, "pieces", watched):
        delimited.header(places.file(path), Dialect())
    assert b"".join(taken) == b"x,y\n"


def test_declared_columns_take_no_line_away(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"5,a\n6,b\n")
    assert found(sources.csv(path, header=["x", "y"]), X) == {5: 1, 6: 1}
    assert outcome(sources.csv(path, header=["y"]), X)[0] == "opening"
    assert found(sources.csv(path, header=["x"]), X) == {}, "records with a surplus are left out"


# --- values: numbers ------------------------------------------------------------------------------------------------


def cells(folder, values, axis, **dialect):
    """The cell of every value, from one file in which each has a row of its own."""
    path = folder / "x.csv"
    mark = dialect.get("delimiter", ",")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=mark)
        writer.writerows([("x", "row"), *((value, row) for row, value in enumerate(values))])
    return by_row(sources.csv(path, **dialect), axis, len(values))


def as_float(text):
    """What a number in text is, without the ways to write one that are Python's alone."""
    try:
        return float(text) if text.isascii() else None
    except ValueError:
        return None


NUMBERS = [
    "0.1",
    " 12 ",
    "1e5",
    "inf",
    "-inf",
    "nan",
    "NaN",
    "0x10",
    "5",
    "5.",
    ".5",
    "-0",
    "-0.0",
    "5e-324",
    "1e-400",
    "1e400",
    "-1e400",
    "0.30000000000000004",
    "0.29999999999999999",
    "9.999999999999999",
    "9.9999999999999999",
    "--5",
    "5f",
    "",
    "NA",
    "1e",
    "٣",
    "5\0",
    "1" * 400,
    "1,5",
    "late",
    "\t7\n",
    "3 4",
    "+5",
    "1e99999999999999999999",
    "-5",
    "10",
    "infinity",
]


@pytest.mark.parametrize(
    "axis", [X, Axis("x", 0, 1, "0.1"), Axis("x", 0, 10, outside="drop"), Axis.edges("x", [0, "0.3", 5])]
)
def test_numbers_are_read_as_floats(tmp_path, axis):
    assert cells(tmp_path, NUMBERS, axis) == [inside(axis, as_float(text)) for text in NUMBERS]


def test_what_only_some_read_as_a_number_is_read_alike_in_any_company(tmp_path):
    odd = ["1_000", "0x10", "1e5_0", "0b1", "5 ", "TRUE", "½", "1'000", "$5", "5%", "(5)", "1e+05", "5E0"]
    together = cells(tmp_path, odd + NUMBERS, X)[: len(odd)]
    assert together == [cells(tmp_path, [text], X)[0] for text in odd]


def test_a_decimal_comma(tmp_path):
    values = ["1,5", "1.5", "1.000", "2", "0,1", "1.000,5", "1,0e0", ",5", "5,", "1,2,3", "NA", "inf"]
    expected = [1, None, None, 2, 0, None, 1, 0, 5, None, None, 9]
    assert cells(tmp_path, values, X, decimal=",", delimiter=";") == expected
    assert cells(tmp_path, ["1,0", "1", "1.0", "1.000"], Axis.ordered("x", [1, 1000]), decimal=",", delimiter=";") == [
        0,
        0,
        None,
        None,
    ]


@pytest.mark.parametrize("outside", ["clip", "drop"])
def test_numbers_beyond_the_precision_of_floats_are_read_exactly(tmp_path, outside):
    for axis in (
        Axis("x", 2**64 - 3, 2**64, 1, outside),
        Axis("x", 2**53 - 2, 2**53 + 6, 1, outside),
        Axis("x", 1_700_000_000_000_000_000, 1_700_000_000_000_000_500, 5, outside),
    ):
        near = [int(axis.start) + shift for shift in range(-2, 12)]
        values = [str(value) for value in near] + [
            f"{value}.{digit}" for value in near for digit in ("4999", "5", "999999")
        ]
        values += ["0", "-1", "5", "1e5", "1e18"]
        assert cells(tmp_path, values, axis) == [inside(axis, Decimal(text)) for text in values]
        far = ["1e40", "-1e40", "inf", "-inf", "1e400", "nan", "late", "9" * 60]
        ends = [axis.size - 1, 0, axis.size - 1, 0, axis.size - 1, None, None, axis.size - 1]
        assert cells(tmp_path, far, axis) == ([None] * 8 if outside == "drop" else ends)


def test_words_for_missing_values_are_missing_on_every_axis(tmp_path):
    """As the statement of a release says."""
    assert cells(tmp_path, ["5", "999", "-1", "99"], X, missing=["999", "-1"]) == [5, None, None, 9]
    days = Axis.dates("x", "2013-01-01", "2014-01-01", "1 month")
    assert cells(tmp_path, ["2013-02-01", "1900-01-01"], days, missing=["1900-01-01"]) == [1, None]


# --- values: dates --------------------------------------------------------------------------------------------------

HOURS = Axis.dates("x", "2013-01-01", "2014-01-01", "1 hour", None, "drop")
BERLIN = Axis.dates("x", "2013-01-01", "2014-01-01", "1 hour", "Europe/Berlin", "drop")


def test_dates_as_in_iso_8601(tmp_path):
    values = {
        "2013-01-02": 24,
        "2013-01-02 05:00": 29,
        "2013-01-02T05:00:00": 29,
        "2013-01-02T05:59:59.999999": 29,
        "2013-01-02T05:59:59.999999999": 29,
        "2013-01-02T05:00:00Z": 29,
        "2013-01-02 05:00:00+02": 29,
        "2013-01-02 05:00:00.5-05:30": 29,
        " 2013-01-02 ": 24,
        "2012-12-31 23:59:59.999999": None,
        "2014-01-01": None,
        "0001-01-01": None,
        "9999-12-31": None,
        "02.01.2013": None,
        "2013/01/02": None,
        "01/02/2013": None,
        "20130102": None,
        "2013-1-2": None,
        "2013-02-30": None,
        "2013-13-01": None,
        "infinity": None,
        "-infinity": None,
        "epoch": None,
        "NaT": None,
        "": None,
        "now": None,
        "today": None,
        "2013-01-02x": None,
        "1357102800": None,
        "2013-01-02 (BC)": None,
        "2013": None,
        "2013-01": None,
    }
    assert dict(zip(values, cells(tmp_path, list(values), HOURS), strict=True)) == values


def test_dates_far_outside_are_clipped(tmp_path):
    clip = Axis.dates("x", "2013-01-01", "2014-01-01", "1 day")
    assert cells(
        tmp_path, ["0001-01-01", "9999-12-31 23:59:59.999999", "0000-01-01", "9999-12-31 (BC)", "x"], clip
    ) == [
        0,
        364,
        0,
        None,
        None,
    ]


def test_local_times_and_offsets_on_an_axis_with_a_zone(tmp_path):
    zone, start = ZoneInfo("Europe/Berlin"), datetime(2013, 1, 1)  # noqa: DTZ001  as clocks show it
    local = [start + timedelta(minutes=step) for step in range(0, 365 * 24 * 60, 331)]
    local = [time for time in local if _unambiguous(time, zone)]
    texts = [time.isoformat(sep=" ") for time in local]
    expected = [inside(BERLIN, time.replace(tzinfo=zone).astimezone(UTC)) for time in local]
    assert cells(tmp_path, texts, BERLIN) == expected
    offsets = ["Z", "+00", "+01:00", "-05:30", "+14:00", "-12", "+0530", "+05:53:28"]
    moments = [(time, offset) for time in local[::40] for offset in offsets]
    texts = [time.isoformat(sep="T", timespec="seconds") + offset for time, offset in moments]
    expected = [inside(BERLIN, datetime.fromisoformat(text).astimezone(UTC)) for text in texts]
    assert cells(tmp_path, texts, BERLIN) == expected


def _unambiguous(time, zone):
    """Clocks show it once: not never, and not twice."""
    first, second = (time.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1))
    return first == second


def test_local_times_that_clocks_skip_or_show_twice_are_read_as_one_of_two(tmp_path):
    zone = ZoneInfo("Europe/Berlin")
    for text in ("2013-03-31 02:30:00", "2013-10-27 02:30:00"):
        time = datetime.fromisoformat(text)
        either = {inside(BERLIN, time.replace(tzinfo=zone, fold=fold).astimezone(UTC)) for fold in (0, 1)}
        assert set(cells(tmp_path, [text], BERLIN)) <= either


def test_a_declared_format_of_dates(tmp_path):
    values = {
        "02.01.2013 05:00": 29,
        "2013-01-02 05:00": None,
        "31.02.2013 00:00": None,
        "": None,
        "infinity": None,
        "02.01.2013": None,
        "2.1.2013 5:00": 29,
        "31.12.9999 00:00": None,
    }
    found = cells(tmp_path, list(values), HOURS, date_format="%d.%m.%Y %H:%M")
    assert dict(zip(values, found, strict=True)) == values
    assert cells(tmp_path, list(values), BERLIN, date_format="%d.%m.%Y %H:%M") == list(values.values())
    zoned = ["02.01.2013 05:00 +0200", "02.01.2013 05:00 +0000", "02.01.2013 05:00"]
    assert cells(tmp_path, zoned, BERLIN, date_format="%d.%m.%Y %H:%M %z") == [28, 30, None]


@pytest.mark.parametrize(
    ("form", "good", "odd"),
    [
        (
            "%Y-%m-%d %Z",
            "2013-01-02 UTC",
            ["2013-01-02 Canary/Town", "2013-01-02 ", "9999-12-31 UTC", "0001-01-01 Asia/Tokyo"],
        ),
        (
            "%Y-%m-%d %H:%M:%S.%n",
            "2013-01-02 05:00:00.1",
            ["9999-12-31 00:00:00.1", "1677-09-21 00:12:43.145224192", "0001-01-01 00:00:00.0"],
        ),
        (
            "%Y-%m-%d",
            "2013-01-02",
            ["-290000-01-01", "294247-01-10", "5877642-01-01", "9999-12-31", "0000-01-01", "infinity", "epoch"],
        ),
        ("%Y-%m-%d %z", "2013-01-02 +02", ["2013-01-02 +99:99", "9999-12-31 -23", "0001-01-01 +23", "2013-01-02 +"]),
        ("%Y-%j", "2013-002", ["2013-999", "0000-000"]),
        ("%G-%V-%u", "2013-01-1", ["2013-99-9"]),
        ("%p %I %d.%m.%y", "AM 5 02.01.13", ["XM 5 02.01.13", "AM 13 02.01.13"]),
        ("%d%%%m%%%Y", "02%01%2013", ["02%01", "%%%"]),
    ],
)
@pytest.mark.parametrize("zone", [None, "Europe/Berlin", "America/St_Johns"])
def test_no_date_in_any_format_stops_the_run(tmp_path, form, good, odd, zone):
    axis = Axis.dates("x", "2013-01-01", "2014-01-01", "1 hour", zone)
    path = tmp_path / "x.csv"
    path.write_text(f"x\n{good}\n" * 2, encoding="utf-8")
    fewer = outcome(sources.csv(path, date_format=form), axis)
    assert fewer[0] != "reading", "a format that does not fit is refused before rows are read"
    for text in odd:
        path.write_text(f"x\n{good}\n{text}\nx\n{good}\n", encoding="utf-8")
        check_neighbours(outcome(sources.csv(path, date_format=form), axis), fewer)


# --- values: categories and units -----------------------------------------------------------------------------------


def test_categories(tmp_path):
    words = ["None", "NA", "", "A", "a", " A", "nan"]
    assert cells(tmp_path, words, Axis.ordered("x", ["None", "NA", "", "A"])) == [0, 1, 2, 3, None, None, None]
    numbers = ["1", "01", "1.0", " 1 ", "1e0", "2", "1.5", "NA", "1" * 40, "", "one"]
    assert cells(tmp_path, numbers, Axis.ordered("x", [1, 2])) == [0, 0, 0, 0, 0, 1, None, None, None, None, None]
    large = ["9007199254740993", "9007199254740992", "9007199254740993.0", "9007199254740993.4", "1e40", "1e400", "-1"]
    assert cells(tmp_path, large, Axis.ordered("x", [2**53, 2**53 + 1])) == [1, 0, 1, None, None, None, None]
    truth = ["true", "TRUE", "t", "yes", "1", " True ", "false", "F", "no", "0", "", "NA", "2", "truth"]
    assert cells(tmp_path, truth, Axis.ordered("x", [False, True])) == [1] * 6 + [0] * 4 + [None] * 4


def test_units_are_told_apart_as_they_are_written(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("who,x\n7,1\n07,1\n 7,1\n7.0,1\n7,1\n", encoding="utf-8")
    assert found(path, X, unit="who") == {1: 4}
    path.write_text("who,x\n" + "".join(f"{word},1\n" for word in (*Dialect().missing, "?")), encoding="utf-8")
    assert found(path, X, unit="who") == {1: 1}, "words for missing values name nobody"
    assert found(sources.csv(path, missing=["?"]), X, unit="who") == {1: len(Dialect().missing)}
    path.write_bytes(b"who,x\n\xff,1\n\xfe,1\nok,1\n")
    assert found(path, X, unit="who") == {1: 1}, "what is not text names nobody"


def test_the_law_in_a_file_of_many_blocks(tmp_path, monkeypatch):
    """The slow twin of the fast path: whole megabytes, cut into odd blocks."""
    path, rng = tmp_path / "x.csv", np.random.default_rng(7)
    values = rng.integers(0, 10, 40_000)
    lines = [f'{value},"{"z" * int(size)}"\n' for value, size in zip(values, rng.integers(0, 90, 40_000), strict=True)]
    path.write_text("x,y\n" + "".join(lines), encoding="utf-8")
    expected = {cell: int(count) for cell, count in enumerate(np.bincount(values, minlength=10))}
    for block in (999, 65_537, 2**21):
        monkeypatch.setattr(places, "BLOCK", block)
        assert found(path, X) == expected
    assert math.ceil(path.stat().st_size / 999) > 1000
