/* Lines of JSON, and the values of a few keys in each, in one pass. sources/reading.md says why that is stable.
 *
 * The bytes are whatever anybody wrote. Nothing is read at or behind the end of a line, `stop`, and a value is never
 * longer where it is copied to than where it stands. */
#include "kernels.h"

/* What a slot holds: nothing was found; null, an object or a list; a string; a number or word; an escaped string. */
enum { ABSENT, NOTHING, PLAIN, BARE, ESCAPED };

/* What may come next in a line: NEXT is what follows a value. */
enum { KEY, KEY_OR_END, VALUE, VALUE_OR_END, NEXT };

/* What a line is: white space alone, something else than a JSON object, or a JSON object. */
enum { BLANK, BROKEN, WHOLE };

/* What stands for a character after a backslash, by the byte there; 0 if nothing does. */
static const u8 LETTERS[256] = {
    ['"'] = '"', ['\\'] = '\\', ['/'] = '/', ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t',
};

/* Values that are words; Python writes the last three, too. */
static const char *const WORDS[] = {"null", "true", "false", "NaN", "Infinity", "-Infinity"};
enum { NULL_WORD, MANY_WORDS = sizeof WORDS / sizeof *WORDS };

/* The wanted keys, as the Python module describes them. */
typedef struct {
    const i64 *child, *sibling;
    const u8 *name;
    const i64 *name_at, *slot, *low, *high;
} Tree;

/* What was found in a line, by slot, and the objects and lists that are open. */
typedef struct {
    i64 slots, deepest;
    u8 *kind;
    i64 *begin, *end;
    u8 *kinds;
    i64 *nodes;
} Found;

/* What a hexadecimal digit is worth; -1 for other bytes. */
static inline i64 hex(u8 byte) {
    if (byte >= '0' && byte <= '9') return byte - '0';
    if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
    if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
    return -1;
}

/* Where white space ends. */
static inline i64 space(const u8 *data, i64 i, i64 stop) {
    while (i < stop && (data[i] == ' ' || data[i] == '\t' || data[i] == '\r')) i++;
    return i;
}

/* Where digits end. */
static inline i64 digits(const u8 *data, i64 i, i64 stop) {
    while (i < stop && data[i] >= '0' && data[i] <= '9') i++;
    return i;
}

/* Where a string's closing quote stands, or `stop` if this is no string; and whether it has escapes. */
static i64 string(const u8 *data, i64 i, i64 stop, bool *escaped) {
    *escaped = false;
    for (; i < stop; i++) {
        if (data[i] == '"') return i;
        if (data[i] < ' ') return stop;
        if (data[i] != '\\') continue;
        *escaped = true;
        if (++i == stop) return stop;
        if (data[i] == 'u') {
            if (stop - i <= 4) return stop;
            for (i64 j = 1; j <= 4; j++)
                if (hex(data[i + j]) < 0) return stop;
            i += 4;
        } else if (LETTERS[data[i]] == 0) return stop;
    }
    return stop;
}

/* Where a number or a word ends, which is where it begins if there is none; and whether it is null. */
static i64 bare(const u8 *data, i64 i, i64 stop, bool *null) {
    *null = false;
    for (int word = 0; word < MANY_WORDS; word++) {
        const i64 size = (i64)strlen(WORDS[word]);
        if (stop - i >= size && memcmp(data + i, WORDS[word], (size_t)size) == 0) {
            *null = word == NULL_WORD;
            return i + size;
        }
    }
    const i64 first = i;
    if (i < stop && data[i] == '-') i++;
    const i64 whole = i;
    i = digits(data, i, stop);
    if (i == whole || (data[whole] == '0' && i > whole + 1)) return first;
    if (i < stop && data[i] == '.') {
        const i64 after = i + 1;
        i = digits(data, after, stop);
        if (i == after) return first;
    }
    if (i < stop && (data[i] == 'e' || data[i] == 'E')) {
        i++;
        if (i < stop && (data[i] == '+' || data[i] == '-')) i++;
        const i64 after = i;
        i = digits(data, after, stop);
        if (i == after) return first;
    }
    return i;
}

