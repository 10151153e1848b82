/* canon_test.c -- messages that have the same canon however they are written, and those that differ. */
#include "wire/canon.h"

#include <stdio.h>
#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "fake_env.h"
#include "reply_dump.h"
#include "tap.h"

enum { MOST = 1 << 20 };

/* clang-format off */
static const struct canon_row { const char *name; bool same; const char *a, *b; } rows[] = {
    { "spaces and the order of fields",       true,  "{'role':'user','content':'a'}",                          "{ 'content' : 'a', 'role':'user' }" },
    { "escapes",                              true,  "{'role':'user','content':'日\\u672c \\ud83d\\ude00/\\n'}", "{'role':'user','content':'\\u65e5本 😀\\/\\u000a'}" },
    { "a string, one block",                  true,  "{'role':'user','content':'日本語'}",                     "{'role':'user','content':[{'type':'text','text':'日本語'}]}" },
    { "blocks next to each other",            true,  "{'role':'user','content':'ab'}",                         "{'role':'user','content':[{'type':'text','text':'a'},{'type':'input_text','text':'b'}]}" },
    { "cache_control",                        true,  "{'role':'user','content':[{'type':'text','text':'a'}]}", "{'role':'user','content':[{'type':'text','text':'a','cache_control':{'type':'ephemeral'}}]}" },
    { "empty texts and white space",          true,  "{'role':'assistant','content':[{'type':'text','text':'\\n\\n'},{'type':'tool_use','id':'1','name':'f','input':{}}]}", "{'role':'assistant','content':[{'type':'text','text':''},{'type':'tool_use','id':'1','name':'f','input':{}}]}" },
    { "thinking",                             true,  "{'role':'assistant','content':[{'type':'thinking','thinking':'t','signature':'s'},{'type':'text','text':'a'}]}", "{'role':'assistant','content':'a'}" },
    { "thinking between texts",               true,  "{'role':'assistant','content':[{'type':'text','text':'a'},{'type':'redacted_thinking','data':'t'},{'type':'text','text':'b'}]}", "{'role':'assistant','content':'ab'}" },
    { "reasoning",                            true,  "{'role':'assistant','content':'a','reasoning_content':'r'}", "{'role':'assistant','content':[{'type':'reasoning','summary':[]},{'type':'text','text':'a'}]}" },
    { "ids and other fields of the message",  true,  "{'role':'assistant','content':'a','id':'m1','original':{'id':'x'}}", "{'role':'assistant','content':'a'}" },
    { "developer is system",                  true,  "{'role':'developer','content':'a'}",                     "{'role':'system','content':'a'}" },
    { "model is assistant",                   true,  "{'role':'model','content':'a'}",                         "{'role':'assistant','content':'a'}" },
    { "content null, empty, missing",         true,  "{'role':'assistant','content':null,'tool_calls':[{'id':'1','function':{'name':'f','arguments':'{}'}}]}", "{'role':'assistant','content':'','tool_calls':[{'id':'1','type':'function','function':{'name':'f','arguments':''}}]}" },
    { "arguments by value",                   true,  "{'role':'assistant','tool_calls':[{'id':'1','function':{'name':'f','arguments':'{\\'a\\': 1.0, \\'b\\':[\\'\\\\u65e5\\',true]}'}}]}", "{'role':'assistant','tool_calls':[{'id':'1','function':{'arguments':'{\\'b\\':[\\'日\\',true],\\'a\\':1}','name':'f'}}]}" },
    { "arguments as an object",               true,  "{'role':'assistant','tool_calls':[{'id':'1','function':{'name':'f','arguments':{'a':1}}}]}", "{'role':'assistant','tool_calls':[{'id':'1','function':{'name':'f','arguments':'{\\'a\\':1}'}}]}" },
    { "arguments that are no JSON",           true,  "{'role':'assistant','tool_calls':[{'id':'1','function':{'name':'f','arguments':'*** Patch\\u0021'}}]}", "{'role':'assistant','tool_calls':[{'id':'1','function':{'name':'f','arguments':'*** Patch!'}}]}" },
    { "input: order, escapes, numbers",       true,  "{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'f','input':{'b':1e2,'a':-0.0,'\\u0063':null}}]}", "{'role':'assistant','content':[{'input':{'a':0,'b':100,'c':null},'name':'f','type':'tool_use','id':'1'}]}" },
    { "input: of two keys the last counts",   true,  "{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'f','input':{'a':1,'a':2}}]}", "{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'f','input':{'a':2}}]}" },
    { "a result as text or blocks",           true,  "{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':'ok'}]}", "{'role':'user','content':[{'tool_use_id':'1','type':'tool_result','content':[{'type':'text','text':'ok'}],'is_error':false,'cache_control':{}}]}" },
    { "a result twice",                       true,  "{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':'ok'}]}", "{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':'ok'},{'type':'tool_result','tool_use_id':'1','content':'ok'}]}" },
    { "a tool's message as text or blocks",   true,  "{'role':'tool','tool_call_id':'1','content':'ok'}",      "{'role':'tool','content':[{'type':'text','text':'ok'}],'tool_call_id':'1','name':'f'}" },
    { "images in three shapes",               true,  "{'role':'user','content':[{'type':'image','source':{'type':'base64','media_type':'image/png','data':'AAAA'}}]}", "{'role':'user','content':[{'type':'image_url','image_url':{'url':'data:image/png;base64,AAAA','detail':'low'}}]}" },
    { "Ollama's images",                      true,  "{'role':'user','content':'a','images':['AAAA']}",        "{'role':'user','content':[{'type':'text','text':'a'},{'type':'input_image','image_url':'data:image/png;base64,AAAA'}]}" },
    { "a refusal",                            true,  "{'role':'assistant','content':null,'refusal':'no'}",     "{'role':'assistant','content':[{'type':'refusal','refusal':'no'}]}" },
    { "unknown blocks by value",              true,  "{'role':'assistant','content':[{'type':'novel','a':1,'b':null,'id':'x'}]}", "{'role':'assistant','content':[{'a':1.0,'type':'novel','cache_control':{}}]}" },

    { "another role",                         false, "{'role':'user','content':'a'}",                          "{'role':'assistant','content':'a'}" },
    { "another text",                         false, "{'role':'user','content':'a'}",                          "{'role':'user','content':'a '}" },
    { "text that looks like a call",          false, "{'role':'assistant','content':'Cf'}",                    "{'role':'assistant','content':[{'type':'tool_use','id':'','name':'f','input':{}}]}" },
    { "texts around a call",                  false, "{'role':'assistant','content':[{'type':'text','text':'a'},{'type':'tool_use','id':'1','name':'f','input':{}},{'type':'text','text':'b'}]}", "{'role':'assistant','content':[{'type':'text','text':'ab'},{'type':'tool_use','id':'1','name':'f','input':{}}]}" },
    { "another id of a call",                 false, "{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'f','input':{}}]}", "{'role':'assistant','content':[{'type':'tool_use','id':'2','name':'f','input':{}}]}" },
    { "another name",                         false, "{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'f','input':{}}]}", "{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'g','input':{}}]}" },
    { "another input",                        false, "{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'f','input':{'a':1}}]}", "{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'f','input':{'a':'1'}}]}" },
    { "a key more",                           false, "{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'f','input':{'a':1}}]}", "{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'f','input':{'a':1,'b':null}}]}" },
    { "another nesting",                      false, "{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'f','input':[[1],2]}]}", "{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'f','input':[[1,2]]}]}" },
    { "a call or two",                        false, "{'role':'assistant','tool_calls':[{'id':'1','function':{'name':'f'}}]}", "{'role':'assistant','tool_calls':[{'id':'1','function':{'name':'f'}},{'id':'2','function':{'name':'f'}}]}" },
    { "another result",                       false, "{'role':'tool','tool_call_id':'1','content':'a'}",       "{'role':'tool','tool_call_id':'1','content':'b'}" },
    { "the result of another call",           false, "{'role':'tool','tool_call_id':'1','content':'a'}",       "{'role':'tool','tool_call_id':'2','content':'a'}" },
    { "a result that is an error",            false, "{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':'a','is_error':true}]}", "{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':'a'}]}" },
    { "in a result or after it",              false, "{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':'ab'}]}", "{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':'a'},{'type':'text','text':'b'}]}" },
    { "a result said again later",            false, "{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':'a'},{'type':'text','text':'b'}]}", "{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':'a'},{'type':'text','text':'b'},{'type':'tool_result','tool_use_id':'1','content':'a'}]}" },
    { "another image",                        false, "{'role':'user','content':[{'type':'image_url','image_url':{'url':'data:image/png;base64,AAAA'}}]}", "{'role':'user','content':[{'type':'image_url','image_url':{'url':'data:image/png;base64,AAAB'}}]}" },
    { "an image or its link as text",         false, "{'role':'user','content':[{'type':'image_url','image_url':{'url':'http://x'}}]}", "{'role':'user','content':'http://x'}" },
    { "another unknown block",                false, "{'role':'user','content':[{'type':'novel','a':1}]}",     "{'role':'user','content':[{'type':'novel','a':2}]}" },
};

