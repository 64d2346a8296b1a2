"""The tests of reading can fail: readers that guess break the law."""

from collections import Counter

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from dawa import Axis
from helpers.hostile import ADVERSARIAL, MANY, lines
from helpers.reading import X, check_neighbours, outcome

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.mark.long
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
