/* choose_summarizer.c -- find the model that the settings name, and put together the summarizer for it.
 *
 * What it returns points into itself (maki_summarizer_choice.self): it is filled in place and never copied. */
#include "manage/choose_summarizer.h"

#include "base/str_util.h"
#include "manage/window.h"
#include "summary/measure.h"

/* The model that the settings name; false: it is not usable, which is logged. */
static bool find_model(const maki_summarizer_in *in, maki_summarizer_choice *out)
{
    maki_err why = { 0 };
    maki_model_name *name = &out->by_model.name;
    *name = (maki_model_name){ in->agent, out->settings.provider, out->settings.model };
    if (name->provider.len == 0 || !in->model) return false;
    maki_status st = in->model->find(in->model, name, &out->found, &why);
    if (st == MAKI_NOTFOUND && name->model.len == 0 && maki_str_is(name->provider, in->provider)) {
        name->model = in->answering;
        st = in->model->find(in->model, name, &out->found, &why);
    }
    if (st == MAKI_OK) {
        name->model = maki_str_of(out->found.model);
        return true;
    }
    maki_kv values[] = { MAKI_KV_S("provider", name->provider),
                         MAKI_KV_S("reason", maki_str_of(why.msg)) };
    maki_log_event(in->logger, MAKI_WARN, "summary_offline", values, 2);
    return false;
}

/* Find the window of the model once, then let it write. */
static maki_status run_with_window(const maki_summarizer *self, const maki_summary_request *request,
                                   maki_arena *arena, maki_summary *out, maki_err *err)
{
    maki_summarizer_choice *c = ((const maki_summarizer_choice *)self->ctx)->self;
    maki_model_summary *model_summary = &c->by_model;
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

maki_status maki_summarizer_choose(const maki_summarizer_in *in, maki_summarizer_choice *out,
                                   maki_err *err)
{
    *out = (maki_summarizer_choice){ .settings = maki_summary_defaults };
    maki_status st = MAKI_OK;
    if (in->config)
        st = maki_summary_settings_read(in->config, in->profile, in->task, &out->settings, err);
    if (st != MAKI_OK) return st;
    out->offline = maki_summary_offline(&out->settings);
    out->by_model = (maki_model_summary){ .env = in->env,
                                          .model = in->model,
                                          .settings = &out->settings,
                                          .cancelled = in->cancelled,
                                          .cancelled_ctx = in->cancelled_ctx };
    out->writer = maki_summarizer_offline_with(&out->offline);
    if (find_model(in, out)) {
        const maki_model_name *name = &out->by_model.name;
        bool same = maki_str_is(name->provider, in->provider) &&
                    maki_str_is(name->model, in->answering) && in->window > 0;
        out->by_model.window = same ? (uint64_t)in->window : out->found.window;
        out->by_provider = maki_summarizer_provider(&out->by_model);
        out->self = out;
        out->writer = (maki_summarizer){ out->by_provider.usable, run_with_window, out };
    }
    out->measured = maki_summarizer_measured(&out->writer);
    return MAKI_OK;
}
