/* content_part.c -- parse a row lazily, one part at a time, reading its bytes once: all used fields of a row, a
 * block or a call are found in one pass (maki_member_rest).  Values of the wrong type count as missing. */
#include "wire/content_part.h"

static const maki_str empty = { "", 0 };

bool maki_is_blank(maki_str string)
{
    maki_str text = maki_json_strip_quotes(string);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == ' ') continue;
        if (text.ptr[i] != '\\' || !memchr("nrt", text.ptr[i + 1], 3)) return false;
        i++;
    }
    return true;
}

/* ---- images and files --------------------------------------------------------------------------------- */

/* "data:image/png;base64,AAAA" split; any other URL is returned unchanged. */
static maki_media parse_url(maki_str url)
{
    static const maki_str scheme = { "data:", 5 }, base64 = { ";base64", 7 };
    const char *comma = url.len ? memchr(url.ptr, ',', url.len) : NULL;
    if (!comma || !maki_str_starts(url, scheme)) return (maki_media){ .url = url };
    maki_str head = { url.ptr + scheme.len, (size_t)(comma - url.ptr) - scheme.len };
    if (!maki_str_ends(head, base64)) return (maki_media){ .url = url };
    return (maki_media){ .type = maki_str_prefix(head, head.len - base64.len),
                         .data = maki_str_skip(url, (size_t)(comma - url.ptr) + 1) };
}

/* Ollama gives no type: recognise it by the first bytes, in base64. */
static maki_str type_of_bytes(maki_str data)
{
    static const struct {
        maki_str prefix, type;
    } signatures[] = { { { "/9j/", 4 }, { "image/jpeg", 10 } },
                       { { "R0lG", 4 }, { "image/gif", 9 } },
                       { { "UklG", 4 }, { "image/webp", 10 } } };
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++) {
        if (maki_str_starts(data, signatures[i].prefix)) return signatures[i].type;
    }
    return MAKI_LIT("image/png");
}

static maki_str string_inside(maki_str string)
{
    return string.len ? maki_json_strip_quotes(string) : empty;
}

/* Anthropic's `source`. */
static bool read_source(maki_str source, maki_media *out)
{
    out->url = string_inside(maki_json_string(source, "url"));
    out->type = string_inside(maki_json_string(source, "media_type"));
    out->data = out->type.len ? string_inside(maki_json_string(source, "data")) : empty;
    return out->url.len > 0 || out->data.len > 0;
}

/* A URL in a string, or in the field `url` of an object (the chat API's). */
static bool read_url(maki_str value, maki_media *out)
{
    if (maki_is_object(value)) value = maki_member(value, MAKI_LIT("url"));
    if (!maki_is_string(value)) return false;
    *out = parse_url(maki_json_strip_quotes(value));
    return out->url.len > 0 || out->data.len > 0;
}

/* The chat API's `file`, and the fields of Responses' input_file. */
static bool read_file(maki_str file, maki_media *out)
{
    maki_str data = maki_json_string(file, "file_data");
    maki_str url = maki_json_string(file, "file_url");
    return read_url(data.len ? data : url, out);
}

/* ---- blocks ------------------------------------------------------------------------------------------- */

/* The fields of a block that are used, found in one pass. */
/* clang-format off */
enum {
    TYPE, TEXT, THINKING, REFUSAL, SOURCE, IMAGE_URL, ID, NAME, INPUT, USE_ID, CONTENT, ERROR, FILE_FIELD, CACHE,
    ORIGINAL, FIELDS
};
/* clang-format on */

