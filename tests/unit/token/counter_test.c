/* counter_test.c -- the counters of the reference: what each counts, and that it rounds once a call. */
#include "token/counter.h"

#include <math.h>

#include "base/str_util.h"
#include "fake_env.h"
#include "tap.h"

static const struct item_row {
    const char *name, *item;
    const char *text; /* what is counted of it; NULL: `fixed` */
    double fixed;
} item_rows[] = {
    { "a string", "\"Hello\\nworld\"", "Hello\nworld", 0 },
    { "a text", "{\"type\":\"text\",\"text\":\"吾輩\"}", "吾輩", 0 },
    { "a text without text", "{\"type\":\"text\"}", "", 0 },
    { "a text that is a number", "{\"type\":\"text\",\"text\":5}", "", 0 },
    { "no type", "{\"text\":\"Hello\"}", "", 0 },
    { "a type that is a number", "{\"type\":1,\"text\":\"Hello\"}", "", 0 },
    { "thinking", "{\"type\":\"thinking\",\"thinking\":\"Hello\"}", "", 0 },
    { "a number", "5", "", 0 },
    { "a call", "{\"type\":\"tool_use\",\"name\":\"f\",\"input\":{ \"a\" : 1.0 }}",
      "Tool: f\nArguments: {\"a\":1}", 0 },
    { "a call without input", "{\"type\":\"tool_use\",\"name\":\"f\"}", "Tool: f", 0 },
    { "a call with input null", "{\"type\":\"tool_use\",\"name\":\"f\",\"input\":null}",
      "Tool: f\nArguments: null", 0 },
    { "a call without a name", "{\"type\":\"tool_use\",\"input\":{}}",
      "Tool: undefined\nArguments: {}", 0 },
    { "a result", "{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"a\\nb\"}",
      "Tool Result (t)\na\nb", 0 },
    { "a result that is an error",
      "{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"x\",\"is_error\":true}",
      "Tool Result (t)\n[Error]\nx", 0 },
    { "a result that is none",
      "{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"x\",\"is_error\":false}",
      "Tool Result (t)\nx", 0 },
    { "a result without content", "{\"type\":\"tool_result\",\"tool_use_id\":\"t\"}",
      "Tool Result (t)", 0 },
    { "a result with an empty list",
      "{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":[]}", "Tool Result (t)", 0 },
    { "a result with items",
      "{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
      "{\"type\":\"text\"},{\"type\":\"image\"},{\"type\":\"video\"},{},\"s\"]}",
      "Tool Result (t)\na\n\n[Image content]\n[Unsupported content block: video]\n[Unsupported content "
      "block: undefined]\n[Unsupported content block: undefined]",
      0 },
    { "an image", "{\"type\":\"image\",\"source\":{\"data\":\"0123456789\"}}", NULL, 4 },
    { "an image with nothing in it", "{\"type\":\"image\",\"source\":{\"data\":\"\"}}", NULL, 0 },
    { "an image by link", "{\"type\":\"image\",\"source\":{\"url\":\"https://x\"}}", NULL, 300 },
    { "an image without a source", "{\"type\":\"image\"}", NULL, 300 },
};

static void test_o200k(fake_env *fe)
{
    maki_tokenizer *t = NULL;
    maki_err err;
    double tokens = 0, sum = 0;
    maki_str items[COUNT(item_rows)];
    tap_row("open");
    if (!CHECK_STATUS(
            maki_tokenizer_open(&fe->env, maki_encoding_find("o200k_base"), NULL, &t, &err),
            MAKI_OK, &err)) {
        return;
    }
    maki_counter counter = maki_counter_o200k(t);
    for (size_t i = 0; i < COUNT(item_rows); i++) {
        const struct item_row *row = &item_rows[i];
        items[i] = maki_str_of(row->item);
        double want =
            row->text ? (double)maki_tokenizer_count(t, maki_str_of(row->text)) : row->fixed;
        sum += want;
        tap_row("%s", row->name);
        CHECK_STATUS(counter.count(&counter, &items[i], 1, &tokens, &err), MAKI_OK, &err);
        CHECK_DOUBLE(tokens, ceil(want * 1.5));
    }
    tap_row("all of them: rounded once");
    CHECK_STATUS(counter.count(&counter, items, COUNT(items), &tokens, &err), MAKI_OK, &err);
    CHECK_DOUBLE(tokens, ceil(sum * 1.5));
    tap_row("nothing");
    CHECK_STATUS(counter.count(&counter, NULL, 0, &tokens, &err), MAKI_OK, &err);
    CHECK_DOUBLE(tokens, 0);
    maki_tokenizer_close(t);
    CHECK_EQ(fake_alloc_live(fe), 0);
}

static void test_others(void)
{
    maki_err err;
    double tokens = 0;
    maki_str items[] = { MAKI_LIT("\"abcde\""),
                         MAKI_LIT("{\"type\":\"text\",\"text\":\"a\\u732b\"}"),
                         MAKI_LIT("{\"type\":\"tool_use\",\"name\":\"f\"}") };
    tap_row("chars4 rounds each text up and skips the rest");
    maki_counter counter = maki_counter_chars4();
    CHECK_STATUS(counter.count(&counter, items, 3, &tokens, &err), MAKI_OK, &err);
    CHECK_DOUBLE(tokens, 3);
    tap_row("a fixed one answers its value");
    counter = maki_counter_fixed(42.5);
    CHECK_STATUS(counter.count(&counter, items, 3, &tokens, &err), MAKI_OK, &err);
    CHECK_DOUBLE(tokens, 42.5);
}

int main(void)
{
    fake_env fe;
    fake_env_init(&fe);
    test_o200k(&fe);
    test_others();
    return tap_end();
}
