/* A Hilbert curve through a box of any shape: hilbert.py says by which rules. */
#include "kernels.h"

/* As many axes as limits.MOST_AXES; and boxes that wait while others are followed: at most two for every cut, and cuts
 * halve a side of a domain of at most 2^62 cells. */
enum { AXES = 4, WAITING = 512 };

/* For every axis, where a box is entered, in which direction it is crossed (1 or -1) and how many cells it has; and its
 * way. */
typedef struct {
    i64 at[AXES], sign[AXES], size[AXES], way;
} Box;

/* The even number nearest to half of a length of at least 3. */
static inline i64 even_half(i64 length) { return imax(2, 2 * ((length + 2) / 4)); }

/* The axis along which the whole domain is crossed: the longest possible one. */
static inline i64 first_way(i64 dims, const i64 *shape) {
    bool odd = true;
    for (i64 i = 0; i < dims; i++) odd = odd && (shape[i] & 1);
    i64 way = -1;
    for (i64 i = 0; i < dims; i++)
        if ((odd || !(shape[i] & 1)) && (way < 0 || shape[i] > shape[way])) way = i;
    return way;
}

/* The longest axis other than the way, or -1 if no other axis is longer than 1. */
static inline i64 side_of(i64 dims, const i64 *size, i64 way) {
    i64 side = -1, longest = 1;
    for (i64 i = 0; i < dims; i++) {
        bool longer = i != way && size[i] > longest;
        side = longer ? i : side;
        longest = longer ? size[i] : longest;
    }
    return side;
}

/* The number of cells that share one place along way and side. */
static inline i64 rest_of(i64 dims, const i64 *size, i64 way, i64 side) {
    i64 cells = 1;
    for (i64 i = 0; i < dims; i++) cells *= i == way || i == side ? 1 : size[i];
    return cells;
}

/* Whether a Gray code crosses the box. */
static inline bool is_small(const i64 *size, i64 way, i64 side) {
    return size[way] <= 2 && (side < 0 || size[side] <= 2);
}

/* Whether the box is cut across its way. */
static inline bool is_long(const i64 *size, i64 way, i64 side) { return side < 0 || 2 * size[way] > 3 * size[side]; }

/* The place of a cell on the Gray code through a small box; the way is its highest digit. */
static inline i64 gray_rank(i64 dims, const i64 *at, const i64 *size, i64 way) {
    i64 code = 0, digit = 0;
    for (i64 i = 0; i < dims; i++)
        if (i != way && size[i] == 2) code |= at[i] << digit++;
    code |= at[way] << digit;
    i64 rank = 0;
    for (i64 bit = 0; bit <= AXES; bit++) rank ^= code >> bit;
    return rank;
}

/* The cell at a place on the Gray code, in coordinates of the domain. */
static inline void gray_cell(i64 dims, const Box *box, i64 rank, i64 *cell) {
    i64 code = rank ^ (rank >> 1);
    for (i64 i = 0; i < dims; i++) {
        bool digit = i != box->way && box->size[i] == 2;
        cell[i] = box->at[i] + box->sign[i] * (digit ? code & 1 : 0);
        code >>= digit;
    }
    cell[box->way] = box->at[box->way] + box->sign[box->way] * code;
}

/* The box of the whole domain. */
static inline Box entire(i64 dims, const i64 *shape) {
    Box box = {.way = first_way(dims, shape)};
    for (i64 i = 0; i < dims; i++) {
        box.sign[i] = 1;
        box.size[i] = shape[i];
    }
    return box;
}

