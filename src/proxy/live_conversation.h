/* live_conversation.h -- an open conversation of the proxy, and its current branch: rows and events are appended in
 * groups.
 *
 * A log keeps every branch; the current one is a list of ranges of its rows.  To continue from another point a
 * `rewind` event is written first, so that the view of the log is always what the client sent last.
 *
 * A group is: begin, any number of rows and events, commit.  Another process may write to
 * the same log between groups: then the current branch is read again. */
#ifndef MAKI_PROXY_LIVE_CONVERSATION_H
#define MAKI_PROXY_LIVE_CONVERSATION_H

#include "history/conv.h"
#include "proxy/prefixes.h"

/* A point that a branch continues from: its last message (0: none yet), the newest event when that was written, and the
 * tokens up to it.  `fingerprint` is a part of the hash chain at that message: in a log that was truncated and has grown
 * again, another message with the same number has another fingerprint.  0: unknown. */
typedef struct maki_point {
    uint64_t seq, ev, tokens;
    uint32_t fingerprint;
} maki_point;

/* The last system prompt and tools, to detect a change. */
typedef struct maki_system_hashes {
    uint64_t as_sent; /* a hash of the bytes; 0: unknown */
    uint64_t masked;  /* without the lines that change with every request */
    uint64_t system_tokens, tool_tokens;
} maki_system_hashes;

typedef struct maki_live_conversation {
    const maki_env *env;
    unsigned char session[MAKI_SESSION_BYTES];
    maki_conv *conv;
    maki_span64 *path; /* rows of the current branch, in order */
    size_t path_count, path_capacity;
    uint64_t tokens;       /* of those rows */
    uint64_t last, events; /* of the log when `path` was read */
    maki_system_hashes system;
    int64_t used_ms;                  /* when it was last used */
    struct maki_journal *journal;     /* makes it durable; NULL: the log syncs its files */
    const struct maki_logger *logger; /* or NULL */
    bool created;                     /* its file is new: the directory has to be synced as well */
    bool direct; /* some bytes are not in the journal: its files have to be synced */
    /* the open group */
    uint64_t first_added, last_added; /* rows; 0: none */
    bool rewound;                     /* it begins with a rewind */
    uint64_t rewound_to;              /* to this message */
    uint64_t added_tokens;            /* of the rows of the last committed group */
} maki_live_conversation;

typedef struct maki_live_options {
    const char *directory; /* of the sessions */
    bool create;
    maki_str key;    /* session key of a new conversation, a JSON string; len 0: none */
    maki_str client; /* of a new conversation, text that needs no escapes; len 0: unknown */
    maki_tokenizer *tokenizer; /* of MAKI_LOG_ENCODING */
    struct maki_journal *journal;
    const struct maki_logger *logger; /* borrowed; NULL: nothing is logged */
} maki_live_options;

/* On MAKI_OK the caller owns *out.  MAKI_NOTFOUND: it does not exist. */
maki_status maki_live_open(const maki_env *env, const unsigned char session[MAKI_SESSION_BYTES],
                           const maki_live_options *options, maki_live_conversation **out,
                           maki_err *err) MAKI_MUST_CHECK;
void maki_live_close(maki_live_conversation *live); /* accepts NULL */
/* Were its files deleted, by another process, while it is open?  Then what is written to it is lost. */
bool maki_live_is_deleted(const maki_live_conversation *live);
/* Was the conversation created by this open, and has it no message yet? */
bool maki_live_is_empty(const maki_live_conversation *live);
/* Close a blank one and delete its files. */
void maki_live_discard(maki_live_conversation *live);

/* The id of a session: its bytes as a UUID. */
void maki_session_text(const unsigned char session[MAKI_SESSION_BYTES], char out[37]);

/* Where the current branch ends. */
maki_point maki_live_tip(const maki_live_conversation *live);

/* Begin a group at `from`.  MAKI_NOTFOUND: the log has no such message.  After MAKI_OK commit or abort. */
maki_status maki_live_begin(maki_live_conversation *live, const maki_point *from, maki_err *err)
    MAKI_MUST_CHECK;
/* A row, as in maki_log_add_row; *seq is its number.  Rows beyond the maximum of a log's group are committed in
 * several groups. */
maki_status maki_live_add(maki_live_conversation *live, maki_str row, uint64_t *seq, maki_err *err);
maki_status maki_live_add_event(maki_live_conversation *live, const char *type, maki_str fields,
                                maki_err *err);
maki_status maki_live_commit(maki_live_conversation *live, maki_err *err) MAKI_MUST_CHECK;
void maki_live_abort(maki_live_conversation *live);

/* The tokens and the fingerprint of one row. */
maki_status maki_live_row(maki_live_conversation *live, uint64_t seq, uint64_t *tokens,
                          uint32_t *fingerprint, maki_err *err);
/* Does the log have the message of this point, and is it the same one?  Else MAKI_NOTFOUND. */
maki_status maki_live_has(maki_live_conversation *live, const maki_point *point, maki_err *err);

/* The files that must be synced besides the journal: duplicated descriptors of its events, its messages and, for a
 * new one, the directory, to be closed by another thread; -1: none. */
maki_status maki_live_files(maki_live_conversation *live, int fds[3], maki_err *err);

#endif
