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

#endif
