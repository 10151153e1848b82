/* conn.c -- the receiving side of a connection: parse heads and bodies, call the handler.
 *
 * A connection is always in one phase (server_internal.h); `step` consumes as much input as the phase allows and
 * returns whether to call it again.  A callback may end the request, pause it, or close the connection: so the phase is
 * checked after each, and the memory is freed when the outermost function here returns (enter, leave).
 * Every on_head is followed by exactly one end of the request. */
#include "net/server_internal.h"

#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/platform.h"
#include "base/str_util.h"

static void advance(maki_conn *conn);

/* ---- open and close ------------------------------------------------------------------------------------- */

static void set_deadline(maki_conn *conn, uint32_t ms)
{
    conn->deadline = maki_monotonic_ms() + ms;
}

static struct evbuffer *input_of(const maki_conn *conn)
{
    return bufferevent_get_input(conn->bev);
}

bool conn_idle(const maki_conn *conn)
{
    return conn->phase == CONN_HEAD && maki_conn_unsent_bytes(conn) == 0 &&
           evbuffer_get_length(input_of(conn)) == 0;
}

void conn_free(maki_conn *conn)
{
    const maki_alloc *alloc = conn->server->env->alloc;
    conn->dead = true;
    if (conn->callback_depth) return;
    server_remove(conn);
    bufferevent_free(conn->bev);
    maki_delete(alloc, conn);
}

static void enter(maki_conn *conn)
{
    conn->callback_depth++;
}

static void leave(maki_conn *conn)
{
    conn->callback_depth--;
    if (conn->callback_depth == 0 && conn->dead) conn_free(conn);
}

/* End an open request with on_aborted.  The connection is not freed here. */
void conn_aborted(maki_conn *conn, maki_status reason)
{
    maki_server *s = conn->server;
    if (!conn->request_open) return;
    conn->request_open = false;
    enter(conn);
    if (s->callbacks.on_aborted) s->callbacks.on_aborted(s->callbacks.ctx, conn, reason);
    conn->data = NULL;
    conn->callback_depth--; /* the caller still uses it */
}

static void close_write(maki_conn *conn)
{
    if (conn->write_closed) return;
    conn->write_closed = true;
    shutdown(bufferevent_getfd(conn->bev), SHUT_WR);
    set_deadline(conn, conn->eof ? 0 : conn->server->limits.linger_ms);
}

/* Closing a socket with unread input sends a reset, which may discard the last response.  So
 * shut down the sending side, discard input, and close when the client does. */
void conn_linger(maki_conn *conn)
{
    conn->phase = CONN_LINGER;
    conn->deadline = conn->out_of_memory ? 1 : 0; /* write_ms still applies */
    conn->paused = false;
    if (!conn->eof) bufferevent_enable(conn->bev, EV_READ);
    if (maki_conn_unsent_bytes(conn) == 0) close_write(conn);
}

/* ---- a head --------------------------------------------------------------------------------------- */

static void refuse(maki_conn *conn, maki_status st, int status, const maki_err *err)
{
    conn_aborted(conn, st);
    conn_refuse(conn, status, err->msg);
}

static int head_status(maki_status st, const maki_err *err)
{
    if (st == MAKI_TOOBIG) return 431;
    if (st == MAKI_UNSUPPORTED) return strstr(err->msg, "HTTP/") ? 505 : 501;
    return 400;
}

static void begin_request(maki_conn *conn, const maki_http_head *head)
{
    conn->request_open = true;
    conn->response_started = conn->paused = false;
    conn->data = NULL;
    conn->http_1_0 = head->minor == 0;
    conn->is_head_request = maki_str_equal(head->method, MAKI_LIT("HEAD"));
    conn->keep_alive = head->keep_alive && !conn->server->stopping;
    conn->chunked = head->chunked;
    conn->expect_continue = head->expect_continue && (head->chunked || head->body_length > 0);
    conn->body_remaining = head->has_length ? head->body_length : 0;
    conn->body_received = 0;
    conn->chunks = (maki_chunks){ 0 };
    conn->phase = CONN_BODY;
    set_deadline(conn, conn->server->limits.body_ms);
}

