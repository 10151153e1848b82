/* view.h -- select the messages of a tagged list that are visible to the model.
 *
 * A message is hidden when its condenseParent names a summary that is in the list, or its
 * truncationParent a marker that is in the list.  Order, role and
 * time do not matter.  So removing a summary shows again what it hid, and a tag without its summary or marker has no
 * effect. */
#ifndef MAKI_REFERENCE_VIEW_H
#define MAKI_REFERENCE_VIEW_H

#include "base/id_map.h"
#include "reference/message.h"

/* The ids of the summaries and of the markers in a list. */
typedef struct maki_parents {
    maki_id_map summaries;
    maki_id_map markers;
} maki_parents;

/* The visible messages, in order. */
maki_status maki_view_effective(maki_msgs list, maki_arena *arena, maki_msgs *out, maki_err *err);

/* From the last summary on.  A list that would begin with another role than user gets the very first
 * message in front of it, or, when that is no user message either, a synthetic one (some providers
 * refuse a conversation that does not begin with the user). */
maki_status maki_view_since_summary(maki_msgs list, double now, maki_arena *arena, maki_msgs *out,
                                    maki_err *err);

/* Remove, in place, tags whose summary or marker is not in the list; *cleaned counts the messages changed. */
maki_status maki_view_cleanup(maki_msgs list, maki_arena *arena, size_t *cleaned, maki_err *err);

/* The newest `limit` turns, two messages each; 0 is no limit.  Shares the list. */
maki_msgs maki_view_limit_turns(maki_msgs list, size_t limit);

#endif
