/* op_session_status.c -- session.status: how full a session's window is, and which parts use it.
 *
 * In:   a conversation, opened read-only, and the fields `model` and `window`.
 * Out:  the tokens and messages of each part (system prompt, calls, results, summaries ...), the limits and the last
 *       compression.  The tokens of the parts add up to the total.
 * Sums of the index over the rows of the view: no message is read, memory does not grow with the history. */
#include <stdio.h>
#include <string.h>

#include "base/json_print.h"
#include "base/str_util.h"
#include "history/facts.h"
#include "manage/policy_config.h"
#include "ops/context.h"
#include "ops/op_common.h"
#include "store/context_use.h"
#include "token/family.h"

enum part {
    PART_SYSTEM,
    PART_TOOLS,
    PART_SYSTEM_MESSAGES,
    PART_USER,
    PART_ASSISTANT,
    PART_CALLS,
    PART_RESULTS,
    PART_SUMMARIES,
    PART_MARKERS,
    PART_OTHER,
    PARTS
};
static const char *const part_names[PARTS] = { "system",      "tools",     "systemMessages",
                                               "user",        "assistant", "toolCalls",
                                               "toolResults", "summaries", "markers",
                                               "other" };

/* ---- the last compression ---------------------------------------------------------------------------- */

typedef struct compression_event {
    uint64_t ev;
    int64_t ts; /* of that event */
} compression_event;

static maki_status on_event(void *ctx, uint64_t ev, maki_str row, uint64_t offset, maki_err *err)
{
    compression_event *last = ctx;
    maki_str event;
    (void)offset;
    (void)err;
    if (ev == last->ev && maki_json_check(row, &event, NULL) == MAKI_OK)
        last->ts = (int64_t)maki_json_number(event, "ts", 0);
    return MAKI_OK;
}

/* Format an age, as in "2 minutes ago". */
static void format_ago(int64_t ms, char *out, size_t capacity)
{
    static const struct {
        int64_t ms;
        const char *name;
    } units[] = { { 86400000, "day" }, { 3600000, "hour" }, { 60000, "minute" } };
    snprintf(out, capacity, "just now");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        long long n = (long long)(ms / units[i].ms);
        if (n < 1) continue;
        snprintf(out, capacity, "%lld %s%s ago", n, units[i].name, n == 1 ? "" : "s");
        return;
    }
}

/* ---- the parts of the view ------------------------------------------------------------------------------- */

typedef struct part_counts {
    maki_conv *conv;
    const maki_view *view;
    uint64_t messages[PARTS];
    double tokens[PARTS]; /* as the index counts */
} part_counts;

static enum part part_of_row(const maki_index_record *row)
{
    if (row->flags & MAKI_ROW_SUMMARY) return PART_SUMMARIES;
    if (row->flags & MAKI_ROW_MARKER) return PART_MARKERS;
    if (row->flags & MAKI_ROW_ANSWERS) return PART_RESULTS;
    if (row->flags & MAKI_ROW_CALLS) return PART_CALLS;
    switch (row->flags & MAKI_ROW_ROLE) {
    case MAKI_ROLE_SYSTEM: return PART_SYSTEM_MESSAGES;
    case MAKI_ROLE_USER: return PART_USER;
    case MAKI_ROLE_ASSISTANT: return PART_ASSISTANT;
    case MAKI_ROLE_TOOL: return PART_RESULTS;
    default: return PART_OTHER;
    }
}

static void add_total(part_counts *c, enum part part, const maki_view_totals *total, double sign)
{
    c->tokens[part] += sign * (double)total->tokens;
}

/* The messages [from, to] of the log, all of one part. */
static maki_status add_range(part_counts *c, enum part part, uint64_t from, uint64_t to,
                             maki_err *err)
{
    maki_view_totals total;
    maki_status st = maki_conv_tokens(c->conv, from, to, &total, err);
    if (st != MAKI_OK) return st;
    c->messages[part] += to - from + 1;
    add_total(c, part, &total, 1);
    return MAKI_OK;
}

/* The tokens of one item as the model sees it: a synthetic message, or a trimmed one. */
static maki_status visible_tokens(part_counts *c, maki_view_item item, maki_view_totals *out,
                                  maki_err *err)
{
    maki_view single = *c->view;
    single.items = &item;
    single.count = single.capacity = 1;
    return maki_conv_total(c->conv, &single, out, err);
}

static maki_status add_synthetic(part_counts *c, const maki_view_item *item, maki_err *err)
{
    enum part part = item->synthetic->type == MAKI_EVENT_CONDENSE ? PART_SUMMARIES : PART_MARKERS;
    maki_view_totals total;
    maki_status st = visible_tokens(c, *item, &total, err);
    if (st != MAKI_OK) return st;
    c->messages[part]++;
    add_total(c, part, &total, 1);
    return MAKI_OK;
}

