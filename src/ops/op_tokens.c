/* op_tokens.c -- tokens.*: counting, encoding, families of models, calibration.
 *
 * `content` alone is counted by the reference's rules.  Any other field selects the count of a model: its family, encoding
 * and calibration determine a factor for text tokens; fixed counts (images, files, the chat format) are added. */
#include <math.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "base/text.h"
#include "ops/op_common.h"
#include "ops/operation.h"
#include "reference/usage.h"
#include "token/content.h"
#include "token/family.h"
#include "token/text_count.h"
#include "token/tools_count.h"

static maki_status answer_tokens(maki_jw *out, double tokens)
{
    maki_jw_print(out, "{'tokens':%f}", tokens);
    return MAKI_OK;
}

maki_status maki_op_tokens_estimate(maki_op_call *call, maki_jw *out, maki_err *err)
{
    (void)err;
    maki_str text = maki_json_strip_quotes(maki_input_string(call, "text"));
    return answer_tokens(out, maki_estimate_tokens(text));
}

maki_status maki_op_tokens_context(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_str events;
    maki_usage usage;
    maki_input_value(call, "events", &events);
    maki_status st = maki_usage_of(events, call->arena, &usage, err);
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'contextTokens':%f,'totalCost':%f}", usage.context_tokens,
                  usage.total_cost);
    return MAKI_OK;
}

/* ---- which tokenizer ------------------------------------------------------------------------------ */

/* The tokenizer that `model` and `encoding` of a call select. */
typedef struct tokenizer_choice {
    const maki_family *family;
    const maki_encoding *encoding;
    const maki_image_rule *image; /* NULL: by the shape of each block */
    maki_str model;               /* its text; len 0: not given */
    maki_calibration calibration; /* no samples: none */
} tokenizer_choice;

static maki_status read_encoding(const maki_op_call *call, maki_str name, tokenizer_choice *out,
                                 maki_err *err)
{
    maki_str text = maki_json_text(name, call->arena);
    const maki_encoding *encoding;
    for (size_t i = 0; (encoding = maki_encoding_at(i)) != NULL; i++) {
        if (maki_str_equal(text, maki_str_of(maki_encoding_name(encoding)))) {
            out->encoding = encoding;
            out->family = maki_family_of_encoding(encoding);
            return MAKI_OK;
        }
    }
    return maki_field_invalid(call, name, err,
                              "encoding must be o200k_base, cl100k_base or claude");
}

/* The entry of the model in `calibration`, if there is one. */
static maki_status read_calibration(const maki_op_call *call, maki_str model, maki_calibration *out,
                                    maki_err *err)
{
    maki_str all, entry = { 0 };
    if (!maki_input_value(call, "calibration", &all)) return MAKI_OK;
    MAKI_JSON_EACH(item, maki_json_items(all)) {
        maki_str key = { item.key.ptr - 1, item.key.len + 2 };
        if (maki_json_same_text(key, model)) entry = item.value;
    }
    if (entry.len == 0 || maki_calibration_parse(entry, out)) return MAKI_OK;
    return maki_field_invalid(call, entry, err,
                              "an entry of calibration must be {factor, error, samples}");
}

static maki_status read_choice(const maki_op_call *call, tokenizer_choice *out, maki_err *err)
{
    maki_str model, encoding;
    *out = (tokenizer_choice){ .encoding = maki_encoding_find("o200k_base") };
    out->family = maki_family_of_encoding(out->encoding);
    if (maki_input_value(call, "model", &model)) {
        out->model = maki_json_text(model, call->arena);
        maki_status st = maki_arena_status(call->arena, err);
        if (st == MAKI_OK) st = read_calibration(call, model, &out->calibration, err);
        if (st != MAKI_OK) return st;
        out->family = maki_family_of(out->model);
        out->image = maki_image_rule_of(out->model);
        out->encoding = maki_encoding_find(out->family->encoding);
    }
    if (maki_input_value(call, "encoding", &encoding)) {
        out->calibration = (maki_calibration){ 0 };
        return read_encoding(call, encoding, out, err);
    }
    return MAKI_OK;
}

/* ---- tokens.count --------------------------------------------------------------------------------- */

