/* reply_test.c -- parsing replies of every protocol, whole and streamed, into rows. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "fake_env.h"
#include "reply_dump.h"
#include "tap.h"

enum { BUFFER_MAX = 1 << 20 };

/* clang-format off */
#define MESSAGE_START "{'type':'message_start','message':{'id':'msg_1','type':'message','role':'assistant','model':'claude-x'," \
    "'content':[],'stop_reason':null,'usage':{'input_tokens':10,'cache_read_input_tokens':7,'cache_creation_input_tokens':5,'output_tokens':1}}}\n"
#define MESSAGE_END(reason) "{'type':'message_delta','delta':{'stop_reason':'" reason "'},'usage':{'output_tokens':15}}\n{'type':'message_stop'}\n"
#define START(i, block) "{'type':'content_block_start','index':" i ",'content_block':" block "}\n"
#define DELTA(i, delta) "{'type':'content_block_delta','index':" i ",'delta':" delta "}\n"
#define STOP(i) "{'type':'content_block_stop','index':" i "}\n"
#define CHUNK(choice) "{'id':'c1','model':'gpt-x','choices':[{'index':0," choice "}]}\n"
#define CANDIDATE(parts) "{'candidates':[{'content':{'parts':[" parts "],'role':'model'},'index':0}],'modelVersion':'gemini-x','responseId':'r1'}\n"

