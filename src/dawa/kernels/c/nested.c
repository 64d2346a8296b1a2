/* Nested intervals over the buckets, a tree of any shape; nested.py says how its nodes are numbered, and what m and s
 * are. Nodes come in depth-first order, so whatever lies above a node comes before it. */
#include "kernels.h"

static inline bool is_single(const i64 *skip, i64 i) { return skip[i] == i + 1; }

KERNEL(void, nested_parents, i64 nodes, const i64 *skip, i64 *parent) {
    for (i64 i = 0; i < nodes; i++) parent[i] = -1;
    for (i64 i = 0; i < nodes; i++)
        for (i64 child = i + 1; child < skip[i]; child = skip[child]) parent[child] = i;
}

KERNEL(void, nested_heights, i64 nodes, const i64 *parent, i64 *levels) {
    for (i64 i = 0; i < nodes; i++) levels[i] = 0;
    for (i64 i = nodes - 1; i > 0; i--)
        if (parent[i] >= 0) levels[parent[i]] = imax(levels[parent[i]], levels[i] + 1);
}

KERNEL(void, nested_moments, i64 nodes, const f64 *weights, const i64 *skip, const i64 *parent, f64 *m, f64 *s) {
    for (i64 i = 0; i < nodes; i++) s[i] = 0;
    for (i64 i = nodes - 1; i >= 0; i--) {
        const f64 square = weights[i] * weights[i];
        m[i] = is_single(skip, i) ? 1 / square : s[i] / (1 + square * s[i]);
        if (parent[i] >= 0) s[parent[i]] += m[i];
    }
}

/* `below` has room for a number per node. */
KERNEL(void, nested_least_squares, i64 nodes, const f64 *answers, const f64 *weights, const f64 *m, const f64 *s,
       const i64 *skip, const i64 *parent, f64 *below, f64 *best) {
    for (i64 i = 0; i < nodes; i++) below[i] = 0;
    for (i64 i = nodes - 1; i >= 0; i--) {
        if (is_single(skip, i)) best[i] = answers[i] / weights[i];
        else best[i] = (below[i] + weights[i] * s[i] * answers[i]) / (1 + weights[i] * weights[i] * s[i]);
        if (parent[i] >= 0) below[parent[i]] += best[i];
    }
    for (i64 i = 0; i < nodes; i++) {
        const i64 above = parent[i];
        if (above >= 0) best[i] += m[i] / s[above] * (best[above] - below[above]);
    }
}

/* A node takes share[levels] of what the poorest bucket has left; `used` has room for a number per node. */
KERNEL(void, nested_integer_weights, i64 nodes, const f64 *share, const i64 *levels, const i64 *start, const i64 *skip,
       const i64 *parent, const i64 *allowance, i64 poorest, i64 *used, i64 *weights) {
    for (i64 i = 0; i < nodes; i++) {
        used[i] = parent[i] >= 0 ? used[parent[i]] + weights[parent[i]] : 0;
        if (is_single(skip, i)) weights[i] = allowance[start[i]] - used[i];
        else weights[i] = (i64)floor(share[levels[i]] * (f64)(poorest - used[i]));
    }
}

/* The open nodes lie on a stack. Each has, for the query's part below it, the variance by what was measured there, and
 * the covariance with the node's total. Place 0 stands for what lies above all nodes. */
typedef struct {
    i64 depth, *node;
    f64 *dot, *var;
} Open;

/* Close the nodes that end before node i: each hands its share to the node around it. */
static inline void close_up(Open *open, i64 i, const f64 *weights, const f64 *s, const i64 *skip) {
    i64 depth = open->depth;
    for (; depth > 0 && skip[open->node[depth]] <= i; depth--) {
        const i64 node = open->node[depth];
        const f64 square = weights[node] * weights[node], factor = 1 + square * s[node];
        open->var[depth - 1] += open->var[depth] - square / factor * (open->dot[depth] * open->dot[depth]);
        open->dot[depth - 1] += open->dot[depth] / factor;
    }
    open->depth = depth;
}

/* Only nodes that a query cuts are opened. `node`, `dot` and `var` have room for one more than can be open at once. */
KERNEL(void, nested_variances, i64 queries, const i64 *first, const f64 *lo, const f64 *hi, const f64 *weight,
       i64 nodes, const i64 *start, const i64 *stop, const f64 *weights, const f64 *m, const f64 *s, const i64 *skip,
       i64 *node, f64 *dot, f64 *var, f64 *out) {
    for (i64 q = 0; q < queries; q++) {
        const i64 end = first[q + 1];
        i64 r = first[q], i = 0;
        Open open = {0, node, dot, var};
        dot[0] = var[0] = 0;
        while (i < nodes) {
            close_up(&open, i, weights, s, skip);
            const f64 from = (f64)start[i], to = (f64)stop[i];
            while (r < end && hi[r] <= from) r++;
            if (r == end) break;
            f64 part = 0;
            if (lo[r] >= to) {
                i = skip[i];
                continue;
            }
            if (lo[r] <= from && to <= hi[r]) {
                part = weight[r];
            } else if (is_single(skip, i)) {
                for (i64 run = r; run < end && lo[run] < to; run++)
                    part += weight[run] * (dmin(hi[run], to) - dmax(lo[run], from));
            } else {
                open.depth++;
                node[open.depth] = i++;
                dot[open.depth] = var[open.depth] = 0;
                continue;
            }
            dot[open.depth] += part * m[i];
            var[open.depth] += part * part * m[i];
            i = skip[i];
        }
        close_up(&open, nodes, weights, s, skip);
        out[q] = var[0];
    }
}

/* The part of a box that a query covers; `whole` says whether that is all of it. */
static inline f64 covered(i64 axes, const f64 *lo, const f64 *hi, const i64 *box_lo, const i64 *box_hi, bool *whole) {
    f64 part = 1;
    *whole = true;
    for (i64 axis = 0; axis < axes; axis++) {
        const f64 side = (f64)(box_hi[axis] - box_lo[axis]);
        const f64 inside = dmin(hi[axis], (f64)box_hi[axis]) - dmax(lo[axis], (f64)box_lo[axis]);
        if (inside <= 0) return 0;
        if (inside != side) *whole = false;
        part *= inside / side;
    }
    return part;
}

/* A box lies in memory as its coordinates, one after the other. Goes on at query `from`, whose first stretch is
 * begin[from]; returns the query that found no room, or `queries`. */
KERNEL(i64, nested_overlaps, i64 queries, i64 axes, const f64 *lo, const f64 *hi, i64 nodes, const i64 *box_lo,
       const i64 *box_hi, const i64 *start, const i64 *stop, const i64 *skip, i64 from, i64 room, i64 *begin, f64 *at,
       f64 *to, f64 *share) {
    i64 count = begin[from];
    for (i64 q = from; q < queries; q++) {
        begin[q] = count;
        for (i64 i = 0; i < nodes;) {
            bool whole;
            const f64 part = covered(axes, lo + q * axes, hi + q * axes, box_lo + i * axes, box_hi + i * axes, &whole);
            if (part > 0 && !whole && !is_single(skip, i)) {
                i++;
                continue;
            }
            if (part > 0) {
                if (count > begin[q] && to[count - 1] == (f64)start[i] && share[count - 1] == part) {
                    to[count - 1] = (f64)stop[i];
                } else {
                    if (count == room) return q;
                    at[count] = (f64)start[i];
                    to[count] = (f64)stop[i];
                    share[count++] = part;
                }
            }
            i = skip[i];
        }
    }
    begin[queries] = count;
    return queries;
}
