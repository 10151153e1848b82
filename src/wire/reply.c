/* reply.c -- the bytes of a reply as events; what is gathered from them; see wire.h and reply.h. */
#include "wire/reply.h"

#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/json_print.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "wire/protocol.h"

enum {
    EVENT_MAX = 16 << 20,   /* bytes of an event: longer ones are passed over */
    BODY_MEMORY = 64 << 10, /* of a body, a line, rows: more goes into a file */
    KEEP_BUFFER = 2 << 10,  /* what a stream at rest may keep */
    SLICE = 64 << 10,       /* fed at a time, so that little is lost with a long event */
    PARTS_MAX = 4096,       /* that are not whole yet */
    ERROR_TEXT = 4 << 10,   /* of an error that is no JSON */
    DEPTH = 500             /* of an event, so that its row is not too deep for the log */
};

/* ---- opening and closing ------------------------------------------------------------------------------ */

maki_status maki_wire_reply_open(const maki_env *env, maki_protocol protocol, int http_status,
                                 maki_str type, maki_wire_reply **out, maki_err *err)
{
    const maki_protocol_spec *spec = maki_protocol_of(protocol);
    if (!spec->event) return maki_fail(err, MAKI_INVALID, "not a protocol that can be read");
    maki_wire_reply *r = env->alloc->resize(env->alloc, NULL, 0, sizeof *r);
    if (!r) return maki_fail_nomem(err);
    *r = (maki_wire_reply){ .env = env,
                            .protocol = spec,
                            .http_status = http_status,
                            .sse = maki_sse_new(env->alloc, EVENT_MAX),
                            .body = maki_spool_new(env, BODY_MEMORY),
                            .message = maki_json_assembler_new(env, &r->failure, &r->held),
                            .blocks = maki_spool_new(env, BODY_MEMORY),
                            .facts = maki_json_assembler_new(env, &r->failure, &r->noted),
                            .usage = maki_json_assembler_new(env, &r->failure, &r->noted),
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
    maki_json_assembler_free(&part->fields);
    maki_json_assembler_free(&part->inner);
    r->env->alloc->resize(r->env->alloc, part, sizeof *part, 0);
}

/* What was gathered of the message. */
static void forget(maki_wire_reply *r)
{
    const maki_alloc *alloc = r->env->alloc;
    for (size_t i = 0; i < r->part_count; i++)
        free_part(r, r->parts[i]);
    if (r->parts) alloc->resize(alloc, r->parts, r->part_capacity * sizeof *r->parts, 0);
    r->parts = NULL;
    r->part_count = r->part_capacity = 0;
    maki_json_assembler_free(&r->message);
    maki_spool_free(&r->blocks);
}

void maki_wire_reply_close(maki_wire_reply *r)
{
    if (!r) return;
    const maki_alloc *alloc = r->env->alloc;
    forget(r);
    maki_sse_free(&r->sse);
    maki_spool_free(&r->body);
    maki_json_assembler_free(&r->facts);
    maki_json_assembler_free(&r->usage);
    maki_spool_free(&r->out);
    maki_spool_free(&r->usage_json);
    if (r->told) alloc->resize(alloc, r->told, r->row_count * sizeof *r->told, 0);
    if (r->rows) alloc->resize(alloc, r->rows, r->row_capacity * sizeof *r->rows, 0);
    alloc->resize(alloc, r, sizeof *r, 0);
}

/* More than a row may be: nothing of the message is kept from here on. */
static void give_up(maki_wire_reply *r)
{
    r->given_up = r->garbage = true;
    forget(r);
}

/* ---- facts -------------------------------------------------------------------------------------------- */

void maki_reply_note(maki_wire_reply *r, maki_str name, maki_str value)
{
    if (value.len) maki_json_assembler_add(&r->facts, MAKI_ASSEMBLE_VALUE, name, value);
}

void maki_reply_note_first(maki_wire_reply *r, maki_str name, maki_str string)
{
    if (maki_is_string(string) && !maki_json_assembler_has(&r->facts, name))
        maki_json_assembler_add(&r->facts, MAKI_ASSEMBLE_VALUE, name, string);
}

void maki_reply_usage(maki_wire_reply *r, maki_str usage)
{
    if (maki_is_object(usage)) maki_json_assembler_replace(&r->usage, usage);
}

/* ---- parts -------------------------------------------------------------------------------------------- */

maki_part *maki_reply_part(maki_wire_reply *r, uint64_t index)
{
    for (size_t i = r->part_count; i > 0; i--) {
        if (r->parts[i - 1]->index == index) return r->parts[i - 1];
    }
    return NULL;
}

maki_part *maki_reply_new_part(maki_wire_reply *r, uint64_t index)
{
    const maki_alloc *alloc = r->env->alloc;
    void *parts =
        maki_array_grow(alloc, r->parts, r->part_count, &r->part_capacity, sizeof *r->parts);
    if (parts) r->parts = parts;
    maki_part *part = parts ? alloc->resize(alloc, NULL, 0, sizeof *part) : NULL;
    if (!part) {
        maki_sticky_set(&r->failure, maki_fail_nomem(r->failure.err));
        return NULL;
    }
    *part = (maki_part){ .index = index,
                         .fields = maki_json_assembler_new(r->env, &r->failure, &r->held),
                         .inner = maki_json_assembler_new(r->env, &r->failure, &r->held) };
    r->held += sizeof *part;
    return r->parts[r->part_count++] = part;
}

void maki_reply_block(maki_wire_reply *r, maki_str value)
{
    r->held += value.len;
    maki_sticky_add(&r->failure, &r->blocks, value);
    maki_sticky_add(&r->failure, &r->blocks, MAKI_LIT(","));
}

static void write_part(maki_wire_reply *r, maki_part *part)
{
    maki_jw w;
    maki_sticky_begin(&r->failure, maki_spool_sink(&r->blocks), &w);
    maki_jw_object(&w);
    maki_json_assembler_write(&part->fields, &w, "");
    if (part->inner.count) {
        maki_jw_print(&w, "'function':{");
        maki_json_assembler_write(&part->inner, &w, "");
        maki_jw_end_object(&w);
    }
    maki_jw_end_object(&w);
    maki_sticky_end(&r->failure, &w, MAKI_LIT(","));
}

void maki_reply_flush(maki_wire_reply *r, bool all)
{
    size_t n = 0;
    for (; n < r->part_count && (all || r->parts[n]->done); n++) {
        write_part(r, r->parts[n]);
        free_part(r, r->parts[n]);
    }
    r->part_count -= n;
    if (n) memmove(r->parts, r->parts + n, r->part_count * sizeof *r->parts);
}

maki_str maki_reply_blocks(maki_wire_reply *r)
{
    return maki_sticky_text(&r->failure, &r->blocks);
}

maki_json_iter maki_items_in(maki_str items)
{
    return (maki_json_iter){ .at = items.ptr, .end = items.ptr + items.len };
}

/* ---- rows --------------------------------------------------------------------------------------------- */

void maki_reply_row(maki_wire_reply *r, maki_jw *w)
{
    maki_sticky_begin(&r->failure, maki_row_sink(&r->out), w);
}

void maki_reply_row_end(maki_wire_reply *r, maki_jw *w)
{
    maki_sticky_end(&r->failure, w, MAKI_LIT(""));
    void *rows =
        maki_array_grow(r->env->alloc, r->rows, r->row_count, &r->row_capacity, sizeof *r->rows);
    if (rows)
        r->rows = rows;
    else
        maki_sticky_set(&r->failure, maki_fail_nomem(r->failure.err));
    if (r->failure.status != MAKI_OK) return;
    uint64_t start = r->row_count ? r->rows[r->row_count - 1].end : 0;
    r->rows[r->row_count++] = (struct maki_reply_row){ start, r->out.size };
}

void maki_reply_row_is(maki_wire_reply *r, maki_str row)
{
    maki_jw w;
    maki_reply_row(r, &w);
    maki_jw_raw(&w, row);
    maki_reply_row_end(r, &w);
}

/* ---- events ------------------------------------------------------------------------------------------- */

static bool is_json(maki_str *text)
{
    static const maki_json_scan_options options = { .max_depth = DEPTH };
    if (maki_json_scan_text(*text, &options, NULL) != MAKI_OK) return false;
    *text = maki_trim_space(*text);
    return true;
}

static void one_event(maki_wire_reply *r, maki_str text)
{
    if (maki_str_is(maki_trim_space(text), MAKI_LIT("[DONE]"))) {
        r->complete = true;
    } else if (!is_json(&text) || !maki_is_object(text)) {
        r->garbage = r->garbage || !r->ending;
    } else {
        r->protocol->event(r, text);
        if (r->held > MAKI_WIRE_ROW_MAX || r->part_count > PARTS_MAX)
            give_up(r); /* again with every event: facts may still come */
    }
}

static maki_status on_event(void *ctx, const maki_sse_event *event, maki_err *err)
{
    maki_wire_reply *r = ctx;
    (void)err;
    one_event(r, event->data);
    return r->failure.status;
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
    if (sse->data.len == 0 && sse->data.capacity > KEEP_BUFFER) maki_buf_free(&sse->data);
    if (sse->line.len == 0 && sse->line.capacity > KEEP_BUFFER) maki_buf_free(&sse->line);
}

static void add_events(maki_wire_reply *r, maki_str bytes)
{
    while (r->failure.status == MAKI_OK && bytes.len) {
        if (r->skipping) bytes = skip_event(r, bytes);
        maki_str slice = maki_str_to(bytes, bytes.len < SLICE ? bytes.len : SLICE);
        bytes = maki_str_from(bytes, slice.len);
        maki_status st = maki_sse_feed(&r->sse, slice, on_event, r, r->failure.err);
        if (st != MAKI_TOOBIG || r->failure.status != MAKI_OK) {
            maki_sticky_set(&r->failure, st);
            continue;
        }
        maki_sse_free(&r->sse);
        r->sse = maki_sse_new(r->env->alloc, EVENT_MAX);
        r->garbage = r->skipping = true;
        r->line_start = false;
    }
    rest(&r->sse);
}

/* The line at hand is whole. */
static void end_line(maki_wire_reply *r)
{
    maki_str line = maki_sticky_text(&r->failure, &r->body);
    if (maki_trim_space(line).len) one_event(r, line);
    if (r->body.head.capacity > KEEP_BUFFER)
        maki_spool_free(&r->body);
    else
        maki_spool_clear(&r->body);
}

static void add_lines(maki_wire_reply *r, maki_str bytes)
{
    while (r->failure.status == MAKI_OK && bytes.len) {
        const char *newline = memchr(bytes.ptr, '\n', bytes.len);
        size_t n = newline ? (size_t)(newline - bytes.ptr) : bytes.len;
        if (r->body.size + n > MAKI_WIRE_ROW_MAX) {
            give_up(r);
            maki_spool_clear(&r->body);
        } else {
            maki_sticky_add(&r->failure, &r->body, maki_str_to(bytes, n));
        }
        if (newline) end_line(r);
        bytes = maki_str_from(bytes, newline ? n + 1 : n);
    }
}

maki_status maki_wire_reply_add(maki_wire_reply *r, maki_str bytes, maki_err *err)
{
    r->failure.err = err;
    if (r->form == MAKI_FORM_EVENTS) {
        add_events(r, bytes);
    } else if (r->form == MAKI_FORM_LINES) {
        add_lines(r, bytes);
    } else if (r->given_up || r->body.size + bytes.len > MAKI_WIRE_ROW_MAX) {
        give_up(r);
        maki_spool_free(&r->body);
    } else {
        maki_sticky_add(&r->failure, &r->body, bytes);
    }
    return r->failure.status;
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
    (void)err;
    if (span->depth == 1)
        one_event(list->reply,
                  (maki_str){ list->text.ptr + span->start, (size_t)(span->end - span->start) });
    return list->reply->failure.status;
}

static void read_array(maki_wire_reply *r, maki_str text)
{
    items list = { r, text };
    maki_json_scan_options options = {
        .max_depth = DEPTH, .report_depth = 1, .on_span = on_item, .ctx = &list
    };
    maki_json_scan scan;
    maki_json_scan_init(&scan, &options);
    maki_status st = maki_json_scan_push(&scan, text, r->failure.err);
    if (st == MAKI_INVALID || st == MAKI_TOOBIG)
        r->garbage = true; /* those before were read */
    else
        maki_sticky_set(&r->failure, st);
}

/* An error that is no JSON: the beginning of its text. */
static void note_text(maki_wire_reply *r, maki_str text)
{
    maki_buf json = maki_buf_new(r->env->alloc, 8 * ERROR_TEXT);
    maki_jw w;
    size_t good = 0;
    text = maki_str_to(text, text.len < ERROR_TEXT ? text.len : ERROR_TEXT);
    if (!maki_utf8_valid(text, &good)) text.len = good;
    maki_sticky_begin(&r->failure, maki_buf_sink(&json), &w);
    maki_jw_print(&w, "{'status':%i,'message':%s}", (int64_t)r->http_status, text);
    maki_sticky_end(&r->failure, &w, MAKI_LIT(""));
    maki_reply_note(r, MAKI_NOTE_ERROR, maki_buf_str(&json));
    maki_buf_free(&json);
}

/* A body that is not one JSON value: a stream by another name, or nothing we know. */
static void read_other(maki_wire_reply *r, maki_str text)
{
    static const maki_str beginnings[] = { { "data:", 5 }, { "event:", 6 }, { ":", 1 } };
    maki_str trimmed = maki_trim_space(text);
    if (maki_str_starts(trimmed, MAKI_LIT("["))) {
        read_array(r, text);
        return;
    }
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        if (!maki_str_starts(trimmed, beginnings[i])) continue;
        add_events(r, text);
        r->ending = true;
        add_events(r, MAKI_LIT("\n\n"));
        return;
    }
    const char *newline = memchr(trimmed.ptr, '\n', trimmed.len);
    maki_str line = maki_str_to(trimmed, newline ? (size_t)(newline - trimmed.ptr) : 0);
    if (!newline || !is_json(&line)) {
        r->garbage = r->garbage || !maki_str_starts(trimmed, MAKI_LIT("{")); /* else it is cut */
        return;
    }
    while (text.len && r->failure.status == MAKI_OK) {
        r->ending = !memchr(text.ptr, '\n', text.len);
        line = maki_str_cut(&text, '\n');
        if (maki_trim_space(line).len) one_event(r, line);
    }
}

