/* files_test.c -- a file is replaced completely or not at all, whatever fails. */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str_util.h"
#include "directory.h"
#include "fake_env.h"
#include "samples.h"
#include "tap.h"

static bool holds(const char *path, maki_str want)
{
    maki_str got = directory_read(path);
    bool same = got.ptr && maki_str_equal(got, want);
    free((void *)(uintptr_t)got.ptr);
    return same;
}

/* 80 characters, 240 bytes: a name that the file system takes. */
#define TEN "日本語の長い名前です"
static const char *const names[] = { "plain.json",
                                     "with some spaces",
                                     "日本語.json",
                                     "한국어",
                                     "سجل",
                                     "e\u0301",
                                     "-rf",
                                     "👨\u200D👩\u200D👧.jsonl",
                                     TEN TEN TEN TEN TEN TEN TEN TEN };

static void test_names(const directory *f)
{
    fake_env fe;
    fake_env_init(&fe);
    for (size_t i = 0; i < COUNT(names); i++) {
        maki_err err;
        struct stat st;
        const char *path = directory_file(f, names[i]);
        tap_row("made, then replaced, mode 0600: %s", names[i]);
        CHECK_STATUS(maki_file_replace(&fe.env, path, MAKI_LIT("first"), &err), MAKI_OK, &err);
        CHECK(holds(path, MAKI_LIT("first")));
        chmod(path, 0644);
        CHECK_STATUS(maki_file_replace(&fe.env, path, MAKI_LIT("둘째"), &err), MAKI_OK, &err);
        CHECK(holds(path, MAKI_LIT("둘째")));
        CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
        CHECK_EQ(directory_count(f), 1);
        CHECK_EQ(fake_files_live(&fe), 0);
        unlink(path);
    }
}

static void test_contents(const directory *f)
{
    fake_env fe;
    fake_env_init(&fe);
    fake_files_short(&fe, 5);
    fake_files_interrupt(&fe, 3);
    const char *path = directory_file(f, "content");
    for (size_t i = 0; i < sample_count; i++) {
        maki_err err;
        tap_row("with short and interrupted writes: %s", samples[i].name);
        CHECK_STATUS(maki_file_replace(&fe.env, path, samples[i].text, &err), MAKI_OK, &err);
        CHECK(holds(path, samples[i].text));
    }
    unlink(path);
}

/* With the n-th file call failing for each n, the old or the new content is there and nothing else,
 * and no other file is left.  `old` NULL: there was no file. */
static void test_faults(const directory *f)
{
    static const struct {
        const char *name, *old;
        int code;
        maki_status status;
    } rows[] = {
        { "an input/output error", "昔の内容", EIO, MAKI_IO },
        { "a full disk", "昔の内容", ENOSPC, MAKI_FULL },
        { "a forbidden directory", "昔の内容", EACCES, MAKI_DENIED },
        { "a full disk and no file before", NULL, ENOSPC, MAKI_FULL },
    };
    fake_env fe;
    fake_env_init(&fe);
    fake_files_short(&fe, 4); /* so that several writes can fail */
    char path[512];
    snprintf(path, sizeof path, "%s", directory_file(f, "état 🍣.json"));
    maki_str fresh = MAKI_LIT("新しい内容");
    for (size_t i = 0; i < COUNT(rows); i++) {
        tap_row("every file call fails in turn: %s", rows[i].name);
        bool saw_old = false;
        size_t ignored = 0; /* failures that did not matter */
        size_t nth = 1;
        for (;; nth++) {
            maki_err err = { 0 };
            unlink(path);
            if (rows[i].old) directory_write(path, maki_str_of(rows[i].old));
            fake_files_fail_at(&fe, nth, rows[i].code);
            maki_status st = maki_file_replace(&fe.env, path, fresh, &err);
            bool failed = fake_files_failed(&fe);
            fake_files_fail_at(&fe, 0, 0);

            bool is_new = holds(path, fresh);
            bool is_old =
                rows[i].old ? holds(path, maki_str_of(rows[i].old)) : access(path, F_OK) != 0;
            CHECK(is_new || is_old);
            CHECK(is_new || st != MAKI_OK);
            CHECK_EQ(directory_count(f), is_old && !rows[i].old ? 0 : 1);
            CHECK_EQ(fake_files_live(&fe), 0);
            saw_old |= is_old;
            ignored += failed && st == MAKI_OK;
            if (!failed) CHECK_STATUS(st, MAKI_OK, &err);
            if (st != MAKI_OK) CHECK_STATUS(st, rows[i].status, &err);
            if (!failed) break;
        }
        CHECK(saw_old);
        CHECK(ignored <= 1); /* only closing the directory, at the very end */
        CHECK(nth > 8);      /* open, writes, sync, close, rename, open, sync, close */
    }
    unlink(path);
}

