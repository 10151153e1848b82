/* gemini_part.c -- convert parts of Gemini's contents to blocks.
 *
 * The kind of a part follows from the first field that is an object of a known name.  Names are
 * looked up in both spellings in one pass; fields that are not converted are copied into `original`. */
#include "wire/gemini_part.h"

#include "base/json_print.h"

/* The names of a field; the second is the one with underscores. */
static const char call_names[] = "functionCall function_call";
static const char result_names[] = "functionResponse function_response";
static const char data_names[] = "inlineData inline_data";
static const char file_names[] = "fileData file_data";

maki_str maki_gemini_signature(maki_str part)
{
    maki_str signature = maki_member_any(part, "thoughtSignature thought_signature");
    return maki_is_string(signature) ? signature : (maki_str){ "", 0 };
}

maki_gemini_kind maki_gemini_kind_of(maki_str part, maki_str *value)
{
    enum { TEXT, THOUGHT, FIRST };
    static const maki_gemini_kind kinds[] = { MAKI_GEMINI_CALL, MAKI_GEMINI_RESULT,
                                              MAKI_GEMINI_DATA, MAKI_GEMINI_FILE };
    static const maki_str known[] = {
        { "text", 4 },           { "thought", 7 },           { "functionCall", 12 },
        { "function_call", 13 }, { "functionResponse", 16 }, { "function_response", 17 },
        { "inlineData", 10 },    { "inline_data", 11 },      { "fileData", 8 },
        { "file_data", 9 }
    };
    enum { COUNT = sizeof known / sizeof known[0] };
    maki_str v[COUNT];
    maki_member_each(part, known, v, COUNT);
    for (size_t i = FIRST; i < COUNT; i++) {
        *value = v[i];
        if (maki_is_object(v[i])) return kinds[(i - FIRST) / 2];
    }
    *value = v[TEXT];
    if (!maki_is_string(v[TEXT])) return MAKI_GEMINI_OTHER;
    return v[THOUGHT].len && maki_json_true(v[THOUGHT]) ? MAKI_GEMINI_THOUGHT : MAKI_GEMINI_TEXT;
}

maki_json_iter maki_gemini_parts(maki_str content)
{
    maki_str parts = maki_member(content, MAKI_LIT("parts"));
    if (maki_is_array(parts)) return maki_json_items(parts);
    if (!maki_is_object(parts)) return (maki_json_iter){ 0 };
    return (maki_json_iter){ .at = parts.ptr, .end = parts.ptr + parts.len };
}

/* ---- the field `original` ----------------------------------------------------------------------------- */

/* Write "original": the part without the field `names`, and the fields of that object without `except`. */
static void write_part_original(maki_jw *w, maki_str part, const char *names, const char *except)
{
    maki_str inner = maki_member_any(part, names), key = maki_str_of(names);
    bool has_inner = maki_has_rest(inner, except);
    if (!has_inner && !maki_has_rest(part, names)) return;
    maki_jw_print(w, "'original':{");
    if (has_inner) {
        maki_jw_key(w, maki_str_cut(&key, ' '));
        maki_jw_begin_object(w);
        maki_write_rest(w, inner, except);
        maki_jw_end_object(w);
    }
    maki_write_rest(w, part, names);
    maki_jw_end_object(w);
}

/* ---- kinds -------------------------------------------------------------------------------------------- */

static void write_text(maki_jw *w, maki_str part, maki_str text, bool thought)
{
    maki_jw_print(w, thought ? "'type':'thinking','thinking':%v" : "'type':'text','text':%v", text);
    maki_write_original(w, part, thought ? "text thought" : "text");
}

static maki_str name_of(maki_str function)
{
    maki_str name = maki_json_string(function, "name");
    return name.len ? name : MAKI_LIT("\"tool\"");
}

/* The id is synthetic even if the call has one: Gemini sends none, and its clients generate a new one for every
 * request. */
static void write_call(maki_jw *w, maki_str part, maki_str call, maki_gemini_ids *ids)
{
    maki_str name = name_of(call), args = maki_member(call, MAKI_LIT("args"));
    maki_jw_print(w, "'type':'tool_use','id':");
    maki_write_call_id(w, name, maki_name_counter_next(&ids->calls, name));
    maki_jw_print(w, "'name':%v,'input':%v", name, args.len ? args : MAKI_LIT("{}"));
    write_part_original(w, part, call_names, "name args");
}

static bool next_call(maki_json_iter *iter, maki_str *name, maki_str *id)
{
    maki_json_item item;
    maki_str call;
    while (maki_json_next(iter, &item)) {
        if (maki_gemini_kind_of(item.value, &call) != MAKI_GEMINI_CALL) continue;
        *name = name_of(call);
        *id = maki_json_string(call, "id");
        return true;
    }
    return false;
}

