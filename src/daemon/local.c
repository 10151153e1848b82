/* local.c -- a stand-in: health and a line of text. */
#include "daemon/local.h"

#include "base/err.h"
#include "base/str.h"

struct maki_local {
    const maki_env *env;
    maki_metrics *metrics;
};

maki_status maki_local_open(const maki_env *env, const maki_local_options *options,
                            maki_local **out, maki_err *err)
{
    maki_local *l = env->alloc->resize(env->alloc, NULL, 0, sizeof *l);
    if (!l) return maki_fail_nomem(err);
    *l = (maki_local){ env, options->metrics };
    *out = l;
    return MAKI_OK;
}

void maki_local_close(maki_local *l)
{
    if (l) l->env->alloc->resize(l->env->alloc, l, sizeof *l, 0);
}

void maki_local_answer(maki_local *l, const maki_local_request *request, maki_local_reply *reply)
{
    maki_err err;
    maki_str text = MAKI_LIT("{\"error\":{\"type\":\"not_found\",\"message\":\"nothing here\"}}\n");
    reply->status = 404;
    if (maki_str_is(request->path, MAKI_LIT("/maki/events"))) {
        reply->status = 200;
        reply->type = "text/event-stream";
        reply->events = true;
        return;
    }
    if (maki_str_is(request->path, MAKI_LIT("/maki/metrics"))) {
        reply->status = 200;
        reply->type = "text/plain; version=0.0.4";
        (void)maki_metrics_write(l->metrics, maki_spool_sink(reply->body), &err);
        return;
    }
    if (maki_str_is(request->path, MAKI_LIT("/maki/health"))) {
        reply->status = 200;
        text = MAKI_LIT("{\"ok\":true}\n");
    } else if (maki_str_is(request->path, MAKI_LIT("/"))) {
        reply->status = 200;
        reply->type = "text/plain";
        text = MAKI_LIT("maki\n");
    }
    (void)maki_spool_add(reply->body, text, &err);
}
