"""Nested intervals over the buckets, a tree of any shape: moments, least squares, variances, and queries on boxes.

Nodes come in depth-first order, parents first: the intervals and, below each, the single buckets. ``skip[i]`` is the
first node after i that does not lie below it, ``parent[i]`` the node above it or -1. Let c be a node's weight over the
resolution, and s the sum of its children's m. Then ``m = s / (1 + c² s)`` is the variance of the node's total by what
was measured at it and below; for a single bucket ``m = 1 / c²``.
"""

import numpy as np

from dawa.kernels.compiled import njit
from dawa.kernels.runs import twice


@njit(cache=True)
def parents(skip):
    """The node right above each node, or -1."""
    above = np.full(len(skip), -1, np.int64)
    for i in range(len(skip)):
        child = i + 1
        while child < skip[i]:
            above[child] = i
            child = skip[child]
    return above


@njit(cache=True)
def moments(weights, skip, parent):
    """Every node's m and s; s is 0 for single buckets."""
    m, s = np.zeros(len(skip)), np.zeros(len(skip))
    for i in range(len(skip) - 1, -1, -1):
        square = weights[i] * weights[i]
        m[i] = 1 / square if skip[i] == i + 1 else s[i] / (1 + square * s[i])
        if parent[i] >= 0:
            s[parent[i]] += m[i]
    return m, s


@njit(cache=True)
def least_squares(answers, weights, m, s, skip, parent):
    """The totals of all nodes that fit the answers best: combine upwards, then hand the residual down."""
    best, below = np.zeros(len(skip)), np.zeros(len(skip))
    for i in range(len(skip) - 1, -1, -1):
        if skip[i] == i + 1:
            best[i] = answers[i] / weights[i]
        else:
            best[i] = (below[i] + weights[i] * s[i] * answers[i]) / (1 + weights[i] * weights[i] * s[i])
        if parent[i] >= 0:
            below[parent[i]] += best[i]
    for i in range(len(skip)):
        above = parent[i]
        if above >= 0:
            best[i] += m[i] / s[above] * (best[above] - below[above])
    return best


@njit(cache=True)
def _closed_up(i, open_, depth, dot, var, weights, s, skip):
    """Close the nodes that end before node i: each hands its share to the node around it."""
    while depth > 0 and skip[open_[depth]] <= i:
        square = weights[open_[depth]] ** 2
        factor = 1 + square * s[open_[depth]]
        var[depth - 1] += var[depth] - square / factor * dot[depth] ** 2
        dot[depth - 1] += dot[depth] / factor
        depth -= 1
    return depth


@njit(nogil=True, cache=True)
def variances(first, lo, hi, weight, start, stop, weights, m, s, skip, deepest):
    """``wᵀ (AᵀA)⁻¹ w`` of each query; runs are sorted, disjoint and in bucket coordinates.

    Only nodes that a query cuts are opened. The open nodes lie on a stack. Each has, for the query's part below it, the
    variance by what was measured there, and the covariance with the node's total.
    """
    open_, dot, var = np.empty(deepest + 2, np.int64), np.empty(deepest + 2), np.empty(deepest + 2)
    out = np.empty(len(first) - 1)
    for q in range(len(first) - 1):
        r, end, depth, i = first[q], first[q + 1], 0, 0
        dot[0], var[0] = 0.0, 0.0
        while i < len(skip):
            depth = _closed_up(i, open_, depth, dot, var, weights, s, skip)
            while r < end and hi[r] <= start[i]:
                r += 1
            if r == end:
                break
            if lo[r] >= stop[i]:
                i = skip[i]
                continue
            if lo[r] <= start[i] and stop[i] <= hi[r]:
                part = weight[r]
            elif skip[i] == i + 1:
                part, run = 0.0, r
                while run < end and lo[run] < stop[i]:
                    part += weight[run] * (min(hi[run], float(stop[i])) - max(lo[run], float(start[i])))
                    run += 1
            else:
                depth += 1
                open_[depth], dot[depth], var[depth] = i, 0.0, 0.0
                i += 1
                continue
            dot[depth] += part * m[i]
            var[depth] += part * part * m[i]
            i = skip[i]
        _closed_up(len(skip), open_, depth, dot, var, weights, s, skip)
        out[q] = var[0]
    return out


@njit(cache=True)
def overlaps(lo, hi, box_lo, box_hi, start, stop, skip):
    """Boxes as queries on a tree of boxes: the first stretch of every query, and the stretches' ends and covered parts.

    A node that lies wholly in the query is one stretch; neighbours with the same covered part make one stretch.
    """
    begin = np.zeros(len(lo) + 1, np.int64)
    at, to, share = np.empty(1024), np.empty(1024), np.empty(1024)
    count = 0
    for q in range(len(lo)):
        begin[q] = count
        i = 0
        while i < len(skip):
            part, whole = 1.0, True
            for axis in range(lo.shape[1]):
                side = box_hi[i, axis] - box_lo[i, axis]
                inside = min(hi[q, axis], float(box_hi[i, axis])) - max(lo[q, axis], float(box_lo[i, axis]))
                if inside <= 0:
                    part = 0.0
                    break
                whole = whole and inside == side
                part *= inside / side
            if part > 0 and not whole and skip[i] > i + 1:
                i += 1
                continue
            if part > 0:
                if count > begin[q] and to[count - 1] == start[i] and share[count - 1] == part:
                    to[count - 1] = stop[i]
                else:
                    if count == len(at):
                        at, to, share = twice(at), twice(to), twice(share)
                    at[count], to[count], share[count] = start[i], stop[i], part
                    count += 1
            i = skip[i]
    begin[len(lo)] = count
    return begin, at[:count].copy(), to[:count].copy(), share[:count].copy()


@njit(cache=True)
def heights(skip, parent):
    """How many levels lie below each node, at most."""
    levels = np.zeros(len(skip), np.int64)
    for i in range(len(skip) - 1, 0, -1):
        if parent[i] >= 0:
            levels[parent[i]] = max(levels[parent[i]], levels[i] + 1)
    return levels


@njit(cache=True)
def integer_weights(share, levels, start, skip, parent, allowance):
    """Weights from the top down, so that every bucket's column sums to exactly its allowance.

    A node takes ``share[levels]`` of what the poorest bucket has left, rounded down; a bucket takes all that it has.
    """
    poorest = allowance.min()
    weights, used = np.zeros(len(skip), np.int64), np.zeros(len(skip), np.int64)
    for i in range(len(skip)):
        if parent[i] >= 0:
            used[i] = used[parent[i]] + weights[parent[i]]
        if skip[i] == i + 1:
            weights[i] = allowance[start[i]] - used[i]
        else:
            weights[i] = int(np.floor(share[levels[i]] * (poorest - used[i])))
    return weights
