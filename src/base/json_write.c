/* json_write.c -- write JSON to a sink through a buffer; one bit per depth: does the next value need a comma?
 *
 * Depths that are equal modulo 64 share a bit.  That is right at any depth: the end of a container sets the bit of the
 * enclosing one. */
#include "base/json_write.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/text.h"

void maki_jw_init(maki_jw *w, maki_sink sink, maki_err *err)
{
    memset(w, 0, offsetof(maki_jw, small));
    w->sink = sink;
    w->err = err;
    w->buffer = w->small;
    w->capacity = sizeof w->small;
}

void maki_jw_set_buffer(maki_jw *w, char *buffer, size_t capacity)
{
    w->buffer = buffer;
    w->capacity = capacity;
    w->full_only = true;
}

static void emit(maki_jw *w, maki_str bytes)
{
    if (w->status == MAKI_OK && bytes.len) w->status = w->sink.write(w->sink.ctx, bytes, w->err);
}

static void flush(maki_jw *w)
{
    emit(w, (maki_str){ w->buffer, w->fill });
    w->fill = 0;
}

/* Write bytes that do not fit into the buffer. */
static void overflow(maki_jw *w, maki_str bytes)
{
    size_t free_bytes = w->capacity - w->fill;
    if (w->full_only) {
        memcpy(w->buffer + w->fill, bytes.ptr, free_bytes);
        w->fill += free_bytes;
        bytes = maki_str_skip(bytes, free_bytes);
    }
    flush(w);
    if (bytes.len > w->capacity) {
        size_t direct = w->full_only ? bytes.len / w->capacity * w->capacity : bytes.len;
        emit(w, maki_str_prefix(bytes, direct));
        bytes = maki_str_skip(bytes, direct);
    }
    memcpy(w->buffer, bytes.ptr, bytes.len);
    w->fill = bytes.len;
}

void maki_jw_bytes(maki_jw *w, maki_str bytes)
{
    w->written += bytes.len;
    if (bytes.len > w->capacity - w->fill) {
        overflow(w, bytes);
        return;
    }
    if (bytes.len) memcpy(w->buffer + w->fill, bytes.ptr, bytes.len);
    w->fill += bytes.len;
}

static inline void write_byte(maki_jw *w, char c)
{
    if (w->fill == w->capacity) flush(w);
    w->buffer[w->fill++] = c;
    w->written++;
}

void maki_jw_begin_value(maki_jw *w)
{
    uint64_t bit = (uint64_t)1 << (w->depth % 64);
    if (!w->after_key && (w->has_items & bit)) write_byte(w, ',');
    w->has_items |= bit;
    w->after_key = false;
}

static void open_container(maki_jw *w, char c)
{
    maki_jw_begin_value(w);
    write_byte(w, c);
    w->depth++;
    w->has_items &= ~((uint64_t)1 << (w->depth % 64));
}

static void close_container(maki_jw *w, char c)
{
    assert(w->depth > 0);
    w->depth--;
    w->has_items |= (uint64_t)1 << (w->depth % 64); /* the container that ends here is an item */
    write_byte(w, c);
}

void maki_jw_begin_object(maki_jw *w)
{
    open_container(w, '{');
}

void maki_jw_end_object(maki_jw *w)
{
    close_container(w, '}');
}

void maki_jw_begin_array(maki_jw *w)
{
    open_container(w, '[');
}

void maki_jw_end_array(maki_jw *w)
{
    close_container(w, ']');
}

/* The next U+0085 (lead C2) or U+2028, U+2029 (lead E2) from `at` on, else text.len.  JSON allows them, but many
 * programs that read lines treat them as line ends. */
static size_t next_line_end(maki_str text, size_t at, unsigned char lead)
{
    const unsigned char *p = (const unsigned char *)text.ptr;
    const unsigned char *found = NULL;
    while (at < text.len && (found = memchr(p + at, lead, text.len - at)) != NULL) {
        at = (size_t)(found - p);
        size_t remaining = text.len - at;
        if (lead == 0xC2 && remaining >= 2 && p[at + 1] == 0x85) return at;
        if (lead == 0xE2 && remaining >= 3 && p[at + 1] == 0x80 && (p[at + 2] & 0xFE) == 0xA8)
            return at;
        at++;
    }
    return text.len;
}

