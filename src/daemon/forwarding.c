/* forwarding.c -- one transfer: a client's request, the upstream call that answers it, and its recording.
 *
 * In:    the request's head and body from the client's connection; the response's head and body from upstream.
 * Out:   the same bytes to the other side, and to the recorder.  The response's end waits until the exchange is durable.
 *
 *     READING ---> LOOKUP ---.
 *        |                   v
 *        `------------> UPLOADING ---> RESPONDING ---> FLUSHING
 *
 *     READING    the body is being received; the call to upstream is prepared, not started
 *     LOOKUP     the body is complete; the recorder's thread parses it for the model, which decides the upstream
 *     UPLOADING  the call is started; the body is sent as it is received; no response yet
 *     RESPONDING the response's head was received; its bytes are forwarded (the body may be incomplete: an early answer)
 *     FLUSHING   upstream is done; the response's end is held back until the recorder is done, too
 *     CLOSED     from any other: the client has its answer or is gone, the call is over or cancelled
 *
 * Always: `conn` is NULL in CLOSED only; `call` is NULL in FLUSHING and CLOSED only; enter() asserts both, and the
 *         transitions.  A transfer is freed when it is CLOSED and the recorder's thread does not use it.
 * Never:  parses a body: the loop's thread only copies bytes. */
#include "daemon/forwarding.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/str_util.h"
#include "daemon/client_identity.h"
#include "daemon/forwarded_head.h"

enum {
    BUFFERED_BODY_MAX =
        60 << 10, /* bodies up to this are sent when they are complete: curl copies them into
                               * what it sends first (it does so below 64 KB), and needs no buffer */
    UPLOAD_PENDING_MAX = 8 << 20,   /* maximum of body bytes pending for upstream */
    CLIENT_PENDING_MAX = 256 << 10, /* maximum of response bytes pending for the client */
    FIELDS_MAX = 128 << 10,
};

typedef enum transfer_state {
    READING,
    LOOKUP,
    UPLOADING,
    RESPONDING,
    FLUSHING,
    CLOSED
} transfer_state;

/* What the recorder's thread does with the transfer.  IDLE: nothing, before the start or after the end. */
typedef enum recorder_state {
    RECORDER_IDLE,
    RECORDER_LOOKUP,
    RECORDER_OPEN,
    RECORDER_ENDING
} recorder_state;

/* Which part of the response is held back until the exchange is durable.  HOLD_END: the final chunk, when it is chunked. */
typedef enum hold { HOLD_END, HOLD_LAST_BYTE, HOLD_ALL } hold;

/* Why reading from upstream is paused: a bit set. */
enum { PAUSED_FOR_CLIENT = 1, PAUSED_FOR_RECORDER = 2 };

typedef struct transfer {
    maki_request_handler handler;
    maki_forwarding *shared;
    maki_conn *conn;
    maki_client_call *call;
    const maki_upstream *upstream;
    transfer_state state;
    recorder_state recorder;
    maki_route_kind kind;
    bool by_model;                   /* the model may decide the upstream */
    bool body_complete;              /* all of the request's body is in `body` */
    maki_client_call_body body_kind; /* NO_BODY, LENGTH or CHUNKED: as the client frames it */
    uint64_t body_length;            /* with LENGTH */
    maki_spool body;
    uint64_t uploaded;   /* bytes of `body` that curl has */
    int64_t complete_ms; /* when the body was complete */
    maki_str target;     /* in `text` */
    maki_record record;
    uint8_t paused; /* PAUSED_FOR_CLIENT, PAUSED_FOR_RECORDER */
    hold hold;
    char last_byte;         /* with HOLD_LAST_BYTE, when response_left is 0 */
    uint64_t response_left; /* with HOLD_LAST_BYTE: bytes to come */
    maki_response response; /* with HOLD_ALL */
    maki_buf response_fields;
    size_t size;
    char text[];
} transfer;

/* ---- lifetime ------------------------------------------------------------------------------------- */

