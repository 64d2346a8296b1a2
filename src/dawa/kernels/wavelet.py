"""Haar wavelets over any number of buckets: transform, inverse, and errors of queries.

Node i of level l covers buckets ``[i·2ˡ, (i+1)·2ˡ)``; its row is its left half minus its right half. A node is *whole*
if all its buckets exist: level l has ``k >> l`` whole nodes, and one clipped node more unless 2ˡ divides k. The
rows of whole nodes are orthogonal to one another and to every sum over nodes around them. So a query is, row by
row, a sum over its ends: an end that lies t buckets into a node of width W counts ``min(t, W - t) / W``, upper ends
with a plus and lower ends with a minus. The clipped nodes and the grand total concern only the totals of *blocks*,
the largest whole nodes, whose widths are the binary digits of k; ``top`` holds their part.
"""

import numpy as np

from dawa.kernels.compiled import njit


@njit(cache=True)
def transform(totals):
    """Left minus right of every node, from the narrowest level up, then the grand total: exact integers."""
    sums = totals.copy()
    rows, nodes = 1, len(totals)
    while nodes > 1:
        nodes = (nodes + 1) // 2
        rows += nodes
    answers = np.empty(rows, np.int64)
    at, nodes = 0, len(totals)
    while nodes > 1:
        above = (nodes + 1) // 2
        for i in range(above):
            left = sums[2 * i]
            right = sums[2 * i + 1] if 2 * i + 1 < nodes else 0
            answers[at + i] = left - right
            sums[i] = left + right
        at += above
        nodes = above
    answers[at] = sums[0]
    return answers


@njit(cache=True)
def transforms(totals):
    """The transform of every row of a matrix."""
    first = transform(totals[0])
    answers = np.empty((len(totals), len(first)), np.int64)
    answers[0] = first
    for row in range(1, len(totals)):
        answers[row] = transform(totals[row])
    return answers


@njit(cache=True)
def inverse(differences, start, blocks, k):
    """Buckets from the differences of whole nodes and the totals of blocks, from the widest level down.

    ``start[l]`` is where level l begins among the differences; ``blocks[l]`` is the total of the block of width 2ˡ.
    """
    sums = np.zeros(k)
    for level in range(len(blocks) - 1, -1, -1):
        for i in range((k >> (level + 1)) - 1, -1, -1):
            total, difference = sums[i], differences[start[level + 1] + i]
            sums[2 * i] = (total + difference) / 2
            sums[2 * i + 1] = (total - difference) / 2
        if (k >> level) & 1:
            sums[(k >> level) - 1] = blocks[level]
    return sums


@njit(cache=True)
def inverses(differences, start, blocks, k):
    """The inverse of every row of a matrix, with a row of blocks each."""
    sums = np.empty((len(differences), k))
    for row in range(len(differences)):
        sums[row] = inverse(differences[row], start, blocks[row], k)
    return sums


@njit(cache=True)
def _block(x, edges):
    """The block in which the real position x lies."""
    at = 0
    while at + 2 < len(edges) and edges[at + 1] <= x:
        at += 1
    return at


@njit(cache=True)
def _add_top(x, sign, edges, top, out):
    """Add a query's end at x to the rows above all blocks: ``top`` at the blocks' edges, linear in between."""
    b = _block(x, edges)
    inside = (x - edges[b]) / (edges[b + 1] - edges[b])
    for r in range(len(out)):
        out[r] += sign * ((1 - inside) * top[b, r] + inside * top[b + 1, r])


@njit(cache=True)
def _share(x, node, width):
    """What an end at x counts on the row of a node of this width."""
    inside = x - node * width
    return min(inside, width - inside) / width


@njit(nogil=True, cache=True)
def range_variances(lo, hi, k, unit, edges, top):
    """The variance of each range; ``unit`` is the variance of one difference."""
    out = np.empty(len(lo))
    above = np.empty(top.shape[1])
    for q in range(len(lo)):
        above[:] = 0.0
        _add_top(lo[q], -1.0, edges, top, above)
        _add_top(hi[q], 1.0, edges, top, above)
        total = 0.0
        level = 1
        while k >> level > 0:
            width, nodes = 1 << level, k >> level
            left, right = int(lo[q]) >> level, int(hi[q]) >> level
            begin = _share(lo[q], left, width) if left < nodes else 0.0
            end = _share(hi[q], right, width) if right < nodes else 0.0
            total += (end - begin) ** 2 if left == right else begin * begin + end * end
            level += 1
        out[q] = unit * total + (above * above).sum()
    return out


@njit(cache=True)
def total_error(first, lo, hi, weight, omega, differences, k, unit, edges, top):
    """The weighted sum of all queries' variances, row by row."""
    mass = omega.sum()
    square, linear = np.zeros(top.shape[1]), np.zeros(top.shape[1])
    above = np.empty(top.shape[1])
    for q in range(len(first) - 1):
        above[:] = 0.0
        for r in range(first[q], first[q + 1]):
            _add_top(lo[r], -weight[r], edges, top, above)
            _add_top(hi[r], weight[r], edges, top, above)
        square += omega[q] * above * above
        linear += omega[q] * above
    total = _summed(square, linear, mass, differences)
    level = 1
    while k >> level > 0:
        width, nodes = 1 << level, k >> level
        square, linear = np.zeros(nodes), np.zeros(nodes)
        for q in range(len(first) - 1):
            at, part = 0, 0.0
            for end in range(2 * first[q], 2 * first[q + 1]):
                r = end // 2
                x, sign = (lo[r], -weight[r]) if end % 2 == 0 else (hi[r], weight[r])
                node = int(x) >> level
                if node < nodes:
                    if node != at:
                        square[at] += omega[q] * part * part
                        linear[at] += omega[q] * part
                        at, part = node, 0.0
                    part += sign * _share(x, node, width)
            square[at] += omega[q] * part * part
            linear[at] += omega[q] * part
        total += unit * _summed(square, linear, mass, differences)
        level += 1
    return total


@njit(cache=True)
def _summed(square, linear, mass, differences):
    """The error of all rows, from each row's sums over the queries, or over the prefixes they are differences of."""
    if not differences:
        return square.sum()
    total = 0.0
    for r in range(len(square)):
        total += max(mass * square[r] - linear[r] * linear[r], 0.0)
    return total
