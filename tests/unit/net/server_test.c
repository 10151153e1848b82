/* server_test.c -- what a client sends and what it gets back, byte for byte, over loopback.
 *
 * Client and server run in this one thread: the client's socket does not block, and the loop runs
 * until the answer has arrived. */
#include "net/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str_util.h"
#include "fake_env.h"
#include "tap.h"

enum { TURNS_MAX = 1000000, ANSWER_MAX = 1 << 20, LONG_BLOCK = 1 << 18, LONG_ANSWER = 1 << 25 };

/* ---- a server that echoes ------------------------------------------------------------------------- */

typedef struct echo {
    fake_env fe;
    struct event_base *base;
    maki_server *server;
    char address[64];
    maki_buf body;
    char target[64];
    maki_conn *conn;
    size_t heads, gone;
    maki_status why;
    bool empty, pause;
    size_t left; /* bytes of a long answer that are still to be sent */
} echo;

static void on_head(void *ctx, maki_conn *conn, const maki_http_head *head)
{
    echo *e = ctx;
    e->heads++;
    e->conn = conn;
    maki_buf_clear(&e->body);
    snprintf(e->target, sizeof e->target, "%.*s", (int)head->target.len, head->target.ptr);
    if (maki_str_equal(head->target, MAKI_LIT("/early"))) {
        maki_conn_fail(conn, 404, "not_found", "nothing here");
    }
    if (maki_str_equal(head->target, MAKI_LIT("/pause"))) {
        e->pause = true;
        maki_conn_pause(conn);
    }
}

static void on_body(void *ctx, maki_conn *conn, maki_str bytes)
{
    (void)conn;
    maki_buf_add(&((echo *)ctx)->body, bytes);
}

static void answer(echo *e, maki_conn *conn)
{
    maki_response reply = { .status = 200,
                            .reason = MAKI_LIT("OK"),
                            .fields = MAKI_LIT("X: 日本\r\n"),
                            .framing = MAKI_FRAME_CHUNKED };
    if (strcmp(e->target, "/length") == 0) {
        reply.framing = MAKI_FRAME_LENGTH;
        reply.length = e->body.len + 2;
    }
    if (strcmp(e->target, "/short") == 0) {
        reply.framing = MAKI_FRAME_LENGTH;
        reply.length = 100;
    }
    if (strcmp(e->target, "/204") == 0) reply.status = 204;
    maki_conn_begin_response(conn, &reply);
    maki_conn_send(conn, MAKI_LIT("<"));
    maki_conn_send(conn, maki_buf_str(&e->body));
    maki_conn_send(conn, MAKI_LIT(">"));
    if (strcmp(e->target, "/drop") == 0) {
        maki_conn_drop(conn);
    } else {
        maki_conn_end_response(conn);
    }
}

/* A long answer is sent as fast as the client reads; it ends when the client has read nearly all. */
static void on_drained(void *ctx, maki_conn *conn)
{
    static const char block[LONG_BLOCK];
    echo *e = ctx;
    while (e->left && maki_conn_unsent_bytes(conn) < sizeof block) {
        size_t some = e->left < sizeof block ? e->left : sizeof block;
        maki_conn_send(conn, (maki_str){ block, some });
        e->left -= some;
        if (e->left == 0) maki_conn_end_response(conn);
    }
}

static void answer_long(echo *e, maki_conn *conn)
{
    e->left = LONG_ANSWER;
    maki_conn_begin_response(conn, &(maki_response){ .status = 200,
                                                     .reason = MAKI_LIT("OK"),
                                                     .framing = MAKI_FRAME_LENGTH,
                                                     .length = LONG_ANSWER });
    on_drained(e, conn);
}

static void on_body_end(void *ctx, maki_conn *conn)
{
    echo *e = ctx;
    if (strcmp(e->target, "/long") == 0) {
        answer_long(e, conn);
    } else if (strcmp(e->target, "/wait") != 0) {
        answer(e, conn);
    }
}