/* `content` by the reference's rules. */
static maki_status count_reference(maki_op_call *call, maki_str content, maki_jw *out,
                                   maki_err *err)
{
    maki_counter counter;
    maki_str block;
    size_t n = 0;
    double tokens = 0;
    maki_json_kind kind = maki_json_kind_of(content);
    maki_status st = maki_field_counter(call, "o200k", &counter, err);
    if (st != MAKI_OK) return st;
    size_t capacity = kind == MAKI_JSON_ARRAY ? maki_json_count(content) : 1;
    maki_str *items = maki_arena_array(call->arena, capacity, sizeof *items);
    if (!items) return maki_arena_status(call->arena, err);
    maki_blocks blocks = maki_content_blocks(content);
    while (maki_blocks_next(&blocks, &block))
        items[n++] = block;
    st = counter.count(&counter, items, n, &tokens, err);
    return st == MAKI_OK ? answer_tokens(out, tokens) : st;
}

/* The count of one message, or of a text outside of messages. */
typedef struct message_count {
    maki_part_counts parts;
    uint64_t overhead;
} message_count;

/* Everything that was counted. */
typedef struct total_count {
    message_count sum;
    uint64_t tools, reply;
    message_count *each; /* of the messages; NULL without `detail` */
    size_t messages;
    bool chat; /* there are messages */
} total_count;

static void add_count(message_count *sum, const message_count *one)
{
    sum->parts.text += one->parts.text;
    sum->parts.reasoning += one->parts.reasoning;
    sum->parts.calls += one->parts.calls;
    sum->parts.results += one->parts.results;
    sum->parts.images += one->parts.images;
    sum->parts.files += one->parts.files;
    sum->parts.estimated |= one->parts.estimated;
    sum->overhead += one->overhead;
}

/* The tokens that the factor applies to, and those it does not. */
static uint64_t scaled_part(const message_count *one)
{
    const maki_part_counts *p = &one->parts;
    return p->text + p->reasoning + p->calls + p->results;
}

static uint64_t fixed_part(const message_count *one)
{
    return one->parts.images + one->parts.files + one->overhead;
}

static double scale_tokens(const tokenizer_choice *c, uint64_t scaled)
{
    double factor = maki_family_text_scale(c->family, &c->calibration);
    return factor == 1 ? (double)scaled : ceil((double)scaled * factor);
}

static maki_status count_message(const tokenizer_choice *c, const maki_content_rules *rules,
                                 maki_str message, message_count *out, maki_err *err)
{
    maki_str value;
    uint64_t tokens = 0;
    maki_status st = MAKI_OK;
    *out = (message_count){ .overhead = c->family->per_message };
    if (maki_field(message, "content", &value))
        st = maki_count_content(rules, value, &out->parts, err);
    if (st == MAKI_OK && maki_field(message, "parts", &value)) /* Gemini */
        st = maki_count_content(rules, value, &out->parts, err);
    if (st == MAKI_OK && maki_field(message, "tool_calls", &value))
        st = maki_count_calls(rules, value, &out->parts, err);
    if (st == MAKI_OK && maki_field(message, "images", &value)) /* Ollama */
        maki_count_images(rules, value, &out->parts);
    if (st == MAKI_OK && c->family->per_name && maki_field(message, "name", &value) &&
        maki_json_kind_of(value) == MAKI_JSON_STRING) {
        st = maki_count_json_text(rules->tokenizer, value, &tokens, err);
        out->parts.text += tokens;
        out->overhead += c->family->per_name;
    }
    return st;
}

static maki_status count_messages(maki_op_call *call, const tokenizer_choice *c,
                                  const maki_content_rules *rules, maki_str messages,
                                  total_count *all, maki_err *err)
{
    maki_status st = MAKI_OK;
    all->chat = true;
    all->reply = c->family->per_reply;
    if (maki_input_bool(call, "detail", false)) {
        size_t n = maki_json_count(messages);
        all->each = maki_arena_array(call->arena, n ? n : 1, sizeof *all->each);
        if (!all->each) return maki_arena_status(call->arena, err);
    }
    MAKI_JSON_EACH_WHILE(st == MAKI_OK, item, maki_json_items(messages)) {
        message_count one;
        if (maki_json_kind_of(item.value) != MAKI_JSON_OBJECT) {
            return maki_field_invalid(call, item.value, err, "messages[%zu] must be an object",
                                      all->messages);
        }
        st = count_message(c, rules, item.value, &one, err);
        if (st != MAKI_OK) return st;
        add_count(&all->sum, &one);
        if (all->each) all->each[all->messages] = one;
        all->messages++;
    }
    return st;
}

