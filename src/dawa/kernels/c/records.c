/* Text cut into records and fields: first the bytes are marked that may end something, then one automaton goes from
 * mark to mark. Nothing is known about the bytes: every index below follows from the sizes of the arrays alone. */
#include "kernels.h"

/* Where a byte can stand: where a field begins, inside one, or between its quotes; as in records.py. */
enum { START, PLAIN, QUOTED };

/* Bytes that are flagged at once: their words can be added up without a carry from one byte to the next. */
#define BLOCK 1024

/* Places that are written at once, whether there are so many or not: that is cheaper than to ask. `found` has room for
 * so many more than there are; as in records.py. */
#define SPARE 8

/* A byte to look for, or a line feed if there is none to look for. */
static inline u8 sought(i64 mark) { return mark >= 0 && mark < 256 ? (u8)mark : '\n'; }

/* A flag, 0 or 1, for every byte; compiled to comparisons of many bytes at once. */
static inline void flag(i64 size, const u8 *restrict data, u8 first, u8 second, u8 third, u8 *restrict flags) {
    for (i64 i = 0; i < size; i++) {
        u8 byte = data[i];
        flags[i] = (byte == '\n') | (byte == '\r') | (byte == first) | (byte == second) | (byte == third);
    }
}

/* The flags of a block, or of what is left and zeros behind it, in words of eight. */
static inline void flag_block(i64 left, const u8 *data, u8 first, u8 second, u8 third, u64 words[BLOCK / 8]) {
    if (left >= BLOCK) {
        flag(BLOCK, data, first, second, third, (u8 *)words);
    } else {
        memset(words, 0, BLOCK);
        flag(left, data, first, second, third, (u8 *)words);
    }
}

/* How many flags are set; each byte counts those at its place in up to 255 words. */
static inline i64 added(u64 bytes) {
    const u64 even = 0x00ff00ff00ff00ff, ones = 0x0001000100010001;
    return (i64)((((bytes & even) + (bytes >> 8 & even)) * ones) >> 48);
}

/* The flags of 64 bytes as bits. */
static inline u64 packed(const u64 *words) {
    u64 bits = 0;
    for (i64 k = 0; k < 8; k++) bits |= (words[k] * 0x0102040810204080) >> 56 << 8 * k;
    return bits;
}

KERNEL(i64, records_count_marks, i64 size, const u8 *data, i64 delimiter, i64 quote, i64 escape) {
    u64 words[BLOCK / 8];
    i64 count = 0;
    for (i64 base = 0; base < size; base += BLOCK) {
        flag_block(size - base, data + base, sought(delimiter), sought(quote), sought(escape), words);
        u64 sums = 0;
        for (i64 k = 0; k < BLOCK / 8; k++) sums += words[k];
        count += added(sums);
    }
    return count;
}

KERNEL(i64, records_find_marks, i64 size, const u8 *data, i64 delimiter, i64 quote, i64 escape, u32 *restrict found) {
    const u64 top = (u64)1 << 63;
    u64 words[BLOCK / 8];
    i64 at = 0;
    for (i64 base = 0; base < size; base += BLOCK) {
        flag_block(size - base, data + base, sought(delimiter), sought(quote), sought(escape), words);
        for (i64 k = 0; k < BLOCK / 8; k += 8) {
            u64 bits = packed(words + k), sums = 0;
            for (i64 j = k; j < k + 8; j++) sums += words[j];
            i64 several = added(sums);
            for (i64 done = 0; done < several; done += SPARE) {
                for (i64 j = done; j < done + SPARE; j++, bits &= bits - 1)
                    found[at + j] = (u32)(base + 8 * k + __builtin_ctzll(bits | top));
            }
            at += several;
        }
    }
    return at;
}

/* Append a stretch of bytes to a column's text, eight at a time: what is too much, the next value overwrites. A text
 * never has more bytes than were read, so there is room. */
static inline void copy(i64 size, const u8 *restrict data, i64 begin, i64 end, u8 *restrict text, i64 *restrict place) {
    i64 at = *place;
    *place = at + end - begin;
    for (; begin < end && begin + 8 <= size; begin += 8, at += 8) memcpy(text + at, data + begin, 8);
    for (; begin < end; begin++, at++) text[at] = data[begin];
}

