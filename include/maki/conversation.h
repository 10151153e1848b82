/* conversation.h -- a conversation as a program sees it: append, go through it, see any revision of it.
 *
 * A conversation is an append-only log of messages and the events about them.  Nothing in it is ever
 * changed or removed; what a model is shown is a view, and every view of the past can be seen again.
 * What changes a view (condensing, rewinding ...) is an operation (op.h).
 *
 * A handle belongs to the thread that opened it; any number of processes may have the same
 * conversation open.  A long import, and counting a long conversation anew, use threads of ours: then
 * the allocator of the handle's environment is called by several threads at once. */
#ifndef MAKI_CONVERSATION_H
#define MAKI_CONVERSATION_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/op.h>

typedef struct maki_conversation maki_conversation;

typedef enum maki_open_mode {
    MAKI_OPEN,        /* to read and write; MAKI_NOTFOUND when it is not there */
    MAKI_OPEN_CREATE, /* the same, made if it is not there */
    MAKI_OPEN_READ,   /* never writes, not even an index */
    MAKI_OPEN_READ_SHARED /* to read: an index that is missing is made and kept where that may be done; never
                    * waits for who writes */
} maki_open_mode;

/* `path` is the messages file (it ends with .jsonl), a folder with messages.jsonl in it, or the name of
 * a task, a session or a session key (agent:AGENT:KEY).  On
 * MAKI_OK the caller owns *out and ends it with maki_conversation_close(). */
MAKI_API maki_status maki_conversation_open(maki *m, const char *path, maki_open_mode mode,
                                            maki_conversation **out, maki_err *err) MAKI_MUST_CHECK;
MAKI_API void maki_conversation_close(maki_conversation *c); /* accepts NULL */

/* Told while a conversation is counted as a whole: an index that was missing, or of another version, is
 * made again.  `done` and `total` are bytes.  Not MAKI_OK stops it, with that status.  fn NULL: nobody is told. */
MAKI_API void maki_watch_counting(maki *m,
                                  maki_status (*fn)(void *ctx, uint64_t done, uint64_t total),
                                  void *ctx);
/* How many threads count tokens when there is much to count: 0, one a core, unless told; 1: only the
 * caller's. */
MAKI_API void maki_set_threads(maki *m, size_t threads);

/* The newest message and the newest event; 0 when there is none. */
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
#define MAKI_LATEST ((maki_revision){ UINT64_MAX, UINT64_MAX })

/* One message.  `json` and everything it points to are valid until the callback returns. */
typedef struct maki_message {
    uint64_t seq;    /* 0: made by an event (a summary, a marker) */
    uint64_t ev;     /* the event that made it */
    int64_t ts;      /* milliseconds; 0: unknown */
    uint32_t tokens; /* in o200k_base */
    bool hidden;     /* not in the view; only met with `all` */
    bool pinned;
    maki_str json;
} maki_message;
typedef maki_status (*maki_each_message)(void *ctx, const maki_message *message, maki_err *err);

/* Go through the view at a revision, or, with `all`, through every message of the log, those outside
 * the view marked hidden.  In constant memory; not MAKI_OK from the callback stops. */
MAKI_API maki_status maki_conversation_each(maki_conversation *c, maki_revision at, bool all,
                                            maki_each_message fn, void *ctx, maki_err *err);

/* Each event as it stands in the file, in order. */
typedef maki_status (*maki_each_event)(void *ctx, uint64_t ev, maki_str json, maki_err *err);
MAKI_API maki_status maki_conversation_each_event(maki_conversation *c, maki_each_event fn,
                                                  void *ctx, maki_err *err);

/* ---- tokens ---------------------------------------------------------------------------------------- */

/* Every message is counted in o200k_base when it is appended, once; a sum of them reads two numbers.  In the
 * tokens of a model that is about maki_model_scale times as much; for the exact number in another vocabulary the
 * texts are counted then and there (maki_tokenizer_count, or the operation tokens.count). */
typedef struct maki_token_total {
    uint64_t messages, tokens;
} maki_token_total;

/* Of messages [from, to], whatever was done to them. */
MAKI_API maki_status maki_conversation_tokens(maki_conversation *c, uint64_t from, uint64_t to,
                                              maki_token_total *out, maki_err *err);
/* Of the view at a revision, with what events made and shortened. */
MAKI_API maki_status maki_conversation_view_tokens(maki_conversation *c, maki_revision at,
                                                   maki_token_total *out, maki_err *err);
/* Tokens of a model ("claude-sonnet-4-5") for one of o200k_base, as is usual for it. */
MAKI_API double maki_model_scale(const char *model);

/* ---- other formats --------------------------------------------------------------------------------- */

/* How an import goes on, and what could not be read.  All may be NULL. */
typedef struct maki_import_hooks {
    maki_status (*progress)(void *ctx, uint64_t done, uint64_t total, uint64_t messages);
    void (*skipped)(void *ctx, uint64_t line, const char *why);
    void *ctx;
} maki_import_hooks;

typedef struct maki_imported {
    const char *format; /* which it was */
    uint64_t messages, events;
    uint64_t skipped; /* lines that could not be read */
    uint64_t other;   /* lines that are no messages */
} maki_imported;

/* Make the conversation at `path`, which must not be there yet, from a file of another program.
 * `format` is roo, openai, anthropic, lines, seed, pi, claude, codex or opencode; NULL: told from its
 * first lines.  In constant memory.  Written when it returns, durable
 * when the system has written it out: the source is still there.  After a failure nothing is left at
 * `path`. */
MAKI_API maki_status maki_conversation_import(maki *m, const char *source, const char *path,
                                              const char *format, const maki_import_hooks *hooks,
                                              maki_imported *out, maki_err *err) MAKI_MUST_CHECK;

/* Write it as it was at a revision: as roo (every message, with the tags), roo-ui (its events), lines (every row), openai
 * or anthropic (the view). */
MAKI_API maki_status maki_conversation_export(maki_conversation *c, maki_revision at,
                                              const char *format, maki_sink out, maki_err *err);

/* ---- proof ------------------------------------------------------------------------------------------- */

typedef struct maki_damage {
    const char *file; /* "messages", "events" or "index" */
    uint64_t offset;
    uint64_t seq, ev; /* which message or event; 0: none */
    const char *what;
    uint64_t from; /* it is one of the messages from this one to seq; seq when it is known which */
    const char *repair; /* what a repair does about it */
} maki_damage;

typedef struct maki_proof {
    uint64_t messages, events;
    uint64_t found;   /* damage found now */
    uint64_t earlier; /* damage that is already noted */
} maki_proof;

/* Read all of the conversation at `path` and prove that it is what was written: MAKI_CORRUPT when
 * anything was found, each told through `fn` (may be NULL).  With `repair`, make it right, keeping what
 * cannot stay; MAKI_OK when nothing is left to be found. */
MAKI_API maki_status maki_conversation_verify(maki *m, const char *path, bool repair,
                                              void (*fn)(void *ctx, const maki_damage *damage),
                                              void *ctx, maki_proof *out, maki_err *err);

/* Write the view at a revision: JSON lines, or one array. */
MAKI_API maki_status maki_conversation_write(maki_conversation *c, maki_revision at, bool array,
                                             maki_sink out, maki_err *err);

#endif