static void enter(transfer *t, transfer_state next)
{
    static const unsigned transitions[] = { [READING] = 1 << LOOKUP | 1 << UPLOADING | 1 << CLOSED,
                                            [LOOKUP] = 1 << UPLOADING | 1 << CLOSED,
                                            [UPLOADING] = 1 << RESPONDING | 1 << CLOSED,
                                            [RESPONDING] = 1 << FLUSHING | 1 << CLOSED,
                                            [FLUSHING] = 1 << CLOSED,
                                            [CLOSED] = 0 };
    assert(transitions[t->state] & 1u << next);
    assert((t->conn == NULL) == (next == CLOSED));
    assert((t->call == NULL) == (next >= FLUSHING));
    t->state = next;
}

/* Cancel the call; the caller must answer or close the connection that is returned. */
static maki_conn *close_transfer(transfer *t)
{
    maki_conn *conn = t->conn;
    t->conn = NULL;
    maki_client_call_cancel(t->call);
    t->call = NULL;
    enter(t, CLOSED);
    return conn;
}

static void free_if_unused(transfer *t)
{
    maki_forwarding *shared = t->shared;
    if (t->state != CLOSED || t->recorder != RECORDER_IDLE) return;
    maki_spool_free(&t->body);
    maki_buf_free(&t->response_fields);
    explicit_bzero(t->text, t->size - sizeof *t); /* it holds the credential of the client */
    shared->env->alloc->resize(shared->env->alloc, t, t->size, 0);
    shared->open--;
    MAKI_COUNT_DOWN(shared->metrics, open_exchanges);
    if (shared->open == 0 && shared->on_empty) shared->on_empty(shared->ctx);
}

/* Free the body once it is uploaded, upstream has replied and the recorder has read it. */
static void free_body_if_unused(transfer *t)
{
    if (t->state < RESPONDING || !t->body_complete || t->uploaded < t->body.size) return;
    if (t->recorder == RECORDER_IDLE || atomic_load(&t->record.consumed)) maki_spool_free(&t->body);
}

static void end_recording(transfer *t, maki_exchange_end_kind kind)
{
    if (t->recorder != RECORDER_OPEN) return;
    t->recorder = RECORDER_ENDING;
    maki_recorder_end(t->shared->recorder, &t->record, kind);
}

/* ---- the response's end ------------------------------------------------------------------------------ */

/* The exchange is recorded, or needs no recording: send what was held back. */
static void flush_response(transfer *t)
{
    maki_conn *conn = close_transfer(t);
    if (t->hold == HOLD_ALL) maki_conn_begin_response(conn, &t->response);
    if (t->hold == HOLD_LAST_BYTE && t->response_left == 0) {
        maki_conn_send(conn, (maki_str){ &t->last_byte, 1 });
    }
    maki_conn_end_response(conn);
}

static void on_recorded(maki_record *record)
{
    transfer *t = MAKI_CONTAINER_OF(record, transfer, record);
    assert(t->recorder == RECORDER_ENDING && t->state >= FLUSHING);
    t->recorder = RECORDER_IDLE;
    if (record->err.status == MAKI_OK && record->sync.status != MAKI_OK) {
        maki_fail(&record->err, record->sync.status, "the log could not be synced to the disk");
    }
    maki_recording_state_count(t->shared->recording, &record->err);
    if (t->state == FLUSHING) flush_response(t);
    free_if_unused(t);
}

static void on_consumed(maki_record *record)
{
    free_body_if_unused(MAKI_CONTAINER_OF(record, transfer, record));
}

/* ---- upstream's response ----------------------------------------------------------------------------- */

static void pause_for(transfer *t, uint8_t reason)
{
    if (t->paused == 0) maki_client_call_pause(t->call);
    t->paused |= reason;
}

static void resume_for(transfer *t, uint8_t reason)
{
    if (!(t->paused & reason)) return;
    t->paused &= (uint8_t)~reason;
    if (t->paused == 0 && t->call) maki_client_call_resume(t->call);
}

static void on_capacity(maki_record *record)
{
    resume_for(MAKI_CONTAINER_OF(record, transfer, record), PAUSED_FOR_RECORDER);
}

/* Can the daemon answer this request itself?  It counts tokens, is complete and not compressed. */
static bool can_count(const transfer *t)
{
    return t->kind == MAKI_ROUTE_COUNT && t->body_complete && t->record.coding == MAKI_CODING_NONE;
}