static void dispatch_head(maki_conn *conn, const maki_http_head *head)
{
    maki_server *s = conn->server;
    begin_request(conn, head);
    if (conn->body_remaining > s->limits.body_bytes) {
        conn->request_open = false; /* on_head was not called: no on_aborted */
        conn_refuse(conn, 413, "the body is larger than the limit");
        return;
    }
    s->callbacks.on_head(s->callbacks.ctx, conn, head);
    if (conn->request_open && conn->expect_continue && !conn->response_started && !conn->dead) {
        conn_append(conn, MAKI_LIT("HTTP/1.1 100 Continue\r\n\r\n"));
        conn_flush(conn);
        conn->expect_continue = false;
    }
}

/* Is the head complete?  Each byte is searched once, however many reads the head takes. */
static bool head_is_complete(maki_conn *conn, size_t available)
{
    struct evbuffer *in = input_of(conn);
    struct evbuffer_ptr from;
    size_t overlap = conn->scanned < 3 ? conn->scanned : 3; /* of a CR LF CR LF cut by a read */
    if (evbuffer_ptr_set(in, &from, conn->scanned - overlap, EVBUFFER_PTR_SET) != 0) return false;
    struct evbuffer_ptr end = evbuffer_search(in, "\r\n\r\n", 4, &from);
    conn->scanned = available;
    return end.pos >= 0;
}

static bool step_head(maki_conn *conn)
{
    struct evbuffer *in = input_of(conn);
    size_t available = evbuffer_get_length(in), max = conn->server->limits.head_bytes, used = 0;
    maki_http_head head;
    maki_err err;
    if (available == 0) return false;
    if (conn->scanned == 0) set_deadline(conn, conn->server->limits.head_ms);
    if (!head_is_complete(conn, available) && available <= max) return false;
    const char *bytes = (const char *)evbuffer_pullup(in, -1);
    if (!bytes) {
        conn_free(conn);
        return false;
    }
    maki_status st = maki_http_head_parse((maki_str){ bytes, available }, max, &head, &used, &err);
    if (st != MAKI_OK) {
        conn->keep_alive = false;
        conn->http_1_0 = conn->is_head_request = false;
        refuse(conn, st, head_status(st, &err), &err);
        return false;
    }
    if (used == 0) return false; /* empty lines before a head */
    conn->scanned = 0;
    dispatch_head(conn, &head);
    if (!conn->dead) evbuffer_drain(in, used);
    return !conn->dead;
}

/* ---- a body --------------------------------------------------------------------------------------- */

static void body_ended(maki_conn *conn)
{
    maki_server *s = conn->server;
    conn->deadline = 0;
    conn->phase = CONN_RESPONDING;
    if (!conn->request_open)
        conn_request_done(conn); /* the response ended before the body */
    else if (s->callbacks.on_body_end)
        s->callbacks.on_body_end(s->callbacks.ctx, conn);
}

/* Consume *used bytes of this request's body; *part is their content, without the framing. */
static maki_status parse_body(maki_conn *conn, maki_str bytes, size_t *used, maki_str *part,
                              bool *end, maki_err *err)
{
    if (conn->chunked) return maki_chunks_parse(&conn->chunks, bytes, used, part, end, err);
    *used = bytes.len < conn->body_remaining ? bytes.len : (size_t)conn->body_remaining;
    *part = maki_str_prefix(bytes, *used);
    conn->body_remaining -= *used;
    *end = conn->body_remaining == 0;
    return MAKI_OK;
}

static bool dispatch_body(maki_conn *conn, maki_str part)
{
    maki_server *s = conn->server;
    conn->body_received += part.len;
    set_deadline(conn, s->limits.body_ms);
    if (conn->body_received > s->limits.body_bytes) {
        conn_aborted(conn, MAKI_TOOBIG);
        conn_refuse(conn, 413, "the body is larger than the limit");
        return false;
    }
    if (!conn->request_open && conn->body_received > DISCARD_MAX) {
        conn_linger(conn);
        return false;
    }
    if (conn->request_open && part.len && s->callbacks.on_body)
        s->callbacks.on_body(s->callbacks.ctx, conn, part);
    return !conn->dead && conn->phase == CONN_BODY;
}

/* Pass the body in `bytes` to the handler; *used of them were consumed.  False: parsing must not continue in this
 * call. */
static bool feed_body(maki_conn *conn, maki_str bytes, size_t *used, bool *end)
{
    maki_str part = { "", 0 };
    maki_err err;
    maki_status st = parse_body(conn, bytes, used, &part, end, &err);
    if (st != MAKI_OK) {
        refuse(conn, st, st == MAKI_TOOBIG ? 413 : 400, &err);
        return false;
    }
    return part.len == 0 || dispatch_body(conn, part);
}

