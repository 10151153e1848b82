/* fake_server.c -- handle an exchange: receive a request, select its scenario, write the reply and send it.
 *
 * The body of a reply is written into a buffer and sent from there: at once, event by event (slow), or up to a
 * byte (cut).  A huge reply repeats a part in its middle as fast as the client reads, so it costs no memory.
 * Every exchange is freed exactly once: in finish, fail_exchange or on_aborted. */
#include "fake/fake_server.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/spool.h"
#include "base/str_util.h"
#include "fake/fake_reply.h"
#include "fake/fake_write.h"

enum {
    REPLY_MAX = 1 << 20,    /* bytes of a reply */
    DECODED_MAX = 64 << 20, /* bytes of decoded strings */
    PENDING_MAX = 256 << 10 /* bytes not yet read by a slow client */
};

typedef struct fake_exchange {
    fake_provider *provider;
    maki_conn *conn;
    char target[1024];
    char method[16];
    char scenario_text[4096]; /* the header x-fake; "": none */
    char key[256];            /* the API key; "": none */
    bool skip_body;           /* do not store the body */
    int record_fd;
    maki_spool body;
    fake_scenario scenario;
    /* the answer */
    maki_buf reply;
    size_t repeat_from, repeat_to; /* the repeated part ... */
    uint64_t repeat_count;         /* ... and how many times */
    uint64_t sent, total;
    struct event *timer; /* slow: sends the next event */
} fake_exchange;

static maki_str path_of(const fake_exchange *r)
{
    return (maki_str){ r->target, strcspn(r->target, "?") };
}

/* ---- open, close --------------------------------------------------------------------------------- */

static fake_exchange *exchange_new(fake_provider *provider, maki_conn *conn)
{
    fake_exchange *r = maki_new(provider->env->alloc, fake_exchange);
    if (!r) return NULL;
    *r = (fake_exchange){
        .provider = provider, .conn = conn, .record_fd = -1, .scenario = provider->scenario
    };
    r->body = maki_spool_new(provider->env, MAKI_SPOOL_MEMORY);
    r->reply = maki_buf_new(provider->env->alloc, REPLY_MAX);
    return r;
}

static void exchange_free(fake_exchange *r)
{
    if (r->timer) event_free(r->timer);
    fake_record_end(&r->provider->record, r->record_fd);
    maki_spool_free(&r->body);
    maki_buf_free(&r->reply);
    maki_delete(r->provider->env->alloc, r);
}

/* ---- sending ------------------------------------------------------------------------------------- */

/* The next bytes to send, up to the end of their part. */
static maki_str next_span(const fake_exchange *r)
{
    uint64_t part = r->repeat_to - r->repeat_from, offset = r->sent;
    size_t from, to;
    if (offset < r->repeat_from) {
        from = (size_t)offset;
        to = r->repeat_from;
    } else if (offset - r->repeat_from < part * r->repeat_count) {
        from = r->repeat_from + (size_t)((offset - r->repeat_from) % part);
        to = r->repeat_to;
    } else {
        from = r->repeat_to + (size_t)(offset - r->repeat_from - part * r->repeat_count);
        to = r->reply.len;
    }
    if (to - from > r->total - r->sent) to = from + (size_t)(r->total - r->sent);
    return (maki_str){ r->reply.ptr + from, to - from };
}

/* The first event or line of `bytes`. */
static maki_str first_event(maki_str bytes)
{
    for (size_t i = 0; i + 1 < bytes.len; i++) {
        bool line = bytes.ptr[i] == '\n' && (bytes.ptr[i + 1] == '{' || bytes.ptr[i + 1] == ',');
        bool event = bytes.ptr[i] == '\n' && bytes.ptr[i + 1] == '\n';
        if (line) return maki_str_prefix(bytes, i + 1);
        if (event) return maki_str_prefix(bytes, i + 2);
    }
    return bytes;
}

static void finish(fake_exchange *r)
{
    maki_conn *conn = r->conn;
    bool cut = r->scenario.has_cut;
    exchange_free(r);
    if (cut)
        maki_conn_drop(conn);
    else
        maki_conn_end_response(conn);
}