/* Upstream cannot count tokens: the API's threads answer the request, as if it had been sent to the daemon. */
static void count_locally(transfer *t)
{
    maki_api_answer(t->shared->api, close_transfer(t), MAKI_LIT("POST"), t->record.in.path,
                    MAKI_LIT("application/json"), &t->body);
}

static maki_framing framing_of(const transfer *t, int status, const maki_forward_response *response)
{
    bool bodyless = status == 204 || status == 304 || status / 100 == 1;
    if (bodyless || (maki_conn_is_head_request(t->conn) && !response->has_length))
        return MAKI_FRAME_NONE;
    return response->has_length ? MAKI_FRAME_LENGTH : MAKI_FRAME_CHUNKED;
}

/* A response without a body is held back completely. */
static hold hold_of(const transfer *t, const maki_response *response)
{
    if (maki_conn_is_head_request(t->conn) || response->framing == MAKI_FRAME_NONE) return HOLD_ALL;
    if (response->framing != MAKI_FRAME_LENGTH) return HOLD_END;
    return response->length ? HOLD_LAST_BYTE : HOLD_ALL;
}

static void record_response_head(transfer *t, int status, maki_str type)
{
    if (t->recorder == RECORDER_OPEN) {
        maki_recorder_head(t->shared->recorder, &t->record, status, type);
    } else if (t->kind == MAKI_ROUTE_RECORD) {
        t->kind =
            MAKI_ROUTE_FORWARD; /* upstream answered before the request was complete: not recorded */
        MAKI_COUNT(t->shared->metrics, unrecorded_total, 1);
    }
}

static void on_response_head(void *ctx, int status, maki_str reason, const maki_http_head *fields)
{
    transfer *t = ctx;
    const maki_env *env = t->shared->env;
    maki_metrics *metrics = t->shared->metrics;
    enter(t, RESPONDING);
    if (t->body_complete) {
        int64_t now = env->clock->now_ms(env->clock);
        MAKI_COUNT(metrics, first_byte_ms_total, now > t->complete_ms ? now - t->complete_ms : 0);
        MAKI_COUNT(metrics, first_byte_count_total, 1);
    }
    if (can_count(t) && (status == 404 || status == 405 || status == 501)) {
        count_locally(t);
        free_if_unused(t);
        return;
    }
    if (status >= 400) {
        char reason_text[40];
        snprintf(reason_text, sizeof reason_text, "answered with HTTP status %d", status);
        maki_last_failure_set(t->shared->failure, "upstream", t->upstream->name, reason_text);
    }
    maki_buf lines = maki_buf_new(env->alloc, FIELDS_MAX);
    maki_forward_response head = maki_forward_lines(fields, &lines);
    size_t fields_len = lines.len;
    record_response_head(t, status, head.type);
    maki_buf_add(&lines, reason); /* copied with them, in case the response is held back */
    maki_response response = { .status = status,
                               .reason = maki_str_skip(maki_buf_str(&lines), fields_len),
                               .fields = maki_str_prefix(maki_buf_str(&lines), fields_len),
                               .framing = framing_of(t, status, &head),
                               .length = head.length,
                               .has_content_length = head.has_length };
    t->response_left = head.length;
    t->hold = hold_of(t, &response);
    if (t->hold == HOLD_ALL) {
        t->response_fields = lines;
        t->response = response;
    } else {
        maki_conn_begin_response(t->conn, &response);
        maki_buf_free(&lines);
    }
    free_body_if_unused(t);
}

static void on_response_bytes(void *ctx, maki_str bytes)
{
    transfer *t = ctx;
    assert(t->state == RESPONDING);
    MAKI_COUNT(t->shared->metrics, reply_bytes_total, bytes.len);
    free_body_if_unused(t);
    if (t->recorder == RECORDER_OPEN &&
        !maki_recorder_bytes(t->shared->recorder, &t->record, bytes)) {
        pause_for(t, PAUSED_FOR_RECORDER);
    }
    if (t->hold == HOLD_LAST_BYTE && t->response_left) {
        t->response_left -= bytes.len < t->response_left ? bytes.len : t->response_left;
        if (t->response_left == 0) t->last_byte = bytes.ptr[--bytes.len];
    }
    maki_conn_send(t->conn, bytes);
    if (maki_conn_unsent_bytes(t->conn) > CLIENT_PENDING_MAX) pause_for(t, PAUSED_FOR_CLIENT);
}

