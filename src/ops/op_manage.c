/* op_manage.c -- manage.*, prune.*, window.*, profile.*: deciding and making room. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/str.h"
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
#include "token/family.h"

static maki_status positive(const maki_op_call *call, const char *name, maki_err *err)
{
    maki_str value;
    if (!maki_in(call, name, &value) || maki_json_double(value) > 0) return MAKI_OK;
    return maki_fail(err, MAKI_INVALID, "%s must be more than 0, at byte %zu", name,
                     (size_t)(value.ptr - call->base));
}

/* ---- manage ----------------------------------------------------------------------------------- */

/* The profile in use: currentProfileId, else what the field `otherwise` says (NULL: nothing). */
static maki_str profile_field(const maki_op_call *call, const char *otherwise)
{
    maki_str value;
    bool said = maki_in(call, "currentProfileId", &value);
    const char *name = said || !otherwise ? "currentProfileId" : otherwise;
    return maki_json_text(maki_in_string(call, name), call->arena);
}

static maki_status read_decide(const maki_op_call *call, maki_str profile, maki_decide_in *out,
                               maki_err *err)
{
    maki_str thresholds, own;
    *out = (maki_decide_in){
        .total_tokens = maki_in_number(call, "totalTokens", 0),
        .last_message_tokens = maki_in_number(call, "lastMessageTokens", 0),
        .window = maki_in_number(call, "contextWindow", MAKI_WINDOW_DEFAULT),
        .max_tokens = maki_in_number(call, "maxTokens", 0),
        .auto_condense = maki_in_bool(call, "autoCondenseContext", true),
        .threshold = maki_in_number(call, "autoCondenseContextPercent", MAKI_THRESHOLD_DEFAULT),
    };
    maki_status st = positive(call, "contextWindow", err);
    if (st != MAKI_OK || !maki_in(call, "profileThresholds", &thresholds)) return st;
    if (!maki_json_get(thresholds, profile, &own) || maki_json_kind_of(own) == MAKI_JSON_NULL) {
        return maki_arena_status(call->arena, err);
    }
    st = maki_field_want(call, own, "a threshold in profileThresholds", MAKI_JSON_NUMBER, err);
    out->has_profile = true;
    out->profile_threshold = maki_json_double(own);
    return st;
}

maki_status maki_op_manage_check(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_decide_in in;
    maki_status st = read_decide(call, profile_field(call, NULL), &in, err);
    if (st != MAKI_OK) return st;
    maki_decision d = maki_decide(&in);
    maki_jw_object(out);
    maki_put_bool(out, "result", d.manage);
    maki_put_number(out, "tokens", d.tokens);
    maki_put_number(out, "allowedTokens", d.allowed);
    maki_put_number(out, "contextPercent", d.percent);
    maki_put_number(out, "threshold", d.threshold);
    maki_put_bool(out, "thresholdInvalid", d.profile_invalid);
    maki_jw_end_object(out);
    return MAKI_OK;
}

static void write_run(maki_jw *out, const maki_run_report *r)
{
    static const char *const actions[] = { "none", "condense", "truncate" };
    bool condensed = r->action == MAKI_ACTION_CONDENSE;
    maki_jw_object(out);
    maki_put_text(out, "action", maki_str_of(actions[r->action]));
    maki_jw_key(out, MAKI_LIT("messages"));
    maki_msgs_write(out, r->messages);
    maki_put_text(out, "summary", condensed ? r->condensed.summary : MAKI_LIT(""));
    maki_put_number(out, "cost", r->condensed.cost);
    maki_put_number(out, "prevContextTokens", r->decision.tokens);
    maki_put_bool(out, "summarizerCalled", r->condensed.called);
    if (r->condense_failed) maki_put_text(out, "error", maki_str_of(r->condense_error.code));
    if (condensed) {
        maki_put_number(out, "newContextTokens", r->condensed.tokens_after);
        maki_jw_key(out, MAKI_LIT("condenseId"));
        maki_jw_raw(out, r->condensed.id);
    }
    if (r->action == MAKI_ACTION_TRUNCATE) {
        maki_put_number(out, "newContextTokensAfterTruncation", r->tokens_after_truncation);
        maki_put_number(out, "messagesRemoved", (double)r->truncated.removed);
        maki_jw_key(out, MAKI_LIT("truncationId"));
        maki_jw_raw(out, r->truncated.id);
    }
    maki_jw_end_object(out);
}