static void send_pending(fake_exchange *r)
{
    while (r->sent < r->total && maki_conn_unsent_bytes(r->conn) < PENDING_MAX) {
        maki_str bytes = next_span(r);
        if (r->scenario.slow_ms) bytes = first_event(bytes);
        if (r->scenario.chunk && bytes.len > r->scenario.chunk)
            bytes.len = (size_t)r->scenario.chunk;
        maki_conn_send(r->conn, bytes);
        r->sent += bytes.len;
        if (r->scenario.slow_ms && r->sent < r->total) {
            struct timeval wait = { (time_t)(r->scenario.slow_ms / 1000),
                                    (suseconds_t)(r->scenario.slow_ms % 1000 * 1000) };
            evtimer_add(r->timer, &wait);
            return;
        }
    }
    if (r->sent == r->total && !r->scenario.has_hold) finish(r);
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd;
    (void)what;
    send_pending(ctx);
}

/* ---- start of the reply -------------------------------------------------------------------------- */

/* Set the part to repeat: the filler, or in a stream the event that contains it. */
static void repeat_filler(fake_exchange *r, bool stream)
{
    maki_str body = maki_buf_str(&r->reply);
    size_t found = maki_str_find_nocase(body, fake_filler);
    if (found == body.len) return;
    size_t from = found, to = found + fake_filler.len;
    while (stream && from > 0 && body.ptr[from - 1] != '\n')
        from--;
    while (stream && to < body.len && body.ptr[to - 1] != '\n')
        to++;
    if (stream && to < body.len && body.ptr[to] == '\n') to++;
    r->repeat_from = from;
    r->repeat_to = to;
    r->repeat_count = r->scenario.huge / (to - from) + 1;
    r->total = body.len + (r->repeat_count - 1) * (to - from);
}

static void start_reply(fake_exchange *r, int status, const char *fields, bool stream)
{
    char lines[512];
    maki_response reply = { .status = status,
                            .framing = stream ? MAKI_FRAME_CHUNKED : MAKI_FRAME_LENGTH,
                            .length = r->total };
    reply.reason = maki_str_of(maki_http_reason(status));
    if (r->scenario.action == FAKE_LONG) {
        reply.framing = MAKI_FRAME_LENGTH;
        reply.length = r->total + 1000;
    }
    if (r->scenario.action == FAKE_SHORT) {
        reply.framing = MAKI_FRAME_CLOSE;
        reply.has_content_length = true;
        snprintf(lines, sizeof lines, "%sContent-Length: %zu\r\n", fields, r->reply.len / 2);
        fields = lines;
    }
    reply.fields = maki_str_of(fields);
    maki_conn_begin_response(r->conn, &reply);
}

static void fail_exchange(fake_exchange *r, int status, const char *message)
{
    maki_conn *conn = r->conn;
    exchange_free(r);
    maki_conn_fail(conn, status, "fake_provider", message);
}

static void begin_answer(fake_exchange *r, int status, const char *fields, bool stream)
{
    maki_err err;
    if (maki_buf_status(&r->reply, &err) != MAKI_OK) {
        fail_exchange(r, 500, err.msg);
        return;
    }
    if (r->scenario.slow_ms) r->timer = evtimer_new(r->provider->base, on_timer, r);
    if (r->scenario.slow_ms && !r->timer) {
        fail_exchange(r, 500, "out of memory");
        return;
    }
    r->repeat_from = r->repeat_to = r->reply.len;
    r->total = r->reply.len;
    if (r->scenario.huge) repeat_filler(r, stream);
    start_reply(r, status, fields, stream);
    if (r->scenario.has_cut && r->scenario.cut < r->total)
        r->total = r->scenario.cut;
    else
        r->scenario.has_cut = false;
    send_pending(r);
}

/* ---- routing ------------------------------------------------------------------------------------- */

static const char json_fields[] = "Content-Type: application/json\r\nx-request-id: req_fake\r\n";
static const char event_fields[] =
    "Content-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n"
    "x-request-id: req_fake\r\n";
static const char lines_fields[] = "Content-Type: application/x-ndjson\r\n";

static const struct protocol_row {
    void (*write_reply)(maki_buf *out, const fake_request *request, const fake_answer *answer);
    const char *stream_fields;
} protocol_rows[FAKE_PROTOCOLS_MAX] = {
    [MAKI_WIRE_CHAT] = { fake_reply_chat, event_fields },
    [MAKI_WIRE_RESPONSES] = { fake_reply_responses, event_fields },
    [MAKI_WIRE_ANTHROPIC] = { fake_reply_messages, event_fields },
    [MAKI_WIRE_OLLAMA] = { fake_reply_ollama, lines_fields },
    [MAKI_WIRE_GENERATE] = { fake_reply_ollama, lines_fields },
    [MAKI_WIRE_GEMINI] = { fake_reply_gemini, event_fields },
};

