/* export.c -- the formats by name, written in few and large pieces; see export.h. */
#include <string.h>

#include "base/err.h"
#include "base/str_util.h"
#include "history/export_internal.h"

maki_status maki_export_named(maki_str name, maki_export_format *out, maki_err *err)
{
    size_t format = maki_str_index(name, "roo|lines|openai|anthropic");
    *out = (maki_export_format)format;
    if (format != SIZE_MAX) return MAKI_OK;
    return maki_fail(err, MAKI_UNSUPPORTED,
                     "no format \"%.*s\"; there are roo, roo-ui, lines, openai, anthropic",
                     (int)(name.len < 40 ? name.len : 40), name.ptr);
}

/* ---- fewer, larger writes ---------------------------------------------------------------------- */

typedef struct wide {
    maki_sink to;
    size_t fill;
    char waiting[1 << 18];
} wide;

static maki_status flush(wide *o, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (o->fill) st = o->to.write(o->to.ctx, (maki_str){ o->waiting, o->fill }, err);
    o->fill = 0;
    return st;
}

static maki_status wide_write(void *ctx, maki_str bytes, maki_err *err)
{
    wide *o = ctx;
    maki_status st = MAKI_OK;
    if (bytes.len > sizeof o->waiting - o->fill) st = flush(o, err);
    if (st != MAKI_OK) return st;
    if (bytes.len >= sizeof o->waiting) return o->to.write(o->to.ctx, bytes, err);
    memcpy(o->waiting + o->fill, bytes.ptr, bytes.len);
    o->fill += bytes.len;
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

/* Every row up to `seq`, whatever was done to it. */
static maki_status export_lines(maki_conv *conv, uint64_t seq, maki_sink sink, maki_err *err)
{
    const maki_view *all;
    maki_status st = maki_conv_all_messages(conv, &all, err);
    if (st != MAKI_OK) return st;
    maki_view until = *all;
    while (until.count && until.items[until.count - 1].from > seq)
        until.count--;
    if (until.count && until.items[until.count - 1].to > seq) until.items[until.count - 1].to = seq;
    return maki_conv_write(conv, &until, false, sink, err);
}

maki_status maki_export(maki_conv *conv, uint64_t seq, uint64_t ev, maki_export_format format,
                        maki_sink sink, maki_err *err)
{
    const maki_alloc *alloc = conv->env.alloc;
    if (format == MAKI_EXPORT_LINES) return export_lines(conv, seq, sink, err);
    wide *o = alloc->resize(alloc, NULL, 0, sizeof *o);
    if (!o) return maki_fail_nomem(err);
    o->to = sink;
    o->fill = 0;
    maki_status st = export_to(conv, seq, ev, format, (maki_sink){ wide_write, o }, err);
    if (st == MAKI_OK) st = flush(o, err);
    alloc->resize(alloc, o, sizeof *o, 0);
    return st;
}
