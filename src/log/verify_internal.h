/* verify_internal.h -- what the parts of a proof share: verify.c, verify_index.c, verify_events.c and fsck.c. */
#ifndef MAKI_LOG_VERIFY_INTERNAL_H
#define MAKI_LOG_VERIFY_INTERNAL_H

#include "log/lines.h"
#include "log/verify.h"

enum { MAKI_EVENT_SCAN_MAX = 1 << 28 }; /* bytes */

typedef struct checking {
    const maki_env *env;
    const char *path;
    maki_finding_fn fn;
    void *ctx;
    maki_verified result;

    maki_log *log; /* made from the rows */
    maki_log_files files;
    uint64_t messages_size, events_size; /* when nobody wrote */
    maki_buf damages;                    /* of damage events (verify.c) */
    unsigned char header_chain[MAKI_CHAIN_LEN];

    maki_index stored; /* the index on disk; fd -1: none */
    uint64_t stored_size;
    bool sound;      /* its header is one of ours for this log and family */
    bool same_facts; /* and of this family */
    bool shifted;    /* its rows have other numbers than the file's */
} checking;

/* A maki_finding. */
maki_status maki_verify_report(checking *c, maki_found found, const char *file, uint64_t offset,
                               uint64_t seq, uint64_t ev, const char *what, maki_err *err);
/* A damage event tells of it already: of this row; of event `ev`, written after message `at`. */
bool maki_verify_known_row(const checking *c, uint64_t seq);
bool maki_verify_excused(const checking *c, uint64_t ev, uint64_t at);
uint64_t maki_verify_row_count(const checking *c);
maki_status maki_verify_each_event(checking *c, maki_log_line_fn fn, void *ctx, uint64_t *end,
                                   maki_err *err);

/* A whole number of an event; a line that is an object. */
bool maki_event_whole(maki_str object, const char *name, uint64_t *out);
bool maki_line_object(maki_str row, maki_str *object);
maki_status maki_file_size_of(const maki_env *env, int fd, uint64_t *out, maki_err *err);

/* Header and records of the index on disk (verify_index.c). */
maki_status maki_verify_index(checking *c, const char *family, maki_err *err);
/* Numbers, sums and heads of the events (verify_events.c). */
maki_status maki_verify_events(checking *c, maki_err *err);

#endif
