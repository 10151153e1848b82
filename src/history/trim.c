/* trim.c -- shorten texts of messages that stay in view: trim, prune, and restore.
 *
 * In:    a text by message, block and part (apply_trims.h), and the units to keep at head and tail, or the cuts.
 * Out:   a trim or prune event with the tokens saved.  The message keeps its bytes; writing a view applies the event.
 * Must stay true: an edit is measured on the original message; one that saves nothing is not written. */
#include <inttypes.h>

#include "base/err.h"
#include "base/json_access.h"
#include "history/apply_trims.h"
#include "history/change_internal.h"

/* Set edit->tokens to what shortening only this text saves. */
maki_status maki_conv_prune_savings(maki_conv *conv, maki_str row, maki_trim *edit, maki_err *err)
{
    const maki_trim *one = edit;
    maki_buf places = maki_buf_new(conv->env.alloc, (size_t)MAKI_ROW_MAX), shorter = places;
    uint64_t before = 0, after = 0;
    maki_status st = maki_apply_trims(row, &one, 1, &places, &shorter, err);
    if (st == MAKI_OK) st = maki_conv_message_tokens(conv, row, &before, err);
    if (st == MAKI_OK) st = maki_conv_message_tokens(conv, maki_buf_str(&shorter), &after, err);
    maki_buf_free(&places);
    maki_buf_free(&shorter);
    edit->tokens = before > after ? (uint32_t)(before - after) : 0;
    return st;
}

/* ---- one block: head and tail --------------------------------------------------------------------- */

static maki_status read_text(maki_conv *conv, const maki_trim *t, maki_buf *row, maki_str *string,
                             maki_err *err)
{
    maki_status st = maki_log_read(maki_conv_owner(conv, t->seq)->log, t->seq, row, err);
    if (st != MAKI_OK) return st;
    if (maki_apply_trims_find(maki_buf_str(row), t->block, t->part, string) &&
        maki_json_kind_of(*string) == MAKI_JSON_STRING)
        return MAKI_OK;
    return maki_fail(err, MAKI_NOTFOUND, "message %" PRIu64 " has no text in block %u", t->seq,
                     t->block);
}

static maki_status decide_trim(maki_conv *conv, const maki_view *view, void *ctx,
                               maki_decision *out, maki_err *err)
{
    maki_trim *t = ctx;
    maki_buf row = maki_buf_new(conv->env.alloc, (size_t)MAKI_ROW_MAX);
    maki_str string;
    uint64_t units = 0;
    t->tokens = 0;
    maki_status st = maki_require_visible(view, t->seq, err);
    if (st == MAKI_OK) st = read_text(conv, t, &row, &string, err);
    if (st == MAKI_OK) units = maki_json_utf16_len(maki_json_strip_quotes(string));
    if (st == MAKI_OK && (uint64_t)t->head + t->tail < units)
        st = maki_conv_prune_savings(conv, maki_buf_str(&row), t, err);
    maki_buf_free(&row);
    if (st != MAKI_OK) return st;
    if (t->tokens == 0) {
        return maki_refuse(err, "CONTEXT_GREW",
                           "the block has only %" PRIu64 " characters: nothing would be saved",
                           units);
    }
    out->type = "trim";
    maki_decision_number(out, "seq", t->seq);
    maki_decision_number(out, "block", t->block);
    maki_decision_number(out, "headUnits", t->head);
    maki_decision_number(out, "tailUnits", t->tail);
    maki_decision_tokens(out, t->tokens);
    return MAKI_OK;
}

maki_status maki_conv_trim(maki_conv *conv, const unsigned char *expect, uint64_t seq,
                           uint32_t block, uint32_t head, uint32_t tail, maki_change *out,
                           maki_err *err)
{
    maki_trim ctx = { .seq = seq, .block = block, .head = head, .tail = tail };
    return maki_conv_change(conv, expect, decide_trim, &ctx, out, err);
}

/* ---- many texts ------------------------------------------------------------------------------------- */

