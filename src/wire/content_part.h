/* content_part.h -- what a row says, piece by piece, whatever shape it is in.
 *
 * A row of the log is a message in Anthropic's or OpenAI's shape (wire.h), or nearly so: Ollama's images
 * and arguments that are objects, items of Responses kept as blocks, the one function_call of the older
 * API.  Whoever writes a row in another protocol sees none of that, only pieces:
 *
 *     TEXT       words                            IMAGE, FILE  bytes in base64, or where they are
 *     THINKING   what the model thought           CALL         a call of a tool
 *     RESULT     what a tool answered             OTHER        a block that only its own protocol knows
 *
 * Pieces point into the row and are valid as long as it is; nothing is decoded or copied. */
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

/* Where an image or a file is: a URL, or base64 with its media type.  Escaped, without quotes. */
typedef struct maki_media {
    maki_str url, type, data;
} maki_media;

typedef struct maki_content_part {
    maki_content_part_kind kind;
    /* the block, or the item of tool_calls, that says it; len 0: a field of the row */
    maki_str block;
    maki_str type; /* of that block, a JSON string; len 0: it has none */
    /* THINKING: the field of the row it stands in; CALL: "tool_calls", if it has a function */
    maki_str field;
    maki_str text;     /* TEXT, THINKING: a JSON string; len 0: it is in no words */
    maki_media media;  /* IMAGE, FILE */
    maki_str id;       /* CALL, RESULT: which call; a JSON string, len 0: not said */
    maki_str name;     /* CALL, RESULT: of the tool; the same */
    maki_str input;    /* CALL: an object, or a string with the JSON of one; len 0: none */
    maki_str content;  /* RESULT: a string or blocks; len 0: none */
    bool error;        /* RESULT: the tool failed */
    maki_str cache;    /* cache_control, a JSON value; len 0: none */
    maki_str original; /* what a protocol said beside (wire.h), an object; len 0: nothing */
} maki_content_part;

/* Who speaks.  A tool's row is a user's message whose pieces are results. */
typedef enum maki_speaker {
    MAKI_BY_NOBODY, /* it is no message */
    MAKI_BY_SYSTEM,
    MAKI_BY_USER,
    MAKI_BY_ASSISTANT
} maki_speaker;

/* A row, read once, and how far its pieces were walked: a copy of it walks on from there. */
typedef struct maki_content_parts {
    maki_speaker by;
    maki_str role, name;     /* JSON strings; len 0: not said */
    maki_str refusal, audio; /* JSON values; the same */
    maki_str original;       /* the row's own, which is that of its calls and results too */
    bool is_result;          /* the row is one result */

    maki_content_part result;
    maki_json_iter blocks, calls, images;
    maki_str single;        /* content that is one string or one object */
    maki_str thinking[3];   /* fields of the row that are said first */
    size_t thought;         /* how many of them were */
    maki_str function_call; /* of the older API */
} maki_content_parts;

/* The pieces of a row, in order: thoughts, content, calls, images. */
maki_content_parts maki_content_parts_of(maki_str row);
/* The pieces of a content alone: a string, blocks or one block. */
maki_content_parts maki_content_parts_in(maki_str content);
bool maki_content_parts_next(maki_content_parts *pieces, maki_content_part *out);
/* Does the model call a tool in what is left of it? */
bool maki_content_parts_call(const maki_content_parts *pieces);

/* Is there nothing but white space in this JSON string? */
bool maki_blank(maki_str string);

#endif