static bool step_body(maki_conn *conn)
{
    struct evbuffer *in = input_of(conn);
    struct evbuffer_iovec input = { "", 0 };
    size_t used = 0;
    bool end = false;
    if (conn->paused) return false;
    evbuffer_peek(in, -1, NULL, &input, 1);
    if (!feed_body(conn, (maki_str){ input.iov_base, input.iov_len }, &used, &end))
        return !conn->dead && conn->phase != CONN_BODY;
    evbuffer_drain(in, used);
    if (end) body_ended(conn);
    return !conn->dead && (end || (used > 0 && !conn->paused));
}

/* A bufferevent reads 4 KB at a time.  The rest of a long body is read from the socket directly, BODY_BUFFER bytes at
 * a time; the bufferevent still reports its end and errors. */
static void read_long_body(maki_conn *conn)
{
    char buffer[BODY_BUFFER];
    evutil_socket_t fd = bufferevent_getfd(conn->bev);
    bool end = false;
    for (int i = 0; i < BODY_READS_MAX && !end; i++) {
        if (conn->dead || conn->paused || conn->chunked || conn->phase != CONN_BODY ||
            conn->body_remaining == 0 || evbuffer_get_length(input_of(conn)) > 0)
            return;
        size_t max =
            conn->body_remaining < sizeof buffer ? (size_t)conn->body_remaining : sizeof buffer;
        size_t used = 0;
        ssize_t n = recv(fd, buffer, max, MSG_DONTWAIT);
        if (n <= 0 || !feed_body(conn, (maki_str){ buffer, (size_t)n }, &used, &end)) return;
    }
    if (end) body_ended(conn);
}

/* ---- the next step -------------------------------------------------------------------------------- */

