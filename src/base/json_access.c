/* json_access.c -- read JSON in place: values are spans of the text, found by skipping strings and containers; no tree
 * is built.
 *
 * Only maki_json_check validates.  All other functions need valid JSON: with other input they may read out of
 * bounds. */
#include "base/json_access.h"
#include "base/ascii.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_scan.h"
#include "base/str_util.h"
#include "base/text.h"

maki_status maki_json_check(maki_str text, maki_str *value, maki_err *err)
{
    maki_json_scan_options options = { 0 };
    maki_status st = maki_json_scan_text(text, &options, err);
    if (st != MAKI_OK) return st;
    while (maki_is_space(text.ptr[0]))
        text = maki_str_skip(text, 1);
    while (maki_is_space(text.ptr[text.len - 1]))
        text.len--;
    *value = text;
    return MAKI_OK;
}

maki_json_kind maki_json_kind_of(maki_str value)
{
    switch (value.len ? value.ptr[0] : 'n') {
    case '{': return MAKI_JSON_OBJECT;
    case '[': return MAKI_JSON_ARRAY;
    case '"': return MAKI_JSON_STRING;
    case 't':
    case 'f': return MAKI_JSON_BOOL;
    case 'n': return MAKI_JSON_NULL;
    default: return MAKI_JSON_NUMBER;
    }
}

const char *maki_json_kind_name(maki_json_kind kind)
{
    static const char *const names[] = { "null",     "true or false", "a number",
                                         "a string", "an array",      "an object" };
    return names[kind];
}

/* ---- iterating ----------------------------------------------------------------------------- */

/* One past the closing quote of the string that begins at p. */
static const char *skip_string(const char *p, const char *end)
{
    p++;
    return p + maki_text_kernels_best()->string_end(p, (size_t)(end - p)) + 1;
}

static const char *skip_container(const char *p, const char *end)
{
    return p + maki_text_kernels_best()->container_len(p, (size_t)(end - p));
}

static const char *skip_value(const char *p, const char *end)
{
    if (*p == '"') return skip_string(p, end);
    if (*p == '{' || *p == '[') return skip_container(p, end);
    while (p < end && *p != ',' && *p != '}' && *p != ']' && !maki_is_space(*p))
        p++;
    return p;
}

maki_json_iter maki_json_items(maki_str container)
{
    maki_json_kind kind = maki_json_kind_of(container);
    if (kind != MAKI_JSON_OBJECT && kind != MAKI_JSON_ARRAY) return (maki_json_iter){ 0 };
    return (maki_json_iter){ .at = container.ptr + 1,
                             .end = container.ptr + container.len - 1,
                             .object = kind == MAKI_JSON_OBJECT };
}

bool maki_json_next_known(maki_json_iter *iter, maki_json_item *item, maki_str known)
{
    const char *p = iter->at;
    while (p < iter->end && (maki_is_space(*p) || *p == ','))
        p++;
    iter->at = p;
    if (p >= iter->end || *p == '}')
        return false; /* '}': the end of an object, after maki_json_enter */
    *item = (maki_json_item){ .key = { "", 0 }, .start = p };
    if (iter->object) {
        const char *key_end = skip_string(p, iter->end);
        item->key = (maki_str){ p + 1, (size_t)(key_end - p) - 2 };
        p = key_end;
        while (maki_is_space(*p) || *p == ':')
            p++;
    }
    iter->at = p == known.ptr ? p + known.len : skip_value(p, iter->end);
    item->value = (maki_str){ p, (size_t)(iter->at - p) };
    return true;
}

bool maki_json_next(maki_json_iter *iter, maki_json_item *item)
{
    return maki_json_next_known(iter, item, (maki_str){ NULL, 0 });
}

bool maki_json_enter(maki_json_iter *iter, maki_json_iter *fields)
{
    while (iter->at < iter->end && (maki_is_space(*iter->at) || *iter->at == ','))
        iter->at++;
    if (iter->at >= iter->end || *iter->at != '{') return false;
    *fields = (maki_json_iter){ .at = iter->at + 1, .end = iter->end, .object = true };
    return true;
}