static void on_aborted(void *ctx, maki_conn *conn, maki_status why)
{
    echo *e = ctx;
    (void)conn;
    e->gone++;
    e->why = why;
}

static void on_empty(void *ctx)
{
    ((echo *)ctx)->empty = true;
}

static void echo_open(echo *e, const maki_server_limits *limits)
{
    maki_err err;
    memset(e, 0, sizeof *e);
    fake_env_init(&e->fe);
    e->base = event_base_new();
    e->body = maki_buf_new(e->fe.env.alloc, 1 << 24);
    maki_server_callbacks calls = { .ctx = e,
                                    .on_head = on_head,
                                    .on_body = on_body,
                                    .on_body_end = on_body_end,
                                    .on_drained = on_drained,
                                    .on_aborted = on_aborted,
                                    .on_empty = on_empty };
    CHECK_STATUS(maki_server_open(&e->fe.env, e->base, limits, &calls, &e->server, &err), MAKI_OK,
                 &err);
    CHECK_STATUS(maki_server_listen(e->server, "127.0.0.1:0", e->address, sizeof e->address, &err),
                 MAKI_OK, &err);
}

static void echo_close(echo *e)
{
    maki_server_close(e->server);
    maki_buf_free(&e->body);
    event_base_free(e->base);
    CHECK_EQ(e->fe.live_blocks, 0);
}

static void run_loop(echo *e)
{
    struct timespec delay = { .tv_nsec = 100000 };
    if (event_base_loop(e->base, EVLOOP_NONBLOCK) < 0) return;
    nanosleep(&delay, NULL);
}

/* ---- a client ------------------------------------------------------------------------------------- */

static int connect_client(const echo *e)
{
    struct sockaddr_in to = { .sin_family = AF_INET };
    to.sin_port = htons((uint16_t)atoi(strrchr(e->address, ':') + 1));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
    return fd;
}

/* Send it, `step` bytes at a time, running the loop in between. */
static void send_text(echo *e, int fd, maki_str text, size_t step)
{
    while (text.len) {
        size_t some = text.len < step ? text.len : step;
        ssize_t n = send(fd, text.ptr, some, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0) text = maki_str_skip(text, (size_t)n);
        if (n < 0 && errno != EAGAIN) return;
        if (text.len) event_base_loop(e->base, EVLOOP_NONBLOCK);
    }
}

/* Read the answer until it is as long as `want` or the connection closes (then *closed). */
static maki_str receive(echo *e, int fd, size_t want, bool *closed)
{
    static char got[ANSWER_MAX];
    size_t n = 0;
    *closed = false;
    for (size_t i = 0; i < TURNS_MAX && n < want && !*closed; i++) {
        run_loop(e);
        ssize_t r = recv(fd, got + n, sizeof got - n, MSG_DONTWAIT);
        if (r > 0) n += (size_t)r;
        *closed = r == 0 || (r < 0 && errno != EAGAIN);
    }
    return (maki_str){ got, n };
}

/* ---- rows ----------------------------------------------------------------------------------------- */

#define OK_HEAD "HTTP/1.1 200 OK\r\nX: 日本\r\n"
#define CHUNKED OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"
#define H       "Host: a\r\n"
#define S(text)                   \
    {                             \
        "" text, sizeof(text) - 1 \
    }

