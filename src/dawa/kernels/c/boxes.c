/* Queries on boxes that tile a grid, and a grid of noisy numbers cut into boxes that are even up to the noise. */
#include "kernels.h"

/* Boxes that are skipped, or taken, together; boxes.py has the same number. */
enum { BLOCK = 32 };

/* The smallest box around each block of consecutive boxes. */
KERNEL(void, boxes_around, i64 boxes, i64 dims, const i64 *box_lo, const i64 *box_hi, f64 *around_lo, f64 *around_hi) {
    for (i64 b = 0; b < boxes; b++)
        for (i64 i = 0; i < dims; i++) {
            f64 *low = around_lo + b / BLOCK * dims + i, *high = around_hi + b / BLOCK * dims + i;
            const f64 lo = (f64)box_lo[b * dims + i], hi = (f64)box_hi[b * dims + i];
            *low = b % BLOCK ? dmin(lo, *low) : lo;
            *high = b % BLOCK ? dmax(hi, *high) : hi;
        }
}

/* The part of a box that a query covers. */
static inline f64 part_of(i64 dims, const f64 *lo, const f64 *hi, const i64 *box_lo, const i64 *box_hi) {
    f64 part = 1;
    for (i64 i = 0; i < dims; i++) {
        const f64 covered = dmin(hi[i], (f64)box_hi[i]) - dmax(lo[i], (f64)box_lo[i]);
        if (covered <= 0) return 0;
        part *= covered / (f64)(box_hi[i] - box_lo[i]);
    }
    return part;
}

/* Stops before there might not be enough room for the next block's stretches. `progress` holds the query and the block
 * to go on with and begins as zeros; all is done when its first number is that of the queries. Returns how many
 * stretches there are so far. */
KERNEL(i64, boxes_overlaps, i64 queries, const f64 *lows, const f64 *highs, i64 dims, i64 boxes, const i64 *box_lo,
       const i64 *box_hi, const f64 *around_lo, const f64 *around_hi, i64 room, i64 count, i64 *begin, f64 *start,
       f64 *stop, f64 *share, i64 *progress) {
    const i64 blocks = (boxes + BLOCK - 1) / BLOCK;
    i64 block = progress[1];
    for (i64 q = progress[0]; q < queries; q++, block = 0) {
        const f64 *lo = lows + q * dims, *hi = highs + q * dims;
        if (block == 0) begin[q] = count;
        for (; block < blocks; block++) {
            bool outside = false, inside = true;
            for (i64 i = 0; i < dims; i++) {
                const f64 low = around_lo[block * dims + i], high = around_hi[block * dims + i];
                outside |= hi[i] <= low || high <= lo[i];
                inside &= lo[i] <= low && high <= hi[i];
            }
            if (outside) continue;
            if (count + BLOCK > room) {
                progress[0] = q;
                progress[1] = block;
                return count;
            }
            const i64 last = imin((block + 1) * BLOCK, boxes);
            for (i64 b = block * BLOCK, after; b < last; b = after) {
                after = inside ? last : b + 1;
                const f64 part = inside ? 1 : part_of(dims, lo, hi, box_lo + b * dims, box_hi + b * dims);
                if (!(part > 0)) continue;
                if (count > begin[q] && stop[count - 1] == (f64)b && share[count - 1] == part) {
                    stop[count - 1] = (f64)after;
                } else {
                    start[count] = (f64)b;
                    stop[count] = (f64)after;
                    share[count++] = part;
                }
            }
        }
    }
    begin[queries] = count;
    progress[0] = queries;
    return count;
}

/* The row-major number of a cell. */
static inline i64 flat_of(i64 dims, const i64 *shape, const i64 *at) {
    i64 flat = 0;
    for (i64 i = 0; i < dims; i++) flat = flat * shape[i] + at[i];
    return flat;
}

/* Go to the next row of a box, along the last axis; false after the last row. */
static inline bool next_row(i64 dims, const i64 *lo, const i64 *hi, i64 *at) {
    for (i64 i = dims - 2; i >= 0; i--) {
        if (++at[i] < hi[i]) return true;
        at[i] = lo[i];
    }
    return false;
}

/* The cells begin as -1; `at` has room for one cell's coordinates. */
KERNEL(void, boxes_labels, i64 boxes, i64 dims, const i64 *box_lo, const i64 *box_hi, const i64 *shape, i64 *at,
       i64 *found) {
    for (i64 b = 0; b < boxes; b++) {
        const i64 *lo = box_lo + b * dims, *hi = box_hi + b * dims, length = hi[dims - 1] - lo[dims - 1];
        memcpy(at, lo, (size_t)dims * sizeof *at);
        do {
            i64 *row = found + flat_of(dims, shape, at);
            for (i64 step = 0; step < length; step++) row[step] = row[step] == -1 ? b : -2;
        } while (next_row(dims, lo, hi, at));
    }
}

