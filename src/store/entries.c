/* entries.c -- the table of fields of an entry in sessions.json, and the functions that parse and serialize entries
 * by that table.
 *
 * A field is a row of `fields`: its name, its JSON type, its offset in maki_session.  Fields are written in that order
 * and mostly read in it, so an index of thousands of entries is read without searching for names. */
#include "store/entries.h"

#include <stddef.h>
#include <string.h>

#include "base/json_print.h"
#include "base/str_util.h"

#define NAME(text)             \
    {                          \
        text, sizeof(text) - 1 \
    }
#define COUNT(rows)          (sizeof(rows) / sizeof((rows)[0]))
#define AT(field)            offsetof(maki_session, field)
#define SIZE(field)          sizeof(((const maki_session *)NULL)->field)
#define TEXT_AT(field)       AT(field), SIZE(field)
#define FOLLOWS(first, next) _Static_assert(AT(next) == AT(first) + sizeof(uint64_t), "a pair")

/* ---- top level --------------------------------------------------------------------------------------- */

bool maki_entries_read(maki_str text, maki_entries *out)
{
    *out = (maki_entries){ .directory = 0 };
    if (maki_json_check(text, &out->top, NULL) != MAKI_OK) return false;
    MAKI_JSON_EACH(item, maki_json_fields(out->top)) {
        if (maki_json_key_is(item.key, MAKI_LIT("entries"))) out->all = item.value;
        if (maki_json_key_is(item.key, MAKI_LIT("folder")))
            (void)maki_json_uint(item.value, &out->directory);
    }
    return out->all.len && maki_json_kind_of(out->all) == MAKI_JSON_OBJECT;
}

void maki_entries_write_others(maki_jw *out, const maki_entries *entries)
{
    static const maki_str known[] = { NAME("version"), NAME("folder"), NAME("entries") };
    MAKI_JSON_EACH(item, maki_json_items(entries->top)) {
        bool other = true;
        for (size_t i = 0; i < COUNT(known); i++)
            other = other && !maki_json_key_is(item.key, known[i]);
        if (!other) continue;
        maki_jw_begin_value(out);
        maki_jw_bytes(out, (maki_str){ item.start, item.key.len + 2 }); /* escaped already */
        maki_jw_bytes(out, MAKI_LIT(":"));
        maki_jw_bytes(out, item.value);
    }
}

/* ---- one entry ------------------------------------------------------------------------------------- */

typedef enum form {
    FORM_FILE, /* derived from the file name */
    FORM_TEXT,
    FORM_OPTIONAL, /* a string, omitted when empty */
    FORM_NUMBER,
    FORM_USAGE,           /* {"input":1,"output":2} */
    FORM_READ,            /* [1,2] */
    FORM_OBJECT,          /* copied as JSON; "" for {} */
    FORM_OPTIONAL_OBJECT, /* the same, omitted when empty */
    FORM_STATE,           /* "active", "archived" */
    FORM_FLAG             /* true, omitted when false */
} form;

/* The known fields, in the order in which they are written. */
static const struct field {
    maki_str name;
    form form;
    size_t at, capacity; /* in maki_session */
    bool required;
} fields[] = {
    { NAME("id"), FORM_FILE, TEXT_AT(id), false },
    { NAME("agentId"), FORM_FILE, TEXT_AT(agent), false },
    { NAME("sessionKey"), FORM_TEXT, TEXT_AT(key), false },
    { NAME("createdAt"), FORM_NUMBER, AT(created), 0, false },
    { NAME("updatedAt"), FORM_NUMBER, AT(updated), 0, true },
    { NAME("model"), FORM_TEXT, TEXT_AT(model), false },
    { NAME("messageCount"), FORM_NUMBER, AT(messages), 0, true },
    { NAME("tokenUsage"), FORM_USAGE, AT(input), 0, true },
    { NAME("overrides"), FORM_OBJECT, TEXT_AT(overrides), false },
    { NAME("state"), FORM_STATE, AT(archived), 0, true },
    { NAME("channel"), FORM_OPTIONAL, TEXT_AT(channel), false },
    { NAME("title"), FORM_TEXT, TEXT_AT(title), true },
    { NAME("named"), FORM_FLAG, AT(named), 0, false },
    { NAME("client"), FORM_OPTIONAL, TEXT_AT(client), false },
    { NAME("errors"), FORM_NUMBER, AT(errors), 0, true },
    { NAME("lastError"), FORM_OPTIONAL_OBJECT, TEXT_AT(last_error), false },
    { NAME("lastAction"), FORM_OPTIONAL_OBJECT, TEXT_AT(last_action), false },
    { NAME("read"), FORM_READ, AT(read_messages), 0, true },
};
enum { FIELDS = COUNT(fields) };
FOLLOWS(input, output);
FOLLOWS(read_messages, read_events);

/* The index of a field; FIELDS: unknown.  They are written in order, so the next one is tried first. */
static size_t find_field(maki_str key, size_t next)
{
    if (next < FIELDS && maki_str_equal(key, fields[next].name)) return next;
    size_t f = 0;
    while (f < FIELDS && !maki_json_key_is(key, fields[f].name))
        f++;
    return f;
}

static bool read_text(maki_str value, char *out, size_t capacity)
{
    if (maki_json_kind_of(value) != MAKI_JSON_STRING) return false;
    maki_str escaped = maki_json_strip_quotes(value);
    size_t n = escaped.len;
    bool has_escapes = memchr(escaped.ptr, '\\', n) != NULL;
    if (!has_escapes && n >= capacity) return false;
    if (has_escapes)
        n = maki_json_copy_text(value, out, capacity - 1);
    else
        memcpy(out, escaped.ptr, n); /* fast path: most have no escapes, and there are thousands */
    out[n] = '\0';
    return strlen(out) == n && (!has_escapes || maki_json_text_is(value, (maki_str){ out, n }));
}

