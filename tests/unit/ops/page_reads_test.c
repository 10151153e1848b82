/* page_reads_test.c -- what a page reads: messages of every protocol's shape as parts, cuts, broken bytes, very long
 * messages, the request that a message answers, forks; memory that does not grow; every allocation failing in turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <maki/maki.h>

#include "base/buf.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "base/text.h"
#include "directory.h"
#include "fake_env.h"
#include "history/conv.h"
#include "tap.h"

enum { ANSWER_MAX = 1 << 28 };

static fake_env fe;
static maki *m;
static directory dir;
static maki_buf answer;

static maki *new_handle(void)
{
    maki_options options = { sizeof options, fe.env, MAKI_MAX_MEMORY, dir.path };
    maki *handle = NULL;
    maki_err err = { 0 };
    CHECK_STATUS(maki_open(&options, &handle, &err), MAKI_OK, &err);
    return handle;
}

/* Run an operation on the conversation FILE; the answer is checked and in `answer`. */
static maki_str ask(const char *op, const char *file, const char *fields)
{
    char input[1000];
    maki_str value = MAKI_LIT("");
    maki_err err = { 0 };
    snprintf(input, sizeof input, "{\"conversation\":\"%s\"%s%s}", directory_file(&dir, file),
             fields[0] ? "," : "", fields);
    maki_buf_clear(&answer);
    maki_status st = maki_op(m, maki_str_of(op), maki_str_of(input), maki_buf_sink(&answer), &err);
    CHECK_STATUS(st, MAKI_OK, &err);
    CHECK_STATUS(maki_json_check(maki_buf_str(&answer), &value, &err), MAKI_OK, &err);
    return value;
}

static void append(const char *file, maki_str row)
{
    maki_conv *conv = NULL;
    maki_change change;
    maki_err err = { 0 };
    maki_conv_options options = { .create = true };
    CHECK_STATUS(maki_conv_open(&fe.env, directory_file(&dir, file), &options, &conv, &err),
                 MAKI_OK, &err);
    CHECK_STATUS(maki_conv_append(conv, NULL, &row, 1, &change, &err), MAKI_OK, &err);
    maki_conv_close(conv);
}

static void add_event(const char *file, const char *type, const char *fields)
{
    maki_conv *conv = NULL;
    maki_change change;
    maki_err err = { 0 };
    maki_conv_options options = { .create = true };
    CHECK_STATUS(maki_conv_open(&fe.env, directory_file(&dir, file), &options, &conv, &err),
                 MAKI_OK, &err);
    CHECK_STATUS(maki_conv_add_event(conv, type, maki_str_of(fields), &change, &err), MAKI_OK,
                 &err);
    maki_conv_close(conv);
}

static void remove_log(const char *stem)
{
    static const char *const ends[] = { ".jsonl", ".events.jsonl", ".idx" };
    char name[100];
    for (size_t i = 0; i < COUNT(ends); i++) {
        snprintf(name, sizeof name, "%s%s", stem, ends[i]);
        unlink(directory_file(&dir, name));
    }
}

/* The n-th message of an answer of session.messages, from 0. */
static maki_str message_at(maki_str value, size_t n)
{
    MAKI_JSON_EACH(item, maki_json_items(maki_json_field(value, "messages"))) {
        if (n-- == 0) return item.value;
    }
    return MAKI_LIT("");
}

