/* compact.c -- see compact.h.
 *
 * One walk over the bytes.  What is spelled the way JSON.stringify spells it is handed on in runs, so
 * JSON that is compact already goes through in one piece. */
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
    DEPTH = 512, /* as maki_json_check allows */
    SORT_WORK =
        1 << 26, /* bytes looked at for the order of keys; past that the text's own stands */
};

typedef struct out_run {
    maki_sink sink;
    maki_err *err;
    maki_status status;
    const char *from; /* read, not yet handed on: up to where we are */
    size_t work;      /* left of SORT_WORK */
} out_run;

/* ---- escapes --------------------------------------------------------------------------------------- */

/* A character inside a string that JSON.stringify prints.  Returns the length. */
static size_t spell(uint32_t code, char out[8])
{
    static const char letters[] = "btn?fr"; /* 0x08 to 0x0D; 0x0B has none */
    bool lone = code >= 0xD800 && code <= 0xDFFF;
    out[0] = '\\';
    if (code == '"' || code == '\\') return (out[1] = (char)code, 2);
    if (code >= 0x08 && code <= 0x0D && code != 0x0B) return (out[1] = letters[code - 0x08], 2);
    if (code < 0x20 || lone) return (size_t)snprintf(out, 8, "\\u%04x", (unsigned)code);
    return maki_utf8_encode(code, out);
}

/* ---- numbers ---------------------------------------------------------------------------------------- */

/* Whole, of at most 15 digits, not -0: printed as it stands. */
static bool is_plain_number(maki_str number)
{
    size_t digits = number.len - (number.ptr[0] == '-');
    if (digits > 15 || (number.ptr[0] == '-' && number.ptr[1] == '0')) return false;
    return maki_str_only(maki_str_from(number, number.len - digits), "0123456789");
}

/* The fewest digits that read back as `value` (positive), without zeros at their end, and the place of
 * the point: 0.d1d2d3 times ten to the power of *point. */
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

static size_t put_digits(double value, char *out)
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
    if (value > 0) return put_digits(value, out);
    out[0] = '-';
    return 1 + put_digits(-value, out + 1);
}

/* ---- runs -------------------------------------------------------------------------------------------- */

static void hand_on(out_run *run, maki_str bytes)
{
    if (run->status == MAKI_OK && bytes.len) {
        run->status = run->sink.write(run->sink.ctx, bytes, run->err);
    }
}

/* The source between `at` and `next` is printed as `text`; what waits before it goes first. */
static void replace(out_run *run, const char *at, const char *next, maki_str text)
{
    if (maki_str_is((maki_str){ at, (size_t)(next - at) }, text)) return;
    hand_on(run, (maki_str){ run->from, (size_t)(at - run->from) });
    hand_on(run, text);
    run->from = next;
}

/* The string that begins at `at`; returns where it ends. */
static const char *compact_string(out_run *run, const char *at, const char *end)
{
    size_t len = maki_text_kernels_best()->skip_string(at + 1, (size_t)(end - at) - 1);
    const char *quote = at + 1 + len;
    for (at++; at < quote && (at = memchr(at, '\\', (size_t)(quote - at))) != NULL;) {
        char text[8];
        size_t escape = 0;
        uint32_t code = maki_json_escape_code((maki_str){ at, (size_t)(quote - at) }, &escape);
        size_t n = spell(code, text);
        replace(run, at, at + escape, (maki_str){ text, n });
        at += escape;
    }
    return quote + 1;
}

static const char *compact_number(out_run *run, const char *at, const char *end)
{
    char text[32];
    const char *p = at;
    while (p < end && *p != ',' && *p != '}' && *p != ']' && (unsigned char)*p > ' ')
        p++;
    maki_str number = { at, (size_t)(p - at) };
    if (!is_plain_number(number)) {
        size_t n = maki_json_number_text(number, text);
        replace(run, at, p, (maki_str){ text, n });
    }
    return p;
}

/* Everything in the order of the text. */
static void compact_as_it_stands(out_run *run, maki_str value)
{
    const char *p = value.ptr, *end = value.ptr + value.len;
    run->from = p;
    while (p < end && run->status == MAKI_OK) {
        if (*p == '"') {
            p = compact_string(run, p, end);
        } else if (*p == '-' || (*p >= '0' && *p <= '9')) {
            p = compact_number(run, p, end);
        } else if (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r') {
            replace(run, p, p + 1, (maki_str){ "", 0 });
            p++;
        } else {
            p++;
        }
    }
    hand_on(run, (maki_str){ run->from, (size_t)(end - run->from) });
}

/* ---- the order of keys -------------------------------------------------------------------------------- */

