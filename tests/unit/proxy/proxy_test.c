/* proxy_test.c -- which conversation a request belongs to, and what the log holds afterwards. */
#include "proxy/proxy_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "directory.h"
#include "fake_env.h"
#include "history/conv.h"
#include "tap.h"

/* ---- exchanges ----------------------------------------------------------------------------------------- */

/* One exchange in a few words: "u:hello|a:hi|u:and now" are the messages, `reply` the text of the reply. */
typedef struct turn {
    const char *messages, *reply;
    const char *session, *client; /* x-maki-session and the client's own id; NULL: none */
    const char *key;              /* the credential; NULL: "key" */
    const char *system;           /* NULL: "be brief" */
    const char *path;             /* NULL: the usual one */
    int status;                   /* 0: 200 */
    int unused;                   /* so that SAY may have nothing to say of the rest */
} turn;

#define SAY(...)                SAY_(__VA_ARGS__, .unused = 0)
#define SAY_(said, answer, ...) ((turn){ .messages = (said), .reply = (answer), __VA_ARGS__ })

static void quote(char *out, const char *text, size_t n)
{
    sprintf(out + strlen(out), "\"%.*s\"", (int)n, text);
}

static void body_of(const turn *t, char *out, bool loose)
{
    const char *at = t->messages;
    sprintf(out, "{\"model\":\"m-1\",\"messages\":[{\"role\":\"system\",\"content\":\"%s\"}",
            t->system ? t->system : "be brief");
    while (*at) {
        size_t n = strcspn(at, "|");
        strcat(out, loose ? " ,\n {\"content\" : " : ",{\"content\":");
        quote(out, at + 2, n - 2);
        sprintf(out + strlen(out), ",\"role\":\"%s\"}", at[0] == 'u' ? "user" : "assistant");
        at += n + (at[n] == '|');
    }
    strcat(out, "],\"stream\":false}");
}

static void reply_of(const turn *t, char *out)
{
    sprintf(out,
            "{\"id\":\"r\",\"model\":\"m-1\",\"choices\":[{\"index\":0,\"message\":{\"role\":"
            "\"assistant\",\"content\":\"%s\"},\"finish_reason\":\"stop\"}],"
            "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}",
            t->reply);
    if (t->status >= 400)
        sprintf(out, "{\"error\":{\"message\":\"%s\"}}", t->reply[0] ? t->reply : "no");
}

static maki_str opt(const char *text)
{
    return text ? maki_str_of(text) : (maki_str){ "", 0 };
}

static void close_files(const maki_proxy *p, const maki_exchange_sync *sync)
{
    for (size_t i = 0; i < COUNT(sync->fds); i++) {
        if (sync->fds[i] >= 0) p->env.files->close(p->env.files, sync->fds[i]);
    }
}

static maki_status say_with(maki_proxy *p, const turn *t, bool loose, maki_err *err)
{
    static char body[1 << 16], reply[1 << 14];
    maki_exchange *x = NULL;
    maki_exchange_sync sync = { { -1, -1, -1 }, false };
    maki_exchange_info in = { .protocol = MAKI_WIRE_CHAT,
                              .upstream = MAKI_LIT("openai"),
                              .path = maki_str_of(t->path ? t->path : "/v1/chat/completions"),
                              .session = opt(t->session),
                              .client_id = opt(t->client),
                              .credential = opt(t->key ? t->key : "key") };
    body_of(t, body, loose);
    reply_of(t, reply);
    maki_status st = maki_exchange_begin(p, &in, &x, err);
    if (st != MAKI_OK) return st;
    st = maki_exchange_request(x, maki_str_of(body), err);
    if (st == MAKI_OK)
        st = maki_exchange_reply_head(x, t->status ? t->status : 200, MAKI_LIT("application/json"),
                                      err);
    for (size_t i = 0; st == MAKI_OK && reply[i]; i++)
        st = maki_exchange_reply(x, (maki_str){ reply + i, 1 }, err);
    if (st == MAKI_OK) st = maki_exchange_end(x, MAKI_EXCHANGE_DONE, &sync, err);
    if (st == MAKI_OK && sync.journal) st = maki_proxy_sync(p, err);
    close_files(p, &sync);
    maki_exchange_close(x);
    return st;
}

static void say(maki_proxy *p, turn t)
{
    maki_err err = { 0 };
    CHECK_STATUS(say_with(p, &t, false, &err), MAKI_OK, &err);
}

/* ---- the logs ------------------------------------------------------------------------------------------ */

static maki_status add_message(void *ctx, const maki_view_message *seen, maki_err *err)
{
    char *out = ctx, text[200];
    maki_str role, content;
    (void)err;
    if (!maki_json_get(seen->json, MAKI_LIT("role"), &role) ||
        !maki_json_get(seen->json, MAKI_LIT("content"), &content))
        return MAKI_OK;
    maki_json_iter blocks = maki_json_items(content);
    maki_json_item block;
    if (maki_json_next(&blocks, &block)) maki_json_get(block.value, MAKI_LIT("text"), &content);
    text[maki_json_copy_text(content, text, sizeof text - 1)] = '\0';
    sprintf(out + strlen(out), "%s%c:%s", out[0] ? "|" : "",
            maki_json_text_is(role, MAKI_LIT("user")) ? 'u' : 'a', text);
    return MAKI_OK;
}

/* The views of all conversations, sorted, one per line; and the number of rows. */
static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

enum { VIEW = 2000, VIEWS = 16 };

