/* model_summarizer_test.c -- a summary that a model writes: what it is asked, in how many parts, and what happens when
 * it does wrong. */
#include "summary/model_summarizer.h"

#include "fake_model.h"
#include "talk.h"

#include "base/text.h"
#include "history/synthetic.h"
#include "summary/measure.h"
#include "summary/summary_prompt.h"

enum { MOST = 64 << 20 };

typedef struct kit {
    fake_env fe;
    fake_model model;
    maki_summary_settings settings;
    maki_model_summarizer_options how;
    maki_arena arena;
    maki_summary summary;
    maki_err err;
} kit;

static void kit_open(kit *k, fake_scenario scenario)
{
    memset(k, 0, sizeof *k);
    fake_env_init(&k->fe);
    fake_model_init(&k->model, scenario);
    k->model.fe = &k->fe;
    k->settings = maki_summary_defaults;
    k->how = (maki_model_summarizer_options){ .env = &k->fe.env,
                                              .model = &k->model.model,
                                              .settings = &k->settings,
                                              .window = 100000,
                                              .cancelled = fake_cancelled,
                                              .cancelled_ctx = &k->model };
    k->arena = maki_arena_new(k->fe.env.alloc, MOST);
}

static void kit_close(kit *k)
{
    maki_arena_free(&k->arena);
    fake_model_free(&k->model);
    CHECK_EQ(fake_alloc_live(&k->fe), 0);
    CHECK_EQ(fake_files_live(&k->fe), 0);
}

static maki_status summarize(kit *k, const char *talk)
{
    maki_str lines = maki_str_of(talk);
    maki_summary_request request = talk_request(&lines);
    maki_summarizer by = maki_summarizer_by_model(&k->how);
    return by.run(&by, &request, &k->arena, &k->summary, &k->err);
}

static bool asked(const kit *k, const char *text)
{
    return k->model.prompt && strstr(k->model.prompt, text);
}

/* ---- what it is asked --------------------------------------------------------------------------------------- */

#define LONG_DATA                                                                                        \
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" \
    "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB" \
    "CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC" \
    "DDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDD" \
    "EEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEE"

static const struct {
    const char *name, *talk, *has, *lacks;
} rendered[] = {
    { "texts of both", USER("fix a.c") SAYS("done 🐟"), "[user]: fix a.c\n\n[assistant]: done 🐟\n\n",
      "{" },
    { "escapes are read", USER("a\\nb \\u3042\\ud83d\\udc1f \\u0000\\u0007"),
      "[user]: a\nb あ🐟   \n", "\\u" },
    { "a call by its arguments",
      CALL("1", "Edit", "{\"path\":\"src/a.c\",\"n\":[1,2],\"new\":\"x\\ny\"}"),
      "[assistant calls Edit]: path: src/a.c\nn: [1,2]\nnew: x\ny\n", "{\"" },
    { "its result", RESULT("1", "結果です"), "[tool]: 結果です\n", "[user]: 結果" },
    { "a result that failed", FAILURE("1", "no such file"), "[tool, failed]: no such file\n",
      "[user]: no such" },
    { "calls and results of chat",
      CHAT_CALL("1", "run", "{\\\"command\\\":\\\"make\\\"}") CHAT_RESULT("1", "ok"),
      "[assistant calls run]: {\"command\":\"make\"}\n\n[tool]: ok\n", "tool_calls" },
    { "an earlier summary", SUMMARY("what came before"), "[summary]: what came before\n",
      "[assistant]" },
    { "images are notes",
      "{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"data\":\"QUJD\"}},"
      "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,QUJD\"}},"
      "{\"type\":\"text\",\"text\":\"see?\"}]}\n",
      "[user]: " MAKI_IMAGE_PLACEHOLDER "\n[user]: " MAKI_IMAGE_PLACEHOLDER "\n[user]: see?\n",
      "QUJD" },
    { "data in a text is a note", RESULT("1", "before " LONG_DATA " after"),
      "[tool]: before [453 characters of data stood here] after\n", "AAAA" },
    { "thoughts are left out",
      "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hmm\",\"signature\":\"c2ln\"},"
      "{\"type\":\"text\",\"text\":\"yes\"}]}\n",
      "[assistant]: yes\n", "hmm" },
    { "odd messages do no harm",
      "{\"role\":\"user\"}\n[1]\n\"x\"\n{\"content\":\"nobody\"}\n{\"role\":\"user\",\"content\":[1,null,{\"type\":7},"
      "{\"type\":\"new\",\"text\":\"news\"}]}\n{\"role\":\"assistant\",\"tool_calls\":[{},{\"function\":3}]}\n",
      "[user]: news\n", "nobody" },
};

