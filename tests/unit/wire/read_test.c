/* read_test.c -- parsing requests of every protocol into rows, at once and resumed at every mark. */
#include <stdio.h>
#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "fake_env.h"
#include "reply_dump.h"
#include "tap.h"

enum { MOST = 1 << 20, MARKS = 32 };

/* clang-format off */
static const struct read_row { const char *name; maki_protocol protocol; const char *body, *rows, *rest; } rows[] = {
    /* ---- Anthropic ---- */
    { "anthropic", MAKI_WIRE_ANTHROPIC,
      "{'model':'claude-x','max_tokens':100,'messages':[{'role':'user','content':'こんにちは'}, {'role':'assistant','content':[{'type':'text','text':'你好'}]},{'role':'user','content':[{'type':'text','text':'👋'}]}],"
      "'system':[{'type':'text','text':'s'}],'tools':[{'name':'t'}],'metadata':{'user_id':'user_a_account__session_0f-1e'},'stream':true}",
      "v {'role':'user','content':'こんにちは'}\nv {'role':'assistant','content':[{'type':'text','text':'你好'}]}\nv {'role':'user','content':[{'type':'text','text':'👋'}]}\n",
      "model='claude-x' system=[{'type':'text','text':'s'}] tools=[{'name':'t'}] client=0f-1e max=100 stream 3" },
    { "anthropic: any order, unknown fields, spaces and newlines", MAKI_WIRE_ANTHROPIC,
      " {\n 'stream' : false , 'x':{'messages':[1]},\n'messages' :\n[ { 'role' : 'user',\n'content':'a' } ,\n{'role':'system','content':'later'} ] , 'y':[1,2,{}], 'model':'m'\n}\n ",
      "  { 'role' : 'user', 'content':'a' }\nv {'role':'system','content':'later'}\n", "model='m' 2" },
    { "anthropic: a session in JSON in a string", MAKI_WIRE_ANTHROPIC,
      "{'messages':[],'metadata':{'user_id':'{\\'device_id\\':\\'d\\',\\'account_uuid\\':\\'\\',\\'session_id\\':\\'26f4-3c\\'}'}}", "", "client=26f4-3c 0" },
    { "anthropic: a user id without a session", MAKI_WIRE_ANTHROPIC, "{'messages':[],'metadata':{'user_id':'u1'}}", "", "0" },

    /* ---- chat ---- */
    { "chat: system and developer first", MAKI_WIRE_CHAT,
      "{'model':'gpt-x','messages':[{'role':'system','content':'a'},{'role':'developer','content':'b'},{'role':'user','content':'c'},{'role':'system','content':'d'},"
      "{'role':'assistant','content':null,'tool_calls':[{'id':'1','type':'function','function':{'name':'f','arguments':'{}'}}]},{'role':'tool','tool_call_id':'1','content':'r'}],'max_completion_tokens':7,'prompt_cache_key':'ses_1','user':'u'}",
      "vs{'role':'system','content':'a'}\nvs{'role':'developer','content':'b'}\nv {'role':'user','content':'c'}\nv {'role':'system','content':'d'}\n"
      "v {'role':'assistant','content':null,'tool_calls':[{'id':'1','type':'function','function':{'name':'f','arguments':'{}'}}]}\nv {'role':'tool','tool_call_id':'1','content':'r'}\n",
      "model='gpt-x' client=ses_1 max=7 6" },
    { "chat: the session in metadata", MAKI_WIRE_CHAT, "{'metadata':{'sessionId':'q1','promptId':'p'},'messages':[]}", "", "client=q1 0" },

    /* ---- Responses ---- */
    { "responses: a string", MAKI_WIRE_RESPONSES, "{'model':'m','input':'안녕','instructions':'i','max_output_tokens':5}", "  {'role':'user','content':'안녕'}\n", "model='m' system='i' max=5 1" },
    { "responses: items", MAKI_WIRE_RESPONSES,
      "{'input':[{'type':'additional_tools','role':'developer','tools':[]},{'role':'developer','content':'d'},{'type':'message','role':'user','id':'m1','content':[{'type':'input_text','text':'日'},{'type':'input_image','image_url':'data:image/png;base64,AA','detail':'low'},{'type':'input_file','file_id':'f'}]},"
      "{'type':'reasoning','id':'rs','summary':[],'encrypted_content':'e'},{'type':'message','role':'assistant','content':[{'type':'output_text','text':'a','annotations':[]}]},"
      "{'type':'reasoning','id':'r2','summary':[]},{'type':'reasoning','id':'r3','summary':[]},{'type':'function_call','call_id':'c1','name':'f','arguments':'{}','id':'fc'},{'type':'local_shell_call','call_id':'c2','action':{'command':['ls']},'status':'completed'},"
      "{'type':'function_call_output','call_id':'c1','output':'ok'},{'type':'local_shell_call_output','call_id':'c2','output':[{'type':'input_text','text':'x'}]},{'type':'compaction','encrypted_content':'z'}],'prompt_cache_key':'k','stream':true}",
      " s{'role':'developer','content':[{'type':'additional_tools','role':'developer','tools':[]}]}\n s{'role':'developer','content':'d'}\n"
      "  {'role':'user','content':[{'type':'text','text':'日'},{'type':'image_url','image_url':{'url':'data:image/png;base64,AA','detail':'low'}},{'type':'input_file','file_id':'f'}],'original':{'type':'message','id':'m1'}}\n"
      "  {'role':'assistant','content':[{'type':'reasoning','id':'rs','summary':[],'encrypted_content':'e'},{'type':'text','text':'a'}],'original':{'type':'message'}}\n"
      "  {'role':'assistant','content':[{'type':'reasoning','id':'r2','summary':[]},{'type':'reasoning','id':'r3','summary':[]}],'tool_calls':[{'id':'c1','type':'function','function':{'name':'f','arguments':'{}'}}],'original':{'type':'function_call','id':'fc'}}\n"
      "  {'role':'assistant','content':null,'tool_calls':[{'id':'c2','type':'function','function':{'name':'local_shell_call','arguments':'{\\'command\\':[\\'ls\\']}'}}],'original':{'type':'local_shell_call','status':'completed'}}\n"
      "  {'role':'tool','tool_call_id':'c1','content':'ok','original':{'type':'function_call_output'}}\n  {'role':'tool','tool_call_id':'c2','content':[{'type':'text','text':'x'}],'original':{'type':'local_shell_call_output'}}\n"
      "  {'role':'assistant','content':[{'type':'compaction','encrypted_content':'z'}]}\n",
      "client=k stream 9" },
    { "responses: reasoning that nothing follows", MAKI_WIRE_RESPONSES, "{'input':[{'type':'reasoning','summary':[]},{'role':'user','content':'a'},{'type':'reasoning','id':'x','summary':[]}]}",
      "  {'role':'assistant','content':[{'type':'reasoning','summary':[]}]}\n  {'role':'user','content':'a'}\n  {'role':'assistant','content':[{'type':'reasoning','id':'x','summary':[]}]}\n", "3" },
    { "responses: by reference", MAKI_WIRE_RESPONSES, "{'previous_response_id':'r','input':[{'type':'item_reference','id':'i'}]}", "  {'role':'assistant','content':[{'type':'item_reference','id':'i'}]}\n", "by_reference 1" },
    { "responses: a conversation that the provider keeps", MAKI_WIRE_RESPONSES, "{'conversation':'conv_1','input':'다음'}", "  {'role':'user','content':'다음'}\n", "conversation='conv_1' by_reference 1" },
    { "responses: the same as an object", MAKI_WIRE_RESPONSES, "{'input':'다음','conversation':{'name':'x','id':'conv_1'}}", "  {'role':'user','content':'다음'}\n", "conversation='conv_1' by_reference 1" },
    { "responses: no conversation", MAKI_WIRE_RESPONSES, "{'conversation':null,'input':'다음'}", "  {'role':'user','content':'다음'}\n", "1" },
    { "responses: a prompt that the provider keeps", MAKI_WIRE_RESPONSES, "{'prompt':{'id':'p'}}", "", "by_reference 0" },

    /* ---- Ollama ---- */
    { "ollama: ids for calls and results", MAKI_WIRE_OLLAMA,
      "{'model':'l','messages':[{'role':'system','content':'s'},{'role':'user','content':'a','images':['AAAA']},{'role':'assistant','content':'','tool_calls':[{'function':{'name':'f','arguments':{'x':1}}},{'function':{'name':'g','arguments':{}}},{'function':{'name':'f','arguments':{}}}]},"
      "{'role':'tool','tool_name':'g','content':'1'},{'role':'tool','tool_name':'f','content':'2'},{'role':'tool','tool_name':'f','content':'3'},{'role':'assistant','content':'ok','tool_calls':[{'id':'own','function':{'name':'h'}},{'function':{'name':'h'}}]},"
      "{'role':'tool','content':'4'},{'role':'tool','content':'5'},{'role':'tool','content':'6'},{'role':'tool','tool_call_id':'own','content':'7'}],'options':{'num_predict':9}}",
      "vs{'role':'system','content':'s'}\nv {'role':'user','content':'a','images':['AAAA']}\n"
      "  {'role':'assistant','content':'','tool_calls':[{'id':'call_f_0','function':{'name':'f','arguments':{'x':1}}},{'id':'call_g_0','function':{'name':'g','arguments':{}}},{'id':'call_f_1','function':{'name':'f','arguments':{}}}]}\n"
      "  {'role':'tool','tool_name':'g','content':'1','tool_call_id':'call_g_0'}\n  {'role':'tool','tool_name':'f','content':'2','tool_call_id':'call_f_0'}\n  {'role':'tool','tool_name':'f','content':'3','tool_call_id':'call_f_1'}\n"
      "  {'role':'assistant','content':'ok','tool_calls':[{'id':'own','function':{'name':'h'}},{'id':'call_h_1','function':{'name':'h'}}]}\n"
      "  {'role':'tool','content':'4','tool_call_id':'own'}\n  {'role':'tool','content':'5','tool_call_id':'call_h_1'}\n  {'role':'tool','content':'6','tool_call_id':'call_tool_2'}\nv {'role':'tool','tool_call_id':'own','content':'7'}\n",
      "model='l' max=9 stream 11" },
    { "generate", MAKI_WIRE_GENERATE, "{'model':'l','prompt':'なぜ空は青い?','images':['AA'],'system':'s','context':[1,2],'stream':false}", "  {'role':'user','content':'なぜ空は青い?','images':['AA']}\n", "model='l' system='s' by_reference 1" },
    { "generate: it only loads the model", MAKI_WIRE_GENERATE, "{'model':'l'}", "", "model='l' stream 0" },

    /* ---- Gemini ---- */
    { "gemini: text, calls and answers", MAKI_WIRE_GEMINI,
      "{'systemInstruction':{'parts':[{'text':'s'}]},'contents':[{'role':'user','parts':[{'text':'안녕'},{'inlineData':{'mimeType':'image/png','data':'AAAA'}},{'inline_data':{'mime_type':'audio\\/wav','data':'BB'}},{'fileData':{'mimeType':'application/pdf','fileUri':'gs://x'}}]},"
      "{'role':'model','parts':[{'text':'hm','thought':true,'thoughtSignature':'c2ln'},{'text':'a'},{'functionCall':{'id':'z1','name':'f','args':{'x':1}},'thoughtSignature':'t'},{'functionCall':{'name':'f','args':{}}},{'function_call':{'name':'g'}}]},"
      "{'role':'user','parts':[{'functionResponse':{'name':'g','response':{'output':'G'}}},{'functionResponse':{'id':'z1','name':'f','response':{'error':'bad'}}}]},"
      "{'role':'function','parts':[{'functionResponse':{'name':'f','response':{'rows':[1,2]}}}]},{'parts':{'text':'one'}},{'role':'model','parts':[{'executableCode':{'language':'PYTHON','code':'1'}}],'extra':1}],"
      "'tools':[{'functionDeclarations':[]}],'generationConfig':{'maxOutputTokens':3}}",
      "  {'role':'user','content':[{'type':'text','text':'안녕'},{'type':'image','source':{'type':'base64','media_type':'image/png','data':'AAAA'}},{'inline_data':{'mime_type':'audio\\/wav','data':'BB'}},{'type':'document','source':{'type':'url','media_type':'application/pdf','url':'gs://x'}}]}\n"
      "  {'role':'assistant','content':[{'type':'thinking','thinking':'hm','original':{'thoughtSignature':'c2ln'}},{'type':'text','text':'a'},{'type':'tool_use','id':'call_f_0','name':'f','input':{'x':1},'original':{'functionCall':{'id':'z1'},'thoughtSignature':'t'}},"
      "{'type':'tool_use','id':'call_f_1','name':'f','input':{}},{'type':'tool_use','id':'call_g_0','name':'g','input':{}}]}\n"
      "  {'role':'user','content':[{'type':'tool_result','tool_use_id':'call_g_0','content':'G','original':{'functionResponse':{'name':'g','response':{'output':null}}}},"
      "{'type':'tool_result','tool_use_id':'call_f_0','content':'bad','is_error':true,'original':{'functionResponse':{'id':'z1','name':'f','response':{'error':null}}}}]}\n"
      "  {'role':'user','content':[{'type':'tool_result','tool_use_id':'call_f_1','content':'{\\'rows\\':[1,2]}','original':{'functionResponse':{'name':'f'}}}]}\n"
      "  {'role':'user','content':[{'type':'text','text':'one'}]}\n  {'role':'assistant','content':[{'executableCode':{'language':'PYTHON','code':'1'}}],'original':{'extra':1}}\n",
      "system={'parts':[{'text':'s'}]} tools=[{'functionDeclarations':[]}] max=3 6" },
    { "gemini: one content, not in an array", MAKI_WIRE_GEMINI, "{'contents':{'parts':{'text':'a'}},'cachedContent':'c'}", "  {'role':'user','content':[{'type':'text','text':'a'}]}\n", "by_reference 1" },
};

