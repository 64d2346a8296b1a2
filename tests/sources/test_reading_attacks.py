"""What somebody who did not write the door broke it with, and what it does now."""

import enum
import gzip
import os
import signal
import subprocess
import sys
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from dawa import Axis, ledger, sources
from dawa.errors import AxisError, SourceError
from dawa.sources import delimited, engines, places
from helpers.binning import found
from helpers.reading import X, check_neighbours, outcome

DAY = Axis.dates("x", "2013-06-01", "2013-06-02", "1h")
DAY_IN_UTC = Axis.dates("x", "2013-06-01", "2013-06-02", "1h", zone="UTC")


# --- headers and compression ----------------------------------------------------------------------------------------


def test_a_header_is_searched_once(tmp_path, monkeypatch):
    """Every byte of a long header is looked at once, not again with every byte after it."""
    path, looked = tmp_path / "x.csv", []
    names = [f"c{number}" for number in range(10_000)]
    path.write_text(",".join(names) + "\n" + ",".join(["5"] * len(names)) + "\n")
    assert found(path, Axis("c9999", 0, 10)) == {5: 1}

    class Line:
        @staticmethod
        def search(data, first):
            looked.append(len(data) - first)
            return delimited.re.compile(rb"[\r\n]").search(data, first)

    monkeypatch.setattr(delimited, "LINE", Line)
    assert found(path, Axis("c9999", 0, 10)) == {5: 1}
    assert sum(looked) < 4 * path.stat().st_size


@pytest.mark.long_but(1)
@pytest.mark.parametrize(
    "data",
    [b"x," + b"a" * 200_000 + b"\n1,2\n", b"a" * 3_000_000, b'"' + b"a,b,1\n" * 200_000],
    ids=["after a comma", "one word", "in quotes"],
)
def test_a_first_line_that_is_none_is_refused(tmp_path, data):
    path = tmp_path / "x.csv"
    path.write_bytes(data)
    with pytest.raises(SourceError, match="too long for a header"):
        found(path, X)


def test_compressed_files_with_padding_and_many_members(tmp_path):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"x\n1\n") + b"\0" * (2**22 + 5))
    assert found(path, X) == {1: 1}
    path.write_bytes(b"".join([gzip.compress(b"x\n"), *[gzip.compress(b"5\n")] * 5000]))
    assert found(path, X) == {5: 5000}
    assert len(list(delimited.batches([places.file(path)], sources.csv(path).dialect, ["x"]))) <= 2, (
        "they are put together"
    )


def test_what_only_claims_to_be_compressed_is_refused_before_paying(tmp_path):
    path = tmp_path / "x.csv.gz"
    path.write_text("5\n")
    with pytest.raises(SourceError, match="not a gzip file"), sources.query(sources.csv(path, header=["x"]), (X,)):
        pass


# --- values ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outside", ["clip", "drop"])
def test_words_for_missing_values_are_missing_on_every_axis(tmp_path, outside):
    path = tmp_path / "x.csv"
    path.write_text("x\n-99\n5\n")
    assert found(sources.csv(path, missing=["-99"]), Axis("x", 0, 10, outside=outside)) == {5: 1}
    assert found(sources.csv(path, missing=["-99"]), Axis.edges("x", [0, 9], outside)) == {0: 1}
    assert found(sources.csv(path, missing=["-99"]), Axis.ordered("x", [-99, 5])) == {0: 1, 1: 1}, "listed"
    path.write_text("x\n1900-01-01\n2013-06-01\n")
    assert found(sources.csv(path, missing=["1900-01-01"]), DAY) == {0: 1}


TIMES = {
    "2013-06-01 08:30 PM": (None, None),
    "2013-06-01 08:30:00 Foo/Bar": (None, None),
    "2013-06-01 08:30:00+99:99": (None, None),
    "2013-06-01 08:30:00 +02:00": (8, 6),
    "2013-06-01T08:30:00.5+0200": (8, 6),
    "2013-06-01 08:30:00+02": (8, 6),
    "2013-06-01T08:30:00Z": (8, 8),
    "2013-06-01 08:30:00 UTC": (8, 8),
    "2013-06-01 08:30": (8, 8),
    "2013-06-01 8:30": (8, 8),
    "2013-06-01 08:30:00.123456789": (8, 8),
    " 2013-06-01 ": (0, 0),
    "01/06/20": (None, None),
    "20130601": (None, None),
    "2013-06-01 08:30:00 -": (None, None),
    "infinity": (None, None),
}


