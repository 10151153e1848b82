/* fake_reply_responses.c -- OpenAI's Responses API: format a response of items, or its stream of numbered events,
 * which ends with the complete response. */
#include "base/str_util.h"
#include "fake/fake_reply.h"
#include "fake/fake_write.h"

static void write_message_item(maki_buf *out, const fake_request *request,
                               const fake_answer *answer)
{
    fake_write(out,
               "{'id':'msg_%x','type':'message','status':'completed','role':'assistant','content':"
               "[{'type':'output_text','annotations':[],'logprobs':[],'text':%t}]}",
               request->seed, answer->text);
}

static void write_reasoning_item(maki_buf *out, const fake_request *request,
                                 const fake_answer *answer)
{
    fake_write(out,
               "{'id':'rs_%x','type':'reasoning','summary':[{'type':'summary_text','text':%t}]}",
               request->seed, answer->reasoning);
}

/* `open`: as in the first event, without arguments. */
static void write_call_item(maki_buf *out, const fake_request *request, const fake_answer *answer,
                            bool open)
{
    maki_str status = open ? MAKI_LIT("in_progress") : MAKI_LIT("completed");
    maki_str arguments = open ? MAKI_LIT("") : answer->arguments;
    fake_write(out,
               answer->custom ? "{'id':'ctc_%x','type':'custom_tool_call','status':%t,"
                                "'call_id':'call_%x','name':%t,'input':%t}"
                              : "{'id':'fc_%x','type':'function_call','status':%t,"
                                "'call_id':'call_%x','name':%t,'arguments':%t}",
               request->seed, status, request->seed, answer->tool, arguments);
}

static void write_output(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    fake_write(out, "[");
    if (answer->reasoning.len) {
        write_reasoning_item(out, request, answer);
        fake_write(out, ",");
    }
    write_message_item(out, request, answer);
    if (answer->tool.len) {
        fake_write(out, ",");
        write_call_item(out, request, answer, false);
    }
    fake_write(out, "]");
}

/* `open`: as in the first event, without output and usage. */
static void write_response_object(maki_buf *out, const fake_request *request,
                                  const fake_answer *answer, bool open)
{
    int64_t input_tokens = fake_input_tokens(request), output_tokens = fake_output_tokens(answer);
    fake_write(out,
               "{'id':'resp_%x','object':'response','created_at':%n,'status':%t,'error':null,"
               "'incomplete_details':null,'instructions':null,'model':%t,'output':",
               request->seed, FAKE_CREATED, open ? MAKI_LIT("in_progress") : MAKI_LIT("completed"),
               request->model);
    if (open) {
        fake_write(out, "[],'usage':null");
    } else {
        write_output(out, request, answer);
        fake_write(out,
                   ",'usage':{'input_tokens':%n,'input_tokens_details':{'cached_tokens':%n},"
                   "'output_tokens':%n,'output_tokens_details':{'reasoning_tokens':%n},"
                   "'total_tokens':%n}",
                   input_tokens, answer->cached, output_tokens,
                   (int64_t)(answer->reasoning.len / 4), input_tokens + output_tokens);
    }
    fake_write(out, ",'parallel_tool_calls':true,'previous_response_id':null,'store':false,"
                    "'tool_choice':'auto','tools':[],'metadata':{}}");
}

/* ---- as a stream ----------------------------------------------------------------------------------- */

/* Events are numbered, and contain their type twice. */
typedef struct event_writer {
    maki_buf *out;
    int64_t number;
} event_writer;

static void begin_event(event_writer *e, const char *type)
{
    maki_str name = maki_str_of(type);
    fake_write(e->out, "event: %r\ndata: {'type':%t,'sequence_number':%n", name, name, e->number++);
}

static void end_event(event_writer *e)
{
    fake_write(e->out, "}\n\n");
}

static void write_response(event_writer *e, const char *type, const fake_request *request,
                           const fake_answer *answer, bool open)
{
    begin_event(e, type);
    fake_write(e->out, ",'response':");
    write_response_object(e->out, request, answer, open);
    end_event(e);
}

/* An event about a part of an item: `indexes` are its indexes ("'summary_index':0"), `format` its content. */
static void write_part(event_writer *e, const char *type, const char *indexes,
                       const fake_request *request, int64_t index, const char *format,
                       maki_str text)
{
    begin_event(e, type);
    fake_write(e->out, indexes, request->seed, index);
    fake_write(e->out, format, text);
    end_event(e);
}

