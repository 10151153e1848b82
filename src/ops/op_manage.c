/* op_manage.c -- manage.*, prune.*, window.*, profile.*: check whether the window is too full, and condense, truncate
 * or prune.
 *
 * On a list of messages a run follows the reference's rules (reference/run.h) and the answer is the new list.  On a
 * conversation it follows a policy (manage/manage.h): the fields of the call, the configuration and the model decide the
 * limits, and the answer is a report, never the messages. */
#include <math.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "manage/manage.h"
#include "manage/policy_config.h"
#include "manage/prepare.h"
#include "manage/run_history.h"
#include "manage/thresholds.h"
#include "manage/window.h"
#include "ops/context.h"
#include "ops/op_common.h"
#include "reference/decide.h"
#include "reference/prune.h"
#include "reference/run.h"
#include "store/event_fifo.h"
#include "token/family.h"
#include "wire/content_part.h"

static maki_status check_positive(const maki_op_call *call, const char *name, maki_err *err)
{
    maki_str value;
    if (!maki_input_value(call, name, &value) || maki_json_double(value) > 0) return MAKI_OK;
    return maki_field_invalid(call, value, err, "%s must be more than 0", name);
}

/* ---- manage ----------------------------------------------------------------------------------- */

/* The current profile: currentProfileId, else the field `fallback` (NULL: none). */
static maki_str profile_field(const maki_op_call *call, const char *fallback)
{
    maki_str value;
    bool given = maki_input_value(call, "currentProfileId", &value);
    return maki_input_text(call, given || !fallback ? "currentProfileId" : fallback);
}

static maki_status read_decide(const maki_op_call *call, maki_str profile, maki_decide_input *out,
                               maki_err *err)
{
    maki_str thresholds, threshold;
    *out = (maki_decide_input){
        .total_tokens = maki_input_number(call, "totalTokens", 0),
        .last_message_tokens = maki_input_number(call, "lastMessageTokens", 0),
        .window = maki_input_number(call, "contextWindow", MAKI_WINDOW_DEFAULT),
        .max_tokens = maki_input_number(call, "maxTokens", 0),
        .auto_condense = maki_input_bool(call, "autoCondenseContext", true),
        .threshold = maki_input_number(call, "autoCondenseContextPercent", MAKI_THRESHOLD_DEFAULT),
    };
    maki_status st = check_positive(call, "contextWindow", err);
    if (st != MAKI_OK || !maki_input_value(call, "profileThresholds", &thresholds)) return st;
    if (!maki_json_get(thresholds, profile, &threshold) ||
        maki_json_kind_of(threshold) == MAKI_JSON_NULL) {
        return maki_arena_status(call->arena, err);
    }
    st = maki_field_check_kind(call, threshold, "a threshold in profileThresholds",
                               MAKI_JSON_NUMBER, err);
    out->has_profile = true;
    out->profile_threshold = maki_json_double(threshold);
    return st;
}

maki_status maki_op_manage_check(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_decide_input in;
    maki_status st = read_decide(call, profile_field(call, NULL), &in, err);
    if (st != MAKI_OK) return st;
    maki_window_decision d = maki_decide(&in);
    maki_jw_print(out,
                  "{'result':%b,'tokens':%f,'allowedTokens':%f,'contextPercent':%f,'threshold':%f,"
                  "'thresholdInvalid':%b}",
                  d.manage, d.tokens, d.allowed, d.percent, d.threshold, d.profile_invalid);
    return MAKI_OK;
}

static void write_run(maki_jw *out, const maki_run_report *r)
{
    static const char *const actions[] = { "none", "condense", "truncate" };
    bool condensed = r->action == MAKI_ACTION_CONDENSE;
    maki_jw_print(out, "{'action':%z,'messages':", actions[r->action]);
    maki_msgs_write(out, r->messages);
    maki_jw_print(out, "'summary':%s,'cost':%f,'prevContextTokens':%f,'summarizerCalled':%b",
                  condensed ? r->condensed.summary : MAKI_LIT(""), r->condensed.cost,
                  r->decision.tokens, r->condensed.called);
    if (r->condense_failed) maki_jw_print(out, "'error':%z", r->condense_error.code);
    if (condensed)
        maki_jw_print(out, "'newContextTokens':%f,'condenseId':%v", r->condensed.tokens_after,
                      r->condensed.id);
    if (r->action == MAKI_ACTION_TRUNCATE)
        maki_jw_print(out,
                      "'newContextTokensAfterTruncation':%f,'messagesRemoved':%i,'truncationId':%v",
                      r->tokens_after_truncation, r->truncated.removed, r->truncated.id);
    maki_jw_end_object(out);
}

