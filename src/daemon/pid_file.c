/* pid_file.c -- create, lock, write and remove serve.pid. */
#include "daemon/pid_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "base/err.h"
#include "base/files.h"
#include "base/platform.h"
#include "base/str_util.h"

static void path_of(const char *home, char path[MAKI_PATH_MAX])
{
    snprintf(path, MAKI_PATH_MAX, "%s/" MAKI_PID_FILE, home);
}

static maki_status fail_locked(const maki_files *files, int fd, const char *home, maki_err *err)
{
    char text[160] = "", address[100] = "another address";
    long pid = 0;
    size_t got = 0;
    if (maki_file_read_at(files, fd, 0, text, sizeof text - 1, &got, NULL) == MAKI_OK)
        (void)sscanf(text, "%ld %99s", &pid, address);
    return maki_fail(
        err, MAKI_CONFLICT,
        "a daemon already records into %.60s: %.60s, process %ld; maki stop ends it, --home DIR uses "
        "another directory",
        home, address, pid);
}

maki_status maki_pid_file_open(const maki_env *env, const char *home, int *fd, maki_err *err)
{
    const maki_files *files = env->files;
    char path[MAKI_PATH_MAX];
    snprintf(path, sizeof path, "%s", home);
    *fd = -1;
    if (maki_make_directories(files, path, NULL) != MAKI_OK) return MAKI_OK;
    path_of(home, path);
    for (;;) {
        int file = files->open(files, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file < 0) return MAKI_OK;
        if (files->lock(files, file, LOCK_EX | LOCK_NB) != 0) {
            maki_status st = errno == EWOULDBLOCK ? fail_locked(files, file, home, err) : MAKI_OK;
            files->close(files, file);
            return st;
        }
        if (maki_file_same(files, file, path) == 1) {
            *fd = file;
            return MAKI_OK;
        }
        files->close(files, file); /* a daemon that ended has just removed it */
    }
}

void maki_pid_file_write(const maki_env *env, int fd, const char *address)
{
    char text[200];
    if (fd < 0) return;
    int n = snprintf(text, sizeof text, "%ld\n%s\n%lld\n", (long)maki_process_id(), address,
                     (long long)env->clock->now_ms(env->clock));
    if (env->files->truncate(env->files, fd, 0) == 0)
        (void)maki_file_write_at(env->files, fd, 0, (maki_str){ text, (size_t)n }, NULL);
}

void maki_pid_file_close(const maki_env *env, const char *home, int fd)
{
    char path[MAKI_PATH_MAX];
    if (fd < 0) return;
    path_of(home, path);
    env->files->unlink(env->files, path);
    env->files->close(env->files, fd);
}
