/* facts.c -- what the index records of a message: role, time, calls, and which message made the call that it answers.
 *
 * In:    a row that is appended, and the log with the rows before it.
 * Out:   maki_row_facts, and where content and calls are, so that counting tokens does not search again.
 * Must stay true: the same rows give the same facts, whether they were appended one by one, by several processes, or
 *        are indexed anew: which call a result answers depends on the LOOK_BACK messages before it alone. */
#include "history/facts.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/json_access.h"
#include "base/time.h"
#include "history/blocks.h"

enum { LOOK_BACK = 64 };

/* ---- fields ------------------------------------------------------------------------------------- */

/* The fields of a message that matter here, found in one pass; of a repeated field the last one counts. */
typedef struct fields {
    maki_str role, content, calls, images, call_id, ts, created, timestamp;
    bool summary, marker;
} fields;

static bool key_is(maki_str key, maki_str name)
{
    /* most keys differ in length and have no escapes */
    return (key.len == name.len || memchr(key.ptr, '\\', key.len)) && maki_json_key_is(key, name);
}

static fields fields_of(maki_str row)
{
    fields f = { 0 };
    MAKI_JSON_EACH(item, maki_json_items(row)) {
        if (key_is(item.key, MAKI_LIT("role")))
            f.role = item.value;
        else if (key_is(item.key, MAKI_LIT("content")))
            f.content = item.value;
        else if (key_is(item.key, MAKI_LIT("tool_calls")))
            f.calls = item.value;
        else if (key_is(item.key, MAKI_LIT("images")))
            f.images = item.value;
        else if (key_is(item.key, MAKI_LIT("tool_call_id")))
            f.call_id = item.value;
        else if (key_is(item.key, MAKI_LIT("ts")))
            f.ts = item.value;
        else if (key_is(item.key, MAKI_LIT("createdAt")))
            f.created = item.value;
        else if (key_is(item.key, MAKI_LIT("timestamp")))
            f.timestamp = item.value;
        else if (key_is(item.key, MAKI_LIT("isSummary")))
            f.summary = maki_json_true(item.value);
        else if (key_is(item.key, MAKI_LIT("isTruncationMarker"))) {
            f.marker = maki_json_true(item.value);
        }
    }
    if (maki_json_kind_of(f.content) == MAKI_JSON_NULL) f.content = (maki_str){ 0 };
    return f;
}

maki_counted_fields maki_counted_fields_of(maki_str message)
{
    fields f = fields_of(message);
    return (maki_counted_fields){ f.role, f.content, f.calls, f.images };
}

/* Where content and calls are in the row; none for the rare row that has `images`, too. */
static maki_row_spans spans_of(maki_str row, const fields *f)
{
    maki_row_spans spans = { { 0 } };
    if (f->images.len) return spans;
    if (f->content.len) {
        spans.values[0] = (uint32_t)(f->content.ptr - row.ptr);
        spans.values[1] = (uint32_t)f->content.len;
    }
    if (f->calls.len) {
        spans.values[2] = (uint32_t)(f->calls.ptr - row.ptr);
        spans.values[3] = (uint32_t)f->calls.len;
    }
    return spans;
}

bool maki_counted_fields_from_spans(maki_str row, const maki_row_spans *spans,
                                    maki_counted_fields *out)
{
    if (!spans || !(spans->values[1] | spans->values[3])) return false;
    *out = (maki_counted_fields){ .content = { row.ptr + spans->values[0], spans->values[1] },
                                  .calls = { row.ptr + spans->values[2], spans->values[3] } };
    return true;
}

static bool is_string(maki_str value)
{
    return value.len > 0 && value.ptr[0] == '"';
}

/* Has the block this type?  *id is its field `id_name` (len 0: none). */
static bool block_id(maki_str block, maki_str type, maki_str id_name, maki_str *id)
{
    bool matches = false;
    *id = (maki_str){ "", 0 };
    MAKI_JSON_EACH(item, maki_json_fields(block)) {
        if (key_is(item.key, MAKI_LIT("type"))) {
            matches = is_string(item.value) && maki_json_text_is(item.value, type);
        } else if (key_is(item.key, id_name)) {
            *id = is_string(item.value) ? item.value : (maki_str){ "", 0 };
        }
    }
    return matches;
}