maki_status maki_op_manage_run(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_msgs list;
    maki_condense_fields fields;
    maki_run_input in = { .min_reduction = maki_input_number(call, "minReduction", 0) };
    maki_run_report report;
    maki_str policy;
    if (maki_input_value(call, "policy", &policy) && !maki_json_text_is(policy, MAKI_LIT("roo"))) {
        return maki_field_invalid(call, policy, err,
                                  "policy must be \"roo\" for a list of messages");
    }
    maki_status st = maki_field_messages(call, "messages", &list, err);
    if (st == MAKI_OK) st = maki_condense_fields_read(call, list, &fields, err);
    if (st == MAKI_OK) st = read_decide(call, profile_field(call, NULL), &in.decide, err);
    if (st != MAKI_OK) return st;
    in.condense = fields.condense;
    st = maki_manage_run(&in, call->arena, &report, err);
    if (st == MAKI_OK) write_run(out, &report);
    return st;
}

/* ---- the same on a conversation ------------------------------------------------------------------ */

/* The policy that the call names, by default the one the agent is configured with. */
static maki_status policy_field(const maki_op_call *call, maki_str agent, maki_policy *out,
                                maki_err *err)
{
    maki_str value;
    const maki_config *config = call->m->config;
    if (!maki_input_value(call, "policy", &value))
        return maki_policy_from_config(config, agent, "maki", call->arena, out, err);
    maki_str name = maki_json_text(value, call->arena);
    maki_status st = maki_arena_status(call->arena, err);
    return st == MAKI_OK ? maki_policy_configured(config, name, call->arena, out, err) : st;
}

/* The events of a dry run do not exist afterwards, so they are omitted. */
static void write_steps(maki_jw *out, const maki_manage_report *report, bool preview)
{
    maki_jw_field_array(out, "steps");
    for (size_t i = 0; i < report->taken_count; i++) {
        const maki_step_result *step = &report->taken[i];
        maki_jw_print(out, "{'step':%z,'event':%I", maki_step_name(step->kind),
                      preview ? 0 : (uint64_t)step->event);
        if (step->undone) maki_jw_print(out, "'undone':true");
        maki_jw_print(out, "'refused':%z}", step->refused);
    }
    maki_jw_end_array(out);
}

/* ---- what a dry run would leave ------------------------------------------------------------------------ */

enum { SHORTENS_MAX = 200, SUMMARY_TEXT_MAX = 1 << 20 };

typedef struct preview {
    maki_view before;       /* in the arena of the call */
    const maki_view *after; /* as long as nothing else asks for a view */
    maki_buf summary;       /* the texts of the summaries that would be there */
} preview;

static maki_status begin_preview(preview *p, const maki_op_call *call, maki_conv *conv,
                                 maki_err *err)
{
    const maki_view *view;
    *p = (preview){ .summary = maki_buf_new(call->m->env.alloc, SUMMARY_TEXT_MAX) };
    maki_status st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    return st == MAKI_OK ? maki_view_copy(view, call->arena, &p->before, err) : st;
}

static maki_status add_summary_text(void *ctx, const maki_view_message *message, maki_err *err)
{
    preview *p = ctx;
    maki_content_part part;
    maki_content_parts parts = maki_content_parts_of_row(message->json);
    while (maki_content_parts_next(&parts, &part)) {
        if (part.kind != MAKI_CONTENT_TEXT || !part.text.len) continue;
        if (p->summary.len) maki_buf_add(&p->summary, MAKI_LIT("\n\n"));
        (void)maki_json_unescape_to(maki_json_strip_quotes(part.text), maki_buf_sink(&p->summary),
                                    NULL);
    }
    return maki_buf_status(&p->summary, err);
}

