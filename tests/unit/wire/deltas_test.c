/* deltas_test.c -- the deltas of streamed replies, in the formats of real servers. */
#include <stdio.h>

#include "base/str_util.h"
#include "fake_env.h"
#include "reply_dump.h"
#include "tap.h"

enum { MOST = 1 << 16 };

/* Pieces as text: t text, r reasoning, c a call (name, id), i its input; the number is the call's. */
/* clang-format off */
#define CHUNK(delta) "{'choices':[{'index':0,'delta':" delta "}]}\n"
#define BLOCK(i, block) "{'type':'content_block_start','index':" i ",'content_block':" block "}\n"
#define DELTA(i, delta) "{'type':'content_block_delta','index':" i ",'delta':" delta "}\n"

static const struct delta_row { const char *name; maki_protocol protocol; reply_form form; const char *sent, *want; } rows[] = {
    { "anthropic: thinking, text, two calls", MAKI_WIRE_ANTHROPIC, EVENTS,
      BLOCK("0", "{'type':'thinking','thinking':''}") DELTA("0", "{'type':'thinking_delta','thinking':'hm'}") DELTA("0", "{'type':'signature_delta','signature':'s'}")
      BLOCK("1", "{'type':'text','text':'海'}") DELTA("1", "{'type':'text_delta','text':'苔'}")
      BLOCK("2", "{'type':'tool_use','id':'a','name':'read','input':{}}") DELTA("2", "{'type':'input_json_delta','partial_json':''}")
      DELTA("2", "{'type':'input_json_delta','partial_json':'{}'}")
      BLOCK("3", "{'type':'tool_use','id':'b','name':'write','input':{}}") DELTA("3", "{'type':'input_json_delta','partial_json':'{1'}"),
      "r'hm' t'海' t'苔' c0'read'#'a' i0'{}' c1'write'#'b' i1'{1' " },
    { "anthropic: whole", MAKI_WIRE_ANTHROPIC, WHOLE,
      "{'type':'message','content':[{'type':'thinking','thinking':'hm'},{'type':'text','text':'海苔'},{'type':'tool_use','id':'a','name':'read','input':{'n':1}}]}",
      "r'hm' t'海苔' c0'read'#'a' i0{'n':1} " },
    { "chat: reasoning, text, a refusal", MAKI_WIRE_CHAT, EVENTS,
      CHUNK("{'role':'assistant','content':''}") CHUNK("{'reasoning_content':'hm'}") CHUNK("{'reasoning':'again'}")
      CHUNK("{'reasoning':'x','reasoning_content':'x'}") CHUNK("{'content':'海苔'}") CHUNK("{'refusal':'no'}"),
      "r'hm' r'again' r'x' t'海苔' t'no' " },
    { "chat: content in blocks", MAKI_WIRE_CHAT, EVENTS, CHUNK("{'content':[{'type':'text','text':'a'},{'type':'x','n':1}]}"), "t'a' " },
    { "chat: calls in pieces", MAKI_WIRE_CHAT, EVENTS,
      CHUNK("{'tool_calls':[{'index':0,'id':'a','type':'function','function':{'name':'read','arguments':''}}]}")
      CHUNK("{'tool_calls':[{'index':0,'function':{'arguments':'{1'}},{'index':1,'id':'b','function':{'name':'write','arguments':'{2'}}]}")
      CHUNK("{'tool_calls':[{'index':0,'id':'a','function':{'name':'','arguments':'}'}}]}"),
      "c0'read'#'a' i0'{1' c1'write'#'b' i1'{2' i0'}' " },
    { "chat: calls that all have the index 0", MAKI_WIRE_CHAT, EVENTS,
      CHUNK("{'tool_calls':[{'index':0,'id':'a','function':{'name':'read','arguments':'{}'}}]}")
      CHUNK("{'tool_calls':[{'index':0,'id':'b','function':{'name':'read','arguments':'[]'}}]}"),
      "c0'read'#'a' i0'{}' c1'read'#'b' i1'[]' " },
    { "chat: the call of the older API", MAKI_WIRE_CHAT, EVENTS,
      CHUNK("{'function_call':{'name':'read','arguments':''}}") CHUNK("{'function_call':{'arguments':'{}'}}"), "c0'read' i0'{}' " },
    { "chat: whole", MAKI_WIRE_CHAT, WHOLE,
      "{'choices':[{'message':{'role':'assistant','content':'海','reasoning':'hm','tool_calls':[{'id':'a','function':{'name':'read','arguments':'{}'}}]}}]}",
      "r'hm' t'海' c0'read'#'a' i0'{}' " },
    { "responses: reasoning, text, a call", MAKI_WIRE_RESPONSES, EVENTS,
      "{'type':'response.output_item.added','output_index':0,'item':{'type':'reasoning','summary':[]}}\n"
      "{'type':'response.reasoning_summary_text.delta','output_index':0,'delta':'hm'}\n"
      "{'type':'response.output_item.added','output_index':1,'item':{'type':'message','role':'assistant','content':[]}}\n"
      "{'type':'response.output_text.delta','output_index':1,'delta':'海苔'}\n"
      "{'type':'response.output_item.added','output_index':2,'item':{'type':'function_call','call_id':'a','name':'read','arguments':''}}\n"
      "{'type':'response.function_call_arguments.delta','output_index':2,'delta':'{}'}\n"
      "{'type':'response.output_item.done','output_index':2,'item':{'type':'function_call','call_id':'a','name':'read','arguments':'{}'}}\n",
      "r'hm' t'海苔' c0'read'#'a' i0'{}' " },
    { "responses: whole", MAKI_WIRE_RESPONSES, WHOLE,
      "{'output':[{'type':'reasoning','summary':[{'type':'summary_text','text':'hm'}]},{'type':'message','role':'assistant','content':[{'type':'output_text','text':'海'}]},"
      "{'type':'function_call','call_id':'a','name':'read','arguments':'{}'}]}",
      "r'hm' t'海' c0'read'#'a' i0'{}' " },
    { "ollama", MAKI_WIRE_OLLAMA, LINES,
      "{'message':{'role':'assistant','content':'','thinking':'hm'}}\n{'message':{'content':'海'}}\n"
      "{'message':{'content':'','tool_calls':[{'function':{'name':'read','arguments':{'n':1}}},{'function':{'name':'read','arguments':{}}}]}}\n",
      "r'hm' t'海' c0'read' i0{'n':1} c1'read' i1{} " },
    { "generate", MAKI_WIRE_GENERATE, LINES, "{'response':'','thinking':'hm'}\n{'response':'海'}\n", "r'hm' t'海' " },
    { "gemini", MAKI_WIRE_GEMINI, EVENTS,
      "{'candidates':[{'content':{'parts':[{'text':'hm','thought':true},{'text':'海'}]}}]}\n"
      "{'candidates':[{'content':{'parts':[{'functionCall':{'name':'read','args':{'n':1}}}]}}]}\n",
      "r'hm' t'海' c0'read' i0{'n':1} " },
    { "values of the wrong kind say nothing", MAKI_WIRE_CHAT, EVENTS,
      CHUNK("{'content':5,'refusal':[],'tool_calls':[{'function':{'name':7,'arguments':8}},9,{'function':'x'}]}"), "" },
};
/* clang-format on */