/* Trimmed messages count as the model sees them. */
static maki_status correct_trims(part_counts *c, const maki_view_item *item, maki_err *err)
{
    maki_status st = MAKI_OK;
    uint64_t before = 0; /* the trims of one message follow each other */
    for (size_t i = maki_view_trims_from(c->view, item->from);
         st == MAKI_OK && i < c->view->trim_count && c->view->trims[i]->seq <= item->to; i++) {
        uint64_t seq = c->view->trims[i]->seq;
        if (seq == before) continue;
        before = seq;
        maki_view_item single = *item;
        maki_view_totals full, trimmed;
        maki_index_record row;
        single.from = single.to = seq;
        st = maki_log_row(item->log, seq, &row, err);
        if (st == MAKI_OK) st = maki_conv_tokens(c->conv, seq, seq, &full, err);
        if (st == MAKI_OK) st = visible_tokens(c, single, &trimmed, err);
        if (st != MAKI_OK) break;
        add_total(c, part_of_row(&row), &full, -1);
        add_total(c, part_of_row(&row), &trimmed, 1);
    }
    return st;
}

static maki_status add_rows(part_counts *c, const maki_view_item *item, maki_err *err)
{
    enum part part = PARTS;
    uint64_t from = item->from;
    maki_status st = MAKI_OK;
    for (uint64_t n = item->from; st == MAKI_OK && n <= item->to; n++) {
        maki_index_record row;
        st = maki_log_row(item->log, n, &row, err);
        if (st != MAKI_OK) return st;
        enum part row_part = part_of_row(&row);
        if (n > item->from && row_part != part) st = add_range(c, part, from, n - 1, err);
        if (row_part != part) from = n;
        part = row_part;
    }
    if (st == MAKI_OK) st = add_range(c, part, from, item->to, err);
    return st == MAKI_OK && c->view->trim_count ? correct_trims(c, item, err) : st;
}

static maki_status count_view(part_counts *c, maki_err *err)
{
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < c->view->count; i++) {
        const maki_view_item *item = &c->view->items[i];
        st = item->from ? add_rows(c, item, err) : add_synthetic(c, item, err);
    }
    return st;
}

/* ---- the answer ------------------------------------------------------------------------------------ */

/* Each part is a difference of rounded running sums, so that the parts add up to the total. */
static double write_parts(maki_jw *out, const part_counts *c, double scale)
{
    double counted = 0, before = 0, total = 0;
    maki_jw_field_array(out, "parts");
    for (size_t i = 0; i < PARTS; i++, before = total) {
        counted += c->tokens[i];
        total = maki_scaled_tokens(counted, scale);
        maki_jw_print(out, "{'part':%z,'messages':%i,'tokens':%f}", part_names[i], c->messages[i],
                      total - before);
    }
    maki_jw_end_array(out);
    return total;
}

static void write_status(const maki_op_call *call, maki_jw *out, const part_counts *c,
                         const maki_context_use *use, const maki_policy *policy,
                         uint64_t compressions, const compression_event *last)
{
    char ago[40] = "never";
    uint64_t visible = 0;
    if (compressions) format_ago((int64_t)maki_field_now(call) - last->ts, ago, sizeof ago);
    for (size_t i = 0; i < PARTS; i++)
        visible += c->messages[i];
    maki_jw_begin_object(out);
    maki_write_session_fields(out, &use->session);
    double tokens = write_parts(out, c, use->scale);
    maki_jw_print(out, "'messagesCount':%i,'compressionCount':%i,'lastCompression':%z", visible,
                  compressions, ago);
    maki_write_context_use(out, use, tokens);
    maki_jw_print(out, "'countedFor':%s,'exact':%b,'scale':%f,'pinned':%i,'windowFrom':%z",
                  maki_str_of(use->limits.model), use->exact, use->scale,
                  (uint64_t)c->view->pin_count, use->limits.window_from);
    maki_jw_print(out, "'reserved':%f",
                  maki_run_limits_reserved(use->limits.window, use->limits.max_tokens));
    maki_write_threshold(out, &use->limits, policy);
    maki_jw_end_object(out);
}

maki_status maki_op_session_status(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_context_use use;
    maki_policy policy;
    compression_event last = { 0 };
    part_counts c = { .conv = NULL };
    maki_status st = maki_field_conversation(call, MAKI_ACCESS_READ, &c.conv, err);
    if (st == MAKI_OK) st = maki_context_use_read(call, c.conv, &use, err);
    if (st == MAKI_OK)
        st = maki_policy_from_config(call->m->config, maki_str_of(use.session.agent), "maki",
                                     call->arena, &policy, err);
    if (st == MAKI_OK) st = maki_conv_view(c.conv, MAKI_NEWEST, MAKI_NEWEST, &c.view, err);
    if (st == MAKI_OK) st = count_view(&c, err);
    uint64_t compressions = st == MAKI_OK ? maki_conv_active_compressions(c.conv, &last.ev) : 0;
    if (compressions) st = maki_log_each_event(maki_conv_log(c.conv), on_event, &last, err);
    if (st == MAKI_OK) {
        c.tokens[PART_SYSTEM] = use.system;
        c.tokens[PART_TOOLS] = use.tools;
        c.tokens[PART_OTHER] += use.reply;
        write_status(call, out, &c, &use, &policy, compressions, &last);
    }
    maki_conv_close(c.conv);
    return st;
}
