"""Which test executes which line, kept from one run to the next.

The tests of a file are run again if the file has changed, or what tests share, or a module that they reached.
"""

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import coverage

from checks.mutants import forks
from checks.mutants.asking import PASSED, Asking, collect
from checks.mutants.scopes import Project

KEPT = "reach.json"
"""In the folder for what runs have found out; nobody commits it."""

MOST_SECONDS = 60.0
"""A test that works longer than so many times its allowance is not asked."""


@dataclass
class Reach:
    """What is known of tests.

    Attributes:
        seconds: How long each test works.
        lines: The tests that execute a line of a file.
        failing: Tests that fail on the unchanged code when they are run this way; they are not asked.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[int, set[str]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(set)))
    failing: list[str] = field(default_factory=list)

    def among(self, path: str, lines: Iterable[int]) -> set[str]:
        """The tests that execute one of these lines."""
        return {name for line in lines for name in self.lines[path].get(line, ())}

    def all_of(self, path: str) -> set[str]:
        """The tests that execute anything of a file."""
        return {name for names in self.lines[path].values() for name in names}


def known(project: Project, tests: Sequence[str], jobs: int) -> Reach:
    """What tests reach, found out anew where something has changed."""
    kept = _kept(project)
    files = list(test_files(project.root, tests))
    stale = [one for one in files if not _is_fresh(project, one, kept.get(one))]
    if stale:
        for one in forks.each([stale], lambda them, _: collect(project.root, them, _mapped(project, jobs)), 1):
            if one.code != PASSED:
                raise RuntimeError(f"Finding out which test reaches what ended with {one.code}.")
        kept = _kept(project)
    return _put_together({one: kept[one] for one in files if one in kept})


def _mapped(project: Project, jobs: int) -> Callable[[Asking], None]:
    """Run the tests of each file in a fork, and keep what they reached."""

    def work(asking: Asking) -> None:
        files: dict[str, list[str]] = defaultdict(list)
        for name in asking.items:
            files[name.partition("::")[0]].append(name)
        folder = project.root / project.kept / "pieces"
        folder.mkdir(parents=True, exist_ok=True)
        for piece in folder.iterdir():
            piece.unlink()
        largest_first = sorted(files, key=lambda one: -len(files[one]))
        for one in forks.each(largest_first, lambda file, _: _reached(project, asking, files[file], folder), jobs):
            if one.code != PASSED:
                raise RuntimeError(f"The tests of {one.task} ended with {one.code} on the unchanged code.")
        _keep(project, folder)

    return work


def _reached(project: Project, asking: Asking, names: list[str], folder: Path) -> int:
    """Run the tests of a file, and write down which lines each executes."""
    measuring = coverage.Coverage(
        data_file=None, config_file=False, include=[f"{project.root / project.package}/*"], messages=False
    )
    tests: dict[str, dict[str, Any]] = {}
    measuring.start()
    for at, name in enumerate(names):
        measuring.switch_context(name)
        start = time.process_time()
        forks.allow(MOST_SECONDS * 10)
        passed = asking.passes(name, names[at + 1] if at + 1 < len(names) else None)
        tests[name] = {"seconds": time.process_time() - start, "passed": passed}
    measuring.stop()
    data, numbers = measuring.get_data(), {name: at for at, name in enumerate(tests)}
    reached = {
        Path(path).relative_to(project.root).as_posix(): {
            str(line): sorted(numbers[one] for one in found if one)
            for line, found in data.contexts_by_lineno(path).items()
        }
        for path in data.measured_files()
    }
    file = names[0].partition("::")[0]
    state = {path: _digest(project.root, [path]) for path in reached}
    entry = {"digest": test_digest(project.root, file), "modules": state, "tests": tests, "lines": reached}
    (folder / f"{hashlib.sha256(file.encode()).hexdigest()}.json").write_text(json.dumps({file: entry}))
    return PASSED


def _kept(project: Project) -> dict[str, Any]:
    path = project.root / project.kept / KEPT
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return kept


def _keep(project: Project, folder: Path) -> None:
    """Add the pieces to what is kept."""
    kept = _kept(project)
    for piece in folder.iterdir():
        kept |= json.loads(piece.read_text())
        piece.unlink()
    (project.root / project.kept / KEPT).write_text(json.dumps(kept))


def _is_fresh(project: Project, file: str, entry: dict[str, Any] | None) -> bool:
    if entry is None or entry["digest"] != test_digest(project.root, file):
        return False
    return all(_digest(project.root, [path]) == digest for path, digest in entry["modules"].items())


def test_files(root: Path, tests: Sequence[str]) -> Iterator[str]:
    """The files of tests; those of the package itself have examples in their docstrings."""
    for one in tests:
        pattern = "*.py" if one.startswith("src") else "test_*.py"
        paths = [root / one] if (root / one).is_file() else sorted((root / one).rglob(pattern))
        for path in paths:
            if pattern != "*.py" or ">>>" in path.read_text(encoding="utf-8"):
                yield path.relative_to(root).as_posix()


def test_digest(root: Path, file: str) -> str:
    """A digest of a file of tests and of what tests share."""
    shared = [path.relative_to(root).as_posix() for path in sorted((root / "tests/helpers").glob("*.py"))]
    return _digest(root, [file, *shared])


def _digest(root: Path, paths: Iterable[str]) -> str:
    texts = [(root / path).read_bytes() if (root / path).exists() else b"" for path in paths]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def _put_together(kept: dict[str, Any]) -> Reach:
    reach = Reach()
    for entry in kept.values():
        names, passed = list(entry["tests"]), [test["passed"] for test in entry["tests"].values()]
        for name, test in entry["tests"].items():
            if test["passed"]:
                reach.seconds[name] = test["seconds"]
            else:
                reach.failing.append(name)
        for path, lines in entry["lines"].items():
            for line, numbers in lines.items():
                reach.lines[path][int(line)].update(names[one] for one in numbers if passed[one])
    return reach
