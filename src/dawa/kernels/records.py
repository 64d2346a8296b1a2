"""Text cut into records and fields. ``sources/reading.md`` says why that is stable.

First the bytes are marked that may end something, many at a time; then one automaton goes from mark to mark.
"""

import numpy as np
from numpy.typing import NDArray

from dawa.arrays import IntArray
from dawa.errors import InvariantError
from dawa.kernels.native import Kernel

START, PLAIN, QUOTED = 0, 1, 2
"""Where a byte can stand: where a field begins, inside one, or between its quotes."""
NONE = 256
"""No byte: stands for a quote or an escape that the dialect does not have."""
SLACK = 8
"""How many bytes longer than the data a text is: it is written eight bytes at a time."""
SPARE = 8
"""How many places more than there are marks are written."""
SHORT = 2**12
"""So few bytes get a place each; in more of them, the marks are counted first."""

_count_marks = Kernel("records_count_marks")
_find_marks = Kernel("records_find_marks")
_split = Kernel("records_split")


def marks(data: NDArray[np.uint8], delimiter: int, quote: int, escape: int) -> NDArray[np.uint32]:
    """The places of all line breaks, delimiters, quotes and escapes, in their order."""
    if len(data) >= 2**32:
        raise InvariantError("A stretch of text is too long to count its bytes in 32 bits.")
    room = len(data)
    if room > SHORT:
        room = _count_marks(len(data), data, delimiter, quote, escape)
    found = np.empty(room + SPARE, np.uint32)
    return found[: _find_marks(len(data), data, delimiter, quote, escape, found)]


def split(
    data: NDArray[np.uint8],
    marked: NDArray[np.uint32],
    last: bool,  # noqa: FBT001  one of many arguments
    delimiter: int,
    quote: int,
    escape: int,
    mode: int,
    skip: bool,  # noqa: FBT001
    most: int,
    slot: IntArray,
    text: NDArray[np.uint8],
    ends: IntArray,
) -> tuple[int, int, int, int]:
    """Copy the wanted fields of every whole record, and say where the last whole record ends.

    A record ends with a line feed, a carriage return, or both. Empty lines are not records. A record that is too long
    is left out. Fields that a record lacks are empty. If it has more fields than there are columns, and the surplus is
    not empty, nobody knows which field is which: each is a byte that is no text. A byte order mark where a record
    begins is not part of it.

    Args:
        data: Bytes that begin with a record, unless ``mode`` and ``skip`` say otherwise.
        marked: Where its ``marks`` are.
        last: Whether no bytes follow.
        delimiter: A byte.
        quote: A byte, or ``NONE``.
        escape: A byte, or ``NONE``.
        mode: Where the first byte stands.
        skip: Whether the first record is left out.
        most: How many bytes a record may have, without its end.
        slot: For every column, the row of ``text`` that it goes to, or -1.
        text: One row of bytes for every wanted column, eight bytes longer than ``data``.
        ends: For every wanted column, where its values end in ``text``, after a 0; two more than there are marks.

    Returns:
        How many records were copied, and where the next one begins; then, inside that record, how far the bytes are
        understood, and where the byte there stands.
    """
    size, count, (slots, width), (rows, room) = len(data), len(marked), text.shape, ends.shape
    if not len(slot) or slots != rows or (slots and (width < size + SLACK or room < count + 2)):
        raise InvariantError("There is no room for the columns of a text.")
    if count and marked[-1] >= size:
        raise InvariantError("The marks are those of another text.")
    place, state = np.empty(slots, np.int64), np.empty(4, np.int64)
    read = (size, data, count, marked, last, delimiter, quote, escape, mode, skip, most)
    if not _split(*read, len(slot), slot, slots, width, text, room, ends, place, state):
        raise InvariantError("A column has no room of its own.")
    copied, after, understood, there = state.tolist()
    return copied, after, understood, there