static void test_refused(const directory *f)
{
    fake_env fe;
    maki_err err;
    char path[512];
    fake_env_init(&fe);
    snprintf(path, sizeof path, "%s", directory_file(f, "file"));

    tap_row("no random bytes: nothing is touched");
    fake_random_fail_at(&fe, 1);
    CHECK_STATUS(maki_file_replace(&fe.env, path, MAKI_LIT("x"), &err), MAKI_IO, &err);
    CHECK_EQ(directory_count(f), 0);
    fake_random_fail_at(&fe, 0);

    tap_row("no such directory");
    const char *deep = directory_file(f, "nowhere/file");
    CHECK_STATUS(maki_file_replace(&fe.env, deep, MAKI_LIT("x"), &err), MAKI_NOTFOUND, &err);

    tap_row("a path that is too long");
    char *far = malloc(6000);
    memset(far, 'x', 5999);
    far[0] = '/';
    far[5999] = '\0';
    CHECK_STATUS(maki_file_replace(&fe.env, far, MAKI_LIT("x"), &err), MAKI_TOOBIG, &err);
    free(far);

    tap_row("a temporary file of another process is not removed");
    fake_files_fail_at(&fe, 1, EEXIST);
    CHECK_STATUS(maki_file_replace(&fe.env, path, MAKI_LIT("x"), &err), MAKI_IO, &err);
    CHECK_EQ(fe.files.calls, 1); /* open failed, and nothing was called after it */
    fake_files_fail_at(&fe, 0, 0);

    tap_row("a file system that cannot sync directories is accepted, one that fails to is not");
    fake_files_fail_at(&fe, 0, 0);
    CHECK_STATUS(maki_file_replace(&fe.env, path, MAKI_LIT("x"), &err), MAKI_OK, &err);
    size_t sync_directory = fe.files.calls - 1; /* the last but one; then it is closed */
    fake_files_fail_at(&fe, sync_directory, EINVAL);
    CHECK_STATUS(maki_file_replace(&fe.env, path, MAKI_LIT("x"), &err), MAKI_OK, &err);
    fake_files_fail_at(&fe, sync_directory, EIO);
    CHECK_STATUS(maki_file_replace(&fe.env, path, MAKI_LIT("x"), &err), MAKI_IO, &err);
    fake_files_fail_at(&fe, 0, 0);
    unlink(path);

    tap_row("a directory cannot be replaced by a file");
    mkdir(path, 0700);
    CHECK(maki_file_replace(&fe.env, path, MAKI_LIT("x"), &err) != MAKI_OK);
    CHECK_EQ(directory_count(f), 1);
    rmdir(path);
    CHECK_EQ(fake_files_live(&fe), 0);
}

static void test_relative(const directory *f)
{
    fake_env fe;
    maki_err err;
    fake_env_init(&fe);
    tap_row("a path without a directory");
    if (!CHECK(chdir(f->path) == 0)) return;
    CHECK_STATUS(maki_file_replace(&fe.env, "ここ", MAKI_LIT("x"), &err), MAKI_OK, &err);
    CHECK(holds(directory_file(f, "ここ"), MAKI_LIT("x")));
    unlink("ここ");
    CHECK(chdir("/") == 0);
}

