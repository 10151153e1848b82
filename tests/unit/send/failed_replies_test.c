/* failed_replies_test.c -- errors, incomplete and invalid replies: the error, the rows that are kept, how fast it stops. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/str_util.h"
#include "send_kit.h"
#include "tap.h"

static const maki_protocol protocols[] = { MAKI_WIRE_ANTHROPIC, MAKI_WIRE_CHAT, MAKI_WIRE_RESPONSES,
                                           MAKI_WIRE_OLLAMA, MAKI_WIRE_GEMINI };

/* clang-format off */
static const struct scenario_row { const char *scenario; maki_status status; const char *code; const char *words; } scenarios[] = {
    { "429",       MAKI_REFUSED,  "RATE_LIMITED",     "try again later" },
    { "500",       MAKI_UPSTREAM, "UPSTREAM",         "try again later" },
    { "busy",      MAKI_UPSTREAM, "UPSTREAM",         "try again later" },
    { "overflow",  MAKI_REFUSED,  MAKI_SEND_OVERFLOW, "too long for fake" },
    { "key",       MAKI_DENIED,   "DENIED",           ".api_key" },
    { "forbidden", MAKI_DENIED,   "DENIED",           "no permission for this" },
    { "nomodel",   MAKI_NOTFOUND, "NOTFOUND",         "model fake" },
    { "quota",     MAKI_REFUSED,  "QUOTA",            "check the account" },
    { "corrupt",   MAKI_UPSTREAM, "UPSTREAM",         "base_url" },
    { "cut:0",     MAKI_UPSTREAM, "UPSTREAM",         "closed the connection before" },
    { "cut:40",    MAKI_UPSTREAM, "UPSTREAM",         "closed the connection before" },
    { "fail:0",    MAKI_UPSTREAM, "UPSTREAM",         "try again later" },
};
/* clang-format on */

static void run_scenarios(send_kit *kit, maki_protocol protocol)
{
    for (size_t i = 0; i < COUNT(scenarios); i++) {
        const struct scenario_row *row = &scenarios[i];
        tap_row("%s: %s", maki_protocol_name(protocol), row->scenario);
        send_kit_is(kit, protocol, row->scenario);
        CHECK_STATUS(send_kit_ask(kit, true, 0, "hello"), row->status, &kit->err);
        CHECK_CSTR(kit->err.code, row->code);
        if (!CHECK(strstr(kit->err.msg, row->words) != NULL)) printf("# %s\n", kit->err.msg);
        CHECK_EQ(kit->rows, 0);
        CHECK_EQ(kit->result.retried, 0);
    }
}

/* An incomplete reply: its rows are delivered, marked as incomplete. */
static void run_parts(send_kit *kit, maki_protocol protocol, const char *scenario,
                      const char *words)
{
    tap_row("%s: %s, within the reply", maki_protocol_name(protocol), scenario);
    send_kit_is(kit, protocol, scenario);
    CHECK_STATUS(send_kit_ask(kit, true, 3, "海苔を巻いて食べたいです"), MAKI_UPSTREAM, &kit->err);
    CHECK(strstr(kit->err.msg, words) != NULL);
    CHECK(kit->pieces > 0);
    CHECK_EQ(kit->rows, 1);
    CHECK_EQ(kit->parts, 1);
    CHECK(strstr("「海苔を巻いて食べたいです」ですね。わかりました。🍣", kit->text) != NULL);
    CHECK(strstr(kit->row, kit->text) != NULL);
    CHECK_EQ(kit->result.retried, 0); /* it reached the caller */
    CHECK_EQ(kit->result.stop, MAKI_STOP_NONE);
}

/* Wrong Content-Length: a reply that is complete by its protocol is complete. */
static void run_lengths(send_kit *kit, maki_protocol protocol, bool stream)
{
    tap_row("%s%s: a Content-Length too long", maki_protocol_name(protocol),
            stream ? ", a stream" : "");
    send_kit_is(kit, protocol, "long");
    kit->provider.timeout_ms = 3000; /* nobody closes: nothing more comes */
    CHECK_STATUS(send_kit_ask(kit, stream, 0, "hello"), MAKI_OK, &kit->err);
    CHECK_CSTR(kit->text, "You said: hello");
    tap_row("%s%s: a Content-Length too short", maki_protocol_name(protocol),
            stream ? ", a stream" : "");
    send_kit_is(kit, protocol, "short");
    CHECK_STATUS(send_kit_ask(kit, stream, 0, "hello"), MAKI_UPSTREAM, &kit->err);
    CHECK_EQ(kit->rows, kit->parts);
}

