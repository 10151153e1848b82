/* gemini_part.h -- parts of Gemini's contents as blocks in Anthropic's shape.
 *
 *     text                    text; with `thought` thinking.  Its thoughtSignature stays beside: in the field
 *                             `signature` it would be taken for one of Anthropic's
 *     functionCall            tool_use, with an id that follows from its name
 *     functionResponse        tool_result; {"output": "text"} (or result, content, error) is the text, any
 *                             other response its JSON
 *     inlineData, fileData    image or document
 *     anything else           as it is
 *
 * Fields that have no place there are kept in the block's `original`.  Google takes every name in camelCase
 * and in snake_case; so do we. */
#ifndef MAKI_WIRE_GEMINI_PART_H
#define MAKI_WIRE_GEMINI_PART_H

#include "wire/json_row.h"

/* What was met so far in a content, or in the contents since the model spoke. */
typedef struct maki_gemini_ids {
    maki_name_counter calls, answers;
    uint32_t answered;
    maki_json_iter asked; /* the parts of the model's last content */
} maki_gemini_ids;

typedef enum maki_gemini_kind {
    MAKI_GEMINI_TEXT,
    MAKI_GEMINI_THOUGHT,
    MAKI_GEMINI_CALL,
    MAKI_GEMINI_ANSWER,
    MAKI_GEMINI_DATA,
    MAKI_GEMINI_FILE,
    MAKI_GEMINI_OTHER
} maki_gemini_kind;

/* What a part is; *value is the field that makes it that. */
maki_gemini_kind maki_gemini_kind_of(maki_str part, maki_str *value);
/* Its signature; len 0: none. */
maki_str maki_gemini_signature(maki_str part);

void maki_gemini_write_part(maki_jw *w, maki_str part, maki_gemini_ids *ids);
/* Count the answers in a part that stands before. */
void maki_gemini_pass(maki_str part, maki_gemini_ids *ids);

/* The parts of a content: an array, or one alone. */
maki_json_iter maki_gemini_parts(maki_str content);

#endif
