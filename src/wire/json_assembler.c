/* json_assembler.c -- see json_assembler.h. */
#include "wire/json_assembler.h"

#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/json_print.h"
#include "base/json_scan.h"
#include "wire/json_row.h"

enum {
    FIELD_MEMORY = 32 << 10, /* of a field: more goes into a file */
    FIELDS_MAX = 100,
    DEPTH = 500 /* of gathered JSON, so that its row is not too deep for the log */
};

struct maki_assembled {
    char *name;
    size_t name_len;
    maki_json_assembler_kind kind;
    maki_spool value;
};

maki_json_assembler maki_json_assembler_new(const maki_env *env, maki_sticky_error *failure,
                                            uint64_t *held)
{
    return (maki_json_assembler){
        .env = env, .failure = failure, .held = held, .start = maki_spool_new(env, FIELD_MEMORY)
    };
}

void maki_json_assembler_free(maki_json_assembler *g)
{
    if (!g->env) return;
    const maki_alloc *alloc = g->env->alloc;
    for (size_t i = 0; i < g->count; i++) {
        maki_spool_free(&g->fields[i].value);
        alloc->resize(alloc, g->fields[i].name, g->fields[i].name_len, 0);
    }
    if (g->fields) alloc->resize(alloc, g->fields, g->capacity * sizeof *g->fields, 0);
    maki_spool_free(&g->start);
    *g = maki_json_assembler_new(g->env, g->failure, g->held);
}

/* ---- fields ------------------------------------------------------------------------------------------- */

static maki_str name_of(const maki_assembled *f)
{
    return (maki_str){ f->name, f->name_len };
}

static maki_assembled *find(const maki_json_assembler *g, maki_str name)
{
    for (size_t i = 0; i < g->count; i++) {
        if (maki_str_is(name_of(&g->fields[i]), name)) return &g->fields[i];
    }
    return NULL;
}

/* The field of that name, made if need be; NULL: there are too many, or no memory. */
static maki_assembled *field_of(maki_json_assembler *g, maki_json_assembler_kind kind,
                                maki_str name)
{
    const maki_alloc *alloc = g->env->alloc;
    maki_assembled *found = find(g, name);
    if (found || g->count == FIELDS_MAX || name.len == 0) return found;
    void *fields = maki_array_grow(alloc, g->fields, g->count, &g->capacity, sizeof *g->fields);
    if (fields) g->fields = fields;
    char *copy = fields ? alloc->resize(alloc, NULL, 0, name.len) : NULL;
    if (!copy) {
        maki_sticky_set(g->failure, maki_fail_nomem(g->failure->err));
        return NULL;
    }
    memcpy(copy, name.ptr, name.len);
    g->fields[g->count] = (maki_assembled){ .name = copy,
                                            .name_len = name.len,
                                            .kind = kind,
                                            .value = maki_spool_new(g->env, FIELD_MEMORY) };
    return &g->fields[g->count++];
}

void maki_json_assembler_start(maki_json_assembler *g, maki_str object)
{
    maki_spool_clear(&g->start);
    *g->held += object.len;
    maki_sticky_add(g->failure, &g->start, object);
}

void maki_json_assembler_add(maki_json_assembler *g, maki_json_assembler_kind kind, maki_str name,
                             maki_str value)
{
    maki_assembled *f = g->failure->status == MAKI_OK ? field_of(g, kind, name) : NULL;
    if (!f) return;
    if (f->kind != kind) { /* it was something else before: the newest counts */
        maki_spool_clear(&f->value);
        f->kind = kind;
    }
    bool text = kind == MAKI_ASSEMBLE_TEXT || kind == MAKI_ASSEMBLE_JSON;
    if (text) value = maki_is_string(value) ? maki_json_inside(value) : (maki_str){ "", 0 };
    if (kind == MAKI_ASSEMBLE_VALUE) maki_spool_clear(&f->value);
    if (kind == MAKI_ASSEMBLE_LIST && f->value.size)
        maki_sticky_add(g->failure, &f->value, MAKI_LIT(","));
    *g->held += value.len;
    maki_sticky_add(g->failure, &f->value, value);
}

