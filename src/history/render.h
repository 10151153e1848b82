/* render.h -- a view as the messages of a protocol: the rows of conv.h through wire/message_writer.h.
 *
 * In constant memory, whatever the view: one row is held at a time. */
#ifndef MAKI_HISTORY_RENDER_H
#define MAKI_HISTORY_RENDER_H

#include "history/conv.h"
#include "wire/message_writer.h"

/* Write the texts of the system messages before all others as items of the open array of `w`; for
 * protocols that have them outside the messages (maki_wire_system_is_separate).  `w` may be NULL.  *found: there
 * is such a message. */
maki_status maki_render_system(maki_conv *conv, const maki_view *view, maki_protocol protocol,
                               maki_jw *w, bool *found, maki_err *err);

/* Write the messages as items of the open array of `w`.  *any: at least one that is not a system message was written. */
maki_status maki_render(maki_conv *conv, const maki_view *view,
                        const maki_wire_writer_options *options, maki_render_extra extra,
                        maki_jw *w, bool *any, maki_err *err);
/* The same for rows that are in no log. */
maki_status maki_render_rows(const maki_env *env, maki_render_extra rows,
                             const maki_wire_writer_options *options, maki_jw *w, bool *any,
                             maki_err *err);

#endif
