/* Deviations from the median of growing intervals, by two heaps, and divisions of least cost. Counts are not negative.
 */
#include "kernels.h"

/* Put a value into a heap with the least on top; the heap then has `size + 1` entries. */
static inline void push(i64 *heap, i64 size, i64 value) {
    i64 place = size;
    while (place > 0 && heap[(place - 1) >> 1] > value) {
        heap[place] = heap[(place - 1) >> 1];
        place = (place - 1) >> 1;
    }
    heap[place] = value;
}

/* Replace the least value in a heap of `size` entries by another value. */
static inline void replace_top(i64 *heap, i64 size, i64 value) {
    i64 place = 0, child = 1;
    while (child < size) {
        if (child + 1 < size && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= value) break;
        heap[place] = heap[child];
        place = child;
        child = 2 * place + 1;
    }
    heap[place] = value;
}

/* scores[i] becomes the deviation of the first i + 1 of n values, which lie `step` apart. The heaps are the two halves,
 * the lower one negated; they have room for n + 1 values. */
static void growing(const i64 *values, i64 n, i64 step, i64 *heaps, i64 *restrict scores) {
    i64 *lower = heaps, *upper = heaps + ((n + 1) >> 1);
    i64 lower_sum = 0, upper_sum = 0;
    for (i64 i = 0; i < n; i++) {
        i64 value = values[i * step], half = i >> 1;
        if (i & 1) { /* the lower half has one more; the upper one grows */
            if (value < -lower[0]) {
                i64 largest = -lower[0];
                replace_top(lower, half + 1, -value);
                lower_sum += value - largest;
                value = largest;
            }
            push(upper, half, value);
            upper_sum += value;
            scores[i] = upper_sum - lower_sum;
        } else { /* both halves have as many; the lower one grows */
            if (half > 0 && value > upper[0]) {
                i64 least = upper[0];
                replace_top(upper, half, value);
                upper_sum += value - least;
                value = least;
            }
            push(lower, half, -value);
            lower_sum += value;
            scores[i] = upper_sum - lower_sum - lower[0];
        }
    }
}

/* The scratch has room for 3n + 1 numbers. */
KERNEL(void, bisect_bisections, i64 n, const i64 *counts, i64 *scratch, i64 *cost) {
    if (n < 1) return;
    i64 *left = scratch, *right = left + n, *heaps = right + n;
    growing(counts, n, 1, heaps, left);
    growing(counts + n - 1, n, -1, heaps, right);
    cost[0] = left[n - 1];
    for (i64 i = 1; i < n; i++) cost[i] = left[i - 1] + right[n - 1 - i];
}

/* The scratch has room for twice as many numbers as there are cells before the last mark, and one more. */
KERNEL(void, bisect_absolute, const i64 *counts, i64 number, const i64 *marks, i64 *scratch, i64 *cost) {
    i64 size = marks[number - 1], *scores = scratch, *heaps = scratch + size;
    for (i64 i = 0; i < number - 1; i++) {
        i64 begin = marks[i];
        growing(counts + begin, size - begin, 1, heaps, scores);
        for (i64 j = i + 1; j < number; j++) cost[i * number + j] = scores[marks[j] - begin - 1];
    }
}

/* With sum = q·length + r the squared sum over the length is q²·length + 2·q·r + r²/length: no product is larger than
 * the largest count times the sum, or the square of the length. */
KERNEL(void, bisect_squared, const i64 *counts, i64 number, const i64 *marks, i64 *sums, i64 *squares, i64 *cost) {
    sums[0] = squares[0] = 0;
    for (i64 i = 0; i < number - 1; i++) {
        i64 sum = sums[i], square = squares[i];
        for (i64 cell = marks[i]; cell < marks[i + 1]; cell++) {
            sum += counts[cell];
            square += counts[cell] * counts[cell];
        }
        sums[i + 1] = sum;
        squares[i + 1] = square;
    }
    for (i64 i = 0; i < number - 1; i++) {
        for (i64 j = i + 1; j < number; j++) {
            i64 length = marks[j] - marks[i], total = sums[j] - sums[i];
            i64 whole = total / length, rest = total - whole * length;
            i64 mean_squares = whole * (total + rest) + (rest * rest + length - 1) / length;
            cost[i * number + j] = squares[j] - squares[i] - mean_squares;
        }
    }
}

/* The first row of `best` is there already, and the other rows hold what no cost reaches. */
KERNEL(void, bisect_prefixes, i64 number, const i64 *cost, i64 buckets, i64 *best) {
    for (i64 b = 1; b < buckets; b++) {
        const i64 *fewer = best + (b - 1) * number;
        i64 *restrict least = best + b * number;
        for (i64 i = b; i < number - 1; i++) {
            i64 before = fewer[i];
            const i64 *last = cost + i * number;
            for (i64 j = i + 1; j < number; j++) least[j] = imin(before + last[j], least[j]);
        }
    }
}
