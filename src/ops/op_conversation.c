/* op_conversation.c -- history.* on a conversation: changes, each one event and a report; status, view and diff.
 *
 * A change applies to the newest head, and is refused with CONFLICT when `expect` names another one.  Operations that
 * only read open the conversation read-only.  Answers never contain messages, except those of history.effective. */

#include "base/err.h"
#include "base/hash.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "history/token_counter.h"
#include "ops/context.h"
#include "ops/op_common.h"

enum { KEEP_DEFAULT = 3, TRIM_DEFAULT = 1500 };

/* ---- opening --------------------------------------------------------------------------------------- */

maki_status maki_field_path(const maki_op_call *call, const char *name, char path[MAKI_PATH_MAX],
                            maki_err *err)
{
    char text[MAKI_PATH_MAX];
    maki_status st = maki_input_cstring(call, name, text, sizeof text, err);
    return st == MAKI_OK ? maki_conversation_path(call->m, text, path, MAKI_PATH_MAX, err) : st;
}

maki_status maki_field_conversation(const maki_op_call *call, maki_access access, maki_conv **out,
                                    maki_err *err)
{
    char path[MAKI_PATH_MAX];
    maki_conv_options options = {
        .create = access == MAKI_ACCESS_CREATE,
        .checked = access == MAKI_ACCESS_CREATE || access == MAKI_ACCESS_WRITE,
        .share_index = access == MAKI_ACCESS_READ,
        .dry_run = access == MAKI_ACCESS_DRY_RUN,
        .durability = access == MAKI_ACCESS_DRY_RUN ? MAKI_DURABILITY_AT_END : MAKI_DURABILITY_SYNC,
        .threads = call->m->threads,
        .progress = call->m->counting,
        .progress_ctx = call->m->counting_ctx,
    };
    maki_status st = maki_field_path(call, "conversation", path, err);
    if (st == MAKI_OK) st = maki_messages_file_check(&call->m->env, path, err);
    return st == MAKI_OK ? maki_conv_open(&call->m->env, path, &options, out, err) : st;
}

void maki_field_revision(const maki_op_call *call, uint64_t *seq, uint64_t *ev)
{
    maki_str value;
    *seq = maki_input_value(call, "seq", &value) ? (uint64_t)maki_json_double(value) : MAKI_NEWEST;
    *ev = maki_input_value(call, "ev", &value) ? (uint64_t)maki_json_double(value) : MAKI_NEWEST;
}

/* The head that the caller expects: *head is `buffer`, or NULL when the field is missing. */
static maki_status expect_field(const maki_op_call *call, unsigned char buffer[MAKI_CHAIN_LEN],
                                const unsigned char **head, maki_err *err)
{
    maki_str value;
    *head = NULL;
    if (!maki_input_value(call, "expect", &value)) return MAKI_OK;
    if (!maki_chain_parse(value, buffer))
        return maki_field_invalid(call, value, err, "expect must be 32 hexadecimal digits");
    *head = buffer;
    return MAKI_OK;
}

/* ---- writing answers ----------------------------------------------------------------------------------------- */

/* The field `head`. */
static void put_head(maki_jw *out, const unsigned char head[MAKI_CHAIN_LEN])
{
    char hex[2 * MAKI_CHAIN_LEN + 1];
    maki_hex(head, MAKI_CHAIN_LEN, hex);
    maki_jw_field_text(out, "head", hex);
}

static void write_change(maki_jw *out, const maki_change *c, const maki_context_use *use)
{
    maki_jw_print(out, "{'event':%i,'seq':%i", c->event, c->seq);
    put_head(out, c->head);
    maki_jw_print(out, "'removed':%i", c->effect.hidden);
    maki_write_view_change(out, &c->effect);
    maki_jw_print(out, "'visible':%i,'tokensBefore':%f,'tokensAfter':%f", c->visible,
                  maki_context_tokens(use, (double)c->tokens_before),
                  maki_context_tokens(use, (double)c->tokens_after));
    if (c->undone)
        maki_jw_print(out, "'undone':%i,'undoneType':%s", c->undone, maki_str_of(c->undone_type));
    if (c->coverage.measured) {
        maki_summary_usage_write(out, &c->usage);
        maki_fact_coverage_write(out, &c->coverage);
        maki_fallback_write(out, &c->fallback_reason);
    }
    maki_jw_end_object(out);
}

