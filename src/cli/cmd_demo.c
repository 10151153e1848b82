/* cmd_demo.c -- maki demo: conversations arrive before your eyes, with no key and no model.
 *
 * A sample agent works on three small tasks, in English, Japanese and Chinese.  It speaks to the daemon as
 * any agent does; behind the daemon stands the fake provider, which is told (header x-fake) what a model
 * would have said.  Everything else is real: the proxy, the recognising, the log. */
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_print.h"
#include "base/str.h"
#include "cli.h"
#include "http.h"

static const char usage[] =
    "maki demo [--url URL] [--once]\n"
    "\n"
    "A sample agent holds three conversations through the daemon, with a provider that is fake: no key\n"
    "is needed and nothing leaves this machine.  They are recorded like any other.\n"
    "\n";

static const char notes[] = "\n"
                            "Example:\n"
                            "  maki demo --once && maki session list\n";

#define DEMO_PORT "4748" /* where the daemon expects the upstream `demo` */

/* ---- what is said -------------------------------------------------------------------------------- */

/* A turn: what the user asks; with a tool, what the model says before it calls it and what it gets. */
typedef struct demo_turn {
    const char *user;
    const char *looking, *tool, *arguments, *result;
    const char *reply;
} demo_turn;

enum { TURNS_MAX = 3 };
static const struct demo_talk {
    const char *title, *system;
    demo_turn turns[TURNS_MAX];
} talks[] = {
    { "English: a crash at login",
      "You are a careful programmer. Read before you write.",
      { { "The login page crashes for new users. Please find out why.",
          "I will look at the code first.", "read_file", "{\"path\":\"src/login.c\"}",
          "1  char *greeting(const user *u)\n2  {\n3      return concat(\"Hello \", u->profile->name);\n4  }\n",
          "Line 3 reads u->profile->name, and a new user has no profile yet. I can add a check." },
        { "Do that, and run the tests.", "Writing the fix.", "edit_file",
          "{\"path\":\"src/login.c\",\"line\":3,\"text\":\"    if (!u->profile) return concat(\\\"Hello\\\", "
          "\\\"\\\");\"}",
          "written; 14 tests passed",
          "Fixed. A new user is greeted without a name, and all 14 tests pass." },
        { .user = "Thanks!", .reply = "You are welcome. 🍣" } } },
    { "日本語: 遅い検索",
      "あなたは慎重なプログラマーです。",
      { { "検索が遅いです。原因を調べてください。", "まず計測します。", "run_command",
          "{\"command\":\"perf report --stdio | head -3\"}", "62.1%  scan_rows\n 9.4%  memcpy\n",
          "時間の 62 % は scan_rows です。索引がないため、毎回すべての行を読んでいます。" },
        { "索引を追加してください。", "追加して、もう一度計測します。", "run_command",
          "{\"command\":\"make bench\"}", "search: 41.0 ms -> 0.8 ms\n",
          "索引を追加しました。検索は 41 ミリ秒から 0.8 ミリ秒になりました。🎏" } } },
    { "中文：翻译说明书",
      "你是一位细心的技术作者。",
      { { "请把 README 的第一段翻译成中文。", "我先读一下原文。", "read_file",
          "{\"path\":\"README.md\"}",
          "Maki keeps every word of a conversation, and sends only what fits.\n",
          "“Maki 保留对话中的每一个字，只发送放得下的部分。”" },
        { .user = "很好，谢谢。", .reply = "不客气！还有别的段落需要翻译吗？" } } },
};

/* ---- a conversation ------------------------------------------------------------------------------ */

typedef struct agent {
    cli_url daemon;
    cli_style style;
    const struct demo_talk *talk;
    maki_buf messages; /* JSON values separated by commas */
} agent;

static void add_message(agent *a, maki_str json)
{
    if (a->messages.len) maki_buf_add(&a->messages, MAKI_LIT(","));
    maki_buf_add(&a->messages, json);
}

