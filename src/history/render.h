/* render.h -- a view as the messages of a protocol: the rows of conversation.h through wire/write.h.
 *
 * In constant memory, whatever the view: each row is read, written and forgotten. */
#ifndef MAKI_HISTORY_RENDER_H
#define MAKI_HISTORY_RENDER_H

#include "history/conversation.h"
#include "wire/write.h"

/* The texts of the system messages that stand before all others, as items of the open array `w` is in; for
 * protocols that have them outside the messages (maki_wire_system_apart).  `w` may be NULL.  *found: there
 * is such a message. */
maki_status maki_render_system(maki_conv *conv, const maki_view *view, maki_protocol protocol,
                               maki_jw *w, bool *found, maki_err *err);

/* Messages that are not in the log and stand right before the newest one of the user, results apart; at the
 * end when there is none.  They are near the end so that the beginning of the request stays the same. */
typedef struct maki_render_extra {
    const maki_str *rows; /* JSON objects with a role, checked */
    size_t count;
} maki_render_extra;

/* The messages, into the open array `w` is in.  *any: there was one to write that is not the system's. */
maki_status maki_render(maki_conv *conv, const maki_view *view, const maki_wire_style *style,
                        maki_render_extra extra, maki_jw *w, bool *any, maki_err *err);
/* The same for rows that are in no log. */
maki_status maki_render_rows(const maki_env *env, maki_render_extra rows,
                             const maki_wire_style *style, maki_jw *w, bool *any, maki_err *err);

#endif
