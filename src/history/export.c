/* export.c -- export by the name of a format, buffering the output into large writes.
 *
 * In:    a conversation, a format (export.h) and a sink.
 * Out:   the export in the sink, in writes of up to 256 KB.  Memory is constant, whatever the conversation. */
#include <string.h>

#include "base/err.h"
#include "base/str_util.h"
#include "history/export_internal.h"

maki_status maki_export_format_parse(maki_str name, maki_export_format *out, maki_err *err)
{
    size_t format = maki_str_index(name, "roo|lines|openai|anthropic");
    *out = (maki_export_format)format;
    if (format != SIZE_MAX) return MAKI_OK;
    return maki_fail(err, MAKI_UNSUPPORTED,
                     "no format \"%.*s\"; there are roo, roo-ui, lines, openai, anthropic",
                     (int)(name.len < 40 ? name.len : 40), name.ptr);
}

/* ---- an output buffer ------------------------------------------------------------------- */

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

static maki_status export_to(maki_conv *conv, uint64_t seq, uint64_t ev, maki_export_format format,
                             maki_sink sink, maki_err *err)
{
    const maki_view *view;
    if (format == MAKI_EXPORT_ROO) return export_roo(conv, seq, ev, sink, err);
    maki_status st = maki_conv_view(conv, seq, ev, &view, err);
    if (st != MAKI_OK) return st;
    return maki_export_chat(conv, view, format == MAKI_EXPORT_ANTHROPIC, sink, err);
}

/* Write every row up to `seq`, also those that are hidden. */
static maki_status export_lines(maki_conv *conv, uint64_t seq, maki_sink sink, maki_err *err)
{
    const maki_view *all;
    maki_status st = maki_conv_all_messages(conv, &all, err);
    if (st != MAKI_OK) return st;
    maki_view rows = *all;
    while (rows.count && rows.items[rows.count - 1].from > seq)
        rows.count--;
    if (rows.count && rows.items[rows.count - 1].to > seq) rows.items[rows.count - 1].to = seq;
    return maki_conv_write(conv, &rows, false, sink, err);
}

maki_status maki_export(maki_conv *conv, uint64_t seq, uint64_t ev, maki_export_format format,
                        maki_sink sink, maki_err *err)
{
    const maki_alloc *alloc = conv->env.alloc;
    if (format == MAKI_EXPORT_LINES) return export_lines(conv, seq, sink, err);
    output_buffer *o = alloc->resize(alloc, NULL, 0, sizeof *o);
    if (!o) return maki_fail_nomem(err);
    o->to = sink;
    o->len = 0;
    maki_status st = export_to(conv, seq, ev, format, (maki_sink){ buffer_write, o }, err);
    if (st == MAKI_OK) st = flush(o, err);
    alloc->resize(alloc, o, sizeof *o, 0);
    return st;
}
