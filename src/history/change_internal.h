/* change_internal.h -- the steps of a change, for change.c, conv_*.c, undo.c and trim.c.
 *
 * A change reads the view, decides, and appends one event under the lock, naming the head it decided on.
 * When another writer was first, and the caller gave no expected head, it reads and decides again. */
#ifndef MAKI_HISTORY_CHANGE_INTERNAL_H
#define MAKI_HISTORY_CHANGE_INTERNAL_H

#include "history/conv_internal.h"

/* What a change decided: an event, and the rows that are appended after it. */
typedef struct maki_decision {
    const char *type; /* NULL: only rows */
    maki_buf fields;
    const maki_str *rows;
    size_t row_count;
    uint64_t undone; /* the event that it undoes; 0: none */
    const char *undone_type;
} maki_decision;

/* Fill in *out from the current view.  Called again when the head has moved meanwhile. */
typedef maki_status (*maki_decide_fn)(maki_conv *conv, const maki_view *view, void *ctx,
                                      maki_decision *out, maki_err *err);
maki_status maki_conv_change(maki_conv *conv, const unsigned char *expect, maki_decide_fn decide,
                             void *ctx, maki_change *out, maki_err *err);

/* Fields of the event. */
void maki_decision_number(maki_decision *d, const char *name, uint64_t value);
/* Tokens, and the vocabulary they were counted in, so that the event can be read without any other. */
void maki_decision_tokens(maki_decision *d, uint64_t tokens);

/* What it hides: messages in order, and synthetic messages, each as the number of forks up and its event there. */
void maki_decision_hidden(maki_decision *d, const maki_span64 *spans, size_t count,
                          const maki_span64 *synthetic, size_t synthetic_count);
/* trim.c: everything that the events after number `ev` trim in this view, as one prune event; d->type stays NULL when
 * that is nothing. */
void maki_decision_edits(maki_decision *d, const maki_conv *conv, const maki_view *view,
                         uint64_t ev);

/* JSON on one line: newlines, which occur between tokens only, become spaces; a copy in the arena if there are any. */
maki_status maki_json_to_one_line(maki_str json, maki_arena *arena, maki_str *out, maki_err *err);
/* Move a cut after message *seq that would separate a call from its results to before the call. */
maki_status maki_adjust_cut(maki_conv *conv, uint64_t *seq, maki_err *err);
/* MAKI_NOTFOUND unless message `seq` is in the view. */
maki_status maki_require_visible(const maki_view *view, uint64_t seq, maki_err *err);

/* trim.c: show message `seq` in full again by an event that cancels its trims.  That event undoes nothing, so the
 * other messages of a prune stay trimmed. */
maki_status maki_decide_restore(const maki_view *view, uint64_t seq, maki_decision *out,
                                maki_err *err);

#endif
