/* export_internal.h -- the tags of the roo format, for export_tags.c, export_roo.c and export_ui.c.
 *
 * A message of that array that is hidden carries the id of the summary or marker that hides it. */
#ifndef MAKI_HISTORY_EXPORT_INTERNAL_H
#define MAKI_HISTORY_EXPORT_INTERNAL_H

#include "history/conv_internal.h"
#include "history/export.h"

enum { EXPORT_KINDS = 2 }; /* condense, truncate */

/* An event's type, and fields: the flag of its message, the id, and the tag of the messages that it hides. */
typedef struct export_kind {
    const char *type, *flag, *id, *tag;
} export_kind;
extern const export_kind export_kinds[EXPORT_KINDS];

/* A string field of an object, with its quotes; false when it is missing or empty. */
bool export_string(maki_str object, const char *name, maki_str *value);

/* A tag on a span of rows, or on the synthetic message of event `ev`, `up` forks above. */
typedef struct export_tag {
    uint64_t from, to; /* rows; from 0: a synthetic message */
    uint64_t up, ev;
    size_t order; /* of its event among all events; the oldest is 0 */
    unsigned kind;
    maki_str id;
} export_tag;

typedef struct export_tags {
    maki_arena *arena;
    export_tag *list; /* by rows first, then by event */
    size_t count, capacity;
    size_t next;  /* the first tag that begins after the current row: rows come in order */
    size_t *open; /* indexes of those whose span has the current row */
    size_t open_count, open_capacity;
    size_t orders;
} export_tags;

/* The tags of one message; NULL: none of that kind. */
typedef struct export_tags_of {
    const export_tag *kind[EXPORT_KINDS];
} export_tags_of;

/* Collect the tags of all events that are active in the view made last. */
maki_status export_tags_read(export_tags *tags, maki_conv *conv, maki_err *err);
/* The tags of row `seq`; rows come in order.  *until is the last row they hold for. */
maki_status export_tags_row(export_tags *tags, uint64_t seq, export_tags_of *out, uint64_t *until,
                            maki_err *err);
export_tags_of export_tags_synthetic(const export_tags *tags, uint32_t up, uint64_t ev);

/* export_roo.c */
maki_status export_roo(maki_conv *conv, uint64_t seq, uint64_t ev, maki_sink sink, maki_err *err);

#endif
