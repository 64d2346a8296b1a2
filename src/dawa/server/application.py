"""The application: its description, its handling of errors, and its paths."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Path, Request, Response
from starlette.types import Receive, Scope, Send

from dawa.errors import OptionError
from dawa.results.grouped import AnyRelease
from dawa.server import asking, browser, choosing, costs, groups, headers, models, parameters, problems
from dawa.server.gate import CLIENT, PAID, Gate
from dawa.server.problems import UnknownReleaseError
from dawa.server.shelf import Pages, Shelf, Shelved
from dawa.server.throttle import Throttle
from dawa.server.turns import RANGE_BYTES, Turns, weight_of
from dawa.version import __version__

ABOUT = """Ask differentially private releases how many records lie in a range.

Answers follow from the releases alone, so asking costs no privacy, any number of times. Ends are in the attribute's own
units; the upper end is outside the range, except for ordered categories. A refused request gets a `problem` and a
`hint`.
"""

LATER = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}}
REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"model": models.Problem, "description": "The request was not understood."},
    401: {"model": models.Problem, "description": "The server was started with a token, and the request has none."},
    408: {"model": models.Problem, "description": "The body did not arrive."},
    413: {"model": models.Problem, "description": "The body is too large."},
    422: {"model": models.Problem, "description": "The request cannot be answered."},
    429: {"model": models.Problem, "description": "The client asks for too much.", "headers": LATER},
    503: {"model": models.Problem, "description": "The server has too much to do.", "headers": LATER},
}


PARTS = "#/components/schemas/"


class Application(FastAPI):
    """FastAPI behind a gate that sees every request first and every response last."""

    gate: Gate | None = None

    def openapi(self) -> dict[str, Any]:
        """The description of all paths, and of the one body that they take."""
        if self.openapi_schema is None:
            asked = models.Asked.model_json_schema(ref_template=PARTS + "{model}")
            parts = super().openapi()["components"]["schemas"]
            parts.update(asked.pop("$defs"), Asked=asked)
        described: dict[str, Any] = super().openapi()
        return described

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if self.gate is None or scope["type"] != "http":
            await super().__call__(scope, receive, send)
        else:
            await self.gate(scope, receive, send)


def made(
    shelf: Shelf,
    rate: float,
    hosts: tuple[str, ...] | None = None,
    token: str | None = None,
    proxies: tuple[str, ...] = (),
) -> FastAPI:
    """The application that answers for these releases.

    Args:
        shelf: The releases to serve.
        rate: Simple requests per second that one client may send in the long run.
        hosts: Names of the server that requests may use; None accepts any name.
        token: What a request must show to be answered; None if nothing.
        proxies: Addresses of proxies whose ``X-Forwarded-For`` says who asks.

    Raises:
        OptionError: If the rate is not a positive number.
    """
    app = Application(
        title="dawa",
        version=__version__,
        description=ABOUT,
        docs_url=None,  # FastAPI's pages load scripts from other servers
        redoc_url=None,
        openapi_url=None,  # ours refuses unknown parameters, as all paths do
        redirect_slashes=False,  # a redirect would go wherever the request says that the server is
        default_response_class=problems.PlainJSON,
        responses=REFUSED,
    )
    problems.handled(app)
    work = Work(Turns(), Throttle(rate))
    app.include_router(paths(shelf, work))
    app.include_router(_described(app))
    app.include_router(browser.router(app, shelf, _only()))
    health = problems.PlainJSON(_health(shelf).model_dump())
    app.gate = Gate(
        super(Application, app).__call__,
        work.buckets,
        health,
        hosts=hosts,
        token=token,
        proxies=proxies,
        crowded=work.turns.crowded,
    )
    return app


@dataclass(frozen=True)
class Work:
    """What a worker computes for its clients, and what they may still ask for."""

    turns: Turns
    buckets: Throttle

    def owe(self, request: Request, cost: float) -> None:
        """Take tokens for the rest of a request that has paid for its beginning."""
        self.buckets.owe(request.scope[CLIENT], max(0.0, cost))

    async def done(self, request: Request, steps: Iterator[Any], cost: float, weight: float = 1.0) -> list[Any]:
        """What all steps of a computation give, in turn with other clients."""

        async def gone() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass

        return await self.turns.run(request.scope[CLIENT], steps, weight, gone, short=cost <= costs.STEP)

    async def last(self, request: Request, cost: float, steps: Iterable[Any]) -> Any:  # noqa: ANN401
        """What the last step of a computation gives, after it is paid for."""
        if cost > request.scope[PAID]:
            self.buckets.take(request.scope[CLIENT], cost - request.scope[PAID])
        return (await self.done(request, iter(steps), cost))[-1]

    async def once(self, request: Request, cost: float, compute: Callable[[], Any], before: Iterable[Any] = ()) -> Any:  # noqa: ANN401
        """What a computation in one step gives, after it is paid for, and after the steps that come before it."""
        return await self.last(request, cost, chain(before, (compute() for _ in range(1))))


MISSING: dict[int | str, dict[str, Any]] = {404: {"model": models.Problem, "description": "There is no such release."}}
SAME: dict[int | str, dict[str, Any]] = {304: {"description": "It is the one that If-None-Match names."}}
FILE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file.", "content": {"application/json": {"schema": {"type": "object"}}}}
}

BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": {"$ref": f"{PARTS}Asked"}}}}}
"""How the body with ranges is described; FastAPI would read it outside of turns."""

PAGE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The page.", "content": {"text/html": {"schema": {"type": "string"}}}}
}

JSON = "application/json"


def paths(shelf: Shelf, work: Work) -> APIRouter:
    """All paths, for these releases."""
    router = APIRouter()

    @router.get("/health", dependencies=[_only()])
    async def health() -> models.Health:
        """Whether the server is running."""
        return _health(shelf)

    @router.get("/releases", dependencies=[_only()])
    async def releases(request: Request) -> models.Releases:
        """All releases."""
        cost = len(shelf.releases) * costs.WRITING / costs.UNIT
        summaries = await work.once(request, cost, lambda: [asking.summary(one) for one in shelf.releases.values()])
        return models.Releases(releases=summaries)

    router.include_router(_of_one(shelf, work), prefix="/releases/{name}", responses=MISSING)
    return router


def _described(app: FastAPI) -> APIRouter:
    """The path to the description of all paths."""
    router = APIRouter()

    @router.get("/openapi.json", include_in_schema=False, dependencies=[_only()])
    async def openapi(request: Request) -> Response:
        """The description; if the application is mounted in another, with its place there."""
        place = request.scope.get("root_path", "").rstrip("/")
        return problems.PlainJSON({**app.openapi(), **({"servers": [{"url": place}]} if place else {})})

    return router


def _health(shelf: Shelf) -> models.Health:
    return models.Health(status="ok", releases=len(shelf.releases))


def _named(shelf: Shelf, name: str) -> Shelved:
    """A release by its name."""
    if name not in shelf.releases:
        raise UnknownReleaseError("There is no release of that name.", "see the names in /releases.")
    return shelf.releases[name]


def _of_one(shelf: Shelf, work: Work) -> APIRouter:
    """The paths of one release."""
    router = APIRouter()
    examples = list(shelf.releases)[:3]

    async def find(name: Annotated[str, Path(description="A name from /releases.", examples=examples)]) -> Shelved:
        return _named(shelf, name)

    Whole = Annotated[Shelved, Depends(find)]  # noqa: N806  a type

    async def choose(whole: Whole, group: choosing.Group = None) -> Shelved:
        return whole.of(groups.chosen(whole.release, group))

    Found = Annotated[Shelved, Depends(choose)]  # noqa: N806  likewise

    @router.get("", dependencies=[_only(*choosing.GROUP, listed=choosing.GROUP)])
    async def release(request: Request, whole: Whole, found: Found) -> models.Release:
        """What to know about a release before asking it: axes, bounds, groups, epsilon, records, privacy statement."""
        cost = 2 * costs.of_call(found.release)
        described: models.Release = await work.last(request, cost, asking.description(found, whole.release))
        return described

    @router.get("/apart", dependencies=[_only("confidence", *choosing.GROUP, listed=choosing.GROUP)])
    async def apart(request: Request, found: Found, confidence: parameters.Confidence) -> models.Apart:
        """How many records are in no range: missing, outside, not listed, or in no group. No answer counts them."""
        cost = 2 * costs.of_call(found.release)
        counted: models.Apart = await work.last(request, cost, asking.apart(found.release, confidence))
        return counted

    router.include_router(_answers(Whole, Found, work))
    router.include_router(_comparisons(shelf, Whole, Found, work))
    router.include_router(_to_keep(Whole, Found, work))
    return router


def _answers(Whole: Any, Found: Any, work: Work) -> APIRouter:  # noqa: N803, ANN401  the type of a release that was found
    """The paths to the numbers of one release."""
    router = APIRouter()

    async def answered(
        request: Request, release: AnyRelease, wanted: Sequence[str | asking.Ends], confidence: float
    ) -> bytes:
        """The answers in JSON, with commas in between."""
        texts = sum(isinstance(one, str) for one in wanted)
        weight, reading = weight_of(len(wanted)), costs.of_reading(release, len(wanted) + texts)
        costs.check(reading, len(wanted))
        work.owe(request, reading - request.scope[PAID])

        async def all_of(steps: Iterator[Any]) -> list[Any]:
            return list(steps) if reading <= 1 else await work.done(request, steps, reading, weight)

        asked = list(chain.from_iterable(await all_of(asking.read_all(release, wanted))))
        parts = await all_of(asking.spans(release, asked))
        each = costs.checked(release, [spans for part in parts for spans in part])
        cost = sum(each) + costs.of_call(release)
        work.owe(request, cost - 1)
        rows = _json(asking.answers(release, asked, each, confidence))
        return b",".join(filter(None, await work.done(request, rows, cost + reading, weight)))

    @router.get(
        "/answer",
        response_model=models.Answer,
        dependencies=[_only(*choosing.ENDS, *choosing.GROUP, listed=(*choosing.TWICE, *choosing.GROUP))],
    )
    async def answer(
        request: Request, found: Found, ends: choosing.Ends, confidence: parameters.Confidence
    ) -> Response:
        """How many records lie in a range, with error bars."""
        return Response(await answered(request, found.release, [ends], confidence), media_type=JSON)

    @router.get(
        "/by-group",
        response_model=models.ByGroup,
        dependencies=[_only(*choosing.ENDS, listed=choosing.TWICE)],
    )
    async def by_group(
        request: Request, found: Whole, ends: choosing.Ends, confidence: parameters.Confidence
    ) -> Response:
        """How many records of each group lie in a range, and how many of all groups together."""
        release = groups.required(found.release)
        together = await answered(request, release, [ends], confidence)
        lo, hi = asking.read(release, ends)
        reading = costs.of_reading(release, len(release))
        (spans,) = next(iter(asking.spans(release, [(lo, hi)])))
        cost = reading + costs.of_call(release) + costs.of_range(release, spans)
        work.owe(request, cost)
        parts = groups.by_group(release, *asking.whole(lo, hi), cost / len(release), confidence)
        rows = b",".join(await work.done(request, _json(parts), cost, weight_of(len(release))))
        by = problems.written(list(release.privacy.by))
        return Response(b'{"by":%b,"groups":[%b],"together":%b}' % (by, rows, together), media_type=JSON)

    @router.post(
        "/answers",
        response_model=models.Answers,
        openapi_extra=BODY,
        dependencies=[_only(*choosing.GROUP, listed=choosing.GROUP)],
    )
    async def answers(request: Request, found: Found) -> Response:
        """How many records lie in each of many ranges. Nothing is stored."""
        body, kind = await request.body(), request.headers.get("content-type", "")
        cost, weight = costs.of_body(len(body)), weight_of(len(body) / RANGE_BYTES)
        (asked,) = await work.done(request, (models.asked(body, kind) for _ in range(1)), cost, weight)
        wanted = [one if isinstance(one, str) else (_listed(one.lo), _listed(one.hi)) for one in asked.ranges]
        rows = await answered(request, found.release, wanted, parameters.sure(asked.confidence))
        return Response(b'{"answers":[%b]}' % rows, media_type=JSON)

    router.include_router(_statistics(Found, work))

    @router.get(
        "/buckets",
        response_model=models.Buckets,
        dependencies=[_only("first", "count", *choosing.GROUP, listed=choosing.GROUP)],
    )
    async def buckets(
        request: Request,
        found: Found,
        first: parameters.First,
        count: parameters.Count,
    ) -> Response:
        """The buckets along one axis, a page at a time."""
        rel = groups.one(found.release)
        total = len(rel.estimate.buckets)
        cost = costs.of_buckets(rel, min(count, total))
        work.owe(request, cost - 1)
        rows = await work.done(request, _json(asking.buckets(rel, first, count)), cost, weight_of(count))
        start = problems.written({"total": total, "first": first, "buckets": []})
        return Response(b"%b%b]}" % (start[:-2], b",".join(rows)), media_type=JSON)

    return router


def _statistics(Found: Any, work: Work) -> APIRouter:  # noqa: N803, ANN401  the type of a release that was found
    """The paths to what follows from the numbers of one release."""
    router = APIRouter()

    @router.get("/quantile", dependencies=[_only("fraction", "confidence", *choosing.GROUP, listed=choosing.GROUP)])
    async def quantile(
        request: Request, found: Found, fraction: parameters.Fraction, confidence: parameters.Confidence
    ) -> models.Quantile:
        """The value below which a fraction of the records lies, along one axis; of those that have a place on it."""
        rel = groups.one(found.release)
        cost = costs.of_quantiles(rel, 1)
        steps = asking.prepared(rel)
        values = await work.once(request, cost, lambda: asking.quantiles(rel, [fraction], confidence), steps)
        one: models.Quantile = values[0]
        return one

    @router.get(
        "/quantiles",
        dependencies=[_only("fraction", "confidence", *choosing.GROUP, listed=("fraction", *choosing.GROUP))],
    )
    async def quantiles(
        request: Request, found: Found, fraction: parameters.Fractions, confidence: parameters.Confidence
    ) -> models.Quantiles:
        """Several quantiles, each with an interval of its own."""
        rel = groups.one(found.release)
        cost = costs.of_quantiles(rel, len(fraction))
        steps = asking.prepared(rel)
        values = await work.once(request, cost, lambda: asking.quantiles(rel, fraction, confidence), steps)
        return models.Quantiles(quantiles=values)

    @router.get("/values", dependencies=[_only("confidence", *choosing.GROUP, listed=choosing.GROUP)])
    async def values(request: Request, found: Found, confidence: parameters.Confidence) -> models.Values:
        """The mean and the sum of the values along one axis of numbers; of records that have a place on it."""
        rel = groups.one(found.release)
        both: models.Values = await work.once(request, costs.of_values(rel), lambda: asking.values(rel, confidence))
        return both

    @router.get("/band", dependencies=[_only("first", "count", "confidence", *choosing.GROUP, listed=choosing.GROUP)])
    async def band(
        request: Request,
        found: Found,
        first: parameters.First,
        count: parameters.Count,
        confidence: parameters.Confidence,
    ) -> models.Band:
        """How many records lie up to every bound along one axis, with limits that hold for all bounds at once."""
        rel = groups.one(found.release)
        cost = costs.of_band(rel) + costs.of_buckets(rel, min(count, len(rel.estimate.buckets)))
        limits: models.Band = await work.once(
            request, cost, lambda: asking.band(rel, first, count, confidence), asking.drawn(rel)
        )
        return limits

    @router.get(
        "/share", dependencies=[_only(*choosing.ENDS, *choosing.GROUP, listed=(*choosing.TWICE, *choosing.GROUP))]
    )
    async def share(
        request: Request, found: Found, ends: choosing.Ends, confidence: parameters.Confidence
    ) -> models.Statistic:
        """The part of all records that lies in a range; of those that have a place on every axis."""
        rel = groups.one(found.release)
        lo, hi = asking.read(rel, ends)
        cost = 2 * costs.of_call(rel) + 3 * sum(costs.checked(rel, next(iter(asking.spans(rel, [(lo, hi)])))))
        part: models.Statistic = await work.once(request, cost, lambda: asking.share(rel, lo, hi, confidence))
        return part

    return router


def _comparisons(shelf: Shelf, Whole: Any, Found: Any, work: Work) -> APIRouter:  # noqa: N803, ANN401  types of releases
    """The path to two ranges at once."""
    router = APIRouter()
    several = ("range", *choosing.GROUP, "with-group")

    @router.get("/compare", dependencies=[_only(*several, "with", "confidence", listed=several)])
    async def compare(
        request: Request,
        whole: Whole,
        found: Found,
        two: choosing.Two,
        confidence: parameters.Confidence,
        beside: choosing.Other = None,
        its_group: choosing.OtherGroup = None,
    ) -> models.Comparison:
        """How many more records lie in one range than in another, and how many times as many."""
        alone = beside is None and its_group is None
        named = whole if beside is None else _named(shelf, beside)
        one = groups.one(found.release)
        other = one if alone else groups.one(groups.chosen(named.release, its_group))
        pair = two if alone or len(two) == 2 else two * 2
        if len(pair) < 2:
            raise OptionError("A comparison takes two ranges, and there is 1.", "pass range twice, or range and with.")
        first, second = asking.read(one, pair[0]), asking.read(other, pair[1])
        spans = [(rel, next(iter(asking.spans(rel, [ends])))) for rel, ends in ((one, first), (other, second))]
        cost = sum(costs.of_comparing(rel) + 3 * sum(costs.checked(rel, span)) for rel, span in spans)
        said: models.Comparison = await work.once(
            request, cost, lambda: asking.comparison(one, first, second, other, confidence)
        )
        return said

    return router


def _json(parts: Iterator[Sequence[models.Told]]) -> Iterator[bytes]:
    """Rows in JSON, a step at a time, so that writing them is part of each step."""
    for part in parts:
        yield b",".join(problems.written(row.model_dump()) for row in part)


def _to_keep(Whole: Any, Found: Any, work: Work) -> APIRouter:  # noqa: N803, ANN401  the type of a release that was found
    """The paths to all of a release at once."""
    router = APIRouter()
    pages = Pages()

    @router.get("/file", response_class=Response, responses=FILE | SAME, dependencies=[_only()])
    async def file(found: Whole) -> Response:
        """The release file itself, which dawa.load reads."""
        return headers.Kept(found.document, JSON, f'attachment; filename="{found.name}.json"')

    @router.get(
        "/page",
        response_class=Response,
        responses=PAGE | SAME,
        dependencies=[_only(*choosing.GROUP, listed=choosing.GROUP)],
    )
    async def page(request: Request, found: Found) -> Response:
        """A page for people, on which they drag a range and read the answer."""
        document = pages.known(found)
        if document is None:
            costs.check_page(found.release, found.name)
            cost, drawing = costs.of_page(found.release), asking.drawn(found.release)
            document = await work.once(request, cost, lambda: pages.page(found), drawing)
        return headers.Kept(document, "text/html")

    return router


def _only(*names: str, listed: tuple[str, ...] = ()) -> Any:  # noqa: ANN401  a dependency of FastAPI's
    """Refuse unknown parameters."""

    async def check(request: Request) -> None:
        for name, times in Counter(name for name, _ in request.query_params.multi_items()).items():
            if name not in names:
                known = f"leave it out; this path takes {', '.join(names)}." if names else "leave it out."
                raise OptionError(f"There is no parameter {name[:100]!r} here.", known)
            if times > 1 and name not in listed:
                raise OptionError(f"The parameter {name!r} is given twice.", "give it once.")

    return Depends(check)


def _listed(ends: Any) -> list[Any]:  # noqa: ANN401  one end, or one for each axis
    return ends if isinstance(ends, list) else [ends]
