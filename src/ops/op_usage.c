/* op_usage.c -- session.usage: what a conversation's requests used, and how its context grew.
 *
 * In:    a conversation, opened read-only, and how many points of the curve are wanted.
 * Out:   sums over all requests, the curve, and the steps in effect with the tokens before and after.
 * The events file is read once; memory grows with the points and the steps alone. */
#include <string.h>

#include "base/err.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "history/facts.h"
#include "ops/exchange_list.h"
#include "ops/op_common.h"
#include "ops/operation.h"
#include "store/context_use.h"
#include "token/family.h"

enum { POINTS_DEFAULT = 400, POINTS_MAX = 10000, STEPS_MAX = 1000 };

typedef struct usage_point {
    uint64_t ev, at;
    int64_t ts;
    double tokens;
} usage_point;

/* The points of the curve: every n-th, n doubling when they become too many. */
typedef struct curve {
    usage_point *points;
    size_t count, max;
    uint64_t seen, every;
    usage_point last;
} curve;

typedef struct usage_reader {
    maki_log *log;
    double scale;
    uint64_t requests, errors;
    double input, output, cache_read, cache_write, reasoning, cost, not_sent;
    bool has_cost;
    int64_t first_ts;
    maki_exchange_facts open; /* the exchange whose usage may follow; ev 0: none yet */
    curve curve;
} usage_reader;

/* ---- the curve ------------------------------------------------------------------------------------------------- */

static void add_point(curve *c, usage_point point)
{
    c->last = point;
    if (c->seen++ % c->every != 0) return;
    if (c->count + 1 >= c->max) { /* one place stays for the last */
        size_t kept = 0;
        for (size_t i = 0; i < c->count; i += 2)
            c->points[kept++] = c->points[i];
        c->count = kept;
        c->every *= 2;
        if ((c->seen - 1) % c->every != 0) return;
    }
    c->points[c->count++] = point;
}

static void put_points(maki_jw *out, curve *c)
{
    bool has_last = c->count && c->points[c->count - 1].ev == c->last.ev &&
                    c->points[c->count - 1].at == c->last.at;
    if (c->seen && !has_last) c->points[c->count++] = c->last;
    maki_jw_field_array(out, "points");
    for (size_t i = 0; i < c->count; i++)
        maki_jw_print(out, "[%i,%i,%i,%f]", c->points[i].ev, c->points[i].at, c->points[i].ts,
                      c->points[i].tokens);
    maki_jw_end_array(out);
}

/* Without requests: how large the view was at messages in equal distances. */
static maki_status add_views(maki_conv *conv, const maki_context_use *use, curve *c, maki_err *err)
{
    maki_log *log = maki_conv_log(conv);
    uint64_t last = maki_log_last(log), base = maki_log_base(log);
    uint64_t n = last - base < c->max ? last - base : c->max;
    maki_status st = MAKI_OK;
    for (uint64_t i = 1; st == MAKI_OK && i <= n; i++) {
        const maki_view *view;
        maki_view_totals total;
        maki_index_record row;
        uint64_t seq = base + (last - base) / n * i + (last - base) % n * i / n;
        st = maki_log_row(log, seq, &row, err);
        if (st == MAKI_OK) st = maki_conv_view(conv, seq, MAKI_NEWEST, &view, err);
        if (st == MAKI_OK) st = maki_conv_total(conv, view, &total, err);
        if (st != MAKI_OK) break;
        c->last = (usage_point){ 0, seq, row.ts, maki_context_tokens(use, (double)total.tokens) };
        c->points[c->count++] = c->last;
        c->seen++;
    }
    return st;
}

/* ---- the sums -------------------------------------------------------------------------------------------------- */

/* Tokens of the messages up to the request of `x` that were not sent with it. */
static maki_status not_sent(usage_reader *r, const maki_exchange_facts *x, double *out,
                            maki_err *err)
{
    uint64_t seq = x->at < maki_log_last(r->log) ? x->at : maki_log_last(r->log);
    maki_index_record row;
    *out = 0;
    if (seq <= maki_log_base(r->log)) return MAKI_OK;
    maki_status st = maki_log_row(r->log, seq, &row, err);
    if (st != MAKI_OK) return st;
    double all = (double)row.tokens_so_far;
    if ((row.flags & MAKI_ROW_ROLE) == MAKI_ROLE_ASSISTANT && maki_exchange_replied(x))
        all -= (double)row.tokens; /* the reply */
    if (all > x->messages) *out = all - x->messages;
    return MAKI_OK;
}

/* The exchange is complete: all events about it were read. */
static maki_status finish_exchange(usage_reader *r, maki_err *err)
{
    const maki_exchange_facts *x = &r->open;
    double hidden = 0;
    if (!x->ev) return MAKI_OK;
    maki_status st = not_sent(r, x, &hidden, err);
    double counted = maki_scaled_tokens(x->system + x->tools + x->messages, r->scale);
    add_point(&r->curve,
              (usage_point){ x->ev, x->at, x->ts, x->usage.known ? x->usage.input : counted });
    r->not_sent += hidden;
    if (r->requests++ == 0) r->first_ts = x->ts;
    return st;
}

static void add_cost(usage_reader *r, maki_str event)
{
    maki_str value;
    if (!maki_json_get(event, MAKI_LIT("cost"), &value) ||
        maki_json_kind_of(value) != MAKI_JSON_NUMBER)
        return;
    double cost = maki_json_double(value);
    if (maki_json_field_is(event, "type", "condense") && !(cost > 0)) return; /* offline */
    r->cost += cost;
    r->has_cost = true;
}

