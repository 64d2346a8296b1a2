"""Fixtures for tests of sources."""

import pytest

from dawa import ledger


@pytest.fixture
def book(tmp_path):
    """A ledger in which one account has money, and one has none."""
    opened = ledger.opened(tmp_path / "ledger.db")
    opened.create("rich", cap=100)
    opened.create("poor", cap="0.1")
    return opened
