/* json_assembler.h -- assemble a JSON object from deltas.
 *
 * Strings are concatenated, arrays appended to, any other value replaces the previous one.  Strings stay escaped,
 * because a surrogate pair may be split between two deltas.  Long fields are spooled to files (base/spool.h); an
 * empty assembler holds no memory. */
#ifndef MAKI_WIRE_JSON_ASSEMBLER_H
#define MAKI_WIRE_JSON_ASSEMBLER_H

#include <stdint.h>

#include "wire/sticky_error.h"

typedef enum maki_json_assembler_kind {
    MAKI_ASSEMBLE_TEXT,  /* deltas of a string */
    MAKI_ASSEMBLE_LIST,  /* items of an array */
    MAKI_ASSEMBLE_VALUE, /* the last one wins */
    MAKI_ASSEMBLE_JSON   /* deltas of a string that contains JSON: written as that JSON */
} maki_json_assembler_kind;

typedef struct maki_assembled maki_assembled;

typedef struct maki_json_assembler {
    const maki_env *env;
    maki_sticky_error *failure; /* borrowed; after a failure nothing is added */
    uint64_t *byte_count;       /* counts the bytes added; borrowed */
    maki_spool initial;         /* the object before any delta; empty: {} */
    maki_assembled *fields;
    size_t count, capacity;
} maki_json_assembler;

maki_json_assembler maki_json_assembler_new(const maki_env *env, maki_sticky_error *failure,
                                            uint64_t *byte_count);
void maki_json_assembler_free(maki_json_assembler *ja); /* accepts a zeroed or freed one */

/* Set the object before any delta: its fields are written first, in their order. */
void maki_json_assembler_start(maki_json_assembler *ja, maki_str object);
/* Add a delta of a field.  `name` is escaped, without quotes; `value` is JSON, for TEXT and JSON a string.
 * Fields beyond the hundredth are dropped. */
void maki_json_assembler_add(maki_json_assembler *ja, maki_json_assembler_kind kind, maki_str name,
                             maki_str value);
/* Add all fields of an object except those named, each by the type of its value; null is ignored. */
void maki_json_assembler_merge(maki_json_assembler *ja, maki_str object, const char *except);
/* The same, but replace existing values. */
void maki_json_assembler_replace(maki_json_assembler *ja, maki_str object);

bool maki_json_assembler_has(const maki_json_assembler *ja,
                             maki_str name); /* is there such a field? */
/* Is any field not empty, except this one? */
bool maki_json_assembler_any(const maki_json_assembler *ja, maki_str except);
/* The value of a field, without its quotes or brackets; len 0: none.  Borrowed until the next call that
 * changes the assembler. */
maki_str maki_json_assembler_get(maki_json_assembler *ja, maki_str name);

/* Write the fields into an open object; those in `except` are left out. */
void maki_json_assembler_write(maki_json_assembler *ja, maki_jw *w, const char *except);

#endif