maki_status maki_op_manage_run(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_msgs list;
    maki_condense_fields parts;
    maki_run_in in = { .min_reduction = maki_in_number(call, "minReduction", 0) };
    maki_run_report report;
    maki_str policy;
    if (maki_in(call, "policy", &policy) && !maki_json_text_is(policy, MAKI_LIT("roo"))) {
        return maki_fail(err, MAKI_INVALID,
                         "policy must be \"roo\" for a list of messages, at byte "
                         "%zu",
                         (size_t)(policy.ptr - call->base));
    }
    maki_status st = maki_field_messages(call, "messages", &list, err);
    if (st == MAKI_OK) st = maki_condense_fields_read(call, list, &parts, err);
    if (st == MAKI_OK) st = read_decide(call, profile_field(call, NULL), &in.decide, err);
    if (st != MAKI_OK) return st;
    in.condense = parts.condense;
    st = maki_manage_run(&in, call->arena, &report, err);
    if (st == MAKI_OK) write_run(out, &report);
    return st;
}

/* ---- the same on a conversation ------------------------------------------------------------------ */

/* The policy of that name, else the one that the configuration gives to this agent. */
static maki_status policy_field(const maki_op_call *call, maki_str agent, maki_policy *out,
                                maki_err *err)
{
    maki_str value;
    const maki_config *config = call->m->config;
    if (!maki_in(call, "policy", &value))
        return maki_policy_from_config(config, agent, "maki", call->arena, out, err);
    maki_str name = maki_json_text(value, call->arena);
    maki_status st = maki_arena_status(call->arena, err);
    return st == MAKI_OK ? maki_policy_configured(config, name, call->arena, out, err) : st;
}

/* The events of a preview are gone: they are not told. */
static void write_taken(maki_jw *out, const maki_manage_report *report, bool preview)
{
    maki_jw_key(out, MAKI_LIT("steps"));
    maki_jw_array(out);
    for (size_t i = 0; i < report->taken_count; i++) {
        const maki_step_result *taken = &report->taken[i];
        maki_jw_object(out);
        maki_put_text(out, "step", maki_str_of(maki_step_name(taken->kind)));
        if (taken->event && !preview) maki_put_count(out, "event", taken->event);
        if (taken->undone) maki_put_bool(out, "undone", true);
        if (taken->refused[0]) maki_put_text(out, "refused", maki_str_of(taken->refused));
        maki_jw_end_object(out);
    }
    maki_jw_end_array(out);
}

/* What the run went by, so that a person sees why. */
static void write_figures(maki_jw *out, const maki_run_limits *figures, const maki_policy *policy)
{
    maki_put_number(out, "contextWindow", figures->window);
    maki_put_text(out, "windowFrom", maki_str_of(figures->window_from));
    maki_put_threshold(out, figures, policy);
    if (figures->model[0]) maki_put_text(out, "model", maki_str_of(figures->model));
    if (figures->small) maki_put_bool(out, "windowSmall", true);
    if (figures->threshold_invalid) maki_put_bool(out, "thresholdInvalid", true);
}

static void write_report(maki_jw *out, const maki_run_limits *figures, const maki_policy *policy,
                         const maki_manage_report *report, bool preview)
{
    maki_jw_object(out);
    maki_put_text(out, "reason", maki_str_of(maki_reason_name(report->reason)));
    maki_put_text(out, "action", maki_str_of(maki_step_name(report->action)));
    maki_put_number(out, "tokensBefore", report->tokens_before);
    maki_put_number(out, "tokensAfter", report->tokens_after);
    maki_put_number(out, "reduction", maki_reduction(report->tokens_before, report->tokens_after));
    maki_put_count(out, "messagesRemoved", report->messages_removed);
    maki_put_number(out, "compressionTime", (double)report->ms);
    maki_summary_usage_write(out, &report->usage);
    maki_survey_write(out, &report->survey);
    maki_put_number(out, "allowed", report->allowed);
    maki_put_number(out, "target", report->target);
    maki_put_bool(out, "within", report->within);
    if (report->waits) maki_put_bool(out, "waits", true);
    if (report->failed) maki_put_bool(out, "failed", true);
    if (preview)
        maki_put_bool(out, "preview", true);
    else if (report->run)
        maki_put_count(out, "run", report->run);
    write_figures(out, figures, policy);
    write_taken(out, report, preview);
    maki_jw_end_object(out);
}

