"""The application: its description, what stands before its paths, and what comes of errors."""

from typing import Any

from fastapi import FastAPI

from dawa.server import models, problems, routes
from dawa.server.limits import Buckets, Limited
from dawa.server.shelf import Shelf
from dawa.version import __version__

ABOUT = """Ask differentially private releases how many records lie in a range.

Answers follow from the releases alone, so asking costs no privacy, any number of times. Ends are in the attribute's own
units; the upper end is outside the range, except for ordered categories. A refused request gets a `problem` and a
`hint`.
"""

REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"model": models.Problem, "description": "The request was not understood."},
    408: {"model": models.Problem, "description": "The body did not arrive."},
    413: {"model": models.Problem, "description": "The body is too large."},
    422: {"model": models.Problem, "description": "The request cannot be answered."},
    429: {
        "model": models.Problem,
        "description": "Too many requests.",
        "headers": {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}},
    },
}


def made(shelf: Shelf, rate: float, hosts: tuple[str, ...] | None = None) -> FastAPI:
    """The application that answers for these releases.

    Args:
        shelf: What is served.
        rate: Requests per second that one client may send in the long run.
        hosts: Names that requests may call the server by; None takes any.

    Raises:
        OptionError: If the rate is no positive number.
    """
    app = FastAPI(
        title="dawa",
        version=__version__,
        description=ABOUT,
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        default_response_class=problems.PlainJSON,
        responses=REFUSED,
    )
    problems.handled(app)
    app.include_router(routes.made(shelf))
    app.add_middleware(Limited, buckets=Buckets(rate), hosts=hosts)
    return app
