/* export_ui.c -- export roo's UI messages (ui_messages.json).
 *
 * In:    the events of a conversation.
 * Out:   an array: the UI messages that were imported, unchanged, and one for each condense and truncation since. */
#include "base/str_util.h"
#include "history/blocks.h"
#include "history/export_internal.h"

typedef struct ui {
    maki_conv *conv;
    maki_jw w;
    bool imported; /* UI messages were imported: they cover the condenses of the import, too */
} ui;

static maki_status find_ui(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    ui *u = ctx;
    maki_str event, value;
    (void)ev;
    (void)at;
    (void)err;
    if (maki_json_check(row, &event, NULL) != MAKI_OK) return MAKI_OK;
    if (!maki_json_get(event, MAKI_LIT("ui"), &value)) return MAKI_OK;
    u->imported = true;
    return MAKI_CANCELLED;
}

static void ui_number(maki_jw *w, const char *name, uint64_t n)
{
    maki_jw_key(w, maki_str_of(name));
    maki_jw_int(w, (int64_t)n);
}

/* The text of a message: its content if it is a string, or its first text block. */
static maki_str text_of(maki_str message)
{
    maki_str content, block, text;
    if (!maki_json_get(message, MAKI_LIT("content"), &content)) return MAKI_LIT("\"\"");
    maki_blocks blocks = maki_content_blocks(content);
    while (maki_blocks_next(&blocks, &block)) {
        if (block.ptr[0] == '"') return block;
        bool is_text = maki_json_field_in(block, "type", "text") &&
                       maki_json_string_field(block, "text", &text);
        if (is_text) return text;
    }
    return MAKI_LIT("\"\"");
}

static maki_status tokens_at(ui *u, uint64_t seq, uint64_t ev, uint64_t *tokens, maki_err *err)
{
    const maki_view *view;
    maki_view_totals totals = { 0 };
    maki_status st = maki_conv_view(u->conv, seq, ev, &view, err);
    if (st == MAKI_OK) st = maki_conv_total(u->conv, view, &totals, err);
    *tokens = totals.tokens;
    return st;
}

static maki_status write_change(ui *u, uint64_t ev, maki_str event, unsigned kind, maki_err *err)
{
    maki_jw *w = &u->w;
    maki_str message = { "{}", 2 }, value, id = MAKI_LIT("\"\"");
    uint64_t seq = maki_json_uint_field(event, MAKI_LIT("at")), before = 0, after = 0;
    maki_status st = tokens_at(u, seq, ev - 1, &before, err);
    if (st == MAKI_OK) st = tokens_at(u, seq, ev, &after, err);
    if (st != MAKI_OK) return st;
    maki_json_get(event, MAKI_LIT("message"), &message);
    if (!export_string(message, export_kinds[kind].id, &id)) id = MAKI_LIT("\"\"");
    maki_jw_object(w);
    maki_jw_key(w, MAKI_LIT("ts"));
    maki_jw_raw(w, maki_json_get(event, MAKI_LIT("ts"), &value) ? value : MAKI_LIT("0"));
    maki_jw_key(w, MAKI_LIT("type"));
    maki_jw_string(w, MAKI_LIT("say"));
    maki_jw_key(w, MAKI_LIT("say"));
    maki_jw_string(w, kind ? MAKI_LIT("sliding_window_truncation") : MAKI_LIT("condense_context"));
    maki_jw_key(w, kind ? MAKI_LIT("contextTruncation") : MAKI_LIT("contextCondense"));
    maki_jw_object(w);
    maki_jw_key(w, maki_str_of(export_kinds[kind].id));
    maki_jw_raw(w, id);
    if (kind == 0) {
        maki_jw_key(w, MAKI_LIT("summary"));
        maki_jw_raw(w, text_of(message));
        ui_number(w, "cost", 0);
    } else {
        ui_number(w, "messagesRemoved", maki_json_uint_field(event, MAKI_LIT("messages")));
    }
    ui_number(w, "prevContextTokens", before);
    ui_number(w, "newContextTokens", after);
    maki_jw_end_object(w);
    maki_jw_end_object(w);
    return w->status;
}

static maki_status write_ui(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    ui *u = ctx;
    maki_str event, type, value, message;
    (void)at;
    if (maki_json_check(row, &event, NULL) != MAKI_OK) return MAKI_OK;
    if (maki_json_get(event, MAKI_LIT("ui"), &value)) {
        maki_jw_raw(&u->w, value);
        return u->w.status;
    }
    if (!export_string(event, "type", &type)) return MAKI_OK;
    bool imported = maki_json_get(event, MAKI_LIT("imported"), &value) && maki_json_true(value);
    if ((imported && u->imported) || !maki_json_get(event, MAKI_LIT("message"), &message)) {
        return MAKI_OK;
    }
    for (unsigned k = 0; k < EXPORT_KINDS; k++) {
        if (maki_json_text_is(type, maki_str_of(export_kinds[k].type)))
            return write_change(u, ev, event, k, err);
    }
    return MAKI_OK;
}

maki_status maki_export_ui(maki_conv *conv, maki_sink sink, maki_err *err)
{
    ui u = { .conv = conv };
    maki_status st = maki_log_each_event(conv->log, find_ui, &u, err);
    if (st == MAKI_CANCELLED) st = MAKI_OK;
    maki_jw_init(&u.w, sink, err);
    maki_jw_array(&u.w);
    if (st == MAKI_OK) st = maki_log_each_event(conv->log, write_ui, &u, err);
    maki_jw_end_array(&u.w);
    maki_status written = maki_jw_end(&u.w);
    return st == MAKI_OK ? written : st;
}
