"""Rows with interval supports: factorisation, least squares and expected error in quasi-linear time.

Rows are sorted by right end. Row r owns ``values[ptr[r]:ptr[r + 1]]``, on buckets ``start[r]`` to
``stop[r]``. Two rows meet where their supports overlap. Of the rows before r, those that meet it are the
consecutive rows from ``near[r]`` to ``r - 1``, because their right ends lie beyond ``start[r]``. So
``K = I + BBᵀ`` fills its envelope exactly, and its factor ``K = L D Lᵀ`` has the same envelope: row r of L is
``lower[at[r]:at[r + 1]]``, without the unit diagonal.

The module also computes the variance of any range under such rows, in time logarithmic in their number.

A range w has variance ``Σ s_j² w_j² - gᵀ D⁻¹ g``, where ``L g = B diag(s) w`` and ``K = I + BBᵀ = L D Lᵀ``.
Forward substitution by columns keeps, for every later row that overlaps an earlier one, what that row has
received so far. Few rows are open at a time, so these numbers fit in a few *registers*. Where the range covers
rows wholly, one more register that holds 1 stands for the range. A step of the substitution is then a fixed
linear map of the registers, and what it adds to ``gᵀ D⁻¹ g`` is a fixed quadratic form. A segment tree stores
both for stretches of rows; only the few rows that the ends of the range cut are done one by one.
"""

import numpy as np

from dawa.kernels.compiled import njit

TOGETHER = 16
"""Queries that are solved side by side: a few vector registers."""

REORDER = {"reassoc", "contract"}
"""Sums may be vectorised; infinities and NaNs keep their meaning."""


@njit(cache=True)
def times(start, ptr, values, x):
    """Rows · x, in the arithmetic of the arrays: exact for integers."""
    y = np.zeros(len(start), x.dtype)
    for r in range(len(start)):
        shift = start[r] - ptr[r]
        for e in range(ptr[r], ptr[r + 1]):
            y[r] += values[e] * x[shift + e]
    return y


@njit(cache=True)
def transposed_times(start, ptr, values, y, k):
    """Rowsᵀ · y."""
    x = np.zeros(k)
    for r in range(len(start)):
        shift = start[r] - ptr[r]
        for e in range(ptr[r], ptr[r + 1]):
            x[shift + e] += values[e] * y[r]
    return x


@njit(cache=True, fastmath=REORDER)
def factor(start, stop, ptr, values, near, at):
    """The envelope factor of ``K = I + BBᵀ``: the diagonal of D, and L."""
    p = len(start)
    pivot = np.empty(p)
    lower = np.empty(at[p])
    for r in range(p):
        first, row = near[r], at[r] - near[r]
        total = 1.0
        for e in range(ptr[r], ptr[r + 1]):
            total += values[e] * values[e]
        for q in range(first, r):
            begin = max(start[q], start[r])
            mine, other = ptr[r] + begin - start[r], ptr[q] + begin - start[q]
            entry = 0.0
            for e in range(stop[q] - begin):
                entry += values[mine + e] * values[other + e]
            column = at[q] - near[q]
            for h in range(max(first, near[q]), q):
                entry -= lower[row + h] * lower[column + h]
            lower[row + q] = entry
        # Until here the row holds L·D; now it becomes L.
        for q in range(first, r):
            entry = lower[row + q] / pivot[q]
            total -= entry * lower[row + q]
            lower[row + q] = entry
        pivot[r] = total
    return pivot, lower


@njit(cache=True, fastmath=REORDER)
def solve(pivot, lower, near, at, block):
    """Replace each column of the block by K⁻¹ times it."""
    p, columns = block.shape
    for r in range(p):
        row = at[r] - near[r]
        for q in range(near[r], r):
            f = lower[row + q]
            for c in range(columns):
                block[r, c] -= f * block[q, c]
    for r in range(p):
        for c in range(columns):
            block[r, c] /= pivot[r]
    for r in range(p - 1, -1, -1):
        row = at[r] - near[r]
        for q in range(near[r], r):
            f = lower[row + q]
            for c in range(columns):
                block[q, c] -= f * block[r, c]


