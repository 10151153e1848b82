/* config.h -- the settings in force: read from maki.yaml and the environment, checked, and asked for by path.
 *
 * A setting is one row of a table: its path, type, default, range and a line of help.  The reader, the
 * checks, `maki config show` and the reference page all read that row.
 *
 *     maki_config *config = NULL;
 *     maki_config_options options = { sizeof options, maki_env_system(), .environment = environ };
 *     if (maki_config_open(&options, &config, &err) != MAKI_OK) ...
 *     double percent = maki_config_number(config, "autoCondenseContextPercent");
 *     maki_config_close(config);
 *
 * What wins, first to last: a variable of the environment that the table names, the file, the default.
 * A configuration never changes once it is open, so any number of threads may ask it. */
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
    MAKI_CONFIG_TEXT,      /* any text */
    MAKI_CONFIG_SECRET,    /* text that is never shown */
    MAKI_CONFIG_CHOICE,    /* one of `choices` */
    MAKI_CONFIG_LIST,      /* texts; one alone needs no list */
    MAKI_CONFIG_BYTES,     /* 64k, 10m, 1g */
    MAKI_CONFIG_TIME,      /* 30s, 250ms, 5m; 30 are seconds */
    MAKI_CONFIG_URL,       /* http:// or https:// */
    MAKI_CONFIG_ADDRESSES, /* a list of ADDRESS:PORT */
    MAKI_CONFIG_POLICY,    /* the name of a preset, or a list of steps */
    MAKI_CONFIG_SAME       /* another name of the setting in `choices` */
} maki_config_type;

typedef struct maki_config_setting {
    const char *path; /* "agents.*.maxTurns": a star is any name, # a place in a list */
    maki_config_type type;
    const char *initial;  /* the default, as it would stand in the file; NULL: nothing */
    double min, max;      /* of an amount: bytes, milliseconds; both 0: no limit */
    const char *choices;  /* "ask|always|never" */
    const char *variable; /* of the environment: it wins over the file; NULL: none */
    bool editor;          /* also known as rooCode.PATH and roo-code.PATH */
    bool inherits; /* -1 means the general setting; what is out of range does too, with a warning */
    bool unused;   /* read and checked, but nothing acts on it yet */
    const char *help; /* one line */
} maki_config_setting;

/* Settings that belong together, as the reference page shows them. */
typedef struct maki_config_part {
    const char *title, *help;
    const maki_config_setting *settings;
    size_t count;
} maki_config_part;

MAKI_API size_t maki_config_part_count(void);
MAKI_API const maki_config_part *maki_config_part_at(size_t index); /* NULL behind the last */
/* The default of one name where it differs from the row's: llm.ollama.base_url, for example.  `path`
 * ends up NULL behind the last. */
MAKI_API void maki_config_named_default(size_t index, const char **path, const char **initial);
/* What a value must be, in words: "a number from 0.05 to 1", "one of ask, always, never".  As much of it
 * as fits; returns the bytes written without the NUL. */
MAKI_API size_t maki_config_expected(const maki_config_setting *setting, char *out,
                                     size_t capacity);

/* ---- reading ---------------------------------------------------------------------------------------- */

typedef struct maki_config maki_config;

typedef struct maki_config_problem {
    bool warning;        /* it can be used all the same */
    const char *file;    /* NULL: the environment */
    size_t line, column; /* from 1; 0: of no line in particular */
    maki_str words;      /* one line, with what to do about it; a NUL stands behind it */
} maki_config_problem;

typedef struct maki_config_options {
    size_t size; /* sizeof this struct: lets old callers meet new libraries */
    maki_env env;
    const char *
        file; /* NULL: $MAKI_CONFIG, ./maki.yaml, $XDG_CONFIG_HOME/maki/maki.yaml or that in ~/.config */
    char *const *environment; /* "NAME=value" each, ends with NULL; NULL: none.  Usually environ */
    /* Called for every problem, in the order of the file; may be NULL. */
    void (*on_problem)(void *ctx, const maki_config_problem *problem);
    void *ctx;
} maki_config_options;

/* Find, read and check.  No file is no mistake, unless it was asked for by name (MAKI_NOTFOUND).  With
 * mistakes MAKI_INVALID, *err has the first with its file, line and column, and *out is untouched. */
MAKI_API maki_status maki_config_open(const maki_config_options *options, maki_config **out,
                                      maki_err *err) MAKI_MUST_CHECK;
MAKI_API void maki_config_close(maki_config *config); /* accepts NULL */
/* The file that was read; NULL: there was none. */
MAKI_API const char *maki_config_file(const maki_config *config);

/* ---- asking ----------------------------------------------------------------------------------------- */

/* Paths are of the table, names in place of stars: "agents.default.maxTurns", "policies.mine.0.step".
 * Names may have dots in them.  What is not set reads as 0, false or an empty text, and so does a path
 * that is no setting.  Texts are borrowed from the configuration; a NUL stands behind them. */
MAKI_API bool maki_config_is_set(const maki_config *config,
                                 const char *path); /* or has a default */
MAKI_API bool maki_config_flag(const maki_config *config, const char *path);
MAKI_API double maki_config_number(const maki_config *config, const char *path);
MAKI_API int64_t maki_config_integer(const maki_config *config,
                                     const char *path); /* also bytes, ms */
MAKI_API maki_str maki_config_text(const maki_config *config, const char *path);
/* The n-th text of a list; false behind the last. */
MAKI_API bool maki_config_entry(const maki_config *config, const char *path, size_t n,
                                maki_str *out);
/* A secret.  MAKI_NOTFOUND with words: it is not set, or the variable that it should come from is not. */
MAKI_API maki_status maki_config_secret(const maki_config *config, const char *path, maki_str *out,
                                        maki_err *err) MAKI_MUST_CHECK;

/* The names that stand for the star behind `path`: the agents of "agents", the steps ("0", "1" ...) of
 * "policies.mine".  Begin with *cursor = 0; false behind the last. */
MAKI_API bool maki_config_next_name(const maki_config *config, const char *path, size_t *cursor,
                                    maki_str *name);

/* ---- what is in force, and where it came from ------------------------------------------------------- */

typedef enum maki_config_source {
    MAKI_CONFIG_DEFAULT,
    MAKI_CONFIG_FILE,
    MAKI_CONFIG_ENVIRONMENT
} maki_config_source;

typedef struct maki_config_value {
    const char *path;
    const maki_config_setting *setting;
    maki_str text; /* as it would stand in the file, on one line; secrets and passwords masked */
    maki_config_source source;
    size_t line, column;  /* of MAKI_CONFIG_FILE */
    const char *variable; /* of MAKI_CONFIG_ENVIRONMENT */
} maki_config_value;

/* In the order of the table.  Begin with *cursor = 0; false behind the last. */
MAKI_API bool maki_config_next_value(const maki_config *config, size_t *cursor,
                                     maki_config_value *out);
/* One of them; false when it is not set. */
MAKI_API bool maki_config_find_value(const maki_config *config, const char *path,
                                     maki_config_value *out);
/* All of them as JSON: {"file", "settings": [{"path", "value", "source", "line", "column" | "variable"}]}. */
MAKI_API maki_status maki_config_write(const maki_config *config, maki_sink out, maki_err *err);

MAKI_END_DECLS

#endif
