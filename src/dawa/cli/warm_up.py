"""``dawa warm-up``: do once what a first run would do, for images of containers.

Loops are compiled when the package is built, so all that is left is what Python keeps of modules: their byte code. It
is written when a module is first imported, and without it every start in a new container takes seconds more. So this
makes a small release of made-up people, through all that an ordinary one imports.
"""

import importlib
import importlib.util
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from importlib.metadata import packages_distributions
from io import StringIO
from pathlib import Path
from types import ModuleType

from dawa.cli.terminal import reported, tell, working
from dawa.errors import FolderError

HELP = """Do once what a first run would do: for images of containers.

\b
  dawa warm-up

\b
It makes and asks a release of made-up people, so that Python keeps the byte
code of all modules, and says where that and dawa's compiled loops are.
"""

BESIDES = (
    "psycopg",
    "dawa.ledger",
    "dawa.publish.page",
    "uvicorn.lifespan.off",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
)
"""Modules that only some runs import."""

SERVING = ("fastapi", "uvicorn")
"""Libraries without which nobody can serve."""


def warm_up() -> None:
    """Import all that a release needs, and say what is kept where."""
    with reported():
        with working("Making a release of made-up people"):
            _run()
            for name in BESIDES:
                if importlib.util.find_spec(name.partition(".")[0]) is not None:
                    importlib.import_module(name)
        from dawa.kernels import native  # noqa: PLC0415  the run above has opened it

        tell(
            f"Loops: {native.LIBRARY}, {'for wide registers' if native.has_wide_registers() else 'for any processor'};"
            f" compiled when {'a source has changed' if native.COMPILE.exists() else 'dawa was installed'}."
        )
        modules = list(_modules())
        left = [module for module in modules if not _kept(module)]
        tell(f"Byte code: {len(modules) - len(left):,} of {len(modules):,} modules have theirs {_where()}.")
        if left:
            told = "as PYTHONDONTWRITEBYTECODE says" if sys.dont_write_bytecode else f"for example {left[0].__name__}"
            tell(
                f"The other {len(left):,} are read anew in every process ({told}).",
                "Hint: set PYTHONPYCACHEPREFIX to a folder that can be written, here and in later runs.",
            )


def _run() -> None:
    """One release of a table in a file, a question, and what would be served."""
    from dawa import cli  # noqa: PLC0415  it imports this module

    with _folder() as folder, redirect_stdout(StringIO()):
        table, out = folder / "people.csv", folder / "out"
        table.write_text("age\n" + "\n".join(str(20 + i % 60) for i in range(500)) + "\n", encoding="utf-8")
        axis = ["--column", "age", "--range", "0:120", "--epsilon", "1"]
        for arguments in (
            ["plan", str(table), *axis, "--records", "500"],
            ["release", str(table), *axis, "--out", str(out)],
            ["query", str(out), "18:65"],
        ):
            cli.app(arguments, standalone_mode=False)
        if all(importlib.util.find_spec(library) is not None for library in SERVING):
            from dawa.server import app, running  # noqa: F401, PLC0415  an extra

            app(out).openapi()


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder that is gone afterwards."""
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dawa-warm-up-"))
        except OSError as error:
            raise FolderError(
                f"No folder for temporary files can be written ({error.strerror}), and a release needs one.",
                "name one in the environment, here and in later runs: TMPDIR=/a/folder.",
            ) from None
        yield Path(folder)


def _modules() -> Iterator[ModuleType]:
    """The imported modules that are not Python's own and come from a source."""
    installed = packages_distributions()
    for name, module in sorted(sys.modules.items()):
        source = getattr(module, "__file__", None) or ""
        if name.partition(".")[0] in installed and source.endswith(".py") and Path(source).exists():
            yield module


def _kept(module: ModuleType) -> bool:
    """Whether the byte code of a module is where later processes find it."""
    return Path(importlib.util.cache_from_source(str(module.__file__))).exists()


def _where() -> str:
    return f"in {sys.pycache_prefix}" if sys.pycache_prefix else "beside their sources"