static maki_str text_field(const maki_op_call *call, const char *name)
{
    return maki_json_text(maki_in_string(call, name), call->arena);
}

/* What the call says about the figures; the rest is found by maki_run_limits_of. */
static maki_status read_figures(const maki_op_call *call, maki_run_limits_in *out, maki_err *err)
{
    maki_str value;
    maki_decide_in said; /* the fields that a decision about a list has too */
    maki_status st = read_decide(call, profile_field(call, "model"), &said, err);
    if (st != MAKI_OK) return st;
    *out = (maki_run_limits_in){
        .config = call->m->config,
        .logger = maki_logger_of(call->m),
        .model = text_field(call, "model"),
        .profile = text_field(call, "currentProfileId"),
        .agent = text_field(call, "agent"),
        .provider = text_field(call, "provider"),
        .window = maki_in_number(call, "contextWindow", 0),
        .max_tokens = said.max_tokens,
        .keep = (size_t)maki_in_number(call, "keepCount", 0),
        .has_automatic = maki_in(call, "autoCondenseContext", &value),
        .automatic = said.auto_condense,
        .percent = maki_in_number(call, "autoCondenseContextPercent", 0),
        .tokens = maki_in_number(call, "autoCondenseContextTokens", 0),
        .has_profile_threshold = said.has_profile,
        .profile_threshold = said.profile_threshold,
    };
    return maki_arena_status(call->arena, err);
}

static maki_manage_in run_of(const maki_op_call *call, const maki_context_use *use,
                             const maki_policy *policy)
{
    maki_str value;
    const maki_run_limits *figures = &use->figures;
    double other = maki_context_other(use);
    if (maki_in(call, "otherTokens", &value)) other = maki_json_double(value) / use->scale;
    bool three =
        (policy->flags & MAKI_POLICY_KEEP_THREE) && !figures->keep_set; /* whatever the model */
    return (maki_manage_in){ .scale = use->scale,
                             .window = figures->window,
                             .max_tokens = figures->max_tokens,
                             .other_tokens = other,
                             .threshold = figures->threshold,
                             .threshold_tokens = figures->threshold_tokens,
                             .force = maki_in_bool(call, "force", false),
                             .keep = three ? 0 : figures->keep,
                             .policy = policy,
                             .logger = maki_logger_of(call->m),
                             .cancelled = call->m->cancelled,
                             .cancel_ctx = call->m->cancel_ctx };
}

/* All that a run needs, read from a call.  Points into itself: do not copy. */
typedef struct asked_run {
    maki_policy policy;
    maki_context_use use;
    maki_chosen_summarizer by;
    maki_manage_in in;
} asked_run;

static maki_status read_run(const maki_op_call *call, maki_conv *conv, asked_run *out,
                            maki_err *err)
{
    maki_run_limits_in said;
    maki_status st = read_figures(call, &said, err);
    if (st == MAKI_OK) st = maki_context_use_of(conv, &said, &out->use, err);
    if (st == MAKI_OK)
        st = policy_field(call, maki_str_of(out->use.figures.agent), &out->policy, err);
    if (st != MAKI_OK) return st;
    if (out->use.refused.status != MAKI_OK) {
        if (err) *err = out->use.refused;
        return out->use.refused.status;
    }
    bool task = out->policy.flags & MAKI_POLICY_TASKS;
    st = maki_choose_summarizer(call, &out->use.figures, task, &out->by, err);
    out->in = run_of(call, &out->use, &out->policy);
    out->in.summarizer = &out->by.measured;
    return st;
}

maki_status maki_op_manage_run_conversation(maki_op_call *call, maki_jw *out, maki_err *err)
{
    asked_run run;
    maki_manage_report report;
    maki_conv *conv = NULL;
    bool preview = maki_in_bool(call, "preview", false);
    maki_status st = preview ? maki_field_conversation_dry_run(call, &conv, err)
                             : maki_field_conversation(call, false, &conv, err);
    if (st == MAKI_OK) st = read_run(call, conv, &run, err);
    if (st == MAKI_OK) st = maki_manage_conversation(conv, &run.in, &report, err);
    if (st == MAKI_OK) write_report(out, &run.use.figures, &run.policy, &report, preview);
    maki_conv_close(conv);
    return st;
}

/* ---- a summary in advance ------------------------------------------------------------------------- */

