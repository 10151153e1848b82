/* answer_print.c -- print the JSON answer of an operation as lines and tables, by a table of formats; "fields", a line for
 * each field, is the default. */
#include "answer_print.h"

#include <stdio.h>
#include <time.h>

#include "message_print.h"

/* ---- fields, forks and changes ----------------------------------------------------------------------------- */

static void print_fields(maki_str answer, const cli_parsed *parsed)
{
    (void)parsed;
    MAKI_JSON_EACH(item, maki_json_items(answer)) {
        printf("%-14.*s %.*s\n", (int)item.key.len, item.key.ptr, (int)item.value.len,
               item.value.ptr);
    }
}

static void print_fork(maki_str answer, const cli_parsed *parsed)
{
    maki_str path;
    (void)parsed;
    if (show_field(answer, "path", &path))
        printf("Forked at message %.0f into %.*s.\n", maki_json_number_field(answer, "seq"),
               (int)path.len, path.ptr);
}

/* How many facts of the summarized messages the summary contains. */
static void print_facts(maki_str answer)
{
    double retained = maki_json_number_field(answer, "factsKept"),
           facts = retained + maki_json_number_field(answer, "factsLost");
    if (facts > 0) printf(", %.0f of %.0f facts kept", retained, facts);
}

static void print_change(maki_str answer, const cli_parsed *parsed)
{
    const cli_style *s = &parsed->style;
    maki_str type; /* contains no escapes */
    char effect[240];
    double event = maki_json_number_field(answer, "event");
    printf("%s%s%s", s->green, parsed->bound.command->done, s->off);
    if (show_field(answer, "undoneType", &type))
        printf(": the %.*s of event %.0f", (int)type.len - 2, type.ptr + 1,
               maki_json_number_field(answer, "undone"));
    printf(" (event %.0f)", event);
    if (maki_json_text_field(answer, "effect", effect, sizeof effect)[0]) printf(": %s", effect);
    print_facts(answer);
    printf(", %.0f -> %.0f tokens. maki history undo %s %.0f undoes it.\n",
           maki_json_number_field(answer, "tokensBefore"),
           maki_json_number_field(answer, "tokensAfter"), parsed->args.conversation, event);
}

/* ---- sessions -------------------------------------------------------------------------------------- */

static void print_warning(maki_str answer)
{
    char text[240];
    if (maki_json_text_field(answer, "note", text, sizeof text)[0])
        fprintf(stderr, "maki session: %s\n", text);
}

static void print_age(double ms)
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
    char id[9], model[28], usage[16];
    printf("%s%-9s%s", s->cyan, maki_json_text_field(session, "id", id, sizeof id), s->off);
    print_age(maki_json_number_field(session, "updatedAt"));
    printf("%5.0f %5s %9.0f of %8.0f  %-28s ", maki_json_number_field(session, "messages"),
           maki_json_text_field(session, "contextUsage", usage, sizeof usage),
           maki_json_number_field(session, "tokens"), maki_json_number_field(session, "window"),
           maki_json_text_field(session, "model", model, sizeof model));
    char key[200];
    const char *name = strchr(maki_json_text_field(session, "sessionKey", key, sizeof key), ':');
    name = name ? strchr(name + 1, ':') : NULL;
    if (name) printf("%s%s%s ", s->bold, name + 1, s->off);
    if (maki_json_field_in(session, "state", "archived")) printf("%s(archived)%s ", s->dim, s->off);
    show_string(session, "title", 70);
    printf("\n");
}

static void print_sessions(maki_str answer, const cli_parsed *parsed)
{
    const cli_style *s = &parsed->style;
    maki_str sessions;
    size_t n = 0;
    print_warning(answer);
    if (!show_field(answer, "sessions", &sessions)) return;
    MAKI_JSON_EACH(item, maki_json_items(sessions)) {
        if (n++ == 0)
            printf("%s%-9s%10s  %5s %5s %9s of %8s  %-28s %s%s\n", s->dim, "id", "last", "rows",
                   "full", "tokens", "window", "model", "about", s->off);
        print_session(item.value, s);
    }
    if (n == 0)
        printf("There are no sessions yet. `maki serve` records those of any agent; "
               "`maki demo` shows how.\n");
    else if (maki_json_number_field(answer, "all") > (double)n)
        printf("%s%.0f more: --limit%s\n", s->dim,
               maki_json_number_field(answer, "all") - (double)n, s->off);
}

/* ---- one session --------------------------------------------------------------------------------- */

static void print_session_state(maki_str answer, const cli_parsed *parsed)
{
    const cli_style *s = &parsed->style;
    maki_str overrides;
    double messages = maki_json_number_field(answer, "messageCount");
    print_warning(answer);
    printf("%s", s->bold);
    show_string(answer, "id", 128);
    printf("%s  ", s->off);
    show_string(answer, "sessionKey", 200);
    printf("  ");
    show_string(answer, "state", 20);
    if (maki_json_true_field(answer, "made")) printf(", new");
    printf(", %.0f message%s", messages, messages == 1 ? "" : "s");
    if (show_field(answer, "overrides", &overrides) && overrides.len > 2)
        printf("  %.*s", (int)overrides.len, overrides.ptr);
    printf("\n");
}

