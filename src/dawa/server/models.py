"""What requests and responses hold, as the OpenAPI description shows it."""

import json
from collections import Counter
from typing import Annotated, Any, Literal, NoReturn

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr, ValidationError

from dawa.errors import OptionError
from dawa.limits import MOST_AXES, MOST_RANGES_ASKED
from dawa.numerals import told
from dawa.server.parameters import SureNumber, written_float, written_int

LONGEST_END = 1024

Value = StrictStr | StrictInt | StrictFloat | bool
"""A point of an axis in a response: a number, a time in text, or a category."""

End = Annotated[StrictStr, Field(max_length=LONGEST_END)] | StrictInt | StrictFloat
"""A point of an axis in a request."""

Ends = End | Annotated[list[End], Field(min_length=1, max_length=MOST_AXES)]
"""One point, or one for each axis."""


class Told(BaseModel):
    """The base of all responses."""

    model_config = ConfigDict(extra="forbid")


class Problem(Told):
    """Why a request was refused, and what to do next."""

    problem: str = Field(examples=["500 lies outside the axis 'age'."])
    hint: str = Field(examples=["ask between 0 and 120."])


class Health(Told):
    """That the server is running."""

    status: Literal["ok"]
    releases: int = Field(ge=1, examples=[2])


class Axis(Told):
    """One attribute of a release."""

    column: str = Field(examples=["age"])
    kind: str = Field(description="numbers, dates, addresses, ordered or edges", examples=["numbers"])
    start: Value = Field(description="The lowest value.", examples=[0])
    stop: Value = Field(description="The end, not included; of categories the last, included.", examples=[120])
    cells: int = Field(ge=1, examples=[120])
    description: str = Field(description="What was counted, what was counted apart and what was left out.")
    edges: str = Field(
        description="What the first and the last cell hold besides their own values; empty if nothing.",
        examples=["with everything below 0 and everything from 120 on"],
    )


class Grouping(Told):
    """A column whose values put records into groups."""

    column: str = Field(examples=["carrier"])
    values: list[Value] = Field(description="The values that are groups, in order.", examples=[["AA", "UA"]])
    other: bool = Field(description='Whether there is one more group, "other", of all values that are not listed.')


class About(Told):
    """Words about the data, as their custodian chose them; null where nothing was said."""

    title: str | None = Field(default=None, examples=["Departures from New York"])
    description: str | None = None
    record: str | None = Field(default=None, description="What a record is.", examples=["a flight"])
    plural: str | None = Field(default=None, description="What several records are called.", examples=["flights"])
    publisher: str | None = None
    contact: str | None = None
    data_from: str | None = Field(default=None, description="The first day of the data.", examples=["2013-01-01"])
    data_to: str | None = Field(default=None, description="The last day of the data.", examples=["2013-12-31"])
    released: str | None = Field(default=None, description="The day of the release.", examples=["2014-03-01"])
    licence: str | None = None


class Summary(Told):
    """A release in a list."""

    name: str = Field(examples=["ages"])
    title: str | None = Field(description="What its custodian calls it; null if nobody said.", examples=["Ages"])
    columns: list[str] = Field(examples=[["age"]])
    by: list[str] = Field(description="The columns by which it has groups; empty if it has none.", examples=[[]])
    groups: int = Field(ge=0, description="How many groups it has; 0 if it has none.", examples=[0])
    epsilon: float = Field(examples=[0.5])
    private: bool = Field(description="False if the noise was made from a seed: an experiment, not to be published.")
    path: str = Field(examples=["/releases/ages"])


class Releases(Told):
    """All releases."""

    releases: list[Summary]


class Counted(Told):
    """A number of records, with honest error bars."""

    value: float = Field(description="The best guess.", examples=[1234.5])
    noise_margin: float = Field(description="How far noise may have moved the value.", examples=[20.5])
    bias_bound: float = Field(description="How much more the value may be off because buckets are cut.", examples=[0.0])
    measured: float = Field(
        description="The number as it was measured, around which the interval lies: before negative buckets were "
        "evened out, and with the records of cut buckets spread evenly.",
        examples=[1234.5],
    )
    low: float = Field(description="The lower end of the interval.", examples=[1214.0])
    high: float = Field(description="The upper end of the interval.", examples=[1255.0])
    confidence: float = Field(
        description="The interval holds the true count with at least this probability.", examples=[0.95]
    )
    remark: str = Field(
        description="What else is counted in it, or how many records of a unit are; empty if there is nothing to add.",
        examples=["with everything below 0"],
    )