static maki_status on_delta(void *ctx, const maki_wire_delta *delta, maki_err *err)
{
    maki_buf *out = ctx;
    char number[16] = "";
    (void)err;
    if (delta->kind >= MAKI_DELTA_CALL)
        snprintf(number, sizeof number, "%u", (unsigned)delta->call);
    maki_buf_add_byte(out, "trci"[delta->kind]);
    maki_buf_add(out, maki_str_of(number));
    maki_buf_add(out, delta->value);
    if (delta->id.len) maki_buf_add_byte(out, '#');
    maki_buf_add(out, delta->id);
    maki_buf_add_byte(out, ' ');
    return MAKI_OK;
}

static maki_status run(const maki_env *env, const struct delta_row *row, maki_str bytes,
                       size_t step, maki_buf *out, maki_err *err)
{
    static const maki_str types[] = { { "text/event-stream", 17 },
                                      { "text/event-stream", 17 },
                                      { "application/x-ndjson", 20 },
                                      { "application/json", 16 } };
    maki_wire_reply *reply = NULL;
    maki_wire_result result;
    maki_status st = maki_wire_reply_open(env, row->protocol, 200, types[row->form], &reply, err);
    if (st == MAKI_OK) maki_wire_reply_on_delta(reply, on_delta, out);
    for (size_t at = 0; st == MAKI_OK && at < bytes.len; at += step) {
        size_t some = bytes.len - at < step ? bytes.len - at : step;
        st = maki_wire_reply_add(reply, (maki_str){ bytes.ptr + at, some }, err);
    }
    if (st == MAKI_OK) st = maki_wire_reply_end(reply, &result, err);
    maki_wire_reply_close(reply);
    return st;
}

int main(void)
{
    fake_env fe;
    maki_err err;
    fake_env_init(&fe);
    maki_buf sent = maki_buf_new(fe.env.alloc, MOST), want = sent, got = sent;
    for (size_t i = 0; i < COUNT(rows); i++) {
        maki_str bytes = reply_bytes(&sent, rows[i].form, rows[i].sent);
        maki_str wanted = quotes(&want, rows[i].want);
        for (size_t step = 1; step <= bytes.len;
             step = step < 3 ? step + 1 : bytes.len + step / 3) {
            tap_row("%s, %zu bytes at a time", rows[i].name, step);
            maki_buf_clear(&got);
            CHECK_STATUS(run(&fe.env, &rows[i], bytes, step, &got, &err), MAKI_OK, &err);
            CHECK_TEXT(maki_buf_str(&got), wanted);
        }
    }
    maki_buf_free(&sent);
    maki_buf_free(&want);
    maki_buf_free(&got);
    return tap_end();
}
