/* json_reference.c -- see json_reference.h.
 *
 * A recursive descent that looks at one character at a time.  Every character is first asked whether
 * it is UTF-8, then whether it fits. */
#include "json_reference.h"

#include <string.h>

typedef struct reader {
    const uint8_t *text;
    size_t size;
    size_t at;
    bool sequence;
    unsigned depth, max_depth;
    bool deep; /* it failed because of the depth */
} reader;

/* The length of the UTF-8 character at r->at, 0 when there is none: by decoding it. */
static size_t char_len(const reader *r)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (r->at >= r->size) return 0;
    uint8_t lead = r->text[r->at];
    if (lead < 0x80) return 1;
    size_t len = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC0 || lead >= 0xF8 || r->size - r->at < len) return 0;
    uint32_t code = lead & (0x7Fu >> len);
    for (size_t i = 1; i < len; i++) {
        uint8_t next = r->text[r->at + i];
        if ((next & 0xC0) != 0x80) return 0;
        code = code << 6 | (next & 0x3F);
    }
    if (code < least[len] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return 0;
    return len;
}

static bool take(reader *r, char c)
{
    if (r->at >= r->size || r->text[r->at] != (uint8_t)c) return false;
    r->at++;
    return true;
}

static bool take_one_of(reader *r, const char *set)
{
    if (r->at >= r->size || r->text[r->at] == 0) return false;
    if (!strchr(set, r->text[r->at])) return false;
    r->at++;
    return true;
}

/* A row of a sequence may not contain a newline. */
static void spaces(reader *r)
{
    while (take_one_of(r, r->sequence ? " \t\r" : " \t\r\n"))
        continue;
}

static bool string(reader *r)
{
    if (!take(r, '"')) return false;
    for (;;) {
        size_t len = char_len(r);
        if (take(r, '"')) return true;
        if (len == 0 || r->text[r->at] < 0x20) return false;
        if (!take(r, '\\')) {
            r->at += len;
        } else if (take(r, 'u')) {
            for (int i = 0; i < 4; i++) {
                if (!take_one_of(r, "0123456789abcdefABCDEF")) return false;
            }
        } else if (!take_one_of(r, "\"\\/bfnrt")) {
            return false;
        }
    }
}

static bool digits(reader *r)
{
    if (!take_one_of(r, "0123456789")) return false;
    while (take_one_of(r, "0123456789"))
        continue;
    return true;
}

static bool number(reader *r)
{
    take(r, '-');
    if (!take(r, '0') && !digits(r)) return false;
    if (take(r, '.') && !digits(r)) return false;
    if (!take_one_of(r, "eE")) return true;
    take_one_of(r, "+-");
    return digits(r);
}

static bool word(reader *r, const char *letters)
{
    for (; *letters; letters++) {
        if (!take(r, *letters)) return false;
    }
    return true;
}

static bool value(reader *r);

static bool items(reader *r, bool object)
{
    char end = object ? '}' : ']';
    spaces(r);
    if (take(r, end)) return true;
    for (;;) {
        if (object) {
            if (!string(r)) return false;
            spaces(r);
            if (!take(r, ':')) return false;
            spaces(r);
        }
        if (!value(r)) return false;
        spaces(r);
        if (take(r, end)) return true;
        if (!take(r, ',')) return false;
        spaces(r);
    }
}

static bool value(reader *r)
{
    if (r->at >= r->size) return false;
    uint8_t c = r->text[r->at];
    if (c == '"') return string(r);
    if (c == 't') return word(r, "true");
    if (c == 'f') return word(r, "false");
    if (c == 'n') return word(r, "null");
    if (c != '{' && c != '[') return number(r);
    if (r->depth >= r->max_depth) {
        r->deep = true;
        return false;
    }
    r->depth++;
    r->at++;
    bool good = items(r, c == '{');
    r->depth--;
    return good;
}

static bool whole(reader *r)
{
    spaces(r);
    if (!r->sequence) {
        if (!value(r)) return false;
        spaces(r);
        return r->at == r->size;
    }
    while (r->at < r->size) {
        if (!take(r, '\n')) {
            if (!value(r)) return false;
            spaces(r);
            if (r->at < r->size && !take(r, '\n')) return false;
        }
        spaces(r);
    }
    return true;
}

json_reference json_reference_check(const uint8_t *text, size_t size, bool sequence,
                                    unsigned max_depth)
{
    reader r = { .text = text, .size = size, .sequence = sequence, .max_depth = max_depth };
    if (whole(&r)) return (json_reference){ .result = REFERENCE_OK };
    return (json_reference){ .result = r.deep ? REFERENCE_DEEP : REFERENCE_WRONG, .at = r.at };
}
