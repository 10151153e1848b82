/* rewind.h -- truncate both lists of a conversation at an earlier point.
 *
 * The reference keeps two lists: events for the user interface (ui) and messages for the model (api), each
 * with its own timestamps.  A rewind cuts the first at an event, the second at that event's
 * time, and removes the summaries and markers whose events were cut, so that what they hid is
 * visible again. */
#ifndef MAKI_REFERENCE_REWIND_H
#define MAKI_REFERENCE_REWIND_H

#include "reference/message.h"

typedef struct maki_ui_event {
    maki_str raw;
    bool has_ts;
    double ts;
    maki_str condense_id;   /* of a condense event; JSON strings, len 0: none */
    maki_str truncation_id; /* of a truncation event */
} maki_ui_event;

typedef struct maki_ui {
    maki_ui_event *at;
    size_t count;
} maki_ui;

maki_status maki_ui_read(maki_str array, maki_where where, maki_arena *arena, maki_ui *out,
                         maki_err *err) MAKI_MUST_CHECK;

typedef struct maki_rewind_input {
    maki_ui ui;
    maki_msgs api;
    bool by_index; /* else by time */
    double value;
    bool include_target; /* keep the target event; the messages are cut the same */
    bool skip_cleanup;   /* keep tags whose summary or marker does not exist */
    double now;
} maki_rewind_input;

typedef struct maki_rewound {
    size_t ui_count; /* remaining events, counted from the first */
    maki_msgs api;
    bool api_changed;
} maki_rewound;

/* MAKI_REFUSED with TIMESTAMP_NOT_FOUND when no event has that time. */
maki_status maki_rewind(const maki_rewind_input *in, maki_arena *arena, maki_rewound *out,
                        maki_err *err);

#endif
