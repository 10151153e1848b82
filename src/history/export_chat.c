/* export_chat.c -- export the view as messages of the OpenAI or Anthropic chat API.
 *
 * In:    a conversation.  Out: an array of messages; for Anthropic, with system messages, a body {"system", "messages"}.
 * Messages are written as for a request (render.h), but without synthetic results: a call that has no result yet has
 * none in the export. */
#include "base/json_print.h"
#include "history/export.h"
#include "history/render.h"

static maki_status write_body(maki_conv *conv, const maki_view *view, maki_protocol protocol,
                              maki_jw *w, maki_err *err)
{
    const maki_wire_writer_options options = { .protocol = protocol, .no_synthetic = true };
    bool system = false, any;
    maki_status st = maki_render_system(conv, view, protocol, NULL, &system, err);
    if (st == MAKI_OK && system) {
        maki_jw_print(w, "{'system':[");
        st = maki_render_system(conv, view, protocol, w, &system, err);
        maki_jw_print(w, "],'messages':");
    }
    maki_jw_begin_array(w);
    if (st == MAKI_OK)
        st = maki_render(conv, view, &options, (maki_render_extra){ 0 }, w, &any, err);
    maki_jw_end_array(w);
    if (system) maki_jw_end_object(w);
    return st;
}

maki_status maki_export_chat(maki_conv *conv, const maki_view *view, bool anthropic, maki_sink sink,
                             maki_err *err)
{
    maki_jw w;
    maki_jw_init(&w, sink, err);
    maki_status st =
        write_body(conv, view, anthropic ? MAKI_WIRE_ANTHROPIC : MAKI_WIRE_CHAT, &w, err);
    maki_status written = maki_jw_end(&w);
    return st == MAKI_OK ? written : st;
}