/* Upstream failed: answer with an error; if the response has begun, drop the connection, so that the client sees a
 * truncated response. */
static void answer_failure(transfer *t, maki_status st, const char *reason)
{
    maki_conn *conn = close_transfer(t);
    char message[400];
    MAKI_COUNT(t->shared->metrics, upstream_failures_total, 1);
    if (maki_conn_response_started(conn)) {
        maki_conn_drop(conn);
        return;
    }
    snprintf(message, sizeof message, "upstream %s: %s", t->upstream->name, reason);
    maki_conn_fail(conn, st == MAKI_TIMEOUT ? 504 : 502,
                   st == MAKI_TIMEOUT ? "upstream_timeout" : "upstream_error", message);
}

static void log_failure(const transfer *t, maki_status st, const char *reason)
{
    maki_kv values[] = { MAKI_KV_S("upstream", maki_str_of(t->upstream->name)),
                         MAKI_KV_S("status", maki_str_of(maki_status_name(st))),
                         MAKI_KV_S("why", maki_str_of(reason)) };
    maki_log_event(t->shared->logger, MAKI_WARN, "upstream_failed", values, 3);
    maki_last_failure_set(t->shared->failure, "upstream", t->upstream->name, reason);
}

static void on_call_done(void *ctx, maki_status st, const char *reason)
{
    transfer *t = ctx;
    t->call = NULL;
    if (st != MAKI_OK) {
        log_failure(t, st, reason);
        if (t->recorder == RECORDER_OPEN)
            snprintf(t->record.reason, sizeof t->record.reason, "%s", reason);
        end_recording(t, MAKI_EXCHANGE_TRUNCATED);
        if (t->state == UPLOADING && can_count(t)) {
            count_locally(t);
        } else {
            answer_failure(t, st, reason);
        }
    } else if (t->recorder == RECORDER_OPEN) {
        enter(t, FLUSHING);
        end_recording(t, MAKI_EXCHANGE_DONE);
    } else {
        flush_response(t);
    }
    free_if_unused(t);
}

/* ---- the request ---------------------------------------------------------------------------------- */

/* curl reads the body: copy up to `capacity` bytes from `offset` to `out`; *end: these are the last. */
static size_t on_read_body(void *ctx, uint64_t offset, char *out, size_t capacity, bool *end)
{
    transfer *t = ctx;
    size_t got = 0;
    maki_err err;
    if (maki_spool_read(&t->body, offset, out, capacity, &got, &err) != MAKI_OK)
        return MAKI_CLIENT_CALL_ABORT;
    t->uploaded = offset + got;
    *end = t->body_complete && t->uploaded >= t->body.size;
    if (!t->body_complete && t->body.size - t->uploaded < UPLOAD_PENDING_MAX / 2)
        maki_conn_resume(t->conn);
    return got;
}

static maki_status start_call(transfer *t, maki_err *err)
{
    maki_buf target = maki_buf_new(t->shared->env->alloc, FIELDS_MAX);
    maki_client_call_request call = { .origin = t->upstream->origin,
                                      .kind = t->body_kind,
                                      .length = t->body_length };
    maki_upstream_target(t->upstream, t->target, &target);
    maki_buf_add_byte(&target, '\0');
    call.target = target.ptr;
    /* with a body, even an empty one, curl would wait for a body of the response, and a response to HEAD has none */
    if (maki_conn_is_head_request(t->conn) && t->body_complete && t->body.size == 0) {
        call.kind = MAKI_CLIENT_CALL_NO_BODY;
    } else if (call.kind == MAKI_CLIENT_CALL_LENGTH && t->body_complete &&
               t->body.size <= BUFFERED_BODY_MAX) {
        call.kind = MAKI_CLIENT_CALL_WHOLE;
        call.body = maki_buf_str(&t->body.memory);
        t->uploaded = t->body.size;
    }
    maki_status st = maki_buf_status(&target, err);
    if (st == MAKI_OK) st = maki_client_call_start(t->call, &call, err);
    maki_buf_free(&target);
    if (st == MAKI_OK) enter(t, UPLOADING);
    return st;
}

