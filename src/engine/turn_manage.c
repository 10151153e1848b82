/* turn_manage.c -- select the provider, find its window, and reduce the session to fit.
 *
 * In:    the request, the configuration and the session.
 * Out:   a session whose view fits, or MAKI_REFUSED CONTEXT_OVERFLOW.
 * Sessions are counted in o200k_base; the scale of the model (token/family.h) converts to tokens of the model. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/str_util.h"
#include "engine/turn_internal.h"
#include "manage/policy_config.h"
#include "manage/thresholds.h"
#include "store/event_fifo.h"
#include "token/content.h"
#include "token/tools_count.h"

/* ---- the provider ------------------------------------------------------------------------------------------------------- */

static bool is_same_provider(const maki_provider *a, const maki_provider *b)
{
    return strcmp(a->name, b->name) == 0 && maki_str_equal(a->model, b->model) &&
           a->max_tokens == b->max_tokens && a->window == b->window;
}

maki_status maki_turn_select_provider(maki_turn_state *w, maki_err *err)
{
    maki_turns *t = w->turns;
    const maki_turns_options *o = w->options;
    maki_provider provider;
    maki_status st = maki_provider_from_config(
        o->config, maki_str_of(w->agent), w->request->provider, w->request->model, &provider, err);
    if (st != MAKI_OK) return st;
    if (!t->sender || !is_same_provider(&t->provider, &provider)) {
        maki_sender_close(t->sender);
        t->sender = NULL;
        t->provider = provider;
        maki_send_options options = { .env = o->env,
                                      .provider = &t->provider,
                                      .log = o->logger,
                                      .sleep = o->sleep,
                                      .sleep_ctx = o->sleep_ctx };
        st = maki_sender_open(&options, &t->sender, err);
    }
    w->model = w->request->model.len ? w->request->model : t->provider.model;
    w->family = maki_family_of(w->model);
    snprintf(w->result->provider, sizeof w->result->provider, "%s", t->provider.name);
    snprintf(w->result->model, sizeof w->result->model, "%.*s", (int)w->model.len, w->model.ptr);
    return st;
}

/* ---- the window ---------------------------------------------------------------------------------------------------- */

/* A window that is not configured is requested from the provider, which knows the model it loaded. */
static maki_status find_limits(maki_turn_state *w, maki_err *err)
{
    uint64_t window = 0;
    maki_run_limits_options in = { .config = w->options->config,
                                   .logger = w->options->logger,
                                   .model = w->model,
                                   .agent = maki_str_of(w->agent),
                                   .provider = maki_str_of(w->turns->provider.name),
                                   .window = w->request->window,
                                   .max_tokens = (double)w->max_tokens,
                                   .session_percent = maki_session_threshold(&w->turns->session) };
    maki_status st = maki_run_limits_of(&in, &w->limits, err);
    if (st != MAKI_OK || w->limits.window_set) return st;
    st = maki_sender_window(w->turns->sender, w->model, maki_turn_cancelled, w, &window, err);
    if (st != MAKI_OK || window == 0) return st;
    in.window = (double)window;
    st = maki_run_limits_of(&in, &w->limits, err);
    w->limits.window_from = "provider";
    return st;
}

static maki_status count_others(maki_turn_state *w, maki_err *err)
{
    const maki_turn_request *q = w->request;
    maki_tokenizer **tokenizer = &w->turns->tokenizer;
    maki_status st = MAKI_OK;
    if (w->system_count == 0 && q->tools.len == 0) return MAKI_OK;
    if (!*tokenizer)
        st = maki_tokenizer_open(w->options->env, maki_encoding_find("o200k_base"), NULL, tokenizer,
                                 err);
    for (size_t i = 0; st == MAKI_OK && i < w->system_count; i++)
        w->system_tokens += maki_tokenizer_count(*tokenizer, w->system[i]) + MAKI_PER_MESSAGE;
    if (st == MAKI_OK && q->tools.len)
        st = maki_count_tools(*tokenizer, w->family, q->tools, &w->tool_tokens, err);
    return st;
}

maki_status maki_turn_find_limits(maki_turn_state *w, maki_err *err)
{
    maki_status st = find_limits(w, err);
    if (st == MAKI_OK) st = count_others(w, err);
    if (st == MAKI_OK)
        st = maki_policy_from_config(w->options->config, maki_str_of(w->agent), "maki", &w->arena,
                                     &w->policy, err);
    if (st != MAKI_OK) return st;
    w->factor = maki_family_scale(w->family, &w->calibration);
    w->result->system_tokens = (double)w->system_tokens * w->factor;
    maki_turn_use_reported(w);
    w->result->window = w->limits.window;
    w->result->warning = w->limits.warning;
    w->result->allowed = maki_run_limits_allowed(w->limits.window, w->limits.max_tokens);
    w->summarizer_options =
        (maki_summarizer_options){ .env = w->options->env,
                                   .config = w->options->config,
                                   .model = &w->turns->model,
                                   .logger = w->options->logger,
                                   .agent = maki_str_of(w->agent),
                                   .profile = maki_str_of(w->limits.profile),
                                   .task = w->policy.flags & MAKI_POLICY_TASKS,
                                   .provider = maki_str_of(w->turns->provider.name),
                                   .answering = w->model,
                                   .window = w->limits.window,
                                   .cancelled =
                                       w->callbacks->cancelled ? maki_turn_cancelled : NULL,
                                   .cancelled_ctx = w };
    return maki_summarizer_choose(&w->summarizer_options, &w->summarizer, err);
}

