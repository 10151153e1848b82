/* recorder.c -- one thread and its queue: record what the loop forwards, in order, in conversations (proxy/proxy.h).
 *
 * In:    items from the loop: a body to read the model from; an exchange's start, response head, response bytes and end.
 * Out:   conversations on the disk; items for the loop's queue: model, consumed, capacity, done.
 * Never: stops an exchange: its record gets the first failure, and what can still be recorded is recorded.
 *
 * `done` goes through the syncer's thread, which syncs once for all exchanges that a batch ended. */
#include "daemon/recorder.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include <maki/json.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str_util.h"
#include "base/thread.h"

enum { TICK_MS = 1000 };
enum { LOOKUP, START, HEAD, BYTES, END };

/* Bytes of a response, queued. */
typedef struct chunk {
    maki_queue_item item;
    maki_record *record;
    size_t len;
    char bytes[];
} chunk;

struct maki_recorder {
    const maki_env *env;
    maki_queue queue;
    maki_syncer *syncer;
    bool wake_syncer; /* used by the thread alone: the syncer sleeps and has jobs */
    maki_proxy
        *proxy; /* used by the thread alone while it runs; NULL: not opened yet, the disk is full */
    maki_err open_err; /* why `proxy` is NULL */
    maki_recorder_options options;
    maki_proxy_options proxy_options;
    struct event *wake; /* wakes the thread, once for all that an iteration of the loop queued */
    bool wake_pending;
    pthread_t thread;
    bool running;
};

/* ---- on the loop's thread ------------------------------------------------------------------------- */

static void on_wake(evutil_socket_t fd, short what, void *ctx)
{
    maki_recorder *rec = ctx;
    (void)fd, (void)what;
    rec->wake_pending = false;
    maki_queue_wake(&rec->queue);
}

/* Waking a thread costs as much as handling a small request: once for each iteration of the loop, not for each item. */
static void enqueue(maki_recorder *rec, maki_queue_item *item)
{
    if (!maki_queue_push_no_wake(&rec->queue, item) || rec->wake_pending) return;
    rec->wake_pending = true;
    event_active(rec->wake, 0, 0);
}

static void run_model(maki_queue_item *item)
{
    maki_record *r = MAKI_CONTAINER_OF(item, maki_record, lookup);
    r->on_model(r);
}

static void run_consumed(maki_queue_item *item)
{
    maki_record *r = MAKI_CONTAINER_OF(item, maki_record, consumed_item);
    r->on_consumed(r);
}

static void run_capacity(maki_queue_item *item)
{
    maki_record *r = MAKI_CONTAINER_OF(item, maki_record, capacity);
    r->paused = false;
    r->on_capacity(r);
}

static void run_done(maki_queue_item *item)
{
    maki_record *r = MAKI_CONTAINER_OF(item, maki_record, done);
    if (r->sync.status != MAKI_OK && r->err.status == MAKI_OK)
        maki_fail(&r->err, r->sync.status, "what was recorded could not be made durable");
    r->on_done(r);
}

void maki_recorder_lookup_model(maki_recorder *rec, maki_record *r)
{
    r->lookup = (maki_queue_item){ .kind = LOOKUP, .run = run_model };
    enqueue(rec, &r->lookup);
}

void maki_recorder_start(maki_recorder *rec, maki_record *r)
{
    r->err = (maki_err){ .status = MAKI_OK };
    r->exchange = NULL;
    r->paused = false;
    r->start = (maki_queue_item){ .kind = START };
    r->head = (maki_queue_item){ .kind = HEAD };
    r->end = (maki_queue_item){ .kind = END };
    r->consumed_item = (maki_queue_item){ .run = run_consumed };
    r->capacity = (maki_queue_item){ .run = run_capacity };
    r->done = (maki_queue_item){ .run = run_done };
    enqueue(rec, &r->start);
}

void maki_recorder_head(maki_recorder *rec, maki_record *r, int status, maki_str type)
{
    r->response_status = status;
    snprintf(r->response_type, sizeof r->response_type, "%.*s",
             (int)(type.len < 79 ? type.len : 79), type.ptr);
    enqueue(rec, &r->head);
}

bool maki_recorder_bytes(maki_recorder *rec, maki_record *r, maki_str bytes)
{
    const maki_alloc *alloc = rec->env->alloc;
    chunk *c = alloc->resize(alloc, NULL, 0, sizeof *c + bytes.len);
    if (!c) {
        atomic_store(&r->lost, true);
        return true;
    }
    c->item = (maki_queue_item){ .kind = BYTES };
    c->record = r;
    c->len = bytes.len;
    memcpy(c->bytes, bytes.ptr, bytes.len);
    bool full = atomic_fetch_add(&r->pending, bytes.len) + bytes.len > MAKI_RECORDER_BACKLOG_MAX;
    if (full && !r->paused) {
        r->paused = true;
        atomic_store(&r->full, true); /* before the item: so the recorder sees it */
    }
    enqueue(rec, &c->item);
    return !full;
}

