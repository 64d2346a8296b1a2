"""Lines of JSON, and the values of a few keys in each, in one pass. ``sources/reading.md`` says why that is stable.

Wanted keys form a tree, because ``visit.age`` is the key ``age`` of the object under the key ``visit``. Node 0 stands
for a line's own object. ``child`` and ``sibling`` lead from a node to its first child and to the next one of its
parent's (-1: none), ``name`` holds the node's key as bytes between ``name_at[node]`` and ``name_at[node + 1]``, and
``slot`` is the value that is wanted there (-1: none). Slots are numbered so that those at a node and below it are
``low[node]`` to ``high[node]``, without the last.
"""

import numpy as np

from dawa.kernels.compiled import njit

ABSENT, NOTHING, PLAIN, BARE, ESCAPED = 0, 1, 2, 3, 4
"""What a slot holds: nothing was found; null, an object or a list; a string; a number or word; an escaped string."""
KEY, KEY_OR_END, VALUE, VALUE_OR_END, NEXT = 0, 1, 2, 3, 4
"""What may come next in a line: ``NEXT`` is what follows a value."""
BLANK, BROKEN, WHOLE = 0, 1, 2
"""What a line is: white space alone, something else than a JSON object, or a JSON object."""

TAB, NEW_LINE, RETURN, SPACE = b"\t\n\r "
QUOTE, COMMA, COLON, OPEN, OPEN_LIST, BACKSLASH = b'",:{[\\'
ZERO, NINE, PLUS, MINUS, POINT, SMALL_E, LARGE_E, SMALL_U = b"09+-.eEu"
LETTERS = np.zeros(256, np.uint8)
"""What stands for a character after a backslash, by the byte there; 0 if nothing does."""
for _letter, _byte in zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True):
    LETTERS[_letter] = _byte
HEX = np.full(256, -1, np.int64)
"""What a hexadecimal digit is worth; -1 for other bytes."""
for _value in range(16):
    HEX[ord(f"{_value:x}")] = HEX[ord(f"{_value:X}")] = _value
WORDS = np.zeros((6, 9), np.uint8)
"""Values that are words; Python writes the last three too."""
for _place, _word in enumerate((b"true", b"false", b"null", b"NaN", b"Infinity", b"-Infinity")):
    WORDS[_place, : len(_word)] = np.frombuffer(_word, np.uint8)
NULL = 2
"""The place of ``null`` among the words."""


@njit(nogil=True, cache=True)
def pick(data, most, deepest, point, tree, column, text, ends, there):
    """Copy the wanted values of every line.

    A line ends with a line feed. Lines of white space are not records, and lines that are too long are left out. A line
    that is not a JSON object has no values.

    Args:
        data: Bytes that begin with a line.
        most: How many bytes a line may have, without its end.
        deepest: How many objects and lists may lie in one another.
        point: What becomes of the decimal point of a number: a byte.
        tree: ``child``, ``sibling``, ``name``, ``name_at``, ``slot``, ``low`` and ``high``, as the module says.
        column: For every wanted column, its two slots: of the plain key, and of the keys that its dots separate.
        text: One row of bytes for every wanted column, as long as ``data``.
        ends: For every wanted column, where its values end in ``text``; the first entry is 0.
        there: For every wanted column, whether each value is there.

    Returns:
        How many records there are.
    """
    columns, slots = len(column), 0
    for c in range(columns):
        slots = max(slots, column[c, 0] + 1, column[c, 1] + 1)
    kind, begin, end = np.zeros(slots, np.int64), np.zeros(slots, np.int64), np.zeros(slots, np.int64)
    kinds, nodes = np.zeros(deepest, np.uint8), np.zeros(deepest, np.int64)
    size, i, rows = len(data), 0, 0
    while i < size:
        first = i
        while i < size and data[i] != NEW_LINE:
            i += 1
        stop = i
        i = min(i + 1, size)
        kind[:] = ABSENT
        found = _line(data, first, stop, deepest, tree, kinds, nodes, kind, begin, end)
        if found == BLANK or stop - first > most:
            continue
        for c in range(columns):
            s = column[c, 0] if kind[column[c, 0]] != ABSENT else column[c, 1]
            at = ends[c, rows]
            there[c, rows] = found == WHOLE and kind[s] >= PLAIN
            if there[c, rows] and kind[s] == ESCAPED:
                at = _unescaped(data, begin[s], end[s], text[c], at)
            elif there[c, rows]:
                for j in range(begin[s], end[s]):
                    text[c, at] = point if kind[s] == BARE and data[j] == POINT else data[j]
                    at += 1
            ends[c, rows + 1] = at
        rows += 1
    return rows