/* A failure of the daemon, not of upstream: answer it. */
static void fail_transfer(transfer *t, maki_status st, const maki_err *err)
{
    maki_conn *conn = close_transfer(t);
    end_recording(t, MAKI_EXCHANGE_TRUNCATED);
    maki_conn_fail(conn, maki_status_http(st), "internal", err->msg);
    free_if_unused(t);
}

static void select_upstream(transfer *t, maki_str model)
{
    const maki_upstream *found = maki_upstream_for_model(t->shared->upstreams, model);
    if (found) t->upstream = found;
    t->record.in.upstream = maki_str_of(t->upstream->name);
}

/* The body is complete and its upstream known. */
static void finish_request(transfer *t)
{
    maki_err err;
    maki_status st = MAKI_OK;
    if (t->kind == MAKI_ROUTE_RECORD) {
        t->recorder = RECORDER_OPEN;
        maki_recorder_start(t->shared->recorder, &t->record);
    }
    if (t->state < UPLOADING) {
        st = start_call(t, &err);
    } else {
        maki_client_call_body_ready(t->call);
    }
    if (st != MAKI_OK) fail_transfer(t, st, &err);
}

static void on_model(maki_record *record)
{
    transfer *t = MAKI_CONTAINER_OF(record, transfer, record);
    assert(t->recorder == RECORDER_LOOKUP && (t->state == LOOKUP || t->state == CLOSED));
    t->recorder = RECORDER_IDLE;
    if (t->state == CLOSED) {
        free_if_unused(t);
        return;
    }
    select_upstream(t, (maki_str){ record->model, record->model_len });
    finish_request(t);
}

static void on_body(maki_request_handler *handler, maki_conn *conn, maki_str bytes)
{
    transfer *t = (transfer *)handler;
    maki_err err;
    assert(!t->body_complete && t->state != LOOKUP && t->state <= RESPONDING);
    maki_status st = maki_spool_add(&t->body, bytes, &err);
    MAKI_COUNT(t->shared->metrics, request_bytes_total, bytes.len);
    bool large = t->body_kind == MAKI_CLIENT_CALL_CHUNKED || t->body_length > BUFFERED_BODY_MAX;
    if (st == MAKI_OK && t->state == READING && large && !t->by_model) st = start_call(t, &err);
    if (st != MAKI_OK) {
        fail_transfer(t, st, &err);
        return;
    }
    if (t->state == READING) return;
    maki_client_call_body_ready(t->call);
    if (t->body.size - t->uploaded > UPLOAD_PENDING_MAX) maki_conn_pause(conn);
}

static void on_body_end(maki_request_handler *handler, maki_conn *conn)
{
    transfer *t = (transfer *)handler;
    const maki_env *env = t->shared->env;
    (void)conn;
    t->body_complete = true;
    t->complete_ms = env->clock->now_ms(env->clock);
    if (t->by_model && t->record.in.model.len == 0) {
        enter(t, LOOKUP);
        t->recorder = RECORDER_LOOKUP;
        maki_recorder_lookup_model(t->shared->recorder, &t->record);
        return;
    }
    if (t->by_model) select_upstream(t, t->record.in.model);
    finish_request(t);
}

static void on_drained(maki_request_handler *handler, maki_conn *conn)
{
    (void)conn;
    resume_for((transfer *)handler, PAUSED_FOR_CLIENT);
}

static void on_aborted(maki_request_handler *handler, maki_conn *conn, maki_status reason)
{
    transfer *t = (transfer *)handler;
    (void)conn, (void)reason;
    MAKI_COUNT(t->shared->metrics, client_gone_total, 1);
    close_transfer(t);
    end_recording(t, MAKI_EXCHANGE_CLIENT_DISCONNECTED);
    free_if_unused(t);
}

static const maki_request_handler_callbacks callbacks = { on_body, on_body_end, on_drained,
                                                          on_aborted };

/* ---- begin ---------------------------------------------------------------------------------------- */

