/* reply.c -- the bytes of a reply as events; what is gathered from them; see wire.h and reply.h. */
#include "wire/reply.h"

#include <string.h>

#include "base/err.h"
#include "base/json_scan.h"
#include "base/text.h"

enum {
    EVENT_MAX = 16 << 20,   /* bytes of an event: longer ones are passed over */
    BODY_MEMORY = 64 << 10, /* of a body, a line, rows: more goes into a file */
    KEEP_BUFFER = 2 << 10,  /* what a stream at rest may keep */
    SLICE = 64 << 10,       /* fed at a time, so that little is lost with a long event */
    PARTS_MOST = 4096,      /* that are not whole yet */
    ERROR_TEXT = 4 << 10,   /* of an error that is no JSON */
    DEPTH = 500             /* of an event, so that its row is not too deep for the log */
};

/* ---- opening and closing ------------------------------------------------------------------------------ */

static const maki_reply_rules *rules_of(maki_protocol protocol)
{
    switch (protocol) {
    case MAKI_WIRE_ANTHROPIC: return &maki_anthropic_reply;
    case MAKI_WIRE_CHAT: return &maki_chat_reply;
    case MAKI_WIRE_RESPONSES: return &maki_responses_reply;
    case MAKI_WIRE_OLLAMA: return &maki_ollama_reply;
    case MAKI_WIRE_GENERATE: return &maki_generate_reply;
    case MAKI_WIRE_GEMINI: return &maki_gemini_reply;
    case MAKI_WIRE_NONE: break;
    }
    return NULL;
}

maki_status maki_wire_reply_open(const maki_env *env, maki_protocol protocol, int http_status,
                                 maki_str type, maki_wire_reply **out, maki_err *err)
{
    const maki_reply_rules *rules = rules_of(protocol);
    if (!rules) return maki_fail(err, MAKI_INVALID, "not a protocol that can be read");
    maki_wire_reply *r = env->alloc->resize(env->alloc, NULL, 0, sizeof *r);
    if (!r) return maki_fail_nomem(err);
    *r = (maki_wire_reply){ .env = env,
                            .rules = rules,
                            .protocol = protocol,
                            .http_status = http_status,
                            .sse = maki_sse_new(env->alloc, EVENT_MAX),
                            .body = maki_spool_new(env, BODY_MEMORY),
                            .message = maki_gather_new(env, &r->held),
                            .blocks = maki_spool_new(env, BODY_MEMORY),
                            .facts = maki_gather_new(env, &r->noted),
                            .usage = maki_gather_new(env, &r->noted),
                            .out = maki_spool_new(env, BODY_MEMORY),
                            .usage_json = maki_spool_new(env, BODY_MEMORY) };
    bool error = http_status >= 400; /* its body is one value, whatever the type says */
    if (!error && maki_str_has_nocase(type, MAKI_LIT("event-stream"))) r->form = MAKI_FORM_EVENTS;
    if (!error && maki_str_has_nocase(type, MAKI_LIT("ndjson"))) r->form = MAKI_FORM_LINES;
    *out = r;
    return MAKI_OK;
}

static void free_part(maki_wire_reply *r, maki_part *part)
{
    maki_gather_free(&part->fields);
    maki_gather_free(&part->inner);
    r->env->alloc->resize(r->env->alloc, part, sizeof *part, 0);
}

/* What was gathered of the message. */
static void forget(maki_wire_reply *r)
{
    const maki_alloc *alloc = r->env->alloc;
    for (size_t i = 0; i < r->part_count; i++)
        free_part(r, r->parts[i]);
    if (r->parts) alloc->resize(alloc, r->parts, r->part_room * sizeof *r->parts, 0);
    r->parts = NULL;
    r->part_count = r->part_room = 0;
    maki_gather_free(&r->message);
    maki_spool_free(&r->blocks);
}

void maki_wire_reply_close(maki_wire_reply *r)
{
    if (!r) return;
    const maki_alloc *alloc = r->env->alloc;
    forget(r);
    maki_sse_free(&r->sse);
    maki_spool_free(&r->body);
    maki_gather_free(&r->facts);
    maki_gather_free(&r->usage);
    maki_spool_free(&r->out);
    maki_spool_free(&r->usage_json);
    if (r->told) alloc->resize(alloc, r->told, r->row_count * sizeof *r->told, 0);
    if (r->rows) alloc->resize(alloc, r->rows, r->row_room * sizeof *r->rows, 0);
    alloc->resize(alloc, r, sizeof *r, 0);
}

