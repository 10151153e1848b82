/* request_test.c -- the body of a request, byte for byte, out of rows in every shape.
 *
 * Texts are JSON with ' for ". */
#include <errno.h>

#include "../history/exchange.h"
#include "assemble/request.h"
#include "fake_env.h"
#include "request_rows.h"

static maki_str q(const char *text, char *out, size_t capacity)
{
    size_t n = text ? strlen(text) : 0;
    if (n >= capacity) abort();
    for (size_t i = 0; i < n; i++)
        out[i] = text[i] == '\'' ? '"' : text[i];
    return (maki_str){ out, n };
}

/* Create a conversation with these rows. */
static maki_conv *talk_of(const maki_env *env, const directory *f, maki_str lines)
{
    static const maki_conv_options options = { .read_only = true };
    maki_conv *conv = NULL;
    maki_err err = { 0 };
    directory_write(directory_file(f, "talk.jsonl"), lines);
    CHECK_STATUS(maki_conv_open(env, directory_file(f, "talk.jsonl"), &options, &conv, &err),
                 MAKI_OK, &err);
    return conv;
}

static maki_status build(maki_conv *conv, const maki_request *request, maki_buf *out, maki_err *err)
{
    const maki_view *view;
    maki_status st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    return st == MAKI_OK ? maki_request_write(conv, view, request, maki_buf_sink(out), err) : st;
}

static bool check_body(maki_str lines, const maki_request *request, const char *want)
{
    static char text[1 << 14];
    maki_env env = maki_env_system();
    maki_buf out = maki_buf_new(env.alloc, 1 << 20);
    maki_err err = { 0 };
    directory f;
    directory_open(&f);
    maki_conv *conv = talk_of(&env, &f, lines);
    bool good = CHECK_STATUS(build(conv, request, &out, &err), MAKI_OK, &err);
    if (good) good = CHECK_TEXT(maki_buf_str(&out), q(want, text, sizeof text));
    if (!good) printf("# got:  %.*s\n# want: %s\n", (int)out.len, out.len ? out.ptr : "", want);
    maki_conv_close(conv);
    directory_close(&f);
    maki_buf_free(&out);
    return good;
}

/* ---- messages: every shape in, every protocol out ------------------------------------------------------------ */

static void test_messages(void)
{
    static char lines[1 << 14];
    for (size_t i = 0; i < COUNT(message_rows); i++) {
        for (size_t p = 0; p < COUNT(protocols); p++) {
            maki_request request = { .protocol = protocols[p].protocol, .model = { "m", 1 } };
            tap_row("%s: %s", protocols[p].name, message_rows[i].name);
            check_body(q(message_rows[i].lines, lines, sizeof lines), &request,
                       message_rows[i].bodies[p]);
        }
    }
}

/* ---- fields around the messages --------------------------------------------------------------------------------- */

#define TOOLS                                                                                      \
    "[{'name':'read','description':'読む','input_schema':{'type':'object','properties':{'p':{'t" \
    "ype':'string'}}}},{'name':'ls','priority':3}]"

#define ONE_TOOL "[{'name':'ls','priority':3}]"

#define OPENAI_TOOLS                                                                           \
    "[{'type':'function','function':{'name':'read','parameters':{'type':'object'},'strict':tr" \
    "ue}}]"

#define MIXED_TOOLS                                                                            \
    "[{'type':'web_search_20250305','name':'web_search'},{'type':'web_search'},{'googleSearch" \
    "':{}},{'functionDeclarations':[{'name':'g','parameters':{'type':'OBJECT'}}]},{'name':'m'" \
    ",'inputSchema':{'type':'object'}}]"

