/* import_test.c -- importing every format, with the irregularities of real files.
 *
 * Sources and expected texts are JSON with ' for ". */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "exchange.h"
#include "fake_env.h"

static maki_str q(const char *text, char *out, size_t capacity)
{
    size_t n = strlen(text);
    if (n >= capacity) abort();
    for (size_t i = 0; i <= n; i++)
        out[i] = text[i] == '\'' ? '"' : text[i];
    return (maki_str){ out, n };
}

typedef struct import_row {
    const char *name;
    const char *source;
    const char *format;
    uint64_t messages, events, skipped, other;
    const char *view; /* what the model sees afterwards */
} import_row;

static const import_row rows[] = {
    { "lines: a message each, kept to the byte",
      "{'role':'user','content':'こんにちは'}\n{ 'content' : [ ] ,\t'role':'assistant', 'x': 1e2}\n",
      "lines", 2, 1, 0, 0,
      "[{'role':'user','content':'こんにちは'},{ 'content' : [ ] ,\t'role':'assistant', 'x': 1e2}]" },
    { "lines: byte order mark, CRLF, empty lines, no last newline",
      "\xEF\xBB\xBF{'role':'user','content':'a'}\r\n\r\n   \n{'role':'assistant','content':'b'}",
      "lines", 2, 1, 0, 0, "[{'role':'user','content':'a'},{'role':'assistant','content':'b'}]" },
    { "lines: broken ones in the middle and a torn last one are skipped",
      "{'role':'user','content':'a'}\n{'role':'user','content':\nnot json\n{'content':'no role'}\n"
      "[1]\n{'role':'assistant','content':'b'}\n{'role':'user','conte",
      "lines", 2, 1, 5, 0, "[{'role':'user','content':'a'},{'role':'assistant','content':'b'}]" },
    { "seed: rows after a header",
      "{'type':'header','version':1,'sessionId':'s'}\n"
      "{'role':'user','content':'hi','createdAt':1700000000000,'meta':{'sender':'u'}}\n",
      "seed", 1, 1, 0, 1,
      "[{'role':'user','content':'hi','createdAt':1700000000000,'meta':{'sender':'u'}}]" },
    { "openai: an array, pretty-printed",
      "[\n  {\n    'role': 'system',\n    'content': 'be brief'\n  },\n  {'role':'user','content':"
      "[{'type':'image_url','image_url':{'url':'data:image/png;base64,AA=='}}]}\n]\n",
      "openai", 2, 1, 0, 0,
      "[{     'role': 'system',     'content': 'be brief'   },{'role':'user','content':"
      "[{'type':'image_url','image_url':{'url':'data:image/png;base64,AA=='}}]}]" },
    { "openai: a body",
      "{'model':'gpt-4o','messages':[{'role':'user','content':'x'},{'role':'assistant','content':null,"
      "'tool_calls':[{'id':'c1','type':'function','function':{'name':'f','arguments':'{}'}}]},"
      "{'role':'tool','tool_call_id':'c1','content':'y'}],'stream':true}",
      "openai", 3, 1, 0, 0,
      "[{'role':'user','content':'x'},{'role':'assistant','content':null,"
      "'tool_calls':[{'id':'c1','type':'function','function':{'name':'f','arguments':'{}'}}]},"
      "{'role':'tool','tool_call_id':'c1','content':'y'}]" },
    { "openai: a body of the Responses API",
      "{'instructions':'be kind','input':[{'type':'message','role':'user','content':[{'type':"
      "'input_text','text':'x'}]},{'type':'function_call','call_id':'c','name':'f','arguments':'{}'},"
      "{'type':'function_call_output','call_id':'c','output':'z'}]}",
      "openai", 4, 1, 0, 0,
      "[{'role':'system','content':'be kind'},{'type':'message','role':'user','content':[{'type':"
      "'input_text','text':'x'}]},{'role':'assistant','content':null,'tool_calls':[{'id':'c','type':"
      "'function','function':{'name':'f','arguments':'{}'}}],'original':{'type':'function_call'}},"
      "{'role':'tool','tool_call_id':'c','content':'z','original':{'type':'function_call_output'}}]" },
    { "openai: elements that are no messages are skipped, a torn array is read as far as it goes",
      "[{'role':'user','content':'a'},7,'x',{'content':1},{'role':'user','content':[}],"
      "{'role':'tool','tool_call_id':'c','content':'b'},{'role':'user','con",
      "openai", 2, 1, 5, 0,
      "[{'role':'user','content':'a'},{'role':'tool','tool_call_id':'c','content':'b'}]" },
    { "openai: an empty array", "[]", "openai", 0, 1, 0, 0, "[]" },
    { "anthropic: a body whose system comes last",
      "{'model':'claude','max_tokens':5,'messages':[{'role':'user','content':[{'type':'text','text':"
      "'Привет'},{'type':'image','source':{'type':'base64','media_type':'image/png','data':'AA=='}}]},"
      "{'role':'assistant','content':[{'type':'thinking','thinking':'t','signature':'s'},{'type':"
      "'tool_use','id':'t1','name':'f','input':{}}]},{'role':'user','content':[{'type':'tool_result',"
      "'tool_use_id':'t1','content':'r'}]}],'system':[{'type':'text','text':'be brief'}]}",
      "anthropic", 4, 1, 0, 0,
      "[{'role':'system','content':[{'type':'text','text':'be brief'}]},{'role':'user','content':"
      "[{'type':'text','text':'Привет'},{'type':'image','source':{'type':'base64','media_type':"
      "'image/png','data':'AA=='}}]},{'role':'assistant','content':[{'type':'thinking','thinking':'t',"
      "'signature':'s'},{'type':'tool_use','id':'t1','name':'f','input':{}}]},{'role':'user','content':"
      "[{'type':'tool_result','tool_use_id':'t1','content':'r'}]}]" },
    { "anthropic: an array with tool blocks",
      "[{'role':'assistant','content':[{'type':'tool_use','id':'t','name':'f','input':{}}]}]",
      "anthropic", 1, 1, 0, 0,
      "[{'role':'assistant','content':[{'type':'tool_use','id':'t','name':'f','input':{}}]}]" },
    { "roo: a summary hides what is tagged with it",
      "[{'role':'user','content':'a','ts':1},{'role':'assistant','content':'b','ts':2,"
      "'condenseParent':'C'},{'role':'user','condenseParent':'C','content':'c','ts':3},"
      "{'role':'assistant','content':'S','ts':4,'isSummary':true,'condenseId':'C'},"
      "{'role':'user','content':'d','ts':5}]",
      "roo", 4, 2, 0, 0,
      "[{'role':'user','content':'a','ts':1},{'role':'assistant','content':'S','ts':4,'isSummary':true,"
      "'condenseId':'C'},{'role':'user','content':'d','ts':5}]" },
    { "pi: header, calls, results, images, settings",
      "{'type':'session','version':3,'id':'s','timestamp':'2026-01-01T00:00:00.000Z','cwd':'/x'}\n"
      "{'type':'model_change','id':'m','parentId':null,'provider':'p','modelId':'q'}\n"
      "{'type':'message','id':'a','parentId':'m','timestamp':'T','message':{'role':'user','content':"
      "[{'type':'text','text':'look'},{'type':'image','data':'AA==','mimeType':'image/png'}],"
      "'timestamp':5}}\n"
      "{'type':'message','id':'b','parentId':'a','timestamp':'T','message':{'role':'assistant',"
      "'content':[{'type':'thinking','thinking':'hm'},{'type':'toolCall','id':'c1','name':'ls',"
      "'arguments':{'p':1}}],'stopReason':'toolUse'}}\n"
      "{'type':'message','id':'c','parentId':'b','message':{'role':'toolResult','toolCallId':'c1',"
      "'toolName':'ls','content':[{'type':'text','text':'ok'}],'isError':false}}\n"
      "{'type':'message','id':'d','parentId':'c','message':{'role':'bashExecution','command':'ls',"
      "'output':'x','exitCode':0}}\n",
      "pi", 4, 1, 0, 2,
      "[{'role':'user','content':[{'type':'text','text':'look'},{'type':'image','source':{'type':"
      "'base64','media_type':'image/png','data':'AA=='}}],'timestamp':5,'original':{'type':'message',"
      "'id':'a','parentId':'m','timestamp':'T'}},"
      "{'role':'assistant','content':[{'type':'thinking','thinking':'hm'},{'type':'tool_use','id':'c1',"
      "'name':'ls','input':{'p':1}}],'stopReason':'toolUse','original':{'type':'message','id':'b',"
      "'parentId':'a','timestamp':'T'}},"
      "{'role':'tool','tool_call_id':'c1','content':[{'type':'text','text':'ok'}],'toolName':'ls',"
      "'isError':false,'original':{'type':'message','id':'c','parentId':'b','role':'toolResult'}},"
      "{'role':'user','content':'$ ls\\nx','command':'ls','output':'x','exitCode':0,'original':{'type':"
      "'message','id':'d','parentId':'c','role':'bashExecution'}}]" },
    { "pi: the last compaction counts, what it keeps stays",
      "{'type':'session','version':3,'id':'s'}\n"
      "{'type':'message','id':'1','parentId':null,'message':{'role':'user','content':'a'}}\n"
      "{'type':'message','id':'2','parentId':'1','message':{'role':'assistant','content':'b'}}\n"
      "{'type':'compaction','id':'3','parentId':'2','summary':'S1','firstKeptEntryId':'2'}\n"
      "{'type':'message','id':'4','parentId':'3','message':{'role':'user','content':'c'}}\n"
      "{'type':'compaction','id':'5','parentId':'4','summary':'S2','firstKeptEntryId':'4'}\n"
      "{'type':'message','id':'6','parentId':'5','message':{'role':'assistant','content':'d'}}\n",
      "pi", 4, 3, 0, 1,
      "[{'role':'user','content':'<summary>\\nS2\\n</summary>','isSummary':true,'condenseId':'5',"
      "'original':{'type':'compaction','id':'5','parentId':'4','firstKeptEntryId':'4'}},"
      "{'role':'user','content':'c','original':{'type':'message','id':'4','parentId':'3'}},"
      "{'role':'assistant','content':'d','original':{'type':'message','id':'6','parentId':'5'}}]" },
    { "pi: a branch leaves the other one out, and a return brings it back",
      "{'type':'session','version':3,'id':'s'}\n"
      "{'type':'message','id':'1','parentId':null,'message':{'role':'user','content':'a'}}\n"
      "{'type':'message','id':'2','parentId':'1','message':{'role':'assistant','content':'b'}}\n"
      "{'type':'message','id':'3','parentId':'2','message':{'role':'user','content':'c'}}\n"
      "{'type':'message','id':'4','parentId':'1','message':{'role':'assistant','content':'b2'}}\n"
      "{'type':'label','id':'5','parentId':'3','targetId':'1','label':'x'}\n"
      "{'type':'message','id':'6','parentId':'5','message':{'role':'assistant','content':'d'}}\n",
      "pi", 5, 3, 0, 2,
      "[{'role':'user','content':'a','original':{'type':'message','id':'1','parentId':null}},"
      "{'role':'assistant','content':'b','original':{'type':'message','id':'2','parentId':'1'}},"
      "{'role':'user','content':'c','original':{'type':'message','id':'3','parentId':'2'}},"
      "{'role':'assistant','content':'d','original':{'type':'message','id':'6','parentId':'5'}}]" },
    { "pi: the leaf is the last line, whatever it is",
      "{'type':'session','version':3,'id':'s'}\n"
      "{'type':'message','id':'1','parentId':null,'message':{'role':'user','content':'a'}}\n"
      "{'type':'message','id':'2','parentId':'1','message':{'role':'assistant','content':'b'}}\n"
      "{'type':'branch_summary','id':'3','parentId':'1','fromId':'2','summary':'went wrong'}\n"
      "{'type':'custom_message','id':'4','parentId':'3','customType':'x','content':'note'}\n"
      "{'type':'custom','id':'5','parentId':'3','customType':'y','data':{}}\n",
      "pi", 4, 3, 0, 2,
      "[{'role':'user','content':'a','original':{'type':'message','id':'1','parentId':null}},"
      "{'role':'user','content':'<summary>\\nwent wrong\\n</summary>','original':{'type':"
      "'branch_summary','id':'3','parentId':'1','fromId':'2'}}]" },
    { "claude: titles and snapshots aside, calls side by side, the line around a message kept",
      "{'type':'summary','summary':'Title','leafUuid':'x'}\n"
      "{'type':'file-history-snapshot','messageId':'m'}\n"
      "{'type':'user','uuid':'u1','parentUuid':null,'isSidechain':false,'sessionId':'s','timestamp':"
      "'2026-01-01T00:00:00Z','message':{'role':'user','content':'go'}}\n"
      "{'type':'assistant','uuid':'a1','parentUuid':'u1','message':{'id':'m1','role':'assistant',"
      "'content':[{'type':'tool_use','id':'t1','name':'R','input':{}}]}}\n"
      "{'type':'assistant','uuid':'a2','parentUuid':'a1','message':{'id':'m1','role':'assistant',"
      "'content':[{'type':'tool_use','id':'t2','name':'R','input':{}}]}}\n"
      "{'type':'user','uuid':'r1','parentUuid':'a1','message':{'role':'user','content':[{'type':"
      "'tool_result','tool_use_id':'t1','content':'1'}]},'toolUseResult':'1'}\n"
      "{'type':'user','uuid':'r2','parentUuid':'a2','message':{'role':'user','content':[{'type':"
      "'tool_result','tool_use_id':'t2','content':'2'}]}}\n"
      "{'type':'system','uuid':'y','parentUuid':'r2','subtype':'turn_duration'}\n"
      "{'type':'assistant','uuid':'a3','parentUuid':'y','message':{'id':'m2','role':'assistant',"
      "'content':[{'type':'text','text':'done'}]}}\n",
      "claude", 6, 1, 0, 3,
      "[{'role':'user','content':'go','timestamp':'2026-01-01T00:00:00Z','original':{'type':'user',"
      "'uuid':'u1','parentUuid':null,'isSidechain':false,'sessionId':'s','timestamp':"
      "'2026-01-01T00:00:00Z'}},"
      "{'id':'m1','role':'assistant','content':[{'type':'tool_use','id':'t1','name':'R','input':{}}],"
      "'original':{'type':'assistant','uuid':'a1','parentUuid':'u1'}},"
      "{'id':'m1','role':'assistant','content':[{'type':'tool_use','id':'t2','name':'R','input':{}}],"
      "'original':{'type':'assistant','uuid':'a2','parentUuid':'a1'}},"
      "{'role':'user','content':[{'type':'tool_result','tool_use_id':'t1','content':'1'}],'original':"
      "{'type':'user','uuid':'r1','parentUuid':'a1','toolUseResult':'1'}},"
      "{'role':'user','content':[{'type':'tool_result','tool_use_id':'t2','content':'2'}],'original':"
      "{'type':'user','uuid':'r2','parentUuid':'a2'}},"
      "{'id':'m2','role':'assistant','content':[{'type':'text','text':'done'}],'original':{'type':"
      "'assistant','uuid':'a3','parentUuid':'y'}}]" },
    { "claude: a compaction, an edited prompt and a sidechain",
      "{'type':'user','uuid':'1','parentUuid':null,'message':{'role':'user','content':'a'}}\n"
      "{'type':'assistant','uuid':'2','parentUuid':'1','message':{'role':'assistant','content':'b'}}\n"
      "{'type':'system','subtype':'compact_boundary','uuid':'3','parentUuid':null,"
      "'logicalParentUuid':'2'}\n"
      "{'type':'user','uuid':'4','parentUuid':'3','isCompactSummary':true,'message':{'role':'user',"
      "'content':'S'}}\n"
      "{'type':'assistant','uuid':'5','parentUuid':'4','message':{'role':'assistant','content':'c'}}\n"
      "{'type':'user','uuid':'6','parentUuid':'5','message':{'role':'user','content':'typo'}}\n"
      "{'type':'user','uuid':'7','parentUuid':'5','message':{'role':'user','content':'d'}}\n"
      "{'type':'user','uuid':'8','parentUuid':null,'isSidechain':true,'message':{'role':'user',"
      "'content':'sub'}}\n",
      "claude", 6, 5, 0, 1,
      "[{'role':'user','content':'S','original':{'type':'user','uuid':'4','parentUuid':'3',"
      "'isCompactSummary':true},'isSummary':true,'condenseId':'4'},"
      "{'role':'assistant','content':'c','original':{'type':'assistant','uuid':'5','parentUuid':'4'}},"
      "{'role':'user','content':'d','original':{'type':'user','uuid':'7','parentUuid':'5'}}]" },
    { "codex: messages, calls, outputs, reasoning, settings",
      "{'timestamp':'T0','type':'session_meta','payload':{'id':'s','cwd':'/x'}}\n"
      "{'timestamp':'T1','type':'response_item','payload':{'type':'message','role':'user','content':"
      "[{'type':'input_text','text':'안녕'},{'type':'input_image','image_url':'data:image/png;base64,A'"
      "}]}}\n"
      "{'timestamp':'T1','type':'event_msg','payload':{'type':'user_message','message':'안녕'}}\n"
      "{'timestamp':'T2','type':'response_item','payload':{'type':'reasoning','summary':[{'type':"
      "'summary_text','text':'hm'}],'encrypted_content':'zz'}}\n"
      "{'timestamp':'T3','type':'response_item','payload':{'type':'function_call','name':'shell',"
      "'arguments':'{\\'a\\':1}','call_id':'c1'}}\n"
      "{'timestamp':'T4','type':'response_item','payload':{'type':'function_call_output','call_id':"
      "'c1','output':'ok'}}\n"
      "{'timestamp':'T5','type':'response_item','payload':{'type':'local_shell_call','call_id':'c2',"
      "'action':{'type':'exec'}}}\n"
      "{'timestamp':'T6','type':'response_item','payload':{'type':'ghost_snapshot'}}\n",
      "codex", 5, 1, 0, 3,
      "[{'role':'user','content':[{'type':'text','text':'안녕'},{'type':'image_url','image_url':{'url':"
      "'data:image/png;base64,A'}}],'timestamp':'T1','original':{'timestamp':'T1','type':"
      "'response_item','payload':{'type':'message'}}},"
      "{'role':'assistant','content':[{'type':'reasoning','text':'hm'}],'timestamp':'T2','original':"
      "{'timestamp':'T2','type':'response_item','payload':{'type':'reasoning','encrypted_content':'zz'"
      "}}},"
      "{'role':'assistant','content':null,'tool_calls':[{'id':'c1','type':'function','function':{'name'"
      ":'shell','arguments':'{\\'a\\':1}'}}],'timestamp':'T3','original':{'timestamp':'T3','type':"
      "'response_item','payload':{'type':'function_call'}}},"
      "{'role':'tool','tool_call_id':'c1','content':'ok','timestamp':'T4','original':{'timestamp':'T4',"
      "'type':'response_item','payload':{'type':'function_call_output'}}},"
      "{'role':'assistant','content':null,'tool_calls':[{'id':'c2','type':'function','function':{'name'"
      ":'local_shell_call','arguments':'{\\'type\\':\\'exec\\'}'}}],'timestamp':'T5','original':"
      "{'timestamp':'T5','type':'response_item','payload':{'type':'local_shell_call'}}}]" },
    { "codex: a compaction hides all before it",
      "{'timestamp':'T0','type':'session_meta','payload':{'id':'s'}}\n"
      "{'timestamp':'T1','type':'response_item','payload':{'type':'message','role':'user','content':"
      "[]}}\n"
      "{'timestamp':'T2','type':'compacted','payload':{'message':'S'}}\n",
      "codex", 1, 2, 0, 1,
      "[{'role':'user','content':'S','timestamp':'T2','isSummary':true,'condenseId':'compacted-3',"
      "'original':{'timestamp':'T2','type':'compacted','payload':{}}}]" },
    { "opencode: a call and its result in one part become two rows",
      "{'info':{'id':'s','title':'t'},'messages':[{'info':{'role':'user','time':{'created':7}},'parts':"
      "[{'type':'text','text':'hi'},{'type':'file','mime':'image/png','url':'data:image/png;base64,A'}]}"
      ",{'info':{'role':'assistant'},'parts':[{'type':'step-start'},{'type':'reasoning','text':'hm'},"
      "{'type':'tool','callID':'c','tool':'ls','state':{'status':'completed','input':{'p':1},'output':"
      "'ok'}},{'type':'tool','callID':'d','tool':'ls','state':{'status':'error','input':{},'error':"
      "'no'}},{'type':'text','text':'done'}]}]}",
      "opencode", 4, 1, 0, 0,
      "[{'role':'user','content':[{'type':'text','text':'hi'},{'type':'image_url','image_url':{'url':"
      "'data:image/png;base64,A'}}],'ts':7,'original':{'info':{'role':'user','time':{'created':7}},"
      "'parts':[{'type':'text','text':'hi'},{'type':'file','mime':'image/png','url':"
      "'data:image/png;base64,A'}]}},"
      "{'role':'assistant','content':[{'type':'reasoning','text':'hm'},{'type':'tool_use','id':'c',"
      "'name':'ls','input':{'p':1}},{'type':'tool_use','id':'d','name':'ls','input':{}}],'original':"
      "{'info':{'role':'assistant'},'parts':[{'type':'step-start'},{'type':'reasoning','text':'hm'},"
      "{'type':'tool','callID':'c','tool':'ls','state':{'status':'completed','input':{'p':1},'output':"
      "'ok'}},{'type':'tool','callID':'d','tool':'ls','state':{'status':'error','input':{},'error':"
      "'no'}},{'type':'text','text':'done'}]}},"
      "{'role':'user','content':[{'type':'tool_result','tool_use_id':'c','content':'ok'},{'type':"
      "'tool_result','tool_use_id':'d','content':'no','is_error':true}]},"
      "{'role':'assistant','content':[{'type':'text','text':'done'}]}]" },
};

