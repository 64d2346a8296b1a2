/* Rows with interval supports: factorisation, least squares, expected error, and the variance of any range. The Python
 * module beside this says what the arrays are. */
#include "kernels.h"

enum { TOGETHER = 16 }; /* queries that are solved side by side: a few vector registers */

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

static f64 product(i64 n, const f64 *a, const f64 *b) {
    REORDER
    f64 sum = 0.0;
    for (i64 i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

KERNEL(void, hats_factor, i64 p, const i64 *start, const i64 *stop, const i64 *ptr, const f64 *values, const i64 *near,
       const i64 *at, f64 *restrict pivot, f64 *restrict lower) {
    REORDER
    for (i64 r = 0; r < p; r++) {
        const i64 first = near[r], row = at[r] - near[r];
        f64 total = 1.0 + product(ptr[r + 1] - ptr[r], values + ptr[r], values + ptr[r]);
        for (i64 q = first; q < r; q++) {
            const i64 begin = imax(start[q], start[r]), mine = ptr[r] + begin - start[r],
                      other = ptr[q] + begin - start[q], column = at[q] - near[q], from = imax(first, near[q]);
            lower[row + q] = product(stop[q] - begin, values + mine, values + other) -
                             product(q - from, lower + row + from, lower + column + from);
        }
        /* Until here the row holds L·D; now it becomes L. */
        for (i64 q = first; q < r; q++) {
            const f64 entry = lower[row + q] / pivot[q];
            total -= entry * lower[row + q];
            lower[row + q] = entry;
        }
        pivot[r] = total;
    }
}

static inline void solve(i64 p, i64 columns, const f64 *pivot, const f64 *lower, const i64 *near, const i64 *at,
                         f64 *block) {
    REORDER
    for (i64 r = 0; r < p; r++) {
        const f64 *row = lower + (at[r] - near[r]);
        f64 *mine = block + r * columns;
        for (i64 q = near[r]; q < r; q++) {
            const f64 f = row[q], *other = block + q * columns;
            for (i64 c = 0; c < columns; c++) mine[c] -= f * other[c];
        }
    }
    for (i64 r = 0; r < p; r++) {
        for (i64 c = 0; c < columns; c++) block[r * columns + c] /= pivot[r];
    }
    for (i64 r = p - 1; r >= 0; r--) {
        const f64 *row = lower + (at[r] - near[r]), *mine = block + r * columns;
        for (i64 q = near[r]; q < r; q++) {
            const f64 f = row[q];
            f64 *other = block + q * columns;
            for (i64 c = 0; c < columns; c++) other[c] -= f * mine[c];
        }
    }
}

KERNEL(void, hats_solve, i64 p, i64 columns, const f64 *pivot, const f64 *lower, const i64 *near, const i64 *at,
       f64 *block) {
    if (columns == 1) solve(p, 1, pivot, lower, near, at, block);
    else solve(p, columns, pivot, lower, near, at, block);
}

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

/* `steps` and `envelope`, `diagonal`, `by_value` and `by_scale` are zeros; `block` and `answers` have room for p rows
 * of TOGETHER numbers. A row's answer to a run is its sum up to the run's end minus its sum up to the run's beginning.
 * So the rows whose right end lies in the run, which are consecutive, get their whole sum; only rows that an end cuts
 * need more. Below, A stands for K⁻¹ f, `steps` is Σ ω w A, as differences along each row, and `diagonal` and
 * `envelope` are Σ ω A Aᵀ. */
KERNEL(f64, hats_error, i64 p, i64 k, i64 m, const i64 *start, const i64 *stop, const i64 *ptr, const f64 *values,
       const i64 *near, const i64 *at, const i64 *cover_ptr, const i64 *cover, const f64 *scale, const i64 *first,
       const f64 *lo, const f64 *hi, const f64 *weight, const f64 *omega, const f64 *linear, const f64 *square,
       i64 differences, i64 gradient, const f64 *pivot, const f64 *lower, const f64 *sums, f64 *restrict steps,
       f64 *restrict diagonal, f64 *restrict envelope, f64 *restrict block, f64 *restrict answers,
       f64 *restrict alpha_sum, f64 *restrict by_value, f64 *restrict by_scale) {
    REORDER
    f64 total = 0.0;
    for (i64 j = 0; j < k; j++) total += scale[j] * scale[j] * square[j];
    for (i64 i0 = 0; i0 < m; i0 += TOGETHER) {
        const i64 count = imin(TOGETHER, m - i0);
        memset(block, 0, (size_t)(p * TOGETHER) * sizeof *block);
        for (i64 c = 0; c < count; c++) {
            for (i64 run = first[i0 + c]; run < first[i0 + c + 1]; run++) {
                const i64 end = beyond(p, stop, hi[run]);
                for (i64 r = beyond(p, stop, lo[run]); r < end; r++) {
                    block[r * TOGETHER + c] += weight[run] * sums[ptr[r + 1] + r];
                }
                for (i64 side = 0; side < 2; side++) {
                    const f64 x = side ? hi[run] : lo[run], f = side ? weight[run] : -weight[run];
                    const i64 j = imin((i64)x, k - 1);
                    for (i64 e = cover_ptr[j]; e < cover_ptr[j + 1]; e++) {
                        const i64 r = cover[e];
                        if (!((f64)start[r] < x && x < (f64)stop[r])) continue;
                        const f64 *sum = sums + (ptr[r] + r + j - start[r]);
                        block[r * TOGETHER + c] += f * (sum[0] + (x - (f64)j) * (sum[1] - sum[0]));
                    }
                }
            }
        }
        memcpy(answers, block, (size_t)(p * TOGETHER) * sizeof *block);
        solve(p, TOGETHER, pivot, lower, near, at, block);
        f64 explained = 0.0; /* summed separately, because it nearly cancels a large total */
        for (i64 r = 0; r < p; r++) {
            for (i64 c = 0; c < count; c++) {
                explained += omega[i0 + c] * block[r * TOGETHER + c] * answers[r * TOGETHER + c];
            }
        }
        total -= explained;
        if (!gradient) continue;
        for (i64 r = 0; r < p; r++) {
            f64 *scaled = answers + r * TOGETHER;
            const f64 *mine = block + r * TOGETHER;
            for (i64 c = 0; c < count; c++) scaled[c] = omega[i0 + c] * mine[c];
            for (i64 c = count; c < TOGETHER; c++) scaled[c] = 0.0;
            diagonal[r] += product(TOGETHER, scaled, mine);
            f64 *row = envelope + (at[r] - near[r]);
            for (i64 q = near[r]; q < r; q++) row[q] += product(TOGETHER, scaled, block + q * TOGETHER);
        }
        for (i64 c = 0; c < count; c++) {
            for (i64 run = first[i0 + c]; run < first[i0 + c + 1]; run++) {
                const i64 end = beyond(p, stop, hi[run]);
                for (i64 r = beyond(p, stop, lo[run]); r < end; r++) {
                    steps[ptr[r] + r] += weight[run] * answers[r * TOGETHER + c];
                }
                for (i64 side = 0; side < 2; side++) {
                    const f64 x = side ? hi[run] : lo[run], f = side ? weight[run] : -weight[run];
                    const i64 j = imin((i64)x, k - 1);
                    for (i64 e = cover_ptr[j]; e < cover_ptr[j + 1]; e++) {
                        const i64 r = cover[e];
                        if (!((f64)start[r] < x && x < (f64)stop[r])) continue;
                        f64 *step = steps + (ptr[r] + r);
                        const f64 alpha = f * answers[r * TOGETHER + c];
                        step[0] += alpha;
                        step += j - start[r];
                        step[0] -= ((f64)(j + 1) - x) * alpha;
                        step[1] -= (x - (f64)j) * alpha;
                    }
                }
            }
        }
    }
    if (differences) {
        for (i64 r = 0; r < p; r++) {
            f64 answer = 0.0;
            for (i64 e = ptr[r]; e < ptr[r + 1]; e++) {
                const i64 j = start[r] + e - ptr[r];
                answer += values[e] * scale[j] * linear[j];
            }
            answers[r] = alpha_sum[r] = answer;
        }
        solve(p, 1, pivot, lower, near, at, alpha_sum);
        total += product(p, answers, alpha_sum);
    }
    if (!gradient) return total;
    for (i64 j = 0; j < k; j++) by_scale[j] = 2 * scale[j] * square[j];
    for (i64 r = 0; r < p; r++) {
        const f64 own = diagonal[r] - alpha_sum[r] * alpha_sum[r];
        f64 covered = 0.0;
        for (i64 e = ptr[r]; e < ptr[r + 1]; e++) {
            const i64 j = start[r] + e - ptr[r];
            covered += steps[e + r];
            const f64 cross = covered - linear[j] * alpha_sum[r];
            by_value[e] += 2 * (values[e] * own - scale[j] * cross);
            by_scale[j] -= 2 * values[e] * cross;
        }
        const f64 *row = envelope + (at[r] - near[r]);
        for (i64 q = near[r]; q < r; q++) {
            const f64 both = 2 * (row[q] - alpha_sum[r] * alpha_sum[q]);
            const i64 begin = imax(start[r], start[q]), mine = ptr[r] + begin - start[r],
                      other = ptr[q] + begin - start[q];
            for (i64 e = 0; e < stop[q] - begin; e++) {
                by_value[mine + e] += both * values[other + e];
                by_value[other + e] += both * values[mine + e];
            }
        }
    }
    return total;
}