void maki_json_assembler_merge(maki_json_assembler *g, maki_str object, const char *but)
{
    maki_json_iter iter = maki_json_items(object), items;
    maki_json_item item, one;
    while (iter.object && maki_json_next(&iter, &item)) {
        maki_json_kind kind = maki_json_kind_of(item.value);
        if (kind == MAKI_JSON_NULL || maki_among(item.key, but)) continue;
        items = maki_json_items(item.value);
        while (kind == MAKI_JSON_ARRAY && maki_json_next(&items, &one))
            maki_json_assembler_add(g, MAKI_ASSEMBLE_LIST, item.key, one.value);
        if (kind != MAKI_JSON_ARRAY)
            maki_json_assembler_add(
                g, kind == MAKI_JSON_STRING ? MAKI_ASSEMBLE_TEXT : MAKI_ASSEMBLE_VALUE, item.key,
                item.value);
    }
}

void maki_json_assembler_replace(maki_json_assembler *g, maki_str object)
{
    maki_json_iter iter = maki_json_items(object);
    maki_json_item item;
    while (iter.object && maki_json_next(&iter, &item)) {
        if (maki_json_kind_of(item.value) != MAKI_JSON_NULL)
            maki_json_assembler_add(g, MAKI_ASSEMBLE_VALUE, item.key, item.value);
    }
}

bool maki_json_assembler_has(const maki_json_assembler *g, maki_str name)
{
    return find(g, name) != NULL;
}

bool maki_json_assembler_any(const maki_json_assembler *g, maki_str but)
{
    for (size_t i = 0; i < g->count; i++) {
        if (g->fields[i].value.size && !maki_str_is(name_of(&g->fields[i]), but)) return true;
    }
    return false;
}

maki_str maki_json_assembler_get(maki_json_assembler *g, maki_str name)
{
    maki_assembled *f = find(g, name);
    return f ? maki_sticky_text(g->failure, &f->value) : (maki_str){ "", 0 };
}

/* ---- writing ------------------------------------------------------------------------------------------ */

/* Is the text of the pieces JSON?  Then that JSON is written, else the pieces under a name of their own, so
 * that what a cut stream said is not lost. */
static void write_json(maki_json_assembler *g, maki_jw *w, maki_str key, maki_str before,
                       maki_str escaped)
{
    static const maki_json_scan_options options = { .max_depth = DEPTH };
    maki_spool text = maki_spool_new(g->env, FIELD_MEMORY);
    maki_sticky_set(g->failure,
                    maki_json_text_to(escaped, maki_spool_sink(&text), g->failure->err));
    maki_str json = maki_sticky_text(g->failure, &text);
    if (json.len && maki_json_scan_text(json, &options, NULL) == MAKI_OK) {
        maki_write_field(w, key, json);
    } else {
        maki_write_field(w, key, before.len ? before : MAKI_LIT("{}"));
        if (json.len) maki_jw_print(w, "'partial_json':%q", escaped);
    }
    maki_spool_free(&text);
}

/* `before`: the field's value in the object it began as; len 0: none. */
static void write_gathered(maki_json_assembler *g, maki_jw *w, maki_assembled *f, maki_str key,
                           maki_str before)
{
    maki_str value = maki_sticky_text(g->failure, &f->value), open = { "", 0 }, close = { "", 0 };
    if (f->kind == MAKI_ASSEMBLE_JSON) {
        write_json(g, w, key, before, value);
        return;
    }
    bool more = false; /* of the same kind as what was there before: it goes on */
    if (f->kind == MAKI_ASSEMBLE_TEXT) open = close = MAKI_LIT("\""), more = maki_is_string(before);
    if (f->kind == MAKI_ASSEMBLE_LIST)
        open = MAKI_LIT("["), close = MAKI_LIT("]"), more = maki_is_array(before);
    maki_write_field(w, key, open);
    if (more) {
        maki_jw_bytes(w, maki_json_inside(before));
        bool any = maki_json_count(before) > 0;
        if (any && value.len) maki_jw_bytes(w, MAKI_LIT(","));
    }
    maki_jw_bytes(w, value);
    maki_jw_bytes(w, close);
}

void maki_json_assembler_write(maki_json_assembler *g, maki_jw *w, const char *but)
{
    maki_str start = maki_sticky_text(g->failure, &g->start), there;
    maki_json_iter iter = maki_json_items(start);
    maki_json_item item;
    while (maki_json_next(&iter, &item)) {
        maki_assembled *f = find(g, item.key);
        if (maki_among(item.key, but)) continue;
        if (f)
            write_gathered(g, w, f, item.key, item.value);
        else
            maki_write_field(w, item.key, item.value);
    }
    for (size_t i = 0; i < g->count; i++) {
        maki_assembled *f = &g->fields[i];
        bool done = maki_is_object(start) && maki_json_get(start, name_of(f), &there);
        if (!done && !maki_among(name_of(f), but))
            write_gathered(g, w, f, name_of(f), (maki_str){ "", 0 });
    }
}
