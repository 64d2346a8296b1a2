"""The rows of a sheet of an Excel workbook, cell by cell. ``reading.md`` has the proof.

A cell is text of a declared kind: a number, a string, a truth value, an error. What becomes of it depends on that text
and kind alone. How a cell looks is never asked: dates are numbers that an axis of dates reads as days, as does a
condition that compares them with a date.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute

from dawa.errors import SourceError
from dawa.limits import MOST_RECORD_BYTES, MOST_SHARED_BYTES
from dawa.sources import packages
from dawa.sources.packages import Package
from dawa.sources.places import BLOCK
from dawa.sources.values import TEXT

BATCH = 2**15
"""Rows that are handed over at once."""
DIGITS = "0123456789"
ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
"""How a string holds a character that XML cannot."""
WORDS = {"1": "true", "true": "true", "0": "false", "false": "false"}
MILLISECONDS = 86_400_000
"""Those of a day: Excel's times are no finer."""
LEAP = 60
"""The number of 29 February 1900, a day that never was."""
ORIGINS = {False: -25_569, True: -24_107}
"""Day 0, in days since 1970, as later days are counted; by whether they are counted from 1904."""
LAST = {False: 2_958_466, True: 2_957_004}
"""The day after 31 December 9999, by whether days are counted from 1904."""

Cell = tuple[str, str]
"""The kind of a cell, and its text."""


INSIDE = {
    "": {"worksheet"},
    "worksheet": {"sheetData"},
    "sheetData": {"row"},
    "row": {"c"},
    "c": {"v", "is"},
    "is": {"t", "r"},
    "r": {"t"},
    "v": set(),
    "t": set(),
}
"""Which elements of a sheet matter inside which; all others are passed over with all that is in them."""


class Rows:
    """What a parser of a sheet calls; it gathers the cells of the columns that are wanted.

    Attributes:
        inside: Whether the first row may begin.
        done: Whether the list of rows has ended; nothing after it is looked at.
        rows: The rows that have ended: for each of them, the wanted cells by their slots.
    """

    def __init__(self, slots: Mapping[str, int] | None) -> None:
        """Start before the first row.

        Args:
            slots: The slot of each wanted column, by the letters of the column; None wants all, by their letters.
        """
        self.inside = self.done = False
        self.rows: list[dict[Any, Cell]] = []
        self._slots = slots
        self._here, self._skipped = [""], 0
        self._cells: dict[Any, Cell] = {}
        self._filled, self._letters, self._kind = False, "", ""
        self._slot: Any = None
        self._text: list[str] = []
        self._size = 0

    def attach(self, parser: Any) -> None:  # noqa: ANN401  expat has no name for it
        """Let a parser call this."""
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag if ":" not in tag else packages.local(tag)
        if self._skipped or name not in INSIDE[self._here[-1]]:
            self._skipped += 1
            return
        self._here.append(name)
        if name == "c":
            reference = attributes.get("r")
            letters = _next(self._letters) if reference is None else reference.rstrip(DIGITS)
            self._letters, self._kind = letters, attributes.get("t", "n")
            self._slot = letters if self._slots is None else self._slots.get(letters)
            self._text, self._size = [], 0
        elif name == "row":
            self._cells, self._filled, self._letters = {}, False, ""
        elif name == "sheetData":
            self.inside = True

    def _characters(self, text: str) -> None:
        if not self._skipped and self._here[-1] in {"v", "t"}:
            self._filled = True
            self._size += len(text)
            if self._slot is not None and self._size <= MOST_RECORD_BYTES:
                self._text.append(text)

    def _end(self, _: str) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        name = self._here.pop()
        if name == "c" and self._slot is not None:
            self._cells.pop(self._slot, None)  # of cells that come twice, the last one counts
            if self._text and self._size <= MOST_RECORD_BYTES:
                self._cells[self._slot] = self._kind, "".join(self._text)
        elif name == "row":
            if self._filled:
                self.rows.append(self._cells)
        elif name == "sheetData":
            self.done = True
            self._skipped = 1  # until the sheet ends: a second list of rows holds no records