/* Reopening the files gives the same view: everything is in the log. */
static void check_again(const directory *f, maki_str view)
{
    maki_env env = maki_env_system();
    maki_conv *conv = NULL;
    maki_err err = { 0 };
    maki_conv_options options = { .read_only = true };
    maki_buf out = maki_buf_new(env.alloc, 1 << 24);
    CHECK_STATUS(maki_conv_open(&env, directory_file(f, "in.jsonl"), &options, &conv, &err),
                 MAKI_OK, &err);
    if (conv) CHECK_STATUS(exchange_view(conv, &out, &err), MAKI_OK, &err);
    CHECK_TEXT(maki_buf_str(&out), view);
    maki_conv_close(conv);
    maki_buf_free(&out);
}

static void test_formats(void)
{
    static char source[1 << 14], want[1 << 14];
    maki_env env = maki_env_system();
    for (size_t i = 0; i < COUNT(rows); i++) {
        const import_row *r = &rows[i];
        directory f;
        maki_conv *conv = NULL;
        maki_import_report report;
        maki_err err = { 0 };
        maki_buf out = maki_buf_new(env.alloc, 1 << 24);
        maki_str view = q(r->view, want, sizeof want);
        tap_row("%s", r->name);
        directory_open(&f);
        maki_str text = q(r->source, source, sizeof source);
        for (size_t k = 0; k + 1 < text.len; k++) { /* \' inside strings is \" */
            if (source[k] == '\\' && source[k + 1] == '\'') source[k + 1] = '"';
        }
        maki_status st = exchange_in(&env, &f, "source", text, NULL, &conv, &report, &err);
        CHECK_STATUS(st, MAKI_OK, &err);
        CHECK_CSTR(report.format, r->format);
        CHECK_EQ(report.messages, r->messages);
        CHECK_EQ(report.events, r->events);
        CHECK_EQ(report.skipped, r->skipped);
        CHECK_EQ(report.other, r->other);
        if (st == MAKI_OK) {
            CHECK_STATUS(exchange_view(conv, &out, &err), MAKI_OK, &err);
            CHECK_TEXT(maki_buf_str(&out), view);
        }
        maki_conv_close(conv);
        if (st == MAKI_OK) check_again(&f, view);
        maki_buf_free(&out);
        directory_close(&f);
    }
}

