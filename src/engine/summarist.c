/* summarist.c -- see summarist.h. */
#include "engine/summarist.h"

#include "base/str.h"
#include "manage/window.h"
#include "summary/measure.h"

/* The provider that the settings name; false: it cannot be asked, which is logged once a turn. */
static bool find_provider(const maki_summarist_in *in, maki_summarist *out)
{
    const maki_turns_options *o = in->options;
    maki_summary_settings *settings = &out->settings;
    maki_err why = { 0 };
    if (settings->provider.len == 0) return false;
    bool same = maki_str_is(settings->provider, in->provider);
    maki_str named = settings->model.len ? settings->model : same ? in->model : MAKI_LIT("");
    maki_status st = maki_provider_from_config(o->config, in->agent, settings->provider, named,
                                               &out->provider, &why);
    if (st == MAKI_OK) {
        if (settings->model.len == 0) settings->model = out->provider.model;
        if (settings->model.len == 0) settings->model = named;
        return true;
    }
    maki_kv values[] = { MAKI_KV_S("provider", settings->provider),
                         MAKI_KV_S("reason", maki_str_of(why.msg)) };
    maki_log_event(o->logger, MAKI_WARN, "summary_offline", values, 2);
    return false;
}

/* ---- how much it reads --------------------------------------------------------------------------------------- */

static void set_window(maki_summarist *s, uint64_t tokens)
{
    s->by_model.window = tokens;
    s->sends.window = tokens;
}

/* What can be known without asking; 0: nothing. */
static uint64_t known_window(const maki_summarist_in *in, const maki_summarist *s)
{
    maki_str own = s->provider.model, model = s->settings.model;
    bool same = maki_str_is(maki_str_of(s->provider.name), in->provider);
    if (same && maki_str_is(model, in->model) && in->window > 0) return (uint64_t)in->window;
    return own.len == 0 || maki_str_is(model, own) ? s->provider.window : 0;
}

static maki_status run(const maki_summarizer *self, const maki_summary_request *request,
                       maki_arena *arena, maki_summary *out, maki_err *err)
{
    maki_summarist *s = ((const maki_summarist *)self->ctx)->self;
    uint64_t tokens = 0;
    if (!s->by_model.window) {
        maki_status st = maki_model_window(&s->sends, s->settings.model, s->by_model.cancelled,
                                           s->by_model.cancelled_ctx, &tokens, err);
        if (st == MAKI_NOMEM || st == MAKI_CANCELLED) return st;
        set_window(s, tokens ? tokens : (uint64_t)maki_window_of_model(s->settings.model));
    }
    return s->by_provider.run(&s->by_provider, request, arena, out, err);
}

/* ---- choosing -------------------------------------------------------------------------------------------------- */

static void use_model(const maki_summarist_in *in, maki_summarist *s)
{
    const maki_turns_options *o = in->options;
    s->sends = (maki_model_send){ .env = o->env,
                                  .provider = &s->provider,
                                  .logger = o->logger,
                                  .sleep = o->sleep,
                                  .sleep_ctx = o->sleep_ctx };
    set_window(s, known_window(in, s));
    s->model = maki_model_sending(&s->sends);
    s->self = s;
    s->by_provider = maki_summarizer_provider(&s->by_model);
    s->writer = (maki_summarizer){ .usable = s->by_provider.usable, .run = run, .ctx = s };
}

maki_status maki_summarist_choose(const maki_summarist_in *in, maki_summarist *out, maki_err *err)
{
    *out = (maki_summarist){ .offline = true };
    maki_status st =
        maki_summary_settings_read(in->options->config, in->profile, in->task, &out->settings, err);
    if (st != MAKI_OK) return st;
    out->how = maki_summary_offline(&out->settings);
    out->by_model = (maki_model_summary){ .env = in->options->env,
                                          .model = &out->model,
                                          .settings = &out->settings,
                                          .cancelled = in->cancelled,
                                          .cancelled_ctx = in->cancelled_ctx };
    out->offline = !find_provider(in, out);
    if (out->offline)
        out->writer = maki_summarizer_offline_with(&out->how);
    else
        use_model(in, out);
    out->measured = maki_summarizer_measured(&out->writer);
    return MAKI_OK;
}
