/* cmd_group.c -- maki history and maki session: commands that are rows of the table of operations (<maki/op.h>).
 *
 * A row defines the arguments, the options and the answer format (answer_print.h) of a command; no code here depends on
 * the name of a command. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "answer_print.h"
#include "cli.h"

enum { COLUMN = 39, WIDTH = 110 };

/* ---- help ------------------------------------------------------------------------------------------ */

/* "maki history pin PATH SEQ"; returns its width. */
static int print_synopsis(const maki_op_bound_command *shown)
{
    const maki_op_argument *a = shown->command->arguments;
    int n = printf("maki %s %s", shown->group, shown->command->name);
    if (maki_op_command_takes_conversation(shown))
        n += printf(" %s", cli_streq(shown->group, "session") ? "ID" : "PATH");
    for (; a->shape; a++) {
        if (a->shape[0] != '-' && a->shape[0] != '=') n += printf(" %s", a->shape);
    }
    return n;
}

static void print_command(const maki_op_bound_command *shown)
{
    const maki_op_argument *a = shown->command->arguments;
    int column = COLUMN;
    printf("%*s", COLUMN - print_synopsis(shown), "");
    column += printf("%s", shown->command->help);
    for (; a->shape; a++) {
        if (a->shape[0] != '-' || cli_streq(a->field, "expect")) continue; /* the notes have it */
        if (column + (int)strlen(a->shape) + 3 > WIDTH)
            column = printf("\n%*s", COLUMN - 1, "") - 1;
        column += printf(" [%s]", a->shape);
    }
    printf("\n");
}

static void print_commands(const char *group)
{
    maki_op_bound_command bound;
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
    "PATH is a messages file (NAME.jsonl) or a directory that contains messages.jsonl; SEQ is the number of a\n"
    "message, EVENT that of an event (`maki history log` shows both).  Nothing is ever deleted: every change is an\n"
    "event, which undo reverts, and hides or trims messages only in the view, which is what the model is shown.\n"
    "A run is one automatic change by the policy, of `maki session compact`, a chat or `maki op manage.run`.\n"
    "--json prints the answer as JSON.  --expect HEAD refuses a change (exit code 6)\n"
    "when the conversation has changed since `maki history status` printed that head.\n"
    "\n"
    "Example:\n"
    "  echo '{\"role\":\"user\",\"content\":\"こんにちは\"}' | maki history append talk.jsonl\n"
    "  maki history condense talk.jsonl && maki history effective talk.jsonl\n"
    "  maki history rewind talk.jsonl 12\n"
    "  maki history undo talk.jsonl\n";

static const char session_notes[] =
    "\n"
    "ID is a session's id or an unambiguous prefix of it, its name (chat --session NAME, x-maki-session: NAME), its\n"
    "key (agent:AGENT:NAME), or a path.\n"
    "Conversations that `maki serve` recorded are sessions of the agent \"proxy\".\n"
    "--json prints the answer as JSON.\n"
    "\n"
    "Example:\n"
    "  maki session list --limit 5\n"
    "  maki session show 7f3a\n"
    "  maki session resolve --channel telegram --sender 123456\n"
    "  maki session status telegram:123456\n";

/* ---- running --------------------------------------------------------------------------------------- */

static int run_op(cli_handle *h, const answer_row *row, const cli_parsed *parsed)
{
    maki_buf input = cli_buf(), output = cli_buf();
    maki_err err = { 0 };
    maki_str answer;
    int code = 0;
    maki_status st =
        maki_op_command_input(&parsed->bound, &parsed->args, maki_buf_sink(&input), &err);
    bool misuse = st != MAKI_OK;
    if (st == MAKI_OK)
        st = cli_run_op(h->m, parsed->bound.op->name, cli_text(&input), &output, &answer, &err);
    if (parsed->args.json && output.len) printf("%.*s\n", (int)output.len, output.ptr);
    if (st != MAKI_OK)
        code = misuse ? cli_usage_error_of(parsed->bound.group, &err)
                      : cli_fail(parsed->bound.group, &err);
    else if (!parsed->args.json)
        row->print(answer, parsed);
    maki_buf_free(&input);
    maki_buf_free(&output);
    return code;
}

static int report_unknown(const char *group, const char *name)
{
    maki_op_bound_command bound;
    maki_buf names = cli_buf();
    for (size_t i = 0; maki_op_command_at(group, i, &shown); i++)
        maki_buf_print(&names, "%s%s", i ? "|" : "", shown.command->name);
    maki_buf_add_byte(&names, '\0');
    int code = cli_unknown(group, "subcommand", name, cli_text(&names).ptr);
    maki_buf_free(&names);
    return code;
}

static int run(int argc, char **argv)
{
    cli_parsed parsed = { .style = cli_style_of(STDOUT_FILENO) };
    maki_err err = { 0 };
    cli_handle h;
    const char *name = argc < 2 ? "" : argv[1];
    if (!maki_op_command_find(argv[0], maki_str_of(name), &parsed.bound))
        return report_unknown(argv[0], name);
    if (maki_op_command_read(&parsed.bound, argc - 2, argv + 2, &parsed.args, &err) != MAKI_OK)
        return cli_usage_error_of(argv[0], &err);
    int code = cli_open(&h, argv[0]);
    if (code) return code;
    const answer_row *row = answer_find(parsed.bound.command->answer);
    cli_cancel_on_interrupt(&h);
    code = row->run ? row->run(h.m, &parsed) : run_op(&h, row, &parsed);
    cli_close(&h);
    return code;
}

const cli_command cli_history = {
    .name = "history",
    .help = "show and change a conversation on disk; every change can be undone",
    .run = run,
    .usage = "",
    .print_commands = print_history,
    .notes = history_notes
};
const cli_command cli_session = {
    .name = "session",
    .help = "list and manage sessions: the conversations of chats and agents",
    .run = run,
    .usage = "",
    .print_commands = print_session,
    .notes = session_notes
};
