/* command_line.h -- parse a command line by a table of options: their names, values and help.
 *
 *     --name VALUE, --name=VALUE and flags, positional arguments between them; "--" ends the options.
 *
 * An error names the option, the most similar one that exists, and how to get help. */
#ifndef MAKI_BASE_COMMAND_LINE_H
#define MAKI_BASE_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include <maki/env.h>

typedef struct maki_option {
    const char *shape; /* "--keep N": an option and the name of its value; "--json": a flag */
    size_t at;         /* offset of the member it sets: a const char *, for a flag a bool */
    const char *help;  /* what it does; a line after a newline starts in the same column */
} maki_option;

typedef struct maki_option_list {
    const char *command; /* "maki serve": errors refer to its --help */
    const void *rows;    /* each begins with a maki_option */
    size_t count, row_size;
    int argc;
    char **argv;
    int next;             /* index in argv */
    bool positional_only; /* after "--" */
} maki_option_list;
#define MAKI_OPTIONS(name, table, argc, argv)                                                 \
    {                                                                                         \
        name, table, sizeof(table) / sizeof(table)[0], sizeof(table)[0], argc, argv, 1, false \
    }

typedef enum maki_option_kind {
    MAKI_OPTION_END,
    MAKI_OPTION_POSITIONAL, /* *value is the argument */
    MAKI_OPTION_NAMED,      /* *row is the index of its row; *value NULL for a flag */
    MAKI_OPTION_INVALID     /* *err has the reason */
} maki_option_kind;

/* The next option or argument.  Values are borrowed from argv. */
maki_option_kind maki_options_next(maki_option_list *o, size_t *row, const char **value,
                                   maki_err *err);

/* Parse all: values are stored in the struct `out` at the offsets of their rows, positional arguments in `arguments`,
 * which holds `max` and may be argv. */
maki_status maki_options_read(maki_option_list *o, void *out, char **arguments, size_t max,
                              size_t *count, maki_err *err) MAKI_MUST_CHECK;

/* Write a line for each option that has help. */
void maki_options_help(const maki_option_list *o, maki_sink out);

#endif
