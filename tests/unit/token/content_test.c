/* content_test.c -- the tokens of messages by the engine's own rules: which texts of a message count. */
#include "token/content.h"

#include <string.h>

#include "base/buf.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "fake_env.h"
#include "tap.h"

/* A PNG of 1000 x 500: its first bytes. */
#define PNG "iVBORw0KGgoAAAANSUhEUgAAA+gAAAH0CAIAAA"

/* The same with escapes. */
#define PNG_ESCAPED "\\u0069VBORw0KGgo\\nAAAANSUhEUgAAA\\u002BgAAAH0CAIAAA"
/* A text, and its base64. */
#define CATS_TEXT \
    "吾輩は猫である。我是猫。나는 고양이다 🐈\n吾輩は猫である。我是猫。나는 고양이다 🐈\n吾輩は猫である。我是猫。나는 고양이다 🐈\n"
#define CATS \
    "5ZC+6Lyp44Gv54yr44Gn44GC44KL44CC5oiR5piv54yr44CC64KY64qUIOqzoOyWkeydtOuLpCDwn5CICuWQvui8qeOBr+eMq+OBp+OBguOCi+OAguaIkeaYr+eMq+OAguuCmOuKlCDqs6DslpHsnbTri6Qg8J+QiArlkL7ovKnjga/njKvjgafjgYLjgovjgILmiJHmmK/njKvjgILrgpjripQg6rOg7JaR7J2064ukIPCfkIgK"
#define S16   "\\/\\/\\/\\/\\/\\/\\/\\/\\/\\/\\/\\/\\/\\/\\/\\/"
#define S256  S16 S16 S16 S16 S16 S16 S16 S16 S16 S16 S16 S16 S16 S16 S16 S16
#define S4096 S256 S256 S256 S256 S256 S256 S256 S256 S256 S256 S256 S256 S256 S256 S256 S256
/* 61,440 characters of base64 in 122,880 bytes */
#define SLASHES_64K \
    S4096 S4096 S4096 S4096 S4096 S4096 S4096 S4096 S4096 S4096 S4096 S4096 S4096 S4096 S4096

