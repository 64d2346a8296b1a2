"""Passes over a t-ary tree of intervals: energies of queries, weights, least squares, variances.

Node i of level l covers leaves ``[i·tˡ, (i+1)·tˡ)``, clipped to the k leaves; level 0 holds the leaves and the top
level one node. Arrays over nodes hold level after level; ``offset[l]`` is where level l begins. With c a node's
weight and M the sum of ``c²·11ᵀ`` over a subtree, v = M⁻¹1 and m = 1ᵀM⁻¹1, a parent's inverse is that of its
children minus ``κ·vvᵀ``, κ = c²/(1 + c²·s), s the sum of the children's m; so everything is sums along levels.

The variance of a query of many runs is found level by level, through the nodes that the query cuts. For the part of
the query below a node, ``var`` is its variance by the node's subtree and ``dot`` its covariance with the node's total.
If the query covers the node evenly with weight w, they are w²m and wm, where m is the variance of the node's total. So
on every level a query is a list of *cut* nodes and a list of *stretches* of nodes that it covers evenly. Both are
sorted.
"""

import numpy as np

from dawa.kernels.compiled import njit


@njit(cache=True)
def _before(x, prefix, v):
    """The integral of v up to the real position x."""
    i = int(x)
    return prefix[i] if i >= len(v) else prefix[i] + (x - i) * v[i]


@njit(cache=True)
def energies(first, lo, hi, weight, omega, differences, v, width, nodes):
    """``‖W_q v‖²`` of every node q of one level, and the sum of v over it.

    W holds the queries, in bucket coordinates; ``width`` is the number of leaves below a node. Each query covers at
    most two nodes per run partly; nodes that it covers wholly are counted by differences along the level.
    """
    k = len(v)
    prefix = np.empty(k + 1)
    prefix[0] = 0.0
    for j in range(k):
        prefix[j + 1] = prefix[j] + v[j]
    energy = np.zeros(nodes)
    linear = np.zeros(nodes)
    whole_square = np.zeros(nodes + 1)
    whole_linear = np.zeros(nodes + 1)
    for q in range(len(first) - 1):
        at, part = -1, 0.0
        for r in range(first[q], first[q + 1]):
            a, b, w = lo[r], hi[r], weight[r]
            left, right = int(a) // width, int(b) // width
            end = min((left + 1) * width, k)
            begin_whole = left
            if a > left * width or b < end:
                value = w * (_before(min(b, end), prefix, v) - _before(a, prefix, v))
                if left == at:
                    part += value
                else:
                    if at >= 0:
                        energy[at] += omega[q] * part * part
                        linear[at] += omega[q] * part
                    at, part = left, value
                begin_whole = left + 1
            end_whole = right
            if right < nodes:
                if b >= min((right + 1) * width, k):
                    end_whole = right + 1
                elif right > left and b > right * width:
                    value = w * (_before(b, prefix, v) - prefix[right * width])
                    if at >= 0:
                        energy[at] += omega[q] * part * part
                        linear[at] += omega[q] * part
                    at, part = right, value
            if end_whole > begin_whole:
                whole_square[begin_whole] += omega[q] * w * w
                whole_square[end_whole] -= omega[q] * w * w
                whole_linear[begin_whole] += omega[q] * w
                whole_linear[end_whole] -= omega[q] * w
        if at >= 0:
            energy[at] += omega[q] * part * part
            linear[at] += omega[q] * part
    sums = np.empty(nodes)
    square, line, mass = 0.0, 0.0, omega.sum()
    for i in range(nodes):
        square += whole_square[i]
        line += whole_linear[i]
        sums[i] = prefix[min((i + 1) * width, k)] - prefix[i * width]
        energy[i] += square * sums[i] * sums[i]
        if differences:
            total = linear[i] + line * sums[i]
            energy[i] = mass * energy[i] - total * total
        energy[i] = max(energy[i], 0.0)
    return energy, sums


@njit(cache=True)
def best_ratio(cost, energy, s):
    """The ρ ≥ 0 that minimises ``(1+ρ)² (cost - ρ²·energy/(1 + ρ²s))``, ρ = λ/(1-λ).

    The slope has the sign of a quartic that is positive at 0 and convex, so besides ρ = 0 there is at most one
    minimum: the quartic's larger root, found by Newton's method from the right.
    """
    quartic, square = max(cost * s * s - energy * s, 0.0), max(2 * (cost * s - energy), 0.0)
    if energy <= 0.0 or cost <= 0.0:
        return 0.0
    x = 1e3
    for _ in range(60):
        value = ((quartic * x * x + square) * x - energy) * x + cost
        slope = (4 * quartic * x * x + 2 * square) * x - energy
        if slope <= 0.0:
            break
        step = value / slope
        x = min(x - step, 1e4)
        if x <= 0.0:
            return 0.0
        if abs(step) < 1e-10 * x:
            break
    here = (1 + x) ** 2 * (cost - x * x * energy / (1 + x * x * s))
    return x if here < cost else 0.0


