/* forwarding.c -- see forwarding.h. */
#include "daemon/forwarding.h"

#include <stdio.h>
#include <string.h>

#include <maki/json.h>

#include "base/err.h"
#include "base/str.h"
#include "daemon/client_identity.h"
#include "daemon/forwarded_head.h"

enum {
    WHOLE_MAX = 60 << 10,   /* bodies up to this are sent when they are whole: curl copies them into
                               * what it sends first (it does so below 64 KB), and needs no buffer */
    UPLOAD_AHEAD = 8 << 20, /* bytes of a body that may wait for upstream */
    CLIENT_AHEAD = 256 << 10, /* bytes of a reply that may wait for the client */
    FIELDS_MAX = 128 << 10,
};

/* Why upstream is not read at present. */
enum { FOR_CLIENT = 1, FOR_ENGINE = 2 };

typedef struct pass {
    maki_request_handler guest;
    maki_forwarding *all;
    maki_conn *conn;        /* NULL: the client has its answer, or is gone */
    maki_client_call *call; /* NULL: upstream is done */
    const maki_upstream *upstream;
    maki_spool body;
    uint64_t uploaded;   /* bytes of it that curl has */
    uint64_t promised;   /* its length, if it has one */
    uint64_t reply_left; /* with `by_length` */
    int64_t asked_ms;    /* when the request was whole */
    maki_str target;     /* in `text` */
    maki_record record;
    maki_reply held; /* an answer without a body waits whole */
    maki_buf held_fields;
    maki_route_kind kind;
    char last;      /* the reply's last byte, with `holds_last` */
    uint8_t paused; /* FOR_CLIENT, FOR_ENGINE */
    bool has_body, chunked, body_whole, started;
    bool head_came, by_length, holds_last, holds_all;
    bool named;               /* the client chose the upstream */
    bool recording, recorded; /* the engine has it; and is done with it */
    bool ended;               /* the engine was told the end */
    size_t size;
    char text[];
} pass;

/* ---- life ----------------------------------------------------------------------------------------- */

static void free_if_over(pass *p)
{
    maki_forwarding *all = p->all;
    if (p->conn || p->call || (p->recording && !p->recorded)) return;
    maki_spool_free(&p->body);
    maki_buf_free(&p->held_fields);
    explicit_bzero(p->text, p->size - sizeof *p); /* the key of the client was in it */
    all->env->alloc->resize(all->env->alloc, p, p->size, 0);
    all->open--;
    MAKI_COUNT_DOWN(all->metrics, open_exchanges);
    if (all->open == 0 && all->on_empty) all->on_empty(all->ctx);
}

/* The body stays while upstream may ask for it again or the engine has not read it. */
static void free_body_if_used(pass *p)
{
    if (!p->head_came || !p->body_whole || p->uploaded < p->body.size) return;
    if (p->body.size && (!p->recording || atomic_load(&p->record.taken))) {
        maki_spool_free(&p->body);
    }
}

static void end_recording(pass *p, maki_exchange_end_kind kind)
{
    if (p->recording && !p->ended) {
        p->ended = true;
        maki_recorder_end(p->all->engine, &p->record, kind);
    }
}

/* ---- the last byte -------------------------------------------------------------------------------- */

/* The exchange is recorded, or is not to be: what was held back goes out. */
static void release(pass *p)
{
    maki_conn *conn = p->conn;
    if (!conn) return;
    p->conn = NULL;
    if (p->holds_all) maki_conn_start(conn, &p->held);
    if (p->holds_last) maki_conn_send(conn, (maki_str){ &p->last, 1 });
    maki_conn_end(conn);
}

static void on_recorded(maki_record *record)
{
    pass *p = MAKI_CONTAINER_OF(record, pass, record);
    p->recorded = true;
    if (record->err.status == MAKI_OK && record->sync.status != MAKI_OK) {
        maki_fail(&record->err, record->sync.status, "the log could not be synced to the disk");
    }
    maki_recording_state_note(p->all->recording, &record->err);
    if (!p->call) release(p);
    free_if_over(p);
}

static void on_took(maki_record *record)
{
    free_body_if_used(MAKI_CONTAINER_OF(record, pass, record));
}

