"""Fixtures for all tests, and what is done before and after all are collected."""

import os

import pytest

from helpers import long
from helpers.browser import browser
from helpers.servers import postgres, spark

__all__ = ["browser", "postgres", "spark"]

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # programs that tests start would compile all modules again and again


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    config.stash[long.FOUND] = long.mark(items)