@njit(cache=True)
def ratios(first, lo, hi, weight, omega, differences, budget, t, offset):
    """ρ of every node, bottom up: the paper's greedy choice.

    ``budget`` is what each leaf may spend; a node can only take what the poorest leaf below it has. The decay
    ``t^(-depth/2)`` discounts queries that ancestors will answer.
    """
    k, levels = len(budget), len(offset) - 1
    chosen = np.zeros(offset[-1])
    v = 1 / (budget * budget)
    poorest = budget.copy()
    energy, _ = energies(first, lo, hi, weight, omega, differences, v, 1, k)
    cost = energy / v
    width = 1
    for level in range(1, levels):
        width *= t
        nodes = offset[level + 1] - offset[level]
        whole, sums = energies(first, lo, hi, weight, omega, differences, v, width, nodes)
        decay = t ** (-0.5 * (levels - 1 - level))
        new_cost, new_energy, new_poorest = np.zeros(nodes), np.empty(nodes), np.empty(nodes)
        decayed = np.empty(nodes)
        for i in range(nodes):
            apart, least = 0.0, np.inf
            for c in range(i * t, min((i + 1) * t, len(cost))):
                new_cost[i] += cost[c]
                apart += energy[c]
                least = min(least, poorest[c])
            new_poorest[i] = least
            decayed[i] = (decay * whole[i] + (1 - decay) * apart) * least * least
        for i in range(nodes):
            b2 = new_poorest[i] * new_poorest[i]
            x = best_ratio(new_cost[i], decayed[i], sums[i] * b2)
            chosen[offset[level] + i] = x
            shrink = (1 + x) ** 2 / (1 + x * x * b2 * sums[i])
            new_cost[i] = (1 + x) ** 2 * (new_cost[i] - x * x * b2 * whole[i] / (1 + x * x * b2 * sums[i]))
            new_energy[i] = whole[i] * shrink * shrink
            for j in range(i * width, min((i + 1) * width, k)):
                v[j] *= shrink
        cost, energy, poorest = new_cost, new_energy, new_poorest
    return chosen


