/* buf_test.c -- a buffer stops at its limit, its first failure sticks, and it leaks nothing. */
#include "base/buf.h"

#include <stdint.h>
#include <string.h>

#include "base/str_util.h"
#include "fake_env.h"
#include "samples.h"
#include "tap.h"

/* clang-format off */
static const struct limit_row { const char *name; size_t max, piece, times; maki_status status; size_t len; } limit_rows[] = {
    { "nothing at all",               100,  0,   5,   MAKI_OK,     0 },
    { "nothing, with a limit of 0", 0,    0,   5,   MAKI_OK,     0 },
    { "a byte, with a limit of 0",  0,    1,   1,   MAKI_TOOBIG, 0 },
    { "exactly the limit at once",  100,  100, 1,   MAKI_OK,     100 },
    { "a byte too many at once",      100,  101, 1,   MAKI_TOOBIG, 0 },
    { "exactly the limit, bytewise", 300, 1,   300, MAKI_OK,     300 },
    { "a byte too many, bytewise",    300,  1,   301, MAKI_TOOBIG, 300 },
    { "a limit that is no power of two", 1000, 7, 142, MAKI_OK,  994 },
    { "growth over many doublings",   1 << 20, 97, 10000, MAKI_OK, 970000 },
    { "a piece that does not fit is not added in part", 256, 100, 3, MAKI_TOOBIG, 200 },
};
/* clang-format on */

static void test_limits(void)
{
    static char piece[1000];
    fake_env fe;
    fake_env_init(&fe);
    memset(piece, 'x', sizeof piece);
    for (size_t i = 0; i < COUNT(limit_rows); i++) {
        const struct limit_row *row = &limit_rows[i];
        tap_row("limit: %s", row->name);
        maki_buf buf = maki_buf_new(fe.env.alloc, row->max);
        for (size_t n = 0; n < row->times; n++)
            maki_buf_add(&buf, (maki_str){ piece, row->piece });
        CHECK_STATUS(maki_buf_status(&buf, NULL), row->status, NULL);
        CHECK_EQ(maki_buf_str(&buf).len, row->len);
        CHECK(fake_alloc_live(&fe) <= row->max);
        maki_buf_free(&buf);
        CHECK_EQ(fake_alloc_live(&fe), 0);
    }
}

static void test_sticks(void)
{
    fake_env fe;
    maki_err err;
    fake_env_init(&fe);

    tap_row("the first failure sticks until the buffer is cleared");
    maki_buf buf = maki_buf_new(fe.env.alloc, 10);
    maki_buf_add(&buf, MAKI_LIT("日本"));
    maki_buf_add(&buf, MAKI_LIT("語です")); /* 9 bytes too many */
    maki_buf_add(&buf, MAKI_LIT("x"));      /* would fit, but the failure sticks */
    maki_buf_add_byte(&buf, 'y');
    CHECK(maki_buf_reserve(&buf, 1) == NULL);
    CHECK_STR(maki_buf_str(&buf), "日本");
    CHECK_STATUS(maki_buf_status(&buf, &err), MAKI_TOOBIG, &err);
    CHECK_CSTR(err.msg, "more than 10 bytes in one buffer");
    size_t calls = fe.alloc.calls;
    maki_buf_clear(&buf);
    CHECK_STATUS(maki_buf_status(&buf, &err), MAKI_OK, &err);
    CHECK_STR(maki_buf_str(&buf), "");
    maki_buf_add(&buf, MAKI_LIT("한국어"));
    maki_buf_add_byte(&buf, '!');
    CHECK_STR(maki_buf_str(&buf), "한국어!");
    CHECK_EQ(fe.alloc.calls, calls); /* the memory was kept */
    maki_buf_free(&buf);
    maki_buf_free(&buf); /* twice is harmless */
    CHECK_EQ(fake_alloc_live(&fe), 0);

    tap_row("sizes that wrap are too big, not small");
    buf = maki_buf_new(fe.env.alloc, SIZE_MAX);
    maki_buf_add_byte(&buf, 'a');
    CHECK(maki_buf_reserve(&buf, SIZE_MAX) == NULL);
    CHECK_STATUS(maki_buf_status(&buf, NULL), MAKI_TOOBIG, NULL);
    maki_buf_free(&buf);

    tap_row("a size that the allocator does not have is out of memory");
    buf = maki_buf_new(fe.env.alloc, SIZE_MAX);
    CHECK(maki_buf_reserve(&buf, SIZE_MAX - 8) == NULL);
    CHECK_STATUS(maki_buf_status(&buf, &err), MAKI_NOMEM, &err);
    maki_buf_free(&buf);

    tap_row("a buffer that was only zeroed can be freed");
    maki_buf zeroed = { 0 };
    maki_buf_free(&zeroed);
    CHECK_STR(maki_buf_str(&zeroed), "");
}

static void test_capacity(void)
{
    fake_env fe;
    fake_env_init(&fe);
    maki_buf buf = maki_buf_new(fe.env.alloc, 1000);
    tap_row("reserved capacity can be written to");
    for (char c = 'a'; c <= 'e'; c++) {
        char *at = maki_buf_reserve(&buf, 150);
        if (!CHECK(at != NULL)) break;
        memset(at, c, 150);
        buf.len += 150;
    }
    CHECK_EQ(buf.len, 750);
    for (size_t i = 0; i < 750; i++)
        CHECK_EQ(buf.ptr[i], "abcde"[i / 150]);
    tap_row("reserved capacity that is not used adds nothing");
    CHECK(maki_buf_reserve(&buf, 100) == buf.ptr + 750);
    CHECK_EQ(maki_buf_str(&buf).len, 750);
    CHECK(maki_buf_reserve(&buf, 0) != NULL);
    maki_buf_free(&buf);

    tap_row("reserving 0 bytes of an empty buffer is no failure");
    buf = maki_buf_new(fe.env.alloc, 0);
    (void)maki_buf_reserve(&buf, 0);
    CHECK_STATUS(maki_buf_status(&buf, NULL), MAKI_OK, NULL);
    maki_buf_free(&buf);
}

