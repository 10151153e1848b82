/* json_write.h -- JSON into a sink, commas and escapes taken care of.
 *
 * Never allocates: a few kilobytes wait in the writer, long spans go straight through.  The first
 * failure sticks; maki_jw_end reports it.  What is written is compact; spans handed to maki_jw_raw
 * are copied byte for byte. */
#ifndef MAKI_BASE_JSON_WRITE_H
#define MAKI_BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/env.h>

#include "base/str.h"

typedef struct maki_jw {
    maki_sink sink;
    maki_err *err; /* where the first failure is told; may be NULL */
    maki_status status;
    uint64_t written; /* bytes so far, those still waiting included */
    unsigned depth;
    uint64_t has_items; /* a bit for each open container: does it need a comma? */
    bool after_key;
    size_t fill;
    char *capacity; /* where bytes wait instead of below, handed on in whole rooms; NULL: below */
    size_t size;
    char waiting[4096];
} maki_jw;

void maki_jw_init(maki_jw *w, maki_sink sink, maki_err *err);
/* For a long text: let bytes wait in `room`, which stays the caller's.  The sink gets all of it at a time, so a file is
 * written page by page. */
void maki_jw_set_buffer(maki_jw *w, char *capacity, size_t size);

void maki_jw_object(maki_jw *w);
void maki_jw_end_object(maki_jw *w);
void maki_jw_array(maki_jw *w);
void maki_jw_end_array(maki_jw *w);
void maki_jw_key(maki_jw *w, maki_str key);
void maki_jw_raw_key(maki_jw *w, maki_str escaped); /* what stands between the quotes of a key */

void maki_jw_string(maki_jw *w, maki_str text); /* valid UTF-8, not yet escaped */
void maki_jw_string_lossy(maki_jw *w,
                          maki_str text); /* any bytes: those that are no UTF-8 become U+FFFD */
void maki_jw_int(maki_jw *w, int64_t value);
void maki_jw_double(maki_jw *w,
                    double value); /* shortest that reads back the same; null if not finite */
void maki_jw_bool(maki_jw *w, bool value);
void maki_jw_null(maki_jw *w);
void maki_jw_raw(maki_jw *w, maki_str json); /* a whole value, as it is */

/* A field of the object that is open: a key and its value. */
static inline void maki_jw_field_string(maki_jw *w, const char *name, maki_str text)
{
    maki_jw_key(w, maki_str_of(name));
    maki_jw_string(w, text);
}

/* Left out when it is empty. */
static inline void maki_jw_field_text(maki_jw *w, const char *name, const char *text)
{
    if (text[0]) maki_jw_field_string(w, name, maki_str_of(text));
}

static inline void maki_jw_field_raw(maki_jw *w, const char *name, maki_str json)
{
    maki_jw_key(w, maki_str_of(name));
    maki_jw_raw(w, json);
}

static inline void maki_jw_field_count(maki_jw *w, const char *name, uint64_t count)
{
    maki_jw_key(w, maki_str_of(name));
    maki_jw_int(w, (int64_t)count);
}

static inline void maki_jw_field_number(maki_jw *w, const char *name, double number)
{
    maki_jw_key(w, maki_str_of(name));
    maki_jw_double(w, number);
}

static inline void maki_jw_field_bool(maki_jw *w, const char *name, bool value)
{
    maki_jw_key(w, maki_str_of(name));
    maki_jw_bool(w, value);
}

/* ... whose value is a container that maki_jw_end_object or _end_array ends. */
static inline void maki_jw_field_object(maki_jw *w, const char *name)
{
    maki_jw_key(w, maki_str_of(name));
    maki_jw_object(w);
}

static inline void maki_jw_field_array(maki_jw *w, const char *name)
{
    maki_jw_key(w, maki_str_of(name));
    maki_jw_array(w);
}

/* A value made of several pieces: begin it, add raw bytes and text to be escaped, in any order. */
void maki_jw_begin_value(maki_jw *w);
void maki_jw_bytes(maki_jw *w, maki_str bytes);
void maki_jw_escaped(maki_jw *w, maki_str text); /* escapes, without quotes */
/* What is written to it becomes part of the value that was begun. */
maki_sink maki_jw_sink(maki_jw *w);

/* Hand on what waits.  MAKI_OK, or the first failure. */
maki_status maki_jw_end(maki_jw *w) MAKI_MUST_CHECK;

#endif