/* ---- calls and their answers ---------------------------------------------------------------------- */

static void add_call(maki_recent_calls *state, maki_str id, uint64_t seq)
{
    size_t i = state->next++ % (sizeof state->calls / sizeof state->calls[0]);
    state->calls[i].hash = maki_json_text_hash(id);
    state->calls[i].seq = (uint32_t)seq;
}

/* The newest of the last LOOK_BACK messages before `seq` that makes the call; 0: none.  The limit gives every process
 * the same answer, wherever it began to read. */
static uint32_t caller_of(const maki_recent_calls *state, maki_str id, uint64_t seq)
{
    uint64_t hash = maki_json_text_hash(id);
    size_t capacity = sizeof state->calls / sizeof state->calls[0];
    size_t n = state->next < capacity ? state->next : capacity;
    for (size_t back = 1; back <= n; back++) { /* the newest first: ids may be used again */
        size_t i = (state->next - back) % capacity;
        if (state->calls[i].seq + (uint64_t)LOOK_BACK < seq) return 0;
        if (state->calls[i].hash == hash) return state->calls[i].seq;
    }
    return 0;
}

/* Add the calls that a message makes, as blocks or as tool_calls.  Returns whether there are any. */
static bool add_calls(maki_recent_calls *state, const fields *f, uint64_t seq)
{
    maki_str block, id;
    bool any = false;
    if (f->content.len && f->content.ptr[0] == '[') {
        maki_blocks blocks = maki_content_blocks(f->content);
        while (maki_blocks_next(&blocks, &block)) {
            if (!block_id(block, MAKI_LIT("tool_use"), MAKI_LIT("id"), &id)) continue;
            any = true;
            if (id.len) add_call(state, id, seq);
        }
    }
    MAKI_JSON_EACH(call, maki_json_items(f->calls)) {
        any = true;
        if (maki_json_string_field(call.value, "id", &id)) add_call(state, id, seq);
    }
    return any;
}

/* Does the message answer a call?  *id is that of the first one (len 0: none). */
static bool find_answered_call(maki_role role, const fields *f, maki_str *id)
{
    maki_str block;
    *id = (maki_str){ "", 0 };
    if (role == MAKI_ROLE_TOOL) {
        if (is_string(f->call_id)) *id = f->call_id;
        return true;
    }
    if (role != MAKI_ROLE_USER || f->content.len == 0 || f->content.ptr[0] != '[') return false;
    maki_blocks blocks = maki_content_blocks(f->content);
    while (maki_blocks_next(&blocks, &block)) {
        if (block_id(block, MAKI_LIT("tool_result"), MAKI_LIT("tool_use_id"), id)) return true;
    }
    *id = (maki_str){ "", 0 };
    return false;
}

/* ---- the recent calls ----------------------------------------------------------------------------- */

/* Are the recent calls in `state` those of the rows just before `seq`?  Not after opening, when another process wrote in
 * between, or after an aborted group.  The number of a row that was not a message is used again. */
static maki_status is_current(const maki_recent_calls *state, maki_log *log, uint64_t seq,
                              bool *out, maki_err *err)
{
    maki_index_record before;
    bool replaces_bad = state->last_bad && state->last_seq == seq;
    *out = (replaces_bad || state->last_seq + 1 == seq) && seq > maki_log_base(log) + 1;
    if (!*out || seq != maki_log_last(log) + 1)
        return MAKI_OK; /* inside a group, no other process can write */
    maki_status st = maki_log_row(log, seq - 1, &before, err);
    *out = st == MAKI_OK && before.xxh3 == (replaces_bad ? state->hash_before : state->last_hash);
    return st;
}

/* The state now belongs to `row`. */
static void advance(maki_recent_calls *state, uint64_t seq, maki_str row)
{
    bool replaces_bad = state->last_bad && state->last_seq == seq;
    if (!replaces_bad) state->hash_before = state->last_hash;
    state->last_seq = seq;
    state->last_hash = maki_row_hash(row);
    state->last_bad = true; /* until it is known to be a message */
}

