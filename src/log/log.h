/* log.h -- the messages of a conversation, exactly as they were appended, and the events about them.
 *
 * Two files of JSON lines that a person can read, and an index:
 *
 *     messages.jsonl   one message a row; row n is message n (a session's file has a header row first)
 *     events.jsonl     what was done to them; {"ev", "at", "ts", "type", "head", ..., "sum"}
 *     messages.idx     derived; rebuilt when it is missing or stale
 *
 * Append-only: a row never changes once it is written.  Each row's hash covers the row and the hash
 * before it (the chain); each event names the head of that chain, and its own `sum` covers the event
 * and the sum before it.  So a changed byte anywhere is found (verify.h).
 *
 * Any number of processes may read; one writes at a time, under a lock that is held for one group of
 * rows and events.  Readers wait for no lock and never see an incomplete row.  Acknowledged means durable: when
 * maki_log_commit returns MAKI_OK under MAKI_DURABILITY_SYNC, a power failure does not lose the group.
 *
 * log/ does not know what a message is: facts about a row, and its tokens, come from callbacks.
 * A maki_log belongs to the thread that opened it; open one per thread.  When many rows have to
 * be counted at once (a long import, a rebuilt index) it starts threads for that; they call nothing but the
 * tokens function and end with the import or rebuild. */
#ifndef MAKI_LOG_LOG_H
#define MAKI_LOG_LOG_H

#include "base/arena.h"
#include "base/block.h"
#include "base/buf.h"
#include "base/limits.h"
#include "log/token_batches.h"

typedef struct maki_log maki_log;

typedef struct maki_row_facts {
    MAKI_ROW_FACT_MAP(MAKI_ROW_FACT_FIELD) /* stored in the record (index.h) */
    maki_row_spans spans;                  /* not stored: for the tokens function */
} maki_row_facts;

/* Find the facts of row `seq`.  MAKI_INVALID when it cannot be a message: then it is not appended; a row that
 * is in the file already gets the flag MAKI_ROW_NOT_MESSAGE instead.  Called for the rows in order, in the
 * log's own thread. */
typedef maki_status (*maki_row_facts_fn)(void *ctx, maki_log *log, uint64_t seq, maki_str row,
                                         maki_row_facts *out, maki_err *err);

/* The progress of a long operation, in bytes; not MAKI_OK stops it with that status. */
typedef maki_status (*maki_log_progress)(void *ctx, uint64_t done, uint64_t total);

/* Called for each file once a group is written: these bytes are at this offset.  For a group that was too long to be
 * buffered `bytes` has no pointer (NULL): then only a sync makes it durable. */
typedef enum maki_log_part { MAKI_LOG_MESSAGES, MAKI_LOG_EVENTS } maki_log_part;
typedef void (*maki_log_write_fn)(void *ctx, maki_log_part part, uint64_t offset, maki_str bytes);

typedef enum maki_durability {
    MAKI_DURABILITY_SYNC, /* durable when commit returns */
    MAKI_DURABILITY_BY_CALLER, /* written when commit returns; durable when the on_write callback's owner syncs */
    MAKI_DURABILITY_AT_END /* the same, for many rows: published as they are written; synced at the end */
} maki_durability;

typedef struct maki_log_options {
    bool create;    /* create the files if missing */
    bool read_only; /* never write, not even the index; rows missing in it are read nevertheless */
    bool
        share_index; /* read-only, but an index that is missing or stale is updated on disk, for the next
                         * reader too, if it may be written and no process is writing */
    bool repair;        /* accept a messages file that is shorter than before */
    bool dry_run;       /* changes are visible to this handle alone and end with it */
    bool messages_only; /* for verify.c: read-only, trusting neither the index nor the events */
    maki_durability durability;
    uint64_t max_row_bytes; /* 0: MAKI_ROW_MAX; larger rows are refused with MAKI_TOOBIG */
    const char *encoding;   /* of the tokens that `tokens` counts */
    maki_row_facts_fn facts;
    void *facts_ctx;
    maki_tokens_fn tokens;
    void *tokens_ctx;
    size_t threads;             /* that count many rows: 0: one per core; 1: only the caller's */
    maki_str header;            /* a header row for a new session; len 0: none */
    maki_log_progress progress; /* of rebuilding an index of more than a megabyte; or NULL */
    void *progress_ctx;
    maki_log_write_fn on_write; /* or NULL */
    void *on_write_ctx;
} maki_log_options;
#define MAKI_ROW_MAX ((uint64_t)512 << 20)
enum {
    MAKI_THREADS_MIN_BYTES = 1 << 20
}; /* fewer bytes of rows are counted without extra threads */

