/* Haar wavelets over any number of buckets: transform, inverse, and errors of queries. */
#include "kernels.h"

KERNEL(void, wavelet_transforms, i64 rows, i64 k, const i64 *totals, i64 width, i64 *sums, i64 *answers) {
    for (i64 row = 0; row < rows; row++) {
        const i64 *below = totals + row * k;
        i64 *answer = answers + row * width;
        for (i64 nodes = k; nodes > 1; below = sums) {
            i64 pairs = nodes >> 1, odd = nodes & 1;
            for (i64 i = 0; i < pairs; i++) {
                i64 left = below[2 * i], right = below[2 * i + 1];
                answer[i] = left - right;
                sums[i] = left + right;
            }
            if (odd) answer[pairs] = sums[pairs] = below[nodes - 1];
            nodes = pairs + odd;
            answer += nodes;
        }
        answer[0] = below[0];
    }
}

KERNEL(void, wavelet_inverses, i64 rows, i64 width, const f64 *differences, const i64 *start, i64 levels,
       const f64 *blocks, i64 k, f64 *buckets) {
    for (i64 row = 0; row < rows; row++) {
        f64 *sums = buckets + row * k;
        for (i64 level = levels - 1; level >= 0; level--) {
            i64 above = k >> (level + 1);
            if (above > 0) {
                const f64 *difference = differences + row * width + start[level + 1];
                for (i64 i = above - 1; i >= 0; i--) {
                    f64 total = sums[i];
                    sums[2 * i] = (total + difference[i]) / 2;
                    sums[2 * i + 1] = (total - difference[i]) / 2;
                }
            }
            if ((k >> level) & 1) sums[(k >> level) - 1] = blocks[row * levels + level];
        }
    }
}

/* Add a query's end at x to the rows above all blocks: `top` at the blocks' edges, linear in between. */
static inline void add_top(f64 x, f64 sign, i64 blocks, const f64 *edges, i64 rows, const f64 *top,
                           f64 *restrict above) {
    i64 block = 0;
    while (block + 1 < blocks && edges[block + 1] <= x) block++;
    f64 inside = (x - edges[block]) / (edges[block + 1] - edges[block]);
    const f64 *here = top + block * rows, *there = here + rows;
    for (i64 r = 0; r < rows; r++) above[r] += sign * ((1 - inside) * here[r] + inside * there[r]);
}

/* What an end at x counts on the row of a node of this width. */
static inline f64 share(f64 x, i64 node, i64 width) {
    f64 inside = x - (f64)(node * width);
    return dmin((f64)width - inside, inside) / (f64)width;
}

KERNEL(void, wavelet_range_variances, i64 ranges, const f64 *lo, const f64 *hi, i64 k, f64 unit, i64 blocks,
       const f64 *edges, i64 rows, const f64 *top, f64 *above, f64 *out) {
    for (i64 q = 0; q < ranges; q++) {
        memset(above, 0, (size_t)rows * sizeof *above);
        add_top(lo[q], -1, blocks, edges, rows, top, above);
        add_top(hi[q], 1, blocks, edges, rows, top, above);
        f64 total = 0;
        for (i64 level = 1; k >> level > 0; level++) {
            i64 width = (i64)1 << level, nodes = k >> level;
            i64 left = (i64)lo[q] >> level, right = (i64)hi[q] >> level;
            f64 begin = left < nodes ? share(lo[q], left, width) : 0;
            f64 end = right < nodes ? share(hi[q], right, width) : 0;
            total += left == right ? (end - begin) * (end - begin) : begin * begin + end * end;
        }
        f64 squares = 0;
        for (i64 r = 0; r < rows; r++) squares += above[r] * above[r];
        out[q] = unit * total + squares;
    }
}

/* The error of all rows, from each row's sums over the queries, or over the prefixes they are differences of. */
static f64 summed(i64 rows, const f64 *square, const f64 *linear, f64 mass, bool differences) {
    f64 total = 0;
    for (i64 r = 0; r < rows; r++) total += differences ? dmax(mass * square[r] - linear[r] * linear[r], 0) : square[r];
    return total;
}

/* `above` has room for the rows above the blocks, `square` and `linear` for these and for the narrowest nodes. */
KERNEL(f64, wavelet_total_error, i64 queries, const i64 *first, const f64 *lo, const f64 *hi, const f64 *weight,
       const f64 *omega, i64 differences, i64 k, f64 unit, i64 blocks, const f64 *edges, i64 rows, const f64 *top,
       f64 *above, f64 *square, f64 *linear) {
    f64 mass = 0;
    for (i64 q = 0; q < queries; q++) mass += omega[q];
    memset(square, 0, (size_t)rows * sizeof *square);
    memset(linear, 0, (size_t)rows * sizeof *linear);
    for (i64 q = 0; q < queries; q++) {
        memset(above, 0, (size_t)rows * sizeof *above);
        for (i64 r = first[q]; r < first[q + 1]; r++) {
            add_top(lo[r], -weight[r], blocks, edges, rows, top, above);
            add_top(hi[r], weight[r], blocks, edges, rows, top, above);
        }
        for (i64 r = 0; r < rows; r++) {
            square[r] += omega[q] * above[r] * above[r];
            linear[r] += omega[q] * above[r];
        }
    }
    f64 total = summed(rows, square, linear, mass, differences);
    for (i64 level = 1; k >> level > 0; level++) {
        i64 width = (i64)1 << level, nodes = k >> level;
        memset(square, 0, (size_t)nodes * sizeof *square);
        memset(linear, 0, (size_t)nodes * sizeof *linear);
        for (i64 q = 0; q < queries; q++) {
            i64 at = 0;
            f64 part = 0;
            for (i64 end = 2 * first[q]; end < 2 * first[q + 1]; end++) {
                i64 r = end >> 1;
                f64 x = end & 1 ? hi[r] : lo[r], sign = end & 1 ? weight[r] : -weight[r];
                i64 node = (i64)x >> level;
                if ((u64)node >= (u64)nodes) continue;
                if (node != at) {
                    square[at] += omega[q] * part * part;
                    linear[at] += omega[q] * part;
                    at = node;
                    part = 0;
                }
                part += sign * share(x, node, width);
            }
            square[at] += omega[q] * part * part;
            linear[at] += omega[q] * part;
        }
        total += unit * summed(nodes, square, linear, mass, differences);
    }
    return total;
}