/* Zero means not set, also for the temperature. */
static const struct option_row {
    const char *name;
    struct {
        maki_protocol protocol;
        const char *provider, *model, *system[2], *tools, *choice;
        uint64_t max_tokens, window;
        double temperature;
        maki_thinking thinking;
        bool stream, functions;
    } in;
    const char *body;
} option_rows[] = {
    { "all there is, streamed: anthropic",
      { .protocol = MAKI_WIRE_ANTHROPIC,
        .model = "m",
        .max_tokens = 4000,
        .window = 32000,
        .stream = true,
        .system = { "一", "2 \"x\"" },
        .tools = TOOLS,
        .choice = "auto",
        .thinking = MAKI_THINKING_LOW,
        .temperature = 0.5 },
      "{'model':'m','max_tokens':4000,'stream':true,'thinking':{'type':'enabled','budget_tokens"
      "':2000},'system':[{'type':'text','text':'一'},{'type':'text','text':'2 \\'x\\''}],'messag"
      "es':[{'role':'user','content':'a'}],'tools':[{'name':'read','description':'読む','input_sc"
      "hema':{'type':'object','properties':{'p':{'type':'string'}}}},{'name':'ls','input_schema"
      "':{'type':'object','properties':{}}}],'tool_choice':{'type':'auto'}}" },
    { "all there is, streamed: openai",
      { .protocol = MAKI_WIRE_CHAT,
        .model = "m",
        .max_tokens = 4000,
        .window = 32000,
        .stream = true,
        .system = { "一", "2 \"x\"" },
        .tools = TOOLS,
        .choice = "auto",
        .thinking = MAKI_THINKING_LOW,
        .temperature = 0.5 },
      "{'model':'m','max_tokens':4000,'stream':true,'stream_options':{'include_usage':true},'te"
      "mperature':0.5,'reasoning_effort':'low','messages':[{'role':'system','content':'一'},{'ro"
      "le':'system','content':'2 \\'x\\''},{'role':'user','content':'a'}],'tools':[{'type':'fun"
      "ction','function':{'name':'read','description':'読む','parameters':{'type':'object','prope"
      "rties':{'p':{'type':'string'}}}}},{'type':'function','function':{'name':'ls','parameters"
      "':{'type':'object','properties':{}}}}],'tool_choice':'auto'}" },
    { "all there is, streamed: responses",
      { .protocol = MAKI_WIRE_RESPONSES,
        .model = "m",
        .max_tokens = 4000,
        .window = 32000,
        .stream = true,
        .system = { "一", "2 \"x\"" },
        .tools = TOOLS,
        .choice = "auto",
        .thinking = MAKI_THINKING_LOW,
        .temperature = 0.5 },
      "{'model':'m','max_output_tokens':4000,'store':false,'stream':true,'temperature':0.5,'rea"
      "soning':{'effort':'low'},'include':['reasoning.encrypted_content'],'instructions':'一\\n\\"
      "n2 \\'x\\'','input':[{'role':'user','content':'a'}],'tools':[{'type':'function','name':'"
      "read','description':'読む','parameters':{'type':'object','properties':{'p':{'type':'string"
      "'}}},'strict':false},{'type':'function','name':'ls','parameters':{'type':'object','prope"
      "rties':{}},'strict':false}],'tool_choice':'auto'}" },
    { "all there is, streamed: ollama",
      { .protocol = MAKI_WIRE_OLLAMA,
        .model = "m",
        .max_tokens = 4000,
        .window = 32000,
        .stream = true,
        .system = { "一", "2 \"x\"" },
        .tools = TOOLS,
        .choice = "auto",
        .thinking = MAKI_THINKING_LOW,
        .temperature = 0.5 },
      "{'model':'m','stream':true,'think':true,'options':{'num_ctx':32000,'num_predict':4000,'t"
      "emperature':0.5},'messages':[{'role':'system','content':'一'},{'role':'system','content':"
      "'2 \\'x\\''},{'role':'user','content':'a'}],'tools':[{'type':'function','function':{'nam"
      "e':'read','description':'読む','parameters':{'type':'object','properties':{'p':{'type':'st"
      "ring'}}}}},{'type':'function','function':{'name':'ls','parameters':{'type':'object','pro"
      "perties':{}}}}]}" },
    { "all there is, streamed: gemini",
      { .protocol = MAKI_WIRE_GEMINI,
        .model = "m",
        .max_tokens = 4000,
        .window = 32000,
        .stream = true,
        .system = { "一", "2 \"x\"" },
        .tools = TOOLS,
        .choice = "auto",
        .thinking = MAKI_THINKING_LOW,
        .temperature = 0.5 },
      "{'systemInstruction':{'parts':[{'text':'一'},{'text':'2 \\'x\\''}]},'contents':[{'role':'"
      "user','parts':[{'text':'a'}]}],'tools':[{'functionDeclarations':[{'name':'read','descrip"
      "tion':'読む','parametersJsonSchema':{'type':'object','properties':{'p':{'type':'string'}}}"
      "},{'name':'ls','parametersJsonSchema':{'type':'object','properties':{}}}]}],'toolConfig'"
      ":{'functionCallingConfig':{'mode':'AUTO'}},'generationConfig':{'maxOutputTokens':4000,'t"
      "emperature':0.5,'thinkingConfig':{'includeThoughts':true,'thinkingBudget':1024}}}" },
    { "tools in OpenAI's shape, one is chosen: anthropic",
      { .protocol = MAKI_WIRE_ANTHROPIC, .model = "m", .tools = OPENAI_TOOLS, .choice = "read" },
      "{'model':'m','max_tokens':8192,'messages':[{'role':'user','content':'a'}],'tools':[{'nam"
      "e':'read','input_schema':{'type':'object'}}],'tool_choice':{'type':'tool','name':'read'}"
      "}" },
    { "tools in OpenAI's shape, one is chosen: openai",
      { .protocol = MAKI_WIRE_CHAT, .model = "m", .tools = OPENAI_TOOLS, .choice = "read" },
      "{'model':'m','messages':[{'role':'user','content':'a'}],'tools':[{'type':'function','fun"
      "ction':{'name':'read','parameters':{'type':'object'},'strict':true}}],'tool_choice':{'ty"
      "pe':'function','function':{'name':'read'}}}" },
    { "tools in OpenAI's shape, one is chosen: responses",
      { .protocol = MAKI_WIRE_RESPONSES, .model = "m", .tools = OPENAI_TOOLS, .choice = "read" },
      "{'model':'m','store':false,'input':[{'role':'user','content':'a'}],'tools':[{'type':'fun"
      "ction','name':'read','parameters':{'type':'object'},'strict':true}],'tool_choice':{'type"
      "':'function','name':'read'}}" },
    { "tools in OpenAI's shape, one is chosen: ollama",
      { .protocol = MAKI_WIRE_OLLAMA, .model = "m", .tools = OPENAI_TOOLS, .choice = "read" },
      "{'model':'m','stream':false,'messages':[{'role':'user','content':'a'}],'tools':[{'type':"
      "'function','function':{'name':'read','parameters':{'type':'object'}}}]}" },
    { "tools in OpenAI's shape, one is chosen: gemini",
      { .protocol = MAKI_WIRE_GEMINI, .model = "m", .tools = OPENAI_TOOLS, .choice = "read" },
      "{'contents':[{'role':'user','parts':[{'text':'a'}]}],'tools':[{'functionDeclarations':[{"
      "'name':'read','parametersJsonSchema':{'type':'object'}}]}],'toolConfig':{'functionCallin"
      "gConfig':{'mode':'ANY','allowedFunctionNames':['read']}}}" },
    { "tools of providers go only to theirs: anthropic",
      { .protocol = MAKI_WIRE_ANTHROPIC, .model = "m", .tools = MIXED_TOOLS },
      "{'model':'m','max_tokens':8192,'messages':[{'role':'user','content':'a'}],'tools':[{'nam"
      "e':'g','input_schema':{'type':'OBJECT'}},{'name':'m','input_schema':{'type':'object'}},{"
      "'type':'web_search_20250305','name':'web_search'}]}" },
    { "tools of providers go only to theirs: openai",
      { .protocol = MAKI_WIRE_CHAT, .model = "m", .tools = MIXED_TOOLS },
      "{'model':'m','messages':[{'role':'user','content':'a'}],'tools':[{'type':'function','fun"
      "ction':{'name':'g','parameters':{'type':'OBJECT'}}},{'type':'function','function':{'name"
      "':'m','parameters':{'type':'object'}}}],'tool_choice':'auto'}" },
    { "tools of providers go only to theirs: responses",
      { .protocol = MAKI_WIRE_RESPONSES, .model = "m", .tools = MIXED_TOOLS },
      "{'model':'m','store':false,'input':[{'role':'user','content':'a'}],'tools':[{'type':'fun"
      "ction','name':'g','parameters':{'type':'OBJECT'},'strict':false},{'type':'function','nam"
      "e':'m','parameters':{'type':'object'},'strict':false},{'type':'web_search'}]}" },
    { "tools of providers go only to theirs: ollama",
      { .protocol = MAKI_WIRE_OLLAMA, .model = "m", .tools = MIXED_TOOLS },
      "{'model':'m','stream':false,'messages':[{'role':'user','content':'a'}],'tools':[{'type':"
      "'function','function':{'name':'g','parameters':{'type':'OBJECT'}}},{'type':'function','f"
      "unction':{'name':'m','parameters':{'type':'object'}}}]}" },
    { "tools of providers go only to theirs: gemini",
      { .protocol = MAKI_WIRE_GEMINI, .model = "m", .tools = MIXED_TOOLS },
      "{'contents':[{'role':'user','parts':[{'text':'a'}]}],'tools':[{'functionDeclarations':[{"
      "'name':'g','parameters':{'type':'OBJECT'}},{'name':'m','parametersJsonSchema':{'type':'o"
      "bject'}}]},{'googleSearch':{}}]}" },
    { "tool_choice auto is said to OpenAI in any case",
      { .protocol = MAKI_WIRE_CHAT, .model = "m", .tools = ONE_TOOL },
      "{'model':'m','messages':[{'role':'user','content':'a'}],'tools':[{'type':'function','fun"
      "ction':{'name':'ls','parameters':{'type':'object','properties':{}}}}],'tool_choice':'aut"
      "o'}" },
    { "the older form of tools",
      { .protocol = MAKI_WIRE_CHAT, .model = "m", .tools = TOOLS, .functions = true },
      "{'model':'m','messages':[{'role':'user','content':'a'}],'functions':[{'name':'read','des"
      "cription':'読む','parameters':{'type':'object','properties':{'p':{'type':'string'}}}},{'na"
      "me':'ls','parameters':{'type':'object','properties':{}}}],'function_call':'auto'}" },
    { "the older form, one is chosen",
      { .protocol = MAKI_WIRE_CHAT,
        .model = "m",
        .tools = ONE_TOOL,
        .choice = "ls",
        .functions = true },
      "{'model':'m','messages':[{'role':'user','content':'a'}],'functions':[{'name':'ls','param"
      "eters':{'type':'object','properties':{}}}],'function_call':{'name':'ls'}}" },
    { "required: openai",
      { .protocol = MAKI_WIRE_CHAT, .model = "m", .tools = ONE_TOOL, .choice = "required" },
      "{'model':'m','messages':[{'role':'user','content':'a'}],'tools':[{'type':'function','fun"
      "ction':{'name':'ls','parameters':{'type':'object','properties':{}}}}],'tool_choice':'req"
      "uired'}" },
    { "required: anthropic, which then does not think",
      { .protocol = MAKI_WIRE_ANTHROPIC,
        .model = "claude-sonnet-4-5",
        .max_tokens = 32000,
        .tools = ONE_TOOL,
        .choice = "required",
        .thinking = MAKI_THINKING_HIGH,
        .temperature = 1.0 },
      "{'model':'claude-sonnet-4-5','max_tokens':32000,'temperature':1,'messages':[{'role':'use"
      "r','content':'a'}],'tools':[{'name':'ls','input_schema':{'type':'object','properties':{}"
      "}}],'tool_choice':{'type':'any'}}" },
    { "required: gemini",
      { .protocol = MAKI_WIRE_GEMINI, .model = "m", .tools = ONE_TOOL, .choice = "required" },
      "{'contents':[{'role':'user','parts':[{'text':'a'}]}],'tools':[{'functionDeclarations':[{"
      "'name':'ls','parametersJsonSchema':{'type':'object','properties':{}}}]}],'toolConfig':{'"
      "functionCallingConfig':{'mode':'ANY'}}}" },
    { "none: ollama leaves the tools out",
      { .protocol = MAKI_WIRE_OLLAMA, .model = "m", .tools = ONE_TOOL, .choice = "none" },
      "{'model':'m','stream':false,'messages':[{'role':'user','content':'a'}]}" },
    { "no tools but an empty list",
      { .protocol = MAKI_WIRE_CHAT, .model = "m", .tools = "[]" },
      "{'model':'m','messages':[{'role':'user','content':'a'}]}" },
    { "thinking: a budget, no temperature",
      { .protocol = MAKI_WIRE_ANTHROPIC,
        .model = "claude-sonnet-4-20250514",
        .max_tokens = 32000,
        .thinking = MAKI_THINKING_HIGH,
        .temperature = 0.2 },
      "{'model':'claude-sonnet-4-20250514','max_tokens':32000,'thinking':{'type':'enabled','bud"
      "get_tokens':16000},'messages':[{'role':'user','content':'a'}]}" },
    { "thinking: half of the answer at most",
      { .protocol = MAKI_WIRE_ANTHROPIC,
        .model = "claude-3-7-sonnet-latest",
        .max_tokens = 4000,
        .thinking = MAKI_THINKING_MEDIUM },
      "{'model':'claude-3-7-sonnet-latest','max_tokens':4000,'thinking':{'type':'enabled','budg"
      "et_tokens':2000},'messages':[{'role':'user','content':'a'}]}" },
    { "thinking: too few tokens for any",
      { .protocol = MAKI_WIRE_ANTHROPIC,
        .model = "claude-opus-4-1",
        .max_tokens = 1000,
        .thinking = MAKI_THINKING_MEDIUM,
        .temperature = 0.2 },
      "{'model':'claude-opus-4-1','max_tokens':1000,'temperature':0.2,'messages':[{'role':'user"
      "','content':'a'}]}" },
    { "thinking: adaptive from 4.6 on",
      { .protocol = MAKI_WIRE_ANTHROPIC,
        .model = "claude-opus-4-6",
        .max_tokens = 1000,
        .thinking = MAKI_THINKING_MINIMAL },
      "{'model':'claude-opus-4-6','max_tokens':1000,'thinking':{'type':'adaptive'},'output_conf"
      "ig':{'effort':'low'},'messages':[{'role':'user','content':'a'}]}" },
    { "thinking off: anthropic",
      { .protocol = MAKI_WIRE_ANTHROPIC,
        .model = "claude-opus-4-6",
        .max_tokens = 1000,
        .thinking = MAKI_THINKING_OFF },
      "{'model':'claude-opus-4-6','max_tokens':1000,'thinking':{'type':'disabled'},'messages':["
      "{'role':'user','content':'a'}]}" },
    { "thinking: openai, newer models have another limit",
      { .protocol = MAKI_WIRE_CHAT,
        .model = "gpt-5-mini",
        .max_tokens = 1000,
        .thinking = MAKI_THINKING_MINIMAL },
      "{'model':'gpt-5-mini','max_completion_tokens':1000,'reasoning_effort':'minimal','message"
      "s':[{'role':'user','content':'a'}]}" },
    { "thinking off: openai gets no field",
      { .protocol = MAKI_WIRE_CHAT, .model = "gpt-5", .thinking = MAKI_THINKING_OFF },
      "{'model':'gpt-5','messages':[{'role':'user','content':'a'}]}" },
    { "thinking: deepseek",
      { .protocol = MAKI_WIRE_CHAT, .model = "deepseek-chat", .thinking = MAKI_THINKING_MEDIUM },
      "{'model':'deepseek-chat','thinking':{'type':'enabled'},'messages':[{'role':'user','conte"
      "nt':'a'}]}" },
    { "thinking off: zai",
      { .protocol = MAKI_WIRE_CHAT,
        .model = "x",
        .provider = "zai",
        .thinking = MAKI_THINKING_OFF },
      "{'model':'x','thinking':{'type':'disabled'},'messages':[{'role':'user','content':'a'}]}" },
    { "thinking: responses",
      { .protocol = MAKI_WIRE_RESPONSES, .model = "gpt-5", .thinking = MAKI_THINKING_HIGH },
      "{'model':'gpt-5','store':false,'reasoning':{'effort':'high'},'include':['reasoning.encry"
      "pted_content'],'input':[{'role':'user','content':'a'}]}" },
    { "thinking: ollama",
      { .protocol = MAKI_WIRE_OLLAMA, .model = "qwen3", .thinking = MAKI_THINKING_MEDIUM },
      "{'model':'qwen3','stream':false,'think':true,'messages':[{'role':'user','content':'a'}]}" },
    { "thinking: gpt-oss has levels",
      { .protocol = MAKI_WIRE_OLLAMA, .model = "gpt-oss:20b", .thinking = MAKI_THINKING_MINIMAL },
      "{'model':'gpt-oss:20b','stream':false,'think':'low','messages':[{'role':'user','content'"
      ":'a'}]}" },
    { "thinking: gemini 2.5",
      { .protocol = MAKI_WIRE_GEMINI,
        .model = "gemini-2.5-flash",
        .thinking = MAKI_THINKING_MEDIUM },
      "{'contents':[{'role':'user','parts':[{'text':'a'}]}],'generationConfig':{'thinkingConfig"
      "':{'includeThoughts':true,'thinkingBudget':8192}}}" },
    { "thinking off: gemini 2.5",
      { .protocol = MAKI_WIRE_GEMINI, .model = "gemini-2.5-flash", .thinking = MAKI_THINKING_OFF },
      "{'contents':[{'role':'user','parts':[{'text':'a'}]}],'generationConfig':{'thinkingConfig"
      "':{'thinkingBudget':0}}}" },
    { "thinking: gemini 3",
      { .protocol = MAKI_WIRE_GEMINI,
        .model = "gemini-3-flash-preview",
        .thinking = MAKI_THINKING_MINIMAL },
      "{'contents':[{'role':'user','parts':[{'text':'a'}]}],'generationConfig':{'thinkingConfig"
      "':{'includeThoughts':true,'thinkingLevel':'minimal'}}}" },
    { "a system prompt alone: responses",
      { .protocol = MAKI_WIRE_RESPONSES, .model = "m", .system = { "s" } },
      "{'model':'m','store':false,'instructions':'s','input':[{'role':'user','content':'a'}]}" },
};