/* The protocol whose API path matches the end of this path, from the version or the model on;
 * MAKI_WIRE_NONE: none. */
static maki_protocol protocol_at(maki_str path)
{
    for (maki_protocol p = MAKI_WIRE_NONE; maki_protocol_next(&p);) {
        const maki_protocol_spec *spec = maki_protocol_of(p);
        for (const maki_api_path *api = spec->paths; api->path; api++) {
            const char *star = strrchr(api->path, '*');
            maki_str end = maki_str_of(star ? star + 1 : api->path + strlen(spec->version));
            if (!api->counts && maki_str_ends(path, end)) return p;
        }
    }
    return MAKI_WIRE_NONE;
}

static void add_field(char *out, size_t capacity, const char *name, maki_str text)
{
    char value[128];
    size_t used = strlen(out), n = fake_unescape(text, value, sizeof value);
    snprintf(out + used, capacity - used, "%s: %.*s\r\n", name, (int)n, value);
}

static void answer_error(fake_exchange *r, fake_action error, const char *default_message)
{
    char fields[800], message[400];
    const fake_scenario *scenario = &r->scenario;
    size_t n = fake_unescape(scenario->error_text, message, sizeof message - 1);
    message[n] = '\0';
    if (!n && r->key[0] &&
        (error == FAKE_KEY || error == FAKE_FORBIDDEN)) /* as real providers do */
        n = (size_t)snprintf(message, sizeof message, "Incorrect API key provided: %s", r->key);
    int status = fake_reply_error(&r->reply, path_of(r), error, n ? message : default_message,
                                  scenario->retry_delay);
    maki_str after = scenario->retry_after;
    if (!after.len && error == FAKE_RATE_LIMIT) after = MAKI_LIT("1");
    const struct {
        const char *name;
        maki_str text;
    } optional[] = { { "Retry-After",
                       maki_str_equal(after, MAKI_LIT("never")) ? MAKI_LIT("") : after },
                     { "retry-after-ms", scenario->retry_after_ms },
                     { "request-id", scenario->request_id },
                     { "x-ratelimit-reset", scenario->ratelimit_reset },
                     { "x-should-retry", scenario->should_retry } };
    snprintf(fields, sizeof fields, "%s", json_fields);
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++)
        if (optional[i].text.len)
            add_field(fields, sizeof fields, optional[i].name, optional[i].text);
    begin_answer(r, status, fields, false);
}

static void truncate_events(fake_exchange *r, uint64_t count)
{
    maki_str body = maki_buf_str(&r->reply);
    size_t len = 0;
    for (uint64_t i = 0; i < count && len < body.len; i++)
        len += first_event(maki_str_skip(body, len)).len;
    r->reply.len = len;
}

/* End the stream with an error after some events. */
static void break_stream(fake_exchange *r, maki_protocol protocol)
{
    truncate_events(r, r->scenario.fail);
    bool lines = protocol_rows[protocol].stream_fields == lines_fields;
    if (!lines) maki_buf_add(&r->reply, MAKI_LIT("event: error\ndata: "));
    if (protocol == MAKI_WIRE_RESPONSES)
        fake_write(&r->reply, "{'type':'error','code':'server_error','message':'Overloaded'}\n");
    else
        fake_reply_error(&r->reply, path_of(r), FAKE_BUSY, "", MAKI_LIT(""));
    if (!lines) maki_buf_add_byte(&r->reply, '\n');
}

/* Scenarios without a chat answer.  True: this was one of them. */
static bool answer_scenario(fake_exchange *r)
{
    fake_action action = r->scenario.action;
    if (action >= FAKE_RATE_LIMIT && action < FAKE_BAD_REQUEST) {
        answer_error(r, action, "");
        return true;
    }
    switch (action) {
    case FAKE_CORRUPT:
        maki_buf_add(&r->reply, MAKI_LIT("\0\xff\xfe<html>{{{\n\ndata: {\"a\":\n\n\xc3\n"));
        begin_answer(r, 200, json_fields, false);
        return true;
    case FAKE_SILENT: return true; /* until the client disconnects */
    default: return false;
    }
}

static void answer_too_long(fake_exchange *r, uint64_t tokens)
{
    char message[300];
    fake_overflow_message(path_of(r), tokens, r->scenario.window, message, sizeof message);
    answer_error(r, FAKE_OVERFLOW, message);
}