@njit(nogil=True, cache=True)
def _line(data, i, stop, deepest, tree, kinds, nodes, kind, begin, end):  # noqa: PLR0911  every way to be broken
    """Check one line against the grammar of JSON, and note where its wanted values are."""
    slot, low, high = tree[4], tree[5], tree[6]
    if stop - i >= 3 and data[i] == 0xEF and data[i + 1] == 0xBB and data[i + 2] == 0xBF:
        i += 3  # a byte order mark, before any line
    i = _space(data, i, stop)
    if i == stop:
        return BLANK
    if data[i] != OPEN:
        return BROKEN
    depth, kinds[0], nodes[0], expected, node = 0, OPEN, 0, KEY_OR_END, -1
    i += 1
    while depth >= 0:
        i = _space(data, i, stop)
        if i == stop:
            return BROKEN
        byte = data[i]
        if expected == NEXT and byte == COMMA:
            expected = KEY if kinds[depth] == OPEN else VALUE
            node = -1
            i += 1
        elif expected not in (VALUE, KEY) and byte == kinds[depth] + 2:  # "}" is two after "{", and "]" after "["
            depth -= 1
            expected = NEXT
            i += 1
        elif expected in (KEY, KEY_OR_END) and byte == QUOTE:
            first = i + 1
            i, escaped = _string(data, first, stop)
            if i == stop:
                return BROKEN
            node = _child(data, first, i, escaped, nodes[depth], tree) if nodes[depth] >= 0 else -1
            if node >= 0:
                kind[low[node] : high[node]] = ABSENT  # of keys that come twice, the last one counts
            i = _space(data, i + 1, stop)
            if i == stop or data[i] != COLON:
                return BROKEN
            expected = VALUE
            i += 1
        elif expected in (VALUE, VALUE_OR_END):
            wanted = slot[node] if node >= 0 else -1
            found, first, last = NOTHING, i, i
            if byte in (OPEN, OPEN_LIST):
                if depth + 1 == deepest:
                    return BROKEN
                depth += 1
                kinds[depth], nodes[depth] = byte, node if byte == OPEN else -1
                expected = KEY_OR_END if byte == OPEN else VALUE_OR_END
                node = -1
                i += 1
            else:
                expected = NEXT
                if byte == QUOTE:
                    first = i + 1
                    last, escaped = _string(data, first, stop)
                    if last == stop:
                        return BROKEN
                    found, i = ESCAPED if escaped else PLAIN, last + 1
                else:
                    i, null = _bare(data, i, stop)
                    if i == first:
                        return BROKEN
                    found, last = NOTHING if null else BARE, i
            if wanted >= 0:
                kind[wanted], begin[wanted], end[wanted] = found, first, last
        else:
            return BROKEN
    return WHOLE if _space(data, i, stop) == stop else BROKEN


@njit(nogil=True, cache=True, inline="always")
def _space(data, i, stop):
    """Where white space ends."""
    while i < stop and (data[i] == SPACE or data[i] == TAB or data[i] == RETURN):
        i += 1
    return i


@njit(nogil=True, cache=True)
def _string(data, i, stop):  # noqa: PLR0911  likewise
    """Where a string's closing quote stands, or ``stop`` if this is no string; and whether it has escapes."""
    escaped = False
    while i < stop:
        byte = data[i]
        if byte == QUOTE:
            return i, escaped
        if byte < SPACE:
            return stop, escaped
        if byte == BACKSLASH:
            escaped = True
            i += 1
            if i == stop:
                return stop, escaped
            if data[i] == SMALL_U:
                if i + 4 >= stop:
                    return stop, escaped
                for j in range(i + 1, i + 5):
                    if HEX[data[j]] < 0:
                        return stop, escaped
                i += 4
            elif LETTERS[data[i]] == 0:
                return stop, escaped
        i += 1
    return stop, escaped


