/* Sums over rows with scattered entries: row l owns the entries ptr[l] to ptr[l + 1]. */
#include "kernels.h"

/* The same for each type of number. `weights` has a row of the queries' weights for every bucket. */
#define TIMES(number)                                                                                                  \
    static inline void times_##number(i64 rows, const i64 *ptr, const i64 *column, const number *entries, i64 queries, \
                                      const number *weights, number *found) {                                          \
        for (i64 row = 0; row < rows; row++) {                                                                         \
            number *restrict sum = found + row * queries;                                                              \
            for (i64 e = ptr[row]; e < ptr[row + 1]; e++) {                                                            \
                const number entry = entries[e], *weight = weights + column[e] * queries;                              \
                for (i64 q = 0; q < queries; q++) sum[q] += entry * weight[q];                                         \
            }                                                                                                          \
        }                                                                                                              \
    }

#define PRODUCTS(number)                                                                                 \
    static inline void products_##number(i64 rows, const i64 *ptr, const i64 *column, i64 queries,       \
                                         const number *answers, const number *weights, f64 *found) {     \
        REORDER                                                                                          \
        for (i64 row = 0; row < rows; row++) {                                                           \
            for (i64 e = ptr[row]; e < ptr[row + 1]; e++) {                                              \
                const number *answer = answers + row * queries, *weight = weights + column[e] * queries; \
                number total = 0;                                                                        \
                for (i64 q = 0; q < queries; q++) total += answer[q] * weight[q];                        \
                found[e] = (f64)total;                                                                   \
            }                                                                                            \
        }                                                                                                \
    }

TIMES(i64)
TIMES(f32)
TIMES(f64)
PRODUCTS(f32)
PRODUCTS(f64)

KERNEL(void, bumps_times_i64, i64 rows, const i64 *ptr, const i64 *column, const i64 *entries, i64 queries,
       const i64 *weights, i64 *found) {
    times_i64(rows, ptr, column, entries, queries, weights, found);
}

KERNEL(void, bumps_times_f32, i64 rows, const i64 *ptr, const i64 *column, const f32 *entries, i64 queries,
       const f32 *weights, f32 *found) {
    times_f32(rows, ptr, column, entries, queries, weights, found);
}

KERNEL(void, bumps_times_f64, i64 rows, const i64 *ptr, const i64 *column, const f64 *entries, i64 queries,
       const f64 *weights, f64 *found) {
    times_f64(rows, ptr, column, entries, queries, weights, found);
}

KERNEL(void, bumps_products_f32, i64 rows, const i64 *ptr, const i64 *column, i64 queries, const f32 *answers,
       const f32 *weights, f64 *found) {
    products_f32(rows, ptr, column, queries, answers, weights, found);
}

KERNEL(void, bumps_products_f64, i64 rows, const i64 *ptr, const i64 *column, i64 queries, const f64 *answers,
       const f64 *weights, f64 *found) {
    products_f64(rows, ptr, column, queries, answers, weights, found);
}

/* Bucket j owns the entries order[column_ptr[j]] to order[column_ptr[j + 1]]. */
KERNEL(void, bumps_neighbours, i64 rows, const i64 *ptr, const i64 *column, const f64 *entries, const i64 *column_ptr,
       const i64 *order, const i64 *row_of, const f64 *matrix, f64 *found) {
    for (i64 row = 0; row < rows; row++) {
        const f64 *mine = matrix + row * rows;
        for (i64 e = ptr[row]; e < ptr[row + 1]; e++) {
            f64 total = 0;
            for (i64 i = column_ptr[column[e]]; i < column_ptr[column[e] + 1]; i++)
                total += entries[order[i]] * mine[row_of[order[i]]];
            found[e] = total;
        }
    }
}

/* How much of bucket j the run [lo, hi) covers. */
static inline f64 covered(i64 j, f64 lo, f64 hi) { return dmin((f64)j + 1, hi) - dmax((f64)j, lo); }

KERNEL(void, bumps_of_queries, i64 queries, const i64 *first, const f64 *lo, const f64 *hi, const f64 *weight,
       const f64 *scale, const i64 *column_ptr, const i64 *order, const i64 *row_of, const f64 *entries, i64 rows,
       f64 *sums, f64 *squares) {
    for (i64 q = 0; q < queries; q++) {
        f64 *restrict sum = sums + q * rows, square = 0;
        for (i64 r = first[q]; r < first[q + 1]; r++) {
            i64 end = (i64)ceil(hi[r]);
            for (i64 j = (i64)lo[r]; j < end; j++) {
                f64 part = scale[j] * weight[r] * covered(j, lo[r], hi[r]);
                square += part * part;
                for (i64 i = column_ptr[j]; i < column_ptr[j + 1]; i++)
                    sum[row_of[order[i]]] += entries[order[i]] * part;
            }
        }
        squares[q] = square;
    }
}

KERNEL(void, bumps_dense, i64 queries, const i64 *first, const f64 *lo, const f64 *hi, const f64 *weight, f32 *found) {
    for (i64 q = 0; q < queries; q++) {
        for (i64 r = first[q]; r < first[q + 1]; r++) {
            i64 end = (i64)ceil(hi[r]);
            for (i64 j = (i64)lo[r]; j < end; j++) {
                f32 *spot = found + j * queries + q;
                *spot = (f32)((f64)*spot + weight[r] * covered(j, lo[r], hi[r]));
            }
        }
    }
}
