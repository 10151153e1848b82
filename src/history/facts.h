/* facts.h -- what the engine needs to know of a message without reading it again.  Its tokens are
 * counted apart (token_counter.h). */
#ifndef MAKI_HISTORY_FACTS_H
#define MAKI_HISTORY_FACTS_H

#include "log/log.h"

/* Bits of maki_row.flags. */
enum {
    MAKI_FACT_ROLE = 7,     /* a maki_role */
    MAKI_FACT_CALLS = 8,    /* it calls tools */
    MAKI_FACT_ANSWERS = 16, /* it answers calls */
    MAKI_FACT_SUMMARY = 32, /* isSummary: came with an import */
    MAKI_FACT_MARKER = 64   /* isTruncationMarker */
};

/* Which message made a call, for the calls seen last.  Zeroed is empty. */
typedef struct maki_fact_state {
    struct {
        uint64_t hash; /* of the call's id */
        uint32_t seq;
    } calls[256];
    size_t next;
    uint64_t last_seq, last_hash; /* the row looked at last; what is remembered belongs to it */
    uint64_t hash_before;         /* of the row before it */
    bool last_bad;                /* it was no message: perhaps it was not added */
    bool checked;                 /* the next rows are JSON values that were checked */
    const maki_alloc *alloc;
} maki_fact_state;

/* A maki_facts_fn; ctx is a maki_fact_state. */
maki_status maki_facts_of(void *ctx, maki_log *log, uint64_t seq, maki_str row, maki_facts *out,
                          maki_err *err);

/* The parts of a message that have tokens: JSON values, len 0 for what is not there. */
typedef struct maki_countable {
    maki_str role, content, calls, images;
} maki_countable;
/* `message` is a JSON object that was checked. */
maki_countable maki_countable_of(maki_str message);
/* The same from what maki_facts_of said about the row, but for the role; false when it said nothing. */
bool maki_countable_from_hint(maki_str row, const maki_hint *hint, maki_countable *out);

#endif
