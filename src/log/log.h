/* log.h -- the messages of a conversation, exactly as they happened, and the events about them.
 *
 * Two files of JSON lines that a person can read, and an index:
 *
 *     messages.jsonl   one message a row; row n is message n (a session's file has a header row first)
 *     events.jsonl     what was done about them; {"ev", "at", "ts", "type", "head", ..., "sum"}
 *     messages.idx     derived; made again when it is missing or stale
 *
 * Append-only: a row never changes once it is written.  Each row's hash covers the row and the hash
 * before it (the chain); each event names the head of that chain, and its own `sum` covers the event
 * and the sum before it.  So a changed byte anywhere is found (verify.h).
 *
 * Any number of processes may read; one writes at a time, under a lock that is held for one group of
 * rows and events.  Readers wait for no lock and never see half a row.  Acknowledged means durable: when
 * maki_log_commit returns MAKI_OK under MAKI_SYNC, a power cut does not lose the group.
 *
 * log/ does not know what a message is: facts about a row, and its tokens, come from functions handed
 * in.  A maki_log belongs to the thread that opened it; open one per thread.  When many rows have to
 * be counted at once (a long import, an index that is made again) it starts threads of its own for
 * that, which call nothing but the tokens function and are gone when it is done. */
#ifndef MAKI_LOG_LOG_H
#define MAKI_LOG_LOG_H

#include "base/arena.h"
#include "base/block.h"
#include "base/buf.h"
#include "log/batch_counter.h"

typedef struct maki_log maki_log;

typedef struct maki_facts {
    MAKI_FACT_MAP(MAKI_FACT_FIELD) /* kept in the record (index.h) */
    maki_hint hint;                /* not kept: for the tokens function */
} maki_facts;

/* Look at row `seq`.  MAKI_INVALID when it cannot be a message: then it is not appended; a row that
 * already stands in the file gets the flag MAKI_ROW_BAD instead.  Rows are looked at in order, by the
 * log's own thread. */
typedef maki_status (*maki_facts_fn)(void *ctx, maki_log *log, uint64_t seq, maki_str row,
                                     maki_facts *out, maki_err *err);

/* How far a long work has come, in bytes; not MAKI_OK stops it with that status. */
typedef maki_status (*maki_log_progress)(void *ctx, uint64_t done, uint64_t total);

/* Told what was written where, once a group is complete: "these bytes stand at this place".  A group
 * that was too long to be kept is told without its bytes (ptr NULL): then only a sync makes it durable. */
typedef enum maki_log_part { MAKI_LOG_MESSAGES, MAKI_LOG_EVENTS } maki_log_part;
typedef void (*maki_log_wrote_fn)(void *ctx, maki_log_part part, uint64_t at, maki_str bytes);

typedef enum maki_durability {
    MAKI_SYNC,  /* durable when commit returns */
    MAKI_REPLY, /* written when commit returns; durable when who hears of it (`wrote`) syncs */
    MAKI_LAZY   /* the same, for many rows: published as they are written; synced at the end */
} maki_durability;

typedef struct maki_log_options {
    bool create; /* make it if it is not there */
    bool
        read_only; /* never write, not even the index; rows that it does not have are seen all the same */
    bool
        looks; /* to read, too; but an index that is missing or behind is put right where that may be
                     * written and nobody is writing: who looks next finds it */
    bool repair;    /* accept a messages file that is shorter than it was */
    bool rehearse;  /* what is done to it is seen by this handle alone, and gone with it */
    bool from_rows; /* for verify.c: read only, believe neither the index nor the events */
    maki_durability durability;
    uint64_t max_row_bytes; /* 0: MAKI_ROW_MAX; larger rows are refused with MAKI_TOOBIG */
    const char *family;     /* of the tokens that `tokens` counts */
    maki_facts_fn facts;
    void *facts_ctx;
    maki_tokens_fn tokens;
    void *tokens_ctx;
    size_t threads;  /* that count when there is much: 0: one a core; 1: only the caller's */
    maki_str header; /* a header row for a new session; len 0: none */
    maki_log_progress progress; /* of making an index of more than a megabyte again; or NULL */
    void *progress_ctx;
    maki_log_wrote_fn wrote; /* or NULL */
    void *wrote_ctx;
} maki_log_options;
#define MAKI_ROW_MAX ((uint64_t)512 << 20)
enum {
    MAKI_THREADS_WORTHWHILE = 1 << 20
}; /* bytes of rows that are worth threads of our own to count */