static void test_unknown(void)
{
    static const struct {
        const char *name, *source, *words;
    } unknown[] = {
        { "an empty file is no format", "", "empty" },
        { "white space is none", " \n\n", "empty" },
        { "text is none", "hello\nworld\n", "not JSON" },
        { "other objects are named by their fields", "{\"level\":1,\"msg\":\"x\"}\n",
          "level, msg" },
        { "an array of numbers", "[1,2]", "elements are not messages" },
        { "binary",
          "\x7f"
          "ELF\x01\x02",
          "not JSON" },
        { "an object without messages", "{\"messages\":5}", "messages" },
    };
    maki_env env = maki_env_system();
    for (size_t i = 0; i < COUNT(unknown); i++) {
        directory f;
        maki_conv *conv = NULL;
        maki_import_report report;
        maki_err err = { 0 };
        tap_row("unknown: %s", unknown[i].name);
        directory_open(&f);
        CHECK_STATUS(exchange_in(&env, &f, "source", maki_str_of(unknown[i].source), NULL, &conv,
                                 &report, &err),
                     MAKI_UNSUPPORTED, &err);
        CHECK(strstr(err.msg, unknown[i].words) != NULL);
        CHECK(strstr(err.msg, "the formats are") != NULL);
        maki_conv_close(conv);
        directory_close(&f);
    }
}

