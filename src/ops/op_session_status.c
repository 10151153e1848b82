/* op_session_status.c -- session.status: how full a session's window is, and with what.
 *
 * Sums of the index, row by row of the view; no message is read and nothing grows with the history. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "history/facts.h"
#include "manage/figures.h"
#include "ops/op.h"
#include "ops/parts.h"
#include "store/resolve.h"
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

/* ---- what the events say --------------------------------------------------------------------------- */

/* An event that hid something behind a summary or a marker, or an undo. */
typedef struct step {
    uint64_t ev, target; /* target 0: it compressed */
    int64_t ts;
    bool dead;
} step;

typedef struct noticed {
    maki_arena *arena;
    step *steps;
    size_t count, room;
    double system, tools;         /* tokens of the newest request's, in o200k_base */
    const char *model;            /* that it is counted for */
    maki_calibration calibration; /* what its replies taught */
} noticed;

static bool is_word(maki_str text, const char *word)
{
    return maki_json_text_is(text, maki_str_of(word));
}

static void learn(noticed *n, maki_str event)
{
    maki_str model, taught;
    maki_calibration one;
    if (maki_field(event, "model", &model) && maki_json_kind_of(model) == MAKI_JSON_STRING &&
        is_word(model, n->model) && maki_field(event, "calibration", &taught) &&
        maki_calibration_parse(taught, &one))
        n->calibration = one;
}

static maki_status on_event(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    noticed *n = ctx;
    maki_str event, type;
    (void)at;
    if (maki_json_check(row, &event, NULL) != MAKI_OK || !maki_field(event, "type", &type) ||
        maki_json_kind_of(type) != MAKI_JSON_STRING)
        return MAKI_OK; /* maki verify tells */
    if (is_word(type, "system")) {
        n->system = maki_field_number(event, "tokens", 0);
        n->tools = maki_field_number(event, "toolTokens", 0);
    }
    if (is_word(type, "usage")) learn(n, event);
    bool undo = is_word(type, "undo");
    if (!undo && !is_word(type, "condense") && !is_word(type, "truncate")) return MAKI_OK;
    void *moved = maki_arena_grow(n->arena, n->steps, n->count, &n->room, sizeof *n->steps);
    if (!moved) return maki_arena_status(n->arena, err);
    n->steps = moved;
    n->steps[n->count++] = (step){ ev, undo ? maki_json_whole_field(event, MAKI_LIT("target")) : 0,
                                   (int64_t)maki_field_number(event, "ts", 0), false };
    return MAKI_OK;
}

/* How many compressions count, and when the last was: an undo that counts makes its target void. */
static uint64_t compressions(noticed *n, int64_t *last)
{
    uint64_t count = 0;
    *last = 0;
    for (size_t i = n->count; i > 0; i--) {
        const step *s = &n->steps[i - 1];
        if (s->dead) continue;
        if (s->target == 0) {
            if (count++ == 0) *last = s->ts;
            continue;
        }
        for (size_t k = 0; k < i; k++)
            n->steps[k].dead = n->steps[k].dead || n->steps[k].ev == s->target;
    }
    return count;
}

/* "2 minutes ago" */
static void say_ago(int64_t ms, char *out, size_t room)
{
    static const struct {
        int64_t ms;
        const char *name;
    } units[] = { { 86400000, "day" }, { 3600000, "hour" }, { 60000, "minute" } };
    snprintf(out, room, "just now");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        long long n = (long long)(ms / units[i].ms);
        if (n < 1) continue;
        snprintf(out, room, "%lld %s%s ago", n, units[i].name, n == 1 ? "" : "s");
        return;
    }
}

/* ---- what is in view ------------------------------------------------------------------------------- */

