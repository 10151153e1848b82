/* reply.c -- parse a reply: split its bytes into events, give them to the protocol, collect the result.
 *
 * The Content-Type decides how: server-sent events, lines, or a whole body, which is examined at the end: it may
 * be JSON, a truncated array, or a stream with the wrong type.  Invalid events are counted in `invalid` and
 * skipped; an event over EVENT_MAX is skipped, a message over MAKI_WIRE_ROW_MAX abandoned, and what follows is still
 * read, for usage.  Between two events each buffer has a capacity of at most IDLE_BUFFER_MAX. */
#include "wire/reply.h"

#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/json_print.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "wire/protocol.h"

enum {
    EVENT_MAX = 16 << 20,      /* bytes of an event: longer ones are skipped */
    BODY_MEMORY = 64 << 10,    /* bytes in memory of a body, a line, rows; more goes to a file */
    IDLE_BUFFER_MAX = 2 << 10, /* capacity of a buffer between two events; larger ones are freed */
    SLICE = 64 << 10,          /* bytes parsed at a time: a too long event drops the rest of one */
    PARTS_MAX = 4096,          /* incomplete parts at a time */
    ERROR_TEXT_MAX = 4 << 10,  /* bytes stored of an error that is not JSON */
    DEPTH_MAX = 500            /* maximum depth of an event, so that the log accepts its row */
};

/* ---- opening and closing ------------------------------------------------------------------------------ */

maki_status maki_wire_reply_open(const maki_env *env, maki_protocol protocol, int http_status,
                                 maki_str type, maki_wire_reply **out, maki_err *err)
{
    const maki_protocol_spec *spec = maki_protocol_of(protocol);
    if (!spec->on_event) return maki_fail(err, MAKI_INVALID, "not a protocol that can be read");
    maki_wire_reply *r = env->alloc->resize(env->alloc, NULL, 0, sizeof *r);
    if (!r) return maki_fail_nomem(err);
    *r = (maki_wire_reply){ .env = env,
                            .protocol = spec,
                            .http_status = http_status,
                            .sse = maki_sse_new(env->alloc, EVENT_MAX),
                            .body = maki_spool_new(env, BODY_MEMORY),
                            .message = maki_json_assembler_new(env, &r->failure, &r->message_bytes),
                            .blocks = maki_spool_new(env, BODY_MEMORY),
                            .meta = maki_json_assembler_new(env, &r->failure, &r->meta_bytes),
                            .usage = maki_json_assembler_new(env, &r->failure, &r->meta_bytes),
                            .row_text = maki_spool_new(env, BODY_MEMORY),
                            .usage_json = maki_spool_new(env, BODY_MEMORY) };
    bool error = http_status >= 400; /* its body is one value, whatever the Content-Type */
    if (!error && maki_str_contains_nocase(type, MAKI_LIT("event-stream")))
        r->form = MAKI_FORM_EVENTS;
    if (!error && maki_str_contains_nocase(type, MAKI_LIT("ndjson"))) r->form = MAKI_FORM_LINES;
    *out = r;
    return MAKI_OK;
}

static void free_part(maki_wire_reply *r, maki_open_part *part)
{
    maki_json_assembler_free(&part->fields);
    maki_json_assembler_free(&part->nested);
    r->env->alloc->resize(r->env->alloc, part, sizeof *part, 0);
}

/* Free the assembled parts of the message. */
static void free_message(maki_wire_reply *r)
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
    free_message(r);
    maki_sse_free(&r->sse);
    maki_spool_free(&r->body);
    maki_json_assembler_free(&r->meta);
    maki_json_assembler_free(&r->usage);
    maki_spool_free(&r->row_text);
    maki_spool_free(&r->usage_json);
    if (r->row_spans) alloc->resize(alloc, r->row_spans, r->row_count * sizeof *r->row_spans, 0);
    if (r->row_ranges)
        alloc->resize(alloc, r->row_ranges, r->row_capacity * sizeof *r->row_ranges, 0);
    alloc->resize(alloc, r, sizeof *r, 0);
}

