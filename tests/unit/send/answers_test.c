/* answers_test.c -- what every protocol answers, as a stream and not: text, reasoning, calls, usage, in any language
 * and cut anywhere. */
#include <stdio.h>
#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "send_kit.h"
#include "tap.h"

static const maki_protocol protocols[] = { MAKI_WIRE_ANTHROPIC, MAKI_WIRE_CHAT,
                                           MAKI_WIRE_RESPONSES, MAKI_WIRE_OLLAMA,
                                           MAKI_WIRE_GENERATE,  MAKI_WIRE_GEMINI };

/* clang-format off */
static const struct text_row { const char *said, *want; } texts[] = {
    { "hello",             "You said: hello" },
    { "海苔を巻く 🍣",     "「海苔を巻く 🍣」ですね。わかりました。🍣" },
    { "我要吃寿司",        "你说的是“我要吃寿司”，明白了。" },
    { "김밥 👨‍👩‍👧",          "“김밥 👨‍👩‍👧”라고 하셨네요. 알겠습니다." },
    { "a \\\"b\\\" \\n\\\\c", "You said: a \"b\" \n\\c" },
};
/* clang-format on */

static void check_whole(const send_kit *kit, maki_status st, const char *want)
{
    maki_str json;
    CHECK_STATUS(st, MAKI_OK, &kit->err);
    CHECK_CSTR(kit->text, want);
    CHECK_EQ(kit->rows, 1);
    CHECK_EQ(kit->parts, 0);
    CHECK(maki_json_check(maki_str_of(kit->row), &json, NULL) == MAKI_OK);
    CHECK(strstr(kit->row, "\"role\":\"assistant\"") != NULL);
    CHECK_EQ(kit->result.http_status, 200);
    CHECK_EQ(kit->result.stop, MAKI_STOP_END);
    CHECK(kit->result.usage.known && kit->result.usage.input > 0 && kit->result.usage.output > 0);
    CHECK_EQ(kit->result.retried, 0);
    CHECK(!kit->result.has_cost && !kit->result.garbage);
    CHECK(kit->result.first_ms >= 0);
}

static void run_texts(send_kit *kit, maki_protocol protocol, bool stream, const char *scenario)
{
    for (size_t i = 0; i < COUNT(texts); i++) {
        tap_row("%s%s, %s: %s", maki_protocol_name(protocol), stream ? ", a stream" : "",
                scenario[0] ? scenario : "text", texts[i].said);
        send_kit_is(kit, protocol, scenario);
        check_whole(kit, send_kit_ask(kit, stream, 0, texts[i].said), texts[i].want);
        bool pieces = stream && strcmp(scenario, "huge:4000") != 0;
        if (pieces) CHECK(kit->pieces > 1);
    }
}

static void run_think(send_kit *kit, maki_protocol protocol, bool stream)
{
    tap_row("%s%s: reasoning", maki_protocol_name(protocol), stream ? ", a stream" : "");
    send_kit_is(kit, protocol, "think");
    check_whole(kit, send_kit_ask(kit, stream, 0, "寿司か"), "「寿司か」ですね。わかりました。🍣");
    CHECK_CSTR(kit->reasoning, "ユーザーは答えを求めている。");
}

static void run_tool(send_kit *kit, maki_protocol protocol, bool stream)
{
    char compact[256];
    size_t n = 0;
    if (protocol == MAKI_WIRE_GENERATE) return; /* it has no tools */
    tap_row("%s%s: a call", maki_protocol_name(protocol), stream ? ", a stream" : "");
    send_kit_is(kit, protocol, "tool:read_file {\"path\":\"海苔/🍣.c\",\"n\":1}");
    CHECK_STATUS(send_kit_ask(kit, stream, 0, "look"), MAKI_OK, &kit->err);
    for (const char *at = kit->input; *at; at++) {
        if (*at != ' ') compact[n++] = *at;
    }
    compact[n] = '\0';
    CHECK_CSTR(compact, "{\"path\":\"海苔/🍣.c\",\"n\":1}");
    CHECK(strncmp(kit->calls, "read_file", 9) == 0);
    CHECK_EQ(kit->result.calls, 1);
    CHECK_EQ(kit->result.stop, MAKI_STOP_CALLS);
    CHECK(strstr(kit->row, "read_file") != NULL);
    CHECK_EQ(kit->parts, 0);
}

