/* cmd_history.c -- maki history: a conversation seen, changed and brought back.
 *
 * Most subcommands are thin dressings of an operation: a row says which one, and which field each
 * argument is.  Those that go through a whole conversation stream it. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "json_input.h"
#include "show.h"

static const char usage[] =
    "maki history log PATH             every message, hidden ones marked, and what was done\n"
    "maki history effective PATH       what the model is shown   [--seq N] [--ev N]: as it was then\n"
    "maki history status PATH          how large it and its view are    [--model NAME]\n"
    "maki history append PATH          messages from standard input, one JSON object a line\n"
    "maki history condense PATH        the middle behind a summary      [--keep N]\n"
    "maki history truncate PATH        half of it behind a marker       [--fraction F]\n"
    "maki history trim PATH SEQ        one long block to head and tail  [--block N] [--head N] [--tail N]\n"
    "maki history pin|unpin PATH SEQ   a message that nothing may hide\n"
    "maki history rewind PATH SEQ      back to message SEQ; or --time MS, or --ev EVENT\n"
    "maki history undo PATH [EVENT]    make the newest step void, or that one; of an undo: redo\n"
    "maki history undo-run PATH [RUN]  all steps of the newest run that made room, or of that one\n"
    "maki history edit PATH SEQ TEXT   back to SEQ and on with TEXT in its place, of the same role; or\n"
    "                                  with a message given as JSON\n"
    "maki history delete PATH SEQ      back to before SEQ\n"
    "maki history expand PATH SEQ      undo what hides or shortens SEQ\n"
    "maki history fork PATH NEW [SEQ]  a new conversation that shares the past up to SEQ\n"
    "maki history diff PATH A [B]      what two moments show differently; a moment is SEQ or SEQ:EVENT\n"
    "maki history export PATH          [--format roo|roo-ui|lines|openai|anthropic]\n"
    "maki history import SOURCE PATH   a new conversation from Roo Code, OpenAI or Anthropic arrays,\n"
    "                                  Claude Code, Codex, opencode, Pi or Clawdbot   [--format NAME]\n"
    "\n"
    "PATH is a messages file (it ends with .jsonl) or a folder with messages.jsonl in it.\n"
    "Nothing is ever deleted: every step is an event that undo takes back.\n"
    "--json prints the answer as JSON; --expect HEAD refuses when somebody else has written since.\n"
    "\n"
    "Example:\n"
    "  echo '{\"role\":\"user\",\"content\":\"こんにちは\"}' | maki history append talk.jsonl\n"
    "  maki history condense talk.jsonl && maki history effective talk.jsonl\n"
    "  maki history undo talk.jsonl\n";

/* ---- dressings of operations ----------------------------------------------------------------------- */

/* An argument or an option: the field it becomes. */
typedef struct arg_row {
    const char *field;
    enum { TEXT, NUMBER, MESSAGE, MOMENT } type;
    bool optional;
} arg_row;

typedef struct option_row {
    const char *name, *field;
    bool text;
} option_row;

typedef struct sub_row {
    const char *name, *op;
    arg_row args[4];
    option_row options[4];
    const char *done; /* what to say; NULL: the answer's fields */
} sub_row;