/* The row would be too large: drop the message, also its later deltas. */
static void abandon(maki_wire_reply *r)
{
    r->abandoned = r->invalid = true;
    free_message(r);
}

/* ---- metadata -------------------------------------------------------------------------------------------- */

void maki_reply_set_meta(maki_wire_reply *r, maki_str name, maki_str value)
{
    if (value.len) maki_json_assembler_add(&r->meta, MAKI_ASSEMBLE_VALUE, name, value);
}

void maki_reply_set_meta_once(maki_wire_reply *r, maki_str name, maki_str string)
{
    if (maki_is_string(string) && !maki_json_assembler_has(&r->meta, name))
        maki_json_assembler_add(&r->meta, MAKI_ASSEMBLE_VALUE, name, string);
}

void maki_reply_add_usage(maki_wire_reply *r, maki_str usage)
{
    if (maki_is_object(usage)) maki_json_assembler_replace(&r->usage, usage);
}

/* ---- parts -------------------------------------------------------------------------------------------- */

maki_open_part *maki_reply_find_part(maki_wire_reply *r, uint64_t index)
{
    for (size_t i = r->part_count; i > 0; i--) {
        if (r->parts[i - 1]->index == index) return r->parts[i - 1];
    }
    return NULL;
}

maki_open_part *maki_reply_add_part(maki_wire_reply *r, uint64_t index)
{
    const maki_alloc *alloc = r->env->alloc;
    void *parts =
        maki_array_grow(alloc, r->parts, r->part_count, &r->part_capacity, sizeof *r->parts);
    if (parts) r->parts = parts;
    maki_open_part *part = parts ? alloc->resize(alloc, NULL, 0, sizeof *part) : NULL;
    if (!part) {
        maki_sticky_set(&r->failure, maki_fail_nomem(r->failure.err));
        return NULL;
    }
    *part =
        (maki_open_part){ .index = index,
                          .fields = maki_json_assembler_new(r->env, &r->failure, &r->message_bytes),
                          .nested =
                              maki_json_assembler_new(r->env, &r->failure, &r->message_bytes) };
    r->message_bytes += sizeof *part;
    return r->parts[r->part_count++] = part;
}

void maki_reply_add_block(maki_wire_reply *r, maki_str value)
{
    r->message_bytes += value.len;
    maki_sticky_spool_add(&r->failure, &r->blocks, value);
    maki_sticky_spool_add(&r->failure, &r->blocks, MAKI_LIT(","));
}

static void write_part(maki_wire_reply *r, maki_open_part *part)
{
    maki_jw w;
    maki_sticky_jw_begin(&r->failure, maki_spool_sink(&r->blocks), &w);
    maki_jw_begin_object(&w);
    maki_json_assembler_write(&part->fields, &w, "");
    if (part->nested.count) {
        maki_jw_print(&w, "'function':{");
        maki_json_assembler_write(&part->nested, &w, "");
        maki_jw_end_object(&w);
    }
    maki_jw_end_object(&w);
    maki_sticky_jw_end(&r->failure, &w, MAKI_LIT(","));
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
    return maki_sticky_spool_text(&r->failure, &r->blocks);
}

maki_json_iter maki_items_iter(maki_str items)
{
    return (maki_json_iter){ .at = items.ptr, .end = items.ptr + items.len };
}

/* ---- rows --------------------------------------------------------------------------------------------- */

void maki_reply_begin_row(maki_wire_reply *r, maki_jw *w)
{
    maki_sticky_jw_begin(&r->failure, maki_row_sink(&r->row_text), w);
}

void maki_reply_end_row(maki_wire_reply *r, maki_jw *w)
{
    maki_sticky_jw_end(&r->failure, w, MAKI_LIT(""));
    void *rows = maki_array_grow(r->env->alloc, r->row_ranges, r->row_count, &r->row_capacity,
                                 sizeof *r->row_ranges);
    if (rows)
        r->row_ranges = rows;
    else
        maki_sticky_set(&r->failure, maki_fail_nomem(r->failure.err));
    if (r->failure.status != MAKI_OK) return;
    uint64_t start = r->row_count ? r->row_ranges[r->row_count - 1].end : 0;
    r->row_ranges[r->row_count++] = (struct maki_row_range){ start, r->row_text.size };
}