static size_t views_of(const char *home, char views[VIEWS][VIEW], uint64_t *rows)
{
    char sessions[400], path[800];
    struct dirent *entry;
    maki_env env = maki_env_system();
    maki_conv_options options = { .read_only = true, .threads = 1 };
    size_t n = 0;
    snprintf(sessions, sizeof sessions, "%s/agents/proxy/sessions", home);
    DIR *dir = opendir(sessions);
    *rows = 0;
    while (dir && (entry = readdir(dir)) != NULL) {
        maki_conv *conv = NULL;
        const maki_view *view;
        if (!strstr(entry->d_name, ".jsonl") || strstr(entry->d_name, ".events.")) continue;
        snprintf(path, sizeof path, "%s/%s", sessions, entry->d_name);
        if (n == VIEWS || maki_conv_open(&env, path, &options, &conv, NULL) != MAKI_OK) continue;
        views[n][0] = '\0';
        if (maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, NULL) == MAKI_OK)
            maki_conv_each(conv, view, add_message, views[n++], NULL);
        *rows += maki_log_last(maki_conv_log(conv));
        maki_conv_close(conv);
    }
    if (dir) closedir(dir);
    qsort(views, n, VIEW, by_text);
    return n;
}

static void check_views(const char *home, const char *want, uint64_t want_rows)
{
    static char views[VIEWS][VIEW], all[VIEWS * VIEW];
    uint64_t rows;
    size_t n = views_of(home, views, &rows);
    size_t len = 0;
    all[0] = '\0';
    for (size_t i = 0; i < n; i++)
        len += (size_t)snprintf(all + len, sizeof all - len, "%s%s", i ? "\n" : "", views[i]);
    CHECK_CSTR(all, want);
    CHECK_EQ(rows, want_rows);
}

/* ---- scenes -------------------------------------------------------------------------------------------- */

#define R(text) "<system-reminder>" text "</system-reminder>"

typedef struct scene {
    const char *name;
    turn turns[7];
    const char *views; /* afterwards, sorted, one a line */
    uint64_t rows;     /* in all logs */
} scene;

/* clang-format off */
static const scene scenes[] = {
    { "a conversation goes on by its prefix",
      { SAY("u:こんにちは", "はい"), SAY("u:こんにちは|a:はい|u:天気は", "晴れ🌞") },
      "u:こんにちは|a:はい|u:天気は|a:晴れ🌞", 4 },
    { "the same first words under two ids of the client are two conversations",
      { SAY("u:hi", "hello", .client = "one"), SAY("u:hi", "hello", .client = "two") },
      "u:hi|a:hello\nu:hi|a:hello", 4 },
    { "an identical request is a retry: a branch",
      { SAY("u:hi", "first"), SAY("u:hi", "second") },
      "u:hi|a:second", 3 },
    { "a retry after an error writes nothing twice",
      { SAY("u:hi", "", .status = 429), SAY("u:hi", "", .status = 500), SAY("u:hi", "at last") },
      "u:hi|a:at last", 2 },
    { "the same words to another end (a title) are a conversation apart",
      { SAY("u:hi", "hello"), SAY("u:hi", "Greeting", .system = "make a title") },
      "u:hi|a:Greeting\nu:hi|a:hello", 4 },
    { "an edited past is a branch in the same log",
      { SAY("u:a", "1"), SAY("u:a|a:1|u:b", "2"), SAY("u:a|a:1|u:c", "3") },
      "u:a|a:1|u:c|a:3", 6 },
    { "back to a branch that was left: nothing is written twice",
      { SAY("u:a", "1"), SAY("u:a|a:1|u:b", "2"), SAY("u:a|a:1|u:c", "3"), SAY("u:a|a:1|u:b|a:2|u:d", "4") },
      "u:a|a:1|u:b|a:2|u:d|a:4", 8 },
    { "a client that changed the only reply begins another conversation",
      { SAY("u:a", "1"), SAY("u:a|a:one|u:b", "2") },
      "u:a|a:1\nu:a|a:one|u:b|a:2", 6 },
    { "two keys never share",
      { SAY("u:a", "1", .key = "k1"), SAY("u:a|a:1|u:b", "2", .key = "k2") },
      "u:a|a:1\nu:a|a:1|u:b|a:2", 6 },
    { "a named session takes whatever comes",
      { SAY("u:a", "1", .session = "우리"), SAY("u:x", "2", .session = "우리"),
        SAY("u:a", "3", .session = "other") },
      "u:a|a:3\nu:x|a:2", 6 },
    { "a shared beginning with an assistant that never spoke here (Qwen Code) joins nothing",
      { SAY("u:context|a:got it|u:one", "1"), SAY("u:context|a:got it|u:two", "2") },
      "u:context|a:got it|u:one|a:1\nu:context|a:got it|u:two|a:2", 8 },
    { "a conversation that began elsewhere is taken over whole",
      { SAY("u:a|a:b|u:c", "d"), SAY("u:a|a:b|u:c|a:d|u:e", "f") },
      "u:a|a:b|u:c|a:d|u:e|a:f", 6 },
    { "the system prompt may change, but for its beginning",
      { SAY("u:a", "1", .system = "You are a careful agent that works in a directory. It is Monday."),
        SAY("u:a|a:1|u:b", "2", .system = "You are a careful agent that works in a directory. It is Tuesday.") },
      "u:a|a:1|u:b|a:2", 4 },
    { "the whole conversation to somebody else (Qwen Code's memories) is a conversation apart",
      { SAY("u:a", "1"), SAY("u:a|a:1|u:remember", "noted", .system = "you extract memories"),
        SAY("u:a|a:1|u:b", "2") },
      "u:a|a:1|u:b|a:2\nu:a|a:1|u:remember|a:noted", 8 },
    { "a path that is no UTF-8, or is cut in the middle of a character",
      { SAY("u:a", "1", .path = "/\xff\xc0/v1/chat/completions"),
        SAY("u:a|a:1|u:b", "2", .path = "/日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本"),
        SAY("u:a|a:1|u:b|a:2|u:c", "3") },
      "u:a|a:1|u:b|a:2|u:c|a:3", 6 },
    { "resumed with the date in another message (Qwen Code): the same conversation",
      { SAY("u:" R("in /a") "|u:" R("Monday") "hi", "hello"),
        SAY("u:" R("in /a") "|u:" R("Monday") "hi|a:hello|u:b", "2"),
        SAY("u:" R("in /a, c.txt") "|u:hi|a:hello|u:b|a:2|u:" R("Tuesday") "c", "3"),
        SAY("u:" R("in /a, c.txt") "|u:hi|a:hello|u:b|a:2|u:" R("Tuesday") "c|a:3|u:d", "4"),
        SAY("u:hi|a:hello|u:b|a:2|u:" R("new") "|u:c|a:3|u:d|a:4|u:" R("Friday") "|u:e", "5") },
      "u:" R("in /a") "|u:" R("Monday") "hi|a:hello|u:b|a:2|u:" R("Tuesday") "c|a:3|u:d|a:4|u:" R("Friday") "|u:e|a:5", 12 },
    { "two directories, the same words and reply: none of them is continued by guessing",
      { SAY("u:" R("in /a") "|u:hi", "hello"), SAY("u:" R("in /b") "|u:hi", "hello"),
        SAY("u:" R("in /a") "|u:hi|a:hello|u:a", "1"), SAY("u:" R("in /b") "|u:hi|a:hello|u:b", "2"),
        SAY("u:" R("in /c") "|u:hi|a:hello|u:c", "3"),
        SAY("u:" R("in /d") "|u:hi|a:hello|u:a|a:1|u:d", "4") },
      "u:" R("in /a") "|u:hi|a:hello|u:a|a:1|u:d|a:4\nu:" R("in /b") "|u:hi|a:hello|u:b|a:2\nu:" R("in /c") "|u:hi|a:hello|u:c|a:3", 17 },
    { "reminders without a reply join nothing",
      { SAY("u:" R("in /a") "|u:hi", "", .status = 500), SAY("u:" R("in /b") "|u:hi", "hello") },
      "u:" R("in /a") "|u:hi\nu:" R("in /b") "|u:hi|a:hello", 5 },
    { "but not when the client names it",
      { SAY("u:a", "1", .client = "c"), SAY("u:a|a:1|u:b", "2", .client = "c", .system = "now you plan") },
      "u:a|a:1|u:b|a:2", 4 },
};
/* clang-format on */

