/* long_test.c -- long chats: what is sent never outgrows the window, and no call is parted from its result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/spool.h"
#include "base/str_util.h"
#include "engine_kit.h"
#include "tap.h"

enum { TURNS = 300, REWIND_TO = 50 };

/* What the user says in turn n: of different lengths and languages, now and then with a tool. */
static const char *said(int n)
{
    static char text[6000];
    static const char *const words[] = { "海苔を巻いて切る。", "rolling nori around rice, ",
                                         "김밥을 말아 자른다. ", "把海苔卷起来切开，🍙" };
    int len = snprintf(text, sizeof text, "turn %d: ", n);
    for (int i = 0; i < 10 + n * 37 % 90; i++)
        len += snprintf(text + len, sizeof text - (size_t)len, "%s", words[(n + i) % 4]);
    if (n % 7 == 3)
        snprintf(text + len, sizeof text - (size_t)len,
                 " fake:tool:read_file {\"path\":\"%d.txt\"}", n);
    return text;
}

/* The whole view in this protocol, as it would be sent now. */
static void check_view(engine_kit *kit, const char *session, const char *provider)
{
    maki_conv_options how = { .read_only = true };
    maki_conv *conv = NULL;
    const maki_view *view;
    maki_str body = { "", 0 };
    maki_err err = { .msg = "" };
    maki_spool spool = maki_spool_new(&kit->env, MAKI_SPOOL_MEMORY);
    maki_request request = { .protocol = engine_kit_protocol(provider), .model = MAKI_LIT("fake") };
    maki_status st = maki_conv_open(&kit->env, session, &how, &conv, &err);
    if (st == MAKI_OK) st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, &err);
    if (st == MAKI_OK) st = maki_request_write(conv, view, &request, maki_spool_sink(&spool), &err);
    if (st == MAKI_OK) st = maki_spool_text(&spool, &body, &err);
    CHECK_STATUS(st, MAKI_OK, &err);
    engine_kit_paired(kit, request.protocol, body);
    maki_conv_close(conv);
    maki_spool_free(&spool);
}

static bool one_turn(engine_kit *kit, const char *session, const char *provider, int n)
{
    bool good = CHECK_STATUS(engine_kit_say(kit, session, provider, said(n)), MAKI_OK, &kit->err);
    good &= CHECK(kit->result.tokens <= kit->result.allowed + 1);
    good &= CHECK((double)kit->result.sent.usage.input <= kit->result.window);
    good &= CHECK_EQ(kit->result.overflows, 0);
    if (n % 5 == 0) check_view(kit, session, provider);
    return good;
}

/* Back to what was in view after turn REWIND_TO. */
static void rewind_to(engine_kit *kit, const char *session, uint64_t seq)
{
    maki_conv_options how = { .durability = MAKI_DURABILITY_AT_END };
    maki_conv *conv = NULL;
    maki_change change;
    maki_err err = { .msg = "" };
    maki_status st = maki_conv_open(&kit->env, session, &how, &conv, &err);
    if (st == MAKI_OK) st = maki_conv_rewind(conv, NULL, seq, MAKI_NEWEST, &change, &err);
    CHECK_STATUS(st, MAKI_OK, &err);
    maki_conv_close(conv);
}

static void long_chat(engine_kit *kit, const char *provider)
{
    char session[300];
    unsigned runs = 0;
    uint64_t at_rewind = 0;
    snprintf(session, sizeof session, "%s", engine_kit_session(kit, provider));
    tap_row("%s: %d turns in a window of 32,000", provider, TURNS);
    for (int n = 1; n <= TURNS; n++) {
        if (!one_turn(kit, session, provider, n)) break;
        runs += kit->result.runs;
        if (n == REWIND_TO) at_rewind = kit->result.last;
    }
    CHECK(runs >= 3 && runs <= TURNS / 10);
    tap_row("%s: back to turn %d, and on from there", provider, REWIND_TO);
    rewind_to(kit, session, at_rewind);
    check_view(kit, session, provider);
    for (int n = REWIND_TO + 1; n <= REWIND_TO + 20; n++) {
        if (!one_turn(kit, session, provider, n)) break;
    }
}

static void switching(engine_kit *kit)
{
    static const char *const order[] = { "anthropic", "openai", "gemini",    "responses",
                                         "ollama",    "gemini", "anthropic", "openai" };
    char session[300];
    snprintf(session, sizeof session, "%s", engine_kit_session(kit, "switching"));
    tap_row("the provider changes in the middle, again and again");
    for (int n = 0; n < 48; n++) {
        const char *provider = order[(size_t)n / 2 % COUNT(order)];
        char text[6200];
        snprintf(text, sizeof text, "%s%s", said(n * 7 + 3), n % 2 ? " " : "");
        if (!CHECK_STATUS(engine_kit_say(kit, session, provider, text), MAKI_OK, &kit->err)) break;
        CHECK_EQ(kit->result.calls, 1);
        char *body = engine_kit_body(kit, 0);
        if (CHECK(body != NULL))
            engine_kit_paired(kit, engine_kit_protocol(provider), maki_str_of(body));
        free(body);
    }
    for (size_t i = 0; i < KIT_PROVIDERS; i++)
        check_view(kit, session, kit_providers[i]);
}

int main(int argc, char **argv)
{
    static engine_kit kit;
    if (!engine_kit_open(&kit, argc, argv, NULL)) return tap_end();
    kit.request.tools = kit_tools;
    switching(&kit);
    engine_kit_forget(&kit);
    for (size_t i = 0; i < KIT_PROVIDERS; i++)
        long_chat(&kit, kit_providers[i]);
    engine_kit_close(&kit);
    return tap_end();
}