@njit(cache=True)
def beyond(stop, x):
    """The first row that ends beyond x."""
    low, high = 0, len(stop)
    while low < high:
        middle = (low + high) // 2
        if stop[middle] > x:
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True)
def running_sums(start, ptr, values, scale):
    """Each row's sums of ``values · scale`` up to every bucket border, row r's from ``ptr[r] + r`` on."""
    p = len(start)
    sums = np.empty(ptr[p] + p)
    for r in range(p):
        shift, total = start[r] - ptr[r], 0.0
        sums[ptr[r] + r] = 0.0
        for e in range(ptr[r], ptr[r + 1]):
            total += values[e] * scale[shift + e]
            sums[e + r + 1] = total
    return sums


@njit(cache=True)
def moments(first, lo, hi, weight, omega, k):
    """For each bucket, the sums over queries of ω times its weight w in the query, and of ω w².

    The runs of a query are sorted and do not overlap, but several may lie in one bucket.
    """
    linear, square, steps, square_steps = np.zeros(k + 1), np.zeros(k + 1), np.zeros(k + 1), np.zeros(k + 1)
    for i in range(len(first) - 1):
        bucket, covered = 0, 0.0
        for r in range(first[i], first[i + 1]):
            begin, end = int(lo[r]), int(hi[r])
            if begin != bucket:
                linear[bucket] += omega[i] * covered
                square[bucket] += omega[i] * covered * covered
                bucket, covered = begin, 0.0
            if begin == end:
                covered += weight[r] * (hi[r] - lo[r])
                continue
            covered += weight[r] * (begin + 1 - lo[r])
            linear[bucket] += omega[i] * covered
            square[bucket] += omega[i] * covered * covered
            steps[begin + 1] += omega[i] * weight[r]
            steps[end] -= omega[i] * weight[r]
            square_steps[begin + 1] += omega[i] * weight[r] * weight[r]
            square_steps[end] -= omega[i] * weight[r] * weight[r]
            bucket, covered = end, weight[r] * (hi[r] - end)
        linear[bucket] += omega[i] * covered
        square[bucket] += omega[i] * covered * covered
    level, square_level = 0.0, 0.0
    for j in range(k):
        level += steps[j]
        square_level += square_steps[j]
        linear[j] += level
        square[j] += square_level
    return linear[:k], square[:k]