static void run_huge(send_kit *kit, maki_protocol protocol, bool stream)
{
    tap_row("%s%s: a gigabyte, and a limit", maki_protocol_name(protocol),
            stream ? ", a stream" : "");
    send_kit_is(kit, protocol, "huge:1000000000");
    kit->options.reply_bytes = 4 << 20;
    kit->fe.peak_bytes = 0;
    CHECK_STATUS(send_kit_ask(kit, stream, 3, "hello"), MAKI_TOOBIG, &kit->err);
    CHECK(strstr(kit->err.msg, "larger than 4 MB") != NULL);
    CHECK(kit->fe.peak_bytes < 2 << 20);
    CHECK_EQ(kit->rows, 0);
    kit->options.reply_bytes = 0;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A flag that is set after a while. */
static int64_t cancel_at;
static bool is_time(void *ctx)
{
    (void)ctx;
    return now_ms() >= cancel_at;
}

static void run_silent(send_kit *kit)
{
    maki_sender *sender = NULL;
    maki_str body = maki_str_of(send_kit_body(MAKI_WIRE_CHAT, true, "hello"));
    maki_send_request request = {
        .stream = true, .body = maki_send_text(&body), .retries = 3, .cancelled = is_time
    };
    tap_row("cancelled while nothing comes");
    send_kit_is(kit, MAKI_WIRE_CHAT, "silent");
    if (!CHECK_STATUS(maki_sender_open(&kit->options, &sender, &kit->err), MAKI_OK, &kit->err))
        return;
    cancel_at = now_ms() + 100;
    maki_status st = maki_send(sender, &request, NULL, &kit->result, &kit->err);
    int64_t late = now_ms() - cancel_at;
    CHECK_STATUS(st, MAKI_CANCELLED, &kit->err);
    if (!CHECK(late < 10000)) printf("# %lld ms late\n", (long long)late);
    tap_row("and the sender still works");
    send_kit_is(kit, MAKI_WIRE_CHAT, "");
    maki_sender_close(sender);
    CHECK_STATUS(send_kit_ask(kit, true, 0, "hello"), MAKI_OK, &kit->err);

    tap_row("too long without a byte");
    send_kit_is(kit, MAKI_WIRE_CHAT, "silent");
    kit->provider.timeout_ms = 1000;
    CHECK_STATUS(send_kit_ask(kit, true, 3, "hello"), MAKI_TIMEOUT, &kit->err);
    CHECK(strstr(kit->err.msg, "llm.openai.timeout") != NULL);
    CHECK_EQ(kit->result.retried, 0);

    tap_row("too long altogether");
    send_kit_is(kit, MAKI_WIRE_CHAT, "slow:40");
    kit->options.total_ms = 100;
    CHECK_STATUS(send_kit_ask(kit, true, 0, "hello"), MAKI_TIMEOUT, &kit->err);
    kit->options.total_ms = 0;
}

/* The callback fails: the part received so far is a row. */
static void run_callback_fails(send_kit *kit, maki_protocol protocol)
{
    tap_row("%s: the callback fails", maki_protocol_name(protocol));
    send_kit_is(kit, protocol, "slow:5");
    kit->stop_after = 2;
    CHECK_STATUS(send_kit_ask(kit, true, 3, "海苔を巻いて食べたいです"), MAKI_CANCELLED, &kit->err);
    kit->stop_after = 0;
    CHECK_EQ(kit->pieces, 2);
    CHECK_EQ(kit->rows, 1);
    CHECK_EQ(kit->parts, 1);
    CHECK(strstr(kit->row, kit->text) != NULL);
}

static void run_unreachable(send_kit *kit)
{
    tap_row("unreachable: a local provider");
    send_kit_is(kit, MAKI_WIRE_OLLAMA, "");
    snprintf(kit->provider.origin, sizeof kit->provider.origin, "http://127.0.0.1:1");
    CHECK_STATUS(send_kit_ask(kit, true, 2, "hello"), MAKI_UPSTREAM, &kit->err);
    CHECK(strstr(kit->err.msg, "is it running?") != NULL);
    CHECK_EQ(kit->result.retried, 2);

    tap_row("unreachable: elsewhere");
    send_kit_is(kit, MAKI_WIRE_ANTHROPIC, "");
    snprintf(kit->provider.origin, sizeof kit->provider.origin, "https://nowhere.invalid");
    CHECK_STATUS(send_kit_ask(kit, true, 0, "hello"), MAKI_UPSTREAM, &kit->err);
    CHECK(strstr(kit->err.msg, "check the network") != NULL);

    tap_row("no TLS there");
    send_kit_is(kit, MAKI_WIRE_ANTHROPIC, "");
    snprintf(kit->provider.origin, sizeof kit->provider.origin, "https%s", kit->url + 4);
    CHECK_STATUS(send_kit_ask(kit, true, 0, "hello"), MAKI_UPSTREAM, &kit->err);

    tap_row("a key with a newline");
    send_kit_is(kit, MAKI_WIRE_ANTHROPIC, "");
    kit->provider.key = MAKI_LIT("abc\r\nx-evil: 1");
    CHECK_STATUS(send_kit_ask(kit, true, 0, "hello"), MAKI_INVALID, &kit->err);

    tap_row("a path with nothing there");
    send_kit_is(kit, MAKI_WIRE_CHAT, "");
    snprintf(kit->provider.path, sizeof kit->provider.path, "/v1/nothing/here#");
    kit->provider.protocol = MAKI_WIRE_NONE;
    CHECK_STATUS(send_kit_ask(kit, true, 0, "hello"), MAKI_INVALID, &kit->err);
}

/* Each allocation fails in turn. */
static void run_faults(send_kit *kit)
{
    tap_row("memory that fails");
    send_kit_is(kit, MAKI_WIRE_ANTHROPIC, "think");
    for (size_t nth = 1;; nth++) {
        maki_sender *sender = NULL;
        fake_alloc_fail_at(&kit->fe, nth);
        maki_status st = maki_sender_open(&kit->options, &sender, &kit->err);
        if (st == MAKI_OK) st = send_kit_ask_with(kit, sender, true, 0, "hello");
        bool injected = fake_alloc_failed(&kit->fe);
        fake_alloc_fail_at(&kit->fe, 0);
        maki_sender_close(sender);
        if (!injected) CHECK_STATUS(st, MAKI_OK, &kit->err);
        if (injected && st != MAKI_NOMEM) CHECK_STATUS(st, MAKI_OK, &kit->err);
        if (!CHECK_EQ(fake_alloc_live(&kit->fe), 0) || !injected) break;
    }
}

/* Events after which the reply is incomplete. */
static const char *const events[] = { "fail:4", "fail:3", "fail:6", "fail:2", "fail:2" };

int main(int argc, char **argv)
{
    static send_kit kit;
    if (send_kit_open(&kit, argc, argv)) {
        for (size_t i = 0; i < COUNT(protocols); i++) {
            run_scenarios(&kit, protocols[i]);
            run_parts(&kit, protocols[i], events[i], "try again later");
            run_callback_fails(&kit, protocols[i]);
        }
        run_parts(&kit, MAKI_WIRE_ANTHROPIC, "cut:700", "closed the connection before");
        run_parts(&kit, MAKI_WIRE_CHAT, "cut:600", "closed the connection before");
        run_parts(&kit, MAKI_WIRE_OLLAMA, "cut:300", "closed the connection before");
        run_lengths(&kit, MAKI_WIRE_ANTHROPIC, true);
        run_lengths(&kit, MAKI_WIRE_GEMINI, false);
        run_huge(&kit, MAKI_WIRE_CHAT, true);
        run_huge(&kit, MAKI_WIRE_ANTHROPIC, false);
        run_huge(&kit, MAKI_WIRE_OLLAMA, true);
        run_silent(&kit);
        run_unreachable(&kit);
        run_faults(&kit);
    }
    send_kit_close(&kit);
    return tap_end();
}
