/* choose_summarizer.c -- find the configured model, and build the summarizer for it.
 *
 * What it returns points into itself (maki_summarizer_choice.self): it is filled in place and never copied. */
#include "manage/choose_summarizer.h"

#include "base/str_util.h"
#include "config/config_path.h"
#include "config/summarizers.h"
#include "manage/window.h"
#include "summary/measure.h"

/* Dollars for a million input tokens of models that Anthropic serves, by the longest prefix; 0: unknown.  From its document
 * Pricing, 2026-10. */
static double listed_price(maki_str model)
{
    static const struct {
        const char *prefix;
        double dollars;
    } rows[] = { { "claude-haiku-4-5", 1 }, { "claude-sonnet-4", 3 }, { "claude-sonnet-5", 2 } };
    double dollars = 0;
    size_t longest = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        maki_str prefix = maki_str_of(rows[i].prefix);
        if (prefix.len <= longest || !maki_str_starts(model, prefix)) continue;
        longest = prefix.len;
        dollars = rows[i].dollars;
    }
    return dollars;
}

/* The model that replaces one of the strategies (manage/window.h) which its provider serves no longer: from Anthropic's
 * document Model deprecations, 2026-10.  len 0: none.  OpenAI ended gpt-4-turbo, and what it names in its place is not
 * cheaper (Deprecations, 2026-10). */
static maki_str replacement_of(maki_str model)
{
    bool retired = maki_str_equal(model, MAKI_LIT("claude-3-5-haiku-20241022"));
    return retired ? MAKI_LIT("claude-haiku-4-5") : (maki_str){ "", 0 };
}

/* By the prices of the configuration, which may name any model; else by the list, which is valid only at the provider of its
 * models. */
static bool is_cheaper(const maki_config *config, maki_str provider, maki_str model, maki_str than)
{
    double a = maki_config_number(config, maki_config_path_of("prices", model, "input").text);
    double b = maki_config_number(config, maki_config_path_of("prices", than, "input").text);
    if (!(a > 0 && b > 0) && maki_str_equal(provider, MAKI_LIT("anthropic"))) {
        a = listed_price(model);
        b = listed_price(than);
    }
    return a > 0 && a < b;
}

/* A model that writes summaries for less than `own`, at the same provider; len 0: none is known. */
static maki_str find_cheaper(const maki_config *config, maki_str provider, maki_str own)
{
    maki_str model = maki_strategy_of(own).condense_model;
    if (is_cheaper(config, provider, model, own)) return model;
    model = replacement_of(model);
    bool cheaper = model.len && is_cheaper(config, provider, model, own);
    return cheaper ? model : (maki_str){ "", 0 };
}

/* The model that the settings name; false: it is not usable, which is logged. */
static bool find_model(const maki_summarizer_options *in, maki_summarizer_choice *out)
{
    maki_err *why = &out->unusable;
    maki_model_name *name = &out->by_model.name;
    *name = (maki_model_name){ in->agent, out->settings.provider, out->settings.model };
    if (name->provider.len == 0 || !in->model) return false;
    maki_status st = in->model->find(in->model, name, &out->found, why);
    if (st == MAKI_NOTFOUND && name->model.len == 0 &&
        maki_str_equal(name->provider, in->provider)) {
        name->model = in->answering;
        st = in->model->find(in->model, name, &out->found, why);
    }
    if (st == MAKI_OK) {
        maki_str own = maki_str_of(out->found.model), other = { "", 0 };
        if (out->settings.model.len == 0 && in->config)
            other = find_cheaper(in->config, name->provider, own);
        out->cheaper = other.len > 0;
        name->model = out->cheaper ? other : own;
        *why = (maki_err){ 0 };
        return true;
    }
    maki_kv values[] = { MAKI_KV_S("provider", name->provider),
                         MAKI_KV_S("reason", maki_str_of(why->msg)) };
    maki_log_event(in->logger, MAKI_WARN, "summary_offline", values, 2);
    return false;
}

