/* Passes over a t-ary tree of intervals over k leaves; tree.py says how its nodes are numbered, and what m and s are.
 */
#include "kernels.h"

/* The nodes of a level are consecutive; so are the children of a node, fewer for the last node. */
static inline i64 size_of(const i64 *offset, i64 level) { return offset[level + 1] - offset[level]; }

static inline i64 children_end(const i64 *offset, i64 level, i64 t, i64 i) {
    return imin((i + 1) * t, size_of(offset, level - 1));
}

/* ---- energies of queries ---- */

typedef struct {
    i64 count;
    const i64 *first;
    const f64 *lo, *hi, *weight, *omega;
    bool differences;
} Queries;

/* The integral of v up to the real position x. */
static inline f64 before(f64 x, const f64 *prefix, const f64 *v, i64 k) {
    i64 i = (i64)x;
    return i >= k ? prefix[i] : prefix[i] + (x - (f64)i) * v[i];
}

/* Add the part of a query in a node that it covers partly, if there is one. */
static inline void settle(i64 at, f64 part, f64 omega, f64 *energy, f64 *linear) {
    if (at < 0) return;
    energy[at] += omega * part * part;
    linear[at] += omega * part;
}

/* The squared norm of W_q v for every node q of one level, and the sum of v over it. W holds the queries, in bucket
 * coordinates; `width` is the number of leaves below a node. Each query covers at most two nodes per run partly; nodes
 * that it covers wholly are counted by differences along the level. The room holds 4 (k + 1) numbers. */
static void energies(const Queries *queries, i64 k, const f64 *v, i64 width, i64 nodes, f64 *restrict room,
                     f64 *restrict energy, f64 *restrict sums) {
    f64 *prefix = room, *linear = prefix + k + 1, *whole_square = linear + k + 1, *whole_linear = whole_square + k + 1;
    prefix[0] = 0;
    for (i64 j = 0; j < k; j++) prefix[j + 1] = prefix[j] + v[j];
    for (i64 i = 0; i < nodes; i++) energy[i] = linear[i] = whole_square[i] = whole_linear[i] = 0;
    whole_square[nodes] = whole_linear[nodes] = 0;
    f64 mass = 0;
    for (i64 q = 0; q < queries->count; q++) {
        const f64 omega = queries->omega[q];
        i64 at = -1; /* a node that is covered partly, and what the query has there so far */
        f64 part = 0;
        mass += omega;
        for (i64 r = queries->first[q]; r < queries->first[q + 1]; r++) {
            const f64 a = queries->lo[r], b = queries->hi[r], w = queries->weight[r];
            const i64 left = (i64)a / width, right = (i64)b / width;
            const f64 end = (f64)imin((left + 1) * width, k);
            i64 begin_whole = left, end_whole = right;
            if (a > (f64)(left * width) || b < end) {
                const f64 value = w * (before(dmin(b, end), prefix, v, k) - before(a, prefix, v, k));
                if (left == at) {
                    part += value;
                } else {
                    settle(at, part, omega, energy, linear);
                    at = left;
                    part = value;
                }
                begin_whole = left + 1;
            }
            if (right < nodes) {
                if (b >= (f64)imin((right + 1) * width, k)) {
                    end_whole = right + 1;
                } else if (right > left && b > (f64)(right * width)) {
                    settle(at, part, omega, energy, linear);
                    at = right;
                    part = w * (before(b, prefix, v, k) - prefix[right * width]);
                }
            }
            if (end_whole > begin_whole) {
                whole_square[begin_whole] += omega * w * w;
                whole_square[end_whole] -= omega * w * w;
                whole_linear[begin_whole] += omega * w;
                whole_linear[end_whole] -= omega * w;
            }
        }
        settle(at, part, omega, energy, linear);
    }
    f64 square = 0, line = 0;
    for (i64 i = 0; i < nodes; i++) {
        square += whole_square[i];
        line += whole_linear[i];
        sums[i] = prefix[imin((i + 1) * width, k)] - prefix[i * width];
        energy[i] += square * sums[i] * sums[i];
        if (queries->differences) {
            const f64 total = linear[i] + line * sums[i];
            energy[i] = mass * energy[i] - total * total;
        }
        energy[i] = dmax(0, energy[i]);
    }
}

