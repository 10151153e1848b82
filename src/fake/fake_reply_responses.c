/* fake_reply_responses.c -- OpenAI's Responses API: a response of items, or its stream of numbered events, which ends
 * with the whole response. */
#include "base/str_util.h"
#include "fake/fake_reply.h"
#include "fake/fake_write.h"

static void message_item(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    fake_write(out,
               "{'id':'msg_%x','type':'message','status':'completed','role':'assistant','content':"
               "[{'type':'output_text','annotations':[],'logprobs':[],'text':%t}]}",
               request->seed, answer->text);
}

static void reasoning_item(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    fake_write(out,
               "{'id':'rs_%x','type':'reasoning','summary':[{'type':'summary_text','text':%t}]}",
               request->seed, answer->reasoning);
}

/* `open`: as in the first event, without arguments. */
static void call_item(maki_buf *out, const fake_request *request, const fake_answer *answer,
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

static void output(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    fake_write(out, "[");
    if (answer->reasoning.len) {
        reasoning_item(out, request, answer);
        fake_write(out, ",");
    }
    message_item(out, request, answer);
    if (answer->tool.len) {
        fake_write(out, ",");
        call_item(out, request, answer, false);
    }
    fake_write(out, "]");
}

/* `open`: as in the first event, without output and usage. */
static void response(maki_buf *out, const fake_request *request, const fake_answer *answer,
                     bool open)
{
    int64_t read = fake_input_tokens(request), written = fake_output_tokens(answer);
    fake_write(out,
               "{'id':'resp_%x','object':'response','created_at':%n,'status':%t,'error':null,"
               "'incomplete_details':null,'instructions':null,'model':%t,'output':",
               request->seed, FAKE_CREATED, open ? MAKI_LIT("in_progress") : MAKI_LIT("completed"),
               request->model);
    if (open) {
        fake_write(out, "[],'usage':null");
    } else {
        output(out, request, answer);
        fake_write(out,
                   ",'usage':{'input_tokens':%n,'input_tokens_details':{'cached_tokens':0},"
                   "'output_tokens':%n,'output_tokens_details':{'reasoning_tokens':%n},"
                   "'total_tokens':%n}",
                   read, written, (int64_t)(answer->reasoning.len / 4), read + written);
    }
    fake_write(out, ",'parallel_tool_calls':true,'previous_response_id':null,'store':false,"
                    "'tool_choice':'auto','tools':[],'metadata':{}}");
}

/* ---- as a stream ----------------------------------------------------------------------------------- */

/* Events are numbered, and contain their type twice. */
typedef struct events {
    maki_buf *out;
    int64_t number;
} events;

static void begin(events *e, const char *type)
{
    maki_str name = maki_str_of(type);
    fake_write(e->out, "event: %r\ndata: {'type':%t,'sequence_number':%n", name, name, e->number++);
}

static void end(events *e)
{
    fake_write(e->out, "}\n\n");
}

static void write_response(events *e, const char *type, const fake_request *request,
                           const fake_answer *answer, bool open)
{
    begin(e, type);
    fake_write(e->out, ",'response':");
    response(e->out, request, answer, open);
    end(e);
}

/* An event about a part of an item: `place` are its indexes ("'summary_index':0"), `shape` its content. */
static void part(events *e, const char *type, const char *place, const fake_request *request,
                 int64_t index, const char *shape, maki_str text)
{
    begin(e, type);
    fake_write(e->out, place, request->seed, index);
    fake_write(e->out, shape, text);
    end(e);
}

/* The deltas of a text. */
static void parts(events *e, const char *type, const char *place, const fake_request *request,
                  int64_t index, const char *shape, maki_str text)
{
    unsigned nth = 0;
    for (maki_str piece; fake_next_chunk(text, &nth, &piece);)
        part(e, type, place, request, index, shape, piece);
}

/* The start of an event with an item: `type` says whether it was added or is done. */
static void item(events *e, const char *what, int64_t index)
{
    begin(e, what);
    fake_write(e->out, ",'output_index':%n,'item':", index);
}

static void reason(events *e, const fake_request *request, const fake_answer *answer, int64_t index)
{
    static const char place[] = ",'item_id':'rs_%x','output_index':%n,'summary_index':0";
    item(e, "response.output_item.added", index);
    fake_write(e->out, "{'id':'rs_%x','type':'reasoning','summary':[]}", request->seed);
    end(e);
    part(e, "response.reasoning_summary_part.added", place, request, index,
         ",'part':{'type':'summary_text','text':%t}", MAKI_LIT(""));
    parts(e, "response.reasoning_summary_text.delta", place, request, index, ",'delta':%t",
          answer->reasoning);
    part(e, "response.reasoning_summary_text.done", place, request, index, ",'text':%t",
         answer->reasoning);
    item(e, "response.output_item.done", index);
    reasoning_item(e->out, request, answer);
    end(e);
}

static void message(events *e, const fake_request *request, const fake_answer *answer,
                    int64_t index)
{
    static const char place[] = ",'item_id':'msg_%x','output_index':%n,'content_index':0";
    static const char whole[] = ",'part':{'type':'output_text','annotations':[],'text':%t}";
    item(e, "response.output_item.added", index);
    fake_write(e->out,
               "{'id':'msg_%x','type':'message','status':'in_progress','role':'assistant',"
               "'content':[]}",
               request->seed);
    end(e);
    part(e, "response.content_part.added", place, request, index, whole, MAKI_LIT(""));
    parts(e, "response.output_text.delta", place, request, index, ",'logprobs':[],'delta':%t",
          answer->text);
    part(e, "response.output_text.done", place, request, index, ",'logprobs':[],'text':%t",
         answer->text);
    part(e, "response.content_part.done", place, request, index, whole, answer->text);
    item(e, "response.output_item.done", index);
    message_item(e->out, request, answer);
    end(e);
}

static void call(events *e, const fake_request *request, const fake_answer *answer, int64_t index)
{
    bool custom = answer->custom;
    const char *place =
        custom ? ",'item_id':'ctc_%x','output_index':%n" : ",'item_id':'fc_%x','output_index':%n";
    item(e, "response.output_item.added", index);
    call_item(e->out, request, answer, true);
    end(e);
    parts(e,
          custom ? "response.custom_tool_call_input.delta"
                 : "response.function_call_arguments.delta",
          place, request, index, ",'delta':%t", answer->arguments);
    part(e,
         custom ? "response.custom_tool_call_input.done" : "response.function_call_arguments.done",
         place, request, index, custom ? ",'input':%t" : ",'arguments':%t", answer->arguments);
    item(e, "response.output_item.done", index);
    call_item(e->out, request, answer, false);
    end(e);
}

static void write_stream(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    events e = { .out = out };
    int64_t index = 0;
    write_response(&e, "response.created", request, answer, true);
    write_response(&e, "response.in_progress", request, answer, true);
    if (answer->reasoning.len) reason(&e, request, answer, index++);
    message(&e, request, answer, index++);
    if (answer->tool.len) call(&e, request, answer, index);
    write_response(&e, "response.completed", request, answer, false);
}

void fake_reply_responses(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    if (request->stream) {
        write_stream(out, request, answer);
        return;
    }
    response(out, request, answer, false);
    fake_write(out, "\n");
}