static void classify_block(maki_str block, const maki_str *v, maki_content_part *out)
{
#define IS(name) maki_is_text(v[TYPE], MAKI_LIT(name))
    out->kind = MAKI_CONTENT_OTHER;
    if (IS("text") || IS("input_text") || IS("output_text")) {
        out->kind = MAKI_CONTENT_TEXT;
        out->text = v[TEXT];
    } else if (IS("refusal")) {
        out->kind = MAKI_CONTENT_TEXT;
        out->text = v[REFUSAL];
    } else if (IS("thinking") || IS("redacted_thinking") || IS("reasoning")) {
        out->kind = MAKI_CONTENT_THINKING;
        out->text = v[THINKING].len ? v[THINKING] : v[TEXT];
    } else if (IS("tool_use")) {
        out->kind = MAKI_CONTENT_CALL;
        out->id = v[ID];
        out->name = v[NAME];
        out->input = v[INPUT];
    } else if (IS("tool_result")) {
        out->kind = MAKI_CONTENT_RESULT;
        out->id = v[USE_ID];
        out->content = v[CONTENT];
        out->error = v[ERROR].len && maki_json_true(v[ERROR]);
    } else if (IS("document") && maki_json_field_is(v[SOURCE], "type", "text")) {
        out->kind = MAKI_CONTENT_TEXT;
        out->text = maki_member(v[SOURCE], MAKI_LIT("data"));
    } else if ((IS("image") && read_source(v[SOURCE], &out->media)) ||
               ((IS("image_url") || IS("input_image")) && read_url(v[IMAGE_URL], &out->media))) {
        out->kind = MAKI_CONTENT_IMAGE;
    } else if ((IS("document") && read_source(v[SOURCE], &out->media)) ||
               (IS("file") && read_file(v[FILE_FIELD], &out->media)) ||
               (IS("input_file") && read_file(block, &out->media))) {
        out->kind = MAKI_CONTENT_FILE;
    }
#undef IS
}

/* Clear fields of the wrong type: they count as missing. */
static void clear_wrong_types(maki_content_part *out)
{
    if (!maki_is_string(out->text)) out->text = empty;
    if (!maki_is_string(out->id)) out->id = empty;
    if (!maki_is_string(out->name)) out->name = empty;
    if (out->kind == MAKI_CONTENT_TEXT && out->text.len == 0) out->kind = MAKI_CONTENT_OTHER;
}

static const maki_str block_names[FIELDS] = {
    { "type", 4 },   { "text", 4 },           { "thinking", 8 }, { "refusal", 7 },
    { "source", 6 }, { "image_url", 9 },      { "id", 2 },       { "name", 4 },
    { "input", 5 },  { "tool_use_id", 11 },   { "content", 7 },  { "is_error", 8 },
    { "file", 4 },   { "cache_control", 13 }, { "original", 8 }
};

static void read_fields(maki_str block, const maki_str *v, maki_content_part *out)
{
    *out = (maki_content_part){ .kind = MAKI_CONTENT_OTHER, .block = block };
    if (maki_is_object(v[ORIGINAL])) out->original = v[ORIGINAL];
    if (maki_is_string(v[TYPE])) out->type = v[TYPE];
    out->cache = v[CACHE];
    classify_block(block, v, out);
    clear_wrong_types(out);
}

static void read_block(maki_str block, maki_content_part *out)
{
    maki_str v[FIELDS];
    if (maki_is_string(block)) {
        *out = (maki_content_part){ .kind = MAKI_CONTENT_TEXT, .text = block };
        return;
    }
    maki_member_each(block, block_names, v, FIELDS);
    read_fields(block, v, out);
}

/* ---- calls and results outside the content -------------------------------------------------------------- */

static maki_str string_or_none(maki_str value)
{
    return maki_is_string(value) ? value : empty;
}

enum { CALL_ID, FUNCTION, CUSTOM, CALL_FIELDS };
static const maki_str call_names[CALL_FIELDS] = { { "id", 2 }, { "function", 8 }, { "custom", 6 } };