/* After the run: what is read may fail, so it is read before the answer begins. */
static maki_status end_preview(preview *p, const maki_op_call *call, maki_conv *conv, maki_err *err)
{
    maki_view copy;
    const maki_view *view;
    maki_status st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    if (st == MAKI_OK) st = maki_view_copy(view, call->arena, &copy, err);
    if (st != MAKI_OK) return st;
    size_t n = 0;
    for (size_t i = 0; i < copy.count; i++) {
        const maki_view_item *item = &copy.items[i];
        if (item->from == 0 && item->synthetic->type == MAKI_EVENT_CONDENSE &&
            !maki_view_has_synthetic(&p->before, item->synthetic->ev))
            copy.items[n++] = *item;
    }
    copy.count = n;
    if (n) st = maki_conv_each(conv, &copy, add_summary_text, p, err);
    if (st == MAKI_OK) st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &p->after, err);
    return st;
}

static bool has_trim(const maki_view *view, uint64_t seq)
{
    size_t i = maki_view_trims_from(view, seq);
    return i < view->trim_count && view->trims[i]->seq == seq;
}

/* Nothing for a call that is no dry run. */
static void write_preview(maki_jw *out, const preview *p)
{
    uint64_t before = 0;
    size_t written = 0;
    if (!p->after) return;
    maki_put_only_in(out, "hides", &p->before, p->after);
    maki_jw_field_array(out, "shortens");
    for (size_t i = 0; i < p->after->trim_count && written < SHORTENS_MAX; i++) {
        uint64_t seq = p->after->trims[i]->seq;
        if (seq != before && !has_trim(&p->before, seq) && maki_view_has(p->after, seq)) {
            maki_jw_int(out, (int64_t)seq);
            written++;
        }
        before = seq; /* the trims of one message follow each other */
    }
    maki_jw_end_array(out);
    maki_jw_field_string(out, "summary", maki_buf_str(&p->summary));
}

/* The limits of the run and where they come from: they explain the decision. */
static void write_limits(maki_jw *out, const maki_run_limits *limits, const maki_policy *policy)
{
    maki_jw_print(out, "'contextWindow':%f,'windowFrom':%s", limits->window,
                  maki_str_of(limits->window_from));
    maki_write_threshold(out, limits, policy);
    maki_jw_field_text(out, "model", limits->model);
    if (limits->small) maki_jw_print(out, "'windowSmall':true");
    if (limits->threshold_invalid) maki_jw_print(out, "'thresholdInvalid':true");
}

static void write_report(maki_jw *out, const maki_run_limits *limits, const maki_policy *policy,
                         const maki_manage_report *report, bool dry_run, const preview *shown)
{
    maki_jw_print(out,
                  "{'reason':%z,'action':%z,'tokensBefore':%f,'tokensAfter':%f,'reduction':%f,"
                  "'messagesRemoved':%i,'compressionTime':%i",
                  maki_reason_name(report->reason), maki_step_name(report->action),
                  report->tokens_before, report->tokens_after,
                  maki_reduction(report->tokens_before, report->tokens_after),
                  report->effect.hidden, report->ms);
    maki_write_view_change(out, &report->effect);
    maki_summary_usage_write(out, &report->usage);
    maki_fact_coverage_write(out, &report->coverage);
    maki_fallback_write(out, &report->fallback_reason);
    maki_jw_print(out, "'allowed':%f,'target':%f,'within':%b", report->allowed, report->target,
                  report->fits);
    if (report->backing_off) maki_jw_print(out, "'waits':true");
    if (report->failed) maki_jw_print(out, "'failed':true");
    if (dry_run) maki_jw_print(out, "'preview':true");
    maki_jw_print(out, "'run':%I", dry_run ? 0 : (uint64_t)report->run);
    write_limits(out, limits, policy);
    write_steps(out, report, dry_run);
    write_preview(out, shown);
    maki_jw_end_object(out);
}

