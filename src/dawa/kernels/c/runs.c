/* Weighted runs of cells, gathered bucket by bucket. */
#include "kernels.h"

/* The last of the bounds that is not above x, at or after the place `low`, whose bound is not above x. */
static i64 last_upto(const i64 *bounds, i64 low, i64 buckets, i64 x) {
    i64 high = buckets + 1;
    while (high - low > 1) {
        const i64 middle = (low + high) >> 1;
        if (bounds[middle] <= x) low = middle;
        else high = middle;
    }
    return low;
}

/* Goes on at query `from`, whose first stretch is begin[from]; returns the query that found no room, or `queries`. */
KERNEL(i64, runs_gathered, i64 queries, const i64 *first, const i64 *lo, const i64 *hi, const f64 *weight, i64 buckets,
       const i64 *bounds, i64 from, i64 room, i64 *begin, f64 *start, f64 *stop, f64 *share) {
    i64 count = begin[from];
    for (i64 q = from; q < queries; q++) {
        i64 bucket = -1, near = 0; /* a bucket that is cut, and the last one that was found */
        f64 covered = 0;           /* how many of its cells are covered so far */
        begin[q] = count;
        for (i64 r = first[q]; r <= first[q + 1]; r++) {
            const bool ended = r == first[q + 1];
            i64 at = ended ? -1 : lo[r];
            const i64 end = ended ? -1 : hi[r];
            const f64 w = ended ? 0 : weight[r];
            for (;;) {
                i64 beyond = -1;
                f64 part = 0;
                if (bucket >= 0 && (ended || at >= bounds[bucket + 1])) { /* nothing more is added to this bucket */
                    beyond = bucket + 1;
                    part = covered / (f64)(bounds[beyond] - bounds[bucket]);
                } else if (at >= end) {
                    break;
                } else if (bucket < 0) {
                    bucket = near = last_upto(bounds, bounds[near] <= at ? near : 0, buckets, at);
                    covered = 0;
                    if (bounds[bucket] == at && bounds[bucket + 1] <= end) { /* whole buckets, all at once */
                        beyond = near = last_upto(bounds, bucket + 1, buckets, end);
                        part = w;
                        at = bounds[beyond];
                    }
                }
                if (beyond < 0) {
                    const i64 until = imin(end, bounds[bucket + 1]);
                    covered += w * (f64)(until - at);
                    at = until;
                    continue;
                }
                if (count > begin[q] && stop[count - 1] == (f64)bucket && share[count - 1] == part) {
                    stop[count - 1] = (f64)beyond;
                } else {
                    if (count == room) return q;
                    start[count] = (f64)bucket;
                    stop[count] = (f64)beyond;
                    share[count++] = part;
                }
                bucket = -1;
            }
        }
    }
    begin[queries] = count;
    return queries;
}
