"""A condition as people write it, read word by word; an error points at the first word that does not fit.

The grammar, from the loosest to the tightest: conditions joined by ``or``; by ``and``; ``not`` in front of one;
parentheses around one; a column compared with a literal, ``in (…)``, ``between … and …``, ``is missing``.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dawa.budget import fraction
from dawa.errors import ConditionError
from dawa.limits import MOST_COMPARISONS, MOST_CONDITION, MOST_NESTING
from dawa.numerals import brief
from dawa.sources.where import (
    RESERVED,
    Among,
    Comparison,
    Joined,
    Literal,
    Missing,
    Node,
    Not,
    Number,
    Text,
    Truth,
    Where,
    named,
)

FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Each operator, seen from the other side."""
EXAMPLE = "write a condition such as: carrier = 'AA' and year >= 2013."

# --- words ----------------------------------------------------------------------------------------------------------

PARTS = re.compile(
    r"""(?P<space>\s+)
    |(?P<text>'(?:[^']|'')*')
    |(?P<quoted>"(?:[^"]|"")*")
    |(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<word>[^\W\d]\w*)
    |(?P<operator><=|>=|<>|!=|==|=|<|>)
    |(?P<mark>[(),+-])
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Word:
    """A part of what was written; ``place`` counts characters from 1."""

    kind: str
    text: str
    place: int

    def says(self, *words: str) -> bool:
        """Whether it is one of these words or marks."""
        return self.kind in {"word", "mark"} and self.text.lower() in words

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else f"{self.text!r}, character {self.place},"


def _words(text: str) -> Iterator[Word]:
    for found in PARTS.finditer(text):
        word = Word(str(found.lastgroup), found[0], found.start() + 1)
        if word.kind == "other":
            raise _stray(word)
        if word.kind != "space":
            yield word
    yield Word("end", "", len(text) + 1)


STRAY = {
    "'": "close the quote; a quote inside text is written twice: 'O''Hare'.",
    '"': "close the quote; double quotes stand around names of columns.",
    ";": "leave it out: there is one condition and nothing after it.",
    ".": 'put a name with a point in double quotes: "a.b" = 1.',
    "&": "write and.",
    "|": "write or.",
    "!": "write not, or != between a column and a value.",
    "`": "put unusual names in double quotes: \"first name\" = 'Ann'.",
    "[": "put unusual names in double quotes: \"first name\" = 'Ann'.",
}


def _stray(word: Word) -> ConditionError:
    hint = STRAY.get(word.text, f"compare columns with values, and nothing else: {EXAMPLE.removeprefix('write ')}")
    return ConditionError(f"The condition cannot be read from {word} on.", hint)


# --- from words to a condition --------------------------------------------------------------------------------------


def parsed(text: object) -> Where:
    """The condition that a text writes.

    Raises:
        ConditionError: If it is not one; the error points at the first word that does not fit.

    >>> str(parsed("age BETWEEN 18 and 65 and Not name is NULL"))
    '(age >= 18 and age <= 65) and not (name is missing)'
    """
    if isinstance(text, Where):
        return text
    if not isinstance(text, str) or not text.strip():
        raise ConditionError(f"where={text!r} is not a condition.", EXAMPLE)
    if len(text) > MOST_CONDITION:
        raise ConditionError(f"The condition has more than {MOST_CONDITION:,} characters.", "write a shorter one.")
    if "\0" in text or not _is_unicode(text):
        raise ConditionError("The condition holds characters that are not text.", "leave them out.")
    reader = _Reader(list(_words(text)))
    root = reader.condition()
    reader.finish()
    return Where(root, tuple(dict.fromkeys(reader.columns)))


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Reader:
    """Words from left to right, one function for each rule of the language."""

    def __init__(self, parts: list[Word]) -> None:
        self.parts, self.at, self.depth = parts, 0, 0
        self.columns: list[str] = []
        self.literals = 0

    @property
    def next(self) -> Word:
        return self.parts[self.at]

    def take(self) -> Word:
        self.at += 1
        return self.parts[self.at - 1]

    def taken(self, *words: str) -> bool:
        """Whether the next word is one of these; then it is taken."""
        found = self.next.says(*words)
        self.at += found
        return found

    def finish(self) -> None:
        if self.next.kind != "end":
            hint = "join conditions with and, or; put those that belong together in parentheses."
            if self.next.kind == "operator":
                hint = "compare one column with one value at a time: age between 18 and 65."
            elif self.next.says("like", "ilike", "similar", "collate"):
                hint = "text can be compared with =, !=, <, >, in and between, not with patterns."
            elif self.next.says("+", "-"):
                hint = "values are compared as they are: there is no arithmetic."
            raise self.wrong("does not belong here.", hint)

    def wrong(self, problem: str, hint: str) -> ConditionError:
        """The error about the next word."""
        return ConditionError(f"In the condition, {self.next} {problem}", hint)

    def condition(self) -> Node:
        self.depth += 1
        if self.depth > MOST_NESTING:
            raise ConditionError(f"The condition is nested more than {MOST_NESTING} deep.", "write a flatter one.")
        found = self.joined("or", lambda: self.joined("and", self.negated))
        self.depth -= 1
        return found

    def joined(self, word: str, part: Callable[[], Node]) -> Node:
        parts = [part()]
        while self.taken(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def negated(self) -> Node:
        if not self.taken("not"):
            return self.single()
        self.depth += 1
        if self.depth > MOST_NESTING:
            raise ConditionError(f"The condition is nested more than {MOST_NESTING} deep.", "write a flatter one.")
        found = Not(self.negated())
        self.depth -= 1
        return found

    def single(self) -> Node:
        if self.taken("("):
            found = self.condition()
            if not self.taken(")"):
                if self.next.kind != "end":
                    self.finish()
                raise self.wrong("comes before a parenthesis is closed.", "add ) where it belongs.")
            return found
        if self.is_literal():
            literal = self.literal()
            operator = self.operator()
            return Comparison(self.column(), FLIPPED[operator], literal)
        column = self.column()
        if self.taken("is"):
            return self.missing(column)
        other = self.taken("not")
        if self.taken("in"):
            return Among(column, self.listed(), not other)
        if self.taken("between"):
            found = self.between(column)
            return Not(found) if other else found
        if other:
            raise self.wrong("does not follow not.", "write not in (…), not between … and …, or not (…).")
        return Comparison(column, self.operator(), self.literal())

    def between(self, column: str) -> Node:
        low = self.literal()
        if not self.taken("and"):
            raise self.wrong("is not the and of between.", "write age between 18 and 65; both ends are included.")
        return Joined("and", (Comparison(column, ">=", low), Comparison(column, "<=", self.literal())))

    def missing(self, column: str) -> Missing:
        there = self.taken("not")
        if not self.taken("missing", "null"):
            raise self.wrong("does not follow is.", f"write {named(column)} is missing, or is not missing.")
        return Missing(column, not there)

    def listed(self) -> tuple[Literal, ...]:
        if not self.taken("("):
            raise self.wrong("does not begin a list.", "write in ('A', 'B').")
        found = [self.literal()]
        while self.taken(","):
            found.append(self.literal())
        if not self.taken(")"):
            raise self.wrong("comes before the list is closed.", "separate values by commas, and end with ).")
        if len({type(literal) for literal in found}) > 1:
            raise ConditionError("A list in the condition mixes text and numbers.", "write values of one kind.")
        return tuple(found)

    def operator(self) -> str:
        word = self.next
        if word.kind != "operator" or word.text == "==":
            hint = "write one of =, !=, <, <=, >, >=, in (…), between … and …, is missing."
            if word.text == "==":
                hint = "write a single =."
            elif word.says("("):
                hint = "there are no functions: compare columns as they are."
            elif word.says("like", "ilike", "similar", "glob", "regexp"):
                hint = "text can be compared with =, !=, <, >, in and between, not with patterns."
            elif word.kind == "end" or word.says("and", "or", ")"):
                hint = "say what the value should be; a column of true and false needs it too: active = true."
            raise self.wrong("is not a comparison.", hint)
        self.at += 1
        return "!=" if word.text == "<>" else word.text

    def column(self) -> str:
        word = self.next
        if word.kind == "quoted":
            found = word.text[1:-1].replace('""', '"')
        elif word.kind == "word" and word.text.lower() not in RESERVED:
            found = word.text
        else:
            hint = "a comparison needs a column and a value: age >= 18."
            if word.kind == "word":
                hint = f'if it is the name of a column, put it in double quotes: "{word.text}".'
            raise self.wrong("is not a column.", hint)
        if not found:
            raise self.wrong("is not a column.", "write its name between the quotes.")
        self.at += 1
        self.columns.append(found)
        return found

    def is_literal(self) -> bool:
        return self.next.kind in {"text", "number"} or self.next.says("+", "-", "true", "false", "null")

    def literal(self) -> Literal:
        self.literals += 1
        if self.literals > MOST_COMPARISONS:
            raise ConditionError(
                f"The condition has more than {MOST_COMPARISONS:,} values.", "compare with ranges: between … and …."
            )
        sign = self.take().text if self.next.says("+", "-") else ""
        word = self.next
        if word.kind == "number":
            self.at += 1
            return _number(sign + word.text)
        if sign:
            raise self.wrong(f"does not follow {sign}.", "write a number, or text in single quotes.")
        if word.kind == "text":
            self.at += 1
            return Text(word.text[1:-1].replace("''", "'"))
        if self.taken("true", "false"):
            return Truth(word.text.lower() == "true")
        raise self.wrong("is not a value.", _not_a_value(word))


def _number(written: str) -> Number:
    try:
        fraction(written)
    except ValueError:
        problem = f"{brief(written)} has too many digits for a condition."
        raise ConditionError(problem, "write a smaller number.") from None
    return Number(written.removeprefix("+"))


def _not_a_value(word: Word) -> str:
    """What somebody may have meant who wrote something else where a value belongs."""
    if word.says("null", "missing"):
        return "nothing equals a missing value: write is missing, or is not missing."
    if word.says("date", "timestamp", "time"):
        return "write dates as text in single quotes, without a word in front: '2013-01-31'."
    if word.kind == "quoted":
        return f"text stands in single quotes: '{word.text[1:-1]}'. Double quotes stand around names of columns."
    if word.kind == "word":
        return f"text stands in single quotes: '{word.text}'. Two columns cannot be compared with each other."
    if word.says("("):
        return "compare with one value, or write in ('A', 'B')."
    return "write a number, text in single quotes, true or false."


def optional(where: object) -> Where | None:
    """A condition, or None."""
    return None if where is None else parsed(where)
