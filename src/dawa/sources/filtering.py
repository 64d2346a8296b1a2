"""A condition as an expression that every engine evaluates for each row, and that fails at no value.

How a value is compared follows from the declared type of its column and from the literal, and from nothing else:

- whole numbers, decimals, dates and times are compared exactly, in their own type;
- a float is compared with the float that is nearest to the literal, so that 0.1 is one tenth;
- text is read as numbers for a number, as times for a date or a time, as true or false for these, and is compared as
  text with all other text.

A value that is missing, or that cannot be read so, makes a comparison unknown. ``not`` is gone before an engine sees
it: every comparison has an opposite, and where neither is known, neither holds.
"""

import operator as operators
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, cast

import ibis
import ibis.expr.datatypes as dt

from dawa.axis.readings import ticks
from dawa.errors import ConditionError
from dawa.sources import casts, columns, comparing
from dawa.sources.comparing import EQUAL, OPERATORS, TICK
from dawa.sources.placed import Expression
from dawa.sources.tables import Column, Source
from dawa.sources.where import Among, Comparison, Joined, Literal, Missing, Node, Not, Number, Text, Truth, Where


def _bytewise(name: str) -> Any:  # noqa: ANN401  Ibis'
    """A function of PostgreSQL's that compares text byte by byte: its operators follow the language of the server."""

    def compare(left: dt.string, right: dt.string) -> dt.boolean:
        """PostgreSQL's own."""

    compare.__name__ = name
    return ibis.udf.scalar.builtin(compare)


BYTEWISE = {
    "<": _bytewise("text_pattern_lt"),
    "<=": _bytewise("text_pattern_le"),
    ">": _bytewise("text_pattern_gt"),
    ">=": _bytewise("text_pattern_ge"),
}


def kept(source: Source, where: Where) -> Expression:
    """Whether a condition holds for a row; not true if that is not known.

    Raises:
        ConditionError: If the condition does not fit the types of its columns.
        AxisError: If the table lacks one of them.
    """
    return _holds(where.root, source)


def read_from_text(source: Source, where: Where) -> tuple[str, ...]:
    """The columns in which the condition reads something else than text from text, or looks for missing values."""
    found = []
    for atom in _atoms(where.root):
        column = source.column(atom.column)
        plain = isinstance(atom, Missing) or all(_is_plain(literal) for literal in _literals(atom))
        if column is not None and (column.text is not None or (column.kind.is_string() and not plain)):
            found.append(atom.column)
    return tuple(dict.fromkeys(found))


def _atoms(node: Node) -> Iterator[Comparison | Among | Missing]:
    if isinstance(node, (Joined, Not)):
        for part in node.parts if isinstance(node, Joined) else (node.part,):
            yield from _atoms(part)
    else:
        yield node


def _literals(atom: Comparison | Among) -> tuple[Literal, ...]:
    return atom.literals if isinstance(atom, Among) else (atom.literal,)


def _is_plain(literal: Literal) -> bool:
    return isinstance(literal, Text) and not comparing.is_time(literal)


def _holds(node: Node, source: Source) -> Expression:
    if isinstance(node, Not):
        return _holds(node.part.opposite(), source)
    if isinstance(node, Joined):
        parts = [_holds(part, source) for part in node.parts]
        return _together(operators.and_ if node.word == "and" else operators.or_, parts)
    return _atom_holds(node, source)


def _atom_holds(node: Comparison | Among | Missing, source: Source) -> Expression:
    column = columns.named(source, node.column, "where=")
    if column.width is None and not _is_comparable(column):
        raise ConditionError(
            f"The column {node.column!r} holds {columns.in_words(column)}, which a condition cannot look at.",
            "name a column of numbers, text, dates, times, or true and false.",
        )
    if isinstance(node, Missing):
        return _is_missing(column, source) if node.missing else ~_is_missing(column, source)
    if column.kind.is_null():  # a column that is declared to hold nothing
        return ibis.literal(value=False)
    if isinstance(node, Comparison):
        return _compared(column, source, node.column, (node.literal,))(node.operator, node.literal)
    if all(map(_is_plain, node.literals)) and column.kind.is_string():
        return _listed(column, node)
    compare = _compared(column, source, node.column, node.literals)
    join, sign = (operators.or_, "=") if node.among else (operators.and_, "!=")
    return _together(join, [compare(sign, literal) for literal in node.literals])


