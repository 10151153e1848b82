/* main.c -- maki-serve, the daemon as a program; `maki serve` runs it.
 *
 * In:   the command line, the environment, maki.yaml.
 * Out:  the address on standard output (or --ready-fd) when connections are accepted; the log on standard error. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/files.h"
#include "base/platform.h"
#include "base/str_util.h"
#include "daemon/daemon.h"
#include "net/event_memory.h"

/* Each connection needs a descriptor: raise the limit to its maximum.  Returns it; 0: unknown. */
static size_t raise_limits(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return 0;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    return getrlimit(RLIMIT_NOFILE, &files) == 0 ? (size_t)files.rlim_cur : 0;
}

/* Memory of a peak goes back to the system: bodies are mapped instead of filling holes of the heap, and libevent's
 * long-lived blocks do not share their pages. */
static void tune_allocator(void)
{
    maki_set_mmap_threshold(32 << 10);
    maki_event_memory_use();
}

static int fail(const maki_err *err)
{
    fprintf(stderr, "maki serve: %s\n", err->msg);
    return maki_status_exit(err->status);
}

/* Report the address to the process that started us: connections are accepted. */
static void report_ready(int fd, const char *address)
{
    char line[160];
    int n = snprintf(line, sizeof line, "maki: listening on %s\n", address);
    int to = fd >= 0 ? fd : STDOUT_FILENO;
    if (write(to, line, (size_t)n) < 0) return; /* nobody reads it: no reason to stop */
    if (fd >= 0) close(fd);
}

static int serve(const maki_env *env, const maki_daemon_options *options)
{
    maki_fd_sink log = { env->files, STDERR_FILENO };
    maki_logger logger = { env->clock, maki_fd_sink_of(&log), options->log_level };
    maki_daemon *daemon = NULL;
    maki_err err;
    tune_allocator();
    if (maki_daemon_open(env, options, &logger, &daemon, &err) != MAKI_OK) return fail(&err);
    report_ready(options->ready_fd, maki_daemon_address(daemon));
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
