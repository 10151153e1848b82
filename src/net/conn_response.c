/* conn_response.c -- the sending side of a connection: status line, framing, body, errors.
 *
 * Bytes are appended to the bufferevent's output and written to the socket directly.  When an append
 * fails (out of memory), nothing more is sent and the next sweep closes the connection: a client never gets a wrong
 * body. */
#include "net/server_internal.h"

#include <assert.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/json_print.h"
#include "base/str_util.h"

const char *maki_http_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } rows[] = { { 200, "OK" },
                 { 201, "Created" },
                 { 204, "No Content" },
                 { 304, "Not Modified" },
                 { 400, "Bad Request" },
                 { 401, "Unauthorized" },
                 { 403, "Forbidden" },
                 { 404, "Not Found" },
                 { 405, "Method Not Allowed" },
                 { 408, "Request Timeout" },
                 { 409, "Conflict" },
                 { 413, "Content Too Large" },
                 { 415, "Unsupported Media Type" },
                 { 421, "Misdirected Request" },
                 { 426, "Upgrade Required" },
                 { 429, "Too Many Requests" },
                 { 431, "Request Header Fields Too Large" },
                 { 499, "Client Closed Request" },
                 { 500, "Internal Server Error" },
                 { 501, "Not Implemented" },
                 { 502, "Bad Gateway" },
                 { 503, "Service Unavailable" },
                 { 504, "Gateway Timeout" },
                 { 505, "HTTP Version Not Supported" },
                 { 507, "Insufficient Storage" },
                 { 529, "Overloaded" } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].status == status) return rows[i].reason;
    return "";
}

void conn_append(maki_conn *conn, maki_str bytes)
{
    if (bytes.len == 0 || conn->out_of_memory) return;
    if (evbuffer_add(bufferevent_get_output(conn->bev), bytes.ptr, bytes.len) != 0) {
        conn->out_of_memory = true;
        conn->deadline = 1;
        conn->keep_alive = false;
    }
}

/* A bufferevent with EV_WRITE registers with the kernel whenever there is output, and unregisters afterwards: two
 * system calls and a loop iteration for bytes that can nearly always be sent at once.  So EV_WRITE is enabled only while
 * the socket buffer is full. */
void conn_flush(maki_conn *conn)
{
    struct evbuffer *out = bufferevent_get_output(conn->bev);
    if (conn->out_of_memory || conn->write_blocked) return;
    evbuffer_unfreeze(out, 1);
    /* the bufferevent reports an error too */
    (void)evbuffer_write(out, bufferevent_getfd(conn->bev));
    evbuffer_freeze(out, 1);
    conn->write_blocked = evbuffer_get_length(out) > 0;
    if (conn->write_blocked) bufferevent_enable(conn->bev, EV_WRITE);
}