static const struct reply_row { const char *name; maki_protocol protocol; reply_form form; int status; const char *sent, *result; } rows[] = {
    /* ---- Anthropic ---- */
    { "anthropic: text, thinking, a call in pieces", MAKI_WIRE_ANTHROPIC, EVENTS, 200,
      MESSAGE_START "{'type':'ping'}\n"
      START("0", "{'type':'thinking','thinking':'','signature':''}") DELTA("0", "{'type':'thinking_delta','thinking':'Let '}")
      DELTA("0", "{'type':'thinking_delta','thinking':'me.'}") DELTA("0", "{'type':'signature_delta','signature':'c2ln'}") STOP("0")
      START("1", "{'type':'text','text':''}") DELTA("1", "{'type':'text_delta','text':'日本'}") DELTA("1", "{'type':'text_delta','text':'語 \\ud83d'}")
      DELTA("1", "{'type':'text_delta','text':'\\ude00 한국 👋'}") STOP("1")
      START("2", "{'type':'tool_use','id':'toolu_1','name':'read','input':{}}") DELTA("2", "{'type':'input_json_delta','partial_json':''}")
      DELTA("2", "{'type':'input_json_delta','partial_json':'{\\'a\\':\\'x\\\\u00'}")
      DELTA("2", "{'type':'input_json_delta','partial_json':'e9\\ud83d'}") DELTA("2", "{'type':'input_json_delta','partial_json':'\\ude00\\',\\'n\\':1e2}'}") STOP("2")
      MESSAGE_END("tool_use"),
      "{'role':'assistant','content':[{'type':'thinking','thinking':'Let me.','signature':'c2ln'},{'type':'text','text':'日本語 \\ud83d\\ude00 한국 👋'},"
      "{'type':'tool_use','id':'toolu_1','name':'read','input':{'a':'x\\u00e9😀','n':1e2}}]}\n"
      " stop='tool_use' id='msg_1' model='claude-x' usage=22/15/7/5/0 complete" },
    { "anthropic: citations, unknown blocks and deltas", MAKI_WIRE_ANTHROPIC, EVENTS, 200,
      MESSAGE_START START("0", "{'type':'text','text':'','citations':[]}") DELTA("0", "{'type':'citations_delta','citation':{'n':1}}")
      DELTA("0", "{'type':'citations_delta','citation':{'n':2}}") DELTA("0", "{'type':'text_delta','text':'a'}") STOP("0")
      START("1", "{'type':'server_tool_use','id':'s1','name':'web_search','input':{}}") DELTA("1", "{'type':'input_json_delta','partial_json':'{\\'q\\':1}'}") STOP("1")
      START("2", "{'type':'web_search_tool_result','tool_use_id':'s1','content':[{'url':'u'}]}") STOP("2")
      START("3", "{'type':'novel','data':'x'}") DELTA("3", "{'type':'novel_delta','data':'y','more':[1],'flag':true}") STOP("3")
      START("4", "{'type':'redacted_thinking','data':'abc'}") STOP("4")
      "{'type':'something_new','x':1}\n" MESSAGE_END("end_turn"),
      "{'role':'assistant','content':[{'type':'text','text':'a','citations':[{'n':1},{'n':2}]},{'type':'server_tool_use','id':'s1','name':'web_search','input':{'q':1}},"
      "{'type':'web_search_tool_result','tool_use_id':'s1','content':[{'url':'u'}]},{'type':'novel','data':'xy','more':[1],'flag':true},{'type':'redacted_thinking','data':'abc'}]}\n"
      " stop='end_turn' id='msg_1' model='claude-x' usage=22/15/7/5/0 complete" },
    { "anthropic: cut inside a call", MAKI_WIRE_ANTHROPIC, EVENTS, 200,
      MESSAGE_START START("0", "{'type':'text','text':''}") DELTA("0", "{'type':'text_delta','text':'I look.'}") STOP("0")
      START("1", "{'type':'tool_use','id':'t','name':'n','input':{}}") DELTA("1", "{'type':'input_json_delta','partial_json':'{\\'a\\':'}")
      "{'type':'content_block_del",
      "{'role':'assistant','content':[{'type':'text','text':'I look.'},{'type':'tool_use','id':'t','name':'n','input':{},'partial_json':'{\\'a\\':'}]}\n"
      " id='msg_1' model='claude-x' usage=22/1/7/5/0" },
    { "anthropic: a call without input", MAKI_WIRE_ANTHROPIC, EVENTS, 200,
      MESSAGE_START START("0", "{'type':'tool_use','id':'t','name':'n','input':{}}") DELTA("0", "{'type':'input_json_delta','partial_json':''}") STOP("0") MESSAGE_END("tool_use"),
      "{'role':'assistant','content':[{'type':'tool_use','id':'t','name':'n','input':{}}]}\n stop='tool_use' id='msg_1' model='claude-x' usage=22/15/7/5/0 complete" },
    { "anthropic: interleaved blocks", MAKI_WIRE_ANTHROPIC, EVENTS, 200,
      MESSAGE_START START("0", "{'type':'text','text':''}") START("1", "{'type':'text','text':''}") DELTA("1", "{'type':'text_delta','text':'b'}") STOP("1")
      DELTA("0", "{'type':'text_delta','text':'a'}") STOP("0") MESSAGE_END("end_turn"),
      "{'role':'assistant','content':[{'type':'text','text':'a'},{'type':'text','text':'b'}]}\n stop='end_turn' id='msg_1' model='claude-x' usage=22/15/7/5/0 complete" },
    { "anthropic: an error in the stream", MAKI_WIRE_ANTHROPIC, RAW, 200,
      ": hello\r\n\r\nevent: message_start\r\ndata: {'type':'message_start','message':{'id':'m'}}\r\n\r\n"
      "event: error\r\ndata: {'type':'error','error':{'type':'overloaded_error','message':'過負荷'}}\r\n\r\n",
      " id='m' error={'type':'error','error':{'type':'overloaded_error','message':'過負荷'}}" },
    { "anthropic: invalid events in between", MAKI_WIRE_ANTHROPIC, RAW, 200,
      "data: {oops\n\ndata: 7\n\nevent: x\ndata: {'type':'content_block_start','index':0,'content_block':{'type':'text','text':'a'}}\n\ndata: {'type':'message_stop'}",
      "{'role':'assistant','content':[{'type':'text','text':'a'}]}\n complete invalid" },
    { "anthropic: whole", MAKI_WIRE_ANTHROPIC, WHOLE, 200,
      "{'id':'m','type':'message','role':'assistant','model':'c','content':[{'type':'text',\n 'text':'你好'}],'stop_reason':'end_turn','usage':{'input_tokens':3,'output_tokens':2}}",
      "{'role':'assistant','content':[{'type':'text',  'text':'你好'}]}\n stop='end_turn' id='m' model='c' usage=3/2/0/0/0 complete" },
    { "anthropic: whole, an error", MAKI_WIRE_ANTHROPIC, WHOLE, 400, "{'type':'error','error':{'type':'invalid_request_error','message':'prompt is too long'}}",
      " error={'type':'error','error':{'type':'invalid_request_error','message':'prompt is too long'}}" },
    { "anthropic: an error that is not JSON", MAKI_WIRE_ANTHROPIC, WHOLE, 502, "<html>Bad 'Gateway'</html>", " error={'status':502,'message':'<html>Bad \\'Gateway\\'</html>'}" },
    { "anthropic: an error with an empty body", MAKI_WIRE_ANTHROPIC, WHOLE, 500, "", " error={'status':500,'message':''}" },
    { "anthropic: whole, cut", MAKI_WIRE_ANTHROPIC, WHOLE, 200, "{'id':'m','type':'mess", "" },
    { "anthropic: not JSON", MAKI_WIRE_ANTHROPIC, WHOLE, 200, "hello", " invalid" },
    { "anthropic: a stream with the content type of JSON", MAKI_WIRE_ANTHROPIC, WHOLE, 200, "event: x\ndata: {'type':'content_block_start','index':0,'content_block':{'type':'text','text':'a'}}\n\ndata: {'type':'message_stop'}\n\n",
      "{'role':'assistant','content':[{'type':'text','text':'a'}]}\n complete" },
    { "anthropic: nothing", MAKI_WIRE_ANTHROPIC, EVENTS, 200, "", "" },

    /* ---- OpenAI chat ---- */
    { "chat: text and usage", MAKI_WIRE_CHAT, EVENTS, 200,
      CHUNK("'delta':{'role':'assistant','content':'','refusal':null},'finish_reason':null") CHUNK("'delta':{'content':'こん'}") CHUNK("'delta':{'content':'にちは \\ud83d'}")
      CHUNK("'delta':{'content':'\\ude00'}") CHUNK("'delta':{},'finish_reason':'stop'")
      "{'id':'c1','model':'gpt-x','choices':[],'usage':{'prompt_tokens':9,'completion_tokens':4,'prompt_tokens_details':{'cached_tokens':8},'completion_tokens_details':{'reasoning_tokens':3}}}\n[DONE]\n",
      "{'role':'assistant','content':'こんにちは \\ud83d\\ude00'}\n stop='stop' id='c1' model='gpt-x' usage=9/4/8/0/3 complete" },
    { "chat: calls in pieces", MAKI_WIRE_CHAT, EVENTS, 200,
      CHUNK("'delta':{'role':'assistant','content':null,'tool_calls':[{'index':0,'id':'call_1','type':'function','function':{'name':'read','arguments':''}}]}")
      CHUNK("'delta':{'tool_calls':[{'index':0,'function':{'arguments':'{\\'p\\':'}}]}")
      CHUNK("'delta':{'tool_calls':[{'index':1,'id':'call_2','type':'function','function':{'name':'write','arguments':'{}'}}]}")
      CHUNK("'delta':{'tool_calls':[{'index':0,'id':'','function':{'name':'','arguments':'\\'\\\\u65'}}]}")
      CHUNK("'delta':{'tool_calls':[{'index':0,'function':{'arguments':'e5\\'}'}}]},'finish_reason':'tool_calls'"),
      "{'role':'assistant','content':null,'tool_calls':[{'id':'call_1','type':'function','function':{'name':'read','arguments':'{\\'p\\':\\'\\\\u65e5\\'}'}},"
      "{'id':'call_2','type':'function','function':{'name':'write','arguments':'{}'}}]}\n stop='tool_calls' id='c1' model='gpt-x' complete" },
    { "chat: calls that all have index 0, or none", MAKI_WIRE_CHAT, EVENTS, 200,
      CHUNK("'delta':{'tool_calls':[{'index':0,'id':'a','function':{'name':'f','arguments':'{}'}}]}") CHUNK("'delta':{'tool_calls':[{'index':0,'id':'b','function':{'name':'f','arguments':'{'}}]}")
      CHUNK("'delta':{'tool_calls':[{'index':0,'function':{'arguments':'}'}}]}") CHUNK("'delta':{'tool_calls':[{'id':'c','extra_content':{'google':1},'function':{'name':'g','arguments':'{}'}}]}"),
      "{'role':'assistant','content':null,'tool_calls':[{'id':'a','function':{'name':'f','arguments':'{}'}},{'id':'b','function':{'name':'f','arguments':'{}'}},"
      "{'id':'c','extra_content':{'google':1},'function':{'name':'g','arguments':'{}'}}]}\n id='c1' model='gpt-x'" },
    { "chat: reasoning, refusal, sound, the old call, other choices", MAKI_WIRE_CHAT, EVENTS, 200,
      CHUNK("'delta':{'reasoning_content':'hm','reasoning':'a','audio':{'id':'au','data':'AAAA'}}") CHUNK("'delta':{'reasoning_content':'m','reasoning':'b','refusal':'No'}")
      CHUNK("'delta':{'function_call':{'name':'f','arguments':'{'},'refusal':'.'}") CHUNK("'delta':{'function_call':{'arguments':'}'},'reasoning_details':[{'x':1}]}")
      "{'choices':[{'index':1,'delta':{'content':'another'}}]}\n" CHUNK("'delta':{'content':'','reasoning_details':[{'x':2}]},'finish_reason':'function_call'"),
      "{'role':'assistant','content':'','audio':{'id':'au'},'reasoning_content':'hmm','reasoning':'ab','refusal':'No.','reasoning_details':[{'x':1},{'x':2}],'function_call':{'name':'f','arguments':'{}'}}\n"
      " stop='function_call' id='c1' model='gpt-x' complete" },
    { "chat: content as blocks", MAKI_WIRE_CHAT, EVENTS, 200, CHUNK("'delta':{'content':[{'type':'thinking','thinking':[]},{'type':'text','text':'a'}]}") CHUNK("'delta':{'content':'b'}") "[DONE]\n",
      "{'role':'assistant','content':'ab','content_parts':[{'type':'thinking','thinking':[]}]}\n id='c1' model='gpt-x' complete" },
    { "chat: an error in the stream", MAKI_WIRE_CHAT, EVENTS, 200, CHUNK("'delta':{'role':'assistant','content':'so'}") "{'error':{'message':'x','code':500}}\n",
      "{'role':'assistant','content':'so'}\n id='c1' model='gpt-x' error={'error':{'message':'x','code':500}}" },
    { "chat: empty content", MAKI_WIRE_CHAT, EVENTS, 200, CHUNK("'delta':{'role':'assistant','content':''}"), " id='c1' model='gpt-x'" },
    { "chat: whole", MAKI_WIRE_CHAT, WHOLE, 200,
      "{'id':'c','model':'m','choices':[{'index':1,'message':{'role':'assistant','content':'no'}},{'index':0,'message':{'role':'assistant','content':'ok','tool_calls':[]},'finish_reason':'stop'}],'usage':{'prompt_tokens':1,'completion_tokens':1,'prompt_cache_hit_tokens':1}}",
      "{'role':'assistant','content':'ok','tool_calls':[]}\n stop='stop' id='c' model='m' usage=1/1/1/0/0 complete" },
    { "chat: whole, without a role", MAKI_WIRE_CHAT, WHOLE, 200, "{'choices':[{'message':{'content':'ok'}}]}", "{'role':'assistant','content':'ok'}\n complete" },
    { "chat: an error with the content type of a stream", MAKI_WIRE_CHAT, RAW, 400, "{'error':{'message':'x'}}", " error={'error':{'message':'x'}}" },
    { "chat: 429", MAKI_WIRE_CHAT, WHOLE, 429, "{'error':{'message':'slow'}}", " error={'error':{'message':'slow'}}" },

    /* ---- Responses ---- */
    { "responses: reasoning, text and a call", MAKI_WIRE_RESPONSES, EVENTS, 200,
      "{'type':'response.created','response':{'id':'resp_1','model':'gpt-x','status':'in_progress','usage':null,'error':null}}\n"
      "{'type':'response.output_item.added','output_index':0,'item':{'type':'reasoning','id':'rs','summary':[]}}\n"
      "{'type':'response.output_item.done','output_index':0,'item':{'type':'reasoning','id':'rs','summary':[{'type':'summary_text','text':'so'}],'encrypted_content':'xx'}}\n"
      "{'type':'response.output_item.added','output_index':1,'item':{'type':'message','id':'msg','role':'assistant','status':'in_progress','content':[]}}\n"
      "{'type':'response.output_text.delta','output_index':1,'content_index':0,'delta':'日本'}\n"
      "{'type':'response.output_item.done','output_index':1,'item':{'type':'message','id':'msg','role':'assistant','status':'completed','content':[{'type':'output_text','text':'日本語','annotations':[],'logprobs':[]}]}}\n"
      "{'type':'response.output_item.done','output_index':2,'item':{'type':'function_call','id':'fc','call_id':'call_1','name':'f','arguments':'{\\'a\\':1}','status':'completed'}}\n"
      "{'type':'response.completed','response':{'id':'resp_1','status':'completed','output':[{'type':'message'}],'usage':{'input_tokens':5,'output_tokens':6,'input_tokens_details':{'cached_tokens':4},'output_tokens_details':{'reasoning_tokens':2}}}}\n",
      "{'role':'assistant','content':[{'type':'reasoning','id':'rs','summary':[{'type':'summary_text','text':'so'}],'encrypted_content':'xx'},{'type':'text','text':'日本語'}],'original':{'type':'message','id':'msg','status':'completed'}}\n"
      "{'role':'assistant','content':null,'tool_calls':[{'id':'call_1','type':'function','function':{'name':'f','arguments':'{\\'a\\':1}'}}],'original':{'type':'function_call','id':'fc','status':'completed'}}\n"
      " stop='completed' id='resp_1' model='gpt-x' usage=5/6/4/0/2 complete" },
    { "responses: cut before any item is complete", MAKI_WIRE_RESPONSES, EVENTS, 200,
      "{'type':'response.created','response':{'id':'resp_1','status':'in_progress'}}\n"
      "{'type':'response.output_item.added','output_index':0,'item':{'type':'reasoning','id':'rs','summary':[]}}\n{'type':'response.reasoning_summary_text.delta','output_index':0,'delta':'hm'}\n"
      "{'type':'response.output_item.added','output_index':1,'item':{'type':'message','role':'assistant','content':[]}}\n{'type':'response.output_text.delta','output_index':1,'delta':'Hel'}\n{'type':'response.output_text.delta','output_index':1,'delta':'lo'}\n"
      "{'type':'response.output_item.added','output_index':2,'item':{'type':'custom_tool_call','call_id':'c','name':'exec','input':''}}\n{'type':'response.custom_tool_call_input.delta','output_index':2,'delta':'ls'}\n{'type':'response.unknown.delta','delta':'x'}\n",
      "{'role':'assistant','content':[{'type':'reasoning','id':'rs','summary':[{'type':'summary_text','text':'hm'}]},{'type':'text','text':'Hello'}],'original':{'type':'message'}}\n"
      "{'role':'assistant','content':null,'tool_calls':[{'id':'c','type':'function','function':{'name':'exec','arguments':'ls'}}],'original':{'type':'custom_tool_call'}}\n id='resp_1'" },
    { "responses: only the end has the items", MAKI_WIRE_RESPONSES, EVENTS, 200,
      "{'type':'response.incomplete','response':{'id':'r','status':'incomplete','incomplete_details':{'reason':'max_output_tokens'},'output':[{'type':'message','role':'assistant','content':[{'type':'output_text','text':'a','annotations':[{'x':1}]}]}]}}\n",
      "{'role':'assistant','content':[{'type':'text','text':'a','original':{'annotations':[{'x':1}]}}],'original':{'type':'message'}}\n stop='max_output_tokens' id='r' complete" },
    { "responses: it failed", MAKI_WIRE_RESPONSES, EVENTS, 200, "{'type':'response.failed','response':{'id':'r','status':'failed','error':{'code':'server_error','message':'x'},'output':[]}}\n",
      " stop='failed' id='r' error={'code':'server_error','message':'x'} complete" },
    { "responses: whole, a search and reasoning alone", MAKI_WIRE_RESPONSES, WHOLE, 200,
      "{'id':'r','object':'response','status':'completed','model':'m','error':null,'output':[{'type':'web_search_call','id':'ws','status':'completed','action':{'query':'q'}},{'type':'reasoning','summary':[]}]}",
      "{'role':'assistant','content':[{'type':'web_search_call','id':'ws','status':'completed','action':{'query':'q'}}]}\n{'role':'assistant','content':[{'type':'reasoning','summary':[]}]}\n stop='completed' id='r' model='m' complete" },

    /* ---- Ollama ---- */
    { "ollama: text, thinking, calls without ids", MAKI_WIRE_OLLAMA, LINES, 200,
      "{'model':'llama','message':{'role':'assistant','content':'','thinking':'h'},'done':false}\n{'model':'llama','message':{'role':'assistant','content':'안녕','thinking':'m'},'done':false}\n"
      "{'model':'llama','message':{'role':'assistant','content':'','tool_calls':[{'function':{'name':'f','arguments':{'a':1}}}]},'done':false}\n"
      "{'model':'llama','message':{'role':'assistant','content':'','tool_calls':[{'function':{'name':'f','arguments':{}}},{'id':'x','function':{'name':'g','arguments':{}}}]},'done':false}\n"
      "{'model':'llama','message':{'role':'assistant','content':''},'done_reason':'stop','done':true,'prompt_eval_count':11,'eval_count':12,'total_duration':5}\n",
      "{'role':'assistant','content':'안녕','thinking':'hm','tool_calls':[{'id':'call_f_0','function':{'name':'f','arguments':{'a':1}}},{'id':'call_f_1','function':{'name':'f','arguments':{}}},{'id':'x','function':{'name':'g','arguments':{}}}]}\n"
      " stop='stop' model='llama' usage=11/12/0/0/0 complete" },
    { "ollama: whole", MAKI_WIRE_OLLAMA, WHOLE, 200, "{'model':'l','message':{'role':'assistant','content':'a'},'done':true,'done_reason':'stop'}\n", "{'role':'assistant','content':'a'}\n stop='stop' model='l' complete" },
    { "ollama: lines with the content type of JSON, cut", MAKI_WIRE_OLLAMA, WHOLE, 200, "{'message':{'content':'a'}}\n{'message':{'content':'b'}}\n{'mess", "{'role':'assistant','content':'ab'}\n" },
    { "ollama: an error in the stream", MAKI_WIRE_OLLAMA, LINES, 200, "{'message':{'content':'a'}}\nnonsense\n{'error':'out of memory'}", "{'role':'assistant','content':'a'}\n error={'error':'out of memory'} invalid" },
    { "generate", MAKI_WIRE_GENERATE, LINES, 200, "{'model':'l','response':'Why','done':false}\n{'model':'l','response':' not','thinking':'t','done':true,'done_reason':'length','context':[1,2],'prompt_eval_count':1,'eval_count':2}\n",
      "{'role':'assistant','content':'Why not','thinking':'t'}\n stop='length' model='l' usage=1/2/0/0/0 complete" },

    /* ---- Gemini ---- */
    { "gemini: thoughts, text, calls", MAKI_WIRE_GEMINI, EVENTS, 200,
      CANDIDATE("{'text':'**Hm','thought':true}") CANDIDATE("{'text':'**','thought':true,'thoughtSignature':'c2ln'}") CANDIDATE("{'text':'你'}") CANDIDATE("{'text':'好 🎏'},{'text':'!'}")
      CANDIDATE("{'functionCall':{'name':'f','args':{'a':'b'}},'thoughtSignature':'eA=='},{'functionCall':{'id':'i','name':'f'}},{'executableCode':{'code':'1'}},{'inlineData':{'mimeType':'image/png','data':'AAAA'}}")
      "{'candidates':[{'content':{'role':'model'},'finishReason':'STOP','index':0}],'usageMetadata':{'promptTokenCount':8,'candidatesTokenCount':3,'thoughtsTokenCount':2,'cachedContentTokenCount':1,'totalTokenCount':13}}\n",
      "{'role':'assistant','content':[{'type':'thinking','thinking':'**Hm**','original':{'thoughtSignature':'c2ln'}},{'type':'text','text':'你好 🎏!'},{'type':'tool_use','id':'call_f_0','name':'f','input':{'a':'b'},'original':{'thoughtSignature':'eA=='}},"
      "{'type':'tool_use','id':'call_f_1','name':'f','input':{},'original':{'functionCall':{'id':'i'}}},{'executableCode':{'code':'1'}},{'type':'image','source':{'type':'base64','media_type':'image/png','data':'AAAA'}}]}\n"
      " stop='STOP' id='r1' model='gemini-x' usage=8/5/1/0/2 complete" },
    { "gemini: an array, cut", MAKI_WIRE_GEMINI, WHOLE, 200, "[{'candidates':[{'content':{'parts':[{'text':'a'}]}}]},\n{'candidates':[{'content':{'parts':[{'text':'b'}]}}]},\n{'candi", "{'role':'assistant','content':[{'type':'text','text':'ab'}]}\n" },
    { "gemini: an array", MAKI_WIRE_GEMINI, WHOLE, 200, "[{'candidates':[{'content':{'parts':[{'text':'a'}]}}]}\n,\n{'candidates':[{'content':{'parts':[{'text':'b'}]},'finishReason':'MAX_TOKENS'}]}]", "{'role':'assistant','content':[{'type':'text','text':'ab'}]}\n stop='MAX_TOKENS' complete" },
    { "gemini: blocked", MAKI_WIRE_GEMINI, EVENTS, 200, "{'promptFeedback':{'blockReason':'SAFETY'}}\n", " stop='SAFETY' complete" },
    { "gemini: an error in the stream", MAKI_WIRE_GEMINI, EVENTS, 200, "{'error':{'code':503,'status':'UNAVAILABLE'}}\n", " error={'error':{'code':503,'status':'UNAVAILABLE'}}" },
    { "gemini: whole", MAKI_WIRE_GEMINI, WHOLE, 200, "{'candidates':[{'content':{'parts':[{'text':'a'}]},'finishReason':'STOP'}],'modelVersion':'g'}", "{'role':'assistant','content':[{'type':'text','text':'a'}]}\n stop='STOP' model='g' complete" },
};
/* clang-format on */