static maki_status count_all(maki_op_call *call, const tokenizer_choice *c, total_count *all,
                             maki_err *err)
{
    maki_str value;
    maki_content_rules rules = { .image = c->image };
    maki_part_counts *parts = &all->sum.parts;
    uint64_t tokens = 0;
    maki_status st = maki_tokenizer_of(call->m, c->encoding, &rules.tokenizer, err);
    if (st == MAKI_OK && maki_input_value(call, "text", &value)) {
        st = maki_count_json_text(rules.tokenizer, value, &tokens, err);
        parts->text += tokens;
    }
    if (st == MAKI_OK && maki_input_value(call, "content", &value)) {
        st = maki_count_content(&rules, value, parts, err);
    }
    if (st == MAKI_OK && maki_input_value(call, "system", &value)) {
        st = maki_count_content(&rules, value, parts, err);
        all->sum.overhead += c->family->per_message;
        all->chat = true;
    }
    if (st == MAKI_OK && maki_input_value(call, "messages", &value)) {
        st = count_messages(call, c, &rules, value, all, err);
    }
    if (st == MAKI_OK && maki_input_value(call, "tools", &value)) {
        st = maki_count_tools(rules.tokenizer, c->family, value, &all->tools, err);
    }
    return st;
}

/* The largest likely error of the sum: that of the family; where that is 0, of an estimate or of the wrapping of calls,
 * which no provider publishes. */
static double estimate_error(const tokenizer_choice *c, const total_count *all)
{
    const double estimate = 0.25, wrapping = 0.05;
    const maki_part_counts *p = &all->sum.parts;
    double error = maki_family_text_error(c->family, &c->calibration);
    if (error > 0) return error;
    if (p->estimated) return estimate;
    return all->tools || (all->chat && (p->calls || p->results)) ? wrapping : 0;
}

static void write_message(maki_jw *out, const tokenizer_choice *c, const message_count *one)
{
    const maki_part_counts *p = &one->parts;
    maki_jw_print(out,
                  "{'tokens':%f,'text':%i,'reasoning':%I,'calls':%I,'results':%I,'images':%I,"
                  "'files':%I,'overhead':%I}",
                  scale_tokens(c, scaled_part(one)) + (double)fixed_part(one), p->text,
                  p->reasoning, p->calls, p->results, p->images, p->files, one->overhead);
}

static void write_family(maki_jw *out, const tokenizer_choice *c)
{
    maki_jw_print(out, "'family':%z,'encoding':%z,'factor':%f", c->family->name,
                  maki_encoding_name(c->encoding),
                  maki_family_text_scale(c->family, &c->calibration));
}

static void write_counts(maki_jw *out, const tokenizer_choice *c, const total_count *all)
{
    double error = estimate_error(c, all);
    uint64_t scaled = scaled_part(&all->sum) + all->tools;
    uint64_t fixed = fixed_part(&all->sum) + all->reply;
    maki_jw_print(out, "{'tokens':%f,'exact':%b,'error':%f",
                  scale_tokens(c, scaled) + (double)fixed, error == 0, error);
    write_family(out, c);
    maki_jw_print(out, "'counted':%i,'fixed':%i,'tools':%I", scaled, fixed, all->tools);
    if (all->chat) maki_jw_print(out, "'reply':%i", all->reply);
    if (all->each) {
        maki_jw_field_array(out, "perMessage");
        for (size_t i = 0; i < all->messages; i++)
            write_message(out, c, &all->each[i]);
        maki_jw_end_array(out);
    }
    maki_jw_end_object(out);
}

