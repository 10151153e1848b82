/* config_path.h -- the path of a setting below a name that the user chose: "agents.NAME.FIELD", "llm.NAME.FIELD". */
#ifndef MAKI_CONFIG_CONFIG_PATH_H
#define MAKI_CONFIG_CONFIG_PATH_H

#include <stdio.h>

#include <maki/str.h>

typedef struct maki_config_path {
    char text[256]; /* a path that is too long is truncated, and no setting has it */
} maki_config_path;

static inline maki_config_path maki_config_path_of(const char *outer, maki_str name,
                                                   const char *field)
{
    maki_config_path path;
    snprintf(path.text, sizeof path.text, "%s.%.*s.%s", outer,
             (int)(name.len < sizeof path.text ? name.len : sizeof path.text), name.ptr, field);
    return path;
}

#endif
