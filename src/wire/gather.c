/* gather.c -- see gather.h. */
#include "wire/gather.h"

#include <string.h>

#include "base/err.h"
#include "base/json_scan.h"
#include "wire/row.h"

enum {
    FIELD_MEMORY = 32 << 10, /* of a field: more goes into a file */
    FIELDS_MOST = 100,
    DEPTH = 500 /* of gathered JSON, so that its row is not too deep for the log */
};

struct maki_gathered {
    char *name;
    size_t name_len;
    maki_gather_kind kind;
    maki_spool value;
};

maki_gather maki_gather_new(const maki_env *env, uint64_t *held)
{
    return (maki_gather){ .env = env, .held = held, .start = maki_spool_new(env, FIELD_MEMORY) };
}

void maki_gather_free(maki_gather *g)
{
    if (!g->env) return;
    const maki_alloc *alloc = g->env->alloc;
    for (size_t i = 0; i < g->count; i++) {
        maki_spool_free(&g->fields[i].value);
        alloc->resize(alloc, g->fields[i].name, g->fields[i].name_len, 0);
    }
    if (g->fields) alloc->resize(alloc, g->fields, g->room * sizeof *g->fields, 0);
    maki_spool_free(&g->start);
    *g = maki_gather_new(g->env, g->held);
}

/* ---- fields ------------------------------------------------------------------------------------------- */

static maki_str name_of(const maki_gathered *f)
{
    return (maki_str){ f->name, f->name_len };
}

static maki_gathered *find(const maki_gather *g, maki_str name)
{
    for (size_t i = 0; i < g->count; i++) {
        if (maki_str_is(name_of(&g->fields[i]), name)) return &g->fields[i];
    }
    return NULL;
}

static bool grow(maki_gather *g)
{
    const maki_alloc *alloc = g->env->alloc;
    size_t room = g->room ? g->room * 2 : 2, size = sizeof *g->fields;
    if (g->count < g->room) return true;
    void *moved = alloc->resize(alloc, g->fields, g->room * size, room * size);
    if (!moved) return false;
    g->fields = moved;
    g->room = room;
    return true;
}

/* The field of that name, made if need be; NULL with MAKI_OK: there are too many. */
static maki_status field_of(maki_gather *g, maki_gather_kind kind, maki_str name,
                            maki_gathered **out, maki_err *err)
{
    const maki_alloc *alloc = g->env->alloc;
    *out = find(g, name);
    if (*out || g->count == FIELDS_MOST || name.len == 0) return MAKI_OK;
    if (!grow(g)) return maki_fail_nomem(err);
    char *copy = alloc->resize(alloc, NULL, 0, name.len);
    if (!copy) return maki_fail_nomem(err);
    memcpy(copy, name.ptr, name.len);
    g->fields[g->count] = (maki_gathered){ .name = copy,
                                           .name_len = name.len,
                                           .kind = kind,
                                           .value = maki_spool_new(g->env, FIELD_MEMORY) };
    *out = &g->fields[g->count++];
    return MAKI_OK;
}

maki_status maki_gather_start(maki_gather *g, maki_str object, maki_err *err)
{
    maki_spool_clear(&g->start);
    *g->held += object.len;
    return maki_spool_add(&g->start, object, err);
}

maki_status maki_gather_add(maki_gather *g, maki_gather_kind kind, maki_str name, maki_str value,
                            maki_err *err)
{
    maki_gathered *f = NULL;
    maki_status st = field_of(g, kind, name, &f, err);
    if (st != MAKI_OK || !f) return st;
    if (f->kind != kind) { /* it was something else before: the newest counts */
        maki_spool_clear(&f->value);
        f->kind = kind;
    }
    bool text = kind == MAKI_GATHER_TEXT || kind == MAKI_GATHER_JSON;
    if (text) value = maki_is_string(value) ? maki_json_inside(value) : (maki_str){ "", 0 };
    if (kind == MAKI_GATHER_VALUE) maki_spool_clear(&f->value);
    if (kind == MAKI_GATHER_LIST && f->value.size)
        st = maki_spool_add(&f->value, MAKI_LIT(","), err);
    *g->held += value.len;
    return st == MAKI_OK ? maki_spool_add(&f->value, value, err) : st;
}

static maki_status add_items(maki_gather *g, maki_str name, maki_str array, maki_err *err)
{
    maki_json_iter iter = maki_json_items(array);
    maki_json_item item;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && maki_json_next(&iter, &item))
        st = maki_gather_add(g, MAKI_GATHER_LIST, name, item.value, err);
    return st;
}

static bool named(maki_str key, const maki_str *but, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (maki_json_key_is(key, but[i])) return true;
    }
    return false;
}

maki_status maki_gather_merge(maki_gather *g, maki_str object, const maki_str *but, size_t count,
                              maki_err *err)
{
    maki_json_iter iter = maki_json_items(object);
    maki_json_item item;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && iter.object && maki_json_next(&iter, &item)) {
        maki_json_kind kind = maki_json_kind_of(item.value);
        if (kind == MAKI_JSON_NULL || named(item.key, but, count)) continue;
        if (kind == MAKI_JSON_ARRAY)
            st = add_items(g, item.key, item.value, err);
        else
            st = maki_gather_add(g, kind == MAKI_JSON_STRING ? MAKI_GATHER_TEXT : MAKI_GATHER_VALUE,
                                 item.key, item.value, err);
    }
    return st;
}

