/* request.c -- write the body of a request, field by field, by the descriptor of its protocol.
 *
 * In:    a view (or rows), and a maki_request.
 * Out:   JSON to a sink; a second thread writes it where the request allows that (base/async_writer.h).
 * The order of fields is fixed: first_fields, system, messages, tools, last_fields. */
#include "assemble/request.h"

#include <stdio.h>

#include "base/async_writer.h"
#include "base/err.h"
#include "base/str_util.h"
#include "wire/protocol.h"

typedef struct request_writer {
    const maki_env *env;
    maki_conv *conv; /* NULL: the messages are request.extra_messages */
    const maki_view *view;
    maki_request request;
    const maki_protocol_spec *protocol;
    const maki_request_format *format;
    maki_jw w;
    maki_err *err;
} request_writer;

/* ---- messages -------------------------------------------------------------------------------------------- */

static maki_status write_messages(request_writer *wr)
{
    const maki_request *r = &wr->request;
    const maki_wire_writer_options options = { .protocol = r->protocol,
                                               .reasoning = maki_request_reasoning(r),
                                               .functions = r->functions,
                                               .sign_calls = maki_str_starts(
                                                   r->model, MAKI_LIT("gemini-3")) };
    bool any = false, inline_system = wr->format->system_location == MAKI_SYSTEM_IN_MESSAGES;
    maki_jw_key(&wr->w, maki_str_of(wr->protocol->messages));
    maki_jw_begin_array(&wr->w);
    for (size_t i = 0; inline_system && i < r->system_count; i++) {
        if (r->system[i].len) maki_jw_print(&wr->w, "{'role':'system','content':%s}", r->system[i]);
    }
    maki_status st =
        wr->conv
            ? maki_render(wr->conv, wr->view, &options, r->extra_messages, &wr->w, &any, wr->err)
            : maki_render_rows(wr->env, r->extra_messages, &options, &wr->w, &any, wr->err);
    maki_jw_end_array(&wr->w);
    if (st == MAKI_OK && !any)
        st = maki_refuse(wr->err, "NOTHING_TO_SEND",
                         "the view has only system messages: append a message first");
    return st;
}

/* ---- system prompt --------------------------------------------------------------------------------------- */

static bool has_system(const maki_request *r)
{
    for (size_t i = 0; i < r->system_count; i++) {
        if (r->system[i].len) return true;
    }
    return false;
}

/* The system prompt as a list: the texts of the request, then the system messages of the log. */
static maki_status write_system_list(request_writer *wr)
{
    const maki_request *r = &wr->request;
    bool found = has_system(r);
    maki_status st = MAKI_OK;
    if (!found && wr->conv)
        st = maki_render_system(wr->conv, wr->view, r->protocol, NULL, &found, wr->err);
    if (st != MAKI_OK || !found) return st;
    maki_jw_print(&wr->w, wr->format->system_prefix);
    for (size_t i = 0; i < r->system_count; i++) {
        if (r->system[i].len)
            maki_jw_print(&wr->w,
                          wr->format->system_blocks ? "{'type':'text','text':%s}" : "{'text':%s}",
                          r->system[i]);
    }
    if (wr->conv) st = maki_render_system(wr->conv, wr->view, r->protocol, &wr->w, &found, wr->err);
    maki_jw_print(&wr->w, wr->format->system_suffix);
    return st;
}

/* The system prompt as one string: the texts of the request. */
static void write_system_text(request_writer *wr)
{
    const maki_request *r = &wr->request;
    bool any = false;
    maki_jw_key(&wr->w, maki_str_of(wr->format->system_field));
    maki_jw_begin_value(&wr->w);
    maki_jw_bytes(&wr->w, MAKI_LIT("\""));
    for (size_t i = 0; i < r->system_count; i++) {
        if (any && r->system[i].len) maki_jw_escape(&wr->w, MAKI_LIT("\n\n"));
        maki_jw_escape(&wr->w, r->system[i]);
        any |= r->system[i].len > 0;
    }
    maki_jw_bytes(&wr->w, MAKI_LIT("\""));
}

/* ---- tools ----------------------------------------------------------------------------------------------- */

/* Write the tools that the caller runs (`functions`), or those defined by the provider.  Of a definition only the
 * fields of the protocol are written, because most providers refuse others.  Returns how many; `w` NULL: only count. */