static const struct bad_row { const char *name; maki_protocol protocol; const char *body, *words; } bad_rows[] = {
    { "nothing",                    MAKI_WIRE_ANTHROPIC, "",                                     "invalid JSON at byte 0: the text is empty" },
    { "no JSON",                    MAKI_WIRE_CHAT,      "{'messages':[",                        "invalid JSON at byte 13: unexpected end of the text" },
    { "no object",                  MAKI_WIRE_CHAT,      "[1]",                                  "the request is not an object" },
    { "no messages",                MAKI_WIRE_CHAT,      "{'model':'m'}",                        "the request has no messages" },
    { "no contents",                MAKI_WIRE_GEMINI,    "{}",                                   "the request has no contents" },
    { "messages twice",             MAKI_WIRE_OLLAMA,    "{'messages':[],'messages':[]}",        "messages occurs twice" },
    { "messages that are no array", MAKI_WIRE_ANTHROPIC, "{'messages':{'role':'user'}}",         "messages[0] must be in an array" },
    { "a message that is a number", MAKI_WIRE_CHAT,      "{'messages':[{'role':'user'},7]}",     "messages[1] must be an object with a role" },
    { "a role that is no string",   MAKI_WIRE_OLLAMA,    "{'messages':[{'role':1}]}",            "messages[0] must be an object with a role" },
    { "an item that is a string",   MAKI_WIRE_RESPONSES, "{'input':['a']}",                      "input[0] must be an object" },
    { "a model that is no string",  MAKI_WIRE_CHAT,      "{'messages':[],'model':1}",            "model must be a string" },
    { "a prompt that is no string", MAKI_WIRE_GENERATE,  "{'prompt':[1]}",                       "prompt must be a string" },
    { "no protocol",                MAKI_WIRE_NONE,      "{}",                                   "not a protocol that can be read" },
};
/* clang-format on */

