/* cmd_group.c -- maki history and maki session: commands that are a column of the table of operations (<maki/op.h>).
 *
 * The row says which words and options there are and how the answer is shown (answer_print.h); nothing here knows a command
 * by its name. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "answer_print.h"
#include "cli.h"

enum { COLUMN = 39, WIDTH = 110 };

/* ---- help ------------------------------------------------------------------------------------------ */

/* "maki history pin PATH SEQ": the words. */
static int print_words(const maki_op_bound_command *shown)
{
    const maki_op_argument *a = shown->command->arguments;
    int n = printf("maki %s %s", shown->group, shown->command->name);
    if (maki_op_command_names(shown))
        n += printf(" %s", cli_is(shown->group, "session") ? "ID" : "PATH");
    for (; a->shape; a++) {
        if (a->shape[0] != '-' && a->shape[0] != '=') n += printf(" %s", a->shape);
    }
    return n;
}

static void print_command(const maki_op_bound_command *shown)
{
    const maki_op_argument *a = shown->command->arguments;
    int at = COLUMN;
    printf("%*s", COLUMN - print_words(shown), "");
    at += printf("%s", shown->command->help);
    for (; a->shape; a++) {
        if (a->shape[0] != '-' || cli_is(a->field, "expect")) continue; /* the notes tell it */
        if (at + (int)strlen(a->shape) + 3 > WIDTH) at = printf("\n%*s", COLUMN - 1, "") - 1;
        at += printf(" [%s]", a->shape);
    }
    printf("\n");
}

static void print_commands(const char *group)
{
    maki_op_bound_command shown;
    for (size_t i = 0; maki_op_command_at(group, i, &shown); i++)
        print_command(&shown);
}

static void print_history(void)
{
    print_commands("history");
}

static void print_session(void)
{
    print_commands("session");
}

static const char history_notes[] =
    "\n"
    "PATH is a messages file (it ends with .jsonl) or a folder with messages.jsonl in it.\n"
    "Nothing is ever deleted: every step is an event that undo takes back.\n"
    "--json prints the answer as JSON; --expect HEAD refuses when somebody else has written since.\n"
    "\n"
    "Example:\n"
    "  echo '{\"role\":\"user\",\"content\":\"こんにちは\"}' | maki history append talk.jsonl\n"
    "  maki history condense talk.jsonl && maki history effective talk.jsonl\n"
    "  maki history rewind talk.jsonl 12\n"
    "  maki history undo talk.jsonl\n";

static const char session_notes[] =
    "\n"
    "ID is a session's id, or the beginning of one that is clear; its key (agent:AGENT:KEY); or a path.\n"
    "What an agent said through `maki serve` is a session of agent \"proxy\".\n"
    "--json prints the answer as JSON.\n"
    "\n"
    "Example:\n"
    "  maki session list --limit 5\n"
    "  maki session show 7f3a\n"
    "  maki session resolve --channel telegram --sender 123456\n"
    "  maki session status agent:default:telegram:123456\n";

/* ---- running --------------------------------------------------------------------------------------- */

static int run_op(cli_handle *h, const answer_row *row, const cli_typed *typed)
{
    maki_buf input = cli_buf(), capacity = cli_buf();
    maki_err err = { 0 };
    maki_str answer;
    int code = 0;
    maki_status st =
        maki_op_command_input(&typed->shown, &typed->typed, maki_buf_sink(&input), &err);
    bool wrong = st != MAKI_OK;
    if (st == MAKI_OK)
        st = cli_ask(h->m, typed->shown.op->name, cli_text(&input), &capacity, &answer, &err);
    if (typed->typed.json && capacity.len) printf("%.*s\n", (int)capacity.len, capacity.ptr);
    if (st != MAKI_OK)
        code = wrong ? cli_wrong(typed->shown.group, &err) : cli_fail(typed->shown.group, &err);
    else if (!typed->typed.json)
        row->print(answer, typed);
    maki_buf_free(&input);
    maki_buf_free(&capacity);
    return code;
}

static int no_command(const char *group, const char *name)
{
    maki_op_bound_command shown;
    fprintf(stderr, "maki %s: %s%s; these are: ", group,
            name ? "there is no subcommand " : "a subcommand is missing", name ? name : "");
    for (size_t i = 0; maki_op_command_at(group, i, &shown); i++)
        fprintf(stderr, "%s%s", i ? ", " : "", shown.command->name);
    fprintf(stderr, "\nSee maki %s --help.\n", group);
    return maki_status_exit(MAKI_INVALID);
}

static int run(int argc, char **argv)
{
    cli_typed typed = { .style = cli_style_of(STDOUT_FILENO) };
    maki_err err = { 0 };
    cli_handle h;
    if (argc < 2) return no_command(argv[0], NULL);
    if (!maki_op_command_find(argv[0], (maki_str){ argv[1], strlen(argv[1]) }, &typed.shown))
        return no_command(argv[0], argv[1]);
    if (maki_op_command_read(&typed.shown, argc - 2, argv + 2, &typed.typed, &err) != MAKI_OK)
        return cli_wrong(argv[0], &err);
    int code = cli_open(&h, argv[0]);
    if (code) return code;
    const answer_row *row = answer_find(typed.shown.command->answer);
    cli_cancel_on_interrupt(&h);
    code = row->run ? row->run(h.m, &typed) : run_op(&h, row, &typed);
    cli_close(&h);
    return code;
}

const cli_command cli_history = { .name = "history",
                                  .help = "a conversation seen, changed and brought back",
                                  .run = run,
                                  .usage = "",
                                  .print_commands = print_history,
                                  .notes = history_notes };
const cli_command cli_session = { .name = "session",
                                  .help = "the conversations there are",
                                  .run = run,
                                  .usage = "",
                                  .print_commands = print_session,
                                  .notes = session_notes };
