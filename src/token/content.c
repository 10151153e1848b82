/* content.c -- see content.h. */
#include "token/content.h"

#include <math.h>
#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "token/text_count.h"

enum {
    NESTED = 8,        /* results inside results: deeper ones count as JSON */
    PER_PAGE = 2250,   /* of a document, the middle of what Anthropic states */
    PAGE_BYTES = 65536 /* of a document, a guess */
};
static const double film_bytes = 250000; /* a second, a guess */

/* ---- the fields of a block ---------------------------------------------------------------------------- */

/* Found in one walk, because a block may be long.  Names of the other providers share a slot. */
typedef enum slot {
    TYPE,
    TEXT,
    THINKING,
    SUMMARY,
    NAME,
    INPUT,
    CONTENT,
    SOURCE,
    IMAGE_URL,
    DETAIL,
    DATA,
    AUDIO,
    FILE_DATA,
    INLINE_DATA,
    FUNCTION,
    RESPONSE,
    TITLE,
    MIME,
    SLOTS
} slot;

static const struct slot_row {
    maki_str name;
    slot slot;
} slot_rows[] = {
    { { "type", 4 }, TYPE },
    { { "text", 4 }, TEXT },
    { { "refusal", 7 }, TEXT },
    { { "thinking", 8 }, THINKING },
    { { "reasoning", 9 }, THINKING },
    { { "summary", 7 }, SUMMARY },
    { { "name", 4 }, NAME },
    { { "input", 5 }, INPUT },
    { { "arguments", 9 }, INPUT },
    { { "args", 4 }, INPUT },
    { { "content", 7 }, CONTENT },
    { { "output", 6 }, CONTENT },
    { { "source", 6 }, SOURCE },
    { { "image_url", 9 }, IMAGE_URL },
    { { "url", 3 }, IMAGE_URL },
    { { "detail", 6 }, DETAIL },
    { { "data", 4 }, DATA },
    { { "input_audio", 11 }, AUDIO },
    { { "file", 4 }, SOURCE },
    { { "file_data", 9 }, FILE_DATA },
    { { "inlineData", 10 }, INLINE_DATA },
    { { "inline_data", 11 }, INLINE_DATA },
    { { "function", 8 }, FUNCTION },
    { { "functionCall", 12 }, FUNCTION },
    { { "function_call", 13 }, FUNCTION },
    { { "custom", 6 }, FUNCTION },
    { { "functionResponse", 16 }, RESPONSE },
    { { "function_response", 17 }, RESPONSE },
    { { "response", 8 }, CONTENT },
    { { "title", 5 }, TITLE },
    { { "mimeType", 8 }, MIME },
    { { "mime_type", 9 }, MIME },
    { { "media_type", 10 }, MIME },
};

typedef struct fields {
    maki_str at[SLOTS]; /* len 0: not there, or null */
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
            bool nothing = maki_json_kind_of(item.value) == MAKI_JSON_NULL;
            f.at[row->slot] = nothing ? (maki_str){ 0 } : item.value;
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
    return is_string(string) && maki_str_starts(maki_json_inside(string), prefix);
}

/* ---- counting ------------------------------------------------------------------------------------------ */

typedef struct counting {
    const maki_content_rules *rules;
    maki_part_counts *parts;
    maki_err *err;
    unsigned depth;
    uint64_t *text; /* what texts are added to: those of a result are its own */
} counting;

static maki_status count_block(counting *c, maki_str block);

/* A string as its text, anything else as compact JSON; nothing as nothing. */
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

/* A string, or blocks whose text adds to *sum. */
static maki_status add_blocks(counting *c, maki_str value, uint64_t *sum)
{
    maki_json_kind kind = maki_json_kind_of(value);
    maki_json_iter iter = maki_json_items(value);
    maki_json_item item;
    maki_status st = MAKI_OK;
    uint64_t *outer = c->text;
    bool blocks = kind == MAKI_JSON_ARRAY || kind == MAKI_JSON_OBJECT;
    if (!blocks || c->depth >= NESTED) return add_value(c, value, sum);
    c->depth++;
    c->text = sum;
    if (kind == MAKI_JSON_OBJECT) {
        st = count_block(c, value);
    } else {
        while (st == MAKI_OK && maki_json_next(&iter, &item))
            st = count_block(c, item.value);
    }
    c->depth--;
    c->text = outer;
    return st;
}

