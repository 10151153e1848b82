/* session_index.h -- the session index: all sessions of an agent, cached in its sessions.json.
 *
 * sessions.json is a cache: everything in it is in the sessions' own files too, so it may be corrupt, emptied,
 * removed or out of date at any time.  A scan reads all of it, checks what has changed since (the directory's mtime,
 * then the size and mtime of each file), reads only that, and updates the index at the end: a new file, synced and
 * renamed over the old one, under a lock, at most once a second.  An index that cannot be written is not a failure:
 * the sessions are still correct, and the report has a note.
 *
 * Memory: the index, about 400 bytes a session.  The lock is held while the index is written and while a new session is
 * created, never while a model answers. */
#ifndef MAKI_STORE_SESSION_INDEX_H
#define MAKI_STORE_SESSION_INDEX_H

#include "store/session.h"

enum { MAKI_SESSION_INDEX_WAIT = 1000 }; /* ms to wait for the lock, by default */

/* The lock of an agent's sessions.  Zeroed: not held. */
typedef struct maki_session_index_lock {
    int fd; /* one more than the descriptor; 0: not held */
} maki_session_index_lock;
/* Waits at most wait_ms.  MAKI_TIMEOUT: another process holds it. */
maki_status maki_session_index_lock_acquire(maki_session_index_lock *lock, const maki_env *env,
                                            const char *home, const char *agent, unsigned wait_ms,
                                            maki_err *err);
void maki_session_index_lock_release(maki_session_index_lock *lock, const maki_env *env);

typedef struct maki_session_index_query {
    const char *home, *agent;
    const char *key;   /* only the sessions with this key; NULL: all */
    const char *about; /* the id of a session whose events have just changed; NULL: none */
    const maki_session_index_lock *held; /* by the caller; NULL: acquired when needed */
    unsigned wait_ms;                    /* for the lock; 0: MAKI_SESSION_INDEX_WAIT */
    maki_session_fn fn;                  /* NULL: only update the index */
    void *ctx;
} maki_session_index_query;

typedef struct maki_session_index_report {
    uint64_t all;     /* sessions; with a key, those that have it */
    uint64_t changed; /* entries that were out of date */
    bool rebuilt;     /* the index was missing or corrupt */
    bool written;     /* the index was written */
    uint64_t
        directory; /* time of the last change of the sessions directory, in microseconds; 0: missing */
    char note[200]; /* why the index could not be read or written; "": no error */
} maki_session_index_report;

/* Call `fn` for each session, in no particular order.  Not MAKI_OK: what `fn` returned, or the directory cannot be
 * read. */
maki_status maki_session_index_each(const maki_env *env, const maki_session_index_query *in,
                                    maki_session_index_report *out, maki_err *err);

#endif