/* clang-format off */
static const struct talk_row { const char *name; maki_str sent, want; bool closed; } rows[] = {
    { "no body", S("GET / HTTP/1.1\r\n" H "\r\n"), S(CHUNKED "1\r\n<\r\n1\r\n>\r\n0\r\n\r\n"), false },
    { "a body with a length", S("POST / HTTP/1.1\r\n" H "Content-Length: 6\r\n\r\n日本"),
      S(CHUNKED "1\r\n<\r\n6\r\n日本\r\n1\r\n>\r\n0\r\n\r\n"), false },
    { "a reply with a length", S("POST /length HTTP/1.1\r\n" H "Content-Length: 3\r\n\r\nabc"),
      S(OK_HEAD "Content-Length: 5\r\n\r\n<abc>"), false },
    { "a body in chunks, with trailers", S("POST /length HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n2;x\r\nbc\r\n0\r\nT: 1\r\n\r\n"),
      S(OK_HEAD "Content-Length: 5\r\n\r\n<abc>"), false },
    { "two requests at once", S("GET /length HTTP/1.1\r\n" H "\r\n" "POST /length HTTP/1.1\r\n" H "Content-Length: 1\r\n\r\nz"),
      S(OK_HEAD "Content-Length: 2\r\n\r\n<>" OK_HEAD "Content-Length: 3\r\n\r\n<z>"), false },
    { "empty lines before a request", S("\r\n\r\nGET /length HTTP/1.1\r\n" H "\r\n"), S(OK_HEAD "Content-Length: 2\r\n\r\n<>"), false },
    { "HEAD gets the head alone", S("HEAD /length HTTP/1.1\r\n" H "\r\n" "HEAD / HTTP/1.1\r\n" H "\r\n"), S(OK_HEAD "Content-Length: 2\r\n\r\n" CHUNKED), false },
    { "204 has no body and no length", S("GET /204 HTTP/1.1\r\n" H "\r\n"), S("HTTP/1.1 204 OK\r\nX: 日本\r\n\r\n"), false },
    { "OPTIONS *", S("OPTIONS * HTTP/1.1\r\n" H "\r\n"), S(CHUNKED "1\r\n<\r\n1\r\n>\r\n0\r\n\r\n"), false },
    { "Connection: close", S("GET /length HTTP/1.1\r\n" H "Connection: close\r\n\r\n"),
      S(OK_HEAD "Content-Length: 2\r\nConnection: close\r\n\r\n<>"), true },
    { "HTTP/1.0 gets it until the close", S("GET / HTTP/1.0\r\n\r\n"), S(OK_HEAD "Connection: close\r\n\r\n<>"), true },
    { "HTTP/1.0 that wants to stay", S("GET /length HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
      S(OK_HEAD "Content-Length: 2\r\nConnection: keep-alive\r\n\r\n<>"), false },
    { "Expect", S("POST /length HTTP/1.1\r\n" H "Expect: 100-continue\r\nContent-Length: 1\r\n\r\nx"),
      S("HTTP/1.1 100 Continue\r\n\r\n" OK_HEAD "Content-Length: 3\r\n\r\n<x>"), false },
    { "answered early, a small body is dropped", S("POST /early HTTP/1.1\r\n" H "Content-Length: 3\r\n\r\nabc" "GET /length HTTP/1.1\r\n" H "\r\n"),
      S("HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: 56\r\n\r\n"
        "{\"error\":{\"type\":\"not_found\",\"message\":\"nothing here\"}}\n" OK_HEAD "Content-Length: 2\r\n\r\n<>"), false },
    { "answered early, a large one is not waited for", S("POST /early HTTP/1.1\r\n" H "Content-Length: 70000\r\n\r\nabc"),
      S("HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: 56\r\nConnection: close\r\n\r\n"
        "{\"error\":{\"type\":\"not_found\",\"message\":\"nothing here\"}}\n"), true },
    { "fewer bytes than promised: closed", S("GET /short HTTP/1.1\r\n" H "\r\n"), S(OK_HEAD "Content-Length: 100\r\n\r\n<>"), true },
    { "dropped: no end", S("GET /drop HTTP/1.1\r\n" H "\r\n"), S(CHUNKED "1\r\n<\r\n1\r\n>\r\n"), true },
};

static const struct refusal_row { const char *name; maki_str sent; const char *line, *word; } refusals[] = {
    { "nonsense", S("hello\r\n\r\n"), "HTTP/1.1 400 ", "invalid_request" },
    { "another version", S("GET / HTTP/2.0\r\n" H "\r\n"), "HTTP/1.1 505 ", "HTTP/1.1" },
    { "another transfer coding", S("POST / HTTP/1.1\r\n" H "Transfer-Encoding: gzip\r\n\r\n"), "HTTP/1.1 501 ", "chunked" },
    { "a head too long", S("GET / HTTP/1.1\r\n" H "X: 0123456789012345678901234567890123456789012345678901234567890123456789"
                           "0123456789012345678901234567890123456789012345678901234567890123456789\r\n\r\n"), "HTTP/1.1 431 ", "too_large" },
    { "a body too long by its length", S("POST / HTTP/1.1\r\n" H "Content-Length: 11\r\n\r\n"), "HTTP/1.1 413 ", "too_large" },
    { "a body too long in chunks", S("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n0\r\n\r\n"), "HTTP/1.1 413 ", "too_large" },
    { "no chunks where chunks are said", S("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\nhello"), "HTTP/1.1 400 ", "chunked encoding" },
    { "a head that stops coming", S("GET / HT"), "HTTP/1.1 408 ", "timeout" },
    { "a body that stops coming", S("POST / HTTP/1.1\r\n" H "Content-Length: 3\r\n\r\na"), "HTTP/1.1 408 ", "timeout" },
};
/* clang-format on */

static void run_exchanges(void)
{
    echo e;
    echo_open(&e, NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        static const size_t steps[] = { 1, 7, 100000 };
        tap_row("%s", rows[i].name);
        for (size_t k = 0; k < COUNT(steps); k++) {
            bool closed;
            int fd = connect_client(&e);
            send_text(&e, fd, rows[i].sent, steps[k]);
            CHECK_TEXT(receive(&e, fd, rows[i].want.len + rows[i].closed, &closed), rows[i].want);
            CHECK_EQ(closed, rows[i].closed);
            close(fd);
        }
    }
    echo_close(&e);
}

static void run_refusals(void)
{
    maki_server_limits limits = MAKI_SERVER_LIMITS_INIT;
    limits.head_bytes = 120;
    limits.body_bytes = 10;
    limits.head_ms = limits.body_ms = 1;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        echo e;
        bool closed;
        tap_row("%s", refusals[i].name);
        echo_open(&e, &limits);
        int fd = connect_client(&e);
        send_text(&e, fd, refusals[i].sent, 1 << 20);
        maki_str got = receive(&e, fd, ANSWER_MAX, &closed);
        CHECK(closed);
        CHECK(maki_str_starts(got, maki_str_of(refusals[i].line)));
        CHECK(maki_str_contains(got, maki_str_of(refusals[i].word)));
        CHECK(maki_str_contains(got, MAKI_LIT("Connection: close\r\n")));
        CHECK_EQ(e.gone, e.heads); /* what was begun is ended */
        close(fd);
        echo_close(&e);
    }
}

