"""Fixtures for tests of ledgers."""

import pytest

from dawa import ledger
from helpers.ledger_places import in_new_schema


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    """Where a new ledger may be: a file, or a schema of a server."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    return in_new_schema(request.getfixturevalue("postgres"))


@pytest.fixture
def book(place):
    """A ledger with an account whose cap is 1."""
    found = ledger.opened(place)
    found.create("hr", 1)
    return found


@pytest.fixture
def file(tmp_path):
    """Where a new ledger may be, in a file alone."""
    return str(tmp_path / "ledger.db")