typedef struct seen {
    maki_buf rows;
    maki_wire_checkpoint now;
    maki_wire_checkpoint marks[MARKS];
    size_t lens[MARKS]; /* of `rows`, after the message of each mark */
    size_t count;
} seen;

static maki_status take(void *ctx, const maki_wire_message *message, maki_err *err)
{
    seen *s = ctx;
    maki_str value;
    CHECK_STATUS(maki_json_check(message->row, &value, err), MAKI_OK, err);
    CHECK(!memchr(message->row.ptr, '\n', message->row.len));
    maki_buf_add(&s->rows, message->verbatim ? MAKI_LIT("v") : MAKI_LIT(" "));
    maki_buf_add(&s->rows, message->system ? MAKI_LIT("s") : MAKI_LIT(" "));
    maki_buf_add(&s->rows, message->row);
    maki_buf_add_byte(&s->rows, '\n');
    if (s->count < MARKS) {
        s->marks[s->count] = s->now;
        s->lens[s->count++] = s->rows.len;
    }
    return maki_buf_status(&s->rows, err);
}

static void say(maki_buf *out, const char *name, maki_str value)
{
    if (value.len == 0) return;
    maki_buf_add(out, maki_str_of(name));
    maki_buf_add(out, value);
    maki_buf_add_byte(out, ' ');
}

