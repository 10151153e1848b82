/* json_write.c -- see json_write.h. */
#include "base/json_write.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void maki_jw_init(maki_jw *w, maki_sink sink, maki_err *err)
{
    memset(w, 0, offsetof(maki_jw, waiting));
    w->sink = sink;
    w->err = err;
    w->size = sizeof w->waiting;
}

void maki_jw_set_buffer(maki_jw *w, char *capacity, size_t size)
{
    w->capacity = capacity;
    w->size = size;
}

static void hand_on(maki_jw *w, maki_str bytes)
{
    if (w->status == MAKI_OK && bytes.len) w->status = w->sink.write(w->sink.ctx, bytes, w->err);
}

static inline char *capacity_of(maki_jw *w)
{
    return w->capacity ? w->capacity : w->waiting;
}

static void flush(maki_jw *w)
{
    hand_on(w, (maki_str){ capacity_of(w), w->fill });
    w->fill = 0;
}

/* There is no room for them. */
static void overflow(maki_jw *w, maki_str bytes)
{
    size_t left = w->size - w->fill;
    if (w->capacity) { /* fill it up */
        memcpy(w->capacity + w->fill, bytes.ptr, left);
        w->fill += left;
        bytes = (maki_str){ bytes.ptr + left, bytes.len - left };
    }
    flush(w);
    if (bytes.len > w->size) {
        size_t whole = w->capacity ? bytes.len / w->size * w->size : bytes.len;
        hand_on(w, (maki_str){ bytes.ptr, whole });
        bytes = (maki_str){ bytes.ptr + whole, bytes.len - whole };
    }
    memcpy(capacity_of(w), bytes.ptr, bytes.len);
    w->fill = bytes.len;
}

void maki_jw_bytes(maki_jw *w, maki_str bytes)
{
    w->written += bytes.len;
    if (bytes.len > w->size - w->fill) {
        overflow(w, bytes);
        return;
    }
    if (bytes.len) memcpy(capacity_of(w) + w->fill, bytes.ptr, bytes.len);
    w->fill += bytes.len;
}

static inline void byte(maki_jw *w, char c)
{
    if (w->fill == w->size) flush(w);
    capacity_of(w)[w->fill++] = c;
    w->written++;
}

void maki_jw_begin_value(maki_jw *w)
{
    uint64_t bit = (uint64_t)1 << (w->depth % 64);
    if (!w->after_key && (w->has_items & bit)) byte(w, ',');
    w->has_items |= bit;
    w->after_key = false;
}

static void open_container(maki_jw *w, char c)
{
    maki_jw_begin_value(w);
    byte(w, c);
    w->depth++;
    w->has_items &= ~((uint64_t)1 << (w->depth % 64));
}

static void close_container(maki_jw *w, char c)
{
    assert(w->depth > 0);
    w->depth--;
    w->has_items |= (uint64_t)1 << (w->depth % 64); /* at least the one that ends here */
    byte(w, c);
}

void maki_jw_object(maki_jw *w)
{
    open_container(w, '{');
}

void maki_jw_end_object(maki_jw *w)
{
    close_container(w, '}');
}

void maki_jw_array(maki_jw *w)
{
    open_container(w, '[');
}

void maki_jw_end_array(maki_jw *w)
{
    close_container(w, ']');
}

/* From `at` on, where U+0085 (lead C2) or U+2028 and U+2029 (lead E2) begin, else text.len.  JSON
 * allows them, but to many readers of lines they end a line. */
static size_t next_line_end(maki_str text, size_t at, unsigned char lead)
{
    const unsigned char *p = (const unsigned char *)text.ptr;
    const unsigned char *found = NULL;
    while (at < text.len && (found = memchr(p + at, lead, text.len - at)) != NULL) {
        at = (size_t)(found - p);
        size_t left = text.len - at;
        if (lead == 0xC2 && left >= 2 && p[at + 1] == 0x85) return at;
        if (lead == 0xE2 && left >= 3 && p[at + 1] == 0x80 && (p[at + 2] & 0xFE) == 0xA8) return at;
        at++;
    }
    return text.len;
}

/* The escape of a quote, a backslash or a byte below 0x20. */
static inline void escaped_byte(maki_jw *w, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    static const char letters[] = "btn?fr"; /* for 0x08 to 0x0D; 0x0B has none */
    if (c == '"' || c == '\\') {
        byte(w, '\\');
        byte(w, (char)c);
    } else if (c >= 0x08 && c <= 0x0D && c != 0x0B) {
        byte(w, '\\');
        byte(w, letters[c - 0x08]);
    } else {
        char escape[] = { '\\', 'u', '0', '0', digits[c >> 4 & 15], digits[c & 15] };
        maki_jw_bytes(w, (maki_str){ escape, sizeof escape });
    }
}