def _together(join: Callable[[Any, Any], Any], parts: Sequence[Expression]) -> Expression:
    """All parts, joined in a flat tree: engines descend into it."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return join(_together(join, parts[:half]), _together(join, parts[half:]))


def _is_comparable(column: Column) -> bool:
    kind = column.kind
    others = kind.is_boolean() or kind.is_string() or kind.is_date() or kind.is_timestamp() or kind.is_null()
    return bool(columns.is_number(kind) or others)


def _is_missing(column: Column, source: Source) -> Expression:
    value, kind = column.value, column.kind
    if column.gone:
        return value.isnull() | value.isin(column.gone)
    if kind.is_floating():
        return value.isnull() | value.isnan()
    if kind.is_decimal() and source.engine == "postgres":
        return value.isnull() | (value == ibis.literal("NaN").cast(casts.NUMERIC))
    return ibis.literal(value=True) if kind.is_null() else value.isnull()


# --- which comparison ----------------------------------------------------------------------------------------------


def _compared(
    column: Column, source: Source, name: str, literals: tuple[Literal, ...]
) -> Callable[[str, Literal], Expression]:
    """How a column is compared with literals of one kind.

    Raises:
        ConditionError: If its type cannot be compared with them.
    """
    kind, first, text = column.kind, literals[0], column.kind.is_string()
    if isinstance(first, Number) and (text or columns.is_number(kind)):
        numbers = comparing.of_text_as_numbers if text else comparing.of_numbers
        compare = numbers(column, source, name)
        return lambda sign, literal: compare(sign, cast("Number", literal).value)
    if isinstance(first, Truth) and (text or kind.is_boolean()):
        return lambda sign, literal: _truth(column, source, name, sign, cast("Truth", literal))
    if isinstance(first, Text) and text and not any(map(comparing.is_time, literals)):
        return lambda sign, literal: _texts(column, source, sign, cast("Text", literal))
    if isinstance(first, Text) and (text or kind.is_date() or kind.is_timestamp()):
        moments = {literal: comparing.moment(cast("Text", literal), name) for literal in literals}
        times = comparing.of_text_as_times if text else comparing.of_times
        compare = times(column, source, name, aware=comparing.aware(moments.values()))
        return lambda sign, literal: compare(sign, Fraction(ticks(moments[literal]) * TICK))
    raise _unfit(column, name, first)


def _unfit(column: Column, name: str, literal: Literal) -> ConditionError:
    words = {Number: "a number", Truth: "true or false", Text: "text"}[type(literal)]
    hint = "write dates and times as text in single quotes: '2013-01-31', '2013-01-31 14:00'."
    if column.kind.is_numeric():
        hint = f"write a number without quotes: {name} >= 18."
    if column.kind.is_boolean():
        hint = f"write {name} = true, or {name} = false."
    return ConditionError(
        f"The column {name!r} holds {columns.in_words(column)}, but the condition compares it with {words}.", hint
    )


# --- text, true and false -------------------------------------------------------------------------------------------


def _truth(column: Column, source: Source, name: str, sign: str, literal: Truth) -> Expression:
    if sign not in EQUAL:
        raise ConditionError(f"True and false have no order, in {name} {sign} {literal}.", "compare with = or !=.")
    if column.kind.is_boolean():
        return OPERATORS[sign](column.value, ibis.literal(literal.value))
    return OPERATORS[sign](columns.truth(column.value, source.engine), ibis.literal(str(literal)))


def _texts(column: Column, source: Source, sign: str, literal: Text) -> Expression:
    """Text as text, in the order of its characters' numbers."""
    value, other = column.value, ibis.literal(literal.value)
    present = _there(column, (literal,))
    if sign in EQUAL or source.engine in {"duckdb", "pyspark"}:
        return present & OPERATORS[sign](value, other)
    if source.engine == "postgres":
        return present & BYTEWISE[sign](value, other)
    raise ConditionError(f"{source.engine} orders text in a way that is not known.", "compare text with =, != or in.")


def _listed(column: Column, node: Among) -> Expression:
    words = [cast("Text", literal).value for literal in node.literals]
    found = column.value.isin(words) if node.among else column.value.notin(words)
    return _there(column, node.literals) & found


def _there(column: Column, named: Sequence[Literal]) -> Expression:
    """Whether text is there; a word that the comparison itself names is, even if it means a missing value elsewhere."""
    value = column.value
    words = {literal.value for literal in named if isinstance(literal, Text)}
    gone = [word for word in column.gone if word not in words]
    return value.notnull() & value.notin(gone) if gone else value.notnull()
