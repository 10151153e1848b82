/* open.c -- open the library with the effective configuration, its log, its providers and a progress bar.
 *
 * Everything is closed by cli_close, also after cli_open failed: maki.yaml is checked before any work begins. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cli.h"

void cli_print_problem(const maki_config_problem *p)
{
    cli_style s = cli_style_of(STDERR_FILENO);
    fprintf(stderr, "%s", s.bold);
    if (p->file) fprintf(stderr, "%s:", p->file);
    if (p->file && p->line) fprintf(stderr, "%zu:%zu:", p->line, p->column);
    fprintf(stderr, "%s%s%s%s%s %s\n", s.off, p->file ? " " : "", s.yellow,
            p->warning ? "warning:" : "error:", s.off, p->message.ptr);
}

/* Prints and counts errors; only `maki config check` prints warnings. */
static void on_problem(void *ctx, const maki_config_problem *p)
{
    size_t *errors = ctx;
    if (p->warning) return;
    ++*errors;
    cli_print_problem(p);
}

static int open_config(maki_config **out, const char *doing)
{
    size_t errors = 0;
    maki_err err = { 0 };
    maki_config_options options = { sizeof options, maki_env_system(), NULL,
                                    environ,        on_problem,        &errors };
    maki_status st = maki_config_open(&options, out, &err);
    if (st == MAKI_OK) return 0;
    return errors ? maki_status_exit(st) : cli_fail(doing, &err);
}

static maki_status write_stderr(void *ctx, maki_str bytes, maki_err *err)
{
    (void)ctx;
    (void)err;
    return fwrite(bytes.ptr, 1, bytes.len, stderr) == bytes.len ? MAKI_OK : MAKI_IO;
}

/* Log lines on standard error only when the configuration asks for them. */
static void open_log(cli_handle *h)
{
    maki_config_value level;
    if (maki_config_find_value(h->config, "log.level", &level) &&
        level.source != MAKI_CONFIG_DEFAULT)
        h->log.write = write_stderr;
    if (h->log.write) maki_set_logger(h->m, h->log, NULL);
}

int cli_open(cli_handle *h, const char *doing)
{
    maki_err err = { 0 };
    *h = (cli_handle){ .m = NULL };
    int code = open_config(&h->config, doing);
    if (code) return code;
    if (maki_open(NULL, &h->m, &err) != MAKI_OK) {
        cli_close(h);
        return cli_fail(doing, &err);
    }
    maki_set_config(h->m, h->config);
    open_log(h);
    cli_use_model(h);
    cli_progress_watch(h->m, &h->progress);
    return 0;
}

void cli_close(cli_handle *h)
{
    maki_close(h->m);
    maki_config_close(h->config);
    *h = (cli_handle){ .m = NULL };
}

static volatile sig_atomic_t interrupted; /* set by the signal handler */

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

static bool was_interrupted(void *ctx)
{
    (void)ctx;
    return interrupted != 0;
}

void cli_cancel_on_interrupt(cli_handle *h)
{
    struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };
    sigaction(SIGINT, &action, NULL);
    maki_set_cancel(h->m, was_interrupted, NULL);
}
