/* summary_test.c -- summaries that the provider's model writes, those that it fails to, and those made in advance. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str_util.h"
#include "engine_kit.h"
#include "send/model_send.h"
#include "tap.h"

#define SMALL_THRESHOLD "autoCondenseContextPercent: 50\n"

static bool has(const char *text, const char *part)
{
    if (text && strstr(text, part)) return true;
    fprintf(stderr, "# no \"%s\" in: %.300s\n", part, text ? text : "(nothing)");
    return false;
}

/* Turns until the session was condensed once; how many it took. */
static int talk_until_managed(engine_kit *kit, const char *session, const char *provider)
{
    static char words[3000];
    words[0] = '\0';
    for (int i = 0; i < 100; i++)
        strcat(words, "海苔を巻く nori ");
    for (int n = 1; n < 40; n++) {
        if (!CHECK_STATUS(engine_kit_say(kit, session, provider, words), MAKI_OK, &kit->err)) break;
        if (kit->result.runs) return n;
    }
    CHECK_EQ(kit->result.runs, 1);
    return 0;
}

/* ---- who writes it -------------------------------------------------------------------------------------------- */

static void by_the_provider(engine_kit *kit, const char *provider)
{
    char more[400], name[64];
    snprintf(more, sizeof more, SMALL_THRESHOLD "summary:\n  provider: %s\n  background: false\n",
             provider);
    snprintf(name, sizeof name, "by-%s", provider);
    engine_kit_configure(kit, more);
    tap_row("%s: summary.provider writes the summary", provider);
    unsigned long before = engine_kit_requests(kit);
    int turns = talk_until_managed(kit, engine_kit_session(kit, name), provider);
    CHECK(engine_kit_requests(kit) > before + (unsigned)turns); /* it may take several parts */
    CHECK_EQ(kit->result.managed.fallback_reason.status, MAKI_OK);
    CHECK(has(kit->managing, "... threshold"));
    char *events = engine_kit_file(kit, "events"), *asked = engine_kit_body(kit, 1);
    CHECK(has(events, "\"type\":\"condense\""));
    CHECK(has(events, "\"summarizer\":{\"model\":\"fake\",\"input\":"));
    CHECK(has(asked, "海苔を巻く"));
    free(events);
    free(asked);
}

/* A model of its own, of which only its provider knows how much it reads: 8192 tokens, of a prompt that needs more. */
static void window_of_its_model(engine_kit *kit)
{
    char more[400];
    snprintf(more, sizeof more,
             "  local:\n    base_url: %s\n    protocol: ollama\n" SMALL_THRESHOLD
             "summary:\n  provider: local\n  model: fake\n  background: false\n",
             kit->url);
    engine_kit_configure(kit, more);
    tap_row("the window of the model that summarizes is asked of its provider");
    unsigned long before = engine_kit_requests(kit);
    int turns = talk_until_managed(kit, engine_kit_session(kit, "asked"), "openai");
    CHECK_EQ(kit->result.managed.fallback_reason.status, MAKI_OK);
    unsigned long asked = 0;
    for (unsigned n = 0; n < engine_kit_requests(kit) - before; n++) {
        char *head = engine_kit_kept(kit, n, "head"), *body = engine_kit_body(kit, n);
        if (head && strstr(head, "/api/show")) asked++;
        if (head && strstr(head, "/api/chat")) CHECK(has(body, "\"num_ctx\":8192"));
        free(head);
        free(body);
    }
    CHECK_EQ(asked, 1); /* and not in every turn */
    CHECK(turns > 1);
}

static void named_by_the_caller(engine_kit *kit)
{
    char more[400];
    snprintf(more, sizeof more,
             "  bare:\n    base_url: %s\n    context_length: 32000\n" SMALL_THRESHOLD
             "summary:\n  provider: bare\n  background: false\n",
             kit->url);
    engine_kit_configure(kit, more);
    tap_row("a provider without a model: the caller's writes the summary too");
    kit->request.model = MAKI_LIT("海苔-1");
    talk_until_managed(kit, engine_kit_session(kit, "named"), "bare");
    kit->request.model = MAKI_LIT("");
    CHECK_EQ(kit->result.managed.fallback_reason.status, MAKI_OK);
    CHECK(has(kit->managing, "... threshold"));
    char *asked = engine_kit_body(kit, 1);
    CHECK(has(asked, "\"model\":\"海苔-1\""));
    free(asked);
}