static void test_rendered(void)
{
    for (size_t i = 0; i < COUNT(rendered); i++) {
        kit k;
        char talk[8000];
        tap_row("what it reads: %s", rendered[i].name);
        kit_open(&k, FAKE_ANSWERS);
        snprintf(talk, sizeof talk, "%s%s", rendered[i].talk,
                 USER("and a few more words to be summarized"));
        CHECK_STATUS(summarize(&k, talk), MAKI_OK, &k.err);
        CHECK(asked(&k, rendered[i].has));
        CHECK(!asked(&k, rendered[i].lacks));
        CHECK_STR(k.summary.text, "summary 1");
        CHECK_DOUBLE(k.summary.usage.cost, 0.25);
        CHECK_DOUBLE(k.summary.usage.input, (double)k.model.prompt_tokens);
        CHECK_DOUBLE(k.summary.usage.output, 7);
        CHECK_EQ(k.summary.fallback_reason.status, MAKI_OK);
        kit_close(&k);
    }
}

/* ---- prompts ------------------------------------------------------------------------------------------------- */

static const char english[] =
    USER("Please fix the login page, it shows an error.") SAYS("Done, it works.");
static const char japanese[] =
    USER("ログイン画面を直してください。エラーが出ます。") SAYS("直しました。動きます。");
static const char chinese[] =
    USER("请修复登录页面，它显示一个错误。") SAYS("已经修好了，可以使用。");
static const char korean[] =
    USER("로그인 화면을 고쳐 주세요. 오류가 납니다.") SAYS("고쳤습니다. 잘 됩니다.");

static const struct {
    const char *name, *talk, *prompt;
    int lang; /* -1: of the text */
    const char *system, *before, *after;
} prompts[] = {
    { "standard, English", english, "standard", -1, "6. Pending Tasks",
      "=== The conversation ===\n\n[user]:", "Do not answer" },
    { "standard, Japanese", japanese, "standard", -1, "6. 未完了のタスク",
      "=== 要約する会話 ===\n\n[user]:", "指示に従って" },
    { "standard, Chinese", chinese, "standard", -1, "6. 待办任务",
      "=== 要总结的对话 ===\n\n[user]:", "请按照指示" },
    { "standard, Korean", korean, "standard", -1, "6. 남은 작업",
      "=== 요약할 대화 ===\n\n[user]:", "지시에 따라" },
    { "English by request", japanese, "standard", MAKI_EN, "6. Pending Tasks", "=== The conv",
      "in English" },
    { "Japanese by request", english, "standard", MAKI_JA, "日本語で", "=== 要約", "指示に従って" },
    { "brief", english, "brief", -1, "the next steps", "=== The conv", "Do not answer" },
    { "brief, Korean", korean, "brief", -1, "다음 단계", "=== 요약", "지시에" },
    { "of tasks", japanese, "task", -1, "30〜40%", "=== 要約", "指示に" },
    { "one's own", english, "Sum it up: {messages}That was all 🍣", -1, "",
      "Sum it up: \n\n[user]: Please", "That was all 🍣" },
    { "one's own without a place", chinese, "请写诗", -1, "", "请写诗\n\n[user]: 请修复", "" },
};

static void test_prompts(void)
{
    for (size_t i = 0; i < COUNT(prompts); i++) {
        kit k;
        tap_row("prompt: %s", prompts[i].name);
        kit_open(&k, FAKE_ANSWERS);
        k.settings.prompt = maki_str_of(prompts[i].prompt);
        k.settings.has_lang = prompts[i].lang >= 0;
        if (k.settings.has_lang) k.settings.lang = (maki_lang)prompts[i].lang;
        k.how.name.model = MAKI_LIT("small-model");
        CHECK_STATUS(summarize(&k, prompts[i].talk), MAKI_OK, &k.err);
        CHECK(strstr(k.model.system, prompts[i].system) != NULL);
        CHECK(asked(&k, prompts[i].before));
        CHECK(asked(&k, prompts[i].after));
        CHECK(!asked(&k, "{messages}"));
        CHECK_CSTR(k.model.name, "small-model");
        CHECK_EQ(k.model.timeout_ms, 120000);
        kit_close(&k);
    }
    tap_row("a focus is in the request, before the messages");
    kit focused;
    kit_open(&focused, FAKE_ANSWERS);
    focused.how.name.model = MAKI_LIT("small-model");
    focused.settings.focus = MAKI_LIT("the database password");
    CHECK_STATUS(summarize(&focused, prompts[0].talk), MAKI_OK, &focused.err);
    CHECK(asked(&focused, "Above all, keep everything about the following in full detail: the "
                          "database password\n\n=== The conversation ==="));
    kit_close(&focused);
    tap_row("the standard prompt has the headings that the next summary looks for");
    for (size_t lang = 0; lang < MAKI_LANGS; lang++) {
        maki_str system = maki_prompt_of(MAKI_LIT("standard"), (maki_lang)lang, true).system;
        for (size_t s = 0; s < MAKI_SECTIONS; s++)
            CHECK(maki_str_contains(system,
                                    maki_str_of(maki_heading((maki_lang)lang, (maki_section)s))));
    }
}

