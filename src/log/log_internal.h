/* log_internal.h -- the inside of a log, for the files of this folder that are parts of it. */
#ifndef MAKI_LOG_LOG_INTERNAL_H
#define MAKI_LOG_LOG_INTERNAL_H

#include "base/limits.h"
#include "log/log.h"

enum {
    BLOCK = 1 << 20,     /* read and written at a time */
    ROWS_AT_ONCE = 1024, /* records given to the index at a time */
    KEPT = 1 << 16,      /* bytes that a buffer keeps between groups */
    EVENT_MAX = 1 << 28
};

struct maki_log {
    maki_env env;
    maki_log_options options;
    int messages_fd, events_fd;
    int shared_fd;  /* the events file, while events_fd is the copy of a rehearsal; else -1 */
    bool read_only; /* messages and events are not written by this handle */
    bool denied;    /* nor may they be */
    bool apart;     /* events_fd is the copy of a rehearsal */
    maki_index index;
    uint64_t header_len;
    unsigned char start[MAKI_CHAIN_LEN]; /* the chain before row 1 */
    uint64_t base;

    /* what is published */
    unsigned char head[MAKI_CHAIN_LEN];
    uint64_t tokens; /* of all rows */
    uint64_t events_end;
    uint64_t ev;
    unsigned char sum[MAKI_CHAIN_LEN];

    /* the open group */
    bool locked;
    maki_buf rows;              /* not yet written */
    uint64_t written_end;       /* rows are written up to here */
    size_t record_count;        /* in `records` */
    maki_batch_counter *intake; /* where there are many rows they go this way; else NULL */
    bool intake_writes;         /* they are new ones */
    bool rows_begun;            /* some of its rows may stand in the file already */
    bool seals_rows;            /* an event was added after rows of the group */
    maki_buf events;
    uint64_t events_added;
    unsigned char new_head[MAKI_CHAIN_LEN], new_sum[MAKI_CHAIN_LEN];
    uint64_t new_tokens;

    uint64_t told, to_tell; /* bytes, for options.progress */

    /* From here on nothing is zeroed at open: memory that is not used is not touched either. */
    char path[MAKI_PATH_MAX], events_path[MAKI_PATH_MAX], index_path[MAKI_PATH_MAX];
    maki_row records[ROWS_AT_ONCE];
};

/* ---- log.c ---- */

maki_status maki_log_open_events(maki_log *log, bool create, maki_err *err);
/* See the events that have come. */
maki_status maki_log_refresh_events(maki_log *log, maki_err *err);
/* One past the last row that is published. */
uint64_t maki_log_published_end(const maki_log *log);
maki_status maki_log_lock(maki_log *log, maki_err *err);
void maki_log_unlock(maki_log *log);
/* The open files are still the ones of these names. */
maki_status maki_log_check_names(const maki_log *log, maki_err *err);
/* Under the lock: nobody has written since our last group, so all of it is known. */
bool maki_log_untouched(const maki_log *log);
typedef enum maki_recovery {
    MAKI_RECOVER_OPEN, /* nothing is known yet */
    MAKI_RECOVER_ROWS, /* only rows will be added: an events file that was not there is not looked for */
    MAKI_RECOVER_ALL
} maki_recovery;
/* Under the lock: everything is taken in and nothing is torn. */
maki_status maki_log_recover(maki_log *log, maki_recovery what, maki_err *err);

/* ---- log_rows.c ---- */

/* The state after the last published record. */
maki_status maki_log_load_head(maki_log *log, maki_err *err);
/* Take in what stands after the index's end; *end is one past the last whole row. */
maki_status maki_log_catch_up(maki_log *log, uint64_t *end, maki_err *err);
/* The number of the row that comes next, those waiting included. */
uint64_t maki_log_next_seq(const maki_log *log);
/* The record of a row that stands, or will stand, at `at`; its tokens are not in it yet. */
maki_row maki_log_make_record(const maki_log *log, maki_str row, uint64_t at,
                              const maki_facts *facts);
/* Count a row here and keep its record until the next are published. */
maki_status maki_log_add_record(maki_log *log, maki_str row, const maki_row *record,
                                const maki_hint *hint, maki_err *err);
maki_status maki_log_publish(maki_log *log, maki_err *err);
/* From here on rows go in batches, if there is more than one thread for it. */
maki_status maki_log_begin_batches(maki_log *log, bool writes, maki_err *err);
maki_status maki_log_add_to_batch(maki_log *log, maki_str row, const maki_row *record,
                                  const maki_hint *hint, maki_err *err);
/* Hand over what has been filled, writing it when it is new; publish what has been counted, or all. */
maki_status maki_log_flush_batches(maki_log *log, bool all, maki_err *err);
void maki_log_end_batches(maki_log *log);

/* ---- log_tail.c ---- */

/* Read on from where the events were known to end; *end is one past the last whole one. */
maki_status maki_log_read_tail(maki_log *log, uint64_t *end, maki_err *err);
/* Cut what stands from `end` on off the file, the bytes kept by a damage event that is durable before. */
maki_status maki_log_cut_tail(maki_log *log, int fd, uint64_t end, maki_err *err);

/* ---- log_write.c ---- */

/* Write, sync and publish the group; the lock stays. */
maki_status maki_log_finish(maki_log *log, maki_err *err);
void maki_log_discard_group(maki_log *log);
maki_status maki_log_writable(const maki_log *log, maki_err *err);
/* In the index: how many events there are.  Fewer than there are is no harm. */
void maki_log_note_events(maki_log *log);

/* ---- log_index.c ---- */

/* Open or make the index and take in new rows; *end is one past the last of them. */
maki_status maki_log_open_index(maki_log *log, uint64_t *end, maki_err *err);
/* Make it again from the log. */
maki_status maki_log_rebuild(maki_log *log, uint64_t *end, maki_err *err);
/* For a reader whose index stands: take in the rows that it does not have, of a file of `size` bytes. */
maki_status maki_log_index_new_rows(maki_log *log, uint64_t size, uint64_t *end, maki_err *err);
/* MAKI_CORRUPT: the messages file has `size` bytes, fewer than the index says. */
maki_status maki_log_shorter(const maki_log *log, uint64_t size, maki_err *err);
/* The index remembers how many events there were: MAKI_CORRUPT when there are fewer now. */
maki_status maki_log_check_events(maki_log *log, maki_err *err);

/* ---- dry_run.c ---- */

/* In place of the lock, in a rehearsal: from now on the events are a copy of our own (dry_run.c). */
maki_status maki_log_save_tail(maki_log *log, maki_err *err);

#endif
