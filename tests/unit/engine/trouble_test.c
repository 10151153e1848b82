/* trouble_test.c -- turns that go wrong: what the session says afterwards, and what the next turn sends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "engine_kit.h"
#include "log/verify.h"
#include "tap.h"

static bool has(const char *text, const char *part)
{
    if (text && strstr(text, part)) return true;
    fprintf(stderr, "# no \"%s\" in: %.300s\n", part, text ? text : "(nothing)");
    return false;
}

/* A session of some length, so that there is something to leave out. */
static const char *filled(engine_kit *kit, const char *name, const char *provider)
{
    static char words[3000];
    words[0] = '\0';
    for (int i = 0; i < 100; i++)
        strcat(words, "海苔を巻く nori ");
    const char *session = engine_kit_session(kit, name);
    for (int i = 0; i < 6; i++)
        CHECK_STATUS(engine_kit_say(kit, session, provider, words), MAKI_OK, &kit->err);
    return session;
}

/* ---- too long ------------------------------------------------------------------------------------------------ */

static void overflow(engine_kit *kit, const char *provider)
{
    char name[64], text[128];
    snprintf(name, sizeof name, "overflow-%s", provider);
    /* the first request in these very words: each provider has its own */
    snprintf(text, sizeof text, "長すぎる？ fake:overflow,first:1,chunk:%d",
             1000 + (int)engine_kit_protocol(provider));
    tap_row("%s: too long, then with less, then good", provider);
    const char *session = filled(kit, name, provider);
    unsigned long before = engine_kit_requests(kit);
    CHECK_STATUS(engine_kit_say(kit, session, provider, text), MAKI_OK, &kit->err);
    CHECK_EQ(kit->result.overflows, 1);
    CHECK_EQ(kit->result.requests, 2);
    CHECK_EQ(engine_kit_requests(kit), before + 2);
    CHECK_EQ(kit->result.runs, 1);
    CHECK(has(kit->managing, "over "));
    CHECK(kit->result.managed.tokens_after < kit->result.managed.tokens_before);
    char *longer = engine_kit_body(kit, 1), *shorter = engine_kit_body(kit, 0);
    CHECK(longer && shorter && strlen(shorter) < strlen(longer));
    if (shorter) engine_kit_paired(kit, engine_kit_protocol(provider), maki_str_of(shorter));
    free(longer);
    free(shorter);
    char *events = engine_kit_file(kit, "events");
    CHECK(has(events, "\"error\":\"CONTEXT_OVERFLOW\""));
    free(events);
}

static void always_overflow(engine_kit *kit)
{
    tap_row("always too long: at most three more tries, and words about it");
    const char *session = filled(kit, "always", "openai");
    CHECK_STATUS(engine_kit_say(kit, session, "openai", "fake:overflow"), MAKI_REFUSED, &kit->err);
    CHECK_CSTR(kit->err.code, MAKI_SEND_OVERFLOW);
    CHECK(kit->result.requests >= 2 && kit->result.requests <= 4);
    CHECK(kit->err.msg[0] != '\0');
}

/* ---- what a provider may say ------------------------------------------------------------------------------- */

static void strange_ids(engine_kit *kit)
{
    /* not UTF-8; and a long one that ends within a character where it is cut */
    static const char *const ids[] = {
        "%FF%FE", "%E6%B5%B7%E8",
        "a%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7"
        "%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7"
        "%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7%E6%B5%B7"
    };
    for (size_t i = 0; i < COUNT(ids); i++) {
        char name[32], text[600];
        maki_str json;
        tap_row("a request's id of strange bytes, %zu: the events are JSON", i);
        snprintf(name, sizeof name, "id-%zu", i);
        snprintf(text, sizeof text, "誰？ fake:key,id:%s", ids[i]);
        const char *session = engine_kit_session(kit, name);
        CHECK_STATUS(engine_kit_say(kit, session, "openai", text), MAKI_DENIED, &kit->err);
        char *events = engine_kit_file(kit, "events");
        CHECK(has(events, "\"end\":\"error\""));
        for (char *line = events; line && *line;) {
            char *end = strchr(line, '\n');
            if (!end) break;
            CHECK_STATUS(maki_json_check((maki_str){ line, (size_t)(end - line) }, &json, NULL),
                         MAKI_OK, NULL);
            line = end + 1;
        }
        free(events);
    }
}