static void test_text(void)
{
    fake_env fe;
    fake_env_init(&fe);
    for (size_t i = 0; i < sample_count; i++) {
        maki_err err;
        maki_str text = samples[i].text;
        tap_row("at once, byte by byte and through the sink: %s", samples[i].name);
        maki_buf buf = maki_buf_new(fe.env.alloc, 4096);
        maki_sink sink = maki_buf_sink(&buf);
        maki_buf_add(&buf, text);
        for (size_t k = 0; k < text.len; k++)
            maki_buf_add_byte(&buf, text.ptr[k]);
        if (text.len) CHECK_STATUS(sink.write(sink.ctx, text, &err), MAKI_OK, &err);
        CHECK_EQ(buf.len, text.len * 3);
        for (size_t k = 0; k < 3; k++) {
            maki_str all = maki_buf_str(&buf);
            CHECK_TEXT(maki_str_prefix(maki_str_skip(all, k * text.len), text.len), text);
        }
        maki_buf_free(&buf);
    }
    tap_row("the sink reports that the limit was exceeded");
    maki_err err;
    maki_buf buf = maki_buf_new(fe.env.alloc, 5);
    maki_sink sink = maki_buf_sink(&buf);
    CHECK_STATUS(sink.write(sink.ctx, MAKI_LIT("12345"), &err), MAKI_OK, &err);
    CHECK_STATUS(sink.write(sink.ctx, MAKI_LIT("6"), &err), MAKI_TOOBIG, &err);
    maki_buf_free(&buf);
    CHECK_EQ(fake_alloc_live(&fe), 0);
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
        maki_buf buf = maki_buf_new(fe.env.alloc, 1 << 20);
        for (size_t n = 0; n < 2000; n++)
            maki_buf_add(&buf, samples[n % sample_count].text);
        bool failed = fake_alloc_failed(&fe);
        CHECK_STATUS(maki_buf_status(&buf, &err), failed ? MAKI_NOMEM : MAKI_OK, &err);
        if (buf.len) CHECK(maki_str_starts(maki_buf_str(&buf), samples[1].text)); /* still valid */
        maki_buf_free(&buf);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        if (!failed) break;
    }
    CHECK(nth > 5);
}

static void test_base64(void)
{
    static const struct row {
        const char *name, *bytes, *text;
    } rows[] = {
        { "nothing", "", "" },
        { "one byte", "f", "Zg==" },
        { "two bytes", "fo", "Zm8=" },
        { "three bytes", "foo", "Zm9v" },
        { "four bytes", "foob", "Zm9vYg==" },
        { "no ASCII: \u65e5\u672c", "\xE6\x97\xA5\xE6\x9C\xAC", "5pel5pys" },
        { "the last digits", "\xFB\xEF\xFF", "++//" },
    };
    fake_env fe;
    fake_env_init(&fe);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tap_row("base64: %s", rows[i].name);
        maki_buf buf = maki_buf_new(fe.env.alloc, 64);
        maki_buf_add_base64(&buf, maki_str_of(rows[i].bytes));
        CHECK_TEXT(maki_buf_str(&buf), maki_str_of(rows[i].text));
        maki_buf_free(&buf);
    }
}

static void test_to_arena(void)
{
    fake_env fe;
    fake_env_init(&fe);
    for (size_t nth = 1;; nth++) {
        maki_err err;
        maki_str text = { 0 };
        tap_row("into an arena, allocation %zu fails", nth);
        fake_alloc_fail_at(&fe, nth);
        maki_arena arena = maki_arena_new(fe.env.alloc, 1 << 20);
        maki_buf buf = maki_buf_new(fe.env.alloc, 1 << 20);
        maki_buf_add(&buf, samples[1].text);
        maki_status st = maki_buf_to_arena(&buf, &arena, &text, &err);
        bool failed = fake_alloc_failed(&fe);
        CHECK_STATUS(st, failed ? MAKI_NOMEM : MAKI_OK, &err);
        CHECK_EQ(fake_alloc_live(&fe), arena.allocated); /* the buffer is gone */
        if (!failed) CHECK_TEXT(text, samples[1].text);
        maki_arena_free(&arena);
        if (!failed) break;
    }
    tap_row("a buffer that overflowed stays a failure");
    maki_err err;
    maki_str text = MAKI_LIT("as before");
    maki_arena arena = maki_arena_new(fe.env.alloc, 1 << 20);
    maki_buf buf = maki_buf_new(fe.env.alloc, 4);
    maki_buf_add(&buf, MAKI_LIT("12345"));
    CHECK_STATUS(maki_buf_to_arena(&buf, &arena, &text, &err), MAKI_TOOBIG, &err);
    CHECK_TEXT(text, MAKI_LIT("as before"));
    maki_arena_free(&arena);
    CHECK_EQ(fake_alloc_live(&fe), 0);
}

int main(void)
{
    test_base64();
    test_to_arena();
    test_limits();
    test_sticks();
    test_capacity();
    test_text();
    test_faults();
    return tap_end();
}