/* ---- reports ---------------------------------------------------------------------------------------- */

typedef struct told {
    uint64_t lines[8];
    size_t count;
    uint64_t done, total, messages;
    maki_status answer;
} told;

static void on_skip(void *ctx, uint64_t line, const char *why)
{
    told *t = ctx;
    if (t->count < 8 && why[0]) t->lines[t->count++] = line;
}

static maki_status on_progress(void *ctx, uint64_t done, uint64_t total, uint64_t messages)
{
    told *t = ctx;
    CHECK(done >= t->done && done <= total && messages >= t->messages);
    t->done = done;
    t->total = total;
    t->messages = messages;
    return t->answer;
}

static void test_told(void)
{
    maki_env env = maki_env_system();
    directory f;
    maki_conv *conv = NULL;
    maki_import_report report;
    maki_err err = { 0 };
    told t = { 0 };
    maki_import_options options = { .skipped = on_skip, .progress = on_progress, .ctx = &t };
    maki_buf source = maki_buf_new(env.alloc, 1 << 26);
    for (int i = 0; i < 5000; i++) {
        maki_buf_add(&source, MAKI_LIT("{\"role\":\"user\",\"content\":\""));
        for (int k = 0; k < 12; k++)
            maki_buf_add(&source, MAKI_LIT("all work and no play "));
        maki_buf_add(&source, i == 41 ? MAKI_LIT("broken\n") : MAKI_LIT("\"}\n"));
    }
    maki_buf_add(&source, MAKI_LIT("{\"role\":"));
    tap_row("skipped lines are reported by number, progress grows to the end");
    directory_open(&f);
    maki_status st =
        exchange_in(&env, &f, "source", maki_buf_str(&source), &options, &conv, &report, &err);
    CHECK_STATUS(st, MAKI_OK, &err);
    CHECK_EQ(report.messages, 4999);
    CHECK_EQ(report.skipped, 2);
    CHECK_EQ(report.skipped_at[0], 42);
    CHECK_EQ(report.skipped_at[1], 5001);
    CHECK_EQ(t.count, 2);
    CHECK_EQ(t.lines[1], 5001);
    CHECK_EQ(t.done, source.len);
    CHECK_EQ(t.messages, 4999);
    maki_conv_close(conv);
    directory_close(&f);

    tap_row("the progress callback can stop the import");
    directory_open(&f);
    t = (told){ .answer = MAKI_CANCELLED };
    st = exchange_in(&env, &f, "source", maki_buf_str(&source), &options, &conv, &report, &err);
    CHECK_STATUS(st, MAKI_CANCELLED, &err);
    maki_conv_close(conv);
    directory_close(&f);

    tap_row("a synced log can be imported into; a conversation with messages is refused");
    directory_open(&f);
    maki_conv_options synced = { .create = true };
    directory_write(directory_file(&f, "source"), maki_buf_str(&source));
    char path[300];
    snprintf(path, sizeof path, "%s", directory_file(&f, "source"));
    CHECK_STATUS(maki_conv_open(&env, directory_file(&f, "in.jsonl"), &synced, &conv, &err),
                 MAKI_OK, &err);
    CHECK_STATUS(maki_import(&env, path, conv, NULL, &report, &err), MAKI_OK, &err);
    CHECK_EQ(report.messages, 4999);
    CHECK_STATUS(maki_import(&env, path, conv, NULL, &report, &err), MAKI_INVALID, &err);
    maki_conv_close(conv);
    directory_close(&f);
    maki_buf_free(&source);
}

