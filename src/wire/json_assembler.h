/* json_assembler.h -- a JSON object that comes in pieces.
 *
 * A string grows, a list gets longer, any other value replaces the one before.  Texts stay escaped while
 * they are gathered, because a pair of escapes may be cut between two pieces.  Long fields wait in files
 * (base/spool.h); an empty gather holds no memory. */
#ifndef MAKI_WIRE_JSON_ASSEMBLER_H
#define MAKI_WIRE_JSON_ASSEMBLER_H

#include <stdint.h>

#include "wire/sticky_error.h"

typedef enum maki_json_assembler_kind {
    MAKI_ASSEMBLE_TEXT,  /* pieces of a string */
    MAKI_ASSEMBLE_LIST,  /* items of an array */
    MAKI_ASSEMBLE_VALUE, /* the last one counts */
    MAKI_ASSEMBLE_JSON   /* pieces of a string whose text is JSON: written as that JSON */
} maki_json_assembler_kind;

typedef struct maki_assembled maki_assembled;

typedef struct maki_json_assembler {
    const maki_env *env;
    maki_sticky_error *failure; /* borrowed: after a failure nothing is gathered */
    uint64_t *held;             /* counts the bytes gathered; borrowed */
    maki_spool start;           /* the object as it was before any piece; empty: {} */
    maki_assembled *fields;
    size_t count, capacity;
} maki_json_assembler;

maki_json_assembler maki_json_assembler_new(const maki_env *env, maki_sticky_error *failure,
                                            uint64_t *held);
void maki_json_assembler_free(maki_json_assembler *g); /* accepts one that was zeroed or freed */

/* What the object is before any piece comes: its fields keep their places. */
void maki_json_assembler_start(maki_json_assembler *g, maki_str object);
/* A piece of a field.  `name` is escaped, without quotes; `value` is a JSON value, of TEXT and JSON a
 * string.  More than a hundred fields are not kept. */
void maki_json_assembler_add(maki_json_assembler *g, maki_json_assembler_kind kind, maki_str name,
                             maki_str value);
/* All fields of an object but those named, each by the kind of its value; null is nothing. */
void maki_json_assembler_merge(maki_json_assembler *g, maki_str object, const char *but);
/* The same, values that are there already being replaced. */
void maki_json_assembler_replace(maki_json_assembler *g, maki_str object);

bool maki_json_assembler_has(const maki_json_assembler *g,
                             maki_str name); /* was a piece of it gathered? */
/* Was anything gathered that is not empty, this field apart? */
bool maki_json_assembler_any(const maki_json_assembler *g, maki_str but);
/* What was gathered of a field, without quotes or brackets around it; len 0: nothing.  Borrowed until
 * the next call that changes the gather. */
maki_str maki_json_assembler_get(maki_json_assembler *g, maki_str name);

/* The fields, into an open object; those in `but` are left out. */
void maki_json_assembler_write(maki_json_assembler *g, maki_jw *w, const char *but);

#endif
