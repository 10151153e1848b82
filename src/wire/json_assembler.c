/* json_assembler.c -- assemble an object from deltas: one spool per field, found by name, in order of arrival.
 *
 * The fields of the initial object are written first, each with the deltas added to it; then the fields added later. */
#include "wire/json_assembler.h"

#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/json_print.h"
#include "base/json_scan.h"
#include "wire/json_row.h"

enum {
    FIELD_MEMORY = 32 << 10, /* bytes of a field in memory; more is spooled to a file */
    FIELDS_MAX = 100,
    DEPTH_MAX = 500 /* maximum depth of assembled JSON, so that the log accepts its row */
};

struct maki_assembled {
    char *name;
    size_t name_len;
    maki_json_assembler_kind kind;
    maki_spool value;
};

maki_json_assembler maki_json_assembler_new(const maki_env *env, maki_sticky_error *failure,
                                            uint64_t *byte_count)
{
    return (maki_json_assembler){ .env = env,
                                  .failure = failure,
                                  .byte_count = byte_count,
                                  .initial = maki_spool_new(env, FIELD_MEMORY) };
}

void maki_json_assembler_free(maki_json_assembler *ja)
{
    if (!ja->env) return;
    const maki_alloc *alloc = ja->env->alloc;
    for (size_t i = 0; i < ja->count; i++) {
        maki_spool_free(&ja->fields[i].value);
        alloc->resize(alloc, ja->fields[i].name, ja->fields[i].name_len, 0);
    }
    if (ja->fields) alloc->resize(alloc, ja->fields, ja->capacity * sizeof *ja->fields, 0);
    maki_spool_free(&ja->initial);
    *ja = maki_json_assembler_new(ja->env, ja->failure, ja->byte_count);
}

/* ---- fields ------------------------------------------------------------------------------------------- */

static maki_str name_of(const maki_assembled *f)
{
    return (maki_str){ f->name, f->name_len };
}

static maki_assembled *find_field(const maki_json_assembler *ja, maki_str name)
{
    for (size_t i = 0; i < ja->count; i++) {
        if (maki_str_equal(name_of(&ja->fields[i]), name)) return &ja->fields[i];
    }
    return NULL;
}

/* Find or add a field; NULL: too many, or out of memory. */
static maki_assembled *find_or_add_field(maki_json_assembler *ja, maki_json_assembler_kind kind,
                                         maki_str name)
{
    const maki_alloc *alloc = ja->env->alloc;
    maki_assembled *found = find_field(ja, name);
    if (found || ja->count == FIELDS_MAX || name.len == 0) return found;
    void *fields = maki_array_grow(alloc, ja->fields, ja->count, &ja->capacity, sizeof *ja->fields);
    if (fields) ja->fields = fields;
    char *copy = fields ? alloc->resize(alloc, NULL, 0, name.len) : NULL;
    if (!copy) {
        maki_sticky_set(ja->failure, maki_fail_nomem(ja->failure->err));
        return NULL;
    }
    memcpy(copy, name.ptr, name.len);
    ja->fields[ja->count] = (maki_assembled){ .name = copy,
                                              .name_len = name.len,
                                              .kind = kind,
                                              .value = maki_spool_new(ja->env, FIELD_MEMORY) };
    return &ja->fields[ja->count++];
}

void maki_json_assembler_start(maki_json_assembler *ja, maki_str object)
{
    maki_spool_clear(&ja->initial);
    *ja->byte_count += object.len;
    maki_sticky_spool_add(ja->failure, &ja->initial, object);
}

void maki_json_assembler_add(maki_json_assembler *ja, maki_json_assembler_kind kind, maki_str name,
                             maki_str value)
{
    maki_assembled *f = ja->failure->status == MAKI_OK ? find_or_add_field(ja, kind, name) : NULL;
    if (!f) return;
    if (f->kind != kind) { /* the type changed: the new one wins */
        maki_spool_clear(&f->value);
        f->kind = kind;
    }
    bool text = kind == MAKI_ASSEMBLE_TEXT || kind == MAKI_ASSEMBLE_JSON;
    if (text) value = maki_is_string(value) ? maki_json_strip_quotes(value) : (maki_str){ "", 0 };
    if (kind == MAKI_ASSEMBLE_VALUE) maki_spool_clear(&f->value);
    if (kind == MAKI_ASSEMBLE_LIST && f->value.size)
        maki_sticky_spool_add(ja->failure, &f->value, MAKI_LIT(","));
    *ja->byte_count += value.len;
    maki_sticky_spool_add(ja->failure, &f->value, value);
}

