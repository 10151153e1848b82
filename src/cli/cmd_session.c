/* cmd_session.c -- maki session: which conversations there are, what was said in one, how full it is.
 *
 * Most subcommands are thin dressings of an operation: a row says which one, which field each argument is, and
 * how the answer is told to a person. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "json_input.h"
#include "show.h"

static const char usage[] =
    "maki session list            the newest conversations          [--agent NAME] [--limit N]\n"
    "maki session show ID         what was said in one              [--limit N]\n"
    "maki session status ID       how full its window is, and with what   [--model NAME] [--window TOKENS]\n"
    "maki session compact ID      make room now   [--dry-run] [--policy NAME] [--window TOKENS]\n"
    "maki session pin ID SEQ      nothing may hide message SEQ; unpin takes that back\n"
    "maki session resolve         the session of a message; made if there is none\n"
    "                             --channel NAME --sender ID [--group ID] [--thread PARENT] [--agent NAME]\n"
    "                             [--scope global|per-group|per-sender] [--new]: archive the one there is\n"
    "maki session set ID          [--thinking off|minimal|low|medium|high] [--max-tokens N]: for this session\n"
    "                             (\"default\": as the agent has it)  [--state active|archived]\n"
    "maki session limit ID        hide turns over its limit   [--limit N] [--provider NAME] [--dry-run]\n"
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

/* ---- arguments ------------------------------------------------------------------------------------- */

typedef struct option_row {
    const char *name, *field;
    enum { TEXT, NUMBER, YES } type;
} option_row;

enum { OPTIONS = 8 };

typedef struct sub_row {
    const char *name, *op;
    bool id, seq; /* which arguments it takes */
    option_row options[OPTIONS];
    void (*tell)(maki_str answer, const char *id, const cli_style *s);
} sub_row;

/* What was asked for. */
typedef struct asked {
    const char *id, *seq;
    const char *values[OPTIONS]; /* of the row's options; NULL: not given */
    bool json;
} asked;

static int read_option(const sub_row *sub, int argc, char **argv, int *i, asked *out)
{
    const char *name = argv[*i];
    for (size_t k = 0; k < OPTIONS && sub->options[k].name; k++) {
        if (!cli_is(name, sub->options[k].name)) continue;
        if (sub->options[k].type == YES) {
            out->values[k] = "true";
            return 0;
        }
        if (++*i == argc) return cli_misuse("session", "a value is missing after ", name);
        const char *value = argv[*i];
        bool number = sub->options[k].type == NUMBER && !cli_is(value, "default");
        if (number && (!*value || strspn(value, "0123456789") != strlen(value)))
            return cli_misuse("session", "not a number: ", value);
        out->values[k] = value;
        return 0;
    }
    return cli_misuse("session", "not understood: ", name);
}

static int read_arguments(const sub_row *sub, int argc, char **argv, asked *out)
{
    for (int i = 0; i < argc; i++) {
        int code = 0;
        if (cli_is(argv[i], "--json"))
            out->json = true;
        else if (argv[i][0] == '-')
            code = read_option(sub, argc, argv, &i, out);
        else if (sub->id && !out->id)
            out->id = argv[i];
        else if (sub->seq && !out->seq && strspn(argv[i], "0123456789") == strlen(argv[i]))
            out->seq = argv[i];
        else
            code = cli_misuse("session", "not understood: ", argv[i]);
        if (code) return code;
    }
    if (sub->id && !out->id) return cli_misuse("session", "missing: ", "ID");
    if (sub->seq && !out->seq)
        return cli_misuse("session", "missing: ", "SEQ, the number of a message");
    return 0;
}

static const char *value_of(const sub_row *sub, const asked *a, const char *field)
{
    for (size_t k = 0; k < OPTIONS && sub->options[k].name; k++) {
        if (strcmp(sub->options[k].field, field) == 0) return a->values[k];
    }
    return NULL;
}

