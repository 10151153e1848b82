/* json.h -- what the library itself needs beyond <maki/json.h>: strings in their escaped form.
 *
 * Strings stay escaped until somebody needs the text: lengths and cuts are computed on the escaped
 * bytes, so a string of a gigabyte can be measured and shortened without a copy. */
#ifndef MAKI_BASE_JSON_H
#define MAKI_BASE_JSON_H

#include <stdint.h>

#include <maki/env.h>
#include <maki/json.h>

#include "base/arena.h"

/* maki_json_next where a value is `known` already: its end is not looked for again. */
bool maki_json_next_known(maki_json_iter *iter, maki_json_item *item, maki_str known);
/* Into the object that comes next, whose end need not be found first: when its `fields` were walked with
 * maki_json_next until that says no, maki_json_leave gives the object and `iter` stands behind it.  False: no object
 * comes next, and `iter` goes on with it. */
bool maki_json_enter(maki_json_iter *iter, maki_json_iter *fields);
maki_str maki_json_leave(maki_json_iter *iter, const maki_json_iter *fields);

/* Is an escaped key this name?  Is it one of the names between the bars of a list? */
bool maki_json_key_is(maki_str key, maki_str name);
bool maki_json_key_in(maki_str key, const char *names);
/* A field of an object (of anything else: none) as it stands, and the first of several ("text|content") of a kind; len 0:
 * there is none. */
maki_str maki_json_field(maki_str object, const char *name);
maki_str maki_json_first(maki_str object, const char *names, maki_json_kind kind);
/* By what it must be: a string, the text of one in out[room] ("" when there is none; what does not fit is cut), a
 * number (or what stands instead, 0), true (false), a string of one of these texts ("user|tool"). */
maki_str maki_json_string(maki_str object, const char *name);
bool maki_json_string_field(maki_str object, const char *name, maki_str *string);
const char *maki_json_text_field(maki_str object, const char *name, char *out, size_t capacity);
double maki_json_number(maki_str object, const char *name, double instead);
double maki_json_number_field(maki_str object, const char *name);
bool maki_json_true_field(maki_str object, const char *name);
bool maki_json_field_in(maki_str object, const char *name, const char *texts);
bool maki_json_field_is(maki_str object, const char *name,
                        const char *text); /* of this very text */
/* Is the text of this string one of those between the bars? */
bool maki_json_text_in(maki_str string, const char *texts);

/* A number that can be a count or a seq: from 0 to under 9e15, where a double is still exact; what is
 * behind its point does not count.  False: it is none, and *out is as it was. */
bool maki_json_uint(maki_str value, uint64_t *out);
/* The same of a field of an object; 0 when it has none that can be one. */
uint64_t maki_json_uint_field(maki_str object, maki_str name);

/* What stands between the quotes, still escaped. */
maki_str maki_json_inside(maki_str string);
/* The code of the escape at text.ptr[0], and its length in bytes: 2, 6, or 12 for a pair of surrogates.  A lone
 * surrogate is answered as it is. */
uint32_t maki_json_escape_code(maki_str text, size_t *len);
/* The text of a string: borrowed from the input when it has no escapes, else decoded into the
 * arena (empty with the arena's status set when there is no room).  Lone surrogates become U+FFFD. */
maki_str maki_json_text(maki_str string, maki_arena *arena);
/* Which text comes first by its characters: below 0, 0 (the same text), above 0. */
int maki_json_compare(maki_str a, maki_str b);
/* Are the texts of two strings the same, however they are escaped? */
bool maki_json_same_text(maki_str a, maki_str b);
/* A hash of the text, the same for every way to escape it.  Not for hostile input in bulk. */
uint64_t maki_json_text_hash(maki_str string);

/* On escaped text (maki_json_inside): its length in UTF-16 units; the longest prefix and suffix of
 * at most `units`.  An escape is never split, nor a surrogate pair, escaped or not. */
uint64_t maki_json_units(maki_str escaped);
maki_str maki_json_head(maki_str escaped, uint64_t units);
maki_str maki_json_tail(maki_str escaped, uint64_t units);
/* The text of what is escaped into a sink, whatever its length; long plain stretches in one piece, short ones
 * gathered, whole characters always.  Lone surrogates become U+FFFD. */
maki_status maki_json_text_to(maki_str escaped, maki_sink sink, maki_err *err);

#endif
