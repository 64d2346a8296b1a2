/* Exact draws from the geometric and the discrete Laplace distribution, made from a stream of random bytes.
 *
 * All numbers are whole, no float is made, nothing exceeds 63 bits, and every chance is a comparison with fresh random
 * bytes. noise/noise.md proves the distribution. */
#include "kernels.h"

/* Random bytes, and how many of them were used. */
typedef struct {
    const u8 *bytes;
    i64 size, at;
} Stream;

/* What is returned instead of a value, none of which is negative. If the stream ends, nothing is decided: the draw is
 * repeated from its first byte once more bytes follow. */
enum { ENDED = -1, TOO_LARGE = -2, OUTSIDE = -3 };

/* Uniform numbers below this take 4 random bytes, others 8: at most one try in 16 is wasted. */
static const i64 SHORT = (i64)1 << 28;

/* Scales are made of numbers below this. */
static const i64 LIMIT = (i64)1 << 56;

static inline u64 bytes_at(const u8 *bytes, int width) {
    u64 number = 0;
    for (int i = 0; i < width; i++) number |= (u64)bytes[i] << (8 * i);
    return number;
}

/* A uniform number in [0, bound): the remainder of a number that is uniform below a multiple of the bound. */
static inline i64 below(Stream *s, i64 bound) {
    if (bound < SHORT) {
        const u32 divisor = (u32)bound, last = UINT32_MAX - (divisor - 1);
        while (s->size - s->at >= 4) {
            const u32 number = (u32)bytes_at(s->bytes + s->at, 4), remainder = number % divisor;
            s->at += 4;
            if (number - remainder <= last) return remainder;
        }
        return ENDED;
    }
    const i64 last = INT64_MAX - (bound - 1);
    while (s->size - s->at >= 8) {
        const i64 number = (i64)(bytes_at(s->bytes + s->at, 8) & INT64_MAX), remainder = number % bound;
        s->at += 8;
        if (number - remainder <= last) return remainder;
    }
    return ENDED;
}

/* The run below, known to have at least length 5: one coin at a time. */
static i64 long_run(Stream *s) {
    for (i64 length = 5;; length++) {
        const i64 pick = below(s, length + 1);
        if (pick == ENDED) return ENDED;
        if (pick > 0) return length;
    }
}

/* How many of the coins with chances 1, 1/2, 1/3, … succeed before the first failure.
 *
 * The run has length k or more with chance 1/k!, and 240/k! is whole for k up to 5: one byte decides. */
static inline i64 run(Stream *s) {
    while (s->at < s->size) {
        const u8 byte = s->bytes[s->at++];
        if (byte >= 240) continue;
        if (byte >= 120) return 1;
        if (byte >= 40) return 2;
        if (byte >= 10) return 3;
        if (byte >= 2) return 4;
        return long_run(s);
    }
    return ENDED;
}

/* Whether a uniform real number is less than part / whole, comparing 7 bits at a time.
 *
 * The whole is below 2^56 and the part below the whole, so the products stay below 2^63. */
static inline i64 less(Stream *s, i64 part, i64 whole) {
    while (s->at < s->size) {
        const i64 digit = s->bytes[s->at++] >> 1, rest = part * 128 - digit * whole;
        if (rest <= 0) return false;
        if (rest >= whole) return true;
        part = rest;
    }
    return ENDED;
}

/* True with chance exp(-part / whole): the first failure among coins part / (whole·k) is odd. */
static inline i64 exponential_coin(Stream *s, i64 part, i64 whole) {
    const i64 length = run(s);
    if (length == ENDED) return ENDED;
    for (i64 k = 1; k <= length; k++) {
        const i64 success = less(s, part, whole);
        if (success == ENDED) return ENDED;
        if (!success) return k % 2 == 1;
    }
    return length % 2 == 0;
}

/* A number x ≥ 0 with chances proportional to exp(-x / numerator). */
static inline i64 geometric(Stream *s, i64 numerator) {
    i64 unit, accepted;
    do {
        unit = below(s, numerator);
        if (unit == ENDED) return ENDED;
        accepted = exponential_coin(s, unit, numerator);
        if (accepted == ENDED) return ENDED;
    } while (!accepted);
    for (i64 wholes = 0;; wholes++) {
        const i64 length = run(s);
        if (length == ENDED) return ENDED;
        if (length % 2 == 0) continue;
        if (wholes >= 127 && wholes > (INT64_MAX - unit) / numerator) return TOO_LARGE;
        return unit + numerator * wholes;
    }
}

/* Says how many draws are complete; `end` becomes how many bytes they took, and why the next one is not there, or 0. */
KERNEL(i64, draw_draw, i64 size, const u8 *stream, i64 scales, const i64 *numerators, const i64 *denominators,
       i64 two_sided, i64 draws, i64 *restrict out, i64 *restrict end) {
    Stream s = {stream, size, 0};
    const i64 step = scales > 1;
    for (i64 i = 0; i < draws; i++) {
        const i64 numerator = numerators[i * step], denominator = denominators[i * step];
        end[0] = s.at;
        if (numerator < 1 || numerator >= LIMIT || denominator < 1) {
            end[1] = OUTSIDE;
            return i;
        }
        for (;;) {
            const i64 steps = geometric(&s, numerator);
            if (steps < 0 || (two_sided && s.at == s.size)) {
                end[1] = steps < 0 ? steps : ENDED;
                return i;
            }
            const i64 value = denominator == 1 ? steps : steps / denominator;
            const bool negative = two_sided && (s.bytes[s.at++] & 1);
            if (negative && value == 0) continue;
            out[i] = negative ? -value : value;
            break;
        }
    }
    end[0] = s.at;
    end[1] = 0;
    return draws;
}

/* The index of a candidate, with chances proportional to exp(-(wholes + parts / whole)).
 *
 * Candidates are proposed evenly, and each is kept with this chance, until one is kept. */
KERNEL(i64, draw_choose, i64 size, const u8 *stream, i64 candidates, const i64 *wholes, const i64 *parts, i64 whole) {
    Stream s = {stream, size, 0};
    if (candidates < 1 || whole < 1 || whole >= LIMIT) return OUTSIDE;
    for (;;) {
        const i64 pick = below(&s, candidates);
        if (pick == ENDED) return ENDED;
        if (wholes[pick] < 0 || parts[pick] < 0 || parts[pick] >= whole) return OUTSIDE;
        bool kept = true;
        for (i64 i = 0; kept && i < wholes[pick]; i++) {
            const i64 length = run(&s);
            if (length == ENDED) return ENDED;
            kept = length % 2 == 0;
        }
        if (kept && parts[pick] > 0) {
            const i64 accepted = exponential_coin(&s, parts[pick], whole);
            if (accepted == ENDED) return ENDED;
            kept = accepted;
        }
        if (kept) return pick;
    }
}

/* The coins by themselves, which tests enumerate: `at` moves behind the bytes that were read. */
#define COIN(made)                  \
    Stream s = {stream, size, *at}; \
    const i64 value = made;         \
    *at = s.at;                     \
    return value

KERNEL(i64, draw_below, i64 size, const u8 *stream, i64 *at, i64 bound) { COIN(below(&s, bound)); }
KERNEL(i64, draw_run, i64 size, const u8 *stream, i64 *at) { COIN(run(&s)); }
KERNEL(i64, draw_less, i64 size, const u8 *stream, i64 *at, i64 part, i64 whole) { COIN(less(&s, part, whole)); }
KERNEL(i64, draw_exponential_coin, i64 size, const u8 *stream, i64 *at, i64 part, i64 whole) {
    COIN(exponential_coin(&s, part, whole));
}
