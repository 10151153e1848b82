/* cmd_tour.c -- maki tour: a conversation condensed, truncated and rewound, printed after each step.
 *
 * The operations of the library compute each step; the summary is a constant, so no model and no key are needed.
 * A step that fails ends the program with an error, because the tour is also a test. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/str_util.h"
#include "cli.h"
#include "message_print.h"

static const char usage[] =
    "maki tour    condense, truncate and rewind a sample conversation, step by step\n"
    "\n"
    "Nothing is written and nothing is sent.\n"
    "\n"
    "Example:\n"
    "  maki tour | less -R\n";

static const char sample[] =
    "[{\"role\":\"user\",\"content\":\"ログイン画面が落ちます。直してください。\",\"ts\":100},"
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"I will look at it.\"},"
    "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"read_file\",\"input\":{\"path\":"
    "\"src/login.ts\"}}],\"ts\":200},"
    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":"
    "\"export const name = user.profile.name // user may be null\"}],\"ts\":300},"
    "{\"role\":\"assistant\",\"content\":\"`user` が null のとき login.ts の 1 行目で落ちます。 🐛\",\"ts\":400},"
    "{\"role\":\"user\",\"content\":\"修好它，并加一个测试。\",\"ts\":500},"
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Writing the fix.\"},"
    "{\"type\":\"tool_use\",\"id\":\"t2\",\"name\":\"write_file\",\"input\":{\"path\":"
    "\"src/login.ts\"}}],\"ts\":600},"
    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t2\",\"content\":"
    "\"written\"}],\"ts\":700},"
    "{\"role\":\"assistant\",\"content\":\"고쳤습니다. 테스트도 추가했습니다. ✅\",\"ts\":800},"
    "{\"role\":\"user\",\"content\":\"Now run the build.\",\"ts\":900}]";

static const char summary[] =
    "{\"chunks\":[\"Previous Conversation: the login screen crashed. Relevant Files: src/login.ts. "
    "Problem Solving: user may be null; fixed. Pending Tasks: run the build.\"],\"cost\":0.002}";

typedef struct tour {
    maki *m;
    maki_buf input, output;
    cli_style style;
} tour;

/* Run an operation on t->input, and clear that; returns `field` of the answer, which is in t->output. */
static maki_str run_op(tour *t, const char *op, const char *field)
{
    maki_err err = { 0 };
    maki_str answer, value = { "", 0 };
    maki_status st = cli_run_op(t->m, op, cli_text(&t->input), &t->output, &answer, &err);
    maki_buf_clear(&t->input);
    if (st != MAKI_OK || !show_field(answer, field, &value)) exit(cli_fail("tour", &err));
    return value;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_message(size_t number, maki_str message, const cli_style *s)
{
    maki_str ignored;
    char role[16];
    bool hidden = show_field(message, "condenseParent", &ignored) ||
                  show_field(message, "truncationParent", &ignored);
    bool synthetic = show_field(message, "isSummary", &ignored) ||
                     show_field(message, "isTruncationMarker", &ignored);
    printf("  %s%2zu %s ",
           hidden      ? s->dim
           : synthetic ? s->yellow
                       : "",
           number,
           hidden      ? "·"
           : synthetic ? "▸"
                       : " ");
    printf("%-9s ", maki_json_text_field(message, "role", role, sizeof role));
    show_content(message, 160);
    printf("%s\n", s->off);
}

static void print_messages(maki_str messages, const cli_style *s)
{
    size_t n = 0;
    MAKI_JSON_EACH(item, maki_json_items(messages))
        print_message(++n, item.value, s);
    printf("\n");
}

static void print_title(const char *number, const char *text, const char *command,
                        const cli_style *s)
{
    printf("%s%s %s%s  %s%s%s\n", s->bold, number, text, s->off, s->dim, command, s->off);
}

/* The rewind needs the id of the condense, which is in the summary: message 7 of the condensed ones. */
static void rewind_condensed(tour *t, maki_str condensed)
{
    maki_str id = MAKI_LIT("\"\"");
    maki_buf messages = cli_buf();
    maki_buf_add(&messages, condensed); /* t->output is overwritten by the next operation */
    MAKI_JSON_EACH(item, maki_json_items(cli_text(&messages))) {
        if (maki_json_true_field(item.value, "isSummary"))
            show_field(item.value, "condenseId", &id);
    }
    maki_buf_print(&t->input,
                   "{\"ui\":[{\"ts\":100,\"say\":\"user\"},{\"ts\":500,\"say\":\"user\"},"
                   "{\"ts\":950,\"say\":\"condense_context\",\"contextCondense\":"
                   "{\"condenseId\":%.*s}}],\"by\":\"ts\",\"value\":500,\"api\":",
                   MAKI_PRINTED(id));
    maki_buf_add(&t->input, cli_text(&messages));
    maki_buf_add(&t->input, MAKI_LIT("}"));
    print_messages(run_op(t, "history.rewind", "api"), &t->style);
    maki_buf_free(&messages);
}

static void play(tour *t)
{
    const cli_style *s = &t->style;
    printf("\n%sMaki%s %s  巻き: every word is kept; what a model is sent is a view of it.\n\n",
           s->bold, s->off, maki_version());
    print_title("1", "A conversation of nine messages, with two tool calls.", "", s);
    print_messages((maki_str){ sample, sizeof sample - 1 }, s);

    print_title("2",
                "Condensed: the middle is hidden (·), not deleted, and a summary (▸) replaces it.",
                "maki op history.condense", s);
    maki_buf_print(&t->input,
                   "{\"messages\":%s,\"prevContextTokens\":5000,\"useNativeTools\":true,"
                   "\"summarizer\":%s}",
                   sample, summary);
    maki_buf condensed = cli_buf();
    maki_buf_add(&condensed, run_op(t, "history.condense", "messages"));
    print_messages(cli_text(&condensed), s);

    print_title(
        "3",
        "What is sent to the model now.  The summary carries the call of the result that stays.",
        "maki op history.effective", s);
    maki_buf_add(&t->input, MAKI_LIT("{\"messages\":"));
    maki_buf_add(&t->input, cli_text(&condensed));
    maki_buf_add(&t->input, MAKI_LIT("}"));
    print_messages(run_op(t, "history.effective", "messages"), s);

    print_title("4",
                "Truncated instead: half of it is hidden behind a marker; that needs no model.",
                "maki op history.truncate", s);
    maki_buf_print(&t->input, "{\"messages\":%s,\"fraction\":0.5}", sample);
    print_messages(run_op(t, "history.truncate", "messages"), s);

    print_title("5",
                "The condensed one rewound to message 5: the summary goes, all it hid is back.",
                "maki op history.rewind", s);
    rewind_condensed(t, cli_text(&condensed));
    maki_buf_free(&condensed);
}

static int run(int argc, char **argv)
{
    tour t = { .input = cli_buf(), .output = cli_buf(), .style = cli_style_of(STDOUT_FILENO) };
    maki_err err = { 0 };
    size_t positional;
    int code = cli_read_options(&cli_tour, argc, argv, NULL, 0, &positional);
    if (code) return code;
    if (maki_open(NULL, &t.m, &err) != MAKI_OK) return cli_fail("tour", &err);
    play(&t);
    printf(
        "Next:  maki op --list   |   maki op history.rewind --help   |   docs/architecture.md\n\n");
    maki_buf_free(&t.input);
    maki_buf_free(&t.output);
    maki_close(t.m);
    return 0;
}

const cli_command cli_tour = { .name = "tour",
                               .help = "a sample conversation condensed, truncated and rewound",
                               .run = run,
                               .usage = usage };
