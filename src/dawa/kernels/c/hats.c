/* Rows with interval supports: factorisation, least squares, expected error, and the variance of any range. The Python
 * module beside this says what the arrays are. */
#include "kernels.h"

enum { TOGETHER = 24, QUADS = TOGETHER / 4 }; /* queries that are solved side by side: a few vector registers */

typedef f64 quad __attribute__((vector_size(32), aligned(8), may_alias));
typedef struct {
    quad v[QUADS];
} lanes;

#define EACH for (i64 h = 0; h < QUADS; h++)

static inline f64 summed(quad x) { return (x[0] + x[2]) + (x[1] + x[3]); }

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

static inline f64 product(i64 n, const f64 *a, const f64 *b) {
    REORDER
    quad sums = {0}, more = {0};
    i64 i = 0;
    for (; i + 8 <= n; i += 8) {
        sums += *(const quad *)(a + i) * *(const quad *)(b + i);
        more += *(const quad *)(a + i + 4) * *(const quad *)(b + i + 4);
    }
    if (i + 4 <= n) {
        sums += *(const quad *)(a + i) * *(const quad *)(b + i);
        i += 4;
    }
    f64 sum = summed(sums + more);
    for (; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void factor(i64 p, const i64 *start, const i64 *stop, const i64 *ptr, const f64 *values, const i64 *near,
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

/* y += f · x, which do not overlap. */
static inline void add(i64 n, f64 f, const f64 *restrict x, f64 *restrict y) {
    REORDER
    i64 i = 0;
    for (; i + 4 <= n; i += 4) *(quad *)(y + i) += f * *(const quad *)(x + i);
    for (; i < n; i++) y[i] += f * x[i];
}

KERNEL(void, hats_factor, i64 p, const i64 *start, const i64 *stop, const i64 *ptr, const f64 *values, const i64 *near,
       const i64 *at, f64 *pivot, f64 *lower) {
    factor(p, start, stop, ptr, values, near, at, pivot, lower);
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

/* The running sums of n numbers, four at a time, so that few of them wait for each other; x and y may be the same. */
static void scan(i64 n, const f64 *x, f64 *y) {
    f64 before = 0.0;
    i64 i = 0;
    for (; i + 4 <= n; i += 4) {
        const f64 two = x[i] + x[i + 1], three = two + x[i + 2], four = two + (x[i + 2] + x[i + 3]);
        y[i] = before + x[i];
        y[i + 1] = before + two;
        y[i + 2] = before + three;
        y[i + 3] = before = before + four;
    }
    for (; i < n; i++) y[i] = before = before + x[i];
}

/* What the error needs to know, and what it keeps on the way. */
typedef struct {
    i64 p, k;
    const i64 *start, *stop, *ptr, *near, *at, *cover_ptr, *cover;
    const f64 *values, *scale;
    const i64 *first;
    const f64 *lo, *hi, *weight, *omega;
    i64 *after;              /* for each bucket border, the first row that ends beyond it */
    i64 *column_ptr, *later; /* the factor by columns: the later rows that overlap each row */
    f64 *pivot, *lower, *by_column;
    f64 *inverse;              /* 1 / pivot */
    f64 *sums;                 /* running sums of values · scale */
    f64 *steps;                /* Σ ω w A, as differences along each row */
    lanes *block;              /* f, then g with L g = f, then A = K⁻¹ f: a lane for each query */
    lanes *turns;              /* for each row, what is added to the weight with which queries cover rows wholly */
    quad *diagonal, *envelope; /* Σ ω A gᵀ, the envelope by columns; each number is the sum of a quad */
    quad *wholes;              /* Σ ω w A of the queries that cover a row wholly, likewise */
} Errors;

/* Where x lies, as a bucket border below or at it. */
static inline i64 border(const Errors *s, f64 x) { return imax(0, imin((i64)x, s->k)); }

static void by_columns(const Errors *s) {
    const i64 p = s->p;
    i64 *ptr = s->column_ptr;
    memset(ptr, 0, (size_t)(p + 1) * sizeof *ptr);
    for (i64 r = 0; r < p; r++) {
        for (i64 q = s->near[r]; q < r; q++) ptr[q]++;
    }
    for (i64 q = 0, total = 0; q <= p; q++) ptr[q] = total += ptr[q]; /* the ends, from which they are filled */
    for (i64 r = p - 1; r >= 0; r--) {
        for (i64 q = s->near[r]; q < r; q++) {
            const i64 e = --ptr[q];
            s->later[e] = r;
            s->by_column[e] = s->lower[s->at[r] - s->near[r] + q];
        }
    }
}

/* f for the queries from i on; returns the first row that any of them touches. A row's answer to a run is its sum up
 * to the run's end minus its sum up to the run's beginning. So the rows whose right end lies in the run, which are
 * consecutive, get their whole sum, by `turns`; only the rows on the bucket that an end cuts need more. (If a row
 * begins just there, that is 0.) */
static i64 set_out(const Errors *s, i64 i, i64 count) {
    i64 touched = s->p;
    f64 *block = (f64 *)s->block, *turns = (f64 *)s->turns;
    for (i64 c = 0; c < count; c++) {
        for (i64 run = s->first[i + c]; run < s->first[i + c + 1]; run++) {
            for (i64 side = 0; side < 2; side++) {
                const f64 x = side ? s->hi[run] : s->lo[run], f = side ? s->weight[run] : -s->weight[run];
                const i64 j = border(s, x), begin = s->after[j];
                turns[begin * TOGETHER + c] -= f;
                touched = imin(touched, begin);
                if (j == s->k) continue;
                for (i64 e = s->cover_ptr[j]; e < s->cover_ptr[j + 1]; e++) {
                    const i64 r = s->cover[e];
                    const f64 *sum = s->sums + (s->ptr[r] + r + j - s->start[r]);
                    block[r * TOGETHER + c] += f * (sum[0] + (x - (f64)j) * (sum[1] - sum[0]));
                }
            }
        }
    }
    return touched;
}

/* From f to g, which is 0 in the rows before `begin`; returns Σ ω g² / pivot, and in `covering` the weight with which
 * queries cover what comes after the last row. */
static f64 forward(const Errors *s, i64 begin, const f64 *omega, lanes *covering) {
    REORDER
    lanes cover = {{{0}}}, energy = {{{0}}};
    for (i64 r = begin; r < s->p; r++) {
        const f64 *row = s->lower + (s->at[r] - s->near[r]), whole = s->sums[s->ptr[r + 1] + r];
        lanes g;
        EACH {
            cover.v[h] += s->turns[r].v[h];
            g.v[h] = s->block[r].v[h] + whole * cover.v[h];
        }
        for (i64 q = imax(s->near[r], begin); q < r; q++) {
            EACH g.v[h] -= row[q] * s->block[q].v[h];
        }
        s->block[r] = g;
        EACH energy.v[h] += s->inverse[r] * g.v[h] * g.v[h];
    }
    *covering = cover;
    f64 total = 0.0;
    for (i64 c = 0; c < TOGETHER; c++) total += omega[c] * energy.v[c / 4][c % 4];
    return total;
}

/* From g to A, and what the gradient needs of it: nothing in the rows before `begin`. */
static void backward(const Errors *s, i64 begin, const f64 *omega, lanes cover) {
    REORDER
    lanes weights;
    memcpy(&weights, omega, sizeof weights);
    for (i64 q = s->p - 1; q >= begin; q--) {
        lanes a, scaled;
        EACH {
            const quad g = s->block[q].v[h];
            a.v[h] = s->inverse[q] * g;
            scaled.v[h] = weights.v[h] * g;
        }
        for (i64 e = s->column_ptr[q]; e < s->column_ptr[q + 1]; e++) {
            const quad *other = s->block[s->later[e]].v;
            const f64 f = s->by_column[e];
            quad both = s->envelope[e];
            EACH {
                a.v[h] -= f * other[h];
                both += scaled.v[h] * other[h];
            }
            s->envelope[e] = both;
        }
        s->block[q] = a;
        quad diagonal = s->diagonal[q], whole = s->wholes[q];
        EACH {
            diagonal += scaled.v[h] * a.v[h];
            whole += weights.v[h] * a.v[h] * cover.v[h];
            cover.v[h] -= s->turns[q].v[h];
        }
        s->diagonal[q] = diagonal;
        s->wholes[q] = whole;
    }
}

/* Σ ω A Aᵀ on the envelope, row by row in `lower`, and its diagonal in `inverse`, from Σ ω A gᵀ. As Lᵀ A = D⁻¹ g, a
 * row q of A is D⁻¹ g less the later rows that overlap it, each times its number in L; and these overlap each other. */
static void finish(const Errors *s) {
    REORDER
    for (i64 q = s->p - 1; q >= 0; q--) {
        const i64 begin = s->column_ptr[q], end = s->column_ptr[q + 1];
        f64 own = s->inverse[q] * summed(s->diagonal[q]);
        for (i64 e = begin; e < end; e++) {
            const i64 r = s->later[e];
            const f64 *row = s->lower + (s->at[r] - s->near[r]);
            f64 both = s->inverse[q] * summed(s->envelope[e]) - s->by_column[e] * s->inverse[r];
            for (i64 z = begin; z < e; z++) both -= s->by_column[z] * row[s->later[z]];
            for (i64 z = e + 1; z < end; z++) {
                const i64 last = s->later[z];
                both -= s->by_column[z] * s->lower[s->at[last] - s->near[last] + r];
            }
            s->lower[s->at[r] - s->near[r] + q] = both;
            own -= s->by_column[e] * both;
        }
        s->inverse[q] = own;
    }
}

/* What the queries from i on add to the steps of rows that their ends cut; it also forgets their turns. */
static void step(const Errors *s, i64 i, i64 count) {
    const f64 *block = (const f64 *)s->block;
    f64 *turns = (f64 *)s->turns;
    for (i64 c = 0; c < count; c++) {
        for (i64 run = s->first[i + c]; run < s->first[i + c + 1]; run++) {
            for (i64 side = 0; side < 2; side++) {
                const f64 x = side ? s->hi[run] : s->lo[run], f = side ? s->weight[run] : -s->weight[run];
                const i64 j = border(s, x);
                turns[s->after[j] * TOGETHER + c] = 0.0;
                if (j == s->k) continue;
                const f64 left = (f64)(j + 1) - x, right = x - (f64)j, scaled = f * s->omega[i + c];
                for (i64 e = s->cover_ptr[j]; e < s->cover_ptr[j + 1]; e++) {
                    const i64 r = s->cover[e];
                    const f64 alpha = scaled * block[r * TOGETHER + c];
                    f64 *here = s->steps + (s->ptr[r] + r + j - s->start[r]);
                    s->wholes[r][0] += alpha;
                    here[0] -= left * alpha;
                    here[1] -= right * alpha;
                }
            }
        }
    }
}

/* `room` has room for TOGETHER · (2 p + 1) + 8 + 11 p + 6 at[p] + 2 (ptr[p] + p) numbers, `places` for k + p + at[p] +
 * 2; by_value and by_scale are zeros. */
KERNEL(f64, hats_error, i64 p, i64 k, i64 m, const i64 *start, const i64 *stop, const i64 *ptr, const f64 *values,
       const i64 *near, const i64 *at, const i64 *cover_ptr, const i64 *cover, const f64 *scale, const i64 *first,
       const f64 *lo, const f64 *hi, const f64 *weight, const f64 *omega, const f64 *linear, const f64 *square,
       i64 differences, i64 gradient, f64 *room, i64 *places, f64 *restrict by_value, f64 *restrict by_scale) {
    REORDER
    const i64 edges = at[p], borders = ptr[p] + p;
    Errors s = {.p = p,
                .k = k,
                .start = start,
                .stop = stop,
                .ptr = ptr,
                .near = near,
                .at = at,
                .cover_ptr = cover_ptr,
                .cover = cover,
                .values = values,
                .scale = scale,
                .first = first,
                .lo = lo,
                .hi = hi,
                .weight = weight,
                .omega = omega};
    s.after = places;
    s.column_ptr = s.after + k + 1;
    s.later = s.column_ptr + p + 1;
    s.block = (lanes *)(((uintptr_t)room + 63) & ~(uintptr_t)63); /* no lane lies across two lines of the cache */
    s.turns = s.block + p;
    s.diagonal = (quad *)(s.turns + p + 1);
    s.wholes = s.diagonal + p;
    s.envelope = s.wholes + p;
    s.lower = (f64 *)(s.envelope + edges);
    s.by_column = s.lower + edges;
    s.pivot = s.by_column + edges;
    s.inverse = s.pivot + p;
    f64 *alpha_sum = s.inverse + p;
    s.sums = alpha_sum + p;
    s.steps = s.sums + borders;

    factor(p, start, stop, ptr, values, near, at, s.pivot, s.lower);
    for (i64 r = 0; r < p; r++) s.inverse[r] = 1.0 / s.pivot[r];
    for (i64 r = 0; r < p; r++) {
        f64 *sums = s.sums + ptr[r] + r;
        sums[0] = 0.0;
        for (i64 e = 0; e < ptr[r + 1] - ptr[r]; e++) sums[e + 1] = values[ptr[r] + e] * scale[start[r] + e];
        scan(ptr[r + 1] - ptr[r], sums + 1, sums + 1);
    }
    for (i64 j = 0, r = 0; j <= k; j++) {
        while (r < p && stop[r] <= j) r++;
        s.after[j] = r;
    }
    f64 total = 0.0;
    for (i64 j = 0; j < k; j++) total += scale[j] * scale[j] * square[j];
    if (gradient) {
        by_columns(&s);
        memset(s.diagonal, 0, (size_t)p * sizeof(quad));
        memset(s.wholes, 0, (size_t)p * sizeof(quad));
        memset(s.envelope, 0, (size_t)edges * sizeof(quad));
        memset(s.steps, 0, (size_t)borders * sizeof(f64));
    }
    memset(s.block, 0, (size_t)p * sizeof(lanes));
    memset(s.turns, 0, (size_t)(p + 1) * sizeof(lanes));
    for (i64 i = 0; i < m; i += TOGETHER) {
        const i64 count = imin(TOGETHER, m - i);
        f64 weights[TOGETHER] = {0};
        memcpy(weights, omega + i, (size_t)count * sizeof *weights);
        const i64 begin = set_out(&s, i, count);
        lanes cover;
        total -= forward(&s, begin, weights, &cover);
        if (gradient) {
            backward(&s, begin, weights, cover);
            step(&s, i, count);
        } else {
            memset(s.turns + begin, 0, (size_t)(p + 1 - begin) * sizeof(lanes));
        }
        memset(s.block + begin, 0, (size_t)(p - begin) * sizeof(lanes));
    }
    memset(alpha_sum, 0, (size_t)p * sizeof *alpha_sum);
    if (differences) {
        for (i64 r = 0; r < p; r++) {
            f64 answer = 0.0;
            for (i64 e = ptr[r]; e < ptr[r + 1]; e++) {
                const i64 j = start[r] + e - ptr[r];
                answer += values[e] * scale[j] * linear[j];
            }
            alpha_sum[r] = answer;
        }
        f64 *answers = (f64 *)s.block;
        memcpy(answers, alpha_sum, (size_t)p * sizeof *answers);
        solve(p, 1, s.pivot, s.lower, near, at, alpha_sum);
        total += product(p, answers, alpha_sum);
    }
    if (!gradient) return total;
    finish(&s);
    for (i64 j = 0; j < k; j++) by_scale[j] = 2 * scale[j] * square[j];
    for (i64 r = 0; r < p; r++) {
        const i64 n = ptr[r + 1] - ptr[r];
        const f64 alpha = alpha_sum[r], own = s.inverse[r] - alpha * alpha;
        const f64 *entries = values + ptr[r], *part = linear + start[r], *factors = scale + start[r];
        f64 *covered = s.steps + ptr[r] + r, *slopes = by_value + ptr[r], *scale_slopes = by_scale + start[r];
        covered[0] += summed(s.wholes[r]);
        scan(n, covered, covered);
        for (i64 e = 0; e < n; e++) {
            const f64 cross = covered[e] - part[e] * alpha;
            slopes[e] += 2 * (entries[e] * own - factors[e] * cross);
            scale_slopes[e] -= 2 * entries[e] * cross;
        }
    }
    for (i64 r = 0; r < p; r++) {
        const f64 *row = s.lower + (at[r] - near[r]);
        for (i64 q = near[r]; q < r; q++) {
            const i64 begin = imax(start[r], start[q]), n = stop[q] - begin;
            const i64 mine = ptr[r] + begin - start[r], other = ptr[q] + begin - start[q];
            const f64 both = 2 * (row[q] - alpha_sum[r] * alpha_sum[q]);
            add(n, both, values + other, by_value + mine);
            add(n, both, values + mine, by_value + other);
        }
    }
    return total;
}

/* The rows on each bucket, one bucket after the other; begin has room for k + 1 numbers and begins as zeros. */
KERNEL(void, hats_cover, i64 p, i64 k, const i64 *start, const i64 *stop, i64 *begin, i64 *cover) {
    for (i64 r = 0; r < p; r++) {
        for (i64 j = start[r]; j < stop[r]; j++) begin[j]++;
    }
    for (i64 j = 0, total = 0; j <= k; j++) begin[j] = total += begin[j]; /* the ends, from which they are filled */
    for (i64 r = p - 1; r >= 0; r--) {
        for (i64 j = start[r]; j < stop[r]; j++) cover[--begin[j]] = r;
    }
}

KERNEL(void, hats_entries, i64 p, const i64 *start, const i64 *ptr, const i64 *weights, const i64 *leaf,
       f64 *restrict entries) {
    for (i64 r = 0; r < p; r++) {
        const i64 *on = leaf + (start[r] - ptr[r]);
        for (i64 e = ptr[r]; e < ptr[r + 1]; e++) entries[e] = (f64)weights[e] / (f64)on[e];
    }
}

/* Adds to sums, which begin as the weights of leaves. */
KERNEL(void, hats_column_sums, i64 p, const i64 *start, const i64 *ptr, const i64 *weights, i64 *restrict sums) {
    for (i64 r = 0; r < p; r++) {
        i64 *on = sums + (start[r] - ptr[r]);
        for (i64 e = ptr[r]; e < ptr[r + 1]; e++) on[e] += weights[e];
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