@pytest.mark.long_but(4)
@pytest.mark.parametrize("text", TIMES)
def test_times_with_something_behind_them(text):
    for axis, cell in zip((DAY, DAY_IN_UTC), TIMES[text], strict=True):
        assert found({"x": [text]}, axis) == ({} if cell is None else {cell: 1})


@pytest.mark.long
def test_times_of_96_bits_are_where_they_are(tmp_path):
    moments = [datetime(9999, 12, 31), datetime(2013, 1, 2), datetime(1, 1, 1)]  # noqa: DTZ001  as they are written
    table = pa.table({"x": pa.array(moments, pa.timestamp("us")), "who": ["a"] * 3})
    path = tmp_path / "x.parquet"
    pyarrow.parquet.write_table(table, path, use_deprecated_int96_timestamps=True)
    axis = Axis.dates("x", "1800-01-01", "2014-01-01", "1 year")
    assert found(path, axis) == found(path, axis, unit="who", max_rows_per_unit=9) == {0: 1, 213: 2}


def test_nanoseconds_in_somebodys_duckdb():
    backend = ibis.duckdb.connect()
    rows = "('2013-06-01 05:00'::timestamp_ns), ('infinity'), (make_timestamp_ns(9223372036854775806))"
    backend.con.execute(f"create table n as select * from (values {rows}) v(x)").fetchall()  # noqa: S608  our own
    with engines.quietly():
        assert found(backend.table("n"), DAY) == {5: 1, 23: 1}


def test_a_decimal_comma_makes_a_point_something_else(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("x\n1.000\n1\n")
    assert found(sources.csv(path, decimal=","), Axis.ordered("x", [1, 1000])) == {0: 1}


class Grade(str, enum.Enum):  # noqa: UP042  as people have them
    """A category that is text and something else."""

    A = "A"


def test_odd_columns_in_a_dict():
    assert found({"x": [Grade.A, "A"]}, Axis.ordered("x", ["A"])) == {0: 2}
    assert found({"x": pd.array([1, 2, None])}, X) == {1: 1, 2: 1}
    assert found({"x": pd.Categorical(["A", None])}, Axis.ordered("x", ["A"])) == {0: 1}
    indices, views = pa.array([0, 1]), pa.array(["A", "B"], pa.string_view())
    assert found({"x": pa.DictionaryArray.from_arrays(indices, views)}, Axis.ordered("x", ["A"])) == {0: 1}
    with pytest.raises(SourceError, match="pandas type Sparse"):
        found(pd.DataFrame({"x": pd.arrays.SparseArray([1, 0, 2])}), X)


def test_long_lists_are_sliced_and_not_walked_through():
    class Counted(list):
        steps = 0

        def __iter__(self):
            Counted.steps += 1
            return super().__iter__()

    assert found({"x": Counted([5] * 400_000)}, X) == {5: 400_000}
    assert Counted.steps == 0


# --- units ----------------------------------------------------------------------------------------------------------


@pytest.mark.long_but(3)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (2**1100, 2**1101),
        (-(2**1100), 2**1100),
        (Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**30)),
        (Decimal("1e999999"), Decimal("1e999998")),
        (7, "7"),
        (True, 1),
        (b"7", "7"),
        (0.1, Decimal("0.1")),
    ],
)
def test_identifiers_that_differ_stay_apart(one, other):
    fewer = found({"id": [other], "x": [0]}, X, unit="id")
    more = found({"id": [other] + [one] * 1000, "x": [0] + [1] * 1000}, X, unit="id")
    assert (fewer, more) == ({0: 1}, {0: 1, 1: 1})


@pytest.mark.parametrize("values", [(7, 7.0, Decimal(7), Fraction(7), np.int8(7), np.float32(7))])
def test_identifiers_that_are_equal_are_one(values):
    assert found({"id": list(values), "x": [1] * len(values)}, X, unit="id") == {1: 1}


def test_an_axis_without_a_type_does_not_name_units():
    with pytest.raises(SourceError, match="is the unit and also an axis"):
        found({"x": [7, 7.0, "7"]}, X, unit="x")
    assert found({"x": np.array([7, 7, 8])}, X, unit="x") == {7: 1, 8: 1}


