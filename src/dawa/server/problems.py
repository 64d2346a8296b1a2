"""The answer to every wrong request: a sentence and a hint, as everywhere in dawa, and never a traceback."""

import json
import math
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from dawa.errors import DawaError, ReleaseError
from dawa.server import models
from dawa.server.throttle import TooMuchError
from dawa.server.turns import BusyError, GoneError

FIELDS = {*models.Asked.model_fields, *models.Range.model_fields}
KNOWN = {
    400: "The body is not the expected JSON.",
    404: "There is nothing at this path.",
    405: "This path does not take that method.",
}
"""What is wrong, by status, if FastAPI says no more."""

MOST_TOLD = 1000
"""Characters of a sentence: it may quote what was asked."""

LOOK = "see /openapi.json for what is expected."


class UnknownReleaseError(ReleaseError):
    """A release that is not served."""


class PlainJSON(JSONResponse):
    """JSON in ASCII: names of columns may hold characters that no text encoding can write."""

    def render(self, content: Any) -> bytes:  # noqa: ANN401  JSON
        """The bytes; floats with the digits that read back to the same float."""
        return written(content)


def written(content: Any) -> bytes:  # noqa: ANN401  JSON
    """JSON as bytes."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def answer(status: int, problem: str, hint: str, headers: dict[str, str] | None = None) -> PlainJSON:
    """A refusal."""
    short = {"problem": _short(problem), "hint": _short(hint)}
    return PlainJSON(short, status, headers)


def _short(sentence: str) -> str:
    return sentence if len(sentence) <= MOST_TOLD else f"{sentence[: MOST_TOLD // 2]} … {sentence[-MOST_TOLD // 2 :]}"


def handled(app: FastAPI) -> None:
    """Make the application turn errors into refusals."""
    app.add_exception_handler(TooMuchError, _too_much)
    app.add_exception_handler(MemoryError, _too_large)
    app.add_exception_handler(GoneError, _gone)
    app.add_exception_handler(DawaError, _dawa)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _other)
    app.add_exception_handler(Exception, _defect)


async def _dawa(_request: Request, error: Exception) -> PlainJSON:
    assert isinstance(error, DawaError)  # noqa: S101  registered for these errors only
    return answer(404 if isinstance(error, UnknownReleaseError) else 422, error.problem, error.hint)


async def _too_much(_request: Request, error: Exception) -> PlainJSON:
    """Why to come back later, and when."""
    assert isinstance(error, TooMuchError)  # noqa: S101  registered for these errors only
    status = 503 if isinstance(error, BusyError) else 429
    return answer(status, error.problem, error.hint, {"Retry-After": str(max(1, math.ceil(error.seconds)))})


async def _too_large(_request: Request, _error: Exception) -> PlainJSON:
    return answer(
        503,
        "The server has too little memory for this.",
        "ask for fewer or smaller ranges at a time, or again later.",
        {"Retry-After": "10"},
    )


async def _gone(_request: Request, _error: Exception) -> PlainJSON:
    """For nobody: the client has left."""
    return answer(400, "The request broke off.", "send it again.")


async def _invalid(_request: Request, error: Exception) -> PlainJSON:
    """A sentence about the first thing in a request that does not fit the OpenAPI description."""
    assert isinstance(error, RequestValidationError)  # noqa: S101  registered for these errors only
    first = error.errors()[0]
    place, *path = first["loc"] or ("request",)
    if first["type"] == "json_invalid" or not path:
        return answer(422, "The body is not the expected JSON.", LOOK)
    where = ".".join(str(part) for part in path)[:200]
    if first["type"] == "missing":
        return answer(422, f"The {place} lacks {where!r}.", LOOK)
    reason = first["msg"][:1].lower() + first["msg"][1:]
    if place == "body" and first["type"] != "extra_forbidden" and any(part not in FIELDS for part in _names(path)):
        where, reason = ".".join(str(part) for part in _fields(path)), "it is not a number, text, or a list of them"
    return answer(422, f"{where!r} in the {place} is not valid: {reason}.", LOOK)


def _names(path: list[Any]) -> list[str]:
    return [part for part in path if isinstance(part, str)]


def _fields(path: list[Any]) -> list[Any]:
    """The place in the body, without the kinds of values that were tried there."""
    return [part for part in path if isinstance(part, int) or part in FIELDS]


async def _other(_request: Request, error: Exception) -> PlainJSON:
    """A path or a method that does not exist, and other errors of HTTP."""
    assert isinstance(error, HTTPException)  # noqa: S101  registered for these errors only
    problem = KNOWN.get(error.status_code, f"{HTTPStatus(error.status_code).phrase}.")
    return answer(error.status_code, problem, LOOK, dict(error.headers or {}))


async def _defect(_request: Request, error: Exception) -> PlainJSON:
    problem = f"Something inside dawa went wrong ({type(error).__name__})."
    return answer(500, problem, "this is a defect: please report it.")
