/* api.c -- answer requests of the API on four worker threads, with queues from and to the loop.
 *
 * In:     requests from the loop: a head and a body, or a complete request.
 * Out:    the answer of each, from a spool to its connection; or the connection becomes a listener of events.
 * Always: a job is one request.  The loop owns it, except between enqueue() and on_answered(), when a worker does; its
 *         `conn` is used by the loop alone.  When the client disconnects meanwhile, on_answered() frees the job. */
#include "daemon/api.h"

#include <assert.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str_util.h"
#include "base/thread.h"

enum { PENDING_MAX = 256 << 10, CHUNK_SIZE = 32 << 10, WORKERS = 4 };

typedef struct worker {
    maki_api *api;
    maki_api_routes *routes;
    pthread_t thread;
    bool running;
} worker;

struct maki_api {
    const maki_env *env;
    maki_queue queue;
    maki_queue *loop;
    maki_broadcast *broadcast;
    worker workers[WORKERS];
};

typedef struct job {
    maki_request_handler handler;
    maki_queue_item item;
    maki_api *api;
    maki_conn *conn; /* NULL: the client disconnected */
    maki_spool body, answer;
    maki_api_routes_request request; /* spans into `text` */
    maki_api_routes_response response;
    uint64_t sent;
    size_t size;
    char text[];
} job;

/* ---- jobs ----------------------------------------------------------------------------------------- */

static const maki_request_handler_callbacks callbacks;

/* The job becomes the connection's handler.  NULL: out of memory, which was answered. */
static job *job_new(maki_api *api, maki_conn *conn, const maki_api_routes_request *request)
{
    const maki_alloc *alloc = api->env->alloc;
    size_t size = sizeof(job) + request->method.len + request->path.len + request->query.len +
                  request->type.len + request->accept.len + request->accept_encoding.len +
                  request->if_none_match.len;
    job *j = alloc->resize(alloc, NULL, 0, size);
    if (!j) {
        maki_conn_fail(conn, 500, "no_memory", "out of memory");
        return NULL;
    }
    *j = (job){ .handler = { &callbacks }, .api = api, .conn = conn, .size = size };
    maki_conn_set_data(conn, &j->handler);
    j->body = maki_spool_new(api->env, MAKI_SPOOL_MEMORY);
    j->answer = maki_spool_new(api->env, MAKI_SPOOL_MEMORY);
    char *end = j->text;
    j->request =
        (maki_api_routes_request){ .method = maki_str_push(&end, request->method),
                                   .path = maki_str_push(&end, request->path),
                                   .query = maki_str_push(&end, request->query),
                                   .type = maki_str_push(&end, request->type),
                                   .accept = maki_str_push(&end, request->accept),
                                   .accept_encoding = maki_str_push(&end, request->accept_encoding),
                                   .if_none_match = maki_str_push(&end, request->if_none_match) };
    return j;
}

static void job_free(job *j)
{
    const maki_alloc *alloc = j->api->env->alloc;
    maki_spool_free(&j->body);
    maki_spool_free(&j->answer);
    alloc->resize(alloc, j, j->size, 0);
}

/* ---- sending -------------------------------------------------------------------------------------- */

static void send_pending(job *j)
{
    char chunk[CHUNK_SIZE];
    while (j->sent < j->answer.size && maki_conn_unsent_bytes(j->conn) < PENDING_MAX) {
        size_t got = 0;
        maki_status st = maki_spool_read(&j->answer, j->sent, chunk, sizeof chunk, &got, NULL);
        if (st != MAKI_OK || got == 0) {
            maki_conn_drop(j->conn);
            job_free(j);
            return;
        }
        maki_conn_send(j->conn, (maki_str){ chunk, got });
        j->sent += got;
    }
    if (j->sent < j->answer.size) return;
    maki_conn_end_response(j->conn);
    job_free(j);
}

static void on_answered(maki_queue_item *item)
{
    job *j = MAKI_CONTAINER_OF(item, job, item);
    char fields[1024];
    if (!j->conn) {
        job_free(j);
        return;
    }
    int n = snprintf(fields, sizeof fields, "Content-Type: %s\r\n%s", j->response.type,
                     j->response.fields ? j->response.fields : "");
    assert((size_t)n < sizeof fields); /* `fields` are constants */
    maki_str lines = { fields, (size_t)n };
    if (j->response.events &&
        !maki_conn_is_head_request(j->conn)) { /* a response to HEAD has no body */
        if (!maki_broadcast_add(j->api->broadcast, j->conn, lines)) {
            maki_conn_fail(j->conn, 500, "no_memory", "out of memory");
        }
        job_free(j);
        return;
    }
    maki_conn_begin_response(
        j->conn, &(maki_response){ .status = j->response.status,
                                   .reason = maki_str_of(maki_http_reason(j->response.status)),
                                   .fields = lines,
                                   .framing = MAKI_FRAME_LENGTH,
                                   .length = j->answer.size });
    send_pending(j);
}