static void read_whole(maki_wire_reply *r)
{
    maki_str text = maki_sticky_text(&r->failure, &r->body), value = text;
    if (r->failure.status != MAKI_OK || r->given_up) return;
    bool json = is_json(&value);
    if (r->http_status >= 400 && json) {
        maki_reply_note(r, MAKI_NOTE_ERROR, value);
    } else if (r->http_status >= 400) {
        note_text(r, text);
    } else if (maki_trim_space(text).len == 0) {
        return;
    } else if (!json) {
        read_other(r, text);
    } else if (maki_is_array(value)) {
        read_array(r, value);
    } else if (maki_is_object(value)) {
        r->complete = true;
        r->protocol->whole(r, value);
    } else {
        r->garbage = true;
    }
}

/* What waits for its end gets it. */
static void flush(maki_wire_reply *r)
{
    if (r->form == MAKI_FORM_WHOLE) {
        read_whole(r);
        return;
    }
    r->ending = true;
    if (r->form == MAKI_FORM_LINES)
        end_line(r);
    else if (!r->skipping)
        add_events(r, MAKI_LIT("\n\n"));
}

static void tell_rows(maki_wire_reply *r, maki_wire_said *out)
{
    const maki_alloc *alloc = r->env->alloc;
    maki_str text = maki_sticky_text(&r->failure, &r->out);
    if (r->failure.status != MAKI_OK || r->row_count == 0) return;
    if (r->out.size > MAKI_WIRE_ROW_MAX) {
        r->garbage = true;
        return;
    }
    r->told = alloc->resize(alloc, NULL, 0, r->row_count * sizeof *r->told);
    if (!r->told) {
        maki_sticky_set(&r->failure, maki_fail_nomem(r->failure.err));
        return;
    }
    for (size_t i = 0; i < r->row_count; i++) {
        uint64_t start = r->rows[i].start;
        r->told[i] = (maki_str){ text.ptr + start, (size_t)(r->rows[i].end - start) };
    }
    out->rows = r->told;
    out->row_count = r->row_count;
}

