# ruff: noqa: DTZ001  times without a zone are part of it
"""Conditions that cannot be are refused before anything is paid, and what is said of those that can."""

from datetime import date, datetime

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import dawa
from dawa import ledger
from dawa.errors import AxisError, ConditionError, DawaError, ExhaustedError, SourceError
from dawa.sources import engines
from helpers.binning import found
from helpers.conditions import as_csv, as_parquet
from helpers.reading import CANARY, X

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

# --- refused before paying ------------------------------------------------------------------------------------------


@pytest.fixture
def book(tmp_path):
    opened = ledger.opened(tmp_path / "ledger.db")
    opened.create("rich", cap=100)
    opened.create("poor", cap="0.1")
    return opened


TABLE = pa.table(
    {
        "x": [1],
        "word": ["A"],
        "yes": [True],
        "day": [date(2013, 1, 1)],
        "at": [datetime(2013, 1, 1)],
        "zoned": pa.array([0], pa.timestamp("us", "UTC")),
        "list": [[1]],
        "bytes": [b"x"],
    }
)
REFUSED = {
    "x = 'A'": (ConditionError, "holds numbers, but the condition compares it with text.\nHint: write a number"),
    "x = true": (ConditionError, "compares it with true or false"),
    "x = '2013-01-01'": (ConditionError, "compares it with text"),
    "yes = 1": (ConditionError, "Hint: write yes = true, or yes = false."),
    "yes > true": (ConditionError, "have no order"),
    "word > true": (ConditionError, "have no order"),
    "day = 5": (ConditionError, "holds dates, but the condition compares it with a number"),
    "day > 'A'": (ConditionError, "neither a date nor a time"),
    "day > '2013-02-30'": (ConditionError, "neither a date nor a time"),
    "word > '2013-02-30'": (ConditionError, "neither a date nor a time"),
    "word in ('2013-01-01', 'A')": (ConditionError, "neither a date nor a time"),
    "at > '2013-01-01 00:00Z'": (ConditionError, "holds times without a time zone"),
    "zoned > '2013-01-01'": (ConditionError, "say which moment is meant"),
    "zoned in ('2013-01-01 00:00Z', '2013-01-01')": (ConditionError, "with and without an offset"),
    f"word = 0.{'1' * 40}": (ConditionError, "of more than 37 digits"),
    "list = 1": (ConditionError, "which a condition cannot look at"),
    "bytes is missing": (ConditionError, "which a condition cannot look at"),
    "nobody = 1": (AxisError, "has no column 'nobody'.\nHint: name one of its columns in where=: x, word"),
    "x = 1 and": (ConditionError, "the end is not a column"),
}


@pytest.mark.parametrize("asked", REFUSED)
def test_what_does_not_fit_costs_nothing(book, asked):
    kind, words = REFUSED[asked]
    with pytest.raises(kind) as caught:
        dawa.release(TABLE, X, epsilon=1, where=asked, ledger=book, dataset="rich")
    assert words in str(caught.value)
    assert book.account("rich").spent == 0


def test_files_that_lack_a_column_of_the_condition_cost_nothing(tmp_path, book):
    path = as_csv(tmp_path, ["1"])
    parquet = as_parquet(tmp_path, ["1"])
    for table_ in (path, parquet, {"x": [1]}, pd.DataFrame({"x": [1]}), pl.DataFrame({"x": [1]}).lazy()):
        with pytest.raises(AxisError, match="nobody"):
            dawa.release(table_, X, epsilon=1, where="nobody = 1", ledger=book, dataset="rich")
    assert book.account("rich").spent == 0


def test_a_column_without_a_type_is_not_both_unit_and_in_the_condition(book):
    table_ = {"x": [1, 2], "who": ["a", "b"]}
    with pytest.raises(SourceError, match="is the unit and also an axis or in the condition"):
        dawa.release(
            table_, X, epsilon=1, unit="who", max_rows_per_unit=1, where="who != 'a'", ledger=book, dataset="rich"
        )
    assert book.account("rich").spent == 0
    typed = {"x": [1, 2], "who": np.array(["a", "b"])}
    assert found(typed, X, unit="who", where="who != 'a'") == {2: 1}


def test_rows_are_not_looked_at_before_paying(book):
    backend = ibis.duckdb.connect()
    backend.con.execute(
        f"create view trap as select case when range >= 0 then error('{CANARY}')::int end as y, 1 as x from range(5)"  # noqa: S608  our own words
    )
    for dataset, kind in (("poor", ExhaustedError), ("rich", DawaError)):
        with pytest.raises(kind) as caught, engines.quietly():
            dawa.release(backend.table("trap"), X, epsilon=1, where="y > 3", ledger=book, dataset=dataset)
        assert CANARY not in str(caught.value)
    assert book.account("poor").spent == 0
    assert book.account("rich").spent == 1
    backend.disconnect()


# --- what is said ---------------------------------------------------------------------------------------------------


def test_the_condition_is_in_the_statement_the_ledger_and_the_file(tmp_path, book):
    made = dawa.release(
        {"x": [1, 2], "y": [CANARY, "b"]},
        X,
        epsilon=1,
        where="y  =  'b' and X_ is not null".replace("X_", "x"),
        ledger=book,
        dataset="rich",
    )
    said = "y = 'b' and x is not missing"
    assert f"Only records with {said} were counted" in str(made.privacy)
    assert any("x" in sentence and "read from text" in sentence for sentence in made.privacy.handling)
    reservation = next(entry for entry in book.history("rich") if entry.kind == "reserve")
    assert reservation.what["where"] == said
    made.save(tmp_path / "release.json")
    assert f"Only records with {said}" in str(dawa.load(tmp_path / "release.json").privacy)
    assert CANARY.encode() not in (tmp_path / "release.json").read_bytes()
    plain = dawa.release({"x": [1, 2]}, X, epsilon=1, ledger=book, dataset="rich")
    assert "Only records with" not in str(plain.privacy)
