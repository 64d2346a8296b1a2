"""A release in DuckDB: its buckets as a view, and its answers as a function of the ends of ranges.

The function reads a batch of rows at a time, as columns. Whatever is in a row, there is an answer for it and none for
another: nothing an analyst's table holds makes a query fail.

- If an end is NULL, so is the answer.
- If there is no such range, because an end lies outside the axis or is no value of it, or the lower end comes last, all
  numbers of the answer are NULL, and ``problem`` says why, as ``rel.answer`` does.
- Otherwise ``problem`` is NULL, and the numbers and the remark are those of ``rel.answer``, to the last bit.
"""

import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dawa import check
from dawa.arrays import BoolArray, IntArray
from dawa.axis import AddressAxis, Axis, DateAxis, NumberAxis, OrderedAxis
from dawa.axis.groups import Grouping, number
from dawa.errors import DawaError, OptionError
from dawa.limits import MOST_CELLS_IN_FLOATS
from dawa.numerals import told
from dawa.results import ends
from dawa.results.answers import Figures, Ranged, check_confidence, figures_in_steps, finished
from dawa.results.estimate import Estimate

if TYPE_CHECKING:
    import pyarrow as pa

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,200}")
NUMBERS = Figures._fields
"""The numbers of an answer, which are columns of doubles."""

FIELDS = (*NUMBERS, "confidence", "remark", "problem")
ANSWER = ", ".join(f"{name} {'VARCHAR' if name in {'remark', 'problem'} else 'DOUBLE'}" for name in FIELDS)
"""What the function returns, as DuckDB writes the fields of a struct."""

KNOWN = "SELECT function_name FROM duckdb_functions() WHERE lower(function_name) = lower(?)"
"""Asks for functions of a name, whosever they are."""

ALIKE = (
    "SELECT old.function_name FROM duckdb_functions() AS old JOIN duckdb_functions() AS ours USING (return_type)"
    " WHERE lower(old.function_name) = lower(?) AND lower(ours.function_name) = lower(?)"
)
"""Asks for a function that returns what another one returns."""

EVERY, EACH = "between", "between_in"
"""How the names of functions end: of that about all records, and of that about a group."""

KEPT = 2**16
"""Borders that are remembered: tables of ranges name the same ones again and again."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked by a function of SQL, and how.

    Attributes:
        axes: The axes: two arguments each.
        estimates: The records; of groups, those of each group.
        by: The grouping columns, if the first arguments name a group; if not, all groups are meant together.
        kept: What is remarked about every answer.
        confidence: That of each answer.
    """

    axes: tuple[Axis, ...]
    estimates: tuple[Estimate, ...]
    by: tuple[Grouping, ...]
    kept: str
    confidence: float
    _spans: dict[tuple[Any, Any, int], ends.Span | str] = field(default_factory=dict)

    @property
    def parameters(self) -> list[Any]:
        """The types of the arguments: the group, then both ends on every axis."""
        groups = ["VARCHAR" if grouping.other else _type(grouping.axis) for grouping in self.by]
        return groups + [_type(axis) for axis in self.axes for _ in "lh"]

    def __call__(self, *columns: "pa.ChunkedArray") -> "pa.Array":
        """A batch of answers."""
        import pyarrow as pa  # noqa: PLC0415  slow to load
        import pyarrow.compute as pc  # noqa: PLC0415

        there = np.logical_and.reduce([pc.is_valid(column).to_numpy() for column in columns])
        rows = np.flatnonzero(there)
        given = [_values(column.take(pa.array(rows))) for column in columns]
        found = _Batch(len(rows), self)
        found.fill(given)
        arrays = []
        for name in FIELDS:
            every = found.columns[name]
            full = np.full(len(there), np.nan if every.dtype == float else None, every.dtype)
            full[rows] = every
            mask = np.isnan(full) if every.dtype == float else np.array([word is None for word in full], bool)
            arrays.append(pa.array(full, mask=mask, type=pa.float64() if every.dtype == float else pa.string()))
        return pa.StructArray.from_arrays(arrays, names=list(FIELDS), mask=pa.array(~there))

    def span(self, at: int, lo: object, hi: object) -> ends.Span | str:
        """A range on one axis in cells, or why there is none."""
        lo, hi = _written(lo), _written(hi)
        key = (lo, hi, at)
        if key not in self._spans:
            if len(self._spans) >= KEPT:
                self._spans.clear()
            try:
                self._spans[key] = self.axes[at].span(lo, hi)
            except DawaError as error:
                self._spans[key] = error.problem
        return self._spans[key]


