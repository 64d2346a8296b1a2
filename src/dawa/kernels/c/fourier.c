/* Sums over integer cosines and sines. Indices into a period are added, never multiplied: below twice the size. */
#include "kernels.h"

/* The place that lies `step` further in a period; neither is beyond the period. */
static inline i64 moved(i64 at, i64 step, i64 period) {
    i64 within = at + step, around = at + (step - period);
    return around < 0 ? within : around;
}

KERNEL(void, fourier_sums, i64 occupied, const i64 *restrict cells, const i64 *restrict counts, i64 size,
       const i64 *restrict table, i64 frequencies, i64 low, i64 *restrict high, i64 *restrict rest) {
    i64 mask = ((i64)1 << low) - 1;
    for (i64 j = 0; j < frequencies; j++) high[j] = rest[j] = 0;
    for (i64 i = 0; i < occupied; i++) {
        i64 cell = cells[i], count = counts[i];
        for (i64 j = 0, at = 0; j < frequencies; j++, at = moved(at, cell, size)) {
            high[j] += count * (table[at] >> low);
            rest[j] += count * (table[at] & mask);
        }
    }
}

KERNEL(void, fourier_largest_columns, i64 size, const i64 *restrict entries, i64 frequencies,
       const i64 *restrict weights, i64 *restrict largest) {
    for (i64 j = 0; j < frequencies; j++) largest[j] = 0;
    for (i64 cell = 0; cell < size; cell++) {
        i64 total = 0;
        for (i64 j = 0, at = 0; j < frequencies; j++, at = moved(at, cell, size)) {
            total += weights[j] * entries[at];
            largest[j] = imax(largest[j], total);
        }
    }
}

/* Complex numbers are pairs of floats. */
KERNEL(void, fourier_powers, i64 queries, const i64 *restrict first, const i64 *restrict lo, const i64 *restrict hi,
       const f64 *restrict weight, i64 size, const f64 *restrict circle, i64 frequencies, f64 *restrict seen,
       f64 *restrict mean) {
    for (i64 j = 0; j < frequencies; j++) mean[j] = 0;
    for (i64 query = 0; query < queries; query++) {
        for (i64 j = 0; j < 2 * frequencies; j++) seen[j] = 0;
        for (i64 run = first[query]; run < first[query + 1]; run++) {
            i64 start = 0, stop = 0;
            for (i64 j = 0; j < frequencies; j++) {
                seen[2 * j] += weight[run] * (circle[2 * start] - circle[2 * stop]);
                seen[2 * j + 1] += weight[run] * (circle[2 * start + 1] - circle[2 * stop + 1]);
                start = moved(start, lo[run], size);
                stop = moved(stop, hi[run], size);
            }
        }
        for (i64 j = 0; j < frequencies; j++) {
            f64 real = seen[2 * j], imaginary = seen[2 * j + 1];
            mean[j] += (real * real + imaginary * imaginary) / (f64)queries;
        }
    }
}
