"""Tests that are collected once, and run in forks of the process that collected them."""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from checks.mutants import forks

PASSED, FAILED = 0, 1
"""How a fork ends in which all tests passed, or one did not."""

SLOW_SETUP = frozenset({"postgres", "spark", "browser"})
"""Tests with a server of their own are not asked: each fork would start one."""

UNUSED = "cacheprovider", "terminal", "faulthandler", "xdist", "schemathesis"
"""Plugins of pytest that write, or take their time."""

ALLOWED = 3.0, 5.0
"""Seconds that any test may work, and how many times longer it may work than on the unchanged code."""


class Asking:
    """A plugin of pytest that does something else than running all tests in order.

    Attributes:
        items: The tests, by their names.
    """

    def __init__(self, work: Callable[["Asking"], None]) -> None:
        """With what is done once the tests are collected."""
        self._work = work
        self.items: dict[str, pytest.Item] = {}
        self.failing = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """The same examples each time, none kept, and a failing one is enough: nobody reads the smallest."""
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", settings(), derandomize=True, database=None, phases=phases)
        settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what needs a server."""
        items[:] = [one for one in items if not SLOW_SETUP & {*getattr(one, "fixturenames", ())}]

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Do it."""
        if session.testsfailed:
            raise session.Interrupted("Some tests cannot be collected.")
        self.items = {one.nodeid: one for one in session.items}
        self._work(self)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember that a test failed."""
        self.failing |= report.failed

    def passes(self, name: str, following: str | None) -> bool:
        """Run a test in this process, and say whether it passed."""
        self.failing = False
        item, then = self.items[name], self.items[following] if following else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=then)
        return not self.failing

    def first_failing(self, names: Sequence[str], seconds: dict[str, float], note: forks.Note) -> int:
        """Run tests until one fails; the note says which one ran last."""
        least, times = ALLOWED
        for at, name in enumerate(names):
            note.write(at)
            forks.allow(least + times * seconds.get(name, 0.0))
            if not self.passes(name, names[at + 1] if at + 1 < len(names) else None):
                return FAILED
        return PASSED


def collect(root: Path, tests: Sequence[str], work: Callable[[Asking], None]) -> int:
    """Collect tests, and do something with them; what pytest says of it."""
    os.chdir(root)
    sys.path[:0] = [str(root / "src")]
    options = ["-o", "addopts=", "--import-mode=importlib", "--doctest-modules", "--strict-markers"]
    options += [part for name in UNUSED for part in ("-p", f"no:{name}")]
    configuration = ["-c", "pyproject.toml"] if (root / "pyproject.toml").exists() else []
    rooted = ["--rootdir", str(root), "-s", "-W", "ignore::pytest.PytestAssertRewriteWarning", *configuration]
    return int(pytest.main([*options, *rooted, *tests], plugins=[Asking(work)]))
