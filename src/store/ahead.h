/* ahead.h -- entries that wait while another thread looks at their files.
 *
 * Ten thousand sessions are ten thousand looks, and each waits for the kernel.  So entries gather in batches: one is
 * looked at by a worker while the next is read and the one before it is taken, in order.  What is held is a few
 * batches, whatever there is altogether. */
#ifndef MAKI_STORE_AHEAD_H
#define MAKI_STORE_AHEAD_H

#include <sys/stat.h>

#include "store/entries.h"

typedef struct maki_ahead maki_ahead;

/* The file of an entry, if it has the name of the entry. */
typedef struct maki_looked {
    char id[MAKI_ID_MAX]; /* "": it was not looked at */
    bool there;
    struct stat file;
} maki_looked;

typedef maki_status (*maki_ahead_fn)(void *ctx, const maki_entry *entry, const maki_looked *looked,
                                     maki_err *err);

/* `folder_fd` must stay open.  On MAKI_OK the caller ends it with maki_ahead_close(). */
maki_status maki_ahead_open(const maki_env *env, int folder_fd, maki_ahead_fn fn, void *ctx,
                            maki_ahead **out, maki_err *err) MAKI_MUST_CHECK;
/* `fn` gets it later, in order.  Not MAKI_OK: what it answered about an earlier one. */
maki_status maki_ahead_add(maki_ahead *ahead, const maki_entry *entry, maki_err *err);
/* Now all of them. */
maki_status maki_ahead_flush(maki_ahead *ahead, maki_err *err);
void maki_ahead_close(maki_ahead *ahead); /* accepts NULL */

/* Is there a file of a session of this name?  Where a session's file is looked at. */
bool maki_look_at(int folder_fd, const char *id, struct stat *st);

#endif