/* ---- a window that the error tells --------------------------------------------------------------------------- */

/* The fake provider counts a token for four bytes of the body. */
static void told_window(engine_kit *kit, const char *provider)
{
    char name[64];
    snprintf(name, sizeof name, "told-%s", provider);
    engine_kit_configure(kit, NULL); /* nothing is known of it */
    const char *session = filled(kit, name, provider);
    tap_row("%s: the error tells the window", provider);
    CHECK_STATUS(engine_kit_say(kit, session, provider, "窓は？ fake:window:3000"), MAKI_OK,
                 &kit->err);
    CHECK_EQ(kit->result.overflows, 1);
    CHECK_DOUBLE(kit->result.window, 3000.0);
    CHECK(kit->result.usage.input <= 3000 && kit->result.usage.input > 0);
    char *events = engine_kit_file(kit, "events");
    CHECK(has(events, "\"window\":3000"));
    free(events);
    tap_row("%s: the next turns know it", provider);
    CHECK_STATUS(engine_kit_say(kit, session, provider, "次は？ fake:window:3000"), MAKI_OK,
                 &kit->err);
    CHECK_EQ(kit->result.overflows, 0);
    CHECK_DOUBLE(kit->result.window, 3000.0);
    snprintf(name, sizeof name, "told-other-%s", provider);
    CHECK_STATUS(engine_kit_say(kit, engine_kit_session(kit, name), provider, "別の話"), MAKI_OK,
                 &kit->err);
    CHECK_DOUBLE(kit->result.window, 3000.0);
    tap_row("%s: also after a restart, in the session that learnt it", provider);
    engine_kit_configure(kit, NULL);
    CHECK_STATUS(engine_kit_say(kit, engine_kit_session(kit, name), provider, "やあ"), MAKI_OK,
                 &kit->err);
    CHECK_DOUBLE(kit->result.window, 32000.0);
    snprintf(name, sizeof name, "told-%s", provider);
    session = engine_kit_session(kit, name);
    CHECK_STATUS(engine_kit_say(kit, session, provider, "まだ？ fake:window:3000"), MAKI_OK,
                 &kit->err);
    CHECK_EQ(kit->result.overflows, 0);
    CHECK_DOUBLE(kit->result.window, 3000.0);
}

/* Words that cannot be: what stands without them is done. */
static void lies(engine_kit *kit)
{
    static const char *const figures[] = { "0", "5", "1000", "9999999", "99999999999999999999" };
    engine_kit_configure(kit, NULL);
    for (size_t i = 0; i < COUNT(figures); i++) {
        char name[64], text[200];
        tap_row("a window of %s tokens is not believed", figures[i]);
        snprintf(name, sizeof name, "lie-%zu", i);
        snprintf(text, sizeof text,
                 "嘘 "
                 "fake:overflow,first:1,words:maximum%%20context%%20length%%20is%%20%s%%20tokens",
                 figures[i]);
        const char *session = filled(kit, name, "openai");
        CHECK_STATUS(engine_kit_say(kit, session, "openai", text), MAKI_OK, &kit->err);
        CHECK_EQ(kit->result.overflows, 1);
        CHECK_DOUBLE(kit->result.window, 32000.0);
        CHECK(kit->result.managed.tokens_after < kit->result.managed.tokens_before);
    }
}

