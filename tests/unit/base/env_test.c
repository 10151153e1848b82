/* env_test.c -- the system environment does what env.h says. */
#include <maki/env.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "directory.h"
#include "tap.h"

static void test_alloc(const maki_alloc *alloc)
{
    tap_row("memory: allocate, grow, shrink, free");
    char *p = alloc->resize(alloc, NULL, 0, 7);
    if (!CHECK(p != NULL)) return;
    memcpy(p, "abcdefg", 7);
    p = alloc->resize(alloc, p, 7, 100000);
    CHECK(memcmp(p, "abcdefg", 7) == 0);
    p = alloc->resize(alloc, p, 100000, 3);
    CHECK(memcmp(p, "abc", 3) == 0);
    CHECK(alloc->resize(alloc, p, 3, 0) == NULL);
    CHECK(alloc->resize(alloc, NULL, 0, 0) == NULL);
}

static void test_random(const maki_random *random)
{
    tap_row("random bytes: a long buffer is filled to its end");
    enum { N = 100000 };
    maki_err err;
    unsigned char *bytes = calloc(1, N);
    CHECK_STATUS(random->fill(random, bytes, N, &err), MAKI_OK, &err);
    size_t zeros = 0;
    for (size_t at = N - 1000; at < N; at++)
        zeros += bytes[at] == 0;
    CHECK(zeros < 500); /* about 4 are expected */
    CHECK_STATUS(random->fill(random, bytes, 0, &err), MAKI_OK, &err);
    free(bytes);
}

/* -1 stops at the first. */
static bool count_name(void *ctx, const char *name)
{
    int *names = ctx;
    CHECK(name[0] == 'a' || name[0] == 'b');
    return ++*names != 0;
}

