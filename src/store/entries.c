/* entries.c -- see entries.h. */
#include "store/entries.h"

#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "base/json.h"
#include "base/json_scan.h"
#include "base/str.h"

enum {
    BLOCK = 1 << 16,
    ENTRY_MAX = 1 << 20, /* bytes; one that is longer is damage */
    OTHER_MAX = 1 << 20
};

/* ---- reading the text ------------------------------------------------------------------------------ */

typedef struct reading {
    maki_json_scan scan;
    maki_buf text;      /* a stretch of the file */
    uint64_t text_at;   /* where it begins */
    uint64_t keep_from; /* what stands before this is not needed any more */
    bool is_entries;    /* the container that is open is `entries` */
    bool seen_entries;
    maki_entries_frame *frame;
    maki_entry_fn fn;
    void *ctx;
    maki_status refused; /* what fn answered, or MAKI_NOMEM, when that was not MAKI_OK */
} reading;

static maki_str stretch(const reading *r, uint64_t start, uint64_t end)
{
    return (maki_str){ r->text.ptr + (start - r->text_at), (size_t)(end - start) };
}

/* A field of the top.  Of `entries` the beginning may be gone by now. */
static maki_status take_field(reading *r, const maki_json_span *span, maki_err *err)
{
    bool gone = span->key_start < r->text_at;
    maki_str key = gone ? MAKI_LIT("\"entries\"") : stretch(r, span->key_start, span->key_end);
    bool entries = maki_json_text_is(key, MAKI_LIT("entries"));
    if (entries && span->kind == MAKI_JSON_OBJECT) r->seen_entries = true;
    if (entries || maki_json_text_is(key, MAKI_LIT("version"))) return MAKI_OK;
    maki_str value = stretch(r, span->start, span->end);
    if (maki_json_text_is(key, MAKI_LIT("folder"))) {
        double folder = span->kind == MAKI_JSON_NUMBER ? maki_json_double(value) : 0;
        if (!r->seen_entries && folder > 0 && folder < 9e15) r->frame->folder = (uint64_t)folder;
        return MAKI_OK;
    }
    maki_buf *out = r->seen_entries ? &r->frame->after : &r->frame->before;
    maki_buf_add(out, key);
    maki_buf_add_byte(out, ':');
    maki_buf_add(out, value);
    maki_buf_add_byte(out, ',');
    maki_status st = maki_buf_status(out, err);
    if (st == MAKI_NOMEM)
        r->refused = st; /* more than are held count as damage: nobody writes over them */
    return st;
}

static maki_status take_entry(reading *r, const maki_json_span *span, maki_err *err)
{
    if (span->index == 0) { /* of a container whose key is still at hand */
        maki_str key = stretch(r, r->scan.open[1].key_start, r->scan.open[1].key_end);
        r->is_entries = maki_json_text_is(key, MAKI_LIT("entries")) && span->key_end > 0;
    }
    if (!r->is_entries) return MAKI_OK;
    maki_entry entry = { stretch(r, span->key_start, span->key_end),
                         stretch(r, span->start, span->end), span->key_start, span->end };
    r->keep_from = span->end;
    r->refused = r->fn(r->ctx, &entry, err);
    return r->refused;
}

static maki_status on_span(void *ctx, const maki_json_span *span, maki_err *err)
{
    reading *r = ctx;
    if (span->depth > 0 && r->scan.open[1].key_end == 0)
        return maki_fail(err, MAKI_INVALID, "it is an array"); /* nothing in it has a name */
    if (span->depth == 2) return take_entry(r, span, err);
    if (span->depth == 1) {
        r->keep_from = span->end;
        return take_field(r, span, err);
    }
    return MAKI_OK;
}

static void drop_what_was_read(reading *r)
{
    size_t used = (size_t)(r->keep_from - r->text_at);
    if (r->keep_from <= r->text_at) return;
    memmove(r->text.ptr, r->text.ptr + used, r->text.len - used);
    r->text.len -= used;
    r->text_at = r->keep_from;
}

/* Read and scan to the end of the file, or to the first mistake. */
static maki_status read_all(reading *r, const maki_env *env, int fd, maki_err *err)
{
    maki_status good = MAKI_OK;
    maki_err why = { 0 };
    while (good == MAKI_OK) {
        size_t got = 0;
        char *room = maki_buf_room(&r->text, BLOCK);
        if (!room && r->text.status == MAKI_TOOBIG) return MAKI_OK; /* no entry is so long */
        if (!room) return maki_buf_status(&r->text, err);
        maki_status st =
            maki_file_read_at(env->files, fd, r->text_at + r->text.len, room, BLOCK, &got, err);
        if (st != MAKI_OK) return st;
        if (got == 0) break;
        r->text.len += got;
        good = maki_json_scan_push(&r->scan, (maki_str){ room, got }, &why);
        if (good == MAKI_OK) drop_what_was_read(r);
    }
    if (r->refused != MAKI_OK && err) *err = why;
    if (good == MAKI_OK) good = maki_json_scan_end(&r->scan, &why);
    r->frame->whole = good == MAKI_OK && r->seen_entries;
    return r->refused;
}