/* The x >= 0 that minimises (1+x)^2 (cost - x^2 energy/(1 + x^2 s)), x = share/(1-share).
 * The slope has the sign of a quartic that is positive at 0 and convex, so besides x = 0 there is at most one minimum:
 * the quartic's larger root, found by Newton's method from the right. */
static f64 best_ratio(f64 cost, f64 energy, f64 s) {
    const f64 quartic = dmax(0, cost * s * s - energy * s), square = dmax(0, 2 * (cost * s - energy));
    if (energy <= 0 || cost <= 0) return 0;
    f64 x = 1e3;
    for (int turn = 0; turn < 60; turn++) {
        const f64 value = ((quartic * x * x + square) * x - energy) * x + cost;
        const f64 slope = (4 * quartic * x * x + 2 * square) * x - energy;
        if (slope <= 0) break;
        const f64 step = value / slope;
        x = dmin(1e4, x - step);
        if (x <= 0) return 0;
        if (fabs(step) < 1e-10 * x) break;
    }
    const f64 here = (1 + x) * (1 + x) * (cost - x * x * energy / (1 + x * x * s));
    return here < cost ? x : 0;
}

/* The room holds 10 (k + 1) numbers. */
KERNEL(void, tree_ratios, i64 count, const i64 *first, const f64 *lo, const f64 *hi, const f64 *weight,
       const f64 *omega, i64 differences, const f64 *budget, i64 t, i64 levels, const i64 *offset, f64 *room,
       f64 *chosen) {
    const Queries queries = {count, first, lo, hi, weight, omega, differences};
    const i64 k = offset[1];
    f64 *v = room + 4 * (k + 1), *whole = v + k + 1, *sums = whole + k + 1;
    f64 *cost = sums + k + 1, *energy = cost + k + 1, *poorest = energy + k + 1; /* of the level below, then of this */
    for (i64 j = 0; j < k; j++) {
        v[j] = 1 / (budget[j] * budget[j]);
        poorest[j] = budget[j];
        chosen[j] = 0;
    }
    energies(&queries, k, v, 1, k, room, energy, sums);
    for (i64 j = 0; j < k; j++) cost[j] = energy[j] / v[j];
    i64 width = 1;
    for (i64 level = 1; level < levels; level++) {
        width *= t;
        const i64 nodes = size_of(offset, level);
        energies(&queries, k, v, width, nodes, room, whole, sums);
        const f64 decay = pow((f64)t, -0.5 * (f64)(levels - 1 - level));
        for (i64 i = 0; i < nodes; i++) {
            f64 below = 0, apart = 0, least = INFINITY;
            for (i64 c = i * t; c < children_end(offset, level, t, i); c++) {
                below += cost[c];
                apart += energy[c];
                least = dmin(poorest[c], least);
            }
            const f64 decayed = (decay * whole[i] + (1 - decay) * apart) * least * least, b2 = least * least;
            const f64 x = best_ratio(below, decayed, sums[i] * b2);
            const f64 shrink = (1 + x) * (1 + x) / (1 + x * x * b2 * sums[i]);
            chosen[offset[level] + i] = x;
            cost[i] = (1 + x) * (1 + x) * (below - x * x * b2 * whole[i] / (1 + x * x * b2 * sums[i]));
            energy[i] = whole[i] * shrink * shrink;
            poorest[i] = least;
            for (i64 j = i * width; j < imin((i + 1) * width, k); j++) v[j] *= shrink;
        }
    }
}