/* ---- upstream's reply ----------------------------------------------------------------------------- */

static void pause_for(pass *p, uint8_t why)
{
    if (p->paused == 0) maki_client_call_pause(p->call);
    p->paused |= why;
}

static void resume_for(pass *p, uint8_t why)
{
    if (!(p->paused & why)) return;
    p->paused &= (uint8_t)~why;
    if (p->paused == 0 && p->call) maki_client_call_resume(p->call);
}

static void on_capacity(maki_record *record)
{
    resume_for(MAKI_CONTAINER_OF(record, pass, record), FOR_ENGINE);
}

/* A request to count tokens, which we can answer as well: it is whole and not packed. */
static bool can_count(const pass *p)
{
    return p->kind == MAKI_ROUTE_COUNT && p->body_whole && p->record.coding == MAKI_CODING_NONE;
}

/* Upstream cannot, we can: the request goes to the API thread, as if it had been sent to us. */
static void count_here(pass *p)
{
    maki_conn *conn = p->conn;
    p->conn = NULL;
    maki_client_call_cancel(p->call);
    p->call = NULL;
    maki_api_answer(p->all->api, conn, MAKI_LIT("POST"), p->record.in.path,
                    MAKI_LIT("application/json"), &p->body);
}

static maki_framing framing_of(const pass *p, int status, const maki_forward_reply *reply)
{
    bool none = status == 204 || status == 304 || status / 100 == 1;
    if (none || (maki_conn_head_only(p->conn) && !reply->has_length)) return MAKI_FRAME_NONE;
    return reply->has_length ? MAKI_FRAME_LENGTH : MAKI_FRAME_CHUNKED;
}

/* Is there a byte of the body that could be held back?  If not, the whole answer is. */
static bool has_no_bytes(const pass *p, const maki_reply *reply)
{
    return maki_conn_head_only(p->conn) || reply->framing == MAKI_FRAME_NONE ||
           (reply->framing == MAKI_FRAME_LENGTH && reply->length == 0);
}

static void tell_engine_head(pass *p, int status, maki_str type)
{
    if (p->kind != MAKI_ROUTE_RECORD) return;
    if (p->recording) {
        maki_recorder_head(p->all->engine, &p->record, status, type);
    } else {
        p->kind = MAKI_ROUTE_FORWARD; /* answered before it was whole: there is nothing to record */
        MAKI_COUNT(p->all->metrics, unrecorded_total, 1);
    }
}

static void on_reply_head(void *ctx, int status, maki_str reason, const maki_http_head *fields)
{
    pass *p = ctx;
    maki_metrics *metrics = p->all->metrics;
    p->head_came = true;
    if (p->body_whole) {
        int64_t now = p->all->env->clock->now_ms(p->all->env->clock);
        MAKI_COUNT(metrics, first_byte_ms_total, now > p->asked_ms ? now - p->asked_ms : 0);
        MAKI_COUNT(metrics, first_byte_count_total, 1);
    }
    if (can_count(p) && (status == 404 || status == 405 || status == 501)) {
        count_here(p);
        free_if_over(p);
        return;
    }
    maki_buf lines = maki_buf_new(p->all->env->alloc, FIELDS_MAX);
    maki_forward_reply said = maki_forward_lines(fields, &lines);
    size_t fields_len = lines.len;
    tell_engine_head(p, status, said.type);
    maki_buf_add(&lines, reason); /* kept beside them, in case the answer is held */
    maki_reply reply = { .status = status,
                         .reason = maki_str_from(maki_buf_str(&lines), fields_len),
                         .fields = maki_str_to(maki_buf_str(&lines), fields_len),
                         .framing = framing_of(p, status, &said),
                         .length = said.length,
                         .says_length = said.has_length };
    p->by_length = reply.framing == MAKI_FRAME_LENGTH;
    p->reply_left = said.length;
    p->holds_all = has_no_bytes(p, &reply);
    if (p->holds_all) {
        p->held_fields = lines;
        p->held = reply;
    } else {
        maki_conn_start(p->conn, &reply);
        maki_buf_free(&lines);
    }
    free_body_if_used(p);
}

