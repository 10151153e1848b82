/* content.c -- the tokens of messages, block by block.
 *
 * In:     content, calls or images of a message, in the shape of any provider: JSON that passed maki_json_check.
 * Out:    tokens added to the part each block belongs to; `estimated` when a size or length was not known.
 * Always: an unknown block counts as its compact JSON, never as nothing. */
#include "token/content.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "token/text_count.h"

enum {
    DEPTH_MAX = 8,             /* results in results: deeper ones count as JSON */
    TOKENS_PER_PAGE = 2250,    /* of a document: the mean of what Anthropic documents */
    BYTES_PER_PAGE = 65536,    /* of a document, estimated */
    VIDEO_BYTES_PER_S = 250000 /* estimated */
};

/* ---- the fields of a block ---------------------------------------------------------------------------- */

/* All fields are looked up in one pass, because a block may be long.  Names for the same thing share a slot. */
/* clang-format off */
typedef enum slot {
    TYPE, TEXT, THINKING, SUMMARY, NAME, INPUT, CONTENT, SOURCE, IMAGE_URL, DETAIL, DATA, AUDIO, FILE_DATA, INLINE_DATA,
    FUNCTION, RESPONSE, TITLE, MIME, SLOTS
} slot;

#define KEY(name) { name, sizeof(name) - 1 }
static const struct slot_row {
    maki_str name;
    slot slot;
} slot_rows[] = {
    { KEY("type"), TYPE },
    { KEY("text"), TEXT }, { KEY("refusal"), TEXT },
    { KEY("thinking"), THINKING }, { KEY("reasoning"), THINKING },
    { KEY("summary"), SUMMARY },
    { KEY("name"), NAME },
    { KEY("input"), INPUT }, { KEY("arguments"), INPUT }, { KEY("args"), INPUT },
    { KEY("content"), CONTENT }, { KEY("output"), CONTENT }, { KEY("response"), CONTENT },
    { KEY("source"), SOURCE }, { KEY("file"), SOURCE },
    { KEY("image_url"), IMAGE_URL }, { KEY("url"), IMAGE_URL },
    { KEY("detail"), DETAIL },
    { KEY("data"), DATA }, { KEY("encrypted_content"), DATA },
    { KEY("input_audio"), AUDIO },
    { KEY("file_data"), FILE_DATA },
    { KEY("inlineData"), INLINE_DATA }, { KEY("inline_data"), INLINE_DATA },
    { KEY("function"), FUNCTION }, { KEY("functionCall"), FUNCTION }, { KEY("function_call"), FUNCTION },
    { KEY("custom"), FUNCTION },
    { KEY("functionResponse"), RESPONSE }, { KEY("function_response"), RESPONSE },
    { KEY("title"), TITLE },
    { KEY("mimeType"), MIME }, { KEY("mime_type"), MIME }, { KEY("media_type"), MIME },
};
/* clang-format on */

typedef struct fields {
    maki_str value[SLOTS]; /* len 0: missing or null */
} fields;

static fields fields_of(maki_str object)
{
    fields f = { 0 };
    maki_json_iter iter = maki_json_items(object);
    maki_json_item item;
    while (iter.object && maki_json_next(&iter, &item)) {
        for (size_t i = 0; i < sizeof slot_rows / sizeof slot_rows[0]; i++) {
            const struct slot_row *row = &slot_rows[i];
            if (item.key.len < row->name.len || !maki_json_key_is(item.key, row->name)) continue;
            if (maki_json_kind_of(item.value) != MAKI_JSON_NULL) f.value[row->slot] = item.value;
            break;
        }
    }
    return f;
}

static bool is_string(maki_str value)
{
    return value.len > 0 && value.ptr[0] == '"';
}

static bool text_starts(maki_str string, maki_str prefix)
{
    char head[16]; /* case is ignored, as in MIME types and URL schemes */
    size_t n = is_string(string) ? maki_json_copy_text(string, head, sizeof head) : 0;
    assert(prefix.len <= sizeof head);
    return n >= prefix.len && strncasecmp(head, prefix.ptr, prefix.len) == 0;
}

/* ---- counting ------------------------------------------------------------------------------------------ */

