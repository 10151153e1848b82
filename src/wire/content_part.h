/* content_part.h -- iterate over the parts of a message, whatever shape the row has.
 *
 * A row of the log is a message in Anthropic's or OpenAI's shape (wire.h), or a variant: Ollama's images
 * and arguments that are objects, items of Responses stored as blocks, the single function_call of the older
 * API.  The writers of other protocols see none of that, only parts:
 *
 *     TEXT       text                             IMAGE, FILE  bytes in base64, or a URL
 *     THINKING   reasoning                        CALL         a tool call
 *     RESULT     the result of a tool             OTHER        a block that only its own protocol knows
 *
 * Parts point into the row and are valid as long as it is; nothing is decoded or copied. */
#ifndef MAKI_WIRE_CONTENT_PART_H
#define MAKI_WIRE_CONTENT_PART_H

#include "wire/json_row.h"

typedef enum maki_content_part_kind {
    MAKI_CONTENT_TEXT,
    MAKI_CONTENT_IMAGE,
    MAKI_CONTENT_FILE,
    MAKI_CONTENT_THINKING,
    MAKI_CONTENT_CALL,
    MAKI_CONTENT_RESULT,
    MAKI_CONTENT_OTHER
} maki_content_part_kind;

/* An image or a file: a URL, or base64 with its media type.  Escaped, without quotes. */
typedef struct maki_media {
    maki_str url, type, data;
} maki_media;

typedef struct maki_content_part {
    maki_content_part_kind kind;
    /* the block, or the item of tool_calls; len 0: it is a field of the row */
    maki_str block;
    maki_str type; /* of that block, a JSON string; len 0: it has none */
    /* THINKING: the field of the row that has it; CALL: "tool_calls", if it has a function */
    maki_str field;
    maki_str text;     /* TEXT, THINKING: a JSON string; len 0: not readable */
    maki_media media;  /* IMAGE, FILE */
    maki_str id;       /* CALL, RESULT: which call; a JSON string, len 0: missing */
    maki_str name;     /* CALL, RESULT: of the tool; the same */
    maki_str input;    /* CALL: an object, or a string with the JSON of one; len 0: none */
    maki_str content;  /* RESULT: a string or blocks; len 0: none */
    bool error;        /* RESULT: the tool failed */
    maki_str cache;    /* cache_control, a JSON value; len 0: none */
    maki_str original; /* the fields of its own protocol (wire.h), an object; len 0: none */
} maki_content_part;

/* The author.  A tool's row is a user's message whose parts are results. */
typedef enum maki_author {
    MAKI_AUTHOR_NONE, /* not a message */
    MAKI_AUTHOR_SYSTEM,
    MAKI_AUTHOR_USER,
    MAKI_AUTHOR_ASSISTANT
} maki_author;

/* Of the field `role`, a JSON string. */
maki_author maki_author_of(maki_str role);

/* An iterator over a row: a copy of it continues from the same position. */
typedef struct maki_content_parts {
    maki_author author;
    maki_str role, name;     /* JSON strings; len 0: missing */
    maki_str refusal, audio; /* JSON values; the same */
    maki_str original;       /* of the row, and of its calls and results */
    bool is_result;          /* the row is one result */

    maki_content_part result;
    maki_json_iter blocks, calls, images;
    maki_str single;        /* content that is a single string or object */
    maki_str thinking[3];   /* fields of the row, which come first */
    size_t thinking_done;   /* how many of them were returned */
    maki_str function_call; /* of the older API */
} maki_content_parts;

/* The parts of a row, in order: reasoning, content, calls, images. */
maki_content_parts maki_content_parts_of_row(maki_str row);
/* The parts of a content alone: a string, blocks or one block. */
maki_content_parts maki_content_parts_of_content(maki_str content);
bool maki_content_parts_next(maki_content_parts *parts, maki_content_part *out);
/* Is there a tool call in the remaining parts? */
bool maki_content_parts_has_call(const maki_content_parts *parts);

/* Is this JSON string empty or only white space? */
bool maki_is_blank(maki_str string);

#endif
