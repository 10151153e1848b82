/* problems.h -- collect all mistakes and warnings of a configuration, not only the first. */
#ifndef MAKI_CONFIG_PROBLEMS_H
#define MAKI_CONFIG_PROBLEMS_H

#include <maki/config.h>

#include "base/arena.h"

enum { MAKI_PROBLEMS_MAX = 100 };

/* A position in the file; line 0: none. */
typedef struct maki_text_position {
    size_t line, column; /* from 1 */
} maki_text_position;

typedef struct maki_problems {
    maki_arena *arena;
    const char *file; /* NULL: the environment */
    maki_config_problem *rows;
    size_t count, capacity;
    size_t mistakes; /* warnings excluded, those above MAKI_PROBLEMS_MAX included */
} maki_problems;

/* Add a problem.  Its message becomes one line, whatever was formatted into it. */
void maki_problem_note(maki_problems *all, bool warning, maki_text_position at, maki_str message);
#define maki_problem_add(all, at, ...) \
    maki_problem_note(all, false, at, maki_arena_print((all)->arena, __VA_ARGS__))
#define maki_problem_warn(all, at, ...) \
    maki_problem_note(all, true, at, maki_arena_print((all)->arena, __VA_ARGS__))
/* A copy with newlines and other control characters replaced by spaces; NUL-terminated. */
maki_str maki_problem_line(maki_arena *arena, maki_str text);

/* Pass all problems to options->on_problem in the order of the file, and return the first mistake; MAKI_OK: there is
 * none. */
maki_status maki_problems_report(maki_problems *all, const maki_config_options *options,
                                 maki_err *err);

/* Truncate text of the user for a message: at most `max` characters, then "...". */
maki_str maki_problem_quote(maki_arena *arena, maki_str text, size_t max);

#endif