/* Is the response one string, like {"output": "..."}?  *text_field: its field. */
static bool single_text(maki_str response, maki_json_item *text_field)
{
    maki_json_iter iter = maki_json_items(response);
    maki_json_item second;
    if (!iter.object || !maki_json_next(&iter, text_field) || maki_json_next(&iter, &second))
        return false;
    return maki_is_string(text_field->value) &&
           maki_key_in(text_field->key, "output result content error");
}

/* Write the fields that are not converted; null replaces the single text. */
static void write_result_original(maki_jw *w, maki_str part, maki_str result,
                                  const maki_json_item *text_field)
{
    maki_jw_print(w, "'original':{'functionResponse':{");
    maki_write_rest(w, result, "response");
    if (text_field) {
        maki_jw_print(w, "'response':{");
        maki_write_field(w, text_field->key, MAKI_LIT("null"));
        maki_jw_end_object(w);
    }
    maki_jw_end_object(w);
    maki_write_rest(w, part, result_names);
    maki_jw_end_object(w);
}

static void write_result(maki_jw *w, maki_str part, maki_str result, maki_gemini_ids *ids)
{
    maki_str response = maki_member(result, MAKI_LIT("response"));
    maki_json_item text_field;
    bool text = single_text(response, &text_field);
    maki_result_lookup lookup = { .id = maki_json_string(result, "id"),
                                  .name = name_of(result),
                                  .synthetic_ids = true };
    lookup.nth_of_name = maki_name_counter_next(&ids->results, lookup.name);
    lookup.nth = ids->result_count++;
    maki_jw_print(w, "'type':'tool_result','tool_use_id':");
    maki_write_result_call_id(w, ids->call_parts, next_call, &lookup);
    maki_jw_print(w, "'content':");
    maki_write_quoted(w, text ? text_field.value : response);
    if (text && maki_json_key_is(text_field.key, MAKI_LIT("error")))
        maki_jw_print(w, "'is_error':true");
    write_result_original(w, part, result, text ? &text_field : NULL);
}

/* image/... is an image, everything else a document; false: audio or video. */
static bool block_type(maki_str mime, maki_str *type)
{
    char bytes[32]; /* "audio\/wav" is a spelling of it, too */
    maki_str text = { bytes, maki_json_copy_text(mime, bytes, sizeof bytes) };
    *type = MAKI_LIT("\"document\"");
    if (maki_str_starts(text, MAKI_LIT("image/"))) *type = MAKI_LIT("\"image\"");
    return !maki_str_starts(text, MAKI_LIT("audio/")) && !maki_str_starts(text, MAKI_LIT("video/"));
}

static bool write_data(maki_jw *w, maki_str part, maki_str value, bool file)
{
    maki_str type, mime = maki_member_any(value, "mimeType mime_type");
    maki_str data =
        file ? maki_member_any(value, "fileUri file_uri") : maki_member(value, MAKI_LIT("data"));
    if (!maki_is_string(data) || !maki_is_string(mime) || !block_type(mime, &type)) return false;
    maki_jw_print(w,
                  file ? "'type':%v,'source':{'type':'url','media_type':%v,'url':%v}"
                       : "'type':%v,'source':{'type':'base64','media_type':%v,'data':%v}",
                  type, mime, data);
    write_part_original(w, part, file ? file_names : data_names,
                        "mimeType mime_type data fileUri file_uri");
    return true;
}

void maki_gemini_count_result(maki_str part, maki_gemini_ids *ids)
{
    maki_str result;
    if (maki_gemini_kind_of(part, &result) != MAKI_GEMINI_RESULT) return;
    maki_name_counter_next(&ids->results, name_of(result));
    ids->result_count++;
}

void maki_gemini_write_part(maki_jw *w, maki_str part, maki_gemini_ids *ids)
{
    maki_str value;
    maki_gemini_kind kind = maki_gemini_kind_of(part, &value);
    bool known = true;
    if (!maki_is_object(part)) {
        maki_jw_raw(w, part);
        return;
    }
    maki_jw_begin_object(w);
    switch (kind) {
    case MAKI_GEMINI_TEXT:
    case MAKI_GEMINI_THOUGHT: write_text(w, part, value, kind == MAKI_GEMINI_THOUGHT); break;
    case MAKI_GEMINI_CALL: write_call(w, part, value, ids); break;
    case MAKI_GEMINI_RESULT: write_result(w, part, value, ids); break;
    case MAKI_GEMINI_DATA:
    case MAKI_GEMINI_FILE: known = write_data(w, part, value, kind == MAKI_GEMINI_FILE); break;
    case MAKI_GEMINI_OTHER: known = false; break;
    }
    if (!known) maki_write_rest(w, part, "");
    maki_jw_end_object(w);
}