static maki_str text_of(const char *text)
{
    return text ? maki_str_of(text) : (maki_str){ "", 0 };
}

static void test_options(void)
{
    static char tools[1 << 12];
    for (size_t i = 0; i < COUNT(option_rows); i++) {
        const struct option_row *row = &option_rows[i];
        maki_str system[] = { text_of(row->in.system[0]), text_of(row->in.system[1]) };
        maki_request request = { .protocol = row->in.protocol,
                                 .provider = text_of(row->in.provider),
                                 .model = text_of(row->in.model),
                                 .max_tokens = row->in.max_tokens,
                                 .window = row->in.window,
                                 .stream = row->in.stream,
                                 .system = system,
                                 .system_count = 2,
                                 .tools = q(row->in.tools, tools, sizeof tools),
                                 .tool_choice = text_of(row->in.choice),
                                 .functions = row->in.functions,
                                 .thinking = row->in.thinking,
                                 .has_temperature = row->in.temperature != 0,
                                 .temperature = row->in.temperature };
        tap_row("%s", row->name);
        check_body(MAKI_LIT("{\"role\":\"user\",\"content\":\"a\"}\n"), &request, row->body);
    }
}

/* ---- the rest --------------------------------------------------------------------------------------------------- */

static const char calls[] =
    "{'role':'user','content':'a'}\n"
    "{'role':'assistant','content':[{'type':'reasoning','text':'r'},{'type':'text','text':'t'},{'type':'tool_use',"
    "'id':'1','name':'f','input':{}},{'type':'tool_use','id':'2','name':'g','input':{'x':'日'}}]}\n"
    "{'role':'user','content':[{'type':'tool_result','tool_use_id':'2','content':'G'},{'type':'tool_result',"
    "'tool_use_id':'1','content':'F'}]}\n{'role':'assistant','content':'b','reasoning_content':'why'}\n"
    "{'role':'user','content':'c'}\n";

