"""A verdict for every mutant: the tests that execute its line are run until one fails."""

import importlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from checks.mutants import forks
from checks.mutants.asking import FAILED, PASSED, Asking, collect
from checks.mutants.forks import Ended, Note
from checks.mutants.install import Finder, Loaded
from checks.mutants.mutant import Mutant
from checks.mutants.reach import Reach
from checks.mutants.scopes import Project

FAVOURITES = 8
"""So many tests that killed other mutants of a function, and of a module, are asked first."""

MOST_SECONDS = 5.0
"""Tests are asked until they would have taken so long on the unchanged code; those of the module's own file first."""

MOST_FILES = 4
"""For what takes effect while modules are imported, tests of so many files are asked."""


COLLECTING = 30.0
"""Seconds that collecting the tests of a file may take."""


class Outcome(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    STOPPED = "timed out"
    SURVIVED = "survived"
    UNREACHED = "not covered"

    @property
    def noticed(self) -> bool:
        """Whether tests notice such a mistake."""
        return self in {Outcome.KILLED, Outcome.STOPPED}


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant, and the test that noticed it."""

    mutant: Mutant
    outcome: Outcome
    test: str = ""


@dataclass
class Order:
    """In which order tests are asked: those that noticed most in this function, in this module, then the fastest."""

    reach: Reach
    _kills: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def remember(self, mutant: Mutant, test: str) -> None:
        """A test noticed a mutant."""
        for function in (mutant.function, ""):
            self._kills[mutant.path, function][test] += 1

    def of(self, mutant: Mutant) -> list[str]:
        """The tests for a mutant in a function."""
        found = self.reach.among(mutant.path, mutant.lines[0]) or self.reach.among(mutant.path, mutant.lines[1])
        return self.all(found, mutant.path, mutant.function)

    def all(self, found: set[str], path: str, function: str = "") -> list[str]:
        """These tests in order, as many as there is time for."""
        listed = sorted(found, key=lambda test: (not _is_own(test, path), *self._price(test)))
        first: dict[str, None] = {}
        for key in ((path, function), (path, "")):
            liked = [test for test, _ in self._kills[key].most_common() if test in found]
            first.update(dict.fromkeys(liked[:FAVOURITES]))
        asked: list[str] = []
        seconds = 0.0
        for test in (*first, *(one for one in listed if one not in first)):
            seconds += self.reach.seconds[test]
            if asked and seconds > MOST_SECONDS:
                break
            asked.append(test)
        return asked

    def about(self, path: str) -> set[str]:
        """The tests that execute anything of a module, and those in its own file, which may look at its constants."""
        return self.reach.all_of(path) | {test for test in self.reach.seconds if _is_own(test, path)}

    def files(self, path: str) -> list[str]:
        """The files of the tests for a mutant outside of functions: the module's own tests first."""
        tests = Counter(test.partition("::")[0] for test in self.about(path))
        kills = self._kills[path, ""]  # files, as long as no mutant of a function was tried
        return sorted(tests, key=lambda one: (-kills[one], not _is_own(one, path), -tests[one], one))[:MOST_FILES]

    def _price(self, test: str) -> tuple[int, str, float]:
        """Tests that take about as long are asked file by file, so that they share what their file sets up."""
        seconds = self.reach.seconds[test]
        return sum(seconds > step for step in (0.02, 0.1, 0.5, 2.0)), test.partition("::")[0], seconds


def _is_own(test: str, path: str) -> bool:
    """Whether a test is in the file that is named after the module."""
    return test.partition("::")[0].endswith(f"/test_{path.rpartition('/')[2]}")


@dataclass
class Trials:
    """Mutants of a project, to be tried.

    Attributes:
        project: Code and tests.
        tests: Files and folders of the tests that are asked.
        texts: The unchanged text of each module, by its path.
        reach: Which test executes which line.
        jobs: How many mutants are tried at a time.
    """

    project: Project
    tests: Sequence[str]
    texts: Mapping[str, str]
    reach: Reach
    jobs: int

    def run(self, mutants: Sequence[Mutant], tell: Callable[[Verdict], None]) -> None:
        """Tell a verdict for each mutant, as they come.

        Afterwards this process has dawa and its tests loaded, so it cannot be asked again.

        Raises:
            RuntimeError: If a test that is asked fails on the unchanged code.
        """
        order = Order(self.reach)
        self._outside([one for one in mutants if not one.outermost], order, tell)
        inside = [one for one in mutants if one.outermost]
        if inside:
            code = collect(self.project.root, self.tests, lambda asking: self._inside(asking, inside, order, tell))
            if code != PASSED:
                raise RuntimeError(f"The tests cannot be collected: pytest ended with {code}.")

    def _outside(self, mutants: Sequence[Mutant], order: Order, tell: Callable[[Verdict], None]) -> None:
        """Each is loaded before the tests are: one file of tests after the other."""
        for name in self.project.preload:
            importlib.import_module(name)
        files: dict[Mutant, list[str]] = {}

        def tasks() -> Iterator[Mutant]:
            for one in mutants:
                files[one] = order.files(one.path)
                yield one

        def work(mutant: Mutant, note: Note) -> int:
            Finder(self.project.root, self.project.package, mutant, self.texts[mutant.path]).install()
            for at, file in enumerate(files[mutant]):
                note.write(at)
                if self._file_fails(file, order.all(order.about(mutant.path), mutant.path)):
                    return FAILED
            return PASSED

        for ended in forks.each(tasks(), work, self.jobs):
            tell(_verdict(ended, ended.task, files[ended.task], order))

    def _file_fails(self, file: str, tests: Sequence[str]) -> bool:
        """Collect a file of tests, and run those that are asked."""
        failing = True  # unless they are collected

        def work(asking: Asking) -> None:
            nonlocal failing
            names = [one for one in tests if one in asking.items]
            failing = asking.first_failing(names, self.reach.seconds, Note()) == FAILED

        forks.allow(COLLECTING)
        collect(self.project.root, [file], work)
        return failing

    def _inside(self, asking: Asking, mutants: Sequence[Mutant], order: Order, tell: Callable[[Verdict], None]) -> None:
        """Tests are collected once; for each mutant, functions of a fork get other code."""
        loaded = Loaded(self.project.root)
        tests: dict[Mutant | str, list[str]] = {}

        def tasks() -> Iterator[Mutant | str]:
            for path in sorted({one.path for one in mutants}):
                tests[path] = order.all(order.about(path), path)
                yield path
            for one in mutants:
                tests[one] = order.of(one)
                if tests[one]:
                    yield one
                else:
                    tell(Verdict(one, Outcome.UNREACHED))

        def work(task: Mutant | str, note: Note) -> int:
            if isinstance(task, Mutant):
                loaded.put(task, self.texts[task.path])
            return asking.first_failing(tests[task], self.reach.seconds, note)

        for ended in forks.each(tasks(), work, self.jobs):
            if isinstance(ended.task, Mutant):
                tell(_verdict(ended, ended.task, tests[ended.task], order))
            elif ended.code != PASSED:
                raise RuntimeError(f"{tests[ended.task][ended.note]} fails on the unchanged code.")


def _verdict(ended: Ended[Any], mutant: Mutant, asked: Sequence[str], order: Order) -> Verdict:
    """What the end of a fork says; whatever ends it in another way than passing is noticed."""
    if not asked:
        return Verdict(mutant, Outcome.UNREACHED)
    if ended.code == PASSED:
        return Verdict(mutant, Outcome.SURVIVED)
    if ended.code == forks.BROKEN:
        raise RuntimeError(f"This mutant cannot be tried: {mutant}")
    order.remember(mutant, asked[ended.note])
    return Verdict(mutant, Outcome.STOPPED if ended.stopped else Outcome.KILLED, asked[ended.note])
