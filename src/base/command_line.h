/* command_line.h -- a command line read by a table: which options there are, what their values are called, what they do.
 *
 *     --name VALUE, --name=VALUE and flags; words between them; "--" ends the options.
 *
 * Mistakes name the option, the nearest one there is and where the help stands. */
#ifndef MAKI_BASE_COMMAND_LINE_H
#define MAKI_BASE_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include <maki/env.h>

typedef struct maki_option {
    const char *shape; /* "--keep N": an option and what its value is called; "--json": a flag */
    size_t at;         /* of the member it sets: a const char *, for a flag a bool */
    const char *help;  /* what it does; a newline goes on in the same column */
} maki_option;

typedef struct maki_option_list {
    const char *command; /* "maki serve": where the help is */
    const void *rows;    /* each begins with a maki_option */
    size_t count, row_size;
    int argc; /* and from argv[at] on */
    char **argv;
    int at;
    bool words_only; /* "--" came */
} maki_option_list;
#define MAKI_OPTIONS(name, table, argc, argv)                                                 \
    {                                                                                         \
        name, table, sizeof(table) / sizeof(table)[0], sizeof(table)[0], argc, argv, 1, false \
    }

typedef enum maki_option_kind {
    MAKI_OPTION_END,
    MAKI_OPTION_POSITIONAL, /* *value is it */
    MAKI_OPTION_NAMED,      /* *row is its row; *value NULL for a flag */
    MAKI_OPTION_INVALID     /* *err says what */
} maki_option_kind;

/* The next of them.  Values are borrowed from argv. */
maki_option_kind maki_options_next(maki_option_list *o, size_t *row, const char **value,
                                   maki_err *err);

/* All of them: values go into the struct `out` by their rows, words into `words` (at most `most`; it may be argv). */
maki_status maki_options_read(maki_option_list *o, void *out, char **words, size_t most,
                              size_t *count, maki_err *err) MAKI_MUST_CHECK;

/* A line for each option that has a help. */
void maki_options_help(const maki_option_list *o, maki_sink out);

#endif