static void test_styles(void)
{
    static char lines[1 << 12];
    maki_request request = { .protocol = MAKI_WIRE_CHAT, .model = { "m", 1 }, .functions = true };
    tap_row("`functions`: one call a message, its result right after it");
    check_body(
        q(calls, lines, sizeof lines), &request,
        "{'model':'m','messages':[{'role':'user','content':'a'},{'role':'assistant','content':[{'type':"
        "'text','text':'t'}],'function_call':{'name':'f','arguments':'{}'}},{'role':'function','name':'f',"
        "'content':'F'},{'role':'assistant','content':null,'function_call':{'name':'g','arguments':"
        "'{\\'x\\':\\'日\\'}'}},{'role':'function','name':'g','content':'G'},{'role':'assistant','content':'b',"
        "'reasoning_content':'why'},{'role':'user','content':'c'}]}");
    request = (maki_request){ .protocol = MAKI_WIRE_CHAT, .model = MAKI_LIT("glm-4.6") };
    tap_row("reasoning becomes reasoning_content for DeepSeek and Z.ai");
    check_body(
        q(calls, lines, sizeof lines), &request,
        "{'model':'glm-4.6','messages':[{'role':'user','content':'a'},{'role':'assistant','content':[{'type':"
        "'text','text':'t'}],'reasoning_content':'r','tool_calls':[{'id':'1','type':'function','function':"
        "{'name':'f','arguments':'{}'}},{'id':'2','type':'function','function':{'name':'g','arguments':"
        "'{\\'x\\':\\'日\\'}'}}]},{'role':'tool','tool_call_id':'1','content':'F'},{'role':'tool','tool_call_id':"
        "'2','content':'G'},{'role':'assistant','content':'b','reasoning_content':'why'},{'role':'user',"
        "'content':'c'}]}");
    tap_row("reasoning is left out for providers that refuse it");
    request.model = MAKI_LIT("m");
    request.provider = MAKI_LIT("openai");
    check_body(
        MAKI_LIT("{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\","
                 "\"reasoning_content\":\"why\"}\n"),
        &request,
        "{'model':'m','messages':[{'role':'user','content':'a'},{'role':'assistant','content':'b'}]}");
    request = (maki_request){ .protocol = MAKI_WIRE_GEMINI, .model = MAKI_LIT("gemini-3-pro") };
    tap_row(
        "the first call of a turn that Gemini 3 did not make has the signature that stands for none");
    check_body(
        q(calls, lines, sizeof lines), &request,
        "{'contents':[{'role':'user','parts':[{'text':'a'}]},{'role':'model','parts':[{'text':'t'},"
        "{'functionCall':{'name':'f','args':{}},'thoughtSignature':'skip_thought_signature_validator'},"
        "{'functionCall':{'name':'g','args':{'x':'日'}}}]},{'role':'user','parts':[{'functionResponse':{'name':"
        "'f','response':{'output':'F'}}},{'functionResponse':{'name':'g','response':{'output':'G'}}}]},{'role':"
        "'model','parts':[{'text':'b'}]},{'role':'user','parts':[{'text':'c'}]}]}");
}

