/* fake_reply_responses.c -- OpenAI's responses. */
#include "base/str.h"
#include "fake/fake_reply.h"
#include "fake/fake_write.h"

static void message_item(maki_buf *out, const fake_ask *ask, const fake_answer *answer)
{
    fake_write(out,
               "{'id':'msg_%x','type':'message','status':'completed','role':'assistant','content':"
               "[{'type':'output_text','annotations':[],'logprobs':[],'text':%t}]}",
               ask->seed, answer->text);
}

static void reasoning_item(maki_buf *out, const fake_ask *ask, const fake_answer *answer)
{
    fake_write(out,
               "{'id':'rs_%x','type':'reasoning','summary':[{'type':'summary_text','text':%t}]}",
               ask->seed, answer->reasoning);
}

/* With `open`, as it is when it begins: nothing of the arguments yet. */
static void call_item(maki_buf *out, const fake_ask *ask, const fake_answer *answer, bool open)
{
    maki_str status = open ? MAKI_LIT("in_progress") : MAKI_LIT("completed");
    maki_str arguments = open ? MAKI_LIT("") : answer->arguments;
    fake_write(out,
               answer->custom ? "{'id':'ctc_%x','type':'custom_tool_call','status':%t,"
                                "'call_id':'call_%x','name':%t,'input':%t}"
                              : "{'id':'fc_%x','type':'function_call','status':%t,"
                                "'call_id':'call_%x','name':%t,'arguments':%t}",
               ask->seed, status, ask->seed, answer->tool, arguments);
}

static void output(maki_buf *out, const fake_ask *ask, const fake_answer *answer)
{
    fake_write(out, "[");
    if (answer->reasoning.len) {
        reasoning_item(out, ask, answer);
        fake_write(out, ",");
    }
    message_item(out, ask, answer);
    if (answer->tool.len) {
        fake_write(out, ",");
        call_item(out, ask, answer, false);
    }
    fake_write(out, "]");
}

/* With `open`, as it is when it begins: no output and no usage yet. */
static void response(maki_buf *out, const fake_ask *ask, const fake_answer *answer, bool open)
{
    int64_t in = fake_tokens_in(ask), made = fake_tokens_out(answer);
    fake_write(out,
               "{'id':'resp_%x','object':'response','created_at':%n,'status':%t,'error':null,"
               "'incomplete_details':null,'instructions':null,'model':%t,'output':",
               ask->seed, FAKE_CREATED, open ? MAKI_LIT("in_progress") : MAKI_LIT("completed"),
               ask->model);
    if (open) {
        fake_write(out, "[],'usage':null");
    } else {
        output(out, ask, answer);
        fake_write(out,
                   ",'usage':{'input_tokens':%n,'input_tokens_details':{'cached_tokens':0},"
                   "'output_tokens':%n,'output_tokens_details':{'reasoning_tokens':%n},"
                   "'total_tokens':%n}",
                   in, made, (int64_t)(answer->reasoning.len / 4), in + made);
    }
    fake_write(out, ",'parallel_tool_calls':true,'previous_response_id':null,'store':false,"
                    "'tool_choice':'auto','tools':[],'metadata':{}}");
}

/* ---- as a stream ----------------------------------------------------------------------------------- */

/* Events are numbered, and name their type twice. */
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

static void told(events *e, const char *type, const fake_ask *ask, const fake_answer *answer,
                 bool open)
{
    begin(e, type);
    fake_write(e->out, ",'response':");
    response(e->out, ask, answer, open);
    end(e);
}

/* An event about a part of an item: `place` is where ("'summary_index':0"), `shape` what it says. */
static void part(events *e, const char *type, const char *place, const fake_ask *ask, int64_t index,
                 const char *shape, maki_str text)
{
    begin(e, type);
    fake_write(e->out, place, ask->seed, index);
    fake_write(e->out, shape, text);
    end(e);
}

