/* model_send.h -- the providers of a configuration as a model (<maki/model.h>): one request, one text as the reply. */
#ifndef MAKI_SEND_MODEL_SEND_H
#define MAKI_SEND_MODEL_SEND_H

#include <maki/model.h>

#include "send/send.h"

/* Borrowed: all of it must live as long as the model. */
typedef struct maki_provider_models {
    const maki_env *env;
    const maki_config *config;
    const maki_logger *logger;             /* or NULL */
    void (*sleep)(void *ctx, uint32_t ms); /* as in send.h */
    void *sleep_ctx;
} maki_provider_models;

/* Thread-safe: each request has a sender of its own. */
maki_model maki_model_of_providers(maki_provider_models *models);

#endif
