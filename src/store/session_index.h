/* session_index.h -- all sessions of an agent, by its sessions.json.
 *
 * sessions.json is a view: everything in it is in the sessions' own files too, so it may be damaged, emptied,
 * removed or out of date at any time.  Going through the roster reads it whole, looks at what has
 * changed since (the folder's time, then each file's size and time), reads only that, and puts the
 * view right at the end: written beside, synced, renamed over, under a lock, at most once a second.  A view that cannot
 * be written is no failure: the answer is right all the same, and the report says so.
 *
 * Memory: the view, about 400 bytes a session.  Nobody holds the lock while a model answers: it is held while the view
 * is written, and while a new session is made. */
#ifndef MAKI_STORE_SESSION_INDEX_H
#define MAKI_STORE_SESSION_INDEX_H

#include "store/session.h"

enum { MAKI_SESSION_INDEX_WAIT = 1000 }; /* ms for the lock, unless told */

/* The lock of an agent's sessions.  Zeroed is not held. */
typedef struct maki_session_index_lock {
    int fd; /* one more than the descriptor; 0: not held */
} maki_session_index_lock;
/* Waits at most so many ms.  MAKI_TIMEOUT: somebody else holds it. */
maki_status maki_session_index_lock_acquire(maki_session_index_lock *lock, const maki_env *env,
                                            const char *home, const char *agent, unsigned wait_ms,
                                            maki_err *err);
void maki_session_index_lock_release(maki_session_index_lock *lock, const maki_env *env);

typedef struct maki_session_index_in {
    const char *home, *agent;
    const char *key;   /* only the sessions that have it; NULL: all */
    const char *about; /* the id of one whose events changed just now; NULL: none */
    const maki_session_index_lock *held; /* by the caller; NULL: it is taken when it is needed */
    unsigned wait_ms;                    /* for it; 0: MAKI_SESSION_INDEX_WAIT */
    maki_session_fn fn;                  /* NULL: only put the view right */
    void *ctx;
} maki_session_index_in;

typedef struct maki_session_index_report {
    uint64_t all;     /* sessions there are; with a key, those that have it */
    uint64_t changed; /* entries that were not right */
    bool made_again;  /* there was no view, or it was damaged */
    bool written;     /* it is right now */
    uint64_t
        directory; /* when the folder of the sessions last changed, in microseconds; 0: there is none */
    char note[200]; /* why it could not be read or written; "": nothing is to be said */
} maki_session_index_report;

/* Go through them, in no order.  Not MAKI_OK: what `fn` answered, or the folder cannot be read. */
maki_status maki_session_index_each(const maki_env *env, const maki_session_index_in *in,
                                    maki_session_index_report *out, maki_err *err);

#endif
