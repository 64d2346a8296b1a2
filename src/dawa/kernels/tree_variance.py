"""The variance of queries of many runs, by a t-ary tree: level by level, through the nodes that the query cuts.

Trees are laid out as in ``dawa.kernels.tree``. For the part of a query below a node, ``var`` is its variance by the
node's subtree and ``dot`` its covariance with the node's total; where the query covers the node evenly with weight w
they are w²m and wm, m the variance of the node's total. So on every level a query is a list of *cut* nodes and a list
of *stretches* of nodes that it covers evenly. Both are sorted.
"""

import numpy as np
from numba import njit


@njit(cache=True, inline="always")
def _add(node, dot, var, count, at, more_dot, more_var):
    """Add to a node's share, which is the last in the list or not there yet; the length of the list then."""
    if count and node[count - 1] == at:
        dot[count - 1] += more_dot
        var[count - 1] += more_var
        return count
    node[count], dot[count], var[count] = at, more_dot, more_var
    return count + 1


@njit(cache=True)
def _prefixes(m, offset):
    """The sums of m before every node of its level; those of level l begin at ``offset[l] + l``."""
    prefix = np.zeros(len(m) + len(offset) - 1)
    for level in range(len(offset) - 1):
        base = offset[level] + level
        for i in range(offset[level + 1] - offset[level]):
            prefix[base + i + 1] = prefix[base + i] + m[offset[level] + i]
    return prefix


@njit(cache=True)
def variances(first, lo, hi, weight, weights, m, s, t, offset):
    """``wᵀM⁻¹w`` of each query; runs begin and end at whole buckets, ``m`` and ``s`` come from ``tree.moments``."""
    levels = len(offset) - 1
    prefix = _prefixes(m, offset)
    most = 1
    for q in range(len(first) - 1):
        most = max(most, first[q + 1] - first[q])
    start, stop, share = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most)
    node, dot, var = np.empty(2 * most, np.int64), np.empty(2 * most), np.empty(2 * most)
    parent, parent_dot, parent_var = np.empty_like(node), np.empty_like(dot), np.empty_like(var)
    out = np.empty(len(first) - 1)
    for q in range(len(first) - 1):
        stretches, cut = first[q + 1] - first[q], 0
        for r in range(stretches):
            start[r], stop[r] = int(lo[first[q] + r]), int(hi[first[q] + r])
            share[r] = weight[first[q] + r]
        for level in range(1, levels):
            base, count = offset[level - 1] + level - 1, offset[level] - offset[level - 1]
            kept, up, i = 0, 0, 0
            for r in range(stretches + 1):
                begin = start[r] if r < stretches else count
                while i < cut and node[i] < begin:
                    up = _add(parent, parent_dot, parent_var, up, node[i] // t, dot[i], var[i])
                    i += 1
                if r == stretches:
                    break
                end, w = stop[r], share[r]
                whole = -(-begin // t)  # parents from here to beyond are covered evenly
                beyond = -(-count // t) if end == count else end // t
                upto = min(end, whole * t) if whole <= beyond else end
                if upto > begin:
                    inside = prefix[base + upto] - prefix[base + begin]
                    up = _add(parent, parent_dot, parent_var, up, begin // t, w * inside, w * w * inside)
                if beyond > whole:
                    start[kept], stop[kept], share[kept] = whole, beyond, w
                    kept += 1
                rest = max(beyond * t, upto)
                if end > rest:
                    inside = prefix[base + end] - prefix[base + rest]
                    up = _add(parent, parent_dot, parent_var, up, rest // t, w * inside, w * w * inside)
            for i in range(up):
                at = offset[level] + parent[i]
                square = weights[at] * weights[at]
                factor = 1 + square * s[at]
                node[i] = parent[i]
                var[i] = parent_var[i] - square / factor * parent_dot[i] * parent_dot[i]
                dot[i] = parent_dot[i] / factor
            stretches, cut = kept, up
        out[q] = var[0] if cut else share[0] * share[0] * m[-1]
    return out
