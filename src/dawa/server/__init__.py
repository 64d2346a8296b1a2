"""Answers over HTTP, for people who build on releases.

The server sees releases and never data: everything that it answers follows from files that are already public. It only
reads, stores nothing but a count of recent work, and loads its releases once, when it starts.
"""

from os import PathLike
from typing import TYPE_CHECKING

from dawa.errors import OptionError

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["RATE", "app"]

RATE = 50.0
"""Simple requests per second that a client may send in the long run."""


def app(
    *places: str | PathLike[str],
    rate: float = RATE,
    hosts: tuple[str, ...] | None = None,
    token: str | None = None,
    proxies: tuple[str, ...] = (),
) -> "FastAPI":
    """The application that answers for the releases in these files and folders.

    Args:
        places: Release files, folders that hold one, or folders of such files and folders.
        rate: Simple requests per second that one client may send in the long run; larger ones count as several.
        hosts: Names of the server that requests may use; None accepts any name.
        token: What a request must show to be answered; None if nothing.
        proxies: Addresses of proxies whose ``X-Forwarded-For`` says who asks.

    Raises:
        ReleaseError: If there is no release, or none that can be read.
        OptionError: If the rate is not a positive number, the token is easily guessed, or the server is not installed.
    """
    needs_serve()
    from dawa.server import application, gate, shelf, throttle  # noqa: PLC0415  only servers need it

    known = None if token is None else gate.checked_token(token)
    addresses = tuple(throttle.checked_address(address) for address in proxies)
    return application.made(shelf.filled(places), rate, hosts, known, addresses)


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
