/* compact.c -- canonical JSON, written to a sink in one pass.
 *
 * In:     a value that passed maki_json_check.
 * Out:    its canonical form.  Bytes that are canonical already are written in runs, so compact JSON is written in one call.
 * Always: the time is linear: objects are only sorted while that reads at most SORT_BYTES; after that keys keep their
 *         input order. */
#include "token/compact.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "base/text.h"

enum {
    DEPTH = 512,          /* as maki_json_check allows */
    SORT_BYTES = 1 << 26, /* maximum of the bytes read to sort keys */
};

typedef struct writer {
    maki_sink sink;
    maki_err *err;
    maki_status status;
    const char *run_start; /* of the pending run */
    size_t sort_budget;    /* remaining bytes of SORT_BYTES */
} writer;

/* ---- escapes --------------------------------------------------------------------------------------- */

/* A character of a string as JSON.stringify prints it.  Returns the length. */
static size_t escape_char(uint32_t code, char out[8])
{
    static const char letters[] = "btn?fr"; /* 0x08 to 0x0D; 0x0B has none */
    bool lone_surrogate = code >= 0xD800 && code <= 0xDFFF;
    out[0] = '\\';
    if (code == '"' || code == '\\') return (out[1] = (char)code, 2);
    if (code >= 0x08 && code <= 0x0D && code != 0x0B) return (out[1] = letters[code - 0x08], 2);
    if (code < 0x20 || lone_surrogate) return (size_t)snprintf(out, 8, "\\u%04x", (unsigned)code);
    return maki_utf8_encode(code, out);
}

/* ---- numbers ---------------------------------------------------------------------------------------- */

/* Is the number canonical already: an integer of at most 15 digits, and not -0? */
static bool is_canonical_number(maki_str number)
{
    size_t digits = number.len - (number.ptr[0] == '-');
    if (digits > 15 || (number.ptr[0] == '-' && number.ptr[1] == '0')) return false;
    return maki_str_only(maki_str_skip(number, number.len - digits), "0123456789");
}

/* The fewest digits that read back as `value` (positive), without trailing zeros, and the exponent:
 * 0.d1d2d3 times ten to the power of *point. */
static size_t shortest_digits(double value, char digits[24], int *point)
{
    char text[40];
    size_t n = 0;
    for (int precision = value < DBL_MIN ? 0 : 14; precision <= 16; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, value);
        if (strtod(text, NULL) == value) break; /* written and read in the same locale */
    }
    const char *p = text;
    for (; *p && *p != 'e'; p++) {
        if (*p >= '0' && *p <= '9' && n < 20) digits[n++] = *p; /* not the point of the locale */
    }
    *point = *p ? (int)strtol(p + 1, NULL, 10) + 1 : 1;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    return n;
}

static size_t print_number(double value, char *out)
{
    char digits[24];
    int point = 0;
    size_t n = shortest_digits(value, digits, &point), len = 0;
    int count = (int)n;
    if (point >= count && point <= 21) { /* 12300 */
        memcpy(out, digits, n);
        memset(out + n, '0', (size_t)(point - count));
        return (size_t)point;
    }
    if (point > 0 && point <= 21) { /* 12.3 */
        memcpy(out, digits, (size_t)point);
        out[point] = '.';
        memcpy(out + point + 1, digits + point, n - (size_t)point);
        return n + 1;
    }
    if (point > -6 && point <= 0) { /* 0.00123 */
        size_t zeros = (size_t)-point;
        memcpy(out, "0.", 2);
        memset(out + 2, '0', zeros);
        memcpy(out + 2 + zeros, digits, n);
        return 2 + zeros + n;
    }
    out[len++] = digits[0];
    if (n > 1) {
        out[len++] = '.';
        memcpy(out + len, digits + 1, n - 1);
        len += n - 1;
    }
    return len + (size_t)snprintf(out + len, 8, "e%c%d", point > 0 ? '+' : '-', abs(point - 1));
}

