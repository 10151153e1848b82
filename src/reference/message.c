/* message.c -- parse messages into spans of their known fields, and write them with the changes applied.
 *
 * Parsing records where each known field is, and refuses a field of a wrong type, or one that occurs twice.
 * Writing copies the bytes between the changed fields: an unchanged message comes out byte for byte. */
#include "reference/message.h"

#include <math.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str_util.h"

/* ---- parsing -------------------------------------------------------------------------------------- */

typedef struct message_parser {
    maki_where where;
    size_t index;
    maki_err *err;
    unsigned seen; /* a bit for each known field that occurred */
} message_parser;

static maki_status invalid(const message_parser *r, maki_str value, const char *field,
                           const char *problem)
{
    return maki_fail(r->err, MAKI_INVALID, "%s[%zu]%s%s: %s at byte %zu", r->where.list, r->index,
                     field[0] ? "." : "", field, problem, (size_t)(value.ptr - r->where.base));
}

/* The known fields; others are preserved. */
static const struct field {
    maki_str name;
    maki_json_kind kind; /* required; NULL: content may have two */
    size_t offset;       /* of a maki_str, double or bool in maki_msg */
    bool tag;            /* ... or of a maki_tag */
} fields[] = {
    { { "role", 4 }, MAKI_JSON_STRING, offsetof(maki_msg, role_text), false },
    { { "content", 7 }, MAKI_JSON_NULL, offsetof(maki_msg, content), false },
    { { "ts", 2 }, MAKI_JSON_NUMBER, offsetof(maki_msg, ts), false },
    { { "isSummary", 9 }, MAKI_JSON_BOOL, offsetof(maki_msg, is_summary), false },
    { { "isTruncationMarker", 18 }, MAKI_JSON_BOOL, offsetof(maki_msg, is_marker), false },
    { { "condenseId", 10 }, MAKI_JSON_STRING, offsetof(maki_msg, condense_id), false },
    { { "truncationId", 12 }, MAKI_JSON_STRING, offsetof(maki_msg, truncation_id), false },
    { { "condenseParent", 14 }, MAKI_JSON_STRING, offsetof(maki_msg, condense_parent), true },
    { { "truncationParent", 16 }, MAKI_JSON_STRING, offsetof(maki_msg, truncation_parent), true },
};
enum { ROLE, CONTENT, FIELDS = sizeof fields / sizeof fields[0] };

/* The index of a field; FIELDS: unknown. */
static size_t find_field(maki_str key)
{
    bool escaped = memchr(key.ptr, '\\', key.len) != NULL;
    size_t i = 0;
    while (i < FIELDS &&
           !(escaped ? maki_json_key_is(key, fields[i].name) : maki_str_equal(key, fields[i].name)))
        i++;
    return i;
}

/* The problem with the value of a field, or NULL. */
static const char *check_value(size_t field, maki_str value)
{
    static const char *const must[] = { [MAKI_JSON_BOOL] = "must be true or false,",
                                        [MAKI_JSON_NUMBER] = "must be a number,",
                                        [MAKI_JSON_STRING] = "must be a string," };
    maki_json_kind kind = maki_json_kind_of(value), wanted = fields[field].kind;
    if (kind == MAKI_JSON_NULL && field != ROLE) return NULL;
    if (field == CONTENT)
        return kind == MAKI_JSON_STRING || kind == MAKI_JSON_ARRAY
                   ? NULL
                   : "must be a string or an array of blocks,";
    if (kind != wanted) return must[wanted];
    bool infinite = kind == MAKI_JSON_NUMBER && !isfinite(maki_json_double(value));
    return infinite ? "is not a time in milliseconds," : NULL;
}

