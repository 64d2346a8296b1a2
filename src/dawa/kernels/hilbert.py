"""A Hilbert curve through a box of any shape: cell to position and back, and boxes as runs of positions.

A box is crossed from one corner to the corner at the other end of one axis, its *way*. Three rules build the path:

- a box that is long along its way is cut in two across it, and both parts are crossed one after the other;
- any other box is cut across its longest other axis, the *side*: out along the side through half of the way, along
  the whole way at the far side, and back through the other half;
- a box with at most two cells along every axis is crossed by a Gray code.

A path between such corners exists only if the box is even along its way, or odd along every axis: neighbours
alternate in colour like the squares of a chessboard. The first part of every cut is even, so the rules turn a
possible box into possible boxes, and every step of the path goes to an adjacent cell.

Every box has its own coordinates, counted from the corner where the path enters.
"""

import numpy as np

from dawa.kernels.compiled import njit
from dawa.kernels.runs import twice

STACK = 512
"""Boxes that wait while others are followed: at most two for every cut, and cuts halve a side of at most 2^62."""


@njit(cache=True, inline="always")
def _even_half(length):
    """The even number nearest to half of a length of at least 3."""
    return max(2, 2 * ((length + 2) // 4))


@njit(cache=True)
def first_way(shape):
    """The axis along which the whole domain is crossed: the longest possible one."""
    odd = True
    for i in range(len(shape)):
        odd = odd and shape[i] % 2 == 1
    way = -1
    for i in range(len(shape)):
        if (odd or shape[i] % 2 == 0) and (way < 0 or shape[i] > shape[way]):
            way = i
    return way


@njit(cache=True, inline="always")
def _side(size, way):
    """The longest axis other than the way, or -1 if no other axis is longer than 1."""
    side = -1
    for i in range(len(size)):
        if i != way and size[i] > 1 and (side < 0 or size[i] > size[side]):
            side = i
    return side


@njit(cache=True, inline="always")
def _rest(size, way, side):
    """The number of cells that share one place along way and side."""
    cells = 1
    for i in range(len(size)):
        if i not in {way, side}:
            cells *= size[i]
    return cells


@njit(cache=True, inline="always")
def _small(size, way, side):
    """Whether a Gray code crosses the box."""
    return size[way] <= 2 and (side < 0 or size[side] <= 2)


@njit(cache=True, inline="always")
def _long(size, way, side):
    """Whether the box is cut across its way."""
    return side < 0 or 2 * size[way] > 3 * size[side]


@njit(cache=True)
def positions(cells, shape):
    """The position on the curve of each cell, which is given by a row of coordinates."""
    dims = len(shape)
    found = np.empty(len(cells), np.int64)
    at, size = np.empty(dims, np.int64), np.empty(dims, np.int64)
    for c in range(len(cells)):
        for i in range(dims):
            at[i], size[i] = cells[c, i], shape[i]
        way, before = first_way(shape), 0
        side = _side(size, way)
        while not _small(size, way, side):
            if _long(size, way, side):
                half = _even_half(size[way])
                if at[way] < half:
                    size[way] = half
                else:
                    before += half * _rest(size, way, way)
                    at[way] -= half
                    size[way] -= half
            else:
                w, h, rest = size[way], size[side], _rest(size, way, side)
                w1, h1 = w // 2, _even_half(h)
                if at[side] >= h1:
                    before += w1 * h1 * rest
                    at[side] -= h1
                    size[side] = h - h1
                else:
                    size[side] = h1
                    if at[way] < w1:
                        size[way] = w1
                    else:
                        before += (w1 * h1 + w * (h - h1)) * rest
                        at[way], size[way] = w - 1 - at[way], w - w1
                        at[side] = h1 - 1 - at[side]
                    way = side
            side = _side(size, way)
        found[c] = before + _gray_rank(at, size, way)
    return found


@njit(cache=True, inline="always")
def _gray_rank(at, size, way):
    """The place of a cell on the Gray code through a small box; the way is its highest digit."""
    code, digit = 0, 0
    for i in range(len(size)):
        if i != way and size[i] == 2:
            code |= at[i] << digit
            digit += 1
    code |= at[way] << digit
    rank = 0
    while code:
        rank ^= code
        code >>= 1
    return rank


@njit(cache=True, inline="always")
def _gray_cell(rank, size, way, at):
    """The cell at a place on the Gray code: the inverse of ``_gray_rank``."""
    code = rank ^ (rank >> 1)
    for i in range(len(size)):
        at[i] = 0
        if i != way and size[i] == 2:
            at[i] = code & 1
            code >>= 1
    at[way] = code


# A waiting box is a row of numbers: for every axis, where the box is entered, in which direction it is crossed (1 or
# -1) and how many cells it has; and then its way.


@njit(cache=True, inline="always")
def _entire(shape, box):
    """The box of the whole domain."""
    dims = len(shape)
    for i in range(dims):
        box[3 * i], box[3 * i + 1], box[3 * i + 2] = 0, 1, shape[i]
    box[3 * dims] = first_way(shape)


@njit(cache=True)
def _cut(stack, top, size, way, side):
    """Replace the box on top of the stack by its parts, the first one on top; return how many boxes wait then."""
    last = stack.shape[1] - 1
    box = stack[top]
    at_way, sign_way, w = box[3 * way], box[3 * way + 1], size[way]
    if _long(size, way, side):
        half = _even_half(w)
        stack[top + 1] = box
        stack[top, 3 * way] = at_way + sign_way * half
        stack[top, 3 * way + 2] = w - half
        stack[top + 1, 3 * way + 2] = half
        return top + 2
    at_side, sign_side, h = box[3 * side], box[3 * side + 1], size[side]
    w1, h1 = w // 2, _even_half(h)
    stack[top + 1] = box
    stack[top + 2] = box
    stack[top + 2, 3 * way + 2], stack[top + 2, 3 * side + 2] = w1, h1
    stack[top + 2, last] = side
    stack[top + 1, 3 * side], stack[top + 1, 3 * side + 2] = at_side + sign_side * h1, h - h1
    stack[top, 3 * way], stack[top, 3 * way + 1] = at_way + sign_way * (w - 1), -sign_way
    stack[top, 3 * way + 2] = w - w1
    stack[top, 3 * side], stack[top, 3 * side + 1] = at_side + sign_side * (h1 - 1), -sign_side
    stack[top, 3 * side + 2], stack[top, last] = h1, side
    return top + 3


@njit(cache=True)
def cells_at(places, shape):
    """The coordinates of the cell at each position: the inverse of ``positions``."""
    dims = len(shape)
    found = np.empty((len(places), dims), np.int64)
    stack = np.empty((4, 3 * dims + 1), np.int64)
    size, at = np.empty(dims, np.int64), np.empty(dims, np.int64)
    for c in range(len(places)):
        left = places[c]
        _entire(shape, stack[0])
        while True:
            for i in range(dims):
                size[i] = stack[0, 3 * i + 2]
            way = stack[0, 3 * dims]
            side = _side(size, way)
            if _small(size, way, side):
                break
            top = _cut(stack, 0, size, way, side) - 1
            while True:
                volume = 1
                for i in range(dims):
                    volume *= stack[top, 3 * i + 2]
                if left < volume:
                    break
                left -= volume
                top -= 1
            stack[0] = stack[top]
        _gray_cell(left, size, way, at)
        for i in range(dims):
            found[c, i] = stack[0, 3 * i] + stack[0, 3 * i + 1] * at[i]
    return found


@njit(cache=True)
def whole_curve(shape, strides):
    """The flat number of every cell, in the order of the curve."""
    dims = len(shape)
    cells = 1
    for i in range(dims):
        cells *= shape[i]
    found = np.empty(cells, np.int64)
    stack = np.empty((STACK, 3 * dims + 1), np.int64)
    size, at = np.empty(dims, np.int64), np.empty(dims, np.int64)
    _entire(shape, stack[0])
    waiting, place = 1, 0
    while waiting:
        top = waiting - 1
        for i in range(dims):
            size[i] = stack[top, 3 * i + 2]
        way = stack[top, 3 * dims]
        side = _side(size, way)
        if not _small(size, way, side):
            waiting = _cut(stack, top, size, way, side)
            continue
        waiting = top
        for rank in range(_rest(size, -1, -1)):
            _gray_cell(rank, size, way, at)
            flat = 0
            for i in range(dims):
                flat += strides[i] * (stack[top, 3 * i] + stack[top, 3 * i + 1] * at[i])
            found[place] = flat
            place += 1
    return found


@njit(cache=True, inline="always")
def _cover(lo, hi, cell):
    """How much of a cell lies in ``[lo, hi)``."""
    return max(0.0, min(hi, cell + 1.0) - max(lo, float(cell)))


@njit(cache=True, inline="always")
def _even_cover(lo, hi, first, last):
    """The part of every cell from first to last that lies in ``[lo, hi)``, or -1 if it differs between cells."""
    if last + 1 <= lo or first >= hi:
        return 0.0
    if first >= lo and last + 1 <= hi:
        return 1.0
    return _cover(lo, hi, first) if first == last else -1.0


@njit(nogil=True, cache=True)
def runs(lo, hi, shape, bounds, most):
    """Boxes as runs of positions: each box's first run, and the ends and weight of every run.

    A box may cut cells; the weight of a cell is then the part of it that is inside. Parts of the domain that lie
    entirely inside or outside are not entered, so a box costs as much as its surface. If ``bounds`` are given, parts
    that lie in one bucket ``[bounds[b], bounds[b + 1])`` are not entered either: such a part is one run with the
    average weight of its cells. So a box costs no more than the buckets that it cuts, however small the cells. Ends
    early with the box that has the first run above ``most``.
    """
    dims = len(shape)
    first = np.zeros(len(lo) + 1, np.int64)
    starts, stops, weights = np.empty(1024, np.int64), np.empty(1024, np.int64), np.empty(1024)
    stack = np.empty((STACK, 3 * dims + 1), np.int64)
    size, at = np.empty(dims, np.int64), np.empty(dims, np.int64)
    count = 0
    for q in range(len(lo)):
        first[q] = count
        _entire(shape, stack[0])
        waiting, place = 1, 0
        while waiting and count <= most:
            top = waiting - 1
            weight, volume, mixed, inside = 1.0, 1, False, 1.0
            for i in range(dims):
                entry, sign, length = stack[top, 3 * i], stack[top, 3 * i + 1], stack[top, 3 * i + 2]
                size[i] = length
                volume *= length
                low = entry if sign > 0 else entry - length + 1
                cover = _even_cover(lo[q, i], hi[q, i], low, low + length - 1)
                if cover < 0:
                    mixed = True
                    inside *= (min(hi[q, i], low + length) - max(lo[q, i], float(low))) / length
                else:
                    weight *= cover
            if weight > 0 and mixed and len(bounds):
                bucket = np.searchsorted(bounds, place, side="right")
                if place + volume <= bounds[bucket]:
                    weight *= inside
                    mixed = False
            if weight > 0 and mixed:
                way = stack[top, 3 * dims]
                side = _side(size, way)
                if not _small(size, way, side):
                    waiting = _cut(stack, top, size, way, side)
                    continue
            waiting = top
            pieces = volume if weight > 0 and mixed else 1
            for rank in range(pieces):
                if pieces > 1:
                    _gray_cell(rank, size, way, at)
                    weight = 1.0
                    for i in range(dims):
                        cell = stack[top, 3 * i] + stack[top, 3 * i + 1] * at[i]
                        weight *= _cover(lo[q, i], hi[q, i], cell)
                step = volume // pieces
                if weight > 0:
                    if count > first[q] and stops[count - 1] == place and weights[count - 1] == weight:
                        stops[count - 1] = place + step
                    else:
                        if count == len(starts):
                            starts, stops, weights = twice(starts), twice(stops), twice(weights)
                        starts[count], stops[count], weights[count] = place, place + step, weight
                        count += 1
                place += step
    first[len(lo)] = count
    return first, starts[:count].copy(), stops[:count].copy(), weights[:count].copy()