/* The field that decides the format is far from the beginning. */
static void test_far(void)
{
    static const struct {
        const char *name, *before, *after;
        size_t long_text;
        const char *format;
        uint64_t messages;
    } far[] = {
        { "tags after a hundred messages", "[%",
          ",{'role':'user','content':'x','condenseParent':'C'},"
          "{'role':'assistant','content':'S','isSummary':true,'condenseId':'C'}]",
          0, "roo", 101 },
        { "a role after a long content", "{'content':'@", "','role':'user'}\n", 3 << 20, "lines",
          1 },
        { "an array whose first role comes late", "[{'content':'@", "','role':'user'}]", 3 << 20,
          "openai", 1 },
        { "a body with a long system prompt first", "{'system':'@",
          "','messages':[{'role':'user','content':'x'}]}", 3 << 20, "anthropic", 2 },
    };
    maki_env env = maki_env_system();
    for (size_t i = 0; i < COUNT(far); i++) {
        static char before[200], after[400];
        directory f;
        maki_conv *conv = NULL;
        maki_import_report report;
        maki_err err = { 0 };
        maki_buf source = maki_buf_new(env.alloc, 1 << 24);
        maki_str start = q(far[i].before, before, sizeof before);
        char what = before[start.len - 1];
        tap_row("far from the beginning: %s", far[i].name);
        directory_open(&f);
        maki_buf_add(&source, maki_str_prefix(start, start.len - 1));
        for (int k = 0; what == '%' && k < 100; k++) {
            maki_buf_add(&source, k ? MAKI_LIT(",{\"role\":\"user\",\"content\":\"y\"}")
                                    : MAKI_LIT("{\"role\":\"user\",\"content\":\"y\"}"));
        }
        for (size_t k = 0; what == '@' && k < far[i].long_text; k++)
            maki_buf_add_byte(&source, 'a');
        maki_buf_add(&source, q(far[i].after, after, sizeof after));
        CHECK_STATUS(
            exchange_in(&env, &f, "source", maki_buf_str(&source), NULL, &conv, &report, &err),
            MAKI_OK, &err);
        CHECK_CSTR(report.format, far[i].format);
        CHECK_EQ(report.messages, far[i].messages);
        CHECK_EQ(report.skipped, 0);
        maki_conv_close(conv);
        maki_buf_free(&source);
        directory_close(&f);
    }
}