maki_status maki_op_tokens_count(maki_op_call *call, maki_jw *out, maki_err *err)
{
    static const char *const selecting[] = { "text",  "messages", "system", "tools",
                                             "model", "encoding", "detail" };
    maki_str value, content = maki_input_string(call, "content"); /* null: empty */
    bool has_content = maki_json_get(call->input, MAKI_LIT("content"), &value), by_model = false;
    tokenizer_choice choice;
    total_count all = { 0 };
    maki_json_kind kind = maki_json_kind_of(content);
    if (kind != MAKI_JSON_STRING && kind != MAKI_JSON_ARRAY) {
        return maki_field_invalid(call, content, err,
                                  "content must be a string or an array of blocks");
    }
    for (size_t i = 0; i < sizeof selecting / sizeof selecting[0]; i++) {
        bool given = maki_input_value(call, selecting[i], &value);
        by_model |= given;
        has_content |= given && i < 4;
    }
    if (!has_content) {
        return maki_fail(err, MAKI_INVALID,
                         "content is missing from the input at byte %zu, or text, messages, "
                         "system or tools; see maki op tokens.count --help",
                         (size_t)(call->input.ptr - call->input_start));
    }
    if (!by_model) return count_reference(call, content, out, err);
    maki_status st = read_choice(call, &choice, err);
    if (st == MAKI_OK) st = count_all(call, &choice, &all, err);
    if (st == MAKI_OK) write_counts(out, &choice, &all);
    return st;
}

/* ---- tokens.encode, tokens.decode ----------------------------------------------------------------- */

typedef struct id_list {
    maki_jw *out;
    uint64_t n;
} id_list;

static maki_status write_ids(void *ctx, const uint32_t *ids, size_t n, maki_err *err)
{
    id_list *list = ctx;
    (void)err; /* the writer reports its own failure */
    for (size_t i = 0; i < n; i++)
        maki_jw_int(list->out, ids[i]);
    list->n += n;
    return list->out->status;
}

