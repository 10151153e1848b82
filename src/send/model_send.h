/* model_send.h -- the providers of a configuration as a model (<maki/model.h>): one request, one text as the answer. */
#ifndef MAKI_SEND_MODEL_SEND_H
#define MAKI_SEND_MODEL_SEND_H

#include <maki/model.h>

#include "send/send.h"

/* All of it is borrowed and must live as long as the model. */
typedef struct maki_model_send {
    const maki_env *env;
    const maki_config *config;
    const maki_logger *logger;             /* or NULL */
    void (*sleep)(void *ctx, uint32_t ms); /* as in send.h */
    void *sleep_ctx;
} maki_model_send;

/* Each request has a sender of its own, so any number of threads may ask. */
maki_model maki_model_sending(maki_model_send *how);

#endif
