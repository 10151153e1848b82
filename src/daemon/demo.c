/* demo.c -- start the command of the demo as a child process, and wait for it in a thread. */
#include "daemon/demo.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/files.h"
#include "base/platform.h"
#include "base/thread.h"

enum { VARIABLES_MAX = 4096 };

struct maki_demo {
    const maki_env *env;
    const char *home, *address, *token;
    pthread_mutex_t lock;
    /* guarded by `lock` */
    pid_t pid;   /* 0: none is playing */
    bool joined; /* no thread has to be joined */
    pthread_t thread;
};

maki_status maki_demo_open(const maki_env *env, const char *home, const char *address,
                           const char *token, maki_demo **out, maki_err *err)
{
    maki_demo *demo = maki_new(env->alloc, maki_demo);
    if (!demo) return maki_fail_nomem(err);
    *demo =
        (maki_demo){ .env = env, .home = home, .address = address, .token = token, .joined = true };
    pthread_mutex_init(&demo->lock, NULL);
    *out = demo;
    return MAKI_OK;
}

/* In the directory of this program (a build), or in ../../bin (an installation). */
static bool find_command(const maki_files *files, char *out, size_t capacity)
{
    static const char *const directories[] = { "", "../../bin/" };
    char self[PATH_MAX];
    char *slash = maki_program_path(self, sizeof self) ? strrchr(self, '/') : NULL;
    for (size_t i = 0; slash && i < sizeof directories / sizeof directories[0]; i++) {
        slash[1] = '\0';
        int n = snprintf(out, capacity, "%s%smaki", self, directories[i]);
        if (n > 0 && (size_t)n < capacity && maki_file_is(files, out, S_IFREG)) return true;
    }
    return false;
}

static void *wait_for_end(void *ctx)
{
    maki_demo *demo = ctx;
    pthread_mutex_lock(&demo->lock);
    pid_t pid = demo->pid;
    pthread_mutex_unlock(&demo->lock);
    siginfo_t
        info; /* it stays a zombie until the lock is held, so that its number names no other process */
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    pthread_mutex_lock(&demo->lock);
    (void)waitpid(pid, NULL, 0);
    demo->pid = 0;
    pthread_mutex_unlock(&demo->lock);
    return NULL;
}

/* The variables of this process, with those of the daemon in place of its own.  False: there are too many. */
static bool set_variables(const char *variables[VARIABLES_MAX], const char *home, const char *url)
{
    size_t n = 0;
    for (char **v = environ; *v; v++) {
        if (strncmp(*v, "MAKI_URL=", 9) == 0 || strncmp(*v, "MAKI_HOME=", 10) == 0) continue;
        if (n + 3 >= VARIABLES_MAX) return false;
        variables[n++] = *v;
    }
    variables[n++] = home;
    variables[n++] = url;
    variables[n] = NULL;
    return true;
}

static maki_status start_command(maki_demo *demo, maki_err *err)
{
    char command[PATH_MAX], home[PATH_MAX + 16], url[512];
    const char *variables[VARIABLES_MAX];
    if (!find_command(demo->env->files, command, sizeof command))
        return maki_fail(
            err, MAKI_NOTFOUND,
            "the program maki is not in the directory of the daemon; `maki demo` plays it");
    snprintf(home, sizeof home, "MAKI_HOME=%s", demo->home);
    snprintf(url, sizeof url, "MAKI_URL=%s%s%s", demo->address, demo->token ? "/t/" : "",
             demo->token ? demo->token : "");
    if (!set_variables(variables, home, url))
        return maki_fail(err, MAKI_TOOBIG, "the environment has too many variables");
    static const char *const argv[] = { "maki", "demo", "--once", NULL };
    int error = maki_spawn(command, argv, variables, &demo->pid);
    if (error) {
        demo->pid = 0;
        return maki_fail(err, MAKI_IO, "cannot start %.120s: %s", command, strerror(error));
    }
    return MAKI_OK;
}

maki_status maki_demo_start(maki_demo *demo, maki_err *err)
{
    maki_status st = MAKI_OK;
    pthread_mutex_lock(&demo->lock);
    bool playing = demo->pid != 0;
    if (playing) {
        st = maki_fail(err, MAKI_CONFLICT, "the demo is playing already");
    } else {
        if (!demo->joined) pthread_join(demo->thread, NULL); /* it has ended, or only returns */
        demo->joined = true;
        st = start_command(demo, err);
    }
    if (!playing && st == MAKI_OK) {
        demo->joined = !maki_thread_start(&demo->thread, wait_for_end, demo);
        if (demo->joined) {
            kill(demo->pid, SIGKILL);
            (void)waitpid(demo->pid, NULL, 0);
            demo->pid = 0;
            st = maki_fail(err, MAKI_NOMEM, "cannot start a thread for the demo");
        }
    }
    pthread_mutex_unlock(&demo->lock);
    return st;
}

void maki_demo_close(maki_demo *demo)
{
    if (!demo) return;
    pthread_mutex_lock(&demo->lock);
    if (demo->pid) kill(demo->pid, SIGTERM);
    pthread_mutex_unlock(&demo->lock);
    if (!demo->joined) pthread_join(demo->thread, NULL);
    pthread_mutex_destroy(&demo->lock);
    maki_delete(demo->env->alloc, demo);
}