static void run(const maki_env *env, const struct reply_row *row, size_t step)
{
    maki_buf sent = maki_buf_new(env->alloc, BUFFER_MAX),
             want = maki_buf_new(env->alloc, BUFFER_MAX);
    maki_buf have = maki_buf_new(env->alloc, BUFFER_MAX);
    maki_err err = { 0 };
    maki_str bytes = reply_bytes(&sent, row->form, row->sent);
    maki_status st =
        reply_dump(env, row->protocol, row->form, row->status, bytes, step, &have, &err);
    CHECK_STATUS(st, MAKI_OK, &err);
    CHECK_TEXT(maki_buf_str(&have), quotes(&want, row->result));
    maki_buf_free(&sent);
    maki_buf_free(&want);
    maki_buf_free(&have);
}

/* Each allocation fails in turn. */
static void run_without_memory(const struct reply_row *row)
{
    static fake_env fe;
    maki_env system = maki_env_system();
    maki_buf sent = maki_buf_new(system.alloc, BUFFER_MAX),
             have = maki_buf_new(system.alloc, BUFFER_MAX);
    maki_str bytes = reply_bytes(&sent, row->form, row->sent);
    fake_env_init(&fe);
    for (size_t nth = 1;; nth++) {
        maki_err err = { 0 };
        fake_alloc_fail_at(&fe, nth);
        maki_status st =
            reply_dump(&fe.env, row->protocol, row->form, row->status, bytes, 64, &have, &err);
        bool failed = fake_alloc_failed(&fe);
        CHECK_STATUS(st, failed ? MAKI_NOMEM : MAKI_OK, &err);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        if (!failed) break;
    }
    maki_buf_free(&sent);
    maki_buf_free(&have);
}