/* Note where the values of a record end; of one with a surplus, each is a byte that is no text. */
static inline void record(i64 row, bool surplus, i64 slots, i64 width, u8 *restrict text, i64 most_ends,
                          i64 *restrict ends, i64 *restrict place) {
    for (i64 s = 0; s < slots; s++) {
        if (surplus) {
            place[s] = ends[s * most_ends + row];
            text[s * width + place[s]++] = 0xff;
        }
        ends[s * most_ends + row + 1] = place[s];
    }
}

/* Returns whether every column's text is there. `state` receives how many records were copied, where the next one
 * begins, and inside that record, how far the bytes are understood and where the byte there stands. */
KERNEL(i64, records_split, i64 size, const u8 *restrict data, i64 marks, const u32 *restrict marked, i64 last,
       i64 delimiter, i64 quote, i64 escape, i64 mode, i64 skip, i64 most, i64 columns, const i64 *restrict slot,
       i64 slots, i64 width, u8 *restrict text, i64 most_ends, i64 *restrict ends, i64 *restrict place,
       i64 *restrict state) {
    i64 k = 0, i = 0, rows = 0;
    i64 begin = 0; /* of what is not copied yet */
    i64 after = 0; /* where the last whole record ended */
    i64 column = 0, into = slot[0];
    bool blank = !skip, surplus = false;
    for (i64 c = 0; c < columns; c++) {
        if (slot[c] >= slots) return false;
    }
    for (i64 s = 0; s < slots; s++) place[s] = ends[s * most_ends] = 0;
    while (i < size) {
        if (mode == START) {
            mode = PLAIN;
            if (i == after && i + 2 < size && data[i] == 0xef && data[i + 1] == 0xbb && data[i + 2] == 0xbf) {
                i += 3; /* a byte order mark */
                begin = i;
            }
            while (into < 0 && column < columns - 1 && k + 3 < marks) { /* over simple fields that are not wanted */
                i64 at = marked[k], over = 1;
                if (at < i) {
                    k++;
                    continue;
                }
                if (at == i && data[at] == quote && data[marked[k + 1]] == quote) {
                    at = marked[k + 2];
                    over = 3;
                }
                if (data[at] != delimiter) break;
                k += over;
                into = slot[++column];
                blank = false;
                begin = i = at + 1;
            }
            if (i < size && data[i] == quote) {
                mode = QUOTED;
                blank = false;
                begin = ++i;
                continue;
            }
        }
        i64 stop = size;
        for (; k < marks; k++) { /* to the next mark that means something here */
            i64 at = marked[k];
            if (at >= i && (data[at] == escape || (data[at] == quote) == (mode == QUOTED))) {
                stop = at;
                break;
            }
        }
        i = stop;
        if (begin < i) {
            blank = false;
            surplus = surplus || column >= columns;
            if (into >= 0) copy(size, data, begin, i, text + into * width, place + into);
            begin = i;
        }
        if (i == size) break;
        i64 byte = data[i];
        k++; /* every mark is met once */
        bool ends_here = i + 1 == size;
        if (ends_here && !last && byte != delimiter && byte != '\n') break; /* the next byte decides what it means */
        if (byte == escape || (mode == QUOTED && !ends_here && data[i + 1] == quote)) {
            begin = i + 1; /* the next byte stands for itself */
            i += 2;
        } else if (mode == QUOTED) {
            mode = PLAIN;
            begin = ++i;
        } else if (byte == delimiter) {
            column++;
            into = column < columns ? slot[column] : -1;
            mode = START;
            blank = false;
            begin = ++i;
        } else {
            if (skip || blank || i - after > most) {
                for (i64 s = 0; s < slots; s++) place[s] = ends[s * most_ends + rows];
            } else {
                record(rows++, surplus, slots, width, text, most_ends, ends, place);
            }
            i++;
            if (byte == '\r' && i < size && data[i] == '\n') i++;
            after = begin = i;
            column = 0;
            into = slot[0];
            blank = true;
            surplus = false;
            skip = false;
            mode = START;
        }
    }
    if (last) {
        if (begin < size) { /* a byte that an escape has made ordinary */
            blank = false;
            surplus = surplus || column >= columns;
            if (into >= 0) copy(size, data, begin, size, text + into * width, place + into);
        }
        if (!blank && !skip && size - after <= most) {
            record(rows++, surplus, slots, width, text, most_ends, ends, place);
        }
    }
    state[0] = rows;
    state[1] = after;
    state[2] = imin(i, size);
    state[3] = mode;
    return true;
}