static void print_parts(maki_str answer, const cli_style *s)
{
    maki_str parts;
    double total = maki_json_number_field(answer, "tokens");
    if (!show_field(answer, "parts", &parts)) return;
    printf("\n%s%-16s%9s%10s%7s%s\n", s->dim, "part", "messages", "tokens", "share", s->off);
    MAKI_JSON_EACH(item, maki_json_items(parts)) {
        char name[24];
        double tokens = maki_json_number_field(item.value, "tokens");
        if (tokens <= 0) continue;
        printf("%-16s%9.0f%10.0f%6.0f%%\n",
               maki_json_text_field(item.value, "part", name, sizeof name),
               maki_json_number_field(item.value, "messages"), tokens, 100 * tokens / total);
    }
}

static void print_status(maki_str answer, const cli_parsed *parsed)
{
    const cli_style *s = &parsed->style;
    maki_str model, used;
    bool exact = maki_json_true_field(answer, "exact");
    printf("%s%s%s  ", s->bold, parsed->args.conversation, s->off);
    show_string(answer, "sessionKey", 200);
    printf("\ncontext usage   %s", s->cyan);
    show_string(answer, "contextUsage", 20);
    printf("%s, %s%.0f of %.0f tokens for ", s->off, exact ? "" : "about ",
           maki_json_number_field(answer, "tokens"), maki_json_number_field(answer, "window"));
    if (maki_json_string_field(answer, "countedFor", &model) && model.len > 2)
        show_text(model, 90);
    else
        printf("an unknown model");
    printf("\nwindow          from: ");
    show_string(answer, "windowFrom", 20);
    printf("\nmessages        %.0f in view of %.0f, %.0f pinned\n",
           maki_json_number_field(answer, "messagesCount"),
           maki_json_number_field(answer, "messageCount"),
           maki_json_number_field(answer, "pinned"));
    printf("compressions    %.0f, the last: ", maki_json_number_field(answer, "compressionCount"));
    show_string(answer, "lastCompression", 40);
    if (show_field(answer, "tokenUsage", &used))
        printf("\ntokens used     %.0f in, %.0f out", maki_json_number_field(used, "input"),
               maki_json_number_field(used, "output"));
    printf("\n");
    print_parts(answer, s);
}

static void print_limit(maki_str answer, const cli_parsed *parsed)
{
    const cli_style *s = &parsed->style;
    double limit = maki_json_number_field(answer, "limit"),
           turns = maki_json_number_field(answer, "turns"),
           remaining = maki_json_number_field(answer, "left"),
           event = maki_json_number_field(answer, "event");
    const char *plural = turns == 1 ? "" : "s";
    char effect[240];
    if (limit <= 0)
        printf("It has no limit, and %.0f turn%s in view.\n", turns, plural);
    else if (remaining >= turns)
        printf("%.0f turn%s in view, %.0f allowed: nothing to hide.\n", turns, plural, limit);
    else if (event <= 0)
        printf("%.0f turn%s in view, %.0f allowed: %.0f would be left.\n", turns, plural, limit,
               remaining);
    else
        printf("%sHidden%s: %s; %.0f of %.0f turn%s left. maki history undo %s %.0f undoes it.\n",
               s->green, s->off, maki_json_text_field(answer, "effect", effect, sizeof effect),
               remaining, turns, plural, parsed->args.conversation, event);
}

static void print_run(maki_str answer, const cli_parsed *parsed)
{
    const cli_style *s = &parsed->style;
    maki_str within, facts;
    char action[40], effect[240];
    maki_json_text_field(answer, "action", action, sizeof action);
    if (cli_streq(action, "none")) {
        printf("There is nothing to hide: %.0f tokens.\n",
               maki_json_number_field(answer, "tokensAfter"));
        return;
    }
    maki_json_text_field(answer, "effect", effect, sizeof effect);
    printf("%s%s%s: %.0f -> %.0f tokens (%.0f %% less), %s%s%.0f ms", s->green, action, s->off,
           maki_json_number_field(answer, "tokensBefore"),
           maki_json_number_field(answer, "tokensAfter"),
           100 * maki_json_number_field(answer, "reduction"), effect, effect[0] ? ", " : "",
           maki_json_number_field(answer, "compressionTime"));
    print_facts(answer);
    printf("\n");
    if (show_field(answer, "within", &within) && !maki_json_true(within))
        printf("It is still over the %.0f tokens allowed.\n",
               maki_json_number_field(answer, "allowed"));
    if (show_field(answer, "preview", &facts))
        printf("Dry run: nothing was changed.\n");
    else
        printf("maki history undo-run %s undoes it.\n", parsed->args.conversation);
}

/* ---- the table ------------------------------------------------------------------------------------- */

const answer_row *answer_find(const char *name)
{
    static const answer_row rows[] = {
        { .name = "append", .run = stream_append },
        { .name = "change", .print = print_change },
        { .name = "delete", .run = stream_delete },
        { .name = "export", .run = stream_export },
        { .name = "fields", .print = print_fields },
        { .name = "fork", .print = print_fork },
        { .name = "import", .run = stream_import },
        { .name = "limit", .print = print_limit },
        { .name = "log", .run = stream_log },
        { .name = "run", .print = print_run },
        { .name = "session", .print = print_session_state },
        { .name = "sessions", .print = print_sessions },
        { .name = "show", .run = stream_show },
        { .name = "status", .print = print_status },
        { .name = "view", .run = stream_view },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (cli_streq(rows[i].name, name)) return &rows[i];
    }
    return answer_find("fields");
}