maki_str maki_json_leave(maki_json_iter *iter, const maki_json_iter *fields)
{
    const char *start = iter->at;
    iter->at = fields->at + 1;
    return (maki_str){ start, (size_t)(iter->at - start) };
}

size_t maki_json_count(maki_str container)
{
    size_t n = 0;
    MAKI_JSON_EACH(item, maki_json_items(container))
        n++;
    return n;
}

bool maki_json_key_is(maki_str key, maki_str name)
{
    if (key.len < name.len) return false; /* escapes only make it longer */
    if (key.len == name.len) return maki_str_equal(key, name) && !memchr(key.ptr, '\\', key.len);
    if (!memchr(key.ptr, '\\', key.len)) return false;
    return maki_json_text_is((maki_str){ key.ptr - 1, key.len + 2 }, name);
}

bool maki_json_get(maki_str object, maki_str name, maki_str *value)
{
    bool found = false;
    MAKI_JSON_EACH(item, maki_json_fields(object)) {
        if (!maki_json_key_is(item.key, name)) continue;
        *value = item.value;
        found = true;
    }
    return found;
}

/* ---- strings ------------------------------------------------------------------------------- */

bool maki_json_key_in(maki_str key, const char *names)
{
    maki_str name;
    while (maki_words_next(&names, &name)) {
        if (maki_json_key_is(key, name)) return true;
    }
    return false;
}

maki_str maki_json_field(maki_str object, const char *name)
{
    maki_str value = { "", 0 };
    (void)maki_json_get(object, maki_str_of(name), &value);
    return value;
}

maki_str maki_json_first_field(maki_str object, const char *names, maki_json_kind kind)
{
    maki_str name, value;
    while (maki_words_next(&names, &name)) {
        if (maki_json_get(object, name, &value) && maki_json_kind_of(value) == kind) return value;
    }
    return (maki_str){ "", 0 };
}

maki_str maki_json_string(maki_str object, const char *name)
{
    return maki_json_first_field(object, name, MAKI_JSON_STRING);
}

bool maki_json_string_field(maki_str object, const char *name, maki_str *string)
{
    *string = maki_json_string(object, name);
    return string->len > 0;
}

const char *maki_json_text_field(maki_str object, const char *name, char *out, size_t capacity)
{
    maki_str string = maki_json_string(object, name);
    out[string.len ? maki_json_copy_text(string, out, capacity - 1) : 0] = '\0';
    return out;
}

double maki_json_number(maki_str object, const char *name, double fallback)
{
    maki_str value = maki_json_first_field(object, name, MAKI_JSON_NUMBER);
    return value.len ? maki_json_double(value) : fallback;
}

double maki_json_number_field(maki_str object, const char *name)
{
    return maki_json_number(object, name, 0);
}

bool maki_json_true_field(maki_str object, const char *name)
{
    return maki_json_true(maki_json_field(object, name));
}

bool maki_json_field_in(maki_str object, const char *name, const char *texts)
{
    maki_str value = maki_json_string(object, name);
    return value.len && maki_json_text_in(value, texts);
}

bool maki_json_field_is(maki_str object, const char *name, const char *text)
{
    maki_str value = maki_json_string(object, name);
    return value.len && maki_json_text_is(value, maki_str_of(text));
}

bool maki_json_text_in(maki_str string, const char *texts)
{
    maki_str text;
    while (maki_words_next(&texts, &text)) {
        if (maki_json_text_is(string, text)) return true;
    }
    return false;
}

maki_str maki_json_strip_quotes(maki_str string)
{
    return (maki_str){ string.ptr + 1, string.len - 2 };
}

static uint32_t hex4(const char *p)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        value = value << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return value;
}

static inline bool is_high_surrogate(uint32_t unit)
{
    return unit >= 0xD800 && unit <= 0xDBFF;
}