static void add_said(agent *a, const char *role, const char *call_id, const char *text)
{
    maki_buf message = cli_buf();
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(&message), NULL);
    maki_jw_print(&w, "{'role':%z,'tool_call_id':%z,'content':%s}", role, call_id,
                  maki_str_of(text));
    if (maki_jw_end(&w) == MAKI_OK) add_message(a, cli_text(&message));
    maki_buf_free(&message);
}

static void print_line(const agent *a, const char *who, const char *text)
{
    printf("  %s%-9s%s %.*s\n", a->style.dim, who, a->style.off, (int)strcspn(text, "\n"), text);
    fflush(stdout);
}

/* The header that tells the fake provider what to say, and which tool to call. */
static char *told(const char *say, const char *tool, const char *arguments)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out) exit(maki_status_exit(MAKI_NOMEM));
    fputs("Content-Type: application/json\r\nUser-Agent: maki-demo\r\nx-fake: say:", out);
    for (const char *at = say; *at; at++)
        fprintf(out, "%%%02X", (unsigned)(unsigned char)*at);
    if (tool) fprintf(out, ",tool:%s %s", tool, arguments);
    fputs("\r\n", out);
    if (fclose(out) != 0 || !text) exit(maki_status_exit(MAKI_NOMEM));
    return text;
}

/* Send what was said so far, and take up the answer.  `call_id` (room for 64) gets the id of a call.
 * Returns the HTTP status, or 0 with words in *err. */
static int ask_model(agent *a, const char *fields, char *call_id, maki_err *err)
{
    maki_buf body = cli_buf();
    maki_buf answer = cli_buf();
    maki_str whole, choices, message, calls;
    maki_buf_add(&body, MAKI_LIT("{\"model\":\"fake\",\"messages\":["));
    maki_buf_add(&body, cli_text(&a->messages));
    maki_buf_add(&body, MAKI_LIT("]}"));
    int status = cli_http(&a->daemon, "POST", "/u/demo/v1/chat/completions", fields,
                          cli_text(&body), &answer, err);
    maki_buf_free(&body);
    call_id[0] = '\0';
    if (status == 200 && maki_json_check(cli_text(&answer), &whole, err) == MAKI_OK &&
        maki_json_get(whole, MAKI_LIT("choices"), &choices)) {
        maki_json_iter iter = maki_json_items(choices);
        maki_json_item item;
        if (maki_json_next(&iter, &item) &&
            maki_json_get(item.value, MAKI_LIT("message"), &message)) {
            add_message(a, message);
            bool called = maki_json_get(message, MAKI_LIT("tool_calls"), &calls);
            iter = maki_json_items(called ? calls : MAKI_LIT("[]"));
            if (maki_json_next(&iter, &item)) maki_json_text_field(item.value, "id", call_id, 64);
        }
    }
    maki_buf_free(&answer);
    return status;
}

/* Ask, and show the answer. */
static int say(agent *a, const char *words, const demo_turn *call, char *call_id, maki_err *err)
{
    char *fields = told(words, call ? call->tool : NULL, call ? call->arguments : NULL);
    int status = ask_model(a, fields, call_id, err);
    free(fields);
    if (status == 200) print_line(a, "assistant", words);
    if (status == 200 && call) print_line(a, "  calls", call->tool);
    return status;
}

static int play_turn(agent *a, const demo_turn *turn, maki_err *err)
{
    char call_id[64];
    print_line(a, "user", turn->user);
    add_said(a, "user", NULL, turn->user);
    if (turn->tool) {
        int status = say(a, turn->looking, turn, call_id, err);
        if (status != 200) return status;
        print_line(a, "tool", turn->result);
        add_said(a, "tool", call_id, turn->result);
    }
    return say(a, turn->reply, NULL, call_id, err);
}

static int play_talk(agent *a, maki_err *err)
{
    int status = 200;
    printf("%s%s%s\n", a->style.bold, a->talk->title, a->style.off);
    a->messages = cli_buf();
    add_said(a, "system", NULL, a->talk->system);
    for (size_t i = 0; status == 200 && i < TURNS_MAX && a->talk->turns[i].user; i++)
        status = play_turn(a, &a->talk->turns[i], err);
    maki_buf_free(&a->messages);
    printf("\n");
    return status;
}

