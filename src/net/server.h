/* server.h -- an HTTP/1.1 server on an event loop.  It parses and frames messages; the handler (the callbacks) sends
 * the responses.
 *
 * One thread owns a server, its loop and all its connections: every function here is called in that
 * thread, and every callback is called in it.  Connections are kept alive, pipelined
 * requests are handled one at a time.
 *
 * The life of a request, seen by the handler:
 *
 *     on_head -> on_body ... -> on_body_end        request

 *     maki_conn_begin_response -> maki_conn_send ... -> maki_conn_end_response      response
 *
 * The response may begin and end at any time after on_head, inside a callback or later.  maki_conn_end_response
 * ends the request: no more callbacks are called for it, and the handler must not use the connection any more
 * (its next request is a new on_head).  The rest of the body is read and discarded.
 *
 * on_aborted ends a request, too: the client disconnected, sent an invalid request or was too slow.  The server
 * reports the error to the client if it can; the handler only cleans up.  So each
 * on_head is followed by exactly one of maki_conn_end_response, maki_conn_fail, maki_conn_drop and on_aborted.
 *
 *     static void on_head(void *ctx, maki_conn *conn, const maki_http_head *head)
 *     {
 *         maki_conn_begin_response(conn, &(maki_response){ .status = 200, .reason = MAKI_LIT("OK"),
 *                                              .fields = MAKI_LIT("Content-Type: text/plain\r\n"),
 *                                              .framing = MAKI_FRAME_CHUNKED });
 *         maki_conn_send(conn, MAKI_LIT("こんにちは\n"));
 *         maki_conn_end_response(conn);
 *     }
 *
 *     maki_server_callbacks calls = { .ctx = me, .on_head = on_head };
 *     maki_server *server;
 *     st = maki_server_open(&env, base, NULL, &calls, &server, &err);
 *     if (st == MAKI_OK) st = maki_server_listen(server, "127.0.0.1:0", address, sizeof address, &err);
 *     event_base_dispatch(base);
 *     maki_server_close(server); */
#ifndef MAKI_NET_SERVER_H
#define MAKI_NET_SERVER_H

#include "net/http_head.h"

#include <maki/env.h>

struct event_base;

typedef struct maki_server maki_server;
typedef struct maki_conn maki_conn; /* a client's connection */

/* Exceeding one closes the connection, with an error response if one can still be sent. */
typedef struct maki_server_limits {
    size_t head_bytes;   /* of one head: 431 */
    uint64_t body_bytes; /* of one body: 413 */
    size_t connections;  /* at a time: 503 */
    uint32_t idle_ms;    /* between two requests: closed without a response */
    uint32_t head_ms;    /* from the first byte of a head to its last: 408 */
    uint32_t body_ms;    /* without a byte of the body: 408 */
    uint32_t write_ms;   /* while the client reads nothing of a response: closed */
    uint32_t linger_ms;  /* for the client to read the last response before the close */
    int backlog;         /* of listen(2) */
} maki_server_limits;
/* clang-format off */
#define MAKI_SERVER_LIMITS_INIT                                                                    \
    { .head_bytes = MAKI_HTTP_HEAD_MAX, .body_bytes = (uint64_t)1 << 30, .connections = 16384,      \
      .idle_ms = 120000, .head_ms = 30000, .body_ms = 60000, .write_ms = 60000, .linger_ms = 2000, \
      .backlog = 4096 }
/* clang-format on */

typedef struct maki_server_callbacks {
    void *ctx; /* the first argument of each; all but on_head may be NULL */
    /* A request.  `head` and what it points to are valid during the call. */
    void (*on_head)(void *ctx, maki_conn *conn, const maki_http_head *head);
    /* Bytes of its body, without the framing; valid during the call. */
    void (*on_body)(void *ctx, maki_conn *conn, maki_str bytes);
    void (*on_body_end)(void *ctx, maki_conn *conn);
    /* Most of what was sent has left the output buffer (maki_conn_unsent_bytes is small again). */
    void (*on_drained)(void *ctx, maki_conn *conn);
    /* The request ends without a response.  `why`: MAKI_CANCELLED (the client disconnected), MAKI_INVALID, MAKI_TOOBIG,
     * MAKI_TIMEOUT or MAKI_NOMEM. */
    void (*on_aborted)(void *ctx, maki_conn *conn, maki_status why);
    /* accept failed (out of descriptors); retried shortly. */
    void (*on_accept_error)(void *ctx, const char *message);
    /* After maki_server_stop: the last connection is closed. */
    void (*on_empty)(void *ctx);
} maki_server_callbacks;