@njit(nogil=True, cache=True)
def _bare(data, i, stop):
    """Where a number or a word ends, which is where it begins if there is none; and whether it is ``null``."""
    for word in range(len(WORDS)):
        size = 0
        while size < WORDS.shape[1] and i + size < stop and WORDS[word, size] == data[i + size]:
            size += 1
        if size == WORDS.shape[1] or WORDS[word, size] == 0:
            return i + size, word == NULL
    first = i
    if data[i] == MINUS:
        i += 1
    whole = i
    i = _digits(data, i, stop)
    if i == whole or (data[whole] == ZERO and i > whole + 1):
        return first, False
    if i < stop and data[i] == POINT:
        after = i + 1
        i = _digits(data, after, stop)
        if i == after:
            return first, False
    if i < stop and (data[i] == SMALL_E or data[i] == LARGE_E):
        i += 1
        if i < stop and (data[i] == PLUS or data[i] == MINUS):
            i += 1
        after = i
        i = _digits(data, after, stop)
        if i == after:
            return first, False
    return i, False


@njit(nogil=True, cache=True, inline="always")
def _digits(data, i, stop):
    """Where digits end."""
    while i < stop and ZERO <= data[i] <= NINE:
        i += 1
    return i


@njit(nogil=True, cache=True)
def _child(data, first, last, escaped, node, tree):
    """The child of a node whose key this is; -1 if there is none."""
    if not escaped:
        return _named(data, first, last - first, node, tree)
    plain = np.empty(last - first, np.uint8)
    return _named(plain, 0, _unescaped(data, first, last, plain, 0), node, tree)


@njit(nogil=True, cache=True)
def _named(data, first, size, node, tree):
    """The child of a node that has these bytes as its key; -1 if there is none."""
    child, sibling, name, name_at = tree[0], tree[1], tree[2], tree[3]
    found = child[node]
    while found >= 0:
        at, same = name_at[found], 0
        if name_at[found + 1] - at == size:
            while same < size and name[at + same] == data[first + same]:
                same += 1
            if same == size:
                return found
        found = sibling[found]
    return -1


@njit(nogil=True, cache=True)
def _unescaped(data, i, stop, into, at):
    """Copy a string that was checked, with its escapes resolved, and say where the copy ends.

    Half of a pair of surrogates becomes bytes that are not UTF-8.
    """
    while i < stop:
        byte = data[i]
        i += 1
        if byte != BACKSLASH:
            into[at] = byte
            at += 1
            continue
        letter = data[i]
        i += 1
        if letter != SMALL_U:
            into[at] = LETTERS[letter]
            at += 1
            continue
        code = _code(data, i)
        i += 4
        if 0xD800 <= code < 0xDC00 and i + 6 <= stop and data[i] == BACKSLASH and data[i + 1] == SMALL_U:
            second = _code(data, i + 2)
            if 0xDC00 <= second < 0xE000:
                code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00)
                i += 6
        at = _as_utf8(code, into, at)
    return at


@njit(nogil=True, cache=True)
def _code(data, i):
    return (HEX[data[i]] << 12) | (HEX[data[i + 1]] << 8) | (HEX[data[i + 2]] << 4) | HEX[data[i + 3]]


@njit(nogil=True, cache=True)
def _as_utf8(code, into, at):
    """One character as UTF-8."""
    if code < 0x80:
        into[at] = code
        return at + 1
    if code < 0x800:
        into[at] = 0xC0 | (code >> 6)
        into[at + 1] = 0x80 | (code & 0x3F)
        return at + 2
    if code < 0x10000:
        into[at] = 0xE0 | (code >> 12)
        into[at + 1] = 0x80 | ((code >> 6) & 0x3F)
        into[at + 2] = 0x80 | (code & 0x3F)
        return at + 3
    into[at] = 0xF0 | (code >> 18)
    into[at + 1] = 0x80 | ((code >> 12) & 0x3F)
    into[at + 2] = 0x80 | ((code >> 6) & 0x3F)
    into[at + 3] = 0x80 | (code & 0x3F)
    return at + 4