void maki_recorder_end(maki_recorder *rec, maki_record *r, maki_exchange_end_kind kind)
{
    r->end_kind = kind;
    enqueue(rec, &r->end);
}

/* ---- on the recorder's thread --------------------------------------------------------------------- */

/* The model that the body asks for; "" when it names none. */
static void do_lookup(maki_recorder *rec, maki_record *r)
{
    maki_str text, value, model;
    maki_err err;
    r->model_len = 0;
    if (r->coding == MAKI_CODING_NONE && maki_spool_text(r->body, &text, &err) == MAKI_OK &&
        maki_json_check(text, &value, &err) == MAKI_OK &&
        maki_json_get(value, MAKI_LIT("model"), &model) &&
        maki_json_kind_of(model) == MAKI_JSON_STRING) {
        r->model_len = maki_json_copy_text(model, r->model, sizeof r->model);
    }
    maki_queue_push(rec->options.loop, &r->lookup);
}

/* Later failures are dropped; the exchange continues, to record what can still be recorded. */
static void set_first_failure(maki_record *r, maki_status st, const maki_err *err)
{
    if (st == MAKI_OK || r->err.status != MAKI_OK) return;
    r->err = *err;
    r->err.status = st;
}

static maki_status record_request(maki_recorder *rec, maki_record *r, maki_err *err)
{
    maki_str text;
    maki_status st = maki_spool_text(r->body, &text, err);
    if (st != MAKI_OK) return st;
    if (r->coding == MAKI_CODING_NONE) return maki_exchange_request(r->exchange, text, err);
    maki_spool plain = maki_spool_new(rec->env, MAKI_SPOOL_MEMORY);
    st = maki_decompress(r->coding, text, rec->options.body_max, maki_spool_sink(&plain), err);
    if (st == MAKI_OK) st = maki_spool_text(&plain, &text, err);
    if (st == MAKI_OK) st = maki_exchange_request(r->exchange, text, err);
    maki_spool_free(&plain);
    return st;
}

static void do_start(maki_recorder *rec, maki_record *r)
{
    maki_err err = { .status = MAKI_OK };
    bool large = r->body->size > MAKI_RECORDER_CONSUMED_MIN;
    maki_status st = rec->proxy ? maki_exchange_begin(rec->proxy, &r->in, &r->exchange, &err)
                                : maki_fail(&err, rec->open_err.status, "%s", rec->open_err.msg);
    if (st == MAKI_OK) {
        st = record_request(rec, r, &err);
    } else {
        r->exchange = NULL;
    }
    set_first_failure(r, st, &err);
    /* the loop frees a small body when it next checks */
    atomic_store(&r->consumed, true);
    if (large) maki_queue_push(rec->options.loop, &r->consumed_item);
}

static void do_head(maki_record *r)
{
    maki_err err;
    if (!r->exchange) return;
    maki_status st = maki_exchange_reply_head(r->exchange, r->response_status,
                                              maki_str_of(r->response_type), &err);
    set_first_failure(r, st, &err);
}

static void do_bytes(maki_recorder *rec, chunk *c)
{
    const maki_alloc *alloc = rec->env->alloc;
    maki_record *r = c->record;
    maki_err err;
    if (r->exchange) {
        set_first_failure(r, maki_exchange_reply(r->exchange, (maki_str){ c->bytes, c->len }, &err),
                          &err);
    }
    size_t remaining = atomic_fetch_sub(&r->pending, c->len) - c->len;
    if (remaining < MAKI_RECORDER_BACKLOG_MAX / 2 && atomic_exchange(&r->full, false)) {
        maki_queue_push(rec->options.loop, &r->capacity);
    }
    alloc->resize(alloc, c, sizeof *c + c->len, 0);
}

static void do_end(maki_recorder *rec, maki_record *r)
{
    maki_err err = { .status = MAKI_OK };
    r->sync = (maki_sync_job){ .sync = { { -1, -1, -1 }, false },
                               .to = rec->options.loop,
                               .done = &r->done };
    if (r->exchange) {
        maki_exchange_set_reason(r->exchange, maki_str_of(r->reason));
        set_first_failure(r, maki_exchange_end(r->exchange, r->end_kind, &r->sync.sync, &err),
                          &err);
        maki_exchange_close(r->exchange);
    }
    if (atomic_load(&r->lost)) {
        set_first_failure(r, maki_fail_nomem(&err), &err);
    }
    if (maki_syncer_add(rec->syncer, &r->sync)) rec->wake_syncer = true;
}

