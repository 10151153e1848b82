/* turn_test.c -- a turn as it should be, in every protocol: words, tools, and what is left of it in the session. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str_util.h"
#include "engine_kit.h"
#include "tap.h"

static bool has(const char *text, const char *part)
{
    if (text && strstr(text, part)) return true;
    fprintf(stderr, "# no \"%s\" in: %.300s\n", part, text ? text : "(nothing)");
    return false;
}

static size_t lines_of(const char *text)
{
    size_t n = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++)
        n++;
    return n;
}

/* ---- words ----------------------------------------------------------------------------------------------- */

static void plain_turn(engine_kit *kit, const char *provider)
{
    tap_row("%s: a plain turn", provider);
    const char *session = engine_kit_session(kit, provider);
    CHECK_STATUS(engine_kit_say(kit, session, provider, "海苔巻きの作り方を教えて"), MAKI_OK,
                 &kit->err);
    CHECK(has(kit->text, "海苔巻きの作り方"));
    CHECK(kit->result.created);
    CHECK_EQ(kit->result.stop, MAKI_STOP_END);
    CHECK_EQ(kit->result.rows, 2);
    CHECK_EQ(kit->rows, 2);
    CHECK_EQ(kit->result.asked, 1);
    CHECK_EQ(kit->result.last, 2);
    CHECK_EQ(kit->result.attempts, 1);
    CHECK(kit->result.usage.known && kit->result.usage.input > 0);
    CHECK_DOUBLE(kit->result.window, 32000.0);
    char *rows = engine_kit_file(kit, ""), *events = engine_kit_file(kit, "events");
    CHECK_EQ(lines_of(rows), 2);
    CHECK(has(rows, "\"role\":\"user\""));
    CHECK(has(rows, "\"meta\":{\"model\":\"fake\"}}"));
    CHECK(has(events, "\"of\":\"exchange\""));
    CHECK(has(events, "\"end\":\"complete\""));
    CHECK(has(events, "\"type\":\"usage\""));
    CHECK(has(events, "\"cacheRead\":"));
    free(rows);
    free(events);
}

static void second_turn(engine_kit *kit, const char *provider)
{
    tap_row("%s: the second turn sends the first", provider);
    const char *session = engine_kit_session(kit, provider);
    kit->request.no_stream = true;
    CHECK_STATUS(engine_kit_say(kit, session, provider, "그리고 김밥은? 🍙"), MAKI_OK, &kit->err);
    kit->request.no_stream = false;
    CHECK(!kit->result.created);
    CHECK_EQ(kit->result.last, 4);
    char *body = engine_kit_body(kit, 0);
    CHECK(has(body, "海苔巻きの作り方を教えて"));
    CHECK(has(body, "그리고 김밥은? 🍙"));
    free(body);
}

/* ---- tools ------------------------------------------------------------------------------------------------- */

/* What is said before a call is an item of its own there, and so a row. */
static size_t said_apart(const char *provider)
{
    return strcmp(provider, "responses") == 0;
}

static void tool_turn(engine_kit *kit, const char *provider)
{
    char name[64];
    snprintf(name, sizeof name, "tool-%s", provider);
    tap_row("%s: a tool is called and answered", provider);
    const char *session = engine_kit_session(kit, name);
    kit->request.tools = kit_tools;
    CHECK_STATUS(
        engine_kit_say(kit, session, provider, "読んで fake:tool:read_file {\"path\":\"海.txt\"}"),
        MAKI_OK, &kit->err);
    CHECK(has(kit->called, "read_file{\"path\":\"海.txt\"}"));
    CHECK(has(kit->text, "海苔 = nori 🍙"));
    CHECK_EQ(kit->result.calls, 1);
    CHECK_EQ(kit->result.requests, 2);
    CHECK_EQ(kit->result.rows, 4 + said_apart(provider));
    CHECK_EQ(kit->result.stop, MAKI_STOP_END);
    char *body = engine_kit_body(kit, 0);
    if (CHECK(body != NULL))
        engine_kit_paired(kit, engine_kit_protocol(provider), maki_str_of(body));
    CHECK(has(body, "海苔 = nori"));
    free(body);
    kit->request.tools = (maki_str){ "", 0 };
}

