/* gemini.c -- Google's generateContent: contents with parts, converted to rows in Anthropic's shape (gemini_part.h).
 *
 * Every event of a stream looks like a whole reply: its parts are appended, adjacent texts of one kind joined. */
#include "wire/gemini_part.h"
#include "wire/protocol.h"

/* ---- requests ----------------------------------------------------------------------------------------- */

/* Count the results since the model's last content: by its position the next result is matched to its call. */
static void count_earlier_results(const maki_request_reader *r, maki_gemini_ids *ids)
{
    maki_json_iter turn = maki_request_reader_last_turn(r);
    maki_json_item content;
    if (!maki_json_next(&turn, &content)) return;
    ids->call_parts = maki_gemini_parts(content.value);
    while (ids->result_count < MAKI_RESULTS_MAX && maki_json_next(&turn, &content)) {
        MAKI_JSON_EACH(part, maki_gemini_parts(content.value))
            maki_gemini_count_result(part.value, ids);
    }
}

static bool has_results(maki_str content)
{
    maki_str value;
    MAKI_JSON_EACH(part, maki_gemini_parts(content)) {
        if (maki_gemini_kind_of(part.value, &value) == MAKI_GEMINI_RESULT) return true;
    }
    return false;
}

static maki_status read_item(maki_request_reader *r, maki_str item, bool single)
{
    maki_gemini_ids ids = { 0 };
    maki_jw w;
    if (!maki_is_object(item)) return maki_request_reader_fail(r, "must be an object with parts");
    bool model = maki_json_field_is(item, "role", "model");
    if (!model && has_results(item)) count_earlier_results(r, &ids);
    maki_request_reader_begin(r, &w);
    maki_jw_print(&w, "{'role':%z,'content':[", model ? "assistant" : "user");
    MAKI_JSON_EACH(part, maki_gemini_parts(item))
        maki_gemini_write_part(&w, part.value, &ids);
    maki_jw_end_array(&w);
    maki_write_original(&w, item, "role parts");
    maki_jw_end_object(&w);
    return maki_request_reader_end(r, &w, single ? (maki_str){ "", 0 } : item);
}

/* ---- replies ------------------------------------------------------------------------------------------ */

/* The first candidate: only one is stored. */
static maki_str candidate_of(maki_str value)
{
    MAKI_JSON_EACH(item, maki_array_items(maki_member(value, MAKI_LIT("candidates")))) {
        if (maki_member_count(item.value, MAKI_LIT("index")) == 0) return item.value;
    }
    return (maki_str){ "", 0 };
}

/* Join adjacent texts of one kind; a signature ends a text. */
static void add_text(maki_wire_reply *r, maki_str part, maki_gemini_kind kind)
{
    maki_open_part *open = r->part_count ? r->parts[0] : NULL;
    bool thought = kind == MAKI_GEMINI_THOUGHT;
    maki_reply_emit(r, thought ? MAKI_DELTA_REASONING : MAKI_DELTA_TEXT,
                    maki_member(part, MAKI_LIT("text")));
    if (open && open->index != (uint64_t)kind) {
        maki_reply_flush(r, true);
        open = NULL;
    }
    if (!open) {
        open = maki_reply_add_part(r, (uint64_t)kind);
        if (!open) return;
        if (thought) maki_json_assembler_start(&open->fields, MAKI_LIT("{\"thought\":true}"));
    }
    maki_json_assembler_merge(&open->fields, part, "thought");
    if (maki_gemini_signature(part).len) maki_reply_flush(r, true);
}

/* The id in the event is not reported: the call gets a synthetic one (gemini_part.h). */
static void add_part(maki_wire_reply *r, maki_str part)
{
    maki_str value;
    maki_gemini_kind kind = maki_gemini_kind_of(part, &value);
    if (kind == MAKI_GEMINI_TEXT || kind == MAKI_GEMINI_THOUGHT) {
        add_text(r, part, kind);
        return;
    }
    maki_reply_flush(r, true);
    if (kind == MAKI_GEMINI_CALL) {
        maki_reply_emit_call(r, NULL, maki_member(value, MAKI_LIT("name")), (maki_str){ "", 0 });
        maki_reply_emit_input(r, NULL, maki_member(value, MAKI_LIT("args")));
    }
    maki_reply_add_block(r, part);
}

