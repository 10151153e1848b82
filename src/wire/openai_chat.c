/* openai_chat.c -- OpenAI's chat completions, which many others speak too: messages are kept verbatim. */
#include <stdio.h>

#include "wire/read.h"
#include "wire/reply.h"

/* ---- requests ----------------------------------------------------------------------------------------- */

maki_status maki_chat_item(maki_reading *r, maki_str item, bool single)
{
    if (single) return maki_reading_wrong(r, "must stand in an array");
    return maki_reading_give(r, item);
}

/* ---- replies ------------------------------------------------------------------------------------------ */

static const maki_str id_name = { "id", 2 }, name_name = { "name", 4 }, type_name = { "type", 4 };

/* A value that comes once; servers repeat it, or send an empty one with every piece. */
static maki_status once(maki_gather *g, maki_str name, maki_str value, maki_err *err)
{
    if (value.len <= 2) return MAKI_OK;
    return maki_gather_add(g, MAKI_GATHER_VALUE, name, value, err);
}

/* A function's name and a piece of its arguments. */
static maki_status add_function(maki_gather *g, maki_str function, maki_err *err)
{
    static const maki_str but[] = { { "name", 4 } };
    maki_status st = once(g, name_name, maki_get_string(function, name_name), err);
    return st == MAKI_OK ? maki_gather_merge(g, function, but, 1, err) : st;
}

/* The call that a piece belongs to.  Its index says so, but some servers send none, or 0 for all calls: an id
 * that is not the call's own begins another. */
static maki_status call_of(maki_wire_reply *r, maki_str piece, maki_part **out, maki_err *err)
{
    maki_str index = maki_get(piece, MAKI_LIT("index")), id = maki_get_string(piece, id_name), own;
    *out = NULL;
    if (index.len)
        *out = maki_reply_part(r, maki_count_of(index));
    else if (r->part_count)
        *out = r->parts[r->part_count - 1];
    if (*out && id.len > 2) {
        maki_status st = maki_gather_get(&(*out)->fields, id_name, &own, err);
        if (st != MAKI_OK) return st;
        if (own.len && !maki_json_same_text(own, id)) *out = NULL;
    }
    return *out ? MAKI_OK : maki_reply_new_part(r, maki_count_of(index), out, err);
}

static maki_status hear_call(maki_wire_reply *r, maki_part *part, maki_str piece, maki_err *err)
{
    maki_str function = maki_get(piece, MAKI_LIT("function"));
    maki_status st = maki_reply_heard_call(r, part, maki_get(function, name_name),
                                           maki_get_string(piece, id_name), err);
    if (st != MAKI_OK) return st;
    return maki_reply_heard_input(r, part, maki_get(function, MAKI_LIT("arguments")), err);
}

static maki_status add_call(maki_wire_reply *r, maki_str piece, maki_err *err)
{
    static const maki_str but[] = { { "index", 5 }, { "id", 2 }, { "type", 4 }, { "function", 8 } };
    maki_part *part = NULL;
    maki_status st = call_of(r, piece, &part, err);
    if (st == MAKI_OK) st = once(&part->fields, id_name, maki_get_string(piece, id_name), err);
    if (st == MAKI_OK) st = once(&part->fields, type_name, maki_get_string(piece, type_name), err);
    if (st == MAKI_OK) st = maki_gather_merge(&part->fields, piece, but, 4, err);
    if (st == MAKI_OK) st = add_function(&part->inner, maki_get(piece, but[3]), err);
    return st == MAKI_OK && r->ear.fn ? hear_call(r, part, piece, err) : st;
}

static maki_status add_calls(maki_wire_reply *r, maki_str calls, maki_err *err)
{
    maki_json_iter iter = maki_json_items(calls);
    maki_json_item item;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && maki_is_array(calls) && maki_json_next(&iter, &item)) {
        if (maki_is_object(item.value)) st = add_call(r, item.value, err);
    }
    return st;
}

/* The one call of the API before tool_calls: gathered by its two names, put together at the end. */
static const maki_str old_name = { "function_call.name", 18 };
static const maki_str old_arguments = { "function_call.arguments", 23 };

static maki_status add_old_call(maki_wire_reply *r, maki_str call, maki_err *err)
{
    maki_str arguments = maki_get_string(call, MAKI_LIT("arguments"));
    maki_str name = maki_get_string(call, name_name);
    maki_status st = once(&r->message, old_name, name, err);
    if (st == MAKI_OK) st = maki_reply_heard_call(r, NULL, name, (maki_str){ "", 0 }, err);
    if (st == MAKI_OK) st = maki_reply_heard_input(r, NULL, arguments, err);
    if (st != MAKI_OK || arguments.len == 0) return st;
    return maki_gather_add(&r->message, MAKI_GATHER_TEXT, old_arguments, arguments, err);
}

