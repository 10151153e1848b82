/* op_session_status.c -- session.status: how full a session's window is, and with what.
 *
 * Sums of the index, row by row of the view; no message is read and nothing grows with the history. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
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

typedef struct moment {
    uint64_t ev;
    int64_t ts;
} moment;

static maki_status on_event(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    moment *m = ctx;
    maki_str event;
    (void)at;
    (void)err;
    if (ev == m->ev && maki_json_check(row, &event, NULL) == MAKI_OK)
        m->ts = (int64_t)maki_field_number(event, "ts", 0);
    return MAKI_OK;
}

/* "2 minutes ago" */
static void say_ago(int64_t ms, char *out, size_t capacity)
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

/* ---- what is in view ------------------------------------------------------------------------------- */

typedef struct counting {
    maki_conv *conv;
    const maki_view *view;
    uint64_t messages[PARTS];
    double tokens[PARTS]; /* as the index counts */
} counting;

static enum part part_of_row(const maki_row *row)
{
    if (row->flags & MAKI_FACT_SUMMARY) return PART_SUMMARIES;
    if (row->flags & MAKI_FACT_MARKER) return PART_MARKERS;
    if (row->flags & MAKI_FACT_ANSWERS) return PART_RESULTS;
    if (row->flags & MAKI_FACT_CALLS) return PART_CALLS;
    switch (row->flags & MAKI_FACT_ROLE) {
    case MAKI_ROLE_SYSTEM: return PART_SYSTEM_MESSAGES;
    case MAKI_ROLE_USER: return PART_USER;
    case MAKI_ROLE_ASSISTANT: return PART_ASSISTANT;
    case MAKI_ROLE_TOOL: return PART_RESULTS;
    default: return PART_OTHER;
    }
}

static void add(counting *c, enum part part, const maki_view_totals *total, double sign)
{
    c->tokens[part] += sign * (double)total->tokens;
}

/* Messages [from, to], all of one part. */
static maki_status add_run(counting *c, enum part part, uint64_t from, uint64_t to, maki_err *err)
{
    maki_view_totals total;
    maki_status st = maki_conv_tokens(c->conv, from, to, &total, err);
    if (st != MAKI_OK) return st;
    c->messages[part] += to - from + 1;
    add(c, part, &total, 1);
    return MAKI_OK;
}

/* One item of the view, as it is seen: what was made, or a message that was shortened. */
static maki_status seen_tokens(counting *c, maki_view_item item, maki_view_totals *out,
                               maki_err *err)
{
    maki_view one = *c->view;
    one.items = &item;
    one.count = one.capacity = 1;
    return maki_conv_total(c->conv, &one, out, err);
}

static maki_status add_made(counting *c, const maki_view_item *item, maki_err *err)
{
    enum part part = item->made->type == MAKI_EVENT_CONDENSE ? PART_SUMMARIES : PART_MARKERS;
    maki_view_totals total;
    maki_status st = seen_tokens(c, *item, &total, err);
    if (st != MAKI_OK) return st;
    c->messages[part]++;
    add(c, part, &total, 1);
    return MAKI_OK;
}

/* A message of which blocks are shortened counts as it is seen. */
static maki_status correct_trims(counting *c, const maki_view_item *item, maki_err *err)
{
    maki_status st = MAKI_OK;
    uint64_t before = 0; /* several texts of one message stand one after the other */
    for (size_t i = maki_view_trims_from(c->view, item->from);
         st == MAKI_OK && i < c->view->trim_count && c->view->trims[i]->seq <= item->to; i++) {
        uint64_t seq = c->view->trims[i]->seq;
        if (seq == before) continue;
        before = seq;
        maki_view_item one = *item;
        maki_view_totals whole, seen;
        maki_row row;
        one.from = one.to = seq;
        st = maki_log_row(item->log, seq, &row, err);
        if (st == MAKI_OK) st = maki_conv_tokens(c->conv, seq, seq, &whole, err);
        if (st == MAKI_OK) st = seen_tokens(c, one, &seen, err);
        if (st != MAKI_OK) break;
        add(c, part_of_row(&row), &whole, -1);
        add(c, part_of_row(&row), &seen, 1);
    }
    return st;
}

