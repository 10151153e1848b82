/* main.c -- maki: find the command in the table and run it; help, version, errors and standard output for all of them. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"
#include "base/str_util.h"
#include "base/suggest.h"
#include "cli.h"

static const cli_command *const commands[] = {
    &cli_serve,  &cli_status,  &cli_stop_daemon, &cli_chat,   &cli_connect,
    &cli_demo,   &cli_session, &cli_history,     &cli_op,     &cli_tokens,
    &cli_verify, &cli_fsck,    &cli_config,      &cli_doctor, &cli_tour,
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

bool cli_streq(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

const char *cli_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

cli_style cli_style_of(int fd)
{
    const char *term = getenv("TERM");
    bool plain = !isatty(fd) || getenv("NO_COLOR") || !term || cli_streq(term, "dumb");
    if (plain) return (cli_style){ "", "", "", "", "", "", "" };
    return (cli_style){ "\033[1m",  "\033[2m",  "\033[31m", "\033[32m",
                        "\033[33m", "\033[36m", "\033[0m" };
}

int cli_fail(const char *doing, const maki_err *err)
{
    fprintf(stderr, "maki%s%s: %s\n", doing[0] ? " " : "", doing, err->msg);
    return maki_status_exit(err->status);
}

int cli_usage_error(const char *command, const char *what, const char *detail)
{
    fprintf(stderr, "maki %s: %s%s\nSee maki %s --help.\n", command, what, detail, command);
    return maki_status_exit(MAKI_INVALID);
}

int cli_unknown(const char *command, const char *what, const char *name, const char *names)
{
    maki_suggest near = maki_suggest_for(maki_str_of(name));
    maki_str known;
    fprintf(stderr, "maki%s%s: %s%s%s%.60s", command[0] ? " " : "", command,
            *name ? "unknown " : "missing: ", what, *name ? " " : "", name);
    for (const char *rest = names; maki_words_next(&rest, &known);)
        maki_suggest_candidate(&near, known);
    if (near.found.len) fprintf(stderr, ": did you mean %.*s?", MAKI_PRINTED(near.found));
    for (const char *rest = names, *separator = "; there are "; !near.found.len; separator = ", ") {
        if (!maki_words_next(&rest, &known)) break;
        fprintf(stderr, "%s%.*s", separator, MAKI_PRINTED(known));
    }
    fprintf(stderr, "\nSee maki %s%s--help.\n", command, command[0] ? " " : "");
    return maki_status_exit(MAKI_INVALID);
}

int cli_usage_error_of(const char *command, const maki_err *err)
{
    fprintf(stderr, "maki %s: %s\n", command, err->msg);
    if (!strstr(err->msg, "--help")) fprintf(stderr, "See maki %s --help.\n", command);
    return maki_status_exit(err->status);
}

int cli_read_options(const cli_command *command, int argc, char **argv, void *out, size_t max,
                     size_t *count)
{
    char name[40];
    maki_err err = { 0 };
    snprintf(name, sizeof name, "maki %s", command->name);
    maki_option_list list = { .command = name,
                              .rows = command->options,
                              .count = command->option_count,
                              .row_size = sizeof *command->options,
                              .argc = argc,
                              .argv = argv,
                              .next = 1 };
    maki_status st = maki_options_read(&list, out, argv, max, count, &err);
    return st == MAKI_OK ? 0 : cli_usage_error_of(command->name, &err);
}

/* ---- operations ------------------------------------------------------------------------------------ */

maki_buf cli_buf(void)
{
    return maki_buf_new(maki_env_system().alloc, SIZE_MAX / 2);
}

maki_str cli_text(const maki_buf *buf)
{
    maki_err err = { 0 };
    if (maki_buf_status(buf, &err) != MAKI_OK) exit(cli_fail("", &err));
    return maki_buf_str(buf);
}

