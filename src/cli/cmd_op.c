/* cmd_op.c -- maki op: any operation, JSON in, JSON out.
 *
 * The answer, an error too, goes to standard output; the error is also printed to standard error, and sets the exit code. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str_util.h"
#include "cli.h"

static const char usage[] =
    "maki op NAME [JSON]        run an operation; its input is JSON, or standard input\n"
    "maki op NAME --help        its input and output fields, and an example\n"
    "maki op --lines            standard input: a line {\"op\": NAME, \"input\": {...}} for each call;\n"
    "                           output: a line with the answer of each\n"
    "maki op --list [--json]    all operations\n"
    "\n"
    "The answer is one JSON object on standard output; an error is one too: {\"error\": {\"code\", \"message\"}}.\n"
    "Types of fields: count is an integer of at least 0, messages an array of JSON messages, path a file,\n"
    "conversation a messages file or a session, revision a point in its history, {\"seq\", \"ev\"}.\n"
    "Exit codes: 0 ok, 2 invalid input, 3 refused, 4 too big, 5 not found, 6 conflict; with --lines, that of\n"
    "the first call that failed.\n"
    "\n"
    "Example:\n"
    "  maki op prompt.truncate_file '{\"content\": \"あいうえおかきくけこさ\", \"maxChars\": 10}'\n"
    "  echo '{\"op\": \"tokens.estimate\", \"input\": {\"text\": \"hello\"}}' | maki op --lines\n";

static void print_fields(const maki_op_field *fields, const cli_style *s)
{
    for (; fields->name; fields++) {
        printf("  %s%-32s%s %s%-9s%s %s%s\n", s->cyan, fields->name, s->off, s->dim, fields->type,
               s->off, fields->help, fields->required ? "" : " (optional)");
    }
}

/* What a form of an operation reads or writes, as a phrase. */
static const char *effect_of(const maki_op_form *form)
{
    if (strcmp(form->class_name, "pure") == 0) return "computes its answer from the input alone";
    if (strcmp(form->class_name, "system") == 0) return "reads the state directory";
    return strcmp(form->effect, "read") == 0 ? "reads the conversation"
                                             : "appends to the conversation";
}

static void print_form(const maki_op_info *op, const maki_op_form *form, const cli_style *s)
{
    if (form->chosen_by) printf("\n%sWith %s%s", s->bold, form->chosen_by, s->off);
    printf("%s%s\n\nInput:\n", form->chosen_by ? ": " : "", effect_of(form));
    print_fields(form->input, s);
    printf("\nAnswer:\n");
    print_fields(form->output, s);
    printf("\nExample:\n  maki op %s <<'EOF'\n%s\nEOF\n%s%s%s\n", op->name, form->example, s->dim,
           form->answer, s->off);
}

static int print_op(const maki_op_info *op)
{
    cli_style s = cli_style_of(STDOUT_FILENO);
    printf("%s%s%s -- %s\n", s.bold, op->name, s.off, op->help);
    for (size_t i = 0; i < op->form_count; i++)
        print_form(op, &op->forms[i], &s);
    return 0;
}

static int print_list(bool json)
{
    cli_style s = cli_style_of(STDOUT_FILENO);
    maki_sink out = cli_stdout();
    maki_err err = { 0 };
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < maki_op_count(); i++) {
        const maki_op_info *op = maki_op_at(i);
        if (!json) {
            printf("%s%-24s%s %s\n", s.cyan, op->name, s.off, op->help);
            continue;
        }
        st = maki_op_describe(op, out, &err);
        if (st == MAKI_OK) st = out.write(out.ctx, MAKI_LIT("\n"), &err);
    }
    return st == MAKI_OK ? 0 : cli_fail("op --list", &err);
}

/* `json` NULL: the input is standard input. */
static int run_op(const char *name, const char *json)
{
    cli_handle h;
    maki_err err = { 0 };
    maki_sink out = cli_stdout();
    maki_str op = { name, strlen(name) };
    int code = cli_open(&h, "op");
    if (code) return code;
    if (cli_streq(name, "manage.run")) cli_cancel_on_interrupt(&h);
    if (!json && isatty(STDIN_FILENO)) {
        fprintf(stderr, "Reading JSON from the terminal; Ctrl-D ends it.\n");
    }
    maki_status st = json ? maki_op(h.m, op, (maki_str){ json, strlen(json) }, out, &err)
                          : maki_op_read(h.m, op, STDIN_FILENO, out, &err);
    if (out.write(out.ctx, (maki_str){ "\n", 1 }, NULL) != MAKI_OK && st == MAKI_OK) st = MAKI_IO;
    cli_close(&h);
    if (st == MAKI_OK) return 0;
    char doing[80];
    snprintf(doing, sizeof doing, "op %.60s", name);
    return cli_fail(doing, &err);
}

static int run_lines(void)
{
    cli_handle h;
    maki_err err = { 0 };
    int code = cli_open(&h, "op --lines");
    if (code) return code;
    maki_status st = maki_op_lines(h.m, STDIN_FILENO, cli_stdout(), &err);
    cli_close(&h);
    return maki_status_exit(st);
}

static int print_help_of(const char *name)
{
    const maki_op_info *op = maki_op_find(maki_str_of(name));
    if (op) return print_op(op);
    const char *near = maki_op_suggest(maki_str_of(name));
    fprintf(stderr, "maki op: unknown operation %.60s%s%s; maki op --list lists them\n", name,
            near ? "; did you mean " : "", near ? near : "");
    return maki_status_exit(MAKI_NOTFOUND);
}

typedef struct request {
    bool list, lines, json, help;
} request;

static const maki_option flags[] = {
    { "--list", offsetof(request, list), NULL }, { "--lines", offsetof(request, lines), NULL },
    { "--json", offsetof(request, json), NULL }, { "--help", offsetof(request, help), NULL },
    { "-h", offsetof(request, help), NULL },
};

static int run(int argc, char **argv)
{
    request r = { 0 };
    size_t positional;
    if (argc < 2) {
        fputs(usage, stderr);
        return maki_status_exit(MAKI_INVALID);
    }
    int code = cli_read_options(&cli_op, argc, argv, &r, 2, &positional);
    if (code) return code;
    if (r.help && positional == 0) return fputs(usage, stdout) < 0;
    if (positional && (r.list || r.lines))
        return cli_usage_error("op", "too many arguments: ", argv[0]);
    if (r.list) return print_list(r.json);
    if (r.lines) return run_lines();
    if (positional == 0) return cli_usage_error("op", "missing: ", "NAME");
    return r.help ? print_help_of(argv[0]) : run_op(argv[0], positional == 2 ? argv[1] : NULL);
}

const cli_command cli_op = {
    .name = "op", .help = "run any operation, JSON in, JSON out", .run = run, CLI_OPTIONS(flags)
};
