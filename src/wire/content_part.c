/* content_part.c -- see content_part.h. */
#include "wire/content_part.h"

static const maki_str none = { "", 0 };

bool maki_blank(maki_str string)
{
    maki_str text = maki_json_inside(string);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == ' ') continue;
        if (text.ptr[i] != '\\' || !memchr("nrt", text.ptr[i + 1], 3)) return false;
        i++;
    }
    return true;
}

/* ---- images and files --------------------------------------------------------------------------------- */

/* "data:image/png;base64,AAAA" in its parts; any other URL stays one. */
static maki_media media_at(maki_str url)
{
    static const maki_str scheme = { "data:", 5 }, base64 = { ";base64", 7 };
    const char *comma = url.len ? memchr(url.ptr, ',', url.len) : NULL;
    if (!comma || !maki_str_starts(url, scheme)) return (maki_media){ .url = url };
    maki_str head = { url.ptr + scheme.len, (size_t)(comma - url.ptr) - scheme.len };
    if (!maki_str_ends(head, base64)) return (maki_media){ .url = url };
    return (maki_media){ .type = maki_str_to(head, head.len - base64.len),
                         .data = maki_str_from(url, (size_t)(comma - url.ptr) + 1) };
}

/* Ollama says no type: the first bytes of each format are known in base64 too. */
static maki_str type_of_bytes(maki_str data)
{
    static const struct {
        maki_str begins, type;
    } known[] = { { { "/9j/", 4 }, { "image/jpeg", 10 } },
                  { { "R0lG", 4 }, { "image/gif", 9 } },
                  { { "UklG", 4 }, { "image/webp", 10 } } };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (maki_str_starts(data, known[i].begins)) return known[i].type;
    }
    return MAKI_LIT("image/png");
}

static maki_str inside(maki_str string)
{
    return string.len ? maki_json_inside(string) : none;
}

/* Anthropic's `source`. */
static bool source_of(maki_str source, maki_media *out)
{
    out->url = inside(maki_member_string(source, MAKI_LIT("url")));
    out->type = inside(maki_member_string(source, MAKI_LIT("media_type")));
    out->data = out->type.len ? inside(maki_member_string(source, MAKI_LIT("data"))) : none;
    return out->url.len > 0 || out->data.len > 0;
}

/* A document may be words. */
static bool source_is_text(maki_str source)
{
    return maki_is_text(maki_member(source, MAKI_LIT("type")), MAKI_LIT("text"));
}

/* A URL that stands in a string, or in the field `url` of an object (the chat API's). */
static bool url_of(maki_str value, maki_media *out)
{
    if (maki_is_object(value)) value = maki_member(value, MAKI_LIT("url"));
    if (!maki_is_string(value)) return false;
    *out = media_at(maki_json_inside(value));
    return out->url.len > 0 || out->data.len > 0;
}

/* The chat API's `file`, and the fields of Responses' input_file. */
static bool file_of(maki_str file, maki_media *out)
{
    maki_str data = maki_member_string(file, MAKI_LIT("file_data"));
    maki_str url = maki_member_string(file, MAKI_LIT("file_url"));
    return url_of(data.len ? data : url, out);
}

/* ---- blocks ------------------------------------------------------------------------------------------- */

/* The fields of a block that matter here, found in one walk. */
enum {
    TYPE,
    TEXT,
    THINKING,
    REFUSAL,
    SOURCE,
    IMAGE_URL,
    ID,
    NAME,
    INPUT,
    USE_ID,
    CONTENT,
    ERROR,
    FILE_FIELD,
    CACHE,
    ORIGINAL,
    FIELDS
};

static void take_block(maki_str block, const maki_str *v, maki_content_part *out)
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
    } else if (IS("document") && source_is_text(v[SOURCE])) {
        out->kind = MAKI_CONTENT_TEXT;
        out->text = maki_member(v[SOURCE], MAKI_LIT("data"));
    } else if ((IS("image") && source_of(v[SOURCE], &out->media)) ||
               ((IS("image_url") || IS("input_image")) && url_of(v[IMAGE_URL], &out->media))) {
        out->kind = MAKI_CONTENT_IMAGE;
    } else if ((IS("document") && source_of(v[SOURCE], &out->media)) ||
               (IS("file") && file_of(v[FILE_FIELD], &out->media)) ||
               (IS("input_file") && file_of(block, &out->media))) {
        out->kind = MAKI_CONTENT_FILE;
    }