/* What a caller who wants rows only gets. */
static void run_deaf(send_kit *kit, maki_protocol protocol)
{
    tap_row("%s: rows only", maki_protocol_name(protocol));
    send_kit_is(kit, protocol, "");
    kit->deaf = true;
    CHECK_STATUS(send_kit_ask(kit, true, 0, "hello"), MAKI_OK, &kit->err);
    kit->deaf = false;
    CHECK_EQ(kit->pieces, 0);
    CHECK_EQ(kit->rows, 1);
    CHECK(strstr(kit->row, "You said: hello") != NULL);
    CHECK_EQ(kit->result.first_ms, -1);
}

static void run_same_connection(send_kit *kit)
{
    maki_sender *sender = NULL;
    tap_row("many requests of one sender");
    send_kit_is(kit, MAKI_WIRE_ANTHROPIC, "");
    if (!CHECK_STATUS(maki_sender_open(&kit->options, &sender, &kit->err), MAKI_OK, &kit->err))
        return;
    for (int i = 0; i < 50; i++)
        CHECK_STATUS(send_kit_ask_with(kit, sender, i % 2 == 0, 0, "hello"), MAKI_OK, &kit->err);
    maki_sender_close(sender);
    CHECK_EQ(fake_alloc_live(&kit->fe), 0);
}

static void run_calibration(send_kit *kit)
{
    maki_calibration learnt = { 0 };
    maki_sender *sender = NULL;
    maki_str body = maki_str_of(send_kit_body(MAKI_WIRE_CHAT, false, "hello"));
    maki_send_request request = { .model = MAKI_LIT("claude-sonnet-4-5"),
                                  .body = maki_send_text(&body),
                                  .counted = (double)(body.len / 4 + 1) * 2,
                                  .calibration = &learnt };
    tap_row("usage teaches the tokens of a model");
    send_kit_is(kit, MAKI_WIRE_CHAT, "");
    if (!CHECK_STATUS(maki_sender_open(&kit->options, &sender, &kit->err), MAKI_OK, &kit->err))
        return;
    CHECK_STATUS(maki_send(sender, &request, NULL, &kit->result, &kit->err), MAKI_OK, &kit->err);
    maki_sender_close(sender);
    CHECK(kit->result.calibrated);
    CHECK_EQ(learnt.samples, 1);
    CHECK(learnt.factor < maki_family_of(request.model)->factor);
}

/* A body in a file, as a long conversation makes it. */
static void run_long_body(send_kit *kit)
{
    enum { LETTERS = 3 << 20 };
    maki_spool spool = maki_spool_new(&kit->fe.env, 4096);
    maki_sender *sender = NULL;
    char block[4096];
    tap_row("a body of 3 MB from a file");
    send_kit_is(kit, MAKI_WIRE_OLLAMA, "first:1,busy");
    memset(block, 'x', sizeof block);
    maki_status st = maki_spool_add(
        &spool,
        MAKI_LIT(
            "{\"stream\":false,\"model\":\"fake\",\"messages\":[{\"role\":\"user\",\"content\":\""),
        &kit->err);
    for (size_t i = 0; st == MAKI_OK && i < LETTERS / sizeof block; i++)
        st = maki_spool_add(&spool, (maki_str){ block, sizeof block }, &kit->err);
    if (st == MAKI_OK) st = maki_spool_add(&spool, MAKI_LIT("\"}]}"), &kit->err);
    if (st == MAKI_OK) st = maki_sender_open(&kit->options, &sender, &kit->err);
    maki_send_request request = { .body = maki_send_spool(&spool), .retries = 1 };
    if (CHECK_STATUS(st, MAKI_OK, &kit->err)) {
        st = maki_send(sender, &request, NULL, &kit->result, &kit->err);
        CHECK_STATUS(st, MAKI_OK, &kit->err);
        CHECK_EQ(kit->result.usage.input, spool.size / 4 + 1);
        CHECK_EQ(kit->result.retried, 1); /* it was sent twice */
    }
    maki_sender_close(sender);
    maki_spool_free(&spool);
}

int main(int argc, char **argv)
{
    static send_kit kit;
    if (send_kit_open(&kit, argc, argv)) {
        for (size_t i = 0; i < COUNT(protocols); i++) {
            for (int stream = 0; stream < 2; stream++) {
                run_texts(&kit, protocols[i], stream, "");
                run_texts(&kit, protocols[i], stream, "chunk:1");
                run_texts(&kit, protocols[i], stream, "chunk:7");
                run_think(&kit, protocols[i], stream);
                run_tool(&kit, protocols[i], stream);
            }
            run_deaf(&kit, protocols[i]);
        }
        run_same_connection(&kit);
        run_calibration(&kit);
        run_long_body(&kit);
    }
    send_kit_close(&kit);
    return tap_end();
}