static maki_status add_rows(counting *c, const maki_view_item *item, maki_err *err)
{
    enum part part = PARTS;
    uint64_t from = item->from;
    maki_status st = MAKI_OK;
    for (uint64_t n = item->from; st == MAKI_OK && n <= item->to; n++) {
        maki_row row;
        st = maki_log_row(item->log, n, &row, err);
        if (st != MAKI_OK) return st;
        enum part here = part_of_row(&row);
        if (n > item->from && here != part) st = add_run(c, part, from, n - 1, err);
        if (here != part) from = n;
        part = here;
    }
    if (st == MAKI_OK) st = add_run(c, part, from, item->to, err);
    return st == MAKI_OK && c->view->trim_count ? correct_trims(c, item, err) : st;
}

static maki_status count_view(counting *c, maki_err *err)
{
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < c->view->count; i++) {
        const maki_view_item *item = &c->view->items[i];
        st = item->from ? add_rows(c, item, err) : add_made(c, item, err);
    }
    return st;
}

/* ---- the answer ------------------------------------------------------------------------------------ */

/* Their whole numbers add up to that of all. */
static double put_parts(maki_jw *out, const counting *c, double scale)
{
    double counted = 0, before = 0, total = 0;
    maki_jw_key(out, MAKI_LIT("parts"));
    maki_jw_array(out);
    for (size_t i = 0; i < PARTS; i++, before = total) {
        counted += c->tokens[i];
        total = maki_scaled_tokens(counted, scale);
        maki_jw_object(out);
        maki_put_text(out, "part", maki_str_of(part_names[i]));
        maki_put_count(out, "messages", c->messages[i]);
        maki_put_number(out, "tokens", total - before);
        maki_jw_end_object(out);
    }
    maki_jw_end_array(out);
    return total;
}

static void put_status(const maki_op_call *call, maki_jw *out, const counting *c,
                       const maki_context_use *use, const maki_policy *policy, uint64_t count,
                       const moment *last)
{
    char ago[40] = "never", percent[24];
    uint64_t visible = 0;
    double window = use->figures.window;
    if (count) say_ago((int64_t)maki_field_now(call) - last->ts, ago, sizeof ago);
    for (size_t i = 0; i < PARTS; i++)
        visible += c->messages[i];
    maki_jw_object(out);
    maki_put_session(out, &use->session);
    double tokens = put_parts(out, c, use->scale);
    snprintf(percent, sizeof percent, "%.0f%%", 100 * tokens / window);
    maki_put_text(out, "contextUsage", maki_str_of(percent));
    maki_put_count(out, "messagesCount", visible);
    maki_put_count(out, "compressionCount", count);
    maki_put_text(out, "lastCompression", maki_str_of(ago));
    maki_put_number(out, "tokens", tokens);
    maki_put_number(out, "window", window);
    maki_put_text(out, "countedFor", maki_str_of(use->figures.model));
    maki_put_bool(out, "exact", use->exact);
    maki_put_count(out, "pinned", c->view->pin_count);
    maki_put_threshold(out, &use->figures, policy);
    maki_jw_end_object(out);
}

maki_status maki_op_session_status(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_context_use use;
    maki_policy policy;
    moment last = { 0 };
    counting c = { .conv = NULL };
    maki_status st = maki_field_conversation_read_only(call, &c.conv, err);
    if (st == MAKI_OK) st = maki_context_use_read(call, c.conv, &use, err);
    if (st == MAKI_OK)
        st = maki_policy_from_config(call->m->config, maki_str_of(use.session.agent), "maki",
                                     call->arena, &policy, err);
    if (st == MAKI_OK) st = maki_conv_view(c.conv, MAKI_NOW, MAKI_NOW, &c.view, err);
    if (st == MAKI_OK) st = count_view(&c, err);
    uint64_t count = st == MAKI_OK ? maki_conv_compressions(c.conv, &last.ev) : 0;
    if (count) st = maki_log_each_event(maki_conv_log(c.conv), on_event, &last, err);
    if (st == MAKI_OK) {
        c.tokens[PART_SYSTEM] = use.system;
        c.tokens[PART_TOOLS] = use.tools;
        c.tokens[PART_OTHER] += use.reply;
        put_status(call, out, &c, &use, &policy, count, &last);
    }
    maki_conv_close(c.conv);
    return st;
}
