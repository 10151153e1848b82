/* json_row.h -- what the files of the protocols need to write rows: fields by name, what is left of an object,
 * ids for calls that have none. */
#ifndef MAKI_WIRE_JSON_ROW_H
#define MAKI_WIRE_JSON_ROW_H

#include "base/json.h"
#include "base/json_write.h"
#include "base/spool.h"
#include "base/str.h"

/* The value of a field; len 0 when it is missing or null. */
maki_str maki_member(maki_str object, maki_str name);
/* The same of the first of these fields that is there; lists of names are written with a space between them. */
maki_str maki_member_any(maki_str object, const char *names);
/* The same, when it is a string. */
maki_str maki_member_string(maki_str object, maki_str name);
/* Several fields in one walk: values[i] is what maki_member says of names[i]. */
void maki_member_each(maki_str object, const maki_str *names, maki_str *values, size_t count);
/* The same on the fields of an object that was entered (maki_json_enter), to their end. */
void maki_members_rest(maki_json_iter *fields, const maki_str *names, maki_str *values,
                       size_t count);
/* Is a key, as it stands, one of these names? */
bool maki_among(maki_str key, const char *names);
/* A count: 0 when it is missing, no number or below 0. */
uint64_t maki_member_count(maki_str object, maki_str name);
uint64_t maki_count_of(maki_str number); /* of any value: 0 when it is no such number */

static inline bool maki_is_string(maki_str value)
{
    return value.len && value.ptr[0] == '"';
}

static inline bool maki_is_object(maki_str value)
{
    return value.len && value.ptr[0] == '{';
}

static inline bool maki_is_array(maki_str value)
{
    return value.len && value.ptr[0] == '[';
}

/* The items of an array; anything else has none. */
static inline maki_json_iter maki_array_items(maki_str value)
{
    return maki_is_array(value) ? maki_json_items(value) : (maki_json_iter){ 0 };
}

/* Without JSON's white space at both ends; any bytes. */
static inline maki_str maki_trim_space(maki_str text)
{
    while (text.len && memchr(" \t\r\n", text.ptr[0], 4))
        text = maki_str_from(text, 1);
    while (text.len && memchr(" \t\r\n", text.ptr[text.len - 1], 4))
        text.len--;
    return text;
}

/* Is it a string with this text? */
static inline bool maki_is_text(maki_str value, maki_str text)
{
    return maki_is_string(value) && maki_json_text_is(value, text);
}

/* ---- writing ----------------------------------------------------------------------------------------- */

/* Where a row goes: into the spool, without newlines.  Between the tokens of JSON they are only space, and a
 * row of the log is one line. */
maki_sink maki_row_sink(maki_spool *spool);

/* "key":value into the open object; the key is escaped, without quotes. */
void maki_write_field(maki_jw *w, maki_str key, maki_str value);
/* Has it fields that are not named here? */
bool maki_has_rest(maki_str object, const char *but);
/* The fields of `object` but those named. */
void maki_write_rest(maki_jw *w, maki_str object, const char *but);
/* "original":{the same}, unless there are none. */
void maki_write_original(maki_jw *w, maki_str object, const char *but);
/* Any JSON as the text of a string; a string stays what it is. */
void maki_write_quoted(maki_jw *w, maki_str value);

/* ---- ids of calls ------------------------------------------------------------------------------------ */

/* How often each name was met.  Zeroed is empty.  More names than it has room for share the last place:
 * their ids are still different from each other. */
enum { MAKI_NAME_COUNTER = 64 };
typedef struct maki_name_counter {
    uint64_t hash[MAKI_NAME_COUNTER];
    uint32_t count[MAKI_NAME_COUNTER];
    size_t n;
} maki_name_counter;
/* How often this name (a JSON string) came before; counts it. */
uint32_t maki_name_counter_next(maki_name_counter *tally, maki_str name);

/* "call_NAME_nth", as a value. */
void maki_write_call_id(maki_jw *w, maki_str name, uint32_t nth);

/* The next call of an assistant message: JSON strings, `id` len 0 when it has none. */
typedef bool (*maki_next_call)(maki_json_iter *iter, maki_str *name, maki_str *id);

/* So far back a result looks for others of its turn: further ones are hostile or lost anyway. */
enum { MAKI_RESULTS_MAX = 256 };

/* A result that looks for its call: by id, else the `same`-th call of its name, else (no name) the
 * `nth` of all. */
typedef struct maki_answer {
    maki_str id, name; /* JSON strings, or len 0 */
    uint32_t same, nth;
    bool made; /* ids are made for all calls, whatever they have: the client may have invented it */
} maki_answer;
/* The id of the call it answers, as a value; the id it should have when no call is found. */
void maki_write_answered(maki_jw *w, maki_json_iter calls, maki_next_call next,
                         const maki_answer *answer);

#endif