# --- names ----------------------------------------------------------------------------------------------------------


def test_names_are_what_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "~x.csv").write_text("x\n5\n")
    assert found("~x.csv", X) == {5: 1}
    for part in ("_temporary", ".hidden", "a"):
        (tmp_path / "parts" / part).mkdir(parents=True)
        pyarrow.parquet.write_table(pa.table({"x": [1]}), tmp_path / "parts" / part / "_p.parquet")
        pyarrow.parquet.write_table(pa.table({"x": [2]}), tmp_path / "parts" / part / "p.parquet")
    assert found("parts/*/*.parquet", X) == found("parts", X) == {2: 1}
    assert found("parts/_temporary/*.parquet", X) == {2: 1}
    assert found("parts/_temporary/_p.parquet", X) == {1: 1}
    with pytest.raises(SourceError, match="is a folder"):
        found(sources.csv("parts"), X)
    for name in ("~nobody4711/x.csv", "a" * 5000 + ".csv", "\0.csv"):
        with pytest.raises(SourceError, match="Hint:"):
            found(name, X)


def test_what_ibis_cannot_say_is_told_in_our_words(tmp_path):
    path = tmp_path / "x.parquet"
    pyarrow.parquet.write_table(pa.table({"": [1], "x": [1]}), path)
    assert found(path, X) == {1: 1}
    for table, axis in (
        (path, Axis("", 0, 9)),
        ({"x": [10**20]}, Axis.ordered("x", [10**20])),
        ({"x": np.array([1.0])}, Axis.ordered("x", [10**20])),
        ({"x": np.array([1], "M8[2000000000W]")}, DAY),
    ):
        with pytest.raises((SourceError, AxisError), match="Hint:"):
            found(table, axis)


# --- Ctrl-C ---------------------------------------------------------------------------------------------------------

SLOW = """
import sys, time
from collections.abc import Sequence
import dawa

class Slow(Sequence):
    def __len__(self):
        return 2**17 * 500

    def __getitem__(self, place):
        if place % 2**17 == 0:
            print("reading", flush=True)
            time.sleep(0.2)
        return 5

try:
    dawa.release({"x": Slow()}, dawa.Axis("x", 0, 10), epsilon=1, ledger=sys.argv[1], dataset="hr")
except KeyboardInterrupt as error:
    print(*error.__notes__, flush=True)
    sys.exit(130)
"""


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
def test_ctrl_c_while_reading_is_ctrl_c(tmp_path):
    """An engine would make an error of its own of it, or read on to the end."""
    ledger.opened(tmp_path / "ledger.db").create("hr", cap=2)
    command = [sys.executable, "-c", SLOW, str(tmp_path / "ledger.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:  # noqa: S603  our own
        assert run.stdout.readline() == "reading\n"
        run.send_signal(signal.SIGINT)
        told = run.stdout.read()
    assert run.returncode == 130
    assert "epsilon=1 was spent on dataset 'hr'" in told


@pytest.mark.long_but(1)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_a_byte_order_mark_belongs_to_no_record(tmp_path, encoding):
    """In a file without a header, the first record may begin with a mark; a record before it changes nothing."""
    path = tmp_path / "x.csv"
    mark = "\ufeff"
    for first in (f"{mark}5\n", f'{mark}"5"\n', f"{mark}{mark}5\n", f"{mark}\n", f'{mark}"5\n5"\n'):
        counts = []
        for text in (first, "7\n" + first, first + "7\n"):
            path.write_bytes((text + "3\n" * 30_000).encode(encoding))
            counts.append(outcome(sources.csv(path, header=["x"], encoding=encoding), X))
        for more in counts[1:]:
            check_neighbours(more, counts[0])


@pytest.mark.parametrize(
    ("precision", "scale", "labels"), [(38, 38, [1, 5]), (38, 37, [100, 5]), (38, 20, [2**62]), (4, 2, [0, 7])]
)
def test_labels_that_a_decimal_cannot_hold_match_nothing_and_fail_at_nothing(precision, scale, labels):
    """The engine would cast such a label to the column's type, and fail only where there is a row."""
    column = pa.array([Decimal("0.5"), Decimal(0)], pa.decimal128(precision, scale))
    axis = Axis.ordered("x", labels)
    assert outcome({"x": column.slice(0, 0)}, axis)[0] == "counted"
    assert outcome({"x": column}, axis)[1].total() == 2