/* More than a row may be: nothing of the message is kept from here on. */
static void give_up(maki_wire_reply *r)
{
    r->given_up = r->garbage = true;
    forget(r);
}

/* ---- facts -------------------------------------------------------------------------------------------- */

maki_status maki_reply_note(maki_wire_reply *r, maki_str name, maki_str value, maki_err *err)
{
    if (value.len == 0) return MAKI_OK;
    return maki_gather_add(&r->facts, MAKI_GATHER_VALUE, name, value, err);
}

maki_status maki_reply_note_first(maki_wire_reply *r, maki_str name, maki_str string, maki_err *err)
{
    if (!maki_is_string(string) || maki_gather_has(&r->facts, name)) return MAKI_OK;
    return maki_gather_add(&r->facts, MAKI_GATHER_VALUE, name, string, err);
}

maki_status maki_reply_usage(maki_wire_reply *r, maki_str usage, maki_err *err)
{
    return maki_is_object(usage) ? maki_gather_replace(&r->usage, usage, err) : MAKI_OK;
}

/* ---- parts -------------------------------------------------------------------------------------------- */

maki_part *maki_reply_part(maki_wire_reply *r, uint64_t index)
{
    for (size_t i = r->part_count; i > 0; i--) {
        if (r->parts[i - 1]->index == index) return r->parts[i - 1];
    }
    return NULL;
}

maki_status maki_reply_new_part(maki_wire_reply *r, uint64_t index, maki_part **out, maki_err *err)
{
    const maki_alloc *alloc = r->env->alloc;
    if (r->part_count == r->part_room) {
        size_t room = r->part_room ? r->part_room * 2 : 4, size = sizeof *r->parts;
        void *moved = alloc->resize(alloc, r->parts, r->part_room * size, room * size);
        if (!moved) return maki_fail_nomem(err);
        r->parts = moved;
        r->part_room = room;
    }
    maki_part *part = alloc->resize(alloc, NULL, 0, sizeof *part);
    if (!part) return maki_fail_nomem(err);
    *part = (maki_part){ .index = index,
                         .fields = maki_gather_new(r->env, &r->held),
                         .inner = maki_gather_new(r->env, &r->held) };
    r->held += sizeof *part;
    *out = r->parts[r->part_count++] = part;
    return MAKI_OK;
}

maki_status maki_reply_block(maki_wire_reply *r, maki_str value, maki_err *err)
{
    r->held += value.len;
    maki_status st = maki_spool_add(&r->blocks, value, err);
    return st == MAKI_OK ? maki_spool_add(&r->blocks, MAKI_LIT(","), err) : st;
}

static maki_status write_part(maki_wire_reply *r, maki_part *part, maki_err *err)
{
    maki_jw w;
    maki_jw_init(&w, maki_spool_sink(&r->blocks), err);
    maki_jw_object(&w);
    maki_status st = maki_gather_write(&part->fields, &w, NULL, 0, err);
    if (st == MAKI_OK && part->inner.count) {
        maki_jw_key(&w, MAKI_LIT("function"));
        maki_jw_object(&w);
        st = maki_gather_write(&part->inner, &w, NULL, 0, err);
        maki_jw_end_object(&w);
    }
    maki_jw_end_object(&w);
    maki_jw_bytes(&w, MAKI_LIT(","));
    maki_status ended = maki_jw_end(&w);
    return st == MAKI_OK ? ended : st;
}

maki_status maki_reply_flush(maki_wire_reply *r, bool all, maki_err *err)
{
    maki_status st = MAKI_OK;
    size_t n = 0;
    while (st == MAKI_OK && n < r->part_count && (all || r->parts[n]->done))
        st = write_part(r, r->parts[n++], err);
    for (size_t i = 0; i < n; i++)
        free_part(r, r->parts[i]);
    r->part_count -= n;
    if (n) memmove(r->parts, r->parts + n, r->part_count * sizeof *r->parts);
    return st;
}

maki_status maki_reply_blocks(maki_wire_reply *r, maki_json_iter *out, maki_err *err)
{
    maki_str text;
    maki_status st = maki_spool_text(&r->blocks, &text, err);
    if (st == MAKI_OK) *out = (maki_json_iter){ .at = text.ptr, .end = text.ptr + text.len };
    return st;
}

