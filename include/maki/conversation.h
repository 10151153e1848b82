/* conversation.h -- the API of a conversation: append to it, iterate over it, read any revision of it.
 *
 * A conversation is an append-only log of messages and the events about them.  Nothing in it is ever
 * changed or removed; a model is shown a view, and every earlier view can be read again.
 * What changes a view (condensing, rewinding ...) is an operation (op.h).
 *
 * A handle belongs to the thread that opened it; any number of processes may have the same
 * conversation open.  A long import, and rebuilding the index of a long conversation, start threads: then the allocator of
 * the handle's environment is called by several threads at once. */
#ifndef MAKI_CONVERSATION_H
#define MAKI_CONVERSATION_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/op.h>

MAKI_BEGIN_DECLS

typedef struct maki_conversation maki_conversation;

typedef enum maki_open_mode {
    MAKI_OPEN,        /* to read and write; MAKI_NOTFOUND if it does not exist */
    MAKI_OPEN_CREATE, /* the same, created if missing */
    MAKI_OPEN_READ,   /* never writes, not even an index */
    MAKI_OPEN_READ_SHARED /* to read: a missing index is built, and written if permitted; never waits for
                    * a writer */
} maki_open_mode;

/* `path` is the messages file (it ends with .jsonl), a directory with messages.jsonl in it, or the name of
 * a task, a session or a session key (agent:AGENT:KEY).  On
 * MAKI_OK the caller owns *out and ends it with maki_conversation_close(). */
MAKI_API maki_status maki_conversation_open(maki *m, const char *path, maki_open_mode mode,
                                            maki_conversation **out, maki_err *err) MAKI_MUST_CHECK;
MAKI_API void maki_conversation_close(maki_conversation *c); /* accepts NULL */

/* Report the progress of rebuilding an index that was missing or of another version.  `done` and `total` are bytes.  Any
 * status but MAKI_OK stops it and is returned.  fn NULL: no reports. */
MAKI_API void maki_set_progress(maki *m,
                                maki_status (*fn)(void *ctx, uint64_t done, uint64_t total),
                                void *ctx);
/* The number of threads that count tokens when there is much to count: 0, the default, is one a core; 1: only the caller's. */
MAKI_API void maki_set_threads(maki *m, size_t threads);

/* The newest message and the newest event; 0 if there are none. */
MAKI_API uint64_t maki_conversation_last(const maki_conversation *c);
MAKI_API uint64_t maki_conversation_events(const maki_conversation *c);

/* Can this be appended?  MAKI_INVALID unless it is a JSON object whose role one of the protocols knows (the error has the
 * list). */
MAKI_API maki_status maki_message_check(maki_str message, maki_err *err);
/* Append one message that maki_message_check accepts.  Durable when it returns MAKI_OK. */
MAKI_API maki_status maki_conversation_append(maki_conversation *c, maki_str message, uint64_t *seq,
                                              maki_err *err);

/* A revision: the messages up to seq, the events up to ev.  Wherever one is taken, ev UINT64_MAX stands for the events
 * that had been written when seq was the newest message: { 40, UINT64_MAX } is what a model was shown then. */
typedef struct maki_revision {
    uint64_t seq, ev;
} maki_revision;
#define MAKI_LATEST (MAKI_LITERAL(maki_revision){ UINT64_MAX, UINT64_MAX })

/* One message.  `json` and everything it points to are valid until the callback returns. */
typedef struct maki_message {
    uint64_t seq;    /* 0: a synthetic message (a summary, a marker) */
    uint64_t ev;     /* the event that added it */
    int64_t ts;      /* milliseconds; 0: unknown */
    uint32_t tokens; /* of `json`, in o200k_base: a message that is shown shorter has fewer */
    bool hidden;     /* not in the view; only with `all` */
    bool pinned;
    maki_str json;
} maki_message;
typedef maki_status (*maki_each_message)(void *ctx, const maki_message *message, maki_err *err);

/* Iterate over the view at a revision or, with `all`, over every message of the log, those outside the view marked hidden.
 * In constant memory; any status but MAKI_OK from the callback stops. */
MAKI_API maki_status maki_conversation_each(maki_conversation *c, maki_revision at, bool all,
                                            maki_each_message fn, void *ctx, maki_err *err);