/* Open the log whose messages file is `path`, update its index and cut off a torn last row
 * (a `damage` event stores the bytes).  Without write permission it is opened
 * read-only.  MAKI_NOTFOUND: it does not exist and may not be created.  MAKI_CORRUPT: rows
 * are missing.  On MAKI_OK the caller owns *out and ends it with maki_log_close(). */
maki_status maki_log_open(const maki_env *env, const char *path, const maki_log_options *options,
                          maki_log **out, maki_err *err) MAKI_MUST_CHECK;
void maki_log_close(maki_log *log); /* accepts NULL */

/* Read what other processes have added. */
maki_status maki_log_refresh(maki_log *log, maki_err *err);

/* This handle cannot write; with share_index: no write permission. */
bool maki_log_read_only(const maki_log *log);
const maki_env *maki_log_env(const maki_log *log);
const char *maki_log_path(const maki_log *log);
uint64_t maki_log_base(const maki_log *log);   /* the last message of the parent; 0: not a fork */
uint64_t maki_log_last(const maki_log *log);   /* the newest message, maki_log_base() when none */
uint64_t maki_log_events(const maki_log *log); /* the number of the newest event, 0 when none */
/* Where a fork left its parent; found false: not a fork. */
typedef struct maki_log_fork {
    bool found;
    char parent[256]; /* its id */
    uint64_t seq, ev; /* its last message and event */
} maki_log_fork;
const maki_log_fork *maki_log_fork_of(const maki_log *log);
/* The chain after the newest message. */
const unsigned char *maki_log_head(const maki_log *log);
uint64_t maki_log_tokens(const maki_log *log); /* of all its messages */

/* The record of a message of this log (seq > base). */
maki_status maki_log_row(maki_log *log, uint64_t seq, maki_index_record *out, maki_err *err);
/* Its bytes, appended to `out` and checked against the record: MAKI_CORRUPT when they changed. */
maki_status maki_log_read(maki_log *log, uint64_t seq, maki_buf *out, maki_err *err);
/* A read-ahead buffer for reading row after row.  It begins small and doubles while reading is sequential, so that
 * one row costs one small read and many rows cost few calls.  Starts out zeroed; valid until rows are added. */
typedef struct maki_log_window {
    const maki_log *log; /* that the bytes are from; NULL: empty */
    const maki_alloc *alloc;
    maki_block block;
    uint64_t offset; /* in the file */
    size_t len;
} maki_log_window;
enum { MAKI_LOG_WINDOW_MAX = 256 << 10 };
/* Like maki_log_read, for a row of at most MAKI_LOG_WINDOW_MAX bytes and its record; *out is borrowed until the next
 * call. */
maki_status maki_log_read_buffered(maki_log *log, uint64_t seq, const maki_index_record *row,
                                   maki_log_window *window, maki_str *out, maki_err *err);
void maki_log_window_free(maki_log_window *window); /* accepts a zeroed one */
/* Write the bytes of messages [from, to], newlines included, to a sink; each row is checked as in maki_log_read
 * before it is written (one longer than a megabyte: after). */
maki_status maki_log_copy(maki_log *log, uint64_t from, uint64_t to, maki_sink sink, maki_err *err);

/* Called for each event row in order; not MAKI_OK stops. */
typedef maki_status (*maki_event_fn)(void *ctx, uint64_t ev, maki_str row, uint64_t offset,
                                     maki_err *err);
maki_status maki_log_each_event(maki_log *log, maki_event_fn fn, void *ctx, maki_err *err);
/* The same for those after event `ev`, which ends at `offset`. */
maki_status maki_log_each_event_from(maki_log *log, uint64_t ev, uint64_t offset, maki_event_fn fn,
                                     void *ctx, maki_err *err);
/* The fields at the beginning of every event. */
typedef struct maki_event_head {
    uint64_t ev, at;
    int64_t ts;
    maki_str type; /* escaped, without quotes; borrowed from the row */
} maki_event_head;
/* Read them from a row, or from its first bytes; false: it does not begin with these fields. */
bool maki_event_head_of(maki_str row, maki_event_head *out);
/* Find, by binary search in the file, the first event whose number, or whose `at`, is at least `value`; both only grow.
 * *ev is its number and *offset where it begins; 0 and the end of the file: there is none. */
typedef enum maki_event_key { MAKI_EVENT_BY_NUMBER, MAKI_EVENT_BY_MESSAGE } maki_event_key;
maki_status maki_log_find_event(maki_log *log, maki_event_key key, uint64_t value, uint64_t *ev,
                                uint64_t *offset, maki_err *err);
