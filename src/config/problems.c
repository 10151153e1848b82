/* problems.c -- collect problems in an arena, sort and report them.
 *
 * Always: `mistakes` counts every mistake, so a configuration with one is never accepted, even if its row was dropped
 * (MAKI_PROBLEMS_MAX). */
#include "config/problems.h"

#include "base/err.h"
#include "base/sort.h"
#include "base/str_util.h"
#include "base/text.h"

maki_str maki_problem_line(maki_arena *arena, maki_str text)
{
    char *line = maki_arena_get(arena, text.len + 1); /* NUL-terminated */
    if (!line) return (maki_str){ "", 0 };
    if (text.len) memcpy(line, text.ptr, text.len);
    maki_utf8_one_line(line, text.len);
    return (maki_str){ line, text.len };
}

void maki_problem_note(maki_problems *all, bool warning, maki_text_position at, maki_str message)
{
    maki_config_problem problem = { warning, all->file, at.line, at.column,
                                    maki_problem_line(all->arena, message) };
    if (!warning) all->mistakes++;
    if (all->count < MAKI_PROBLEMS_MAX) /* a failure stays in the arena's status */
        (void)maki_arena_add(all->arena, &all->rows, &all->count, &all->capacity, &problem,
                             sizeof problem, NULL);
}

/* Orders by line and column; problems without a line are last. */
static bool is_before(const void *a, const void *b)
{
    const maki_config_problem *left = a, *right = b;
    if (left->line != right->line) return left->line - 1 < right->line - 1;
    return left->column < right->column;
}

/* Fail with the first problem that is not a warning. */
static maki_status first_mistake(const maki_problems *all, maki_err *err)
{
    for (size_t i = 0; i < all->count; i++) {
        const maki_config_problem *p = &all->rows[i];
        int n = (int)p->message.len;
        if (p->warning) continue;
        if (p->file && p->line) {
            return maki_fail(err, MAKI_INVALID, "%.100s:%zu:%zu: %.*s", p->file, p->line, p->column,
                             n, p->message.ptr);
        }
        return maki_fail(err, MAKI_INVALID, "%.100s%s%.*s", p->file ? p->file : "",
                         p->file ? ": " : "", n, p->message.ptr);
    }
    return maki_fail(err, MAKI_INVALID, "%zu mistakes in the configuration", all->mistakes);
}

maki_status maki_problems_report(maki_problems *all, const maki_config_options *options,
                                 maki_err *err)
{
    if (all->count) {
        maki_status st =
            maki_sort(all->rows, all->count, sizeof all->rows[0], is_before, all->arena, err);
        if (st != MAKI_OK) return st;
    }
    for (size_t i = 0; options->on_problem && i < all->count; i++)
        options->on_problem(options->ctx, &all->rows[i]);
    return all->mistakes ? first_mistake(all, err) : MAKI_OK;
}

maki_str maki_problem_quote(maki_arena *arena, maki_str text, size_t max)
{
    size_t at = 0, len = 0, n = 0;
    if (!maki_utf8_valid(text, NULL)) return MAKI_LIT("(invalid UTF-8)");
    for (; at < text.len && n < max; at += len, n++)
        (void)maki_utf8_decode(text, at, &len);
    return maki_arena_print(arena, "%.*s%s", (int)at, text.ptr ? text.ptr : "",
                            at < text.len ? "..." : "");
}
