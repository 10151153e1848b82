/* arena_test.c -- limits, alignment, sticky failures, no leaks. */
#include "base/arena.h"

#include <stdalign.h>
#include <string.h>

#include "base/str_util.h"
#include "fake_env.h"
#include "samples.h"
#include "tap.h"

enum { MB = 1 << 20 };

/* Requests of many sizes: each is aligned, zeroed, and does not overlap the others. */
static void test_sizes(void)
{
    static const size_t sizes[] = { 0,    1,    2,    15,     16,      17, 100,    1000,  1023,
                                    1024, 1025, 4096, 100000, MB - 40, MB, MB + 1, 3 * MB };
    fake_env fe;
    fake_env_init(&fe);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        tap_row("requests of %zu bytes", sizes[i]);
        maki_arena arena = maki_arena_new(fe.env.alloc, 64 * MB);
        unsigned char *last = NULL;
        for (unsigned char k = 1; k <= 5; k++) {
            unsigned char *at = maki_arena_get(&arena, sizes[i]);
            if (!CHECK(at != NULL)) break;
            CHECK_EQ((uintptr_t)at % alignof(max_align_t), 0);
            CHECK(at != last);
            size_t zeros = 0;
            while (zeros < sizes[i] && at[zeros] == 0)
                zeros++;
            CHECK_EQ(zeros, sizes[i]);
            if (last && sizes[i]) CHECK(last[0] == k - 1 && last[sizes[i] - 1] == k - 1);
            memset(at, k, sizes[i]);
            last = at;
        }
        CHECK_EQ(arena.allocated, fake_alloc_live(&fe));
        CHECK_STATUS(maki_arena_status(&arena, NULL), MAKI_OK, NULL);
        maki_arena_free(&arena);
        CHECK_EQ(fake_alloc_live(&fe), 0);
    }
}

/* clang-format off */
static const struct limit_row { const char *name; size_t max, count, size; maki_status status; } limit_rows[] = {
    { "well below the limit",          MB,       10, 100,              MAKI_OK },
    { "more than the limit at once",   MB,       1, MB + 1,            MAKI_TOOBIG },
    { "exactly the limit: the header does not fit", 4096, 1, 4096,      MAKI_TOOBIG },
    { "nearly the limit",              4096,     1, 4000,              MAKI_OK },
    { "a limit below the first chunk", 200,      1, 100,               MAKI_OK },
    { "a limit of 0",            0,        1, 1,                 MAKI_TOOBIG },
    { "the largest size",                SIZE_MAX, 1, SIZE_MAX,          MAKI_TOOBIG },
    { "a size whose rounding wraps",     SIZE_MAX, 1, SIZE_MAX - 3,      MAKI_TOOBIG },
    { "a size whose header wraps",       SIZE_MAX, 1, SIZE_MAX - 31,     MAKI_TOOBIG },
    { "a product that wraps",            SIZE_MAX, SIZE_MAX / 2, 4,      MAKI_TOOBIG },
    { "a product that wraps to small",   SIZE_MAX, (size_t)1 << 33, (size_t)1 << 31, MAKI_TOOBIG },
    { "no elements",                     MB,       0, 8,                 MAKI_OK },
    { "elements of no size",             MB,       8, 0,                 MAKI_OK },
};
/* clang-format on */

static void test_limits(void)
{
    fake_env fe;
    fake_env_init(&fe);
    for (size_t i = 0; i < COUNT(limit_rows); i++) {
        const struct limit_row *row = &limit_rows[i];
        maki_err err;
        tap_row("limit: %s", row->name);
        maki_arena arena = maki_arena_new(fe.env.alloc, row->max);
        void *at = maki_arena_array(&arena, row->count, row->size);
        CHECK((at != NULL) == (row->status == MAKI_OK));
        CHECK_STATUS(maki_arena_status(&arena, &err), row->status, &err);
        CHECK(arena.allocated <= row->max);
        maki_arena_free(&arena);
        CHECK_EQ(fake_alloc_live(&fe), 0);
    }

    tap_row("many small requests stop at the limit and never exceed it");
    maki_arena arena = maki_arena_new(fe.env.alloc, 10000);
    size_t got = 0;
    while (maki_arena_get(&arena, 16))
        got += 16;
    CHECK(got > 9000); /* near the limit a chunk is as small as the request */
    CHECK(fe.peak_bytes > 0 && fake_alloc_live(&fe) <= 10000);
    maki_arena_free(&arena);
    maki_arena_free(&arena); /* twice is harmless */
    CHECK_EQ(fake_alloc_blocks(&fe), 0);

    tap_row("a limit of exactly what is needed, and of a byte less");
    arena = maki_arena_new(fe.env.alloc, 5000);
    CHECK(maki_arena_get(&arena, 4800) != NULL);
    size_t exactly = arena.allocated;
    maki_arena_free(&arena);
    arena = maki_arena_new(fe.env.alloc, exactly);
    CHECK(maki_arena_get(&arena, 4800) != NULL);
    maki_arena_free(&arena);
    arena = maki_arena_new(fe.env.alloc, exactly - 1);
    CHECK(maki_arena_get(&arena, 4800) == NULL);
    maki_arena_free(&arena);

    tap_row("an arena that was only zeroed can be freed");
    maki_arena zeroed = { 0 };
    maki_arena_free(&zeroed);
    CHECK_EQ(zeroed.allocated, 0);
}