static maki_status read_field(message_parser *r, maki_json_item item, maki_msg *m)
{
    size_t i = find_field(item.key);
    if (i == FIELDS) return MAKI_OK;
    /* JSON parsers disagree on which of two equal keys counts: the model could see one message and the log
     * another. */
    const char *problem = r->seen & 1u << i ? "occurs twice, again" : check_value(i, item.value);
    if (problem) return invalid(r, item.value, fields[i].name.ptr, problem);
    r->seen |= 1u << i;
    void *field = (char *)m + fields[i].offset;
    if (fields[i].tag) ((maki_tag *)field)->before = item.value;
    switch (maki_json_kind_of(item.value)) {
    case MAKI_JSON_NULL: break;
    case MAKI_JSON_BOOL: *(bool *)field = maki_json_true(item.value); break;
    case MAKI_JSON_NUMBER:
        m->ts = maki_json_double(item.value);
        m->has_ts = true;
        break;
    default: /* an id of "" counts as none, as it does in the reference */
        if (i <= CONTENT || item.value.len > 2) *(maki_str *)field = item.value;
    }
    return MAKI_OK;
}

maki_status maki_msg_read(maki_str object, maki_where where, size_t index, maki_arena *arena,
                          maki_msg **out, maki_err *err)
{
    message_parser r = { .where = where, .index = index, .err = err };
    if (maki_json_kind_of(object) != MAKI_JSON_OBJECT) {
        return invalid(&r, object, "", "a message must be an object,");
    }
    maki_msg *m = maki_arena_get(arena, sizeof *m);
    if (!m) return maki_arena_status(arena, err);
    m->raw = object;
    MAKI_JSON_EACH(item, maki_json_items(object)) {
        maki_status st = read_field(&r, item, m);
        if (st != MAKI_OK) return st;
    }
    if (m->role_text.len == 0) return invalid(&r, object, "role", "is missing from the message");
    m->role = maki_role_of(m->role_text);
    *out = m;
    return MAKI_OK;
}

maki_status maki_msg_synthetic(maki_str json, maki_arena *arena, maki_msg **out, maki_err *err)
{
    return maki_msg_read(json, (maki_where){ "synthetic", json.ptr }, 0, arena, out, err);
}

void maki_msg_set_content(maki_msg *msg, maki_str content)
{
    if (!msg->old_content) msg->old_content = msg->content.ptr;
    msg->content = content;
}

maki_status maki_msgs_read(maki_str array, maki_where where, maki_arena *arena, maki_msgs *out,
                           maki_err *err)
{
    maki_msgs list = { 0 };
    MAKI_JSON_EACH(item, maki_json_items(array)) {
        maki_msg *m = NULL;
        maki_status st = maki_msg_read(item.value, where, list.count, arena, &m, err);
        if (st == MAKI_OK) st = maki_msgs_add(&list, m, arena, err);
        if (st != MAKI_OK) return st;
    }
    *out = list;
    return MAKI_OK;
}

maki_status maki_msgs_add(maki_msgs *list, maki_msg *msg, maki_arena *arena, maki_err *err)
{
    return maki_arena_add(arena, &list->at, &list->count, &list->capacity, &msg, sizeof(maki_msg *),
                          err);
}

maki_status maki_msgs_with(maki_msgs list, size_t index, maki_msg *msg, maki_arena *arena,
                           maki_msgs *out, maki_err *err)
{
    maki_msgs with = { 0 };
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i <= list.count; i++) {
        if (i == index) st = maki_msgs_add(&with, msg, arena, err);
        if (st == MAKI_OK && i < list.count) st = maki_msgs_add(&with, list.at[i], arena, err);
    }
    *out = with;
    return st;
}

maki_msgs maki_msgs_slice(maki_msgs list, size_t from, size_t to)
{
    if (to > list.count) to = list.count;
    if (from > to) from = to;
    /* capacity = count: adding to a slice copies it first, so that it never overwrites the list */
    return (maki_msgs){ list.at ? list.at + from : NULL, to - from, to - from };
}

/* ---- writing ------------------------------------------------------------------------------- */