/* A reply, and how clients send it back in the next request. */
static const struct back_row { const char *name; maki_protocol protocol; reply_form form; const char *reply, *body; } back_rows[] = {
    { "Claude Code", MAKI_WIRE_ANTHROPIC, EVENTS,
      "{'type':'content_block_start','index':0,'content_block':{'type':'thinking','thinking':'','signature':''}}\n{'type':'content_block_delta','index':0,'delta':{'type':'thinking_delta','thinking':'I think.'}}\n"
      "{'type':'content_block_start','index':1,'content_block':{'type':'text','text':''}}\n{'type':'content_block_delta','index':1,'delta':{'type':'text_delta','text':'見\\ud83d'}}\n{'type':'content_block_delta','index':1,'delta':{'type':'text_delta','text':'\\ude00'}}\n"
      "{'type':'content_block_start','index':2,'content_block':{'type':'tool_use','id':'t1','name':'Read','input':{}}}\n{'type':'content_block_delta','index':2,'delta':{'type':'input_json_delta','partial_json':'{\\'path\\': \\'/日'}}\n{'type':'content_block_delta','index':2,'delta':{'type':'input_json_delta','partial_json':'\\', \\'n\\': 1}'}}\n",
      "{'messages':[{'role':'assistant','content':[{'type':'text','text':'見😀'},{'type':'tool_use','id':'t1','name':'Read','input':{'n':1,'path':'/日'},'cache_control':{'type':'ephemeral'}}]}]}" },
    { "AI SDK, chat", MAKI_WIRE_CHAT, EVENTS,
      "{'choices':[{'index':0,'delta':{'role':'assistant','content':'Let me '}}]}\n{'choices':[{'index':0,'delta':{'content':'look.','reasoning_content':'r'}}]}\n{'choices':[{'index':0,'delta':{'tool_calls':[{'index':0,'id':'c1','type':'function','function':{'name':'read','arguments':'{\\'p\\': \\'\\\\u65'}}]}}]}\n{'choices':[{'index':0,'delta':{'tool_calls':[{'index':0,'function':{'arguments':'e5\\'}'}}]}}]}\n",
      "{'messages':[{'role':'assistant','content':'Let me look.','tool_calls':[{'id':'c1','type':'function','function':{'name':'read','arguments':'{\\'p\\':\\'日\\'}'}}]}]}" },
    { "LangChain, chat: content as blocks", MAKI_WIRE_CHAT, WHOLE, "{'choices':[{'message':{'role':'assistant','content':'네','refusal':null,'annotations':[]}}]}", "{'messages':[{'role':'assistant','content':[{'type':'text','text':'네'}]}]}" },
    { "Codex", MAKI_WIRE_RESPONSES, EVENTS,
      "{'type':'response.output_item.done','output_index':0,'item':{'type':'reasoning','id':'r','summary':[]}}\n{'type':'response.output_item.done','output_index':1,'item':{'type':'message','id':'m','role':'assistant','content':[{'type':'output_text','text':'好','annotations':[]}]}}\n{'type':'response.output_item.done','output_index':2,'item':{'type':'function_call','call_id':'c','name':'f','arguments':'{}'}}\n",
      "{'input':[{'type':'message','role':'assistant','content':[{'type':'output_text','text':'好'}]},{'type':'reasoning','id':'other','summary':[]},{'type':'function_call','id':'new','call_id':'c','name':'f','arguments':'{ }'}]}" },
    { "ollama", MAKI_WIRE_OLLAMA, LINES, "{'message':{'role':'assistant','content':'a','thinking':'t'}}\n{'message':{'role':'assistant','content':'','tool_calls':[{'function':{'name':'f','arguments':{'a':1,'b':2}}}]},'done':true}\n",
      "{'messages':[{'role':'assistant','content':'a','tool_calls':[{'function':{'arguments':{'b':2,'a':1},'name':'f'}}]}]}" },
    { "Gemini CLI: ids of its own", MAKI_WIRE_GEMINI, EVENTS, "{'candidates':[{'content':{'parts':[{'text':'t','thought':true},{'text':'Let me'}]}}]}\n{'candidates':[{'content':{'parts':[{'text':' look.'},{'functionCall':{'name':'f','args':{'a':1,'b':'c'}}}]}}]}\n",
      "{'contents':[{'parts':[{'text':'Let me look.'},{'functionCall':{'id':'f_1794_0','args':{'b':'c','a':1},'name':'f'},'thoughtSignature':'skip'}],'role':'model'}]}" },
};