class Way(Counted):
    """Records that are in no range, for the same reason."""

    label: str = Field(description="The reason, in words.", examples=["age missing"])
    states: list[Literal["inside", "below", "above", "unlisted", "missing"]] = Field(
        description="Where their values lie on each of the columns.", examples=[["missing"]]
    )
    columns: list[str] = Field(
        description="The columns that it is about: the axes, or those that put records into groups.",
        examples=[["age"]],
    )


class Apart(Told):
    """The records that are in no range, and for comparison those that are."""

    inside: Counted = Field(description="All records that have a place on every axis: those that ranges count.")
    apart: Counted | None = Field(description="All others; null if they were left out or counted at the edges.")
    share: float = Field(description="The part of all records that is in no range.", examples=[0.02])
    warning: str = Field(
        description="What to check if a large part of all records is in no range; empty if not.", examples=[""]
    )
    ways: list[Way] = Field(description="The others by reason, the most frequent first.")


class Release(Told):
    """What to know about a release before asking it."""

    name: str = Field(examples=["ages"])
    id: str | None
    about: About | None = Field(description="Words about the data; null if there are none.")
    axes: list[Axis] = Field(min_length=1, max_length=MOST_AXES)
    by: list[Grouping] = Field(
        description="The columns whose values put records into groups, which are all combinations of these values;"
        " empty if there are no groups."
    )
    groups: int = Field(ge=0, description="How many groups there are; 0 if there are none.", examples=[0])
    group: list[Value] = Field(
        description="The group that is described, a value of each of these columns; empty if all are.", examples=[[]]
    )
    buckets: int = Field(ge=1, description="How many buckets there are, in all groups together.", examples=[44])
    epsilon: float = Field(description="What was spent, rounded.", examples=[0.5])
    epsilon_exact: str = Field(description="What was spent, exactly: a fraction.", examples=["1/2"])
    mechanism: str = Field(examples=["dawa"])
    unit: str = Field(description="Who or what is protected.", examples=["record"])
    kept: str = Field(
        description="How many records of each unit are in the numbers; empty if all are.",
        examples=["of at most 3 records of each value of 'person'"],
    )
    private: bool
    statement: str = Field(description="The privacy statement.")
    records: Apart = Field(description="All records: how many are in ranges and in none, at 95% confidence.")


class Answer(Counted):
    """How many records lie in a range, with honest error bars."""

    lo: list[Value] = Field(description="The lower end on each axis, as asked.", examples=[["18"]])
    hi: list[Value] = Field(examples=[["65"]])


class InGroup(Counted):
    """How many records of a group lie in a range."""

    group: list[Value] = Field(description="A value of each column that puts records into groups.", examples=[["AA"]])


class ByGroup(Told):
    """How many records of each group, and of all groups together, lie in a range."""

    by: list[str] = Field(description="The columns that put records into groups.", examples=[["carrier"]])
    groups: list[InGroup] = Field(min_length=1)
    together: Answer = Field(description="All groups together; records in no group are not among them.")


class Answers(Told):
    """Answers in the order of the ranges."""

    answers: list[Answer]


class Range(BaseModel):
    """From ``lo`` up to but not including ``hi``; of categories, both are included."""

    model_config = ConfigDict(extra="forbid")

    lo: Ends = Field(description="The lower end; over several axes, a list with one end per axis.")
    hi: Ends = Field(description="The upper end.")


Written = Annotated[StrictStr, Field(max_length=LONGEST_END, examples=["60:"])]
"""A range in one text, as on the command line."""


