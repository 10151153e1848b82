/* splice_test.c -- edits applied to texts in memory and in files, against plain concatenation. */
#include "base/splice.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "fake_env.h"
#include "folder.h"
#include "samples.h"
#include "tap.h"

#define S(text)                   \
    {                             \
        "" text, sizeof(text) - 1 \
    }

static int open_file(const folder *f, maki_str text)
{
    const char *path = folder_file(f, "원본 text");
    folder_write(path, text);
    return open(path, O_RDWR | O_CLOEXEC);
}

/* clang-format off */
static const struct edit_row { const char *name; maki_str text; maki_edit edits[3]; size_t count; const char *want; } edit_rows[] = {
    { "no edits",                   S("日本語"), { { 0 } }, 0,                                   "日本語" },
    { "no edits of nothing",        S(""),       { { 0 } }, 0,                                   "" },
    { "insert into nothing",        S(""),       { { 0, 0, S("新") } }, 1,                       "新" },
    { "insert at the beginning",    S("abc"),    { { 0, 0, S("새 ") } }, 1,                      "새 abc" },
    { "insert at the end",          S("abc"),    { { 3, 3, S("🍣") } }, 1,                       "abc🍣" },
    { "two insertions at one place", S("ab"),    { { 1, 1, S("1") }, { 1, 1, S("2") } }, 2,      "a12b" },
    { "remove all",                 S("日本"),   { { 0, 6, S("") } }, 1,                         "" },
    { "replace the middle",         S("日本語"), { { 3, 6, S("x") } }, 1,                        "日x語" },
    { "edits that touch",           S("abcdef"), { { 1, 3, S("X") }, { 3, 4, S("") }, { 4, 5, S("YY") } }, 3, "aXYYf" },
    { "insert before a removal",    S("abc"),    { { 1, 1, S("+") }, { 1, 2, S("") } }, 2,       "a+c" },
};

static const struct bad_row { const char *name; maki_edit edits[2]; size_t count; const char *msg; } bad_rows[] = {
    { "an end past the text",       { { 0, 11, S("x") } }, 1,              "edit 0 (bytes 0 to 11) overlaps another or leaves the text" },
    { "a start past the text",      { { 11, 11, S("x") } }, 1,             "edit 0 (bytes 11 to 11) overlaps another or leaves the text" },
    { "an end before the start",    { { 5, 4, S("x") } }, 1,               "edit 0 (bytes 5 to 4) overlaps another or leaves the text" },
    { "overlapping",                { { 0, 5, S("x") }, { 4, 6, S("y") } }, 2, "edit 1 (bytes 4 to 6) overlaps another or leaves the text" },
    { "out of order",               { { 5, 6, S("x") }, { 0, 1, S("y") } }, 2, "edit 1 (bytes 0 to 1) overlaps another or leaves the text" },
    { "an insertion inside a removal", { { 2, 6, S("") }, { 4, 4, S("y") } }, 2, "edit 1 (bytes 4 to 4) overlaps another or leaves the text" },
    { "the second past the text",   { { 0, 1, S("x") }, { 9, 12, S("") } }, 2, "edit 1 (bytes 9 to 12) overlaps another or leaves the text" },
};
/* clang-format on */

static void test_rows(const folder *f)
{
    fake_env fe;
    maki_err err;
    fake_env_init(&fe);
    maki_buf out = maki_buf_new(fe.env.alloc, 1000);
    maki_sink sink = maki_buf_sink(&out);
    for (size_t i = 0; i < COUNT(edit_rows); i++) {
        const struct edit_row *row = &edit_rows[i];
        tap_row("%s", row->name);
        maki_buf_clear(&out);
        CHECK_STATUS(maki_splice_text(row->text, row->edits, row->count, sink, &err), MAKI_OK,
                     &err);
        CHECK_TEXT(maki_buf_str(&out), maki_str_of(row->want));
        maki_buf_clear(&out);
        int fd = open_file(f, row->text);
        CHECK_STATUS(
            maki_splice_file(&fe.env, fd, 0, row->text.len, row->edits, row->count, sink, &err),
            MAKI_OK, &err);
        CHECK_TEXT(maki_buf_str(&out), maki_str_of(row->want));
        close(fd);
    }
    int fd = open_file(f, MAKI_LIT("0123456789"));
    for (size_t i = 0; i < COUNT(bad_rows); i++) {
        const struct bad_row *row = &bad_rows[i];
        tap_row("refused, and nothing written: %s", row->name);
        maki_buf_clear(&out);
        CHECK_STATUS(maki_splice_text(MAKI_LIT("0123456789"), row->edits, row->count, sink, &err),
                     MAKI_INVALID, &err);
        CHECK_CSTR(err.msg, row->msg);
        CHECK_STATUS(maki_splice_file(&fe.env, fd, 0, 10, row->edits, row->count, sink, &err),
                     MAKI_INVALID, &err);
        CHECK_CSTR(err.msg, row->msg);
        CHECK_STR(maki_buf_str(&out), "");
    }
    tap_row("part of a file: edits count from its beginning and must lie in the part");
    maki_edit inside = { 4, 5, MAKI_LIT("四") }, before = { 2, 4, MAKI_LIT("") };
    maki_buf_clear(&out);
    CHECK_STATUS(maki_splice_file(&fe.env, fd, 3, 8, &inside, 1, sink, &err), MAKI_OK, &err);
    CHECK_STR(maki_buf_str(&out), "3四567");
    CHECK_STATUS(maki_splice_file(&fe.env, fd, 3, 8, &before, 1, sink, &err), MAKI_INVALID, &err);
    close(fd);
    maki_buf_free(&out);
    CHECK_EQ(fake_alloc_live(&fe), 0);
}

