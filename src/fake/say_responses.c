/* say_responses.c -- OpenAI's responses. */
#include "base/str.h"
#include "fake/say.h"
#include "fake/write.h"

enum { PIECES = 3 };

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

static void reason(events *e, const fake_ask *ask, const fake_answer *answer, int64_t index)
{
    begin(e, "response.output_item.added");
    fake_write(e->out, ",'output_index':%n,'item':{'id':'rs_%x','type':'reasoning','summary':[]}",
               index, ask->seed);
    end(e);
    begin(e, "response.reasoning_summary_part.added");
    fake_write(e->out,
               ",'item_id':'rs_%x','output_index':%n,'summary_index':0,'part':"
               "{'type':'summary_text','text':''}",
               ask->seed, index);
    end(e);
    for (unsigned i = 0; i < PIECES; i++) {
        begin(e, "response.reasoning_summary_text.delta");
        fake_write(e->out, ",'item_id':'rs_%x','output_index':%n,'summary_index':0,'delta':%t",
                   ask->seed, index, fake_piece(answer->reasoning, i, PIECES));
        end(e);
    }
    begin(e, "response.reasoning_summary_text.done");
    fake_write(e->out, ",'item_id':'rs_%x','output_index':%n,'summary_index':0,'text':%t",
               ask->seed, index, answer->reasoning);
    end(e);
    begin(e, "response.output_item.done");
    fake_write(e->out, ",'output_index':%n,'item':", index);
    reasoning_item(e->out, ask, answer);
    end(e);
}

static void text_part(events *e, const char *type, const fake_ask *ask, int64_t index,
                      const char *shape, maki_str text)
{
    begin(e, type);
    fake_write(e->out, ",'item_id':'msg_%x','output_index':%n,'content_index':0,", ask->seed,
               index);
    fake_write(e->out, shape, text);
    end(e);
}

static void message(events *e, const fake_ask *ask, const fake_answer *answer, int64_t index)
{
    static const char part[] = "'part':{'type':'output_text','annotations':[],'text':%t}";
    unsigned pieces = answer->text.ptr == fake_filler.ptr ? 1 : PIECES;
    begin(e, "response.output_item.added");
    fake_write(e->out,
               ",'output_index':%n,'item':{'id':'msg_%x','type':'message',"
               "'status':'in_progress','role':'assistant','content':[]}",
               index, ask->seed);
    end(e);
    text_part(e, "response.content_part.added", ask, index, part, MAKI_LIT(""));
    for (unsigned i = 0; i < pieces; i++) {
        text_part(e, "response.output_text.delta", ask, index, "'logprobs':[],'delta':%t",
                  fake_piece(answer->text, i, pieces));
    }
    text_part(e, "response.output_text.done", ask, index, "'logprobs':[],'text':%t", answer->text);
    text_part(e, "response.content_part.done", ask, index, part, answer->text);
    begin(e, "response.output_item.done");
    fake_write(e->out, ",'output_index':%n,'item':", index);
    message_item(e->out, ask, answer);
    end(e);
}

static void call(events *e, const fake_ask *ask, const fake_answer *answer, int64_t index)
{
    const char *id = answer->custom ? ",'item_id':'ctc_%x','output_index':%n"
                                    : ",'item_id':'fc_%x','output_index':%n";
    begin(e, "response.output_item.added");
    fake_write(e->out, ",'output_index':%n,'item':", index);
    call_item(e->out, ask, answer, true);
    end(e);
    for (unsigned i = 0; i < PIECES; i++) {
        begin(e, answer->custom ? "response.custom_tool_call_input.delta"
                                : "response.function_call_arguments.delta");
        fake_write(e->out, id, ask->seed, index);
        fake_write(e->out, ",'delta':%t", fake_piece(answer->arguments, i, PIECES));
        end(e);
    }
    begin(e, answer->custom ? "response.custom_tool_call_input.done"
                            : "response.function_call_arguments.done");
    fake_write(e->out, id, ask->seed, index);
    fake_write(e->out, answer->custom ? ",'input':%t" : ",'arguments':%t", answer->arguments);
    end(e);
    begin(e, "response.output_item.done");
    fake_write(e->out, ",'output_index':%n,'item':", index);
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