/* The limits that the call sets; maki_run_limits_of finds the others. */
static maki_status read_limits(const maki_op_call *call, maki_run_limits_options *out,
                               maki_err *err)
{
    maki_str value;
    maki_decide_input decide; /* of the fields that a decision about a list shares */
    maki_status st = read_decide(call, profile_field(call, "model"), &decide, err);
    if (st != MAKI_OK) return st;
    *out = (maki_run_limits_options){
        .config = call->m->config,
        .logger = maki_logger_of(call->m),
        .model = maki_input_text(call, "model"),
        .profile = maki_input_text(call, "currentProfileId"),
        .agent = maki_input_text(call, "agent"),
        .provider = maki_input_text(call, "provider"),
        .window = maki_input_number(call, "contextWindow", 0),
        .max_tokens = decide.max_tokens,
        .keep = (size_t)maki_input_number(call, "keepCount", 0),
        .has_automatic = maki_input_value(call, "autoCondenseContext", &value),
        .automatic = decide.auto_condense,
        .percent = maki_input_number(call, "autoCondenseContextPercent", 0),
        .tokens = maki_input_number(call, "autoCondenseContextTokens", 0),
        .has_profile_threshold = decide.has_profile,
        .profile_threshold = decide.profile_threshold,
    };
    return maki_arena_status(call->arena, err);
}

static maki_manage_options manage_options_of(const maki_op_call *call, const maki_context_use *use,
                                             const maki_policy *policy)
{
    maki_str value;
    const maki_run_limits *limits = &use->limits;
    double other = maki_context_other(use);
    if (maki_input_value(call, "otherTokens", &value)) other = maki_json_double(value) / use->scale;
    /* the policy keeps three messages, whatever the model's profile says */
    bool keep_three = (policy->flags & MAKI_POLICY_KEEP_THREE) && !limits->keep_set;
    return (maki_manage_options){ .scale = use->scale,
                                  .window = limits->window,
                                  .max_tokens = limits->max_tokens,
                                  .other_tokens = other,
                                  .threshold = limits->threshold,
                                  .threshold_tokens = limits->threshold_tokens,
                                  .force = maki_input_bool(call, "force", false),
                                  .focused = maki_input_text(call, "focus").len > 0,
                                  .truncate_only =
                                      !limits->automatic && !maki_input_bool(call, "force", false),
                                  .keep = keep_three ? 0 : limits->keep,
                                  .policy = policy,
                                  .logger = maki_logger_of(call->m),
                                  .cancelled = call->m->cancelled,
                                  .cancel_ctx = call->m->cancel_ctx };
}

/* What a run needs, read from a call.  Has pointers into itself: never copy it. */
typedef struct run_fields {
    maki *m;
    maki_str session;
    maki_policy policy;
    maki_context_use use;
    maki_chosen_summarizer summarizer;
    maki_manage_options in;
} run_fields;

static maki_status read_run(const maki_op_call *call, maki_conv *conv, run_fields *out,
                            maki_err *err)
{
    maki_run_limits_options given;
    maki_status st = read_limits(call, &given, err);
    if (st == MAKI_OK) st = maki_context_use_of(conv, &given, &out->use, err);
    if (st == MAKI_OK)
        st = policy_field(call, maki_str_of(out->use.limits.agent), &out->policy, err);
    if (st != MAKI_OK) return st;
    if (out->use.refused.status != MAKI_OK) {
        if (err) *err = out->use.refused;
        return out->use.refused.status;
    }
    bool task = out->policy.flags & MAKI_POLICY_TASKS;
    st = maki_choose_summarizer(call, &out->use.limits, task, &out->summarizer, err);
    out->in = manage_options_of(call, &out->use, &out->policy);
    out->in.summarizer = &out->summarizer.measured;
    return st;
}

/* To whoever handles the events of this handle, by default the daemon of the state directory. */
static void emit_start(void *ctx, const char *reason, double tokens, double window)
{
    const run_fields *run = ctx;
    maki_buf json = maki_buf_new(run->m->env.alloc, MAKI_EVENT_MAX);
    maki_managing_event(&json, run->session, reason, tokens, window);
    if (run->m->notify && json.len)
        run->m->notify(run->m->notify_ctx, maki_buf_str(&json));
    else if (run->m->home[0])
        maki_event_fifo_send(&run->m->env, run->m->home, maki_buf_str(&json));
    maki_buf_free(&json);
}

