/* cmd_tour.c -- maki tour: a conversation condensed, truncated and rewound before your eyes.
 *
 * Everything shown is computed by the operations of the library; only the summary is told to it, so
 * that no model and no key are needed. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "message_print.h"

static const char usage[] =
    "maki tour    a sample conversation, condensed, truncated and rewound in the terminal\n"
    "\n"
    "Nothing is written and nothing is sent.\n"
    "\n"
    "Example:\n"
    "  maki tour | less -R\n";

/* Written for this tour. */
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

/* Run an operation on an input put together from parts; `field` of the answer is returned as text
 * that the caller frees.  The program ends when it fails: the tour is part of the tests. */
static maki_str ask(maki *m, const char *op, const char *field, const char *fmt, ...)
    MAKI_PRINTF(4, 5);

static maki_str ask(maki *m, const char *op, const char *field, const char *fmt, ...)
{
    char *input = NULL;
    maki_buf capacity = cli_buf();
    maki_err err = { 0 };
    maki_str whole, value;
    va_list args;
    va_start(args, fmt);
    int n = vasprintf(&input, fmt, args);
    va_end(args);
    if (n < 0) exit(maki_status_exit(MAKI_NOMEM));
    maki_status st = cli_ask(m, op, (maki_str){ input, (size_t)n }, &capacity, &whole, &err);
    free(input);
    if (st != MAKI_OK || !maki_json_get(whole, (maki_str){ field, strlen(field) }, &value)) {
        exit(cli_fail("tour", &err));
    }
    char *copy = strndup(value.ptr, value.len);
    maki_buf_free(&capacity);
    if (!copy) exit(maki_status_exit(MAKI_NOMEM));
    return (maki_str){ copy, strlen(copy) };
}

static void drop(maki_str text)
{
    free((void *)(size_t)text.ptr);
}

/* ---- showing it ------------------------------------------------------------------------------ */

static void print_message(size_t number, maki_str message, const cli_style *s)
{
    maki_str ignored;
    char role[16];
    bool hidden = show_field(message, "condenseParent", &ignored) ||
                  show_field(message, "truncationParent", &ignored);
    bool made = show_field(message, "isSummary", &ignored) ||
                show_field(message, "isTruncationMarker", &ignored);
    printf("  %s%2zu %s ",
           hidden ? s->dim
           : made ? s->yellow
                  : "",
           number,
           hidden ? "·"
           : made ? "▸"
                  : " ");
    printf("%-9s ", maki_json_text_field(message, "role", role, sizeof role));
    show_content(message, 160);
    printf("%s\n", s->off);
}

static void show(maki_str messages, const cli_style *s)
{
    maki_json_iter iter = maki_json_items(messages);
    maki_json_item item;
    size_t n = 0;
    while (maki_json_next(&iter, &item))
        print_message(++n, item.value, s);
    printf("\n");
}

static void title(const char *number, const char *text, const char *command, const cli_style *s)
{
    printf("%s%s %s%s  %s%s%s\n", s->bold, number, text, s->off, s->dim, command, s->off);
}

static int run(int argc, char **argv)
{
    maki *m = NULL;
    maki_err err = { 0 };
    cli_style s = cli_style_of(STDOUT_FILENO);
    size_t words;
    int code = cli_read(&cli_tour, argc, argv, NULL, 0, &words);
    if (code) return code;
    if (maki_open(NULL, &m, &err) != MAKI_OK) return cli_fail("tour", &err);
    maki_str all = { sample, sizeof sample - 1 };

    printf("\n%sMaki%s %s  巻き: every word is kept; only what fits is sent.\n\n", s.bold, s.off,
           maki_version());
    title("1", "A conversation of nine messages, with two tool calls.", "", &s);
    show(all, &s);

    title("2", "Condensed: the middle is tagged, not deleted (·), and a summary (▸) stands for it.",
          "maki op history.condense", &s);
    maki_str condensed = ask(m, "history.condense", "messages",
                             "{\"messages\":%s,\"prevContextTokens\":5000,\"useNativeTools\":true,"
                             "\"summarizer\":%s}",
                             sample, summary);
    show(condensed, &s);

    title("3", "What the model is sent now. The call of the kept result went along in the summary.",
          "maki op history.effective", &s);
    maki_str effective =
        ask(m, "history.effective", "messages", "{\"messages\":%s}", condensed.ptr);
    show(effective, &s);

    title("4", "Truncated instead: no model needed, half of it hidden behind a marker.",
          "maki op history.truncate", &s);
    maki_str truncated =
        ask(m, "history.truncate", "messages", "{\"messages\":%s,\"fraction\":0.5}", sample);
    show(truncated, &s);

    title("5", "Rewound to message 5 of the condensed one: the summary goes, all it hid is back.",
          "maki op history.rewind", &s);
    maki_str id = ask(m, "history.sequence", "messages",
                      "{\"messages\":%s,\"steps\":[{\"op\":\"slice\",\"start\":6,\"end\":7}]}",
                      condensed.ptr);
    maki_json_iter iter = maki_json_items(id);
    maki_json_item made;
    maki_str condense_id = MAKI_LIT("\"\"");
    if (maki_json_next(&iter, &made)) show_field(made.value, "condenseId", &condense_id);
    maki_str rewound = ask(m, "history.rewind", "api",
                           "{\"ui\":[{\"ts\":100,\"say\":\"user\"},{\"ts\":500,\"say\":\"user\"},"
                           "{\"ts\":950,\"say\":\"condense_context\",\"contextCondense\":"
                           "{\"condenseId\":%.*s}}],\"api\":%s,\"by\":\"ts\",\"value\":500}",
                           (int)condense_id.len, condense_id.ptr, condensed.ptr);
    show(rewound, &s);

    printf(
        "Go on:  maki op --list   |   maki op history.rewind --help   |   docs/architecture.md\n\n");
    drop(condensed);
    drop(effective);
    drop(truncated);
    drop(id);
    drop(rewound);
    maki_close(m);
    return 0;
}

const cli_command cli_tour = { .name = "tour",
                               .help = "a conversation condensed, truncated and rewound",
                               .run = run,
                               .usage = usage };