/* One change of an opened conversation. */
typedef maki_status (*change_fn)(const maki_op_call *call, maki_conv *conv,
                                 const unsigned char *expect, maki_change *out, maki_err *err);

static maki_status run_change(maki_op_call *call, change_fn fn, maki_jw *out, maki_err *err)
{
    unsigned char buffer[MAKI_CHAIN_LEN];
    const unsigned char *expect;
    maki_conv *conv = NULL;
    maki_context_use use;
    maki_change change;
    maki_status st = expect_field(call, buffer, &expect, err);
    if (st == MAKI_OK) st = maki_field_conversation(call, MAKI_ACCESS_WRITE, &conv, err);
    if (st == MAKI_OK) st = maki_context_use_read(call, conv, &use, err);
    if (st == MAKI_OK) st = fn(call, conv, expect, &change, err);
    if (st == MAKI_OK) maki_conv_log_rewind(conv, change.event, maki_logger_of(call->m));
    maki_conv_close(conv);
    if (st == MAKI_OK) write_change(out, &change, &use);
    return st;
}

static uint64_t seq_field(const maki_op_call *call)
{
    return (uint64_t)maki_input_number(call, "seq", 0);
}

/* ---- the changes ----------------------------------------------------------------------------------------- */

static maki_status do_condense(const maki_op_call *call, maki_conv *conv,
                               const unsigned char *expect, maki_change *out, maki_err *err)
{
    maki_chosen_summarizer summarizer;
    double keep = maki_input_number(call, "keepCount", KEEP_DEFAULT);
    maki_status st = maki_summarizer_of(call, conv, &summarizer, err);
    if (st != MAKI_OK) return st;
    return maki_conv_condense(conv, expect, (size_t)keep, &summarizer.measured, out, err);
}

static maki_status do_truncate(const maki_op_call *call, maki_conv *conv,
                               const unsigned char *expect, maki_change *out, maki_err *err)
{
    return maki_conv_truncate(conv, expect, maki_input_number(call, "fraction", 0.5), out, err);
}

/* Rewind to a message, which is kept, or to a time or an event. */
static maki_status do_rewind(const maki_op_call *call, maki_conv *conv, const unsigned char *expect,
                             maki_change *out, maki_err *err)
{
    maki_str value;
    uint64_t seq = seq_field(call), ev = MAKI_NEWEST;
    bool by_time = maki_input_value(call, "value", &value);
    if (maki_input_value(call, "ev", &value)) ev = (uint64_t)maki_json_double(value);
    if (by_time && maki_input_value(call, "value", &value)) {
        maki_status st =
            maki_conv_before(conv, (int64_t)maki_json_double(value),
                             maki_input_bool(call, "includeTarget", false), &seq, &ev, err);
        if (st != MAKI_OK) return st;
    } else if (!maki_input_value(call, "seq", &value)) {
        if (ev == MAKI_NEWEST)
            return maki_fail(err, MAKI_INVALID,
                             "seq, ev or value is missing: the point to rewind to");
        seq = MAKI_NEWEST;
    }
    return maki_conv_rewind(conv, expect, seq, ev, out, err);
}

static maki_status do_undo(const maki_op_call *call, maki_conv *conv, const unsigned char *expect,
                           maki_change *out, maki_err *err)
{
    return maki_conv_undo(conv, expect, (uint64_t)maki_input_number(call, "ev", 0), out, err);
}

static maki_status do_edit(const maki_op_call *call, maki_conv *conv, const unsigned char *expect,
                           maki_change *out, maki_err *err)
{
    maki_str message = { "", 0 }, text;
    bool whole = maki_input_value(call, "message", &message),
         only_text = maki_input_value(call, "text", &text);
    if (whole == only_text)
        return maki_fail(err, MAKI_INVALID, "give either message or text, not %s",
                         whole ? "both" : "neither");
    if (only_text) return maki_conv_edit_text(conv, expect, seq_field(call), text, out, err);
    maki_status st = maki_role_check(message, err);
    if (st != MAKI_OK) return st;
    return maki_conv_edit(conv, expect, seq_field(call), message, out, err);
}

