"""Fixtures for all tests."""

from browser import browser
from servers import postgres, spark

__all__ = ["browser", "postgres", "spark"]
