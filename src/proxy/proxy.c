/* proxy.c -- a stand-in that records nothing. */
#include "proxy/proxy.h"

#include "base/err.h"

struct maki_proxy {
    const maki_env *env;
};
struct maki_exchange {
    maki_proxy *proxy;
};

maki_status maki_proxy_open(const maki_env *env, const maki_proxy_options *options,
                            maki_proxy **out, maki_err *err)
{
    (void)options;
    *out = env->alloc->resize(env->alloc, NULL, 0, sizeof **out);
    if (!*out) return maki_fail_nomem(err);
    (*out)->env = env;
    return MAKI_OK;
}

void maki_proxy_close(maki_proxy *p)
{
    if (p) p->env->alloc->resize(p->env->alloc, p, sizeof *p, 0);
}

void maki_proxy_tick(maki_proxy *p)
{
    (void)p;
}

maki_status maki_exchange_begin(maki_proxy *p, const maki_exchange_in *in, maki_exchange **out,
                                maki_err *err)
{
    (void)in;
    *out = p->env->alloc->resize(p->env->alloc, NULL, 0, sizeof **out);
    if (!*out) return maki_fail_nomem(err);
    (*out)->proxy = p;
    return MAKI_OK;
}

maki_status maki_exchange_request(maki_exchange *x, maki_str body, maki_err *err)
{
    (void)x, (void)body, (void)err;
    return MAKI_OK;
}

maki_status maki_exchange_reply_head(maki_exchange *x, int status, maki_str type, maki_err *err)
{
    (void)x, (void)status, (void)type, (void)err;
    return MAKI_OK;
}

maki_status maki_exchange_reply(maki_exchange *x, maki_str bytes, maki_err *err)
{
    (void)x, (void)bytes, (void)err;
    return MAKI_OK;
}

maki_status maki_exchange_end(maki_exchange *x, maki_exchange_end_kind kind,
                              maki_exchange_sync *sync, maki_err *err)
{
    (void)x, (void)kind, (void)err;
    *sync = (maki_exchange_sync){ { -1, -1, -1 } };
    return MAKI_OK;
}

void maki_exchange_close(maki_exchange *x)
{
    const maki_env *env = x ? x->proxy->env : NULL;
    if (x) env->alloc->resize(env->alloc, x, sizeof *x, 0);
}
