"""Text cut into records and fields. ``sources/reading.md`` says why that is stable.

First the bytes are marked that may end something, eight at a time; then one automaton goes from mark to mark.
"""

import numpy as np

from dawa.kernels.compiled import njit

START, PLAIN, QUOTED = 0, 1, 2
"""Where a byte can stand: where a field begins, inside one, or between its quotes."""
NONE = 256
"""No byte: stands for a quote or an escape that the dialect does not have."""
ONE = np.uint64(1)
"""Indices are unsigned: signed ones would be checked for being negative at every byte."""

TWO, THREE, FOUR, FIVE, SIX, SEVEN, EIGHT = (np.uint64(number) for number in range(2, 9))
TOP = np.uint64(56)
LOW = np.uint64(0x0101010101010101)
"""In each of the eight bytes of a word, the lowest bit."""


@njit(nogil=True, cache=True)
def marks(data, delimiter, quote, escape):
    """The places of all line breaks, delimiters, quotes and escapes, in their order."""
    size = len(data)
    flags = np.zeros((size + 7) // 8 * 8, np.uint8)
    line, back = np.uint8(10), np.uint8(13)
    first, second, third = _byte(delimiter), _byte(quote), _byte(escape)
    for i in range(size):  # compiled to comparisons of many bytes at once
        byte = data[i]
        flags[i] = (byte == line) | (byte == back) | (byte == first) | (byte == second) | (byte == third)
    words = flags.view(np.uint64)
    count = np.uint64(0)
    for word in words:
        count += (word * LOW) >> TOP
    found = np.empty(count + TWO, np.uint32)
    at = np.uint64(0)
    base = np.uint64(0)
    for word in words:
        several = (word * LOW) >> TOP
        lowest = word & (~word + ONE)
        rest = word ^ lowest
        following = rest & (~rest + ONE)
        # Two places are written for every word, whether it has them or not: that is cheaper than to ask.
        found[at] = base + _below(lowest)
        found[at + ONE] = base + _below(following)
        if several > TWO:
            more = at + TWO
            rest ^= following
            while rest:
                lowest = rest & (~rest + ONE)
                found[more] = base + _below(lowest)
                more += ONE
                rest ^= lowest
        at += several
        base += np.uint64(8)
    return found[:count]


@njit(nogil=True, cache=True)
def split(data, marked, last, delimiter, quote, escape, mode, skip, most, slot, text, ends):
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
        ends: For every wanted column, where its values end in ``text``; the first entry is 0.

    Returns:
        How many records were copied, and where the next one begins; then, inside that record, how far the bytes are
        understood, and where the byte there stands.
    """
    columns, slots = len(slot), len(text)
    final = columns - 1
    place = np.zeros(slots, np.uint64)
    size, most = np.uint64(len(data)), np.uint64(most)
    k, marks_there = np.uint64(0), np.uint64(len(marked))
    i = np.uint64(0)
    begin = i  # of what is not copied yet
    after = i  # where the last whole record ended
    column, into, blank, surplus = 0, slot[0], not skip, False
    rows = np.uint64(0)
    while i < size:
        if mode == START:
            mode = PLAIN
            if i == after and i + TWO < size and data[i] == 0xEF and data[i + ONE] == 0xBB and data[i + TWO] == 0xBF:
                i += THREE
                begin = i
            while into < 0 and column < final and k + THREE < marks_there:  # over simple fields that are not wanted
                at, over = np.uint64(marked[k]), ONE
                if at < i:
                    k += ONE
                    continue
                if at == i and data[at] == quote and data[marked[k + ONE]] == quote:
                    at, over = np.uint64(marked[k + TWO]), THREE
                if data[at] != delimiter:
                    break
                k += over
                column += 1
                into, blank = slot[column], False
                begin = i = at + ONE
            if i < size and data[i] == quote:
                mode, blank = QUOTED, False
                i += ONE
                begin = i
                continue
        stop = size
        while k < marks_there:  # to the next mark that means something here
            at = np.uint64(marked[k])
            if at >= i and (data[at] == escape or (data[at] == quote) == (mode == QUOTED)):
                stop = at
                break
            k += ONE
        i = stop
        if begin < i:
            blank, surplus = False, surplus or column >= columns
            _copy(data, begin, i, into, text, place)
            begin = i
        if i == size:
            break
        byte, ends_here = data[i], i + ONE == size
        if ends_here and not last and byte != delimiter and byte != 10:  # noqa: PLR1714  compiled
            break  # the next byte decides what this one means
        if byte == escape or (mode == QUOTED and not ends_here and data[i + ONE] == quote):
            begin = i + ONE  # the next byte stands for itself
            i += TWO
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
            if skip or blank or i - after > most:
                for s in range(slots):
                    place[s] = ends[s, rows]
            else:
                rows = _record(rows, surplus, text, place, ends)
            i += ONE
            if byte == 13 and i < size and data[i] == 10:
                i += ONE
            after = begin = i
            column, into, blank, surplus, skip, mode = 0, slot[0], True, False, False, START
    if last:
        if begin < size:  # a byte that an escape has made ordinary
            blank, surplus = False, surplus or column >= columns
            _copy(data, begin, size, into, text, place)
        if not blank and not skip and size - after <= most:
            rows = _record(rows, surplus, text, place, ends)
    return rows, after, min(i, size), mode


@njit(nogil=True, cache=True, inline="always")
def _record(rows, surplus, text, place, ends):
    """Note where the values of a record end."""
    for s in range(len(text)):
        if surplus:
            place[s] = ends[s, rows]
            text[s, place[s]] = 0xFF
            place[s] += ONE
        ends[s, rows + ONE] = place[s]
    return rows + ONE


@njit(nogil=True, cache=True, inline="always")
def _copy(data, begin, end, into, text, place):
    """Append a stretch of bytes to a column's text, if the column is wanted."""
    if into >= 0:
        at, size = place[into], np.uint64(len(data))
        place[into] = at + end - begin
        while begin < end and begin + EIGHT <= size:  # the next value overwrites what is too much
            a, b, c, d = data[begin], data[begin + ONE], data[begin + TWO], data[begin + THREE]
            e, f, g, h = data[begin + FOUR], data[begin + FIVE], data[begin + SIX], data[begin + SEVEN]
            text[into, at], text[into, at + ONE], text[into, at + TWO], text[into, at + THREE] = a, b, c, d
            text[into, at + FOUR], text[into, at + FIVE], text[into, at + SIX], text[into, at + SEVEN] = e, f, g, h
            begin += EIGHT
            at += EIGHT
        while begin < end:
            text[into, at] = data[begin]
            begin += ONE
            at += ONE


@njit(nogil=True, cache=True, inline="always")
def _below(lowest):
    """How many bytes of a word lie below the one whose lowest bit this is."""
    return (((lowest - ONE) & LOW) * LOW) >> TOP


@njit(nogil=True, cache=True)
def _byte(mark):
    """A byte to look for, or a line feed if there is none to look for."""
    return np.uint8(mark if mark < NONE else 10)
