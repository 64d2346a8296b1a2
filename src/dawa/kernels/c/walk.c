/* Scores of the walk's nodes: deviation from the median, exactly, from the occupied cells alone. */
#include "kernels.h"

/* The same as selected, by halving the range of values: slower for most counts, and never much slower. */
static i64 halved(const i64 *values, i64 n, i64 rank) {
    i64 low = values[0], high = values[0];
    for (i64 i = 1; i < n; i++) {
        low = imin(low, values[i]);
        high = imax(high, values[i]);
    }
    while (low < high) {
        const i64 middle = low + ((high - low) >> 1);
        i64 within = 0;
        for (i64 i = 0; i < n; i++) within += values[i] <= middle;
        if (within > rank) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* The value at place `rank` in sorted order; reorders the values. No counts take more than some hundred passes. */
static i64 selected(i64 *values, i64 n, i64 rank) {
    i64 low = 0, high = n - 1;
    for (i64 round = 0; high > low; round++) {
        if (round == 64) return halved(values + low, high - low + 1, rank - low);
        i64 a = values[low], b = values[(low + high) >> 1], c = values[high];
        i64 pivot = imax(imin(a, b), imin(imax(a, b), c));
        i64 i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot) i++;
            while (values[j] > pivot) j--;
            if (i <= j) {
                i64 other = values[i];
                values[i++] = values[j];
                values[j--] = other;
            }
        }
        if (rank <= j) high = j;
        else if (rank >= i) low = i;
        else break;
    }
    return values[rank];
}

/* The first of the sorted cells that is not below x. */
static i64 first_from(const i64 *cells, i64 n, i64 x) {
    i64 low = 0, high = n;
    while (low < high) {
        i64 middle = (low + high) >> 1;
        if (cells[middle] < x) low = middle + 1;
        else high = middle;
    }
    return low;
}

KERNEL(void, walk_median_deviations, i64 occupied, const i64 *cells, const i64 *counts, const i64 *before, i64 nodes,
       const i64 *lo, const i64 *hi, i64 *scratch, i64 *scores) {
    for (i64 v = 0; v < nodes; v++) {
        i64 first = first_from(cells, occupied, lo[v]), last = first_from(cells, occupied, hi[v]);
        i64 width = hi[v] - lo[v], filled = last - first;
        if (2 * filled <= width) { /* the median is 0 */
            scores[v] = before[last] - before[first];
            continue;
        }
        i64 empty = width - filled;
        memcpy(scratch, counts + first, (size_t)filled * sizeof *counts);
        i64 median = selected(scratch, filled, width / 2 - empty), total = empty * median;
        for (i64 i = first; i < last; i++) total += counts[i] > median ? counts[i] - median : median - counts[i];
        scores[v] = total;
    }
}