static const struct content_row {
    const char *name, *content, *calls;
    const char *texts[6]; /* each counted by itself */
    uint64_t fixed;       /* images and files */
    bool estimated;
} content_rows[] = {
    { "a string", "\"吾輩は猫である\"", "", { "吾輩は猫である" }, 0, false },
    { "an escaped string", "\"a\\n\\u732b\"", "", { "a\n猫" }, 0, false },
    { "an empty string", "\"\"", "", { "" }, 0, false },
    { "nothing", "", "", { 0 }, 0, false },
    { "null", "null", "", { 0 }, 0, false },
    { "no blocks", "[]", "", { 0 }, 0, false },
    { "text blocks, counted apart",
      "[{\"type\":\"text\",\"text\":\"Hello\"},{\"text\":\" world\",\"type\":\"text\"}]",
      "",
      { "Hello", " world" },
      0,
      false },
    { "strings among blocks",
      "[\"Hello\",{\"type\":\"text\",\"text\":\"x\"}]",
      "",
      { "Hello", "x" },
      0,
      false },
    { "a block alone", "{\"type\":\"text\",\"text\":\"Hello\"}", "", { "Hello" }, 0, false },
    { "a text without text",
      "[{\"type\":\"text\"},{\"type\":\"text\",\"text\":null}]",
      "",
      { 0 },
      0,
      false },
    { "OpenAI's names of text",
      "[{\"type\":\"input_text\",\"text\":\"in\"},{\"type\":\"output_text\",\"text\":\"out\"},"
      "{\"type\":\"refusal\",\"refusal\":\"no\"}]",
      "",
      { "in", "out", "no" },
      0,
      false },
    { "thinking counts, its signature does not",
      "[{\"type\":\"thinking\",\"thinking\":\"let me see\",\"signature\":\"c2lnbmF0dXJl\"}]",
      "",
      { "let me see" },
      0,
      false },
    { "reasoning, Roo's and OpenAI's",
      "[{\"type\":\"reasoning\",\"text\":\"one\"},{\"type\":\"reasoning\",\"summary\":[{\"type\":"
      "\"summary_text\",\"text\":\"two\"}]}]",
      "",
      { "one", "two" },
      0,
      false },
    { "a call: name and compact input",
      "[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"read_file\",\"input\": { \"path\" : "
      "\"\\u732b.txt\" }}]",
      "",
      { "read_file", "{\"path\":\"猫.txt\"}" },
      0,
      false },
    { "a call without input",
      "[{\"type\":\"tool_use\",\"name\":\"stop\"}]",
      "",
      { "stop" },
      0,
      false },
    { "a result with a string",
      "[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"a\\nb\",\"is_error\":true}]",
      "",
      { "a\nb" },
      0,
      false },
    { "a result with blocks",
      "[{\"type\":\"tool_result\",\"content\":[{\"type\":\"text\",\"text\":\"one\"},{\"type\":"
      "\"text\",\"text\":\"two\"}]}]",
      "",
      { "one", "two" },
      0,
      false },
    { "a result without content",
      "[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\"}]",
      "",
      { 0 },
      0,
      false },
    { "an image by its size, Anthropic's",
      "[{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":"
      "\"" PNG "\"}}]",
      "",
      { 0 },
      667,
      false },
    { "an image in a result",
      "[{\"type\":\"tool_result\",\"content\":[{\"type\":\"text\",\"text\":\"see\"},{\"type\":"
      "\"image\",\"source\":{\"data\":\"" PNG "\"}}]}]",
      "",
      { "see" },
      667,
      false },
    { "an image by its size, OpenAI's",
      "[{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64," PNG "\"}}]",
      "",
      { 0 },
      425,
      false },
    { "an image in low detail, by link",
      "[{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://x/y.png\",\"detail\":\"low\"}}]",
      "",
      { 0 },
      85,
      false },
    { "an image by link: estimated",
      "[{\"type\":\"input_image\",\"image_url\":\"https://x/y.png\"}]",
      "",
      { 0 },
      765,
      true },
    { "an image, Gemini's",
      "[{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"" PNG "\"}}]",
      "",
      { 0 },
      258 * 8,
      false },
    { "an image, MCP's",
      "[{\"type\":\"image\",\"data\":\"" PNG "\",\"mimeType\":\"image/png\"}]",
      "",
      { 0 },
      667,
      false },
    { "a document of text",
      "[{\"type\":\"document\",\"title\":\"notes\",\"source\":{\"type\":\"text\",\"media_type\":"
      "\"text/plain\",\"data\":\"words\"}}]",
      "",
      { "notes", "words" },
      0,
      false },
    { "a document of pages: estimated",
      "[{\"type\":\"document\",\"source\":{\"type\":\"base64\",\"data\":\"JVBERi0xLjcK\"}}]",
      "",
      { 0 },
      2250,
      true },
    { "sound: estimated",
      "[{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"AAAA\",\"format\":\"mp3\"}}]",
      "",
      { 0 },
      1,
      true },
    { "Gemini's text, call and response",
      "[{\"text\":\"hi\"},{\"functionCall\":{\"name\":\"f\",\"args\":{\"a\": 1}}},"
      "{\"functionResponse\":{\"name\":\"f\",\"response\":{\"text\":\"ok\"}}}]",
      "",
      { "hi", "f", "{\"a\":1}", "ok" },
      0,
      false },
    { "reasoning of Responses that is encrypted: estimated",
      "[{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[],\"content\":null,"
      "\"encrypted_content\":\"gAAAAABoISQ24OyVRYbkYfukdJo\\u003d\"}]",
      "",
      { 0 },
      6,
      true },
    { "Gemini's inline text is text",
      "[{\"inlineData\":{\"mimeType\":\"text\\/plain\",\"data\":\"" CATS "\"}}]",
      "",
      { CATS_TEXT },
      0,
      false },
    { "the same as a document",
      "[{\"type\":\"document\",\"source\":{\"type\":\"base64\",\"media_type\":\"Text\\/csv\",\"data\":\"" CATS
      "\"}}]",
      "",
      { CATS_TEXT },
      0,
      false },
    { "OpenAI's file of text is text",
      "[{\"type\":\"file\",\"file\":{\"filename\":\"猫.txt\",\"file_data\":\"data:text\\/plain;base64," CATS
      "\"}}]",
      "",
      { CATS_TEXT },
      0,
      false },
    { "a type with an escaped slash",
      "[{\"inline_data\":{\"mime_type\":\"audio\\/wav\",\"data\":\"AAAA\"}}]",
      "",
      { 0 },
      1,
      true },
    { "an image with escapes in its data",
      "[{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"data\":\"" PNG_ESCAPED "\"}}]",
      "",
      { 0 },
      667,
      false },
    { "an image in a data URL with escapes",
      "[{\"type\":\"image_url\",\"image_url\":{\"url\":\"d\\u0061ta:image\\/png;base64\\u002c" PNG_ESCAPED
      "\"}}]",
      "",
      { 0 },
      425,
      false },
    { "an image by file_id, OpenAI's",
      "[{\"type\":\"input_image\",\"file_id\":\"file-1\"},{\"type\":\"input_image\",\"file_id\":\"file-2\",\"detail\":\"low\"}]",
      "",
      { 0 },
      765 + 85,
      true },
    { "escapes add nothing to a length",
      "[{\"type\":\"document\",\"source\":{\"type\":\"base64\",\"data\":\"" SLASHES_64K "\"}}]",
      "",
      { 0 },
      2250,
      true },
    { "a null by another name erases nothing",
      "[{\"type\":\"tool_result\",\"content\":\"結果\",\"output\":null},"
      "{\"type\":\"tool_use\",\"name\":\"read\",\"input\":{\"a\":1},\"arguments\":null}]",
      "[{\"function\":{\"name\":\"read\",\"arguments\":\"{}\",\"args\":null}}]",
      { "結果", "read", "{\"a\":1}", "read", "{}" },
      0,
      false },
    { "what is not known counts as JSON",
      "[{\"type\": \"video\", \"n\": 1.0}]",
      "",
      { "{\"type\":\"video\",\"n\":1}" },
      0,
      true },
    { "escaped keys and types",
      "[{\"\\u0074ype\":\"te\\u0078t\",\"text\":\"Hello\"}]",
      "",
      { "Hello" },
      0,
      false },
    { "OpenAI's calls: name and arguments as they are",
      "null",
      "[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"a\\\": "
      "1}\"}},{\"function\":{\"name\":\"stop\",\"arguments\":\"\"}}]",
      { "read", "{\"a\": 1}", "stop" },
      0,
      false },
    { "Ollama's calls: arguments are an object",
      "\"\"",
      "[{\"function\":{\"name\":\"read\",\"arguments\":{\"a\": 1}}}]",
      { "read", "{\"a\":1}" },
      0,
      false },
    { "calls that are none", "\"x\"", "{\"function\":{\"name\":\"read\"}}", { "x" }, 0, false },
};

