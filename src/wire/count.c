/* count.c -- count the tokens of a request (system prompt, tools, messages); write the response to count_tokens.
 *
 * The model's name decides encoding and family, and may follow the messages in the body: so the body is read twice, first
 * for its fields, then for its messages.  Tokens of texts are scaled by the family's factor; the overhead of each message
 * is added unscaled. */
#include <math.h>
#include <stdio.h>

#include "token/content.h"
#include "token/tools_count.h"
#include "wire/protocol.h"

typedef struct token_counter {
    const maki_family *family;
    maki_content_rules rules;
    maki_wire_tokens sum;                 /* unscaled */
    uint64_t system_count, message_count; /* each adds the overhead of a message */
} token_counter;

/* The system prompt: a string, blocks, or Gemini's {parts}. */
static maki_status count_system(token_counter *c, maki_str content, uint64_t *sum, maki_err *err)
{
    maki_part_counts parts = { 0 };
    maki_str system_parts = maki_member(content, MAKI_LIT("parts"));
    if (content.len == 0) return MAKI_OK;
    maki_status st =
        maki_count_content(&c->rules, system_parts.len ? system_parts : content, &parts, err);
    *sum += maki_part_counts_sum(&parts);
    c->system_count++;
    return st;
}

static maki_status count_row(void *ctx, const maki_wire_message *message, maki_err *err)
{
    token_counter *c = ctx;
    maki_part_counts parts = { 0 };
    maki_str content = maki_member(message->row, MAKI_LIT("content"));
    maki_str calls = maki_member(message->row, MAKI_LIT("tool_calls"));
    maki_status st = maki_count_content(&c->rules, content, &parts, err);
    maki_str images = maki_member(message->row, MAKI_LIT("images"));
    if (st == MAKI_OK && maki_is_array(calls)) st = maki_count_calls(&c->rules, calls, &parts, err);
    if (st == MAKI_OK && maki_is_array(images)) maki_count_images(&c->rules, images, &parts);
    *(message->system ? &c->sum.system : &c->sum.messages) += maki_part_counts_sum(&parts);
    *(message->system ? &c->system_count : &c->message_count) += 1;
    return st;
}

static maki_status ignore_message(void *ctx, const maki_wire_message *message, maki_err *err)
{
    (void)ctx, (void)message, (void)err;
    return MAKI_OK;
}

static void scale(const token_counter *c, maki_wire_tokens *out)
{
    double factor = maki_family_text_scale(c->family, NULL);
    uint64_t overhead = c->family->per_message;
    out->system = (uint64_t)ceil((double)c->sum.system * factor) + c->system_count * overhead;
    out->tools = (uint64_t)ceil((double)c->sum.tools * factor);
    out->messages = (uint64_t)ceil((double)c->sum.messages * factor) + c->message_count * overhead;
    out->all = out->system + out->tools + out->messages + c->family->per_reply;
}

/* `model`, or if it is empty the name in the body, decoded into `buffer`. */
static maki_str model_name(maki_str model, maki_str name_in_body, char *buffer, size_t size)
{
    if (model.len || name_in_body.len == 0) return model;
    return (maki_str){ buffer, maki_json_copy_text(name_in_body, buffer, size) };
}

/* A count_tokens request may wrap the request to count. */
static maki_status unwrap(const maki_protocol_spec *protocol, maki_str *body, maki_err *err)
{
    maki_str value;
    if (!protocol->count_wrappers) return MAKI_OK;
    maki_status st = maki_json_check(*body, &value, err);
    if (st != MAKI_OK) return st;
    maki_str wrapped = maki_member_any(value, protocol->count_wrappers);
    if (maki_is_object(wrapped)) *body = wrapped;
    return MAKI_OK;
}

maki_status maki_wire_count(const maki_env *env, maki_protocol protocol, maki_str body,
                            maki_str model, maki_wire_tokens *out, maki_err *err)
{
    maki_wire_request request = { 0 };
    token_counter c = { 0 };
    char name[256];
    maki_status st = unwrap(maki_protocol_of(protocol), &body, err);
    if (st == MAKI_OK)
        st = maki_wire_read(env, protocol, body, NULL, ignore_message, NULL, &request, NULL, err);
    if (st != MAKI_OK) return st;
    model = model_name(model, request.model, name, sizeof name);
    c.family = maki_family_of(model);
    c.rules.image = maki_image_rule_of(model);
    st = maki_tokenizer_open(env, maki_encoding_find(c.family->encoding), NULL, &c.rules.tokenizer,
                             err);
    if (st != MAKI_OK) return st;
    st = count_system(&c, request.system, &c.sum.system, err);
    if (st == MAKI_OK)
        st = maki_count_tools(c.rules.tokenizer, c.family, request.tools, &c.sum.tools, err);
    if (st == MAKI_OK)
        st = maki_wire_read(env, protocol, body, NULL, count_row, &c, &request, NULL, err);
    if (st == MAKI_OK) scale(&c, out);
    maki_tokenizer_close(c.rules.tokenizer);
    return st;
}

size_t maki_wire_print_count(maki_protocol protocol, uint64_t tokens, char out[MAKI_WIRE_COUNT_MAX])
{
    const char *name = maki_protocol_of(protocol)->count_field;
    int n = snprintf(out, MAKI_WIRE_COUNT_MAX, "{\"%s\":%llu}", name ? name : "input_tokens",
                     (unsigned long long)tokens);
    return (size_t)n;
}
