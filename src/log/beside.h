/* beside.h -- the tokens of a log in another family, in an index of their own beside the first.
 *
 *     messages.idx.claude   for messages.jsonl;   ID.idx.claude   for the session ID.jsonl
 *
 * The family stands last: so no name is that of another log's index, whatever the logs are called.  One
 * with the former name, messages.claude.idx, is taken over.
 *
 * Its records are those of the log's index with other tokens in them.  Derived like that one, and from
 * it: missing, stale or damaged means made again.  It is not brought up to date at an append but when
 * somebody asks, by whoever asks: under a lock on the file itself, never on the log, so that appending
 * goes on.  A long count publishes as it goes; one that was killed or stopped is taken up again.
 *
 * Where it may not be written, or shall not be, it is private: kept in a file that nobody else sees.
 * A maki_beside belongs to a thread, like the log it was opened on; any number may be open on a file. */
#ifndef MAKI_LOG_BESIDE_H
#define MAKI_LOG_BESIDE_H

#include "log/log.h"

typedef struct maki_beside maki_beside;

/* Another family that a log may have been counted in. */
typedef struct maki_beside_family {
    const char *name;
    maki_tokens_fn tokens; /* of rows that the index calls messages */
    void *ctx;
} maki_beside_family;

/* `family` and what it points to, and the log, must live as long.  With `keep_private` nothing is written
 * beside the log; what is there is read.  `private_fd` is -1, or the private file of another
 * maki_beside on the same log (maki_beside_fd), which then stays open as long.  Opening reads and
 * writes nothing yet. */
maki_status maki_beside_open(maki_log *log, const maki_beside_family *family, bool keep_private,
                             int private_fd, maki_beside **out, maki_err *err) MAKI_MUST_CHECK;
void maki_beside_close(maki_beside *b); /* accepts NULL */
/* Its private file; -1 when it is shared.  It becomes private when the shared one may not be written. */
maki_status maki_beside_fd(maki_beside *b, int *fd, maki_err *err);

/* The last message that it has counted, as far as the log at this moment goes; maki_log_base() when
 * none. */
maki_status maki_beside_last(maki_beside *b, uint64_t *seq, maki_err *err);
/* The record of a message up to that one. */
maki_status maki_beside_row(maki_beside *b, uint64_t seq, maki_row *out, maki_err *err);

typedef struct maki_beside_how {
    size_t threads;             /* as in maki_log_options */
    bool wait;                  /* for somebody else who counts; else MAKI_CONFLICT */
    maki_log_progress progress; /* in bytes of rows; also stops it.  May be NULL */
    void *ctx;
} maki_beside_how;
/* Count the rows that it has not yet. */
maki_status maki_beside_count(maki_beside *b, const maki_beside_how *how, maki_err *err)
    MAKI_MUST_CHECK;

/* For verify.c, on a log whose index was made from the rows: is every record of the file right as far
 * as it goes?  *wrong is NULL or says what is not, *seq of which message (0: all of it).  A missing or
 * stale one is no damage. */
maki_status maki_beside_prove(maki_beside *b, size_t threads, const char **wrong, uint64_t *seq,
                              maki_err *err);

/* Remove it, whatever name it has; it need not be there. */
maki_status maki_beside_remove(const maki_env *env, const char *path, const char *family,
                               maki_err *err);
/* The path of the index beside the log at `path` (its messages file); false when it is too long. */
bool maki_beside_path(const char *path, const char *family, char *out, size_t room);

#endif