/* A message of the user with reminders, and one that is the same without reminders, but not with them. */
static const struct reminder_row { const char *name; bool same; const char *a, *b; } reminder_rows[] = {
    { "at the beginning",            true,  "{'role':'user','content':'<system-reminder>\\nMonday\\n</system-reminder>\\nhi'}", "{'role':'user','content':'hi'}" },
    { "another one",                 true,  "{'role':'user','content':'<system-reminder>1</system-reminder>hi'}", "{'role':'user','content':'<system-reminder>2</system-reminder>\\n\\nhi'}" },
    { "several",                     true,  "{'role':'user','content':' <system-reminder>1</system-reminder>\\n<system-reminder><b>2</system-reminder>hi'}", "{'role':'user','content':'hi'}" },
    { "a block of its own",          true,  "{'role':'user','content':[{'type':'text','text':'<system-reminder>1</system-reminder>'},{'type':'text','text':'hi'}]}", "{'role':'user','content':'hi'}" },
    { "a later block",               true,  "{'role':'user','content':[{'type':'text','text':'hi'},{'type':'text','text':'<system-reminder>1</system-reminder>\\n'}]}", "{'role':'user','content':'hi'}" },
    { "escaped",                     true,  "{'role':'user','content':'\\u003csystem-reminder\\u003e<1>\\u003c/system-reminder>日本'}", "{'role':'user','content':'日本'}" },
    { "with an image",               true,  "{'role':'user','content':[{'type':'text','text':'<system-reminder>1</system-reminder>'},{'type':'image_url','image_url':{'url':'http://x'}}]}", "{'role':'user','content':[{'type':'image_url','image_url':{'url':'http://x'}}]}" },
    { "after a result",              true,  "{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':'a'},{'type':'text','text':'<system-reminder>1</system-reminder>'}]}", "{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':'a'}]}" },
    { "in the middle of a text",     false, "{'role':'user','content':'what is <system-reminder>1</system-reminder>?'}", "{'role':'user','content':'what is ?'}" },
    { "that does not end",           false, "{'role':'user','content':'<system-reminder>1 hi'}", "{'role':'user','content':'hi'}" },
    { "another tag",                 false, "{'role':'user','content':'<system-reminders>1</system-reminders>hi'}", "{'role':'user','content':'hi'}" },
    { "the second does not end",     false, "{'role':'user','content':'<system-reminder>1</system-reminder><system-reminder>hi'}", "{'role':'user','content':'hi'}" },
    { "of the assistant",            false, "{'role':'assistant','content':'<system-reminder>1</system-reminder>hi'}", "{'role':'assistant','content':'hi'}" },
    { "in a result",                 false, "{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':'<system-reminder>1</system-reminder>a'}]}", "{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':'a'}]}" },
    { "another text",                false, "{'role':'user','content':'<system-reminder>1</system-reminder>hi'}", "{'role':'user','content':'<system-reminder>1</system-reminder>ho'}" },
};
/* clang-format on */