/* Random edits of a text of several blocks, in memory and in a file with short reads. */
static void test_random(const folder *f)
{
    enum { BIG = 3 * MAKI_SPLICE_BLOCK, EDITS = 12 };
    char *text = malloc(BIG), *want = malloc(2 * BIG);
    tap_random random = { 8086 };
    for (size_t at = 0; at < BIG;) {
        maki_str piece = samples[1 + tap_below(&random, sample_count - 1)].text;
        for (size_t i = 0; i < piece.len && at < BIG; i++)
            text[at++] = piece.ptr[i];
    }
    int fd = open_file(f, (maki_str){ text, BIG });
    for (int round = 0; round < 60; round++) {
        size_t len = round % 4 ? tap_below(&random, 300) : BIG - tap_below(&random, 300);
        maki_edit edits[EDITS];
        size_t count = 0, at = 0, n = 0;
        tap_row("random edits, round %d, a text of %zu bytes", round, len);
        while (count < EDITS) { /* the reference is made while the edits are drawn */
            size_t start = at + tap_below(&random, len / EDITS + 1);
            size_t end = start + tap_below(&random, len / EDITS + 1);
            if (end > len) break;
            maki_str put = samples[tap_below(&random, sample_count)].text;
            edits[count++] = (maki_edit){ start, end, put };
            memcpy(want + n, text + at, start - at);
            n += start - at;
            if (put.len) memcpy(want + n, put.ptr, put.len);
            n += put.len;
            at = end;
        }
        memcpy(want + n, text + at, len - at);
        n += len - at;

        fake_env fe;
        maki_err err;
        fake_env_init(&fe);
        fake_files_short(&fe, round % 3 ? 0 : 70001);
        maki_buf out = maki_buf_new(fe.env.alloc, 2 * BIG);
        CHECK_STATUS(
            maki_splice_text((maki_str){ text, len }, edits, count, maki_buf_sink(&out), &err),
            MAKI_OK, &err);
        CHECK_TEXT(maki_buf_str(&out), ((maki_str){ want, n }));
        maki_buf_clear(&out);
        CHECK_STATUS(maki_splice_file(&fe.env, fd, 0, len, edits, count, maki_buf_sink(&out), &err),
                     MAKI_OK, &err);
        CHECK_TEXT(maki_buf_str(&out), ((maki_str){ want, n }));
        maki_buf_free(&out);
        CHECK_EQ(fake_alloc_live(&fe), 0);
    }
    close(fd);
    free(text);
    free(want);
}

static void test_faults(const folder *f)
{
    enum { BIG = 2 * MAKI_SPLICE_BLOCK + 100 };
    char *text = malloc(BIG);
    memset(text, 'z', BIG);
    int fd = open_file(f, (maki_str){ text, BIG });
    maki_edit edits[] = { { 10, 20, MAKI_LIT("絵") }, { BIG - 5, BIG - 5, MAKI_LIT("文字") } };
    fake_env fe;
    maki_err err;
    fake_env_init(&fe);

    tap_row("every read fails in turn");
    size_t nth = 1;
    for (;; nth++) {
        maki_buf out = maki_buf_new(fe.env.alloc, 2 * BIG);
        fake_files_fail_at(&fe, nth, EIO);
        maki_status st = maki_splice_file(&fe.env, fd, 0, BIG, edits, 2, maki_buf_sink(&out), &err);
        bool failed = fake_files_failed(&fe);
        CHECK_STATUS(st, failed ? MAKI_IO : MAKI_OK, &err);
        maki_buf_free(&out);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        if (!failed) break;
    }
    CHECK(nth > 4);
    fake_files_fail_at(&fe, 0, 0);

    tap_row("every allocation fails in turn, the sink's too");
    for (nth = 1;; nth++) {
        maki_buf out = maki_buf_new(fe.env.alloc, 2 * BIG);
        fake_alloc_fail_at(&fe, nth);
        maki_status st = maki_splice_file(&fe.env, fd, 0, BIG, edits, 2, maki_buf_sink(&out), &err);
        bool failed = fake_alloc_failed(&fe);
        CHECK_STATUS(st, failed ? MAKI_NOMEM : MAKI_OK, &err);
        maki_buf_free(&out);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        if (!failed) break;
    }
    CHECK(nth > 2);
    fake_alloc_fail_at(&fe, 0);

    tap_row("a file that became shorter is damaged; what was there has been written");
    maki_buf out = maki_buf_new(fe.env.alloc, 2 * BIG);
    CHECK(ftruncate(fd, 1000) == 0);
    maki_status st = maki_splice_file(&fe.env, fd, 0, BIG, edits, 2, maki_buf_sink(&out), &err);
    CHECK_STATUS(st, MAKI_CORRUPT, &err);
    char want[200];
    snprintf(want, sizeof want, "the file ends at byte 1000, %d bytes too early", BIG - 5 - 1000);
    CHECK_CSTR(err.msg, want);
    CHECK_EQ(out.len, 1000 - 10 + 3);

    tap_row("a read that was interrupted is done again");
    maki_buf_clear(&out);
    fake_files_interrupt(&fe, 2);
    st = maki_splice_file(&fe.env, fd, 0, 1000, edits, 1, maki_buf_sink(&out), &err);
    CHECK_STATUS(st, MAKI_OK, &err);
    CHECK_EQ(out.len, 1000 - 10 + 3);
    maki_buf_free(&out);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    close(fd);
    free(text);
}

int main(void)
{
    folder f;
    folder_open(&f);
    test_rows(&f);
    test_random(&f);
    test_faults(&f);
    folder_close(&f);
    return tap_end();
}