typedef struct counting {
    maki_conv *conv;
    const maki_view *view;
    double scale; /* tokens of the model for one of ours */
    bool estimated;
    uint64_t messages[PARTS];
    double tokens[PARTS];
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
    one.count = one.room = 1;
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

/* The model it is counted for: the field, else that of the newest reply. */
static void read_model(const maki_call *call, const maki_session *s, char out[MAKI_MODEL_MAX])
{
    maki_str value;
    snprintf(out, MAKI_MODEL_MAX, "%s", s->model);
    if (maki_in(call, "model", &value))
        out[maki_json_copy_text(value, out, MAKI_MODEL_MAX - 1)] = '\0';
}

/* By what its replies taught, like a turn does: so both tell the same. */
static void choose_scale(const noticed *n, counting *c)
{
    if (!n->model[0]) return;
    const maki_family *family = maki_family_of(maki_str_of(n->model));
    c->scale = maki_family_scale(family, &n->calibration);
    c->estimated = maki_family_error(family, &n->calibration) > 0;
}

static double put_parts(maki_jw *out, counting *c)
{
    double total = 0;
    maki_jw_key(out, MAKI_LIT("parts"));
    maki_jw_array(out);
    for (size_t i = 0; i < PARTS; i++) {
        double tokens = ceil(c->tokens[i] * c->scale);
        total += tokens;
        maki_jw_object(out);
        maki_put_text(out, "part", maki_str_of(part_names[i]));
        maki_put_count(out, "messages", c->messages[i]);
        maki_put_number(out, "tokens", tokens);
        maki_jw_end_object(out);
    }
    maki_jw_end_array(out);
    return total;
}

/* A window that a run would refuse is told all the same. */
static double window_of(const maki_call *call, const maki_session *s, const char *model)
{
    maki_figures figures;
    maki_figures_in in = { .config = call->m->config,
                           .model = maki_str_of(model),
                           .agent = maki_str_of(s->agent),
                           .window = maki_in_number(call, "window", 0) };
    (void)maki_figures_of(&in, &figures, NULL);
    return figures.window;
}

static void put_status(const maki_call *call, maki_jw *out, counting *c, noticed *n,
                       const maki_session *s, const char *model)
{
    char ago[40] = "never", percent[24];
    int64_t last;
    uint64_t count = compressions(n, &last), visible = 0;
    double window = window_of(call, s, model);
    if (count) say_ago((int64_t)maki_field_now(call) - last, ago, sizeof ago);
    for (size_t i = 0; i < PARTS; i++)
        visible += c->messages[i];
    maki_jw_object(out);
    maki_put_session(out, s);
    double tokens = put_parts(out, c);
    snprintf(percent, sizeof percent, "%.0f%%", 100 * tokens / window);
    maki_put_text(out, "contextUsage", maki_str_of(percent));
    maki_put_count(out, "messagesCount", visible);
    maki_put_count(out, "compressionCount", count);
    maki_put_text(out, "lastCompression", maki_str_of(ago));
    maki_put_number(out, "tokens", tokens);
    maki_put_number(out, "window", window);
    maki_put_text(out, "countedFor", maki_str_of(model));
    maki_put_bool(out, "exact", !c->estimated);
    maki_put_count(out, "pinned", c->view->pin_count);
    maki_jw_end_object(out);
}

maki_status maki_op_session_status(maki_call *call, maki_jw *out, maki_err *err)
{
    char path[MAKI_PATH_MAX], model[MAKI_MODEL_MAX];
    maki_session s;
    noticed n = { .arena = call->arena, .model = model };
    counting c = { .scale = 1 };
    maki_status st = maki_field_path(call, "conversation", path, err);
    if (st == MAKI_OK) st = maki_field_looked_at(call, &c.conv, err);
    if (st == MAKI_OK) st = maki_session_get(&call->m->env, path, &s, err);
    if (st == MAKI_OK) read_model(call, &s, model);
    if (st == MAKI_OK) st = maki_log_each_event(maki_conv_log(c.conv), on_event, &n, err);
    if (st == MAKI_OK) st = maki_conv_view(c.conv, MAKI_NOW, MAKI_NOW, &c.view, err);
    if (st == MAKI_OK) st = count_view(&c, err);
    if (st == MAKI_OK) {
        choose_scale(&n, &c);
        c.tokens[PART_SYSTEM] = n.system; /* the newest request's */
        c.tokens[PART_TOOLS] = n.tools;
        put_status(call, out, &c, &n, &s, model);
    }
    maki_conv_close(c.conv);
    return st;
}
