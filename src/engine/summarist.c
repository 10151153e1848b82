/* summarist.c -- see summarist.h. */
#include "engine/summarist.h"

#include "base/str.h"
#include "manage/window.h"
#include "summary/measure.h"

/* The provider that the settings name; false: it cannot be asked, which is logged once a turn. */
static bool find_provider(const maki_turns_options *o, maki_str agent, maki_summarist *out)
{
    maki_err why = { 0 };
    if (out->settings.provider.len == 0) return false;
    maki_status st = maki_provider_from_config(o->config, agent, out->settings.provider,
                                               out->settings.model, &out->provider, &why);
    if (st == MAKI_OK) return true;
    maki_kv values[] = { MAKI_KV_S("provider", out->settings.provider),
                         MAKI_KV_S("reason", maki_str_of(why.msg)) };
    maki_log_event(o->logger, MAKI_WARN, "summary_offline", values, 2);
    return false;
}

static void use_model(const maki_turns_options *o, maki_summarist *s)
{
    if (s->settings.model.len == 0) s->settings.model = s->provider.model;
    double known = maki_window_of_model(s->settings.model);
    bool own = maki_str_is(s->settings.model, s->provider.model);
    s->by_model.window = own && s->provider.window ? s->provider.window : (uint64_t)known;
    s->sends = (maki_model_send){ o->env,   &s->provider, o->logger, s->by_model.window,
                                  o->sleep, o->sleep_ctx };
    s->model = maki_model_sending(&s->sends);
    s->writer = maki_summarizer_provider(&s->by_model);
}

maki_status maki_summarist_choose(const maki_turns_options *options, maki_str agent,
                                  maki_str profile, bool task, bool (*cancelled)(void *ctx),
                                  void *cancelled_ctx, maki_summarist *out, maki_err *err)
{
    *out = (maki_summarist){ .offline = true };
    maki_status st =
        maki_summary_settings_read(options->config, profile, task, &out->settings, err);
    if (st != MAKI_OK) return st;
    out->how = maki_summary_offline(&out->settings);
    out->by_model = (maki_model_summary){ .env = options->env,
                                          .model = &out->model,
                                          .settings = &out->settings,
                                          .cancelled = cancelled,
                                          .cancelled_ctx = cancelled_ctx };
    out->offline = !find_provider(options, agent, out);
    if (out->offline)
        out->writer = maki_summarizer_offline_with(&out->how);
    else
        use_model(options, out);
    out->measured = maki_summarizer_measured(&out->writer);
    return MAKI_OK;
}