static void answer_chat(fake_exchange *r, const fake_request *request, maki_arena *arena)
{
    const struct protocol_row *row = &protocol_rows[request->protocol];
    fake_answer answer;
    maki_err err;
    uint64_t tokens = (uint64_t)fake_input_tokens(request);
    if (r->scenario.window && tokens > r->scenario.window) {
        answer_too_long(r, tokens);
        return;
    }
    if (fake_answer_make(request, &r->scenario, arena, &answer, &err) != MAKI_OK) {
        answer_error(r, FAKE_BAD_REQUEST, err.msg);
        return;
    }
    row->write_reply(&r->reply, request, &answer);
    if (r->scenario.has_fail && request->stream) break_stream(r, request->protocol);
    r->scenario.has_hold = r->scenario.has_hold && request->stream;
    if (r->scenario.has_hold) truncate_events(r, r->scenario.hold);
    const char *fields = request->stream && !request->array ? row->stream_fields : json_fields;
    begin_answer(r, 200, fields, request->stream);
}

/* Was this scenario used more than `first` times? */
static bool is_exhausted(fake_provider *provider, maki_str words, uint64_t first)
{
    char asked[sizeof provider->counters[0].scenario];
    maki_str_copy(words, asked, sizeof asked);
    for (size_t i = 0; i < FAKE_COUNTERS_MAX; i++) {
        struct fake_scenario_counter *counter = &provider->counters[i];
        if (!counter->scenario[0]) memcpy(counter->scenario, asked, sizeof asked);
        if (strcmp(counter->scenario, asked) == 0) return ++counter->count > first;
    }
    return false;
}

/* Set the scenario of the request, if it has one.  False: it is unknown, and an error was sent. */
static bool select_scenario(fake_exchange *r, const fake_request *request)
{
    maki_str text = maki_str_of(r->scenario_text), unknown;
    char message[120];
    if (!text.len && request) text = fake_scenario_find(request->user_text);
    if (!text.len) return true;
    if (fake_scenario_read(text, &r->scenario, &unknown)) {
        if (r->scenario.first && is_exhausted(r->provider, text, r->scenario.first))
            r->scenario = (fake_scenario){ 0 };
        return true;
    }
    snprintf(message, sizeof message,
             "fake provider: unknown scenario '%.*s'; see src/fake/scenario.h",
             (int)(unknown.len < 40 ? unknown.len : 40), unknown.ptr);
    answer_error(r, FAKE_BAD_REQUEST, message);
    return false;
}

static void answer_post(fake_exchange *r, maki_protocol protocol, maki_str body)
{
    fake_request request;
    maki_err err;
    maki_arena arena = maki_arena_new(r->provider->env->alloc, DECODED_MAX);
    if (fake_request_parse(r->provider->env, protocol, maki_str_of(r->target), body, &arena,
                           &request, &err) != MAKI_OK)
        answer_error(r, FAKE_BAD_REQUEST, err.msg);
    else if (select_scenario(r, &request) && !answer_scenario(r))
        answer_chat(r, &request, &arena);
    maki_arena_free(&arena);
}

static void answer_other(fake_exchange *r, maki_str body)
{
    maki_str json = MAKI_LIT("{}");
    if (!select_scenario(r, NULL) || answer_scenario(r)) return;
    if (body.len && maki_json_check(body, &json, NULL) != MAKI_OK) {
        answer_error(r, FAKE_BAD_REQUEST, "the body is not JSON");
        return;
    }
    int status = fake_reply_other(&r->reply, maki_str_of(r->method), path_of(r), json);
    if (status)
        begin_answer(r, status, json_fields, false);
    else
        fail_exchange(r, 404, "unknown path");
}

/* The fixed reply of the scenario `quick`: formatted by the first request, and cached. */
static maki_str quick_answer(fake_provider *provider, maki_protocol protocol)
{
    maki_buf *reply = &provider->quick[protocol];
    if (reply->len) return maki_buf_str(reply);
    fake_request request = { .protocol = protocol,
                             .body = MAKI_LIT("{}"),
                             .model = MAKI_LIT("fake"),
                             .stream = provider->scenario.action == FAKE_QUICK_STREAM };
    fake_answer answer = { .text = MAKI_LIT("This is the quick answer.") };
    *reply = maki_buf_new(provider->env->alloc, REPLY_MAX);
    protocol_rows[protocol].write_reply(reply, &request, &answer);
    return maki_buf_str(reply);
}

