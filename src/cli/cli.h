/* cli.h -- what the commands share.  They use the public headers, like any other program, and base. */
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
    const char *usage; /* its help, up to the options; NULL: it tells it itself, by --help */
    const maki_option *options;
    size_t option_count;
    const char *notes;            /* behind the options; or NULL */
    void (*print_commands)(void); /* between usage and options: those of the table of operations */
} cli_command;
#define CLI_OPTIONS(table) .options = (table), .option_count = sizeof(table) / sizeof(table)[0]

/* Read a command line by the command's options into the struct `out`; words go to the front of argv, at most `most`.
 * 0, or the exit code after saying what is wrong. */
int cli_read(const cli_command *command, int argc, char **argv, void *out, size_t most,
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
extern const cli_command cli_tokens;
extern const cli_command cli_tour;
extern const cli_command cli_verify;

/* Text styles: empty strings unless `out` is a terminal that wants them. */
typedef struct cli_style {
    const char *bold, *dim, *green, *yellow, *cyan, *off;
} cli_style;
cli_style cli_style_of(int fd);

/* Say what went wrong, and return the exit code of the status. */
int cli_fail(const char *doing, const maki_err *err);
/* A mistake in how the command was called: say it, and where the help is.  Returns 2. */
int cli_misuse(const char *command, const char *what, const char *detail);
/* The same of a mistake that the library found. */
int cli_wrong(const char *command, const maki_err *err);

/* A sink to standard output; a closed pipe ends the program quietly, as it should. */
maki_sink cli_stdout(void);

/* Show on a terminal how far a conversation has been counted, when that takes more than a second.
 * `watch` lives as long as the handle. */
typedef struct cli_watch {
    struct timespec began;
    bool shown;
} cli_watch;
void cli_watch_counting(maki *m, cli_watch *watch);

/* A handle with the configuration in force.  Lines of the log go to standard error when log.level is set. */
typedef struct cli_handle {
    maki *m;
    maki_config *config;
    maki_sink log; /* `write` NULL: nobody reads it */
    maki_model model;
    cli_watch watch;
} cli_handle;
/* Says what is wrong (all mistakes of maki.yaml), and returns the exit code then; else 0.  `h` stays where it is until
 * cli_close. */
int cli_open(cli_handle *h, const char *doing);
void cli_close(cli_handle *h);
/* The providers of the configuration are asked where it says so (model.c); cli_open has done it. */
void cli_use_model(cli_handle *h);
/* Ctrl-C takes back the run that is under way; the second time it ends the program. */
void cli_cancel_on_interrupt(cli_handle *h);
/* A mistake of maki.yaml as one line on standard error. */
void cli_print_problem(const maki_config_problem *problem);

bool cli_is(const char *arg, const char *name);

/* A buffer that ends the program when memory runs out, once it is asked for its text: a command has nothing to lose. */
maki_buf cli_buf(void);
maki_str cli_text(const maki_buf *buf);
/* Run an operation; what it answers stands in `room`, and on MAKI_OK *answer is it, checked. */
maki_status cli_ask(maki *m, const char *op, maki_str input, maki_buf *capacity, maki_str *answer,
                    maki_err *err);

#endif