/* A figure that is far too small makes requests small; one that was taken all the same proves it wrong. */
static void disproved(engine_kit *kit)
{
    maki_str system = MAKI_LIT("");
    static char words[20000];
    for (int i = 0; i < 500; i++)
        strcat(words, "決して忘れないこと. ");
    system = maki_str_of(words);
    engine_kit_configure(kit, NULL);
    tap_row("a told window that the system prompt alone fills: it is sent all the same");
    const char *session = filled(kit, "disproved", "openai");
    kit->request.system = &system;
    kit->request.system_count = 1;
    CHECK_STATUS(
        engine_kit_say(kit, session, "openai",
                       "嘘 fake:overflow,first:1,words:maximum%20context%20length%20is%202000"),
        MAKI_OK, &kit->err);
    CHECK_EQ(kit->result.overflows, 1);
    CHECK(kit->result.usage.input > 2000);
    tap_row("and from then on the figure does not count");
    CHECK_STATUS(engine_kit_say(kit, session, "openai", "次"), MAKI_OK, &kit->err);
    CHECK_DOUBLE(kit->result.window, 32000.0);
    engine_kit_configure(kit, NULL);
    session = engine_kit_session(kit, "disproved");
    CHECK_STATUS(engine_kit_say(kit, session, "openai", "また"), MAKI_OK, &kit->err);
    CHECK_DOUBLE(kit->result.window, 32000.0);
    kit->request.system_count = 0;
}

static void reserve_of_told(engine_kit *kit)
{
    tap_row("in a told window the answer may not take all of it");
    engine_kit_configure(kit, NULL);
    const char *session = filled(kit, "reserve", "openai");
    kit->request.max_tokens = 4000;
    CHECK_STATUS(engine_kit_say(kit, session, "openai", "窓 fake:window:3000"), MAKI_OK, &kit->err);
    kit->request.max_tokens = 0;
    char *body = engine_kit_body(kit, 0);
    CHECK(has(body, "\"max_tokens\":750"));
    free(body);
}

static void larger_than_the_window(engine_kit *kit)
{
    tap_row("a message larger than the window is not sent");
    size_t size = 400000;
    char *words = malloc(size + 1);
    if (!CHECK(words != NULL)) return;
    for (size_t i = 0; i < size; i++)
        words[i] = (char)(i % 7 ? 'a' + i % 23 : ' ');
    words[size] = '\0';
    unsigned long before = engine_kit_requests(kit);
    maki_status st = engine_kit_say(kit, engine_kit_session(kit, "larger"), "gemini", words);
    if (st == MAKI_OK) /* the last resort may have made it fit */
        CHECK(kit->result.tokens <= kit->result.window);
    else
        CHECK(st == MAKI_REFUSED && engine_kit_requests(kit) == before);
    free(words);
}

/* ---- tried again ---------------------------------------------------------------------------------------------- */

static void retried(engine_kit *kit)
{
    static const struct row {
        const char *scenario, *code;
    } rows[] = { { "fake:429,first:2", "RATE_LIMITED RATE_LIMITED " },
                 { "fake:500,first:1", "UPSTREAM " } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        tap_row("%s: tried again", rows[i].scenario);
        CHECK_STATUS(engine_kit_say(kit, engine_kit_session(kit, rows[i].code), "anthropic",
                                    rows[i].scenario),
                     MAKI_OK, &kit->err);
        CHECK_CSTR(kit->retries, rows[i].code);
        CHECK_EQ(kit->result.requests, 1);
        CHECK_EQ(kit->result.rows, 2);
        CHECK(kit->result.attempts >= 2);
    }
}

/* ---- not whole -------------------------------------------------------------------------------------------------- */

static void cancelled(engine_kit *kit, const char *provider)
{
    char name[64];
    snprintf(name, sizeof name, "cancelled-%s", provider);
    tap_row("%s: cancelled in the middle", provider);
    const char *session = engine_kit_session(kit, name);
    kit->stop_after = 3;
    CHECK_STATUS(engine_kit_say(kit, session, provider, "長い話を fake:huge:200000,slow:1"),
                 MAKI_CANCELLED, &kit->err);
    kit->stop_after = 0;
    CHECK(kit->result.truncated);
    CHECK_EQ(kit->result.rows, 2);
    char *rows = engine_kit_file(kit, ""), *events = engine_kit_file(kit, "events");
    CHECK(has(rows, "[The answer ends here: it was stopped]"));
    CHECK(has(rows, "\"end\":\"cancelled\""));
    CHECK(has(events, "\"end\":\"cancelled\""));
    free(rows);
    free(events);
    CHECK_STATUS(engine_kit_say(kit, session, provider, "続けて"), MAKI_OK, &kit->err);
    char *body = engine_kit_body(kit, 0);
    CHECK(has(body, "[The answer ends here: it was stopped]"));
    free(body);
}