#undef IS
}

/* Strings where strings belong: what is anything else was not said. */
static void only_strings(maki_content_part *out)
{
    if (!maki_is_string(out->text)) out->text = none;
    if (!maki_is_string(out->id)) out->id = none;
    if (!maki_is_string(out->name)) out->name = none;
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
    take_block(block, v, out);
    only_strings(out);
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

/* ---- calls and results beside the content --------------------------------------------------------------- */

static maki_str string_of(maki_str value)
{
    return maki_is_string(value) ? value : none;
}

enum { CALL_ID, FUNCTION, CUSTOM, OUTER };
static const maki_str call_names[OUTER] = { { "id", 2 }, { "function", 8 }, { "custom", 6 } };

static void read_call(maki_str call, const maki_str *o, maki_str original, maki_content_part *out)
{
    enum { CALL_NAME, ARGUMENTS, CUSTOM_INPUT, INNER };
    static const maki_str inner[] = { { "name", 4 }, { "arguments", 9 }, { "input", 5 } };
    maki_str v[INNER];
    *out = (maki_content_part){ .kind = MAKI_CONTENT_CALL, .block = call, .original = original };
    maki_member_each(o[FUNCTION].len ? o[FUNCTION] : o[CUSTOM], inner, v, INNER);
    out->id = string_of(o[CALL_ID]);
    out->name = string_of(v[CALL_NAME]);
    out->input = v[ARGUMENTS].len ? v[ARGUMENTS] : v[CUSTOM_INPUT];
    if (o[FUNCTION].len) out->field = MAKI_LIT("tool_calls");
}

static void read_old_call(maki_str call, maki_content_part *out)
{
    *out = (maki_content_part){ .kind = MAKI_CONTENT_CALL, .block = call };
    out->name = maki_member_string(call, MAKI_LIT("name"));
    out->input = maki_member(call, MAKI_LIT("arguments"));
}

/* ---- walking -------------------------------------------------------------------------------------------- */

static const maki_str thinking_fields[] = { { "reasoning_content", 17 },
                                            { "reasoning", 9 },
                                            { "thinking", 8 } };

maki_content_parts maki_content_parts_in(maki_str content)
{
    if (maki_is_array(content)) return (maki_content_parts){ .blocks = maki_json_items(content) };
    bool one = maki_is_string(content) || maki_is_object(content);
    return (maki_content_parts){ .single = one ? content : none };
}

/* The fields of a row that matter here. */
enum {
    ROLE,
    BODY,
    CALLS,
    OLD_CALL,
    IMAGES,
    BESIDE,
    ROW_NAME,
    ROW_REFUSAL,
    AUDIO,
    CALL_OF,
    TOOL_NAME,
    FAILED,
    FIRST_THOUGHT,
    ROW_FIELDS = FIRST_THOUGHT + 3
};

static maki_speaker speaker_of(maki_str role)
{
    if (!maki_is_string(role)) return MAKI_BY_NOBODY;
    if (maki_json_text_is(role, MAKI_LIT("assistant"))) return MAKI_BY_ASSISTANT;
    bool system = maki_json_text_is(role, MAKI_LIT("system")) ||
                  maki_json_text_is(role, MAKI_LIT("developer"));
    return system ? MAKI_BY_SYSTEM : MAKI_BY_USER;
}

static maki_content_part result_of(const maki_str *v, maki_str original)
{
    maki_str name = string_of(v[TOOL_NAME]);
    return (maki_content_part){ .kind = MAKI_CONTENT_RESULT,
                                .id = string_of(v[CALL_OF]),
                                .name = name.len ? name : string_of(v[ROW_NAME]),
                                .content = v[BODY],
                                .error = v[FAILED].len && maki_json_true(v[FAILED]),
                                .original = original };
}

/* What only a message of the model has. */
static void read_model(maki_content_parts *p, const maki_str *v)
{
    p->calls = maki_array_items(v[CALLS]);
    if (maki_is_object(v[OLD_CALL])) p->function_call = v[OLD_CALL];
    for (size_t i = 0; i < 3; i++)
        p->thinking[i] = string_of(v[FIRST_THOUGHT + i]);
}

maki_content_parts maki_content_parts_of(maki_str row)
{
    const maki_str names[ROW_FIELDS] = {
        { "role", 4 },      { "content", 7 },       { "tool_calls", 10 }, { "function_call", 13 },
        { "images", 6 },    { "original", 8 },      { "name", 4 },        { "refusal", 7 },
        { "audio", 5 },     { "tool_call_id", 12 }, { "tool_name", 9 },   { "isError", 7 },
        thinking_fields[0], thinking_fields[1],     thinking_fields[2]
    };
    maki_str v[ROW_FIELDS];
    if (!maki_is_object(row)) return (maki_content_parts){ .by = MAKI_BY_NOBODY };
    maki_member_each(row, names, v, ROW_FIELDS);
    maki_str original = maki_is_object(v[BESIDE]) ? v[BESIDE] : none;
    bool tool =
        maki_is_text(v[ROLE], MAKI_LIT("tool")) || maki_is_text(v[ROLE], MAKI_LIT("function"));
    maki_content_parts p = { 0 };
    if (!tool) p = maki_content_parts_in(v[BODY]);
    p.by = speaker_of(v[ROLE]);
    p.role = string_of(v[ROLE]);
    p.name = string_of(v[ROW_NAME]);
    p.refusal = v[ROW_REFUSAL];
    p.audio = v[AUDIO];
    p.original = original;
    p.is_result = tool;
    if (tool) p.result = result_of(v, original);
    if (p.by == MAKI_BY_ASSISTANT) read_model(&p, v);
    if (p.by == MAKI_BY_USER && !tool) p.images = maki_array_items(v[IMAGES]);
    return p;
}

static maki_str take(maki_str *value)
{
    maki_str taken = *value;
    *value = none;
    return taken;
}

/* Content: a block at a time. */
static bool next_block(maki_content_parts *p, maki_content_part *out)
{
    maki_json_iter fields;
    maki_json_item item;
    if (p->single.len) {
        read_block(take(&p->single), out);
        return true;
    }
    if (maki_json_enter(&p->blocks, &fields)) { /* most are objects: they are walked once */
        maki_str v[FIELDS];
        maki_members_rest(&fields, block_names, v, FIELDS);
        read_fields(maki_json_leave(&p->blocks, &fields), v, out);
        return true;
    }
    if (!maki_json_next(&p->blocks, &item)) return false;
    read_block(item.value, out);
    return true;
}

static bool next_call(maki_content_parts *p, maki_content_part *out)
{
    maki_str o[OUTER], call;
    maki_json_iter fields;
    maki_json_item item;
    if (maki_json_enter(&p->calls, &fields)) {
        maki_members_rest(&fields, call_names, o, OUTER);
        call = maki_json_leave(&p->calls, &fields);
    } else if (maki_json_next(&p->calls, &item)) {
        call = item.value;
        maki_member_each(call, call_names, o, OUTER);
    } else {
        return false;
    }
    read_call(call, o, p->original, out);
    return true;
}

bool maki_content_parts_next(maki_content_parts *p, maki_content_part *out)
{
    maki_json_item item;
    if (p->is_result) {
        *out = p->result;
        bool first = p->result.kind == MAKI_CONTENT_RESULT;
        p->result.kind = MAKI_CONTENT_OTHER; /* it is said once */
        return first;
    }
    while (p->thought < 3) {
        maki_str text = p->thinking[p->thought++];
        if (!text.len) continue;
        *out = (maki_content_part){ .kind = MAKI_CONTENT_THINKING, .text = text };
        out->field = thinking_fields[p->thought - 1];
        return true;
    }
    if (next_block(p, out)) return true;
    if (next_call(p, out)) return true;
    if (p->function_call.len) {
        read_old_call(take(&p->function_call), out);
        return true;
    }
    while (maki_json_next(&p->images, &item)) {
        if (!maki_is_string(item.value)) continue;
        *out = (maki_content_part){ .kind = MAKI_CONTENT_IMAGE };
        out->media.data = maki_json_inside(item.value);
        out->media.type = type_of_bytes(out->media.data);
        return true;
    }
    return false;
}

bool maki_content_parts_call(const maki_content_parts *pieces)
{
    maki_content_parts rest = *pieces;
    maki_content_part piece;
    if (rest.by != MAKI_BY_ASSISTANT) return false;
    while (maki_content_parts_next(&rest, &piece)) {
        if (piece.kind == MAKI_CONTENT_CALL) return true;
    }
    return false;
}
