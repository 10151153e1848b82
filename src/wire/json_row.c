/* json_row.c -- fields of objects, copied by their spans: nothing is decoded, so each byte of a row is copied once. */
#include "wire/json_row.h"

#include <stdio.h>
#include <string.h>

/* ---- fields ------------------------------------------------------------------------------------------ */

maki_str maki_member(maki_str object, maki_str name)
{
    maki_str value;
    bool present = maki_is_object(object) && maki_json_get(object, name, &value) &&
                   maki_json_kind_of(value) != MAKI_JSON_NULL;
    return present ? value : (maki_str){ "", 0 };
}

bool maki_key_in(maki_str key, const char *names)
{
    bool escaped = memchr(key.ptr, '\\', key.len) != NULL;
    while (*names) {
        maki_str name = { names, strcspn(names, " ") };
        if (escaped ? maki_json_key_is(key, name) : maki_str_equal(key, name)) return true;
        names += name.len + (names[name.len] == ' ');
    }
    return false;
}

/* The index of the key among the names; `count`: none. */
static size_t find_name(maki_str key, const maki_str *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (maki_str_equal(key, names[i]))
            return i; /* names have no backslash, so neither has the key */
    }
    size_t i = memchr(key.ptr, '\\', key.len) ? 0 : count;
    while (i < count && !maki_json_key_is(key, names[i]))
        i++;
    return i;
}

void maki_member_rest(maki_json_iter *fields, const maki_str *names, maki_str *values, size_t count)
{
    maki_json_item item;
    for (size_t i = 0; i < count; i++)
        values[i] = (maki_str){ "", 0 };
    while (fields->object && maki_json_next(fields, &item)) {
        size_t i = find_name(item.key, names, count);
        if (i == count) continue;
        bool null = maki_json_kind_of(item.value) == MAKI_JSON_NULL;
        values[i] = null ? (maki_str){ "", 0 } : item.value;
    }
}

void maki_member_each(maki_str object, const maki_str *names, maki_str *values, size_t count)
{
    maki_json_iter fields = maki_json_items(object);
    maki_member_rest(&fields, names, values, count);
}

maki_str maki_member_any(maki_str object, const char *names)
{
    maki_str value = { "", 0 }, rest = maki_str_of(names);
    while (rest.len && !value.len)
        value = maki_member(object, maki_str_cut(&rest, ' '));
    return value;
}

uint64_t maki_count_of(maki_str number)
{
    const double max = 9e15; /* integers below are exact */
    if (number.len == 0 || maki_json_kind_of(number) != MAKI_JSON_NUMBER) return 0;
    double value = maki_json_double(number);
    return value > 0 && value < max ? (uint64_t)value : 0;
}

uint64_t maki_member_count(maki_str object, maki_str name)
{
    return maki_count_of(maki_member(object, name));
}

/* ---- writing ----------------------------------------------------------------------------------------- */

static maki_status add_without_newlines(void *ctx, maki_str bytes, maki_err *err)
{
    maki_spool *spool = ctx;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && bytes.len) {
        maki_str line;
        bool ended = maki_str_take(&bytes, '\n', &line);
        st = maki_spool_add(spool, line, err);
        if (st == MAKI_OK && ended) st = maki_spool_add(spool, MAKI_LIT(" "), err);
    }
    return st;
}

maki_sink maki_row_sink(maki_spool *spool)
{
    return (maki_sink){ add_without_newlines, spool };
}

void maki_write_field(maki_jw *w, maki_str key, maki_str value)
{
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\""));
    maki_jw_bytes(w, key);
    maki_jw_bytes(w, MAKI_LIT("\":"));
    maki_jw_bytes(w, value);
}

void maki_write_rest(maki_jw *w, maki_str object, const char *except)
{
    MAKI_JSON_EACH(item, maki_json_fields(object)) {
        if (!maki_key_in(item.key, except)) maki_write_field(w, item.key, item.value);
    }
}

bool maki_has_rest(maki_str object, const char *except)
{
    MAKI_JSON_EACH(item, maki_json_fields(object)) {
        if (!maki_key_in(item.key, except)) return true;
    }
    return false;
}

void maki_write_original(maki_jw *w, maki_str object, const char *except)
{
    if (!maki_has_rest(object, except)) return;
    maki_jw_key(w, MAKI_LIT("original"));
    maki_jw_begin_object(w);
    maki_write_rest(w, object, except);
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

uint32_t maki_name_counter_next(maki_name_counter *counter, maki_str name)
{
    uint64_t hash = maki_json_text_hash(name);
    size_t i = 0;
    while (i < counter->n && counter->hash[i] != hash)
        i++;
    if (i == counter->n) {
        if (i == MAKI_NAME_COUNTER)
            i--;
        else
            counter->n++;
        counter->hash[i] = hash;
    }
    return counter->count[i]++;
}

void maki_write_call_id(maki_jw *w, maki_str name, uint32_t nth)
{
    char number[16];
    int n = snprintf(number, sizeof number, "_%u\"", (unsigned)nth);
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\"call_"));
    maki_jw_bytes(w, maki_json_strip_quotes(name));
    maki_jw_bytes(w, (maki_str){ number, (size_t)n });
}

void maki_write_result_call_id(maki_jw *w, maki_json_iter calls, maki_next_call next,
                               const maki_result_lookup *lookup)
{
    maki_name_counter seen = { 0 };
    maki_str name, id, found_name = { "", 0 }, found_id = { "", 0 };
    uint32_t found_nth = 0, nth = 0;
    while (lookup->nth < MAKI_RESULTS_MAX && next(&calls, &name, &id)) {
        uint32_t nth_of_name = maki_name_counter_next(&seen, name);
        bool by_id = lookup->id.len && id.len && maki_json_same_text(lookup->id, id);
        bool by_position = lookup->name.len ? nth_of_name == lookup->nth_of_name &&
                                                  maki_json_same_text(name, lookup->name)
                                            : nth == lookup->nth;
        if (by_id || by_position) found_name = name, found_id = id, found_nth = nth_of_name;
        if (by_id) break;
        nth++;
    }
    maki_str tool = lookup->name.len ? lookup->name : MAKI_LIT("\"tool\"");
    if (found_id.len && !lookup->synthetic_ids)
        maki_jw_raw(w, found_id);
    else if (found_name.len)
        maki_write_call_id(w, found_name, found_nth);
    else if (lookup->id.len && !lookup->synthetic_ids)
        maki_jw_raw(w, lookup->id);
    else
        maki_write_call_id(w, tool, lookup->name.len ? lookup->nth_of_name : lookup->nth);
}