static void fallback(engine_kit *kit)
{
    engine_kit_configure(kit,
                         SMALL_THRESHOLD "summary:\n  provider: nowhere\n  background: false\n");
    tap_row("a model that cannot be reached: the offline summary takes its place");
    talk_until_managed(kit, engine_kit_session(kit, "fallback"), "openai");
    CHECK_EQ(kit->result.managed.fallback_reason.status, MAKI_UPSTREAM);
    CHECK(kit->result.managed.tokens_after < kit->result.managed.tokens_before);
    tap_row("summary.provider offline asks nobody");
    engine_kit_configure(kit, SMALL_THRESHOLD "summary:\n  provider: offline\n");
    unsigned long before = engine_kit_requests(kit);
    int turns = talk_until_managed(kit, engine_kit_session(kit, "offline"), "openai");
    CHECK_EQ(engine_kit_requests(kit), before + (unsigned)turns);
}

/* Sonnet's summaries are by Haiku where the configuration says that it is cheaper. */
static void cheaper_model(engine_kit *kit)
{
    static const struct {
        const char *name, *more, *model;
    } cases[] = {
        { "no prices: the provider's own model writes", "", "claude-3-7-sonnet-x" },
        { "prices.*.input: a cheaper one by the configuration",
          "prices:\n  claude-3-7-sonnet-x: {input: 3}\n  claude-3-5-haiku-20241022: {input: 0.8}\n",
          "claude-3-5-haiku-20241022" },
        { "one that costs more",
          "prices:\n  claude-3-7-sonnet-x: {input: 0.5}\n  claude-3-5-haiku-20241022: {input: 0.8}\n",
          "claude-3-7-sonnet-x" },
        { "summary.model wins",
          "prices:\n  claude-3-7-sonnet-x: {input: 3}\n  claude-3-5-haiku-20241022: {input: 0.8}\n",
          "fake" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char more[900], name[32], want[64];
        snprintf(
            more, sizeof more,
            "  mine:\n    base_url: %s\n    context_length: 32000\n    model: claude-3-7-sonnet-x\n" SMALL_THRESHOLD
            "%ssummary:\n  provider: mine\n  background: false\n%s",
            kit->url, cases[i].more, i == 3 ? "  model: fake\n" : "");
        snprintf(name, sizeof name, "cheaper-%zu", i);
        snprintf(want, sizeof want, "\"model\":\"%s\"", cases[i].model);
        engine_kit_configure(kit, more);
        tap_row("%s", cases[i].name);
        talk_until_managed(kit, engine_kit_session(kit, name), "mine");
        CHECK_EQ(kit->result.managed.fallback_reason.status, MAKI_OK);
        char *asked = engine_kit_body(kit, 1);
        CHECK(has(asked, want));
        free(asked);
    }
}

/* Turns in which the session grows over what is allowed: it is truncated. */
static void no_condensing(engine_kit *kit)
{
    kit->options.background = true;
    engine_kit_configure(kit, "autoCondenseContext: false\nsummary:\n  provider: anthropic\n"
                              "  background_percent: 5\n");
    tap_row("autoCondenseContext: false: a run truncates and asks no model");
    kit->request.window = 16000;
    unsigned long before = engine_kit_requests(kit);
    int turns = talk_until_managed(kit, engine_kit_session(kit, "truncated"), "openai");
    CHECK(kit->result.managed.action != MAKI_STEP_CONDENSE);
    CHECK(kit->result.managed.fits);
    CHECK(!maki_turns_wait(kit->turns));
    CHECK_EQ(engine_kit_requests(kit), before + (unsigned)turns);
    char *events = engine_kit_file(kit, "events");
    CHECK(has(events, "\"type\":\"truncate\""));
    CHECK(!events || !strstr(events, "\"type\":\"condense\""));
    free(events);
    kit->options.background = false;
    kit->request.window = 0;
}

/* ---- the model alone -------------------------------------------------------------------------------------------- */

static maki_status read_text(const void *ctx, uint64_t at, char *out, size_t capacity, size_t *got,
                             maki_err *err)
{
    maki_str text = *(const maki_str *)ctx;
    (void)err;
    *got = text.len - (size_t)at;
    if (*got > capacity) *got = capacity;
    if (*got > 7) *got = 7; /* cuts characters */
    memcpy(out, text.ptr + at, *got);
    return MAKI_OK;
}

static bool is_true(void *ctx)
{
    (void)ctx;
    return true;
}

static maki_status ask_model(engine_kit *kit, const char *prompt, maki_model_request *request,
                             maki_buf *reply, maki_model_usage *usage)
{
    maki_str text = maki_str_of(prompt);
    maki_provider_models how = { .env = &kit->env,
                                 .config = kit->options.config,
                                 .sleep = kit->options.sleep };
    maki_model model = maki_model_of_providers(&how);
    request->name.provider = MAKI_LIT("openai");
    request->prompt = (maki_model_text){ text.len, read_text, &text };
    maki_buf_clear(reply);
    return model.complete(&model, request, maki_buf_sink(reply), usage, &kit->err);
}

static void the_model(engine_kit *kit)
{
    maki_buf reply = maki_buf_new(kit->env.alloc, 1 << 20);
    maki_model_usage usage;
    maki_model_request request = { .system = MAKI_LIT("短く。"),
                                   .max_tokens = 500,
                                   .timeout_ms = 60000 };
    tap_row("a model through send: its text, what it used");
    CHECK_STATUS(ask_model(kit, "海苔🍙と\"quotes\"", &request, &reply, &usage), MAKI_OK, &kit->err);
    maki_buf_add_byte(&reply, '\0');
    CHECK(has(reply.ptr, "海苔🍙と\"quotes\""));
    CHECK(usage.input_tokens > 0 && usage.output_tokens > 0 && !usage.truncated);
    char *body = engine_kit_body(kit, 0);
    CHECK(has(body, "短く。"));
    free(body);
    tap_row("errors, cancelling and time");
    CHECK_STATUS(ask_model(kit, "fake:key", &request, &reply, &usage), MAKI_DENIED, &kit->err);
    request.timeout_ms = 0;
    CHECK_STATUS(ask_model(kit, "hi", &request, &reply, &usage), MAKI_TIMEOUT, &kit->err);
    request.timeout_ms = 60000;
    request.cancelled = is_true;
    CHECK_STATUS(ask_model(kit, "hi", &request, &reply, &usage), MAKI_CANCELLED, &kit->err);
    maki_buf_free(&reply);
}

/* ---- in advance -------------------------------------------------------------------------------------------------- */

static void in_advance(engine_kit *kit)
{
    tap_row("summary.background: prepared by a thread, used by the next run");
    kit->options.background = true;
    engine_kit_configure(kit, "autoCondenseContextPercent: 50\nsummary:\n  provider: anthropic\n"
                              "  background_percent: 30\n");
    const char *session = engine_kit_session(kit, "advance");
    char words[3000] = "";
    bool prepared = false;
    for (int i = 0; i < 100; i++)
        strcat(words, "海苔を巻く nori ");
    for (int n = 0; n < 40 && !kit->result.runs; n++) {
        CHECK_STATUS(engine_kit_say(kit, session, "anthropic", words), MAKI_OK, &kit->err);
        prepared |= maki_turns_wait(kit->turns);
    }
    CHECK(prepared);
    CHECK(kit->result.runs == 1);
    char *events = engine_kit_file(kit, "events");
    CHECK(has(events, "\"type\":\"prepared\""));
    free(events);
    kit->result.runs = 0;
    kit->options.background = false;
}

int main(int argc, char **argv)
{
    static engine_kit kit;
    if (!engine_kit_open(&kit, argc, argv, NULL)) return tap_end();
    for (size_t i = 0; i < KIT_PROVIDERS; i++)
        by_the_provider(&kit, kit_providers[i]);
    window_of_its_model(&kit);
    named_by_the_caller(&kit);
    fallback(&kit);
    cheaper_model(&kit);
    no_condensing(&kit);
    the_model(&kit);
    kit.result.runs = 0;
    in_advance(&kit);
    engine_kit_close(&kit);
    return tap_end();
}
