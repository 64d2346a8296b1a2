"""Fixtures for all tests."""

from helpers.browser import browser
from helpers.servers import postgres, spark

__all__ = ["browser", "postgres", "spark"]
