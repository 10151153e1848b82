/* server_internal.h -- what the files of the server share: server.c (listening, limits), conn.c (reading),
 * conn_reply.c (answering). */
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
    READ_AHEAD = 65536,  /* bytes read before somebody asks for them */
    DISCARD_MAX = 65536, /* rather than read more than this for nothing, close */
    DRAINED = 16384,     /* bytes waiting that count as nearly none */
    BODY_BLOCK = 65536,  /* bytes of a long body read at once */
    BODY_BLOCKS = 8,     /* and how often, before others have their turn */
};

struct maki_server {
    const maki_env *env;
    struct event_base *base;
    maki_server_limits limits;
    maki_server_callbacks calls;
    struct evconnlistener *listeners[SERVER_LISTENERS];
    size_t listener_count;
    struct event *sweep;  /* looks for connections that are too slow */
    struct event *resume; /* listens again after there was trouble */
    maki_conn *first;     /* all connections */
    maki_conn *cursor;    /* the next one of a walk over them: any may go meanwhile */
    size_t count;
    bool stopping, closing;
};

typedef enum conn_phase {
    CONN_HEAD,  /* between requests, or in a head */
    CONN_BODY,  /* in the body of a request */
    CONN_WAIT,  /* the body has come, the answer is not over */
    CONN_LINGER /* nothing is read any more: only the last answer goes out */
} conn_phase;

struct maki_conn {
    maki_server *server;
    maki_conn *next, *before;
    struct bufferevent *bev;
    void *kept;
    int64_t deadline; /* in ms of maki_monotonic_ms; 0: none */
    size_t scanned;   /* bytes of the input that have no end of a head */
    uint64_t body_left, body_seen;
    uint64_t reply_left; /* with MAKI_FRAME_LENGTH */
    maki_chunks chunks;
    uint8_t phase, framing;
    uint8_t inside; /* callbacks of ours on the stack: freeing waits */
    bool open;      /* a request is open: between on_head and its end */
    bool minor_0, head_only, chunked, expects, keep_alive;
    bool started, paused;
    bool eof;    /* the client sends nothing more */
    bool shut;   /* we send nothing more */
    bool stuck;  /* the socket took not all: the bufferevent sends the rest */
    bool broken; /* bytes were lost for want of memory: to be closed by the next sweep */
    bool dead;   /* to be freed */
};

void server_remove(maki_conn *conn); /* a connection is gone */

/* conn.c */
maki_conn *conn_new(maki_server *server, evutil_socket_t fd);
void conn_free(maki_conn *conn);                  /* at once, or when the last callback returns */
void conn_gone(maki_conn *conn, maki_status why); /* tells the handler, if a request is open */
void conn_request_over(maki_conn *conn);          /* answered; what follows? */
void conn_linger(maki_conn *conn);                /* close when all has gone out */
void conn_timeout(maki_conn *conn);
bool conn_idle(const maki_conn *conn);

/* conn_reply.c: bytes to be sent, in order; they go out with a flush */
void conn_put(maki_conn *conn, maki_str bytes);
void conn_flush(maki_conn *conn);
void conn_flush_soon(maki_conn *conn); /* in this turn of the loop */
/* answer an error of the server's own and close.  The handler was told. */
void conn_refuse(maki_conn *conn, int status, const char *message);

#endif