void maki_reply_add_row(maki_wire_reply *r, maki_str row)
{
    maki_jw w;
    maki_reply_begin_row(r, &w);
    maki_jw_raw(&w, row);
    maki_reply_end_row(r, &w);
}

/* ---- events ------------------------------------------------------------------------------------------- */

static bool is_json(maki_str *text)
{
    static const maki_json_scan_options options = { .max_depth = DEPTH_MAX };
    if (maki_json_scan_text(*text, &options, NULL) != MAKI_OK) return false;
    *text = maki_trim_space(*text);
    return true;
}

static void handle_event(maki_wire_reply *r, maki_str text)
{
    if (maki_str_equal(maki_trim_space(text), MAKI_LIT("[DONE]"))) {
        r->complete = true;
    } else if (!is_json(&text) || !maki_is_object(text)) {
        r->invalid = r->invalid || !r->at_end;
    } else {
        r->protocol->on_event(r, text);
        if (r->message_bytes > MAKI_WIRE_ROW_MAX || r->part_count > PARTS_MAX)
            abandon(r); /* repeated after each event, because meta is still read */
    }
}

static maki_status on_event(void *ctx, const maki_sse_event *event, maki_err *err)
{
    maki_wire_reply *r = ctx;
    (void)err;
    handle_event(r, event->data);
    return r->failure.status;
}

/* Skip to the empty line that ends a too long event; returns the rest of `bytes`. */
static maki_str skip_event(maki_wire_reply *r, maki_str bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        char c = bytes.ptr[i];
        if (c == '\n' && r->line_start) {
            r->skipping = false;
            return maki_str_skip(bytes, i + 1);
        }
        if (c != '\r') r->line_start = c == '\n';
    }
    return (maki_str){ "", 0 };
}

/* Free the large buffers that a long event left. */
static void shrink_buffers(maki_sse *sse)
{
    if (sse->data.len == 0 && sse->data.capacity > IDLE_BUFFER_MAX) maki_buf_free(&sse->data);
    if (sse->line.len == 0 && sse->line.capacity > IDLE_BUFFER_MAX) maki_buf_free(&sse->line);
}

static void add_events(maki_wire_reply *r, maki_str bytes)
{
    while (r->failure.status == MAKI_OK && bytes.len) {
        if (r->skipping) bytes = skip_event(r, bytes);
        maki_str slice = maki_str_prefix(bytes, bytes.len < SLICE ? bytes.len : SLICE);
        bytes = maki_str_skip(bytes, slice.len);
        maki_status st = maki_sse_feed(&r->sse, slice, on_event, r, r->failure.err);
        if (st != MAKI_TOOBIG || r->failure.status != MAKI_OK) {
            maki_sticky_set(&r->failure, st);
            continue;
        }
        maki_sse_free(&r->sse);
        r->sse = maki_sse_new(r->env->alloc, EVENT_MAX);
        r->invalid = r->skipping = true;
        r->line_start = false;
    }
    shrink_buffers(&r->sse);
}

/* The current line is complete. */
static void end_line(maki_wire_reply *r)
{
    maki_str line = maki_sticky_spool_text(&r->failure, &r->body);
    if (maki_trim_space(line).len) handle_event(r, line);
    if (r->body.memory.capacity > IDLE_BUFFER_MAX)
        maki_spool_free(&r->body);
    else
        maki_spool_clear(&r->body);
}

static void add_lines(maki_wire_reply *r, maki_str bytes)
{
    while (r->failure.status == MAKI_OK && bytes.len) {
        maki_str part;
        bool ended = maki_str_take(&bytes, '\n', &part);
        if (r->body.size + part.len > MAKI_WIRE_ROW_MAX) {
            abandon(r);
            maki_spool_clear(&r->body);
        } else {
            maki_sticky_spool_add(&r->failure, &r->body, part);
        }
        if (ended) end_line(r);
    }
}