/* Is it an array index: 0 to 2^32 - 2, spelled as JavaScript spells it? */
static bool is_index(maki_str key, uint64_t *index)
{
    *index = 0;
    if (key.len == 0 || key.len > 10 || (key.len > 1 && key.ptr[0] == '0')) return false;
    for (size_t i = 0; i < key.len; i++) {
        if (key.ptr[i] < '0' || key.ptr[i] > '9') return false;
        *index = *index * 10 + (uint64_t)(key.ptr[i] - '0');
    }
    return *index < 0xFFFFFFFFu;
}

/* Does an array index in any object stand after a key that must come after it? */
static bool out_of_order(maki_str value)
{
    uint64_t least[DEPTH + 1] = {
        0
    }; /* what the next index of each open object must not be below */
    bool object[DEPTH + 1] = { 0 }, key = false;
    size_t depth = 0;
    const char *p = value.ptr, *end = value.ptr + value.len;
    for (; p < end; p++) {
        if (*p == '{' || *p == '[') {
            if (depth == DEPTH) return false;
            object[++depth] = key = *p == '{';
            least[depth] = 0;
        } else if (*p == '}' || *p == ']') {
            depth -= depth > 0;
        } else if (*p == ',') {
            key = object[depth];
        } else if (*p == '"') {
            size_t len = maki_text_kernels_best()->skip_string(p + 1, (size_t)(end - p) - 1);
            uint64_t index = 0;
            if (key && !is_index((maki_str){ p + 1, len }, &index)) {
                least[depth] = UINT64_MAX;
            } else if (key) {
                if (index < least[depth]) return true;
                least[depth] = index;
            }
            key = false;
            p += len + 1;
        }
    }
    return false;
}

static void compact_sorted(out_run *run, maki_str value);

static void compact_field(out_run *run, const maki_json_item *item, bool *first)
{
    if (!*first) hand_on(run, MAKI_LIT(","));
    *first = false;
    compact_as_it_stands(run, (maki_str){ item->key.ptr - 1, item->key.len + 2 });
    hand_on(run, MAKI_LIT(":"));
    compact_sorted(run, item->value);
}

/* The indexes of an object, least first: a pass for each, so there must be few of them. */
static void compact_indexes(out_run *run, maki_str object, bool *first)
{
    uint64_t index = 0, next = 0;
    for (bool found = true; found && run->status == MAKI_OK; next++) {
        maki_json_iter iter = maki_json_items(object);
        maki_json_item item, least = { 0 };
        uint64_t least_index = UINT64_MAX;
        while (maki_json_next(&iter, &item)) {
            if (!is_index(item.key, &index) || index < next || index > least_index) continue;
            least = item;
            least_index = index;
        }
        found = least_index != UINT64_MAX;
        if (found) compact_field(run, &least, first);
        next = least_index;
    }
}

static size_t count_indexes(maki_str object)
{
    maki_json_iter iter = maki_json_items(object);
    maki_json_item item;
    size_t n = 0;
    uint64_t index;
    while (maki_json_next(&iter, &item))
        n += is_index(item.key, &index);
    return n;
}

/* May this object be sorted?  Counted against the work that is left. */
static bool may_sort(out_run *run, maki_str object)
{
    size_t passes = 0;
    if (object.len > run->work) return false;
    run->work -= object.len;
    passes = 1 + count_indexes(object);
    if (passes > run->work / object.len) return false;
    run->work -= passes * object.len;
    return true;
}

static void compact_object(out_run *run, maki_str object)
{
    maki_json_iter iter = maki_json_items(object);
    maki_json_item item;
    bool first = true;
    uint64_t index;
    hand_on(run, MAKI_LIT("{"));
    compact_indexes(run, object, &first);
    while (run->status == MAKI_OK && maki_json_next(&iter, &item)) {
        if (!is_index(item.key, &index)) compact_field(run, &item, &first);
    }
    hand_on(run, MAKI_LIT("}"));
}

static void compact_sorted(out_run *run, maki_str value)
{
    maki_json_iter iter = maki_json_items(value);
    maki_json_item item;
    bool first = true;
    if (maki_json_kind_of(value) == MAKI_JSON_OBJECT && may_sort(run, value)) {
        compact_object(run, value);
    } else if (maki_json_kind_of(value) == MAKI_JSON_ARRAY && run->work > value.len) {
        run->work -= value.len;
        hand_on(run, MAKI_LIT("["));
        while (run->status == MAKI_OK && maki_json_next(&iter, &item)) {
            if (!first) hand_on(run, MAKI_LIT(","));
            first = false;
            compact_sorted(run, item.value);
        }
        hand_on(run, MAKI_LIT("]"));
    } else {
        compact_as_it_stands(run, value);
    }
}

maki_status maki_json_compact(maki_str value, maki_sink sink, maki_err *err)
{
    out_run run = { .sink = sink, .err = err, .work = SORT_WORK };
    if (out_of_order(value))
        compact_sorted(&run, value);
    else
        compact_as_it_stands(&run, value);
    return run.status;
}
