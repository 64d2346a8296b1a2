"""Text files: records are cut as slow twins cut them, whatever the blocks, and one record more changes no other."""

import codecs
import csv
import gzip
import io
import math
import tracemalloc
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa import limits
from dawa.sources import delimited, places
from dawa.sources.dialect import Dialect
from helpers.binning import found
from helpers.examples import examples
from helpers.reading import X, cut, fitted, named, read

LAW = examples(60)
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


@pytest.mark.long
@examples(200)
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


@pytest.mark.long
def test_the_longest_record_in_full_size(tmp_path):
    """At 2^24 bytes, just below and just above, behind rows and before them, whatever its end."""
    path, dialect = tmp_path / "x.csv", named(2)
    for spare, kept in ((1, 1), (0, 1), (-1, 0)):
        long = b"5," + b"z" * (limits.MOST_RECORD_BYTES - 2 - spare)
        for rest, after in ((b"\n2,2\n", ["2"]), (b"\r\n2,2\n", ["2"]), (b"\r2,2\n", ["2"]), (b"\r", []), (b"", [])):
            path.write_bytes(b"1,1\n" * 3 + long + rest)
            assert [row[0] for row in read(path, dialect)] == ["1"] * 3 + ["5"] * kept + after, (spare, rest)


@pytest.mark.long
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
