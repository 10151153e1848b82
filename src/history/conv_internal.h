/* conv_internal.h -- the struct of a conversation, and functions for conv.c, totals.c, change.c, trim.c and
 * import.c. */
#ifndef MAKI_HISTORY_CONV_INTERNAL_H
#define MAKI_HISTORY_CONV_INTERNAL_H

#include "history/conv.h"
#include "history/facts.h"
#include "history/token_counter.h"

struct maki_conv {
    maki_env env;
    maki_log *log;
    maki_conv *parent; /* of a fork, or NULL */
    uint64_t fork_seq, fork_ev;
    maki_recent_calls facts;
    bool checked; /* as in maki_conv_options */

    maki_token_counter counter;

    maki_arena events_arena;
    maki_events events; /* those read so far */
    maki_arena arena;   /* the view made last */
    maki_view view;
};

/* This conversation or the parent whose log has message `seq`. */
maki_conv *maki_conv_owner(maki_conv *conv, uint64_t seq);

/* ---- totals.c ------------------------------------------------------------------------------------- */

/* Tokens of a message that is being written; of a synthetic one; saved by a trim. */
maki_status maki_conv_message_tokens(maki_conv *conv, maki_str message, uint64_t *tokens,
                                     maki_err *err);
maki_status maki_conv_synthetic_tokens(maki_conv *conv, const maki_view_item *item,
                                       uint64_t *tokens, maki_err *err);
maki_status maki_conv_trim_tokens(maki_conv *conv, const maki_trim *trim, int64_t *saved,
                                  maki_err *err);

/* ---- conv.c -------------------------------------------------------------------------------- */

/* Where the messages file of a fork at `child` has its parent: next to it.  MAKI_CORRUPT: the id is not a name. */
maki_status maki_conv_parent_path(const char *child, const char *id, char *out, size_t capacity,
                                  maki_err *err);

/* Read the events that were appended since the last call. */
maki_status maki_conv_load_events(maki_conv *conv, maki_err *err);
/* Borrowed like the view of maki_conv_view, which it replaces. */
maki_status maki_conv_view_at(maki_conv *conv, const maki_view_at *at, const maki_view **out,
                              maki_err *err);

#endif