/* The room holds 7 (k + 1) numbers. */
KERNEL(f64, tree_total_error, i64 count, const i64 *first, const f64 *lo, const f64 *hi, const f64 *weight,
       const f64 *omega, i64 differences, const f64 *weights, i64 t, i64 levels, const i64 *offset, f64 *room) {
    const Queries queries = {count, first, lo, hi, weight, omega, differences};
    const i64 k = offset[1];
    f64 *v = room + 4 * (k + 1), *energy = v + k + 1, *sums = energy + k + 1;
    for (i64 j = 0; j < k; j++) v[j] = 1 / (weights[j] * weights[j]);
    energies(&queries, k, v, 1, k, room, energy, sums);
    f64 total = 0;
    for (i64 j = 0; j < k; j++) total += energy[j] / v[j];
    i64 width = 1;
    for (i64 level = 1; level < levels; level++) {
        width *= t;
        const i64 nodes = size_of(offset, level);
        energies(&queries, k, v, width, nodes, room, energy, sums);
        for (i64 i = 0; i < nodes; i++) {
            const f64 c2 = weights[offset[level] + i] * weights[offset[level] + i];
            if (!(c2 > 0)) continue;
            const f64 factor = 1 + c2 * sums[i];
            total -= c2 / factor * energy[i];
            for (i64 j = i * width; j < imin((i + 1) * width, k); j++) v[j] /= factor;
        }
    }
    return total;
}

/* ---- whole weights, and exact sums ---- */

/* `poorest` and `used` have room for a number per node, `scale` likewise. */
KERNEL(void, tree_integer_weights, const f64 *chosen, const i64 *allowance, i64 t, i64 levels, const i64 *offset,
       i64 *poorest, i64 *used, f64 *scale, i64 *weights) {
    memcpy(poorest, allowance, (size_t)offset[1] * sizeof *allowance);
    for (i64 level = 1; level < levels; level++) {
        const i64 *below = poorest + offset[level - 1];
        for (i64 i = 0; i < size_of(offset, level); i++) {
            i64 least = (i64)1 << 62;
            for (i64 c = i * t; c < children_end(offset, level, t, i); c++) least = imin(least, below[c]);
            poorest[offset[level] + i] = least;
        }
    }
    for (i64 level = levels - 1; level >= 0; level--) {
        for (i64 i = 0; i < size_of(offset, level); i++) {
            const i64 node = offset[level] + i;
            if (level < levels - 1) {
                const i64 parent = offset[level + 1] + i / t;
                used[node] = used[parent] + weights[parent];
                scale[node] = scale[parent] / (1 + chosen[parent]);
            } else {
                used[node] = 0;
                scale[node] = 1;
            }
            if (level == 0) {
                weights[node] = allowance[i] - used[node];
            } else {
                const f64 share = scale[node] * chosen[node] / (1 + chosen[node]);
                const i64 reserve = imax(poorest[node] >> 10, 1);
                const i64 wanted = (i64)(share * (f64)poorest[node]);
                weights[node] = imax(imin(wanted, poorest[node] - used[node] - reserve), 0);
            }
        }
    }
}

/* Begins with a weight per node and ends with the sums of weights from the root. */
KERNEL(void, tree_column_sums, i64 t, i64 levels, const i64 *offset, i64 *sums) {
    for (i64 level = levels - 1; level > 0; level--) {
        i64 *below = sums + offset[level - 1];
        for (i64 i = 0; i < size_of(offset, level); i++)
            for (i64 c = i * t; c < children_end(offset, level, t, i); c++) below[c] += sums[offset[level] + i];
    }
}

/* Begins with the leaves' totals. */
KERNEL(void, tree_node_totals, i64 t, i64 levels, const i64 *offset, i64 *sums) {
    for (i64 level = 1; level < levels; level++) {
        const i64 *below = sums + offset[level - 1];
        for (i64 i = 0; i < size_of(offset, level); i++) {
            i64 sum = 0;
            for (i64 c = i * t; c < children_end(offset, level, t, i); c++) sum += below[c];
            sums[offset[level] + i] = sum;
        }
    }
}

/* ---- least squares ---- */

