/* cmd_demo.c -- maki demo: play three scripted conversations through the daemon, with no key and no model.
 *
 * The conversations are small tasks in English, Japanese and Chinese.  Requests go to the daemon like those of any agent; its
 * upstream is the fake provider, whose replies are given in the header x-fake.  Everything else is real: the proxy, the
 * session index, the log.  The programs that it starts end with it. */
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json_access.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "cli.h"
#include "demo_managed.h"
#include "http.h"

static const char usage[] =
    "maki demo [--url URL] [--once]\n"
    "\n"
    "A sample agent holds three conversations through the daemon, with a fake provider: no key is needed\n"
    "and nothing leaves this machine.  They are recorded like any other conversation.  A fourth one, longer, is\n"
    "kept within a small window: pinned, trimmed, condensed, and a step undone.\n"
    "\n";

static const char notes[] = "\n"
                            "Example:\n"
                            "  maki demo --once && maki session list\n";

#define DEMO_PORT "4748" /* of the daemon's built-in upstream `demo` */

/* ---- the script ---------------------------------------------------------------------------------- */

/* A turn: the user's message and the reply; with a tool, first the text before the call, the call and its result. */
typedef struct demo_turn {
    const char *user;
    const char *text_before, *tool, *arguments, *result;
    const char *reply;
    bool limited; /* the provider refuses the first request: 429 */
} demo_turn;

enum { TURNS_MAX = 3, CALL_ID_MAX = 64 };
static const struct demo_conversation {
    const char *title, *system;
    demo_turn turns[TURNS_MAX];
} conversations[] = {
    { "English: a crash at login",
      "You are a careful programmer. Read before you write.",
      { { "The login page crashes for new users. Please find out why.",
          "I will look at the code first.", "read_file", "{\"path\":\"src/login.c\"}",
          "1  char *greeting(const user *u)\n2  {\n3      return concat(\"Hello \", u->profile->name);\n4  }\n",
          "Line 3 reads u->profile->name, and a new user has no profile yet. I can add a check.",
          false },
        { "Do that, and run the tests.", "Writing the fix.", "edit_file",
          "{\"path\":\"src/login.c\",\"line\":3,\"text\":\"    if (!u->profile) return concat(\\\"Hello\\\", "
          "\\\"\\\");\"}",
          "written; 14 tests passed",
          "Fixed. A new user is greeted without a name, and all 14 tests pass.", false },
        { .user = "Thanks!", .reply = "You are welcome. 🍣", .limited = true } } },
    { "日本語: 遅い検索",
      "あなたは慎重なプログラマーです。",
      { { "検索が遅いです。原因を調べてください。", "まず計測します。", "run_command",
          "{\"command\":\"perf report --stdio | head -3\"}", "62.1%  scan_rows\n 9.4%  memcpy\n",
          "時間の 62 % は scan_rows です。索引がないため、毎回すべての行を読んでいます。", false },
        { "索引を追加してください。", "追加して、もう一度計測します。", "run_command",
          "{\"command\":\"make bench\"}", "search: 41.0 ms -> 0.8 ms\n",
          "索引を追加しました。検索は 41 ミリ秒から 0.8 ミリ秒になりました。🎏", false } } },
    { "中文：翻译说明书",
      "你是一位细心的技术作者。",
      { { "请把 README 的第一段翻译成中文。", "我先读一下原文。", "read_file",
          "{\"path\":\"README.md\"}",
          "Maki keeps every word of a conversation; what a model is sent is a view of it.\n",
          "“Maki 保留对话中的每一个字，只发送放得下的部分。”", false },
        { .user = "很好，谢谢。", .reply = "不客气！还有别的段落需要翻译吗？" } } },
};

/* ---- a conversation ------------------------------------------------------------------------------ */

typedef struct agent {
    cli_url daemon;
    cli_style style;
    const struct demo_conversation *conversation;
    maki_buf messages; /* JSON values separated by commas */
} agent;

static void append_message(agent *a, maki_str json)
{
    if (a->messages.len) maki_buf_add(&a->messages, MAKI_LIT(","));
    maki_buf_add(&a->messages, json);
}

static void append_text(agent *a, const char *role, const char *call_id, const char *text)
{
    maki_buf message = cli_buf();
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(&message), NULL);
    maki_jw_print(&w, "{'role':%z,'tool_call_id':%z,'content':%s}", role, call_id,
                  maki_str_of(text));
    if (maki_jw_end(&w) == MAKI_OK) append_message(a, cli_text(&message));
    maki_buf_free(&message);
}

static void print_line(const agent *a, const char *role, const char *text)
{
    printf("  %s%-9s%s %.*s\n", a->style.dim, role, a->style.off, (int)strcspn(text, "\n"), text);
    fflush(stdout);
}