static maki_str print_request(maki_buf *out, const maki_wire_request *r)
{
    char number[32];
    maki_buf_clear(out);
    say(out, "model=", r->model);
    say(out, "system=", r->system);
    say(out, "tools=", r->tools);
    say(out, "client=", r->client_id);
    snprintf(number, sizeof number, "max=%llu ", (unsigned long long)r->max_tokens);
    if (r->max_tokens) maki_buf_add(out, maki_str_of(number));
    if (r->stream) maki_buf_add(out, MAKI_LIT("stream "));
    say(out, "conversation=", r->conversation);
    if (r->by_reference) maki_buf_add(out, MAKI_LIT("by_reference "));
    snprintf(number, sizeof number, "%llu", (unsigned long long)r->messages);
    maki_buf_add(out, maki_str_of(number));
    return maki_buf_str(out);
}

/* From each mark the rest is read as it was in one go, whatever stands before the mark. */
static void read_on(const maki_env *env, const struct read_row *row, maki_str body, const seen *all,
                    maki_str rest)
{
    maki_buf printed = maki_buf_new(env->alloc, MOST);
    for (size_t i = 0; i < all->count; i++) {
        seen s = { .rows = maki_buf_new(env->alloc, MOST) };
        const maki_wire_checkpoint *mark = &all->marks[i];
        maki_wire_request request;
        maki_err err = { 0 };
        size_t before = mark->messages ? all->lens[mark->messages - 1] : 0;
        maki_status st =
            maki_wire_read(env, row->protocol, body, mark, take, &s, &request, &s.now, &err);
        CHECK_STATUS(st, MAKI_OK, &err);
        CHECK_TEXT(maki_buf_str(&s.rows), maki_str_skip(maki_buf_str(&all->rows), before));
        CHECK_TEXT(print_request(&printed, &request), rest);
        maki_buf_free(&s.rows);
    }
    maki_buf_free(&printed);
}