static maki_status do_delete(const maki_op_call *call, maki_conv *conv, const unsigned char *expect,
                             maki_change *out, maki_err *err)
{
    return maki_conv_edit(conv, expect, seq_field(call), (maki_str){ "", 0 }, out, err);
}

static maki_status do_expand(const maki_op_call *call, maki_conv *conv, const unsigned char *expect,
                             maki_change *out, maki_err *err)
{
    return maki_conv_expand(conv, expect, seq_field(call), out, err);
}

static maki_status do_pin(const maki_op_call *call, maki_conv *conv, const unsigned char *expect,
                          maki_change *out, maki_err *err)
{
    return maki_conv_pin(conv, expect, seq_field(call), true, out, err);
}

static maki_status do_unpin(const maki_op_call *call, maki_conv *conv, const unsigned char *expect,
                            maki_change *out, maki_err *err)
{
    return maki_conv_pin(conv, expect, seq_field(call), false, out, err);
}

static maki_status do_trim(const maki_op_call *call, maki_conv *conv, const unsigned char *expect,
                           maki_change *out, maki_err *err)
{
    uint32_t block = (uint32_t)maki_input_number(call, "block", 0);
    uint32_t head = (uint32_t)maki_input_number(call, "head", TRIM_DEFAULT);
    uint32_t tail = (uint32_t)maki_input_number(call, "tail", TRIM_DEFAULT);
    return maki_conv_trim(conv, expect, seq_field(call), block, head, tail, out, err);
}

#define CHANGE_OP(name, fn)                                           \
    maki_status name(maki_op_call *call, maki_jw *out, maki_err *err) \
    {                                                                 \
        return run_change(call, fn, out, err);                        \
    }

CHANGE_OP(maki_op_history_condense_conversation, do_condense)
CHANGE_OP(maki_op_history_truncate_conversation, do_truncate)
CHANGE_OP(maki_op_history_rewind_conversation, do_rewind)
CHANGE_OP(maki_op_history_undo, do_undo)
CHANGE_OP(maki_op_history_edit, do_edit)
CHANGE_OP(maki_op_history_delete, do_delete)
CHANGE_OP(maki_op_history_expand, do_expand)
CHANGE_OP(maki_op_history_pin, do_pin)
CHANGE_OP(maki_op_history_unpin, do_unpin)
CHANGE_OP(maki_op_history_trim, do_trim)

maki_status maki_op_history_append(maki_op_call *call, maki_jw *out, maki_err *err)
{
    unsigned char buffer[MAKI_CHAIN_LEN];
    const unsigned char *expect;
    maki_conv *conv = NULL;
    maki_change change;
    const maki_str *rows;
    size_t count;
    maki_err why = { 0 };
    static const unsigned char none[MAKI_CHAIN_LEN];
    maki_status st = expect_field(call, buffer, &expect, err);
    if (st == MAKI_OK) st = maki_field_rows(call, "messages", &rows, &count, err);
    for (size_t i = 0; st == MAKI_OK && i < count; i++) {
        st = maki_role_check(rows[i], &why);
        if (st != MAKI_OK) maki_fail(err, st, "messages[%zu]: %s", i, why.msg);
    }
    /* any other head means that the conversation must exist: a refusal creates no file */
    bool create = !expect || memcmp(expect, none, sizeof none) == 0;
    maki_access access = create ? MAKI_ACCESS_CREATE : MAKI_ACCESS_WRITE;
    if (st == MAKI_OK) st = maki_field_conversation(call, access, &conv, err);
    if (st == MAKI_NOTFOUND && !create)
        st = maki_fail(err, MAKI_CONFLICT, "there is no conversation with this head yet");
    if (st == MAKI_OK) st = maki_conv_append(conv, expect, rows, count, &change, err);
    if (st == MAKI_OK) change.seq = maki_log_last(maki_conv_log(conv));
    maki_conv_close(conv);
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'seq':%i", change.seq);
    put_head(out, change.head);
    maki_jw_end_object(out);
    return MAKI_OK;
}