/* Write the escape of a quote, a backslash or a byte below 0x20. */
static inline void write_escape(maki_jw *w, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    static const char letters[] = "btn?fr"; /* for 0x08 to 0x0D; 0x0B has none */
    if (c == '"' || c == '\\') {
        write_byte(w, '\\');
        write_byte(w, (char)c);
    } else if (c >= 0x08 && c <= 0x0D && c != 0x0B) {
        write_byte(w, '\\');
        write_byte(w, letters[c - 0x08]);
    } else {
        char escape[] = { '\\', 'u', '0', '0', digits[c >> 4 & 15], digits[c & 15] };
        maki_jw_bytes(w, (maki_str){ escape, sizeof escape });
    }
}

/* A short name of lower-case letters, as most keys are: nothing in it needs an escape. */
static bool is_plain_key(maki_str text)
{
    if (text.len > 16) return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!maki_is_lower(c) && c != '_') return false;
    }
    return true;
}

void maki_jw_escape(maki_jw *w, maki_str text)
{
    const maki_text_kernels *kernels = maki_text_kernels_best();
    if (is_plain_key(text)) {
        maki_jw_bytes(w, text);
        return;
    }
    size_t next_c2 = next_line_end(text, 0, 0xC2), next_e2 = next_line_end(text, 0, 0xE2);
    size_t at = 0;
    while (at < text.len) {
        size_t stop = next_c2 < next_e2 ? next_c2 : next_e2;
        size_t plain = kernels->find_special(text.ptr + at, stop - at);
        maki_jw_bytes(w, (maki_str){ text.ptr + at, plain });
        at += plain;
        if (at == text.len) return;
        if (at == next_c2) {
            maki_jw_bytes(w, MAKI_LIT("\\u0085"));
            at += 2;
            next_c2 = next_line_end(text, at, 0xC2);
        } else if (at == next_e2) {
            bool is_line_separator = text.ptr[at + 2] == '\xA8';
            maki_jw_bytes(w, is_line_separator ? MAKI_LIT("\\u2028") : MAKI_LIT("\\u2029"));
            at += 3;
            next_e2 = next_line_end(text, at, 0xE2);
        } else {
            write_escape(w, (unsigned char)text.ptr[at++]);
        }
    }
}

static void write_quoted(maki_jw *w, maki_str text)
{
    write_byte(w, '"');
    maki_jw_escape(w, text);
    write_byte(w, '"');
}

void maki_jw_key(maki_jw *w, maki_str key)
{
    maki_jw_begin_value(w);
    write_quoted(w, key);
    write_byte(w, ':');
    w->after_key = true;
}

void maki_jw_raw_key(maki_jw *w, maki_str escaped)
{
    maki_jw_begin_value(w);
    write_byte(w, '"');
    maki_jw_bytes(w, escaped);
    maki_jw_bytes(w, MAKI_LIT("\":"));
    w->after_key = true;
}

void maki_jw_string(maki_jw *w, maki_str text)
{
    maki_jw_begin_value(w);
    write_quoted(w, text);
}

void maki_jw_string_lossy(maki_jw *w, maki_str text)
{
    bool invalid = true;
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\""));
    while (invalid) {
        maki_jw_escape(w, maki_utf8_next_valid(&text, &invalid));
        if (invalid) maki_jw_bytes(w, MAKI_LIT("\xEF\xBF\xBD"));
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
    /* The shortest number of digits that reads back the same: 15 or more, except for subnormal numbers. */
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

static maki_status sink_write(void *ctx, maki_str bytes, maki_err *err)
{
    maki_jw *w = ctx;
    (void)err; /* the writer has its own */
    maki_jw_bytes(w, bytes);
    return w->status;
}

maki_sink maki_jw_sink(maki_jw *w)
{
    return (maki_sink){ sink_write, w };
}

maki_status maki_jw_end(maki_jw *w)
{
    flush(w);
    return w->status;
}