maki_status cli_run_op(maki *m, const char *op, maki_str input, maki_buf *output, maki_str *answer,
                       maki_err *err)
{
    maki_buf_clear(output);
    maki_status st = maki_op(m, (maki_str){ op, strlen(op) }, input, maki_buf_sink(output), err);
    return st == MAKI_OK ? maki_json_check(cli_text(output), answer, err) : st;
}

/* ---- standard output ------------------------------------------------------------------------------- */

maki_sink cli_stdout(void)
{
    static maki_fd_sink out = { .fd = STDOUT_FILENO };
    out.files = maki_env_system().files;
    return maki_fd_sink_of(&out);
}

static int print_help(void)
{
    cli_style s = cli_style_of(STDOUT_FILENO);
    printf("%smaki%s %s -- a context engine for LLM agents\n"
           "Every word is kept, and every step can be undone.\n\n"
           "  maki COMMAND ...\n"
           "  (maki --config FILE COMMAND ... uses FILE in place of maki.yaml)\n\n",
           s.bold, s.off, maki_version());
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        printf("  %s%-8s%s %s\n", s.cyan, commands[i]->name, s.off, commands[i]->help);
    }
    printf("  %s%-8s%s %s\n", s.cyan, "help", s.off, "this page, or `maki help COMMAND`");
    printf("  %s%-8s%s %s\n\n", s.cyan, "version", s.off, "the version");
    printf("Try: maki tour\n");
    return 0;
}

static const cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (cli_streq(name, commands[i]->name)) return commands[i];
    }
    return NULL;
}

static int report_unknown(const char *name)
{
    maki_buf names = cli_buf();
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        maki_buf_print(&names, "%s|", commands[i]->name);
    maki_buf_add(&names, ((maki_str){ "help|version", sizeof "help|version" }));
    int code = cli_unknown("", "command", name, cli_text(&names).ptr);
    maki_buf_free(&names);
    return code;
}

/* Output may still be buffered: a full disk must not look like success. */
static int flush_output(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    maki_err err;
    maki_fail_errno(&err, "cannot write the output");
    return code ? code : cli_fail("", &err);
}

/* Is --help among the arguments, those of a subcommand included?  After -- there are no options. */
static bool has_help_option(int argc, char **argv)
{
    for (int i = 0; i < argc && !cli_streq(argv[i], "--"); i++) {
        if (cli_streq(argv[i], "--help") || cli_streq(argv[i], "-h")) return true;
    }
    return false;
}

static void print_usage(const cli_command *command)
{
    maki_option_list list = { .rows = command->options,
                              .count = command->option_count,
                              .row_size = sizeof *command->options };
    fputs(command->usage, stdout);
    if (command->print_commands) command->print_commands();
    fflush(stdout);
    maki_options_help(&list, cli_stdout());
    if (command->notes) fputs(command->notes, stdout);
}

static int run(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "help";
    if (cli_streq(name, "version") || cli_streq(name, "--version") || cli_streq(name, "-V")) {
        printf("maki %s\n", maki_version());
        return 0;
    }
    bool help = cli_streq(name, "help") || cli_streq(name, "--help") || cli_streq(name, "-h");
    bool about_help = argc == 3 && (cli_streq(argv[2], "help") || cli_streq(argv[2], "version") ||
                                    cli_streq(argv[2], "--help"));
    if (help && (argc < 3 || about_help)) return print_help();
    if (help) name = argv[2];
    const cli_command *command = find_command(name);
    if (!command) return report_unknown(name);
    if (help && !command->usage) {
        char *help_argv[] = { argv[0], "--help", NULL };
        return command->run(2, help_argv);
    }
    if (command->usage && (help || has_help_option(argc - 2, argv + 2))) {
        print_usage(command);
        return 0;
    }
    return command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_DFL);
    if (argc > 2 &&
        cli_streq(argv[1], "--config")) { /* as a variable, so that child processes inherit it */
        if (setenv("MAKI_CONFIG", argv[2], 1) != 0) return maki_status_exit(MAKI_NOMEM);
        argv[2] = argv[0];
        argv += 2;
        argc -= 2;
    }
    return flush_output(run(argc, argv));
}