static const sub_row subs[] = {
    { "status",
      "history.status",
      { { "conversation", TEXT, false } },
      { { "--model", "model", true } },
      NULL },
    { "condense",
      "history.condense",
      { { "conversation", TEXT, false } },
      { { "--keep", "keepCount", false } },
      "Condensed" },
    { "truncate",
      "history.truncate",
      { { "conversation", TEXT, false } },
      { { "--fraction", "fraction", false } },
      "Truncated" },
    { "trim",
      "history.trim",
      { { "conversation", TEXT, false }, { "seq", NUMBER, false } },
      { { "--block", "block", false }, { "--head", "head", false }, { "--tail", "tail", false } },
      "Trimmed" },
    { "pin",
      "history.pin",
      { { "conversation", TEXT, false }, { "seq", NUMBER, false } },
      { { 0 } },
      "Pinned" },
    { "unpin",
      "history.unpin",
      { { "conversation", TEXT, false }, { "seq", NUMBER, false } },
      { { 0 } },
      "Unpinned" },
    { "rewind",
      "history.rewind",
      { { "conversation", TEXT, false }, { "seq", NUMBER, true } },
      { { "--time", "value", false }, { "--ev", "ev", false } },
      "Rewound" },
    { "undo",
      "history.undo",
      { { "conversation", TEXT, false }, { "ev", NUMBER, true } },
      { { 0 } },
      "Undone" },
    { "undo-run",
      "manage.undo",
      { { "conversation", TEXT, false }, { "run", NUMBER, true } },
      { { 0 } },
      NULL },
    { "edit",
      "history.edit",
      { { "conversation", TEXT, false }, { "seq", NUMBER, false }, { "message", MESSAGE, false } },
      { { 0 } },
      "Edited" },
    { "delete",
      "history.delete",
      { { "conversation", TEXT, false }, { "seq", NUMBER, false } },
      { { 0 } },
      "Deleted" },
    { "expand",
      "history.expand",
      { { "conversation", TEXT, false }, { "seq", NUMBER, false } },
      { { 0 } },
      "Expanded" },
    { "fork",
      "history.fork",
      { { "conversation", TEXT, false }, { "path", TEXT, false }, { "seq", NUMBER, true } },
      { { 0 } },
      "Forked" },
    { "diff",
      "history.diff",
      { { "conversation", TEXT, false }, { "a", MOMENT, false }, { "b", MOMENT, true } },
      { { 0 } },
      NULL },
};

static bool is_number(const char *text)
{
    if (!isdigit((unsigned char)*text)) return false;
    while (isdigit((unsigned char)*text) || *text == '.')
        text++;
    return *text == '\0';
}

static bool add_argument(json_input *in, const arg_row *arg, const char *value)
{
    char moment[80];
    uint64_t seq = 0, ev = 0;
    switch (arg->type) {
    case TEXT: json_input_text(in, arg->field, value); return true;
    case NUMBER:
        if (!is_number(value)) return false;
        json_input_raw(in, arg->field, value);
        return true;
    case MESSAGE:
        if (value[0] == '{')
            json_input_raw(in, arg->field, value);
        else
            json_input_text(in, "text", value);
        return true;
    default: {
        int n = sscanf(value, "%" SCNu64 ":%" SCNu64, &seq, &ev);
        if (n < 1) return false;
        if (n == 1)
            snprintf(moment, sizeof moment, "{\"seq\":%" PRIu64 "}", seq);
        else
            snprintf(moment, sizeof moment, "{\"seq\":%" PRIu64 ",\"ev\":%" PRIu64 "}", seq, ev);
        json_input_raw(in, arg->field, moment);
        return true;
    }
    }
}

static const option_row *find_option(const sub_row *sub, const char *name)
{
    static const option_row expect = { "--expect", "expect", true };
    if (cli_is(name, expect.name)) return &expect;
    for (size_t i = 0; i < 4 && sub->options[i].name; i++) {
        if (cli_is(name, sub->options[i].name)) return &sub->options[i];
    }
    return NULL;
}

/* Read the arguments of a dressed operation into `in`; 0, or an exit code. */
static int read_arguments(const sub_row *sub, int argc, char **argv, json_input *in, bool *json)
{
    size_t n = 0;
    for (int i = 0; i < argc; i++) {
        if (cli_is(argv[i], "--json")) {
            *json = true;
        } else if (strncmp(argv[i], "--", 2) == 0) {
            const option_row *option = find_option(sub, argv[i]);
            if (!option) return cli_misuse("history", "there is no option ", argv[i]);
            if (++i == argc) return cli_misuse("history", "a value is missing after ", argv[i - 1]);
            if (option->text)
                json_input_text(in, option->field, argv[i]);
            else if (!is_number(argv[i]))
                return cli_misuse("history", "not a number: ", argv[i]);
            else
                json_input_raw(in, option->field, argv[i]);
        } else {
            if (n == 4 || !sub->args[n].field) {
                return cli_misuse("history", "too many arguments: ", argv[i]);
            }
            if (!add_argument(in, &sub->args[n], argv[i])) {
                return cli_misuse("history", "not a number: ", argv[i]);
            }
            n++;
        }
    }
    if (n < 4 && sub->args[n].field && !sub->args[n].optional) {
        return cli_misuse("history", "missing: ", sub->args[n].field);
    }
    return 0;
}