/* ---- receiving ------------------------------------------------------------------------------------ */

static void on_body(maki_request_handler *handler, maki_conn *conn, maki_str bytes)
{
    job *j = (job *)handler;
    maki_err err;
    maki_status st = maki_spool_add(&j->body, bytes, &err);
    if (st == MAKI_OK) return;
    maki_conn_fail(conn, maki_status_http(st), "storage", err.msg);
    job_free(j);
}

static void enqueue(job *j)
{
    j->item = (maki_queue_item){ .run = on_answered };
    maki_queue_push(&j->api->queue, &j->item);
}

static void on_body_end(maki_request_handler *handler, maki_conn *conn)
{
    (void)conn;
    enqueue((job *)handler);
}

static void on_drained(maki_request_handler *handler, maki_conn *conn)
{
    (void)conn;
    send_pending((job *)handler); /* the answer has begun: the loop owns the job again */
}

static void on_aborted(maki_request_handler *handler, maki_conn *conn, maki_status reason)
{
    job *j = (job *)handler;
    (void)reason;
    bool owned_by_loop = !maki_conn_body_ended(conn) || maki_conn_response_started(conn);
    j->conn = NULL;
    if (owned_by_loop) job_free(j); /* else a worker owns it: on_answered() frees it */
}

static const maki_request_handler_callbacks callbacks = { on_body, on_body_end, on_drained,
                                                          on_aborted };

void maki_api_begin(maki_api *api, maki_conn *conn, const maki_http_head *head,
                    const maki_route_path *path)
{
    maki_api_routes_request request = { .method = head->method,
                                        .path = path->path,
                                        .query = path->query,
                                        .type = maki_http_value(head, "content-type"),
                                        .accept = maki_http_value(head, "accept"),
                                        .accept_encoding = maki_http_value(head, "accept-encoding"),
                                        .if_none_match = maki_http_value(head, "if-none-match") };
    (void)job_new(api, conn, &request);
}

void maki_api_answer(maki_api *api, maki_conn *conn, maki_str method, maki_str path, maki_str type,
                     maki_spool *body)
{
    maki_api_routes_request request = { .method = method,
                                        .path = path,
                                        .query = { "", 0 },
                                        .type = type,
                                        .accept = { "", 0 },
                                        .accept_encoding = { "", 0 },
                                        .if_none_match = { "", 0 } };
    job *j = job_new(api, conn, &request);
    if (!j) return;
    j->body = *body;
    *body = maki_spool_new(api->env, MAKI_SPOOL_MEMORY);
    enqueue(j);
}

/* ---- the workers ---------------------------------------------------------------------------------- */

static void answer(const worker *w, job *j)
{
    maki_err err;
    j->response = (maki_api_routes_response){
        .status = 500, .type = "application/json", .fields = "", .body = &j->answer
    };
    if (maki_spool_text(&j->body, &j->request.body, &err) == MAKI_OK)
        maki_api_routes_answer(w->routes, &j->request, &j->response);
    maki_queue_push(w->api->loop, &j->item);
}

static void *work(void *ctx)
{
    const worker *w = ctx;
    maki_queue_item *item;
    while ((item = maki_queue_pop(&w->api->queue, true)))
        answer(w, MAKI_CONTAINER_OF(item, job, item));
    return NULL;
}

maki_status maki_api_open(const maki_env *env, const maki_api_options *options, maki_api **out,
                          maki_err *err)
{
    maki_api *api = maki_new(env->alloc, maki_api);
    if (!api) return maki_fail_nomem(err);
    *api = (maki_api){ .env = env, .loop = options->loop, .broadcast = options->broadcast };
    maki_status st = maki_queue_open(&api->queue, false, err);
    for (size_t i = 0; st == MAKI_OK && i < WORKERS; i++) {
        worker *w = &api->workers[i];
        w->api = api;
        st = maki_api_routes_open(env, options->routes, &w->routes, err);
        w->running = st == MAKI_OK && maki_thread_start(&w->thread, work, w);
        if (st == MAKI_OK && !w->running)
            st = maki_fail(err, MAKI_NOMEM, "cannot start a worker thread");
    }
    if (st != MAKI_OK) {
        maki_api_close(api);
        return st;
    }
    *out = api;
    return MAKI_OK;
}

void maki_api_stop(maki_api *api)
{
    maki_queue_shutdown(&api->queue);
    for (size_t i = 0; i < WORKERS; i++) {
        worker *w = &api->workers[i];
        if (w->running) pthread_join(w->thread, NULL);
        w->running = false;
    }
}

void maki_api_close(maki_api *api)
{
    if (!api) return;
    maki_api_stop(api);
    for (size_t i = 0; i < WORKERS; i++)
        maki_api_routes_close(api->workers[i].routes);
    maki_queue_close(&api->queue);
    maki_delete(api->env->alloc, api);
}