maki_status maki_wire_reply_add(maki_wire_reply *r, maki_str bytes, maki_err *err)
{
    r->failure.err = err;
    if (r->form == MAKI_FORM_EVENTS) {
        add_events(r, bytes);
    } else if (r->form == MAKI_FORM_LINES) {
        add_lines(r, bytes);
    } else if (r->abandoned || r->body.size + bytes.len > MAKI_WIRE_ROW_MAX) {
        abandon(r);
        maki_spool_free(&r->body);
    } else {
        maki_sticky_spool_add(&r->failure, &r->body, bytes);
    }
    return r->failure.status;
}

/* ---- the end ------------------------------------------------------------------------------------------ */

/* Handle the items of an array, which may be truncated, as events. */
typedef struct array_items {
    maki_wire_reply *reply;
    maki_str text;
} array_items;

static maki_status on_item(void *ctx, const maki_json_span *span, maki_err *err)
{
    array_items *list = ctx;
    (void)err;
    if (span->depth == 1)
        handle_event(list->reply,
                     (maki_str){ list->text.ptr + span->start, (size_t)(span->end - span->start) });
    return list->reply->failure.status;
}

static void read_array(maki_wire_reply *r, maki_str text)
{
    array_items list = { r, text };
    maki_json_scan_options options = {
        .max_depth = DEPTH_MAX, .report_depth = 1, .on_span = on_item, .ctx = &list
    };
    maki_json_scan scan;
    maki_json_scan_init(&scan, &options);
    maki_status st = maki_json_scan_push(&scan, text, r->failure.err);
    if (st == MAKI_INVALID || st == MAKI_TOOBIG)
        r->invalid = true; /* the items before the error were read */
    else
        maki_sticky_set(&r->failure, st);
}

/* An error that is not JSON: store the start of its text. */
static void set_text_error(maki_wire_reply *r, maki_str text)
{
    maki_buf json = maki_buf_new(r->env->alloc, 8 * ERROR_TEXT_MAX);
    maki_jw w;
    size_t valid_len = 0;
    text = maki_str_prefix(text, text.len < ERROR_TEXT_MAX ? text.len : ERROR_TEXT_MAX);
    if (!maki_utf8_valid(text, &valid_len)) text.len = valid_len;
    maki_sticky_jw_begin(&r->failure, maki_buf_sink(&json), &w);
    maki_jw_print(&w, "{'status':%i,'message':%s}", (int64_t)r->http_status, text);
    maki_sticky_jw_end(&r->failure, &w, MAKI_LIT(""));
    maki_reply_set_meta(r, MAKI_META_ERROR, maki_buf_str(&json));
    maki_buf_free(&json);
}

/* A body that is not one JSON value: an array, a stream with the wrong Content-Type, or an unknown format. */
static void read_other_format(maki_wire_reply *r, maki_str text)
{
    static const maki_str prefixes[] = { { "data:", 5 }, { "event:", 6 }, { ":", 1 } };
    maki_str trimmed = maki_trim_space(text);
    if (maki_str_starts(trimmed, MAKI_LIT("["))) {
        read_array(r, text);
        return;
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (!maki_str_starts(trimmed, prefixes[i])) continue;
        add_events(r, text);
        r->at_end = true;
        add_events(r, MAKI_LIT("\n\n"));
        return;
    }
    const char *newline = memchr(trimmed.ptr, '\n', trimmed.len);
    maki_str line = maki_str_prefix(trimmed, newline ? (size_t)(newline - trimmed.ptr) : 0);
    if (!newline || !is_json(&line)) {
        r->invalid =
            r->invalid || !maki_str_starts(trimmed, MAKI_LIT("{")); /* else it is truncated */
        return;
    }
    while (text.len && r->failure.status == MAKI_OK) {
        r->at_end = !memchr(text.ptr, '\n', text.len);
        line = maki_str_cut(&text, '\n');
        if (maki_trim_space(line).len) handle_event(r, line);
    }
}

