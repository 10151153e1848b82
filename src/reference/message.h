/* message.h -- parse and write messages of a conversation; unchanged bytes are preserved.
 *
 * A message refers to its JSON text, which is not serialized again.  What operations change (the two tags and the
 * content) is stored separately and applied when the message is written, so unknown fields, spacing
 * and number formats are preserved.
 *
 * Formats: Anthropic (content a string or blocks), OpenAI (tool_calls, role tool), and anything else
 * with a role.  All pointers are borrowed from the input or the arena it was read with. */
#ifndef MAKI_REFERENCE_MESSAGE_H
#define MAKI_REFERENCE_MESSAGE_H

#include "base/json_builder.h"
#include "history/blocks.h"

/* condenseParent or truncationParent: the id of the summary or marker that hides this message. */
typedef struct maki_tag {
    maki_str value;  /* a JSON string; len 0: no tag */
    maki_str before; /* the field's value in the bytes; len 0: the field is not there */
} maki_tag;

typedef struct maki_msg {
    maki_str raw; /* the JSON object */
    maki_role role;
    maki_str role_text; /* a JSON string */
    maki_str content;   /* the value; len 0: none */
    bool has_ts;
    double ts; /* milliseconds */
    bool is_summary;
    bool is_marker;
    maki_str condense_id;   /* JSON strings; len 0: none */
    maki_str truncation_id; /* likewise */
    maki_tag condense_parent;
    maki_tag truncation_parent;
    const char *old_content; /* the replaced content in raw; NULL: not replaced */
} maki_msg;

/* A list of messages.  Lists share messages: taking some of them copies pointers only. */
typedef struct maki_msgs {
    maki_msg **at;
    size_t count;
    size_t capacity;
} maki_msgs;

/* What error messages refer to: "messages[3].role ... at byte 120". */
typedef struct maki_where {
    const char *list; /* the name of the list, or of the field */
    const char *base; /* where the input begins */
} maki_where;

/* Read a JSON array of messages, or one message.  MAKI_INVALID names the field and its byte. */
maki_status maki_msgs_read(maki_str array, maki_where where, maki_arena *arena, maki_msgs *out,
                           maki_err *err) MAKI_MUST_CHECK;
maki_status maki_msg_read(maki_str object, maki_where where, size_t index, maki_arena *arena,
                          maki_msg **out, maki_err *err) MAKI_MUST_CHECK;

/* Read a synthetic message, which is valid. */
maki_status maki_msg_synthetic(maki_str json, maki_arena *arena, maki_msg **out, maki_err *err);
/* Replace the content; all other bytes are unchanged. */
void maki_msg_set_content(maki_msg *msg, maki_str content);

maki_status maki_msgs_add(maki_msgs *list, maki_msg *msg, maki_arena *arena, maki_err *err);
/* A copy of the list with `msg` inserted at `index`. */
maki_status maki_msgs_with(maki_msgs list, size_t index, maki_msg *msg, maki_arena *arena,
                           maki_msgs *out, maki_err *err);
/* The messages [from, to) of a list; shares its memory. */
maki_msgs maki_msgs_slice(maki_msgs list, size_t from, size_t to);

/* As a JSON value: its bytes with the changes applied. */
void maki_msg_write(maki_jw *w, const maki_msg *msg);
void maki_msgs_write(maki_jw *w, maki_msgs list);

/* ---- content -------------------------------------------------------------------------------- */

maki_blocks maki_msg_blocks(const maki_msg *msg);
/* The next block of a type; with `id_name`, of those that have this string field, which is *id. */
bool maki_next_block(maki_blocks *blocks, const char *type, const char *id_name, maki_str *block,
                     maki_str *id);
bool maki_msg_has_block(const maki_msg *msg, const char *type);

/* The calls of an OpenAI assistant message: the items of tool_calls. */
maki_json_iter maki_msg_calls(const maki_msg *msg);

#endif
