"""One unit more changes at most so many records, in text, typed files and lists."""

from collections import Counter
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa import Axis
from dawa.sources import counting
from helpers.binning import found
from helpers.examples import examples
from helpers.hostile import Rude, lines
from helpers.reading import X, check_neighbours, outcome

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

LAW = examples(12)

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


@pytest.mark.long_but(1)
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