static void read_whole_body(maki_wire_reply *r)
{
    maki_str text = maki_sticky_spool_text(&r->failure, &r->body), value = text;
    if (r->failure.status != MAKI_OK || r->abandoned) return;
    bool json = is_json(&value);
    if (r->http_status >= 400 && json) {
        maki_reply_set_meta(r, MAKI_META_ERROR, value);
    } else if (r->http_status >= 400) {
        set_text_error(r, text);
    } else if (maki_trim_space(text).len == 0) {
        return;
    } else if (!json) {
        read_other_format(r, text);
    } else if (maki_is_array(value)) {
        read_array(r, value);
    } else if (maki_is_object(value)) {
        r->complete = true;
        r->protocol->on_body(r, value);
    } else {
        r->invalid = true;
    }
}

/* The input has ended: handle the buffered rest. */
static void read_to_end(maki_wire_reply *r)
{
    if (r->form == MAKI_FORM_WHOLE) {
        read_whole_body(r);
        return;
    }
    r->at_end = true;
    if (r->form == MAKI_FORM_LINES)
        end_line(r);
    else if (!r->skipping)
        add_events(r, MAKI_LIT("\n\n"));
}

static void collect_rows(maki_wire_reply *r, maki_wire_result *out)
{
    const maki_alloc *alloc = r->env->alloc;
    maki_str text = maki_sticky_spool_text(&r->failure, &r->row_text);
    if (r->failure.status != MAKI_OK || r->row_count == 0) return;
    if (r->row_text.size > MAKI_WIRE_ROW_MAX) {
        r->invalid = true;
        return;
    }
    r->row_spans = alloc->resize(alloc, NULL, 0, r->row_count * sizeof *r->row_spans);
    if (!r->row_spans) {
        maki_sticky_set(&r->failure, maki_fail_nomem(r->failure.err));
        return;
    }
    for (size_t i = 0; i < r->row_count; i++) {
        uint64_t start = r->row_ranges[i].start;
        r->row_spans[i] = (maki_str){ text.ptr + start, (size_t)(r->row_ranges[i].end - start) };
    }
    out->rows = r->row_spans;
    out->row_count = r->row_count;
}

static maki_str write_usage(maki_wire_reply *r)
{
    maki_jw w;
    if (!r->usage.count) return (maki_str){ "", 0 };
    maki_sticky_jw_begin(&r->failure, maki_spool_sink(&r->usage_json), &w);
    maki_jw_begin_object(&w);
    maki_json_assembler_write(&r->usage, &w, "");
    maki_jw_end_object(&w);
    maki_sticky_jw_end(&r->failure, &w, MAKI_LIT(""));
    return maki_sticky_spool_text(&r->failure, &r->usage_json);
}

bool maki_wire_reply_is_complete(const maki_wire_reply *r)
{
    return r->complete;
}

maki_status maki_wire_reply_end(maki_wire_reply *r, maki_wire_result *out, maki_err *err)
{
    *out = (maki_wire_result){ 0 };
    r->failure.err = err;
    read_to_end(r);
    if (r->failure.status == MAKI_OK && !r->abandoned) r->protocol->on_end(r);
    collect_rows(r, out);
    bool emitted = r->listener.called; /* while it arrived */
    for (size_t i = 0; !emitted && i < out->row_count; i++)
        maki_reply_emit_row(r, out->rows[i]);
    out->usage_json = write_usage(r);
    out->model = maki_json_assembler_get(&r->meta, MAKI_META_MODEL);
    out->id = maki_json_assembler_get(&r->meta, MAKI_META_ID);
    out->stop = maki_json_assembler_get(&r->meta, MAKI_META_STOP);
    out->error = maki_json_assembler_get(&r->meta, MAKI_META_ERROR);
    out->complete = r->complete;
    out->invalid = r->invalid;
    if (maki_is_object(out->usage_json)) out->usage = r->protocol->usage(out->usage_json);
    out->usage.known = out->usage.input || out->usage.output;
    return r->failure.status;
}
