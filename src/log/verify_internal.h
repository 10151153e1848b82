/* verify_internal.h -- the state of a verification, and the functions that verify.c, verify_index.c, verify_events.c and
 * fsck.c share. */
#ifndef MAKI_LOG_VERIFY_INTERNAL_H
#define MAKI_LOG_VERIFY_INTERNAL_H

#include "log/lines.h"
#include "log/verify.h"

enum { MAKI_EVENT_SCAN_MAX = 1 << 28 }; /* bytes */

typedef struct verifier {
    const maki_env *env;
    const char *path;
    maki_finding_fn fn;
    void *ctx;
    maki_verify_result result;

    maki_log *log; /* rebuilt from the rows */
    maki_log_files files;
    uint64_t messages_size, events_size; /* read under the lock */
    maki_buf damages;                    /* of known_damage (verify.c) */
    unsigned char header_chain[MAKI_CHAIN_LEN];

    maki_index stored; /* the index on disk; fd -1: none */
    uint64_t stored_size;
    bool index_valid; /* its header is valid for this log */
    bool same_facts;  /* and of this encoding */
    uint64_t proven;  /* by its head, an event proves the messages up to this one */
    bool shifted;     /* its rows have other numbers than in the file */
} verifier;

/* Call fn with a finding. */
maki_status maki_verify_report(verifier *c, maki_finding_kind kind, const char *file,
                               uint64_t offset, uint64_t seq, uint64_t ev, const char *what,
                               maki_err *err);
/* Does a damage event report it already: this row; event `ev`, written after message `at`? */
bool maki_verify_is_known_row(const verifier *c, uint64_t seq);
bool maki_verify_is_known_event(const verifier *c, uint64_t ev, uint64_t at);
uint64_t maki_verify_row_count(const verifier *c);
maki_status maki_verify_each_event(verifier *c, maki_log_line_fn fn, void *ctx, uint64_t *end,
                                   maki_err *err);

/* An integer field of an event; a line that is an object. */
bool maki_event_integer(maki_str object, const char *name, uint64_t *out);
bool maki_line_parse_object(maki_str row, maki_str *object);

/* Header and records of the index on disk (verify_index.c). */
maki_status maki_verify_index(verifier *c, const char *encoding, maki_err *err);
/* Numbers, sums and heads of the events (verify_events.c). */
maki_status maki_verify_events(verifier *c, maki_err *err);

#endif
