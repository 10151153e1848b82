/* json_access.h -- internal additions to <maki/json.h>: fields by type, strings in their escaped form.
 *
 * Strings stay escaped until a caller needs the text: lengths and truncation points are computed on the escaped bytes,
 * so a string of a gigabyte can be measured and shortened without a copy.  All functions trust their input to be valid
 * JSON. */
#ifndef MAKI_BASE_JSON_ACCESS_H
#define MAKI_BASE_JSON_ACCESS_H

#include <stdint.h>

#include <maki/env.h>
#include <maki/json.h>

#include "base/arena.h"

/* The fields of an object; any other value has none. */
static inline maki_json_iter maki_json_fields(maki_str value)
{
    maki_json_iter iter = maki_json_items(value);
    return iter.object ? iter : (maki_json_iter){ 0 };
}
/* maki_json_next when the caller knows the span of one value (`known`): its end is not searched again. */
bool maki_json_next_known(maki_json_iter *iter, maki_json_item *item, maki_str known);
/* Enter the next item if it is an object, without searching its end first.  When its `fields` were iterated with
 * maki_json_next until that returned false, maki_json_leave returns the span of the object and moves `iter` behind it.
 * False: the next item is no object, and `iter` stays before it. */
bool maki_json_enter(maki_json_iter *iter, maki_json_iter *fields);
maki_str maki_json_leave(maki_json_iter *iter, const maki_json_iter *fields);

/* Is the escaped `key` equal to `name`?  To one of `names` ("text|content")? */
bool maki_json_key_is(maki_str key, maki_str name);
bool maki_json_key_in(maki_str key, const char *names);
/* The value of a field; of the first of several ("text|content") that has this kind.  len 0: there is none, or `object`
 * is no object. */
maki_str maki_json_field(maki_str object, const char *name);
maki_str maki_json_first_field(maki_str object, const char *names, maki_json_kind kind);
/* A field by type: a string (len 0 if missing), its text in out[capacity] ("" if missing; truncated if too long), a
 * number (`fallback` or 0 if missing), true (false if missing), whether it is one of these texts ("user|tool"), whether
 * it is this text. */
maki_str maki_json_string(maki_str object, const char *name);
bool maki_json_string_field(maki_str object, const char *name, maki_str *string);
const char *maki_json_text_field(maki_str object, const char *name, char *out, size_t capacity);
double maki_json_number(maki_str object, const char *name, double fallback);
double maki_json_number_field(maki_str object, const char *name);
bool maki_json_true_field(maki_str object, const char *name);
bool maki_json_field_in(maki_str object, const char *name, const char *texts);
bool maki_json_field_is(maki_str object, const char *name, const char *text);
/* Is the text of this string one of several ("user|tool")? */
bool maki_json_text_in(maki_str string, const char *texts);

/* A number as an unsigned integer: 0 to below 9e15, where a double is exact; a fraction is cut off.  False: it is not
 * such a number, and *out is unchanged. */
bool maki_json_uint(maki_str value, uint64_t *out);
/* The same of a field of an object; 0 if missing or no such number. */
uint64_t maki_json_uint_field(maki_str object, maki_str name);

/* The bytes between the quotes of a string, still escaped. */
maki_str maki_json_strip_quotes(maki_str string);
/* The code point of the escape at text.ptr[0], and its length in bytes: 2, 6, or 12 for a surrogate pair.  A lone
 * surrogate is returned unchanged. */
uint32_t maki_json_escape_code(maki_str text, size_t *len);
/* The text of a string: borrowed from the input when it has no escapes, else decoded into the arena (empty, with the
 * status of the arena set, when that is full).  Lone surrogates become U+FFFD. */
maki_str maki_json_text(maki_str string, maki_arena *arena);
/* Compare two strings by the code points of their texts: below 0, 0 (equal), above 0. */
int maki_json_compare(maki_str a, maki_str b);
/* Are the texts of two strings equal, however they are escaped? */
bool maki_json_same_text(maki_str a, maki_str b);
/* A hash of the text, independent of how it is escaped.  Not resistant to deliberate collisions. */
uint64_t maki_json_text_hash(maki_str string);

/* Of escaped text (maki_json_strip_quotes): its length in UTF-16 code units; its longest prefix and suffix of at most
 * `units`.  Neither an escape nor a surrogate pair is split. */
uint64_t maki_json_utf16_len(maki_str escaped);
maki_str maki_json_head(maki_str escaped, uint64_t units);
maki_str maki_json_tail(maki_str escaped, uint64_t units);
/* Decode escaped text of any length into a sink, always in complete characters: long runs without escapes are written in
 * one call, short ones are buffered.  Lone surrogates become U+FFFD. */
maki_status maki_json_unescape_to(maki_str escaped, maki_sink sink, maki_err *err);

#endif