@njit(cache=True, fastmath=REORDER)
def error(
    start,
    stop,
    ptr,
    values,
    near,
    at,
    cover_ptr,
    cover,
    scale,
    first,
    lo,
    hi,
    weight,
    omega,
    linear,
    square,
    differences,
    gradient,
):
    """Total squared error T of the queries, and its derivatives in the entries of B and in the scales s.

    ``T = Σ_j s_j² square_j - Σ_i ω_i f_iᵀ K⁻¹ f_i`` with ``f_i = B diag(s) w_i``. Where differences are asked
    for, the caller has put them into ω and square, and the term of ``linear = Σ ω w`` is subtracted here.
    ``cover`` lists the rows on each bucket.

    A row's answer to a run is its sum up to the run's end minus its sum up to the run's beginning. So the rows
    whose right end lies in the run, which are consecutive, get their whole sum; only rows that an end cuts need
    more. Below, A stands for ``K⁻¹ f``.
    """
    p, k, m = len(start), len(scale), len(first) - 1
    pivot, lower = factor(start, stop, ptr, values, near, at)
    sums = running_sums(start, ptr, values, scale)
    steps = np.zeros(len(sums))  # Σ ω w A, as differences along each row
    diagonal, envelope = np.zeros(p), np.zeros(len(lower))  # Σ ω A Aᵀ
    total = 0.0
    for j in range(k):
        total += scale[j] * scale[j] * square[j]
    block, answers = np.empty((p, TOGETHER)), np.empty((p, TOGETHER))
    for i0 in range(0, m, TOGETHER):
        count = min(TOGETHER, m - i0)
        for r in range(p):
            for c in range(TOGETHER):
                block[r, c] = 0.0
        for c in range(count):
            for run in range(first[i0 + c], first[i0 + c + 1]):
                for r in range(beyond(stop, lo[run]), beyond(stop, hi[run])):
                    block[r, c] += weight[run] * sums[ptr[r + 1] + r]
                for side in range(2):
                    x, f = (lo[run], -weight[run]) if side == 0 else (hi[run], weight[run])
                    j = min(int(x), k - 1)
                    for e in range(cover_ptr[j], cover_ptr[j + 1]):
                        r = cover[e]
                        if start[r] < x < stop[r]:
                            o = ptr[r] + r + j - start[r]
                            block[r, c] += f * (sums[o] + (x - j) * (sums[o + 1] - sums[o]))
        for r in range(p):
            for c in range(TOGETHER):
                answers[r, c] = block[r, c]
        solve(pivot, lower, near, at, block)
        explained = 0.0  # summed separately, because it nearly cancels a large total
        for r in range(p):
            for c in range(count):
                explained += omega[i0 + c] * block[r, c] * answers[r, c]
        total -= explained
        if not gradient:
            continue
        for r in range(p):
            for c in range(count):
                answers[r, c] = omega[i0 + c] * block[r, c]
            for c in range(count):
                diagonal[r] += answers[r, c] * block[r, c]
            row = at[r] - near[r]
            for q in range(near[r], r):
                product = 0.0
                for c in range(count):
                    product += answers[r, c] * block[q, c]
                envelope[row + q] += product
        for c in range(count):
            for run in range(first[i0 + c], first[i0 + c + 1]):
                for r in range(beyond(stop, lo[run]), beyond(stop, hi[run])):
                    steps[ptr[r] + r] += weight[run] * answers[r, c]
                for side in range(2):
                    x, f = (lo[run], -weight[run]) if side == 0 else (hi[run], weight[run])
                    j = min(int(x), k - 1)
                    for e in range(cover_ptr[j], cover_ptr[j + 1]):
                        r = cover[e]
                        if start[r] < x < stop[r]:
                            o, alpha = ptr[r] + r, f * answers[r, c]
                            steps[o] += alpha
                            o += j - start[r]
                            steps[o] -= (j + 1 - x) * alpha
                            steps[o + 1] -= (x - j) * alpha
    alpha_sum = np.zeros((p, 1))
    if differences:
        for r in range(p):
            for e in range(ptr[r], ptr[r + 1]):
                j = start[r] + e - ptr[r]
                alpha_sum[r, 0] += values[e] * scale[j] * linear[j]
            answers[r, 0] = alpha_sum[r, 0]
        solve(pivot, lower, near, at, alpha_sum)
        for r in range(p):
            total += answers[r, 0] * alpha_sum[r, 0]
    by_value, by_scale = np.zeros(len(values)), np.zeros(k)
    if not gradient:
        return total, by_value, by_scale
    for j in range(k):
        by_scale[j] = 2 * scale[j] * square[j]
    for r in range(p):
        own = diagonal[r] - alpha_sum[r, 0] * alpha_sum[r, 0]
        covered = 0.0
        for e in range(ptr[r], ptr[r + 1]):
            j = start[r] + e - ptr[r]
            covered += steps[e + r]
            cross = covered - linear[j] * alpha_sum[r, 0]
            by_value[e] += 2 * (values[e] * own - scale[j] * cross)
            by_scale[j] -= 2 * values[e] * cross
        row = at[r] - near[r]
        for q in range(near[r], r):
            both = 2 * (envelope[row + q] - alpha_sum[r, 0] * alpha_sum[q, 0])
            begin = max(start[r], start[q])
            mine, other = ptr[r] + begin - start[r], ptr[q] + begin - start[q]
            for e in range(stop[q] - begin):
                by_value[mine + e] += both * values[other + e]
                by_value[other + e] += both * values[mine + e]
    return total, by_value, by_scale


@njit(cache=True)
def registers(column_ptr, later):
    """A register for each row, free again once the row is eliminated; and how many registers are needed.

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


@njit(nogil=True, cache=True)
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

    ``sums`` are the running sums of ``B diag(s)`` along the rows, ``squares_before`` the running sums of s² over
    all buckets, and ``cover`` lists the rows on each bucket.
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
        # Rows begin..end-1 may be covered wholly; the rows that are cut, among and after them, are listed in order.
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
                # One single step, with the answer of a row that the range covers in part.
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