static inline void moments(const f64 *weights, i64 t, i64 levels, const i64 *offset, f64 *m, f64 *s) {
    for (i64 j = 0; j < offset[1]; j++) {
        m[j] = 1 / (weights[j] * weights[j]);
        s[j] = 0;
    }
    for (i64 level = 1; level < levels; level++) {
        const f64 *below = m + offset[level - 1];
        for (i64 i = 0; i < size_of(offset, level); i++) {
            const i64 node = offset[level] + i;
            f64 sum = 0;
            for (i64 c = i * t; c < children_end(offset, level, t, i); c++) sum += below[c];
            s[node] = sum;
            m[node] = sum / (1 + weights[node] * weights[node] * sum);
        }
    }
}

KERNEL(void, tree_moments, const f64 *weights, i64 t, i64 levels, const i64 *offset, f64 *m, f64 *s) {
    moments(weights, t, levels, offset, m, s);
}

/* `m`, `s` and `below` have room for a number per node. */
KERNEL(void, tree_least_squares, const f64 *answers, const f64 *weights, i64 t, i64 levels, const i64 *offset, f64 *m,
       f64 *s, f64 *below, f64 *best) {
    moments(weights, t, levels, offset, m, s);
    for (i64 j = 0; j < offset[1]; j++) best[j] = answers[j] / weights[j];
    for (i64 level = 1; level < levels; level++) {
        const f64 *children = best + offset[level - 1];
        for (i64 i = 0; i < size_of(offset, level); i++) {
            const i64 node = offset[level] + i;
            f64 sum = 0;
            for (i64 c = i * t; c < children_end(offset, level, t, i); c++) sum += children[c];
            below[node] = sum;
            best[node] = m[node] * (sum / s[node] + weights[node] * answers[node]);
        }
    }
    for (i64 level = levels - 1; level > 0; level--) {
        for (i64 i = 0; i < size_of(offset, level); i++) {
            const i64 node = offset[level] + i;
            const f64 rest = best[node] - below[node];
            for (i64 c = i * t; c < children_end(offset, level, t, i); c++)
                best[offset[level - 1] + c] += m[offset[level - 1] + c] / s[node] * rest;
        }
    }
}

/* ---- variances ---- */

/* The sums of m before every node of its level; the sums of level l begin at offset[l] + l. */
static void prefixes(const f64 *m, i64 levels, const i64 *offset, f64 *prefix) {
    for (i64 level = 0; level < levels; level++) {
        f64 sum = 0, *sums = prefix + offset[level] + level;
        sums[0] = 0;
        for (i64 i = 0; i < size_of(offset, level); i++) sums[i + 1] = sum += m[offset[level] + i];
    }
}

/* `prefix` has room for a number per node and one per level. */
KERNEL(void, tree_range_variances, i64 count, const f64 *lo, const f64 *hi, const f64 *weights, const f64 *m,
       const f64 *s, i64 t, i64 levels, const i64 *offset, f64 *prefix, f64 *out) {
    prefixes(m, levels, offset, prefix);
    for (i64 q = 0; q < count; q++) {
        /* a range may be so short, at the very end, that both of its ends are k */
        i64 left = imin((i64)lo[q], offset[1] - 1), right = (i64)hi[q];
        bool joined = left == right;
        f64 share = joined ? hi[q] - lo[q] : 1 - (lo[q] - (f64)left);
        f64 dot_left = share * m[left], var_left = share * share * m[left], dot_right = 0, var_right = 0;
        if (!joined && right < offset[1]) {
            share = hi[q] - (f64)right;
            dot_right = share * m[right];
            var_right = share * share * m[right];
        }
        for (i64 level = 1; level < levels; level++) {
            const f64 *sums = prefix + offset[level - 1] + level - 1;
            const i64 below = size_of(offset, level - 1), up_left = left / t, up_right = right / t;
            if (!joined) {
                const i64 stop = up_left == up_right ? right : imin((up_left + 1) * t, below);
                f64 inside = sums[stop] - sums[left + 1];
                dot_left += inside;
                var_left += inside;
                if (up_left == up_right) {
                    dot_left += dot_right;
                    var_left += var_right;
                    joined = true;
                } else if (up_right * t < below) {
                    const i64 node = offset[level] + up_right;
                    const f64 square = weights[node] * weights[node], factor = 1 + square * s[node];
                    inside = sums[right] - sums[up_right * t];
                    dot_right += inside;
                    var_right += inside - square / factor * dot_right * dot_right;
                    dot_right /= factor;
                }
            }
            const i64 node = offset[level] + up_left;
            const f64 square = weights[node] * weights[node], factor = 1 + square * s[node];
            var_left -= square / factor * dot_left * dot_left;
            dot_left /= factor;
            left = up_left;
            right = up_right;
        }
        out[q] = var_left;
    }
}