static void test_pipe(void)
{
    maki_env env = maki_env_system();
    static const maki_conv_options fresh = { .create = true, .durability = MAKI_DURABILITY_AT_END };
    directory f;
    maki_conv *conv = NULL;
    maki_import_report report;
    maki_err err = { 0 };
    int ends[2];
    char path[40];
    tap_row("a pipe is read to its end");
    directory_open(&f);
    if (!CHECK(pipe(ends) == 0)) return;
    maki_str text =
        MAKI_LIT("{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"system\":\"s\"}");
    CHECK(write(ends[1], text.ptr, text.len) == (ssize_t)text.len);
    close(ends[1]);
    CHECK_STATUS(maki_conv_open(&env, directory_file(&f, "in.jsonl"), &fresh, &conv, &err), MAKI_OK,
                 &err);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    CHECK_STATUS(maki_import(&env, path, conv, NULL, &report, &err), MAKI_OK, &err);
    CHECK_EQ(report.messages, 2);
    close(ends[0]);
    maki_conv_close(conv);
    directory_close(&f);
}

/* Long rows across blocks, with short reads. */
static void test_blocks(void)
{
    fake_env fe;
    maki_err err = { 0 };
    fake_env_init(&fe);
    for (int array = 0; array < 2; array++) {
        directory f;
        maki_conv *conv = NULL;
        maki_import_report report;
        maki_buf source = maki_buf_new(fe.env.alloc, 1 << 26), view = source;
        tap_row("rows larger than a block are imported unchanged: %s", array ? "array" : "lines");
        directory_open(&f);
        if (array) maki_buf_add_byte(&source, '[');
        for (int i = 0; i < 4; i++) {
            if (i) maki_buf_add_byte(&source, array ? ',' : '\n');
            maki_buf_add(&source, MAKI_LIT("{\"role\":\"user\",\"content\":\"\\\\\\\""));
            for (int k = 0; k < 40000 * i; k++)
                maki_buf_add(&source, MAKI_LIT("{日本語}[\\\"]"));
            maki_buf_add(&source, MAKI_LIT("\"}"));
        }
        if (array) maki_buf_add_byte(&source, ']');
        fake_files_short(&fe, 70001);
        fake_files_interrupt(&fe, 7);
        CHECK_STATUS(
            exchange_in(&fe.env, &f, "source", maki_buf_str(&source), NULL, &conv, &report, &err),
            MAKI_OK, &err);
        CHECK_EQ(report.messages, 4);
        CHECK_EQ(report.skipped, 0);
        if (conv) CHECK_STATUS(exchange_view(conv, &view, &err), MAKI_OK, &err);
        if (array)
            CHECK(maki_str_equal(maki_buf_str(&view), maki_buf_str(&source)));
        else
            CHECK_EQ(view.len, source.len + 2);
        maki_conv_close(conv);
        maki_buf_free(&source);
        maki_buf_free(&view);
        directory_close(&f);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        CHECK_EQ(fake_files_live(&fe), 0);
    }
}