maki_status maki_op_manage_run_conversation(maki_op_call *call, maki_jw *out, maki_err *err)
{
    run_fields run;
    maki_manage_report report;
    preview shown = { .after = NULL };
    maki_conv *conv = NULL;
    bool dry_run = maki_input_bool(call, "preview", false);
    maki_access access = dry_run ? MAKI_ACCESS_DRY_RUN : MAKI_ACCESS_WRITE;
    maki_status st = maki_field_conversation(call, access, &conv, err);
    if (st == MAKI_OK) st = read_run(call, conv, &run, err);
    if (st == MAKI_OK && !dry_run) {
        run.m = call->m;
        run.session = maki_conv_id(conv);
        run.in.on_start = emit_start;
        run.in.start_ctx = &run;
    }
    if (st == MAKI_OK && dry_run) st = begin_preview(&shown, call, conv, err);
    if (st == MAKI_OK) st = maki_manage_conversation(conv, &run.in, &report, err);
    if (st == MAKI_OK && dry_run) st = end_preview(&shown, call, conv, err);
    if (st == MAKI_OK) write_report(out, &run.use.limits, &run.policy, &report, dry_run, &shown);
    maki_buf_free(&shown.summary);
    maki_conv_close(conv);
    return st;
}

/* ---- a summary in advance ------------------------------------------------------------------------- */

static void write_prepared(maki_jw *out, double percent, bool due,
                           const maki_prepare_report *report)
{
    maki_jw_print(out, "{'due':%b,'contextPercent':%f,'made':%b,'event':%I", due, percent,
                  report->written, report->event);
    maki_summary_usage_write(out, &report->usage);
    maki_fact_coverage_write(out, &report->coverage);
    maki_fallback_write(out, &report->fallback_reason);
    maki_jw_end_object(out);
}

maki_status maki_op_manage_prepare(maki_op_call *call, maki_jw *out, maki_err *err)
{
    run_fields run;
    maki_prepare_report report = { 0 };
    maki_conv *conv = NULL;
    maki_view_totals totals = { 0 };
    maki_status st = maki_field_conversation(call, MAKI_ACCESS_WRITE, &conv, err);
    if (st == MAKI_OK) st = read_run(call, conv, &run, err);
    if (st == MAKI_OK) st = maki_conv_total_now(conv, &totals, err);
    if (st != MAKI_OK) {
        maki_conv_close(conv);
        return st;
    }
    double sent = maki_scaled_tokens((double)totals.tokens + run.in.other_tokens, run.in.scale);
    double percent = 100 * sent / run.in.window;
    bool due = run.in.force ||
               maki_prepare_due(&run.summarizer.choice.settings, percent, run.in.threshold);
    if (due)
        st = maki_prepare(&call->m->env, maki_log_path(maki_conv_log(conv)),
                          run.in.keep ? run.in.keep : MAKI_CONDENSE_KEEP, &run.summarizer.measured,
                          &report, err);
    maki_conv_close(conv);
    if (st == MAKI_OK) write_prepared(out, percent, due, &report);
    return st;
}

maki_status maki_op_manage_undo(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_run_undo_report undone;
    maki_context_use use;
    maki_conv *conv = NULL;
    maki_status st = maki_field_conversation(call, MAKI_ACCESS_WRITE, &conv, err);
    if (st == MAKI_OK) st = maki_context_use_read(call, conv, &use, err);
    if (st == MAKI_OK)
        st = maki_run_history_undo(conv, (uint64_t)maki_input_number(call, "run", 0), &undone, err);
    maki_conv_close(conv);
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'run':%i,'events':%i,'removed':%i", (uint64_t)undone.run,
                  (uint64_t)undone.events, undone.effect.hidden);
    maki_write_view_change(out, &undone.effect);
    maki_jw_print(out, "'tokensBefore':%f,'tokensAfter':%f}",
                  maki_context_tokens(&use, undone.tokens_before),
                  maki_context_tokens(&use, undone.tokens_after));
    return MAKI_OK;
}

