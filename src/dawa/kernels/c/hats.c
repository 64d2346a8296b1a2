/* Rows with interval supports: products, factorisation and least squares. */
#include "hats.h"

KERNEL(void, hats_times, i64 p, const i64 *start, const i64 *ptr, const f64 *values, const f64 *x, f64 *y) {
    for (i64 r = 0; r < p; r++) {
        const f64 *on = x + (start[r] - ptr[r]);
        f64 sum = 0.0;
        for (i64 e = ptr[r]; e < ptr[r + 1]; e++) sum += values[e] * on[e];
        y[r] = sum;
    }
}

KERNEL(void, hats_times_exactly, i64 p, const i64 *start, const i64 *ptr, const i64 *values, const i64 *x, i64 *y) {
    for (i64 r = 0; r < p; r++) {
        const i64 *on = x + (start[r] - ptr[r]);
        i64 sum = 0;
        for (i64 e = ptr[r]; e < ptr[r + 1]; e++) sum += values[e] * on[e];
        y[r] = sum;
    }
}

/* Adds to x, which begins as zeros. */
KERNEL(void, hats_transposed_times, i64 p, const i64 *start, const i64 *ptr, const f64 *restrict values, const f64 *y,
       f64 *restrict x) {
    for (i64 r = 0; r < p; r++) {
        f64 *on = x + (start[r] - ptr[r]);
        for (i64 e = ptr[r]; e < ptr[r + 1]; e++) on[e] += values[e] * y[r];
    }
}

KERNEL(void, hats_factor, i64 p, const i64 *start, const i64 *stop, const i64 *ptr, const f64 *values, const i64 *near,
       const i64 *at, f64 *pivot, f64 *lower) {
    factor(p, start, stop, ptr, values, near, at, pivot, lower);
}

KERNEL(void, hats_solve, i64 p, i64 columns, const f64 *pivot, const f64 *lower, const i64 *near, const i64 *at,
       f64 *block) {
    if (columns == 1) solve(p, 1, pivot, lower, near, at, block);
    else solve(p, columns, pivot, lower, near, at, block);
}

KERNEL(void, hats_running_sums, i64 p, const i64 *start, const i64 *ptr, const f64 *values, const f64 *scale,
       f64 *restrict sums) {
    for (i64 r = 0; r < p; r++) {
        const f64 *on = scale + (start[r] - ptr[r]);
        f64 total = 0.0;
        sums[ptr[r] + r] = 0.0;
        for (i64 e = ptr[r]; e < ptr[r + 1]; e++) {
            total += values[e] * on[e];
            sums[e + r + 1] = total;
        }
    }
}

/* What is written to has room for k + 1 numbers and begins as zeros. */
KERNEL(void, hats_moments, i64 m, i64 k, const i64 *first, const f64 *lo, const f64 *hi, const f64 *weight,
       const f64 *omega, f64 *linear, f64 *square, f64 *steps, f64 *square_steps) {
    for (i64 i = 0; i < m; i++) {
        i64 bucket = 0;
        f64 covered = 0.0;
        for (i64 r = first[i]; r < first[i + 1]; r++) {
            const i64 begin = (i64)lo[r], end = (i64)hi[r];
            if (begin != bucket) {
                linear[bucket] += omega[i] * covered;
                square[bucket] += omega[i] * covered * covered;
                bucket = begin;
                covered = 0.0;
            }
            if (begin == end) {
                covered += weight[r] * (hi[r] - lo[r]);
                continue;
            }
            covered += weight[r] * ((f64)(begin + 1) - lo[r]);
            linear[bucket] += omega[i] * covered;
            square[bucket] += omega[i] * covered * covered;
            steps[begin + 1] += omega[i] * weight[r];
            steps[end] -= omega[i] * weight[r];
            square_steps[begin + 1] += omega[i] * weight[r] * weight[r];
            square_steps[end] -= omega[i] * weight[r] * weight[r];
            bucket = end;
            covered = weight[r] * (hi[r] - (f64)end);
        }
        linear[bucket] += omega[i] * covered;
        square[bucket] += omega[i] * covered * covered;
    }
    f64 level = 0.0, square_level = 0.0;
    for (i64 j = 0; j < k; j++) {
        level += steps[j];
        square_level += square_steps[j];
        linear[j] += level;
        square[j] += square_level;
    }
}

/* The rows on each bucket, one bucket after the other; begin has room for k + 1 numbers and begins as zeros. */
KERNEL(void, hats_cover, i64 p, i64 k, const i64 *start, const i64 *stop, i64 *begin, i64 *cover) {
    for (i64 r = 0; r < p; r++) {
        for (i64 j = start[r]; j < stop[r]; j++) begin[j]++;
    }
    for (i64 j = 0, total = 0; j <= k; j++) begin[j] = total += begin[j]; /* the ends, from which they are filled */
    for (i64 r = p - 1; r >= 0; r--) {
        for (i64 j = start[r]; j < stop[r]; j++) cover[--begin[j]] = r;
    }
}

KERNEL(void, hats_entries, i64 p, const i64 *start, const i64 *ptr, const i64 *weights, const i64 *leaf,
       f64 *restrict entries) {
    for (i64 r = 0; r < p; r++) {
        const i64 *on = leaf + (start[r] - ptr[r]);
        for (i64 e = ptr[r]; e < ptr[r + 1]; e++) entries[e] = (f64)weights[e] / (f64)on[e];
    }
}

/* Adds to sums, which begin as the weights of leaves. */
KERNEL(void, hats_column_sums, i64 p, const i64 *start, const i64 *ptr, const i64 *weights, i64 *restrict sums) {
    for (i64 r = 0; r < p; r++) {
        i64 *on = sums + (start[r] - ptr[r]);
        for (i64 e = ptr[r]; e < ptr[r + 1]; e++) on[e] += weights[e];
    }
}