/* ---- shapes ---------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const struct shape_row {
    const char *name, *row;
    unsigned chars;
    const char *parts;
} shape_rows[] = {
    { "a string", "{\"role\":\"user\",\"content\":\"修好它\"}", 100, "[{\"type\":\"text\",\"text\":\"修好它\"}]" },
    { "a cut counts characters, not bytes", "{\"role\":\"assistant\",\"content\":\"가나다🐟🐠x\"}", 4,
      "[{\"type\":\"text\",\"text\":\"가나다🐟\",\"length\":6}]" },
    { "and not escapes", "{\"role\":\"assistant\",\"content\":\"\\ud83d\\udc1f\\n\\\"\\u00e9z\"}", 4,
      "[{\"type\":\"text\",\"text\":\"🐟\\n\\\"é\",\"length\":5}]" },
    { "half a character", "{\"role\":\"assistant\",\"content\":\"a\\ud83db\"}", 100, "[{\"type\":\"text\",\"text\":\"a\xEF\xBF\xBD" "b\"}]" },
    { "chars 0", "{\"role\":\"assistant\",\"content\":\"ab\"}", 0, "[{\"type\":\"text\",\"text\":\"\",\"length\":2}]" },
    { "Anthropic: thinking, text, call",
      "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"まず\",\"signature\":\"s\"},{\"type\":\"text\",\"text\":\"見ます\"},"
      "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"read\",\"input\":{\"path\":\"é.c\"}}]}", 100,
      "[{\"type\":\"thinking\",\"text\":\"まず\"},{\"type\":\"text\",\"text\":\"見ます\"},"
      "{\"type\":\"call\",\"id\":\"t1\",\"name\":\"read\",\"input\":\"{\\\"path\\\":\\\"é.c\\\"}\"}]" },
    { "Anthropic: a result with an image",
      "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"is_error\":true,\"content\":[{\"type\":\"text\",\"text\":\"A\"},"
      "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"iVBORw0KGgo=\"}},{\"type\":\"text\",\"text\":\"B\"}]}]}", 100,
      "[{\"type\":\"result\",\"id\":\"t1\",\"text\":\"A\\nB\",\"error\":true,\"parts\":[{\"type\":\"image\",\"mediaType\":\"image/png\",\"bytes\":8,\"data\":\"iVBORw0KGgo=\"}]}]" },
    { "an image that is too long for these characters",
      "{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"iVBORw0KGgoiVBORw0KGgo=\"}}]}", 1,
      "[{\"type\":\"image\",\"mediaType\":\"image/png\",\"bytes\":16}]" },
    { "OpenAI: reasoning and calls",
      "{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"r\",\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"sh\","
      "\"arguments\":\"{\\\"cmd\\\":\\\"ls\\\"}\"}},{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"sh\",\"arguments\":\"{\"}}]}", 5,
      "[{\"type\":\"thinking\",\"text\":\"r\"},{\"type\":\"call\",\"id\":\"c1\",\"name\":\"sh\",\"input\":\"{\\\"cmd\",\"length\":12},"
      "{\"type\":\"call\",\"id\":\"c2\",\"name\":\"sh\",\"input\":\"{\"}]" },
    { "OpenAI: a tool's row", "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"파일 하나\"}", 100,
      "[{\"type\":\"result\",\"id\":\"c1\",\"text\":\"파일 하나\"}]" },
    { "OpenAI: images by address; others are not shown",
      "{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://x.example/a.png\"}},"
      "{\"type\":\"image_url\",\"image_url\":{\"url\":\"javascript:alert(1)\"}},{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/gif;base64,R0lG\"}}]}", 100,
      "[{\"type\":\"image\",\"mediaType\":\"\",\"bytes\":0,\"url\":\"https://x.example/a.png\"},{\"type\":\"image\",\"mediaType\":\"\",\"bytes\":0},"
      "{\"type\":\"image\",\"mediaType\":\"image/gif\",\"bytes\":3,\"data\":\"R0lG\"}]" },
    { "OpenAI: a refusal", "{\"role\":\"assistant\",\"content\":null,\"refusal\":\"いいえ\"}", 100, "[{\"type\":\"text\",\"text\":\"いいえ\"}]" },
    { "Responses: reasoning items and texts",
      "{\"role\":\"assistant\",\"content\":[{\"type\":\"reasoning\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"一\"},{\"type\":\"summary_text\",\"text\":\"二\"}],"
      "\"encrypted_content\":\"x\"},{\"type\":\"output_text\",\"text\":\"好\"}]}", 100,
      "[{\"type\":\"thinking\",\"text\":\"一\\n\\n二\"},{\"type\":\"text\",\"text\":\"好\"}]" },
    { "Responses: input", "{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"q\"},{\"type\":\"input_file\",\"filename\":\"a.pdf\",\"file_data\":\"data:application/pdf;base64,JVBE\"}]}", 100,
      "[{\"type\":\"text\",\"text\":\"q\"},{\"type\":\"file\",\"mediaType\":\"application/pdf\",\"bytes\":3,\"data\":\"JVBE\"}]" },
    { "Gemini: a call with its signature",
      "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"call_look_0\",\"name\":\"look\",\"input\":{\"q\":1},\"original\":{\"thoughtSignature\":\"x\"}}]}", 100,
      "[{\"type\":\"call\",\"id\":\"call_look_0\",\"name\":\"look\",\"input\":\"{\\\"q\\\":1}\"}]" },
    { "Ollama: images next to the text, thinking, arguments that are objects",
      "{\"role\":\"user\",\"content\":\"何?\",\"images\":[\"iVBORw0KGgo=\"]}", 100,
      "[{\"type\":\"text\",\"text\":\"何?\"},{\"type\":\"image\",\"mediaType\":\"image/png\",\"bytes\":8,\"data\":\"iVBORw0KGgo=\"}]" },
    { "Ollama: a call", "{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"t\",\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{\"a\":[1,2]}}}]}", 100,
      "[{\"type\":\"thinking\",\"text\":\"t\"},{\"type\":\"text\",\"text\":\"\"},{\"type\":\"call\",\"name\":\"f\",\"input\":\"{\\\"a\\\":[1,2]}\"}]" },
    { "a block that nobody knows", "{\"role\":\"user\",\"content\":[{\"type\":\"weird\",\"a\":1}]}", 8,
      "[{\"type\":\"other\",\"name\":\"weird\",\"text\":\"{\\\"type\\\":\",\"length\":22}]" },
    { "what an agent inserted",
      "{\"role\":\"user\",\"content\":\"<system-reminder>a</system-reminder>\\n修好它\\u003csystem-reminder>b\\u003c/system-reminder>\"}", 100,
      "[{\"type\":\"text\",\"text\":\"<system-reminder>a</system-reminder>\\n\",\"inserted\":true},{\"type\":\"text\",\"text\":\"修好它\"},"
      "{\"type\":\"text\",\"text\":\"<system-reminder>b</system-reminder>\",\"inserted\":true}]" },
    { "a model's text is its own", "{\"role\":\"assistant\",\"content\":\"<system-reminder>a</system-reminder>\"}", 100,
      "[{\"type\":\"text\",\"text\":\"<system-reminder>a</system-reminder>\"}]" },
    { "no content", "{\"role\":\"assistant\",\"content\":null}", 100, "[]" },
};
/* clang-format on */

