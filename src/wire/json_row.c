/* json_row.c -- see json_row.h. */
#include "wire/json_row.h"

#include <stdio.h>
#include <string.h>

/* ---- fields ------------------------------------------------------------------------------------------ */

maki_str maki_member(maki_str object, maki_str name)
{
    maki_str value;
    bool there = maki_is_object(object) && maki_json_get(object, name, &value) &&
                 maki_json_kind_of(value) != MAKI_JSON_NULL;
    return there ? value : (maki_str){ "", 0 };
}

bool maki_among(maki_str key, const char *names)
{
    bool escaped = memchr(key.ptr, '\\', key.len) != NULL;
    while (*names) {
        maki_str name = { names, strcspn(names, " ") };
        if (escaped ? maki_json_key_is(key, name) : maki_str_is(key, name)) return true;
        names += name.len + (names[name.len] == ' ');
    }
    return false;
}

/* Which of the names a key is, as it stands; `count`: none. */
static size_t name_of(maki_str key, const maki_str *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (maki_str_is(key, names[i])) return i; /* names have no backslash: nor has the key */
    }
    size_t i = memchr(key.ptr, '\\', key.len) ? 0 : count;
    while (i < count && !maki_json_key_is(key, names[i]))
        i++;
    return i;
}

void maki_members_rest(maki_json_iter *fields, const maki_str *names, maki_str *values,
                       size_t count)
{
    maki_json_item item;
    for (size_t i = 0; i < count; i++)
        values[i] = (maki_str){ "", 0 };
    while (fields->object && maki_json_next(fields, &item)) {
        size_t i = name_of(item.key, names, count);
        if (i == count) continue;
        bool null = maki_json_kind_of(item.value) == MAKI_JSON_NULL;
        values[i] = null ? (maki_str){ "", 0 } : item.value;
    }
}

void maki_member_each(maki_str object, const maki_str *names, maki_str *values, size_t count)
{
    maki_json_iter fields = maki_json_items(object);
    maki_members_rest(&fields, names, values, count);
}

maki_str maki_member_any(maki_str object, const char *names)
{
    maki_str value = { "", 0 }, rest = maki_str_of(names);
    while (rest.len && !value.len)
        value = maki_member(object, maki_str_cut(&rest, ' '));
    return value;
}

maki_str maki_member_string(maki_str object, maki_str name)
{
    maki_str value = maki_member(object, name);
    return maki_is_string(value) ? value : (maki_str){ "", 0 };
}

uint64_t maki_count_of(maki_str number)
{
    const double most = 9e15; /* whole numbers are exact below */
    if (number.len == 0 || maki_json_kind_of(number) != MAKI_JSON_NUMBER) return 0;
    double value = maki_json_double(number);
    return value > 0 && value < most ? (uint64_t)value : 0;
}

uint64_t maki_member_count(maki_str object, maki_str name)
{
    return maki_count_of(maki_member(object, name));
}

/* ---- writing ----------------------------------------------------------------------------------------- */

static maki_status add_line(void *ctx, maki_str bytes, maki_err *err)
{
    maki_spool *spool = ctx;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && bytes.len) {
        const char *newline = memchr(bytes.ptr, '\n', bytes.len);
        size_t n = newline ? (size_t)(newline - bytes.ptr) : bytes.len;
        st = maki_spool_add(spool, maki_str_to(bytes, n), err);
        if (st == MAKI_OK && newline) st = maki_spool_add(spool, MAKI_LIT(" "), err);
        bytes = maki_str_from(bytes, newline ? n + 1 : n);
    }
    return st;
}

maki_sink maki_row_sink(maki_spool *spool)
{
    return (maki_sink){ add_line, spool };
}

void maki_write_field(maki_jw *w, maki_str key, maki_str value)
{
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\""));
    maki_jw_bytes(w, key);
    maki_jw_bytes(w, MAKI_LIT("\":"));
    maki_jw_bytes(w, value);
}

void maki_write_rest(maki_jw *w, maki_str object, const char *but)
{
    maki_json_iter iter = maki_json_items(object);
    maki_json_item item;
    while (iter.object && maki_json_next(&iter, &item)) {
        if (!maki_among(item.key, but)) maki_write_field(w, item.key, item.value);
    }
}

bool maki_has_rest(maki_str object, const char *but)
{
    maki_json_iter iter = maki_json_items(object);
    maki_json_item item;
    while (iter.object && maki_json_next(&iter, &item)) {
        if (!maki_among(item.key, but)) return true;
    }
    return false;
}

void maki_write_original(maki_jw *w, maki_str object, const char *but)
{
    if (!maki_has_rest(object, but)) return;
    maki_jw_key(w, MAKI_LIT("original"));
    maki_jw_object(w);
    maki_write_rest(w, object, but);
    maki_jw_end_object(w);
}

void maki_write_quoted(maki_jw *w, maki_str value)
{
    if (maki_is_string(value))
        maki_jw_raw(w, value);
    else
        maki_jw_string(w, value);
}

/* ---- ids of calls ------------------------------------------------------------------------------------ */

uint32_t maki_name_counter_next(maki_name_counter *tally, maki_str name)
{
    uint64_t hash = maki_json_text_hash(name);
    size_t i = 0;
    while (i < tally->n && tally->hash[i] != hash)
        i++;
    if (i == tally->n) {
        if (i == MAKI_NAME_COUNTER)
            i--;
        else
            tally->n++;
        tally->hash[i] = hash;
    }
    return tally->count[i]++;
}

void maki_write_call_id(maki_jw *w, maki_str name, uint32_t nth)
{
    char number[16];
    int n = snprintf(number, sizeof number, "_%u\"", (unsigned)nth);
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\"call_"));
    maki_jw_bytes(w, maki_json_inside(name));
    maki_jw_bytes(w, (maki_str){ number, (size_t)n });
}

void maki_write_answered(maki_jw *w, maki_json_iter calls, maki_next_call next,
                         const maki_answer *answer)
{
    maki_name_counter seen = { 0 };
    maki_str name, id, found_name = { "", 0 }, found_id = { "", 0 };
    uint32_t found_nth = 0, nth = 0;
    while (answer->nth < MAKI_RESULTS_MAX && next(&calls, &name, &id)) {
        uint32_t same = maki_name_counter_next(&seen, name);
        bool by_id = answer->id.len && id.len && maki_json_same_text(answer->id, id);
        bool by_place = answer->name.len
                            ? same == answer->same && maki_json_same_text(name, answer->name)
                            : nth == answer->nth;
        if (by_id || by_place) found_name = name, found_id = id, found_nth = same;
        if (by_id) break;
        nth++;
    }
    maki_str tool = answer->name.len ? answer->name : MAKI_LIT("\"tool\"");
    if (found_id.len && !answer->made)
        maki_jw_raw(w, found_id);
    else if (found_name.len)
        maki_write_call_id(w, found_name, found_nth);
    else if (answer->id.len && !answer->made)
        maki_jw_raw(w, answer->id);
    else
        maki_write_call_id(w, tool, answer->name.len ? answer->same : answer->nth);
}