static maki_exchange_info read_head(const maki_http_head *head, const maki_route_path *path,
                                    const maki_route *route)
{
    return (maki_exchange_info){ .protocol = route->protocol,
                                 .path = path->path,
                                 .session = maki_http_value(head, "x-maki-session"),
                                 .client_id = maki_client_identity_id(head),
                                 .client = maki_client_identity_name(head),
                                 .model = route->model,
                                 .credential = maki_client_identity_credential(head, path->query) };
}

/* A transfer with copies of the spans of `in` and `target`: the head is freed before the transfer. */
static transfer *transfer_new(maki_forwarding *shared, const maki_exchange_info *in,
                              maki_str target)
{
    const maki_alloc *alloc = shared->env->alloc;
    size_t size = sizeof(transfer) + target.len + in->path.len + in->session.len +
                  in->client_id.len + in->client.len + in->model.len + in->credential.len;
    transfer *t = alloc->resize(alloc, NULL, 0, size);
    if (!t) return NULL;
    memset(t, 0, sizeof *t);
    t->handler.callbacks = &callbacks;
    t->shared = shared;
    t->size = size;
    char *end = t->text;
    t->target = maki_str_push(&end, target);
    t->body = maki_spool_new(shared->env, MAKI_SPOOL_MEMORY);
    t->record = (maki_record){ .in = { .protocol = in->protocol,
                                       .path = maki_str_push(&end, in->path),
                                       .session = maki_str_push(&end, in->session),
                                       .client_id = maki_str_push(&end, in->client_id),
                                       .client = maki_str_push(&end, in->client),
                                       .model = maki_str_push(&end, in->model),
                                       .credential = maki_str_push(&end, in->credential) },
                               .body = &t->body,
                               .on_model = on_model,
                               .on_consumed = on_consumed,
                               .on_capacity = on_capacity,
                               .on_done = on_recorded };
    return t;
}

static maki_status prepare_call(transfer *t, const maki_http_head *head, maki_err *err)
{
    maki_str lines[MAKI_HTTP_FIELDS];
    maki_client_callbacks calls = { .ctx = t,
                                    .on_read_body = on_read_body,
                                    .on_head = on_response_head,
                                    .on_bytes = on_response_bytes,
                                    .on_done = on_call_done };
    size_t count = maki_forward_request(head, lines);
    return maki_client_prepare(t->shared->client, head->method, lines, count, &calls, &t->call,
                               err);
}

void maki_forwarding_begin(maki_forwarding *shared, maki_conn *conn, const maki_http_head *head,
                           const maki_route_path *path, const maki_route *route,
                           const maki_upstream *upstream, bool named)
{
    maki_exchange_info in = read_head(head, path, route);
    maki_err err;
    transfer *t = transfer_new(shared, &in, path->target);
    if (!t) {
        maki_conn_fail(conn, 500, "internal", "out of memory");
        return;
    }
    shared->open++;
    MAKI_COUNT(shared->metrics, open_exchanges, 1);
    t->conn = conn;
    t->kind = route->kind;
    t->upstream = upstream;
    t->by_model = shared->upstreams->by_model && !named;
    t->record.in.upstream = maki_str_of(upstream->name);
    t->record.coding = maki_coding_of(maki_http_value(head, "content-encoding"));
    t->body_kind = head->chunked      ? MAKI_CLIENT_CALL_CHUNKED
                   : head->has_length ? MAKI_CLIENT_CALL_LENGTH
                                      : MAKI_CLIENT_CALL_NO_BODY;
    t->body_length = head->body_length;
    if (t->body_length <=
        MAKI_SPOOL_MEMORY) { /* one allocation instead of doubling; if it fails, adding will report it */
        (void)maki_buf_reserve(&t->body.memory, (size_t)t->body_length);
    }
    maki_conn_set_data(conn, &t->handler);
    if (route->kind == MAKI_ROUTE_RECORD) {
        MAKI_COUNT(shared->metrics, exchanges_total, 1);
    } else {
        MAKI_COUNT(shared->metrics, passed_total, 1);
    }
    maki_status st = prepare_call(t, head, &err);
    if (st != MAKI_OK) fail_transfer(t, st, &err);
}