void maki_json_assembler_merge(maki_json_assembler *ja, maki_str object, const char *except)
{
    MAKI_JSON_EACH(field, maki_json_fields(object)) {
        maki_json_kind kind = maki_json_kind_of(field.value);
        if (kind == MAKI_JSON_NULL || maki_key_in(field.key, except)) continue;
        MAKI_JSON_EACH(item, maki_array_items(field.value))
            maki_json_assembler_add(ja, MAKI_ASSEMBLE_LIST, field.key, item.value);
        if (kind == MAKI_JSON_STRING)
            maki_json_assembler_add(ja, MAKI_ASSEMBLE_TEXT, field.key, field.value);
        else if (kind != MAKI_JSON_ARRAY)
            maki_json_assembler_add(ja, MAKI_ASSEMBLE_VALUE, field.key, field.value);
    }
}

void maki_json_assembler_replace(maki_json_assembler *ja, maki_str object)
{
    MAKI_JSON_EACH(item, maki_json_fields(object)) {
        if (maki_json_kind_of(item.value) != MAKI_JSON_NULL)
            maki_json_assembler_add(ja, MAKI_ASSEMBLE_VALUE, item.key, item.value);
    }
}

bool maki_json_assembler_has(const maki_json_assembler *ja, maki_str name)
{
    return find_field(ja, name) != NULL;
}

bool maki_json_assembler_any(const maki_json_assembler *ja, maki_str except)
{
    for (size_t i = 0; i < ja->count; i++) {
        if (ja->fields[i].value.size && !maki_str_equal(name_of(&ja->fields[i]), except))
            return true;
    }
    return false;
}

maki_str maki_json_assembler_get(maki_json_assembler *ja, maki_str name)
{
    maki_assembled *f = find_field(ja, name);
    return f ? maki_sticky_spool_text(ja->failure, &f->value) : (maki_str){ "", 0 };
}

/* ---- writing ------------------------------------------------------------------------------------------ */

/* Write the decoded text if it is JSON, else the text in the field `partial_json`, so that a truncated stream
 * loses nothing. */
static void write_json(maki_json_assembler *ja, maki_jw *w, maki_str key, maki_str before,
                       maki_str escaped)
{
    static const maki_json_scan_options options = { .max_depth = DEPTH_MAX };
    maki_spool text = maki_spool_new(ja->env, FIELD_MEMORY);
    maki_sticky_set(ja->failure,
                    maki_json_unescape_to(escaped, maki_spool_sink(&text), ja->failure->err));
    maki_str json = maki_sticky_spool_text(ja->failure, &text);
    if (json.len && maki_json_scan_text(json, &options, NULL) == MAKI_OK) {
        maki_write_field(w, key, json);
    } else {
        maki_write_field(w, key, before.len ? before : MAKI_LIT("{}"));
        if (json.len) maki_jw_print(w, "'partial_json':%q", escaped);
    }
    maki_spool_free(&text);
}

/* `before`: the field's value in the initial object; len 0: none. */
static void write_assembled(maki_json_assembler *ja, maki_jw *w, maki_assembled *f, maki_str key,
                            maki_str before)
{
    maki_str value = maki_sticky_spool_text(ja->failure, &f->value), open = { "", 0 },
             close = { "", 0 };
    if (f->kind == MAKI_ASSEMBLE_JSON) {
        write_json(ja, w, key, before, value);
        return;
    }
    bool continues = false; /* `before` has the same type: continue it */
    if (f->kind == MAKI_ASSEMBLE_TEXT)
        open = close = MAKI_LIT("\""), continues = maki_is_string(before);
    if (f->kind == MAKI_ASSEMBLE_LIST)
        open = MAKI_LIT("["), close = MAKI_LIT("]"), continues = maki_is_array(before);
    maki_write_field(w, key, open);
    if (continues) {
        maki_jw_bytes(w, maki_json_strip_quotes(before));
        bool has_items = maki_json_count(before) > 0;
        if (has_items && value.len) maki_jw_bytes(w, MAKI_LIT(","));
    }
    maki_jw_bytes(w, value);
    maki_jw_bytes(w, close);
}

void maki_json_assembler_write(maki_json_assembler *ja, maki_jw *w, const char *except)
{
    maki_str initial = maki_sticky_spool_text(ja->failure, &ja->initial), value;
    MAKI_JSON_EACH(item, maki_json_items(initial)) {
        maki_assembled *f = find_field(ja, item.key);
        if (maki_key_in(item.key, except)) continue;
        if (f)
            write_assembled(ja, w, f, item.key, item.value);
        else
            maki_write_field(w, item.key, item.value);
    }
    for (size_t i = 0; i < ja->count; i++) {
        maki_assembled *f = &ja->fields[i];
        bool done = maki_is_object(initial) && maki_json_get(initial, name_of(f), &value);
        if (!done && !maki_key_in(name_of(f), except))
            write_assembled(ja, w, f, name_of(f), (maki_str){ "", 0 });
    }
}
