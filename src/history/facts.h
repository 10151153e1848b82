/* facts.h -- what the engine needs to know of a message without reading it
 * again. */
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
    const maki_alloc *alloc;
} maki_fact_state;

/* The token family that maki_facts_of counts: an estimate, UTF-16 units / 4. */
#define MAKI_FAMILY_ESTIMATE "chars4"

/* A maki_facts_fn; ctx is a maki_fact_state. */
maki_status maki_facts_of(void *ctx, maki_log *log, uint64_t seq, maki_str row, maki_facts *out,
                          maki_err *err);

#endif
