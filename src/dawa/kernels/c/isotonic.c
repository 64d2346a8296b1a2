/* Isotonic regression: neighbours that fall are pooled, until no pool has a larger mean than the next one. */
#include "kernels.h"

KERNEL(void, isotonic_nondecreasing, i64 n, const f64 *restrict values, f64 *restrict sums, i64 *restrict counts,
       f64 *restrict found) {
    i64 pools = 0;
    for (i64 i = 0; i < n; i++) {
        f64 total = values[i];
        i64 count = 1;
        while (pools > 0 && sums[pools - 1] / (f64)counts[pools - 1] >= total / (f64)count) {
            pools--;
            total = sums[pools] + total;
            count += counts[pools];
        }
        sums[pools] = total;
        counts[pools++] = count;
    }
    for (i64 pool = 0, at = 0; pool < pools; pool++) {
        f64 mean = sums[pool] / (f64)counts[pool];
        for (i64 end = at + counts[pool]; at < end; at++) found[at] = mean;
    }
}