/* ---- scenarios ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    fake_scenario scenario;
    const char *code; /* why offline; NULL: the model's summary */
} scenarios[] = {
    { "answers", FAKE_ANSWERS, NULL },
    { "thinks aloud", FAKE_THINKS, NULL },
    { "ends inside of a character", FAKE_HALF_CHARACTER, NULL },
    { "fails", FAKE_FAILS, "UPSTREAM" },
    { "fails without a word", FAKE_SILENT_FAILURE, "IO" },
    { "says nothing", FAKE_EMPTY, "SUMMARY_EMPTY" },
    { "says nothing but spaces", FAKE_SPACES, "SUMMARY_EMPTY" },
    { "says too much", FAKE_TOO_LONG, "TOOBIG" },
    { "does not end", FAKE_ENDLESS, "TOOBIG" },
    { "is cut off", FAKE_CUT, "TOOBIG" },
    { "is no text", FAKE_NOT_UTF8, "UPSTREAM" },
    { "is late", FAKE_LATE, "TIMEOUT" },
    { "does not shrink it", FAKE_ECHO, "CONTEXT_GREW" },
};

static void test_scenarios(void)
{
    for (size_t i = 0; i < COUNT(scenarios); i++) {
        kit k;
        tap_row("a model that %s", scenarios[i].name);
        kit_open(&k, scenarios[i].scenario);
        k.model.reply = "知らせ src/a.c 🐟";
        CHECK_STATUS(summarize(&k, japanese), MAKI_OK, &k.err);
        CHECK_DOUBLE(k.summary.usage.cost, 0.25);
        if (scenarios[i].code) {
            CHECK_CSTR(k.summary.fallback_reason.code, scenarios[i].code);
            CHECK(k.summary.fallback_reason.msg[0] != '\0');
            CHECK(maki_str_contains(k.summary.text, MAKI_LIT("これまでの会話")));
        } else {
            CHECK_STR(k.summary.text, "知らせ src/a.c 🐟");
            CHECK_EQ(k.summary.fallback_reason.status, MAKI_OK);
        }
        kit_close(&k);
    }
    kit k;
    tap_row("cancelled while it answers: nothing takes its place");
    kit_open(&k, FAKE_CANCELS);
    CHECK_STATUS(summarize(&k, english), MAKI_CANCELLED, &k.err);
    CHECK_EQ(k.summary.text.len, 0);
    kit_close(&k);
    tap_row("cancelled before: it is not asked");
    kit_open(&k, FAKE_ANSWERS);
    k.model.cancelled = true;
    CHECK_STATUS(summarize(&k, english), MAKI_CANCELLED, &k.err);
    CHECK_EQ(k.model.calls, 0);
    kit_close(&k);
    tap_row("nothing was said");
    kit_open(&k, FAKE_ANSWERS);
    CHECK_STATUS(summarize(&k, "{\"role\":\"user\",\"content\":\"\"}\n"), MAKI_OK, &k.err);
    CHECK_CSTR(k.summary.fallback_reason.code, "SUMMARY_EMPTY");
    CHECK_EQ(k.model.calls, 0);
    kit_close(&k);
    tap_row("a window too small for the prompt");
    kit_open(&k, FAKE_ANSWERS);
    k.how.window = 700;
    CHECK_STATUS(summarize(&k, english), MAKI_OK, &k.err);
    CHECK_CSTR(k.summary.fallback_reason.code, "WINDOW_TOO_SMALL");
    kit_close(&k);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static const char *const words[] = { "the file ",  "関数を",       "修正する",
                                     "测试失败。", "다시 ",        "👩‍👩‍👧‍👦",
                                     "é́",          "path/to/a.c ", "42 ",
                                     "🐟🍣" };

/* `count` messages of about `units` words each. */
static char *make_talk(size_t count, size_t units)
{
    tap_random random = { 7 };
    char *talk = malloc(count * (units * 40 + 100) + 1), *at = talk;
    for (size_t i = 0; i < count; i++) {
        at += sprintf(at, "{\"role\":\"%s\",\"content\":\"#%zu ", i % 2 ? "assistant" : "user", i);
        for (size_t u = 0; u < units; u++)
            at += sprintf(at, "%s", words[tap_below(&random, COUNT(words))]);
        at += sprintf(at, "\"}\n");
    }
    return talk;
}

static uint64_t tokens_of(const char *text, size_t len)
{
    maki_env env = maki_env_system();
    maki_tokenizer *t = NULL;
    CHECK_STATUS(maki_tokenizer_open(&env, maki_encoding_find("o200k_base"), NULL, &t, NULL),
                 MAKI_OK, NULL);
    uint64_t n = t ? maki_tokenizer_count(t, (maki_str){ text, len }) : 0;
    maki_tokenizer_close(t);
    return n;
}

static const struct {
    const char *name;
    size_t messages, units;
    uint64_t window;
    int calls; /* 0: more than 3 */
} parts[] = {
    { "it fits", 20, 20, 20000, 1 },
    { "three parts and their merge", 40, 60, 6200, 4 },
    { "one message of many parts", 1, 6000, 6000, 0 },
    { "merged in several rounds", 400, 60, 3200, 0 },
};

static void test_parts(void)
{
    for (size_t i = 0; i < COUNT(parts); i++) {
        kit k;
        char number[40];
        char *talk = make_talk(parts[i].messages, parts[i].units);
        tap_row("parts: %s", parts[i].name);
        kit_open(&k, FAKE_ANSWERS);
        k.how.name.model = MAKI_LIT("gpt-4o"); /* counted exactly */
        k.how.window = parts[i].window;
        k.model.reply =
            "the summary of part %d has quite some words in it, so that many do not fit at once";
        CHECK_STATUS(summarize(&k, talk), MAKI_OK, &k.err);
        CHECK_EQ(k.summary.fallback_reason.status, MAKI_OK);
        if (parts[i].calls)
            CHECK_EQ(k.model.calls, parts[i].calls);
        else
            CHECK(k.model.calls > 3);
        CHECK_DOUBLE(k.summary.usage.cost, 0.25 * k.model.calls);
        CHECK(k.model.most_tokens + k.model.max_tokens <= parts[i].window);
        CHECK(k.model.most_tokens * 2 > parts[i].window ||
              k.model.calls == 1); /* parts are filled */
        CHECK(maki_utf8_valid((maki_str){ k.model.all, k.model.all_len },
                              NULL));                    /* cut between characters */
        for (size_t n = 0; n < parts[i].messages; n++) { /* every message was read */
            snprintf(number, sizeof number, "]: #%zu ", n);
            CHECK(strstr(k.model.all, number) != NULL);
        }
        /* the size given for the prompt is what a tokenizer finds in it */
        uint64_t told = k.model.prompt_tokens;
        uint64_t real = tokens_of(k.model.prompt, k.model.prompt_len) +
                        tokens_of(k.model.system, strlen(k.model.system));
        CHECK(real <= told && told <= real + 8);
        if (k.model.calls > 1) CHECK(asked(&k, "[summary]: the summary of part "));
        free(talk);
        kit_close(&k);
    }
    kit k;
    char *talk = make_talk(40, 60);
    tap_row("parts: the third fails");
    kit_open(&k, FAKE_FAILS);
    k.model.bad_from = 3;
    k.how.window = 6200;
    CHECK_STATUS(summarize(&k, talk), MAKI_OK, &k.err);
    CHECK_CSTR(k.summary.fallback_reason.code, "UPSTREAM");
    CHECK_DOUBLE(k.summary.usage.cost, 0.75); /* requests in vain cost too */
    CHECK_DOUBLE(k.summary.usage.output, 21);
    kit_close(&k);
    tap_row("parts: cancelled in the second");
    kit_open(&k, FAKE_CANCELS);
    k.model.bad_from = 2;
    k.how.window = 6200;
    CHECK_STATUS(summarize(&k, talk), MAKI_CANCELLED, &k.err);
    CHECK_EQ(k.model.calls, 2);
    kit_close(&k);
    tap_row("parts: every call has what is left of the time");
    kit_open(&k, FAKE_LATE);
    k.model.bad_from = 2;
    k.settings.timeout_ms = 5000000; /* 3,600,000 pass in the second call, and in the third */
    k.how.window = 6200;
    CHECK_STATUS(summarize(&k, talk), MAKI_OK, &k.err);
    CHECK_EQ(k.model.calls, 3);
    CHECK_EQ(k.model.timeout_ms, 1400000);
    CHECK_CSTR(k.summary.fallback_reason.code, "TIMEOUT");
    kit_close(&k);
    free(talk);
}

/* ---- memory ------------------------------------------------------------------------------------------------------- */

static void test_memory(void)
{
    kit k;
    char *talk = make_talk(6, 60000); /* some 3 MB */
    tap_row("memory does not grow with the conversation");
    kit_open(&k, FAKE_ANSWERS);
    k.how.window = 1000000;
    CHECK_STATUS(summarize(&k, talk), MAKI_OK, &k.err);
    CHECK(strlen(talk) > 2500000);
    CHECK(k.fe.peak_bytes < 12 << 20); /* the tokenizer's memory, two spools of 1 MB */
    kit_close(&k);
    free(talk);
}

static void test_faults(void)
{
    char *talk = make_talk(40, 60);
    maki_str lines = maki_str_of(talk);
    tap_row("every allocation failing in turn");
    for (size_t nth = 1;; nth++) {
        kit k;
        kit_open(&k, FAKE_ANSWERS);
        k.how.window = 6200;
        fake_alloc_fail_at(&k.fe, nth);
        maki_summary_request request = talk_request(&lines);
        maki_summarizer by = maki_summarizer_by_model(&k.how),
                        measured = maki_summarizer_measured(&by);
        maki_status st = measured.run(&measured, &request, &k.arena, &k.summary, &k.err);
        bool injected = fake_alloc_failed(&k.fe);
        CHECK_STATUS(st, injected && st != MAKI_OK ? MAKI_NOMEM : MAKI_OK, &k.err);
        kit_close(&k);
        if (!injected) break;
    }
    tap_row("file calls failing, at ever longer distances");
    char *big = make_talk(6, 60000);
    for (size_t nth = 1;; nth += 1 + nth / 2) {
        kit k;
        kit_open(&k, FAKE_ANSWERS);
        k.how.window = 1000000;
        fake_files_fail_at(&k.fe, nth, 5);
        maki_status st = summarize(&k, big);
        bool injected = fake_files_failed(&k.fe);
        CHECK(st == MAKI_OK || st == MAKI_IO);
        kit_close(&k);
        if (!injected) break;
    }
    free(big);
    free(talk);
}

/* ---- facts --------------------------------------------------------------------------------------------------------- */

static void test_measured(void)
{
    static const char talk[] =
        USER("Please set max_rows in src/a.c to 250 and look at docs/log.md.")
            SAYS("TODO: write lib/test_rows.py too, as the limit of 250 rows has no test so far");
    static const fake_scenario both[] = { FAKE_ANSWERS, FAKE_FAILS };
    for (size_t i = 0; i < COUNT(both); i++) {
        kit k;
        maki_str lines = maki_str_of(talk);
        maki_summary_request request = talk_request(&lines);
        tap_row("facts of a summary by %s", i ? "another after the model failed" : "the model");
        kit_open(&k, both[i]);
        k.model.reply = "in src/a.c max_rows";
        maki_summarizer by = maki_summarizer_by_model(&k.how),
                        measured = maki_summarizer_measured(&by);
        CHECK_STATUS(measured.run(&measured, &request, &k.arena, &k.summary, &k.err), MAKI_OK,
                     &k.err);
        CHECK(k.summary.coverage.measured);
        if (i == 0) {
            maki_str lost = { k.summary.coverage.list, k.summary.coverage.list_len };
            CHECK_EQ(k.summary.coverage.kept, 2);
            CHECK_EQ(k.summary.coverage.lost, 4);
            CHECK(maki_str_starts(lost, MAKI_LIT("\"TODO: write"))); /* tasks before paths */
            CHECK(maki_str_contains(lost, MAKI_LIT("\"docs/log.md\",\"lib/test_rows.py\"")));
        } else {
            CHECK_EQ(k.summary.coverage.kept + k.summary.coverage.lost, 6); /* each fact once */
        }
        kit_close(&k);
    }
}

int main(void)
{
    test_rendered();
    test_prompts();
    test_scenarios();
    test_parts();
    test_memory();
    test_faults();
    test_measured();
    return tap_end();
}