/* Open the log whose messages file is `path`, bring its index up to date and cut a torn last row
 * (with a `damage` event that keeps what was cut).  Where nothing may be written it is opened for
 * reading.  MAKI_NOTFOUND: it is not there and may not be made.  MAKI_CORRUPT: rows that were there
 * are gone.  On MAKI_OK the caller owns *out and ends it with maki_log_close(). */
maki_status maki_log_open(const maki_env *env, const char *path, const maki_log_options *options,
                          maki_log **out, maki_err *err) MAKI_MUST_CHECK;
void maki_log_close(maki_log *log); /* accepts NULL */

/* See what other processes have added. */
maki_status maki_log_refresh(maki_log *log, maki_err *err);

/* Nothing may be written; of one that looks: nothing could be. */
bool maki_log_read_only(const maki_log *log);
const maki_env *maki_log_env(const maki_log *log);
const char *maki_log_path(const maki_log *log);
uint64_t maki_log_base(const maki_log *log);   /* the last message of the parent; 0 unless a fork */
uint64_t maki_log_last(const maki_log *log);   /* the newest message, maki_log_base() when none */
uint64_t maki_log_events(const maki_log *log); /* the number of the newest event, 0 when none */
/* The chain after the newest message. */
const unsigned char *maki_log_head(const maki_log *log);
uint64_t maki_log_tokens(const maki_log *log); /* of all its messages */

/* The record of a message of this log (seq > base). */
maki_status maki_log_row(maki_log *log, uint64_t seq, maki_row *out, maki_err *err);
/* Its bytes, appended to `out` and checked against the record: MAKI_CORRUPT when they changed. */
maki_status maki_log_read(maki_log *log, uint64_t seq, maki_buf *out, maki_err *err);
/* For who reads row after row: a stretch of the messages file, read at a time.  It begins small and grows while
 * rows follow on each other, so that one row costs no more than before and many cost few calls.  Starts out zeroed;
 * belongs to one walk, and is not kept while rows are added. */
typedef struct maki_log_window {
    const maki_log *log; /* whose bytes these are; NULL: nobody's */
    const maki_alloc *alloc;
    maki_block block;
    uint64_t at; /* in the file */
    size_t len;
} maki_log_window;
enum { MAKI_LOG_WINDOW_MAX = 256 << 10 };
/* Like maki_log_read, for a row of at most MAKI_LOG_WINDOW_MAX bytes and its record; *out is borrowed until the next
 * call. */
maki_status maki_log_read_on(maki_log *log, uint64_t seq, const maki_row *row,
                             maki_log_window *window, maki_str *out, maki_err *err);
void maki_log_window_free(maki_log_window *window); /* accepts one that is zeroed */
/* The bytes of messages [from, to] as they stand in the file, newlines included, to a sink; each row
 * checked like in maki_log_read before it goes out (one longer than a megabyte: after). */
maki_status maki_log_copy(maki_log *log, uint64_t from, uint64_t to, maki_sink sink, maki_err *err);

/* Called for each event row in order, `at` being its place in the file; not MAKI_OK stops. */
typedef maki_status (*maki_event_fn)(void *ctx, uint64_t ev, maki_str row, uint64_t at,
                                     maki_err *err);
maki_status maki_log_each_event(maki_log *log, maki_event_fn fn, void *ctx, maki_err *err);
/* The same for those after event `ev`, which ends at `at` in the file. */
maki_status maki_log_each_event_from(maki_log *log, uint64_t ev, uint64_t at, maki_event_fn fn,
                                     void *ctx, maki_err *err);