static void put_input(const sub_row *sub, const asked *a, json_input *in)
{
    json_input_begin(in);
    if (a->id) json_input_text(in, "conversation", a->id);
    if (a->seq) json_input_raw(in, "seq", a->seq);
    for (size_t k = 0; k < OPTIONS && sub->options[k].name; k++) {
        if (!a->values[k]) continue;
        if (cli_is(a->values[k], "default") && cli_is(sub->name, "set"))
            json_input_raw(in, sub->options[k].field, "null");
        else if (sub->options[k].type == TEXT)
            json_input_text(in, sub->options[k].field, a->values[k]);
        else
            json_input_raw(in, sub->options[k].field, a->values[k]);
    }
    json_input_end(in);
}

/* Run an operation; on MAKI_OK *value is its answer, borrowed from `answer`. */
static maki_status ask(maki *m, const char *op, const json_input *in, json_input *answer,
                       maki_str *value, maki_err *err)
{
    maki_status st =
        maki_op(m, (maki_str){ op, strlen(op) }, json_input_str(in), json_input_sink(answer), err);
    return st == MAKI_OK ? maki_json_check(json_input_str(answer), value, err) : st;
}

static double number_of(maki_str object, const char *name)
{
    maki_str value;
    return show_field(object, name, &value) ? maki_json_double(value) : 0;
}

static void print_field(maki_str object, const char *name, size_t room)
{
    maki_str value;
    if (show_string_field(object, name, &value)) show_text(value, room);
}

static void tell_note(maki_str answer)
{
    char text[240];
    maki_str note;
    if (!show_string_field(answer, "note", &note)) return;
    text[maki_json_copy_text(note, text, sizeof text - 1)] = '\0';
    fprintf(stderr, "maki session: %s\n", text);
}

/* ---- list ---------------------------------------------------------------------------------------------- */

static void print_ago(double ms)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double s = (double)now.tv_sec - ms / 1000;
    if (s < 60)
        printf("%10s  ", "just now");
    else if (s < 3600)
        printf("%6.0f min  ", s / 60);
    else if (s < 86400)
        printf("%8.0f h  ", s / 3600);
    else
        printf("%5.0f days  ", s / 86400);
}

static void print_session(maki_str session, const cli_style *s)
{
    maki_str value;
    char id[9] = "", model[28] = "";
    if (show_string_field(session, "id", &value))
        id[maki_json_copy_text(value, id, sizeof id - 1)] = '\0';
    if (show_string_field(session, "model", &value))
        model[maki_json_copy_text(value, model, sizeof model - 1)] = '\0';
    printf("%s%-9s%s", s->cyan, id, s->off);
    print_ago(number_of(session, "updatedAt"));
    printf("%5.0f %9.0f  %-28s ", number_of(session, "messages"), number_of(session, "tokens"),
           model);
    if (show_string_field(session, "state", &value) &&
        maki_json_text_is(value, MAKI_LIT("archived")))
        printf("%s(archived)%s ", s->dim, s->off);
    if (show_string_field(session, "title", &value)) show_text(value, 70);
    printf("\n");
}

static void tell_list(maki_str answer, const char *id, const cli_style *s)
{
    maki_str sessions;
    maki_json_item item;
    size_t n = 0;
    (void)id;
    if (!show_field(answer, "sessions", &sessions)) return;
    maki_json_iter iter = maki_json_items(sessions);
    while (maki_json_next(&iter, &item)) {
        if (n++ == 0)
            printf("%s%-9s%10s  %5s %9s  %-28s %s%s\n", s->dim, "id", "last", "rows", "tokens",
                   "model", "about", s->off);
        print_session(item.value, s);
    }
    if (n == 0)
        printf("There are no sessions yet. `maki serve` records those of any agent; "
               "`maki demo` shows how.\n");
    else if (number_of(answer, "all") > (double)n)
        printf("%s%.0f more: --limit%s\n", s->dim, number_of(answer, "all") - (double)n, s->off);
}

/* ---- what a session is --------------------------------------------------------------------------------- */

static void tell_session(maki_str answer, const char *id, const cli_style *s)
{
    maki_str made, overrides;
    (void)id;
    printf("%s", s->bold);
    print_field(answer, "id", 128);
    printf("%s  ", s->off);
    print_field(answer, "sessionKey", 200);
    printf("  ");
    print_field(answer, "state", 20);
    if (show_field(answer, "made", &made) && maki_json_true(made)) printf(", new");
    printf(", %.0f messages", number_of(answer, "messageCount"));
    if (show_field(answer, "overrides", &overrides) && overrides.len > 2)
        printf("  %.*s", (int)overrides.len, overrides.ptr);
    printf("\n");
}