static uint64_t want_of(maki_tokenizer *t, const struct content_row *row)
{
    uint64_t sum = row->fixed;
    for (size_t i = 0; i < COUNT(row->texts) && row->texts[i]; i++)
        sum += maki_tokenizer_count(t, maki_str_of(row->texts[i]));
    return sum;
}

static void test_rows(maki_tokenizer *t)
{
    maki_content_rules rules = { .tokenizer = t };
    for (size_t i = 0; i < COUNT(content_rows); i++) {
        const struct content_row *row = &content_rows[i];
        maki_part_counts parts = { 0 };
        maki_err err;
        uint64_t tokens = 0;
        maki_str content = maki_str_of(row->content), calls = maki_str_of(row->calls);
        tap_row("%s", row->name);
        CHECK_STATUS(maki_count_message(t, MAKI_LIT("\"user\""), content, calls, &tokens, &err),
                     MAKI_OK, &err);
        CHECK_EQ(tokens, want_of(t, row) + MAKI_PER_MESSAGE);
        CHECK_STATUS(maki_count_content(&rules, content, &parts, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_count_calls(&rules, calls, &parts, &err), MAKI_OK, &err);
        CHECK_EQ(maki_part_counts_sum(&parts), want_of(t, row));
        CHECK_EQ(parts.estimated, row->estimated);
    }
}

static void test_parts(maki_tokenizer *t)
{
    maki_content_rules rules = { .tokenizer = t, .image = &maki_image_openai };
    maki_part_counts parts = { 0 };
    maki_err err;
    tap_row("Ollama's images, next to the content: as others, by the model's rule if there is one");
    maki_content_rules any = { .tokenizer = t };
    maki_count_images(&any, MAKI_LIT("[\"" PNG "\",\"" PNG "\",7]"), &parts);
    CHECK_EQ(parts.images, 2 * 667);
    CHECK(!parts.estimated);
    parts = (maki_part_counts){ 0 };
    maki_count_images(&rules, MAKI_LIT("[\"" PNG "\"]"), &parts);
    CHECK_EQ(parts.images, 425);
    parts = (maki_part_counts){ 0 };
    maki_count_images(&any, MAKI_LIT("{\"a\":\"" PNG "\"}"), &parts);
    CHECK_EQ(maki_part_counts_sum(&parts), 0);
    tap_row("each part in its place, and images by the rule that was chosen");
    CHECK_STATUS(
        maki_count_content(
            &rules,
            MAKI_LIT(
                "[{\"type\":\"text\",\"text\":\"Hello\"},{\"type\":\"thinking\",\"thinking\":\"Hello\"},"
                "{\"type\":\"tool_use\",\"name\":\"Hello\"},{\"type\":\"tool_result\",\"content\":\"Hello\"},"
                "{\"type\":\"image\",\"source\":{\"data\":\"" PNG "\"}},"
                "{\"type\":\"document\",\"source\":{\"type\":\"url\",\"url\":\"https://x\"}}]"),
            &parts, &err),
        MAKI_OK, &err);
    CHECK_EQ(parts.text, 1);
    CHECK_EQ(parts.reasoning, 1);
    CHECK_EQ(parts.calls, 1);
    CHECK_EQ(parts.results, 1);
    CHECK_EQ(parts.images, 425);
    CHECK_EQ(parts.files, 2250);
    CHECK(parts.estimated);
}

static void test_deep(fake_env *fe, maki_tokenizer *t)
{
    enum { DEEP = 200 };
    maki_buf json = maki_buf_new(fe->env.alloc, 1 << 20);
    uint64_t tokens = 0;
    maki_err err;
    tap_row("results inside results, 200 deep");
    for (int i = 0; i < DEEP; i++)
        maki_buf_add(&json, MAKI_LIT("[{\"type\":\"tool_result\",\"content\":"));
    maki_buf_add(&json, MAKI_LIT("\"Hello\""));
    for (int i = 0; i < DEEP; i++)
        maki_buf_add(&json, MAKI_LIT("}]"));
    CHECK_STATUS(maki_count_message(t, MAKI_LIT("\"user\""), maki_buf_str(&json), MAKI_LIT(""),
                                    &tokens, &err),
                 MAKI_OK, &err);
    CHECK(tokens > DEEP);
    maki_buf_free(&json);
}

static void test_estimate(void)
{
    uint64_t tokens = 0;
    maki_err err;
    tap_row("without a tokenizer: units of the JSON / 4, and the message");
    CHECK_STATUS(maki_count_message(NULL, MAKI_LIT("\"user\""), MAKI_LIT("\"吾輩は猫である\""),
                                    MAKI_LIT("[1]"), &tokens, &err),
                 MAKI_OK, &err);
    CHECK_EQ(tokens, (9 + 3 + 3) / 4 + 4);
    CHECK_STATUS(maki_count_message(NULL, MAKI_LIT("\"user\""), MAKI_LIT("null"), MAKI_LIT(""),
                                    &tokens, &err),
                 MAKI_OK, &err);
    CHECK_EQ(tokens, 4);
}

/* A long text with escapes: what is held for it is given back. */
static void test_faults(fake_env *fe, maki_tokenizer *t)
{
    maki_buf json = maki_buf_new(fe->env.alloc, 1 << 20);
    maki_err err;
    maki_buf_add(&json, MAKI_LIT("[{\"type\":\"tool_result\",\"content\":\""));
    for (int i = 0; i < 5000; i++)
        maki_buf_add(&json, MAKI_LIT("word\\n猫"));
    maki_buf_add(&json, MAKI_LIT("\"}]"));
    tap_row("every allocation fails in turn");
    for (int i = 0; i < 4; i++) /* until it has its memory of pieces */
        maki_tokenizer_count(t, maki_buf_str(&json));
    size_t before = fake_alloc_live(fe);
    for (size_t nth = 1;; nth++) {
        uint64_t tokens = 0;
        fake_alloc_fail_at(fe, nth);
        maki_status st = maki_count_message(t, MAKI_LIT("\"user\""), maki_buf_str(&json),
                                            MAKI_LIT(""), &tokens, &err);
        bool failed = fake_alloc_failed(fe);
        CHECK_STATUS(st, failed ? MAKI_NOMEM : MAKI_OK, &err);
        CHECK_EQ(fake_alloc_live(fe), before);
        if (!failed) break;
    }
    fake_alloc_fail_at(fe, 0);
    maki_buf_free(&json);
}

int main(void)
{
    fake_env fe;
    maki_err err;
    maki_tokenizer *t = NULL;
    fake_env_init(&fe);
    tap_row("open");
    if (!CHECK_STATUS(
            maki_tokenizer_open(&fe.env, maki_encoding_find("o200k_base"), NULL, &t, &err), MAKI_OK,
            &err)) {
        return tap_end();
    }
    test_rows(t);
    test_parts(t);
    test_deep(&fe, t);
    test_estimate();
    test_faults(&fe, t);
    maki_tokenizer_close(t);
    tap_row("everything is given back");
    CHECK_EQ(fake_alloc_live(&fe), 0);
    return tap_end();
}
