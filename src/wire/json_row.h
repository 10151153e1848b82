/* json_row.h -- helpers to read and write rows: fields by name, copying the remaining fields of an object,
 * synthetic ids for calls without one.  */
#ifndef MAKI_WIRE_JSON_ROW_H
#define MAKI_WIRE_JSON_ROW_H

#include "base/json_access.h"
#include "base/json_write.h"
#include "base/spool.h"
#include "base/str_util.h"

/* The value of a field; len 0 when it is missing or null. */
maki_str maki_member(maki_str object, maki_str name);
/* The first of these fields that is present; names are separated by a space. */
maki_str maki_member_any(maki_str object, const char *names);
/* Several fields in one pass: values[i] is maki_member of names[i]. */
void maki_member_each(maki_str object, const maki_str *names, maki_str *values, size_t count);
/* The same for the remaining fields of an object that was entered (maki_json_enter). */
void maki_member_rest(maki_json_iter *fields, const maki_str *names, maki_str *values,
                      size_t count);
/* Is this key (escaped) one of these names? */
bool maki_key_in(maki_str key, const char *names);
/* A count: 0 when it is missing, not a number or negative. */
uint64_t maki_member_count(maki_str object, maki_str name);
uint64_t maki_count_of(maki_str number); /* of any value: 0 when it is not such a number */

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
        text = maki_str_skip(text, 1);
    while (text.len && memchr(" \t\r\n", text.ptr[text.len - 1], 4))
        text.len--;
    return text;
}

/* Is it a JSON string with this text? */
static inline bool maki_is_text(maki_str value, maki_str text)
{
    return maki_is_string(value) && maki_json_text_is(value, text);
}

/* ---- writing ----------------------------------------------------------------------------------------- */

/* A sink that appends to the spool and replaces the characters of line ends by spaces: between JSON tokens they mean
 * the same, and a row of the log is one line. */
maki_sink maki_row_sink(maki_spool *spool);

/* "key":value into the open object; the key is escaped, without quotes. */
void maki_write_field(maki_jw *w, maki_str key, maki_str value);
/* Does the object have other fields than these? */
bool maki_has_rest(maki_str object, const char *except);
/* The fields of `object` except those named. */
void maki_write_rest(maki_jw *w, maki_str object, const char *except);
/* The same inside "original":{}, unless there are none. */
void maki_write_original(maki_jw *w, maki_str object, const char *except);
/* Any JSON value as the text of a string; a string is written unchanged. */
void maki_write_quoted(maki_jw *w, maki_str value);

/* ---- ids of calls ------------------------------------------------------------------------------------ */

/* Counts how often each name occurs.  A zeroed counter is empty.  When it is full, further names share the last counter:
 * their ids are still unique. */
enum { MAKI_NAME_COUNTER = 64 };
typedef struct maki_name_counter {
    uint64_t hash[MAKI_NAME_COUNTER];
    uint32_t count[MAKI_NAME_COUNTER];
    size_t n;
} maki_name_counter;
/* How often this name (a JSON string) occurred before; counts it. */
uint32_t maki_name_counter_next(maki_name_counter *counter, maki_str name);

/* "call_NAME_nth", as a value. */
void maki_write_call_id(maki_jw *w, maki_str name, uint32_t nth);

/* Iterate over the calls of an assistant message: JSON strings, `id` len 0 when it has none. */
typedef bool (*maki_next_call)(maki_json_iter *iter, maki_str *name, maki_str *id);

/* Maximum number of results of a turn that are counted to find the call of a result. */
enum { MAKI_RESULTS_MAX = 256 };

/* How a result finds its call: by id, else the `nth_of_name`-th call of its name, else (no name) the
 * `nth` of all. */
typedef struct maki_result_lookup {
    maki_str id, name; /* JSON strings, or len 0 */
    uint32_t nth_of_name, nth;
    bool
        synthetic_ids; /* every call gets a synthetic id: ids in the request are invented by the client */
} maki_result_lookup;
/* Write the id of the call found, as a value; without one, the id that the call would have. */
void maki_write_result_call_id(maki_jw *w, maki_json_iter calls, maki_next_call next,
                               const maki_result_lookup *lookup);

#endif
