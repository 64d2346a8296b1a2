"""Fixtures for all tests, and what is done before and after all of them."""

import gc
import os
import signal

import pytest
from hypothesis import settings

from helpers import examples, long
from helpers.browser import browser
from helpers.engine import one_engine
from helpers.folders import folder_numbers, tmp_path
from helpers.servers import postgres, spark

__all__ = ["browser", "folder_numbers", "one_engine", "postgres", "spark", "tmp_path"]

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in what it runs in the background
gc.set_threshold(50_000)  # very many objects are made, and nearly all of them stay
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # programs that tests start would compile all modules again and again
settings.load_profile(examples.USUAL)
LEFT_OUT = pytest.StashKey[int]()


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Modules and tests stay to the end: nobody looks for garbage among them, neither now nor between tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    config.stash[long.FOUND] = long.mark(items)


def pytest_deselected(items):
    config = items[0].config
    config.stash[LEFT_OUT] = config.stash.get(LEFT_OUT, 0) + len(items)


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):  # one of several processes, which tells the first one
        session.config.workeroutput["left out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left out", 0)


def pytest_terminal_summary(terminalreporter, config):
    """Pytest itself says it where there is one process alone."""
    if left_out := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"{left_out:,} tests were left out (deselected); make test-all runs all.")