/* Replace a box by its parts, the first one on top; return their number. */
static inline i64 cut(Box *box, i64 side) {
    const i64 way = box->way, w = box->size[way];
    box[1] = *box;
    if (is_long(box->size, way, side)) {
        const i64 half = even_half(w);
        box[0].at[way] += box->sign[way] * half;
        box[0].size[way] = w - half;
        box[1].size[way] = half;
        return 2;
    }
    const i64 h = box->size[side], w1 = w / 2, h1 = even_half(h);
    box[2] = *box;
    box[2].size[way] = w1;
    box[2].size[side] = h1;
    box[2].way = side;
    box[1].at[side] += box->sign[side] * h1;
    box[1].size[side] = h - h1;
    box[0].at[way] += box->sign[way] * (w - 1);
    box[0].sign[way] *= -1;
    box[0].size[way] = w - w1;
    box[0].at[side] += box->sign[side] * (h1 - 1);
    box[0].sign[side] *= -1;
    box[0].size[side] = h1;
    box[0].way = side;
    return 3;
}

KERNEL(void, hilbert_positions, i64 n, const i64 *cells, i64 dims, const i64 *shape, i64 *found) {
    const i64 whole = first_way(dims, shape);
    for (i64 c = 0; c < n; c++) {
        i64 at[AXES], size[AXES], way = whole, before = 0;
        for (i64 i = 0; i < dims; i++) {
            at[i] = cells[c * dims + i];
            size[i] = shape[i];
        }
        i64 side = side_of(dims, size, way);
        while (!is_small(size, way, side)) {
            const i64 w = size[way];
            if (is_long(size, way, side)) {
                const i64 half = even_half(w);
                if (at[way] < half) {
                    size[way] = half;
                } else {
                    before += half * rest_of(dims, size, way, way);
                    at[way] -= half;
                    size[way] = w - half;
                }
            } else {
                const i64 h = size[side], rest = rest_of(dims, size, way, side), w1 = w / 2, h1 = even_half(h);
                if (at[side] >= h1) {
                    before += w1 * h1 * rest;
                    at[side] -= h1;
                    size[side] = h - h1;
                } else {
                    size[side] = h1;
                    if (at[way] < w1) {
                        size[way] = w1;
                    } else {
                        before += (w1 * h1 + w * (h - h1)) * rest;
                        at[way] = w - 1 - at[way];
                        size[way] = w - w1;
                        at[side] = h1 - 1 - at[side];
                    }
                    way = side;
                }
            }
            side = side_of(dims, size, way);
        }
        found[c] = before + gray_rank(dims, at, size, way);
    }
}

KERNEL(void, hilbert_cells_at, i64 n, const i64 *places, i64 dims, const i64 *shape, i64 *found) {
    const Box whole = entire(dims, shape);
    for (i64 c = 0; c < n; c++) {
        i64 left = places[c];
        Box parts[3] = {whole};
        for (;;) {
            const i64 side = side_of(dims, parts->size, parts->way);
            if (is_small(parts->size, parts->way, side)) break;
            i64 top = cut(parts, side) - 1;
            for (; top > 0; top--) {
                const i64 volume = rest_of(dims, parts[top].size, -1, -1);
                if (left < volume) break;
                left -= volume;
            }
            parts[0] = parts[top];
        }
        gray_cell(dims, parts, left, found + c * dims);
    }
}

KERNEL(void, hilbert_whole_curve, i64 dims, const i64 *shape, const i64 *strides, i64 *found) {
    Box boxes[WAITING] = {entire(dims, shape)};
    i64 waiting = 1, place = 0, cell[AXES];
    while (waiting) {
        Box *box = boxes + --waiting;
        const i64 side = side_of(dims, box->size, box->way);
        if (!is_small(box->size, box->way, side)) {
            waiting += cut(box, side);
            continue;
        }
        const i64 volume = rest_of(dims, box->size, -1, -1);
        for (i64 rank = 0; rank < volume; rank++) {
            gray_cell(dims, box, rank, cell);
            i64 flat = 0;
            for (i64 i = 0; i < dims; i++) flat += strides[i] * cell[i];
            found[place++] = flat;
        }
    }
}

/* How much of a cell lies in [lo, hi). */
static inline f64 cover(f64 lo, f64 hi, i64 cell) { return dmax(0, dmin(hi, (f64)cell + 1) - dmax(lo, (f64)cell)); }