maki_status maki_op_manage_accept(maki_op_call *call, maki_jw *out, maki_err *err)
{
    double before = maki_input_number(call, "tokensBefore", 0);
    double after = maki_input_number(call, "tokensAfter", 0);
    double min_reduction = maki_input_number(call, "minReduction", MAKI_MIN_REDUCTION);
    double reduction = maki_reduction(before, after);
    maki_status st = check_positive(call, "tokensBefore", err);
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'accepted':%b,'reduction':%f}", reduction >= min_reduction, reduction);
    return MAKI_OK;
}

/* ---- prune ------------------------------------------------------------------------------------- */

maki_status maki_op_prune_level(maki_op_call *call, maki_jw *out, maki_err *err)
{
    static const char *const names[] = { "none", "soft_trim", "hard_clear" };
    double window = maki_input_number(call, "contextWindow", 0);
    maki_status st = check_positive(call, "contextWindow", err);
    if (st != MAKI_OK) return st;
    maki_prune_level level = maki_prune_level_of(maki_input_number(call, "totalTokens", 0), window);
    maki_jw_print(out, "{'action':%z,'targetTokens':%f}", names[level],
                  level == MAKI_PRUNE_SOFT ? floor(window * MAKI_PRUNE_TARGET) : NAN);
    return MAKI_OK;
}

enum { KEEP_LAST = 3 };

maki_status maki_op_prune_hard_clear(maki_op_call *call, maki_jw *out, maki_err *err)
{
    double keep = maki_input_number(call, "keepLast", KEEP_LAST);
    maki_msgs list;
    maki_status st = maki_field_messages(call, "messages", &list, err);
    if (st != MAKI_OK) return st;
    size_t from = keep < (double)list.count ? list.count - (size_t)keep : 0;
    return maki_answer_messages(out, maki_msgs_slice(list, from, list.count));
}

static void write_soft_trimmed(maki_jw *out, maki_str summary, maki_msgs tail)
{
    maki_jw_print(out, "{'messages':[{'role':'system','content':");
    maki_jw_begin_value(out);
    maki_jw_bytes(out, MAKI_LIT("\"[Previous conversation summary]\\n"));
    maki_jw_escape(out, summary);
    maki_jw_bytes(out, MAKI_LIT("\""));
    maki_jw_end_object(out);
    for (size_t i = 0; i < tail.count; i++)
        maki_msg_write(out, tail.at[i]);
    maki_jw_print(out, "]}");
}

maki_status maki_op_prune_soft_trim(maki_op_call *call, maki_jw *out, maki_err *err)
{
    double keep = maki_input_number(call, "keepLast", KEEP_LAST);
    maki_msgs list;
    maki_condense_fields fields;
    maki_summary summary;
    maki_status st = maki_field_messages(call, "messages", &list, err);
    if (st == MAKI_OK) st = maki_condense_fields_read(call, list, &fields, err);
    if (st != MAKI_OK) return st;
    if (keep >= (double)list.count) return maki_answer_messages(out, list); /* nothing is old */
    size_t from = list.count - (size_t)keep;
    maki_msgs old = maki_msgs_slice(list, 0, from);
    maki_summary_request request = maki_msgs_request(&old);
    st = maki_summarize(fields.condense.summarizer, &request, call->arena, &summary, err);
    if (st != MAKI_OK) return st;
    write_soft_trimmed(out, summary.text, maki_msgs_slice(list, from, list.count));
    return MAKI_OK;
}

