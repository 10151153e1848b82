/* render.c -- write a view as the messages of a provider's protocol, row by row.
 *
 * In:    a view, or rows that are in no log; the protocol and its options; extra rows for the newest question.
 * Out:   items of the open array of a JSON writer.
 * Must stay true: constant memory; the order of the view is kept; a row that is not JSON counts as an empty object. */
#include "history/render.h"

#include "history/facts.h"

/* A row that is not valid JSON counts as an empty object. */
static maki_str message_of(const maki_view_message *seen)
{
    return seen->row.flags & MAKI_ROW_NOT_MESSAGE ? MAKI_LIT("{}") : seen->json;
}

/* ---- system prompt ---------------------------------------------------------------------------------------- */

typedef struct system_writer {
    maki_protocol protocol;
    maki_jw *w;
    bool found;
    bool ended; /* the first message of another role was reached */
} system_writer;

static maki_status write_system_row(void *ctx, const maki_view_message *seen, maki_err *err)
{
    system_writer *p = ctx;
    maki_str row = message_of(seen);
    (void)err;
    if (!maki_wire_is_system(row)) {
        p->ended = true;
        return MAKI_CANCELLED;
    }
    p->found = true;
    if (p->w) maki_wire_write_system(p->w, p->protocol, row);
    return p->w ? p->w->status : MAKI_OK;
}

maki_status maki_render_system(maki_conv *conv, const maki_view *view, maki_protocol protocol,
                               maki_jw *w, bool *found, maki_err *err)
{
    system_writer p = { .protocol = protocol, .w = w };
    maki_status st = MAKI_OK;
    if (maki_wire_system_is_separate(protocol))
        st = maki_conv_each(conv, view, write_system_row, &p, err);
    *found = p.found;
    return p.ended ? MAKI_OK : st;
}

/* ---- messages -------------------------------------------------------------------------------------------- */

typedef struct renderer {
    maki_wire_writer *writer;
    maki_render_extra extra;
    uint64_t before; /* the message before which the extra rows are written; 0: at the end */
} renderer;

/* The newest user message that is not a tool result; found in the index. */
static maki_status newest_question(const maki_view *view, uint64_t *seq, maki_err *err)
{
    *seq = 0;
    for (size_t i = view->count; i > 0; i--) {
        const maki_view_item *item = &view->items[i - 1];
        for (uint64_t s = item->to; item->from && s >= item->from; s--) {
            maki_index_record row;
            maki_status st = maki_log_row(item->log, s, &row, err);
            if (st != MAKI_OK) return st;
            bool user = (row.flags & MAKI_ROW_ROLE) == MAKI_ROLE_USER;
            if (!user || row.flags & (MAKI_ROW_ANSWERS | MAKI_ROW_NOT_MESSAGE)) continue;
            *seq = s;
            return MAKI_OK;
        }
    }
    return MAKI_OK;
}

/* Write the extra rows, once. */
static maki_status add_extra(renderer *r, maki_err *err)
{
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < r->extra.count; i++)
        st = maki_wire_writer_add(r->writer, r->extra.rows[i], err);
    r->extra.count = 0;
    return st;
}

static maki_status render_row(void *ctx, const maki_view_message *seen, maki_err *err)
{
    renderer *r = ctx;
    maki_status st = MAKI_OK;
    if (seen->seq && seen->seq == r->before) st = add_extra(r, err);
    return st == MAKI_OK ? maki_wire_writer_add(r->writer, message_of(seen), err) : st;
}

maki_status maki_render(maki_conv *conv, const maki_view *view,
                        const maki_wire_writer_options *options, maki_render_extra extra,
                        maki_jw *w, bool *any, maki_err *err)
{
    renderer r = { .extra = extra };
    maki_status st = extra.count ? newest_question(view, &r.before, err) : MAKI_OK;
    if (st == MAKI_OK)
        st = maki_wire_writer_open(maki_log_env(maki_conv_log(conv)), options, w, &r.writer, err);
    if (st == MAKI_OK) st = maki_conv_each(conv, view, render_row, &r, err);
    if (st == MAKI_OK) st = add_extra(&r, err);
    if (st == MAKI_OK) st = maki_wire_writer_end(r.writer, any, err);
    maki_wire_writer_close(r.writer);
    return st;
}

maki_status maki_render_rows(const maki_env *env, maki_render_extra rows,
                             const maki_wire_writer_options *options, maki_jw *w, bool *any,
                             maki_err *err)
{
    renderer r = { .extra = rows };
    maki_status st = maki_wire_writer_open(env, options, w, &r.writer, err);
    if (st == MAKI_OK) st = add_extra(&r, err);
    if (st == MAKI_OK) st = maki_wire_writer_end(r.writer, any, err);
    maki_wire_writer_close(r.writer);
    return st;
}