static void run(const struct read_row *row)
{
    maki_env env = maki_env_system();
    maki_buf text = maki_buf_new(env.alloc, MOST), want = maki_buf_new(env.alloc, MOST);
    maki_buf printed = maki_buf_new(env.alloc, MOST);
    seen s = { .rows = maki_buf_new(env.alloc, MOST) };
    maki_wire_request request;
    maki_err err = { 0 };
    maki_str body = quotes(&text, row->body);
    tap_row("%s", row->name);
    maki_status st =
        maki_wire_read(&env, row->protocol, body, NULL, take, &s, &request, &s.now, &err);
    if (CHECK_STATUS(st, MAKI_OK, &err)) {
        CHECK_TEXT(maki_buf_str(&s.rows), quotes(&want, row->rows));
        CHECK_TEXT(print_request(&printed, &request), quotes(&want, row->rest));
        tap_row("%s, read on from each mark", row->name);
        read_on(&env, row, body, &s, quotes(&want, row->rest));
    }
    maki_buf_free(&text);
    maki_buf_free(&want);
    maki_buf_free(&printed);
    maki_buf_free(&s.rows);
}

static maki_status nothing(void *ctx, const maki_wire_message *message, maki_err *err)
{
    (void)ctx, (void)message, (void)err;
    return MAKI_OK;
}

