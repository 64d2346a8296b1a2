/* Multiplicative weights over segments. */
#include "kernels.h"

static f64 sum(const f64 *mass, i64 lo, i64 hi) {
    REORDER
    f64 inside = 0;
    for (i64 segment = lo; segment < hi; segment++) inside += mass[segment];
    return inside;
}

static void multiply(f64 *mass, i64 lo, i64 hi, f64 factor) {
    for (i64 segment = lo; segment < hi; segment++) mass[segment] *= factor;
}

/* The scaling back to the sum is not carried out at every step: the sum of what the array holds is kept instead. The
 * estimate is total / held times the array. */
KERNEL(void, mwem_replay, i64 segments, f64 *restrict mass, i64 queries, const i64 *restrict first,
       const i64 *restrict lo, const i64 *restrict hi, const f64 *restrict weight, const f64 *restrict answers,
       i64 passes, f64 longest, f64 big, f64 *restrict inside) {
    f64 total = sum(mass, 0, segments), held = total;
    for (i64 pass = 0; pass < passes; pass++) {
        for (i64 query = 0; query < queries; query++) {
            f64 estimate = 0;
            for (i64 run = first[query]; run < first[query + 1]; run++) {
                inside[run] = sum(mass, lo[run], hi[run]);
                estimate += weight[run] * inside[run];
            }
            f64 exponent = (answers[query] - estimate * (total / held)) / (2 * total);
            exponent = dmin(dmax(exponent, -longest), longest);
            for (i64 run = first[query]; run < first[query + 1]; run++) {
                f64 factor = exp(exponent * weight[run]);
                multiply(mass, lo[run], hi[run], factor);
                held += (factor - 1) * inside[run];
            }
            if (fabs(exponent) > big) {
                multiply(mass, 0, segments, total / sum(mass, 0, segments));
                held = total;
            }
        }
        multiply(mass, 0, segments, total / sum(mass, 0, segments));
        held = total;
    }
}