static maki_status add_guessed(counting *c, double tokens)
{
    c->parts->files += (uint64_t)ceil(tokens);
    c->parts->guessed = true;
    return MAKI_OK;
}

/* What stands after the comma of "data:...;base64,", or all of it. */
static maki_str base64_of(maki_str string)
{
    maki_str inside = maki_json_inside(string);
    if (!maki_str_starts(inside, MAKI_LIT("data:"))) return inside;
    const char *comma = memchr(inside.ptr, ',', inside.len);
    return comma ? maki_str_from(inside, (size_t)(comma - inside.ptr) + 1) : (maki_str){ "", 0 };
}

static double bytes_of(maki_str string)
{
    return is_string(string) ? (double)base64_of(string).len * 3 / 4 : 0;
}

/* ---- the kinds of blocks -------------------------------------------------------------------------------- */

static maki_status count_text(counting *c, const fields *f)
{
    return add_value(c, f->at[TEXT], c->text);
}

static maki_status count_reasoning(counting *c, const fields *f)
{
    uint64_t *sum = &c->parts->reasoning;
    maki_status st = add_value(c, f->at[THINKING], sum);
    if (st == MAKI_OK) st = add_value(c, f->at[TEXT], sum);
    if (st == MAKI_OK) st = add_blocks(c, f->at[SUMMARY], sum);
    if (st == MAKI_OK) st = add_blocks(c, f->at[CONTENT], sum);
    if (is_string(f->at[DATA])) { /* encrypted: four bytes a token, as plain text has */
        *sum += (uint64_t)ceil(bytes_of(f->at[DATA]) / 4);
        c->parts->guessed = true;
    }
    return st;
}

static maki_status count_call(counting *c, const fields *f)
{
    uint64_t *sum = &c->parts->calls;
    maki_status st = add_value(c, f->at[NAME], sum);
    return st == MAKI_OK ? add_value(c, f->at[INPUT], sum) : st;
}

static maki_status count_result(counting *c, const fields *f)
{
    return add_blocks(c, f->at[CONTENT], &c->parts->results);
}

/* One image: its data (or a link: len 0) and the rule of its shape. */
static maki_status add_image(counting *c, maki_str data, const maki_image_rule *rule, bool low)
{
    maki_image_size size = { 0 };
    if (c->rules->image) rule = c->rules->image;
    bool free_of_size = low && rule->kind == MAKI_IMAGE_TILES;
    bool known = is_string(data) && maki_image_measure(base64_of(data), &size);
    if (!known && !free_of_size) c->parts->guessed = true;
    c->parts->images += maki_image_tokens(rule, size, low);
    return MAKI_OK;
}

static maki_status count_image(counting *c, const fields *f)
{
    maki_str link = f->at[IMAGE_URL], data = f->at[DATA], detail = f->at[DETAIL];
    const maki_image_rule *rule = &maki_image_anthropic;
    if (maki_json_kind_of(f->at[SOURCE]) == MAKI_JSON_OBJECT) {
        data = fields_of(f->at[SOURCE]).at[DATA];
    } else if (link.len) {
        rule = &maki_image_openai;
        if (maki_json_kind_of(link) == MAKI_JSON_OBJECT) {
            fields inner = fields_of(link);
            link = inner.at[IMAGE_URL];
            detail = inner.at[DETAIL];
        }
        data = text_starts(link, MAKI_LIT("data:")) ? link : (maki_str){ 0 };
    }
    bool low = is_string(detail) && maki_json_text_is(detail, MAKI_LIT("low"));
    return add_image(c, data, rule, low);
}

static maki_status add_pages(counting *c, maki_str data)
{
    double pages = ceil(bytes_of(data) / PAGE_BYTES);
    return add_guessed(c, PER_PAGE * (pages > 1 ? pages : 1));
}