static void on_reply_bytes(void *ctx, maki_str bytes)
{
    pass *p = ctx;
    MAKI_COUNT(p->all->metrics, reply_bytes_total, bytes.len);
    free_body_if_used(p);
    if (p->recording && !maki_recorder_bytes(p->all->engine, &p->record, bytes)) {
        pause_for(p, FOR_ENGINE);
    }
    if (p->by_length) {
        p->reply_left -= bytes.len < p->reply_left ? bytes.len : p->reply_left;
        if (p->reply_left == 0 && !p->holds_last) {
            p->holds_last = true;
            p->last = bytes.ptr[bytes.len - 1];
            bytes.len--;
        }
    }
    maki_conn_send(p->conn, bytes);
    if (maki_conn_waiting(p->conn) > CLIENT_AHEAD) pause_for(p, FOR_CLIENT);
}

/* ---- the end -------------------------------------------------------------------------------------- */

/* Upstream failed: say so, or let the client see that the reply was cut. */
static void answer_failure(pass *p, maki_status st, const char *words)
{
    maki_conn *conn = p->conn;
    char message[400];
    MAKI_COUNT(p->all->metrics, upstream_failures_total, 1);
    p->conn = NULL;
    if (maki_conn_started(conn)) {
        maki_conn_drop(conn);
        return;
    }
    snprintf(message, sizeof message, "upstream %s: %s", p->upstream->name, words);
    maki_conn_fail(conn, st == MAKI_TIMEOUT ? 504 : 502,
                   st == MAKI_TIMEOUT ? "upstream_timeout" : "upstream_error", message);
}

static void log_upstream(const pass *p, maki_status st, const char *words)
{
    maki_kv values[] = { MAKI_KV_S("upstream", maki_str_of(p->upstream->name)),
                         MAKI_KV_S("status", maki_str_of(maki_status_name(st))),
                         MAKI_KV_S("why", maki_str_of(words)) };
    maki_log_event(p->all->logger, MAKI_WARN, "upstream_failed", values, 3);
}

static void on_done(void *ctx, maki_status st, const char *words)
{
    pass *p = ctx;
    p->call = NULL;
    if (st == MAKI_OK) {
        end_recording(p, MAKI_EXCHANGE_DONE);
        if (!p->recording) release(p);
    } else {
        log_upstream(p, st, words);
        end_recording(p, MAKI_EXCHANGE_CUT);
        if (can_count(p) && !p->head_came) {
            count_here(p);
        } else {
            answer_failure(p, st, words);
        }
    }
    free_if_over(p);
}

/* ---- the request ---------------------------------------------------------------------------------- */

/* curl asks for the body. */
static size_t on_need(void *ctx, uint64_t at, char *out, size_t capacity, bool *end)
{
    pass *p = ctx;
    size_t got = 0;
    maki_err err;
    if (maki_spool_read(&p->body, at, out, capacity, &got, &err) != MAKI_OK)
        return MAKI_CLIENT_CALL_LOST;
    p->uploaded = at + got;
    *end = p->body_whole && p->uploaded >= p->body.size;
    if (!p->body_whole && p->body.size - p->uploaded < UPLOAD_AHEAD / 2) maki_conn_resume(p->conn);
    return got;
}

/* What the body says about its model; "" when it says nothing.  Only asked for when a pattern may decide. */
static size_t model_of(pass *p, char *out, size_t capacity)
{
    maki_str text, value, model;
    maki_err err;
    if (p->record.in.model.len) {
        size_t n = p->record.in.model.len < capacity ? p->record.in.model.len : capacity;
        memcpy(out, p->record.in.model.ptr, n);
        return n;
    }
    if (p->record.coding != MAKI_CODING_NONE || maki_spool_text(&p->body, &text, &err) != MAKI_OK ||
        maki_json_check(text, &value, &err) != MAKI_OK ||
        !maki_json_get(value, MAKI_LIT("model"), &model) ||
        maki_json_kind_of(model) != MAKI_JSON_STRING) {
        return 0;
    }
    return maki_json_copy_text(model, out, capacity);
}

