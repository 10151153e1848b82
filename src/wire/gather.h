/* gather.h -- a JSON object that comes in pieces.
 *
 * A string grows, a list gets longer, any other value replaces the one before.  Texts stay escaped while
 * they are gathered, because a pair of escapes may be cut between two pieces.  Long fields wait in files
 * (base/spool.h); an empty gather holds no memory. */
#ifndef MAKI_WIRE_GATHER_H
#define MAKI_WIRE_GATHER_H

#include <stdint.h>

#include "wire/keep.h"

typedef enum maki_gather_kind {
    MAKI_GATHER_TEXT,  /* pieces of a string */
    MAKI_GATHER_LIST,  /* items of an array */
    MAKI_GATHER_VALUE, /* the last one counts */
    MAKI_GATHER_JSON   /* pieces of a string whose text is JSON: written as that JSON */
} maki_gather_kind;

typedef struct maki_gathered maki_gathered;

typedef struct maki_gather {
    const maki_env *env;
    maki_failure *failure; /* borrowed: after a failure nothing is gathered */
    uint64_t *held;        /* counts the bytes gathered; borrowed */
    maki_spool start;      /* the object as it was before any piece; empty: {} */
    maki_gathered *fields;
    size_t count, room;
} maki_gather;

maki_gather maki_gather_new(const maki_env *env, maki_failure *failure, uint64_t *held);
void maki_gather_free(maki_gather *g); /* accepts one that was zeroed or freed */

/* What the object is before any piece comes: its fields keep their places. */
void maki_gather_start(maki_gather *g, maki_str object);
/* A piece of a field.  `name` is escaped, without quotes; `value` is a JSON value, of TEXT and JSON a
 * string.  More than a hundred fields are not kept. */
void maki_gather_add(maki_gather *g, maki_gather_kind kind, maki_str name, maki_str value);
/* All fields of an object but those named, each by the kind of its value; null is nothing. */
void maki_gather_merge(maki_gather *g, maki_str object, const char *but);
/* The same, values that are there already being replaced. */
void maki_gather_replace(maki_gather *g, maki_str object);

bool maki_gather_has(const maki_gather *g, maki_str name); /* was a piece of it gathered? */
/* Was anything gathered that is not empty, this field apart? */
bool maki_gather_any(const maki_gather *g, maki_str but);
/* What was gathered of a field, without quotes or brackets around it; len 0: nothing.  Borrowed until
 * the next call that changes the gather. */
maki_str maki_gather_get(maki_gather *g, maki_str name);

/* The fields, into an open object; those in `but` are left out. */
void maki_gather_write(maki_gather *g, maki_jw *w, const char *but);

#endif
