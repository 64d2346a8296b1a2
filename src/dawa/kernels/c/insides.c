/* Records placed smoothly inside buckets that lie on a grid. The page does the same operations in the same order. */
#include "kernels.h"

/* Add to every cell of a row its neighbours along one axis, which are other rows. */
static inline void add_rows(i64 n, const f64 *restrict below, const f64 *restrict above, f64 *restrict sums) {
    for (i64 i = 0; i < n; i++) sums[i] = sums[i] + below[i] + above[i];
}

/* The same along the row itself: the outside mirrors its ends. Then the mean of all `parts`. */
static inline void add_neighbours(i64 n, const f64 *restrict row, f64 parts, f64 *restrict sums) {
    for (i64 i = 1; i < n - 1; i++) sums[i] = (sums[i] + row[i - 1] + row[i + 1]) / parts;
    if (n > 1) sums[0] = (sums[0] + row[0] + row[1]) / parts;
    sums[n - 1] = (sums[n - 1] + row[imax(n - 2, 0)] + row[n - 1]) / parts;
}

/* Every cell becomes the mean of itself and its two neighbours along every axis; and every bucket's sum of these. */
static void average(i64 n, const i64 *label, i64 dims, const i64 *shape, const f64 *level, f64 *after, f64 *sums) {
    const i64 length = shape[dims - 1];
    for (i64 row = 0; row < n; row += length) {
        const f64 *here = level + row;
        memcpy(after + row, here, (size_t)length * sizeof *here);
        i64 stride = n;
        for (i64 axis = 0; axis < dims - 1; axis++) {
            stride /= shape[axis];
            const i64 at = row / stride % shape[axis];
            add_rows(length, at > 0 ? here - stride : here, at < shape[axis] - 1 ? here + stride : here, after + row);
        }
        add_neighbours(length, here, (f64)(2 * dims + 1), after + row);
        for (i64 cell = row, end = row + length; cell < end;) {
            const i64 b = label[cell];
            f64 sum = sums[b];
            do sum += after[cell++];
            while (cell < end && label[cell] == b);
            sums[b] = sum;
        }
    }
}

/* `after` has room for every cell, and `sums` for every bucket. */
KERNEL(void, insides_smoothed, i64 n, const i64 *label, i64 buckets, const f64 *totals, const f64 *width, i64 dims,
       const i64 *shape, i64 rounds, const f64 *most, f64 *after, f64 *sums, f64 *level) {
    for (i64 cell = 0; cell < n; cell++) level[cell] = totals[label[cell]] / width[label[cell]];
    for (i64 round = 0; round < rounds; round++) {
        memset(sums, 0, (size_t)buckets * sizeof *sums);
        average(n, label, dims, shape, level, after, sums);
        for (i64 b = 0; b < buckets; b++) sums[b] = sums[b] > 0 ? totals[b] / sums[b] : 0;
        for (i64 cell = 0; cell < n; cell++) level[cell] = after[cell] * sums[label[cell]];
    }
    memset(sums, 0, (size_t)buckets * sizeof *sums);
    for (i64 cell = 0; cell < n; cell++) {
        const i64 b = label[cell];
        sums[b] += fabs(level[cell] - totals[b] / width[b]);
    }
    for (i64 cell = 0; cell < n; cell++) {
        const i64 b = label[cell];
        if (!(sums[b] > most[b])) continue;
        const f64 even = totals[b] / width[b];
        level[cell] = even + most[b] / sums[b] * (level[cell] - even);
    }
}