/* A span of the events file, appended to `out`. */
maki_status maki_log_event_bytes(maki_log *log, uint64_t at, uint64_t len, maki_buf *out,
                                 maki_err *err);
/* The newest events, whole rows of at most `most` bytes together, appended to `out`. */
maki_status maki_log_newest_events(maki_log *log, size_t most, maki_buf *out, maki_err *err);

/* ---- writing: begin, add, commit ----------------------------------------------------------------- */

/* Take the lock and see what others have added.  With `expect` (a chain), MAKI_CONFLICT when the head
 * has moved: read again and decide again.  After MAKI_OK the group must be committed or aborted. */
maki_status maki_log_begin(maki_log *log, const unsigned char *expect, maki_err *err)
    MAKI_MUST_CHECK;
/* The same for a group of rows alone; it looks at one file less. */
maki_status maki_log_begin_rows(maki_log *log, const unsigned char *expect, maki_err *err)
    MAKI_MUST_CHECK;
/* A row: one JSON object without a newline. */
maki_status maki_log_add_row(maki_log *log, maki_str row, uint64_t *seq, maki_err *err);
/* An event; `fields` is the inside of an object ("\"seq\":4"), or empty.  */
maki_status maki_log_add_event(maki_log *log, const char *type, maki_str fields, uint64_t *ev,
                               maki_err *err);
/* All of the group is there when this returns MAKI_OK, else none of it. */
maki_status maki_log_commit(maki_log *log, maki_err *err) MAKI_MUST_CHECK;
void maki_log_abort(maki_log *log);
/* Rows are published as they are written: a group may have any number of them. */
bool maki_log_lazy(const maki_log *log);

/* ---- a dry run ------------------------------------------------------------------------------------- */

/* Where a dry run began. */
typedef struct maki_log_mark {
    uint64_t events_end, ev;
    unsigned char sum[MAKI_CHAIN_LEN];
    bool rehearse, read_only;
} maki_log_mark;
/* Until maki_log_rehearse_end this handle is as if it had been opened with options.rehearse; then its events of
 * that time are gone.  One may stand in another.  MAKI_DENIED: it could not be done in earnest. */
maki_status maki_log_dry_run(maki_log *log, maki_log_mark *mark, maki_err *err);
void maki_log_dry_run_end(maki_log *log, const maki_log_mark *mark);

/* ---- for verify.c --------------------------------------------------------------------------------- */

/* chain = SHA-256(before, bytes), cut to MAKI_CHAIN_LEN; `out` may be `before`. */
void maki_chain_next(const unsigned char before[MAKI_CHAIN_LEN], maki_str bytes,
                     unsigned char out[MAKI_CHAIN_LEN]);
/* A JSON value that is a chain as it is written, 32 hexadecimal digits; false: it is not. */
bool maki_chain_of(maki_str string, unsigned char out[MAKI_CHAIN_LEN]);
uint64_t maki_row_hash(maki_str row);
/* The same in pieces. */
typedef struct maki_row_hasher {
    _Alignas(64) unsigned char state[640];
} maki_row_hasher;
void maki_row_hasher_begin(maki_row_hasher *hasher);
void maki_row_hasher_add(maki_row_hasher *hasher, maki_str bytes);
uint64_t maki_row_hasher_end(const maki_row_hasher *hasher);
/* Where the pieces are. */
typedef struct maki_log_files {
    int messages_fd, events_fd; /* -1: none */
    uint64_t header_len;        /* bytes of the header row with its newline */
    const char *events_path, *index_path;
    maki_index *index;
} maki_log_files;
maki_log_files maki_log_paths(maki_log *log);
/* The part of an event row that its sum covers, and the sum; false when the row has none. */
bool maki_event_sum(maki_str row, maki_str *covered, unsigned char sum[MAKI_CHAIN_LEN]);

#endif