static void test_sticks(void)
{
    fake_env fe;
    maki_err err;
    size_t capacity = 0;
    fake_env_init(&fe);

    tap_row("the first failure sticks, whatever follows");
    maki_arena arena = maki_arena_new(fe.env.alloc, MB);
    fake_alloc_fail_at(&fe, 1);
    CHECK(maki_arena_get(&arena, 10) == NULL);
    CHECK(maki_arena_get(&arena, 10) == NULL);
    CHECK(maki_arena_array(&arena, SIZE_MAX, 2) == NULL); /* TOOBIG does not replace NOMEM */
    CHECK_STR(maki_arena_copy(&arena, MAKI_LIT("日本語")), "");
    CHECK_STR(maki_arena_print(&arena, "%d", 1), "");
    CHECK(maki_arena_grow(&arena, NULL, 0, &capacity, 4) == NULL);
    CHECK_EQ(capacity, 0);
    CHECK_STATUS(maki_arena_status(&arena, &err), MAKI_NOMEM, &err);
    CHECK_CSTR(err.msg, "out of memory");
    CHECK_EQ(fake_alloc_live(&fe), 0);
    maki_arena_free(&arena);

    tap_row("a failure after success leaves earlier memory valid");
    fake_alloc_fail_at(&fe, 0);
    arena = maki_arena_new(fe.env.alloc, 3 * MB);
    maki_str kept = maki_arena_copy(&arena, MAKI_LIT("이것은 남는다"));
    CHECK(maki_arena_get(&arena, 4 * MB) == NULL);
    CHECK_STR(kept, "이것은 남는다");
    CHECK_STATUS(maki_arena_status(&arena, &err), MAKI_TOOBIG, &err);
    CHECK_CSTR(err.msg, "more than 3 MB of working memory would be needed");
    maki_arena_free(&arena);
    CHECK_EQ(fake_alloc_live(&fe), 0);
}

static void test_text(void)
{
    fake_env fe;
    fake_env_init(&fe);
    maki_arena arena = maki_arena_new(fe.env.alloc, MB);
    for (size_t i = 0; i < sample_count; i++) {
        tap_row("copy and print: %s", samples[i].name);
        maki_str text = samples[i].text;
        maki_str copy = maki_arena_copy(&arena, text);
        CHECK_TEXT(copy, text);
        CHECK(copy.ptr != text.ptr);
        if (memchr(text.ptr, '\0', text.len)) continue; /* %s would stop there */
        maki_str printed = maki_arena_print(&arena, "<%s|%d>", text.ptr, 42);
        CHECK_EQ(printed.len, text.len + 5);
        CHECK(maki_str_starts(maki_str_skip(printed, 1), text));
        CHECK_STR(maki_str_skip(printed, text.len + 1), "|42>");
        CHECK_EQ(printed.ptr[printed.len], '\0');
    }
    tap_row("copy of a NULL string");
    CHECK_STR(maki_arena_copy(&arena, (maki_str){ NULL, 0 }), "");
    tap_row("print of an empty and of a long text");
    CHECK_STR(maki_arena_print(&arena, "%s", ""), "");
    CHECK_EQ(maki_arena_print(&arena, "%*d", 100000, 7).len, 100000);
    CHECK_STATUS(maki_arena_status(&arena, NULL), MAKI_OK, NULL);
    maki_arena_free(&arena);
}

static void test_grow(void)
{
    fake_env fe;
    fake_env_init(&fe);
    maki_arena arena = maki_arena_new(fe.env.alloc, MB);
    uint32_t *items = NULL;
    size_t capacity = 0;

    tap_row("an array that grows keeps its elements");
    for (uint32_t n = 0; n < 1000; n++) {
        items = maki_arena_grow(&arena, items, n, &capacity, sizeof *items);
        if (!CHECK(items != NULL)) break;
        CHECK(capacity > n);
        items[n] = n * 3;
    }
    for (uint32_t n = 0; n < 1000; n++)
        CHECK_EQ(items[n], n * 3);

    tap_row("growing does nothing while there is capacity");
    CHECK(maki_arena_grow(&arena, items, 1000, &capacity, sizeof *items) == items);

    tap_row("growing past the limit fails and leaves the capacity unchanged");
    capacity = SIZE_MAX / 4;
    CHECK(maki_arena_grow(&arena, items, capacity, &capacity, 16) == NULL);
    CHECK_EQ(capacity, SIZE_MAX / 4);
    CHECK_STATUS(maki_arena_status(&arena, NULL), MAKI_TOOBIG, NULL);
    maki_arena_free(&arena);
    CHECK_EQ(fake_alloc_live(&fe), 0);
}

/* Some of everything, for the faults below. */
static maki_status use(const maki_env *env, maki_err *err)
{
    maki_arena arena = maki_arena_new(env->alloc, 16 * MB);
    int *items = NULL;
    size_t capacity = 0;
    for (size_t n = 0; n < 500; n++) {
        int *moved = maki_arena_grow(&arena, items, n, &capacity, sizeof *items);
        if (!moved) break;
        items = moved;
        items[n] = 1;
        maki_arena_copy(&arena, samples[n % sample_count].text);
        maki_arena_print(&arena, "%zu", n);
    }
    maki_arena_get(&arena, 3 * MB);
    maki_status st = maki_arena_status(&arena, err);
    maki_arena_free(&arena);
    return st;
}

static void test_faults(void)
{
    fake_env fe;
    fake_env_init(&fe);
    tap_row("every allocation fails in turn");
    size_t nth = 1;
    for (;; nth++) {
        maki_err err;
        fake_alloc_fail_at(&fe, nth);
        maki_status st = use(&fe.env, &err);
        CHECK_STATUS(st, fake_alloc_failed(&fe) ? MAKI_NOMEM : MAKI_OK, &err);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        if (!fake_alloc_failed(&fe)) break;
    }
    CHECK(nth > 5); /* the test did reach several chunks */
}

int main(void)
{
    test_sizes();
    test_limits();
    test_sticks();
    test_text();
    test_grow();
    test_faults();
    return tap_end();
}
