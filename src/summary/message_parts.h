/* message_parts.h -- the parts of a message (texts, calls, results, media), in either format: Anthropic's blocks,
 * OpenAI's tool_calls and role tool. */
#ifndef MAKI_SUMMARY_MESSAGE_PARTS_H
#define MAKI_SUMMARY_MESSAGE_PARTS_H

#include "history/blocks.h"

typedef enum maki_part_kind {
    MAKI_PART_TEXT,
    MAKI_PART_CALL,
    MAKI_PART_RESULT,
    MAKI_PART_MEDIUM /* an image, a sound ... */
} maki_part_kind;

/* JSON values, borrowed; len 0: absent. */
typedef struct maki_message_part {
    maki_part_kind kind;
    maki_str value; /* of a text a string, of a call its arguments, of a result its content */
    maki_str id;    /* of a call, or of the call that a result answers: a string */
    maki_str name;  /* of a call: a string */
    bool failed;    /* a result marked as an error */
    const char *placeholder; /* text in place of a medium */
} maki_message_part;

typedef struct maki_message_parts {
    maki_role role;
    maki_str role_text; /* a JSON string */
    bool is_summary, done;
    maki_str json, content;
    maki_blocks blocks;
    maki_json_iter calls;
} maki_message_parts;

/* `json` was checked; false: it is not a message. */
bool maki_message_parts_of(maki_str json, maki_message_parts *out);
bool maki_message_parts_next(maki_message_parts *parts, maki_message_part *out);

/* One block of a content; false: skip it (reasoning). */
bool maki_message_part_of_block(maki_str block, maki_message_part *out);

#endif