static void callers_tools(engine_kit *kit, const char *provider)
{
    char name[64];
    snprintf(name, sizeof name, "caller-%s", provider);
    tap_row("%s: calls that the caller runs; unanswered ones get a made result", provider);
    const char *session = engine_kit_session(kit, name);
    kit->calls.on_call = NULL;
    kit->request.tools = kit_tools;
    CHECK_STATUS(engine_kit_say(kit, session, provider, "fake:tool:read_file {\"path\":\"a\"}"),
                 MAKI_OK, &kit->err);
    CHECK_EQ(kit->result.stop, MAKI_STOP_CALLS);
    CHECK_EQ(kit->result.rows, 2 + said_apart(provider));
    CHECK_STATUS(engine_kit_say(kit, session, provider, "算了，别读了"), MAKI_OK, &kit->err);
    char *body = engine_kit_body(kit, 0);
    if (CHECK(body != NULL))
        engine_kit_paired(kit, engine_kit_protocol(provider), maki_str_of(body));
    CHECK(has(body, "interrupted"));
    free(body);
    kit->request.tools = (maki_str){ "", 0 };
}

static void failing_tool(engine_kit *kit)
{
    tap_row("a tool that fails, and prints what is no UTF-8");
    kit->request.tools = kit_tools;
    kit->tool_fails = true;
    kit->answer = "bad \xff byte";
    CHECK_STATUS(engine_kit_say(kit, engine_kit_session(kit, "fails"), "anthropic",
                                "fake:tool:read_file {\"path\":\"a\"}"),
                 MAKI_OK, &kit->err);
    char *rows = engine_kit_file(kit, "");
    CHECK(has(rows, "\"is_error\":true"));
    CHECK(has(rows, "bad \xEF\xBF\xBD byte"));
    free(rows);
    kit->tool_fails = false;
    kit->answer = "海苔 = nori 🍙";
    kit->request.tools = (maki_str){ "", 0 };
}

/* ---- the session -------------------------------------------------------------------------------------------- */

static void by_key(engine_kit *kit)
{
    tap_row("a session by its key is made once");
    kit->request.key = "agent:default:cli:main";
    CHECK_STATUS(engine_kit_say(kit, NULL, "openai", "hello"), MAKI_OK, &kit->err);
    CHECK(kit->result.created);
    CHECK(has(kit->result.path, "/agents/default/sessions/"));
    CHECK_STATUS(engine_kit_say(kit, NULL, "openai", "and again"), MAKI_OK, &kit->err);
    CHECK(!kit->result.created);
    CHECK_EQ(kit->result.last, 4);
    tap_row("turnLimits.global hides old turns of a channel's session");
    engine_kit_configure(kit, "turnLimits:\n  global: 5\nsummary:\n  provider: offline\n");
    for (int i = 0; i < 8; i++)
        CHECK_STATUS(engine_kit_say(kit, NULL, "openai", "一つ"), MAKI_OK, &kit->err);
    char *body = engine_kit_body(kit, 0);
    CHECK(has(body, "messages hidden"));
    CHECK(has(body, "hello"));
    CHECK(!strstr(body, "and again"));
    free(body);
    kit->request.key = "agent:only";
    CHECK_STATUS(engine_kit_say(kit, NULL, "openai", "hello"), MAKI_INVALID, &kit->err);
    kit->request.key = NULL;
    CHECK_STATUS(engine_kit_say(kit, NULL, "openai", "hello"), MAKI_INVALID, &kit->err);
    engine_kit_configure(kit, NULL);
}

static maki_status is_written(void *ctx, const maki_delta *piece, maki_err *err)
{
    engine_kit *kit = ctx;
    (void)piece, (void)err;
    maki_str file = directory_read(kit->request.path);
    CHECK(file.len && file.ptr[file.len - 1] == '\n');
    free((void *)(uintptr_t)file.ptr);
    return MAKI_OK;
}

static void durable(engine_kit *kit)
{
    maki_turn_callbacks before = kit->calls;
    tap_row("the message stands in the session before the first word of the answer");
    kit->calls.on_delta = is_written;
    CHECK_STATUS(engine_kit_say(kit, engine_kit_session(kit, "durable"), "gemini", "まず書く"),
                 MAKI_OK, &kit->err);
    kit->calls = before;
}