class _Batch:
    """The answers to a batch of rows, while they are filled in."""

    def __init__(self, size: int, asked: Asked) -> None:
        self.asked = asked
        numbers = {name: np.full(size, np.nan) for name in (*NUMBERS, "confidence")}
        words = {name: np.full(size, None, object) for name in ("remark", "problem")}
        self.columns: dict[str, NDArray[Any]] = {**numbers, **words}

    def fill(self, given: Sequence[NDArray[Any]]) -> None:
        """Answer all rows, group by group if they name one."""
        count, by = len(self.columns["value"]), self.asked.by
        if not count:
            return
        ranges = given[len(by) :]
        if not by:
            self._answer(np.arange(count), self.asked.estimates, ranges)
            return
        rows: dict[tuple[Any, ...], list[int]] = {}
        for row, label in enumerate(zip(*(column.tolist() for column in given[: len(by)]), strict=True)):
            rows.setdefault(label, []).append(row)
        for label, mine in rows.items():
            at = np.array(mine)
            try:
                chosen = self.asked.estimates[number(by, label if len(by) > 1 else label[0])]
            except OptionError as error:
                self.columns["problem"][at] = error.problem
                continue
            self._answer(at, (chosen,), [column[at] for column in ranges])

    def _answer(self, rows: IntArray, estimates: Sequence[Estimate], ranges: Sequence[NDArray[Any]]) -> None:
        """Answer these rows: at once those that look like ranges of numbers or times, others one by one."""
        axes, lows, highs = self.asked.axes, ranges[::2], ranges[1::2]
        plain = np.logical_and.reduce([_plain(*each) for each in zip(axes, lows, highs, strict=True)])
        at = np.flatnonzero(plain)
        found = ends.in_columns(axes, [low[at] for low in lows], [high[at] for high in highs]) if len(at) else None
        if found is None:
            plain[:] = False
        else:
            self._write(rows[at], estimates, *found)
        others = np.flatnonzero(~plain)
        pieces = zip(*(column[others].tolist() for column in ranges), strict=True)
        spans, there = [], []
        for row, piece in zip(rows[others].tolist(), pieces, strict=True):
            each = [self.asked.span(i, *piece[2 * i : 2 * i + 2]) for i in range(len(axes))]
            wrong = [problem for problem in each if isinstance(problem, str)]
            if wrong:
                self.columns["problem"][row] = wrong[0]
            else:
                spans.append(tuple(span for span in each if not isinstance(span, str)))
                there.append(row)
        if there:
            self._write(np.array(there), estimates, ends.of_spans(axes, spans), ends.held_in(axes, spans))

    def _write(self, rows: IntArray, estimates: Sequence[Estimate], corners: ends.Corners, held: Sequence[str]) -> None:
        """Fill in the answers to these ranges."""
        ranged = [Ranged(estimate, *ends.placed(corners, estimate)) for estimate in estimates]
        figures = finished(figures_in_steps(ranged, self.asked.confidence))
        for name, column in figures._asdict().items():
            self.columns[name][rows] = column
        self.columns["confidence"][rows] = self.asked.confidence
        self.columns["remark"][rows] = ["; ".join(part for part in (one, self.asked.kept) if part) for one in held]


def attach(connection: Any, name: str, table: "pa.Table", functions: dict[str, Asked], *, replace: bool) -> None:  # noqa: ANN401  DuckDB's, or Ibis'
    """Give a connection a view and functions.

    Raises:
        OptionError: If a name is none, or is in use there.
    """
    import duckdb  # noqa: PLC0415  slow to load

    inner = getattr(connection, "con", connection)
    if not isinstance(inner, duckdb.DuckDBPyConnection):
        raise OptionError(
            f"{told(connection)} is not a connection to DuckDB.",
            "pass duckdb.connect(), or what ibis.duckdb.connect() returns; other engines take rel.to_ibis().",
        )
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise OptionError(f"{told(name)} is no plain name.", "use letters, digits and underscores: 'income'.")
    check.flag(replace, "replace")
    how: dict[str, Any] = {"type": "arrow", "null_handling": "special"}
    try:
        if not replace:
            _check_free(inner, name, list(functions))
        for function, asked in functions.items():
            with suppress(duckdb.CatalogException, duckdb.InvalidInputException):  # there may be none
                inner.remove_function(function)
            if inner.execute(KNOWN, [function]).fetchall():  # it would stay beside ours, for other types of ends
                raise _elsewhere(name)
            inner.create_function(function, _plainly(asked), asked.parameters, f"STRUCT({ANSWER})", **how)
        _remove_left(inner, name, functions)
        inner.register(name, table)
    except duckdb.ConnectionException as error:
        raise OptionError("This connection to DuckDB is closed.", "pass an open one: duckdb.connect().") from error
    except duckdb.TransactionException as error:
        raise OptionError(
            "The transaction of this connection was aborted, so it takes nothing.",
            'end it first: connection.execute("ROLLBACK").',
        ) from error
    except duckdb.Error as error:
        raise _elsewhere(name) from error


