/* hide.h -- select which messages of a view a summary or a marker replaces, for conv_condense.c and conv_truncate.c.
 *
 * Positions count the messages of a view from 0.  System and pinned messages stay; a call and its results stay
 * or are hidden together. */
#ifndef MAKI_HISTORY_HIDE_H
#define MAKI_HISTORY_HIDE_H

#include "history/change_internal.h"

typedef struct maki_hiding {
    uint64_t from, to; /* positions [from, to) */
    maki_span64 *spans;
    size_t count, capacity;
    maki_span64 *synthetic; /* summaries and markers among them: number of forks up, and event */
    size_t synthetic_count, synthetic_capacity;
    uint64_t rows;   /* messages of the log that are hidden */
    uint64_t before; /* messages that the markers among them had hidden */
    uint64_t tokens;
} maki_hiding;

/* Move the end `n` back, at most to `min`, until no call is separated from its results and a message of the log is at
 * `n`: the summary will stand right before it.  A call at the end of the view may have results pending, so it stays. */
maki_status maki_hiding_adjust_end(const maki_view *view, uint64_t messages, uint64_t min,
                                   uint64_t *n, maki_err *err);
/* Fill in what is hidden between s->from and s->to; its arrays are in the arena of the conversation. */
maki_status maki_hiding_collect(maki_conv *conv, const maki_view *view, maki_hiding *s,
                                bool keep_summaries, maki_err *err);

/* The seq before which a synthetic message at position n must stand. */
uint64_t maki_hiding_seq(maki_conv *conv, const maki_view *view, uint64_t n);
/* The time of the message at position n, or now. */
maki_status maki_hiding_time(maki_conv *conv, const maki_view *view, uint64_t n, double *ts,
                             maki_err *err);

/* Add to the event the synthetic message that replaces what is hidden, before message `before`. */
void maki_hiding_message(maki_decision *out, maki_str message, uint64_t tokens, uint64_t before);

#endif
