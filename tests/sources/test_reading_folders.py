"""Files and folders: names say nothing, and files that do not fit together are refused before rows are read."""

from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet
import pytest

from dawa import Axis, sources
from dawa.errors import AxisError, SourceError
from helpers.binning import found
from helpers.reading import AWARE, LETTERS, NAIVE, X, outcome
from helpers.writers import WRITERS, arrow

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


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


@pytest.mark.long_but(3)
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