static inline i64 code_of(const u8 *four) {
    return hex(four[0]) << 12 | hex(four[1]) << 8 | hex(four[2]) << 4 | hex(four[3]);
}

/* One character as UTF-8; how many bytes it has. */
static inline i64 as_utf8(i64 code, u8 *into) {
    if (code < 0x80) {
        into[0] = (u8)code;
        return 1;
    }
    const i64 more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    for (i64 j = more; j > 0; j--, code >>= 6) into[j] = (u8)(0x80 | (code & 0x3F));
    into[0] = (u8)((0xF0 << (3 - more) & 0xFF) | code);
    return more + 1;
}

/* Copy the byte, or the character of the escape, that begins at `*i` in a string that was checked, and move `*i` behind
 * it; how many bytes it became, 4 at most, and never more than it was.
 *
 * Half of a pair of surrogates becomes bytes that are not UTF-8. */
static inline i64 character(const u8 *data, i64 *i, i64 stop, u8 *into) {
    const u8 *at = data + *i;
    if (at[0] != '\\') {
        into[0] = at[0];
        *i += 1;
        return 1;
    }
    if (at[1] != 'u') {
        into[0] = LETTERS[at[1]];
        *i += 2;
        return 1;
    }
    i64 code = code_of(at + 2);
    *i += 6;
    if (code >= 0xD800 && code < 0xDC00 && stop - *i >= 6 && at[6] == '\\' && at[7] == 'u') {
        const i64 second = code_of(at + 8);
        if (second >= 0xDC00 && second < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
            *i += 6;
        }
    }
    return as_utf8(code, into);
}

/* Whether a string that was checked is this name. */
static bool same(const u8 *data, i64 i, i64 stop, bool escaped, const u8 *name, i64 size) {
    if (!escaped) return stop - i == size && memcmp(data + i, name, (size_t)size) == 0;
    i64 at = 0;
    while (i < stop) {
        u8 one[4];
        const i64 bytes = character(data, &i, stop, one);
        if (size - at < bytes || memcmp(one, name + at, (size_t)bytes) != 0) return false;
        at += bytes;
    }
    return at == size;
}

/* The child of a node whose key this is; -1 if there is none. */
static i64 child_of(const u8 *data, i64 first, i64 last, bool escaped, i64 node, const Tree *tree) {
    for (i64 child = tree->child[node]; child >= 0; child = tree->sibling[child]) {
        const i64 at = tree->name_at[child];
        if (same(data, first, last, escaped, tree->name + at, tree->name_at[child + 1] - at)) return child;
    }
    return -1;
}