/* ---- the server -------------------------------------------------------------------------------------- */

/* `limits` NULL: the defaults.  `callbacks` is copied.  `env` and `base` are borrowed until the end. */
maki_status maki_server_open(const maki_env *env, struct event_base *base,
                             const maki_server_limits *limits,
                             const maki_server_callbacks *callbacks, maki_server **out,
                             maki_err *err) MAKI_MUST_CHECK;
/* Listen at ADDRESS:PORT ("127.0.0.1:4747", "[::1]:0"; port 0: any free one).  May be
 * called for several.  `bound` (may be NULL) gets the address in the same form, with the real port. */
maki_status maki_server_listen(maki_server *server, const char *address, char *bound,
                               size_t capacity, maki_err *err);
/* Accept no more connections and requests; idle connections are closed now, others after their
 * current request.  on_empty is called when all are closed (at once when there is none). */
void maki_server_stop(maki_server *server);
/* Close everything; open requests get on_aborted.  Not from a callback.  Accepts NULL. */
void maki_server_close(maki_server *server);
size_t maki_server_connections(const maki_server *server);

/* ---- responding -------------------------------------------------------------------------------------- */

typedef enum maki_framing {
    MAKI_FRAME_NONE,    /* no body and no length: for HEAD, 204, 304 */
    MAKI_FRAME_LENGTH,  /* `length` bytes will be sent */
    MAKI_FRAME_CHUNKED, /* length unknown; HTTP/1.0 clients get MAKI_FRAME_CLOSE */
    MAKI_FRAME_CLOSE    /* until the connection is closed */
} maki_framing;

typedef struct maki_response {
    int status;
    maki_str reason; /* may be empty */
    /* Lines "Name: value\r\n", sent unchanged.  The server adds Connection, Transfer-Encoding and, unless
     * `has_content_length`, Content-Length. */
    maki_str fields;
    maki_framing framing;
    uint64_t length;         /* if MAKI_FRAME_LENGTH */
    bool has_content_length; /* Content-Length is one of `fields` */
} maki_response;

/* Begin the response, once per request.  For HEAD, the body that follows is not sent, whatever the framing. */
void maki_conn_begin_response(maki_conn *conn, const maki_response *response);
/* Send bytes of the body; they are copied. */
void maki_conn_send(maki_conn *conn, maki_str bytes);
/* End of the response.  With fewer bytes than `length` (MAKI_FRAME_LENGTH), the connection is closed, so that the
 * client notices. */
void maki_conn_end_response(maki_conn *conn);

/* Respond with an error: {"error":{"type":"...","message":"..."}}.  If the response has begun, drop the
 * connection instead. */
void maki_conn_fail(maki_conn *conn, int status, const char *type, const char *message);
/* End the request by closing the connection: what was sent so far is still delivered, but the response stays
 * incomplete. */
void maki_conn_drop(maki_conn *conn);

/* ---- state ------------------------------------------------------------------------------------------- */

/* A pointer of the handler, for one request; NULL at on_head. */
void maki_conn_set_data(maki_conn *conn, void *data);
void *maki_conn_data(const maki_conn *conn);
/* Pause and resume reading the body.  While paused neither on_body nor on_body_end is called. */
void maki_conn_pause(maki_conn *conn);
void maki_conn_resume(maki_conn *conn);
/* Bytes in the output buffer: passed to maki_conn_send, not yet written to the socket. */
size_t maki_conn_unsent_bytes(const maki_conn *conn);
/* Is it a HEAD request?  Is the body complete?  Has the response begun? */
bool maki_conn_is_head_request(const maki_conn *conn);
bool maki_conn_body_ended(const maki_conn *conn);
bool maki_conn_response_started(const maki_conn *conn);

/* The reason phrase of a status: "OK", "Not Found". */
const char *maki_http_reason(int status);

#endif