static void tell_parts(maki_str answer, const cli_style *s)
{
    maki_str parts;
    maki_json_item item;
    double total = number_of(answer, "tokens");
    if (!show_field(answer, "parts", &parts)) return;
    printf("\n%s%-16s%9s%10s%7s%s\n", s->dim, "part", "messages", "tokens", "share", s->off);
    maki_json_iter iter = maki_json_items(parts);
    while (maki_json_next(&iter, &item)) {
        char name[24] = "";
        maki_str part;
        double tokens = number_of(item.value, "tokens");
        if (tokens <= 0) continue;
        if (show_string_field(item.value, "part", &part))
            name[maki_json_copy_text(part, name, sizeof name - 1)] = '\0';
        printf("%-16s%9.0f%10.0f%6.0f%%\n", name, number_of(item.value, "messages"), tokens,
               100 * tokens / total);
    }
}

static void tell_status(maki_str answer, const char *id, const cli_style *s)
{
    maki_str exact, model, used;
    bool sure = show_field(answer, "exact", &exact) && maki_json_true(exact);
    printf("%s%s%s  ", s->bold, id, s->off);
    print_field(answer, "sessionKey", 200);
    printf("\ncontext usage   %s", s->cyan);
    print_field(answer, "contextUsage", 20);
    printf("%s, %s%.0f of %.0f tokens for ", s->off, sure ? "" : "about ",
           number_of(answer, "tokens"), number_of(answer, "window"));
    if (show_string_field(answer, "countedFor", &model) && model.len > 2)
        show_text(model, 90);
    else
        printf("a model that is not known yet");
    printf("\nmessages        %.0f in view of %.0f, %.0f pinned\n",
           number_of(answer, "messagesCount"), number_of(answer, "messageCount"),
           number_of(answer, "pinned"));
    printf("compressions    %.0f, the last: ", number_of(answer, "compressionCount"));
    print_field(answer, "lastCompression", 40);
    if (show_field(answer, "tokenUsage", &used))
        printf("\ntokens used     %.0f in, %.0f out", number_of(used, "input"),
               number_of(used, "output"));
    printf("\n");
    tell_parts(answer, s);
}

static void tell_change(maki_str answer, const char *id, const cli_style *s)
{
    double event = number_of(answer, "event");
    printf("%sDone%s (event %.0f). maki history undo %s %.0f takes it back.\n", s->green, s->off,
           event, id, event);
}

static void tell_limit(maki_str answer, const char *id, const cli_style *s)
{
    double limit = number_of(answer, "limit"), turns = number_of(answer, "turns"),
           left = number_of(answer, "left"), event = number_of(answer, "event");
    if (limit <= 0)
        printf("No limit holds for it; it has %.0f turns in view.\n", turns);
    else if (left >= turns)
        printf("%.0f turns in view, %.0f are allowed: nothing to hide.\n", turns, limit);
    else if (event <= 0)
        printf("%.0f turns in view, %.0f are allowed: %.0f would be left.\n", turns, limit, left);
    else
        printf("%sHidden%s: %.0f messages; %.0f of %.0f turns are left. maki history undo %s %.0f "
               "takes it back.\n",
               s->green, s->off, number_of(answer, "removed"), left, turns, id, event);
}

/* ---- compact ------------------------------------------------------------------------------------------- */

/* The window and what is sent besides the messages, as session.status tells them. */
static maki_status fill_compact(maki *m, const sub_row *sub, const asked *a, json_input *in,
                                maki_err *err)
{
    json_input about = { 0 }, answer = { 0 };
    maki_str status, parts;
    maki_json_item item;
    char number[40];
    double other = 0;
    const char *window = value_of(sub, a, "contextWindow");
    json_input_begin(&about);
    json_input_text(&about, "conversation", a->id);
    if (window) json_input_raw(&about, "window", window);
    json_input_end(&about);
    maki_status st = ask(m, "session.status", &about, &answer, &status, err);
    if (st == MAKI_OK && show_field(status, "parts", &parts)) {
        maki_json_iter iter = maki_json_items(parts); /* the first two: system prompt and tools */
        for (int i = 0; i < 2 && maki_json_next(&iter, &item); i++)
            other += number_of(item.value, "tokens");
    }
    if (st == MAKI_OK) {
        snprintf(number, sizeof number, "%.0f", number_of(status, "window"));
        json_input_raw(in, "contextWindow", number);
        snprintf(number, sizeof number, "%.0f", other);
        json_input_raw(in, "otherTokens", number);
    }
    json_input_free(&about);
    json_input_free(&answer);
    return st;
}