def _remove_left(connection: Any, name: str, functions: Collection[str]) -> None:  # noqa: ANN401
    """Remove the function about groups of an earlier release of this name, which would still answer from that one."""
    each = f"{name}_{EACH}"
    if each not in functions:
        for (left,) in connection.execute(ALIKE, [each, f"{name}_{EVERY}"]).fetchall():
            connection.remove_function(left)


def _elsewhere(name: str) -> OptionError:
    """What to say of a name that is not this connection's to replace."""
    return OptionError(
        f"This connection cannot have {name!r}: another connection has it, or had it in a transaction,"
        " or it is a macro.",
        "choose another name, or replace it on the connection that has it; a macro has to be dropped first.",
    )


def _plainly(asked: Asked) -> Callable[..., Any]:
    """A function that says how many arguments it takes, as DuckDB asks."""

    def answered(*columns: Any) -> Any:  # noqa: ANN401  Arrow has no types for mypy
        return asked(*columns)

    named = (Parameter(f"argument_{at}", Parameter.POSITIONAL_OR_KEYWORD) for at, _ in enumerate(asked.parameters))
    answered.__signature__ = Signature(list(named))  # type: ignore[attr-defined]
    return answered


def _check_free(connection: Any, name: str, functions: Sequence[str]) -> None:  # noqa: ANN401
    tables = (
        "SELECT table_name FROM duckdb_tables() WHERE lower(table_name) = lower(?) UNION ALL"
        " SELECT view_name FROM duckdb_views() WHERE lower(view_name) = lower(?)"
    )
    asked = [(name, tables, [name, name]), *((function, KNOWN, [function]) for function in functions)]
    used = [one for one, query, values in asked if connection.execute(query, values).fetchall()]
    if used:
        raise OptionError(
            f"The connection has a {used[0]!r} already.", "choose another name, or pass replace=True to replace it."
        )


def functions_of(
    name: str, axes: tuple[Axis, ...], estimates: tuple[Estimate, ...], by: tuple[Grouping, ...], kept: str, sure: float
) -> dict[str, Asked]:
    """The functions of a release: of all records, and of those of one group."""
    check_confidence(sure)
    found = {f"{name}_{EVERY}": Asked(axes, estimates, (), kept, float(sure))}
    if by:
        found[f"{name}_{EACH}"] = Asked(axes, estimates, by, kept, float(sure))
    return found


def _type(axis: Axis) -> str:
    """How DuckDB calls what an end of a range is on an axis."""
    if isinstance(axis, DateAxis):
        return "TIMESTAMP" if axis.zone is None else "TIMESTAMPTZ"
    if isinstance(axis, AddressAxis):
        return "VARCHAR"
    if isinstance(axis, OrderedAxis):
        first = axis.labels[0]
        if isinstance(first, bool):
            return "BOOLEAN"
        small = not isinstance(first, str) and all(abs(int(label)) < 2**63 for label in axis.labels)
        return "BIGINT" if small else "VARCHAR"
    return "BIGINT" if isinstance(axis, NumberAxis) and axis.large_integers else "DOUBLE"


def _values(column: "pa.ChunkedArray") -> NDArray[Any]:
    """A column without NULL as NumPy has it; times of a zone, which it does not have, as Python does."""
    zoned = getattr(column.type, "tz", None) is not None
    if not zoned and str(column.type) in {"double", "int64", "timestamp[us]", "bool"}:
        found: NDArray[Any] = column.to_numpy()
        return found
    listed = column.to_pylist()
    values = np.empty(len(listed), object)
    values[:] = listed
    return values


def _written(end: object) -> object:
    """A whole number as people write it: SQL made a float of it."""
    whole = isinstance(end, float) and end.is_integer() and abs(end) < MOST_CELLS_IN_FLOATS
    return int(end) if whole else end  # type: ignore[call-overload]  # a float


def _plain(axis: Axis, lo: NDArray[Any], hi: NDArray[Any]) -> BoolArray:
    """Which rows look like ranges of the axis: numbers or times in order, between its bounds."""
    if axis.kind == "ordered" or lo.dtype == object:
        return np.zeros(len(lo), bool)
    start, stop = axis.value([0, axis.size])
    found: BoolArray = (start <= lo) & (lo < hi) & (hi <= stop)
    return found