static void read_call(maki_str call, const maki_str *values, maki_str original,
                      maki_content_part *out)
{
    enum { CALL_NAME, ARGUMENTS, CUSTOM_INPUT, FUNCTION_FIELDS };
    static const maki_str function_names[] = { { "name", 4 }, { "arguments", 9 }, { "input", 5 } };
    maki_str v[FUNCTION_FIELDS];
    *out = (maki_content_part){ .kind = MAKI_CONTENT_CALL, .block = call, .original = original };
    maki_member_each(values[FUNCTION].len ? values[FUNCTION] : values[CUSTOM], function_names, v,
                     FUNCTION_FIELDS);
    out->id = string_or_none(values[CALL_ID]);
    out->name = string_or_none(v[CALL_NAME]);
    out->input = v[ARGUMENTS].len ? v[ARGUMENTS] : v[CUSTOM_INPUT];
    if (values[FUNCTION].len) out->field = MAKI_LIT("tool_calls");
}

static void read_function_call(maki_str call, maki_content_part *out)
{
    *out = (maki_content_part){ .kind = MAKI_CONTENT_CALL, .block = call };
    out->name = maki_json_string(call, "name");
    out->input = maki_member(call, MAKI_LIT("arguments"));
}

/* ---- iterating ------------------------------------------------------------------------------------------ */

static const maki_str thinking_fields[] = { { "reasoning_content", 17 },
                                            { "reasoning", 9 },
                                            { "thinking", 8 } };

maki_content_parts maki_content_parts_of_content(maki_str content)
{
    if (maki_is_array(content)) return (maki_content_parts){ .blocks = maki_json_items(content) };
    bool single = maki_is_string(content) || maki_is_object(content);
    return (maki_content_parts){ .single = single ? content : empty };
}

/* The fields of a row that are used. */
/* clang-format off */
enum {
    ROLE, BODY, CALLS, FUNCTION_CALL, IMAGES, ROW_ORIGINAL, ROW_NAME, ROW_REFUSAL, AUDIO, RESULT_CALL_ID, TOOL_NAME,
    IS_ERROR, FIRST_THINKING, ROW_FIELDS = FIRST_THINKING + 3
};
/* clang-format on */

maki_author maki_author_of(maki_str role)
{
    if (!maki_is_string(role)) return MAKI_AUTHOR_NONE;
    if (maki_json_text_is(role, MAKI_LIT("assistant"))) return MAKI_AUTHOR_ASSISTANT;
    bool system = maki_json_text_is(role, MAKI_LIT("system")) ||
                  maki_json_text_is(role, MAKI_LIT("developer"));
    return system ? MAKI_AUTHOR_SYSTEM : MAKI_AUTHOR_USER;
}

static maki_content_part result_of(const maki_str *v, maki_str original)
{
    maki_str name = string_or_none(v[TOOL_NAME]);
    return (maki_content_part){ .kind = MAKI_CONTENT_RESULT,
                                .id = string_or_none(v[RESULT_CALL_ID]),
                                .name = name.len ? name : string_or_none(v[ROW_NAME]),
                                .content = v[BODY],
                                .error = v[IS_ERROR].len && maki_json_true(v[IS_ERROR]),
                                .original = original };
}

/* Fields that only an assistant's message has. */
static void read_assistant_fields(maki_content_parts *p, const maki_str *v)
{
    p->calls = maki_array_items(v[CALLS]);
    if (maki_is_object(v[FUNCTION_CALL])) p->function_call = v[FUNCTION_CALL];
    for (size_t i = 0; i < 3; i++)
        p->thinking[i] = string_or_none(v[FIRST_THINKING + i]);
}