static void test_memories(void)
{
    static char lines[1 << 12];
    static const maki_str found[] = { { "{\"role\":\"user\",\n\"content\":\"思い出\"}", 37 } };
    maki_request request = { .protocol = MAKI_WIRE_ANTHROPIC,
                             .model = { "m", 1 },
                             .extra_messages = { found, 1 } };
    tap_row("retrieved memories are inserted right before the newest user message");
    check_body(
        MAKI_LIT(
            "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n"
            "{\"role\":\"user\",\"content\":\"c\"}\n{\"role\":\"assistant\",\"content\":\"d\"}\n"),
        &request,
        "{'model':'m','max_tokens':8192,'messages':[{'role':'user','content':'a'},{'role':'assistant',"
        "'content':'b'},{'role':'user','content':[{'type':'text','text':'思い出'},{'type':'text','text':'c'}]},"
        "{'role':'assistant','content':'d'}]}");
    tap_row("also in a loop of tools, where that message is not the last one");
    request.protocol = MAKI_WIRE_CHAT;
    check_body(
        q("{'role':'user','content':'a'}\n{'role':'assistant','content':null,'tool_calls':[{'id':'1','type':"
          "'function','function':{'name':'f','arguments':'{}'}}]}\n{'role':'tool','tool_call_id':'1',"
          "'content':'r'}\n",
          lines, sizeof lines),
        &request,
        "{'model':'m','messages':[{'role':'user','content':'思い出'},{'role':'user','content':'a'},{'role':"
        "'assistant','content':null,'tool_calls':[{'id':'1','type':'function','function':{'name':'f',"
        "'arguments':'{}'}}]},{'role':'tool','tool_call_id':'1','content':'r'}]}");
}

