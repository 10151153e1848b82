/* config.h -- the effective settings: read from maki.yaml and the environment, checked, and looked up by path.
 *
 * A setting is one row of a table: its path, type, default, range and a line of help.  The parser, the checks,
 * `maki config show` and the reference page all use that row.
 *
 *     maki_config *config = NULL;
 *     maki_config_options options = { sizeof options, maki_env_system(), .environment = environ };
 *     if (maki_config_open(&options, &config, &err) != MAKI_OK) ...
 *     double percent = maki_config_number(config, "autoCondenseContextPercent");
 *     maki_config_close(config);
 *
 * Precedence: an environment variable that the table names, the file, the default.  An open configuration is constant, so
 * any number of threads may read it. */
#ifndef MAKI_CONFIG_H
#define MAKI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <maki/env.h>

MAKI_BEGIN_DECLS

/* ---- the table -------------------------------------------------------------------------------------- */

typedef enum maki_config_type {
    MAKI_CONFIG_FLAG,      /* true or false */
    MAKI_CONFIG_INTEGER,   /* 200000 or 200_000 */
    MAKI_CONFIG_NUMBER,    /* 0.7 */
    MAKI_CONFIG_STRING,    /* any string */
    MAKI_CONFIG_SECRET,    /* a string that is never shown */
    MAKI_CONFIG_CHOICE,    /* one of `choices` */
    MAKI_CONFIG_LIST,      /* strings; a single one needs no list */
    MAKI_CONFIG_BYTES,     /* 64k, 10m, 1g */
    MAKI_CONFIG_DURATION,  /* 30s, 250ms, 5m; 30 is seconds */
    MAKI_CONFIG_URL,       /* http:// or https:// */
    MAKI_CONFIG_ADDRESSES, /* a list of ADDRESS:PORT */
    MAKI_CONFIG_POLICY,    /* the name of a preset, or a list of steps */
    MAKI_CONFIG_ALIAS      /* alias of the setting in `choices` */
} maki_config_type;

typedef struct maki_config_setting {
    const char *path; /* "agents.*.maxTurns": * is any name, # an index of a list */
    maki_config_type type;
    const char *initial;  /* the default, as it is written in the file; NULL: none */
    double min, max;      /* of an amount: bytes, milliseconds; both 0: no limit */
    const char *choices;  /* "ask|always|never" */
    const char *variable; /* the environment variable, which overrides the file; NULL: none */
    bool editor;          /* rooCode.PATH and roo-code.PATH are aliases */
    bool inherits;    /* -1 is the general setting; a value out of range is too, with a warning */
    bool unused;      /* parsed and checked, but it has no effect yet */
    const char *help; /* one line */
} maki_config_setting;

/* A section of the reference page. */
typedef struct maki_config_section {
    const char *title, *help;
    const maki_config_setting *settings;
    size_t count;
} maki_config_section;

MAKI_API const maki_config_section *maki_config_section_at(size_t index); /* NULL after the last */
/* The default of one name if it differs from the row's, for example llm.ollama.base_url.  *path is NULL after the last. */
MAKI_API void maki_config_named_default(size_t index, const char **path, const char **initial);
/* What a value must be: "a number from 0.05 to 1", "one of ask, always, never"; truncated to `capacity`.  Returns the bytes
 * written without the NUL. */
MAKI_API size_t maki_config_expected(const maki_config_setting *setting, char *out,
                                     size_t capacity);

/* ---- opening ---------------------------------------------------------------------------------------- */

typedef struct maki_config maki_config;

typedef struct maki_config_problem {
    bool warning;        /* the configuration can be used */
    const char *file;    /* NULL: the environment */
    size_t line, column; /* from 1; 0: none */
    maki_str message;    /* one line, with a way to fix it; NUL-terminated */
} maki_config_problem;

typedef struct maki_config_options {
    size_t size; /* sizeof this struct: lets old callers meet new libraries */
    maki_env env;
    const char *
        file; /* NULL: $MAKI_CONFIG, ./maki.yaml, $XDG_CONFIG_HOME/maki/maki.yaml or that in ~/.config */
    char *const *environment; /* environ, or "NAME=value" each, ends with NULL; NULL: none */
    /* Called for every problem, in the order of the file; may be NULL. */
    void (*on_problem)(void *ctx, const maki_config_problem *problem);
    void *ctx;
} maki_config_options;

/* Find, parse and check it.  A missing file is an error (MAKI_NOTFOUND) only if it was named.  MAKI_INVALID: there are
 * mistakes; *err has the first with its file, line and column, and *out is untouched. */
MAKI_API maki_status maki_config_open(const maki_config_options *options, maki_config **out,
                                      maki_err *err) MAKI_MUST_CHECK;
MAKI_API void maki_config_close(maki_config *config); /* accepts NULL */
/* The file that was read; NULL: none. */
MAKI_API const char *maki_config_file(const maki_config *config);

/* ---- reading a setting ------------------------------------------------------------------------------ */

/* Paths are those of the table with names in place of stars: "agents.default.maxTurns", "policies.mine.0.step".  Names may
 * contain dots.  A setting that is not set, or unknown, is 0, false or an empty string.  Strings are borrowed from the
 * configuration and NUL-terminated. */
MAKI_API bool maki_config_is_set(const maki_config *config,
                                 const char *path); /* or has a default */
MAKI_API bool maki_config_flag(const maki_config *config, const char *path);
MAKI_API double maki_config_number(const maki_config *config, const char *path);
MAKI_API int64_t maki_config_integer(const maki_config *config,
                                     const char *path); /* also bytes, ms */
MAKI_API maki_str maki_config_text(const maki_config *config, const char *path);
/* The n-th item of a list; false after the last. */
MAKI_API bool maki_config_entry(const maki_config *config, const char *path, size_t n,
                                maki_str *out);
/* A secret.  MAKI_NOTFOUND: it is not set, or its environment variable is not; *err says which. */
MAKI_API maki_status maki_config_secret(const maki_config *config, const char *path, maki_str *out,
                                        maki_err *err) MAKI_MUST_CHECK;

/* Iterate over the names that match the star after `path`: the agents of "agents", the steps ("0", "1" ...) of
 * "policies.mine".  Begin with *cursor = 0; false after the last. */
MAKI_API bool maki_config_next_name(const maki_config *config, const char *path, size_t *cursor,
                                    maki_str *name);

/* ---- effective values and their sources ------------------------------------------------------------- */

typedef enum maki_config_source {
    MAKI_CONFIG_DEFAULT,
    MAKI_CONFIG_FILE,
    MAKI_CONFIG_ENVIRONMENT
} maki_config_source;

typedef struct maki_config_value {
    const char *path;
    const maki_config_setting *setting;
    maki_str text; /* as written in the file, on one line; secrets and passwords masked */
    maki_config_source source;
    size_t line, column;  /* of MAKI_CONFIG_FILE */
    const char *variable; /* of MAKI_CONFIG_ENVIRONMENT */
} maki_config_value;

/* Iterate in the order of the table.  Begin with *cursor = 0; false after the last. */
MAKI_API bool maki_config_next_value(const maki_config *config, size_t *cursor,
                                     maki_config_value *out);
/* Look one up; false: not set. */
MAKI_API bool maki_config_find_value(const maki_config *config, const char *path,
                                     maki_config_value *out);
/* Write all as JSON: {"file", "settings": [{"path", "value", "source", "line", "column" | "variable"}]}. */
MAKI_API maki_status maki_config_write(const maki_config *config, maki_sink out, maki_err *err);

MAKI_END_DECLS

#endif