void conn_flush_soon(maki_conn *conn)
{
    bufferevent_trigger(conn->bev, EV_WRITE, BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
}

/* ---- start ---------------------------------------------------------------------------------------- */

static bool has_no_body(int status)
{
    return status == 204 || status == 304 || status / 100 == 1;
}

static void select_framing(maki_conn *conn, const maki_response *response)
{
    maki_framing framing = response->framing;
    if (framing == MAKI_FRAME_CHUNKED && conn->http_1_0) framing = MAKI_FRAME_CLOSE;
    if (has_no_body(response->status)) framing = MAKI_FRAME_NONE;
    conn->framing = (uint8_t)framing;
    conn->response_remaining =
        framing == MAKI_FRAME_LENGTH && !conn->is_head_request ? response->length : 0;
    if (framing == MAKI_FRAME_CLOSE) conn->keep_alive = false;
}

/* Can the connection be kept alive?  Not if too much of the body would have to be discarded. */
static bool can_keep_alive(const maki_conn *conn)
{
    if (!conn->keep_alive || conn->server->stopping) return false;
    if (conn->phase == CONN_RESPONDING) return true;
    return !conn->expect_continue && (conn->chunked || conn->body_remaining <= DISCARD_MAX);
}

static void append_framing(maki_conn *conn, const maki_response *response)
{
    char line[64];
    if (conn->framing == MAKI_FRAME_CHUNKED)
        conn_append(conn, MAKI_LIT("Transfer-Encoding: chunked\r\n"));
    bool empty = conn->framing == MAKI_FRAME_NONE && !conn->is_head_request &&
                 !has_no_body(response->status);
    if (!response->has_content_length && (conn->framing == MAKI_FRAME_LENGTH || empty)) {
        unsigned long long length = empty ? 0 : response->length;
        int n = snprintf(line, sizeof line, "Content-Length: %llu\r\n", length);
        conn_append(conn, (maki_str){ line, (size_t)n });
    }
    if (!conn->keep_alive)
        conn_append(conn, MAKI_LIT("Connection: close\r\n"));
    else if (conn->http_1_0)
        conn_append(conn, MAKI_LIT("Connection: keep-alive\r\n"));
}

void maki_conn_begin_response(maki_conn *conn, const maki_response *response)
{
    char line[32];
    assert(!conn->response_started);
    conn->response_started = true;
    select_framing(conn, response);
    conn->keep_alive = can_keep_alive(conn);
    int n = snprintf(line, sizeof line, "HTTP/1.1 %d ", response->status);
    conn_append(conn, (maki_str){ line, (size_t)n });
    conn_append(conn, response->reason);
    conn_append(conn, MAKI_LIT("\r\n"));
    conn_append(conn, response->fields);
    append_framing(conn, response);
    conn_append(conn, MAKI_LIT("\r\n"));
    conn_flush_soon(conn); /* together with the start of the body, if there is one */
}

/* ---- body and end --------------------------------------------------------------------------------- */

void maki_conn_send(maki_conn *conn, maki_str bytes)
{
    char head[20];
    assert(conn->response_started);
    if (bytes.len == 0 || conn->is_head_request || conn->framing == MAKI_FRAME_NONE) return;
    if (conn->framing == MAKI_FRAME_LENGTH) {
        if (bytes.len > conn->response_remaining)
            bytes.len = (size_t)conn->response_remaining; /* ignore the excess */
        conn->response_remaining -= bytes.len;
    }
    if (conn->framing == MAKI_FRAME_CHUNKED) {
        size_t n = maki_chunk_head(bytes.len, head);
        conn_append(conn, (maki_str){ head, n });
    }
    conn_append(conn, bytes);
    if (conn->framing == MAKI_FRAME_CHUNKED) conn_append(conn, MAKI_LIT("\r\n"));
    conn_flush(conn);
}

void maki_conn_end_response(maki_conn *conn)
{
    if (conn->framing == MAKI_FRAME_CHUNKED && !conn->is_head_request)
        conn_append(conn, MAKI_LIT(MAKI_CHUNKS_END));
    if (maki_conn_unsent_bytes(conn) > 0) conn_flush(conn);
    if (conn->response_remaining > 0)
        conn->keep_alive = false; /* fewer bytes than Content-Length */
    conn->request_open = false;
    conn->data = NULL;
    conn_request_done(conn);
}

/* Send a complete response: start, body and end. */
static void respond(maki_conn *conn, int status, maki_str fields, maki_str body)
{
    maki_conn_begin_response(conn,
                             &(maki_response){ .status = status,
                                               .reason = maki_str_of(maki_http_reason(status)),
                                               .fields = fields,
                                               .framing = MAKI_FRAME_LENGTH,
                                               .length = body.len });
    maki_conn_send(conn, body);
    maki_conn_end_response(conn);
}

void maki_conn_drop(maki_conn *conn)
{
    conn->request_open = false;
    conn->data = NULL;
    conn_linger(conn);
}

/* ---- errors --------------------------------------------------------------------------------------- */

static const char *error_type(int status)
{
    switch (status) {
    case 403:
    case 421: return "forbidden";
    case 408: return "timeout";
    case 413:
    case 431: return "too_large";
    case 503: return "overloaded";
    default: return "invalid_request";
    }
}

void maki_conn_fail(maki_conn *conn, int status, const char *type, const char *message)
{
    if (conn->response_started) {
        maki_conn_drop(conn);
        return;
    }
    maki_buf body = maki_buf_new(conn->server->env->alloc, 4096);
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(&body), NULL);
    maki_jw_print(&w, "{'error':{'type':%z,'message':%s}}", type, maki_str_of(message));
    bool complete = maki_jw_end(&w) == MAKI_OK;
    maki_buf_add_byte(&body, '\n');
    maki_str text = complete ? maki_buf_str(&body) : MAKI_LIT("{\"error\":{}}\n");
    respond(conn, status, MAKI_LIT("Content-Type: application/json\r\n"), text);
    maki_buf_free(&body);
}

void conn_refuse(maki_conn *conn, int status, const char *message)
{
    if (conn->dead) return;
    if (conn->response_started && conn->phase != CONN_HEAD) {
        conn_linger(conn);
        return;
    }
    conn->response_started = conn->keep_alive = false;
    maki_conn_fail(conn, status, error_type(status), message);
}