/* The sum of a box's squared deviations from its mean; `slabs` gets each slice's sum of deviations, and there is room
 * for the slices of `longest` cells along each axis. */
static f64 sums(i64 dims, const f64 *cells, const i64 *shape, const i64 *lo, const i64 *hi, i64 size, i64 longest,
                i64 *at, f64 *slabs) {
    const i64 length = hi[dims - 1] - lo[dims - 1];
    f64 mean = 0, squares = 0, *columns = slabs + (dims - 1) * longest;
    for (i64 i = 0; i < dims; i++) memset(slabs + i * longest, 0, (size_t)(hi[i] - lo[i]) * sizeof *slabs);
    memcpy(at, lo, (size_t)dims * sizeof *at);
    do {
        const f64 *row = cells + flat_of(dims, shape, at);
        for (i64 step = 0; step < length; step++) mean += row[step];
    } while (next_row(dims, lo, hi, at));
    mean /= (f64)size;
    memcpy(at, lo, (size_t)dims * sizeof *at);
    do {
        const f64 *row = cells + flat_of(dims, shape, at);
        f64 sum = 0;
        for (i64 step = 0; step < length; step++) {
            const f64 off = row[step] - mean;
            squares += off * off;
            sum += off;
            columns[step] += off;
        }
        for (i64 i = 0; i < dims - 1; i++) slabs[i * longest + at[i] - lo[i]] += sum;
    } while (next_row(dims, lo, hi, at));
    return squares;
}

typedef struct {
    i64 axis, at; /* the slices before it */
    f64 gain;
} Cut;

/* The cut that removes most of the squared deviations, and what it removes. */
static Cut best(i64 dims, const i64 *lo, const i64 *hi, i64 size, i64 longest, const f64 *slabs) {
    Cut found = {0, 0, 0};
    for (i64 i = 0; i < dims; i++) {
        const i64 length = hi[i] - lo[i], slab = size / length;
        f64 before = 0;
        for (i64 j = 1; j < length; j++) {
            before += slabs[i * longest + j - 1];
            const i64 cells = j * slab;
            const f64 gain = before * before * (f64)size / ((f64)cells * (f64)(size - cells));
            if (gain > found.gain) found = (Cut){i, j, gain};
        }
    }
    return found;
}

/* Stops when there is no room for another leaf; all are found when `progress`, the number of boxes that wait, is 0.
 * `waiting_lo` and `waiting_hi` begin with the whole grid, and `at` has room for three cells' coordinates. Returns how
 * many leaves there are so far. */
KERNEL(i64, boxes_cut, const f64 *cells, i64 dims, const i64 *shape, f64 variance, f64 tolerance, i64 longest, i64 *at,
       f64 *slabs, i64 *waiting_lo, i64 *waiting_hi, i64 room, i64 count, i64 *out_lo, i64 *out_hi, i64 *progress) {
    const size_t corner = (size_t)dims * sizeof *at;
    i64 waiting = *progress, *lo = at + dims, *hi = at + 2 * dims;
    while (waiting > 0 && count < room) {
        waiting--;
        memcpy(lo, waiting_lo + waiting * dims, corner);
        memcpy(hi, waiting_hi + waiting * dims, corner);
        i64 size = 1;
        for (i64 i = 0; i < dims; i++) size *= hi[i] - lo[i];
        Cut cut = {0, 0, 0};
        if (size > 1) {
            const f64 squares = sums(dims, cells, shape, lo, hi, size, longest, at, slabs);
            cut = best(dims, lo, hi, size, longest, slabs);
            /* The variance of squared Laplace noise is 5 times the square of the noise's variance. */
            const f64 usual = (f64)(size - 1) + tolerance * sqrt(5.0 * (f64)(size - 1));
            if (squares <= variance * usual && cut.gain <= variance * (tolerance * tolerance)) cut.at = 0;
        }
        if (cut.at == 0) {
            memcpy(out_lo + count * dims, lo, corner);
            memcpy(out_hi + count * dims, hi, corner);
            count++;
            continue;
        }
        for (i64 half = 0; half < 2; half++, waiting++) {
            memcpy(waiting_lo + waiting * dims, lo, corner);
            memcpy(waiting_hi + waiting * dims, hi, corner);
            (half ? waiting_hi : waiting_lo)[waiting * dims + cut.axis] = lo[cut.axis] + cut.at;
        }
    }
    *progress = waiting;
    return count;
}