static bool changed(const maki_tag *tag)
{
    bool had_tag = tag->before.len > 2 && tag->before.ptr[0] == '"';
    if (!had_tag) return tag->value.len > 0;
    return tag->value.ptr != tag->before.ptr;
}

/* Is this the old value of a changed tag? */
static bool is_old_value(const maki_tag *tag, maki_str value)
{
    return tag->before.len && tag->before.ptr == value.ptr && changed(tag);
}

static void append_tag(maki_jw *w, const maki_tag *tag, maki_str key)
{
    if (!changed(tag) || tag->value.len == 0) return;
    maki_jw_bytes(w, MAKI_LIT(",\""));
    maki_jw_bytes(w, key);
    maki_jw_bytes(w, MAKI_LIT("\":"));
    maki_jw_bytes(w, tag->value);
}

static void copy_range(maki_jw *w, const char *from, const char *to)
{
    maki_jw_bytes(w, (maki_str){ from, (size_t)(to - from) });
}

void maki_msg_write(maki_jw *w, const maki_msg *m)
{
    const maki_tag *condense = &m->condense_parent, *truncation = &m->truncation_parent;
    bool walk = condense->before.len || truncation->before.len || m->old_content, kept = false;
    const char *done = m->raw.ptr,
               *end = done; /* written up to here; the end of the previous field */
    maki_json_iter iter = maki_json_items(m->raw);
    maki_json_item item;
    if (!changed(condense) && !changed(truncation) && !m->old_content) {
        maki_jw_raw(w, m->raw);
        return;
    }
    maki_jw_begin_value(w);
    for (; walk && maki_json_next(&iter, &item); end = item.value.ptr + item.value.len) {
        if (is_old_value(condense, item.value) || is_old_value(truncation, item.value)) {
            if (done) copy_range(w, done, kept ? end : item.start);
            done = kept ? item.value.ptr + item.value.len
                        : NULL; /* NULL: continue from the next kept field */
            continue;
        }
        if (!done) done = item.start;
        kept = true;
        if (item.value.ptr != m->old_content) continue;
        copy_range(w, done, item.value.ptr);
        maki_jw_bytes(w, m->content);
        done = item.value.ptr + item.value.len;
    }
    copy_range(w, done ? done : end, m->raw.ptr + m->raw.len - 1);
    append_tag(w, condense, MAKI_LIT("condenseParent"));
    append_tag(w, truncation, MAKI_LIT("truncationParent"));
    maki_jw_bytes(w, MAKI_LIT("}"));
}

void maki_msgs_write(maki_jw *w, maki_msgs list)
{
    maki_jw_begin_array(w);
    for (size_t i = 0; i < list.count; i++)
        maki_msg_write(w, list.at[i]);
    maki_jw_end_array(w);
}

/* ---- content ------------------------------------------------------------------------------- */

maki_blocks maki_msg_blocks(const maki_msg *msg)
{
    return maki_content_blocks(msg->content);
}

bool maki_next_block(maki_blocks *blocks, const char *type, const char *id_name, maki_str *block,
                     maki_str *id)
{
    while (maki_blocks_next(blocks, block)) {
        if (!maki_json_field_in(*block, "type", type)) continue;
        if (!id_name || maki_json_string_field(*block, id_name, id)) return true;
    }
    return false;
}

bool maki_msg_has_block(const maki_msg *msg, const char *type)
{
    maki_blocks blocks = maki_msg_blocks(msg);
    maki_str block;
    return maki_next_block(&blocks, type, NULL, &block, NULL);
}

maki_json_iter maki_msg_calls(const maki_msg *msg)
{
    maki_str calls = { "", 0 };
    if (msg->role == MAKI_ROLE_ASSISTANT) maki_json_get(msg->raw, MAKI_LIT("tool_calls"), &calls);
    if (calls.len == 0 || calls.ptr[0] != '[') return (maki_json_iter){ 0 };
    return maki_json_items(calls);
}