static double number_in(maki_str answer, const char *name)
{
    maki_str value;
    if (!maki_json_get(answer, (maki_str){ name, strlen(name) }, &value)) return 0;
    return maki_json_double(value);
}

static void print_fields(maki_str answer)
{
    maki_json_iter iter = maki_json_items(answer);
    maki_json_item item;
    while (maki_json_next(&iter, &item)) {
        printf("%-14.*s %.*s\n", (int)item.key.len, item.key.ptr, (int)item.value.len,
               item.value.ptr);
    }
}

static void print_done(const sub_row *sub, maki_str answer)
{
    cli_style s = cli_style_of(STDOUT_FILENO);
    maki_str path, type; /* the type is a plain word */
    if (maki_json_get(answer, MAKI_LIT("path"), &path)) {
        printf("%s at message %.0f into %.*s.\n", sub->done, number_in(answer, "seq"),
               (int)path.len, path.ptr);
        return;
    }
    double event = number_in(answer, "event"), removed = number_in(answer, "removed");
    double kept = number_in(answer, "factsKept"), facts = kept + number_in(answer, "factsLost");
    printf("%s%s%s", s.green, sub->done, s.off);
    if (maki_json_get(answer, MAKI_LIT("undoneType"), &type))
        printf(": the %.*s of event %.0f", (int)type.len - 2, type.ptr + 1,
               number_in(answer, "undone"));
    printf(" (event %.0f)", event);
    if (removed > 0) printf(": %.0f message%s out of view", removed, removed == 1 ? "" : "s");
    if (facts > 0) printf(", %.0f of %.0f facts kept", kept, facts);
    printf(", %.0f -> %.0f tokens. maki history undo PATH %.0f takes it back.",
           number_in(answer, "tokensBefore"), number_in(answer, "tokensAfter"), event);
    printf("\n");
}

static int run_dressed(maki *m, const sub_row *sub, int argc, char **argv)
{
    json_input in = { 0 }, answer = { 0 };
    bool json = false;
    maki_err err = { 0 };
    maki_str value;
    json_input_begin(&in);
    int code = read_arguments(sub, argc, argv, &in, &json);
    if (code == 0) {
        json_input_end(&in);
        maki_status st = maki_op(m, (maki_str){ sub->op, strlen(sub->op) }, json_input_str(&in),
                                 json_input_sink(&answer), &err);
        bool whole = maki_json_check(json_input_str(&answer), &value, NULL) == MAKI_OK;
        if (json && whole) printf("%.*s\n", (int)value.len, value.ptr);
        if (st != MAKI_OK)
            code = cli_fail("history", &err);
        else if (!json && sub->done)
            print_done(sub, value);
        else if (!json)
            print_fields(value);
    }
    json_input_free(&in);
    json_input_free(&answer);
    return code;
}

/* ---- streaming ---------------------------------------------------------------------------------------- */

typedef struct listing {
    cli_style s;
    bool json;
    size_t width; /* bytes of text shown of each message */
} listing;

static maki_status print_message(void *ctx, const maki_message *m, maki_err *err)
{
    const listing *l = ctx;
    (void)err;
    if (l->json)
        printf("%.*s\n", (int)m->json.len, m->json.ptr);
    else
        show_message(m, &l->s, l->width);
    return ferror(stdout) ? MAKI_CANCELLED : MAKI_OK; /* said at the end */
}