static void tell_compact(maki_str answer, const char *id, const cli_style *s)
{
    maki_str within, facts;
    char action[40] = "none";
    if (show_string_field(answer, "action", &facts))
        action[maki_json_copy_text(facts, action, sizeof action - 1)] = '\0';
    if (cli_is(action, "none")) {
        printf("There is nothing that may be hidden: %.0f tokens.\n",
               number_of(answer, "tokensAfter"));
        return;
    }
    printf("%s%s%s: %.0f -> %.0f tokens (%.0f %% less), %.0f messages out of view, %.0f ms",
           s->green, action, s->off, number_of(answer, "tokensBefore"),
           number_of(answer, "tokensAfter"), 100 * number_of(answer, "reduction"),
           number_of(answer, "messagesRemoved"), number_of(answer, "compressionTime"));
    if (show_field(answer, "factsKept", &facts))
        printf(", %.0f facts kept and %.0f lost", number_of(answer, "factsKept"),
               number_of(answer, "factsLost"));
    printf("\n");
    if (show_field(answer, "within", &within) && !maki_json_true(within))
        printf("It is still over the %.0f tokens allowed.\n", number_of(answer, "allowed"));
    if (show_field(answer, "preview", &facts))
        printf("Nothing was changed: without --dry-run it would be.\n");
    else
        printf("maki history undo-run %s takes it back.\n", id);
}

static int compact(maki *m, const sub_row *sub, const asked *a)
{
    cli_style s = cli_style_of(STDOUT_FILENO);
    json_input in = { 0 }, answer = { 0 };
    maki_err err = { 0 };
    maki_str report;
    const char *policy = value_of(sub, a, "policy"), *preview = value_of(sub, a, "preview");
    json_input_begin(&in);
    json_input_text(&in, "conversation", a->id);
    json_input_raw(&in, "force", "true");
    if (policy) json_input_text(&in, "policy", policy);
    if (preview) json_input_raw(&in, "preview", "true");
    maki_status st = fill_compact(m, sub, a, &in, &err);
    json_input_end(&in);
    if (st == MAKI_OK) st = ask(m, sub->op, &in, &answer, &report, &err);
    if (st == MAKI_OK && a->json)
        printf("%.*s\n", (int)report.len, report.ptr);
    else if (st == MAKI_OK)
        tell_compact(report, a->id, &s);
    json_input_free(&in);
    json_input_free(&answer);
    return st == MAKI_OK ? 0 : cli_fail("session", &err);
}

/* ---- show ---------------------------------------------------------------------------------------------- */

typedef struct showing {
    cli_style s;
    bool json;
    uint64_t skip;
} showing;

static maki_status show_one(void *ctx, const maki_message *message, maki_err *err)
{
    showing *s = ctx;
    (void)err;
    if (s->skip) {
        s->skip--;
    } else if (s->json) {
        printf("%.*s\n", (int)message->json.len, message->json.ptr);
    } else {
        show_message(message, &s->s, 120);
    }
    return ferror(stdout) ? MAKI_CANCELLED : MAKI_OK;
}

