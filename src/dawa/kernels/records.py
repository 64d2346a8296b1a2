"""Text cut into records and fields, in one pass over its bytes. ``sources/reading.md`` says why that is stable."""

import numpy as np
from numba import njit

START, PLAIN, QUOTED = 0, 1, 2
"""Where a byte can stand: where a field begins, inside one, or between its quotes."""
NONE = 256
"""No byte: stands for a quote or an escape that the dialect does not have."""
ONE = np.uint64(1)
"""Indices are unsigned: signed ones would be checked for being negative at every byte."""

TWO = np.uint64(2)
THREE, SEVEN, TOP = np.uint64(3), np.uint64(7), np.uint64(56)
LOW, REST, HIGH = (np.uint64(byte * 0x0101010101010101) for byte in (0x01, 0x7F, 0x80))
"""In each of the eight bytes of a word: the lowest bit, all bits but the highest, and the highest bit."""
CONTROL = np.uint64((0x80 - 14) * 0x0101010101010101)
"""Added to the lower seven bits of a byte, it sets the eighth unless they are below 14, as line breaks are."""
EVERY = np.uint64(2**64 - 1)


@njit(nogil=True, cache=True)
def split(data, words, last, delimiter, quote, escape, mode, skip, most, slot, text, ends):
    """Copy the wanted fields of every whole record, and say where the last whole record ends.

    A record ends with a line feed, a carriage return, or both. Empty lines are not records. A record is left out if it
    is too long, or if it has more fields than there are columns and the surplus is not empty. Fields that a record
    lacks are empty. A byte order mark where a record begins is not part of it.

    Args:
        data: Bytes that begin with a record, unless ``mode`` and ``skip`` say otherwise.
        words: The same bytes, eight at a time, without the remainder.
        last: Whether no bytes follow.
        delimiter: A byte.
        quote: A byte, or ``NONE``.
        escape: A byte, or ``NONE``.
        mode: Where the first byte stands.
        skip: Whether the first record is left out.
        most: How many bytes a record may have, with its end.
        slot: For every column, the row of ``text`` that it goes to, or -1.
        text: One row of bytes for every wanted column, as long as ``data``.
        ends: For every wanted column, where its values end in ``text``; the first entry is 0.

    Returns:
        How many records were copied, and where the next one begins; then, inside that record, how far the bytes are
        understood, and where the byte there stands.
    """
    columns, slots = len(slot), len(text)
    special = np.zeros(NONE + 1, np.bool_)
    special[10] = special[13] = special[delimiter] = special[escape] = True
    between, before = _eightfold(delimiter), _eightfold(escape)
    full = np.uint64(len(words))
    place = np.zeros(slots, np.uint64)
    size, most = np.uint64(len(data)), np.uint64(most)
    i = np.uint64(0)
    begin = i  # of what is not copied yet
    after = i  # where the last whole record ended
    column, into, blank = 0, slot[0], not skip
    rows = np.uint64(0)
    while i < size:
        if mode == START:
            mode = PLAIN
            if i == after and i + TWO < size and data[i] == 0xEF and data[i + ONE] == 0xBB and data[i + TWO] == 0xBF:
                i += THREE
                begin = i
            if i < size and data[i] == quote:
                mode, blank = QUOTED, False
                i += ONE
                begin = i
                continue
        while mode == QUOTED and i < size and data[i] != quote and data[i] != escape:
            i += ONE
        while (
            mode == PLAIN
        ):  # up to the next special byte, or the end: eight at a time, of which few need a closer look
            at = i >> THREE
            if at < full:
                found = _marked(words[at], between, before) & (EVERY << ((i & SEVEN) << THREE))
                while found == 0 and at + ONE < full:
                    at += ONE
                    found = _marked(words[at], between, before)
                lowest = found & (~found + ONE)  # the highest bit of the first byte that is marked
                i = (at << THREE) + ((((lowest - ONE) & LOW) * LOW) >> TOP) - ONE
            if i >= size or special[data[i]]:
                break
            i += ONE
        if begin < i:
            blank, skip = False, skip or column >= columns
            _copy(data, begin, i, into, text, place)
            begin = i
        if i == size:
            break
        byte, ends_here = data[i], i + ONE == size
        if ends_here and not last and byte != delimiter and byte != 10:  # noqa: PLR1714  compiled
            break  # the next byte decides what this one means
        if byte == escape or (mode == QUOTED and not ends_here and data[i + ONE] == quote):
            begin = i + ONE  # the next byte stands for itself
            i += ONE + ONE
        elif mode == QUOTED:
            mode = PLAIN
            i += ONE
            begin = i
        elif byte == delimiter:
            column += 1
            into = slot[column] if column < columns else -1
            mode, blank = START, False
            i += ONE
            begin = i
        else:
            i += ONE
            if byte == 13 and i < size and data[i] == 10:
                i += ONE
            if skip or blank or i - after > most:
                for s in range(slots):
                    place[s] = ends[s, rows]
            else:
                rows += ONE
                for s in range(slots):
                    ends[s, rows] = place[s]
            after = begin = i
            column, into, blank, skip, mode = 0, slot[0], True, False, START
    if last:
        if begin < size:  # a byte that an escape has made ordinary
            blank, skip = False, skip or column >= columns
            _copy(data, begin, size, into, text, place)
        if not blank and not skip and size - after <= most:
            rows += ONE
            for s in range(slots):
                ends[s, rows] = place[s]
    return rows, after, min(i, size), mode


@njit(nogil=True, cache=True, inline="always")
def _copy(data, begin, end, into, text, place):
    """Append a stretch of bytes to a column's text, if the column is wanted."""
    if into >= 0:
        at = place[into]
        for j in range(begin, end):
            text[into, at] = data[j]
            at += ONE
        place[into] = at


@njit(nogil=True, cache=True, inline="always")
def _marked(word, first, second):
    """The highest bit of every byte that equals the first or the second, or is below 14 as line breaks are."""
    low = ~(((word & REST) + CONTROL) | word) & HIGH
    return low | _zeros(word ^ first) | _zeros(word ^ second)


@njit(nogil=True, cache=True, inline="always")
def _zeros(word):
    """The highest bit of every byte that is 0."""
    return ~(((word & REST) + REST) | word | REST)


@njit(nogil=True, cache=True)
def _eightfold(byte):
    """A word of eight copies of a byte, or of line feeds if the byte is ``NONE``."""
    return LOW * np.uint64(byte if byte < NONE else 10)