/* ---- reducing the session ---------------------------------------------------------------------------------------------------- */

/* The summarizer of a run: on_managing is called before it begins to write. */
typedef struct reporting_summarizer {
    maki_summarizer base;
    maki_turn_state *work;
} reporting_summarizer;

static maki_status run_reporting(const maki_summarizer *self, const maki_summary_request *request,
                                 maki_arena *arena, maki_summary *out, maki_err *err)
{
    maki_turn_state *w = ((const reporting_summarizer *)self)->work;
    const maki_summarizer *by = &w->summarizer.measured;
    w->managing = w->callbacks->on_managing(w->callbacks->ctx, NULL, &w->managing_err);
    if (w->managing != MAKI_OK) /* any other status would count as a summarizer that failed */
        return maki_fail(err, MAKI_CANCELLED, "cancelled by the caller");
    return by->run(by, request, arena, out, err);
}

/* Report the run to the daemon of the state directory, which may have listeners. */
static void emit_start(void *ctx, const char *reason, double tokens, double window)
{
    const maki_turn_state *w = ctx;
    maki_buf json = maki_buf_new(w->options->env->alloc, MAKI_EVENT_MAX);
    maki_managing_event(&json, maki_conv_id(w->conv), reason, tokens, window);
    if (w->options->home)
        maki_event_fifo_send(w->options->env, w->options->home, maki_buf_str(&json));
    maki_buf_free(&json);
}

static maki_manage_options manage_options_of(maki_turn_state *w, const maki_summarizer *by)
{
    const maki_run_limits *f = &w->limits;
    bool keep_default =
        (w->policy.flags & MAKI_POLICY_KEEP_THREE) && !f->keep_set; /* for every model */
    double reserved_tokens = f->max_tokens > 0 ? f->max_tokens : MAKI_RESERVED_OUTPUT;
    return (maki_manage_options){ .scale = w->factor,
                                  .window = w->reduced_window > 0 ? w->reduced_window : f->window,
                                  .model_window = f->window,
                                  .max_tokens = reserved_tokens,
                                  .other_tokens = maki_turn_other(w),
                                  .threshold = f->threshold,
                                  .threshold_tokens = f->threshold_tokens,
                                  .force = w->reduced_window > 0,
                                  .truncate_only = !f->automatic,
                                  .keep = keep_default ? 0 : f->keep,
                                  .policy = &w->policy,
                                  .summarizer = by,
                                  .logger = w->options->logger,
                                  .cancelled = w->callbacks->cancelled ? maki_turn_cancelled : NULL,
                                  .cancel_ctx = w,
                                  .on_start = emit_start,
                                  .start_ctx = w };
}

static maki_status report_run(maki_turn_state *w, const maki_manage_report *report, maki_err *err)
{
    maki_turn_result *r = w->result;
    if (report->run == 0) return MAKI_OK;
    r->managed = *report;
    r->runs++;
    r->cost += report->usage.cost;
    r->has_cost |= report->usage.cost > 0;
    return w->callbacks->on_managing
               ? w->callbacks->on_managing(w->callbacks->ctx, &r->managed, err)
               : MAKI_OK;
}

/* A request that cannot fit is not sent. */
static maki_status check_fits(const maki_turn_state *w, const maki_manage_report *report,
                              maki_err *err)
{
    if (w->reduced_window > 0 && report->tokens_after >= report->tokens_before)
        return maki_refuse(err, MAKI_SEND_OVERFLOW,
                           "%.40s rejects %.0f tokens as too many, and nothing more can be hidden",
                           w->turns->provider.name, report->tokens_before);
    if (report->tokens_after <= w->window) return MAKI_OK;
    return maki_refuse(err, MAKI_SEND_OVERFLOW,
                       "%.0f tokens are left after condensing, but the window of %.60s has %.0f: "
                       "make the message or the system prompt shorter",
                       report->tokens_after, w->result->model, w->window);
}

maki_status maki_turn_manage(maki_turn_state *w, maki_err *err)
{
    maki_manage_report report = { 0 };
    reporting_summarizer reporting = { { w->summarizer.measured.usable, run_reporting, NULL }, w };
    maki_manage_options in =
        manage_options_of(w, w->callbacks->on_managing ? &reporting.base : &w->summarizer.measured);
    maki_status st = maki_manage_conversation(w->conv, &in, &report, err);
    if (st != MAKI_OK && w->managing != MAKI_OK) {
        if (err) *err = w->managing_err;
        return w->managing;
    }
    if (st == MAKI_OK) st = report_run(w, &report, err);
    w->counted = report.counted;
    w->result->tokens = report.tokens_after;
    return st == MAKI_OK ? check_fits(w, &report, err) : st;
}

void maki_turn_report_context(maki_turn_state *w)
{
    maki_view_totals now;
    bool measured = w->limits.window >= 1;
    if (!measured || maki_conv_total_now(w->conv, &now, NULL) != MAKI_OK) return;
    w->result->context = maki_scaled_tokens((double)now.tokens + maki_turn_other(w),
                                            maki_family_scale(w->family, &w->calibration));
    w->result->visible = now.messages;
}