/* Check one line against the grammar of JSON, and note where its wanted values are. */
static int line(const u8 *data, i64 i, i64 stop, const Tree *tree, const Found *found) {
    if (stop - i >= 3 && data[i] == 0xEF && data[i + 1] == 0xBB && data[i + 2] == 0xBF) i += 3; /* a byte order mark */
    i = space(data, i, stop);
    if (i == stop) return BLANK;
    if (data[i] != '{') return BROKEN;
    i64 depth = 0, node = -1;
    int expected = KEY_OR_END;
    bool escaped;
    found->kinds[0] = '{';
    found->nodes[0] = 0;
    i++;
    while (depth >= 0) {
        i = space(data, i, stop);
        if (i == stop) return BROKEN;
        const u8 byte = data[i], open = found->kinds[depth];
        if (expected == NEXT && byte == ',') {
            expected = open == '{' ? KEY : VALUE;
            node = -1;
            i++;
        } else if (expected != VALUE && expected != KEY && byte == (open == '{' ? '}' : ']')) {
            depth--;
            expected = NEXT;
            i++;
        } else if ((expected == KEY || expected == KEY_OR_END) && byte == '"') {
            const i64 first = i + 1, within = found->nodes[depth];
            i = string(data, first, stop, &escaped);
            if (i == stop) return BROKEN;
            node = within >= 0 ? child_of(data, first, i, escaped, within, tree) : -1;
            if (node >= 0) /* of keys that come twice, the last one counts */
                for (i64 s = tree->low[node]; s < tree->high[node]; s++) found->kind[s] = ABSENT;
            i = space(data, i + 1, stop);
            if (i == stop || data[i] != ':') return BROKEN;
            expected = VALUE;
            i++;
        } else if (expected == VALUE || expected == VALUE_OR_END) {
            const i64 wanted = node >= 0 ? tree->slot[node] : -1;
            i64 first = i, last = i;
            u8 kind = NOTHING;
            if (byte == '{' || byte == '[') {
                if (depth + 1 == found->deepest) return BROKEN;
                depth++;
                found->kinds[depth] = byte;
                found->nodes[depth] = byte == '{' ? node : -1;
                expected = byte == '{' ? KEY_OR_END : VALUE_OR_END;
                node = -1;
                i++;
            } else if (byte == '"') {
                first = i + 1;
                last = string(data, first, stop, &escaped);
                if (last == stop) return BROKEN;
                kind = escaped ? ESCAPED : PLAIN;
                expected = NEXT;
                i = last + 1;
            } else {
                bool null;
                i = last = bare(data, first, stop, &null);
                if (i == first) return BROKEN;
                kind = null ? NOTHING : BARE;
                expected = NEXT;
            }
            if (wanted >= 0) {
                found->kind[wanted] = kind;
                found->begin[wanted] = first;
                found->end[wanted] = last;
            }
        } else return BROKEN;
    }
    return space(data, i, stop) == stop ? WHOLE : BROKEN;
}

/* Copy a value; how many bytes it became. */
static i64 copied(const u8 *data, i64 i, i64 stop, int kind, i64 point, u8 *into) {
    i64 size = 0;
    if (kind == PLAIN) {
        size = stop - i;
        memcpy(into, data + i, (size_t)size);
    } else if (kind == BARE) {
        for (; i < stop; i++) into[size++] = data[i] == '.' ? (u8)point : data[i];
    } else {
        while (i < stop) size += character(data, &i, stop, into + size);
    }
    return size;
}

/* Copy the wanted values of every line; how many records there are, or -1 if there are more than `room`. */
KERNEL(i64, json_lines_pick, i64 size, const u8 *data, i64 most, i64 deepest, i64 point, const i64 *child,
       const i64 *sibling, const u8 *name, const i64 *name_at, const i64 *slot, const i64 *low, const i64 *high,
       i64 slots, u8 *kind, i64 *begin, i64 *end, u8 *kinds, i64 *nodes, i64 columns, const i64 *column, i64 room,
       u8 *text, i32 *ends, u8 *there) {
    const Tree tree = {child, sibling, name, name_at, slot, low, high};
    const Found found = {slots, deepest, kind, begin, end, kinds, nodes};
    i64 rows = 0;
    for (i64 c = 0; c < columns; c++) ends[c * (room + 1)] = 0;
    for (i64 first = 0, stop; first < size; first = stop + 1) {
        const u8 *feed = memchr(data + first, '\n', (size_t)(size - first));
        stop = feed ? feed - data : size;
        if (stop - first > most) continue;
        memset(kind, ABSENT, (size_t)slots);
        const int what = line(data, first, stop, &tree, &found);
        if (what == BLANK) continue;
        if (rows == room) return -1;
        for (i64 c = 0; c < columns; c++) {
            const i64 s = column[2 * c + (kind[column[2 * c]] == ABSENT)];
            i32 *after = ends + c * (room + 1) + rows;
            const bool present = what == WHOLE && kind[s] >= PLAIN;
            there[c * room + rows] = present;
            after[1] = after[0];
            if (present) after[1] += (i32)copied(data, begin[s], end[s], kind[s], point, text + c * size + after[0]);
        }
        rows++;
    }
    return rows;
}