/* Content may come as blocks (Mistral's): their texts are the content. */
static maki_status add_blocks(maki_wire_reply *r, maki_str blocks, maki_err *err)
{
    maki_json_iter iter = maki_json_items(blocks);
    maki_json_item item;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && maki_json_next(&iter, &item)) {
        maki_str text = maki_get_string(item.value, MAKI_LIT("text"));
        st = maki_reply_heard(r, MAKI_DELTA_TEXT, text, err);
        if (st != MAKI_OK) break;
        st = text.len
                 ? maki_gather_add(&r->message, MAKI_GATHER_TEXT, MAKI_LIT("content"), text, err)
                 : maki_gather_add(&r->message, MAKI_GATHER_LIST, MAKI_LIT("content_parts"),
                                   item.value, err);
    }
    return st;
}

/* Sound is not kept; its id is, which is how a client sends it back. */
static maki_status add_audio(maki_wire_reply *r, maki_str audio, maki_err *err)
{
    maki_str id = maki_get_string(audio, id_name);
    char json[512];
    if (id.len == 0 || id.len > sizeof json - 16) return MAKI_OK;
    int n = snprintf(json, sizeof json, "{\"id\":%.*s}", (int)id.len, id.ptr);
    return maki_gather_add(&r->message, MAKI_GATHER_VALUE, MAKI_LIT("audio"),
                           (maki_str){ json, (size_t)n }, err);
}

/* What is said but for the calls and the blocks, which are heard where they are taken apart. */
static maki_status hear_delta(maki_wire_reply *r, maki_str delta, maki_err *err)
{
    enum { REASONING, OTHER_REASONING, CONTENT, REFUSAL, COUNT };
    static const maki_str names[] = {
        { "reasoning_content", 17 }, { "reasoning", 9 }, { "content", 7 }, { "refusal", 7 }
    };
    maki_str v[COUNT];
    maki_get_each(delta, names, v, COUNT);
    if (!v[REASONING].len) v[REASONING] = v[OTHER_REASONING];
    maki_status st = maki_reply_heard(r, MAKI_DELTA_REASONING, v[REASONING], err);
    if (st == MAKI_OK) st = maki_reply_heard(r, MAKI_DELTA_TEXT, v[CONTENT], err);
    return st == MAKI_OK ? maki_reply_heard(r, MAKI_DELTA_TEXT, v[REFUSAL], err) : st;
}

static maki_status add_delta(maki_wire_reply *r, maki_str delta, maki_err *err)
{
    enum { ROLE, CONTENT, CALLS, OLD_CALL, AUDIO, COUNT };
    static const maki_str names[] = { { "role", 4 },
                                      { "content", 7 },
                                      { "tool_calls", 10 },
                                      { "function_call", 13 },
                                      { "audio", 5 } };
    maki_str v[COUNT];
    maki_status st = MAKI_OK;
    maki_get_each(delta, names, v, COUNT);
    if (r->ear.fn) st = hear_delta(r, delta, err);
    if (st == MAKI_OK && maki_is_string(v[CONTENT]))
        st = maki_gather_add(&r->message, MAKI_GATHER_TEXT, names[CONTENT], v[CONTENT], err);
    if (st == MAKI_OK && maki_is_array(v[CONTENT])) st = add_blocks(r, v[CONTENT], err);
    if (st == MAKI_OK && v[CALLS].len) st = add_calls(r, v[CALLS], err);
    if (st == MAKI_OK && v[OLD_CALL].len) st = add_old_call(r, v[OLD_CALL], err);
    if (st == MAKI_OK && v[AUDIO].len) st = add_audio(r, v[AUDIO], err);
    return st == MAKI_OK ? maki_gather_merge(&r->message, delta, names, COUNT, err) : st;
}

/* The fields of a reply or a chunk that matter here, and of its first choice: only one can go on. */
enum { ID, MODEL, CHOICES, USAGE, ERROR, GROQ, TOP };
enum { INDEX, DELTA, MESSAGE, STOP, CHOICE_USAGE, CHOICE };
typedef struct said {
    maki_str top[TOP], choice[CHOICE];
} said;

static void read_said(maki_str value, said *s)
{
    static const maki_str top[] = { { "id", 2 },    { "model", 5 }, { "choices", 7 },
                                    { "usage", 5 }, { "error", 5 }, { "x_groq", 6 } };
    static const maki_str choice[] = {
        { "index", 5 }, { "delta", 5 }, { "message", 7 }, { "finish_reason", 13 }, { "usage", 5 }
    };
    maki_json_item item;
    maki_get_each(value, top, s->top, TOP);
    maki_get_each((maki_str){ "", 0 }, choice, s->choice, CHOICE);
    maki_json_iter iter = maki_json_items(s->top[CHOICES]);
    while (maki_is_array(s->top[CHOICES]) && maki_json_next(&iter, &item)) {
        maki_get_each(item.value, choice, s->choice, CHOICE);
        if (maki_count_of(s->choice[INDEX]) == 0) return;
        maki_get_each((maki_str){ "", 0 }, choice, s->choice, CHOICE);
    }
}