maki_status maki_op_history_fork(maki_op_call *call, maki_jw *out, maki_err *err)
{
    char path[MAKI_PATH_MAX];
    maki_conv *conv = NULL;
    maki_str value;
    maki_status st = maki_field_path(call, "path", path, err);
    if (st == MAKI_OK) st = maki_field_conversation(call, MAKI_ACCESS_WRITE, &conv, err);
    if (st != MAKI_OK) return st;
    uint64_t seq = maki_input_value(call, "seq", &value) ? seq_field(call)
                                                         : maki_log_last(maki_conv_log(conv));
    st = maki_conv_fork(conv, seq, MAKI_NEWEST, path, (maki_str){ "", 0 }, err);
    maki_conv_close(conv);
    conv = NULL;
    /* the actual point of the fork, which is never between a call and its result */
    maki_conv_options options = { .read_only = true };
    if (st == MAKI_OK) st = maki_conv_open(&call->m->env, path, &options, &conv, err);
    if (st == MAKI_OK) seq = maki_log_base(maki_conv_log(conv));
    maki_conv_close(conv);
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'path':%s,'seq':%i}", maki_str_of(path), seq);
    return MAKI_OK;
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

maki_status maki_op_history_status(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_conv *conv = NULL;
    const maki_view *view;
    maki_view_totals total;
    maki_context_use use;
    maki_status st = maki_field_conversation(call, MAKI_ACCESS_READ, &conv, err);
    if (st == MAKI_OK) st = maki_context_use_read(call, conv, &use, err);
    if (st == MAKI_OK) st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    if (st == MAKI_OK) st = maki_conv_total(conv, view, &total, err);
    if (st == MAKI_OK) {
        maki_log *log = maki_conv_log(conv);
        maki_jw_print(out, "{'messages':%i,'events':%i", maki_log_last(log), maki_log_events(log));
        put_head(out, maki_log_head(log));
        maki_jw_print(out,
                      "'visible':%i,'tokens':%f,'family':%z,'exact':%b,'pinned':%i,'readOnly':%b}",
                      total.messages, maki_context_tokens(&use, (double)total.tokens),
                      MAKI_LOG_ENCODING, use.exact, view->pin_count, maki_log_read_only(log));
    }
    maki_conv_close(conv);
    return st;
}

maki_status maki_op_history_effective_conversation(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_conv *conv = NULL;
    const maki_view *view;
    uint64_t seq, ev;
    maki_view_totals total;
    maki_context_use use;
    maki_field_revision(call, &seq, &ev);
    maki_status st = maki_field_conversation(call, MAKI_ACCESS_READ, &conv, err);
    if (st == MAKI_OK) st = maki_context_use_read(call, conv, &use, err);
    if (st == MAKI_OK) st = maki_conv_view(conv, seq, ev, &view, err);
    if (st == MAKI_OK) st = maki_conv_total(conv, view, &total, err);
    if (st == MAKI_OK) {
        maki_jw_print(out, "{'messages':");
        maki_jw_begin_value(out);
        st = maki_conv_write(conv, view, true, maki_jw_sink(out), err);
        maki_jw_print(out, "'tokens':%f}", maki_context_tokens(&use, (double)total.tokens));
    }
    maki_conv_close(conv);
    return st;
}

/* ---- diff ----------------------------------------------------------------------------------------------- */

static maki_status revision_field(const maki_op_call *call, const char *name, uint64_t *seq,
                                  uint64_t *ev, maki_err *err)
{
    static const maki_nested_field fields[] = { { "seq", MAKI_JSON_NUMBER, 0 },
                                                { "ev", MAKI_JSON_NUMBER, sizeof(double) },
                                                { 0 } };
    maki_str object;
    double given[] = { -1, -1 };
    *seq = *ev = MAKI_NEWEST;
    if (!maki_input_value(call, name, &object)) return MAKI_OK;
    maki_status st = maki_field_nested(call, object, name, fields, given, err);
    if (given[0] >= 0) *seq = (uint64_t)given[0];
    if (given[1] >= 0) *ev = (uint64_t)given[1];
    return st;
}