/* Each event as it is in the file, in order. */
typedef maki_status (*maki_each_event)(void *ctx, uint64_t ev, maki_str json, maki_err *err);
MAKI_API maki_status maki_conversation_each_event(maki_conversation *c, maki_each_event fn,
                                                  void *ctx, maki_err *err);

/* What an event did to the view. */
typedef struct maki_effect {
    uint64_t hidden, restored;          /* messages no longer in view; in view again */
    uint64_t shortened, expanded;       /* messages with less text than before; with more */
    double tokens_before, tokens_after; /* of all that is sent, as session.status counts today */
    char effect[240];                   /* "4 messages out of view"; "": it did none of these */
} maki_effect;
/* MAKI_NOTFOUND: event `ev` neither changes the view nor marks a message. */
MAKI_API maki_status maki_conversation_effect(maki_conversation *c, uint64_t ev, maki_effect *out,
                                              maki_err *err);

/* ---- tokens ---------------------------------------------------------------------------------------- */

/* Every message is counted in o200k_base when it is appended, once; a sum of them reads two numbers.  In the
 * tokens of a model that is about maki_model_scale times as much; for the exact number in another encoding the
 * texts must be counted (maki_tokenizer_count, or the operation tokens.count). */
typedef struct maki_token_total {
    uint64_t messages, tokens;
} maki_token_total;

/* Of messages [from, to], whether hidden or shortened. */
MAKI_API maki_status maki_conversation_tokens(maki_conversation *c, uint64_t from, uint64_t to,
                                              maki_token_total *out, maki_err *err);
/* Of the view at a revision, with synthetic and shortened messages. */
MAKI_API maki_status maki_conversation_view_tokens(maki_conversation *c, maki_revision at,
                                                   maki_token_total *out, maki_err *err);
/* Tokens of a model ("claude-sonnet-4-5") per token of o200k_base, by the default of its family. */
MAKI_API double maki_model_scale(const char *model);

/* ---- other formats --------------------------------------------------------------------------------- */

/* The progress of an import, and the lines it could not read.  All may be NULL. */
typedef struct maki_import_hooks {
    maki_status (*progress)(void *ctx, uint64_t done, uint64_t total, uint64_t messages);
    void (*skipped)(void *ctx, uint64_t line, const char *why);
    void *ctx;
} maki_import_hooks;

typedef struct maki_import_result {
    const char *format; /* the format that was read */
    uint64_t messages, events;
    uint64_t skipped; /* lines that are not valid */
    uint64_t other;   /* lines that are no messages */
} maki_import_result;

/* Create the conversation at `path`, which must not exist, from a file of another program.
 * `format` is roo, openai, anthropic, lines, seed, pi, claude, codex or opencode; NULL: detected from
 * its first lines.  In constant memory.  Not synced: after a crash of the system it can be imported again.  After a failure
 * nothing is left at `path`. */
MAKI_API maki_status maki_conversation_import(maki *m, const char *source, const char *path,
                                              const char *format, const maki_import_hooks *hooks,
                                              maki_import_result *out, maki_err *err)
    MAKI_MUST_CHECK;

/* Write it as it was at a revision: as roo (every message, with the tags), roo-ui (its events), lines (every row), openai
 * or anthropic (the view). */
MAKI_API maki_status maki_conversation_export(maki_conversation *c, maki_revision at,
                                              const char *format, maki_sink out, maki_err *err);

/* ---- verification ------------------------------------------------------------------------------------ */

typedef struct maki_damage {
    const char *file; /* "messages", "events" or "index" */
    uint64_t offset;
    uint64_t seq, ev; /* which message or event; 0: none */
    const char *what;
    uint64_t from; /* it is one of the messages from this one to seq; seq when it is known which */
    const char *repair; /* what a repair does about it */
} maki_damage;

typedef struct maki_verification {
    uint64_t messages, events;
    uint64_t found;   /* damage found now */
    uint64_t earlier; /* damage that was recorded before */
} maki_verification;

/* Verify the whole conversation at `path` by its hashes: MAKI_CORRUPT if there is damage, each passed to `fn` (may be NULL).
 * With `repair` it is repaired, and what is removed is kept in other files; MAKI_OK if no damage is left. */
MAKI_API maki_status maki_conversation_verify(maki *m, const char *path, bool repair,
                                              void (*fn)(void *ctx, const maki_damage *damage),
                                              void *ctx, maki_verification *out, maki_err *err);

MAKI_END_DECLS

#endif