/* Each allocation and each file call fails in turn. */
static void test_faults(void)
{
    static char source[1 << 14];
    static const size_t chosen[] = { 0, 9, 11, 13, 16, 18, 19 };
    for (size_t i = 0; i < COUNT(chosen); i++) {
        maki_str text = q(rows[chosen[i]].source, source, sizeof source);
        for (size_t k = 0; k + 1 < text.len; k++) {
            if (source[k] == '\\' && source[k + 1] == '\'') source[k + 1] = '"';
        }
        for (int files = 0; files < 2; files++) {
            tap_row("each %s fails: %s", files ? "call" : "allocation", rows[chosen[i]].name);
            for (size_t nth = 1;; nth++) {
                fake_env fe;
                directory f;
                maki_conv *conv = NULL;
                maki_import_report report;
                maki_err err = { 0 };
                fake_env_init(&fe);
                directory_open(&f);
                if (files)
                    fake_files_fail_at(&fe, nth, EIO);
                else
                    fake_alloc_fail_at(&fe, nth);
                maki_status st =
                    exchange_in(&fe.env, &f, "source", text, NULL, &conv, &report, &err);
                bool failed = files ? fake_files_failed(&fe) : fake_alloc_failed(&fe);
                maki_conv_close(conv);
                if (!files)
                    CHECK_STATUS(st, failed ? MAKI_NOMEM : MAKI_OK, &err);
                else if (!failed)
                    CHECK_STATUS(st, MAKI_OK, &err);
                CHECK_EQ(fake_alloc_live(&fe), 0);
                CHECK_EQ(fake_files_live(&fe), 0);
                directory_close(&f);
                if (!failed || nth > 2000) break;
            }
        }
    }
}