static void check_shapes(void)
{
    for (size_t i = 0; i < COUNT(shape_rows); i++) {
        const struct shape_row *row = &shape_rows[i];
        char fields[60];
        tap_row("%s", row->name);
        append("shape.jsonl", maki_str_of(row->row));
        snprintf(fields, sizeof fields, "\"from\":1,\"to\":1,\"chars\":%u", row->chars);
        maki_str message = message_at(ask("session.messages", "shape.jsonl", fields), 0);
        CHECK_TEXT(maki_json_field(message, "parts"), maki_str_of(row->parts));
        remove_log("shape");
    }
}

/* ---- long and broken --------------------------------------------------------------------------------------------- */

static void append_long(const char *file, const char *before, size_t n, const char *after)
{
    maki_buf row = maki_buf_new(maki_env_system().alloc, ANSWER_MAX);
    maki_buf_add(&row, maki_str_of(before));
    for (size_t i = 0; i < n; i++)
        maki_buf_add_byte(&row, 'A');
    maki_buf_add(&row, maki_str_of(after));
    append(file, maki_buf_str(&row));
    maki_buf_free(&row);
}

static void check_long(void)
{
    tap_row("a line of 1 MB, cut and whole");
    append_long("long.jsonl", "{\"role\":\"user\",\"content\":\"\\n", 1 << 20, "\"}");
    maki_str message = message_at(ask("session.messages", "long.jsonl", "\"from\":1,\"to\":1"), 0);
    CHECK(message.len < 5000 && maki_str_contains(message, MAKI_LIT("\"length\":1048577")));
    message = message_at(
        ask("session.messages", "long.jsonl", "\"from\":1,\"to\":1,\"chars\":100000000"), 0);
    CHECK(message.len > (1 << 20) && !maki_str_contains(message, MAKI_LIT("\"length\"")));

    tap_row("an image of 5 MB: its size, and its bytes when they are asked for");
    append_long(
        "long.jsonl",
        "{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"source\":{\"type\":\"base64\","
        "\"media_type\":\"image/png\",\"data\":\"",
        5 << 20, "\"}}]}");
    message = message_at(ask("session.messages", "long.jsonl", "\"from\":2,\"to\":2"), 0);
    CHECK(message.len < 1000 && maki_str_contains(message, MAKI_LIT("\"bytes\":3932160")));
    message = message_at(
        ask("session.messages", "long.jsonl", "\"from\":2,\"to\":2,\"chars\":1000000"), 0);
    CHECK(message.len > (5 << 20));

    tap_row("neither is in memory: a page of them costs little");
    fe.peak_bytes = fe.live_bytes;
    size_t before = fe.live_bytes;
    ask("session.messages", "long.jsonl", "\"from\":1,\"to\":2");
    printf("# %zu bytes\n", fe.peak_bytes - before);
    CHECK(fe.peak_bytes - before < 4 << 20);
    remove_log("long");
}

