/* json_scan_file_test.c -- JSON in files of several blocks: tokens and characters across the edges
 * of blocks, short reads, and every call failing in turn. */
#include "base/json_scan.h"

#include "base/block.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "fake_env.h"
#include "folder.h"
#include "scan_record.h"
#include "tap.h"

enum { EDGES = 3, TEXT_MAX = (EDGES + 1) * MAKI_JSON_FILE_BLOCK };

static int open_file(const char *path, maki_str text)
{
    folder_write(path, text);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* An array of strings and `token`s, in which a token lies across each of the first EDGES edges of
 * blocks, `before` bytes of it before the edge.  Returns its length. */
static size_t build(char *text, const char *token, size_t before)
{
    size_t n = 0, len = strlen(token);
    text[n++] = '[';
    for (size_t edge = 1; edge <= EDGES; edge++) {
        size_t fill_to = edge * MAKI_JSON_FILE_BLOCK - before - 2;
        text[n++] = '"';
        memset(text + n, 'x', fill_to - n);
        n = fill_to;
        memcpy(text + n, "\",", 2);
        memcpy(text + n + 2, token, len);
        n += 2 + len;
        text[n++] = ',';
    }
    memcpy(text + n, "null]", 5);
    return n + 5;
}

static const char *const tokens[] = {
    "\"日本語\"", "\"😀\"", "\"한\"",       "\"\\ud83d\\ude00\"", "\"\\\\\\\"\"",
    "-12.5e+30",  "false", "{\"鍵\":[1]}", "\"e\u0301👩\u200D🚀\""
};

static void test_edges(const folder *f)
{
    static char text[TEXT_MAX];
    static transcript whole, file;
    for (size_t i = 0; i < COUNT(tokens); i++) {
        tap_row("across the edge of a block: %s", tokens[i]);
        for (size_t before = 0; before <= strlen(tokens[i]); before++) {
            fake_env fe;
            maki_err err = { 0 };
            maki_str all = { text, build(text, tokens[i], before) };
            fake_env_init(&fe);
            fake_files_short(&fe, before % 3 == 0 ? 0 : MAKI_JSON_FILE_BLOCK - before);

            maki_json_scan_options options = transcript_options(&whole, 2);
            transcript_end(&whole, maki_json_scan_text(all, &options, &err), &err);
            int fd = open_file(folder_file(f, "edge"), all);
            options = transcript_options(&file, 2);
            transcript_end(&file, maki_json_scan_file(&fe.env, fd, &options, &err), &err);
            close(fd);

            CHECK_CSTR(file.text, whole.text);
            CHECK(strstr(file.text, "\nOK") != NULL);
            CHECK_EQ(fe.peak_bytes,
                     MAKI_JSON_FILE_BLOCK + MAKI_PAGE); /* whatever the size of the file */
            CHECK_EQ(fake_alloc_live(&fe), 0);
        }
    }
}

/* clang-format off */
static const struct bad_row { const char *name; const char *token; long offset; const char *why; } bad_rows[] = {
    { "a wrong literal",              "falze",       3, "only true, false or null fit here" },
    { "a wrong escape",               "\"\\x\"",     2, "no such escape" },
    { "a stray byte",                 "\"\xFF\xFF\"", 1, "invalid UTF-8" },
    { "half a Japanese character",    "\"\xE6\x97\"", 1, "invalid UTF-8" },
    { "a surrogate",                  "\"\xED\xA0\x80\"", 1, "invalid UTF-8" },
    { "a newline in a string",        "\"日\n\"",    4, "a control character must be escaped inside a string" },
};
/* clang-format on */

static void test_mistakes(const folder *f)
{
    static char text[TEXT_MAX];
    for (size_t i = 0; i < COUNT(bad_rows); i++) {
        tap_row("the byte of a mistake at the edge of a block: %s", bad_rows[i].name);
        for (size_t before = 0; before <= strlen(bad_rows[i].token); before++) {
            fake_env fe;
            maki_err err = { 0 };
            char want[200];
            maki_json_scan_options options = { 0 };
            maki_str all = { text, build(text, bad_rows[i].token, before) };
            fake_env_init(&fe);
            int fd = open_file(folder_file(f, "bad"), all);
            CHECK_STATUS(maki_json_scan_file(&fe.env, fd, &options, &err), MAKI_INVALID, &err);
            close(fd);
            snprintf(want, sizeof want, "not JSON at byte %ld: %s",
                     MAKI_JSON_FILE_BLOCK - (long)before + bad_rows[i].offset, bad_rows[i].why);
            CHECK_CSTR(err.msg, want);
            CHECK_EQ(fake_alloc_live(&fe), 0);
        }
    }
}

static void test_faults(const folder *f)
{
    static char text[TEXT_MAX];
    maki_str all = { text, build(text, "\"日本\"", 2) };
    int fd = open_file(folder_file(f, "faults"), all);
    maki_json_scan_options options = { 0 };
    maki_err err;
    fake_env fe;
    fake_env_init(&fe);

    tap_row("every read fails in turn");
    size_t nth = 1;
    for (;; nth++) {
        fake_files_fail_at(&fe, nth, EIO);
        maki_status st = maki_json_scan_file(&fe.env, fd, &options, &err);
        CHECK_STATUS(st, fake_files_failed(&fe) ? MAKI_IO : MAKI_OK, &err);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        if (!fake_files_failed(&fe)) break;
        CHECK(strstr(err.msg, "reading JSON: ") == err.msg);
    }
    CHECK(nth > EDGES);
    fake_files_fail_at(&fe, 0, 0);

    tap_row("no memory for a block");
    fake_alloc_fail_at(&fe, 1);
    CHECK_STATUS(maki_json_scan_file(&fe.env, fd, &options, &err), MAKI_NOMEM, &err);
    fake_alloc_fail_at(&fe, 0);

    tap_row("reads of a few bytes");
    fake_files_short(&fe, 1021);
    CHECK_STATUS(maki_json_scan_file(&fe.env, fd, &options, &err), MAKI_OK, &err);

    tap_row("the position of the descriptor does not matter and is not moved");
    lseek(fd, 12345, SEEK_SET);
    CHECK_STATUS(maki_json_scan_file(&fe.env, fd, &options, &err), MAKI_OK, &err);
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), 12345);

    tap_row("a read that was interrupted is done again");
    fake_files_interrupt(&fe, 2);
    CHECK_STATUS(maki_json_scan_file(&fe.env, fd, &options, &err), MAKI_OK, &err);
    close(fd);

    tap_row("an empty file");
    fake_files_interrupt(&fe, 0);
    fd = open_file(folder_file(f, "空"), MAKI_LIT(""));
    CHECK_STATUS(maki_json_scan_file(&fe.env, fd, &options, &err), MAKI_INVALID, &err);
    CHECK_CSTR(err.msg, "not JSON at byte 0: there is nothing here");
    options.sequence = true;
    CHECK_STATUS(maki_json_scan_file(&fe.env, fd, &options, &err), MAKI_OK, &err);
    close(fd);
    CHECK_EQ(fake_alloc_live(&fe), 0);
}

int main(void)
{
    folder f;
    folder_open(&f);
    test_edges(&f);
    test_mistakes(&f);
    test_faults(&f);
    folder_close(&f);
    return tap_end();
}
