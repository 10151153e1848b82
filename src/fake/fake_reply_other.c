/* fake_reply_other.c -- reply at endpoints other than chat: models, embeddings, token counts.  A table maps method
 * and path suffix to a function or to a fixed text. */
#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "fake/fake_reply.h"
#include "fake/fake_write.h"

enum { DIMENSIONS = 16, DIMENSIONS_MAX = 4096 };

/* ---- embeddings ------------------------------------------------------------------------------------ */

/* Element `nth` of the vector of a text: a hash, so that it depends on the text alone. */
static float vector_element(maki_str text, size_t nth)
{
    uint32_t hash = 2166136261u ^ (uint32_t)nth;
    for (size_t i = 0; i < text.len; i++) {
        hash ^= (unsigned char)text.ptr[i];
        hash *= 16777619u;
    }
    return (float)((int32_t)(hash % 2001) - 1000) / 1024.0f; /* exact as a float and in decimal */
}

static void write_floats(maki_buf *out, maki_str text, size_t n)
{
    fake_write(out, "[");
    for (size_t i = 0; i < n; i++)
        maki_buf_print(out, "%s%.10g", i ? "," : "", (double)vector_element(text, i));
    fake_write(out, "]");
}

/* The floats as little-endian bytes in base64, as OpenAI's library requests. */
static void write_base64(maki_buf *out, maki_str text, size_t n)
{
    char bytes[4 * DIMENSIONS_MAX];
    for (size_t i = 0; i < n; i++) {
        float value = vector_element(text, i);
        memcpy(bytes + 4 * i, &value, sizeof value);
    }
    fake_write(out, "'");
    maki_buf_add_base64(out, (maki_str){ bytes, 4 * n });
    fake_write(out, "'");
}

static size_t dimensions(maki_str body)
{
    maki_str value;
    if (!maki_json_get(body, MAKI_LIT("dimensions"), &value)) return DIMENSIONS;
    double wanted = maki_json_double(value);
    return wanted >= 1 && wanted <= DIMENSIONS_MAX ? (size_t)wanted : DIMENSIONS;
}

typedef void (*write_vector)(maki_buf *out, maki_str text, size_t n);

/* One vector per input, between `before` and `after`. */
static void each_vector(maki_buf *out, maki_str input, size_t n, write_vector write,
                        const char *before, const char *after)
{
    maki_json_iter iter = maki_json_items(input);
    maki_json_item item = { .value = input };
    bool list = maki_json_kind_of(input) == MAKI_JSON_ARRAY;
    for (int64_t i = 0; list ? maki_json_next(&iter, &item) : i == 0; i++) {
        fake_write(out, i ? "," : "");
        fake_write(out, before, i);
        write(out, item.value, n);
        fake_write(out, after);
    }
}

static int openai_embeddings(maki_buf *out, maki_str body)
{
    maki_str input = MAKI_LIT("\"\""), format;
    maki_json_get(body, MAKI_LIT("input"), &input);
    bool base64 = maki_json_get(body, MAKI_LIT("encoding_format"), &format) &&
                  maki_json_text_is(format, MAKI_LIT("base64"));
    fake_write(out, "{'object':'list','data':[");
    each_vector(out, input, dimensions(body), base64 ? write_base64 : write_floats,
                "{'object':'embedding','index':%n,'embedding':", "}");
    fake_write(out, "],'model':'fake-embed','usage':{'prompt_tokens':%n,'total_tokens':%n}}\n",
               (int64_t)(input.len / 4 + 1), (int64_t)(input.len / 4 + 1));
    return 200;
}

static int ollama_embed(maki_buf *out, maki_str body)
{
    maki_str input = MAKI_LIT("\"\"");
    maki_json_get(body, MAKI_LIT("input"), &input);
    fake_write(out, "{'model':'fake-embed','embeddings':[");
    each_vector(out, input, dimensions(body), write_floats, "", "");
    fake_write(out, "],'total_duration':1000,'load_duration':1000,'prompt_eval_count':%n}\n",
               (int64_t)(input.len / 4 + 1));
    return 200;
}

static int gemini_embed(maki_buf *out, maki_str body)
{
    maki_str content;
    fake_write(out, "{'embedding':{'values':");
    write_floats(out, maki_json_get(body, MAKI_LIT("content"), &content) ? content : body,
                 DIMENSIONS);
    fake_write(out, "}}\n");
    return 200;
}