/* Random changes of bytes: always a result or an error, never a crash. */
static void test_noise(void)
{
    static const char *const formats[] = { NULL,   "roo", "openai", "anthropic", "lines",
                                           "seed", "pi",  "claude", "codex",     "opencode" };
    static char source[1 << 14];
    maki_env env = maki_env_system();
    tap_random random = { 7 };
    tap_row("sources with bytes randomly changed, removed and doubled");
    for (int turn = 0; turn < 1500; turn++) {
        directory f;
        maki_conv *conv = NULL;
        maki_import_report report = { 0 };
        maki_err err = { 0 };
        maki_str text = q(rows[tap_below(&random, COUNT(rows))].source, source, sizeof source);
        for (size_t n = tap_below(&random, 6); n > 0; n--) {
            static const char some[] = "{}[]\",:\\\n nu0\x80\xFF\x01";
            source[tap_below(&random, text.len)] = some[tap_below(&random, sizeof some)];
        }
        if (tap_below(&random, 3) == 0) text.len = tap_below(&random, text.len);
        maki_import_options options = { .format = formats[tap_below(&random, COUNT(formats))] };
        if (tap_below(&random, 2)) options.format = NULL;
        directory_open(&f);
        maki_status st = exchange_in(&env, &f, "source", text, &options, &conv, &report, &err);
        CHECK(st == MAKI_OK || st == MAKI_UNSUPPORTED);
        maki_buf out = maki_buf_new(env.alloc, 1 << 24);
        if (st == MAKI_OK) {
            maki_str value;
            CHECK_STATUS(exchange_view(conv, &out, &err), MAKI_OK, &err);
            CHECK_STATUS(maki_json_check(maki_buf_str(&out), &value, &err), MAKI_OK, &err);
            for (int format = 0; format < 4; format++) {
                maki_buf_clear(&out);
                CHECK_STATUS(maki_export(conv, MAKI_NEWEST, MAKI_NEWEST, (maki_export_format)format,
                                         maki_buf_sink(&out), &err),
                             MAKI_OK, &err);
                if (format == MAKI_EXPORT_LINES) continue;
                if (!CHECK_STATUS(maki_json_check(maki_buf_str(&out), &value, &err), MAKI_OK,
                                  &err)) {
                    printf("# format %d of %.*s\n", format, (int)text.len, text.ptr);
                }
            }
        }
        maki_buf_free(&out);
        maki_conv_close(conv);
        directory_close(&f);
    }
}

int main(void)
{
    test_formats();
    test_unknown();
    test_told();
    test_far();
    test_pipe();
    test_blocks();
    test_faults();
    test_noise();
    return tap_end();
}