static maki_status print_event(void *ctx, uint64_t ev, maki_str json, maki_err *err)
{
    const listing *l = ctx;
    maki_json_iter iter = maki_json_items(json);
    maki_json_item item;
    maki_str type;
    (void)err;
    if (l->json) {
        printf("%.*s\n", (int)json.len, json.ptr);
        return MAKI_OK;
    }
    printf("%s%6" PRIu64 " ", l->s.cyan, ev);
    if (show_string_field(json, "type", &type)) show_text(type, 20);
    printf("%s", l->s.off);
    while (maki_json_next(&iter, &item)) {
        static const char *const shown[] = { "at",   "hidden", "seq",      "to",     "toEv",
                                             "with", "target", "messages", "parent", "what" };
        for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
            if (item.key.len != strlen(shown[i]) ||
                memcmp(item.key.ptr, shown[i], item.key.len) != 0) {
                continue;
            }
            printf(" %s=%.*s", shown[i], (int)(item.value.len < 100 ? item.value.len : 100),
                   item.value.ptr);
        }
    }
    printf("\n");
    return MAKI_OK;
}

static int list(maki *m, bool all, int argc, char **argv)
{
    listing l = { .s = cli_style_of(STDOUT_FILENO), .width = 120 };
    maki_moment at = MAKI_LATEST;
    const char *path = NULL;
    maki_conversation *c = NULL;
    maki_err err = { 0 };
    for (int i = 0; i < argc; i++) {
        bool seq = cli_is(argv[i], "--seq"), ev = cli_is(argv[i], "--ev");
        if (cli_is(argv[i], "--json"))
            l.json = true;
        else if (seq || ev) {
            if (++i == argc || !is_number(argv[i])) {
                return cli_misuse("history", "a number must follow ", argv[i - 1]);
            }
            *(seq ? &at.seq : &at.ev) = strtoull(argv[i], NULL, 10);
        } else if (argv[i][0] == '-' || path)
            return cli_misuse("history", "not understood: ", argv[i]);
        else
            path = argv[i];
    }
    if (!path) return cli_misuse("history", "missing: ", "PATH");
    maki_status st = maki_conversation_open(m, path, MAKI_OPEN_LOOK, &c, &err);
    if (st == MAKI_OK) st = maki_conversation_each(c, at, all, print_message, &l, &err);
    if (st == MAKI_OK && all && maki_conversation_events(c) > 0) {
        if (!l.json) printf("\n%sevents%s\n", l.s.bold, l.s.off);
        st = maki_conversation_each_event(c, print_event, &l, &err);
    }
    maki_conversation_close(c);
    return st == MAKI_OK || st == MAKI_CANCELLED ? 0 : cli_fail("history", &err);
}

static int append(maki *m, int argc, char **argv)
{
    maki_conversation *c = NULL;
    maki_err err = { 0 };
    char *line = NULL;
    size_t room = 0, number = 0;
    uint64_t seq = 0;
    ssize_t n;
    if (argc != 1) return cli_misuse("history", "append takes a PATH, and messages from stdin", "");
    maki_status st = maki_conversation_open(m, argv[0], MAKI_OPEN_CREATE, &c, &err);
    while (st == MAKI_OK && (n = getline(&line, &room, stdin)) > 0) {
        maki_str text = { line, (size_t)n };
        number++;
        while (text.len && isspace((unsigned char)text.ptr[text.len - 1]))
            text.len--;
        if (text.len) st = maki_conversation_append(c, text, &seq, &err);
    }
    free(line);
    maki_conversation_close(c);
    if (st != MAKI_OK) {
        fprintf(stderr, "maki history: line %zu: %s\n", number, err.msg);
        return maki_status_exit(st);
    }
    printf("%" PRIu64 " messages\n", seq);
    return 0;
}

/* ---- import and export ---------------------------------------------------------------------------- */