static void add_json(maki_canon_prefix *prefix, const char *json)
{
    maki_env env = maki_env_system();
    maki_buf text = maki_buf_new(env.alloc, MOST);
    maki_err err = { 0 };
    maki_str row;
    if (CHECK_STATUS(maki_json_check(quotes(&text, json), &row, &err), MAKI_OK, &err))
        CHECK_STATUS(maki_canon_add(&env, prefix, row, &err), MAKI_OK, &err);
    maki_buf_free(&text);
}

static void run_reminder(const struct reminder_row *row)
{
    maki_canon_prefix a = { { 0 }, { 0 } }, b = a;
    tap_row("a reminder %s%s", row->same ? "does not count: " : "counts: ", row->name);
    add_json(&a, row->a);
    add_json(&b, row->b);
    CHECK(memcmp(a.all, b.all, sizeof a.all) != 0);
    CHECK_EQ(memcmp(a.stripped, b.stripped, sizeof a.stripped) == 0, row->same);
}

static void test_reminder_messages(void)
{
    static const char reminder[] =
        "{'role':'user','content':[{'type':'text','text':'<system-reminder>1</system-reminder>'}]}",
                      said[] = "{'role':'user','content':'hi'}",
                      empty[] = "{'role':'user','content':''}";
    maki_canon_prefix a = { { 0 }, { 0 } }, b = a, c = a;
    tap_row(
        "a message of reminders alone does not count, an empty one does; without reminders both are equal");
    add_json(&a, said);
    CHECK(memcmp(a.all, a.stripped, sizeof a.all) == 0);
    add_json(&b, reminder);
    add_json(&b, said);
    CHECK(memcmp(a.all, b.all, sizeof a.all) != 0);
    CHECK(memcmp(a.stripped, b.stripped, sizeof a.stripped) == 0);
    add_json(&c, empty);
    add_json(&c, said);
    CHECK(memcmp(a.stripped, c.stripped, sizeof a.stripped) != 0);
}