static size_t write_tools(const request_writer *wr, maki_jw *w, bool functions)
{
    maki_tool_list list = maki_tool_list_of(wr->request.tools);
    maki_tool tool;
    size_t count = 0;
    while (maki_tool_list_next(&list, &tool)) {
        bool provider_runs =
            wr->format->is_provider_run && wr->format->is_provider_run(&tool) && tool.body.len;
        if (maki_tool_is_function(&tool) != functions || (!functions && !provider_runs)) continue;
        count++;
        if (w && functions)
            wr->format->tool(w, &wr->request, &tool);
        else if (w)
            maki_jw_raw(w, tool.json);
    }
    return count;
}

static void write_all_tools(request_writer *wr)
{
    const maki_request *r = &wr->request;
    size_t functions = write_tools(wr, NULL, true), provider_defined = write_tools(wr, NULL, false);
    bool forbidden = maki_tool_choice_is(r, "none") &&
                     !wr->format->choice; /* the protocol has no field for it */
    if (functions + provider_defined == 0 || forbidden) return;
    maki_jw_print(&wr->w, r->functions ? "'functions':[" : "'tools':[");
    if (functions && wr->format->tools_prefix) maki_jw_print(&wr->w, wr->format->tools_prefix);
    write_tools(wr, &wr->w, true);
    if (functions && wr->format->tools_prefix) maki_jw_print(&wr->w, wr->format->tools_suffix);
    write_tools(wr, &wr->w, false);
    maki_jw_end_array(&wr->w);
    if (wr->format->choice) wr->format->choice(&wr->w, r);
}

/* ---- the body ------------------------------------------------------------------------------------------- */

maki_status maki_request_protocol_parse(maki_str name, maki_protocol *out, maki_err *err)
{
    char names[80] = "";
    *out = maki_protocol_parse(name);
    if (maki_protocol_of(*out)->request_format) return MAKI_OK;
    for (maki_protocol p = MAKI_WIRE_NONE; maki_protocol_next(&p);) {
        size_t used = strlen(names);
        if (maki_protocol_of(p)->request_format)
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                     maki_protocol_name(p));
    }
    return maki_fail(err, MAKI_UNSUPPORTED, "unsupported protocol '%.*s'; supported: %s",
                     (int)(name.len < 40 ? name.len : 40), name.ptr, names);
}

static maki_status write_fields(request_writer *wr)
{
    const maki_request *r = &wr->request;
    maki_status st = MAKI_OK;
    if (wr->format->first_fields) wr->format->first_fields(&wr->w, r);
    if (wr->format->system_location == MAKI_SYSTEM_SEPARATE) st = write_system_list(wr);
    if (wr->format->system_location == MAKI_SYSTEM_STRING && has_system(r)) write_system_text(wr);
    if (st == MAKI_OK) st = write_messages(wr);
    write_all_tools(wr);
    if (wr->format->last_fields) wr->format->last_fields(&wr->w, r);
    return st;
}

static maki_status write_all(request_writer *wr, maki_sink sink)
{
    maki_async_writer writer;
    const maki_alloc *alloc =
        wr->conv ? maki_log_env(maki_conv_log(wr->conv))->alloc : wr->env->alloc;
    maki_request *r = &wr->request;
    wr->protocol = maki_protocol_of(r->protocol);
    wr->format = wr->protocol->request_format;
    if (!wr->format)
        return maki_request_protocol_parse(maki_str_of(wr->protocol->name), &r->protocol, wr->err);
    r->functions &= wr->format->old_functions;
    maki_status st = maki_async_writer_begin(&writer, alloc, r->async, sink, &wr->w, wr->err);
    if (st != MAKI_OK) return st;
    maki_jw_begin_object(&wr->w);
    st = write_fields(wr);
    maki_jw_end_object(&wr->w);
    maki_status written = maki_jw_end(&wr->w);
    return maki_async_writer_end(&writer, st == MAKI_OK ? written : st, wr->err);
}

maki_status maki_request_write(maki_conv *conv, const maki_view *view, const maki_request *request,
                               maki_sink sink, maki_err *err)
{
    request_writer wr = { .conv = conv, .view = view, .request = *request, .err = err };
    return write_all(&wr, sink);
}

maki_status maki_request_write_rows(const maki_env *env, const maki_request *request,
                                    maki_sink sink, maki_err *err)
{
    request_writer wr = { .env = env, .request = *request, .err = err };
    return write_all(&wr, sink);
}
