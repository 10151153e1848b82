/* export_roo.c -- export a conversation as roo's tagged array.
 *
 * In:    a conversation.  Out: one array with every message that no rewind removed, each with the tags (condenseParent,
 * truncationParent) of what hides it.
 *
 * The view is made with nothing hidden (MAKI_VIEW_UNHIDDEN), so every message is in its place.  What each event hides
 * becomes tags (export_tags.c), found in one walk over the rows. */
#include <inttypes.h>
#include <stdio.h>

#include "base/str_util.h"
#include "history/export_internal.h"

enum { ARENA_MAX = 1 << 30 };

typedef struct roo_writer {
    export_tags tags;
    maki_buf row;
    maki_jw w;
    bool at_start; /* of a row that is being copied */
} roo_writer;

static void write_tag(maki_jw *w, const char *name, maki_str value)
{
    maki_jw_bytes(w, MAKI_LIT(",\""));
    maki_jw_bytes(w, maki_str_of(name));
    maki_jw_bytes(w, MAKI_LIT("\":"));
    maki_jw_bytes(w, value);
}

/* Write a message with its tags after its own fields.  Own fields of the same names, which are null or empty, are
 * left out. */
static void write_tagged(maki_jw *w, maki_str json, const export_tags_of *t)
{
    const char *end = json.ptr + 1;
    bool any = false;
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("{"));
    MAKI_JSON_EACH(item, maki_json_items(json)) {
        const char *stop = item.value.ptr + item.value.len;
        bool replaced = false;
        for (size_t k = 0; k < EXPORT_KINDS; k++) {
            replaced |= t->kind[k] && maki_json_key_is(item.key, maki_str_of(export_kinds[k].tag));
        }
        if (!replaced) {
            const char *from = any ? end : item.start;
            maki_jw_bytes(w, (maki_str){ from, (size_t)(stop - from) });
            any = true;
        }
        end = stop;
    }
    for (size_t k = 0; k < EXPORT_KINDS; k++) {
        if (t->kind[k]) write_tag(w, export_kinds[k].tag, t->kind[k]->id);
    }
    maki_jw_bytes(w, MAKI_LIT("}"));
}

/* A sink of rows from the file, in chunks that may end anywhere. */
static maki_status copy_rows(void *ctx, maki_str bytes, maki_err *err)
{
    roo_writer *x = ctx;
    (void)err;
    while (bytes.len) {
        maki_str row;
        if (x->at_start) maki_jw_begin_value(&x->w);
        x->at_start = maki_str_take(&bytes, '\n', &row);
        maki_jw_bytes(&x->w, row);
    }
    return x->w.status;
}

static maki_status write_rows(roo_writer *x, maki_log *log, uint64_t from, uint64_t to,
                              const export_tags_of *t, maki_err *err)
{
    if (!t->kind[0] && !t->kind[1]) {
        x->at_start = true;
        return maki_log_copy(log, from, to, (maki_sink){ copy_rows, x }, err);
    }
    maki_status st = MAKI_OK;
    for (uint64_t seq = from; st == MAKI_OK && seq <= to; seq++) {
        maki_buf_clear(&x->row);
        st = maki_log_read(log, seq, &x->row, err);
        if (st == MAKI_OK) write_tagged(&x->w, maki_buf_str(&x->row), t);
    }
    return st;
}

/* Reduce *to to the last row before the first that is not valid JSON: such rows cannot be exported. */
static maki_status last_valid(maki_log *log, uint64_t from, uint64_t *to, maki_err *err)
{
    for (uint64_t seq = from; seq <= *to; seq++) {
        maki_index_record row;
        maki_status st = maki_log_row(log, seq, &row, err);
        if (st != MAKI_OK) return st;
        if (row.flags & MAKI_ROW_NOT_MESSAGE) *to = seq - 1;
    }
    return MAKI_OK;
}

static maki_status write_range(roo_writer *x, const maki_view_item *item, maki_err *err)
{
    maki_status st = MAKI_OK;
    for (uint64_t seq = item->from; st == MAKI_OK && seq <= item->to;) {
        export_tags_of t;
        uint64_t until = 0;
        st = export_tags_row(&x->tags, seq, &t, &until, err);
        if (st != MAKI_OK) break;
        if (until > item->to) until = item->to;
        uint64_t valid_to = until;
        st = last_valid(item->log, seq, &valid_to, err);
        if (st == MAKI_OK && valid_to >= seq) st = write_rows(x, item->log, seq, valid_to, &t, err);
        seq = valid_to == until ? until + 1 : valid_to + 2;
    }
    return st;
}

static maki_status write_synthetic(roo_writer *x, const maki_view_item *item, maki_err *err)
{
    const maki_event *e = item->synthetic;
    unsigned kind = e->type == MAKI_EVENT_TRUNCATE;
    export_tags_of t = export_tags_synthetic(&x->tags, item->up, e->ev);
    maki_str id, json;
    maki_buf_clear(&x->row);
    maki_status st =
        maki_log_event_bytes(item->log, e->synthetic_at, e->synthetic_len, &x->row, err);
    if (st != MAKI_OK) return st;
    if (!export_string(maki_buf_str(&x->row), export_kinds[kind].id,
                       &id)) { /* written by a reference operation, without an id */
        char added_fields[120];
        x->row.len--;
        snprintf(added_fields, sizeof added_fields, ",\"%s\":true,\"%s\":\"maki-%u-%" PRIu64 "\"}",
                 export_kinds[kind].flag, export_kinds[kind].id, (unsigned)item->up, e->ev);
        maki_buf_add(&x->row, maki_str_of(added_fields));
        st = maki_buf_status(&x->row, err);
    }
    json = maki_buf_str(&x->row);
    if (st == MAKI_OK && (t.kind[0] || t.kind[1]))
        write_tagged(&x->w, json, &t);
    else if (st == MAKI_OK)
        maki_jw_raw(&x->w, json);
    return st;
}

static maki_status write_all(roo_writer *x, maki_conv *conv, uint64_t seq, uint64_t ev,
                             maki_sink sink, maki_err *err)
{
    const maki_view *view;
    maki_view_at at = { .seq = seq, .ev = ev, .hiding = MAKI_VIEW_UNHIDDEN };
    maki_status st = maki_conv_view_at(conv, &at, &view, err);
    if (st == MAKI_OK) st = export_tags_read(&x->tags, conv, err);
    if (st != MAKI_OK) return st;
    maki_jw_init(&x->w, sink, err);
    maki_jw_begin_array(&x->w);
    for (size_t i = 0; st == MAKI_OK && i < view->count; i++) {
        const maki_view_item *item = &view->items[i];
        st = item->from ? write_range(x, item, err) : write_synthetic(x, item, err);
    }
    maki_jw_end_array(&x->w);
    maki_status written = maki_jw_end(&x->w);
    return st == MAKI_OK ? written : st;
}

maki_status export_roo(maki_conv *conv, uint64_t seq, uint64_t ev, maki_sink sink, maki_err *err)
{
    maki_arena arena = maki_arena_new(conv->env.alloc, ARENA_MAX);
    roo_writer x = { .tags = { .arena = &arena },
                     .row = maki_buf_new(conv->env.alloc, (size_t)MAKI_ROW_MAX) };
    maki_status st = write_all(&x, conv, seq, ev, sink, err);
    maki_buf_free(&x.row);
    maki_arena_free(&arena);
    return st;
}
