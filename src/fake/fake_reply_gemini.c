/* fake_reply_gemini.c -- Gemini's generateContent: one object, a stream of events, or a stream that is one array. */
#include "fake/fake_reply.h"
#include "fake/fake_write.h"

/* A stream of objects, as events or as an array. */
typedef struct objects {
    maki_buf *out;
    const fake_request *request;
    const fake_answer *answer;
    unsigned count;
} objects;

static void begin(objects *o)
{
    if (o->request->stream && o->request->array)
        fake_write(o->out, o->count ? "\n,\n" : "[");
    else if (o->request->stream)
        fake_write(o->out, "data: ");
    o->count++;
    fake_write(o->out, "{'candidates':[{'content':{'parts':[");
}

static void end(objects *o, bool last)
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

static void text_parts(objects *o, const char *shape, maki_str text)
{
    unsigned nth = 0;
    for (maki_str piece; fake_next_chunk(text, &nth, &piece);) {
        begin(o);
        fake_write(o->out, shape, piece);
        end(o, false);
    }
}

static void call_part(maki_buf *out, const fake_answer *answer)
{
    fake_write(out, "{'functionCall':{'name':%t,'args':%r}}", answer->tool, answer->arguments);
}

static void write_stream(objects *o)
{
    text_parts(o, "{'text':%t,'thought':true}", o->answer->reasoning);
    text_parts(o, "{'text':%t}", o->answer->text);
    begin(o);
    if (o->answer->tool.len)
        call_part(o->out, o->answer);
    else
        fake_write(o->out, "{'text':''}");
    end(o, true);
    if (o->request->array) fake_write(o->out, "]\n");
}

void fake_reply_gemini(maki_buf *out, const fake_request *request, const fake_answer *answer)
{
    objects o = { out, request, answer, 0 };
    if (request->stream) {
        write_stream(&o);
        return;
    }
    begin(&o);
    if (answer->reasoning.len) fake_write(out, "{'text':%t,'thought':true},", answer->reasoning);
    fake_write(out, "{'text':%t}", answer->text);
    if (answer->tool.len) {
        fake_write(out, ",");
        call_part(out, answer);
    }
    end(&o, true);
}