/* The first value of an array; len 0: there is none. */
static maki_str first_item(maki_str array)
{
    maki_json_iter iter = maki_json_items(array);
    maki_json_item item = { 0 };
    return maki_json_next(&iter, &item) ? item.value : (maki_str){ "", 0 };
}

/* Header fields that set the reply of the fake provider: a text, and with `call` its tool call. */
static void format_fields(maki_buf *out, const char *reply, const demo_turn *call)
{
    maki_buf_print(out, "Content-Type: application/json\r\nUser-Agent: maki-demo\r\nx-fake: say:");
    for (const char *c = reply; *c; c++)
        maki_buf_print(out, "%%%02X", (unsigned)(unsigned char)*c);
    if (call) maki_buf_print(out, ",tool:%s %s", call->tool, call->arguments);
    maki_buf_add(out, (maki_str){ "\r\n", 3 }); /* the NUL too: it is used as a C string */
}

/* Send the messages so far, and append the reply.  `call_id` (CALL_ID_MAX bytes) gets the id of its call, or "".
 * Returns the HTTP status, or 0 and *err. */
static int send_request(agent *a, const char *fields, char *call_id, maki_err *err)
{
    maki_buf body = cli_buf();
    maki_buf answer = cli_buf();
    maki_str value;
    maki_buf_add(&body, MAKI_LIT("{\"model\":\"fake\",\"messages\":["));
    maki_buf_add(&body, cli_text(&a->messages));
    maki_buf_add(&body, MAKI_LIT("]}"));
    int status = cli_http_request(&a->daemon, "POST", "/u/demo/v1/chat/completions", fields,
                                  cli_text(&body), &answer, err);
    maki_buf_free(&body);
    call_id[0] = '\0';
    if (status == 200 && maki_json_check(cli_text(&answer), &value, err) == MAKI_OK) {
        maki_str message =
            maki_json_field(first_item(maki_json_field(value, "choices")), "message");
        maki_str call = first_item(maki_json_field(message, "tool_calls"));
        if (message.len) append_message(a, message);
        maki_json_text_field(call, "id", call_id, CALL_ID_MAX);
    }
    maki_buf_free(&answer);
    return status;
}

/* Send a request that the fake provider answers with `reply`, and print that. */
static int play_reply(agent *a, const char *reply, const demo_turn *call, char *call_id,
                      maki_err *err)
{
    maki_buf fields = cli_buf();
    format_fields(&fields, reply, call);
    int status = send_request(a, cli_text(&fields).ptr, call_id, err);
    maki_buf_free(&fields);
    if (status == 200) print_line(a, "assistant", reply);
    if (status == 200 && call) print_line(a, "  calls", call->tool);
    return status;
}

static int play_turn(agent *a, const demo_turn *turn, maki_err *err)
{
    char call_id[CALL_ID_MAX];
    print_line(a, "user", turn->user);
    append_text(a, "user", NULL, turn->user);
    if (turn->tool) {
        int status = play_reply(a, turn->text_before, turn, call_id, err);
        if (status != 200) return status;
        print_line(a, "tool", turn->result);
        append_text(a, "tool", call_id, turn->result);
    }
    if (turn->limited) {
        int status = send_request(
            a, "Content-Type: application/json\r\nUser-Agent: maki-demo\r\nx-fake: 429\r\n",
            call_id, err);
        if (status != 429) return status;
        print_line(a, "provider", "429, too many requests: sent again");
    }
    return play_reply(a, turn->reply, NULL, call_id, err);
}

static int play_conversation(agent *a, maki_err *err)
{
    int status = 200;
    printf("%s%s%s\n", a->style.bold, a->conversation->title, a->style.off);
    a->messages = cli_buf();
    append_text(a, "system", NULL, a->conversation->system);
    for (size_t i = 0; status == 200 && i < TURNS_MAX && a->conversation->turns[i].user; i++)
        status = play_turn(a, &a->conversation->turns[i], err);
    maki_buf_free(&a->messages);
    printf("\n");
    return status;
}

/* ---- the daemon ---------------------------------------------------------------------------------- */

typedef struct servers {
    pid_t provider_pid, daemon_pid; /* -1: not started here */
    cli_url provider, daemon;
} servers;

static bool is_answering(const cli_url *url, const char *path)
{
    maki_buf answer = cli_buf();
    int status =
        cli_http_request(url, "GET", path, "", (maki_str){ "", 0 }, &answer, &(maki_err){ 0 });
    maki_buf_free(&answer);
    return status == 200;
}

/* Is a fake provider behind /u/demo/ already? */
static bool has_provider(const cli_url *url)
{
    maki_buf answer = cli_buf();
    int status = cli_http_request(url, "GET", "/u/demo/v1/models", "", (maki_str){ "", 0 }, &answer,
                                  &(maki_err){ 0 });
    bool fake = status == 200 && maki_str_contains(cli_text(&answer), MAKI_LIT("\"fake\""));
    maki_buf_free(&answer);
    return fake;
}