bool maki_entry_id(const maki_json_item *entry, char out[MAKI_ID_MAX])
{
    maki_str quoted = { entry->start, entry->key.len + 2 };
    return entry->key.len && read_text(quoted, out, MAKI_ID_MAX) && !strchr(out, '/');
}

static bool read_number(maki_str value, uint64_t *out)
{
    if (maki_json_kind_of(value) != MAKI_JSON_NUMBER) return false;
    uint64_t number = 0;
    size_t i = 0;
    for (; i < value.len && i < 16 && value.ptr[i] >= '0' && value.ptr[i] <= '9'; i++)
        number = number * 10 + (uint64_t)(value.ptr[i] - '0');
    *out = number;
    return i == value.len;
}

/* Two numbers: {"input":1,"output":2} or [1,2]. */
static bool read_pair(maki_str value, uint64_t pair[2])
{
    bool object = maki_json_kind_of(value) == MAKI_JSON_OBJECT, valid[2] = { false, false };
    MAKI_JSON_EACH(item, maki_json_items(value)) {
        bool second = object ? maki_json_key_is(item.key, MAKI_LIT("output")) : valid[0];
        bool first = object ? maki_json_key_is(item.key, MAKI_LIT("input")) : !valid[0];
        if (first) valid[0] = read_number(item.value, &pair[0]);
        if (second) valid[1] = read_number(item.value, &pair[1]);
    }
    return valid[0] && valid[1];
}

static bool read_state(maki_str value, bool *archived)
{
    if (maki_json_kind_of(value) != MAKI_JSON_STRING) return false;
    *archived = maki_json_text_is(value, MAKI_LIT("archived"));
    return *archived || maki_json_text_is(value, MAKI_LIT("active"));
}

static bool read_object(maki_str value, char *out, size_t capacity)
{
    if (maki_json_kind_of(value) != MAKI_JSON_OBJECT || value.len >= capacity) return false;
    memcpy(out, value.ptr, value.len);
    out[value.len > 2 ? value.len : 0] = '\0';
    return true;
}

static bool read_field(const struct field *f, maki_str value, maki_session *s)
{
    void *out = (char *)s + f->at;
    switch (f->form) {
    case FORM_TEXT:
    case FORM_OPTIONAL: return read_text(value, out, f->capacity);
    case FORM_NUMBER: return read_number(value, out);
    case FORM_USAGE:
    case FORM_READ: return read_pair(value, out);
    case FORM_OBJECT:
    case FORM_OPTIONAL_OBJECT: return read_object(value, out, f->capacity);
    case FORM_STATE: return read_state(value, out);
    case FORM_FLAG: *(bool *)out = maki_json_true(value); return true;
    default: return true;
    }
}

bool maki_entry_read(maki_str json, maki_session *out)
{
    maki_json_iter iter = maki_json_items(json);
    maki_json_item item;
    bool has[FIELDS] = { false };
    bool valid = iter.object;
    for (size_t f, next = 0; iter.object && maki_json_next(&iter, &item); next = f + 1) {
        f = find_field(item.key, next);
        if (f < FIELDS) valid = (has[f] = read_field(&fields[f], item.value, out)) && valid;
    }
    for (size_t f = 0; f < FIELDS; f++)
        valid = valid && (has[f] || !fields[f].required);
    return valid;
}

bool maki_entry_has_key(maki_str json, maki_str key)
{
    maki_str value;
    if (!maki_str_contains(json, key) && !memchr(json.ptr, '\\', json.len))
        return false; /* nearly always */
    return maki_json_string_field(json, "sessionKey", &value) && maki_json_text_is(value, key);
}

static void write_field(maki_jw *out, const struct field *f, const maki_session *s)
{
    const void *at = (const char *)s + f->at;
    const char *text = at;
    const uint64_t *pair = at;
    bool optional = f->form == FORM_OPTIONAL || f->form == FORM_OPTIONAL_OBJECT;
    if (optional && !text[0]) return;
    if (f->form == FORM_FLAG && !*(const bool *)at) return;
    maki_jw_key(out, f->name);
    switch (f->form) {
    case FORM_NUMBER: maki_jw_int(out, *(const int64_t *)at); break;
    case FORM_USAGE: maki_jw_print(out, "{'input':%i,'output':%i}", pair[0], pair[1]); break;
    case FORM_READ: maki_jw_print(out, "[%i,%i]", pair[0], pair[1]); break;
    case FORM_OPTIONAL_OBJECT:
    case FORM_OBJECT: maki_jw_raw(out, text[0] ? maki_str_of(text) : MAKI_LIT("{}")); break;
    case FORM_STATE: maki_jw_string(out, maki_str_of(s->archived ? "archived" : "active")); break;
    case FORM_FLAG: maki_jw_bool(out, true); break;
    default: maki_jw_string(out, maki_str_of(text)); break;
    }
}

void maki_entry_write(maki_jw *out, const maki_session *s, maki_str old)
{
    maki_jw_key(out, maki_str_of(s->id));
    maki_jw_begin_object(out);
    for (size_t f = 0; f < FIELDS; f++)
        write_field(out, &fields[f], s);
    MAKI_JSON_EACH(item, maki_json_fields(old)) {
        if (find_field(item.key, FIELDS) != FIELDS) continue;
        maki_jw_begin_value(out);
        maki_jw_bytes(out, (maki_str){ item.start, (size_t)(item.value.ptr - item.start) });
        maki_jw_bytes(out, item.value);
    }
    maki_jw_end_object(out);
}