static int show(maki *m, const sub_row *sub, const asked *a)
{
    showing s = { .s = cli_style_of(STDOUT_FILENO), .json = a->json };
    const char *limit = value_of(sub, a, "limit");
    maki_conversation *c = NULL;
    maki_token_total total;
    maki_err err = { 0 };
    maki_status st = maki_conversation_open(m, a->id, MAKI_OPEN_READ, &c, &err);
    if (st == MAKI_OK) st = maki_conversation_view_tokens(c, MAKI_LATEST, &total, &err);
    if (st == MAKI_OK && limit) {
        uint64_t most = strtoull(limit, NULL, 10);
        s.skip = total.messages > most ? total.messages - most : 0;
    }
    if (st == MAKI_OK && !a->json)
        printf("%s%s%s: %" PRIu64 " messages in view of %" PRIu64 ", %" PRIu64 " tokens, %" PRIu64
               " events\n",
               s.s.bold, a->id, s.s.off, total.messages, maki_conversation_last(c), total.tokens,
               maki_conversation_events(c));
    if (st == MAKI_OK) st = maki_conversation_each(c, MAKI_LATEST, false, show_one, &s, &err);
    maki_conversation_close(c);
    return st == MAKI_OK || st == MAKI_CANCELLED ? 0 : cli_fail("session", &err);
}

/* ---- the subcommands ----------------------------------------------------------------------------------- */

static const sub_row subs[] = {
    { "list",
      "session.list",
      false,
      false,
      { { "--agent", "agent", TEXT }, { "--limit", "limit", NUMBER } },
      tell_list },
    { "show", NULL, true, false, { { "--limit", "limit", NUMBER } }, NULL },
    { "status",
      "session.status",
      true,
      false,
      { { "--model", "model", TEXT }, { "--window", "window", NUMBER } },
      tell_status },
    { "compact",
      "manage.run",
      true,
      false,
      { { "--policy", "policy", TEXT },
        { "--window", "contextWindow", NUMBER },
        { "--dry-run", "preview", YES } },
      NULL },
    { "pin", "history.pin", true, true, { { 0 } }, tell_change },
    { "unpin", "history.unpin", true, true, { { 0 } }, tell_change },
    { "resolve",
      "session.resolve",
      false,
      false,
      { { "--channel", "channel", TEXT },
        { "--sender", "sender", TEXT },
        { "--group", "group", TEXT },
        { "--thread", "thread", TEXT },
        { "--agent", "agent", TEXT },
        { "--scope", "scope", TEXT },
        { "--new", "new", YES } },
      tell_session },
    { "set",
      "session.set",
      true,
      false,
      { { "--thinking", "thinking", TEXT },
        { "--max-tokens", "maxTokens", NUMBER },
        { "--state", "state", TEXT } },
      tell_session },
    { "limit",
      "session.limit",
      true,
      false,
      { { "--limit", "limit", NUMBER },
        { "--provider", "provider", TEXT },
        { "--dry-run", "preview", YES } },
      tell_limit },
};

static int run_dressed(maki *m, const sub_row *sub, const asked *a)
{
    cli_style s = cli_style_of(STDOUT_FILENO);
    json_input in = { 0 }, answer = { 0 };
    maki_err err = { 0 };
    maki_str value;
    put_input(sub, a, &in);
    maki_status st = ask(m, sub->op, &in, &answer, &value, &err);
    if (st == MAKI_OK && a->json)
        printf("%.*s\n", (int)value.len, value.ptr);
    else if (st == MAKI_OK)
        sub->tell(value, a->id, &s);
    if (st == MAKI_OK && !a->json) tell_note(value);
    json_input_free(&in);
    json_input_free(&answer);
    return st == MAKI_OK ? 0 : cli_fail("session", &err);
}

static int run(int argc, char **argv)
{
    static const char names[] = "list, show, status, compact, pin, unpin, resolve, set or limit";
    const sub_row *sub = NULL;
    asked a = { 0 };
    cli_handle h;
    if (argc < 2) return cli_misuse("session", "what? ", names);
    for (size_t i = 0; i < sizeof subs / sizeof subs[0]; i++) {
        if (cli_is(argv[1], subs[i].name)) sub = &subs[i];
    }
    if (!sub) return cli_misuse("session", "there is no subcommand ", argv[1]);
    int code = read_arguments(sub, argc - 2, argv + 2, &a);
    if (code) return code;
    code = cli_open(&h, "session");
    if (code) return code;
    cli_cancel_on_interrupt(&h);
    if (cli_is(sub->name, "show"))
        code = show(h.m, sub, &a);
    else if (cli_is(sub->name, "compact"))
        code = compact(h.m, sub, &a);
    else
        code = run_dressed(h.m, sub, &a);
    cli_close(&h);
    return code;
}

const cli_command cli_session = { "session", "the conversations there are", usage, run };