static void canon_of(const char *json, unsigned char out[MAKI_PREFIX_LEN])
{
    maki_env env = maki_env_system();
    maki_buf text = maki_buf_new(env.alloc, MOST);
    unsigned char first[MAKI_PREFIX_LEN] = { 0 };
    maki_err err = { 0 };
    maki_str row;
    if (CHECK_STATUS(maki_json_check(quotes(&text, json), &row, &err), MAKI_OK, &err))
        CHECK_STATUS(maki_canonical_hash_next(&env, first, row, out, &err), MAKI_OK, &err);
    maki_buf_free(&text);
}

static void run(const struct canon_row *row)
{
    unsigned char a[MAKI_PREFIX_LEN], b[MAKI_PREFIX_LEN];
    tap_row("%s: %s", row->same ? "the same" : "different", row->name);
    canon_of(row->a, a);
    canon_of(row->b, b);
    CHECK_EQ(memcmp(a, b, sizeof a) == 0, row->same);
}

typedef struct chain {
    const maki_env *env;
    unsigned char prefix[MAKI_PREFIX_LEN];
} chain;

static maki_status add(void *ctx, const maki_wire_message *message, maki_err *err)
{
    chain *c = ctx;
    return maki_canonical_hash_next(c->env, c->prefix, message->row, c->prefix, err);
}

static void run_back(const struct back_row *row)
{
    static const maki_str types[] = { { "text/event-stream", 17 },
                                      { "text/event-stream", 17 },
                                      { "application/x-ndjson", 20 },
                                      { "application/json", 16 } };
    maki_env env = maki_env_system();
    maki_buf sent = maki_buf_new(env.alloc, MOST), body = maki_buf_new(env.alloc, MOST);
    chain reply_chain = { .env = &env }, back = { .env = &env };
    maki_wire_reply *reply = NULL;
    maki_wire_result result = { 0 };
    maki_wire_request request;
    maki_err err = { 0 };
    tap_row("sent back: %s", row->name);
    maki_str bytes = reply_bytes(&sent, row->form, row->reply);
    maki_status st = maki_wire_reply_open(&env, row->protocol, 200, types[row->form], &reply, &err);
    if (st == MAKI_OK) st = maki_wire_reply_add(reply, bytes, &err);
    if (st == MAKI_OK) st = maki_wire_reply_end(reply, &result, &err);
    for (size_t i = 0; st == MAKI_OK && i < result.row_count; i++)
        st = add(&reply_chain, &(maki_wire_message){ .row = result.rows[i] }, &err);
    if (st == MAKI_OK)
        st = maki_wire_read(&env, row->protocol, quotes(&body, row->body), NULL, add, &back,
                            &request, NULL, &err);
    CHECK_STATUS(st, MAKI_OK, &err);
    CHECK(result.row_count > 0);
    CHECK(memcmp(reply_chain.prefix, back.prefix, MAKI_PREFIX_LEN) == 0);
    maki_wire_reply_close(reply);
    maki_buf_free(&sent);
    maki_buf_free(&body);
}

/* ---- hostile ------------------------------------------------------------------------------------------ */

/* {"role":"assistant","content":[{"type":"tool_use","input": `open` n times `middle` `close` n times }]} */
static void nested(maki_buf *out, size_t n, const char *open, const char *middle, const char *close)
{
    maki_buf_clear(out);
    maki_buf_add(
        out, MAKI_LIT("{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"input\":"));
    for (size_t i = 0; i < n; i++)
        maki_buf_add(out, maki_str_of(open));
    maki_buf_add(out, maki_str_of(middle));
    for (size_t i = 0; i < n; i++)
        maki_buf_add(out, maki_str_of(close));
    maki_buf_add(out, MAKI_LIT("}]}"));
}