/* A short name, as most keys are: nothing in it needs an escape. */
static bool is_word(maki_str text)
{
    if (text.len > 16) return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!((c >= 'a' && c <= 'z') || c == '_')) return false;
    }
    return true;
}

void maki_jw_escaped(maki_jw *w, maki_str text)
{
    const maki_text_kernels *kernels = maki_text_kernels_best();
    if (is_word(text)) {
        maki_jw_bytes(w, text);
        return;
    }
    size_t two = next_line_end(text, 0, 0xC2), three = next_line_end(text, 0, 0xE2);
    size_t at = 0;
    while (at < text.len) {
        size_t stop = two < three ? two : three;
        size_t plain = kernels->find_special(text.ptr + at, stop - at);
        maki_jw_bytes(w, (maki_str){ text.ptr + at, plain });
        at += plain;
        if (at == text.len) return;
        if (at == two) {
            maki_jw_bytes(w, MAKI_LIT("\\u0085"));
            at += 2;
            two = next_line_end(text, at, 0xC2);
        } else if (at == three) {
            bool line = text.ptr[at + 2] == '\xA8';
            maki_jw_bytes(w, line ? MAKI_LIT("\\u2028") : MAKI_LIT("\\u2029"));
            at += 3;
            three = next_line_end(text, at, 0xE2);
        } else {
            escaped_byte(w, (unsigned char)text.ptr[at++]);
        }
    }
}

static void quoted(maki_jw *w, maki_str text)
{
    byte(w, '"');
    maki_jw_escaped(w, text);
    byte(w, '"');
}

void maki_jw_key(maki_jw *w, maki_str key)
{
    maki_jw_begin_value(w);
    quoted(w, key);
    byte(w, ':');
    w->after_key = true;
}

void maki_jw_raw_key(maki_jw *w, maki_str escaped)
{
    maki_jw_begin_value(w);
    byte(w, '"');
    maki_jw_bytes(w, escaped);
    maki_jw_bytes(w, MAKI_LIT("\":"));
    w->after_key = true;
}

void maki_jw_string(maki_jw *w, maki_str text)
{
    maki_jw_begin_value(w);
    quoted(w, text);
}

void maki_jw_string_lossy(maki_jw *w, maki_str text)
{
    bool bad = true;
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\""));
    while (bad) {
        maki_jw_escaped(w, maki_utf8_next_valid(&text, &bad));
        if (bad) maki_jw_bytes(w, MAKI_LIT("\xEF\xBF\xBD"));
    }
    maki_jw_bytes(w, MAKI_LIT("\""));
}

void maki_jw_raw(maki_jw *w, maki_str json)
{
    maki_jw_begin_value(w);
    maki_jw_bytes(w, json);
}

void maki_jw_int(maki_jw *w, int64_t value)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRId64, value);
    maki_jw_raw(w, (maki_str){ digits, (size_t)n });
}

void maki_jw_double(maki_jw *w, double value)
{
    char digits[40];
    if (!isfinite(value)) {
        maki_jw_null(w);
        return;
    }
    if (value == trunc(value) && fabs(value) < 9007199254740992.0) {
        maki_jw_int(w, (int64_t)value);
        return;
    }
    /* 15 digits are never too many, except where doubles get sparse. */
    for (int precision = fabs(value) < DBL_MIN ? 1 : 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value) break; /* written and read in the same locale */
    }
    for (char *c = digits; *c; c++) {
        if (*c != '-' && *c != '+' && *c != 'e' && (*c < '0' || *c > '9')) *c = '.';
    }
    maki_jw_raw(w, (maki_str){ digits, strlen(digits) });
}

void maki_jw_bool(maki_jw *w, bool value)
{
    maki_jw_raw(w, value ? MAKI_LIT("true") : MAKI_LIT("false"));
}

void maki_jw_null(maki_jw *w)
{
    maki_jw_raw(w, MAKI_LIT("null"));
}

static maki_status write_raw(void *ctx, maki_str bytes, maki_err *err)
{
    maki_jw *w = ctx;
    (void)err; /* told to the writer's own */
    maki_jw_bytes(w, bytes);
    return w->status;
}

maki_sink maki_jw_sink(maki_jw *w)
{
    return (maki_sink){ write_raw, w };
}

maki_status maki_jw_end(maki_jw *w)
{
    flush(w);
    return w->status;
}