static maki_proxy *open_proxy(fake_env *fe, const char *home)
{
    maki_proxy_options options = { .home = home };
    maki_proxy *p = NULL;
    maki_err err = { 0 };
    CHECK_STATUS(maki_proxy_open(&fe->env, &options, &p, &err), MAKI_OK, &err);
    return p;
}

/* `again`: the daemon is restarted before every exchange. */
static void run_scene(const scene *s, bool again)
{
    static fake_env fe;
    directory f;
    fake_env_init(&fe);
    fake_random_seed(&fe, 11);
    directory_open(&f);
    tap_row("%s%s", s->name, again ? ", with a restart before each" : "");
    maki_proxy *p = open_proxy(&fe, f.path);
    for (size_t i = 0; p && i < COUNT(s->turns) && s->turns[i].messages; i++) {
        say(p, s->turns[i]);
        fe.now_ms += 1000;
        if (!again) continue;
        maki_proxy_close(p);
        p = open_proxy(&fe, f.path);
    }
    check_views(f.path, s->views, s->rows);
    maki_proxy_close(p);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    directory_close(&f);
}

/* Going back is in the log, with the messages from and to. */
static void check_log_of_rewind(void)
{
    static fake_env fe;
    directory f;
    fake_env_init(&fe);
    fake_random_seed(&fe, 11);
    directory_open(&f);
    maki_buf lines = maki_buf_new(fe.env.alloc, 1 << 16);
    maki_logger logger = { fe.env.clock, maki_buf_sink(&lines), MAKI_INFO };
    maki_proxy_options options = { .home = f.path, .logger = &logger };
    maki_proxy *p = NULL;
    maki_err err = { 0 };
    tap_row("an edited past is in the log");
    CHECK_STATUS(maki_proxy_open(&fe.env, &options, &p, &err), MAKI_OK, &err);
    say(p, SAY("u:质问", "1"));
    say(p, SAY("u:质问|a:1|u:b", "2"));
    CHECK(!maki_str_contains(maki_buf_str(&lines), MAKI_LIT("rewind")));
    say(p, SAY("u:质问|a:1|u:직접", "3"));
    CHECK(maki_str_contains(maki_buf_str(&lines),
                            MAKI_LIT("info rewind_cutoff from=4 to=2 session=")));
    maki_proxy_close(p);
    maki_buf_free(&lines);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    directory_close(&f);
}