static maki_status read_calls(maki_recent_calls *state, maki_log *log, uint64_t seq, maki_buf *row,
                              maki_err *err)
{
    maki_index_record record;
    maki_status st = maki_log_row(log, seq, &record, err);
    bool calls = record.flags & MAKI_ROW_CALLS && !(record.flags & MAKI_ROW_NOT_MESSAGE);
    if (st != MAKI_OK || !calls) return st;
    maki_buf_clear(row);
    st = maki_log_read(log, seq, row, err);
    if (st == MAKI_CORRUPT) return MAKI_OK; /* fsck reports it: writing continues */
    if (st != MAKI_OK) return st;
    fields f = fields_of(maki_buf_str(row));
    add_calls(state, &f, seq);
    return MAKI_OK;
}

/* Read the calls of the rows just before `seq`, unless the state has them. */
static maki_status load_recent_calls(maki_recent_calls *state, maki_log *log, uint64_t seq,
                                     maki_err *err)
{
    uint64_t first = maki_log_base(log) + 1, last = maki_log_last(log);
    bool known = false;
    maki_status st = is_current(state, log, seq, &known, err);
    if (st != MAKI_OK || known) return st;
    state->next = 0;
    if (last >= seq) last = seq - 1;
    maki_buf row = maki_buf_new(state->alloc, (size_t)MAKI_ROW_MAX);
    uint64_t from = last >= first + LOOK_BACK ? last - LOOK_BACK + 1 : first;
    for (uint64_t s = from; st == MAKI_OK && s <= last; s++)
        st = read_calls(state, log, s, &row, err);
    maki_buf_free(&row);
    return st;
}

/* ---- the facts ------------------------------------------------------------------------------------- */

/* The time of the message in ms: `ts` or `createdAt`, or `timestamp` as text; 0: none. */
static int64_t time_of(const fields *f)
{
    maki_str value = f->ts.len ? f->ts : f->created.len ? f->created : f->timestamp;
    char text[40];
    double ms = 0;
    if (maki_json_kind_of(value) == MAKI_JSON_NUMBER) ms = maki_json_double(value);
    if (is_string(value)) {
        size_t n = maki_json_copy_text(value, text, sizeof text);
        if (!maki_time_parse((maki_str){ text, n }, &ms)) ms = 0;
    }
    return fabs(ms) < 9e15 ? (int64_t)ms : 0;
}

maki_status maki_row_facts_of(void *ctx, maki_log *log, uint64_t seq, maki_str row,
                              maki_row_facts *out, maki_err *err)
{
    maki_recent_calls *state = ctx;
    maki_str object = row, id;
    maki_status st = load_recent_calls(state, log, seq, err);
    if (st != MAKI_OK) return st;
    advance(state, seq, row);
    if (!state->checked) st = maki_json_check(row, &object, err);
    if (st == MAKI_TOOBIG) {
        return maki_fail(err, MAKI_INVALID, "message %llu is nested too deep",
                         (unsigned long long)seq);
    }
    if (st != MAKI_OK) return st;
    fields f = { 0 };
    if (maki_json_kind_of(object) == MAKI_JSON_OBJECT) f = fields_of(object);
    if (!is_string(f.role)) {
        return maki_fail(err, MAKI_INVALID, "message %llu must be an object with a role",
                         (unsigned long long)seq);
    }
    maki_role kind = maki_role_of(f.role);
    state->last_bad = false;
    *out =
        (maki_row_facts){ .ts = time_of(&f), .flags = (uint32_t)kind, .spans = spans_of(row, &f) };
    if (find_answered_call(kind, &f, &id)) {
        out->flags |= MAKI_ROW_ANSWERS;
        if (id.len) out->call_seq = caller_of(state, id, seq);
    }
    if (kind == MAKI_ROLE_ASSISTANT && add_calls(state, &f, seq)) out->flags |= MAKI_ROW_CALLS;
    if (f.summary) out->flags |= MAKI_ROW_SUMMARY;
    if (f.marker) out->flags |= MAKI_ROW_MARKER;
    return MAKI_OK;
}
