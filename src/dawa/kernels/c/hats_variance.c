/* Rows with interval supports: the variance of any range, of every bucket, and along all borders. */
#include "hats.h"

/* The first row that ends beyond x. */
static i64 beyond(i64 p, const i64 *stop, f64 x) {
    i64 low = 0, high = p;
    while (low < high) {
        const i64 middle = (low + high) >> 1;
        if ((f64)stop[middle] > x) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* `open_free` holds the registers that are free, a stack. */
KERNEL(i64, hats_registers, i64 p, const i64 *column_ptr, const i64 *later, i64 *reg, i64 *open_free) {
    i64 unused = 0, count = 0;
    for (i64 r = 0; r < p; r++) reg[r] = -1;
    for (i64 r = 0; r < p; r++) {
        for (i64 e = column_ptr[r] - 1; e < column_ptr[r + 1]; e++) {
            const i64 other = e < column_ptr[r] ? r : later[e];
            if (reg[other] < 0) reg[other] = unused > 0 ? open_free[--unused] : count++;
        }
        open_free[unused++] = reg[r];
    }
    return count;
}

/* maps and forms are zeros for 2 · leaves nodes of n × n numbers; `g` has room for n of them, `inner` for n × n. */
KERNEL(void, hats_stretches, i64 p, i64 n, i64 leaves, i64 size, const i64 *reg, const f64 *pivot,
       const i64 *column_ptr, const i64 *later, const f64 *lower, const f64 *whole, f64 *maps, f64 *forms,
       f64 *restrict g, f64 *restrict inner) {
    const i64 count = n - 1, square = n * n;
    for (i64 q = leaves; q < 2 * leaves; q++) {
        f64 *restrict map = maps + q * square, *restrict form = forms + q * square;
        for (i64 i = 0; i < n; i++) map[i * n + i] = 1.0;
        for (i64 r = (q - leaves) * size; r < imin((q - leaves + 1) * size, p); r++) {
            f64 *own = map + reg[r] * n;
            for (i64 j = 0; j < n; j++) {
                g[j] = own[j] + whole[r] * map[count * n + j];
                own[j] = 0.0;
            }
            for (i64 i = 0; i < n; i++) {
                for (i64 j = 0; j < n; j++) form[i * n + j] += g[i] * g[j] / pivot[r];
            }
            for (i64 e = column_ptr[r]; e < column_ptr[r + 1]; e++) {
                f64 *other = map + reg[later[e]] * n;
                for (i64 j = 0; j < n; j++) other[j] -= lower[e] * g[j];
            }
        }
    }
    for (i64 q = leaves - 1; q > 0; q--) {
        const f64 *left = maps + 2 * q * square, *right = left + square;
        const f64 *left_form = forms + 2 * q * square, *right_form = left_form + square;
        f64 *restrict map = maps + q * square, *restrict form = forms + q * square;
        memset(inner, 0, (size_t)square * sizeof *inner);
        for (i64 i = 0; i < n; i++) {
            for (i64 h = 0; h < n; h++) {
                const f64 mapped = right[i * n + h], formed = right_form[i * n + h];
                for (i64 j = 0; j < n; j++) {
                    map[i * n + j] += mapped * left[h * n + j];
                    inner[i * n + j] += formed * left[h * n + j];
                }
            }
        }
        memcpy(form, left_form, (size_t)square * sizeof *form);
        for (i64 i = 0; i < n; i++) {
            for (i64 h = 0; h < n; h++) {
                for (i64 j = 0; j < n; j++) form[i * n + j] += left[h * n + i] * inner[h * n + j];
            }
        }
    }
}

/* `cut` has room for p + 1 numbers, state and fresh for n. */
KERNEL(void, hats_variances, i64 p, i64 k, i64 n, i64 leaves, i64 m, const f64 *lo, const f64 *hi, const i64 *start,
       const i64 *stop, const i64 *ptr, const f64 *sums, const f64 *squares_before, const i64 *cover_ptr,
       const i64 *cover, const i64 *reg, const f64 *maps, const f64 *forms, i64 size, const f64 *pivot,
       const i64 *column_ptr, const i64 *later, const f64 *lower, i64 *cut, f64 *restrict state, f64 *restrict fresh,
       f64 *out) {
    const i64 count = n - 1;
    for (i64 w = 0; w < m; w++) {
        const f64 x = lo[w], y = hi[w];
        const i64 first = (i64)x, last = (i64)y;
        f64 variance = 0.0;
        if (first == last) {
            if (x < y) variance = (y - x) * (y - x) * (squares_before[first + 1] - squares_before[first]);
        } else {
            const f64 before = (f64)(first + 1) - x, after = y - (f64)last;
            variance = before * before * (squares_before[first + 1] - squares_before[first]);
            variance += squares_before[last] - squares_before[first + 1];
            if (last < k) variance += after * after * (squares_before[last + 1] - squares_before[last]);
        }
        /* Rows begin to end - 1 may be covered wholly; the rows that are cut, among and after them, are listed in
         * order. */
        const i64 begin = beyond(p, stop, x), end = beyond(p, stop, y);
        i64 cuts = 0;
        for (i64 side = 0; side < 2; side++) {
            const i64 bucket = side ? last : first;
            if (bucket >= k || x >= y) continue;
            for (i64 e = cover_ptr[bucket]; e < cover_ptr[bucket + 1]; e++) {
                const i64 r = cover[e];
                const f64 from = (f64)start[r], to = (f64)stop[r];
                if (!((from < x && x < to) || (from < y && y < to))) continue;
                i64 place = cuts;
                while (place > 0 && cut[place - 1] > r) place--;
                if (place > 0 && cut[place - 1] == r) continue;
                for (i64 z = cuts; z > place; z--) cut[z] = cut[z - 1];
                cut[place] = r;
                cuts++;
            }
        }
        for (i64 i = 0; i < count; i++) state[i] = 0.0;
        state[count] = 1.0;
        f64 energy = 0.0;
        i64 position = x < y ? begin : p, index = 0;
        while (position < p) {
            f64 answer;
            if (position >= end) state[count] = 0.0;
            i64 target = index < cuts ? cut[index] : p;
            if (position == target) {
                /* One single step, with the answer of a row that the range covers in part. */
                const i64 r = position;
                const f64 *sum = sums + (ptr[r] + r - start[r]);
                if (y >= (f64)stop[r]) answer = sum[stop[r]];
                else answer = sum[last] + (y - (f64)last) * (sum[last + 1] - sum[last]);
                if (x > (f64)start[r]) answer -= sum[first] + (x - (f64)first) * (sum[first + 1] - sum[first]);
                index++;
            } else {
                if (position < end) target = imin(target, end);
                const i64 stretch = position / size;
                if (position % size == 0 && (target == p || position + size <= target)) {
                    i64 node = stretch + leaves, width = 1;
                    while (node > 1 && node % 2 == 0 && (target == p || (stretch + 2 * width) * size <= target)) {
                        node /= 2;
                        width *= 2;
                    }
                    const f64 *map = maps + node * n * n, *form = forms + node * n * n;
                    for (i64 i = 0; i < n; i++) {
                        f64 mapped = 0.0, formed = 0.0;
                        for (i64 j = 0; j < n; j++) {
                            mapped += map[i * n + j] * state[j];
                            formed += form[i * n + j] * state[j];
                        }
                        fresh[i] = mapped;
                        energy += state[i] * formed;
                    }
                    for (i64 i = 0; i < n; i++) state[i] = fresh[i];
                    position += width * size;
                    continue;
                }
                answer = state[count] * sums[ptr[position + 1] + position];
            }
            const f64 g = state[reg[position]] + answer;
            state[reg[position]] = 0.0;
            energy += g * g / pivot[position];
            for (i64 e = column_ptr[position]; e < column_ptr[position + 1]; e++) {
                state[reg[later[e]]] -= lower[e] * g;
            }
            position++;
        }
        out[w] = variance - energy;
    }
}

/* The inverse of K where rows overlap: own on the diagonal, and cross in the form of lower. From the last row on, each
 * column follows from those after it: K⁻¹ L = L⁻ᵀ D⁻¹, which is 1/d on the diagonal and 0 below it. Rows that overlap
 * row q and end after it all hold its last bucket, so they overlap each other. */
KERNEL(void, hats_inverse, i64 p, const f64 *pivot, const i64 *near, const i64 *at, const i64 *column_ptr,
       const i64 *later, const f64 *by_column, f64 *own, f64 *cross) {
    for (i64 q = p - 1; q >= 0; q--) {
        const i64 begin = column_ptr[q], end = column_ptr[q + 1];
        f64 total = 1.0 / pivot[q];
        for (i64 e = begin; e < end; e++) {
            const i64 r = later[e];
            f64 sum = by_column[e] * own[r];
            for (i64 h = begin; h < end; h++) {
                const i64 s = later[h];
                if (s < r) sum += by_column[h] * cross[at[r] - near[r] + s];
                else if (s > r) sum += by_column[h] * cross[at[s] - near[s] + r];
            }
            cross[at[r] - near[r] + q] = -sum;
            total += by_column[e] * sum;
        }
        own[q] = total;
    }
}

/* For each bucket j, the variance of its own total, and its covariance with all buckets before it. With the inverse Z
 * where rows overlap, these are s_j² (1 - bᵀ Z b) and -s_j bᵀ Z f, where b are the entries of the rows on bucket j, and
 * f their answers to the buckets before j after the rows that end there are eliminated. order sorts rows by start;
 * received has room for p numbers and begins as zeros; open has room for the rows on a bucket. */
KERNEL(void, hats_along, i64 p, i64 k, const i64 *start, const i64 *stop, const i64 *ptr, const f64 *values,
       const f64 *scale, const f64 *sums, const i64 *near, const i64 *at, const i64 *column_ptr, const i64 *later,
       const f64 *by_column, const f64 *own, const f64 *cross, const i64 *order, f64 *received, i64 *open, f64 *alone,
       f64 *before) {
    i64 count = 0, done = 0, begun = 0;
    for (i64 j = 0; j < k; j++) {
        for (; done < p && stop[done] <= j; done++) {
            const f64 g = sums[ptr[done + 1] + done] + received[done];
            for (i64 e = column_ptr[done]; e < column_ptr[done + 1]; e++) received[later[e]] -= by_column[e] * g;
        }
        i64 left = 0;
        for (i64 i = 0; i < count; i++) {
            if (open[i] >= done) open[left++] = open[i];
        }
        count = left;
        for (; begun < p && start[order[begun]] <= j; begun++) {
            i64 i = count++;
            for (; i > 0 && open[i - 1] > order[begun]; i--) open[i] = open[i - 1];
            open[i] = order[begun];
        }
        f64 square = 0.0, both = 0.0;
        for (i64 i = 0; i < count; i++) {
            const i64 r = open[i], place = ptr[r] + j - start[r];
            const f64 *row = cross + (at[r] - near[r]);
            const f64 b = values[place], f = sums[place + r] + received[r];
            square += own[r] * b * b;
            both += own[r] * b * f;
            for (i64 h = 0; h < i; h++) {
                const i64 q = open[h], other = ptr[q] + j - start[q];
                const f64 c = values[other];
                square += 2.0 * row[q] * b * c;
                both += row[q] * (b * (sums[other + q] + received[q]) + c * f);
            }
        }
        alone[j] = scale[j] * scale[j] * (1.0 - square);
        before[j] = -scale[j] * both;
    }
}
