/* count_test.c -- counting the tokens of a request, and the answers of the counting endpoints. */
#include <string.h>

#include "base/str_util.h"
#include "fake_env.h"
#include "reply_dump.h"
#include "tap.h"

/* clang-format off */
static const struct count_row { const char *name; maki_protocol protocol; const char *body, *model; maki_wire_tokens want; } rows[] = {
    { "chat: as OpenAI counts it",     MAKI_WIRE_CHAT, "{'model':'gpt-4o','messages':[{'role':'system','content':'You are a helpful assistant.'},{'role':'user','content':'hello world'}]}", "", { 10, 0, 6, 19 } },
    { "chat: tools",                   MAKI_WIRE_CHAT, "{'model':'gpt-4o','messages':[{'role':'user','content':'hello world'}],'tools':[{'type':'function','function':{'name':'f'}}]}", "", { 0, 21, 6, 30 } },
    { "responses: a string",           MAKI_WIRE_RESPONSES, "{'model':'gpt-4o','input':'hello world','instructions':'hello world'}", "", { 6, 0, 6, 15 } },
    { "ollama: images",                MAKI_WIRE_OLLAMA, "{'model':'gpt-4o','messages':[{'role':'user','content':'hello world','images':['iVBORw0KGgoAAAANSUhEUgAAA+gAAAH0CAIAAA']}]}", "", { 0, 0, 431, 434 } },
    { "the model comes from the path", MAKI_WIRE_CHAT, "{'messages':[{'role':'user','content':'hello world'}]}", "gpt-4o", { 0, 0, 6, 9 } },
};
/* clang-format on */

static void run(const struct count_row *row)
{
    static fake_env fe;
    maki_env env = maki_env_system();
    maki_buf text = maki_buf_new(env.alloc, 1 << 16);
    maki_str body = quotes(&text, row->body);
    tap_row("%s", row->name);
    fake_env_init(&fe);
    for (size_t nth = 1;; nth++) {
        maki_wire_tokens have = { 0 };
        maki_err err = { 0 };
        fake_alloc_fail_at(&fe, nth);
        maki_status st =
            maki_wire_count(&fe.env, row->protocol, body, maki_str_of(row->model), &have, &err);
        bool failed = fake_alloc_failed(&fe);
        CHECK_STATUS(st, failed ? MAKI_NOMEM : MAKI_OK, &err);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        if (failed) continue;
        CHECK_EQ(have.system, row->want.system);
        CHECK_EQ(have.tools, row->want.tools);
        CHECK_EQ(have.messages, row->want.messages);
        CHECK_EQ(have.all, row->want.all);
        break;
    }
    maki_buf_free(&text);
}

/* What the same text costs in other protocols: more than nothing, and the parts add up. */
static void test_others(void)
{
    static const struct other_row {
        maki_protocol protocol;
        const char *body;
    } others[] = {
        { MAKI_WIRE_ANTHROPIC,
          "{'model':'claude-3','system':'日本語','tools':[{'name':'t','input_schema':{}}],'messages':[{'role':'user','content':'안녕'}]}" },
        { MAKI_WIRE_GEMINI,
          "{'generateContentRequest':{'model':'models/gemini-x','systemInstruction':{'parts':[{'text':'日本語'}]},'tools':[{'functionDeclarations':[{'name':'t'}]}],'contents':[{'parts':[{'text':'안녕'}]}]}}" },
    };
    maki_env env = maki_env_system();
    maki_buf text = maki_buf_new(env.alloc, 1 << 16);
    for (size_t i = 0; i < COUNT(others); i++) {
        maki_wire_tokens have = { 0 };
        maki_err err = { 0 };
        tap_row("parts of a request: %s", maki_protocol_name(others[i].protocol));
        CHECK_STATUS(maki_wire_count(&env, others[i].protocol, quotes(&text, others[i].body),
                                     MAKI_LIT(""), &have, &err),
                     MAKI_OK, &err);
        CHECK(have.system > 0 && have.tools > 0 && have.messages > 0);
        CHECK(have.all >= have.system + have.tools + have.messages);
    }
    maki_buf_free(&text);
}

int main(void)
{
    char out[MAKI_WIRE_COUNT_MAX];
    for (size_t i = 0; i < COUNT(rows); i++)
        run(&rows[i]);
    test_others();
    tap_row("the answer in the protocol's form");
    CHECK_TEXT(((maki_str){ out, maki_wire_print_count(MAKI_WIRE_ANTHROPIC, 7, out) }),
               MAKI_LIT("{\"input_tokens\":7}"));
    CHECK_TEXT(((maki_str){ out, maki_wire_print_count(MAKI_WIRE_GEMINI, UINT64_MAX, out) }),
               MAKI_LIT("{\"totalTokens\":18446744073709551615}"));
    return tap_end();
}