static void test_files(const maki_files *files, const directory *f)
{
    static const char *const names[] = { "plain",  "with space",     "日本語.json",
                                         "한국어", "👩\u200D🚀.jsonl", "عربي" };
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *path = directory_file(f, names[i]);
        char got[16] = "";
        tap_row("files: write, read and remove %s", names[i]);
        int fd = files->open(files, path, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (!CHECK(fd >= 0)) continue;
        CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC); /* asked for or not */
        CHECK_EQ(files->write(files, fd, "0123456789", 10), 10);
        CHECK_EQ(files->sync(files, fd), 0);
        CHECK_EQ(maki_file_size(files, fd), 10);
        CHECK_EQ(files->pread(files, fd, got, 4, 3), 4);
        CHECK(memcmp(got, "3456", 4) == 0);
        CHECK_EQ(files->read(files, fd, got, 4), 0); /* pread moved nothing; we are at the end */
        CHECK_EQ(files->pwrite(files, fd, "xy", 2, 8), 2);
        CHECK_EQ(files->pwrite(files, fd, "89", 2, 8), 2);
        char *map = files->map(files, fd, 10);
        if (CHECK(map != NULL)) {
            CHECK(memcmp(map, "0123456789", 10) == 0);
            files->unmap(files, map, 10);
        }
        CHECK_EQ(files->close(files, fd), 0);
        CHECK_EQ(files->unlink(files, path), 0);
        CHECK_EQ(files->unlink(files, path), -1);
        CHECK_EQ(errno, ENOENT);
    }

    tap_row("files: rename replaces");
    char from[512];
    snprintf(from, sizeof from, "%s", directory_file(f, "古い"));
    directory_write(from, MAKI_LIT("new"));
    directory_write(directory_file(f, "target"), MAKI_LIT("old"));
    CHECK_EQ(files->rename(files, from, directory_file(f, "target")), 0);
    maki_str now = directory_read(directory_file(f, "target"));
    CHECK_STR(now, "new");
    free((void *)(uintptr_t)now.ptr);
    CHECK_EQ(files->unlink(files, directory_file(f, "target")), 0);

    tap_row("files: truncate, and extend with zeros");
    int fd = files->open(files, directory_file(f, "길이"), O_RDWR | O_CREAT, 0600);
    char four[4] = "....";
    CHECK_EQ(files->write(files, fd, "abcdef", 6), 6);
    CHECK_EQ(files->truncate(files, fd, 2), 0);
    CHECK_EQ(files->truncate(files, fd, 4), 0);
    CHECK_EQ(files->pread(files, fd, four, 4, 0), 4);
    CHECK(memcmp(four, "ab\0\0", 4) == 0);

    tap_row("files: a lock belongs to one open file at a time");
    int other = files->open(files, directory_file(f, "길이"), O_RDWR, 0);
    CHECK_EQ(files->lock(files, fd, LOCK_EX | LOCK_NB), 0);
    CHECK_EQ(files->lock(files, other, LOCK_EX | LOCK_NB), -1);
    CHECK_EQ(errno, EWOULDBLOCK);
    CHECK_EQ(files->lock(files, fd, LOCK_UN), 0);
    CHECK_EQ(files->lock(files, other, LOCK_EX | LOCK_NB), 0);

    tap_row("files: is an open file still the one of that name?");
    CHECK_EQ(maki_file_same(files, fd, directory_file(f, "길이")), 1);
    CHECK_EQ(maki_file_same(files, other, directory_file(f, "길이")), 1);
    directory_write(directory_file(f, "別"), MAKI_LIT("x"));
    CHECK_EQ(maki_file_same(files, fd, directory_file(f, "別")), 0);
    CHECK_EQ(files->unlink(files, directory_file(f, "別")), 0);
    CHECK_EQ(files->unlink(files, directory_file(f, "길이")), 0);
    CHECK_EQ(maki_file_same(files, fd, directory_file(f, "길이")), 0);
    CHECK_EQ(maki_file_same(files, -1, f->path), -1);
    files->close(files, other);
    files->close(files, fd);

    tap_row("files: a temporary file has no name, and only its owner may read it");
    struct stat st;
    setenv("TMPDIR", directory_file(f, "nowhere"), 1);
    CHECK_EQ(files->temp(files), -1);
    setenv("TMPDIR", f->path, 1);
    fd = files->temp(files);
    unsetenv("TMPDIR");
    if (CHECK(fd >= 0)) {
        CHECK_EQ(directory_count(f), 0);
        CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        CHECK_EQ(fstat(fd, &st), 0);
        CHECK_EQ(st.st_mode & 0777, 0600);
        CHECK_EQ(files->write(files, fd, "日本", 6), 6);
        CHECK_EQ(maki_file_size(files, fd), 6);
        CHECK_EQ(files->close(files, fd), 0);
    }

    tap_row("files: directories");
    CHECK_EQ(files->mkdir(files, directory_file(f, "ordner"), 0700), 0);
    CHECK_EQ(files->mkdir(files, directory_file(f, "ordner"), 0700), -1);
    CHECK_EQ(errno, EEXIST);
    CHECK(maki_file_is(files, directory_file(f, "ordner"), S_IFDIR));
    CHECK(!maki_file_is(files, directory_file(f, "ordner"), S_IFREG));
    CHECK(maki_file_exists(files, directory_file(f, "ordner")));
    CHECK(!maki_file_exists(files, directory_file(f, "keiner")));
    directory_write(directory_file(f, "ordner/a"), MAKI_LIT("x"));
    directory_write(directory_file(f, "ordner/b"), MAKI_LIT("yz"));
    int seen = 0;
    CHECK_EQ(files->list(files, directory_file(f, "ordner"), count_name, &seen), 0);
    CHECK_EQ(seen, 2);
    seen = -1;
    CHECK_EQ(files->list(files, directory_file(f, "ordner"), count_name, &seen), 0);
    CHECK_EQ(seen, 0); /* stopped by the first */
    CHECK_EQ(files->list(files, directory_file(f, "keiner"), count_name, &seen), -1);
    CHECK_EQ(errno, ENOENT);
    fd = files->open(files, directory_file(f, "ordner"), O_RDONLY | O_DIRECTORY, 0);
    CHECK_EQ(files->stat(files, fd, "b", &st), 0);
    CHECK_EQ(st.st_size, 2);
    other = files->dup(files, fd);
    CHECK_EQ(maki_file_same(files, other, directory_file(f, "ordner")), 1);
    files->close(files, other);
    files->close(files, fd);

    tap_row("files: a path without links, with ~ for the home directory");
    char resolved[PATH_MAX], home[PATH_MAX];
    snprintf(home, sizeof home, "%s", getenv("HOME") ? getenv("HOME") : "");
    setenv("HOME", f->path, 1);
    CHECK_EQ(files->resolve(files, "~/ordner/../ordner/a", resolved), 0);
    setenv("HOME", home, 1);
    CHECK(strcmp(strrchr(resolved, 'o'), "ordner/a") == 0);
    CHECK_EQ(files->resolve(files, directory_file(f, "keiner"), resolved), -1);
    CHECK_EQ(errno, ENOENT);

    tap_row("files: allocate space for a file, ask for free space");
    fd = files->open(files, directory_file(f, "ordner/a"), O_RDWR, 0);
    CHECK_EQ(files->allocate(files, fd, 8192), 0);
    CHECK_EQ(maki_file_size(files, fd), 8192);
    CHECK_EQ(files->allocate(files, -1, 1), -1);
    files->close(files, fd);
    CHECK(files->space(files, f->path) >= 0);
    CHECK_EQ(files->space(files, directory_file(f, "keiner")), -1);

    tap_row("files: failures answer like the system calls");
    char byte = 0;
    CHECK_EQ(files->open(files, directory_file(f, "없음"), O_RDONLY, 0), -1);
    CHECK_EQ(errno, ENOENT);
    CHECK_EQ(files->close(files, -1), -1);
    CHECK_EQ(files->read(files, -1, &byte, 1), -1);
    CHECK_EQ(files->pread(files, -1, &byte, 1, 0), -1);
    CHECK_EQ(files->write(files, -1, &byte, 1), -1);
    CHECK_EQ(files->sync(files, -1), -1);
    CHECK_EQ(files->pwrite(files, -1, &byte, 1, 0), -1);
    CHECK_EQ(files->truncate(files, -1, 0), -1);
    CHECK_EQ(files->lock(files, -1, LOCK_EX), -1);
    CHECK_EQ(maki_file_size(files, -1), -1);
    CHECK_EQ(errno, EBADF);
    CHECK(files->map(files, -1, 1) == NULL);
}

int main(void)
{
    maki_env env = maki_env_system();
    directory f;
    directory_open(&f);
    tap_row("the clock counts milliseconds since 1970");
    CHECK(env.clock->now_ms(env.clock) > 1700000000000); /* this test was written later */
    test_alloc(env.alloc);
    test_random(env.random);
    test_files(env.files, &f);
    directory_close(&f);
    return tap_end();
}