maki_status maki_op_tokens_encode(maki_op_call *call, maki_jw *out, maki_err *err)
{
    tokenizer_choice choice;
    maki_tokenizer *t = NULL, *special_tokenizer = NULL;
    maki_tokenizer_options options = MAKI_TOKENIZER_OPTIONS_INIT;
    id_list ids = { .out = out };
    maki_status st = read_choice(call, &choice, err);
    maki_str text = maki_input_text(call, "text");
    if (st == MAKI_OK) st = maki_arena_status(call->arena, err);
    options.special = maki_input_bool(call, "special", false);
    if (st == MAKI_OK && options.special) {
        st = maki_tokenizer_open(&call->m->env, choice.encoding, &options, &special_tokenizer, err);
        t = special_tokenizer;
    } else if (st == MAKI_OK) {
        st = maki_tokenizer_of(call->m, choice.encoding, &t, err);
    }
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'tokens':[");
    st = maki_tokenizer_encode(t, text, write_ids, &ids, err);
    maki_jw_print(out, "],'count':%i,'encoding':%z}", ids.n, maki_encoding_name(choice.encoding));
    maki_tokenizer_close(special_tokenizer);
    return st;
}

static maki_status read_ids(const maki_op_call *call, const maki_encoding *encoding, maki_str array,
                            maki_buf *bytes, maki_err *err)
{
    maki_json_iter iter = maki_json_items(array);
    maki_json_item item;
    for (size_t i = 0; maki_json_next(&iter, &item); i++) {
        bool number = maki_json_kind_of(item.value) == MAKI_JSON_NUMBER;
        double id = number ? maki_json_double(item.value) : -1;
        bool is_id = id >= 0 && id == floor(id) && id < (double)maki_encoding_size(encoding);
        maki_str token = is_id ? maki_encoding_token(encoding, (uint32_t)id) : (maki_str){ "", 0 };
        if (token.len == 0) {
            return maki_field_invalid(call, item.value, err, "tokens[%zu] is not a token of %s", i,
                                      maki_encoding_name(encoding));
        }
        maki_buf_add(bytes, token);
        maki_status st = maki_buf_status(bytes, err);
        if (st != MAKI_OK) return st;
    }
    return MAKI_OK;
}

maki_status maki_op_tokens_decode(maki_op_call *call, maki_jw *out, maki_err *err)
{
    tokenizer_choice choice;
    maki_str array;
    size_t bad = 0;
    maki_buf bytes = maki_buf_new(call->m->env.alloc, call->m->max_memory), base64 = bytes;
    maki_input_value(call, "tokens", &array);
    maki_status st = read_choice(call, &choice, err);
    if (st == MAKI_OK) st = read_ids(call, choice.encoding, array, &bytes, err);
    bool valid = maki_utf8_valid(maki_buf_str(&bytes), &bad);
    if (!valid) maki_buf_add_base64(&base64, maki_buf_str(&bytes));
    if (st == MAKI_OK) st = maki_buf_status(&base64, err);
    if (st == MAKI_OK && valid)
        maki_jw_print(out, "{'valid':true,'text':%s}", maki_buf_str(&bytes));
    else if (st == MAKI_OK)
        maki_jw_print(out, "{'valid':false,'badByte':%i,'bytes':%s}", bad, maki_buf_str(&base64));
    maki_buf_free(&bytes);
    maki_buf_free(&base64);
    return st;
}

/* ---- tokens.models, tokens.calibrate ---------------------------------------------------------------- */

static void write_family_row(maki_jw *out, const maki_family *family)
{
    maki_str pattern;
    maki_jw_print(out, "{'family':%z,'encoding':%z,'factor':%f,'error':%f,'exact':%b,'models':[",
                  family->name, family->encoding, maki_family_text_scale(family, NULL),
                  maki_family_text_error(family, NULL), maki_family_exact(family));
    for (size_t i = 0; maki_family_pattern(family, i, &pattern); i++)
        maki_jw_string(out, pattern);
    maki_jw_print(out, "]}");
}

maki_status maki_op_tokens_models(maki_op_call *call, maki_jw *out, maki_err *err)
{
    tokenizer_choice choice;
    const maki_family *family;
    maki_status st = read_choice(call, &choice, err);
    if (st != MAKI_OK) return st;
    maki_jw_begin_object(out);
    if (choice.model.len) {
        double error = maki_family_text_error(choice.family, &choice.calibration);
        write_family(out, &choice);
        maki_jw_print(out, "'exact':%b,'error':%f,'perMessage':%i,'perReply':%i", error == 0, error,
                      (uint64_t)choice.family->per_message, (uint64_t)choice.family->per_reply);
    } else {
        maki_jw_field_array(out, "families");
        for (size_t i = 0; (family = maki_family_at(i)) != NULL; i++)
            write_family_row(out, family);
        maki_jw_end_array(out);
    }
    maki_jw_end_object(out);
    return MAKI_OK;
}

maki_status maki_op_tokens_calibrate(maki_op_call *call, maki_jw *out, maki_err *err)
{
    tokenizer_choice choice;
    maki_str all = MAKI_LIT("{}"), model = maki_input_string(call, "model");
    double reported = maki_input_number(call, "reported", 0) - maki_input_number(call, "fixed", 0);
    maki_status st = read_choice(call, &choice, err);
    if (st != MAKI_OK) return st;
    bool used = maki_calibration_add(&choice.calibration, choice.family,
                                     maki_input_number(call, "counted", 0), reported);
    maki_input_value(call, "calibration", &all);
    maki_jw_print(out, "{'calibration':{");
    MAKI_JSON_EACH(item, maki_json_items(all)) {
        maki_str key = { item.key.ptr - 1, item.key.len + 2 };
        if (maki_json_same_text(key, model)) continue;
        maki_jw_begin_value(out);
        maki_jw_bytes(out, key);
        maki_jw_bytes(out, MAKI_LIT(":"));
        maki_jw_bytes(out, item.value);
    }
    if (choice.calibration.samples) {
        maki_jw_begin_value(out);
        maki_jw_bytes(out, model);
        maki_jw_bytes(out, MAKI_LIT(":"));
        out->after_key = true;
        maki_calibration_write(out, &choice.calibration);
    }
    maki_jw_print(out, "},'used':%b,'factor':%f,'error':%f,'samples':%i}", used,
                  maki_family_text_scale(choice.family, &choice.calibration),
                  maki_family_text_error(choice.family, &choice.calibration),
                  (uint64_t)choice.calibration.samples);
    return MAKI_OK;
}
