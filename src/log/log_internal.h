/* log_internal.h -- the parts of a log: opening (log.c), its index (log_index.c, log_rows.c), its torn ends (log_tail.c),
 * reading (log_read.c), writing (log_write.c) and dry runs (dry_run.c).  Each function belongs to the thread of the log. */
#ifndef MAKI_LOG_LOG_INTERNAL_H
#define MAKI_LOG_LOG_INTERNAL_H

#include "base/limits.h"
#include "log/log.h"

enum {
    BLOCK = 1 << 20,        /* bytes read and written at a time */
    ROWS_MAX = 1024,        /* records added to the index at a time */
    RETAINED_MAX = 1 << 16, /* bytes that a buffer retains between groups */
    EVENT_MAX = 1 << 28
};

struct maki_log {
    maki_env env;
    maki_log_options options;
    int messages_fd, events_fd;
    int shared_events_fd; /* the events file while events_fd is the copy of a dry run; else -1 */
    bool read_only;       /* this handle does not write messages and events */
    bool denied;          /* no write permission */
    bool events_copied;   /* events_fd is the copy of a dry run */
    maki_index index;
    uint64_t header_len;
    unsigned char start[MAKI_CHAIN_LEN]; /* the chain before row 1 */
    maki_log_fork fork;

    /* the published state */
    unsigned char head[MAKI_CHAIN_LEN];
    uint64_t tokens; /* of all rows */
    uint64_t events_end;
    uint64_t ev;
    unsigned char sum[MAKI_CHAIN_LEN];

    /* the open group */
    bool locked;
    maki_buf rows;        /* not written yet */
    uint64_t written_end; /* where the next row is written */
    size_t record_count;  /* in `records` */
    maki_token_batches
        *token_batches;     /* counts many rows in batches; NULL: rows are counted one by one */
    bool counter_writes;    /* its rows are new and have to be written */
    bool rows_begun;        /* some of its rows may be in the file already */
    bool events_after_rows; /* an event was added after rows of the group */
    maki_buf events;
    uint64_t events_added;
    unsigned char new_head[MAKI_CHAIN_LEN], new_sum[MAKI_CHAIN_LEN];
    uint64_t new_tokens;

    uint64_t progress_done, progress_total; /* bytes, for options.progress */

    /* From here on nothing is zeroed at open: unused memory is not touched. */
    maki_log_file_paths paths;
    maki_index_record records[ROWS_MAX];
};

/* ---- log.c ---- */

maki_status maki_log_open_events(maki_log *log, bool create, maki_err *err);
/* Read the events that were added. */
maki_status maki_log_refresh_events(maki_log *log, maki_err *err);
/* The end of the last published row in the file. */
uint64_t maki_log_published_end(const maki_log *log);
maki_status maki_log_lock(maki_log *log, maki_err *err);
void maki_log_unlock(maki_log *log);
/* MAKI_CORRUPT: the open files are not the ones of these paths any more. */
maki_status maki_log_check_paths(const maki_log *log, maki_err *err);
/* Under the lock: no other process has written since our last group. */
bool maki_log_is_unchanged(const maki_log *log);
typedef enum maki_recovery {
    MAKI_RECOVER_OPEN, /* nothing has been read yet */
    MAKI_RECOVER_ROWS, /* only rows will be added: a missing events file is not looked up again */
    MAKI_RECOVER_ALL
} maki_recovery;
/* Under the lock: index all rows, read all events, cut torn ends off. */
maki_status maki_log_recover(maki_log *log, maki_recovery mode, maki_err *err);

/* ---- log_rows.c ---- */

/* Load the state after the last published record: head, tokens, written_end. */
maki_status maki_log_load_head(maki_log *log, maki_err *err);
/* Index the rows after the end of the index; *end is one past the last complete row. */
maki_status maki_log_catch_up(maki_log *log, uint64_t *end, maki_err *err);
/* The number of the next row, pending ones counted. */
uint64_t maki_log_next_seq(const maki_log *log);
/* The record of a row at `offset`, without its tokens. */
maki_index_record maki_log_make_record(const maki_log *log, maki_str row, uint64_t offset,
                                       const maki_row_facts *facts);
/* Count a row and add its record to those that the next publish writes. */
maki_status maki_log_add_record(maki_log *log, maki_str row, const maki_index_record *record,
                                const maki_row_spans *spans, maki_err *err);
maki_status maki_log_publish(maki_log *log, maki_err *err);
/* Count the next rows in batches, if there is more than one thread; `writes`: they are new and have to be written. */
maki_status maki_log_begin_batches(maki_log *log, bool writes, maki_err *err);
maki_status maki_log_add_to_batch(maki_log *log, maki_str row, const maki_index_record *record,
                                  const maki_row_spans *spans, maki_err *err);
/* Submit the current batch, writing it when it is new; publish the batches that are counted, or all. */
maki_status maki_log_flush_batches(maki_log *log, bool all, maki_err *err);
void maki_log_end_batches(maki_log *log);

/* ---- log_tail.c ---- */

/* Read the events that were added; *end is one past the last complete one. */
maki_status maki_log_read_tail(maki_log *log, uint64_t *end, maki_err *err);
/* Truncate the file to `end`, after a damage event with the bytes has become durable. */
maki_status maki_log_truncate_tail(maki_log *log, int fd, uint64_t end, maki_err *err);

/* ---- log_write.c ---- */

/* Write, sync and publish the group; the lock stays held. */
maki_status maki_log_commit_locked(maki_log *log, maki_err *err);
void maki_log_discard_group(maki_log *log);
maki_status maki_log_writable(const maki_log *log, maki_err *err);
/* Store the number of events in the index.  One that is too small is harmless. */
void maki_log_store_event_count(maki_log *log);

/* ---- log_index.c ---- */

/* Open or rebuild the index and index new rows; *end is one past the last of them. */
maki_status maki_log_open_index(maki_log *log, uint64_t *end, maki_err *err);
/* Rebuild the index from the log. */
maki_status maki_log_rebuild(maki_log *log, uint64_t *end, maki_err *err);
/* For a reader with a valid index: index the rows that are missing in it; the file has `size` bytes. */
maki_status maki_log_index_new_rows(maki_log *log, uint64_t size, uint64_t *end, maki_err *err);
/* Fail with MAKI_CORRUPT: the messages file has `size` bytes, fewer than in the index. */
maki_status maki_log_fail_truncated(const maki_log *log, uint64_t size, maki_err *err);
/* MAKI_CORRUPT when there are fewer events than the index has counted. */
maki_status maki_log_check_events(maki_log *log, maki_err *err);

/* ---- dry_run.c ---- */

/* In a dry run, in place of the lock: from now on events_fd is a private copy. */
maki_status maki_log_copy_events(maki_log *log, maki_err *err);

#endif