static void write_prepared(maki_jw *out, double percent, bool due,
                           const maki_prepare_report *report)
{
    maki_jw_object(out);
    maki_put_bool(out, "due", due);
    maki_put_number(out, "contextPercent", percent);
    maki_put_bool(out, "made", report->made);
    if (report->event) maki_put_count(out, "event", report->event);
    maki_summary_usage_write(out, &report->usage);
    maki_survey_write(out, &report->survey);
    maki_jw_end_object(out);
}

maki_status maki_op_manage_prepare(maki_op_call *call, maki_jw *out, maki_err *err)
{
    asked_run run;
    maki_prepare_report report = { 0 };
    maki_conv *conv = NULL;
    maki_view_totals totals = { 0 };
    maki_status st = maki_field_conversation(call, false, &conv, err);
    if (st == MAKI_OK) st = read_run(call, conv, &run, err);
    if (st == MAKI_OK) st = maki_conv_total_now(conv, &totals, err);
    if (st != MAKI_OK) {
        maki_conv_close(conv);
        return st;
    }
    double sent = maki_scaled_tokens((double)totals.tokens + run.in.other_tokens, run.in.scale);
    double percent = 100 * sent / run.in.window;
    bool due = run.in.force || maki_prepare_due(&run.by.choice.settings, percent, run.in.threshold);
    if (due)
        st = maki_prepare(&call->m->env, maki_log_path(maki_conv_log(conv)),
                          run.in.keep ? run.in.keep : MAKI_CONDENSE_KEEP, &run.by.measured, &report,
                          err);
    maki_conv_close(conv);
    if (st == MAKI_OK) write_prepared(out, percent, due, &report);
    return st;
}

maki_status maki_op_manage_undo(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_run_undone undone;
    maki_context_use use;
    maki_conv *conv = NULL;
    maki_status st = maki_field_conversation(call, false, &conv, err);
    if (st == MAKI_OK) st = maki_context_use_read(call, conv, &use, err);
    if (st == MAKI_OK)
        st = maki_run_history_undo(conv, (uint64_t)maki_in_number(call, "run", 0), &undone, err);
    maki_conv_close(conv);
    if (st != MAKI_OK) return st;
    maki_jw_object(out);
    maki_put_count(out, "run", undone.run);
    maki_put_count(out, "events", undone.events);
    maki_put_number(out, "tokensBefore", maki_context_tokens(&use, undone.tokens_before));
    maki_put_number(out, "tokensAfter", maki_context_tokens(&use, undone.tokens_after));
    maki_jw_end_object(out);
    return MAKI_OK;
}

maki_status maki_op_manage_accept(maki_op_call *call, maki_jw *out, maki_err *err)
{
    double before = maki_in_number(call, "tokensBefore", 0);
    double after = maki_in_number(call, "tokensAfter", 0);
    double least = maki_in_number(call, "minReduction", MAKI_MIN_REDUCTION);
    double reduction = maki_reduction(before, after);
    maki_status st = positive(call, "tokensBefore", err);
    if (st != MAKI_OK) return st;
    maki_jw_object(out);
    maki_put_bool(out, "accepted", reduction >= least);
    maki_put_number(out, "reduction", reduction);
    maki_jw_end_object(out);
    return MAKI_OK;
}

/* ---- prune ------------------------------------------------------------------------------------- */

maki_status maki_op_prune_level(maki_op_call *call, maki_jw *out, maki_err *err)
{
    static const char *const names[] = { "none", "soft_trim", "hard_clear" };
    double window = maki_in_number(call, "contextWindow", 0);
    maki_status st = positive(call, "contextWindow", err);
    if (st != MAKI_OK) return st;
    maki_prune_level level = maki_prune_level_of(maki_in_number(call, "totalTokens", 0), window);
    maki_jw_object(out);
    maki_put_text(out, "action", maki_str_of(names[level]));
    maki_jw_key(out, MAKI_LIT("targetTokens"));
    if (level == MAKI_PRUNE_SOFT) {
        maki_jw_double(out, floor(window * MAKI_PRUNE_TARGET));
    } else {
        maki_jw_null(out);
    }
    maki_jw_end_object(out);
    return MAKI_OK;
}

enum { KEEP_LAST = 3 };

maki_status maki_op_prune_hard_clear(maki_op_call *call, maki_jw *out, maki_err *err)
{
    double keep = maki_in_number(call, "keepLast", KEEP_LAST);
    maki_msgs list;
    maki_status st = maki_field_messages(call, "messages", &list, err);
    if (st != MAKI_OK) return st;
    size_t from = keep < (double)list.count ? list.count - (size_t)keep : 0;
    maki_answer_messages(out, maki_msgs_slice(list, from, list.count));
    return MAKI_OK;
}