static void add_usage(usage_reader *r, maki_str event)
{
    maki_exchange_usage used = { 0 };
    add_cost(r, event);
    maki_exchange_read_usage(event, &used);
    if (!used.known) return;
    r->input += used.input;
    r->output += used.output;
    r->cache_read += used.cache_read;
    r->cache_write += used.cache_write;
    r->reasoning += used.reasoning;
    if (!r->open.usage.known) r->open.usage = used;
}

static maki_status read_event(void *ctx, uint64_t ev, maki_str row, uint64_t offset, maki_err *err)
{
    usage_reader *r = ctx;
    maki_event_head head;
    maki_str event;
    (void)ev;
    (void)offset;
    if (!maki_event_head_of(row, &head)) return MAKI_OK;
    bool error = maki_str_equal(head.type, MAKI_LIT("provider_error"));
    bool usage = maki_str_equal(head.type, MAKI_LIT("usage"));
    bool condense = maki_str_equal(head.type, MAKI_LIT("condense"));
    bool begins = maki_exchange_begins(row, &head);
    r->errors += error;
    if ((!usage && !condense && !begins) || maki_json_check(row, &event, NULL) != MAKI_OK)
        return MAKI_OK;
    if (condense) add_cost(r, event);
    if (usage) add_usage(r, event);
    if (!begins) return MAKI_OK;
    maki_status st = finish_exchange(r, err);
    maki_exchange_read_manifest(event, &head, &r->open);
    return st;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static bool is_shown(const maki_event *e)
{
    return !e->dead && (maki_event_frees_context(e->type) || e->type == MAKI_EVENT_REWIND);
}

/* The events in effect, the newest; copied, because each effect makes other views. */
static maki_status read_steps(maki_conv *conv, maki_arena *arena, maki_event **out, size_t *count,
                              maki_err *err)
{
    const maki_view *view;
    maki_status st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    if (st != MAKI_OK) return st;
    const maki_events *events = maki_conv_events(conv);
    size_t first = events->count;
    for (*count = 0; first > 0 && *count < STEPS_MAX; first--)
        *count += is_shown(&events->at[first - 1]);
    *out = maki_arena_array(arena, *count + 1, sizeof **out);
    if (!*out) return maki_arena_status(arena, err);
    for (*count = 0; first < events->count; first++) {
        if (is_shown(&events->at[first])) (*out)[(*count)++] = events->at[first];
    }
    return MAKI_OK;
}

static maki_status put_steps(maki_op_call *call, maki_conv *conv, const maki_context_use *use,
                             maki_jw *out, maki_err *err)
{
    maki_event *steps = NULL;
    size_t count = 0;
    maki_status st = read_steps(conv, call->arena, &steps, &count, err);
    maki_jw_field_array(out, "steps");
    for (size_t i = 0; st == MAKI_OK && i < count; i++) {
        maki_change did;
        st = maki_conv_event_effect(conv, steps[i].ev, &did, err);
        if (st != MAKI_OK) break;
        maki_jw_print(out, "{'ev':%i,'at':%i,'ts':%i,'type':%z,'tokensBefore':%f,'tokensAfter':%f}",
                      steps[i].ev, steps[i].at, steps[i].ts, maki_event_name(steps[i].type),
                      maki_context_tokens(use, (double)did.tokens_before),
                      maki_context_tokens(use, (double)did.tokens_after));
    }
    maki_jw_end_array(out);
    return st;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void put_sums(maki_jw *out, const usage_reader *r)
{
    maki_jw_print(out,
                  "{'requests':%i,'errors':%i,'input':%f,'output':%f,'cacheRead':%f,"
                  "'cacheWrite':%f,'reasoning':%f",
                  r->requests, r->errors, r->input, r->output, r->cache_read, r->cache_write,
                  r->reasoning);
    maki_jw_key(out, MAKI_LIT("cost"));
    if (r->has_cost)
        maki_jw_double(out, r->cost);
    else
        maki_jw_null(out);
    maki_jw_print(out, "'notSent':%f", maki_scaled_tokens(r->not_sent, r->scale));
    if (r->open.ev) maki_jw_print(out, "'firstTs':%i,'lastTs':%i", r->first_ts, r->open.ts);
    maki_jw_key(out, MAKI_LIT("last"));
    if (r->open.ev)
        maki_put_exchange(out, &r->open);
    else
        maki_jw_null(out);
}

maki_status maki_op_session_usage(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_conv *conv = NULL;
    maki_context_use use;
    maki_run_limits_options given = { .config = call->m->config };
    double points = maki_input_number(call, "points", POINTS_DEFAULT);
    usage_reader *r = maki_arena_get(call->arena, sizeof *r);
    if (!r) return maki_arena_status(call->arena, err);
    r->curve.every = 1;
    r->curve.max = points < 2 ? 2 : points > POINTS_MAX ? POINTS_MAX : (size_t)points;
    r->curve.points = maki_arena_array(call->arena, r->curve.max, sizeof(usage_point));
    maki_status st = maki_arena_status(call->arena, err);
    if (st == MAKI_OK) st = maki_field_conversation(call, MAKI_ACCESS_READ, &conv, err);
    if (st == MAKI_OK) st = maki_context_use_of(conv, &given, &use, err);
    if (st == MAKI_OK) {
        r->log = maki_conv_log(conv);
        r->scale = use.scale;
        st = maki_log_each_event(r->log, read_event, r, err);
    }
    if (st == MAKI_OK) st = finish_exchange(r, err);
    if (st == MAKI_OK && r->requests == 0) st = add_views(conv, &use, &r->curve, err);
    if (st == MAKI_OK) {
        put_sums(out, r);
        put_points(out, &r->curve);
        st = put_steps(call, conv, &use, out, err);
        maki_jw_end_object(out);
    }
    maki_conv_close(conv);
    return st;
}