/* Find the window of the model once, then run its summarizer. */
static maki_status run_model(maki_summarizer_choice *c, const maki_summary_request *request,
                             maki_arena *arena, maki_summary *out, maki_err *err)
{
    maki_model_summarizer_options *model_summary = &c->by_model;
    if (!model_summary->window) {
        maki_status st = model_summary->model->window(
            model_summary->model, &model_summary->name, model_summary->cancelled,
            model_summary->cancelled_ctx, &model_summary->window, err);
        if (st == MAKI_NOMEM || st == MAKI_CANCELLED) return st;
        if (!model_summary->window)
            model_summary->window = (uint64_t)maki_window_of_model(model_summary->name.model);
    }
    return c->by_provider.run(&c->by_provider, request, arena, out, err);
}

/* The function of each summarizer that needs no model. */
typedef maki_status summarize_fn(const maki_summarizer *self, const maki_summary_request *request,
                                 maki_arena *arena, maki_summary *out, maki_err *err);
#define DECLARE(name, fn) summarize_fn fn;
MAKI_SUMMARIZER_MAP(DECLARE)
#undef DECLARE

/* The one of these that the settings name, by default the first. */
static maki_summarizer built_in(const maki_summary_settings *settings, bool *named)
{
    static const struct {
        const char *name;
        summarize_fn *run;
    } rows[] = {
#define ROW(name, fn) { #name, fn },
        MAKI_SUMMARIZER_MAP(ROW)
#undef ROW
    };
    size_t i = sizeof rows / sizeof rows[0] - 1;
    while (i > 0 && !maki_str_equal(settings->provider, maki_str_of(rows[i].name)))
        i--;
    *named = i > 0;
    return (maki_summarizer){ true, rows[i].run, settings };
}

/* By the configured model; log when the offline summarizer took its place. */
static maki_status run_configured(const maki_summarizer *self, const maki_summary_request *request,
                                  maki_arena *arena, maki_summary *out, maki_err *err)
{
    maki_summarizer_choice *c = ((const maki_summarizer_choice *)self->ctx)->self;
    maki_status st;
    if (c->unusable.status == MAKI_OK) {
        st = run_model(c, request, arena, out, err);
        if (st == MAKI_OK && c->cheaper && out->fallback_reason.status == MAKI_NOTFOUND) {
            c->cheaper = false;
            c->by_model.name.model = maki_str_of(c->found.model);
            c->by_model.window = c->found.window;
            st = run_model(c, request, arena, out, err);
        }
    } else {
        bool named;
        maki_summarizer offline = built_in(&c->settings, &named);
        st = offline.run(&offline, request, arena, out, err);
        out->fallback_reason = c->unusable;
    }
    maki_kv values[] = { MAKI_KV_S("reason", maki_str_of(out->fallback_reason.code)),
                         MAKI_KV_S("fallback", MAKI_LIT("offline")),
                         MAKI_KV_S("why", maki_str_of(out->fallback_reason.msg)) };
    if (st == MAKI_OK && out->fallback_reason.status != MAKI_OK)
        maki_log_event(c->logger, MAKI_WARN, "condense_failed", values, 3);
    return st;
}

maki_status maki_summarizer_choose(const maki_summarizer_options *in, maki_summarizer_choice *out,
                                   maki_err *err)
{
    *out = (maki_summarizer_choice){ .settings = maki_summary_defaults };
    maki_status st = MAKI_OK;
    bool named;
    if (in->config)
        st = maki_summary_settings_read(in->config, in->profile, in->task, &out->settings, err);
    if (st != MAKI_OK) return st;
    out->settings.focus = in->focus;
    out->by_model = (maki_model_summarizer_options){ .env = in->env,
                                                     .model = in->model,
                                                     .settings = &out->settings,
                                                     .cancelled = in->cancelled,
                                                     .cancelled_ctx = in->cancelled_ctx };
    out->writer = built_in(&out->settings, &named);
    if (!named && find_model(in, out)) {
        const maki_model_name *name = &out->by_model.name;
        bool same = maki_str_equal(name->provider, in->provider) &&
                    maki_str_equal(maki_str_of(out->found.model), in->answering) && in->window > 0;
        if (same) out->found.window = (uint64_t)in->window;
        out->by_model.window = out->cheaper ? 0 : out->found.window;
        out->by_provider = maki_summarizer_by_model(&out->by_model);
    }
    out->self = out;
    out->logger = in->logger;
    if (out->by_provider.usable || out->unusable.status != MAKI_OK)
        out->writer = (maki_summarizer){ true, run_configured, out };
    out->measured = maki_summarizer_measured(&out->writer);
    return MAKI_OK;
}
