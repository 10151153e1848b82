/* problems.c -- see problems.h. */
#include "config/problems.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"
#include "base/sort.h"
#include "base/str_util.h"
#include "base/text.h"

static maki_str print(maki_arena *arena, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    char *at = n < 0 ? NULL : maki_arena_get(arena, (size_t)n + 1);
    if (at) vsnprintf(at, (size_t)n + 1, fmt, again);
    va_end(again);
    if (!at) return (maki_str){ "", 0 };
    maki_utf8_one_line(at, (size_t)n);
    return (maki_str){ at, (size_t)n };
}

void maki_problem_note(maki_problems *all, bool warning, maki_text_position at, const char *fmt,
                       ...)
{
    va_list args;
    if (!warning) all->mistakes++;
    if (all->count == MAKI_PROBLEMS_MAX) return;
    maki_config_problem *rows =
        maki_arena_grow(all->arena, all->rows, all->count, &all->capacity, sizeof *rows);
    if (!rows) return;
    all->rows = rows;
    va_start(args, fmt);
    rows[all->count++] = (maki_config_problem){ warning, all->file, at.line, at.column,
                                                print(all->arena, fmt, args) };
    va_end(args);
}

/* What is of no line in particular comes last. */
static bool stands_before(const void *a, const void *b)
{
    const maki_config_problem *left = a, *right = b;
    if (left->line != right->line) return left->line - 1 < right->line - 1;
    return left->column < right->column;
}

static maki_status first_mistake(const maki_problems *all, maki_err *err)
{
    for (size_t i = 0; i < all->count; i++) {
        const maki_config_problem *p = &all->rows[i];
        int n = (int)p->words.len;
        if (p->warning) continue;
        if (p->file && p->line) {
            return maki_fail(err, MAKI_INVALID, "%.100s:%zu:%zu: %.*s", p->file, p->line, p->column,
                             n, p->words.ptr);
        }
        return maki_fail(err, MAKI_INVALID, "%.100s%s%.*s", p->file ? p->file : "",
                         p->file ? ": " : "", n, p->words.ptr);
    }
    return maki_fail(err, MAKI_INVALID, "%zu mistakes in the configuration", all->mistakes);
}

maki_status maki_problems_report(maki_problems *all, const maki_config_options *options,
                                 maki_err *err)
{
    if (all->count) {
        maki_status st =
            maki_sort(all->rows, all->count, sizeof all->rows[0], stands_before, all->arena, err);
        if (st != MAKI_OK) return st;
    }
    for (size_t i = 0; options->on_problem && i < all->count; i++)
        options->on_problem(options->ctx, &all->rows[i]);
    return all->mistakes ? first_mistake(all, err) : MAKI_OK;
}

maki_str maki_problem_quote(maki_arena *arena, maki_str text, size_t max)
{
    size_t at = 0, len = 0, n = 0;
    if (!maki_utf8_valid(text, NULL)) return MAKI_LIT("(no UTF-8)");
    for (; at < text.len && n < max; at += len, n++)
        (void)maki_utf8_decode(text, at, &len);
    return maki_arena_print(arena, "%.*s%s", (int)at, text.ptr ? text.ptr : "",
                            at < text.len ? "..." : "");
}
