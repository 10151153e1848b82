/* export_ui.c -- export the UI messages of roo.
 *
 * In:    a conversation and a revision.
 * Out:   an array in the order of the events: imported UI messages unchanged, and one for each condense and truncation
 *        made since, with the tokens before and after. */
#include "base/json_print.h"
#include "base/str_util.h"
#include "history/blocks.h"
#include "history/export_internal.h"

typedef struct ui_writer {
    maki_conv *conv;
    uint64_t seq, ev; /* the revision to export */
    maki_jw w;
    bool imported; /* UI messages were imported: they cover the condenses of the import, too */
} ui_writer;

static maki_status find_imported(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    ui_writer *u = ctx;
    maki_str event, value;
    (void)ev;
    (void)at;
    (void)err;
    if (maki_json_check(row, &event, NULL) != MAKI_OK) return MAKI_OK;
    if (!maki_json_get(event, MAKI_LIT("ui"), &value)) return MAKI_OK;
    u->imported = true;
    return MAKI_CANCELLED;
}

/* The text of a message: its content if that is a string, else its first text block. */
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

static maki_status write_change(ui_writer *u, uint64_t ev, maki_str event, unsigned kind,
                                maki_err *err)
{
    maki_jw *w = &u->w;
    maki_str message = { "{}", 2 }, value, id = MAKI_LIT("\"\"");
    maki_change did;
    maki_status st = maki_conv_event_effect(u->conv, ev, &did, err);
    if (st != MAKI_OK) return st;
    maki_json_get(event, MAKI_LIT("message"), &message);
    if (!export_string(message, export_kinds[kind].id, &id)) id = MAKI_LIT("\"\"");
    if (!maki_json_get(event, MAKI_LIT("ts"), &value)) value = MAKI_LIT("0");
    maki_jw_print(w, "{'ts':%v,'type':'say','say':%z", value,
                  kind ? "sliding_window_truncation" : "condense_context");
    maki_jw_field_object(w, kind ? "contextTruncation" : "contextCondense");
    maki_jw_field_raw(w, export_kinds[kind].id, id);
    if (kind == 0)
        maki_jw_print(w, "'summary':%v,'cost':%f", text_of(message),
                      maki_json_number_field(event, "cost"));
    else
        maki_jw_print(w, "'messagesRemoved':%i", maki_json_uint_field(event, MAKI_LIT("messages")));
    maki_jw_print(w, "'prevContextTokens':%i,'newContextTokens':%i}}", did.tokens_before,
                  did.tokens_after);
    return w->status;
}

static maki_status write_ui(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    ui_writer *u = ctx;
    maki_str event, type, value, message;
    (void)at;
    if (ev > u->ev || maki_json_check(row, &event, NULL) != MAKI_OK) return MAKI_OK;
    if (u->ev == MAKI_NEWEST && maki_json_uint_field(event, MAKI_LIT("at")) > u->seq)
        return MAKI_OK;
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

maki_status maki_export_ui(maki_conv *conv, uint64_t seq, uint64_t ev, maki_sink sink,
                           maki_err *err)
{
    ui_writer u = { .conv = conv, .seq = seq, .ev = ev };
    maki_status st = maki_log_each_event(conv->log, find_imported, &u, err);
    if (st == MAKI_CANCELLED) st = MAKI_OK;
    maki_jw_init(&u.w, sink, err);
    maki_jw_begin_array(&u.w);
    if (st == MAKI_OK) st = maki_log_each_event(conv->log, write_ui, &u, err);
    maki_jw_end_array(&u.w);
    maki_status written = maki_jw_end(&u.w);
    return st == MAKI_OK ? written : st;
}
