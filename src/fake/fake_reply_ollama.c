/* fake_reply_ollama.c -- format an answer for Ollama's chat and generate: one JSON object, or a stream of JSON lines. */
#include "fake/fake_reply.h"
#include "fake/fake_write.h"

static void write_start(maki_buf *out, const fake_request *request)
{
    fake_write(out, "{'model':%t,'created_at':'2025-10-09T08:53:20.000000Z'", request->model);
}

/* A message, or the equivalent fields of generate. */
static void write_message(maki_buf *out, const fake_request *request, maki_str text,
                          maki_str thinking, const fake_answer *call)
{
    if (request->protocol == MAKI_WIRE_GENERATE) {
        fake_write(out, ",'response':%t", text);
        if (thinking.len) fake_write(out, ",'thinking':%t", thinking);
        return;
    }
    fake_write(out, ",'message':{'role':'assistant','content':%t", text);
    if (thinking.len) fake_write(out, ",'thinking':%t", thinking);
    if (call && call->tool.len) {
        fake_write(out, ",'tool_calls':[{'function':{'name':%t,'arguments':%r}}]", call->tool,
                   call->arguments);
    }
    fake_write(out, "}");
}

static void end(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    fake_write(out,
               ",'done_reason':'stop','done':true,'total_duration':1000000,'load_duration':1000,"
               "'prompt_eval_count':%n,'prompt_eval_duration':1000,'eval_count':%n,"
               "'eval_duration':1000}\n",
               fake_input_tokens(request), fake_output_tokens(answer));
}

static void line(maki_buf *out, const fake_request *request, maki_str text, maki_str thinking,
                 const fake_answer *call)
{
    write_start(out, request);
    write_message(out, request, text, thinking, call);
    fake_write(out, ",'done':false}\n");
}

void fake_reply_ollama(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    static const maki_str none = { 0 };
    if (!request->stream) {
        write_start(out, request);
        write_message(out, request, answer->text, answer->reasoning, answer);
        end(out, request, answer);
        return;
    }
    unsigned thought = 0, said = 0;
    maki_str chunk;
    while (fake_next_chunk(answer->reasoning, &thought, &chunk))
        line(out, request, none, chunk, NULL);
    while (fake_next_chunk(answer->text, &said, &chunk))
        line(out, request, chunk, none, NULL);
    if (answer->tool.len) line(out, request, none, none, answer);
    write_start(out, request);
    write_message(out, request, none, none, NULL);
    end(out, request, answer);
}
