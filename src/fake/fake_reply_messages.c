/* fake_reply_messages.c -- format an answer for Anthropic's Messages API: one JSON object, or a stream of named
 * events, block by block. */
#include "fake/fake_reply.h"
#include "fake/fake_write.h"

static const maki_str signature = { "ZmFrZS1zaWduYXR1cmU=", 20 };

/* What was read from the cache is not part of input_tokens. */
static void write_usage(maki_buf *out, const fake_request *request, const fake_answer *answer,
                        int64_t output)
{
    fake_write(out,
               "{'input_tokens':%n,'cache_creation_input_tokens':0,'cache_read_input_tokens':%n,"
               "'output_tokens':%n,'service_tier':'standard'}",
               fake_input_tokens(request) - answer->cached, answer->cached, output);
}

static maki_str stop_reason(const fake_answer *answer)
{
    return answer->tool.len ? MAKI_LIT("tool_use") : MAKI_LIT("end_turn");
}

static void write_body(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    fake_write(out, "{'id':'msg_%x','type':'message','role':'assistant','model':%t,'content':[",
               request->seed, request->model);
    if (answer->reasoning.len) {
        fake_write(out, "{'type':'thinking','thinking':%t,'signature':%t},", answer->reasoning,
                   signature);
    }
    fake_write(out, "{'type':'text','text':%t}", answer->text);
    if (answer->tool.len) {
        fake_write(out, ",{'type':'tool_use','id':'toolu_%x','name':%t,'input':%r}", request->seed,
                   answer->tool, answer->arguments);
    }
    fake_write(out, "],'stop_reason':%t,'stop_sequence':null,'usage':", stop_reason(answer));
    write_usage(out, request, answer, fake_output_tokens(answer));
    fake_write(out, "}\n");
}

/* ---- as a stream ----------------------------------------------------------------------------------- */

/* The deltas of a block. */
static void write_deltas(maki_buf *out, int64_t index, const char *format, maki_str text)
{
    unsigned nth = 0;
    for (maki_str chunk; fake_next_chunk(text, &nth, &chunk);) {
        maki_buf_add(out, MAKI_LIT("event: content_block_delta\ndata: "));
        fake_write(out, "{'type':'content_block_delta','index':%n,'delta':", index);
        fake_write(out, format, chunk);
        fake_write(out, "}\n\n");
    }
}

static void end_block(maki_buf *out, int64_t index)
{
    fake_event(out, "content_block_stop", "{'type':'content_block_stop','index':%n}", index);
}

static void write_thinking(maki_buf *out, const fake_answer *answer, int64_t index)
{
    fake_event(out, "content_block_start",
               "{'type':'content_block_start','index':%n,'content_block':"
               "{'type':'thinking','thinking':'','signature':''}}",
               index);
    write_deltas(out, index, "{'type':'thinking_delta','thinking':%t}", answer->reasoning);
    fake_event(out, "content_block_delta",
               "{'type':'content_block_delta','index':%n,'delta':"
               "{'type':'signature_delta','signature':%t}}",
               index, signature);
    end_block(out, index);
}

static void write_call(maki_buf *out, const fake_request *request, const fake_answer *answer,
                       int64_t index)
{
    fake_event(out, "content_block_start",
               "{'type':'content_block_start','index':%n,'content_block':"
               "{'type':'tool_use','id':'toolu_%x','name':%t,'input':{}}}",
               index, request->seed, answer->tool);
    write_deltas(out, index, "{'type':'input_json_delta','partial_json':%t}", answer->arguments);
    end_block(out, index);
}

static void write_stream(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    int64_t index = 0;
    maki_buf_add(out, MAKI_LIT("event: message_start\ndata: "));
    fake_write(out,
               "{'type':'message_start','message':{'id':'msg_%x','type':'message',"
               "'role':'assistant','model':%t,'content':[],'stop_reason':null,"
               "'stop_sequence':null,'usage':",
               request->seed, request->model);
    write_usage(out, request, answer, 1);
    fake_write(out, "}}\n\n");
    if (answer->reasoning.len) write_thinking(out, answer, index++);
    fake_event(out, "content_block_start",
               "{'type':'content_block_start','index':%n,'content_block':{'type':'text',"
               "'text':''}}",
               index);
    fake_event(out, "ping", "{'type':'ping'}");
    write_deltas(out, index, "{'type':'text_delta','text':%t}", answer->text);
    end_block(out, index++);
    if (answer->tool.len) write_call(out, request, answer, index);
    fake_event(out, "message_delta",
               "{'type':'message_delta','delta':{'stop_reason':%t,'stop_sequence':null},"
               "'usage':{'output_tokens':%n}}",
               stop_reason(answer), fake_output_tokens(answer));
    fake_event(out, "message_stop", "{'type':'message_stop'}");
}

void fake_reply_messages(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    if (request->stream)
        write_stream(out, request, answer);
    else
        write_body(out, request, answer);
}