/* A client may go on as soon as it understood a stream's last event, before the connection has ended. */
static void check_goes_on_early(void)
{
    static const char event[] = "data: {\"model\":\"m-1\",\"choices\":[{\"index\":0,\"delta\":"
                                "{\"content\":\"はい\"},\"finish_reason\":\"stop\"}],"
                                "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n";
    static const maki_str request = MAKI_LIT(
        "{\"model\":\"m-1\",\"stream\":true,\"messages\":[{\"role\":\"system\",\"content\":\"be brief\"},"
        "{\"role\":\"user\",\"content\":\"始めて\"}]}");
    static const maki_exchange_end_kind ends[] = { MAKI_EXCHANGE_DONE,
                                                   MAKI_EXCHANGE_CLIENT_DISCONNECTED };
    for (size_t i = 0; i < COUNT(ends); i++) {
        static fake_env fe;
        maki_exchange *x[2] = { NULL, NULL };
        maki_exchange_sync sync;
        maki_err err = { 0 };
        directory f;
        fake_env_init(&fe);
        fake_random_seed(&fe, 11);
        directory_open(&f);
        tap_row("the next request comes before the reply's end, %s",
                i ? "and the client left" : "which comes");
        maki_proxy *p = open_proxy(&fe, f.path);
        maki_exchange_info in = { .protocol = MAKI_WIRE_CHAT, .credential = MAKI_LIT("key") };
        for (size_t k = 0; k < 2; k++) { /* somebody else's goes on undisturbed */
            if (k) in.credential = MAKI_LIT("other key");
            CHECK_STATUS(maki_exchange_begin(p, &in, &x[k], &err), MAKI_OK, &err);
            CHECK_STATUS(maki_exchange_request(x[k], request, &err), MAKI_OK, &err);
            CHECK_STATUS(maki_exchange_reply_head(x[k], 200, MAKI_LIT("text/event-stream"), &err),
                         MAKI_OK, &err);
            CHECK_STATUS(maki_exchange_reply(x[k], maki_str_of(event), &err), MAKI_OK, &err);
        }
        say(p, SAY("u:始めて|a:はい|u:続けて", "うん"));
        check_views(f.path, "u:始めて\nu:始めて|a:はい|u:続けて|a:うん", 5);
        for (size_t k = 0; k < 2; k++) {
            CHECK_STATUS(maki_exchange_end(x[k], ends[i], &sync, &err), MAKI_OK, &err);
            CHECK(sync.journal);
            close_files(p, &sync);
            maki_exchange_close(x[k]);
        }
        check_views(f.path, "u:始めて|a:はい\nu:始めて|a:はい|u:続けて|a:うん", 6);
        say(p, SAY("u:始めて|a:はい|u:続けて|a:うん|u:次", "三"));
        check_views(f.path, "u:始めて|a:はい\nu:始めて|a:はい|u:続けて|a:うん|u:次|a:三", 8);
        maki_proxy_close(p);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        CHECK_EQ(fake_files_live(&fe), 0);
        directory_close(&f);
    }
}

static void check_time(void)
{
    static fake_env fe;
    directory f;
    fake_env_init(&fe);
    fake_random_seed(&fe, 12);
    directory_open(&f);
    tap_row("after ten minutes the same first message begins a new conversation");
    maki_proxy *p = open_proxy(&fe, f.path);
    say(p, SAY("u:hi", "one"));
    fe.now_ms += 601000;
    say(p, SAY("u:hi", "two"));
    check_views(f.path, "u:hi|a:one\nu:hi|a:two", 4);

    tap_row("messages with other spacing and escapes are the same");
    maki_err err = { 0 };
    turn t = SAY("u:hi|a:two|u:\\u6b21", "three");
    CHECK_STATUS(say_with(p, &t, true, &err), MAKI_OK, &err);
    check_views(f.path, "u:hi|a:one\nu:hi|a:two|u:次|a:three", 6);

    tap_row("an invalid request is refused, and nothing is written");
    t = SAY("u:\x01", "x");
    CHECK_STATUS(say_with(p, &t, false, &err), MAKI_INVALID, &err);
    check_views(f.path, "u:hi|a:one\nu:hi|a:two|u:次|a:three", 6);
    maki_proxy_close(p);
    directory_close(&f);
}

/* ---- the Responses API, whose requests may name the reply they continue ----------------------------------- */

