/* fake_reply_gemini.c -- format an answer for Gemini's generateContent: one object, a stream of events, or a stream
 * that is one array. */
#include "fake/fake_reply.h"
#include "fake/fake_write.h"

/* Writes one object, or a stream of them as events or as an array. */
typedef struct object_writer {
    maki_buf *out;
    const fake_request *request;
    const fake_answer *answer;
    unsigned count;
} object_writer;

static void begin_object(object_writer *o)
{
    if (o->request->stream && o->request->array)
        fake_write(o->out, o->count ? "\n,\n" : "[");
    else if (o->request->stream)
        fake_write(o->out, "data: ");
    o->count++;
    fake_write(o->out, "{'candidates':[{'content':{'parts':[");
}

static void end_object(object_writer *o, bool last)
{
    int64_t input = fake_input_tokens(o->request), output = fake_output_tokens(o->answer);
    fake_write(o->out,
               "],'role':'model'}%r,'index':0}],'usageMetadata':{'promptTokenCount':%n,"
               "'candidatesTokenCount':%n,'totalTokenCount':%n},'modelVersion':%t,"
               "'responseId':'fake%x'}",
               last ? MAKI_LIT(",\"finishReason\":\"STOP\"") : MAKI_LIT(""), input, output,
               input + output, o->request->model, o->request->seed);
    if (!o->request->stream || !o->request->array)
        fake_write(o->out, o->request->stream ? "\n\n" : "\n");
}

static void write_text_parts(object_writer *o, const char *format, maki_str text)
{
    unsigned nth = 0;
    for (maki_str chunk; fake_next_chunk(text, &nth, &chunk);) {
        begin_object(o);
        fake_write(o->out, format, chunk);
        end_object(o, false);
    }
}

static void write_call_part(maki_buf *out, const fake_answer *answer)
{
    fake_write(out, "{'functionCall':{'name':%t,'args':%r}}", answer->tool, answer->arguments);
}

static void write_stream(object_writer *o)
{
    write_text_parts(o, "{'text':%t,'thought':true}", o->answer->reasoning);
    write_text_parts(o, "{'text':%t}", o->answer->text);
    begin_object(o);
    if (o->answer->tool.len)
        write_call_part(o->out, o->answer);
    else
        fake_write(o->out, "{'text':''}");
    end_object(o, true);
    if (o->request->array) fake_write(o->out, "]\n");
}

void fake_reply_gemini(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    object_writer o = { out, request, answer, 0 };
    if (request->stream) {
        write_stream(&o);
        return;
    }
    begin_object(&o);
    if (answer->reasoning.len) fake_write(out, "{'text':%t,'thought':true},", answer->reasoning);
    fake_write(out, "{'text':%t}", answer->text);
    if (answer->tool.len) {
        fake_write(out, ",");
        write_call_part(out, answer);
    }
    end_object(&o, true);
}