static void run_item(maki_recorder *rec, maki_queue_item *item)
{
    switch (item->kind) {
    case LOOKUP: do_lookup(rec, MAKI_CONTAINER_OF(item, maki_record, lookup)); break;
    case START: do_start(rec, MAKI_CONTAINER_OF(item, maki_record, start)); break;
    case HEAD: do_head(MAKI_CONTAINER_OF(item, maki_record, head)); break;
    case BYTES: do_bytes(rec, MAKI_CONTAINER_OF(item, chunk, item)); break;
    default: do_end(rec, MAKI_CONTAINER_OF(item, maki_record, end)); break;
    }
}

/* One sync serves all exchanges that a batch ended, unless the next item takes long. */
static void wake_syncer_before(maki_recorder *rec, maki_queue_item *next)
{
    bool slow =
        next && next->kind == START &&
        MAKI_CONTAINER_OF(next, maki_record, start)->body->size > MAKI_RECORDER_CONSUMED_MIN;
    if (!rec->wake_syncer || (next && !slow)) return;
    rec->wake_syncer = false;
    maki_syncer_wake(rec->syncer);
}

static maki_status open_proxy(maki_recorder *rec)
{
    maki_err err = { .status = MAKI_OK };
    maki_status st = maki_proxy_open(rec->env, &rec->proxy_options, &rec->proxy, &err);
    rec->open_err.status = st;
    if (st == MAKI_OK)
        maki_syncer_set_proxy(rec->syncer, rec->proxy);
    else
        maki_fail(&rec->open_err, st, "conversations cannot be stored in %s: %s",
                  rec->proxy_options.home, err.msg);
    return st;
}

static void *work(void *ctx)
{
    maki_recorder *rec = ctx;
    bool ended = false;
    int64_t ticked = 0;
    while (!ended) {
        maki_queue_item *item = maki_queue_wait_all(&rec->queue, TICK_MS, &ended);
        while (item) {
            maki_queue_item *next = item->next; /* running it may free it */
            run_item(rec, item);
            wake_syncer_before(rec, next);
            item = next;
        }
        int64_t now = rec->env->clock->now_ms(rec->env->clock);
        if (now - ticked >= TICK_MS || now < ticked) {
            if (rec->proxy)
                maki_proxy_tick(rec->proxy);
            else if (open_proxy(rec) == MAKI_OK)
                maki_queue_push(rec->options.loop, rec->options.opened);
            ticked = now;
        }
    }
    return NULL;
}

/* ---- open and close ------------------------------------------------------------------------------- */

/* With a full disk requests are still forwarded; any other failure ends the start with an error. */
static maki_status open_proxy_first(maki_recorder *rec, maki_err *err)
{
    maki_status st = open_proxy(rec);
    if (st == MAKI_OK) return MAKI_OK;
    if (st != MAKI_FULL) return maki_fail(err, st, "%s", rec->open_err.msg);
    rec->options.on_full(rec->options.on_full_ctx, &rec->open_err);
    return MAKI_OK;
}

maki_status maki_recorder_open(const maki_env *env, const maki_recorder_options *options,
                               maki_recorder **out, maki_err *err)
{
    maki_recorder *rec = maki_new(env->alloc, maki_recorder);
    if (!rec) return maki_fail_nomem(err);
    *rec = (maki_recorder){ .env = env, .options = *options, .proxy_options = *options->proxy };
    maki_status st = maki_queue_open(&rec->queue, false, err);
    rec->wake = event_new(options->base, -1, 0, on_wake, rec);
    if (st == MAKI_OK && !rec->wake) st = maki_fail_nomem(err);
    if (st == MAKI_OK) st = maki_syncer_open(env, &rec->syncer, err);
    if (st == MAKI_OK) st = open_proxy_first(rec, err);
    rec->running = st == MAKI_OK && maki_thread_start(&rec->thread, work, rec);
    if (st == MAKI_OK && !rec->running)
        st = maki_fail(err, MAKI_NOMEM, "cannot start the recorder's thread");
    if (st != MAKI_OK) {
        maki_recorder_close(rec);
        return st;
    }
    *out = rec;
    return MAKI_OK;
}

void maki_recorder_close(maki_recorder *rec)
{
    if (!rec) return;
    maki_queue_shutdown(&rec->queue);
    if (rec->running) pthread_join(rec->thread, NULL);
    maki_syncer_close(rec->syncer);
    maki_proxy_close(rec->proxy);
    maki_queue_close(&rec->queue);
    if (rec->wake) event_free(rec->wake);
    maki_delete(rec->env->alloc, rec);
}