static void run_gone(void)
{
    echo e;
    tap_row("a client that disconnects");
    echo_open(&e, NULL);
    int fd = connect_client(&e);
    send_text(&e, fd, MAKI_LIT("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n"), 1 << 20);
    for (size_t i = 0; i < TURNS_MAX && e.heads == 0; i++)
        run_loop(&e);
    close(fd);
    for (size_t i = 0; i < TURNS_MAX && e.gone == 0; i++)
        run_loop(&e);
    CHECK_EQ(e.gone, 1);
    CHECK_EQ(e.why, MAKI_CANCELLED);
    CHECK_EQ(maki_server_connections(e.server), 0);
    echo_close(&e);
}

static void run_pause(void)
{
    echo e;
    bool closed;
    tap_row("a paused body is not read");
    echo_open(&e, NULL);
    int fd = connect_client(&e);
    send_text(&e, fd, MAKI_LIT("POST /pause HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"),
              1 << 20);
    for (size_t i = 0; i < TURNS_MAX && !e.pause; i++)
        run_loop(&e);
    for (size_t i = 0; i < 20; i++)
        run_loop(&e);
    CHECK_EQ(e.body.len, 0);
    maki_conn_resume(e.conn);
    maki_str want = MAKI_LIT(CHUNKED "1\r\n<\r\n3\r\nabc\r\n1\r\n>\r\n0\r\n\r\n");
    CHECK_TEXT(receive(&e, fd, want.len, &closed), want);
    close(fd);
    echo_close(&e);
}