size_t maki_json_number_text(maki_str number, char out[32])
{
    double value = maki_json_double(number);
    if (!isfinite(value)) return (memcpy(out, "null", 4), 4);
    if (value == 0) return (out[0] = '0', 1);
    if (value > 0) return print_number(value, out);
    out[0] = '-';
    return 1 + print_number(-value, out + 1);
}

/* ---- runs -------------------------------------------------------------------------------------------- */

static void emit(writer *w, maki_str bytes)
{
    if (w->status == MAKI_OK && bytes.len) {
        w->status = w->sink.write(w->sink.ctx, bytes, w->err);
    }
}

/* Emit the pending run, then `text` in place of the bytes [at, next).  Bytes that equal `text` stay in the run. */
static void replace(writer *w, const char *at, const char *next, maki_str text)
{
    if (maki_str_equal((maki_str){ at, (size_t)(next - at) }, text)) return;
    emit(w, (maki_str){ w->run_start, (size_t)(at - w->run_start) });
    emit(w, text);
    w->run_start = next;
}

/* Emit the string that begins at `at`; returns where it ends. */
static const char *compact_string(writer *w, const char *at, const char *end)
{
    size_t len = maki_text_kernels_best()->skip_string(at + 1, (size_t)(end - at) - 1);
    const char *quote = at + 1 + len;
    for (at++; at < quote && (at = memchr(at, '\\', (size_t)(quote - at))) != NULL;) {
        char text[8];
        size_t escape_len = 0;
        uint32_t code = maki_json_escape_code((maki_str){ at, (size_t)(quote - at) }, &escape_len);
        size_t n = escape_char(code, text);
        replace(w, at, at + escape_len, (maki_str){ text, n });
        at += escape_len;
    }
    return quote + 1;
}

static const char *compact_number(writer *w, const char *at, const char *end)
{
    char text[32];
    const char *p = at;
    while (p < end && *p != ',' && *p != '}' && *p != ']' && (unsigned char)*p > ' ')
        p++;
    maki_str number = { at, (size_t)(p - at) };
    if (!is_canonical_number(number)) {
        size_t n = maki_json_number_text(number, text);
        replace(w, at, p, (maki_str){ text, n });
    }
    return p;
}

/* Emit a value with its keys in input order. */
static void compact_unsorted(writer *w, maki_str value)
{
    const char *p = value.ptr, *end = value.ptr + value.len;
    w->run_start = p;
    while (p < end && w->status == MAKI_OK) {
        if (*p == '"') {
            p = compact_string(w, p, end);
        } else if (*p == '-' || (*p >= '0' && *p <= '9')) {
            p = compact_number(w, p, end);
        } else if (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r') {
            replace(w, p, p + 1, (maki_str){ "", 0 });
            p++;
        } else {
            p++;
        }
    }
    emit(w, (maki_str){ w->run_start, (size_t)(end - w->run_start) });
}

/* ---- key order ------------------------------------------------------------------------------------ */

/* Is it an array index: 0 to 2^32 - 2 without leading zeros? */
static bool is_index(maki_str key, uint64_t *index)
{
    if (key.len > 10 || (key.len > 1 && key.ptr[0] == '0')) return false;
    return maki_str_number(key, index) && *index < 0xFFFFFFFFu;
}

/* Is an array index in any object preceded by a key that must follow it? */
static bool needs_sorting(maki_str value)
{
    uint64_t smallest[DEPTH + 1] = {
        0
    }; /* the smallest index that may come next in each open object */
    bool in_object[DEPTH + 1] = { 0 }, expects_key = false;
    size_t depth = 0;
    const char *p = value.ptr, *end = value.ptr + value.len;
    for (; p < end; p++) {
        if (*p == '{' || *p == '[') {
            if (depth == DEPTH) return false;
            in_object[++depth] = expects_key = *p == '{';
            smallest[depth] = 0;
        } else if (*p == '}' || *p == ']') {
            depth -= depth > 0;
        } else if (*p == ',') {
            expects_key = in_object[depth];
        } else if (*p == '"') {
            size_t len = maki_text_kernels_best()->skip_string(p + 1, (size_t)(end - p) - 1);
            uint64_t index = 0;
            if (expects_key && !is_index((maki_str){ p + 1, len }, &index)) {
                smallest[depth] = UINT64_MAX;
            } else if (expects_key) {
                if (index < smallest[depth]) return true;
                smallest[depth] = index;
            }
            expects_key = false;
            p += len + 1;
        }
    }
    return false;
}

