"""Which modules are changed, and which tests are asked about them."""

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Scope:
    """A part of the code.

    Attributes:
        modules: Its files, below the folder of sources; a star stands for any name.
        tests: Files and folders of tests, from the root.
    """

    modules: tuple[str, ...]
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Project:
    """Code and its tests.

    Attributes:
        root: Its folder.
        package: The folder of its package, from the root.
        scopes: Its parts, by name.
        preload: Libraries that are loaded once for all mutants.
        kept: The folder for what earlier runs have found out, from the root.
    """

    root: Path
    package: str
    scopes: dict[str, Scope]
    preload: tuple[str, ...] = ()
    kept: str = "build/mutants"

    def chosen(self, names: Sequence[str]) -> dict[str, Scope]:
        """The paths of modules, each with its scope: those of the named parts, or the named modules.

        Raises:
            ValueError: If there is no such part or module.
        """
        found: dict[str, Scope] = {}
        for name in names or [next(iter(self.scopes))]:
            here = {path: scope for path, scope in self._all().items() if self._is(path, name)}
            if not here:
                raise ValueError(
                    f"There is no module or part {name!r}. Hint: {', '.join(self.scopes)}, or a file's path."
                )
            found |= here
        return found

    def _all(self) -> dict[str, Scope]:
        home = self.root / self.package
        paths = sorted(path.relative_to(home).as_posix() for path in home.rglob("*.py"))
        return {
            f"{self.package}/{path}": scope
            for scope in self.scopes.values()
            for pattern in scope.modules
            for path in paths
            if fnmatch.fnmatch(path, pattern)
        }

    def _is(self, path: str, name: str) -> bool:
        if name in self.scopes:
            return self._all()[path] is self.scopes[name]
        own = path.removeprefix(f"{self.package}/")
        return name in {path, own, own.removesuffix(".py")} or fnmatch.fnmatch(own, name) or own.startswith(f"{name}/")


CORE = Scope(
    (
        *("partition/*.py", "measure.py", "noise/*.py", "counts.py", "bounds/*.py"),
        *(f"mechanisms/{name}.py" for name in ("efpa", "mwem", "agrid", "dpcube", "two_stage")),
    ),
    (
        *("tests/partition", "tests/noise", "tests/bounds", "tests/mechanisms"),
        *("tests/test_measure.py", "tests/test_counts.py", "tests/test_pipeline.py", "tests/test_maps.py"),
        *("tests/test_bad_input.py", "tests/results/test_halved.py", "tests/results/test_estimate.py"),
        *("src/dawa/partition", "src/dawa/noise", "src/dawa/counts.py"),
    ),
)
LEDGER = Scope(("ledger/*.py",), ("tests/ledger",))
SOURCES = Scope(("sources/*.py",), ("tests/sources", "tests/test_groups.py"))

DAWA = Project(
    ROOT,
    "src/dawa",
    {"core": CORE, "ledger": LEDGER, "sources": SOURCES},
    (
        *("numpy", "scipy.optimize", "scipy.sparse", "scipy.sparse.linalg", "scipy.stats", "scipy.special"),
        *("pandas", "pyarrow", "duckdb", "ibis", "ibis.backends.duckdb", "sqlglot", "sqlalchemy", "rich.progress"),
        *("hypothesis", "hypothesis.extra.numpy", "pytest", "coverage", "opendp.prelude", "matplotlib.figure", "typer"),
        *("anyio.pytest_plugin", "_hypothesis_pytestplugin", "pyarrow.compute", "pyarrow.parquet", "urllib.request"),
    ),
)


def at(root: Path) -> Project:
    """Another project: its package is the only folder in ``src``, its tests are in ``tests``."""
    package = next(path for path in sorted((root / "src").iterdir()) if path.is_dir())
    return Project(root, package.relative_to(root).as_posix(), {"all": Scope(("*.py",), ("tests",))})