static maki_status count_document(counting *c, const fields *f)
{
    uint64_t *sum = &c->parts->files;
    fields source = fields_of(f->at[SOURCE]);
    maki_str kind = source.at[TYPE], data = source.at[DATA];
    maki_status st = add_value(c, f->at[TITLE], sum);
    if (st != MAKI_OK) return st;
    if (is_string(kind) && maki_json_text_is(kind, MAKI_LIT("text")))
        return add_value(c, data, sum);
    if (source.at[CONTENT].len) return add_blocks(c, source.at[CONTENT], sum);
    if (source.at[FILE_DATA].len) data = source.at[FILE_DATA];
    if (f->at[FILE_DATA].len) data = f->at[FILE_DATA];
    return add_pages(c, data);
}

static maki_status count_audio(counting *c, const fields *f)
{
    const double per_second = 10;
    maki_str data = f->at[DATA];
    if (f->at[AUDIO].len) data = fields_of(f->at[AUDIO]).at[DATA];
    double seconds = is_string(data) ? maki_audio_seconds(base64_of(data)) : 1;
    return add_guessed(c, per_second * seconds);
}

/* Gemini's: {mimeType, data}. */
static maki_status count_inline(counting *c, maki_str value)
{
    const double sound = 32, film = 263;
    fields f = fields_of(value);
    maki_str data = f.at[DATA], mime = f.at[MIME];
    if (text_starts(mime, MAKI_LIT("audio/"))) {
        double seconds = is_string(data) ? maki_audio_seconds(base64_of(data)) : 1;
        return add_guessed(c, sound * seconds);
    }
    if (text_starts(mime, MAKI_LIT("video/"))) {
        return add_guessed(c, film * ceil(bytes_of(data) / film_bytes));
    }
    if (text_starts(mime, MAKI_LIT("application/"))) return add_pages(c, data);
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
    if (maki_json_kind_of(block) != MAKI_JSON_OBJECT) return add_value(c, block, c->text);
    fields f = fields_of(block);
    for (size_t i = 0; is_string(f.at[TYPE]) && i < sizeof kind_rows / sizeof kind_rows[0]; i++) {
        if (maki_json_text_in(f.at[TYPE], kind_rows[i].types)) return kind_rows[i].count(c, &f);
    }
    if (f.at[INLINE_DATA].len) return count_inline(c, f.at[INLINE_DATA]);
    if (f.at[FUNCTION].len) {
        fields call = fields_of(f.at[FUNCTION]);
        return count_call(c, &call);
    }
    if (f.at[RESPONSE].len) {
        fields result = fields_of(f.at[RESPONSE]);
        return count_result(c, &result);
    }
    if (!f.at[TYPE].len && f.at[TEXT].len) return count_text(c, &f);
    c->parts->guessed = true;
    return add_value(c, block, c->text);
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
        if (f.at[FUNCTION].len) f = fields_of(f.at[FUNCTION]);
        st = count_call(&c, &f);
    }
    return st;
}

maki_status maki_count_images(const maki_content_rules *rules, maki_str images,
                              maki_part_counts *parts, maki_err *err)
{
    counting c = { .rules = rules, .parts = parts, .err = err };
    maki_json_iter iter = maki_json_items(images);
    maki_json_item item;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && !iter.object && maki_json_next(&iter, &item)) {
        if (is_string(item.value)) st = add_image(&c, item.value, &maki_image_anthropic, false);
    }
    return st;
}

/* What src/history counts without a tokenizer. */
static uint64_t estimate(maki_str content, maki_str calls)
{
    uint64_t units = 0;
    if (maki_json_kind_of(content) != MAKI_JSON_NULL) units += maki_json_units(content);
    if (calls.len) units += maki_json_units(calls);
    return (units + 3) / 4 + MAKI_PER_MESSAGE;
}

maki_status maki_count_message(maki_tokenizer *t, maki_str role, maki_str content,
                               maki_str tool_calls, uint64_t *tokens, maki_err *err)
{
    maki_content_rules rules = { .tokenizer = t };
    maki_part_counts parts = { 0 };
    (void)role; /* one token of the four, in every vocabulary */
    if (!t) {
        *tokens = estimate(content, tool_calls);
        return MAKI_OK;
    }
    maki_status st = maki_count_content(&rules, content, &parts, err);
    if (st == MAKI_OK) st = maki_count_calls(&rules, tool_calls, &parts, err);
    if (st == MAKI_OK) *tokens = maki_part_counts_sum(&parts) + MAKI_PER_MESSAGE;
    return st;
}