/* ---- rows --------------------------------------------------------------------------------------------- */

void maki_reply_row(maki_wire_reply *r, maki_jw *w, maki_err *err)
{
    maki_jw_init(w, maki_row_sink(&r->out), err);
}

maki_status maki_reply_row_end(maki_wire_reply *r, maki_jw *w, maki_err *err)
{
    const maki_alloc *alloc = r->env->alloc;
    maki_status st = maki_jw_end(w);
    if (st != MAKI_OK) return st;
    if (r->row_count == r->row_room) {
        size_t room = r->row_room ? r->row_room * 2 : 2, size = sizeof *r->rows;
        void *moved = alloc->resize(alloc, r->rows, r->row_room * size, room * size);
        if (!moved) return maki_fail_nomem(err);
        r->rows = moved;
        r->row_room = room;
    }
    uint64_t start = r->row_count ? r->rows[r->row_count - 1].end : 0;
    r->rows[r->row_count++] = (struct maki_reply_row){ start, r->out.size };
    return MAKI_OK;
}

maki_status maki_reply_row_is(maki_wire_reply *r, maki_str row, maki_err *err)
{
    maki_jw w;
    maki_reply_row(r, &w, err);
    maki_jw_raw(&w, row);
    return maki_reply_row_end(r, &w, err);
}

/* ---- events ------------------------------------------------------------------------------------------- */

static bool is_json(maki_str *text)
{
    static const maki_json_scan_options options = { .max_depth = DEPTH };
    if (maki_json_scan_text(*text, &options, NULL) != MAKI_OK) return false;
    *text = maki_trim_space(*text);
    return true;
}

static maki_status one_event(maki_wire_reply *r, maki_str text, maki_err *err)
{
    if (maki_str_is(maki_trim_space(text), MAKI_LIT("[DONE]"))) {
        r->complete = true;
        return MAKI_OK;
    }
    if (!is_json(&text) || !maki_is_object(text)) {
        r->garbage = r->garbage || !r->ending;
        return MAKI_OK;
    }
    maki_status st = r->rules->event(r, text, err);
    if (r->held > MAKI_WIRE_ROW_MAX || r->part_count > PARTS_MOST)
        give_up(r); /* again with every event: facts may still come */
    return st;
}

static maki_status on_event(void *ctx, const maki_sse_event *event, maki_err *err)
{
    return one_event(ctx, event->data, err);
}

/* Up to the empty line after an event that was too long; what is left of `bytes`. */
static maki_str skip_event(maki_wire_reply *r, maki_str bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        char c = bytes.ptr[i];
        if (c == '\n' && r->line_start) {
            r->skipping = false;
            return maki_str_from(bytes, i + 1);
        }
        if (c != '\r') r->line_start = c == '\n';
    }
    return (maki_str){ "", 0 };
}

/* A long event leaves its buffers behind. */
static void rest(maki_sse *sse)
{
    if (sse->data.len == 0 && sse->data.room > KEEP_BUFFER) maki_buf_free(&sse->data);
    if (sse->line.len == 0 && sse->line.room > KEEP_BUFFER) maki_buf_free(&sse->line);
}

static maki_status add_events(maki_wire_reply *r, maki_str bytes, maki_err *err)
{
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && bytes.len) {
        if (r->skipping) bytes = skip_event(r, bytes);
        maki_str slice = maki_str_to(bytes, bytes.len < SLICE ? bytes.len : SLICE);
        bytes = maki_str_from(bytes, slice.len);
        st = maki_sse_feed(&r->sse, slice, on_event, r, err);
        if (st != MAKI_TOOBIG) continue;
        st = MAKI_OK;
        maki_sse_free(&r->sse);
        r->sse = maki_sse_new(r->env->alloc, EVENT_MAX);
        r->garbage = r->skipping = true;
        r->line_start = false;
    }
    rest(&r->sse);
    return st;
}

/* The line at hand is whole. */
static maki_status end_line(maki_wire_reply *r, maki_err *err)
{
    maki_str line;
    maki_status st = maki_spool_text(&r->body, &line, err);
    if (st == MAKI_OK && maki_trim_space(line).len) st = one_event(r, line, err);
    if (r->body.head.room > KEEP_BUFFER)
        maki_spool_free(&r->body);
    else
        maki_spool_clear(&r->body);
    return st;
}