/* Two paths at most, and --format. */
static int paths_and_format(int argc, char **argv, const char *paths[2], int wanted,
                            const char **format)
{
    int n = 0;
    for (int i = 0; i < argc; i++) {
        if (cli_is(argv[i], "--format")) {
            if (++i == argc) return cli_misuse("history", "a name must follow ", "--format");
            *format = argv[i];
        } else if (argv[i][0] == '-' || n == wanted) {
            return cli_misuse("history", "not understood: ", argv[i]);
        } else {
            paths[n++] = argv[i];
        }
    }
    return n == wanted ? 0 : cli_misuse("history", "missing: ", "PATH");
}

static int export_it(maki *m, int argc, char **argv)
{
    const char *paths[2], *format = "roo";
    maki_conversation *c = NULL;
    maki_err err = { 0 };
    int code = paths_and_format(argc, argv, paths, 1, &format);
    if (code) return code;
    maki_sink out = cli_stdout();
    maki_status st = maki_conversation_open(m, paths[0], MAKI_OPEN_LOOK, &c, &err);
    if (st == MAKI_OK) st = maki_conversation_export(c, format, out, &err);
    if (st == MAKI_OK && !cli_is(format, "lines")) st = out.write(out.ctx, MAKI_LIT("\n"), &err);
    maki_conversation_close(c);
    return st == MAKI_OK ? 0 : cli_fail("history export", &err);
}

/* A bar on a terminal, nothing elsewhere. */
static maki_status show_progress(void *ctx, uint64_t done, uint64_t total, uint64_t messages)
{
    bool *shown = ctx;
    int percent = total ? (int)(done * 100 / total) : 100;
    if (!isatty(STDERR_FILENO)) return MAKI_OK;
    fprintf(stderr, "\r  [%-40.*s] %3d %%  %" PRIu64 " messages ", percent * 40 / 100,
            "########################################", percent, messages);
    *shown = true;
    return MAKI_OK;
}

static void tell_skipped(void *ctx, uint64_t line, const char *why)
{
    (void)ctx;
    fprintf(stderr, "maki history import: line %" PRIu64 " skipped: %s\n", line, why);
}

static int import_it(maki *m, int argc, char **argv)
{
    const char *paths[2], *format = NULL;
    bool shown = false;
    maki_import_hooks hooks = { show_progress, tell_skipped, &shown };
    maki_imported got;
    maki_err err = { 0 };
    int code = paths_and_format(argc, argv, paths, 2, &format);
    if (code) return code;
    maki_status st = maki_conversation_import(m, paths[0], paths[1], format, &hooks, &got, &err);
    if (shown) fputc('\n', stderr);
    if (st != MAKI_OK) return cli_fail("history import", &err);
    printf("Imported %" PRIu64 " messages (%s), %" PRIu64 " events", got.messages, got.format,
           got.events);
    if (got.other) printf(", %" PRIu64 " other lines passed over", got.other);
    if (got.skipped) printf(", %" PRIu64 " broken lines skipped", got.skipped);
    printf(".\n");
    return 0;
}

static int run(int argc, char **argv)
{
    cli_handle h;
    int code = -1;
    if (argc < 2) {
        fputs(usage, stderr);
        return maki_status_exit(MAKI_INVALID);
    }
    int failed = cli_open(&h, "history");
    if (failed) return failed;
    const char *name = argv[1];
    if (cli_is(name, "log")) code = list(h.m, true, argc - 2, argv + 2);
    if (cli_is(name, "effective")) code = list(h.m, false, argc - 2, argv + 2);
    if (cli_is(name, "append")) code = append(h.m, argc - 2, argv + 2);
    if (cli_is(name, "export")) code = export_it(h.m, argc - 2, argv + 2);
    if (cli_is(name, "import")) code = import_it(h.m, argc - 2, argv + 2);
    for (size_t i = 0; code < 0 && i < sizeof subs / sizeof subs[0]; i++) {
        if (cli_is(name, subs[i].name)) code = run_dressed(h.m, &subs[i], argc - 2, argv + 2);
    }
    cli_close(&h);
    return code >= 0 ? code : cli_misuse("history", "there is no subcommand ", name);
}

const cli_command cli_history = { "history", "a conversation seen, changed and brought back", usage,
                                  run };
