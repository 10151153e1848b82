/* server_internal.h -- the types and functions that the files of the server share: server.c (listening, limits),
 * conn.c (requests), conn_response.c (responses). */
#ifndef MAKI_NET_SERVER_INTERNAL_H
#define MAKI_NET_SERVER_INTERNAL_H

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>

#include "net/http_chunk.h"
#include "net/server.h"

enum {
    SERVER_LISTENERS = 4,
    READ_AHEAD = 65536,  /* bytes read ahead of the handler */
    DISCARD_MAX = 65536, /* close the connection rather than discard more of a body */
    DRAINED = 16384,     /* unsent bytes at which on_drained is called */
    BODY_BUFFER = 65536, /* bytes of a long body in one read */
    BODY_READS_MAX = 8,  /* such reads before other connections are served */
};

struct maki_server {
    const maki_env *env;
    struct event_base *base;
    maki_server_limits limits;
    maki_server_callbacks callbacks;
    struct evconnlistener *listeners[SERVER_LISTENERS];
    size_t listener_count;
    struct event *sweep;  /* finds connections that are too slow */
    struct event *resume; /* enables the listeners again after accept failed */
    maki_conn *first;     /* all connections */
    maki_conn *cursor;    /* the next one of an iteration: any may be removed meanwhile */
    size_t count;
    bool stopping, closing;
};

typedef enum conn_phase {
    CONN_HEAD,       /* between requests, or in a head */
    CONN_BODY,       /* in the body of a request */
    CONN_RESPONDING, /* the body is complete, the response is not */
    CONN_LINGER      /* the last response is sent, input is discarded */
} conn_phase;

struct maki_conn {
    maki_server *server;
    maki_conn *next, *previous;
    struct bufferevent *bev;
    void *data;
    int64_t deadline; /* in ms of maki_monotonic_ms; 0: none */
    size_t scanned;   /* bytes of the input searched for the end of the head */
    uint64_t body_remaining, body_received;
    uint64_t response_remaining; /* if MAKI_FRAME_LENGTH */
    maki_chunks chunks;
    uint8_t phase, framing;
    uint8_t callback_depth; /* callbacks on the stack: freeing is deferred */
    bool request_open;      /* between on_head and the end of the request */
    bool http_1_0, is_head_request, chunked, expect_continue, keep_alive;
    bool response_started, paused;
    bool eof;           /* the client has closed its sending side */
    bool write_closed;  /* our sending side is closed */
    bool write_blocked; /* the socket buffer is full: the bufferevent sends the rest */
    bool out_of_memory; /* output is incomplete: to be closed by the next sweep */
    bool dead;          /* to be freed */
};

void server_remove(maki_conn *conn); /* remove it from the list */

/* conn.c */
maki_conn *conn_new(maki_server *server, evutil_socket_t fd);
void conn_free(maki_conn *conn);                        /* now, or when the last callback returns */
void conn_aborted(maki_conn *conn, maki_status reason); /* calls on_aborted, if a request is open */
void conn_request_done(maki_conn *conn); /* responded; prepare for the next request */
void conn_linger(maki_conn *conn);       /* close when everything is sent */
void conn_timeout(maki_conn *conn);
bool conn_idle(const maki_conn *conn);

/* conn_response.c: append bytes to the output; sent by a flush */
void conn_append(maki_conn *conn, maki_str bytes);
void conn_flush(maki_conn *conn);
void conn_flush_soon(maki_conn *conn); /* in this iteration of the loop */
/* respond with an error of the server and close; on_aborted was called */
void conn_refuse(maki_conn *conn, int status, const char *message);

#endif
