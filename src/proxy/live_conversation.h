/* live_conversation.h -- a proxied conversation that is open, and the branch that is being talked on.
 *
 * A log keeps every branch; the present one is a list of ranges of its rows.  To go on from another point a
 * `rewind` event is written first, so that the view of the log is always what the client sent last.
 *
 * Rows and events go in groups: begin, then any number of them, then commit.  Somebody else may write to the
 * same log in between groups: then the present branch is read again. */
#ifndef MAKI_PROXY_LIVE_CONVERSATION_H
#define MAKI_PROXY_LIVE_CONVERSATION_H

#include "history/conversation.h"
#include "proxy/prefixes.h"

/* A point that a branch goes on from: the message it ends with (0: nothing was said yet), the newest event
 * when that was written, and the tokens up to it.  `trace` is of the chain at that message: in a log that was cut
 * and has grown again, another message has the number and another trace.  0: not known. */
typedef struct maki_point {
    uint64_t seq, ev, tokens;
    uint32_t trace;
} maki_point;

/* What came with the messages: kept to see when it changes. */
typedef struct maki_system_seen {
    uint64_t as_sent; /* of the bytes; 0: not known */
    uint64_t masked;  /* without the lines that change with every request */
    uint64_t system_tokens, tool_tokens;
} maki_system_seen;

typedef struct maki_live_conversation {
    const maki_env *env;
    unsigned char session[MAKI_SESSION_BYTES];
    maki_conv *conv;
    maki_span64 *path; /* rows of the present branch, in order */
    size_t path_count, path_capacity;
    uint64_t tokens;       /* of those rows */
    uint64_t last, events; /* of the log when `path` was right */
    maki_system_seen system;
    int64_t used;                 /* when, in ms */
    struct maki_journal *journal; /* makes it durable; NULL: it syncs itself */
    bool made;                    /* its file is new: the folder has to be synced as well */
    bool direct;                  /* something is not in the journal: it must be synced itself */
    /* the open group */
    uint64_t first_added, last_added; /* rows; 0: none */
    bool moved;                       /* it begins with a rewind */
    uint64_t added_tokens;            /* of the rows of the last one that was committed */
} maki_live_conversation;

/* How to open one. */
typedef struct maki_live_options {
    const char *directory; /* of the sessions */
    bool create;
    maki_str key;              /* of a new one: its session key; len 0: none */
    maki_tokenizer *tokenizer; /* of MAKI_FAMILY */
    struct maki_journal *journal;
} maki_live_options;

/* On MAKI_OK the caller owns *out.  MAKI_NOTFOUND: it is not there. */
maki_status maki_live_open(const maki_env *env, const unsigned char session[MAKI_SESSION_BYTES],
                           const maki_live_options *options, maki_live_conversation **out,
                           maki_err *err) MAKI_MUST_CHECK;
void maki_live_close(maki_live_conversation *talk); /* accepts NULL */
/* Was it made just now, and is there no message in it yet? */
bool maki_live_is_blank(const maki_live_conversation *talk);
/* Close a blank one and remove its files. */
void maki_live_discard(maki_live_conversation *talk);

/* The id of a session: its bytes as a UUID. */
void maki_session_text(const unsigned char session[MAKI_SESSION_BYTES], char out[37]);

/* Where the present branch ends. */
maki_point maki_live_tip(const maki_live_conversation *talk);

/* Begin a group at `from`.  MAKI_NOTFOUND: the log has no such message.  After MAKI_OK commit or abort. */
maki_status maki_live_begin(maki_live_conversation *talk, const maki_point *from, maki_err *err)
    MAKI_MUST_CHECK;
/* A row, as in maki_log_add_row; *seq is its number.  Of very many rows some are committed on the way. */
maki_status maki_live_add(maki_live_conversation *talk, maki_str row, uint64_t *seq, maki_err *err);
maki_status maki_live_note(maki_live_conversation *talk, const char *type, maki_str fields,
                           maki_err *err);
maki_status maki_live_commit(maki_live_conversation *talk, maki_err *err) MAKI_MUST_CHECK;
void maki_live_abort(maki_live_conversation *talk);

/* The tokens and the trace of one row. */
maki_status maki_live_row(maki_live_conversation *talk, uint64_t seq, uint64_t *tokens,
                          uint32_t *trace, maki_err *err);
/* Is the message of this point there, and the one that it was?  Else MAKI_NOTFOUND. */
maki_status maki_live_has(maki_live_conversation *talk, const maki_point *point, maki_err *err);

/* What has to be synced besides the journal: descriptors of our own of its events, its messages and the
 * folder of a new one, to be closed by another thread; -1 for none. */
maki_status maki_live_files(maki_live_conversation *talk, int fds[3], maki_err *err);

#endif