/* Call `fn` for each event from that one on, until it returns MAKI_CANCELLED, which is no failure here. */
maki_status maki_log_each_event_until(maki_log *log, maki_event_key key, uint64_t value,
                                      maki_event_fn fn, void *ctx, maki_err *err);
/* A range of the events file, appended to `out`. */
maki_status maki_log_event_bytes(maki_log *log, uint64_t offset, uint64_t len, maki_buf *out,
                                 maki_err *err);
/* The newest events, complete rows of at most `max` bytes together, appended to `out`. */
maki_status maki_log_newest_events(maki_log *log, size_t max, maki_buf *out, maki_err *err);

/* ---- writing: begin, add, commit ----------------------------------------------------------------- */

/* Take the lock and read what others have added.  With `expect` (a chain), MAKI_CONFLICT when the head
 * is another one: the caller reads and retries.  After MAKI_OK the group must be committed or aborted. */
maki_status maki_log_begin(maki_log *log, const unsigned char *expect, maki_err *err)
    MAKI_MUST_CHECK;
/* The same for a group of rows only; it checks one file less. */
maki_status maki_log_begin_rows(maki_log *log, const unsigned char *expect, maki_err *err)
    MAKI_MUST_CHECK;
/* Add a row: one JSON object without a newline. */
maki_status maki_log_add_row(maki_log *log, maki_str row, uint64_t *seq, maki_err *err);
/* Add an event; `fields` is what is between the braces of an object ("\"seq\":4"), or empty. */
maki_status maki_log_add_event(maki_log *log, const char *type, maki_str fields, uint64_t *ev,
                               maki_err *err);
/* MAKI_OK: all of the group is written; else none of it. */
maki_status maki_log_commit(maki_log *log, maki_err *err) MAKI_MUST_CHECK;
void maki_log_abort(maki_log *log);
/* Commit when `st` is MAKI_OK, else abort and return `st`. */
maki_status maki_log_end(maki_log *log, maki_status st, maki_err *err);
/* MAKI_DURABILITY_AT_END: rows are published as they are written, so the size of a group is unlimited. */
bool maki_log_syncs_at_end(const maki_log *log);

/* ---- a dry run ------------------------------------------------------------------------------------- */

/* The state at the beginning of a dry run. */
typedef struct maki_log_savepoint {
    uint64_t events_end, ev;
    unsigned char sum[MAKI_CHAIN_LEN];
    bool dry_run, read_only;
} maki_log_savepoint;
/* Until maki_log_dry_run_end this handle behaves as if opened with options.dry_run; then its events since are
 * discarded.  May be nested.  MAKI_DENIED: this handle cannot write. */
maki_status maki_log_dry_run_begin(maki_log *log, maki_log_savepoint *mark, maki_err *err);
void maki_log_dry_run_end(maki_log *log, const maki_log_savepoint *mark);

/* ---- for verify.c --------------------------------------------------------------------------------- */

/* chain = SHA-256(before, bytes), cut to MAKI_CHAIN_LEN; `out` may be `before`. */
void maki_chain_next(const unsigned char before[MAKI_CHAIN_LEN], maki_str bytes,
                     unsigned char out[MAKI_CHAIN_LEN]);
/* Decode a JSON string of 32 hexadecimal digits; false: it is not one. */
bool maki_chain_parse(maki_str string, unsigned char out[MAKI_CHAIN_LEN]);
uint64_t maki_row_hash(maki_str row);
/* The same, incrementally. */
typedef struct maki_row_hasher {
    _Alignas(64) unsigned char state[640];
} maki_row_hasher;
void maki_row_hasher_begin(maki_row_hasher *hasher);
void maki_row_hasher_add(maki_row_hasher *hasher, maki_str bytes);
uint64_t maki_row_hasher_end(const maki_row_hasher *hasher);
/* The open files of a log. */
typedef struct maki_log_files {
    int messages_fd, events_fd; /* -1: none */
    uint64_t header_len;        /* bytes of the header row with its newline */
    const char *events_path, *index_path;
    maki_index *index;
} maki_log_files;
maki_log_files maki_log_open_files(maki_log *log);
/* The paths that belong to a messages file.  MAKI_INVALID: `path` does not end with .jsonl, or is an events file. */
typedef struct maki_log_file_paths {
    char messages[MAKI_PATH_MAX], events[MAKI_PATH_MAX], index[MAKI_PATH_MAX];
} maki_log_file_paths;
maki_status maki_log_file_paths_of(const char *path, maki_log_file_paths *out, maki_err *err);
/* The part of an event row that its sum covers, and the sum; false when the row has none. */
bool maki_event_parse_sum(maki_str row, maki_str *covered, unsigned char sum[MAKI_CHAIN_LEN]);

#endif