static void wishes(engine_kit *kit)
{
    tap_row("agents.*.thinking is asked of the provider");
    engine_kit_configure(kit,
                         "summary:\n  provider: offline\nagents:\n  default:\n    thinking: high\n"
                         "    maxTokens: 3000\n");
    CHECK_STATUS(engine_kit_say(kit, engine_kit_session(kit, "thinks"), "openai", "考えて"),
                 MAKI_OK, &kit->err);
    char *body = engine_kit_body(kit, 0);
    CHECK(has(body, "\"reasoning_effort\":\"high\""));
    CHECK(has(body, "3000"));
    free(body);
    engine_kit_configure(kit, NULL);
}

/* Providers of which the configuration says less. */
static void other_providers(engine_kit *kit)
{
    char more[1000];
    snprintf(more, sizeof more,
             "  google:\n    base_url: %s\n    model: models/fake\n    protocol: gemini\n"
             "  older:\n    base_url: %s\n    model: fake\n    tool_style: functions\n"
             "    max_tokens: 777\n",
             kit->url, kit->url);
    engine_kit_configure(kit, more);
    tap_row("llm.*.base_url and llm.*.protocol: it is asked there, for its window too");
    CHECK_STATUS(engine_kit_say(kit, engine_kit_session(kit, "asked"), "google", "窓は？"), MAKI_OK,
                 &kit->err);
    CHECK_DOUBLE(kit->result.window, 1048576.0);
    tap_row("a window that is too small is refused, and the words say so");
    kit->request.window = 9000;
    CHECK_STATUS(engine_kit_say(kit, engine_kit_session(kit, "small"), "google", "窓は？"),
                 MAKI_REFUSED, &kit->err);
    CHECK_CSTR(kit->err.code, "WINDOW_TOO_SMALL");
    kit->request.window = 0;
    tap_row("llm.*.tool_style and llm.*.max_tokens are in the request");
    kit->request.tools = kit_tools;
    CHECK_STATUS(engine_kit_say(kit, engine_kit_session(kit, "older"), "older", "도구는?"), MAKI_OK,
                 &kit->err);
    char *body = engine_kit_body(kit, 0);
    CHECK(has(body, "\"functions\":["));
    CHECK(has(body, "\"max_tokens\":777"));
    free(body);
    kit->request.tools = (maki_str){ "", 0 };
    engine_kit_configure(kit, NULL);
}

static void calibration(engine_kit *kit)
{
    tap_row("what replies taught about counting is kept in the session");
    char words[4000] = "";
    for (int i = 0; i < 300; i++)
        strcat(words, "nori 海苔 ");
    const char *session = engine_kit_session(kit, "taught");
    for (int i = 0; i < 3; i++)
        CHECK_STATUS(engine_kit_say(kit, session, "openai", words), MAKI_OK, &kit->err);
    char *events = engine_kit_file(kit, "events");
    CHECK(has(events, "\"calibration\":{\"factor\":"));
    CHECK(has(events, "\"samples\":3}"));
    free(events);
}

static void rows_and_nothing(engine_kit *kit)
{
    tap_row("a message as a row, and a turn without one");
    maki_str row =
        MAKI_LIT("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"行\"}]}");
    const char *session = engine_kit_session(kit, "row");
    kit->request.rows = &row;
    kit->request.row_count = 1;
    CHECK_STATUS(engine_kit_say(kit, session, "anthropic", ""), MAKI_OK, &kit->err);
    CHECK_EQ(kit->result.rows, 2);
    kit->request.row_count = 0;
    CHECK_STATUS(engine_kit_say(kit, session, "anthropic", ""), MAKI_OK, &kit->err);
    CHECK_EQ(kit->result.rows, 1);
    CHECK_EQ(kit->result.asked, 0);
    CHECK_STATUS(engine_kit_say(kit, engine_kit_session(kit, "empty"), "anthropic", ""),
                 MAKI_REFUSED, &kit->err);
    CHECK_CSTR(kit->err.code, "NOTHING_TO_SEND");
    CHECK_STATUS(engine_kit_say(kit, session, "anthropic", "\xff"), MAKI_INVALID, &kit->err);
}