maki_status maki_gather_replace(maki_gather *g, maki_str object, maki_err *err)
{
    maki_json_iter iter = maki_json_items(object);
    maki_json_item item;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && iter.object && maki_json_next(&iter, &item)) {
        if (maki_json_kind_of(item.value) != MAKI_JSON_NULL)
            st = maki_gather_add(g, MAKI_GATHER_VALUE, item.key, item.value, err);
    }
    return st;
}

bool maki_gather_has(const maki_gather *g, maki_str name)
{
    return find(g, name) != NULL;
}

bool maki_gather_any(const maki_gather *g, maki_str but)
{
    for (size_t i = 0; i < g->count; i++) {
        if (g->fields[i].value.size && !maki_str_is(name_of(&g->fields[i]), but)) return true;
    }
    return false;
}

maki_status maki_gather_get(maki_gather *g, maki_str name, maki_str *value, maki_err *err)
{
    maki_gathered *f = find(g, name);
    *value = (maki_str){ "", 0 };
    return f ? maki_spool_text(&f->value, value, err) : MAKI_OK;
}

/* ---- writing ------------------------------------------------------------------------------------------ */

/* Is the text of the pieces JSON?  Then that JSON is written, else the pieces under a name of their own, so
 * that what a cut stream said is not lost. */
static maki_status write_json(maki_gather *g, maki_jw *w, maki_str key, maki_str before,
                              maki_str escaped, maki_err *err)
{
    static const maki_json_scan_options options = { .max_depth = DEPTH };
    maki_spool text = maki_spool_new(g->env, FIELD_MEMORY);
    maki_str json;
    maki_status st = maki_json_text_to(escaped, maki_spool_sink(&text), err);
    if (st == MAKI_OK) st = maki_spool_text(&text, &json, err);
    if (st == MAKI_OK && json.len && maki_json_scan_text(json, &options, NULL) == MAKI_OK) {
        maki_write_field(w, key, json);
    } else if (st == MAKI_OK) {
        maki_write_field(w, key, before.len ? before : MAKI_LIT("{}"));
        if (json.len) {
            maki_jw_key(w, MAKI_LIT("partial_json"));
            maki_jw_begin_value(w);
            maki_jw_bytes(w, MAKI_LIT("\""));
            maki_jw_bytes(w, escaped);
            maki_jw_bytes(w, MAKI_LIT("\""));
        }
    }
    maki_spool_free(&text);
    return st;
}

/* `before`: the field's value in the object it began as; len 0: none. */
static maki_status write_gathered(maki_gather *g, maki_jw *w, maki_gathered *f, maki_str key,
                                  maki_str before, maki_err *err)
{
    maki_str value, open = { "", 0 }, close = { "", 0 };
    maki_status st = maki_spool_text(&f->value, &value, err);
    if (st != MAKI_OK) return st;
    if (f->kind == MAKI_GATHER_JSON) return write_json(g, w, key, before, value, err);
    bool more = false; /* of the same kind as what was there before: it goes on */
    if (f->kind == MAKI_GATHER_TEXT) open = close = MAKI_LIT("\""), more = maki_is_string(before);
    if (f->kind == MAKI_GATHER_LIST)
        open = MAKI_LIT("["), close = MAKI_LIT("]"), more = maki_is_array(before);
    maki_write_field(w, key, open);
    if (more) {
        maki_jw_bytes(w, maki_json_inside(before));
        bool any = maki_json_count(before) > 0;
        if (any && value.len) maki_jw_bytes(w, MAKI_LIT(","));
    }
    maki_jw_bytes(w, value);
    maki_jw_bytes(w, close);
    return MAKI_OK;
}

maki_status maki_gather_write(maki_gather *g, maki_jw *w, const maki_str *but, size_t count,
                              maki_err *err)
{
    maki_str start;
    maki_json_item item;
    maki_status st = maki_spool_text(&g->start, &start, err);
    if (st != MAKI_OK) return st;
    maki_json_iter iter = maki_json_items(start);
    while (st == MAKI_OK && maki_json_next(&iter, &item)) {
        maki_gathered *f = find(g, item.key);
        if (named(item.key, but, count)) continue;
        if (f)
            st = write_gathered(g, w, f, item.key, item.value, err);
        else
            maki_write_field(w, item.key, item.value);
    }
    for (size_t i = 0; st == MAKI_OK && i < g->count; i++) {
        maki_gathered *f = &g->fields[i];
        maki_str there;
        bool done = maki_is_object(start) && maki_json_get(start, name_of(f), &there);
        if (!done && !named(name_of(f), but, count))
            st = write_gathered(g, w, f, name_of(f), (maki_str){ "", 0 }, err);
    }
    return st;
}