typedef struct counting {
    const maki_content_rules *rules;
    maki_part_counts *parts;
    maki_err *err;
    unsigned depth;
    uint64_t *text_sum; /* the part that texts are added to */
} counting;

static maki_status count_block(counting *c, maki_str block);

/* A string counts as its text, any other value as compact JSON, a missing one as 0. */
static maki_status add_value(counting *c, maki_str value, uint64_t *sum)
{
    maki_tokenizer *t = c->rules->tokenizer;
    uint64_t tokens = 0;
    if (value.len == 0) return MAKI_OK;
    maki_status st = is_string(value) ? maki_count_json_text(t, value, &tokens, c->err)
                                      : maki_count_compact(t, value, &tokens, c->err);
    if (st == MAKI_OK) *sum += tokens;
    return st;
}

/* Count a string, or blocks, whose texts are added to *sum; deeper than DEPTH_MAX as compact JSON. */
static maki_status add_blocks(counting *c, maki_str value, uint64_t *sum)
{
    maki_json_kind kind = maki_json_kind_of(value);
    maki_json_iter iter = maki_json_items(value);
    maki_json_item item;
    maki_status st = MAKI_OK;
    uint64_t *outer_sum = c->text_sum;
    bool blocks = kind == MAKI_JSON_ARRAY || kind == MAKI_JSON_OBJECT;
    if (!blocks || c->depth >= DEPTH_MAX) return add_value(c, value, sum);
    c->depth++;
    c->text_sum = sum;
    if (kind == MAKI_JSON_OBJECT) {
        st = count_block(c, value);
    } else {
        while (st == MAKI_OK && maki_json_next(&iter, &item))
            st = count_block(c, item.value);
    }
    c->depth--;
    c->text_sum = outer_sum;
    return st;
}

static maki_status add_estimate(counting *c, double tokens)
{
    c->parts->files += (uint64_t)ceil(tokens);
    c->parts->estimated = true;
    return MAKI_OK;
}

static double decoded_size(maki_str string)
{
    return is_string(string) ? maki_base64_size(maki_json_strip_quotes(string)) : 0;
}

/* ---- the kinds of blocks -------------------------------------------------------------------------------- */

static maki_status count_text(counting *c, const fields *f)
{
    return add_value(c, f->value[TEXT], c->text_sum);
}

static maki_status count_reasoning(counting *c, const fields *f)
{
    uint64_t *sum = &c->parts->reasoning;
    maki_status st = add_value(c, f->value[THINKING], sum);
    if (st == MAKI_OK) st = add_value(c, f->value[TEXT], sum);
    if (st == MAKI_OK) st = add_blocks(c, f->value[SUMMARY], sum);
    if (st == MAKI_OK) st = add_blocks(c, f->value[CONTENT], sum);
    if (is_string(f->value[DATA])) { /* encrypted: four bytes a token, as of plain text */
        *sum += (uint64_t)ceil(decoded_size(f->value[DATA]) / 4);
        c->parts->estimated = true;
    }
    return st;
}

static maki_status count_call(counting *c, const fields *f)
{
    uint64_t *sum = &c->parts->calls;
    maki_status st = add_value(c, f->value[NAME], sum);
    return st == MAKI_OK ? add_value(c, f->value[INPUT], sum) : st;
}

static maki_status count_result(counting *c, const fields *f)
{
    return add_blocks(c, f->value[CONTENT], &c->parts->results);
}

/* One image: its data (len 0: only a URL) and the rule of its block. */
static maki_status add_image(counting *c, maki_str data, const maki_image_rule *rule,
                             bool low_detail)
{
    maki_image_size size = { 0 };
    if (c->rules->image) rule = c->rules->image;
    bool fixed_count = low_detail && rule->kind == MAKI_IMAGE_TILES;
    bool known = is_string(data) && maki_image_measure(maki_json_strip_quotes(data), &size);
    if (!known && !fixed_count) c->parts->estimated = true;
    c->parts->images += maki_image_tokens(rule, size, low_detail);
    return MAKI_OK;
}