static void test_deep(void)
{
    static const size_t depths[] = { 1, 63, 64, 65, 500 };
    maki_env env = maki_env_system();
    maki_buf text = maki_buf_new(env.alloc, MOST);
    unsigned char a[MAKI_PREFIX_LEN], b[MAKI_PREFIX_LEN], zero[MAKI_PREFIX_LEN] = { 0 };
    maki_err err = { 0 };
    tap_row("deep JSON differs too");
    for (size_t i = 0; i < COUNT(depths); i++) {
        nested(&text, depths[i], "{\"a\":[", "1", "]}");
        if (depths[i] == 500) nested(&text, depths[i], "[", "1", "]");
        CHECK_STATUS(maki_canonical_hash_next(&env, zero, maki_buf_str(&text), a, &err), MAKI_OK,
                     &err);
        nested(&text, depths[i], "{\"a\":[", "2", "]}");
        if (depths[i] == 500) nested(&text, depths[i], "[", "2", "]");
        CHECK_STATUS(maki_canonical_hash_next(&env, zero, maki_buf_str(&text), b, &err), MAKI_OK,
                     &err);
        CHECK(memcmp(a, b, sizeof a) != 0);
    }
    maki_buf_free(&text);
}

static void test_wide(void)
{
    static fake_env fe;
    maki_env env = maki_env_system();
    maki_buf text = maki_buf_new(env.alloc, 16 << 20);
    unsigned char a[MAKI_PREFIX_LEN], b[MAKI_PREFIX_LEN], zero[MAKI_PREFIX_LEN] = { 0 };
    char number[40];
    fake_env_init(&fe);
    tap_row("many keys, forwards and backwards; every allocation failing");
    for (int back = 0; back < 2; back++) {
        maki_buf_clear(&text);
        maki_buf_add(
            &text,
            MAKI_LIT("{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"input\":{"));
        for (int i = 0; i < 5000; i++) {
            int n = back ? 4999 - i : i;
            snprintf(number, sizeof number, "%s\"\\u006b%d\":%d", i ? "," : "", n, n);
            maki_buf_add(&text, maki_str_of(number));
        }
        maki_buf_add(
            &text,
            MAKI_LIT("}}],\"tool_calls\":[{\"function\":{\"arguments\":\"{\\\"a\\\":1}\"}}]}"));
        for (size_t nth = 1;; nth++) {
            maki_err err = { 0 };
            fake_alloc_fail_at(&fe, nth);
            maki_status st =
                maki_canonical_hash_next(&fe.env, zero, maki_buf_str(&text), back ? b : a, &err);
            bool failed = fake_alloc_failed(&fe);
            CHECK_STATUS(st, failed ? MAKI_NOMEM : MAKI_OK, &err);
            CHECK_EQ(fake_alloc_live(&fe), 0);
            if (!failed) break;
        }
    }
    CHECK(memcmp(a, b, sizeof a) == 0);
    maki_buf_free(&text);
}

static void test_chain(void)
{
    maki_env env = maki_env_system();
    unsigned char a[MAKI_PREFIX_LEN] = { 0 }, b[MAKI_PREFIX_LEN] = { 0 };
    maki_str one = MAKI_LIT("{\"role\":\"user\",\"content\":\"1\"}");
    maki_str two = MAKI_LIT("{\"role\":\"user\",\"content\":\"2\"}");
    maki_err err = { 0 };
    tap_row("the order counts");
    CHECK_STATUS(maki_canonical_hash_next(&env, a, one, a, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_canonical_hash_next(&env, a, two, a, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_canonical_hash_next(&env, b, two, b, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_canonical_hash_next(&env, b, one, b, &err), MAKI_OK, &err);
    CHECK(memcmp(a, b, sizeof a) != 0);
}

int main(void)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        run(&rows[i]);
    for (size_t i = 0; i < COUNT(back_rows); i++)
        run_back(&back_rows[i]);
    for (size_t i = 0; i < COUNT(reminder_rows); i++)
        run_reminder(&reminder_rows[i]);
    test_reminder_messages();
    test_deep();
    test_wide();
    test_chain();
    return tap_end();
}