static maki_status add_lines(maki_wire_reply *r, maki_str bytes, maki_err *err)
{
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && bytes.len) {
        const char *newline = memchr(bytes.ptr, '\n', bytes.len);
        size_t n = newline ? (size_t)(newline - bytes.ptr) : bytes.len;
        if (r->body.size + n > MAKI_WIRE_ROW_MAX) {
            give_up(r);
            maki_spool_clear(&r->body);
        } else {
            st = maki_spool_add(&r->body, maki_str_to(bytes, n), err);
        }
        if (st == MAKI_OK && newline) st = end_line(r, err);
        bytes = maki_str_from(bytes, newline ? n + 1 : n);
    }
    return st;
}

maki_status maki_wire_reply_add(maki_wire_reply *r, maki_str bytes, maki_err *err)
{
    if (bytes.len == 0) return MAKI_OK;
    if (r->form == MAKI_FORM_EVENTS) return add_events(r, bytes, err);
    if (r->form == MAKI_FORM_LINES) return add_lines(r, bytes, err);
    if (r->given_up) return MAKI_OK;
    if (r->body.size + bytes.len <= MAKI_WIRE_ROW_MAX) return maki_spool_add(&r->body, bytes, err);
    give_up(r);
    maki_spool_free(&r->body);
    return MAKI_OK;
}

/* ---- the end ------------------------------------------------------------------------------------------ */

/* The items of an array that may be cut are events. */
typedef struct items {
    maki_wire_reply *reply;
    maki_str text;
} items;

static maki_status on_item(void *ctx, const maki_json_span *span, maki_err *err)
{
    items *list = ctx;
    if (span->depth != 1) return MAKI_OK;
    return one_event(list->reply,
                     (maki_str){ list->text.ptr + span->start, (size_t)(span->end - span->start) },
                     err);
}

static maki_status read_array(maki_wire_reply *r, maki_str text, maki_err *err)
{
    items list = { r, text };
    maki_json_scan_options options = {
        .max_depth = DEPTH, .report_depth = 1, .on_span = on_item, .ctx = &list
    };
    maki_json_scan scan;
    maki_json_scan_init(&scan, &options);
    maki_status st = maki_json_scan_push(&scan, text, err);
    if (st == MAKI_INVALID || st == MAKI_TOOBIG) { /* those before were read */
        r->garbage = true;
        st = MAKI_OK;
    }
    return st;
}

/* An error that is no JSON: the beginning of its text. */
static maki_status note_text(maki_wire_reply *r, maki_str text, maki_err *err)
{
    maki_buf json = maki_buf_new(r->env->alloc, 8 * ERROR_TEXT);
    maki_jw w;
    size_t good = 0;
    text = maki_str_to(text, text.len < ERROR_TEXT ? text.len : ERROR_TEXT);
    if (!maki_utf8_valid(text, &good)) text.len = good;
    maki_jw_init(&w, maki_buf_sink(&json), err);
    maki_jw_object(&w);
    maki_jw_key(&w, MAKI_LIT("status"));
    maki_jw_int(&w, r->http_status);
    maki_jw_key(&w, MAKI_LIT("message"));
    maki_jw_string(&w, text);
    maki_jw_end_object(&w);
    maki_status st = maki_jw_end(&w);
    if (st == MAKI_OK) st = maki_reply_note(r, MAKI_NOTE_ERROR, maki_buf_str(&json), err);
    maki_buf_free(&json);
    return st;
}

/* A body that is not one JSON value: a stream by another name, or nothing we know. */
static maki_status read_other(maki_wire_reply *r, maki_str text, maki_err *err)
{
    static const maki_str beginnings[] = { { "data:", 5 }, { "event:", 6 }, { ":", 1 } };
    maki_str trimmed = maki_trim_space(text);
    if (maki_str_starts(trimmed, MAKI_LIT("["))) return read_array(r, text, err);
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        if (!maki_str_starts(trimmed, beginnings[i])) continue;
        maki_status st = add_events(r, text, err);
        r->ending = true;
        return st == MAKI_OK ? add_events(r, MAKI_LIT("\n\n"), err) : st;
    }
    const char *newline = memchr(trimmed.ptr, '\n', trimmed.len);
    maki_str line = maki_str_to(trimmed, newline ? (size_t)(newline - trimmed.ptr) : 0);
    if (!newline || !is_json(&line)) {
        r->garbage = r->garbage || !maki_str_starts(trimmed, MAKI_LIT("{")); /* else it is cut */
        return MAKI_OK;
    }
    for (maki_status st = MAKI_OK;;) {
        newline = memchr(text.ptr, '\n', text.len);
        r->ending = !newline;
        line = maki_str_to(text, newline ? (size_t)(newline - text.ptr) : text.len);
        if (maki_trim_space(line).len) st = one_event(r, line, err);
        if (st != MAKI_OK || !newline) return st;
        text = maki_str_from(text, line.len + 1);
    }
}

