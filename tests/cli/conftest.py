"""Fixtures for tests of commands."""

import numpy as np
import pandas as pd
import pytest

from helpers.people import ROWS


@pytest.fixture(scope="session")
def people(tmp_path_factory):
    """A Parquet file of people; a CSV file with the same records lies beside it."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 100, ROWS),
            "income": rng.lognormal(10, 1, ROWS).round(2),
            "when": pd.to_datetime("2013-01-01") + pd.to_timedelta(rng.integers(0, 365 * 24, ROWS), "h"),
            "grade": rng.choice(["low", "middle", "high"], ROWS),
            "level": rng.integers(1, 4, ROWS),
            "person": rng.integers(0, 1000, ROWS),
        }
    )
    folder = tmp_path_factory.mktemp("people")
    frame.to_parquet(folder / "people.parquet")
    frame.to_csv(folder / "people.csv", index=False)
    return folder / "people.parquet"


@pytest.fixture
def somewhere(tmp_path, monkeypatch):
    """A folder of its own to work in, without a ledger."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DAWA_LEDGER", raising=False)
