/* export.c -- export by the name of a format, buffering the output into large writes.
 *
 * In:    a conversation, a format (export.h) and a sink.
 * Out:   the export in the sink, in writes of up to 256 KB.  Memory is constant, whatever the conversation. */
#include <string.h>

#include "base/err.h"
#include "base/str_util.h"
#include "history/export_internal.h"

static const char *const names[] = { "roo", "lines", "openai", "anthropic" };

maki_status maki_export_named(maki_str name, maki_export_format *out, maki_err *err)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!maki_str_is(name, maki_str_of(names[i]))) continue;
        *out = (maki_export_format)i;
        return MAKI_OK;
    }
    return maki_fail(err, MAKI_UNSUPPORTED,
                     "no format \"%.*s\"; there are roo, roo-ui, lines, openai, anthropic",
                     (int)(name.len < 40 ? name.len : 40), name.ptr);
}

/* ---- a buffer before the sink ------------------------------------------------------------------- */

typedef struct output_buffer {
    maki_sink to;
    size_t len;
    char bytes[1 << 18];
} output_buffer;

static maki_status flush(output_buffer *o, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (o->len) st = o->to.write(o->to.ctx, (maki_str){ o->bytes, o->len }, err);
    o->len = 0;
    return st;
}

static maki_status buffer_write(void *ctx, maki_str bytes, maki_err *err)
{
    output_buffer *o = ctx;
    maki_status st = MAKI_OK;
    if (bytes.len > sizeof o->bytes - o->len) st = flush(o, err);
    if (st != MAKI_OK) return st;
    if (bytes.len >= sizeof o->bytes) return o->to.write(o->to.ctx, bytes, err);
    memcpy(o->bytes + o->len, bytes.ptr, bytes.len);
    o->len += bytes.len;
    return MAKI_OK;
}

static maki_status export_to(maki_conv *conv, maki_export_format format, maki_sink sink,
                             maki_err *err)
{
    if (format != MAKI_EXPORT_ROO) {
        return maki_export_chat(conv, format == MAKI_EXPORT_ANTHROPIC, sink, err);
    }
    return export_roo(conv, sink, err);
}

maki_status maki_export(maki_conv *conv, maki_export_format format, maki_sink sink, maki_err *err)
{
    const maki_alloc *alloc = conv->env.alloc;
    const maki_view *view;
    if (format == MAKI_EXPORT_LINES) {
        maki_status st = maki_conv_all_messages(conv, &view, err);
        return st == MAKI_OK ? maki_conv_write(conv, view, false, sink, err) : st;
    }
    output_buffer *o = alloc->resize(alloc, NULL, 0, sizeof *o);
    if (!o) return maki_fail_nomem(err);
    o->to = sink;
    o->len = 0;
    maki_status st = export_to(conv, format, (maki_sink){ buffer_write, o }, err);
    if (st == MAKI_OK) st = flush(o, err);
    alloc->resize(alloc, o, sizeof *o, 0);
    return st;
}