/* ---- size --------------------------------------------------------------------------------------------- */

static const char delta[] =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"日本語 text \"}}]}\n\n";

static void test_rest(void)
{
    static fake_env fe;
    maki_wire_reply *reply = NULL;
    maki_err err = { 0 };
    fake_env_init(&fe);
    tap_row("an idle stream uses less than 3 KB");
    for (maki_protocol p = MAKI_WIRE_ANTHROPIC; p <= MAKI_WIRE_GEMINI; p++) {
        CHECK_STATUS(
            maki_wire_reply_open(&fe.env, p, 200, MAKI_LIT("text/event-stream"), &reply, &err),
            MAKI_OK, &err);
        CHECK_STATUS(maki_wire_reply_add(reply, maki_str_of(delta), &err), MAKI_OK, &err);
        CHECK(fake_alloc_live(&fe) < 3000);
        maki_wire_reply_close(reply);
    }
}

static void test_long(void)
{
    static fake_env fe;
    maki_wire_reply *reply = NULL;
    maki_wire_result result;
    maki_err err = { 0 };
    maki_str value;
    enum { TIMES = 400000 };
    fake_env_init(&fe);
    tap_row("a long text is spooled to files");
    CHECK_STATUS(maki_wire_reply_open(&fe.env, MAKI_WIRE_CHAT, 200, MAKI_LIT("text/event-stream"),
                                      &reply, &err),
                 MAKI_OK, &err);
    for (size_t i = 0; i < TIMES; i++) {
        if (maki_wire_reply_add(reply, maki_str_of(delta), &err) != MAKI_OK) break;
    }
    CHECK_STATUS(maki_wire_reply_end(reply, &result, &err), MAKI_OK, &err);
    if (CHECK_EQ(result.row_count, 1)) {
        CHECK_EQ(result.rows[0].len, 33 + TIMES * strlen("日本語 text "));
        CHECK_STATUS(maki_json_check(result.rows[0], &value, &err), MAKI_OK, &err);
    }
    CHECK(fe.peak_bytes < 300 << 10);
    maki_wire_reply_close(reply);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    CHECK_EQ(fake_files_live(&fe), 0);
}