static void test_refused(void)
{
    static const char *const nothing[] = { "", "{'role':'system','content':'s'}\n",
                                           "{'role':'user','content':' \\n'}\n",
                                           "[1]\nnot JSON\n{'role':3}\n" };
    maki_env env = maki_env_system();
    maki_protocol protocol;
    maki_thinking thinking;
    maki_err err = { 0 };
    char lines[200];
    for (size_t i = 0; i < COUNT(nothing); i++) {
        tap_row("nothing to send: %zu", i);
        for (size_t p = 0; p < COUNT(protocols); p++) {
            maki_request request = { .protocol = protocols[p].protocol, .model = { "m", 1 } };
            maki_buf out = maki_buf_new(env.alloc, 1 << 20);
            directory f;
            directory_open(&f);
            maki_conv *conv = talk_of(&env, &f, q(nothing[i], lines, sizeof lines));
            CHECK_STATUS(build(conv, &request, &out, &err), MAKI_REFUSED, &err);
            CHECK_CSTR(err.code, "NOTHING_TO_SEND");
            maki_conv_close(conv);
            directory_close(&f);
            maki_buf_free(&out);
        }
    }
    tap_row("unknown names");
    CHECK_STATUS(maki_request_protocol_parse(MAKI_LIT("generate"), &protocol, &err),
                 MAKI_UNSUPPORTED, &err);
    CHECK_STATUS(maki_request_protocol_parse(MAKI_LIT("gemini"), &protocol, &err), MAKI_OK, &err);
    CHECK_EQ(protocol, MAKI_WIRE_GEMINI);
    CHECK_STATUS(maki_thinking_parse(MAKI_LIT("ultra"), &thinking, &err), MAKI_INVALID, &err);
    CHECK_STATUS(maki_thinking_parse(MAKI_LIT("off"), &thinking, &err), MAKI_OK, &err);
}

