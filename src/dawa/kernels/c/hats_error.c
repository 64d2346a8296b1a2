/* Rows with interval supports: the expected error of queries, and its gradient. */
#include "hats.h"

enum { TOGETHER = 24, QUADS = TOGETHER / 4 }; /* queries that are solved side by side: a few vector registers */
typedef struct {
    quad v[QUADS];
} lanes;

#define EACH for (i64 h = 0; h < QUADS; h++)

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