static bool start_daemon(servers *s, maki_err *err)
{
    char upstream[300];
    snprintf(upstream, sizeof upstream, "demo=%s", s->provider.text);
    const char *argv[] = { "maki-serve", "--listen",    "127.0.0.1:0", "--upstream",
                           upstream,     "--log-level", "warn",        NULL };
    s->daemon_pid = cli_start_sibling(argv, &s->daemon, err);
    return s->daemon_pid > 0;
}

/* A running daemon forwards /u/demo/ to port DEMO_PORT; start one when none runs, unless the user named one. */
static bool start_servers(servers *s, bool named, maki_err *err)
{
    const char *fixed_port[] = { "maki-fake-provider", "--port", DEMO_PORT, NULL };
    const char *any_port[] = { "maki-fake-provider", NULL };
    if (is_answering(&s->daemon, "/maki/health")) {
        if (has_provider(&s->daemon)) return true;
        s->provider_pid = cli_start_sibling(fixed_port, &s->provider, err);
        if (s->provider_pid < 0) return false;
        if (is_answering(&s->daemon, "/u/demo/v1/models")) return true;
        maki_fail(err, MAKI_UPSTREAM,
                  "%s does not forward /u/demo/ to %s: another program listens there",
                  s->daemon.text, s->provider.text);
        return false;
    }
    if (named) {
        maki_fail(err, MAKI_UPSTREAM,
                  "no daemon answers at %s; without --url and MAKI_URL the demo starts one",
                  s->daemon.text);
        return false;
    }
    s->provider_pid = cli_start_sibling(any_port, &s->provider, err);
    return s->provider_pid > 0 && start_daemon(s, err);
}

/* Wait for Ctrl-C, so that the daemon's page stays available. */
static void wait_for_user(const servers *s)
{
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    printf("The conversations are at %s/ until Ctrl-C ends the daemon of the demo.\n",
           s->daemon.text);
    fflush(stdout);
    sigwait(&set, &number);
}

static int play(servers *s, bool once, maki_err *err)
{
    agent a = { .daemon = s->daemon, .style = cli_style_of(STDOUT_FILENO) };
    printf("The daemon: %s%s\nThe provider: %s (fake)\n\n", s->daemon.text,
           s->daemon_pid > 0 ? " (started for this demo)" : "",
           s->provider_pid > 0 ? s->provider.text : "running");
    for (size_t i = 0; i < sizeof conversations / sizeof conversations[0]; i++) {
        a.conversation = &conversations[i];
        int status = play_conversation(&a, err);
        if (status == 0) return cli_fail("demo", err);
        if (status != 200) {
            fprintf(stderr, "maki demo: the daemon answered HTTP %d\n", status);
            return maki_status_exit(MAKI_UPSTREAM);
        }
    }
    printf(
        "%sEnglish: a long one, kept within a small window%s\n  condensed, trimmed, a step undone\n\n",
        a.style.bold, a.style.off);
    int status = cli_demo_managed(&s->daemon, err);
    if (status == 0) return cli_fail("demo", err);
    if (status != 200) {
        fprintf(stderr, "maki demo: the daemon answered HTTP %d\n", status);
        return maki_status_exit(MAKI_UPSTREAM);
    }
    printf("Four conversations are in the log:  maki session list  |  maki session show ID\n");
    if (s->daemon_pid > 0 && !once && isatty(STDIN_FILENO)) wait_for_user(s);
    return 0;
}

typedef struct request {
    const char *url;
    bool once;
} request;

static const maki_option flags[] = {
    { "--url URL", offsetof(request, url),
      CLI_URL_HELP "\nif none is named and none answers, one is started for the demo" },
    { "--once", offsetof(request, once),
      "end after the conversations, and with them the daemon that was started" },
};

static int run(int argc, char **argv)
{
    servers s = { .provider_pid = -1, .daemon_pid = -1 };
    request r = { 0 };
    size_t positional;
    maki_err err = { 0 };
    int code = cli_read_options(&cli_demo, argc, argv, &r, 0, &positional);
    if (code) return code;
    code = cli_url_of_daemon("demo", r.url, &s.daemon);
    if (code) return code;
    code = start_servers(&s, r.url || getenv("MAKI_URL"), &err) ? play(&s, r.once, &err)
                                                                : cli_fail("demo", &err);
    cli_stop(s.daemon_pid);
    cli_stop(s.provider_pid);
    return code;
}

const cli_command cli_demo = { .name = "demo",
                               .help = "sample conversations, with no key and no model",
                               .run = run,
                               .usage = usage,
                               CLI_OPTIONS(flags),
                               .notes = notes };
