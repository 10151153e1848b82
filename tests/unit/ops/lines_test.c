/* lines_test.c -- operations as lines from a descriptor: torn, blank, huge and hostile lines, and read errors. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <maki/maki.h>

#include "base/buf.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "fake_env.h"
#include "tap.h"

enum { TEXT_MAX = 1 << 26 };

/* A file with this content, at its beginning; the caller closes it. */
static int file_with(maki_str text)
{
    maki_env env = maki_env_system();
    int fd = env.files->temp(env.files);
    while (text.len) {
        ssize_t n = write(fd, text.ptr, text.len);
        if (n <= 0) break;
        text = maki_str_skip(text, (size_t)n);
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static maki_status run_lines(fake_env *fe, maki_str text, maki_buf *answers, maki_err *err)
{
    maki_options options = { sizeof options, fe->env, MAKI_MAX_MEMORY, NULL };
    maki *m = NULL;
    int fd = file_with(text);
    maki_status st = maki_open(&options, &m, err);
    if (st == MAKI_OK) st = maki_op_lines(m, fd, maki_buf_sink(answers), err);
    maki_close(m);
    close(fd);
    return st;
}

static const struct lines_row {
    const char *name;
    const char *text;
    maki_status status;
    const char *answers;
} lines_rows[] = {
    { "nothing", "", MAKI_OK, "" },
    { "blank lines are skipped", "\n \t\r\n\n", MAKI_OK, "" },
    { "a last line without a newline",
      "{\"op\":\"tokens.estimate\",\"input\":{\"text\":\"吾輩は猫である\"}}", MAKI_OK,
      "{\"tokens\":2}\n" },
    { "the order of answers is that of rows",
      "{\"op\":\"tokens.estimate\",\"input\":{\"text\":\"\"}}\n"
      "{\"op\":\"window.guard\",\"input\":{\"tokens\":40000}}\n",
      MAKI_OK, "{\"tokens\":0}\n{\"warn\":false,\"reject\":false}\n" },
    { "a bad row is answered and the next one runs; the first status counts",
      "{\"op\":\n{\"op\":\"tokens.estimate\",\"input\":{\"text\":\"한국어\"}}\n{\"op\":\"nothing\","
      "\"input\":{}}\n",
      MAKI_INVALID,
      "{\"error\":{\"code\":\"INVALID\",\"message\":\"invalid JSON at byte 6: unexpected end of the text\"}}\n"
      "{\"tokens\":1}\n"
      "{\"error\":{\"code\":\"NOTFOUND\",\"message\":\"unknown operation nothing; maki op --list lists them\"}}\n" },
    { "a row without an op", "{\"input\":{}}\n", MAKI_INVALID,
      "{\"error\":{\"code\":\"INVALID\",\"message\":\"a row must be an object {\\\"op\\\": NAME, "
      "\\\"input\\\": {...}}\"}}\n" },
    { "a row without an input", "{\"op\":\"window.guard\"}\n", MAKI_INVALID,
      "{\"error\":{\"code\":\"INVALID\",\"message\":\"the row has no \\\"input\\\"\"}}\n" },
    { "positions count from the start of the row",
      "{\"op\":\"history.effective\",\"input\":{\"messages\":[{\"role\":7}]}}\n", MAKI_INVALID,
      "{\"error\":{\"code\":\"INVALID\",\"message\":\"messages[0].role: must be a string, at byte "
      "55\"}}\n" },
    { "half a character at the end", "{\"op\":\"tokens.estimate\",\"input\":{\"text\":\"\xe7\x8c",
      MAKI_INVALID,
      "{\"error\":{\"code\":\"INVALID\",\"message\":\"invalid JSON at byte 41: the text ends with an "
      "incomplete character\"}}\n" },
};

/* One row whose text is `size` bytes long. */
static void long_row(maki_buf *out, size_t size)
{
    maki_buf_add(out, MAKI_LIT("{\"op\":\"tokens.estimate\",\"input\":{\"text\":\""));
    while (size > 0) {
        maki_str part = maki_str_prefix(MAKI_LIT("ありがとう。"), size < 18 ? size / 3 * 3 : 18);
        if (part.len == 0) part = MAKI_LIT("x");
        maki_buf_add(out, part);
        size -= part.len;
    }
    maki_buf_add(out, MAKI_LIT("\"}}\n"));
}

static void test_faults(void)
{
    maki_env env = maki_env_system();
    fake_env fe;
    maki_buf text = maki_buf_new(env.alloc, TEXT_MAX);
    long_row(&text, 3 << 20);
    long_row(&text, 10);
    tap_row("each file call failing in turn is an error, and no descriptor leaks");
    for (size_t nth = 1;; nth++) {
        maki_buf answers = maki_buf_new(env.alloc, TEXT_MAX);
        maki_err err = { 0 };
        fake_env_init(&fe);
        fake_files_fail_at(&fe, nth, ENOSPC);
        maki_status st = run_lines(&fe, maki_buf_str(&text), &answers, &err);
        bool injected = fake_files_failed(&fe);
        if (!injected) CHECK_STATUS(st, MAKI_OK, &err);
        CHECK_EQ(fake_files_live(&fe), 0);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        maki_buf_free(&answers);
        if (!injected) break;
    }
    tap_row("each allocation failing in turn is an error, and nothing leaks");
    for (size_t nth = 1;; nth++) {
        maki_buf answers = maki_buf_new(env.alloc, TEXT_MAX);
        maki_err err = { 0 };
        fake_env_init(&fe);
        fake_alloc_fail_at(&fe, nth);
        maki_status st = run_lines(&fe, maki_buf_str(&text), &answers, &err);
        bool injected = fake_alloc_failed(&fe);
        CHECK_STATUS(st, injected ? MAKI_NOMEM : MAKI_OK, &err);
        CHECK_EQ(fake_files_live(&fe), 0);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        maki_buf_free(&answers);
        if (!injected) break;
    }
    maki_buf_free(&text);
}

static void test_sizes(void)
{
    static const size_t sizes[] = { 65536 - 42,     1 << 16, (1 << 20) - 46,
                                    (1 << 20) - 45, 1 << 20, 3 << 20 };
    maki_env env = maki_env_system();
    fake_env fe;
    fake_env_init(&fe);
    fake_files_short(&fe, 10007); /* reads and writes in odd pieces */
    fake_files_interrupt(&fe, 3);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        maki_buf text = maki_buf_new(env.alloc, TEXT_MAX),
                 answers = maki_buf_new(env.alloc, TEXT_MAX);
        maki_err err = { 0 };
        char want[64];
        tap_row("a row of %zu bytes", sizes[i]);
        long_row(&text, sizes[i]);
        CHECK_STATUS(run_lines(&fe, maki_buf_str(&text), &answers, &err), MAKI_OK, &err);
        size_t units = sizes[i] / 3 + sizes[i] % 3;
        snprintf(want, sizeof want, "{\"tokens\":%zu}\n", (units + 3) / 4);
        CHECK_TEXT(maki_buf_str(&answers), maki_str_of(want));
        CHECK_EQ(fake_files_live(&fe), 0);
        maki_buf_free(&text);
        maki_buf_free(&answers);
    }
}

/* A sink that is full after some bytes. */
typedef struct small_sink {
    size_t capacity;
} small_sink;

static maki_status small_write(void *ctx, maki_str bytes, maki_err *err)
{
    small_sink *sink = ctx;
    if (bytes.len > sink->capacity) {
        if (err) *err = (maki_err){ .status = MAKI_FULL, .code = "FULL", .msg = "no space left" };
        return MAKI_FULL;
    }
    sink->capacity -= bytes.len;
    return MAKI_OK;
}

static void test_full_sink(void)
{
    maki_str text = MAKI_LIT("{\"op\":\"window.guard\",\"input\":{\"tokens\":1}}\n"
                             "{\"op\":\"window.guard\",\"input\":{\"tokens\":2}}\n");
    tap_row("a sink that fails ends the run with its status");
    for (size_t capacity = 0; capacity < 60; capacity++) {
        small_sink sink = { capacity };
        maki_err err = { 0 };
        maki *m = NULL;
        int fd = file_with(text);
        CHECK_STATUS(maki_open(NULL, &m, &err), MAKI_OK, &err);
        maki_status st = maki_op_lines(m, fd, (maki_sink){ small_write, &sink }, &err);
        CHECK_STATUS(st, capacity < 56 ? MAKI_FULL : MAKI_OK, &err);
        maki_close(m);
        close(fd);
    }
}

int main(void)
{
    maki_env env = maki_env_system();
    fake_env fe;
    fake_env_init(&fe);
    for (size_t i = 0; i < COUNT(lines_rows); i++) {
        const struct lines_row *row = &lines_rows[i];
        maki_buf answers = maki_buf_new(env.alloc, TEXT_MAX);
        maki_err err = { 0 };
        tap_row("%s", row->name);
        CHECK_STATUS(run_lines(&fe, maki_str_of(row->text), &answers, &err), row->status, &err);
        CHECK_TEXT(maki_buf_str(&answers), maki_str_of(row->answers));
        maki_buf_free(&answers);
    }
    test_sizes();
    test_faults();
    test_full_sink();
    return tap_end();
}