static maki_status count_image(counting *c, const fields *f)
{
    maki_str url = f->value[IMAGE_URL], data = f->value[DATA], detail = f->value[DETAIL];
    bool has_source = maki_json_kind_of(f->value[SOURCE]) == MAKI_JSON_OBJECT;
    bool is_openai =
        !maki_json_text_is(f->value[TYPE], MAKI_LIT("image")) || (url.len && !has_source);
    const maki_image_rule *rule = is_openai ? &maki_image_openai : &maki_image_anthropic;
    if (has_source) {
        data = fields_of(f->value[SOURCE]).value[DATA];
    } else if (url.len) {
        if (maki_json_kind_of(url) == MAKI_JSON_OBJECT) {
            fields inner = fields_of(url);
            url = inner.value[IMAGE_URL];
            detail = inner.value[DETAIL];
        }
        data = text_starts(url, MAKI_LIT("data:")) ? url : (maki_str){ 0 };
    }
    bool low_detail = is_string(detail) && maki_json_text_is(detail, MAKI_LIT("low"));
    return add_image(c, data, rule, low_detail);
}

static maki_status add_base64_text(counting *c, maki_str data)
{
    maki_base64 reader = maki_base64_of(maki_json_strip_quotes(data));
    unsigned char bytes[1024];
    maki_text_count text;
    uint64_t tokens = 0;
    maki_text_count_begin(&text, c->rules->tokenizer, c->err);
    for (size_t n; (n = maki_base64_read(&reader, bytes, sizeof bytes)) > 0;)
        maki_text_count_bytes(&text, (maki_str){ (const char *)bytes, n });
    maki_status st = maki_text_count_end(&text, &tokens);
    c->parts->files += tokens;
    return st;
}

/* Count a file by its MIME type, or else by that of its data URL.  Only text is counted exactly. */
static maki_status add_file(counting *c, maki_str mime, maki_str data)
{
    bool text = text_starts(mime, MAKI_LIT("text/")) || text_starts(data, MAKI_LIT("data:text/"));
    if (text && is_string(data)) return add_base64_text(c, data);
    double pages = ceil(decoded_size(data) / BYTES_PER_PAGE);
    return add_estimate(c, TOKENS_PER_PAGE * (pages > 1 ? pages : 1));
}

static maki_status count_document(counting *c, const fields *f)
{
    uint64_t *sum = &c->parts->files;
    fields source = fields_of(f->value[SOURCE]);
    maki_str kind = source.value[TYPE], data = source.value[DATA];
    maki_status st = add_value(c, f->value[TITLE], sum);
    if (st != MAKI_OK) return st;
    if (is_string(kind) && maki_json_text_is(kind, MAKI_LIT("text")))
        return add_value(c, data, sum);
    if (source.value[CONTENT].len) return add_blocks(c, source.value[CONTENT], sum);
    if (source.value[FILE_DATA].len) data = source.value[FILE_DATA];
    if (f->value[FILE_DATA].len) data = f->value[FILE_DATA];
    return add_file(c, source.value[MIME], data);
}

static maki_status count_audio(counting *c, const fields *f)
{
    const double per_second = 10;
    maki_str data = f->value[DATA];
    if (f->value[AUDIO].len) data = fields_of(f->value[AUDIO]).value[DATA];
    double seconds = is_string(data) ? maki_audio_seconds(maki_json_strip_quotes(data)) : 1;
    return add_estimate(c, per_second * seconds);
}

/* Gemini's {mimeType, data}. */
static maki_status count_inline(counting *c, maki_str value)
{
    const double audio_rate = 32, video_rate = 263; /* tokens a second */
    fields f = fields_of(value);
    maki_str data = f.value[DATA], mime = f.value[MIME];
    if (text_starts(mime, MAKI_LIT("audio/"))) {
        double seconds = is_string(data) ? maki_audio_seconds(maki_json_strip_quotes(data)) : 1;
        return add_estimate(c, audio_rate * seconds);
    }
    if (text_starts(mime, MAKI_LIT("video/"))) {
        return add_estimate(c, video_rate * ceil(decoded_size(data) / VIDEO_BYTES_PER_S));
    }
    if (text_starts(mime, MAKI_LIT("text/")) || text_starts(mime, MAKI_LIT("application/")))
        return add_file(c, mime, data);
    return add_image(c, data, &maki_image_gemini, false);
}