/* `previous` is the id of a reply, or a field of the body; a `reply` of "" is an error. */
static void respond(maki_proxy *p, const char *previous, const char *said, const char *id,
                    const char *reply)
{
    char body[1000], answer[1000], reference[100] = "";
    maki_exchange *x = NULL;
    maki_exchange_sync sync = { { -1, -1, -1 }, false };
    maki_err err = { 0 };
    maki_exchange_info in = { .protocol = MAKI_WIRE_RESPONSES, .credential = MAKI_LIT("key") };
    if (previous && previous[0] == '"')
        sprintf(reference, "%s,", previous);
    else if (previous)
        sprintf(reference, "\"previous_response_id\":\"%s\",", previous);
    sprintf(body, "{\"model\":\"m\",%s\"input\":\"%s\"}", reference, said);
    sprintf(answer,
            "{\"id\":\"%s\",\"object\":\"response\",\"status\":\"completed\",\"output\":[{\"type\":"
            "\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":"
            "\"%s\"}]}]}",
            id, reply);
    CHECK_STATUS(maki_exchange_begin(p, &in, &x, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_exchange_request(x, maki_str_of(body), &err), MAKI_OK, &err);
    if (!reply[0]) strcpy(answer, "{\"error\":{\"message\":\"busy\"}}");
    CHECK_STATUS(
        maki_exchange_reply_head(x, reply[0] ? 200 : 503, MAKI_LIT("application/json"), &err),
        MAKI_OK, &err);
    CHECK_STATUS(maki_exchange_reply(x, maki_str_of(answer), &err), MAKI_OK, &err);
    CHECK_STATUS(maki_exchange_end(x, MAKI_EXCHANGE_DONE, &sync, &err), MAKI_OK, &err);
    maki_exchange_close(x);
}

static void check_kept_conversations(void)
{
    static const char *const first = "\"conversation\":\"conv_1\"",
                             *const same = "\"conversation\":{\"id\":\"conv_1\"}",
                             *const other = "\"conversation\":\"conv_2\"";
    static fake_env fe;
    directory f;
    fake_env_init(&fe);
    fake_random_seed(&fe, 25);
    directory_open(&f);
    maki_proxy *p = open_proxy(&fe, f.path);
    tap_row("requests that name a conversation continue at its end");
    respond(p, first, "你好", "r1", "好");
    respond(p, same, "下一个", "r2", "二");
    respond(p, other, "你好", "r3", "别的");
    respond(p, first, "再来", "r4", "三");
    check_views(f.path, "u:你好|a:别的\nu:你好|a:好|u:下一个|a:二|u:再来|a:三", 8);

    tap_row("a request that failed is not part of it: the next continues before it");
    respond(p, other, "失败", "-", "");
    respond(p, other, "再试", "r5", "成");
    check_views(f.path, "u:你好|a:别的|u:再试|a:成\nu:你好|a:好|u:下一个|a:二|u:再来|a:三", 11);

    tap_row("also when it was the first request");
    respond(p, "\"conversation\":\"conv_3\"", "始", "-", "");
    respond(p, "\"conversation\":\"conv_3\"", "始まり", "r6", "はい");
    check_views(f.path,
                "u:你好|a:别的|u:再试|a:成\nu:你好|a:好|u:下一个|a:二|u:再来|a:三\nu:始まり|a:はい",
                14);

    tap_row("a reply in it may be named as well");
    respond(p, "r1", "枝", "r7", "はい");
    check_views(f.path, "u:你好|a:别的|u:再试|a:成\nu:你好|a:好|u:枝|a:はい\nu:始まり|a:はい", 16);

    maki_proxy_close(p);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    directory_close(&f);
}

static void check_references(void)
{
    static fake_env fe;
    directory f;
    fake_env_init(&fe);
    fake_random_seed(&fe, 21);
    directory_open(&f);
    maki_proxy *p = open_proxy(&fe, f.path);
    tap_row("a request that names a reply continues after it");
    respond(p, NULL, "한국어로", "r1", "네");
    respond(p, "r1", "다음", "r2", "둘");
    check_views(f.path, "u:한국어로|a:네|u:다음|a:둘", 4);

    tap_row("a second one is a branch");
    respond(p, "r1", "다른 것", "r3", "셋");
    check_views(f.path, "u:한국어로|a:네|u:다른 것|a:셋", 6);

    tap_row("one that names an unknown reply is a new conversation");
    respond(p, "elsewhere", "?", "r4", "!");
    check_views(f.path, "u:?|a:!\nu:한국어로|a:네|u:다른 것|a:셋", 8);
    maki_proxy_close(p);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    directory_close(&f);
}

/* ---- power cuts ---------------------------------------------------------------------------------------- */

/* Cut the files of all conversations: the messages to `messages` bytes, the events to `events`. */
static void cut_logs(const char *home, off_t messages, off_t events)
{
    char sessions[400], path[800];
    struct dirent *entry;
    snprintf(sessions, sizeof sessions, "%s/agents/proxy/sessions", home);
    DIR *dir = opendir(sessions);
    while (dir && (entry = readdir(dir)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", sessions, entry->d_name);
        if (strstr(entry->d_name, ".idx")) CHECK_EQ(unlink(path), 0);
        if (strstr(entry->d_name, ".jsonl"))
            CHECK_EQ(truncate(path, strstr(entry->d_name, ".events.") ? events : messages), 0);
    }
    if (dir) closedir(dir);
}

static void remove_logs(const char *home)
{
    char sessions[400], path[800];
    struct dirent *entry;
    snprintf(sessions, sizeof sessions, "%s/agents/proxy/sessions", home);
    DIR *dir = opendir(sessions);
    while (dir && (entry = readdir(dir)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", sessions, entry->d_name);
        if (entry->d_name[0] != '.') CHECK_EQ(unlink(path), 0);
    }
    if (dir) closedir(dir);
}

/* The length of the only conversation's messages, or events. */
static off_t length_of(const char *home, bool events)
{
    char sessions[400], path[800];
    struct dirent *entry;
    struct stat st = { 0 };
    snprintf(sessions, sizeof sessions, "%s/agents/proxy/sessions", home);
    DIR *dir = opendir(sessions);
    while (dir && (entry = readdir(dir)) != NULL) {
        if (!strstr(entry->d_name, ".jsonl") || !strstr(entry->d_name, ".events.") == events)
            continue;
        snprintf(path, sizeof path, "%s/%s", sessions, entry->d_name);
        CHECK_EQ(stat(path, &st), 0);
    }
    if (dir) closedir(dir);
    return st.st_size;
}

static void check_lost_rows(void)
{
    static fake_env fe;
    directory f;
    fake_env_init(&fe);
    fake_random_seed(&fe, 22);
    directory_open(&f);
    tap_row(
        "entries for rows that the log has lost: the conversation continues from the rows that are left");
    maki_proxy *p = open_proxy(&fe, f.path);
    say(p, SAY("u:a", "1"));
    off_t messages = length_of(f.path, false), events = length_of(f.path, true);
    say(p, SAY("u:a|a:1|u:b", "2"));
    maki_proxy_close(p);
    cut_logs(f.path, messages, events);
    p = open_proxy(&fe, f.path);
    say(p, SAY("u:a|a:1|u:b|a:2|u:続き", "3"));
    say(p, SAY("u:a|a:1|u:b|a:2|u:続き|a:3|u:d", "4"));
    check_views(f.path, "u:a|a:1|u:b|a:2|u:続き|a:3|u:d|a:4", 8);
    maki_proxy_close(p);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    directory_close(&f);
}

/* The log was truncated and has grown again: entries of the table point at other messages. */
static void check_regrown(void)
{
    static fake_env fe;
    directory f;
    fake_env_init(&fe);
    fake_random_seed(&fe, 24);
    directory_open(&f);
    tap_row("rows that were lost, and others with their numbers: the entries are not used");
    maki_proxy *p = open_proxy(&fe, f.path);
    say(p, SAY("u:やあ", "1"));
    off_t messages = length_of(f.path, false), events = length_of(f.path, true);
    say(p, SAY("u:やあ|a:1|u:b", "2"));
    maki_proxy_close(p);
    cut_logs(f.path, messages, events);
    p = open_proxy(&fe, f.path);
    say(p, SAY("u:やあ|a:1|u:c", "3"));
    say(p, SAY("u:やあ|a:1|u:b|a:2|u:d", "4"));
    check_views(f.path, "u:やあ|a:1|u:b|a:2|u:d|a:4", 8);

    tap_row("new entries are used again");
    say(p, SAY("u:やあ|a:1|u:b|a:2|u:e", "5"));
    say(p, SAY("u:やあ|a:1|u:c|a:3|u:f", "6"));
    check_views(f.path, "u:やあ|a:1|u:c|a:3|u:f|a:6", 12);
    maki_proxy_close(p);

    tap_row("an empty log: all messages are recorded again");
    remove_logs(f.path);
    p = open_proxy(&fe, f.path);
    say(p, SAY("u:やあ|a:1|u:b|a:2|u:e", "5"));
    check_views(f.path, "u:やあ|a:1|u:b|a:2|u:e|a:5", 6);
    maki_proxy_close(p);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    directory_close(&f);
}

static size_t messages_synced;

static int counting_sync(const maki_files *self, int fd)
{
    char link[64], path[800];
    (void)self;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n < 0 ? 0 : n] = '\0';
    if (strstr(path, ".jsonl") && !strstr(path, ".events.")) messages_synced++;
    return 0;
}

/* A request with a message that is too long for the journal. */
static maki_exchange *begin_long(maki_proxy *p, char letter)
{
    enum { LONG = 400000 };
    static char body[LONG + 200];
    maki_exchange *x = NULL;
    maki_err err = { 0 };
    maki_exchange_info in = { .protocol = MAKI_WIRE_CHAT, .credential = MAKI_LIT("key") };
    int n = sprintf(body, "{\"messages\":[{\"role\":\"user\",\"content\":\"");
    memset(body + n, letter, LONG);
    strcpy(body + n + LONG, "\"}]}");
    CHECK_STATUS(maki_exchange_begin(p, &in, &x, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_exchange_request(x, maki_str_of(body), &err), MAKI_OK, &err);
    return x;
}

/* Each duplication of a descriptor fails in turn: the exchange ends with an error, not as durable. */
static void check_no_descriptors(void)
{
    static fake_env fe;
    struct rlimit usual, few;
    directory f;
    fake_env_init(&fe);
    fake_random_seed(&fe, 23);
    directory_open(&f);
    tap_row("a log without a descriptor to sync is an error");
    maki_proxy *p = open_proxy(&fe, f.path);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
    for (char i = 0; i < 8; i++) {
        maki_exchange_sync sync = { { -1, -1, -1 }, false };
        maki_exchange *x = begin_long(p, (char)('a' + i));
        int next = dup(0);
        close(next);
        few = (struct rlimit){ (rlim_t)(next + i), usual.rlim_max };
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
        maki_status st = maki_exchange_end(x, MAKI_EXCHANGE_TRUNCATED, &sync, NULL);
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
        CHECK(st != MAKI_OK || (sync.fds[0] >= 0 && sync.fds[1] >= 0 && sync.fds[2] >= 0));
        CHECK(i < 7 || st == MAKI_OK);
        close_files(p, &sync);
        maki_exchange_close(x);
    }
    maki_proxy_close(p);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    directory_close(&f);
}

/* A message that is too long for the journal, in a conversation that is closed before its reply comes. */
static void check_closed_between(void)
{
    static const char reply[] = "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
                                "\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}";
    directory f;
    maki_proxy *p = NULL;
    maki_exchange *x = NULL;
    maki_exchange_sync sync;
    maki_err err = { 0 };
    maki_env env = maki_env_system();
    maki_files files = *env.files;
    files.sync = counting_sync;
    env.files = &files;
    directory_open(&f);
    tap_row(
        "rows that are not in the journal are synced, also when the conversation was closed meanwhile");
    maki_proxy_options options = { .home = f.path, .open_max = 1 };
    CHECK_STATUS(maki_proxy_open(&env, &options, &p, &err), MAKI_OK, &err);
    x = begin_long(p, 'x');
    say(p, SAY("u:another", "one"));
    CHECK_STATUS(maki_exchange_reply_head(x, 200, MAKI_LIT("application/json"), &err), MAKI_OK,
                 &err);
    CHECK_STATUS(maki_exchange_reply(x, maki_str_of(reply), &err), MAKI_OK, &err);
    CHECK_STATUS(maki_exchange_end(x, MAKI_EXCHANGE_DONE, &sync, &err), MAKI_OK, &err);
    CHECK(sync.fds[1] >= 0 || messages_synced > 0);
    close_files(p, &sync);
    maki_exchange_close(x);
    maki_proxy_close(p);
    directory_close(&f);
}

/* ---- random requests ------------------------------------------------------------------------------------- */

/* Random requests in named sessions: the view is always the request and its reply. */
static void check_random(void)
{
    enum { STEPS = 400, TALKS = 3, LONGEST = 12 };
    static const char *const names[TALKS] = { "alpha", "ベータ", "gamma" };
    static fake_env fe;
    static char said[TALKS][LONGEST][24], body[2000];
    size_t count[TALKS] = { 0 };
    tap_random random = { 77 };
    directory f;
    maki_err err = { 0 };
    fake_env_init(&fe);
    fake_random_seed(&fe, 22);
    directory_open(&f);
    maki_proxy_options options = { .home = f.path, .open_max = 2 };
    maki_proxy *p = NULL;
    CHECK_STATUS(maki_proxy_open(&fe.env, &options, &p, &err), MAKI_OK, &err);
    tap_row("%d random requests: the view is what was sent last, and its reply", STEPS);
    for (int step = 0; step < STEPS; step++) {
        size_t k = tap_below(&random, TALKS), keep = count[k], what = tap_below(&random, 8);
        if (what < 3) keep = tap_below(&random, count[k] + 1); /* back to an earlier point */
        if (keep > LONGEST - 2) keep = tap_below(&random, 3);
        for (size_t i = keep; i <= keep + (what == 7 && keep + 2 < LONGEST); i++)
            sprintf(said[k][i], "u:%d-%d", step % (what == 0 ? 5 : 1000), (int)i);
        size_t n = keep + 1 + (what == 7 && keep + 2 < LONGEST);
        body[0] = '\0';
        for (size_t i = 0; i < n; i++)
            sprintf(body + strlen(body), "%s%s", i ? "|" : "", said[k][i]);
        char reply[24];
        sprintf(reply, "答%d", step % 7);
        say(p, SAY(body, reply, .session = names[k]));
        sprintf(said[k][n], "a:%s", reply);
        count[k] = n + 1;
        if (tap_below(&random, 40) == 0) {
            maki_proxy_close(p);
            CHECK_STATUS(maki_proxy_open(&fe.env, &options, &p, &err), MAKI_OK, &err);
        }
    }
    static char views[VIEWS][VIEW], mine[TALKS][VIEW];
    uint64_t rows;
    size_t got = views_of(f.path, views, &rows);
    for (size_t k = 0; k < TALKS; k++) {
        mine[k][0] = '\0';
        for (size_t i = 0; i < count[k]; i++)
            sprintf(mine[k] + strlen(mine[k]), "%s%s", i ? "|" : "", said[k][i]);
    }
    qsort(mine, TALKS, VIEW, by_text);
    CHECK_EQ(got, TALKS);
    for (size_t k = 0; k < TALKS && k < got; k++)
        CHECK_CSTR(views[k], mine[k]);
    maki_proxy_close(p);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    directory_close(&f);
}

/* Many conversations in turns, few of them open: each continues where it was. */
static void check_many(void)
{
    enum { TALKS = 40, TURNS = 12 };
    static fake_env fe;
    static char said[TALKS][2000];
    directory f;
    maki_proxy *p = NULL;
    maki_err err = { 0 };
    fake_env_init(&fe);
    fake_random_seed(&fe, 13);
    directory_open(&f);
    tap_row("%d conversations in turns, four open at a time", TALKS);
    maki_proxy_options options = { .home = f.path, .open_max = 4 };
    CHECK_STATUS(maki_proxy_open(&fe.env, &options, &p, &err), MAKI_OK, &err);
    for (int i = 0; i < TURNS; i++) {
        for (int k = 0; k < TALKS; k++) {
            char reply[32];
            sprintf(said[k] + strlen(said[k]), "%su:q%d-%d", i ? "|" : "", k, i);
            snprintf(reply, sizeof reply, "答%d-%d", k, i);
            say(p, SAY(said[k], reply));
            sprintf(said[k] + strlen(said[k]), "|a:%s", reply);
        }
    }
    char directory_path[400];
    snprintf(directory_path, sizeof directory_path, "%s/agents/proxy/sessions", f.path);
    directory sessions;
    snprintf(sessions.path, sizeof sessions.path, "%.250s", directory_path);
    CHECK_EQ(directory_count(&sessions), TALKS * 3); /* messages, events, index */
    maki_proxy_close(p);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    directory_close(&f);
}

/* Each allocation fails in turn: the exchange fails, nothing leaks, and the next one works. */
static void check_nomem(void)
{
    static fake_env fe;
    tap_row("each allocation fails in turn");
    for (size_t nth = 1;; nth++) {
        directory f;
        maki_proxy *p = NULL;
        maki_err err = { 0 };
        turn second = SAY("u:a|a:1|u:b", "2");
        fake_env_init(&fe);
        fake_random_seed(&fe, 14);
        directory_open(&f);
        p = open_proxy(&fe, f.path);
        say(p, SAY("u:a", "1"));
        fake_alloc_fail_at(&fe, nth);
        maki_status st = say_with(p, &second, false, &err);
        bool injected = fake_alloc_failed(&fe);
        fake_alloc_fail_at(&fe, 0);
        if (st != MAKI_OK) CHECK_STATUS(st, MAKI_NOMEM, &err);
        CHECK(injected || st == MAKI_OK);
        say(p, second);
        maki_proxy_close(p);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        directory_close(&f);
        if (!injected) break;
    }
}

static ssize_t (*real_pwrite)(const maki_files *, int, const void *, size_t, off_t);
static size_t writes, writes_max; /* after so many the disk is full; 0: it is not */

static ssize_t full_pwrite(const maki_files *self, int fd, const void *bytes, size_t n, off_t at)
{
    if (!writes_max || ++writes < writes_max) return real_pwrite(self, fd, bytes, n, at);
    errno = ENOSPC;
    return -1;
}

/* The disk is full from the n-th write on: the exchange fails, and when there is space the conversation continues from its
 * end and from before. */
static void check_disk_full(void)
{
    static fake_env fe;
    tap_row("the disk is full from each write in turn");
    for (size_t nth = 1;; nth++) {
        directory f;
        maki_err err = { 0 };
        turn second = SAY("u:a|a:1|u:b", "2"), third = SAY("u:a|a:1|u:枝", "3");
        fake_env_init(&fe);
        real_pwrite = fe.files_table.table.pwrite;
        fe.files_table.table.pwrite = full_pwrite;
        fake_random_seed(&fe, 15);
        directory_open(&f);
        maki_proxy *p = open_proxy(&fe, f.path);
        say(p, SAY("u:a", "1"));
        writes = 0;
        writes_max = nth;
        maki_status st = say_with(p, &second, false, &err);
        bool full = writes >= nth;
        CHECK(full || st == MAKI_OK);
        if (full) (void)!say_with(p, &third, false, &err);
        writes_max = 0;
        say(p, third);
        say(p, second);
        say(p, SAY("u:a|a:1|u:b|a:2|u:c", "4"));
        maki_proxy_close(p);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        CHECK_EQ(fake_files_live(&fe), 0);
        directory_close(&f);
        if (!full) break;
    }
}

/* The events of all conversations in this directory; borrowed until the next call. */
static const char *events_in(const char *home)
{
    static char text[1 << 16];
    char command[600];
    snprintf(command, sizeof command, "find '%s' -name '*.events.jsonl' -exec cat {} +", home);
    FILE *pipe = popen(command, "r");
    size_t n = pipe ? fread(text, 1, sizeof text - 1, pipe) : 0;
    text[n] = '\0';
    if (pipe) pclose(pipe);
    return text;
}

static void check_provider_errors(void)
{
    static fake_env fe;
    directory f;
    maki_err err = { 0 };
    maki_exchange *x = NULL;
    maki_exchange_sync sync;
    maki_str body =
        MAKI_LIT("{\"model\":\"m-1\",\"messages\":[{\"role\":\"user\",\"content\":\"海苔?\"}]}");
    fake_env_init(&fe);
    fake_random_seed(&fe, 26);
    directory_open(&f);
    maki_proxy *p = open_proxy(&fe, f.path);
    tap_row("a provider's error is in the log: status, words, model; keys are masked");
    say(p, SAY("u:海苔は?", "key my-own-key and sk-proj-abcdef123: 無効です", .status = 401,
               .key = "Bearer my-own-key"));
    const char *events = events_in(f.path);
    CHECK(strstr(events, "\"type\":\"provider_error\"") != NULL);
    CHECK(strstr(events, "\"upstream\":\"openai\",\"model\":\"m-1\",\"status\":401,"
                         "\"message\":\"key *** and ***: 無効です\"") != NULL);
    CHECK(!strstr(events, "my-own-key") && !strstr(events, "sk-proj"));

    tap_row("a refused connection: the words of the network");
    maki_exchange_info in = { .protocol = MAKI_WIRE_CHAT,
                              .upstream = MAKI_LIT("openai"),
                              .path = MAKI_LIT("/v1/chat/completions"),
                              .credential = MAKI_LIT("Bearer my-own-key") };
    CHECK_STATUS(maki_exchange_begin(p, &in, &x, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_exchange_request(x, body, &err), MAKI_OK, &err);
    maki_exchange_set_reason(x, MAKI_LIT("Connection refused"));
    CHECK_STATUS(maki_exchange_end(x, MAKI_EXCHANGE_TRUNCATED, &sync, &err), MAKI_OK, &err);
    close_files(p, &sync);
    maki_exchange_close(x);
    CHECK(strstr(events_in(f.path), "\"model\":\"m-1\",\"message\":\"Connection refused\"") !=
          NULL);
    maki_proxy_close(p);
    directory_close(&f);
}

int main(void)
{
    for (size_t i = 0; i < COUNT(scenes); i++) {
        run_scene(&scenes[i], false);
        run_scene(&scenes[i], true);
    }
    check_log_of_rewind();
    check_goes_on_early();
    check_time();
    check_references();
    check_kept_conversations();
    check_provider_errors();
    check_lost_rows();
    check_regrown();
    check_closed_between();
    check_no_descriptors();
    check_random();
    check_many();
    check_nomem();
    check_disk_full();
    return tap_end();
}
