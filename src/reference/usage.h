/* usage.h -- how full the context is, from the events of a conversation. */
#ifndef MAKI_REFERENCE_USAGE_H
#define MAKI_REFERENCE_USAGE_H

#include "reference/message.h"

typedef struct maki_usage {
    double context_tokens; /* of the newest event that has it; 0: none has */
    double total_cost;     /* of all requests and condenses */
} maki_usage;

/* `events` is an array of ui events.  One that cannot be read is skipped. */
maki_status maki_usage_of(maki_str events, maki_arena *arena, maki_usage *out, maki_err *err);

#endif