maki_status maki_entries_each(const maki_env *env, int fd, maki_entry_fn fn, void *ctx,
                              maki_entries_frame *frame, maki_err *err)
{
    reading r = {
        .text = maki_buf_new(env->alloc, ENTRY_MAX), .frame = frame, .fn = fn, .ctx = ctx
    };
    maki_json_scan_options options = { .report_depth = 2, .on_span = on_span, .ctx = &r };
    *frame = (maki_entries_frame){ .before = maki_buf_new(env->alloc, OTHER_MAX),
                                   .after = maki_buf_new(env->alloc, OTHER_MAX) };
    maki_json_scan_init(&r.scan, &options);
    maki_status st = read_all(&r, env, fd, err);
    maki_buf_free(&r.text);
    return st;
}

void maki_entries_free(maki_entries_frame *frame)
{
    maki_buf_free(&frame->before);
    maki_buf_free(&frame->after);
}

/* ---- one entry ------------------------------------------------------------------------------------- */

/* The fields that are ours to write, in the order in which they are written. */
enum field {
    ID,
    AGENT,
    KEY,
    CREATED,
    UPDATED,
    MODEL,
    COUNT,
    USAGE,
    OVERRIDES,
    STATE,
    CHANNEL,
    READ,
    FIELDS
};
static const maki_str names[FIELDS] = {
    [ID] = { "id", 2 },
    [AGENT] = { "agentId", 7 },
    [KEY] = { "sessionKey", 10 },
    [CREATED] = { "createdAt", 9 },
    [UPDATED] = { "updatedAt", 9 },
    [MODEL] = { "model", 5 },
    [COUNT] = { "messageCount", 12 },
    [USAGE] = { "tokenUsage", 10 },
    [OVERRIDES] = { "overrides", 9 },
    [STATE] = { "state", 5 },
    [CHANNEL] = { "channel", 7 },
    [READ] = { "read", 4 },
};

/* Which field a key is; FIELDS: none of ours.  We write them in order, so the next one is tried first. */
static enum field field_of(maki_str key, enum field next)
{
    if (next < FIELDS && maki_str_is(key, names[next])) return next;
    for (enum field f = 0; f < FIELDS; f++) {
        if (maki_json_key_is(key, names[f])) return f;
    }
    return FIELDS;
}

static bool whole_number(maki_str value, uint64_t *out)
{
    if (maki_json_kind_of(value) != MAKI_JSON_NUMBER) return false;
    uint64_t number = 0;
    size_t i = 0;
    for (; i < value.len && i < 16 && value.ptr[i] >= '0' && value.ptr[i] <= '9'; i++)
        number = number * 10 + (uint64_t)(value.ptr[i] - '0');
    *out = number;
    return i == value.len;
}

static bool text(maki_str value, char *out, size_t room)
{
    if (maki_json_kind_of(value) != MAKI_JSON_STRING || value.len > room) return false;
    maki_str inside = maki_json_inside(value);
    size_t n = inside.len;
    if (memchr(inside.ptr, '\\', inside.len))
        n = maki_json_copy_text(value, out, room - 1);
    else
        memcpy(out, inside.ptr, inside.len); /* most are plain, and there are thousands */
    out[n] = '\0';
    return strlen(out) == n;
}

bool maki_entry_id(const maki_entry *entry, char out[MAKI_ID_MAX])
{
    return entry->id.len > 2 && text(entry->id, out, MAKI_ID_MAX) && !strchr(out, '/');
}

/* Two numbers: {"input":1,"output":2} or [1,2]. */
static bool two_numbers(maki_str value, uint64_t *a, uint64_t *b)
{
    maki_json_iter iter = maki_json_items(value);
    maki_json_item item;
    bool good[2] = { false, false };
    while (maki_json_next(&iter, &item)) {
        bool second = iter.object ? maki_json_key_is(item.key, MAKI_LIT("output")) : good[0];
        bool first = iter.object ? maki_json_key_is(item.key, MAKI_LIT("input")) : !good[0];
        if (first) good[0] = whole_number(item.value, a);
        if (second) good[1] = whole_number(item.value, b);
    }
    return good[0] && good[1];
}

