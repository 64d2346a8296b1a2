"""Libraries that only some uses need: what is missing is told at once, with the extra that brings it.

``pip install dawa`` is enough to estimate, to ask a release and to look at it. Making one from a table needs engines
and the ledger's database, which are twice as large; they come with an extra.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from dawa.errors import InstallationError

TABLES = ("ibis", "duckdb", "pyarrow", "sqlglot")
LEDGER = ("sqlalchemy",)
PICTURES = ("matplotlib",)
SIGNING = ("cryptography",)

BROUGHT_BY = {
    **dict.fromkeys((*TABLES, *LEDGER), "release"),
    **dict.fromkeys(PICTURES, "plots"),
    **dict.fromkeys(SIGNING, "signing"),
    "psycopg": "postgres",
    "pyspark": "spark",
    "fastapi": "serve",
    "uvicorn": "serve",
}
"""Which extra brings a library."""


def needed(what: str, names: tuple[str, ...], extra: str | None = None) -> None:
    """Refuse to begin something for which a library is missing.

    Args:
        what: The beginning of a sentence, such as "Reading a table".
        names: The libraries.
        extra: The extra to install, if it is not the one that brings the missing library alone.

    Raises:
        InstallationError: If one of them is not installed.
    """
    for name in names:
        if find_spec(name) is None:
            raise _missing(what, name, extra or BROUGHT_BY[name])


def explained(error: ModuleNotFoundError) -> InstallationError | None:
    """The same for an import that failed; None if it was not one of these libraries."""
    name = (error.name or "").partition(".")[0]
    return _missing("This", name, BROUGHT_BY[name]) if name in BROUGHT_BY else None


def explaining(imported: Callable[[str], Any]) -> Callable[[str], Any]:
    """What imports a name when it is first used, and says which extra brings what is missing for it."""

    def attribute(name: str) -> Any:  # noqa: ANN401  whatever it is called
        try:
            return imported(name)
        except ModuleNotFoundError as error:
            raise explained(error) or error from None

    return attribute


def _missing(what: str, name: str, extra: str) -> InstallationError:
    return InstallationError(f"{what} needs {name}, which is not installed.", f"pip install 'dawa[{extra}]'.")
