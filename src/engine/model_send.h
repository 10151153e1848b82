/* model_send.h -- summary/model.h through send/: one request to a provider, one text as the answer. */
#ifndef MAKI_ENGINE_MODEL_SEND_H
#define MAKI_ENGINE_MODEL_SEND_H

#include "send/send.h"
#include "summary/model.h"

/* All of it is borrowed and must live as long as the model. */
typedef struct maki_model_send {
    const maki_env *env;
    const maki_provider *provider;
    const maki_logger *logger;             /* or NULL */
    uint64_t window;                       /* of its model; 0: not known */
    void (*sleep)(void *ctx, uint32_t ms); /* as in send.h */
    void *sleep_ctx;
} maki_model_send;

/* Each request has a sender of its own, so any number of threads may ask. */
maki_model maki_model_sending(maki_model_send *how);

/* How much `model` reads, as its provider says it; 0: it does not. */
maki_status maki_model_window(const maki_model_send *how, maki_str model,
                              bool (*cancelled)(void *ctx), void *cancelled_ctx, uint64_t *tokens,
                              maki_err *err);

#endif