def first(package: Package, part: str, *, header: bool) -> dict[str, Cell]:
    """The first row that is not empty, by the letters of its columns; nothing after that row is read.

    Where no row is a header, nothing is read but what stands before all rows.

    Raises:
        SourceError: If there is no such row near the beginning.
    """
    reader, made = Rows(None), packages.parser(at_once=True)
    reader.attach(made)
    for size, byte in enumerate(package.single(part)):
        if size == MOST_RECORD_BYTES:
            raise SourceError(
                f"The first row of the sheet in {package.path} is too long for a header.",
                "if the sheet has no header row, name its columns: --header id,age.",
            )
        packages.feed(package.path, made, byte)
        if reader.rows or reader.done or (reader.inside and not header):
            return reader.rows[0] if reader.rows else {}
    return {}


@dataclass(frozen=True)
class Reader:
    """How the wanted columns of a sheet become Arrow batches.

    Attributes:
        package: The workbook.
        part: The sheet.
        shared: The part that holds the strings of all sheets, if there is one.
        slots: For every wanted column its letters; a column that no cell can be in has none.
        serial: For every wanted column, whether its numbers may be days.
        late: Whether days are counted from 1904.
        decimal: The decimal mark of numbers in text; those in cells get it too, so that both are read alike.
        header: Whether the first row that is not empty is a header, and no record.
    """

    package: Package
    part: str
    shared: str | None
    slots: tuple[str, ...]
    serial: tuple[bool, ...]
    late: bool
    decimal: str
    header: bool

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows: for every wanted column its text; if numbers may be days, also text without them, and moments."""
        strings = shared(self.package, self.shared)
        reader, made = Rows({letters: slot for slot, letters in enumerate(self.slots)}), packages.parser()
        reader.attach(made)
        header = self.header
        for piece in self.package.pieces(self.part, BLOCK // 8):
            packages.feed(self.package.path, made, piece)
            if header and reader.rows:
                del reader.rows[0]
                header = False
            if len(reader.rows) >= BATCH:
                yield self._batch(reader.rows, strings)
                reader.rows = []
        packages.feed(self.package.path, made, b"", last=True)
        if not reader.done:
            raise packages.damaged(self.package.path)
        yield self._batch(reader.rows[1:] if header else reader.rows, strings)

    def _batch(self, rows: list[dict[Any, Cell]], strings: pa.Array) -> pa.RecordBatch:
        arrays = []
        for slot, serial in enumerate(self.serial):
            cells = [row.get(slot) for row in rows]
            texts = self._texts(cells, strings)
            arrays.append(texts)
            if serial:
                numbers = pa.array([cell is not None and cell[0] == "n" for cell in cells], pa.bool_())
                arrays.append(pa.compute.if_else(numbers, pa.scalar(None, TEXT), texts))
                arrays.append(pa.array([_moment(cell, late=self.late) for cell in cells], pa.int64()))
        return pa.RecordBatch.from_arrays(arrays, [str(place) for place in range(len(arrays))])

    def _texts(self, cells: list[Cell | None], strings: pa.Array) -> pa.Array:
        """Cells as text."""
        found = [None if cell is None else plain(*cell, self.decimal) for cell in cells]
        own = pa.array([None if isinstance(one, int) else one for one in found], TEXT)
        places = [one if isinstance(one, int) and one < len(strings) else None for one in found]
        if all(place is None for place in places):
            return own
        return pa.compute.coalesce(own, strings.take(pa.array(places, pa.int64())))


def plain(kind: str, text: str, decimal: str = ".") -> str | int | None:
    """What a cell says: text, the place of a shared string, or nothing."""
    if kind == "s":
        place = text.strip()
        return int(place) if place.isascii() and place.isdigit() and len(place) < 10 else None
    if kind == "n":
        return text.strip().replace(".", decimal)
    if kind in ("str", "inlineStr"):
        return unescaped(text)
    if kind == "b":
        return WORDS.get(text.strip())
    return text if kind == "d" else None


def unescaped(text: str) -> str | None:
    r"""A string as it was typed; None if it is not text.

    >>> unescaped("a_x000D_b"), unescaped("_x005F_x000D_")
    ('a\rb', '_x000D_')
    """
    plain = ESCAPE.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text
    try:
        return plain.encode("utf-16", "surrogatepass").decode("utf-16")  # escapes may be halves of a character
    except UnicodeDecodeError:
        return None


def _moment(cell: Cell | None, *, late: bool) -> int | None:
    """The moment that a number stands for, in microseconds since 1970, to the nearest millisecond.

    >>> _moment(("n", "41275.5"), late=False) == 1_357_041_600_000_000  # 2013-01-01 12:00
    True
    """
    if cell is None or cell[0] != "n":
        return None
    try:
        days = float(cell[1])
    except ValueError:
        return None
    if not 0 <= days < LAST[late] or (not late and LEAP <= days < LEAP + 1):
        return None
    early = not late and days < LEAP
    return round((days + ORIGINS[late] + early) * MILLISECONDS) * 1000


def few(package: Package, part: str | None, most: int) -> list[str | None]:
    """The first strings that cells refer to by their places; nothing after them is read."""
    reader, made = _Strings(), packages.parser(at_once=True)
    if part is None:
        return []
    reader.attach(made)
    for byte in package.single(part):
        packages.feed(package.path, made, byte)
        if reader.begun and len(reader.found) >= most:
            return reader.found
    packages.feed(package.path, made, b"", last=True)
    return reader.found


def shared(package: Package, part: str | None) -> pa.Array:
    """All strings that cells refer to by their places.

    Raises:
        SourceError: If they do not fit in memory.
    """
    reader, made, chunks, held = _Strings(), packages.parser(), [], 0
    if part is None:
        return pa.array([], TEXT)
    reader.attach(made)
    for piece in package.pieces(part, BLOCK // 8):
        packages.feed(package.path, made, piece)
        chunks.append(pa.array(reader.found, TEXT))
        reader.found.clear()
        held += chunks[-1].nbytes
        if held > MOST_SHARED_BYTES:
            raise SourceError(f"The strings in {package.path} do not fit in memory.", "save the sheet as a .csv file.")
    packages.feed(package.path, made, b"", last=True)
    return pa.concat_arrays([*chunks, pa.array(reader.found, TEXT)])


INSIDE_STRINGS = {"": {"sst"}, "sst": {"si"}, "si": {"t", "r"}, "r": {"t"}, "t": set[str]()}
"""The same for shared strings: how they are pronounced, for example, is passed over."""


class _Strings:
    """What a parser of shared strings calls.

    Attributes:
        begun: Whether the first string may begin.
        found: The strings that have ended.
    """

    def __init__(self) -> None:
        self.begun = False
        self.found: list[str | None] = []
        self._here, self._skipped = [""], 0
        self._text: list[str] = []
        self._size = 0

    def attach(self, parser: Any) -> None:  # noqa: ANN401  expat has no name for it
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters

    def _start(self, tag: str, _: dict[str, str]) -> None:
        name = packages.local(tag)
        self.begun = True
        if self._skipped or name not in INSIDE_STRINGS[self._here[-1]]:
            self._skipped += 1
            return
        self._here.append(name)
        if name == "si":
            self._text, self._size = [], 0

    def _characters(self, text: str) -> None:
        if not self._skipped and self._here[-1] == "t":
            self._size += len(text)
            if self._size <= MOST_RECORD_BYTES:
                self._text.append(text)

    def _end(self, _: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif self._here.pop() == "si":
            self.found.append(unescaped("".join(self._text)) if self._size <= MOST_RECORD_BYTES else None)


def _next(letters: str) -> str:
    """The column after another.

    >>> _next(""), _next("A"), _next("AZ"), _next("ZZ")
    ('A', 'B', 'BA', 'AAA')
    """
    return column(number(letters) + 1)


def number(letters: str) -> int:
    """The number of a column, from 1; 0 stands before the first.

    >>> number("A"), number("AB"), number("")
    (1, 28, 0)
    """
    found = 0
    for letter in letters[:4]:
        found = found * 26 + max(ord(letter) - 64, 0) % 27
    return found


def column(place: int) -> str:
    """The letters of a column.

    >>> column(1), column(28)
    ('A', 'AB')
    """
    letters = ""
    while place > 0:
        place, rest = divmod(place - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
