"""How a text file is written: declared by whoever reads it, never guessed from what it holds.

A guess looks at many records to decide how one of them is read, so one more record could move all the others.
Everything here is public: it is part of the spec of a release and of its privacy statement.
"""

import codecs
from dataclasses import asdict, dataclass
from functools import cache
from os import PathLike, fspath
from typing import Any

from dawa.axis.base import is_text
from dawa.errors import SourceError
from dawa.limits import MOST_MISSING_WORDS

MISSING = ("NA", "N/A", "NaN", "nan", "NULL", "null", "None", "NaT")
"""What means a missing value by default, besides empty text. A category that an axis lists is never missing."""
HINTS = {
    "delimiter": "choose one character, such as a semicolon, or tab on the command line.",
    "quote": "choose one character, such as a double quote, or none on the command line and None in Python.",
    "escape": "choose one character, such as a backslash.",
}
ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
"""Endings of the names of text files."""
TABS = (".tsv", ".tsv.gz")
"""Endings of the names of text files with tabs between fields."""
NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", " ": "spaces"}
VALUES = ("decimal", "date_format", "missing")
"""What may be declared about text wherever it stands, in a text file or in a column of another table."""
UNICODE = ("utf-8", "utf-16", "utf-16-le", "utf-16-be")


@dataclass(frozen=True)
class Dialect:
    """How a text file separates records and fields, and how its fields are read.

    Attributes:
        delimiter: What stands between fields.
        quote: What stands around a field that holds delimiters or line breaks; twice inside, it stands for itself.
            None if nothing is quoted.
        escape: What makes the next character an ordinary one, if anything does.
        encoding: How characters are written as bytes.
        header: The columns' names, for a file without a header line; None takes them from its first record.
        decimal: The decimal mark of its numbers: a point or a comma.
        date_format: How dates and times are written, such as ``"%d.%m.%Y"``; None means ISO 8601.
        missing: Words that mean a missing value, as empty text always does.

    >>> Dialect(delimiter=";", quote=None).describe()[0]
    'The file is read as text in utf-8, with semicolons between fields and nothing around them.'
    """

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    encoding: str = "utf-8"
    header: tuple[str, ...] | None = None
    decimal: str = "."
    date_format: str | None = None
    missing: tuple[str, ...] = MISSING

    def __post_init__(self) -> None:
        marks = {"delimiter": self.delimiter, "quote": self.quote, "escape": self.escape}
        for name, mark in marks.items():
            if (mark is not None or name == "delimiter") and not _is_mark(mark):
                raise SourceError(f"The {name} {mark!r} is not one ASCII character.", HINTS[name])
        used = [mark for mark in marks.values() if mark is not None]
        if len(set(used)) < len(used):
            raise SourceError("The delimiter, the quote and the escape are not all different.", "choose others.")
        object.__setattr__(self, "encoding", _encoding(self.encoding))
        if self.decimal not in (".", ","):
            raise SourceError(f"decimal={self.decimal!r} is not a decimal mark.", "pass a point or a comma.")
        _check_format(self.date_format)
        for name in ("header", "missing"):
            object.__setattr__(self, name, _listed(getattr(self, name), name))
        if len(self.missing) > MOST_MISSING_WORDS:
            raise SourceError(f"missing= lists more than {MOST_MISSING_WORDS} words.", "list fewer.")
        if self.header is not None and self.encoding == "utf-16":
            raise SourceError(
                "Without a header line, the order of the bytes of UTF-16 would be read from the first record.",
                "pass encoding='utf-16-le', or 'utf-16-be'.",
            )
        if self.header is not None and (not self.header or len(set(self.header)) < len(self.header)):
            raise SourceError("header= does not name every column once.", "pass one name for each field of a record.")

    @property
    def zoned(self) -> bool:
        """Whether dates are written in a format that holds an offset from UTC, or a zone."""
        return self.date_format is not None and "%z" in self.date_format.replace("%%", "").lower()

    def describe(self) -> tuple[str, ...]:
        """How records and fields are told apart and read, in sentences."""
        around = "nothing" if self.quote is None else f"quotes ({self.quote})"
        escape = "" if self.escape is None else f" {self.escape} makes the next character an ordinary one."
        between = NAMES.get(self.delimiter, repr(self.delimiter))
        cut = f"The file is read as text in {self.encoding}, with {between} between fields and {around} around them."
        return (
            cut + escape,
            f"{self._read()} In a record with more fields than there are columns, all values are missing.",
        )

    def _read(self) -> str:
        """How a field is read."""
        dates = "as in ISO 8601" if self.date_format is None else f"as {self.date_format}"
        words = "".join(f", {word}" for word in self.missing)
        return (
            f"Numbers are read with the decimal mark {self.decimal!r}, dates {dates}; a value that cannot be read this"
            f" way is missing. Unless the axis lists it, so is empty text{words}."
        )

    def describe_values(self, columns: tuple[str, ...] = ()) -> str:
        """How text is read that does not stand in a text file, in a sentence or two.

        >>> Dialect(missing=("?",)).describe_values(("age",))[:41]
        "The column 'age' is read from text. Numbe"
        """
        names = ", ".join(map(repr, columns))
        which = f"The column{'s' * (len(columns) != 1)} {names} {'is' if len(columns) == 1 else 'are'} read from text. "
        return (which if columns else "Text is read value by value. ") + self._read()

    def values(self) -> dict[str, Any]:
        """What is declared about values, apart from how a file is cut into them."""
        return {name: value for name, value in self.to_json().items() if name in VALUES}

    def to_json(self) -> dict[str, Any]:
        """Plain values, for a ledger."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def of(path: str | PathLike[str], **given: Any) -> Dialect:  # noqa: ANN401  the dialect checks them
    """The dialect of a file: as declared, and otherwise as the file's name implies.

    >>> of("people.csv").delimiter, of("people.csv", delimiter=";").delimiter
    (',', ';')
    """
    delimiter = "\t" if fspath(path).lower().endswith(TABS) else ","
    try:
        return Dialect(**{"delimiter": delimiter, **given})
    except TypeError:
        known = ", ".join(Dialect.__dataclass_fields__)
        raise SourceError("A text file has no such property.", f"pass some of {known}.") from None


def _is_mark(mark: object) -> bool:
    return isinstance(mark, str) and len(mark) == 1 and mark.isascii() and mark not in "\r\n\0" and not mark.isalnum()


def _encoding(name: object) -> str:
    """An encoding in which damage stays within one character: Unicode's own, and those of one byte per character."""
    try:
        found = codecs.lookup(name).name if isinstance(name, str) else ""
    except (LookupError, UnicodeError, ValueError):  # the last two for what is no name at all
        found = ""
    plain = "utf-8" if found == "utf-8-sig" else found
    if plain in UNICODE or _is_bytewise(plain):
        return plain
    raise SourceError(
        f"encoding={name!r} is neither Unicode nor an encoding with one byte for each character.",
        "pass 'utf-8', 'utf-16', 'latin-1' or 'cp1252', for example, or convert the file to UTF-8.",
    )


@cache
def _is_bytewise(encoding: str) -> bool:
    """Whether every byte is a character of its own, whatever bytes precede it, such as those that shift encodings."""
    shifted = b"".join(bytes([27, first, second]) for first in range(256) for second in range(256))
    try:
        alone = [bytes([byte]).decode(encoding, "replace") for byte in range(256)]
        return shifted.decode(encoding, "replace") == "".join(alone[byte] for byte in shifted)
    except Exception:  # noqa: BLE001  codecs raise errors of any kind
        return False


def _check_format(text: object) -> None:
    if text is None:
        return
    if not isinstance(text, str) or "%" not in text.replace("%%", "") or "\0" in text:
        raise SourceError(f"date_format={text!r} is not a format of dates.", "write one such as '%d.%m.%Y %H:%M'.")


def _listed(values: object, name: str) -> tuple[str, ...] | None:
    if values is None and name == "header":
        return None
    if not isinstance(values, (list, tuple)) or not all(isinstance(value, str) for value in values):
        raise SourceError(f"{name}= is not a list of text.", f"pass {name}=['a', 'b'], for example.")
    if not all(map(is_text, values)):
        raise SourceError(f"{name}= holds what no text file can hold.", "leave it out, or make it shorter.")
    return tuple(values)
