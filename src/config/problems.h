/* problems.h -- what is wrong with a configuration: everything, not only the first. */
#ifndef MAKI_CONFIG_PROBLEMS_H
#define MAKI_CONFIG_PROBLEMS_H

#include <maki/config.h>

#include "base/arena.h"

enum { MAKI_PROBLEMS_MAX = 100 };

/* A place in the file; line 0: of no line in particular. */
typedef struct maki_text_position {
    size_t line, column; /* from 1 */
} maki_text_position;

typedef struct maki_problems {
    maki_arena *arena;
    const char *file; /* NULL: the environment */
    maki_config_problem *rows;
    size_t count, capacity;
    size_t mistakes; /* those that are no warnings, also the ones for which there was no row */
} maki_problems;

/* Note one.  The words come out as one line of valid UTF-8 that no hostile name can break. */
void maki_problem_note(maki_problems *all, bool warning, maki_text_position at, const char *fmt,
                       ...) MAKI_PRINTF(4, 5);
#define maki_problem_add(all, ...)  maki_problem_note(all, false, __VA_ARGS__)
#define maki_problem_warn(all, ...) maki_problem_note(all, true, __VA_ARGS__)

/* Tell them in the order of the file, and answer with the first mistake; MAKI_OK: there is none. */
maki_status maki_problems_report(maki_problems *all, const maki_config_options *options,
                                 maki_err *err);

/* A text from outside as it is quoted in words: at most `max` characters, "..." behind a cut. */
maki_str maki_problem_quote(maki_arena *arena, maki_str text, size_t max);

#endif