static const struct kind_row {
    const char *types;
    maki_status (*count)(counting *c, const fields *f);
} kind_rows[] = {
    { "text|input_text|output_text|summary_text|reasoning_text|refusal", count_text },
    { "tool_use|server_tool_use|mcp_tool_use|function_call|custom_tool_call", count_call },
    { "tool_result|mcp_tool_result|web_search_tool_result|function_call_output|"
      "custom_tool_call_output",
      count_result },
    { "thinking|reasoning|redacted_thinking", count_reasoning },
    { "image|image_url|input_image", count_image },
    { "document|file|input_file", count_document },
    { "input_audio|audio", count_audio },
};

static maki_status count_block(counting *c, maki_str block)
{
    if (maki_json_kind_of(block) != MAKI_JSON_OBJECT) return add_value(c, block, c->text_sum);
    fields f = fields_of(block);
    for (size_t i = 0; is_string(f.value[TYPE]) && i < sizeof kind_rows / sizeof kind_rows[0];
         i++) {
        if (maki_json_text_in(f.value[TYPE], kind_rows[i].types)) return kind_rows[i].count(c, &f);
    }
    if (f.value[INLINE_DATA].len) return count_inline(c, f.value[INLINE_DATA]);
    if (f.value[FUNCTION].len) {
        fields call = fields_of(f.value[FUNCTION]);
        return count_call(c, &call);
    }
    if (f.value[RESPONSE].len) {
        fields result = fields_of(f.value[RESPONSE]);
        return count_result(c, &result);
    }
    if (!f.value[TYPE].len && f.value[TEXT].len) return count_text(c, &f);
    c->parts->estimated = true;
    return add_value(c, block, c->text_sum);
}

/* ---- messages -------------------------------------------------------------------------------------------- */

uint64_t maki_part_counts_sum(const maki_part_counts *p)
{
    return p->text + p->reasoning + p->calls + p->results + p->images + p->files;
}

maki_status maki_count_content(const maki_content_rules *rules, maki_str content,
                               maki_part_counts *parts, maki_err *err)
{
    counting c = { .rules = rules, .parts = parts, .err = err };
    if (maki_json_kind_of(content) == MAKI_JSON_NULL) return MAKI_OK;
    return add_blocks(&c, content, &parts->text);
}

maki_status maki_count_calls(const maki_content_rules *rules, maki_str calls,
                             maki_part_counts *parts, maki_err *err)
{
    counting c = { .rules = rules, .parts = parts, .err = err };
    maki_json_iter iter = maki_json_items(calls);
    maki_json_item item;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && !iter.object && maki_json_next(&iter, &item)) {
        fields f = fields_of(item.value);
        if (f.value[FUNCTION].len) f = fields_of(f.value[FUNCTION]);
        st = count_call(&c, &f);
    }
    return st;
}

void maki_count_images(const maki_content_rules *rules, maki_str images, maki_part_counts *parts)
{
    counting c = { .rules = rules, .parts = parts };
    maki_json_iter iter = maki_json_items(images);
    maki_json_item item;
    while (!iter.object && maki_json_next(&iter, &item))
        if (is_string(item.value)) (void)add_image(&c, item.value, &maki_image_anthropic, false);
}

/* The count without a tokenizer: UTF-16 units / 4, and MAKI_PER_MESSAGE. */
static uint64_t estimate(maki_str content, maki_str calls)
{
    uint64_t units = 0;
    if (maki_json_kind_of(content) != MAKI_JSON_NULL) units += maki_json_utf16_len(content);
    if (calls.len) units += maki_json_utf16_len(calls);
    return (units + 3) / 4 + MAKI_PER_MESSAGE;
}

maki_status maki_count_message(maki_tokenizer *t, maki_str role, maki_str content,
                               maki_str tool_calls, uint64_t *tokens, maki_err *err)
{
    maki_content_rules rules = { .tokenizer = t };
    maki_part_counts parts = { 0 };
    (void)role; /* one of the MAKI_PER_MESSAGE tokens, in every encoding */
    if (!t) {
        *tokens = estimate(content, tool_calls);
        return MAKI_OK;
    }
    maki_status st = maki_count_content(&rules, content, &parts, err);
    if (st == MAKI_OK) st = maki_count_calls(&rules, tool_calls, &parts, err);
    if (st == MAKI_OK) *tokens = maki_part_counts_sum(&parts) + MAKI_PER_MESSAGE;
    return st;
}