static maki_str tell_usage(maki_wire_reply *r)
{
    maki_jw w;
    if (!r->usage.count) return (maki_str){ "", 0 };
    maki_sticky_begin(&r->failure, maki_spool_sink(&r->usage_json), &w);
    maki_jw_object(&w);
    maki_json_assembler_write(&r->usage, &w, "");
    maki_jw_end_object(&w);
    maki_sticky_end(&r->failure, &w, MAKI_LIT(""));
    return maki_sticky_text(&r->failure, &r->usage_json);
}

bool maki_wire_reply_is_complete(const maki_wire_reply *r)
{
    return r->complete;
}

maki_status maki_wire_reply_end(maki_wire_reply *r, maki_wire_said *out, maki_err *err)
{
    *out = (maki_wire_said){ 0 };
    r->failure.err = err;
    flush(r);
    if (r->failure.status == MAKI_OK && !r->given_up) r->protocol->finish(r);
    tell_rows(r, out);
    bool heard = r->ear.any; /* while it came */
    for (size_t i = 0; !heard && i < out->row_count; i++)
        maki_reply_delta_row(r, out->rows[i]);
    out->usage_json = tell_usage(r);
    out->model = maki_json_assembler_get(&r->facts, MAKI_NOTE_MODEL);
    out->id = maki_json_assembler_get(&r->facts, MAKI_NOTE_ID);
    out->stop = maki_json_assembler_get(&r->facts, MAKI_NOTE_STOP);
    out->error = maki_json_assembler_get(&r->facts, MAKI_NOTE_ERROR);
    out->complete = r->complete;
    out->garbage = r->garbage;
    if (maki_is_object(out->usage_json)) out->usage = r->protocol->usage(out->usage_json);
    out->usage.known = out->usage.input || out->usage.output;
    return r->failure.status;
}
