/* How far the cells of an interval lie from their mean, in exact integers, and partitions of least total cost. */
#include "kernels.h"

/* Cells by the rank of their value: a Fenwick tree whose nodes hold a number of cells and their sum. */
typedef struct {
    i64 number, total;
} Node;

/* Put `number` cells (-1 removes one) with the sum `total` into the tree. */
static inline void add(Node *tree, i64 distinct, i64 rank, i64 number, i64 total) {
    for (i64 node = rank + 1; node <= distinct; node += node & -node) {
        tree[node].number += number;
        tree[node].total += total;
    }
}

/* floor(lattice · dev) of the cells in the tree; `top` is the largest power of two up to its size. Nothing that is
 * divided is negative. */
static inline i64 deviation(const Node *tree, i64 distinct, const i64 *values, i64 total, i64 length, i64 top,
                            i64 lattice) {
    i64 mean = total / length, rest = total - mean * length;
    i64 node = 0, below = 0, below_total = 0;
    for (i64 step = top; step > 0; step >>= 1) {
        i64 following = node + step;
        if (following <= distinct && values[following - 1] <= mean) { /* whole numbers: the floor decides */
            node = following;
            below += tree[node].number;
            below_total += tree[node].total;
        }
    }
    i64 above = length - below;
    /* dev = 2·(sum above - above · mean) - 2 · above · rest / length = whole - part / length */
    i64 surplus = 2 * above * rest, carried = surplus / length, part = surplus - carried * length;
    i64 whole = 2 * (total - below_total - above * mean) - carried;
    return lattice * whole - (lattice * part + length - 1) / length;
}

/* The largest power of two that is at most `size`. */
static i64 power_up_to(i64 size) {
    i64 step = 1;
    while (2 * step <= size) step *= 2;
    return step;
}

/* `tree` is a Node for each distinct value and one more, all zero. */
KERNEL(void, costs_windows, i64 distinct, const i64 *values, i64 n, const i64 *ranks, i64 length, i64 lattice,
       i64 *tree, i64 *scores) {
    Node *nodes = (Node *)tree;
    i64 top = power_up_to(distinct), total = 0;
    for (i64 cell = 0; cell < n; cell++) {
        i64 value = values[ranks[cell]], start = cell - length + 1;
        add(nodes, distinct, ranks[cell], 1, value);
        total += value;
        if (start < 0) continue;
        scores[start] = deviation(nodes, distinct, values, total, length, top, lattice);
        value = values[ranks[start]];
        add(nodes, distinct, ranks[start], -1, -value);
        total -= value;
    }
}

KERNEL(void, costs_starting_at, i64 distinct, const i64 *values, i64 n, const i64 *ranks, i64 start, i64 lattice,
       i64 *tree, i64 *scores) {
    Node *nodes = (Node *)tree;
    i64 top = power_up_to(distinct), total = 0;
    for (i64 cell = start; cell < n; cell++) {
        i64 value = values[ranks[cell]];
        add(nodes, distinct, ranks[cell], 1, value);
        total += value;
        scores[cell - start] = deviation(nodes, distinct, values, total, cell - start + 1, top, lattice);
    }
}

KERNEL(void, costs_powers, i64 levels, i64 n, const i64 *costs, i64 *best, i64 *last) {
    best[0] = last[0] = 0;
    for (i64 end = 1; end <= n; end++) {
        i64 least = INT64_MAX, from = 0;
        for (i64 level = levels - 1; level >= 0; level--) { /* the longest first, so it wins a tie */
            i64 start = end - ((i64)1 << level);
            if (start < 0) continue;
            i64 total = best[start] + costs[level * n + start];
            if (total < least) {
                least = total;
                from = start;
            }
        }
        best[end] = least;
        last[end] = from;
    }
}

KERNEL(void, costs_extend, i64 start, i64 lengths, const i64 *costs, i64 *best, i64 *last) {
    i64 before = best[start];
    i64 *restrict reached = best + start + 1, *restrict from = last + start + 1;
    for (i64 i = 0; i < lengths; i++) {
        i64 total = before + costs[i];
        bool better = total < reached[i];
        reached[i] = better ? total : reached[i];
        from[i] = better ? start : from[i];
    }
}

/* Fills the end of `bounds`, which has room for all `ends`; the result is where it begins. */
KERNEL(i64, costs_traced, i64 ends, const i64 *last, i64 *bounds) {
    i64 place = ends;
    for (i64 end = ends - 1; end > 0 && place > 1; end = last[end]) bounds[--place] = end;
    if (place > 0) bounds[--place] = 0;
    return place;
}
