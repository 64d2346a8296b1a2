"""The variance of any range under rows with interval supports, in time logarithmic in their number.

A range w has variance ``Σ s_j² w_j² - gᵀ D⁻¹ g``, where ``L g = B diag(s) w`` and ``K = I + BBᵀ = L D Lᵀ``.
Forward substitution by columns keeps, for every later row that overlaps an earlier one, what that row has
been handed so far; few rows are open at a time, so these numbers fit in a few *registers*. Where the range
covers rows wholly, one more register that holds 1 stands for it: then a step of the substitution is a fixed
linear map of the registers, and what it adds to ``gᵀ D⁻¹ g`` a fixed quadratic form. A segment tree stores
both for stretches of rows; only the few rows that the ends of the range cut are done one by one.
"""

import numpy as np
from numba import njit

from dawa.kernels.hats import beyond


@njit(cache=True)
def registers(column_ptr, later):
    """A register for each row, free again once the row is eliminated; and how many are needed.

    ``later[column_ptr[l]:column_ptr[l + 1]]`` are the rows after l that overlap it.
    """
    p = len(column_ptr) - 1
    register, free = np.empty(p, np.int64), np.empty(p, np.int64)
    register[:] = -1
    open_free, count = 0, 0
    for r in range(p):
        for e in range(column_ptr[r] - 1, column_ptr[r + 1]):
            other = r if e < column_ptr[r] else later[e]
            if register[other] >= 0:
                continue
            if open_free > 0:
                open_free -= 1
                register[other] = free[open_free]
            else:
                register[other] = count
                count += 1
        free[open_free] = register[r]
        open_free += 1
    return register, count


@njit(cache=True)
def stretches(register, count, pivot, column_ptr, later, lower, whole, size):
    """The segment tree over stretches of ``size`` rows: linear maps and quadratic forms of the registers.

    ``whole`` is a row's answer to a range that covers it; the last register says whether the range does.
    """
    p, n = len(register), count + 1
    leaves = 1
    while leaves * size < p:
        leaves *= 2
    maps, forms = np.zeros((2 * leaves, n, n)), np.zeros((2 * leaves, n, n))
    g, inner = np.zeros(n), np.zeros((n, n))
    for q in range(leaves, 2 * leaves):
        for i in range(n):
            maps[q, i, i] = 1.0
        for r in range((q - leaves) * size, min((q - leaves + 1) * size, p)):
            for j in range(n):
                g[j] = maps[q, register[r], j] + whole[r] * maps[q, count, j]
                maps[q, register[r], j] = 0.0
            for i in range(n):
                for j in range(n):
                    forms[q, i, j] += g[i] * g[j] / pivot[r]
            for e in range(column_ptr[r], column_ptr[r + 1]):
                for j in range(n):
                    maps[q, register[later[e]], j] -= lower[e] * g[j]
    for q in range(leaves - 1, 0, -1):
        left, right = 2 * q, 2 * q + 1
        for i in range(n):
            for j in range(n):
                inner[i, j] = 0.0
                for h in range(n):
                    maps[q, i, j] += maps[right, i, h] * maps[left, h, j]
                    inner[i, j] += forms[right, i, h] * maps[left, h, j]
        for i in range(n):
            for j in range(n):
                forms[q, i, j] = forms[left, i, j]
                for h in range(n):
                    forms[q, i, j] += maps[left, h, i] * inner[h, j]
    return maps, forms


@njit(cache=True)
def variances(
    lo,
    hi,
    start,
    stop,
    ptr,
    sums,
    squares_before,
    cover_ptr,
    cover,
    register,
    maps,
    forms,
    size,
    pivot,
    column_ptr,
    later,
    lower,
):
    """The variance of each range ``[lo, hi)``.

    ``sums`` are the running sums of ``B diag(s)`` along the rows, ``squares_before`` those of s² over all
    buckets, and ``cover`` lists the rows on each bucket.
    """
    p, k, n = len(start), len(squares_before) - 1, maps.shape[1]
    count, leaves = n - 1, maps.shape[0] // 2
    out = np.empty(len(lo))
    state, fresh = np.zeros(n), np.zeros(n)
    cut = np.empty(p + 1, np.int64)
    for w in range(len(lo)):
        x, y = lo[w], hi[w]
        first, last = int(x), int(y)
        if first == last:
            variance = 0.0
            if x < y:
                variance = (y - x) ** 2 * (squares_before[first + 1] - squares_before[first])
        else:
            variance = (first + 1 - x) ** 2 * (squares_before[first + 1] - squares_before[first])
            variance += squares_before[last] - squares_before[first + 1]
            if last < k:
                variance += (y - last) ** 2 * (squares_before[last + 1] - squares_before[last])
        # Rows begin..end-1 may be covered wholly; the cut ones among them and after them are listed in order.
        begin, end = beyond(stop, x), beyond(stop, y)
        cuts = 0
        for side in range(2):
            bucket = first if side == 0 else last
            if bucket >= k or x >= y:
                continue
            for e in range(cover_ptr[bucket], cover_ptr[bucket + 1]):
                r = cover[e]
                if not (start[r] < x < stop[r] or start[r] < y < stop[r]):
                    continue
                at = cuts
                while at > 0 and cut[at - 1] > r:
                    at -= 1
                if at > 0 and cut[at - 1] == r:
                    continue
                for z in range(cuts, at, -1):
                    cut[z] = cut[z - 1]
                cut[at] = r
                cuts += 1
        for i in range(count):
            state[i] = 0.0
        state[count] = 1.0
        energy, position, index = 0.0, begin if x < y else p, 0
        while position < p:
            if position >= end:
                state[count] = 0.0
            target = cut[index] if index < cuts else p
            if position == target:
                # One step by hand, with the answer of a row that the range covers in part.
                r, o = position, ptr[position] + position - start[position]
                if y >= stop[r]:
                    answer = sums[o + stop[r]]
                else:
                    answer = sums[o + last] + (y - last) * (sums[o + last + 1] - sums[o + last])
                if x > start[r]:
                    answer -= sums[o + first] + (x - first) * (sums[o + first + 1] - sums[o + first])
                index += 1
            else:
                if position < end:
                    target = min(target, end)
                stretch = position // size
                if position % size == 0 and (target == p or position + size <= target):
                    node, width = stretch + leaves, 1
                    while node > 1 and node % 2 == 0 and (target == p or (stretch + 2 * width) * size <= target):
                        node //= 2
                        width *= 2
                    for i in range(n):
                        mapped, formed = 0.0, 0.0
                        for j in range(n):
                            mapped += maps[node, i, j] * state[j]
                            formed += forms[node, i, j] * state[j]
                        fresh[i] = mapped
                        energy += state[i] * formed
                    for i in range(n):
                        state[i] = fresh[i]
                    position += width * size
                    continue
                answer = state[count] * (sums[ptr[position + 1] + position])
            g = state[register[position]] + answer
            state[register[position]] = 0.0
            energy += g * g / pivot[position]
            for e in range(column_ptr[position], column_ptr[position + 1]):
                state[register[later[e]]] -= lower[e] * g
            position += 1
        out[w] = variance - energy
    return out
