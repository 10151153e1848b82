/* gemini_part.h -- convert parts of Gemini's contents to blocks in Anthropic's shape.
 *
 *     text                    text; with `thought` thinking.  Its thoughtSignature goes into `original`: in the field
 *                             `signature` it would be mistaken for one of Anthropic's
 *     functionCall            tool_use, with a synthetic id from its name
 *     functionResponse        tool_result; {"output": "text"} (or result, content, error) is the text, any
 *                             other response its JSON
 *     inlineData, fileData    image or document
 *     anything else           unchanged
 *
 * Other fields go into the block's `original`.  Google accepts every name in camelCase and in snake_case; so do
 * we. */
#ifndef MAKI_WIRE_GEMINI_PART_H
#define MAKI_WIRE_GEMINI_PART_H

#include "wire/json_row.h"

/* Calls and results so far in a content, or in the contents since the model's last. */
typedef struct maki_gemini_ids {
    maki_name_counter calls, results;
    uint32_t result_count;
    maki_json_iter call_parts; /* the parts of the model's last content */
} maki_gemini_ids;

typedef enum maki_gemini_kind {
    MAKI_GEMINI_TEXT,
    MAKI_GEMINI_THOUGHT,
    MAKI_GEMINI_CALL,
    MAKI_GEMINI_RESULT,
    MAKI_GEMINI_DATA,
    MAKI_GEMINI_FILE,
    MAKI_GEMINI_OTHER
} maki_gemini_kind;

/* The kind of a part; *value is the field that decides it. */
maki_gemini_kind maki_gemini_kind_of(maki_str part, maki_str *value);
/* Its signature; len 0: none. */
maki_str maki_gemini_signature(maki_str part);

void maki_gemini_write_part(maki_jw *w, maki_str part, maki_gemini_ids *ids);
/* Count the result in an earlier part. */
void maki_gemini_count_result(maki_str part, maki_gemini_ids *ids);

/* The parts of a content: an array, or a single one. */
maki_json_iter maki_gemini_parts(maki_str content);

#endif