/* A text in pieces. */
static void parts(events *e, const char *type, const char *place, const fake_ask *ask,
                  int64_t index, const char *shape, maki_str text)
{
    unsigned nth = 0;
    for (maki_str piece; fake_next_piece(text, &nth, &piece);)
        part(e, type, place, ask, index, shape, piece);
}

/* `what`: it was added, or is done. */
static void item(events *e, const char *what, int64_t index)
{
    begin(e, what);
    fake_write(e->out, ",'output_index':%n,'item':", index);
}

static void reason(events *e, const fake_ask *ask, const fake_answer *answer, int64_t index)
{
    static const char place[] = ",'item_id':'rs_%x','output_index':%n,'summary_index':0";
    item(e, "response.output_item.added", index);
    fake_write(e->out, "{'id':'rs_%x','type':'reasoning','summary':[]}", ask->seed);
    end(e);
    part(e, "response.reasoning_summary_part.added", place, ask, index,
         ",'part':{'type':'summary_text','text':%t}", MAKI_LIT(""));
    parts(e, "response.reasoning_summary_text.delta", place, ask, index, ",'delta':%t",
          answer->reasoning);
    part(e, "response.reasoning_summary_text.done", place, ask, index, ",'text':%t",
         answer->reasoning);
    item(e, "response.output_item.done", index);
    reasoning_item(e->out, ask, answer);
    end(e);
}

static void message(events *e, const fake_ask *ask, const fake_answer *answer, int64_t index)
{
    static const char place[] = ",'item_id':'msg_%x','output_index':%n,'content_index':0";
    static const char whole[] = ",'part':{'type':'output_text','annotations':[],'text':%t}";
    item(e, "response.output_item.added", index);
    fake_write(e->out,
               "{'id':'msg_%x','type':'message','status':'in_progress','role':'assistant',"
               "'content':[]}",
               ask->seed);
    end(e);
    part(e, "response.content_part.added", place, ask, index, whole, MAKI_LIT(""));
    parts(e, "response.output_text.delta", place, ask, index, ",'logprobs':[],'delta':%t",
          answer->text);
    part(e, "response.output_text.done", place, ask, index, ",'logprobs':[],'text':%t",
         answer->text);
    part(e, "response.content_part.done", place, ask, index, whole, answer->text);
    item(e, "response.output_item.done", index);
    message_item(e->out, ask, answer);
    end(e);
}

static void call(events *e, const fake_ask *ask, const fake_answer *answer, int64_t index)
{
    bool custom = answer->custom;
    const char *place =
        custom ? ",'item_id':'ctc_%x','output_index':%n" : ",'item_id':'fc_%x','output_index':%n";
    item(e, "response.output_item.added", index);
    call_item(e->out, ask, answer, true);
    end(e);
    parts(e,
          custom ? "response.custom_tool_call_input.delta"
                 : "response.function_call_arguments.delta",
          place, ask, index, ",'delta':%t", answer->arguments);
    part(e,
         custom ? "response.custom_tool_call_input.done" : "response.function_call_arguments.done",
         place, ask, index, custom ? ",'input':%t" : ",'arguments':%t", answer->arguments);
    item(e, "response.output_item.done", index);
    call_item(e->out, ask, answer, false);
    end(e);
}

static void stream(maki_buf *out, const fake_ask *ask, const fake_answer *answer)
{
    events e = { .out = out };
    int64_t index = 0;
    told(&e, "response.created", ask, answer, true);
    told(&e, "response.in_progress", ask, answer, true);
    if (answer->reasoning.len) reason(&e, ask, answer, index++);
    message(&e, ask, answer, index++);
    if (answer->tool.len) call(&e, ask, answer, index);
    told(&e, "response.completed", ask, answer, false);
}

void fake_say_responses(maki_buf *out, const fake_ask *ask, const fake_answer *answer)
{
    if (ask->stream) {
        stream(out, ask, answer);
        return;
    }
    response(out, ask, answer, false);
    fake_write(out, "\n");
}
