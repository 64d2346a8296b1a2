/* What the loops over rows with interval supports share; hats.py says what the arrays are. */
#ifndef DAWA_KERNELS_HATS_H
#define DAWA_KERNELS_HATS_H

#include "kernels.h"

typedef f64 quad __attribute__((vector_size(32), aligned(8), may_alias));

static inline f64 summed(quad x) { return (x[0] + x[2]) + (x[1] + x[3]); }

static inline f64 product(i64 n, const f64 *a, const f64 *b) {
    REORDER
    quad sums = {0}, more = {0};
    i64 i = 0;
    for (; i + 8 <= n; i += 8) {
        sums += *(const quad *)(a + i) * *(const quad *)(b + i);
        more += *(const quad *)(a + i + 4) * *(const quad *)(b + i + 4);
    }
    if (i + 4 <= n) {
        sums += *(const quad *)(a + i) * *(const quad *)(b + i);
        i += 4;
    }
    f64 sum = summed(sums + more);
    for (; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static inline void factor(i64 p, const i64 *start, const i64 *stop, const i64 *ptr, const f64 *values, const i64 *near,
                          const i64 *at, f64 *restrict pivot, f64 *restrict lower) {
    REORDER
    for (i64 r = 0; r < p; r++) {
        const i64 first = near[r], row = at[r] - near[r];
        f64 total = 1.0 + product(ptr[r + 1] - ptr[r], values + ptr[r], values + ptr[r]);
        for (i64 q = first; q < r; q++) {
            const i64 begin = imax(start[q], start[r]), mine = ptr[r] + begin - start[r],
                      other = ptr[q] + begin - start[q], column = at[q] - near[q], from = imax(first, near[q]);
            lower[row + q] = product(stop[q] - begin, values + mine, values + other) -
                             product(q - from, lower + row + from, lower + column + from);
        }
        /* Until here the row holds L·D; now it becomes L. */
        for (i64 q = first; q < r; q++) {
            const f64 entry = lower[row + q] / pivot[q];
            total -= entry * lower[row + q];
            lower[row + q] = entry;
        }
        pivot[r] = total;
    }
}

/* y += f · x, which do not overlap. */
static inline void add(i64 n, f64 f, const f64 *restrict x, f64 *restrict y) {
    REORDER
    i64 i = 0;
    for (; i + 4 <= n; i += 4) *(quad *)(y + i) += f * *(const quad *)(x + i);
    for (; i < n; i++) y[i] += f * x[i];
}

static inline void solve(i64 p, i64 columns, const f64 *pivot, const f64 *lower, const i64 *near, const i64 *at,
                         f64 *block) {
    REORDER
    for (i64 r = 0; r < p; r++) {
        const f64 *row = lower + (at[r] - near[r]);
        f64 *mine = block + r * columns;
        for (i64 q = near[r]; q < r; q++) {
            const f64 f = row[q], *other = block + q * columns;
            for (i64 c = 0; c < columns; c++) mine[c] -= f * other[c];
        }
    }
    for (i64 r = 0; r < p; r++) {
        for (i64 c = 0; c < columns; c++) block[r * columns + c] /= pivot[r];
    }
    for (i64 r = p - 1; r >= 0; r--) {
        const f64 *row = lower + (at[r] - near[r]), *mine = block + r * columns;
        for (i64 q = near[r]; q < r; q++) {
            const f64 f = row[q];
            f64 *other = block + q * columns;
            for (i64 c = 0; c < columns; c++) other[c] -= f * mine[c];
        }
    }
}

#endif