static void write_only_synthetic(maki_jw *out, const char *name, const maki_view *view,
                                 const maki_view *other)
{
    maki_jw_field_array(out, name);
    for (size_t i = 0; i < view->count; i++) {
        const maki_view_item *item = &view->items[i];
        if (item->from == 0 && !maki_view_has_synthetic(other, item->synthetic->ev)) {
            maki_jw_int(out, (int64_t)item->synthetic->ev);
        }
    }
    maki_jw_end_array(out);
}

/* Both are trims of one text, of two handles. */
static bool is_same_trim(const maki_trim *a, const maki_trim *b)
{
    if (a->block != b->block || a->part != b->part || a->restores != b->restores) return false;
    if (a->restores || a->cut_count != b->cut_count) return a->restores;
    return a->cut_count ? a->tokens == b->tokens : a->head == b->head && a->tail == b->tail;
}

/* Skip the trims of message `seq` in both; are they the same? */
static bool take_trims(const maki_view *a, size_t *i, const maki_view *b, size_t *j, uint64_t seq)
{
    bool same = true;
    for (;;) {
        const maki_trim *left =
            *i < a->trim_count && a->trims[*i]->seq == seq ? a->trims[*i] : NULL;
        const maki_trim *right =
            *j < b->trim_count && b->trims[*j]->seq == seq ? b->trims[*j] : NULL;
        if (!left && !right) return same;
        same = same && left && right && is_same_trim(left, right);
        if (left) ++*i;
        if (right) ++*j;
    }
}

/* The messages in both views that one of them shows shortened in another way, as ranges of one. */
static void write_changed(maki_jw *out, const maki_view *a, const maki_view *b)
{
    size_t i = 0, j = 0;
    maki_jw_field_array(out, "changed");
    while (i < a->trim_count || j < b->trim_count) {
        uint64_t left = i < a->trim_count ? a->trims[i]->seq : UINT64_MAX;
        uint64_t right = j < b->trim_count ? b->trims[j]->seq : UINT64_MAX;
        uint64_t seq = left < right ? left : right;
        if (!take_trims(a, &i, b, &j, seq) && maki_view_has(a, seq) && maki_view_has(b, seq))
            maki_jw_print(out, "[%i,%i]", seq, seq);
    }
    maki_jw_end_array(out);
}

maki_status maki_op_history_diff(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_conv *left = NULL, *right = NULL;
    const maki_view *a = NULL, *b = NULL;
    maki_view_totals total_a, total_b;
    maki_context_use use;
    uint64_t seq = 0, ev = 0;
    maki_status st = maki_field_conversation(call, MAKI_ACCESS_READ, &left, err);
    if (st == MAKI_OK) st = maki_field_conversation(call, MAKI_ACCESS_READ, &right, err);
    if (st == MAKI_OK) st = maki_context_use_read(call, left, &use, err);
    if (st == MAKI_OK) st = revision_field(call, "a", &seq, &ev, err);
    if (st == MAKI_OK) st = maki_conv_view(left, seq, ev, &a, err);
    if (st == MAKI_OK) st = revision_field(call, "b", &seq, &ev, err);
    if (st == MAKI_OK) st = maki_conv_view(right, seq, ev, &b, err);
    if (st == MAKI_OK) st = maki_conv_total(left, a, &total_a, err);
    if (st == MAKI_OK) st = maki_conv_total(right, b, &total_b, err);
    if (st == MAKI_OK) {
        maki_jw_begin_object(out);
        maki_put_only_in(out, "onlyA", a, b);
        write_only_synthetic(out, "madeOnlyA", a, b);
        maki_put_only_in(out, "onlyB", b, a);
        write_only_synthetic(out, "madeOnlyB", b, a);
        write_changed(out, a, b);
        maki_jw_print(out, "'messagesA':%i,'messagesB':%i,'tokensA':%f,'tokensB':%f}",
                      total_a.messages, total_b.messages,
                      maki_context_tokens(&use, (double)total_a.tokens),
                      maki_context_tokens(&use, (double)total_b.tokens));
    }
    maki_conv_close(left);
    maki_conv_close(right);
    return st;
}