static void test_write(const directory *f)
{
    fake_env fe;
    maki_err err;
    fake_env_init(&fe);
    const char *path = directory_file(f, "sink");
    int fd = fe.env.files->open(fe.env.files, path, O_RDWR | O_CREAT, 0600);
    maki_fd_sink target = { fe.env.files, fd };
    maki_sink sink = maki_fd_sink_of(&target);

    tap_row("a sink to a descriptor takes all, in as many writes as it needs");
    fake_files_short(&fe, 1);
    CHECK_STATUS(sink.write(sink.ctx, MAKI_LIT("こんにちは"), &err), MAKI_OK, &err);
    fake_files_interrupt(&fe, 2);
    CHECK_STATUS(sink.write(sink.ctx, MAKI_LIT(" 안녕"), &err), MAKI_OK, &err);
    CHECK(holds(path, MAKI_LIT("こんにちは 안녕")));

    tap_row("a sink to a descriptor reports why it failed");
    fake_files_interrupt(&fe, 0);
    fake_files_fail_at(&fe, 2, ENOSPC);
    CHECK_STATUS(sink.write(sink.ctx, MAKI_LIT("xyz"), &err), MAKI_FULL, &err);
    CHECK(strstr(err.msg, "cannot write: ") == err.msg);
    fe.env.files->close(fe.env.files, fd);
    unlink(path);
}

static void test_write_at(const directory *f)
{
    fake_env fe;
    maki_err err;
    char got[32] = "";
    size_t n = 0;
    fake_env_init(&fe);
    const maki_files *files = fe.env.files;
    int fd = files->open(files, directory_file(f, "at"), O_RDWR | O_CREAT, 0600);

    tap_row("written and read at an offset, with short and interrupted calls");
    fake_files_short(&fe, 2);
    fake_files_interrupt(&fe, 3);
    CHECK_STATUS(maki_file_write_at(files, fd, 3, MAKI_LIT("日本語"), &err), MAKI_OK, &err);
    CHECK_STATUS(maki_file_write_at(files, fd, 0, MAKI_LIT("abc"), &err), MAKI_OK, &err);
    CHECK_STATUS(maki_file_write_at(files, fd, 6, MAKI_LIT("木"), &err), MAKI_OK, &err);
    CHECK_STATUS(maki_file_read_at(files, fd, 0, got, 12, &n, &err), MAKI_OK, &err);
    CHECK_STR(((maki_str){ got, n }), "abc日木語");
    CHECK_STATUS(maki_file_read_at(files, fd, 6, got, 3, &n, &err), MAKI_OK, &err);
    CHECK_STR(((maki_str){ got, n }), "木");

    tap_row("fewer bytes only at the end of the file");
    CHECK_STATUS(maki_file_read_at(files, fd, 9, got, sizeof got, &n, &err), MAKI_OK, &err);
    CHECK_STR(((maki_str){ got, n }), "語");
    CHECK_STATUS(maki_file_read_at(files, fd, 12, got, sizeof got, &n, &err), MAKI_OK, &err);
    CHECK_EQ(n, 0);
    CHECK_STATUS(maki_file_read_at(files, fd, 1000, got, sizeof got, &n, &err), MAKI_OK, &err);
    CHECK_EQ(n, 0);

    tap_row("every call fails in turn");
    fake_files_interrupt(&fe, 0);
    size_t nth = 1;
    for (;; nth++) {
        fake_files_fail_at(&fe, nth, EIO);
        maki_status st = maki_file_write_at(files, fd, 0, MAKI_LIT("0123456789"), &err);
        if (st == MAKI_OK) st = maki_file_read_at(files, fd, 0, got, 10, &n, &err);
        CHECK_STATUS(st, fake_files_failed(&fe) ? MAKI_IO : MAKI_OK, &err);
        if (!fake_files_failed(&fe)) break;
    }
    CHECK_EQ(nth, 11); /* five writes and five reads of two bytes */
    fake_files_fail_at(&fe, 0, 0);
    files->close(files, fd);
    unlink(directory_file(f, "at"));
}

int main(void)
{
    directory f;
    directory_open(&f);
    test_names(&f);
    test_contents(&f);
    test_faults(&f);
    test_refused(&f);
    test_relative(&f);
    test_write(&f);
    test_write_at(&f);
    directory_close(&f);
    return tap_end();
}