static void compact_sorted(writer *w, maki_str value);

static void compact_field(writer *w, const maki_json_item *item, bool *first)
{
    if (!*first) emit(w, MAKI_LIT(","));
    *first = false;
    compact_unsorted(w, (maki_str){ item->key.ptr - 1, item->key.len + 2 });
    emit(w, MAKI_LIT(":"));
    compact_sorted(w, item->value);
}

/* The indexes of an object in ascending order: a pass for each, so there must be few of them. */
static void compact_indexes(writer *w, maki_str object, bool *first)
{
    uint64_t index = 0, next = 0;
    for (bool found = true; found && w->status == MAKI_OK; next++) {
        maki_json_iter iter = maki_json_items(object);
        maki_json_item item, smallest = { 0 };
        uint64_t smallest_index = UINT64_MAX;
        while (maki_json_next(&iter, &item)) {
            if (!is_index(item.key, &index) || index < next || index > smallest_index) continue;
            smallest = item;
            smallest_index = index;
        }
        found = smallest_index != UINT64_MAX;
        if (found) compact_field(w, &smallest, first);
        next = smallest_index;
    }
}

/* Is the remaining budget enough to sort this object?  What that reads is subtracted. */
static bool reserve_sort_budget(writer *w, maki_str object)
{
    maki_json_iter iter = maki_json_items(object);
    maki_json_item item;
    size_t passes = 1;
    uint64_t index;
    if (object.len > w->sort_budget) return false;
    w->sort_budget -= object.len;
    while (maki_json_next(&iter, &item))
        passes += is_index(item.key, &index);
    if (passes > w->sort_budget / object.len) return false;
    w->sort_budget -= passes * object.len;
    return true;
}

static void compact_object(writer *w, maki_str object)
{
    maki_json_iter iter = maki_json_items(object);
    maki_json_item item;
    bool first = true;
    uint64_t index;
    emit(w, MAKI_LIT("{"));
    compact_indexes(w, object, &first);
    while (w->status == MAKI_OK && maki_json_next(&iter, &item)) {
        if (!is_index(item.key, &index)) compact_field(w, &item, &first);
    }
    emit(w, MAKI_LIT("}"));
}

static void compact_sorted(writer *w, maki_str value)
{
    maki_json_iter iter = maki_json_items(value);
    maki_json_item item;
    bool first = true;
    if (maki_json_kind_of(value) == MAKI_JSON_OBJECT && reserve_sort_budget(w, value)) {
        compact_object(w, value);
    } else if (maki_json_kind_of(value) == MAKI_JSON_ARRAY && w->sort_budget > value.len) {
        w->sort_budget -= value.len;
        emit(w, MAKI_LIT("["));
        while (w->status == MAKI_OK && maki_json_next(&iter, &item)) {
            if (!first) emit(w, MAKI_LIT(","));
            first = false;
            compact_sorted(w, item.value);
        }
        emit(w, MAKI_LIT("]"));
    } else {
        compact_unsorted(w, value);
    }
}

maki_status maki_json_compact(maki_str value, maki_sink sink, maki_err *err)
{
    writer w = { .sink = sink, .err = err, .sort_budget = SORT_BYTES };
    if (needs_sorting(value))
        compact_sorted(&w, value);
    else
        compact_unsorted(&w, value);
    return w.status;
}