static void run_without_memory(const struct read_row *row)
{
    static fake_env fe;
    maki_env system = maki_env_system();
    maki_buf text = maki_buf_new(system.alloc, MOST);
    maki_str body = quotes(&text, row->body);
    maki_wire_request request;
    tap_row("%s, without memory", row->name);
    fake_env_init(&fe);
    for (size_t nth = 1;; nth++) {
        maki_err err = { 0 };
        fake_alloc_fail_at(&fe, nth);
        maki_status st =
            maki_wire_read(&fe.env, row->protocol, body, NULL, nothing, NULL, &request, NULL, &err);
        bool failed = fake_alloc_failed(&fe);
        CHECK_STATUS(st, failed ? MAKI_NOMEM : MAKI_OK, &err);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        if (!failed) break;
    }
    maki_buf_free(&text);
}

static void run_bad(const struct bad_row *row)
{
    maki_env env = maki_env_system();
    maki_buf text = maki_buf_new(env.alloc, MOST);
    maki_wire_request request;
    maki_err err = { 0 };
    tap_row("refused: %s", row->name);
    maki_status st = maki_wire_read(&env, row->protocol, quotes(&text, row->body), NULL, nothing,
                                    NULL, &request, NULL, &err);
    CHECK_STATUS(st, MAKI_INVALID, &err);
    CHECK_CSTR(err.msg, row->words);
    maki_buf_free(&text);
}

/* The bytes before a mark are not looked at again: they may be anything of the same length. */
static void test_new_part(void)
{
    maki_env env = maki_env_system();
    seen s = { .rows = maki_buf_new(env.alloc, MOST) };
    maki_wire_request request;
    maki_err err = { 0 };
    char first[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}";
    char second[] =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"b\"}],\"model\":\"m\"}";
    char bad[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\"]}";
    tap_row("only the new part of a body is read");
    CHECK_STATUS(maki_wire_read(&env, MAKI_WIRE_CHAT, maki_str_of(first), NULL, take, &s, &request,
                                &s.now, &err),
                 MAKI_OK, &err);
    maki_wire_checkpoint mark = s.marks[0];
    memset(second, '#', mark.at);
    maki_buf_clear(&s.rows);
    CHECK_STATUS(maki_wire_read(&env, MAKI_WIRE_CHAT, maki_str_of(second), &mark, take, &s,
                                &request, &s.now, &err),
                 MAKI_OK, &err);
    CHECK_STR(maki_buf_str(&s.rows), "v {\"role\":\"assistant\",\"content\":\"b\"}\n");
    CHECK_STR(request.model, "\"m\"");
    CHECK_EQ(request.messages, 2);
    CHECK_STATUS(maki_wire_read(&env, MAKI_WIRE_CHAT, maki_str_of(bad), &mark, take, &s, &request,
                                NULL, &err),
                 MAKI_INVALID, &err);
    CHECK_STATUS(
        maki_wire_read(&env, MAKI_WIRE_CHAT, MAKI_LIT("{}"), &mark, take, &s, &request, NULL, &err),
        MAKI_INVALID, &err);
    maki_buf_free(&s.rows);
}

int main(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        run(&rows[i]);
        run_without_memory(&rows[i]);
    }
    for (size_t i = 0; i < COUNT(bad_rows); i++)
        run_bad(&bad_rows[i]);
    test_new_part();
    tap_row("names");
    CHECK_CSTR(maki_protocol_name(MAKI_WIRE_GEMINI), "gemini");
    CHECK_CSTR(maki_protocol_name((maki_protocol)99), "none");
    return tap_end();
}
