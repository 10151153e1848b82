/* conv_inside.h -- the inside of a conversation, for conversation.c and change.c. */
#ifndef MAKI_HISTORY_CONV_INSIDE_H
#define MAKI_HISTORY_CONV_INSIDE_H

#include "history/conversation.h"
#include "history/facts.h"

struct maki_conv {
    maki_env env;
    maki_log *log;
    maki_conv *parent; /* of a fork, or NULL */
    uint64_t fork_seq, fork_ev;
    maki_fact_state facts;
    maki_arena arena; /* the events and the view last asked for */
    maki_events events;
    maki_view view;
};

bool maki_conv_block_text(maki_str row, uint32_t n, maki_str *string);

/* The newest view as it would be with event `undo` void; with `rows_only`, as if nothing were
 * condensed or truncated.  Borrowed like that of maki_conv_view, which it replaces. */
maki_status maki_conv_view_if(maki_conv *conv, uint64_t undo, bool rows_only, const maki_view **out,
                              maki_err *err);

#endif