#define AT(member) offsetof(maki_prune_settings, member)
static const maki_nested_field prune_fields[] = {
    { "keepLastAssistants", MAKI_JSON_NUMBER, AT(keep_last_assistants) },
    { "minPrunableToolChars", MAKI_JSON_NUMBER, AT(min_prunable_chars) },
    { "softTrimRatio", MAKI_JSON_NUMBER, AT(soft_ratio) },
    { "hardClearRatio", MAKI_JSON_NUMBER, AT(hard_ratio) },
    { 0 }
};
/* The objects in the settings. */
static const struct prune_part {
    const char *name, *full;
    maki_nested_field fields[4];
} prune_parts[] = {
    { "softTrim",
      "settings.softTrim",
      { { "maxChars", MAKI_JSON_NUMBER, AT(soft_max_chars) },
        { "headChars", MAKI_JSON_NUMBER, AT(soft_head_chars) },
        { "tailChars", MAKI_JSON_NUMBER, AT(soft_tail_chars) } } },
    { "hardClear",
      "settings.hardClear",
      { { "enabled", MAKI_JSON_BOOL, AT(hard_clear) },
        { "placeholder", MAKI_JSON_STRING, AT(placeholder) } } },
    { "tools",
      "settings.tools",
      { { "allow", MAKI_JSON_ARRAY, AT(allow) }, { "deny", MAKI_JSON_ARRAY, AT(deny) } } },
};

static maki_status read_prune(const maki_op_call *call, maki_prune_settings *s, maki_err *err)
{
    maki_str settings, part;
    *s = maki_prune_defaults;
    if (!maki_input_value(call, "settings", &settings)) return MAKI_OK;
    maki_status st = maki_field_nested(call, settings, "settings", prune_fields, s, err);
    for (size_t i = 0; st == MAKI_OK && i < sizeof prune_parts / sizeof prune_parts[0]; i++) {
        const struct prune_part *p = &prune_parts[i];
        if (maki_field(settings, p->name, &part))
            st = maki_field_nested(call, part, p->full, p->fields, s, err);
    }
    if (!maki_str_trim(maki_json_text(s->placeholder, call->arena))
             .len) /* a blank one is ignored */
        s->placeholder = maki_prune_defaults.placeholder;
    s->soft_ratio = fmax(s->soft_ratio, 0);
    s->hard_ratio = fmax(s->hard_ratio, 0);
    double *const integers[] = { &s->keep_last_assistants, &s->min_prunable_chars,
                                 &s->soft_max_chars, &s->soft_head_chars, &s->soft_tail_chars };
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
        *integers[i] = floor(fmax(*integers[i], 0));
    return st == MAKI_OK ? maki_arena_status(call->arena, err) : st;
}

maki_status maki_op_prune_tools(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_prune_settings s;
    maki_msgs list;
    size_t changed = 0;
    double window = maki_input_number(call, "contextWindowTokens", 0);
    maki_status st = read_prune(call, &s, err);
    if (st == MAKI_OK) st = maki_field_messages(call, "messages", &list, err);
    if (st == MAKI_OK) st = maki_prune_tool_results(list, window, &s, call->arena, &changed, err);
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'messages':");
    maki_msgs_write(out, list);
    maki_jw_print(out, "'messagesChanged':%i}", (uint64_t)changed);
    return MAKI_OK;
}

/* ---- window, profile ----------------------------------------------------------------------------- */

maki_status maki_op_window_resolve(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_str id;
    double model = maki_input_number(call, "model", 0);
    if (!(model >= 1) && maki_input_value(call, "modelId", &id)) {
        model = maki_window_of_model(maki_json_text(id, call->arena));
    }
    maki_status st = maki_arena_status(call->arena, err);
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'tokens':%f}",
                  maki_window_resolve(model, maki_input_number(call, "config", 0),
                                      maki_input_number(call, "agentDefault", 0)));
    return MAKI_OK;
}

maki_status maki_op_window_guard(maki_op_call *call, maki_jw *out, maki_err *err)
{
    double tokens = maki_input_number(call, "tokens", 0);
    (void)err;
    maki_jw_print(out, "{'warn':%b,'reject':%b}", tokens < MAKI_WINDOW_WARN,
                  tokens < MAKI_WINDOW_REFUSE);
    return MAKI_OK;
}

maki_status maki_op_profile_strategy(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_str id = maki_input_text(call, "modelId");
    maki_status st = maki_arena_status(call->arena, err);
    if (st != MAKI_OK) return st;
    maki_strategy s = maki_strategy_of(id);
    maki_jw_print(out,
                  "{'threshold':%f,'condenseModel':%s,'compressionRatio':%f,'keepMessages':%f}",
                  s.threshold, s.condense_model, s.compression_ratio, s.keep_messages);
    return MAKI_OK;
}
