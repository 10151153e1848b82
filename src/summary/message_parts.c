/* message_parts.c -- iterate over the parts of a message: Anthropic's blocks by a table of types,
 * OpenAI's tool_calls and tool messages as the same parts. */
#include "summary/message_parts.h"

#include "base/str_util.h"
#include "history/synthetic.h"

/* The part that each block type becomes; a block of another type is a text if it has the field `text`. */
static const struct block_type {
    const char *types;
    maki_part_kind kind;
    const char *placeholder; /* of a medium; NULL: reasoning, skipped */
} types[] = {
    { "tool_use|server_tool_use", MAKI_PART_CALL, NULL },
    { "tool_result", MAKI_PART_RESULT, NULL },
    { "image|image_url|input_image", MAKI_PART_MEDIUM, MAKI_IMAGE_PLACEHOLDER },
    { "input_audio|audio", MAKI_PART_MEDIUM, "[A sound stood here]" },
    { "document|file|input_file", MAKI_PART_MEDIUM, "[A document stood here]" },
    { "video", MAKI_PART_MEDIUM, "[A film stood here]" },
    { "thinking|redacted_thinking|reasoning", MAKI_PART_MEDIUM, NULL },
};

static const struct block_type *type_of(maki_str block)
{
    maki_str type = maki_json_string(block, "type");
    for (size_t i = 0; type.len && i < sizeof types / sizeof types[0]; i++) {
        if (maki_json_text_in(type, types[i].types)) return &types[i];
    }
    return NULL;
}

bool maki_message_part_of_block(maki_str block, maki_message_part *out)
{
    *out = (maki_message_part){ .kind = MAKI_PART_TEXT, .value = block };
    if (maki_json_kind_of(block) == MAKI_JSON_STRING) return true;
    const struct block_type *type = type_of(block);
    if (!type) {
        out->value = maki_json_string(block, "text");
        return out->value.len > 0;
    }
    out->kind = type->kind;
    out->placeholder = type->placeholder;
    if (type->kind == MAKI_PART_CALL) {
        out->id = maki_json_string(block, "id");
        out->name = maki_json_string(block, "name");
        out->value = maki_json_field(block, "input");
    } else if (type->kind == MAKI_PART_RESULT) {
        out->id = maki_json_string(block, "tool_use_id");
        out->value = maki_json_field(block, "content");
        out->failed = maki_json_true_field(block, "is_error");
    }
    return type->kind != MAKI_PART_MEDIUM || type->placeholder;
}

bool maki_message_parts_of(maki_str json, maki_message_parts *out)
{
    *out = (maki_message_parts){ .json = json };
    if (maki_json_kind_of(json) != MAKI_JSON_OBJECT) return false;
    out->role_text = maki_json_string(json, "role");
    if (out->role_text.len == 0) return false;
    out->role = maki_role_of(out->role_text);
    out->is_summary = maki_json_true_field(json, "isSummary");
    out->content = maki_json_field(json, "content");
    if (out->role == MAKI_ROLE_TOOL) return true;
    if (out->content.len) out->blocks = maki_content_blocks(out->content);
    maki_str calls = maki_json_field(json, "tool_calls");
    if (calls.len) out->calls = maki_json_items(calls);
    return true;
}

bool maki_message_parts_next(maki_message_parts *parts, maki_message_part *out)
{
    maki_str block, function;
    maki_json_item item;
    if (parts->role == MAKI_ROLE_TOOL) { /* OpenAI's result: the message is one */
        *out = (maki_message_part){ .kind = MAKI_PART_RESULT,
                                    .value = parts->content,
                                    .id = maki_json_string(parts->json, "tool_call_id") };
        bool first = !parts->done;
        parts->done = true;
        return first;
    }
    while (maki_blocks_next(&parts->blocks, &block)) {
        if (maki_message_part_of_block(block, out)) return true;
    }
    /* [{"id", "function": {"name", "arguments": "..."}}] */
    while (maki_json_next(&parts->calls, &item)) {
        if (maki_json_kind_of(item.value) != MAKI_JSON_OBJECT) continue;
        function = maki_json_field(item.value, "function");
        if (function.len == 0 || maki_json_kind_of(function) != MAKI_JSON_OBJECT) continue;
        *out = (maki_message_part){ .kind = MAKI_PART_CALL,
                                    .value = maki_json_field(function, "arguments"),
                                    .id = maki_json_string(item.value, "id"),
                                    .name = maki_json_string(function, "name") };
        return true;
    }
    return false;
}