static void run_stop(void)
{
    echo e;
    bool closed;
    tap_row("a stop closes idle connections, finishes the others and reports when all are closed");
    echo_open(&e, NULL);
    int idle = connect_client(&e), busy = connect_client(&e);
    send_text(&e, busy, MAKI_LIT("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n"), 1 << 20);
    for (size_t i = 0; i < TURNS_MAX && (e.heads == 0 || maki_server_connections(e.server) < 2);
         i++)
        run_loop(&e);
    maki_server_stop(e.server);
    CHECK_EQ(receive(&e, idle, 1, &closed).len, 0);
    CHECK(closed);
    CHECK(!e.empty);
    strcpy(e.target, "/length");
    answer(&e, e.conn);
    maki_str want = MAKI_LIT(OK_HEAD "Content-Length: 2\r\nConnection: close\r\n\r\n<>");
    CHECK_TEXT(receive(&e, busy, want.len + 1, &closed), want);
    CHECK(closed);
    close(busy);
    close(idle);
    for (size_t i = 0; i < TURNS_MAX && !e.empty; i++)
        run_loop(&e);
    CHECK(e.empty);
    echo_close(&e);
}

static void run_too_many(void)
{
    maki_server_limits limits = MAKI_SERVER_LIMITS_INIT;
    echo e;
    bool closed;
    tap_row("more connections than allowed get an error");
    limits.connections = 1;
    echo_open(&e, &limits);
    int first = connect_client(&e), second = connect_client(&e);
    maki_str got = receive(&e, second, ANSWER_MAX, &closed);
    CHECK(closed);
    CHECK(maki_str_starts(got, MAKI_LIT("HTTP/1.1 503 ")));
    close(first);
    close(second);
    echo_close(&e);
}

static void run_addresses(void)
{
    static const char *const wrong[] = {
        "127.0.0.1", "localhost:1", ":", "[::1]", "1.2.3.4:x", ""
    };
    echo e;
    maki_err err;
    echo_open(&e, NULL);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        tap_row("invalid address: %s", wrong[i]);
        CHECK_STATUS(maki_server_listen(e.server, wrong[i], NULL, 0, &err), MAKI_INVALID, &err);
    }
    tap_row("an address in use");
    CHECK_STATUS(maki_server_listen(e.server, e.address, NULL, 0, &err), MAKI_IO, &err);
    CHECK(strstr(err.msg, "in use") != NULL);
    echo_close(&e);
}

/* The client sends two requests and reads slowly: the first answer ends when it has read most of it. */
static void run_long(void)
{
    static const maki_str both = S("GET /long HTTP/1.1\r\n" H "\r\n"
                                   "GET /length HTTP/1.1\r\n" H "\r\n");
    static const maki_str second = S("<>");
    echo e;
    bool closed = false, answered = false;
    tap_row("a pipelined request after a long answer is answered");
    echo_open(&e, NULL);
    int fd = connect_client(&e);
    send_text(&e, fd, both, both.len);
    for (int i = 0; i < 200; i++)
        run_loop(&e);
    CHECK(e.left > 0);
    while (!answered && !closed) {
        maki_str got = receive(&e, fd, 1, &closed);
        if (got.len == 0) break;
        answered = maki_str_contains(got, second);
    }
    CHECK(answered);
    CHECK_EQ(e.heads, 2);
    close(fd);
    echo_close(&e);
}

int main(void)
{
    run_exchanges();
    run_long();
    run_refusals();
    run_gone();
    run_pause();
    run_stop();
    run_too_many();
    run_addresses();
    return tap_end();
}