static inline bool is_low_surrogate(uint32_t unit)
{
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

/* The character of an escape by the letter after its backslash; 0 for u. */
static const char escape_codes[128] = { ['b'] = '\b', ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r',
                                        ['t'] = '\t', ['"'] = '"',  ['\\'] = '\\', ['/'] = '/' };

uint32_t maki_json_escape_code(maki_str text, size_t *len)
{
    const char *p = text.ptr;
    *len = 2;
    if (p[1] != 'u') return (uint32_t)escape_codes[p[1] & 127];
    uint32_t unit = hex4(p + 2);
    *len = 6;
    if (!is_high_surrogate(unit) || text.len < 12 || p[6] != '\\' || p[7] != 'u') return unit;
    uint32_t low = hex4(p + 8);
    if (!is_low_surrogate(low)) return unit;
    *len = 12;
    return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
}

/* The character at text.ptr[at], escaped or not: its code point (a lone surrogate unchanged) and its length in
 * bytes. */
static uint32_t char_at(maki_str text, size_t at, size_t *len)
{
    return text.ptr[at] == '\\' ? maki_json_escape_code(maki_str_skip(text, at), len)
                                : maki_utf8_decode(text, at, len);
}

size_t maki_json_copy_text(maki_str string, char *out, size_t capacity)
{
    maki_str escaped = maki_json_strip_quotes(string);
    size_t n = 0;
    for (size_t at = 0, len = 0; at < escaped.len; at += len) {
        char bytes[4];
        size_t n_bytes = maki_utf8_encode(char_at(escaped, at, &len), bytes);
        if (n_bytes > capacity - n) break;
        memcpy(out + n, bytes, n_bytes);
        n += n_bytes;
    }
    return n;
}

maki_str maki_json_text(maki_str string, maki_arena *arena)
{
    maki_str escaped = maki_json_strip_quotes(string);
    if (!memchr(escaped.ptr, '\\', escaped.len)) return escaped;
    char *out = maki_arena_get(arena, escaped.len); /* decoding never makes it longer */
    if (!out) return (maki_str){ "", 0 };
    return (maki_str){ out, maki_json_copy_text(string, out, escaped.len) };
}

bool maki_json_text_is(maki_str string, maki_str text)
{
    maki_str escaped = maki_json_strip_quotes(string);
    size_t n = 0;
    if (escaped.len < text.len) return false; /* escapes only make it longer */
    if (escaped.len == text.len && !maki_str_equal(escaped, text)) return false;
    if (!memchr(escaped.ptr, '\\', escaped.len)) return escaped.len == text.len;
    for (size_t at = 0, len = 0; at < escaped.len; at += len) {
        char bytes[4];
        size_t n_bytes = maki_utf8_encode(char_at(escaped, at, &len), bytes);
        if (n_bytes > text.len - n || memcmp(text.ptr + n, bytes, n_bytes) != 0) return false;
        n += n_bytes;
    }
    return n == text.len;
}

/* Decode a run of escapes from *at on into out[capacity]; *at moves past those that fit. */
static size_t decode_escapes(maki_str escaped, size_t *at, char *out, size_t capacity)
{
    size_t n = 0, len = 0;
    while (*at < escaped.len && escaped.ptr[*at] == '\\' && capacity - n >= 4) {
        char code = escape_codes[escaped.ptr[*at + 1] & 127];
        len = 2;
        if (code)
            out[n++] = code;
        else
            n += maki_utf8_encode(char_at(escaped, *at, &len), out + n);
        *at += len;
    }
    return n;
}

maki_status maki_json_unescape_to(maki_str escaped, maki_sink sink, maki_err *err)
{
    enum { BUFFER = 4096, BUFFERED_MAX = 1024 };
    char text[BUFFER];
    maki_status st = MAKI_OK;
    size_t at = 0, n = 0;
    while (st == MAKI_OK && at < escaped.len) {
        const char *slash = memchr(escaped.ptr + at, '\\', escaped.len - at);
        maki_str plain = { escaped.ptr + at,
                           slash ? (size_t)(slash - escaped.ptr) - at : escaped.len - at };
        bool buffered = plain.len <= BUFFERED_MAX && plain.len < escaped.len;
        if (n && (!buffered || BUFFER - n < plain.len + 4)) {
            st = sink.write(sink.ctx, (maki_str){ text, n }, err);
            n = 0;
        }
        if (buffered) {
            memcpy(text + n, plain.ptr, plain.len);
            n += plain.len;
        } else if (st == MAKI_OK) {
            st = sink.write(sink.ctx, plain, err);
        }
        at += plain.len;
        n += decode_escapes(escaped, &at, text + n, sizeof text - n);
    }
    return st == MAKI_OK && n ? sink.write(sink.ctx, (maki_str){ text, n }, err) : st;
}

int maki_json_compare(maki_str a, maki_str b)
{
    maki_str x = maki_json_strip_quotes(a), y = maki_json_strip_quotes(b);
    size_t i = 0, j = 0, len = 0;
    while (i < x.len && j < y.len) {
        uint32_t left = char_at(x, i, &len);
        i += len;
        uint32_t right = char_at(y, j, &len);
        j += len;
        if (left != right) return left < right ? -1 : 1;
    }
    return (i < x.len) - (j < y.len);
}

bool maki_json_same_text(maki_str a, maki_str b)
{
    maki_str x = maki_json_strip_quotes(a), y = maki_json_strip_quotes(b);
    if (!memchr(x.ptr, '\\', x.len) && !memchr(y.ptr, '\\', y.len)) return maki_str_equal(x, y);
    return maki_json_compare(a, b) == 0;
}

uint64_t maki_json_text_hash(maki_str string)
{
    maki_str escaped = maki_json_strip_quotes(string);
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a over code points */
    for (size_t at = 0, len = 0; at < escaped.len; at += len) {
        hash = (hash ^ char_at(escaped, at, &len)) * 0x100000001b3u;
    }
    return hash ^ hash >> 29;
}

uint64_t maki_json_utf16_len(maki_str escaped)
{
    return maki_text_kernels_best()->escaped_utf16_len(escaped.ptr, escaped.len);
}

/* May the text end with the first half of an escaped surrogate pair?  (It may also be an escaped backslash and letters.) */
static bool may_end_in_pair(maki_str text)
{
    const char *p = text.ptr + text.len;
    return text.len >= 6 && p[-6] == '\\' && p[-5] == 'u' && (p[-4] | 32) == 'd' && p[-3] >= '8';
}

/* At most CHUNK_MAX bytes of `escaped` from `at`: complete characters and escapes. */
static maki_str next_chunk(maki_str escaped, size_t at)
{
    enum { CHUNK_MAX = 256 };
    maki_str chunk = maki_str_skip(escaped, at);
    if (chunk.len <= CHUNK_MAX) return chunk;
    chunk.len = maki_text_kernels_best()->skip_string(chunk.ptr, CHUNK_MAX);
    chunk.len -= maki_utf8_incomplete(chunk);
    return chunk;
}

/* The end of the longest prefix of at most *units, which is reduced by its length.  Advances by chunks while they
 * fit, then by characters. */
static size_t prefix_end(maki_str escaped, uint64_t *units)
{
    size_t at = 0, len = 0;
    while (at < escaped.len) {
        maki_str chunk = next_chunk(escaped, at);
        size_t end = at + chunk.len;
        uint64_t chunk_units = maki_json_utf16_len(chunk);
        if (chunk_units <= *units && !may_end_in_pair(chunk)) {
            *units -= chunk_units;
            at = end;
            continue;
        }
        for (; at < end; at += len) {
            uint64_t char_units = char_at(escaped, at, &len) > 0xFFFF ? 2 : 1;
            if (char_units > *units) return at;
            *units -= char_units;
        }
    }
    return at;
}

maki_str maki_json_head(maki_str escaped, uint64_t units)
{
    return maki_str_prefix(escaped, prefix_end(escaped, &units));
}

maki_str maki_json_tail(maki_str escaped, uint64_t units)
{
    uint64_t total = maki_json_utf16_len(escaped);
    if (total <= units) return escaped;
    uint64_t drop = total - units; /* forwards, because escapes cannot be recognized backwards */
    size_t len = 0, at = prefix_end(escaped, &drop);
    if (drop > 0) {
        char_at(escaped, at, &len); /* half of this character would fit: it is dropped too */
        at += len;
    }
    return maki_str_skip(escaped, at);
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* Any JSON number.  It is rewritten without a point ("-1.5" becomes "-15e-1"), because strtod expects the decimal point
 * of the locale.  No tie between two doubles has more than 767 digits, so digits after the first 800 only show that the
 * number is not a tie; a single 1 in their place is enough. */
static double slow_double(maki_str number)
{
    enum { DIGITS_MAX = 800 };
    const long exponent_max = 1000000000000; /* more than the digits of any text */
    char copy[DIGITS_MAX + 40];
    size_t n = 0, i = 0;
    long exponent = 0, given_exponent = 0;
    bool after_point = false, dropped_nonzero = false, negative = number.ptr[0] == '-';
    if (negative) copy[n++] = '-';
    size_t first = n;
    for (i = n; i < number.len && (number.ptr[i] | 32) != 'e'; i++) {
        char c = number.ptr[i];
        if (c == '.') {
            after_point = true;
            continue;
        }
        if (after_point) exponent--;
        if (n == first && c == '0') continue;
        if (n < first + DIGITS_MAX) {
            copy[n++] = c;
        } else {
            exponent++;
            dropped_nonzero |= c != '0';
        }
    }
    if (n == first) return negative ? -0.0 : 0.0;
    if (dropped_nonzero) {
        copy[n++] = '1';
        exponent--;
    }
    bool negative_exponent = i + 1 < number.len && number.ptr[i + 1] == '-';
    for (i++; i < number.len; i++) {
        if (!maki_is_digit(number.ptr[i])) continue;
        if (given_exponent < exponent_max)
            given_exponent = given_exponent * 10 + (number.ptr[i] - '0');
    }
    snprintf(copy + n, sizeof copy - n, "e%ld",
             exponent + (negative_exponent ? -given_exponent : given_exponent));
    return strtod(copy, NULL);
}

double maki_json_double(maki_str number)
{
    static const double powers_of_10[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                           1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                           1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    size_t i = number.len > 0 && number.ptr[0] == '-';
    bool negative = i == 1;
    uint64_t digits = 0;
    size_t decimals = 0;
    bool after_point = false;
    for (; i < number.len; i++) {
        char c = number.ptr[i];
        if (c == '.') {
            after_point = true;
        } else if (maki_is_digit(c) && digits < (uint64_t)1 << 49) {
            digits = digits * 10 + (uint64_t)(c - '0');
            decimals += after_point;
        } else {
            return slow_double(number); /* an exponent, or too many digits to be exact */
        }
    }
    if (decimals >= sizeof powers_of_10 / sizeof powers_of_10[0]) return slow_double(number);
    double value = (double)digits / powers_of_10[decimals]; /* both exact, so correctly rounded */
    return negative ? -value : value;
}

bool maki_json_uint(maki_str value, uint64_t *out)
{
    if (value.len == 0 || maki_json_kind_of(value) != MAKI_JSON_NUMBER) return false;
    double d = maki_json_double(value);
    if (!(d >= 0 && d < 9e15)) return false;
    *out = (uint64_t)d;
    return true;
}

uint64_t maki_json_uint_field(maki_str object, maki_str name)
{
    maki_str value;
    uint64_t integer = 0;
    if (maki_json_get(object, name, &value)) (void)maki_json_uint(value, &integer);
    return integer;
}

bool maki_json_true(maki_str value)
{
    return value.len > 0 && value.ptr[0] == 't';
}