/* Every file call failing in turn: told, and nothing stays behind. */
static void test_files(void)
{
    static fake_env fe;
    static char event[20000];
    maki_err err = { 0 };
    int n = snprintf(event, sizeof event, "data: {\"choices\":[{\"delta\":{\"content\":\"");
    memset(event + n, 'x', 16000);
    snprintf(event + n + 16000, 16, "\"}}]}\n\n");
    fake_env_init(&fe);
    tap_row("a long text, every file call failing");
    for (size_t nth = 1;; nth++) {
        maki_wire_reply *reply = NULL;
        maki_wire_result result;
        fake_files_fail_at(&fe, nth, ENOSPC);
        maki_status st = maki_wire_reply_open(&fe.env, MAKI_WIRE_CHAT, 200,
                                              MAKI_LIT("text/event-stream"), &reply, &err);
        for (size_t i = 0; st == MAKI_OK && i < 6; i++)
            st = maki_wire_reply_add(reply, maki_str_of(event), &err);
        if (st == MAKI_OK) st = maki_wire_reply_end(reply, &result, &err);
        if (st == MAKI_OK) CHECK_EQ(result.rows[0].len, 33 + 6 * 16000);
        maki_wire_reply_close(reply);
        bool failed = fake_files_failed(&fe);
        if (st != MAKI_OK) CHECK_STATUS(st, MAKI_FULL, &err);
        CHECK(st == MAKI_OK || failed);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        CHECK_EQ(fake_files_live(&fe), 0);
        if (!failed) break;
    }
}

