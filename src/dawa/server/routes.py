"""The paths: what each takes and gives."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import Field

from dawa.errors import OptionError
from dawa.server import asking, models
from dawa.server.problems import UnknownReleaseError
from dawa.server.shelf import Shelf, Shelved

MOST_BUCKETS = 10_000
"""Buckets in one response."""

MISSING: dict[int | str, dict[str, Any]] = {404: {"model": models.Problem, "description": "There is no such release."}}
FILE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file.", "content": {"application/json": {"schema": {"type": "object"}}}}
}

PAGE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The page.", "content": {"text/html": {"schema": {"type": "string"}}}}
}

Point = Annotated[str, Field(max_length=models.LONGEST_END)]
SOME = {"min_length": 1, "max_length": models.MOST_AXES}


def made(shelf: Shelf) -> APIRouter:
    """All paths, for these releases."""
    router = APIRouter()

    @router.get("/health", dependencies=[_only()])
    def health() -> models.Health:
        """Whether the server is there."""
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
            raise UnknownReleaseError("There is no release of that name.", "see their names in /releases.")
        return shelf.releases[name]

    Found = Annotated[Shelved, Depends(find)]  # noqa: N806  a type

    @router.get("", dependencies=[_only()])
    def release(found: Found) -> models.Release:
        """What there is to know of a release before it is asked: axes, bounds, epsilon, privacy statement."""
        return asking.description(found)

    @router.get("/answer", dependencies=[_only("lo", "hi", "confidence", listed=("lo", "hi"))])
    def answer(
        found: Found,
        lo: Annotated[list[Point], Query(description="The lower end; over several axes once for each.", **SOME)],
        hi: Annotated[list[Point], Query(description="The upper end.", **SOME)],
        confidence: Annotated[float, Query(ge=0.5, lt=1, description="How sure the interval is.")] = 0.95,
    ) -> models.Answer:
        """How many records lie in a range, with error bars."""
        return asking.answers(found.release, [(lo, hi)], confidence)[0]

    @router.post("/answers", dependencies=[_only()])
    def answers(found: Found, asked: models.Asked) -> models.Answers:
        """How many records lie in each of many ranges. Nothing is stored."""
        wanted = [(_listed(one.lo), _listed(one.hi)) for one in asked.ranges]
        return models.Answers(answers=asking.answers(found.release, wanted, asked.confidence))

    @router.get("/quantile", dependencies=[_only("fraction")])
    def quantile(
        found: Found, fraction: Annotated[float, Query(ge=0, le=1, description="0.5 is the median.", examples=[0.5])]
    ) -> models.Quantile:
        """The value below which a fraction of all records lies, along one axis."""
        return asking.quantile(found.release, fraction)

    @router.get("/buckets", dependencies=[_only("first", "count")])
    def buckets(
        found: Found,
        first: Annotated[int, Query(ge=0, le=2**53, description="The number of the first one.")] = 0,
        count: Annotated[int, Query(ge=1, le=MOST_BUCKETS, description="How many at most.")] = 1000,
    ) -> models.Buckets:
        """The buckets along one axis, a page at a time."""
        return asking.buckets(found.release, first, count)

    @router.get("/file", response_class=Response, responses=FILE, dependencies=[_only()])
    def file(found: Found) -> Response:
        """The release itself, as dawa.load reads it."""
        disposition = f'attachment; filename="{found.name}.json"'
        return Response(found.file, media_type="application/json", headers={"Content-Disposition": disposition})

    @router.get("/page", response_class=Response, responses=PAGE, dependencies=[_only()])
    def page(found: Found) -> HTMLResponse:
        """A page for people, on which they drag a range and read the answer."""
        return HTMLResponse(found.page)

    return router


def _only(*names: str, listed: tuple[str, ...] = ()) -> Any:  # noqa: ANN401  a dependency of FastAPI's
    """Refuse parameters that nobody would read."""

    def check(request: Request) -> None:
        given = [name for name, _ in request.query_params.multi_items()]
        for name in given:
            if name not in names:
                known = f"leave it out; known are {', '.join(names)}." if names else "leave it out."
                raise OptionError(f"There is no parameter {name!r} here.", known)
            if given.count(name) > 1 and name not in listed:
                raise OptionError(f"The parameter {name!r} is given twice.", "give it once.")

    return Depends(check)


def _listed(ends: Any) -> list[Any]:  # noqa: ANN401  one end, or one for each axis
    return ends if isinstance(ends, list) else [ends]
