/* main.c -- maki-serve, the daemon as a program; `maki serve` runs it.
 *
 * In:   the command line, the environment, maki.yaml.
 * Out:  the address on standard output (or --ready-fd) when connections are accepted; the log on standard error. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/files.h"
#include "base/platform.h"
#include "daemon/daemon.h"
#include "net/event_memory.h"

/* Raise the limit of descriptors to its maximum, because each connection needs one.  Returns it; 0: unknown. */
static size_t raise_descriptor_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return 0;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    return getrlimit(RLIMIT_NOFILE, &files) == 0 ? (size_t)files.rlim_cur : 0;
}

/* Return memory to the system after a peak: large bodies are allocated with mmap, and libevent's long-lived blocks
 * have pages of their own. */
static void tune_allocator(void)
{
    maki_set_mmap_threshold(32 << 10);
    maki_event_memory_install();
}

static int fail(const maki_err *err)
{
    fprintf(stderr, "maki serve: %s\n", err->msg);
    return maki_status_exit(err->status);
}

/* Connections are accepted: write the address to `fd` (closed then), or with -1 to standard output, with hints for the
 * user.  `program` is argv[0], as in "maki serve". */
static void report_ready(int fd, const char *address, const char *program)
{
    int out = fd >= 0 ? fd : STDOUT_FILENO;
    const char *space = strrchr(program, ' ');
    int len = (int)(space ? space - program : (ptrdiff_t)strlen(program));
    int n = dprintf(out, "maki: listening on %s\n", address);
    if (n > 0 && fd < 0) {
        dprintf(
            out,
            "  %s/ in a browser shows what agents say, as it happens\n"
            "  %.*s demo: a sample agent fills that page, with no key and no model\n"
            "  %.*s connect claude (codex, opencode, pi, qwen, gemini): your agent, through Maki\n",
            address, len, program, len, program);
    }
    if (fd >= 0) close(fd); /* a failed write is ignored */
}

static int serve(const maki_env *env, const maki_daemon_options *options, const char *program)
{
    maki_fd_sink log = { env->files, STDERR_FILENO };
    maki_logger logger = { env->clock, maki_fd_sink_of(&log), options->log_level };
    maki_daemon *daemon = NULL;
    maki_err err;
    tune_allocator();
    if (maki_daemon_open(env, options, &logger, &daemon, &err) != MAKI_OK) return fail(&err);
    report_ready(options->ready_fd, maki_daemon_address(daemon), program);
    maki_daemon_run(daemon);
    maki_daemon_close(daemon);
    return 0;
}

/* Print `prefix`, then `value` in double quotes, escaped for a systemd unit. */
static void print_quoted(const char *prefix, const char *value)
{
    printf("%s\"", prefix);
    for (; *value; value++) {
        if (strchr("\"\\", *value)) putchar('\\');
        if (strchr("%$", *value)) putchar(*value);
        putchar(*value);
    }
    putchar('"');
}

static int print_unit(int argc, char **argv, const char *program)
{
    static const char *const variables[] = { "MAKI_HOME", "MAKI_CONFIG" };
    char assignment[MAKI_PATH_MAX + 32];
    printf("# maki serve --unit ... > ~/.config/systemd/user/maki.service\n"
           "# systemctl --user enable --now maki\n"
           "[Unit]\nDescription=Maki, a context engine for LLM agents\n\n[Service]\n");
    for (size_t i = 0; i < 2; i++) {
        const char *value = getenv(variables[i]);
        if (!value || !*value) continue;
        snprintf(assignment, sizeof assignment, "%s=%s", variables[i], value);
        print_quoted("Environment=", assignment);
        putchar('\n');
    }
    print_quoted("ExecStart=", program);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--unit") != 0) print_quoted(" ", argv[i]);
    }
    printf("\nRestart=on-failure\n\n[Install]\nWantedBy=default.target\n");
    return 0;
}

int main(int argc, char **argv)
{
    char program[MAKI_PATH_MAX];
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
    } else if (options.unit) {
        code = print_unit(argc, argv,
                          maki_program_path(program, sizeof program) ? program : "maki-serve");
    } else {
        options.descriptors = raise_descriptor_limit();
        code = serve(&env, &options, argv[0]);
    }
    maki_daemon_options_free(&options);
    return code;
}