/* A conversation of `count` messages that are `size` bytes each, calls and their results among them. */
static void write_long(const directory *f, size_t count, size_t size)
{
    static char block[1 << 16];
    FILE *file = fopen(directory_file(f, "talk.jsonl"), "wb");
    if (!file) abort();
    memset(block, 'x', sizeof block);
    for (size_t i = 0; i < count; i++) {
        bool call = i % 2;
        fputs(
            call
                ? "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\","
                  "\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\\\""
                : "{\"role\":\"user\",\"content\":\"",
            file);
        for (size_t n = 0; n < size; n += sizeof block)
            fwrite(block, 1, size - n < sizeof block ? size - n : sizeof block, file);
        fputs(call ? "\\\"}\"}}]}\n" : "\"}\n", file);
    }
    fclose(file);
}

static maki_status count_bytes(void *ctx, maki_str bytes, maki_err *err)
{
    uint64_t *sum = ctx;
    (void)err;
    *sum += bytes.len;
    return MAKI_OK;
}

/* Many megabytes in one message and in a call take a few megabytes of memory. */
static void test_memory(size_t megabytes)
{
    size_t size = megabytes << 20;
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    directory f;
    directory_open(&f);
    write_long(&f, 2, size);
    maki_conv_options options = { .read_only = false };
    maki_conv *made = NULL; /* the index is there afterwards: making it is not what is measured */
    CHECK_STATUS(maki_conv_open(&env, directory_file(&f, "talk.jsonl"), &options, &made, &err),
                 MAKI_OK, &err);
    maki_conv_close(made);
    for (size_t p = 0; p < COUNT(protocols); p++) {
        maki_request request = { .protocol = protocols[p].protocol, .model = { "m", 1 } };
        maki_conv *conv = NULL;
        const maki_view *view;
        uint64_t sum = 0;
        fake_env fe;
        fake_env_init(&fe);
        options.read_only = true;
        tap_row("%s: %zu MB in a message and in a call, in constant memory", protocols[p].name,
                megabytes);
        CHECK_STATUS(
            maki_conv_open(&fe.env, directory_file(&f, "talk.jsonl"), &options, &conv, &err),
            MAKI_OK, &err);
        CHECK_STATUS(maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, &err), MAKI_OK, &err);
        CHECK_STATUS(
            maki_request_write(conv, view, &request, (maki_sink){ count_bytes, &sum }, &err),
            MAKI_OK, &err);
        CHECK(sum > 2 * size && sum < 2 * size + 4096);
        if (!CHECK(fe.peak_bytes < 8u << 20)) printf("# peak %zu\n", fe.peak_bytes);
        maki_conv_close(conv);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        CHECK_EQ(fake_files_live(&fe), 0);
    }
    directory_close(&f);
}