/* What a query has in the nodes of one level that it cuts. */
typedef struct {
    i64 *node;
    f64 *dot, *var;
    i64 count;
} Cut;

/* Add to a node's share, which is the last in the list or not in it yet. */
static inline void add(Cut *cut, i64 node, f64 dot, f64 var) {
    const i64 last = cut->count - 1;
    if (last >= 0 && cut->node[last] == node) {
        cut->dot[last] += dot;
        cut->var[last] += var;
        return;
    }
    cut->node[cut->count] = node;
    cut->dot[cut->count] = dot;
    cut->var[cut->count] = var;
    cut->count++;
}

/* `most` is the largest number of runs of a query; `places` has room for 6 times as many, `numbers` for 9 times. */
KERNEL(void, tree_variances, i64 count, const i64 *first, const f64 *lo, const f64 *hi, const f64 *weight,
       const f64 *weights, const f64 *m, const f64 *s, i64 t, i64 levels, const i64 *offset, i64 most, f64 *prefix,
       i64 *places, f64 *numbers, f64 *out) {
    i64 *start = places, *stop = start + most;
    f64 *share = numbers;
    Cut cut = {stop + most, share + most, share + 3 * most, 0};
    Cut up = {cut.node + 2 * most, cut.var + 2 * most, cut.var + 4 * most, 0};
    prefixes(m, levels, offset, prefix);
    for (i64 q = 0; q < count; q++) {
        i64 stretches = first[q + 1] - first[q];
        cut.count = 0;
        for (i64 r = 0; r < stretches; r++) {
            start[r] = (i64)lo[first[q] + r];
            stop[r] = (i64)hi[first[q] + r];
            share[r] = weight[first[q] + r];
        }
        for (i64 level = 1; level < levels; level++) {
            const f64 *sums = prefix + offset[level - 1] + level - 1;
            const i64 nodes = size_of(offset, level - 1);
            i64 kept = 0, i = 0;
            up.count = 0;
            for (i64 r = 0; r <= stretches; r++) {
                const i64 begin = r < stretches ? start[r] : nodes;
                for (; i < cut.count && cut.node[i] < begin; i++) add(&up, cut.node[i] / t, cut.dot[i], cut.var[i]);
                if (r == stretches) break;
                const i64 end = stop[r];
                const f64 w = share[r];
                const i64 whole = (begin + t - 1) / t; /* parents from here to beyond are covered evenly */
                const i64 beyond = end == nodes ? (nodes + t - 1) / t : end / t;
                const i64 upto = whole <= beyond ? imin(end, whole * t) : end;
                if (upto > begin) {
                    const f64 inside = sums[upto] - sums[begin];
                    add(&up, begin / t, w * inside, w * w * inside);
                }
                if (beyond > whole) {
                    start[kept] = whole;
                    stop[kept] = beyond;
                    share[kept++] = w;
                }
                const i64 rest = imax(beyond * t, upto);
                if (end > rest) {
                    const f64 inside = sums[end] - sums[rest];
                    add(&up, rest / t, w * inside, w * w * inside);
                }
            }
            for (i = 0; i < up.count; i++) {
                const i64 node = offset[level] + up.node[i];
                const f64 square = weights[node] * weights[node], factor = 1 + square * s[node];
                up.var[i] -= square / factor * up.dot[i] * up.dot[i];
                up.dot[i] /= factor;
            }
            const Cut done = cut;
            cut = up;
            up = done;
            stretches = kept;
        }
        const f64 top = stretches ? share[0] * share[0] * m[offset[levels] - 1] : 0;
        out[q] = cut.count ? cut.var[0] : top;
    }
}
