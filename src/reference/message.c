/* message.c -- reading and writing messages; see message.h. */
#include "reference/message.h"

#include <math.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

/* ---- reading ------------------------------------------------------------------------------- */

typedef struct reading {
    maki_where where;
    size_t index;
    maki_err *err;
    unsigned seen; /* a bit for each known field that stood already */
} reading;

static maki_status wrong(const reading *r, maki_str at, const char *field, const char *what)
{
    return maki_fail(r->err, MAKI_INVALID, "%s[%zu]%s%s: %s at byte %zu", r->where.list, r->index,
                     field[0] ? "." : "", field, what, (size_t)(at.ptr - r->where.base));
}

/* Fields that we know; others stay as they are. */
static const struct field {
    const char *name;
    maki_json_kind kind; /* that it must be; NULL: a content has two */
    size_t at;           /* a maki_str, double or bool of maki_msg */
    bool tag;            /* ... or a maki_tag */
} fields[] = {
    { "role", MAKI_JSON_STRING, offsetof(maki_msg, role_text), false },
    { "content", MAKI_JSON_NULL, offsetof(maki_msg, content), false },
    { "ts", MAKI_JSON_NUMBER, offsetof(maki_msg, ts), false },
    { "isSummary", MAKI_JSON_BOOL, offsetof(maki_msg, is_summary), false },
    { "isTruncationMarker", MAKI_JSON_BOOL, offsetof(maki_msg, is_marker), false },
    { "condenseId", MAKI_JSON_STRING, offsetof(maki_msg, condense_id), false },
    { "truncationId", MAKI_JSON_STRING, offsetof(maki_msg, truncation_id), false },
    { "condenseParent", MAKI_JSON_STRING, offsetof(maki_msg, condense_parent), true },
    { "truncationParent", MAKI_JSON_STRING, offsetof(maki_msg, truncation_parent), true },
};
enum { ROLE, CONTENT };

/* What is wrong with the value of a field; NULL: nothing. */
static const char *fault(size_t field, maki_str value)
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
    bool endless = kind == MAKI_JSON_NUMBER && !isfinite(maki_json_double(value));
    return endless ? "is not a time in milliseconds," : NULL;
}

static maki_status read_field(reading *r, maki_json_item item, maki_msg *m)
{
    size_t i = 0, n = sizeof fields / sizeof fields[0];
    while (i < n && !maki_json_key_is(item.key, maki_str_of(fields[i].name)))
        i++;
    if (i == n) return MAKI_OK;
    /* Readers disagree on which of two counts, so that a guess could show the model one message and
     * the log another. */
    const char *what = r->seen & 1u << i ? "stands twice, again" : fault(i, item.value);
    if (what) return wrong(r, item.value, fields[i].name, what);
    r->seen |= 1u << i;
    void *at = (char *)m + fields[i].at;
    if (fields[i].tag) ((maki_tag *)at)->before = item.value;
    switch (maki_json_kind_of(item.value)) {
    case MAKI_JSON_NULL: break;
    case MAKI_JSON_BOOL: *(bool *)at = maki_json_true(item.value); break;
    case MAKI_JSON_NUMBER:
        m->ts = maki_json_double(item.value);
        m->has_ts = true;
        break;
    default: /* an id of "" counts as none, as it does in the reference */
        if (i <= CONTENT || item.value.len > 2) *(maki_str *)at = item.value;
    }
    return MAKI_OK;
}

maki_status maki_msg_read(maki_str object, maki_where where, size_t index, maki_arena *arena,
                          maki_msg **out, maki_err *err)
{
    reading r = { .where = where, .index = index, .err = err };
    maki_json_iter iter = maki_json_items(object);
    maki_json_item item;
    if (maki_json_kind_of(object) != MAKI_JSON_OBJECT) {
        return wrong(&r, object, "", "a message must be an object,");
    }
    maki_msg *m = maki_arena_get(arena, sizeof *m);
    if (!m) return maki_arena_status(arena, err);
    m->raw = object;
    while (maki_json_next(&iter, &item)) {
        maki_status st = read_field(&r, item, m);
        if (st != MAKI_OK) return st;
    }
    if (m->role_text.len == 0) return wrong(&r, object, "role", "is missing from the message");
    m->role = maki_role_of(m->role_text);
    *out = m;
    return MAKI_OK;
}

maki_status maki_msg_made(maki_str json, maki_arena *arena, maki_msg **out, maki_err *err)
{
    return maki_msg_read(json, (maki_where){ "made", json.ptr }, 0, arena, out, err);
}

maki_status maki_msg_end(maki_made *made, maki_arena *arena, maki_msg **out, maki_err *err)
{
    maki_str json;
    maki_jw_end_object(&made->w);
    maki_status st = maki_made_end(made, arena, &json, err);
    return st == MAKI_OK ? maki_msg_made(json, arena, out, err) : st;
}

void maki_msg_begin(maki_made *made, const char *role, maki_arena *arena, maki_err *err)
{
    maki_made_begin(made, arena, err);
    maki_jw_object(&made->w);
    maki_jw_field_string(&made->w, "role", maki_str_of(role));
}