/* A body of 12 MB, written by one thread and by two, is the same. */
static void test_async(void)
{
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    directory f;
    directory_open(&f);
    write_long(&f, 600, 20000);
    for (size_t p = 0; p < COUNT(protocols); p++) {
        maki_conv_options options = { .read_only = true };
        maki_buf bodies[2] = { maki_buf_new(env.alloc, 64 << 20),
                               maki_buf_new(env.alloc, 64 << 20) };
        tap_row("%s: a second thread writes the same", protocols[p].name);
        for (size_t i = 0; i < 2; i++) {
            maki_request request = { .protocol = protocols[p].protocol,
                                     .model = { "m", 1 },
                                     .async = i == 1 };
            maki_conv *conv = NULL;
            CHECK_STATUS(
                maki_conv_open(&env, directory_file(&f, "talk.jsonl"), &options, &conv, &err),
                MAKI_OK, &err);
            CHECK_STATUS(build(conv, &request, &bodies[i], &err), MAKI_OK, &err);
            maki_conv_close(conv);
        }
        CHECK(bodies[0].len > 12000000 &&
              maki_str_equal(maki_buf_str(&bodies[0]), maki_buf_str(&bodies[1])));
        maki_buf_free(&bodies[0]);
        maki_buf_free(&bodies[1]);
    }
    directory_close(&f);
}

/* Each allocation and each file call fails in turn. */
static void test_faults(void)
{
    static char text[1 << 14];
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    directory f;
    directory_open(&f);
    maki_conv_close(talk_of(&env, &f, q(message_rows[2].lines, text, sizeof text)));
    for (size_t kind = 0; kind < 2 * COUNT(protocols); kind++) {
        bool files = kind % 2;
        maki_request request = { .protocol = protocols[kind / 2].protocol, .model = { "m", 1 } };
        tap_row("%s: each %s fails", protocols[kind / 2].name,
                files ? "call of a file" : "allocation");
        for (size_t nth = 1;; nth++) {
            maki_conv_options options = { .read_only = true };
            maki_buf out = maki_buf_new(env.alloc, 1 << 20);
            maki_conv *conv = NULL;
            fake_env fe;
            fake_env_init(&fe);
            if (files)
                fake_files_fail_at(&fe, nth, EIO);
            else
                fake_alloc_fail_at(&fe, nth);
            maki_status st =
                maki_conv_open(&fe.env, directory_file(&f, "talk.jsonl"), &options, &conv, &err);
            if (st == MAKI_OK) st = build(conv, &request, &out, &err);
            maki_conv_close(conv);
            bool failed = files ? fake_files_failed(&fe) : fake_alloc_failed(&fe);
            if (!files || !failed) CHECK_STATUS(st, failed ? MAKI_NOMEM : MAKI_OK, &err);
            CHECK_EQ(fake_alloc_live(&fe), 0);
            CHECK_EQ(fake_files_live(&fe), 0);
            maki_buf_free(&out);
            if (!failed) break;
        }
    }
    directory_close(&f);
}

int main(int argc, char **argv)
{
    if (argc > 1) { /* `request_test 200`: that alone, with so many megabytes */
        test_memory(strtoul(argv[1], NULL, 10));
        return tap_end();
    }
    test_messages();
    test_options();
    test_styles();
    test_memories();
    test_refused();
    test_memory(12);
    test_async();
    test_faults();
    return tap_end();
}