static void choose_by_model(pass *p)
{
    char model[200];
    size_t n = model_of(p, model, sizeof model);
    const maki_upstream *found = maki_upstream_for_model(p->all->upstreams, (maki_str){ model, n });
    if (found) p->upstream = found;
    p->record.in.upstream = maki_str_of(p->upstream->name);
}

static maki_status start_call(pass *p, maki_err *err)
{
    maki_buf target = maki_buf_new(p->all->env->alloc, FIELDS_MAX);
    maki_client_call_where where = { .origin = p->upstream->origin };
    maki_upstream_target(p->upstream, p->target, &target);
    maki_buf_add_byte(&target, '\0');
    where.target = target.ptr;
    /* with a body, even an empty one, curl would wait for that of the reply, which HEAD has not */
    bool bare_head = maki_conn_head_only(p->conn) && p->body_whole && p->body.size == 0;
    if (!p->has_body || bare_head) {
        where.kind = MAKI_CLIENT_CALL_NO_BODY;
    } else if (p->body_whole && p->body.size <= WHOLE_MAX && !p->chunked) {
        where.kind = MAKI_CLIENT_CALL_WHOLE;
        where.body = maki_buf_str(&p->body.head);
        p->uploaded = p->body.size;
    } else {
        where.kind = p->chunked ? MAKI_CLIENT_CALL_CHUNKED : MAKI_CLIENT_CALL_LENGTH;
        where.length = p->promised;
    }
    maki_status st = maki_buf_status(&target, err);
    if (st == MAKI_OK) st = maki_client_call_start(p->call, &where, err);
    maki_buf_free(&target);
    p->started = st == MAKI_OK;
    return st;
}

/* Our own failure, before anything went upstream. */
static void give_up(pass *p, maki_status st, const maki_err *err)
{
    maki_conn *conn = p->conn;
    p->conn = NULL;
    maki_client_call_cancel(p->call);
    p->call = NULL;
    end_recording(p, MAKI_EXCHANGE_CUT);
    maki_conn_fail(conn, maki_status_http(st), "internal", err->msg);
    free_if_over(p);
}

static void on_body(maki_request_handler *guest, maki_conn *conn, maki_str bytes)
{
    pass *p = (pass *)guest;
    maki_err err;
    maki_status st = maki_spool_add(&p->body, bytes, &err);
    MAKI_COUNT(p->all->metrics, request_bytes_total, bytes.len);
    bool waits = p->all->upstreams->by_model && !p->named;
    bool large = p->chunked || p->promised > WHOLE_MAX;
    if (st == MAKI_OK && !p->started && large && !waits) st = start_call(p, &err);
    if (st != MAKI_OK) {
        give_up(p, st, &err);
        return;
    }
    if (p->started) maki_client_call_more(p->call);
    if (p->started && p->body.size - p->uploaded > UPLOAD_AHEAD) maki_conn_pause(conn);
}

static void on_body_end(maki_request_handler *guest, maki_conn *conn)
{
    pass *p = (pass *)guest;
    maki_err err;
    (void)conn;
    p->body_whole = true;
    p->asked_ms = p->all->env->clock->now_ms(p->all->env->clock);
    if (p->all->upstreams->by_model && !p->named) choose_by_model(p);
    if (p->kind == MAKI_ROUTE_RECORD) {
        p->recording = true;
        maki_recorder_start(p->all->engine, &p->record);
    }
    maki_status st = MAKI_OK;
    if (p->started) {
        maki_client_call_more(p->call);
    } else {
        st = start_call(p, &err);
    }
    if (st != MAKI_OK) give_up(p, st, &err);
}

static void on_drained(maki_request_handler *guest, maki_conn *conn)
{
    (void)conn;
    resume_for((pass *)guest, FOR_CLIENT);
}

static void on_gone(maki_request_handler *guest, maki_conn *conn, maki_status why)
{
    pass *p = (pass *)guest;
    (void)conn, (void)why;
    MAKI_COUNT(p->all->metrics, client_gone_total, 1);
    p->conn = NULL;
    maki_client_call_cancel(p->call);
    p->call = NULL;
    end_recording(p, MAKI_EXCHANGE_CLIENT_GONE);
    free_if_over(p);
}

