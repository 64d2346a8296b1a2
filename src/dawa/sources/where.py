"""Which records are counted at all: a condition that somebody writes down, in a small language of its own.

The condition is public and looks at one record at a time, so it costs no privacy (``reading.md``). The language is
closed: columns are compared with literals, and comparisons are joined. Nothing that is written here reaches an engine
as text: ``where_text.py`` makes values of the classes below of it, and ``filtering.py`` expressions of these.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from dawa.budget import fraction

OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
"""What holds where an operator does not."""
RESERVED = ("and", "or", "not", "in", "between", "is", "true", "false", "null")
"""Words that are columns only in double quotes."""


@dataclass(frozen=True)
class Number:
    """A number, exactly as it is written."""

    written: str

    @property
    def value(self) -> Fraction:
        """The number."""
        return fraction(self.written)

    def __str__(self) -> str:
        return self.written


@dataclass(frozen=True)
class Text:
    """Text; in the form of a date or a time it stands for that."""

    value: str

    def __str__(self) -> str:
        return "'" + self.value.replace("'", "''") + "'"


@dataclass(frozen=True)
class Truth:
    """True or false."""

    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


Literal = Number | Text | Truth


@dataclass(frozen=True)
class Comparison:
    """A column, an operator and a literal."""

    column: str
    operator: str
    literal: Literal

    def __str__(self) -> str:
        return f"{named(self.column)} {self.operator} {self.literal}"

    def opposite(self) -> "Comparison":
        """What holds where this does not; where neither is known, neither holds."""
        return Comparison(self.column, OPPOSITE[self.operator], self.literal)


@dataclass(frozen=True)
class Among:
    """Whether a column's value is one of several; ``among`` is False for those that are none of them."""

    column: str
    literals: tuple[Literal, ...]
    among: bool = True

    def __str__(self) -> str:
        return f"{named(self.column)} {'' if self.among else 'not '}in ({', '.join(map(str, self.literals))})"

    def opposite(self) -> "Among":
        """What holds where this does not."""
        return Among(self.column, self.literals, not self.among)


@dataclass(frozen=True)
class Missing:
    """Whether a column's value is missing; ``missing`` is False for those that are there."""

    column: str
    missing: bool = True

    def __str__(self) -> str:
        return f"{named(self.column)} is {'' if self.missing else 'not '}missing"

    def opposite(self) -> "Missing":
        """What holds where this does not."""
        return Missing(self.column, not self.missing)


@dataclass(frozen=True)
class Joined:
    """Several conditions, of which all must hold (``and``) or one (``or``)."""

    word: str
    parts: tuple["Node", ...]

    def __str__(self) -> str:
        return f" {self.word} ".join(f"({part})" if isinstance(part, Joined) else str(part) for part in self.parts)

    def opposite(self) -> "Joined":
        """What holds where this does not."""
        return Joined("or" if self.word == "and" else "and", tuple(part.opposite() for part in self.parts))


@dataclass(frozen=True)
class Not:
    """What holds where another condition does not."""

    part: "Node"

    def __str__(self) -> str:
        return f"not ({self.part})"

    def opposite(self) -> "Node":
        """The other condition."""
        return self.part


Node = Comparison | Among | Missing | Joined | Not


@dataclass(frozen=True)
class Where:
    """A condition on records.

    Attributes:
        root: The condition.
        columns: The columns that it names, in order.

    >>> str(Where(Not(Missing("first name")), ("first name",)))
    'not ("first name" is missing)'
    """

    root: Node
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return str(self.root)

    def describe(self) -> str:
        """Which records count, in a sentence."""
        return (
            f"Only records with {self} were counted; those for which this is not known, because a value is missing or"
            " cannot be read, were left out."
        )


def named(column: str) -> str:
    """A column as it is written in a condition: in double quotes if it must be."""
    plain = re.fullmatch(r"[^\W\d]\w*", column) and column.lower() not in RESERVED
    return column if plain else '"' + column.replace('"', '""') + '"'