@njit(cache=True)
def integer_weights(chosen, allowance, t, offset):
    """Whole weights from ρ, top down: floors for the inner nodes, what is left for the leaves.

    A leaf keeps at least a thousandth of its allowance. With nearly nothing, every difference of large variances would
    lose digits, and a bucket would be unknown to queries that are not in the workload.
    """
    levels = len(offset) - 1
    weights = np.zeros(offset[-1], np.int64)
    poorest = np.empty(offset[-1], np.int64)
    poorest[: len(allowance)] = allowance
    for level in range(1, levels):
        for i in range(offset[level + 1] - offset[level]):
            least = np.int64(1) << 62
            for c in range(offset[level - 1] + i * t, min(offset[level - 1] + (i + 1) * t, offset[level])):
                least = min(least, poorest[c])
            poorest[offset[level] + i] = least
    used = np.zeros(offset[-1], np.int64)
    scale = np.ones(offset[-1])
    for level in range(levels - 1, -1, -1):
        for i in range(offset[level + 1] - offset[level]):
            node = offset[level] + i
            if level < levels - 1:
                parent = offset[level + 1] + i // t
                used[node] = used[parent] + weights[parent]
                scale[node] = scale[parent] / (1 + chosen[parent])
            if level == 0:
                weights[node] = allowance[i] - used[node]
            else:
                share = scale[node] * chosen[node] / (1 + chosen[node])
                reserve = max(poorest[node] // 1024, 1)
                weights[node] = max(min(int(share * poorest[node]), poorest[node] - used[node] - reserve), 0)
    return weights


@njit(cache=True)
def column_sums(weights, t, offset):
    """Each leaf's sum of weights along its path."""
    sums = weights.copy()
    for level in range(len(offset) - 3, -1, -1):
        for i in range(offset[level + 1] - offset[level]):
            sums[offset[level] + i] += sums[offset[level + 1] + i // t]
    return sums[: offset[1]]


@njit(cache=True)
def node_totals(totals, t, offset):
    """The number of records below every node, in exact integers."""
    sums = np.zeros(offset[-1], np.int64)
    sums[: len(totals)] = totals
    for level in range(1, len(offset) - 1):
        for c in range(offset[level] - offset[level - 1]):
            sums[offset[level] + c // t] += sums[offset[level - 1] + c]
    return sums


@njit(cache=True)
def moments(weights, t, offset):
    """Every node's m, the variance of its total by its own subtree, and s, the sum of its children's m."""
    m, s = np.empty(len(weights)), np.zeros(len(weights))
    for j in range(offset[1]):
        m[j] = 1 / (weights[j] * weights[j])
    for level in range(1, len(offset) - 1):
        for c in range(offset[level] - offset[level - 1]):
            s[offset[level] + c // t] += m[offset[level - 1] + c]
        for node in range(offset[level], offset[level + 1]):
            m[node] = s[node] / (1 + weights[node] * weights[node] * s[node])
    return m, s


@njit(cache=True)
def least_squares(answers, weights, t, offset):
    """Leaf totals that fit all answers best: combine upwards, then hand the residuals down."""
    m, s = moments(weights, t, offset)
    below = np.zeros(len(weights))
    best = np.empty(len(weights))
    for j in range(offset[1]):
        best[j] = answers[j] / weights[j]
    for level in range(1, len(offset) - 1):
        for c in range(offset[level] - offset[level - 1]):
            below[offset[level] + c // t] += best[offset[level - 1] + c]
        for node in range(offset[level], offset[level + 1]):
            best[node] = m[node] * (below[node] / s[node] + weights[node] * answers[node])
    for level in range(len(offset) - 3, -1, -1):
        for i in range(offset[level + 1] - offset[level]):
            parent = offset[level + 1] + i // t
            node = offset[level] + i
            best[node] += m[node] / s[parent] * (best[parent] - below[parent])
    return best[: offset[1]]


@njit(cache=True)
def total_error(first, lo, hi, weight, omega, differences, weights, t, offset):
    """The weighted sum of ``wᵀM⁻¹w`` over all queries."""
    k = offset[1]
    v = np.empty(k)
    for j in range(k):
        v[j] = 1 / (weights[j] * weights[j])
    energy, _ = energies(first, lo, hi, weight, omega, differences, v, 1, k)
    total = (energy / v).sum()
    width = 1
    for level in range(1, len(offset) - 1):
        width *= t
        nodes = offset[level + 1] - offset[level]
        energy, sums = energies(first, lo, hi, weight, omega, differences, v, width, nodes)
        for i in range(nodes):
            c2 = weights[offset[level] + i] * weights[offset[level] + i]
            if c2 > 0:
                total -= c2 / (1 + c2 * sums[i]) * energy[i]
                for j in range(i * width, min((i + 1) * width, k)):
                    v[j] /= 1 + c2 * sums[i]
    return total


@njit(nogil=True, cache=True)
def range_variances(lo, hi, weights, m, s, t, offset):
    """``wᵀM⁻¹w`` of each range: climb from both ends, adding what is wholly covered in between.

    ``m`` and ``s`` come from ``moments``. For the part of a query below a node, ``var`` is its variance by the
    subtree and ``dot`` its covariance with the node's total; both are m where the node is wholly covered.
    """
    levels = len(offset) - 1
    prefix = np.zeros(len(m) + levels)
    for level in range(levels):
        for i in range(offset[level + 1] - offset[level]):
            prefix[offset[level] + level + i + 1] = prefix[offset[level] + level + i] + m[offset[level] + i]
    out = np.empty(len(lo))
    for q in range(len(lo)):
        left, right = int(lo[q]), int(hi[q])
        joined = left == right
        share = hi[q] - lo[q] if joined else 1 - (lo[q] - left)
        dot_left, var_left = share * m[left], share * share * m[left]
        dot_right, var_right = 0.0, 0.0
        if not joined and right < offset[1]:
            share = hi[q] - right
            dot_right, var_right = share * m[right], share * share * m[right]
        for level in range(1, levels):
            base = offset[level - 1] + level - 1
            count = offset[level] - offset[level - 1]
            up_left, up_right = left // t, right // t
            if not joined:
                stop = right if up_left == up_right else min((up_left + 1) * t, count)
                inside = prefix[base + stop] - prefix[base + left + 1]
                dot_left += inside
                var_left += inside
                if up_left == up_right:
                    dot_left += dot_right
                    var_left += var_right
                    joined = True
                elif up_right * t < count:
                    inside = prefix[base + right] - prefix[base + up_right * t]
                    node = offset[level] + up_right
                    factor = 1 + weights[node] * weights[node] * s[node]
                    dot_right += inside
                    var_right += inside - weights[node] * weights[node] / factor * dot_right * dot_right
                    dot_right /= factor
            node = offset[level] + up_left
            factor = 1 + weights[node] * weights[node] * s[node]
            var_left -= weights[node] * weights[node] / factor * dot_left * dot_left
            dot_left /= factor
            left, right = up_left, up_right
        out[q] = var_left
    return out


@njit(cache=True, inline="always")
def _add(node, dot, var, count, at, more_dot, more_var):
    """Add to a node's share, which is the last in the list or not in it yet; return the list's new length."""
    if count and node[count - 1] == at:
        dot[count - 1] += more_dot
        var[count - 1] += more_var
        return count
    node[count], dot[count], var[count] = at, more_dot, more_var
    return count + 1


@njit(cache=True)
def _prefixes(m, offset):
    """The sums of m before every node of its level; the sums of level l begin at ``offset[l] + l``."""
    prefix = np.zeros(len(m) + len(offset) - 1)
    for level in range(len(offset) - 1):
        base = offset[level] + level
        for i in range(offset[level + 1] - offset[level]):
            prefix[base + i + 1] = prefix[base + i] + m[offset[level] + i]
    return prefix


@njit(nogil=True, cache=True)
def variances(first, lo, hi, weight, weights, m, s, t, offset):
    """``wᵀM⁻¹w`` of each query; runs begin and end at whole buckets, ``m`` and ``s`` come from ``moments``."""
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
