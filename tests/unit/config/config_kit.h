/* config_kit.h -- a configuration from a text, with all its problems kept. */
#ifndef MAKI_TESTS_CONFIG_KIT_H
#define MAKI_TESTS_CONFIG_KIT_H

#include <maki/config.h>

#include "directory.h"

typedef struct config_kit {
    directory here;
    char path[300];
    char problems[8000]; /* "2:3: words\n" each; warnings begin with "warning " */
    maki_err err;
    maki_config *config; /* of the last config_read; NULL when it failed */
} config_kit;

void config_kit_open(config_kit *kit);
void config_kit_close(config_kit *kit);

/* Write `text` to the file and read it; the configuration before is closed. */
maki_status config_read(config_kit *kit, const maki_env *env, char *const *environment,
                        maki_str text);
/* The same with the real outside world and no variables. */
maki_status config_text(config_kit *kit, const char *text);

#endif