/* The deltas of a text. */
static void write_deltas(event_writer *e, const char *type, const char *indexes,
                         const fake_request *request, int64_t index, const char *format,
                         maki_str text)
{
    unsigned nth = 0;
    for (maki_str chunk; fake_next_chunk(text, &nth, &chunk);)
        write_part(e, type, indexes, request, index, format, chunk);
}

/* The start of an event with an item: `type` is response.output_item.added or .done. */
static void begin_item(event_writer *e, const char *type, int64_t index)
{
    begin_event(e, type);
    fake_write(e->out, ",'output_index':%n,'item':", index);
}

static void write_reasoning(event_writer *e, const fake_request *request, const fake_answer *answer,
                            int64_t index)
{
    static const char indexes[] = ",'item_id':'rs_%x','output_index':%n,'summary_index':0";
    begin_item(e, "response.output_item.added", index);
    fake_write(e->out, "{'id':'rs_%x','type':'reasoning','summary':[]}", request->seed);
    end_event(e);
    write_part(e, "response.reasoning_summary_part.added", indexes, request, index,
               ",'part':{'type':'summary_text','text':%t}", MAKI_LIT(""));
    write_deltas(e, "response.reasoning_summary_text.delta", indexes, request, index, ",'delta':%t",
                 answer->reasoning);
    write_part(e, "response.reasoning_summary_text.done", indexes, request, index, ",'text':%t",
               answer->reasoning);
    begin_item(e, "response.output_item.done", index);
    write_reasoning_item(e->out, request, answer);
    end_event(e);
}

static void write_message(event_writer *e, const fake_request *request, const fake_answer *answer,
                          int64_t index)
{
    static const char indexes[] = ",'item_id':'msg_%x','output_index':%n,'content_index':0";
    static const char part[] = ",'part':{'type':'output_text','annotations':[],'text':%t}";
    begin_item(e, "response.output_item.added", index);
    fake_write(e->out,
               "{'id':'msg_%x','type':'message','status':'in_progress','role':'assistant',"
               "'content':[]}",
               request->seed);
    end_event(e);
    write_part(e, "response.content_part.added", indexes, request, index, part, MAKI_LIT(""));
    write_deltas(e, "response.output_text.delta", indexes, request, index,
                 ",'logprobs':[],'delta':%t", answer->text);
    write_part(e, "response.output_text.done", indexes, request, index, ",'logprobs':[],'text':%t",
               answer->text);
    write_part(e, "response.content_part.done", indexes, request, index, part, answer->text);
    begin_item(e, "response.output_item.done", index);
    write_message_item(e->out, request, answer);
    end_event(e);
}

static void write_call(event_writer *e, const fake_request *request, const fake_answer *answer,
                       int64_t index)
{
    bool custom = answer->custom;
    const char *indexes =
        custom ? ",'item_id':'ctc_%x','output_index':%n" : ",'item_id':'fc_%x','output_index':%n";
    begin_item(e, "response.output_item.added", index);
    write_call_item(e->out, request, answer, true);
    end_event(e);
    write_deltas(e,
                 custom ? "response.custom_tool_call_input.delta"
                        : "response.function_call_arguments.delta",
                 indexes, request, index, ",'delta':%t", answer->arguments);
    write_part(
        e,
        custom ? "response.custom_tool_call_input.done" : "response.function_call_arguments.done",
        indexes, request, index, custom ? ",'input':%t" : ",'arguments':%t", answer->arguments);
    begin_item(e, "response.output_item.done", index);
    write_call_item(e->out, request, answer, false);
    end_event(e);
}

static void write_stream(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    event_writer e = { .out = out };
    int64_t index = 0;
    write_response(&e, "response.created", request, answer, true);
    write_response(&e, "response.in_progress", request, answer, true);
    if (answer->reasoning.len) write_reasoning(&e, request, answer, index++);
    write_message(&e, request, answer, index++);
    if (answer->tool.len) write_call(&e, request, answer, index);
    write_response(&e, "response.completed", request, answer, false);
}

void fake_reply_responses(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    if (request->stream) {
        write_stream(out, request, answer);
        return;
    }
    write_response_object(out, request, answer, false);
    fake_write(out, "\n");
}
