/* count.c -- the tokens of a request: system, tools, messages; see wire.h. */
#include <math.h>
#include <stdio.h>

#include "token/content.h"
#include "token/tools_count.h"
#include "wire/protocol.h"

typedef struct counting {
    const maki_family *family;
    maki_content_rules rules;
    maki_wire_tokens sum;       /* without the factor */
    uint64_t systems, messages; /* how many: each has something around it */
} counting;

/* One whose message is the whole content: text, blocks, or Gemini's {parts}. */
static maki_status count_content(counting *c, maki_str content, uint64_t *sum, maki_err *err)
{
    maki_part_counts parts = { 0 };
    maki_str inside = maki_member(content, MAKI_LIT("parts"));
    if (content.len == 0) return MAKI_OK;
    maki_status st = maki_count_content(&c->rules, inside.len ? inside : content, &parts, err);
    *sum += maki_part_counts_sum(&parts);
    c->systems++;
    return st;
}

static maki_status count_row(void *ctx, const maki_wire_message *message, maki_err *err)
{
    counting *c = ctx;
    maki_part_counts parts = { 0 };
    maki_str content = maki_member(message->row, MAKI_LIT("content"));
    maki_str calls = maki_member(message->row, MAKI_LIT("tool_calls"));
    maki_status st = maki_count_content(&c->rules, content, &parts, err);
    maki_str images = maki_member(message->row, MAKI_LIT("images"));
    if (st == MAKI_OK && maki_is_array(calls)) st = maki_count_calls(&c->rules, calls, &parts, err);
    if (st == MAKI_OK && maki_is_array(images))
        st = maki_count_images(&c->rules, images, &parts, err);
    *(message->system ? &c->sum.system : &c->sum.messages) += maki_part_counts_sum(&parts);
    *(message->system ? &c->systems : &c->messages) += 1;
    return st;
}

static maki_status nothing(void *ctx, const maki_wire_message *message, maki_err *err)
{
    (void)ctx, (void)message, (void)err;
    return MAKI_OK;
}

static void scale(const counting *c, maki_wire_tokens *out)
{
    double factor = maki_family_text_scale(c->family, NULL);
    uint64_t each = c->family->per_message;
    out->system = (uint64_t)ceil((double)c->sum.system * factor) + c->systems * each;
    out->tools = (uint64_t)ceil((double)c->sum.tools * factor);
    out->messages = (uint64_t)ceil((double)c->sum.messages * factor) + c->messages * each;
    out->all = out->system + out->tools + out->messages + c->family->per_reply;
}

/* The model's name as text. */
static maki_str name_of(maki_str model, maki_str said, char *capacity, size_t size)
{
    if (model.len || said.len == 0) return model;
    return (maki_str){ capacity, maki_json_copy_text(said, capacity, size) };
}

/* A request to count tokens may wrap the one it is about. */
static maki_status unwrap(const maki_protocol_spec *protocol, maki_str *body, maki_err *err)
{
    maki_str value;
    if (!protocol->count_wraps) return MAKI_OK;
    maki_status st = maki_json_check(*body, &value, err);
    if (st != MAKI_OK) return st;
    maki_str inner = maki_member_any(value, protocol->count_wraps);
    if (maki_is_object(inner)) *body = inner;
    return MAKI_OK;
}

maki_status maki_wire_count(const maki_env *env, maki_protocol protocol, maki_str body,
                            maki_str model, maki_wire_tokens *out, maki_err *err)
{
    maki_wire_request request = { 0 };
    counting c = { 0 };
    char name[256];
    maki_status st = unwrap(maki_protocol_of(protocol), &body, err);
    if (st == MAKI_OK)
        st = maki_wire_read(env, protocol, body, NULL, nothing, NULL, &request, NULL, err);
    if (st != MAKI_OK) return st;
    model = name_of(model, request.model, name, sizeof name);
    c.family = maki_family_of(model);
    c.rules.image = maki_image_rule_of(model);
    st = maki_tokenizer_open(env, maki_encoding_named(c.family->encoding), NULL, &c.rules.tokenizer,
                             err);
    if (st != MAKI_OK) return st;
    st = count_content(&c, request.system, &c.sum.system, err);
    if (st == MAKI_OK)
        st = maki_count_tools(c.rules.tokenizer, c.family, request.tools, &c.sum.tools, err);
    if (st == MAKI_OK)
        st = maki_wire_read(env, protocol, body, NULL, count_row, &c, &request, NULL, err);
    if (st == MAKI_OK) scale(&c, out);
    maki_tokenizer_close(c.rules.tokenizer);
    return st;
}

size_t maki_wire_counted(maki_protocol protocol, uint64_t tokens, char out[MAKI_WIRE_COUNTED])
{
    const char *name = maki_protocol_of(protocol)->counted;
    int n = snprintf(out, MAKI_WIRE_COUNTED, "{\"%s\":%llu}", name ? name : "input_tokens",
                     (unsigned long long)tokens);
    return (size_t)n;
}