static bool read_field(enum field f, maki_str value, maki_session *out)
{
    uint64_t number = 0;
    switch (f) {
    case KEY: return text(value, out->key, sizeof out->key);
    case MODEL: return text(value, out->model, sizeof out->model);
    case CHANNEL: return text(value, out->channel, sizeof out->channel);
    case CREATED:
        if (!whole_number(value, &number)) return false;
        out->created = (int64_t)number;
        return true;
    case UPDATED:
        if (!whole_number(value, &number)) return false;
        out->updated = (int64_t)number;
        return true;
    case COUNT: return whole_number(value, &out->messages);
    case USAGE: return two_numbers(value, &out->input, &out->output);
    case OVERRIDES:
        if (maki_json_kind_of(value) != MAKI_JSON_OBJECT || value.len >= sizeof out->overrides)
            return false;
        memcpy(out->overrides, value.ptr, value.len);
        out->overrides[value.len > 2 ? value.len : 0] = '\0';
        return true;
    case STATE:
        out->archived = maki_json_kind_of(value) == MAKI_JSON_STRING &&
                        maki_json_text_is(value, MAKI_LIT("archived"));
        return out->archived || (maki_json_kind_of(value) == MAKI_JSON_STRING &&
                                 maki_json_text_is(value, MAKI_LIT("active")));
    case READ: return two_numbers(value, &out->read_messages, &out->read_events);
    default: return true; /* the name of the file says it */
    }
}

bool maki_entry_read(maki_str json, maki_session *out)
{
    static const unsigned needed =
        1u << UPDATED | 1u << COUNT | 1u << USAGE | 1u << STATE | 1u << READ;
    maki_json_iter iter = maki_json_items(json);
    maki_json_item item;
    unsigned good = 0;
    bool all = true;
    enum field next = 0;
    if (!iter.object) return false;
    while (maki_json_next(&iter, &item)) {
        enum field f = field_of(item.key, next);
        next = f + 1;
        if (f == FIELDS) continue;
        if (read_field(f, item.value, out))
            good |= 1u << f;
        else
            all = false;
    }
    return all && (good & needed) == needed;
}

bool maki_entry_has_key(maki_str json, maki_str key)
{
    maki_str value;
    return maki_json_kind_of(json) == MAKI_JSON_OBJECT && maki_json_get(json, names[KEY], &value) &&
           maki_json_kind_of(value) == MAKI_JSON_STRING && maki_json_text_is(value, key);
}

/* ---- writing one ----------------------------------------------------------------------------------- */

static void put_text(maki_jw *out, enum field f, const char *value)
{
    maki_jw_key(out, names[f]);
    maki_jw_string(out, maki_str_of(value));
}

static void put_number(maki_jw *out, enum field f, int64_t value)
{
    maki_jw_key(out, names[f]);
    maki_jw_int(out, value);
}

static void put_usage(maki_jw *out, const maki_session *s)
{
    maki_jw_key(out, names[USAGE]);
    maki_jw_object(out);
    maki_jw_key(out, MAKI_LIT("input"));
    maki_jw_int(out, (int64_t)s->input);
    maki_jw_key(out, MAKI_LIT("output"));
    maki_jw_int(out, (int64_t)s->output);
    maki_jw_end_object(out);
}

static void put_read(maki_jw *out, const maki_session *s)
{
    maki_jw_key(out, names[READ]);
    maki_jw_array(out);
    maki_jw_int(out, (int64_t)s->read_messages);
    maki_jw_int(out, (int64_t)s->read_events);
    maki_jw_end_array(out);
}

/* Fields of `old` that are not ours. */
static void put_others(maki_jw *out, maki_str old)
{
    maki_json_iter iter = maki_json_items(old);
    maki_json_item item;
    while (iter.object && maki_json_next(&iter, &item)) {
        if (field_of(item.key, FIELDS) != FIELDS) continue;
        maki_jw_begin_value(out); /* the key is escaped already */
        maki_jw_bytes(out, (maki_str){ item.start, (size_t)(item.value.ptr - item.start) });
        maki_jw_bytes(out, item.value);
    }
}

void maki_entry_write(maki_jw *out, const maki_session *s, maki_str old)
{
    maki_jw_key(out, maki_str_of(s->id));
    maki_jw_object(out);
    put_text(out, ID, s->id);
    put_text(out, AGENT, s->agent);
    put_text(out, KEY, s->key);
    put_number(out, CREATED, s->created);
    put_number(out, UPDATED, s->updated);
    put_text(out, MODEL, s->model);
    put_number(out, COUNT, (int64_t)s->messages);
    put_usage(out, s);
    maki_jw_key(out, names[OVERRIDES]);
    maki_jw_raw(out, s->overrides[0] ? maki_str_of(s->overrides) : MAKI_LIT("{}"));
    put_text(out, STATE, s->archived ? "archived" : "active");
    if (s->channel[0]) put_text(out, CHANNEL, s->channel);
    put_read(out, s);
    if (old.len) put_others(out, old);
    maki_jw_end_object(out);
}