static void write_soft_trimmed(maki_jw *out, maki_str summary, maki_msgs kept)
{
    maki_jw_object(out);
    maki_jw_key(out, MAKI_LIT("messages"));
    maki_jw_array(out);
    maki_jw_object(out);
    maki_put_text(out, "role", MAKI_LIT("system"));
    maki_jw_key(out, MAKI_LIT("content"));
    maki_jw_begin_value(out);
    maki_jw_bytes(out, MAKI_LIT("\"[Previous conversation summary]\\n"));
    maki_jw_escaped(out, summary);
    maki_jw_bytes(out, MAKI_LIT("\""));
    maki_jw_end_object(out);
    for (size_t i = 0; i < kept.count; i++)
        maki_msg_write(out, kept.at[i]);
    maki_jw_end_array(out);
    maki_jw_end_object(out);
}

maki_status maki_op_prune_soft_trim(maki_op_call *call, maki_jw *out, maki_err *err)
{
    double keep = maki_in_number(call, "keepLast", KEEP_LAST);
    maki_msgs list;
    maki_condense_fields parts;
    maki_summary summary = { .text = { "", 0 } };
    maki_status st = maki_field_messages(call, "messages", &list, err);
    if (st == MAKI_OK) st = maki_condense_fields_read(call, list, &parts, err);
    if (st != MAKI_OK) return st;
    if (keep >= (double)list.count) { /* nothing is old: nothing to summarise */
        maki_answer_messages(out, list);
        return MAKI_OK;
    }
    size_t from = list.count - (size_t)keep;
    const maki_summarizer *by = parts.condense.summarizer;
    maki_msgs old = maki_msgs_slice(list, 0, from);
    maki_summary_request request = maki_msgs_request(&old);
    if (!by->usable) {
        return maki_refuse(err, "HANDLER_INVALID", "there is no summariser that can be called");
    }
    st = by->run(by, &request, call->arena, &summary, err);
    if (st == MAKI_UPSTREAM) {
        return maki_refuse(err, "SUMMARIZER_FAILED", "the summariser failed");
    }
    if (st != MAKI_OK) return st;
    if (maki_str_trim(summary.text).len == 0) {
        return maki_refuse(err, "SUMMARY_EMPTY", "the summariser answered with nothing");
    }
    write_soft_trimmed(out, maki_str_trim(summary.text), maki_msgs_slice(list, from, list.count));
    return MAKI_OK;
}

/* A number of the settings: whole and not negative; absent keeps what is there. */
static maki_status whole_setting(const maki_op_call *call, maki_str object, const char *outer,
                                 const char *name, double *value, maki_err *err)
{
    maki_status st = maki_field_nested(call, object, outer, name, value, err);
    *value = *value > 0 ? floor(*value) : 0;
    return st;
}

static maki_status ratio_setting(const maki_op_call *call, maki_str object, const char *name,
                                 double *value, maki_err *err)
{
    maki_status st = maki_field_nested(call, object, "settings", name, value, err);
    *value = *value < 0 ? 0 : *value;
    return st;
}

static maki_status read_hard_clear(const maki_op_call *call, maki_str settings,
                                   maki_prune_settings *s, maki_err *err)
{
    maki_str hard, value;
    maki_status st = MAKI_OK;
    if (!maki_field(settings, "hardClear", &hard)) return MAKI_OK;
    if (maki_field(hard, "enabled", &value)) {
        st = maki_field_want(call, value, "settings.hardClear.enabled", MAKI_JSON_BOOL, err);
        s->hard_clear = maki_json_true(value);
    }
    if (st == MAKI_OK && maki_field(hard, "placeholder", &value)) {
        st = maki_field_want(call, value, "settings.hardClear.placeholder", MAKI_JSON_STRING, err);
        if (st != MAKI_OK) return st;
        if (maki_str_trim(maki_json_text(value, call->arena)).len) s->placeholder = value;
    }
    return st == MAKI_OK ? maki_arena_status(call->arena, err) : st;
}

