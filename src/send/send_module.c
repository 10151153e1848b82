/* send_module.c -- maki-send.so: see <maki/model.h>. */
#include <string.h>

#include <maki/maki.h>

#include "base/err.h"
#include "send/model_send.h"

maki_status maki_send_open(const char *version, const maki_env *env, const maki_config *config,
                           maki_sink log, maki_model *out, maki_err *err)
{
    static maki_env outside; /* one for a program: the module is loaded once */
    static maki_logger logger;
    static maki_provider_models how;
    if (strcmp(version, maki_version()) != 0)
        return maki_fail(err, MAKI_UNSUPPORTED, MAKI_SEND_MODULE " is of version %s, not %s",
                         maki_version(), version);
    outside = *env;
    logger = (maki_logger){ outside.clock, log, MAKI_INFO };
    (void)maki_level_parse(maki_config_text(config, "log.level"), &logger.min_level);
    how = (maki_provider_models){ .env = &outside,
                                  .config = config,
                                  .logger = log.write ? &logger : NULL };
    *out = maki_model_of_providers(&how);
    return MAKI_OK;
}