maki_status maki_msg_set_content(maki_msg *msg, maki_str content, maki_arena *arena, maki_err *err)
{
    maki_edit *edit = maki_arena_get(arena, sizeof *edit);
    if (!edit) return maki_arena_status(arena, err);
    if (msg->edit_count) { /* changed already: the place is the same */
        *edit = msg->edits[0];
        edit->text = content;
    } else {
        uint64_t at = (uint64_t)(msg->content.ptr - msg->raw.ptr);
        *edit = (maki_edit){ at, at + msg->content.len, content };
    }
    msg->edits = edit;
    msg->edit_count = 1;
    msg->content = content;
    return MAKI_OK;
}

maki_status maki_msgs_read(maki_str array, maki_where where, maki_arena *arena, maki_msgs *out,
                           maki_err *err)
{
    maki_json_iter iter = maki_json_items(array);
    maki_json_item item;
    maki_msgs list = { 0 };
    while (maki_json_next(&iter, &item)) {
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
    void *at = maki_arena_grow(arena, list->at, list->count, &list->room, sizeof(maki_msg *));
    if (!at) return maki_arena_status(arena, err);
    list->at = at;
    list->at[list->count++] = msg;
    return MAKI_OK;
}

maki_msgs maki_msgs_slice(maki_msgs list, size_t from, size_t to)
{
    if (to > list.count) to = list.count;
    if (from > to) from = to;
    /* room = count: adding to a slice copies it first, instead of writing over its neighbour */
    return (maki_msgs){ list.at ? list.at + from : NULL, to - from, to - from };
}

/* ---- writing ------------------------------------------------------------------------------- */

static bool changed(const maki_tag *tag)
{
    bool was = tag->before.len > 2 && tag->before.ptr[0] == '"';
    if (!was) return tag->value.len > 0;
    return tag->value.ptr != tag->before.ptr;
}

/* The edits that take the old fields of changed tags out of `m`: at most two, in order. */
static size_t cut_tags(const maki_msg *m, maki_edit cuts[2])
{
    const maki_tag *tags[] = { &m->condense_parent, &m->truncation_parent };
    maki_json_iter iter = maki_json_items(m->raw);
    maki_json_item item;
    const char *base = m->raw.ptr;
    size_t n = 0;
    uint64_t previous_end = 0;
    bool kept = false, pending = false;
    while (maki_json_next(&iter, &item)) {
        uint64_t start = (uint64_t)(item.start - base);
        uint64_t end = (uint64_t)(item.value.ptr + item.value.len - base);
        bool cut = false;
        for (size_t t = 0; t < 2; t++) {
            cut |= changed(tags[t]) && tags[t]->before.len && tags[t]->before.ptr == item.value.ptr;
        }
        if (pending) cuts[n - 1].end = start; /* the cut before this item reaches up to it */
        pending = cut && !kept;
        if (cut) cuts[n++] = maki_splice_cut(previous_end, start, end, 0, kept);
        kept |= !cut;
        previous_end = end;
    }
    return n;
}

static void add_tag(maki_jw *w, const maki_tag *tag, maki_str key)
{
    if (!changed(tag) || tag->value.len == 0) return;
    maki_jw_bytes(w, MAKI_LIT(",\""));
    maki_jw_bytes(w, key);
    maki_jw_bytes(w, MAKI_LIT("\":"));
    maki_jw_bytes(w, tag->value);
}

void maki_msg_write(maki_jw *w, const maki_msg *m)
{
    maki_edit cuts[2];
    size_t cut_count = 0, c = 0, e = 0, at = 0;
    bool retag = changed(&m->condense_parent) || changed(&m->truncation_parent);
    if (!retag && m->edit_count == 0) {
        maki_jw_raw(w, m->raw);
        return;
    }
    if (retag) cut_count = cut_tags(m, cuts);
    maki_jw_begin_value(w);
    while (c < cut_count || e < m->edit_count) {
        bool tag_first = e == m->edit_count || (c < cut_count && cuts[c].start < m->edits[e].start);
        const maki_edit *edit = tag_first ? &cuts[c++] : &m->edits[e++];
        maki_jw_bytes(w, (maki_str){ m->raw.ptr + at, (size_t)edit->start - at });
        maki_jw_bytes(w, edit->text);
        at = (size_t)edit->end;
    }
    maki_jw_bytes(w, (maki_str){ m->raw.ptr + at, m->raw.len - 1 - at });
    add_tag(w, &m->condense_parent, MAKI_LIT("condenseParent"));
    add_tag(w, &m->truncation_parent, MAKI_LIT("truncationParent"));
    maki_jw_bytes(w, MAKI_LIT("}"));
}

void maki_msgs_write(maki_jw *w, maki_msgs list)
{
    maki_jw_array(w);
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
        if (!maki_block_is(*block, maki_str_of(type))) continue;
        if (!id_name || maki_block_string(*block, maki_str_of(id_name), id)) return true;
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