static void add_edit(maki_buf *out, const maki_trim *edit)
{
    maki_buf_print(out, "%s[%" PRIu64 ",%u,%u,%u", out->ptr[out->len - 1] == '[' ? "" : ",",
                   edit->seq, edit->block, edit->part, edit->tokens);
    for (size_t i = 0; i < edit->cut_count; i++) {
        maki_buf_print(out, ",%" PRIu64 ",%" PRIu64 ",", edit->cuts[i].from, edit->cuts[i].to);
        maki_buf_add(out, edit->cuts[i].text);
    }
    maki_buf_add_byte(out, ']');
}

static void begin_edits(maki_decision *out)
{
    out->type = "prune";
    maki_buf_add(&out->fields, MAKI_LIT("\"edits\":["));
}

static void end_edits(maki_decision *out, uint64_t tokens)
{
    maki_buf_add_byte(&out->fields, ']');
    maki_decision_tokens(out, tokens);
}

/* The event of this log that has the trim; NULL: an event of a parent has it. */
static const maki_event *event_of(const maki_events *events, const maki_trim *trim)
{
    for (size_t i = events->count; i > 0; i--) {
        const maki_event *e = &events->at[i - 1];
        if (e->trim_count && trim >= e->trims && trim < e->trims + e->trim_count) return e;
    }
    return NULL;
}

void maki_decision_edits(maki_decision *d, const maki_conv *conv, const maki_view *view,
                         uint64_t ev)
{
    uint64_t saved = 0;
    for (size_t i = 0; i < view->trim_count && maki_buf_status(&d->fields, NULL) == MAKI_OK; i++) {
        const maki_event *e = event_of(&conv->events, view->trims[i]);
        if (!e || e->ev <= ev || !maki_view_has(view, view->trims[i]->seq)) continue;
        if (!d->type) begin_edits(d);
        add_edit(&d->fields, view->trims[i]);
        saved += view->trims[i]->tokens;
    }
    if (d->type) end_edits(d, saved);
}

typedef struct prune_ctx {
    const maki_trim *edits;
    size_t count;
} prune_ctx;

static maki_status decide_prune(maki_conv *conv, const maki_view *view, void *ctx,
                                maki_decision *out, maki_err *err)
{
    const prune_ctx *p = ctx;
    uint64_t saved = 0;
    size_t written = 0;
    (void)conv;
    begin_edits(out);
    for (size_t i = 0; i < p->count && maki_buf_status(&out->fields, NULL) == MAKI_OK; i++) {
        const maki_trim *edit = &p->edits[i];
        if (edit->tokens == 0 || !maki_view_has(view, edit->seq) ||
            maki_view_pinned(view, edit->seq))
            continue;
        add_edit(&out->fields, edit);
        saved += edit->tokens;
        written++;
    }
    end_edits(out, saved);
    return written ? MAKI_OK : maki_refuse(err, "NOTHING_TO_DO", "no text can be made shorter");
}

maki_status maki_conv_prune(maki_conv *conv, const unsigned char *expect, const maki_trim *edits,
                            size_t count, maki_change *out, maki_err *err)
{
    prune_ctx ctx = { edits, count };
    return maki_conv_change(conv, expect, decide_prune, &ctx, out, err);
}

/* ---- restore ------------------------------------------------------------------------------------------ */

maki_status maki_decide_restore(const maki_view *view, uint64_t seq, maki_decision *out,
                                maki_err *err)
{
    maki_status st = maki_require_visible(view, seq, err);
    if (st != MAKI_OK) return st;
    begin_edits(out);
    for (size_t i = maki_view_trims_from(view, seq);
         i < view->trim_count && view->trims[i]->seq == seq; i++) {
        const maki_trim *trim = view->trims[i];
        maki_trim restored = { .seq = seq, .block = trim->block, .part = trim->part };
        if (maki_buf_status(&out->fields, NULL) == MAKI_OK) add_edit(&out->fields, &restored);
    }
    end_edits(out, 0);
    return MAKI_OK;
}
