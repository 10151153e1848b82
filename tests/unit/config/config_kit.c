/* config_kit.c -- see config_kit.h. */
#include "config_kit.h"

#include <stdio.h>
#include <string.h>

void config_kit_open(config_kit *kit)
{
    *kit = (config_kit){ .config = NULL };
    directory_open(&kit->here);
    snprintf(kit->path, sizeof kit->path, "%s/設定.yaml", kit->here.path);
}

void config_kit_close(config_kit *kit)
{
    maki_config_close(kit->config);
    directory_close(&kit->here);
}

static void note(void *ctx, const maki_config_problem *p)
{
    config_kit *kit = ctx;
    size_t used = strlen(kit->problems);
    if (strstr(p->message.ptr, " has no effect yet"))
        return; /* tests/cli/config.sh looks at these */
    snprintf(kit->problems + used, sizeof kit->problems - used, "%s%zu:%zu: %.*s\n",
             p->warning ? "warning " : "", p->line, p->column, (int)p->message.len, p->message.ptr);
}

maki_status config_read(config_kit *kit, const maki_env *env, char *const *environment,
                        maki_str text)
{
    maki_config_options options = { sizeof options, *env, kit->path, environment, note, kit };
    maki_config_close(kit->config);
    kit->config = NULL;
    kit->problems[0] = '\0';
    kit->err = (maki_err){ .status = MAKI_OK };
    directory_write(kit->path, text);
    return maki_config_open(&options, &kit->config, &kit->err);
}

maki_status config_text(config_kit *kit, const char *text)
{
    maki_env env = maki_env_system();
    return config_read(kit, &env, NULL, (maki_str){ text, strlen(text) });
}
