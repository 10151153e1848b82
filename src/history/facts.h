/* facts.h -- what the index records of a message (role, calls, flags, time), so that it need not be read again.
 *
 * Tokens are counted in token_counter.h. */
#ifndef MAKI_HISTORY_FACTS_H
#define MAKI_HISTORY_FACTS_H

#include "log/log.h"

/* Bits of maki_index_record.flags. */
enum {
    MAKI_ROW_ROLE = 7,     /* a maki_role */
    MAKI_ROW_CALLS = 8,    /* it calls tools */
    MAKI_ROW_ANSWERS = 16, /* it answers calls */
    MAKI_ROW_SUMMARY = 32, /* isSummary: came with an import */
    MAKI_ROW_MARKER = 64   /* isTruncationMarker */
};

/* The calls of the most recent messages, in a ring.  Zeroed is empty. */
typedef struct maki_recent_calls {
    struct {
        uint64_t hash; /* of the call's id */
        uint32_t seq;
    } calls[256];
    size_t next;
    uint64_t last_seq, last_hash; /* the row that the state belongs to */
    uint64_t hash_before;         /* of the row before it */
    bool last_bad;                /* that row was not a message: the log may have refused it */
    bool checked;                 /* the next rows have passed maki_json_check */
    const maki_alloc *alloc;
} maki_recent_calls;

/* A maki_row_facts_fn; ctx is a maki_recent_calls. */
maki_status maki_row_facts_of(void *ctx, maki_log *log, uint64_t seq, maki_str row,
                              maki_row_facts *out, maki_err *err);

/* The parts of a message that have tokens: JSON values, len 0 for a missing one. */
typedef struct maki_counted_fields {
    maki_str role, content, calls, images;
} maki_counted_fields;
/* `message` is a JSON object that was checked. */
maki_counted_fields maki_counted_fields_of(maki_str message);
/* The same without the role, from the spans of maki_row_facts_of; false: there are none. */
bool maki_counted_fields_from_spans(maki_str row, const maki_row_spans *spans,
                                    maki_counted_fields *out);

#endif
