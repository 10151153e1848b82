/* fake_reply_chat.c -- format an answer for OpenAI's chat completions: one JSON object, or a stream of chunks, each
 * with one delta. */
#include "fake/fake_reply.h"
#include "fake/fake_write.h"

static void write_usage(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    int64_t input = fake_input_tokens(request), output = fake_output_tokens(answer);
    fake_write(out,
               "{'prompt_tokens':%n,'completion_tokens':%n,'total_tokens':%n,"
               "'prompt_tokens_details':{'cached_tokens':%n},"
               "'completion_tokens_details':{'reasoning_tokens':%n}}",
               input, output, input + output, answer->cached, (int64_t)(answer->reasoning.len / 4));
}

static maki_str finish_reason(const fake_answer *answer)
{
    if (answer->stop.len) return answer->stop;
    return answer->tool.len ? MAKI_LIT("tool_calls") : MAKI_LIT("stop");
}

static void write_body(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    fake_write(out,
               "{'id':'chatcmpl-%x','object':'chat.completion','created':%n,'model':%t,"
               "'choices':[{'index':0,'message':{'role':'assistant','content':%t",
               request->seed, FAKE_CREATED, request->model, answer->text);
    if (answer->reasoning.len) fake_write(out, ",'reasoning_content':%t", answer->reasoning);
    if (answer->tool.len) {
        fake_write(out,
                   ",'tool_calls':[{'id':'call_%x','type':'function','function':"
                   "{'name':%t,'arguments':%t}}]",
                   request->seed, answer->tool, answer->arguments);
    }
    fake_write(out, ",'refusal':null},'logprobs':null,'finish_reason':%t}],'usage':",
               finish_reason(answer));
    write_usage(out, request, answer);
    fake_write(out, ",'service_tier':'default','system_fingerprint':'fp_fake'}\n");
}

/* ---- as a stream ----------------------------------------------------------------------------------- */

static void open_chunk(maki_buf *out, const fake_request *request)
{
    fake_write(out,
               "data: {'id':'chatcmpl-%x','object':'chat.completion.chunk','created':%n,'model':%t,"
               "'system_fingerprint':'fp_fake','choices':[",
               request->seed, FAKE_CREATED, request->model);
}

static void end_chunk(maki_buf *out, const fake_request *request)
{
    fake_write(out, "]%r}\n\n", request->wants_usage ? MAKI_LIT(",\"usage\":null") : MAKI_LIT(""));
}

/* A chunk with a delta of one field. */
static void write_delta(maki_buf *out, const fake_request *request, const char *format,
                        maki_str text)
{
    open_chunk(out, request);
    fake_write(out, "{'index':0,'delta':");
    fake_write(out, format, text);
    fake_write(out, ",'logprobs':null,'finish_reason':null}");
    end_chunk(out, request);
}

static void write_deltas(maki_buf *out, const fake_request *request, const char *format,
                         maki_str text)
{
    unsigned nth = 0;
    for (maki_str chunk; fake_next_chunk(text, &nth, &chunk);)
        write_delta(out, request, format, chunk);
}

static void write_call(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    open_chunk(out, request);
    fake_write(out,
               "{'index':0,'delta':{'tool_calls':[{'index':0,'id':'call_%x','type':'function',"
               "'function':{'name':%t,'arguments':''}}]},'logprobs':null,'finish_reason':null}",
               request->seed, answer->tool);
    end_chunk(out, request);
    write_deltas(out, request, "{'tool_calls':[{'index':0,'function':{'arguments':%t}}]}",
                 answer->arguments);
}

static void write_stream(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    write_delta(out, request, "{'role':'assistant','content':%t,'refusal':null}", MAKI_LIT(""));
    write_deltas(out, request, "{'reasoning_content':%t}", answer->reasoning);
    write_deltas(out, request, "{'content':%t}", answer->text);
    if (answer->tool.len) write_call(out, request, answer);
    open_chunk(out, request);
    fake_write(out, "{'index':0,'delta':{},'logprobs':null,'finish_reason':%t}",
               finish_reason(answer));
    end_chunk(out, request);
    if (request->wants_usage) {
        open_chunk(out, request);
        fake_write(out, "],'usage':");
        write_usage(out, request, answer);
        fake_write(out, "}\n\n");
    }
    fake_write(out, "data: [DONE]\n\n");
}

void fake_reply_chat(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    if (request->stream)
        write_stream(out, request, answer);
    else
        write_body(out, request, answer);
}