static void cut(engine_kit *kit, const char *provider)
{
    char name[64];
    snprintf(name, sizeof name, "cut-%s", provider);
    tap_row("%s: the connection breaks in the middle of words, and of a call", provider);
    const char *session = engine_kit_session(kit, name);
    maki_status st = engine_kit_say(kit, session, provider, "海 fake:huge:100000,cut:60000");
    CHECK(st != MAKI_OK && kit->result.truncated);
    char *rows = engine_kit_file(kit, "");
    CHECK(has(rows, "[The answer ends here: it was cut off]"));
    free(rows);
    kit->request.tools = kit_tools;
    (void)engine_kit_say(
        kit, session, provider,
        "fake:tool:read_file {\"path\":\"長い長い長い長い名前\"},chunk:40,cut:700");
    CHECK_STATUS(engine_kit_say(kit, session, provider, "さて"), MAKI_OK, &kit->err);
    kit->request.tools = (maki_str){ "", 0 };
    char *body = engine_kit_body(kit, 0);
    if (CHECK(body != NULL))
        engine_kit_paired(kit, engine_kit_protocol(provider), maki_str_of(body));
    CHECK(has(body, "[The answer ends here: it was cut off]"));
    free(body);
}

/* ---- no answer at all -------------------------------------------------------------------------------------------- */

static void no_answer(engine_kit *kit)
{
    static const struct row {
        const char *name, *provider, *text;
        maki_status status;
    } rows[] = { { "wrong key", "openai", "鍵 fake:key", MAKI_DENIED },
                 { "no such model", "anthropic", "fake:nomodel", MAKI_NOTFOUND },
                 { "no network", "nowhere", "誰かいる？", MAKI_UPSTREAM } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        tap_row("%s: the message stays, and can be answered later", rows[i].name);
        const char *session = engine_kit_session(kit, rows[i].name);
        CHECK_STATUS(engine_kit_say(kit, session, rows[i].provider, rows[i].text), rows[i].status,
                     &kit->err);
        CHECK(!strstr(kit->err.msg, "sk-secret"));
        CHECK_EQ(kit->result.rows, 1);
        char *events = engine_kit_file(kit, "events");
        CHECK(has(events, "\"of\":\"exchange\""));
        CHECK(has(events, maki_status_name(rows[i].status)));
        free(events);
        CHECK_STATUS(engine_kit_say(kit, session, "gemini", "もう一度"), MAKI_OK, &kit->err);
        char *body = engine_kit_body(kit, 0);
        CHECK(has(body, rows[i].text));
        free(body);
    }
    tap_row("a provider that nobody configured: nothing is written");
    CHECK(engine_kit_say(kit, engine_kit_session(kit, "who"), "nobody", "やあ") != MAKI_OK);
    CHECK_EQ(kit->result.rows, 0);
    CHECK(kit->err.msg[0] != '\0');
}

int main(int argc, char **argv)
{
    static engine_kit kit;
    if (!engine_kit_open(&kit, argc, argv, NULL)) return tap_end();
    for (size_t i = 0; i < KIT_PROVIDERS; i++) {
        overflow(&kit, kit_providers[i]);
        cancelled(&kit, kit_providers[i]);
        cut(&kit, kit_providers[i]);
    }
    always_overflow(&kit);
    strange_ids(&kit);
    for (size_t i = 0; i < KIT_PROVIDERS; i++)
        told_window(&kit, kit_providers[i]);
    lies(&kit);
    disproved(&kit);
    reserve_of_told(&kit);
    larger_than_the_window(&kit);
    retried(&kit);
    no_answer(&kit);
    engine_kit_close(&kit);
    return tap_end();
}