void conn_request_done(maki_conn *conn)
{
    bool reusable =
        conn->phase == CONN_RESPONDING ||
        (!conn->expect_continue && (conn->chunked || conn->body_remaining <= DISCARD_MAX));
    if (!conn->keep_alive || conn->server->stopping || !reusable) {
        conn_linger(conn);
        return;
    }
    if (conn->paused) maki_conn_resume(conn);
    if (conn->phase != CONN_RESPONDING) {
        conn->body_received = 0; /* the rest is discarded, up to DISCARD_MAX */
        return;
    }
    conn->phase = CONN_HEAD;
    conn->scanned = 0;
    set_deadline(conn, conn->server->limits.idle_ms);
    if (!conn->callback_depth && evbuffer_get_length(input_of(conn)) > 0) {
        /* the next request is buffered: defer it, because the handler may still be on the stack */
        bufferevent_trigger(conn->bev, EV_READ,
                            BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
    }
}

static bool step(maki_conn *conn)
{
    switch (conn->phase) {
    case CONN_HEAD: return step_head(conn);
    case CONN_BODY: return step_body(conn);
    case CONN_LINGER:
        evbuffer_drain(input_of(conn), evbuffer_get_length(input_of(conn)));
        return false;
    default: return false;
    }
}

static void run_steps(maki_conn *conn)
{
    while (!conn->dead && step(conn))
        continue;
}

static void advance(maki_conn *conn)
{
    enter(conn);
    run_steps(conn);
    if (!conn->dead && conn->phase == CONN_BODY) {
        read_long_body(conn);
        run_steps(conn);
    }
    leave(conn);
}

static void on_read(struct bufferevent *bev, void *ctx)
{
    (void)bev;
    advance(ctx);
}

static void on_write(struct bufferevent *bev, void *ctx)
{
    maki_conn *conn = ctx;
    const maki_server_callbacks *callbacks = &conn->server->callbacks;
    if (conn->write_blocked && maki_conn_unsent_bytes(conn) == 0) {
        conn->write_blocked = false;
        bufferevent_disable(bev, EV_WRITE);
    }
    if (maki_conn_unsent_bytes(conn) > 0) conn_flush(conn);
    if (maki_conn_unsent_bytes(conn) > DRAINED) return;
    if (conn->phase == CONN_LINGER) {
        if (maki_conn_unsent_bytes(conn) == 0) close_write(conn);
    } else if (conn->server->stopping && conn_idle(conn)) {
        conn_free(conn);
    } else if (conn->request_open && conn->response_started && callbacks->on_drained) {
        enter(conn);
        callbacks->on_drained(callbacks->ctx, conn);
        if (!conn->request_open)
            run_steps(conn); /* the request was ended: the next one may be buffered already */
        leave(conn);
    }
}

/* The client closed its sending side, the connection failed, or the client did not read for write_ms. */
static void on_event(struct bufferevent *bev, short what, void *ctx)
{
    maki_conn *conn = ctx;
    (void)bev;
    bool only_eof = (what & BEV_EVENT_EOF) && !(what & (BEV_EVENT_ERROR | BEV_EVENT_TIMEOUT));
    if (only_eof && !conn->request_open && !conn->write_closed &&
        maki_conn_unsent_bytes(conn) > 0) {
        conn->eof = true;
        conn_linger(conn); /* it may still read */
        return;
    }
    conn_aborted(conn, what & BEV_EVENT_TIMEOUT ? MAKI_TIMEOUT : MAKI_CANCELLED);
    conn_free(conn);
}

void conn_timeout(maki_conn *conn)
{
    bool slow_head = conn->phase == CONN_HEAD && conn->scanned > 0;
    conn->deadline = 0;
    if (conn->out_of_memory) {
        conn_aborted(conn, MAKI_NOMEM);
        conn_free(conn);
        return;
    }
    if (conn->phase == CONN_BODY && conn->paused)
        return; /* the handler paused it: not the client's fault */
    if (slow_head || (conn->phase == CONN_BODY && conn->request_open)) {
        conn_aborted(conn, MAKI_TIMEOUT);
        conn_refuse(conn, 408,
                    slow_head ? "the head of the request took too long"
                              : "the body of the request stopped coming");
        return;
    }
    conn_free(conn);
}

maki_conn *conn_new(maki_server *s, evutil_socket_t fd)
{
    const maki_alloc *alloc = s->env->alloc;
    maki_conn *conn = maki_new(alloc, maki_conn);
    if (!conn) return NULL;
    *conn = (maki_conn){ .server = s, .phase = CONN_HEAD };
    conn->bev = bufferevent_socket_new(s->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (!conn->bev) {
        maki_delete(alloc, conn);
        return NULL;
    }
    size_t read_max = s->limits.head_bytes < READ_AHEAD ? READ_AHEAD : s->limits.head_bytes + 1;
    struct timeval write_timeout = { .tv_sec = s->limits.write_ms / 1000,
                                     .tv_usec = s->limits.write_ms % 1000 * 1000 };
    bufferevent_setcb(conn->bev, on_read, on_write, on_event, conn);
    bufferevent_setwatermark(conn->bev, EV_READ, 0, read_max);
    bufferevent_setwatermark(conn->bev, EV_WRITE, DRAINED, 0);
    bufferevent_set_timeouts(conn->bev, NULL, &write_timeout);
    bufferevent_disable(conn->bev, EV_WRITE); /* conn_flush enables it when needed */
    bufferevent_enable(conn->bev, EV_READ);
    set_deadline(conn, s->limits.idle_ms);
    return conn;
}

/* ---- for the handler ------------------------------------------------------------------------------ */

void maki_conn_pause(maki_conn *conn)
{
    if (conn->phase != CONN_BODY || conn->paused) return;
    conn->paused = true;
    bufferevent_disable(conn->bev, EV_READ);
}

void maki_conn_resume(maki_conn *conn)
{
    if (!conn->paused) return;
    conn->paused = false;
    set_deadline(conn, conn->server->limits.body_ms);
    bufferevent_enable(conn->bev, EV_READ);
    bufferevent_trigger(conn->bev, EV_READ, BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
}

void maki_conn_set_data(maki_conn *conn, void *data)
{
    conn->data = data;
}

void *maki_conn_data(const maki_conn *conn)
{
    return conn->data;
}

bool maki_conn_is_head_request(const maki_conn *conn)
{
    return conn->is_head_request;
}

bool maki_conn_body_ended(const maki_conn *conn)
{
    return conn->phase == CONN_RESPONDING;
}

bool maki_conn_response_started(const maki_conn *conn)
{
    return conn->response_started;
}

size_t maki_conn_unsent_bytes(const maki_conn *conn)
{
    return evbuffer_get_length(bufferevent_get_output(conn->bev));
}
