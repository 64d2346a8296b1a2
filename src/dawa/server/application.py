"""The application: its description, its limits, its handling of errors, and its paths."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Path, Query, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import Field

from dawa import limits
from dawa.errors import OptionError
from dawa.limits import MOST_BUCKETS_TOLD
from dawa.server import asking, models, problems
from dawa.server.problems import UnknownReleaseError
from dawa.server.shelf import Shelf, Shelved
from dawa.server.throttle import Limited, Throttle
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
        shelf: The releases to serve.
        rate: Requests per second that one client may send in the long run.
        hosts: Names of the server that requests may use; None accepts any name.

    Raises:
        OptionError: If the rate is not a positive number.
    """
    app = FastAPI(
        title="dawa",
        version=__version__,
        description=ABOUT,
        docs_url=None,  # FastAPI's pages load scripts from other servers
        redoc_url=None,
        default_response_class=problems.PlainJSON,
        responses=REFUSED,
    )
    problems.handled(app)
    app.include_router(paths(shelf))
    app.add_middleware(Limited, buckets=Throttle(rate), hosts=hosts)
    return app


MISSING: dict[int | str, dict[str, Any]] = {404: {"model": models.Problem, "description": "There is no such release."}}
FILE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file.", "content": {"application/json": {"schema": {"type": "object"}}}}
}

PAGE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The page.", "content": {"text/html": {"schema": {"type": "string"}}}}
}

Point = Annotated[str, Field(max_length=models.LONGEST_END)]
Confident = Annotated[float, Query(ge=0.5, lt=1, description="How sure the interval is.")]
SOME = {"min_length": 1, "max_length": limits.MOST_AXES}


def paths(shelf: Shelf) -> APIRouter:
    """All paths, for these releases."""
    router = APIRouter()

    @router.get("/health", dependencies=[_only()])
    def health() -> models.Health:
        """Whether the server is running."""
        return models.Health(status="ok", releases=len(shelf.releases))

    @router.get("/releases", dependencies=[_only()])
    def releases() -> models.Releases:
        """All releases."""
        return models.Releases(releases=[asking.summary(shelved) for shelved in shelf.releases.values()])

    router.include_router(_of_one(shelf), prefix="/releases/{name}", responses=MISSING)
    return router


def _of_one(shelf: Shelf) -> APIRouter:
    """The paths of one release."""
    router = APIRouter()
    examples = list(shelf.releases)[:3]

    def find(name: Annotated[str, Path(description="A name from /releases.", examples=examples)]) -> Shelved:
        if name not in shelf.releases:
            raise UnknownReleaseError("There is no release of that name.", "see the names in /releases.")
        return shelf.releases[name]

    Found = Annotated[Shelved, Depends(find)]  # noqa: N806  a type

    @router.get("", dependencies=[_only()])
    def release(found: Found) -> models.Release:
        """What to know about a release before asking it: axes, bounds, epsilon, records, privacy statement."""
        return asking.description(found)

    @router.get("/answer", dependencies=[_only("lo", "hi", "confidence", listed=("lo", "hi"))])
    def answer(
        found: Found,
        lo: Annotated[list[Point], Query(description="The lower end; over several axes, once per axis.", **SOME)],
        hi: Annotated[list[Point], Query(description="The upper end.", **SOME)],
        confidence: Confident = 0.95,
    ) -> models.Answer:
        """How many records lie in a range, with error bars."""
        return asking.answers(found.release, [(lo, hi)], confidence)[0]

    @router.post("/answers", dependencies=[_only()])
    def answers(found: Found, asked: models.Asked) -> models.Answers:
        """How many records lie in each of many ranges. Nothing is stored."""
        wanted = [(_listed(one.lo), _listed(one.hi)) for one in asked.ranges]
        return models.Answers(answers=asking.answers(found.release, wanted, asked.confidence))

    @router.get("/apart", dependencies=[_only("confidence")])
    def apart(found: Found, confidence: Confident = 0.95) -> models.Apart:
        """How many records are in no range: missing, outside or not listed. No answer counts them."""
        return asking.apart(found.release, confidence)

    @router.get("/quantile", dependencies=[_only("fraction")])
    def quantile(
        found: Found, fraction: Annotated[float, Query(ge=0, le=1, description="0.5 is the median.", examples=[0.5])]
    ) -> models.Quantile:
        """The value below which a fraction of the records lies, along one axis; of those that have a place on it."""
        return asking.quantile(found.release, fraction)

    @router.get("/buckets", dependencies=[_only("first", "count")])
    def buckets(
        found: Found,
        first: Annotated[int, Query(ge=0, le=2**53, description="The number of the first bucket.")] = 0,
        count: Annotated[int, Query(ge=1, le=MOST_BUCKETS_TOLD, description="How many buckets at most.")] = 1000,
    ) -> models.Buckets:
        """The buckets along one axis, a page at a time."""
        return asking.buckets(found.release, first, count)

    router.include_router(_to_keep(Found))
    return router


def _to_keep(Found: Any) -> APIRouter:  # noqa: N803, ANN401  the type of a release that was found
    """The paths to all of a release at once."""
    router = APIRouter()

    @router.get("/file", response_class=Response, responses=FILE, dependencies=[_only()])
    def file(found: Found) -> Response:
        """The release file itself, which dawa.load reads."""
        disposition = f'attachment; filename="{found.name}.json"'
        return Response(found.file, media_type="application/json", headers={"Content-Disposition": disposition})

    @router.get("/page", response_class=Response, responses=PAGE, dependencies=[_only()])
    def page(found: Found) -> HTMLResponse:
        """A page for people, on which they drag a range and read the answer."""
        return HTMLResponse(found.page)

    return router


def _only(*names: str, listed: tuple[str, ...] = ()) -> Any:  # noqa: ANN401  a dependency of FastAPI's
    """Refuse unknown parameters."""

    def check(request: Request) -> None:
        given = [name for name, _ in request.query_params.multi_items()]
        for name in given:
            if name not in names:
                known = f"leave it out; this path takes {', '.join(names)}." if names else "leave it out."
                raise OptionError(f"There is no parameter {name!r} here.", known)
            if given.count(name) > 1 and name not in listed:
                raise OptionError(f"The parameter {name!r} is given twice.", "give it once.")

    return Depends(check)


def _listed(ends: Any) -> list[Any]:  # noqa: ANN401  one end, or one for each axis
    return ends if isinstance(ends, list) else [ends]
