/* value.h -- the value of a setting: parsed and checked by its row. */
#ifndef MAKI_CONFIG_VALUE_H
#define MAKI_CONFIG_VALUE_H

#include "config/problems.h"
#include "config/settings.h"

typedef struct maki_value {
    maki_str path;    /* of the table, with names; NUL-terminated */
    maki_str written; /* as written in the file: an alias, a prefix */
    const maki_config_setting *row;
    size_t rank; /* of the row in the table */
    maki_str names[MAKI_SETTING_PATH_NAMES];
    size_t name_count;
    maki_str text;
    double number; /* 0 or 1, a number, bytes or milliseconds */
    const maki_str *items;
    size_t count;
    maki_config_source source;
    maki_text_position at;
    maki_str variable; /* of MAKI_CONFIG_ENVIRONMENT */
    maki_str missing;  /* the variable of a secret that is not set; len 0: none */
    maki_str shown;    /* for display: one line, secrets masked */
} maki_value;

typedef enum maki_value_form {
    MAKI_VALUE_PLAIN,
    MAKI_VALUE_QUOTED,  /* a string, even if it looks like a number */
    MAKI_VALUE_VARIABLE /* from the environment: 1 and 0 are flags too */
} maki_value_form;

/* Parse `text` into *value, whose row is set.  Returns the error, "must be true or false, not 7"; len 0: none. */
maki_str maki_value_read(maki_value *value, maki_str text, maki_value_form form, maki_arena *arena);
/* Check an item of a list; the error, len 0: none. */
maki_str maki_value_check_item(const maki_config_setting *row, maki_str item, maki_arena *arena);

/* "a number from 0.05 to 1", "one of ask, always, never" */
maki_str maki_value_expected(const maki_config_setting *row, maki_arena *arena);
bool maki_value_same(const maki_value *a, const maki_value *b);
/* The text for display, value->shown (config_print.c). */
maki_str maki_value_show(const maki_value *value, maki_arena *arena);
bool maki_value_is_list(const maki_config_setting *row);

#endif
