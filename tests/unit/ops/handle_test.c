/* handle_test.c -- the options of a handle: its state directory, and the model that writes the summaries of operations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <maki/maki.h>

#include "../config/config_kit.h"
#include "../summary/fake_model.h"
#include "base/buf.h"
#include "base/str_util.h"
#include "tap.h"

typedef struct kit {
    config_kit config;
    fake_model model;
    maki *m;
    maki_buf answer;
    maki_err err;
} kit;

static maki_status run(kit *k, const char *op, const char *input)
{
    maki_buf_clear(&k->answer);
    return maki_op(k->m, maki_str_of(op), maki_str_of(input), maki_buf_sink(&k->answer), &k->err);
}

static bool has(kit *k, const char *part)
{
    if (maki_str_contains(maki_buf_str(&k->answer), maki_str_of(part))) return true;
    fprintf(stderr, "# no %s in %.*s\n", part, (int)k->answer.len, k->answer.ptr);
    return false;
}

/* Create a session with this many messages; returns its id. */
static void make_session(kit *k, const char *sender, int messages, const char *words, char id[64])
{
    static char input[40000];
    maki_str value, whole;
    snprintf(input, sizeof input, "{\"channel\":\"telegram\",\"sender\":\"%s\"}", sender);
    CHECK_STATUS(run(k, "session.resolve", input), MAKI_OK, &k->err);
    CHECK_STATUS(maki_json_check(maki_buf_str(&k->answer), &whole, &k->err), MAKI_OK, &k->err);
    id[0] = '\0';
    if (maki_json_get(whole, MAKI_LIT("id"), &value)) id[maki_json_copy_text(value, id, 63)] = '\0';
    CHECK(strlen(id) > 8);
    size_t n = (size_t)snprintf(input, sizeof input, "{\"conversation\":\"%s\",\"messages\":[", id);
    for (int i = 0; i < messages; i++)
        n += (size_t)snprintf(input + n, sizeof input - n,
                              "%s{\"role\":\"%s\",\"content\":\"%d%s\"}", i ? "," : "",
                              i % 2 ? "assistant" : "user", i, words);
    snprintf(input + n, sizeof input - n, "]}");
    CHECK_STATUS(run(k, "history.append", input), MAKI_OK, &k->err);
}

static void condense(kit *k, const char *id, const char *op, const char *more)
{
    char input[300];
    snprintf(input, sizeof input, "{\"conversation\":\"%s\"%s}", id, more);
    CHECK_STATUS(run(k, op, input), MAKI_OK, &k->err);
}

static void undo(kit *k, const char *id)
{
    condense(k, id, "history.undo", "");
}

static const struct asking {
    const char *name, *op, *more;
    fake_scenario scenario;
    bool model, asked;
} askings[] = {
    { "history.condense asks the model", "history.condense", "", FAKE_ANSWERS, true, true },
    { "manage.run asks the same", "manage.run", ",\"force\":true", FAKE_ANSWERS, true, true },
    { "one that fails: it is offline", "history.condense", "", FAKE_FAILS, true, true },
    { "without one: it is offline", "history.condense", "", FAKE_ANSWERS, false, false },
    { "one told in the input: the model is not asked", "history.condense",
      ",\"summarizer\":{\"chunks\":[\"told\"]}", FAKE_ANSWERS, true, false },
};

static void test_asking(kit *k, const char *id)
{
    for (size_t i = 0; i < sizeof askings / sizeof askings[0]; i++) {
        const struct asking *a = &askings[i];
        tap_row("%s", a->name);
        fake_model_init(&k->model, a->scenario);
        k->model.reply = "the nori is to be rolled";
        maki_set_model(k->m, a->model ? &k->model.model : NULL);
        condense(k, id, a->op, a->more);
        CHECK_EQ(k->model.calls > 0, a->asked);
        if (a->asked) CHECK(has(k, "\"summarizer\":{\"model\":\"wise\",\"input\":"));
        if (a->asked) CHECK_CSTR(k->model.name, "wise");
        char view[100];
        snprintf(view, sizeof view, "{\"conversation\":\"%s\"}", id);
        CHECK_STATUS(run(k, "history.effective", view), MAKI_OK, &k->err);
        bool told = strstr(a->more, "told") != NULL;
        bool own = a->asked && a->scenario == FAKE_ANSWERS;
        CHECK(has(k, told ? "told" : own ? "the nori is to be rolled" : "Previous Conversation"));
        undo(k, id);
        fake_model_free(&k->model);
    }
}

/* The summary has more tokens than the few messages that it covers. */
static void test_unused(kit *k)
{
    char id[64], input[100];
    tap_row("a summary that is not used counts in the session's usage");
    make_session(k, "つばき", 6, "", id);
    fake_model_init(&k->model, FAKE_ANSWERS);
    k->model.reply = "some more words than those";
    maki_set_model(k->m, &k->model.model);
    snprintf(input, sizeof input, "{\"conversation\":\"%s\"}", id);
    CHECK_STATUS(run(k, "history.condense", input), MAKI_REFUSED, &k->err);
    CHECK_CSTR(k->err.code, "CONTEXT_GREW");
    CHECK_STATUS(run(k, "session.list", "{\"limit\":5}"), MAKI_OK, &k->err);
    CHECK(k->model.calls > 0);
    CHECK(has(k, "\"output\":7}"));
    fake_model_free(&k->model);
}

int main(void)
{
    kit k = { .answer = maki_buf_new(maki_env_system().alloc, 1 << 24) };
    char id[64], agents[400];
    setenv("MAKI_HOME", "/nowhere", 1);
    config_kit_open(&k.config);
    CHECK_STATUS(config_text(&k.config, "llm: {x: {base_url: \"http://localhost\"}}\n"
                                        "summary: {provider: x, model: wise}"),
                 MAKI_OK, &k.config.err);
    maki_options options = { sizeof options, maki_env_system(), MAKI_MAX_MEMORY,
                             k.config.here.path };
    CHECK_STATUS(maki_open(&options, &k.m, &k.err), MAKI_OK, &k.err);
    maki_set_config(k.m, k.config.config);
    tap_row("a session is created in the state directory of the options, whatever $MAKI_HOME says");
    make_session(
        &k, "さくら", 40,
        ": please roll the nori, 海苔を巻く, with care and in src/roll.c as it was said before",
        id);
    snprintf(agents, sizeof agents, "%s/agents/default/sessions/%s.jsonl", k.config.here.path, id);
    FILE *file = fopen(agents, "r");
    CHECK(file != NULL);
    if (file) fclose(file);
    test_asking(&k, id);
    test_unused(&k);
    maki_close(k.m);
    config_kit_close(&k.config);
    maki_buf_free(&k.answer);
    return tap_end();
}
