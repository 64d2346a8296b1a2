"""Answers over HTTP, for people who build on releases.

The server sees releases and never data: everything that it answers follows from files that are already public. It only
reads, stores nothing but a count of recent requests, and loads its releases once, when it starts.
"""

from os import PathLike
from typing import TYPE_CHECKING

from dawa.errors import OptionError

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["RATE", "app"]

RATE = 50.0
"""Requests per second that a client may send in the long run."""


def app(*places: str | PathLike[str], rate: float = RATE, hosts: tuple[str, ...] | None = None) -> "FastAPI":
    """The application that answers for the releases in these files and folders.

    Args:
        places: Release files, folders that hold one, or folders of such files and folders.
        rate: Requests per second that one client may send in the long run.
        hosts: Names of the server that requests may use; None accepts any name.

    Raises:
        ReleaseError: If there is no release, or none that can be read.
        OptionError: If the rate is not a positive number, or the server is not installed.
    """
    needs_serve()
    from dawa.server import application, shelf  # noqa: PLC0415  only servers need it

    return application.made(shelf.filled(places), rate=rate, hosts=hosts)


def needs_serve() -> None:
    """Check that FastAPI and Uvicorn are installed.

    Raises:
        OptionError: If they are not.
    """
    try:
        import fastapi  # noqa: F401, PLC0415  an extra
        import uvicorn  # noqa: F401, PLC0415  an extra
    except ModuleNotFoundError:
        raise OptionError(
            "Serving needs FastAPI and Uvicorn, which are not installed.", "pip install 'dawa[serve]'."
        ) from None
