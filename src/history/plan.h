/* plan.h -- changes that are tried first and written once.
 *
 *     maki_plan_begin    from here on what is done to the conversation is seen by this handle alone
 *     ...                condense, truncate, prune, undo: any number of them
 *     maki_plan_write    what is left of it as one group: an event for each message that was made and stayed (it
 *                        hides what those hid that it took the place of), one for all texts that were shortened,
 *                        and a record with their numbers, `first` and `last`
 *     maki_plan_end      always
 *
 * The view afterwards is, byte for byte, the one that was tried. */
#ifndef MAKI_HISTORY_PLAN_H
#define MAKI_HISTORY_PLAN_H

#include "history/conv.h"

typedef struct maki_planned_event maki_planned_event;

typedef struct maki_plan {
    maki_conv *conv;
    bool tries; /* it is under way */
    maki_log_mark mark;
    size_t changes; /* events that change the view, when it began, */
    uint64_t end;   /* and where they ended */
    maki_arena arena;
    maki_planned_event *hiding; /* as they were tried */
    size_t count;
    uint64_t pruned; /* the event that shortens; 0: none */
} maki_plan;

maki_status maki_plan_begin(maki_plan *plan, maki_conv *conv, maki_err *err);
/* `fields` is the record, an event of this type; *record its number.  Messages may have come in the meantime;
 * MAKI_CONFLICT: something that changes the view has.  Nothing is written then. */
maki_status maki_plan_write(maki_plan *plan, const char *type, maki_str fields, uint64_t *record,
                            maki_err *err);
/* The event in which what was tried as event `ev` was written. */
uint64_t maki_plan_event(const maki_plan *plan, uint64_t ev);
/* Back to how it was: what was not written is gone. */
void maki_plan_rollback(maki_plan *plan);
void maki_plan_end(maki_plan *plan); /* accepts one that was zeroed */

#endif