/* The part of every cell from first to last that lies in [lo, hi), or -1 if it differs between cells. */
static inline f64 even_cover(f64 lo, f64 hi, i64 first, i64 last) {
    if ((f64)(last + 1) <= lo || (f64)first >= hi) return 0;
    if ((f64)first >= lo && (f64)(last + 1) <= hi) return 1;
    return first == last ? cover(lo, hi, first) : -1;
}

/* How many of the sorted numbers are at most x. */
static inline i64 at_most(const i64 *numbers, i64 n, i64 x) {
    i64 low = 0, high = n;
    while (low < high) {
        const i64 middle = (low + high) / 2;
        if (numbers[middle] <= x) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Where to go on: with which query, and in it, how many boxes wait and where the topmost begins. */
typedef struct {
    i64 query, waiting, place;
    Box boxes[WAITING];
} Progress;

/* What `progress` takes in hilbert_runs; it begins as zeros. */
KERNEL(i64, hilbert_progress, void) { return sizeof(Progress) / sizeof(i64); }

/* Stops before there might not be enough room for the next box's runs; all are found when the first number in
 * `progress` is that of the queries. Returns how many there are so far. */
KERNEL(i64, hilbert_runs, i64 queries, const f64 *lows, const f64 *highs, i64 dims, const i64 *shape, i64 buckets,
       const i64 *bounds, i64 most, i64 room, i64 count, i64 *first, i64 *starts, i64 *stops, f64 *weights,
       i64 *progress) {
    const Box whole = entire(dims, shape);
    Progress *at = (Progress *)progress;
    i64 waiting = at->waiting, place = at->place, cell[AXES];
    for (i64 q = at->query; q < queries; q++) {
        const f64 *lo = lows + q * dims, *hi = highs + q * dims;
        if (waiting == 0) {
            first[q] = count;
            at->boxes[0] = whole;
            waiting = 1;
            place = 0;
        }
        while (waiting && count <= most) {
            if (count + (1 << AXES) > room) {
                at->query = q;
                at->waiting = waiting;
                at->place = place;
                return count;
            }
            Box *box = at->boxes + --waiting;
            f64 weight = 1, inside = 1;
            i64 volume = 1;
            bool mixed = false;
            for (i64 i = 0; i < dims; i++) {
                const i64 length = box->size[i], low = box->sign[i] > 0 ? box->at[i] : box->at[i] - length + 1;
                const f64 part = even_cover(lo[i], hi[i], low, low + length - 1);
                volume *= length;
                if (part < 0) {
                    mixed = true;
                    inside *= (dmin(hi[i], (f64)(low + length)) - dmax(lo[i], (f64)low)) / (f64)length;
                } else {
                    weight *= part;
                }
            }
            if (!(weight > 0)) {
                place += volume;
                continue;
            }
            if (mixed && buckets >= 0) {
                const i64 bucket = at_most(bounds, buckets + 1, place);
                if (bucket <= buckets && place + volume <= bounds[bucket]) {
                    weight *= inside;
                    mixed = false;
                }
            }
            i64 pieces = 1;
            if (mixed) {
                const i64 side = side_of(dims, box->size, box->way);
                if (!is_small(box->size, box->way, side)) {
                    waiting += cut(box, side);
                    continue;
                }
                pieces = volume;
            }
            const i64 step = pieces > 1 ? 1 : volume;
            for (i64 rank = 0; rank < pieces; rank++, place += step) {
                if (pieces > 1) {
                    gray_cell(dims, box, rank, cell);
                    weight = 1;
                    for (i64 i = 0; i < dims; i++) weight *= cover(lo[i], hi[i], cell[i]);
                }
                if (!(weight > 0)) continue;
                if (count > first[q] && stops[count - 1] == place && weights[count - 1] == weight) {
                    stops[count - 1] = place + step;
                } else {
                    starts[count] = place;
                    stops[count] = place + step;
                    weights[count++] = weight;
                }
            }
        }
        waiting = 0;
    }
    first[queries] = count;
    at->query = queries;
    return count;
}