maki_content_parts maki_content_parts_of_row(maki_str row)
{
    const maki_str names[ROW_FIELDS] = {
        { "role", 4 },      { "content", 7 },       { "tool_calls", 10 }, { "function_call", 13 },
        { "images", 6 },    { "original", 8 },      { "name", 4 },        { "refusal", 7 },
        { "audio", 5 },     { "tool_call_id", 12 }, { "tool_name", 9 },   { "isError", 7 },
        thinking_fields[0], thinking_fields[1],     thinking_fields[2]
    };
    maki_str v[ROW_FIELDS];
    if (!maki_is_object(row)) return (maki_content_parts){ .author = MAKI_AUTHOR_NONE };
    maki_member_each(row, names, v, ROW_FIELDS);
    maki_str original = maki_is_object(v[ROW_ORIGINAL]) ? v[ROW_ORIGINAL] : empty;
    bool tool =
        maki_is_text(v[ROLE], MAKI_LIT("tool")) || maki_is_text(v[ROLE], MAKI_LIT("function"));
    maki_content_parts p = { 0 };
    if (!tool) p = maki_content_parts_of_content(v[BODY]);
    p.author = maki_author_of(v[ROLE]);
    p.role = string_or_none(v[ROLE]);
    p.name = string_or_none(v[ROW_NAME]);
    p.refusal = v[ROW_REFUSAL];
    p.audio = v[AUDIO];
    p.original = original;
    p.is_result = tool;
    if (tool) p.result = result_of(v, original);
    if (p.author == MAKI_AUTHOR_ASSISTANT) read_assistant_fields(&p, v);
    if (p.author == MAKI_AUTHOR_USER && !tool) p.images = maki_array_items(v[IMAGES]);
    return p;
}

static maki_str take_value(maki_str *value)
{
    maki_str taken = *value;
    *value = empty;
    return taken;
}

/* The next block of the content. */
static bool next_block(maki_content_parts *p, maki_content_part *out)
{
    maki_json_iter fields;
    maki_json_item item;
    if (p->single.len) {
        read_block(take_value(&p->single), out);
        return true;
    }
    if (maki_json_enter(&p->blocks, &fields)) { /* usually an object: read in one pass */
        maki_str v[FIELDS];
        maki_member_rest(&fields, block_names, v, FIELDS);
        read_fields(maki_json_leave(&p->blocks, &fields), v, out);
        return true;
    }
    if (!maki_json_next(&p->blocks, &item)) return false;
    read_block(item.value, out);
    return true;
}

static bool next_call(maki_content_parts *p, maki_content_part *out)
{
    maki_str values[CALL_FIELDS], call;
    maki_json_iter fields;
    maki_json_item item;
    if (maki_json_enter(&p->calls, &fields)) {
        maki_member_rest(&fields, call_names, values, CALL_FIELDS);
        call = maki_json_leave(&p->calls, &fields);
    } else if (maki_json_next(&p->calls, &item)) {
        call = item.value;
        maki_member_each(call, call_names, values, CALL_FIELDS);
    } else {
        return false;
    }
    read_call(call, values, p->original, out);
    return true;
}

bool maki_content_parts_next(maki_content_parts *p, maki_content_part *out)
{
    maki_json_item item;
    if (p->is_result) {
        *out = p->result;
        bool first = p->result.kind == MAKI_CONTENT_RESULT;
        p->result.kind = MAKI_CONTENT_OTHER; /* return it once */
        return first;
    }
    while (p->thinking_done < 3) {
        maki_str text = p->thinking[p->thinking_done++];
        if (!text.len) continue;
        *out = (maki_content_part){ .kind = MAKI_CONTENT_THINKING, .text = text };
        out->field = thinking_fields[p->thinking_done - 1];
        return true;
    }
    if (next_block(p, out)) return true;
    if (next_call(p, out)) return true;
    if (p->function_call.len) {
        read_function_call(take_value(&p->function_call), out);
        return true;
    }
    while (maki_json_next(&p->images, &item)) {
        if (!maki_is_string(item.value)) continue;
        *out = (maki_content_part){ .kind = MAKI_CONTENT_IMAGE };
        out->media.data = maki_json_strip_quotes(item.value);
        out->media.type = type_of_bytes(out->media.data);
        return true;
    }
    return false;
}

bool maki_content_parts_has_call(const maki_content_parts *parts)
{
    maki_content_parts rest = *parts;
    maki_content_part part;
    if (rest.author != MAKI_AUTHOR_ASSISTANT) return false;
    while (maki_content_parts_next(&rest, &part)) {
        if (part.kind == MAKI_CONTENT_CALL) return true;
    }
    return false;
}