static maki_status note(maki_wire_reply *r, maki_str value, const said *s, maki_err *err)
{
    maki_str usage = s->top[USAGE], stop = s->choice[STOP];
    if (!usage.len) usage = s->choice[CHOICE_USAGE];
    if (!usage.len && s->top[GROQ].len) usage = maki_get(s->top[GROQ], MAKI_LIT("usage"));
    if (stop.len) r->complete = true;
    maki_status st = maki_reply_note_first(r, MAKI_NOTE_ID, s->top[ID], err);
    if (st == MAKI_OK) st = maki_reply_note_first(r, MAKI_NOTE_MODEL, s->top[MODEL], err);
    if (st == MAKI_OK && maki_is_string(stop)) st = maki_reply_note(r, MAKI_NOTE_STOP, stop, err);
    if (st == MAKI_OK && s->top[ERROR].len) st = maki_reply_note(r, MAKI_NOTE_ERROR, value, err);
    return st == MAKI_OK ? maki_reply_usage(r, usage, err) : st;
}

static maki_status event(maki_wire_reply *r, maki_str value, maki_err *err)
{
    said s;
    read_said(value, &s);
    maki_status st = note(r, value, &s, err);
    return st == MAKI_OK && maki_is_object(s.choice[DELTA]) ? add_delta(r, s.choice[DELTA], err)
                                                            : st;
}

static maki_status whole(maki_wire_reply *r, maki_str value, maki_err *err)
{
    said s;
    maki_jw w;
    read_said(value, &s);
    maki_str message = s.choice[MESSAGE];
    maki_status st = note(r, value, &s, err);
    bool role = maki_get_string(message, MAKI_LIT("role")).len > 0;
    if (st != MAKI_OK || !maki_is_object(message)) return st;
    if (role) return maki_reply_row_is(r, message, err);
    maki_reply_row(r, &w, err);
    maki_jw_object(&w);
    maki_write_field(&w, MAKI_LIT("role"), MAKI_LIT("\"assistant\""));
    maki_write_rest(&w, message, NULL, 0);
    maki_jw_end_object(&w);
    return maki_reply_row_end(r, &w, err);
}

static maki_status write_text(maki_wire_reply *r, maki_jw *w, maki_str key, maki_str name,
                              maki_str none, maki_err *err)
{
    maki_str text;
    maki_status st = maki_gather_get(&r->message, name, &text, err);
    if (st != MAKI_OK) return st;
    if (!maki_gather_has(&r->message, name)) {
        maki_write_field(w, key, none);
        return MAKI_OK;
    }
    maki_write_field(w, key, MAKI_LIT("\""));
    maki_jw_bytes(w, text);
    maki_jw_bytes(w, MAKI_LIT("\""));
    return MAKI_OK;
}

static maki_status write_old_call(maki_wire_reply *r, maki_jw *w, maki_err *err)
{
    maki_str name;
    maki_status st = maki_gather_get(&r->message, old_name, &name, err);
    if (st != MAKI_OK || name.len == 0) return st;
    maki_jw_key(w, MAKI_LIT("function_call"));
    maki_jw_object(w);
    maki_write_field(w, name_name, name);
    st = write_text(r, w, MAKI_LIT("arguments"), old_arguments, MAKI_LIT("\"\""), err);
    maki_jw_end_object(w);
    return st;
}

static maki_status finish(maki_wire_reply *r, maki_err *err)
{
    const maki_str but[] = { { "role", 4 }, { "content", 7 }, old_name, old_arguments };
    maki_str calls;
    maki_jw w;
    bool any = maki_gather_any(&r->message, but[0]) || r->part_count > 0;
    maki_status st = maki_reply_flush(r, true, err);
    if (st == MAKI_OK) st = maki_spool_text(&r->blocks, &calls, err);
    if (st != MAKI_OK || !any) return st;
    maki_reply_row(r, &w, err);
    maki_jw_object(&w);
    maki_write_field(&w, but[0], MAKI_LIT("\"assistant\""));
    st = write_text(r, &w, but[1], but[1], MAKI_LIT("null"), err);
    if (st == MAKI_OK) st = maki_gather_write(&r->message, &w, but, 4, err);
    if (st == MAKI_OK) st = write_old_call(r, &w, err);
    if (calls.len) {
        maki_jw_key(&w, MAKI_LIT("tool_calls"));
        maki_jw_array(&w);
        maki_jw_raw(&w, maki_str_to(calls, calls.len - 1));
        maki_jw_end_array(&w);
    }
    maki_jw_end_object(&w);
    return st == MAKI_OK ? maki_reply_row_end(r, &w, err) : st;
}

const maki_reply_rules maki_chat_reply = { event, whole, finish };