static void rows_together(engine_kit *kit)
{
    tap_row("rows of which one is wrong: none is taken, so that asking again says nothing twice");
    maki_str rows[] = { MAKI_LIT("{\"role\":\"user\",\"content\":\"一\"}"),
                        MAKI_LIT("{\"role\":") };
    const char *session = engine_kit_session(kit, "together");
    kit->request.rows = rows;
    kit->request.row_count = 2;
    CHECK_STATUS(engine_kit_say(kit, session, "openai", ""), MAKI_INVALID, &kit->err);
    CHECK_EQ(kit->result.rows, 0);
    rows[1] = MAKI_LIT("{\"role\":\"user\",\"content\":\"二\"}");
    CHECK_STATUS(engine_kit_say(kit, session, "openai", ""), MAKI_OK, &kit->err);
    CHECK_EQ(kit->result.asked, 1);
    CHECK_EQ(kit->result.last, 3);
    CHECK_EQ(kit->rows, 3);
    kit->request.row_count = 0;
}

/* A server that says it stopped for calls, and has none. */
static void no_calls(engine_kit *kit)
{
    tap_row("calls that are not there: the answer is the end of the turn");
    kit->request.tools = kit_tools;
    CHECK_STATUS(engine_kit_say(kit, engine_kit_session(kit, "no-calls"), "openai",
                                "どうぞ fake:stop:tool_calls"),
                 MAKI_OK, &kit->err);
    CHECK_EQ(kit->result.requests, 1);
    CHECK_EQ(kit->result.stop, MAKI_STOP_END);
    CHECK_EQ(kit->result.calls, 0);
    kit->request = (maki_turn_request){ .rounds = 0 };
}

/* While the tool runs the user says the same again, from another process as it were. */
static maki_status say_again(void *ctx, const maki_turn_call *call, maki_buf *result, bool *failed,
                             maki_err *err)
{
    engine_kit *kit = ctx;
    maki_conv_options how = { .durability = MAKI_DURABILITY_AT_END };
    maki_conv *conv = NULL;
    maki_change change;
    maki_str row = MAKI_LIT(
        "{\"role\":\"user\",\"content\":\"fake:tool:read_file {\\\"path\\\":\\\"a\\\"}\"}");
    (void)call, (void)failed;
    maki_status st = maki_conv_open(&kit->env, kit->request.path, &how, &conv, err);
    if (st == MAKI_OK) st = maki_conv_append(conv, NULL, &row, 1, &change, err);
    maki_conv_close(conv);
    maki_buf_add(result, MAKI_LIT("ok"));
    return st;
}

static void rounds(engine_kit *kit)
{
    maki_turn_callbacks before = kit->calls;
    tap_row("rounds of tools have an end; others may write while a tool runs");
    kit->calls.on_call = say_again;
    kit->request.tools = kit_tools;
    kit->request.rounds = 3;
    CHECK_STATUS(engine_kit_say(kit, engine_kit_session(kit, "rounds"), "openai",
                                "fake:tool:read_file {\"path\":\"a\"}"),
                 MAKI_OK, &kit->err);
    CHECK_EQ(kit->result.requests, 4);
    CHECK_EQ(kit->result.calls, 3);
    CHECK_EQ(kit->result.stop, MAKI_STOP_CALLS);
    char *body = engine_kit_body(kit, 0);
    if (CHECK(body != NULL)) engine_kit_paired(kit, MAKI_WIRE_CHAT, maki_str_of(body));
    free(body);
    kit->calls = before;
    kit->request = (maki_turn_request){ .rounds = 0 };
}

int main(int argc, char **argv)
{
    static engine_kit kit;
    if (!engine_kit_open(&kit, argc, argv, NULL)) return tap_end();
    for (size_t i = 0; i < KIT_PROVIDERS; i++) {
        maki_turn_callbacks calls = kit.calls;
        plain_turn(&kit, kit_providers[i]);
        second_turn(&kit, kit_providers[i]);
        tool_turn(&kit, kit_providers[i]);
        callers_tools(&kit, kit_providers[i]);
        kit.calls = calls;
    }
    failing_tool(&kit);
    by_key(&kit);
    durable(&kit);
    wishes(&kit);
    other_providers(&kit);
    calibration(&kit);
    rows_and_nothing(&kit);
    rows_together(&kit);
    no_calls(&kit);
    rounds(&kit);
    engine_kit_close(&kit);
    return tap_end();
}