static maki_status read_whole(maki_wire_reply *r, maki_err *err)
{
    maki_str text, value;
    maki_status st = maki_spool_text(&r->body, &text, err);
    if (st != MAKI_OK || r->given_up) return st;
    value = text;
    bool json = is_json(&value);
    if (r->http_status >= 400)
        return json ? maki_reply_note(r, MAKI_NOTE_ERROR, value, err) : note_text(r, text, err);
    if (maki_trim_space(text).len == 0) return MAKI_OK;
    if (!json) return read_other(r, text, err);
    if (maki_is_array(value)) return read_array(r, value, err);
    if (!maki_is_object(value)) {
        r->garbage = true;
        return MAKI_OK;
    }
    r->complete = true;
    return r->rules->whole(r, value, err);
}

/* What waits for its end gets it. */
static maki_status flush(maki_wire_reply *r, maki_err *err)
{
    if (r->form == MAKI_FORM_WHOLE) return read_whole(r, err);
    r->ending = true;
    if (r->form == MAKI_FORM_LINES) return end_line(r, err);
    return r->skipping ? MAKI_OK : add_events(r, MAKI_LIT("\n\n"), err);
}

static maki_status tell_rows(maki_wire_reply *r, maki_wire_said *out, maki_err *err)
{
    const maki_alloc *alloc = r->env->alloc;
    maki_str text;
    maki_status st = maki_spool_text(&r->out, &text, err);
    if (st != MAKI_OK || r->row_count == 0) return st;
    if (r->out.size > MAKI_WIRE_ROW_MAX) {
        r->garbage = true;
        return MAKI_OK;
    }
    r->told = alloc->resize(alloc, NULL, 0, r->row_count * sizeof *r->told);
    if (!r->told) return maki_fail_nomem(err);
    for (size_t i = 0; i < r->row_count; i++) {
        uint64_t start = r->rows[i].start;
        r->told[i] = (maki_str){ text.ptr + start, (size_t)(r->rows[i].end - start) };
    }
    out->rows = r->told;
    out->row_count = r->row_count;
    return MAKI_OK;
}

maki_status maki_wire_reply_end(maki_wire_reply *r, maki_wire_said *out, maki_err *err)
{
    maki_jw w;
    *out = (maki_wire_said){ 0 };
    maki_status st = flush(r, err);
    if (st == MAKI_OK && !r->given_up) st = r->rules->finish(r, err);
    if (st == MAKI_OK) st = tell_rows(r, out, err);
    bool heard = r->ear.any; /* while it came */
    for (size_t i = 0; st == MAKI_OK && !heard && i < out->row_count; i++)
        st = maki_reply_heard_row(r, out->rows[i], err);
    if (st == MAKI_OK && r->usage.count) {
        maki_jw_init(&w, maki_spool_sink(&r->usage_json), err);
        maki_jw_object(&w);
        st = maki_gather_write(&r->usage, &w, NULL, 0, err);
        maki_jw_end_object(&w);
        maki_status ended = maki_jw_end(&w);
        if (st == MAKI_OK) st = ended;
        if (st == MAKI_OK) st = maki_spool_text(&r->usage_json, &out->usage_json, err);
    }
    if (st == MAKI_OK) st = maki_gather_get(&r->facts, MAKI_NOTE_MODEL, &out->model, err);
    if (st == MAKI_OK) st = maki_gather_get(&r->facts, MAKI_NOTE_ID, &out->id, err);
    if (st == MAKI_OK) st = maki_gather_get(&r->facts, MAKI_NOTE_STOP, &out->stop, err);
    if (st == MAKI_OK) st = maki_gather_get(&r->facts, MAKI_NOTE_ERROR, &out->error, err);
    out->complete = r->complete;
    out->garbage = r->garbage;
    out->usage = maki_usage_counts(r->protocol, out->usage_json);
    return st;
}
