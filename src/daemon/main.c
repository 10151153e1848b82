/* main.c -- maki-serve: the daemon as a program.  `maki serve` starts it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/files.h"
#include "base/platform.h"
#include "base/str.h"
#include "daemon/daemon.h"
#include "net/event_memory.h"

/* A connection is a descriptor: as many as we may.  How many that is; 0: not known. */
static size_t raise_limits(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return 0;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    return getrlimit(RLIMIT_NOFILE, &files) == 0 ? (size_t)files.rlim_cur : 0;
}

/* What a crowd took goes back to the system when it has gone: bodies are not put into the gaps of the heap, and
 * what libevent keeps for ever does not hold its pages. */
static void settle_memory(void)
{
    maki_set_mmap_threshold(32 << 10);
    maki_event_memory_use();
}

static int fail(const maki_err *err)
{
    fprintf(stderr, "maki serve: %s\n", err->msg);
    return maki_status_exit(err->status);
}

/* Tell whoever started us that connections are taken. */
static void say_ready(int fd, const char *address)
{
    char line[160];
    int n = snprintf(line, sizeof line, "maki: listening on %s\n", address);
    int to = fd >= 0 ? fd : STDOUT_FILENO;
    if (write(to, line, (size_t)n) < 0) return; /* nobody listens: no reason to stop */
    if (fd >= 0) close(fd);
}

static int serve(const maki_env *env, const maki_daemon_options *options)
{
    maki_fd_sink log = { env->files, STDERR_FILENO };
    maki_logger logger = { env->clock, maki_fd_sink_of(&log), options->log_level };
    maki_daemon *daemon = NULL;
    maki_err err;
    settle_memory();
    if (maki_daemon_open(env, options, &logger, &daemon, &err) != MAKI_OK) return fail(&err);
    say_ready(options->ready_fd, maki_daemon_address(daemon));
    maki_daemon_run(daemon);
    maki_daemon_close(daemon);
    return 0;
}

int main(int argc, char **argv)
{
    maki_env env = maki_env_system();
    maki_fd_sink out = { env.files, STDOUT_FILENO };
    maki_daemon_options options;
    maki_err err;
    int code = 0;

    signal(SIGPIPE, SIG_IGN);
    if (maki_daemon_options_read(&env, environ, argc, argv, &options, &err) != MAKI_OK) {
        code = fail(&err);
    } else if (options.help) {
        maki_daemon_options_help(maki_fd_sink_of(&out));
    } else {
        options.descriptors = raise_limits();
        code = serve(&env, &options);
    }
    maki_daemon_options_free(&options);
    return code;
}
