/* json_write.h -- a JSON writer into a sink: it adds commas and escapes.
 *
 * It never allocates: a few kilobytes are buffered in the writer, long spans are passed to the sink directly.  The first
 * failure sticks; maki_jw_end returns it.  The output has no white space; maki_jw_raw copies byte for byte.  A writer
 * must not move between maki_jw_init and maki_jw_end. */
#ifndef MAKI_BASE_JSON_WRITE_H
#define MAKI_BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/env.h>

#include "base/str_util.h"

typedef struct maki_jw {
    maki_sink sink;
    maki_err *err; /* of the first failure; may be NULL */
    maki_status status;
    uint64_t written; /* bytes so far, buffered ones included */
    unsigned depth;
    uint64_t has_items; /* a bit for each open container: does it need a comma? */
    bool after_key;
    size_t fill; /* buffered bytes */
    char *buffer;
    size_t capacity;
    bool full_only; /* the sink gets full buffers, the last one excepted */
    char small[4096];
} maki_jw;

void maki_jw_init(maki_jw *w, maki_sink sink, maki_err *err);
/* For a long text: use this buffer, which the caller owns.  The sink gets full buffers, so a file is written in whole
 * pages. */
void maki_jw_set_buffer(maki_jw *w, char *buffer, size_t capacity);

void maki_jw_begin_object(maki_jw *w);
void maki_jw_end_object(maki_jw *w);
void maki_jw_begin_array(maki_jw *w);
void maki_jw_end_array(maki_jw *w);
void maki_jw_key(maki_jw *w, maki_str key);
void maki_jw_raw_key(maki_jw *w, maki_str escaped); /* the escaped bytes of a key */

void maki_jw_string(maki_jw *w, maki_str text);       /* valid UTF-8, not yet escaped */
void maki_jw_string_lossy(maki_jw *w, maki_str text); /* any bytes: invalid UTF-8 becomes U+FFFD */
void maki_jw_int(maki_jw *w, int64_t value);
void maki_jw_double(maki_jw *w,
                    double value); /* shortest that reads back the same; null if not finite */
void maki_jw_bool(maki_jw *w, bool value);
void maki_jw_null(maki_jw *w);
void maki_jw_raw(maki_jw *w, maki_str json); /* a complete value, copied unchanged */

/* Fields of the open object: a key and its value. */
static inline void maki_jw_field_string(maki_jw *w, const char *name, maki_str text)
{
    maki_jw_key(w, maki_str_of(name));
    maki_jw_string(w, text);
}

/* Omitted when it is empty. */
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

/* A field whose value is a container, to be ended by maki_jw_end_object or _end_array. */
static inline void maki_jw_field_object(maki_jw *w, const char *name)
{
    maki_jw_key(w, maki_str_of(name));
    maki_jw_begin_object(w);
}

static inline void maki_jw_field_array(maki_jw *w, const char *name)
{
    maki_jw_key(w, maki_str_of(name));
    maki_jw_begin_array(w);
}

/* A value in pieces: begin it, add raw bytes and text to be escaped, in any order. */
void maki_jw_begin_value(maki_jw *w);
void maki_jw_bytes(maki_jw *w, maki_str bytes);
void maki_jw_escape(maki_jw *w, maki_str text); /* as a string without its quotes */
/* A sink whose bytes become part of the value that was begun. */
maki_sink maki_jw_sink(maki_jw *w);

/* Flush the buffer.  MAKI_OK, or the first failure. */
maki_status maki_jw_end(maki_jw *w) MAKI_MUST_CHECK;

#endif