static void answer_quick(fake_exchange *r, maki_protocol protocol)
{
    fake_provider *provider = r->provider;
    maki_conn *conn = r->conn;
    bool stream = provider->scenario.action == FAKE_QUICK_STREAM;
    maki_response reply = { .status = 200,
                            .reason = MAKI_LIT("OK"),
                            .fields = maki_str_of(stream ? protocol_rows[protocol].stream_fields
                                                         : json_fields),
                            .framing = stream ? MAKI_FRAME_CHUNKED : MAKI_FRAME_LENGTH };
    maki_str body = quick_answer(provider, protocol);
    reply.length = body.len;
    exchange_free(r);
    maki_conn_begin_response(conn, &reply);
    maki_conn_send(conn, body);
    maki_conn_end_response(conn);
}

void fake_provider_end(fake_provider *provider)
{
    for (size_t i = 0; i < FAKE_PROTOCOLS_MAX; i++)
        maki_buf_free(&provider->quick[i]);
}

/* ---- callbacks of the server --------------------------------------------------------------------- */

static void store_key(fake_exchange *r, const maki_http_head *head)
{
    static const char *const names[] = { "authorization", "x-api-key", "x-goog-api-key" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        maki_str value = maki_http_value(head, names[i]), bearer = MAKI_LIT("Bearer ");
        if (maki_str_starts(value, bearer)) value = maki_str_skip(value, bearer.len);
        if (value.len) maki_str_copy(value, r->key, sizeof r->key);
    }
}

static void on_head(void *ctx, maki_conn *conn, const maki_http_head *head)
{
    fake_provider *provider = ctx;
    maki_err err;
    fake_exchange *r = exchange_new(provider, conn);
    if (!r) {
        maki_conn_fail(conn, 500, "fake_provider", "out of memory");
        return;
    }
    maki_conn_set_data(conn, r);
    maki_str_copy(head->target, r->target, sizeof r->target);
    maki_str_copy(head->method, r->method, sizeof r->method);
    maki_str scenario = maki_http_value(head, "x-fake");
    maki_str_copy(scenario, r->scenario_text, sizeof r->scenario_text);
    store_key(r, head);
    r->skip_body = (r->scenario.action == FAKE_QUICK || r->scenario.action == FAKE_QUICK_STREAM) &&
                   !scenario.len;
    if (fake_record_head(&provider->record, head, &r->record_fd, &err) != MAKI_OK)
        fail_exchange(r, 500, err.msg);
}

static void on_body(void *ctx, maki_conn *conn, maki_str bytes)
{
    fake_provider *provider = ctx;
    fake_exchange *r = maki_conn_data(conn);
    maki_err err;
    maki_status st = fake_record_body(&provider->record, r->record_fd, bytes, &err);
    if (st == MAKI_OK && !r->skip_body) st = maki_spool_add(&r->body, bytes, &err);
    if (st != MAKI_OK) fail_exchange(r, 500, err.msg);
}

static void on_body_end(void *ctx, maki_conn *conn)
{
    fake_exchange *r = maki_conn_data(conn);
    maki_protocol protocol = protocol_at(path_of(r));
    maki_str body;
    maki_err err;
    (void)ctx;
    fake_record_end(&r->provider->record, r->record_fd);
    r->record_fd = -1;
    if (protocol && r->skip_body)
        answer_quick(r, protocol);
    else if (maki_spool_text(&r->body, &body, &err) != MAKI_OK)
        fail_exchange(r, 500, err.msg);
    else if (protocol && maki_str_equal(maki_str_of(r->method), MAKI_LIT("POST")))
        answer_post(r, protocol, body);
    else
        answer_other(r, body);
}

static void on_drained(void *ctx, maki_conn *conn)
{
    fake_exchange *r = maki_conn_data(conn);
    (void)ctx;
    if (r && !r->timer) send_pending(r);
}

static void on_aborted(void *ctx, maki_conn *conn, maki_status why)
{
    (void)ctx;
    (void)why;
    exchange_free(maki_conn_data(conn));
}

maki_server_callbacks fake_provider_calls(fake_provider *provider)
{
    return (maki_server_callbacks){ .ctx = provider,
                                    .on_head = on_head,
                                    .on_body = on_body,
                                    .on_body_end = on_body_end,
                                    .on_drained = on_drained,
                                    .on_aborted = on_aborted };
}