class Asked(BaseModel):
    """Ranges to answer."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"ranges": [{"lo": 0, "hi": 18}, {"lo": 18, "hi": 65}], "confidence": 0.95}]},
    )

    ranges: list[Range | Written] = Field(
        min_length=1, max_length=MOST_RANGES_ASKED, fail_fast=True
    )  # one mistake is enough
    confidence: SureNumber = Field(default=0.95, description="How sure the interval is.", examples=[0.95])


def asked(body: bytes, kind: str) -> Asked:
    """The ranges in a body.

    Raises:
        RequestValidationError: If there are none that can be answered; it names the first thing that is wrong.
        OptionError: If a field is given twice.
    """
    if kind.partition(";")[0].strip().lower() != "application/json":
        raise _no_json()
    try:
        values = json.loads(
            body.decode("utf-8"),
            parse_float=written_float,
            parse_int=written_int,
            parse_constant=_constant,
            object_pairs_hook=_once,
        )
    except OptionError:
        raise
    except (ValueError, RecursionError):
        raise _no_json() from None
    try:
        return Asked.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = [part for part in first["loc"] if part != Range.__name__]  # one of the two forms of a range
        raise RequestValidationError([{**first, "loc": ("body", *place)}]) from None


def _no_json() -> RequestValidationError:
    return RequestValidationError([{"type": "json_invalid", "loc": ("body",), "msg": ""}])


def _constant(name: str) -> NoReturn:
    raise ValueError(name)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = Counter(name for name, _ in pairs)
        raise OptionError(f"The field {told(names.most_common(1)[0][0])} is given twice in the body.", "give it once.")
    return found


class Quantile(Told):
    """The smallest value up to which at least a fraction of the records lies, of those with a place on the axis."""

    fraction: float = Field(examples=[0.5])
    value: Value = Field(
        description="An integer on an axis of whole numbers, a category on an ordered axis; times are text.",
        examples=[37],
    )
    low: Value = Field(description="The lowest value of an interval that holds the true quantile.", examples=[36])
    high: Value = Field(description="The highest value of this interval; it is inside.", examples=[38])
    confidence: float = Field(
        description="The interval holds the true quantile with at least this probability.", examples=[0.95]
    )
    remark: str = Field(description="What was counted at all; empty if there is nothing to add.", examples=[""])


class Quantiles(Told):
    """Quantiles in the order of the fractions."""

    quantiles: list[Quantile]


class Statistic(Told):
    """A number that follows from a release, with honest error bars."""

    name: Literal["mean", "sum", "share", "difference", "ratio"]
    value: float = Field(description="The best guess.", examples=[41.25])
    noise_margin: float = Field(description="How far noise may have moved it, about.", examples=[0.25])
    bias_bound: float = Field(description="How much more it may be off because buckets are cut, about.", examples=[0.5])
    low: float = Field(description="The lower end of the interval.", examples=[40.5])
    high: float | None = Field(description="The upper end of the interval; null if it has none.", examples=[42.0])
    said: str = Field(
        description="The same as a sentence.", examples=["mean 41.2 (between 40.5 and 42.0 with 95% confidence)"]
    )
    confidence: float = Field(
        description="The interval holds the truth with at least this probability.", examples=[0.95]
    )
    remark: str = Field(
        description="What was counted and how; empty if there is nothing to add.",
        examples=["values rounded down to a whole number"],
    )


class Values(Told):
    """What the values along an axis of numbers add up to."""

    mean: Statistic | None = Field(description="Null if there seem to be no records.")
    sum: Statistic


class Comparison(Told):
    """Two ranges, of one release or of two."""

    lo: list[list[Value]] = Field(description="The lower ends of both, on each axis.", examples=[[["0"], ["65"]]])
    hi: list[list[Value]] = Field(description="Their upper ends.", examples=[[["18"], ["100"]]])
    difference: Statistic = Field(description="How many more records lie in the first.")
    ratio: Statistic | None = Field(
        description="How many times as many lie in the first; null if there seem to be none in the second."
    )


class Bucket(Told):
    """A bucket of a release along one axis."""

    start: Value = Field(examples=[16])
    stop: Value = Field(examples=[32])
    cells: int = Field(ge=1, examples=[16])
    value: float = Field(description="Records in it.", examples=[321.0])
    standard_deviation: float = Field(description="The standard deviation of the noise.", examples=[4.5])
    unbiased: float = Field(description="Records before negative numbers were evened out.", examples=[320.5])
    remark: str = Field(description="What else it counts; empty if nothing.", examples=["with everything below 0"])


class Buckets(Told):
    """Some of the buckets."""

    total: int = Field(ge=1, description="How many buckets the release has.", examples=[44])
    first: int = Field(ge=0, description="The number of the first bucket listed here.", examples=[0])
    buckets: list[Bucket]


class Limits(Told):
    """How many records lie up to a bound."""

    to: Value = Field(description="The bound, not included; of categories the last, included.", examples=[32])
    value: float = Field(description="The best guess of the number of records below it.", examples=[321.0])
    low: float = Field(description="At least so many are below.", examples=[301.5])
    high: float = Field(description="At most so many are.", examples=[340.5])
    share: float = Field(description="The best guess as a part of all records.", examples=[0.25])
    share_low: float = Field(description="At least this part is below.", examples=[0.235])
    share_high: float = Field(description="At most this part is.", examples=[0.265])


class Band(Told):
    """Limits for the whole distribution at once."""

    total: int = Field(ge=1, description="How many bounds there are.", examples=[44])
    first: int = Field(ge=0, description="The number of the first bound listed here.", examples=[0])
    confidence: float = Field(description="All limits hold together with at least this probability.", examples=[0.95])
    said: str = Field(
        description="The same as a sentence.", examples=["All these limits hold together with 95% confidence or more."]
    )
    remark: str = Field(description="What was counted at all; empty if there is nothing to add.", examples=[""])
    bounds: list[Limits]