static void read_meta(maki_wire_reply *r, maki_str value, maki_str candidate)
{
    maki_str stop = maki_json_string(candidate, "finishReason");
    maki_str feedback = maki_member(value, MAKI_LIT("promptFeedback"));
    if (!stop.len) stop = maki_json_string(feedback, "blockReason");
    if (stop.len) r->complete = true;
    maki_reply_set_meta_once(r, MAKI_META_ID, maki_json_string(value, "responseId"));
    maki_reply_set_meta_once(r, MAKI_META_MODEL, maki_json_string(value, "modelVersion"));
    maki_reply_set_meta(r, MAKI_META_STOP, stop);
    if (maki_member(value, MAKI_LIT("error")).len) maki_reply_set_meta(r, MAKI_META_ERROR, value);
    maki_reply_add_usage(r, maki_member(value, MAKI_LIT("usageMetadata")));
}

static void on_event(maki_wire_reply *r, maki_str value)
{
    maki_str candidate = candidate_of(value);
    read_meta(r, value, candidate);
    MAKI_JSON_EACH(part, maki_gemini_parts(maki_member(candidate, MAKI_LIT("content")))) {
        if (maki_is_object(part.value)) add_part(r, part.value);
    }
}

static void on_end(maki_wire_reply *r)
{
    maki_gemini_ids ids = { 0 };
    maki_jw w;
    maki_reply_flush(r, true);
    if (r->blocks.size == 0) return;
    maki_reply_begin_row(r, &w);
    maki_jw_print(&w, "{'role':'assistant','content':[");
    MAKI_JSON_EACH(part, maki_items_iter(maki_reply_blocks(r)))
        maki_gemini_write_part(&w, part.value, &ids);
    maki_jw_print(&w, "]}");
    maki_reply_end_row(r, &w);
}

/* Gemini's candidatesTokenCount excludes reasoning: it is added. */
static maki_wire_usage usage(maki_str u)
{
    maki_wire_usage out = { .input = maki_member_count(u, MAKI_LIT("promptTokenCount")) +
                                     maki_member_count(u, MAKI_LIT("toolUsePromptTokenCount")),
                            .cache_read = maki_member_count(u, MAKI_LIT("cachedContentTokenCount")),
                            .reasoning = maki_member_count(u, MAKI_LIT("thoughtsTokenCount")) };
    out.output = maki_member_count(u, MAKI_LIT("candidatesTokenCount")) + out.reasoning;
    return out;
}

static uint64_t read_window(maki_str answer, maki_str model)
{
    (void)model;
    return maki_member_count(answer, MAKI_LIT("inputTokenLimit"));
}

const maki_protocol_spec maki_gemini_protocol = {
    .name = "gemini",
    .upstream = "gemini",
    .paths = { { "/v1*/models/*:generateContent", false },
               { "/v1*/models/*:streamGenerateContent", false },
               { "/v1*/models/*:countTokens", true } },
    .model_in_path = true,
    .version = "/v1beta",
    .target = "/models/",
    .target_end = ":generateContent",
    .target_stream = ":streamGenerateContent?alt=sse",
    .key_header = "x-goog-api-key: ",
    .window = { "GET", "/v1beta", "/models/", true, read_window },
    .messages = "contents",
    .fields = { [MAKI_FIELD_SYSTEM] = "systemInstruction system_instruction",
                [MAKI_FIELD_OPTIONS] = "generationConfig generation_config",
                [MAKI_FIELD_REFERENCE] = "cachedContent cached_content" },
    .read_item = read_item,
    .count_field = "totalTokens",
    .count_wrappers = "generateContentRequest generate_content_request",
    .on_event = on_event,
    .on_body = on_event,
    .on_end = on_end,
    .usage = usage,
    .request_format = &maki_gemini_request_format,
};