static maki_status read_soft_trim(const maki_op_call *call, maki_str settings,
                                  maki_prune_settings *s, maki_err *err)
{
    maki_str soft;
    const char *outer = "settings.softTrim";
    if (!maki_field(settings, "softTrim", &soft)) return MAKI_OK;
    maki_status st = whole_setting(call, soft, outer, "maxChars", &s->soft_max_chars, err);
    if (st == MAKI_OK) st = whole_setting(call, soft, outer, "headChars", &s->soft_head_chars, err);
    if (st == MAKI_OK) st = whole_setting(call, soft, outer, "tailChars", &s->soft_tail_chars, err);
    return st;
}

static maki_status read_patterns(const maki_op_call *call, maki_str settings,
                                 maki_prune_settings *s, maki_err *err)
{
    maki_str tools;
    maki_status st = MAKI_OK;
    if (!maki_field(settings, "tools", &tools)) return MAKI_OK;
    if (maki_field(tools, "allow", &s->allow)) {
        st = maki_field_want(call, s->allow, "settings.tools.allow", MAKI_JSON_ARRAY, err);
    }
    if (st == MAKI_OK && maki_field(tools, "deny", &s->deny)) {
        st = maki_field_want(call, s->deny, "settings.tools.deny", MAKI_JSON_ARRAY, err);
    }
    return st;
}

maki_status maki_op_prune_tools(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_prune_settings s = maki_prune_defaults;
    maki_str settings = MAKI_LIT("{}");
    maki_msgs list;
    size_t changed = 0;
    double window = maki_in_number(call, "contextWindowTokens", 0);
    maki_in(call, "settings", &settings);
    maki_status st = whole_setting(call, settings, "settings", "keepLastAssistants",
                                   &s.keep_last_assistants, err);
    if (st == MAKI_OK) {
        st = whole_setting(call, settings, "settings", "minPrunableToolChars",
                           &s.min_prunable_chars, err);
    }
    if (st == MAKI_OK) st = ratio_setting(call, settings, "softTrimRatio", &s.soft_ratio, err);
    if (st == MAKI_OK) st = ratio_setting(call, settings, "hardClearRatio", &s.hard_ratio, err);
    if (st == MAKI_OK) st = read_soft_trim(call, settings, &s, err);
    if (st == MAKI_OK) st = read_hard_clear(call, settings, &s, err);
    if (st == MAKI_OK) st = read_patterns(call, settings, &s, err);
    if (st == MAKI_OK) st = maki_field_messages(call, "messages", &list, err);
    if (st == MAKI_OK) st = maki_prune_tools(list, window, &s, call->arena, &changed, err);
    if (st != MAKI_OK) return st;
    maki_jw_object(out);
    maki_jw_key(out, MAKI_LIT("messages"));
    maki_msgs_write(out, list);
    maki_put_number(out, "messagesChanged", (double)changed);
    maki_jw_end_object(out);
    return MAKI_OK;
}

/* ---- window, profile ----------------------------------------------------------------------------- */

maki_status maki_op_window_resolve(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_str id;
    double model = maki_in_number(call, "model", 0);
    if (!(model >= 1) && maki_in(call, "modelId", &id)) {
        model = maki_window_of_model(maki_json_text(id, call->arena));
    }
    maki_status st = maki_arena_status(call->arena, err);
    if (st != MAKI_OK) return st;
    maki_jw_object(out);
    maki_put_number(out, "tokens",
                    maki_window_resolve(model, maki_in_number(call, "config", 0),
                                        maki_in_number(call, "agentDefault", 0)));
    maki_jw_end_object(out);
    return MAKI_OK;
}

maki_status maki_op_window_guard(maki_op_call *call, maki_jw *out, maki_err *err)
{
    double tokens = maki_in_number(call, "tokens", 0);
    (void)err;
    maki_jw_object(out);
    maki_put_bool(out, "warn", tokens < MAKI_WINDOW_WARN);
    maki_put_bool(out, "reject", tokens < MAKI_WINDOW_REFUSE);
    maki_jw_end_object(out);
    return MAKI_OK;
}

maki_status maki_op_profile_strategy(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_str id = maki_json_text(maki_in_string(call, "modelId"), call->arena);
    maki_status st = maki_arena_status(call->arena, err);
    if (st != MAKI_OK) return st;
    maki_strategy s = maki_strategy_of(id);
    maki_jw_object(out);
    maki_put_number(out, "threshold", s.threshold);
    maki_put_text(out, "condenseModel", s.condense_model);
    maki_put_number(out, "compressionRatio", s.compression_ratio);
    maki_put_number(out, "keepMessages", s.keep_messages);
    maki_jw_end_object(out);
    return MAKI_OK;
}