static int gemini_embed_batch(maki_buf *out, maki_str body)
{
    maki_str requests = MAKI_LIT("[]");
    maki_json_get(body, MAKI_LIT("requests"), &requests);
    fake_write(out, "{'embeddings':[");
    each_vector(out, requests, DIMENSIONS, write_floats, "{'values':", "}");
    fake_write(out, "]}\n");
    return 200;
}

/* ---- lists and counts ------------------------------------------------------------------------------ */

static int count_tokens(maki_buf *out, maki_str body)
{
    fake_write(out, "{'input_tokens':%n}\n", (int64_t)(body.len / 4 + 1));
    return 200;
}

static int gemini_count(maki_buf *out, maki_str body)
{
    fake_write(out,
               "{'totalTokens':%n,'promptTokensDetails':[{'modality':'TEXT','tokenCount':%n}]}\n",
               (int64_t)(body.len / 4 + 1), (int64_t)(body.len / 4 + 1));
    return 200;
}

/* Fixed replies.  OpenAI's and Anthropic's lists of models share a path, so they share a reply. */
static const char models[] =
    "{'object':'list','data':[{'id':'fake','object':'model','type':'model',"
    "'display_name':'Fake','created':1760000000,'created_at':'2025-10-09T08:53:20Z',"
    "'owned_by':'maki'}],'has_more':false,'first_id':'fake','last_id':'fake'}\n";
static const char gemini_models[] =
    "{'models':[{'name':'models/fake','version':'1','displayName':'Fake',"
    "'inputTokenLimit':1048576,'outputTokenLimit':65536,"
    "'supportedGenerationMethods':['generateContent','countTokens']}]}\n";
static const char gemini_model[] = "{'name':'models/fake','version':'1','displayName':'Fake',"
                                   "'inputTokenLimit':1048576,'outputTokenLimit':65536}\n";
static const char lmstudio_models[] =
    "{'object':'list','data':[{'id':'fake','object':'model','type':'llm','state':"
    "'loaded','max_context_length':131072,'loaded_context_length':16384},"
    "{'id':'fake-large','object':'model','type':'llm','state':'not-loaded',"
    "'max_context_length':262144}]}\n";
static const char ollama_tags[] =
    "{'models':[{'name':'fake:latest','model':'fake:latest',"
    "'modified_at':'2025-10-09T08:53:20Z','size':1000,'digest':'fa4e','details':"
    "{'parent_model':'','format':'gguf','family':'fake','families':['fake'],"
    "'parameter_size':'1B','quantization_level':'Q4_0'}}]}\n";
static const char ollama_show[] =
    "{'modelfile':'','parameters':'','template':'{{ .Prompt }}','details':"
    "{'format':'gguf','family':'fake','parameter_size':'1B'},"
    "'model_info':{'general.architecture':'fake','fake.context_length':8192},"
    "'capabilities':['completion','tools','thinking']}\n";
static const char ollama_version[] = "{'version':'0.12.0'}\n";
static const char root[] = "{'fake':true}\n";

static const struct other_row {
    const char *method, *path; /* suffix of the path */
    int (*say)(maki_buf *out, maki_str body);
    const char *text; /* or this text, with status 200 */
} other_rows[] = {
    { "POST", "/embeddings", openai_embeddings, NULL },
    { "POST", "/api/embed", ollama_embed, NULL },
    { "POST", ":embedContent", gemini_embed, NULL },
    { "POST", ":batchEmbedContents", gemini_embed_batch, NULL },
    { "POST", "/messages/count_tokens", count_tokens, NULL },
    { "POST", ":countTokens", gemini_count, NULL },
    { "GET", "/v1beta/models", NULL, gemini_models },
    { "GET", "/v1beta/models/fake", NULL, gemini_model },
    { "GET", "/api/v0/models", NULL, lmstudio_models },
    { "GET", "/models", NULL, models },
    { "GET", "/api/tags", NULL, ollama_tags },
    { "POST", "/api/show", NULL, ollama_show },
    { "GET", "/api/version", NULL, ollama_version },
    { "GET", "/", NULL, root },
    { "HEAD", "/", NULL, root },
};

int fake_reply_other(maki_buf *out, maki_str method, maki_str path, maki_str body)
{
    for (size_t i = 0; i < sizeof other_rows / sizeof other_rows[0]; i++) {
        const struct other_row *row = &other_rows[i];
        if (maki_str_equal(method, maki_str_of(row->method)) &&
            maki_str_ends(path, maki_str_of(row->path))) {
            if (row->say) return row->say(out, body);
            fake_write(out, row->text);
            return 200;
        }
    }
    return 0;
}
