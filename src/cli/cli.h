/* cli.h -- shared by the commands: their declarations, option parsing, the library handle, errors, output, progress bars.
 *
 * The commands use the public headers, like any other program, and src/base.  Each returns its exit code; main.c flushes
 * standard output and turns a failed write into an exit code of its own. */
#ifndef MAKI_CLI_CLI_H
#define MAKI_CLI_CLI_H

#include <stdbool.h>
#include <time.h>

#include <maki/maki.h>

#include "base/buf.h"
#include "base/command_line.h"

typedef struct cli_command {
    const char *name;
    const char *help;                  /* one line */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit code */
    const char *usage; /* its help, up to the options; NULL: run() answers --help itself */
    const maki_option *options;
    size_t option_count;
    const char *notes;            /* after the options; or NULL */
    void (*print_commands)(void); /* between usage and options: those of the table of operations */
} cli_command;
#define CLI_OPTIONS(table) .options = (table), .option_count = sizeof(table) / sizeof(table)[0]

/* Parse a command line by the command's options into the struct `out`.  Positional arguments move to the front of argv, at
 * most `max` of them.  Returns 0, or the exit code after printing the error. */
int cli_read_options(const cli_command *command, int argc, char **argv, void *out, size_t max,
                     size_t *count);

extern const cli_command cli_chat;
extern const cli_command cli_config;
extern const cli_command cli_connect;
extern const cli_command cli_demo;
extern const cli_command cli_doctor;
extern const cli_command cli_fsck;
extern const cli_command cli_history;
extern const cli_command cli_op;
extern const cli_command cli_serve;
extern const cli_command cli_session;
extern const cli_command cli_status;
extern const cli_command cli_stop_daemon;
extern const cli_command cli_tokens;
extern const cli_command cli_tour;
extern const cli_command cli_verify;

/* Text styles: empty strings unless `fd` is a terminal that supports them, and NO_COLOR is not set. */
typedef struct cli_style {
    const char *bold, *dim, *red, *green, *yellow, *cyan, *off;
} cli_style;
cli_style cli_style_of(int fd);

/* Print "maki DOING: message" to standard error; returns the exit code of the status. */
int cli_fail(const char *doing, const maki_err *err);
/* A usage error: print it, and the command that prints the help.  Returns 2. */
int cli_usage_error(const char *command, const char *what, const char *detail);
/* A usage error: an unknown `what` ("subcommand"), or none when `name` is empty.  `names` ("show|check") are those that
 * exist: print the nearest one, else all.  Returns 2. */
int cli_unknown(const char *command, const char *what, const char *name, const char *names);
/* The same for a usage error that the library found. */
int cli_usage_error_of(const char *command, const maki_err *err);

/* A sink to standard output.  SIGPIPE ends the program: a closed pipe is no error to report. */
maki_sink cli_stdout(void);

/* A progress bar on standard error, after the first second; nothing unless that is a terminal. */
typedef struct cli_progress {
    int64_t next_ms; /* when it may be drawn again (maki_monotonic_ms) */
    bool shown;
} cli_progress;
void cli_progress_start(cli_progress *progress);
/* `label`, the bar (total 0: none, the size is not known) and `detail`. */
void cli_progress_show(cli_progress *progress, const char *label, uint64_t done, uint64_t total,
                       const char *detail);
void cli_progress_clear(cli_progress *progress);
/* The bar of a handle that counts tokens; `progress` lives as long as the handle. */
void cli_progress_watch(maki *m, cli_progress *progress);

/* A library handle with the effective configuration.  Log lines go to standard error when log.level is set. */
typedef struct cli_handle {
    maki *m;
    maki_config *config;
    maki_sink log; /* `write` NULL: no log */
    maki_model model;
    cli_progress progress;
} cli_handle;
/* Returns 0, or the exit code after printing the error (every error of maki.yaml).  `h` must not move until cli_close. */
int cli_open(cli_handle *h, const char *doing);
void cli_close(cli_handle *h);
/* Let operations call the providers of the configuration (model.c); cli_open does it. */
void cli_use_model(cli_handle *h);
/* Ctrl-C cancels the running operation, which is undone; the second Ctrl-C ends the program. */
void cli_cancel_on_interrupt(cli_handle *h);
/* An error or a warning about maki.yaml, as one line on standard error. */
void cli_print_problem(const maki_config_problem *problem);

bool cli_streq(const char *a, const char *b);
/* The end of a plural: "" for 1, else "s". */
const char *cli_plural(uint64_t n);
/* The page of all settings, docs/configuration.md, from their table (config_reference.c). */
void cli_print_config_reference(void);

/* A buffer, and its text: cli_text exits when memory ran out. */
maki_buf cli_buf(void);
maki_str cli_text(const maki_buf *buf);
/* Run an operation; its output goes to `output`, and on MAKI_OK *answer is the output, validated as JSON. */
maki_status cli_run_op(maki *m, const char *op, maki_str input, maki_buf *output, maki_str *answer,
                       maki_err *err);

#endif