static void check_broken(void)
{
    tap_row("broken UTF-8 and a line that is no message are shown, and the rest");
    append("broken.jsonl", MAKI_LIT("{\"role\":\"user\",\"content\":\"good\"}"));
    static const char bytes[] = "{\"role\":\"user\",\"content\":\"good\"}\n"
                                "{\"role\":\"user\",\"content\":\"caf\xE9 \xFF\"}\nnot JSON\n"
                                "{\"role\":\"assistant\",\"content\":\"好\"}\n";
    directory_write(directory_file(&dir, "broken.jsonl"), maki_str_of(bytes));
    unlink(directory_file(&dir, "broken.idx"));
    maki_str value = ask("session.messages", "broken.jsonl", "\"from\":1,\"to\":9");
    CHECK(maki_utf8_valid(maki_buf_str(&answer), NULL));
    CHECK_STR(maki_json_field(message_at(value, 1), "role"), "\"\"");
    CHECK(maki_str_contains(message_at(value, 1), MAKI_LIT("caf\xEF\xBF\xBD \xEF\xBF\xBD")));
    CHECK_STR(maki_json_field(message_at(value, 2), "parts"),
              "[{\"type\":\"other\",\"name\":\"damaged\",\"text\":\"not JSON\"}]");
    CHECK_STR(maki_json_field(message_at(value, 3), "parts"),
              "[{\"type\":\"text\",\"text\":\"好\"}]");
    remove_log("broken");
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

#define EXCHANGE(to, status, end, tokens)                                                      \
    "\"of\":\"exchange\",\"protocol\":\"openai\",\"model\":\"gpt-4o\",\"spans\":[[1," to "]]," \
    "\"systemTokens\":10,\"toolTokens\":20,\"messageTokens\":" tokens ",\"status\":" status    \
    ",\"end\":\"" end "\",\"firstMs\":5,\"ms\":9"
#define USAGE(input) "\"model\":\"gpt-4o\",\"input\":" input ",\"output\":3,\"cacheRead\":1"

static void begin_requests(const char *file)
{
    append(file, MAKI_LIT("{\"role\":\"user\",\"content\":\"하나\"}"));
    add_event(file, "manifest", EXCHANGE("1", "529", "error", "7"));
    add_event(file, "provider_error", "\"status\":529,\"message\":\"overloaded\"");
    append(file, MAKI_LIT("{\"role\":\"assistant\",\"content\":\"一\"}"));
    add_event(file, "manifest", EXCHANGE("1", "200", "complete", "7"));
    add_event(file, "usage", "\"cost\":0.5,\"summarizer\":{\"model\":\"x\"}");
    add_event(file, "usage", USAGE("40") ",\"cost\":0.25");
    append(file, MAKI_LIT("{\"role\":\"user\",\"content\":\"둘\"}"));
    append(file, MAKI_LIT("{\"role\":\"assistant\",\"content\":\"二\"}"));
    add_event(file, "manifest", EXCHANGE("3", "200", "complete", "20"));
    add_event(file, "usage", USAGE("50"));
}

static void check_requests(void)
{
    tap_row("the request of a message, found without the others; a refused one is no reply's");
    begin_requests("asked.jsonl");
    maki_str value = ask("session.messages", "asked.jsonl", "\"from\":1,\"to\":4");
    CHECK(!maki_json_field(message_at(value, 0), "exchange").len);
    CHECK_STR(
        maki_json_field(message_at(value, 1), "exchange"),
        "{\"ev\":3,\"ts\":1700000000000,\"status\":200,\"end\":\"complete\",\"firstMs\":5,\"ms\":9,"
        "\"model\":\"gpt-4o\",\"input\":40,\"output\":3,\"cacheRead\":1,\"cost\":0.25}");
    CHECK(!maki_json_field(message_at(value, 2), "exchange").len);
    CHECK_EQ(maki_json_number_field(maki_json_field(message_at(value, 3), "exchange"), "input"),
             50);

    tap_row("sums over all requests");
    value = ask("session.usage", "asked.jsonl", "");
    CHECK_EQ(maki_json_number_field(value, "requests"), 3);
    CHECK_EQ(maki_json_number_field(value, "errors"), 1);
    CHECK_EQ(maki_json_number_field(value, "input"), 90);
    CHECK_DOUBLE(maki_json_number_field(value, "cost"), 0.75);
    CHECK_STR(maki_json_field(value, "points"),
              "[[1,1,1700000000000,37],[3,2,1700000000000,40],[6,4,1700000000000,50]]");

    tap_row("the curve keeps the last point");
    value = ask("session.usage", "asked.jsonl", "\"points\":2");
    CHECK_STR(maki_json_field(value, "points"), "[[1,1,1700000000000,37],[6,4,1700000000000,50]]");

    tap_row("what a request added, and what refused one");
    value = ask("session.request", "asked.jsonl", "");
    CHECK_STR(maki_json_field(maki_json_field(value, "changed"), "added"), "[[2,3]]");
    CHECK_EQ(maki_json_number_field(value, "reply"), 4);
    value = ask("session.request", "asked.jsonl", "\"ev\":1");
    CHECK_STR(maki_json_field(value, "error"), "\"overloaded\"");
    CHECK_EQ(maki_json_number_field(value, "reply"), 0);
    CHECK_STR(maki_json_field(value, "before"), "null");

    tap_row("errors are in the outline and among the steps");
    value = ask("session.outline", "asked.jsonl", "");
    CHECK_STR(maki_json_field(value, "errors"), "[{\"ev\":2,\"at\":1,\"ts\":1700000000000}]");
    value = ask("session.steps", "asked.jsonl", "\"evs\":[2]");
    CHECK(maki_str_contains(value, MAKI_LIT("\"status\":529,\"message\":\"overloaded\"")));
}

/* A request that Maki wrote: without spans, the view of that revision; a rewind changes the next one. */
static void check_views_sent(void)
{
    static const char own[] =
        "\"of\":\"exchange\",\"protocol\":\"anthropic\",\"model\":\"gpt-4o\","
        "\"systemTokens\":0,\"toolTokens\":0,\"messageTokens\":20,\"status\":200,"
        "\"end\":\"complete\",\"firstMs\":5,\"ms\":9";
    tap_row("a request of a turn is the view of its revision; a truncation shows in the next");
    for (int i = 0; i < 4; i++) {
        append("own.jsonl", MAKI_LIT("{\"role\":\"user\",\"content\":\"질문\",\"ts\":1}"));
        append("own.jsonl", MAKI_LIT("{\"role\":\"assistant\",\"content\":\"답\",\"ts\":2}"));
    }
    add_event("own.jsonl", "manifest", own);
    ask("history.truncate", "own.jsonl", "");
    append("own.jsonl", MAKI_LIT("{\"role\":\"user\",\"content\":\"또\",\"ts\":3}"));
    append("own.jsonl", MAKI_LIT("{\"role\":\"assistant\",\"content\":\"네\",\"ts\":4}"));
    add_event("own.jsonl", "manifest", own);
    maki_str value = ask("session.request", "own.jsonl", "\"body\":true");
    maki_str changed = maki_json_field(value, "changed");
    CHECK(maki_str_contains(maki_json_field(value, "parts"),
                            MAKI_LIT("{\"part\":\"marker\",\"ev\":2,")));
    CHECK_STR(maki_json_field(changed, "synthetic"), "[2]");
    CHECK_EQ(maki_json_number_field(changed, "first"), 2);
    CHECK_EQ(maki_json_number_field(value, "reply"), 10);
    CHECK(maki_str_contains(maki_json_field(value, "body"), MAKI_LIT("messages hidden]")));
    remove_log("own");
}

/* ---- forks ------------------------------------------------------------------------------------------------------- */

static void check_forks(void)
{
    char fields[400];
    tap_row("a fork shows the messages of its parent, with their requests, and what hides them");
    for (int i = 0; i < 4; i++)
        append("asked.jsonl", i % 2 ? MAKI_LIT("{\"role\":\"assistant\",\"content\":\"答\"}")
                                    : MAKI_LIT("{\"role\":\"user\",\"content\":\"질문\"}"));
    ask("history.truncate", "asked.jsonl", "");
    snprintf(fields, sizeof fields, "\"path\":\"%s\"", directory_file(&dir, "forked.jsonl"));
    ask("history.fork", "asked.jsonl", fields);
    append("forked.jsonl", MAKI_LIT("{\"role\":\"user\",\"content\":\"셋\"}"));
    maki_str value = ask("session.messages", "forked.jsonl", "\"from\":1,\"to\":99");
    CHECK_EQ(maki_json_count(maki_json_field(value, "messages")), 9);
    CHECK_EQ(maki_json_number_field(maki_json_field(message_at(value, 3), "exchange"), "input"),
             50);
    value = ask("session.outline", "forked.jsonl", "");
    CHECK_STR(maki_json_field(value, "rows"),
              "[[\"m\",1,1],[\"h\",2,3,8,\"truncate\",1],[\"s\",8,1],[\"m\",4,9]]");
    CHECK(maki_str_contains(maki_json_field(value, "steps"), MAKI_LIT("\"parent\":\"asked\"")));
    remove_log("forked");
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static size_t page_memory(const char *file, const char *fields)
{
    size_t before = fe.live_bytes;
    fe.peak_bytes = before;
    ask("session.messages", file, fields);
    return fe.peak_bytes - before;
}

static void check_memory(void)
{
    enum { SMALL = 100, LARGE = 5000 };
    maki_err err = { 0 };
    tap_row("a page of %d messages costs the memory of one of %d", LARGE, SMALL);
    maki_str rows[SMALL];
    for (size_t i = 0; i < SMALL; i++)
        rows[i] = MAKI_LIT("{\"role\":\"user\",\"content\":\"한국어 message\"}");
    for (int i = 0; i < 2; i++) {
        maki_conv *conv = NULL;
        maki_change change;
        maki_conv_options options = { .create = true };
        CHECK_STATUS(maki_conv_open(&fe.env,
                                    directory_file(&dir, i ? "large.jsonl" : "small.jsonl"),
                                    &options, &conv, &err),
                     MAKI_OK, &err);
        for (size_t at = 0, n = i ? LARGE : SMALL; at < n; at += SMALL)
            CHECK_STATUS(maki_conv_append(conv, NULL, rows, SMALL, &change, &err), MAKI_OK, &err);
        maki_conv_close(conv);
    }
    maki_buf_clear(&answer);
    page_memory("small.jsonl", "\"from\":1,\"to\":60"); /* the answer's buffer has its size now */
    size_t small = page_memory("small.jsonl", "\"from\":21,\"to\":80");
    size_t large = page_memory("large.jsonl", "\"from\":2501,\"to\":2560");
    printf("# %zu and %zu bytes\n", small, large);
    CHECK(large <= small + 4096);
    remove_log("small");
    remove_log("large");
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

static void check_faults(void)
{
    static const struct {
        const char *op, *fields;
    } calls[] = { { "session.outline", "" },
                  { "session.messages", ",\"from\":1,\"to\":9" },
                  { "session.steps", ",\"evs\":[2,8]" },
                  { "session.usage", "" },
                  { "session.request", ",\"body\":true" } };
    maki_buf out = maki_buf_new(maki_env_system().alloc, ANSWER_MAX);
    for (size_t i = 0; i < COUNT(calls); i++) {
        char input[500];
        size_t before = fake_alloc_live(&fe), nth = 1;
        tap_row("%s: each allocation failing in turn", calls[i].op);
        snprintf(input, sizeof input, "{\"conversation\":\"%s\"%s}",
                 directory_file(&dir, "asked.jsonl"), calls[i].fields);
        for (;; nth++) {
            maki_err err = { 0 };
            maki_buf_clear(&out);
            fake_alloc_fail_at(&fe, nth);
            maki_status st =
                maki_op(m, maki_str_of(calls[i].op), maki_str_of(input), maki_buf_sink(&out), &err);
            bool injected = fake_alloc_failed(&fe);
            if (!injected) CHECK_STATUS(st, MAKI_OK, &err);
            CHECK(st == MAKI_OK || st == MAKI_NOMEM);
            if (!CHECK_EQ(fake_alloc_live(&fe), before) || !injected) break;
        }
        fake_alloc_fail_at(&fe, 0);
        printf("# %zu allocations\n", nth);
    }
    maki_buf_free(&out);
}

int main(void)
{
    fake_env_init(&fe);
    directory_open(&dir);
    answer = maki_buf_new(maki_env_system().alloc, ANSWER_MAX);
    m = new_handle();
    check_shapes();
    check_long();
    check_broken();
    check_requests();
    check_views_sent();
    check_forks();
    check_memory();
    check_faults();
    maki_close(m);
    maki_buf_free(&answer);
    directory_close(&dir);
    tap_row("nothing leaks");
    CHECK_EQ(fake_alloc_live(&fe), 0);
    CHECK_EQ(fake_files_live(&fe), 0);
    return tap_end();
}