/* ---- the daemon ---------------------------------------------------------------------------------- */

typedef struct stage {
    pid_t fake, daemon; /* what we started; -1: not */
    cli_url provider, address;
} stage;

static bool answers(const cli_url *url, const char *path)
{
    maki_buf answer = cli_buf();
    int status = cli_http(url, "GET", path, "", (maki_str){ "", 0 }, &answer, &(maki_err){ 0 });
    maki_buf_free(&answer);
    return status == 200;
}

static bool start_daemon(stage *s, maki_err *err)
{
    char upstream[300];
    snprintf(upstream, sizeof upstream, "demo=%s", s->provider.text);
    const char *argv[] = { "maki-serve", "--listen",    "127.0.0.1:0", "--upstream",
                           upstream,     "--log-level", "warn",        NULL };
    s->daemon = cli_start_sibling(argv, &s->address, err);
    return s->daemon > 0;
}

/* A daemon that runs hands /u/demo/ on to the provider, if that stands where it expects it. */
static bool set_stage(stage *s, maki_err *err)
{
    const char *expected[] = { "maki-fake-provider", "--port", DEMO_PORT, NULL };
    const char *anywhere[] = { "maki-fake-provider", NULL };
    if (answers(&s->address, "/maki/health")) {
        s->fake = cli_start_sibling(expected, &s->provider, err);
        if (s->fake > 0 && answers(&s->address, "/u/demo/v1/models")) return true;
    }
    if (s->fake < 0) s->fake = cli_start_sibling(anywhere, &s->provider, err);
    return s->fake > 0 && start_daemon(s, err);
}

/* Keep the page there until the user has seen it. */
static void wait_for_user(const stage *s)
{
    sigset_t ends;
    int number;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    printf("Look at %s/ now; Ctrl-C ends the daemon of the demo.\n", s->address.text);
    fflush(stdout);
    sigwait(&ends, &number);
}

static int play(stage *s, bool once, maki_err *err)
{
    agent a = { .daemon = s->address, .style = cli_style_of(STDOUT_FILENO) };
    printf("The daemon: %s%s\nThe provider: %s (fake)\n\n", s->address.text,
           s->daemon > 0 ? " (started for this demo)" : "", s->provider.text);
    for (size_t i = 0; i < sizeof talks / sizeof talks[0]; i++) {
        a.talk = &talks[i];
        int status = play_talk(&a, err);
        if (status == 0) return cli_fail("demo", err);
        if (status != 200) {
            fprintf(stderr, "maki demo: the daemon answered HTTP %d\n", status);
            return maki_status_exit(MAKI_UPSTREAM);
        }
    }
    printf("Three conversations are in the log:  maki session list  |  maki session show ID\n");
    if (s->daemon > 0 && !once && isatty(STDIN_FILENO)) wait_for_user(s);
    return 0;
}

typedef struct request {
    const char *url;
    bool once;
} request;

static const maki_option flags[] = {
    { "--url URL", offsetof(request, url),
      "the daemon ($MAKI_URL, else " CLI_DAEMON_URL
      ");\nwhen none answers, one is started for the demo" },
    { "--once", offsetof(request, once),
      "end when the conversations did, even if a daemon was started for them" },
};

static int run(int argc, char **argv)
{
    stage s = { .fake = -1, .daemon = -1 };
    request r = { 0 };
    size_t words;
    maki_err err = { 0 };
    int code = cli_read(&cli_demo, argc, argv, &r, 0, &words);
    if (code) return code;
    if (!cli_url_of_daemon(r.url, &s.address)) {
        return cli_misuse("demo", "the daemon's address is http://HOST:PORT, not ",
                          r.url ? r.url : getenv("MAKI_URL"));
    }
    code = set_stage(&s, &err) ? play(&s, r.once, &err) : cli_fail("demo", &err);
    cli_stop(s.daemon);
    cli_stop(s.fake);
    return code;
}

const cli_command cli_demo = { .name = "demo",
                               .help = "sample conversations, with no key and no model",
                               .run = run,
                               .usage = usage,
                               CLI_OPTIONS(flags),
                               .notes = notes };
