/* tools_count_test.c -- what definitions of tools cost. */
#include "token/tools_count.h"

#include "base/str_util.h"
#include "fake_env.h"
#include "tap.h"

#define WEATHER                                                                                      \
    "\"name\":\"get_weather\",\"description\":\"The weather of a place.\","                          \
    "\"parameters\":{\"type\":\"object\",\"properties\":{\"place\":{\"type\":\"string\","            \
    "\"description\":\"A town.\"},\"unit\":{\"type\":\"string\",\"description\":\"Celsius or not\"," \
    "\"enum\":[\"celsius\",\"kelvin\"]}}}"

static uint64_t tools(maki_tokenizer *t, const char *family, const char *json)
{
    uint64_t tokens = 0;
    maki_err err;
    CHECK_STATUS(maki_count_tools(t, maki_family_find(maki_str_of(family)), maki_str_of(json),
                                  &tokens, &err),
                 MAKI_OK, &err);
    return tokens;
}

static uint64_t text(maki_tokenizer *t, const char *words)
{
    return maki_tokenizer_count(t, maki_str_of(words));
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
    uint64_t lines = text(t, "get_weather:The weather of a place") +
                     text(t, "place:string:A town") + text(t, "unit:string:Celsius or not") +
                     text(t, "celsius") + text(t, "kelvin");
    uint64_t around = 3 + 3 + 3 - 3 + 3 + 3 + 12;
    tap_row("OpenAI: a line for each function and argument, without full stops");
    CHECK_EQ(tools(t, "openai-o200k", "[{\"type\":\"function\",\"function\":{" WEATHER "}}]"),
             lines + around + 7);
    CHECK_EQ(tools(t, "openai-cl100k", "[{\"type\":\"function\",\"function\":{" WEATHER "}}]"),
             lines + around + 10);
    tap_row("OpenAI's responses: the fields next to the type");
    CHECK_EQ(tools(t, "openai-o200k", "[{\"type\":\"function\"," WEATHER "}]"), lines + around + 7);
    tap_row("two functions end once");
    CHECK_EQ(
        tools(t, "openai-o200k",
              "[{\"function\":{\"name\":\"stop\"}},{\"type\":\"function\",\"function\":{" WEATHER
              "}}]"),
        lines + around + 7 + 7 + text(t, "stop:"));
    tap_row("objects inside of arguments");
    CHECK_EQ(
        tools(
            t, "openai-o200k",
            "[{\"name\":\"f\",\"parameters\":{\"properties\":{\"a\":{\"type\":\"array\",\"items\":"
            "{\"properties\":{\"b\":{\"type\":[\"string\",\"null\"]}}}}}}}]"),
        7 + 12 + 3 + 3 + 3 + 3 + text(t, "f:") + text(t, "a:array:") +
            text(t, "b:[\"string\",\"null\"]:"));
    tap_row("others: compact JSON");
    CHECK_EQ(tools(t, "gemini", "[ { \"name\" : \"f\" } , {\"function\": {\"name\":\"g\"}}]"),
             text(t, "{\"name\":\"f\"}") + text(t, "{\"name\":\"g\"}"));
    tap_row("Claude: and a prompt about tools");
    CHECK_EQ(tools(t, "claude", "[{\"name\":\"f\",\"input_schema\":{}}]"),
             346 + text(t, "{\"name\":\"f\",\"input_schema\":{}}"));
    tap_row("no tools, no tokens");
    CHECK_EQ(tools(t, "claude", "[]"), 0);
    CHECK_EQ(tools(t, "openai-o200k", "{}"), 0);
    CHECK_EQ(tools(t, "openai-o200k", "[1,\"x\",null]"), 0);
    CHECK_EQ(tools(t, "openai-o200k", ""), 0);
    tap_row("a tool without a name");
    CHECK_EQ(tools(t, "openai-o200k", "[{\"name\":5,\"parameters\":7}]"), 7 + 12 + text(t, ":"));
    tap_row("every shape of the same tool costs the same; what Gemini runs itself, nothing");
    static const char *const shapes[] = {
        "[{" WEATHER "}]",
        "[{\"type\":\"function\",\"function\":{" WEATHER "}}]",
        "[{\"functionDeclarations\":[{" WEATHER "}]}]",
        "[{\"function_declarations\":[{" WEATHER "}]},{\"googleSearch\":{}}]",
    };
    for (size_t i = 0; i < COUNT(shapes); i++)
        CHECK_EQ(tools(t, "openai-o200k", shapes[i]), tools(t, "openai-o200k", shapes[0]));
    CHECK_EQ(tools(t, "openai-o200k", "[{\"googleSearch\":{}}]"), 0);
    maki_tokenizer_close(t);
    tap_row("everything is given back");
    CHECK_EQ(fake_alloc_live(&fe), 0);
    return tap_end();
}
