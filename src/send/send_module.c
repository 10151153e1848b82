/* send_module.c -- maki-send.so: open the providers of a configuration as a maki_model (<maki/model.h>).
 *
 * `env` is copied; `config` and all that `env` points to must outlive the model. */
#include <string.h>

#include <maki/maki.h>

#include "base/err.h"
#include "send/model_send.h"

maki_status maki_send_open(const char *version, const maki_env *env, const maki_config *config,
                           maki_sink log, maki_model *out, maki_err *err)
{
    static maki_env host_env; /* static: a program loads the module once */
    static maki_logger logger;
    static maki_provider_models models;
    if (strcmp(version, maki_version()) != 0)
        return maki_fail(err, MAKI_UNSUPPORTED, MAKI_SEND_MODULE " is of version %s, not %s",
                         maki_version(), version);
    host_env = *env;
    logger = (maki_logger){ host_env.clock, log, MAKI_INFO };
    (void)maki_level_parse(maki_config_text(config, "log.level"), &logger.min_level);
    models = (maki_provider_models){ .env = &host_env,
                                     .config = config,
                                     .logger = log.write ? &logger : NULL };
    *out = maki_model_of_providers(&models);
    return MAKI_OK;
}