static const maki_request_handler_callbacks pass_calls = { on_body, on_body_end, on_drained,
                                                           on_gone };

/* ---- the beginning -------------------------------------------------------------------------------- */

static maki_str keep(char **at, maki_str text)
{
    maki_str kept = { *at, text.len };
    if (text.len) memcpy(*at, text.ptr, text.len); /* memcpy takes no NULL, not even for nothing */
    *at += text.len;
    return kept;
}

static maki_exchange_in read_head(const maki_http_head *head, const maki_route_path *path,
                                  const maki_route *route)
{
    return (maki_exchange_in){ .protocol = route->protocol,
                               .path = path->path,
                               .session = maki_http_value(head, "x-maki-session"),
                               .client_id = maki_client_identity_id(head),
                               .model = route->model,
                               .credential = maki_client_identity_credential(head, path->query) };
}

/* A pass with its own copy of what is needed after the head is gone. */
static pass *pass_new(maki_forwarding *all, const maki_exchange_in *in, maki_str target)
{
    const maki_alloc *alloc = all->env->alloc;
    size_t size = sizeof(pass) + target.len + in->path.len + in->session.len + in->client_id.len +
                  in->model.len + in->credential.len;
    pass *p = alloc->resize(alloc, NULL, 0, size);
    if (!p) return NULL;
    memset(p, 0, sizeof *p);
    p->all = all;
    p->size = size;
    char *at = p->text;
    p->target = keep(&at, target);
    p->record.in = (maki_exchange_in){ .protocol = in->protocol,
                                       .path = keep(&at, in->path),
                                       .session = keep(&at, in->session),
                                       .client_id = keep(&at, in->client_id),
                                       .model = keep(&at, in->model),
                                       .credential = keep(&at, in->credential) };
    p->body = maki_spool_new(all->env, MAKI_SPOOL_MEMORY);
    p->record.body = &p->body;
    p->record.on_took = on_took;
    p->record.on_capacity = on_capacity;
    p->record.on_done = on_recorded;
    return p;
}

static maki_status prepare_call(pass *p, const maki_http_head *head, maki_err *err)
{
    maki_str lines[MAKI_HTTP_FIELDS];
    maki_client_callbacks calls = { .ctx = p,
                                    .on_need = on_need,
                                    .on_head = on_reply_head,
                                    .on_bytes = on_reply_bytes,
                                    .on_done = on_done };
    size_t count = maki_forward_request(head, lines);
    return maki_client_prepare(p->all->client, head->method, lines, count, &calls, &p->call, err);
}

void maki_forwarding_begin(maki_forwarding *all, maki_conn *conn, const maki_http_head *head,
                           const maki_route_path *path, const maki_route *route,
                           const maki_upstream *upstream, bool named)
{
    maki_exchange_in in = read_head(head, path, route);
    maki_err err;
    pass *p = pass_new(all, &in, path->target);
    if (!p) {
        maki_conn_fail(conn, 500, "internal", "out of memory");
        return;
    }
    all->open++;
    MAKI_COUNT(all->metrics, open_exchanges, 1);
    p->guest.calls = &pass_calls;
    p->conn = conn;
    p->kind = route->kind;
    p->upstream = upstream;
    p->named = named;
    p->record.in.upstream = maki_str_of(upstream->name);
    p->record.coding = maki_coding_of(maki_http_value(head, "content-encoding"));
    p->chunked = head->chunked;
    p->has_body = head->chunked || head->has_length;
    p->promised = head->body_length;
    if (p->promised <=
        MAKI_SPOOL_MEMORY) { /* at once, not by doubling; if it fails, adding tells */
        (void)maki_buf_reserve(&p->body.head, (size_t)p->promised);
    }
    maki_conn_keep(conn, &p->guest);
    if (route->kind == MAKI_ROUTE_RECORD) {
        MAKI_COUNT(all->metrics, exchanges_total, 1);
    } else {
        MAKI_COUNT(all->metrics, passed_total, 1);
    }
    maki_status st = prepare_call(p, head, &err);
    if (st != MAKI_OK) give_up(p, st, &err);
}
