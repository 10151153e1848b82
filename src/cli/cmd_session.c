/* cmd_session.c -- maki session: which conversations there are, and what was said in one. */
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
    "maki session list         the newest conversations   [--agent NAME] [--limit N] [--json]\n"
    "maki session show ID      what was said in one       [--limit N] [--json]\n"
    "\n"
    "ID is a session's id, or the beginning of one that is clear; its key (agent:AGENT:KEY); or a path.\n"
    "What an agent said through `maki serve` is a session of agent \"proxy\".\n"
    "\n"
    "Example:\n"
    "  maki session list --limit 5\n"
    "  maki session show 7f3a\n";

typedef struct options {
    const char *id, *agent, *limit;
    bool json;
} options;

static int read_options(int argc, char **argv, options *out)
{
    for (int i = 0; i < argc; i++) {
        bool agent = cli_is(argv[i], "--agent"), limit = cli_is(argv[i], "--limit");
        if (cli_is(argv[i], "--json")) {
            out->json = true;
        } else if (agent || limit) {
            if (++i == argc) return cli_misuse("session", "a value is missing after ", argv[i - 1]);
            *(agent ? &out->agent : &out->limit) = argv[i];
        } else if (argv[i][0] == '-' || out->id) {
            return cli_misuse("session", "not understood: ", argv[i]);
        } else {
            out->id = argv[i];
        }
    }
    if (out->limit && strspn(out->limit, "0123456789") != strlen(out->limit))
        return cli_misuse("session", "not a number: ", out->limit);
    return 0;
}

/* ---- list ---------------------------------------------------------------------------------------------- */

static maki_status get_list(maki *m, const options *o, const char *limit, json_input *answer,
                            maki_err *err)
{
    json_input in = { 0 };
    json_input_begin(&in);
    if (o->agent) json_input_text(&in, "agent", o->agent);
    if (limit) json_input_raw(&in, "limit", limit);
    json_input_end(&in);
    maki_status st =
        maki_op(m, MAKI_LIT("session.list"), json_input_str(&in), json_input_sink(answer), err);
    json_input_free(&in);
    return st;
}

static double number_of(maki_str object, const char *name)
{
    maki_str value;
    return show_field(object, name, &value) ? maki_json_double(value) : 0;
}

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
    if (show_string_field(session, "title", &value)) show_text(value, 70);
    printf("\n");
}

static int list(maki *m, const options *o)
{
    cli_style s = cli_style_of(STDOUT_FILENO);
    json_input answer = { 0 };
    maki_err err = { 0 };
    maki_str value, sessions;
    maki_json_item item;
    int code = 0;
    if (get_list(m, o, o->limit, &answer, &err) != MAKI_OK) {
        code = cli_fail("session", &err);
    } else if (o->json) {
        printf("%.*s\n", (int)answer.len, answer.text);
    } else if (maki_json_check(json_input_str(&answer), &value, &err) == MAKI_OK &&
               show_field(value, "sessions", &sessions)) {
        maki_json_iter iter = maki_json_items(sessions);
        size_t n = 0;
        while (maki_json_next(&iter, &item)) {
            if (n++ == 0)
                printf("%s%-9s%10s  %5s %9s  %-28s %s%s\n", s.dim, "id", "last", "rows", "tokens",
                       "model", "about", s.off);
            print_session(item.value, &s);
        }
        if (n == 0)
            printf("There are no sessions yet. `maki serve` records those of any agent; "
                   "`maki demo` shows how.\n");
        else if (number_of(value, "all") > (double)n)
            printf("%s%.0f more: --limit%s\n", s.dim, number_of(value, "all") - (double)n, s.off);
    }
    json_input_free(&answer);
    return code;
}

/* ---- show ---------------------------------------------------------------------------------------------- */

/* A session by the beginning of its id: the whole id, in `out`.  How many begin so? */
static size_t find_beginning(maki *m, const char *start, char *out, size_t room)
{
    json_input answer = { 0 };
    options all = { 0 };
    maki_str value, sessions, id;
    maki_json_item item;
    size_t found = 0;
    if (get_list(m, &all, "1000", &answer, NULL) == MAKI_OK &&
        maki_json_check(json_input_str(&answer), &value, NULL) == MAKI_OK &&
        show_field(value, "sessions", &sessions)) {
        maki_json_iter iter = maki_json_items(sessions);
        while (maki_json_next(&iter, &item)) {
            char name[128];
            if (!show_string_field(item.value, "id", &id)) continue;
            name[maki_json_copy_text(id, name, sizeof name - 1)] = '\0';
            if (strncmp(name, start, strlen(start)) != 0) continue;
            if (found++ == 0) snprintf(out, room, "%s", name);
        }
    }
    json_input_free(&answer);
    return found;
}

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

static int show_conversation(maki_conversation *c, const char *name, const options *o)
{
    showing s = { .s = cli_style_of(STDOUT_FILENO), .json = o->json };
    maki_token_total total;
    maki_err err = { 0 };
    maki_status st = maki_conversation_view_tokens(c, MAKI_LATEST, NULL, true, &total, &err);
    if (st == MAKI_OK && o->limit) {
        uint64_t limit = strtoull(o->limit, NULL, 10);
        s.skip = total.messages > limit ? total.messages - limit : 0;
    }
    if (st == MAKI_OK && !o->json)
        printf("%s%s%s: %" PRIu64 " messages in view of %" PRIu64 ", %" PRIu64 " tokens, %" PRIu64
               " events\n",
               s.s.bold, name, s.s.off, total.messages, maki_conversation_last(c), total.tokens,
               maki_conversation_events(c));
    if (st == MAKI_OK) st = maki_conversation_each(c, MAKI_LATEST, false, show_one, &s, &err);
    return st == MAKI_OK ? 0 : cli_fail("session", &err);
}

static int show(maki *m, const options *o)
{
    char whole[128];
    const char *name = o->id;
    maki_conversation *c = NULL;
    maki_err err = { 0 };
    if (!name) return cli_misuse("session", "missing: ", "ID");
    maki_status st = maki_conversation_open(m, name, MAKI_OPEN_READ, &c, &err);
    if (st == MAKI_NOTFOUND) {
        size_t found = find_beginning(m, name, whole, sizeof whole);
        if (found > 1) return cli_misuse("session", "several ids begin with ", name);
        if (found == 1) st = maki_conversation_open(m, name = whole, MAKI_OPEN_READ, &c, &err);
    }
    if (st != MAKI_OK) return cli_fail("session", &err);
    int code = show_conversation(c, name, o);
    maki_conversation_close(c);
    return code;
}

static int run(int argc, char **argv)
{
    options o = { 0 };
    maki *m = NULL;
    maki_err err = { 0 };
    if (argc < 2) return cli_misuse("session", "what? ", "list or show");
    int code = read_options(argc - 2, argv + 2, &o);
    if (code) return code;
    bool listing = cli_is(argv[1], "list");
    if (!listing && !cli_is(argv[1], "show"))
        return cli_misuse("session", "there is no subcommand ", argv[1]);
    if (maki_open(NULL, &m, &err) != MAKI_OK) return cli_fail("session", &err);
    code = listing ? list(m, &o) : show(m, &o);
    maki_close(m);
    return code;
}

const cli_command cli_session = { "session", "the conversations there are", usage, run };
