/* hide.h -- what of a view goes behind a summary or a marker, for conv_condense.c and conv_truncate.c.
 *
 * Positions count the messages of a view from 0.  System and pinned messages stay, and a call and its results stay or
 * go together. */
#ifndef MAKI_HISTORY_HIDE_H
#define MAKI_HISTORY_HIDE_H

#include "history/change_internal.h"

typedef struct maki_hiding {
    uint64_t from, to; /* positions [from, to) */
    maki_span64 *spans;
    size_t count, capacity;
    maki_span64 *synthetic; /* summaries and markers among them: forks up, and their event */
    size_t synthetic_count, synthetic_capacity;
    uint64_t rows;   /* messages hidden, synthetic ones left out */
    uint64_t before; /* and those that markers among them hid before */
    uint64_t tokens;
} maki_hiding;

/* Move the end `n` back until no call is parted from its results, and to a message of the log: the summary will stand
 * right before it.  The call at the very end may still wait for results, so it stays too. */
maki_status maki_hiding_adjust_end(const maki_view *view, uint64_t messages, uint64_t least,
                                   uint64_t *n, maki_err *err);
/* Fill in what is hidden from s->from to s->to; in the arena of the conversation. */
maki_status maki_hiding_collect(maki_conv *conv, const maki_view *view, maki_hiding *s,
                                bool keep_summaries, maki_err *err);

/* The seq before which a synthetic message at position n must stand. */
uint64_t maki_hiding_seq(maki_conv *conv, const maki_view *view, uint64_t n);
/* The time of the message at position n, or now. */
maki_status maki_hiding_time(maki_conv *conv, const maki_view *view, uint64_t n, double *ts,
                             maki_err *err);

/* Fields of the event: the message that stands for what is hidden, before message `before`. */
void maki_hiding_message(maki_decision *out, maki_str message, uint64_t tokens, uint64_t before);

#endif
