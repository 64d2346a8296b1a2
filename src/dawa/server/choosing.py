"""Which ranges of which groups a request is about, as its query says: ends, text as on the command line, groups."""

from typing import Annotated

from fastapi import Depends, Query
from fastapi.exceptions import RequestValidationError
from pydantic import Field

from dawa import limits
from dawa.errors import OptionError
from dawa.server import asking, models

Point = Annotated[str, Field(max_length=models.LONGEST_END)]
TWICE = ("lo", "hi")
GROUP = ("group",)
SOME = {"min_length": 1, "max_length": limits.MOST_AXES}
Lows = Annotated[list[Point] | None, Query(description="The lower end; over several axes, once per axis.", **SOME)]
Highs = Annotated[list[Point] | None, Query(description="The upper end.", **SOME)]
One = Annotated[
    Point | None,
    Query(
        alias="range",
        description="Both ends in one text, as on the command line, instead of lo and hi: 18:65, 60:, :15, a single "
        "value, a month, *; over several axes with commas in between.",
        examples=["18:65"],
    ),
]
Two = Annotated[
    list[Point],
    Query(alias="range", description="Twice; or once, with another release.", min_length=1, max_length=2),
]
Other = Annotated[
    str | None, Query(alias="with", description="The name of another release, of which the second range is.")
]


async def _ends(text: One = None, lo: Lows = None, hi: Highs = None) -> str | asking.Ends:
    """A range in one of two forms."""
    if text is not None and lo is hi is None:
        return text
    if text is not None:
        raise OptionError("The range is given in two forms.", "pass range, or lo and hi.")
    for name, end in (("lo", lo), ("hi", hi)):
        if end is None:
            raise RequestValidationError([{"type": "missing", "loc": ("query", name), "msg": "", "input": None}])
    return lo or [], hi or []


Ends = Annotated[str | asking.Ends, Depends(_ends)]
OtherGroup = Annotated[
    list[Point] | None,
    Query(
        alias="with-group",
        description="A group of the other release, or another group of this one, of which the second range is.",
        min_length=1,
        max_length=limits.MOST_GROUPINGS,
    ),
]
ENDS = ("range", *TWICE, "confidence")
Group = Annotated[
    list[Point] | None,
    Query(
        description="A group, where there are groups: once for each grouping column, or AA,JFK for two of them.",
        min_length=1,
        max_length=limits.MOST_GROUPINGS,
    ),
]