/* An event that is too long for memory is skipped; those after it are read. */
static void test_long_event(void)
{
    static const char after[] =
        "\"}]}\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"after\"}}]}\n\ndata: [DONE]\n\n";
    static char some[1 << 20];
    maki_env env = maki_env_system();
    maki_wire_reply *reply = NULL;
    maki_wire_result result;
    maki_err err = { 0 };
    tap_row("an event of 40 MB is skipped");
    memset(some, 'x', sizeof some);
    CHECK_STATUS(maki_wire_reply_open(&env, MAKI_WIRE_CHAT, 200, MAKI_LIT("text/event-stream"),
                                      &reply, &err),
                 MAKI_OK, &err);
    CHECK_STATUS(maki_wire_reply_add(reply, maki_str_of(delta), &err), MAKI_OK, &err);
    CHECK_STATUS(maki_wire_reply_add(reply, MAKI_LIT("data: {\"choices\":[{\"a\":\""), &err),
                 MAKI_OK, &err);
    for (size_t i = 0; i < 40; i++)
        CHECK_STATUS(maki_wire_reply_add(reply, (maki_str){ some, sizeof some }, &err), MAKI_OK,
                     &err);
    CHECK_STATUS(maki_wire_reply_add(reply, maki_str_of(after), &err), MAKI_OK, &err);
    CHECK_STATUS(maki_wire_reply_end(reply, &result, &err), MAKI_OK, &err);
    CHECK(result.invalid && result.complete);
    if (CHECK_EQ(result.row_count, 1))
        CHECK_STR(result.rows[0], "{\"role\":\"assistant\",\"content\":\"日本語 text after\"}");
    maki_wire_reply_close(reply);
}

int main(void)
{
    maki_env env = maki_env_system();
    for (size_t i = 0; i < COUNT(rows); i++) {
        tap_row("%s", rows[i].name);
        run(&env, &rows[i], 1 << 20);
        tap_row("%s, byte by byte", rows[i].name);
        run(&env, &rows[i], 1);
        run(&env, &rows[i], 7);
        tap_row("%s, without memory", rows[i].name);
        run_without_memory(&rows[i]);
    }
    test_rest();
    test_long();
    test_files();
    test_long_event();
    return tap_end();
}
