/* recorder.c -- see recorder.h. */
#include "daemon/recorder.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "base/thread.h"

enum { TICK_MS = 1000 };
enum { START, HEAD, BYTES, END };

/* Bytes of a reply on their way. */
typedef struct piece {
    maki_queue_item item;
    maki_record *record;
    size_t len;
    char bytes[];
} piece;

struct maki_recorder {
    const maki_env *env;
    maki_queue queue;
    maki_syncer *syncer;
    bool syncer_sleeps; /* the thread's: and there is work for it */
    maki_proxy *proxy;  /* the thread's, from its start to its end; NULL: there was no room yet, */
    maki_err why;       /* as this says */
    maki_recorder_options options;
    maki_proxy_options proxy_options;
    struct event *nudge; /* wakes the thread, once for all that a turn of the loop brought */
    bool nudged;
    pthread_t thread;
    bool running;
};

/* ---- the loop's side ------------------------------------------------------------------------------ */

static void on_nudge(evutil_socket_t fd, short what, void *ctx)
{
    maki_recorder *e = ctx;
    (void)fd, (void)what;
    e->nudged = false;
    maki_queue_wake(&e->queue);
}

/* Waking a thread costs as much as handling a small request: so not for every message. */
static void hand_over(maki_recorder *e, maki_queue_item *item)
{
    if (!maki_queue_push_no_wake(&e->queue, item) || e->nudged) return;
    e->nudged = true;
    event_active(e->nudge, 0, 0);
}

static void run_took(maki_queue_item *item)
{
    maki_record *r = MAKI_CONTAINER_OF(item, maki_record, took);
    r->on_took(r);
}

static void run_capacity(maki_queue_item *item)
{
    maki_record *r = MAKI_CONTAINER_OF(item, maki_record, capacity);
    r->told_full = false;
    r->on_capacity(r);
}

static void run_done(maki_queue_item *item)
{
    maki_record *r = MAKI_CONTAINER_OF(item, maki_record, done);
    if (r->sync.status != MAKI_OK && r->err.status == MAKI_OK)
        maki_fail(&r->err, r->sync.status, "what was recorded could not be made durable");
    r->on_done(r);
}

void maki_recorder_start(maki_recorder *e, maki_record *r)
{
    r->err = (maki_err){ .status = MAKI_OK };
    r->exchange = NULL;
    r->told_full = false;
    r->start = (maki_queue_item){ .what = START };
    r->head = (maki_queue_item){ .what = HEAD };
    r->end = (maki_queue_item){ .what = END };
    r->took = (maki_queue_item){ .run = run_took };
    r->capacity = (maki_queue_item){ .run = run_capacity };
    r->done = (maki_queue_item){ .run = run_done };
    hand_over(e, &r->start);
}

void maki_recorder_head(maki_recorder *e, maki_record *r, int status, maki_str type)
{
    r->reply_status = status;
    snprintf(r->reply_type, sizeof r->reply_type, "%.*s", (int)(type.len < 79 ? type.len : 79),
             type.ptr);
    hand_over(e, &r->head);
}

bool maki_recorder_bytes(maki_recorder *e, maki_record *r, maki_str bytes)
{
    const maki_alloc *alloc = e->env->alloc;
    piece *p = alloc->resize(alloc, NULL, 0, sizeof *p + bytes.len);
    if (!p) {
        atomic_store(&r->lost, true);
        return true;
    }
    p->item = (maki_queue_item){ .what = BYTES };
    p->record = r;
    p->len = bytes.len;
    memcpy(p->bytes, bytes.ptr, bytes.len);
    bool full = atomic_fetch_add(&r->waiting, bytes.len) + bytes.len > MAKI_RECORDER_BACKLOG_MAX;
    if (full && !r->told_full) {
        r->told_full = true;
        atomic_store(&r->full, true); /* before the put: so the engine sees it */
    }
    hand_over(e, &p->item);
    return !full;
}

void maki_recorder_end(maki_recorder *e, maki_record *r, maki_exchange_end_kind kind)
{
    r->end_kind = kind;
    hand_over(e, &r->end);
}

/* ---- the engine's thread -------------------------------------------------------------------------- */

/* The first failure is told; the exchange goes on, for what can still be kept. */
static void note(maki_record *r, maki_status st, const maki_err *err)
{
    if (st == MAKI_OK || r->err.status != MAKI_OK) return;
    r->err = *err;
    r->err.status = st;
}

static maki_status hand_request(maki_recorder *e, maki_record *r, maki_err *err)
{
    maki_str text;
    maki_status st = maki_spool_text(r->body, &text, err);
    if (st != MAKI_OK) return st;
    if (r->coding == MAKI_CODING_NONE) return maki_exchange_request(r->exchange, text, err);
    maki_spool plain = maki_spool_new(e->env, MAKI_SPOOL_MEMORY);
    st = maki_decompress(r->coding, text, e->options.body_max, maki_spool_sink(&plain), err);
    if (st == MAKI_OK) st = maki_spool_text(&plain, &text, err);
    if (st == MAKI_OK) st = maki_exchange_request(r->exchange, text, err);
    maki_spool_free(&plain);
    return st;
}

static void do_start(maki_recorder *e, maki_record *r)
{
    maki_err err = { .status = MAKI_OK };
    bool large = r->body->size > MAKI_RECORDER_CONSUMED;
    maki_status st = e->proxy ? maki_exchange_begin(e->proxy, &r->in, &r->exchange, &err)
                              : maki_fail(&err, e->why.status, "%s", e->why.msg);
    if (st == MAKI_OK) {
        st = hand_request(e, r, &err);
    } else {
        r->exchange = NULL;
    }
    note(r, st, &err);
    /* a small body may go from now on: the loop looks now and then */
    atomic_store(&r->taken, true);
    if (large) maki_queue_push(e->options.loop, &r->took);
}

static void do_head(maki_record *r)
{
    maki_err err;
    if (!r->exchange) return;
    maki_status st =
        maki_exchange_reply_head(r->exchange, r->reply_status, maki_str_of(r->reply_type), &err);
    note(r, st, &err);
}

static void do_bytes(maki_recorder *e, piece *p)
{
    const maki_alloc *alloc = e->env->alloc;
    maki_record *r = p->record;
    maki_err err;
    if (r->exchange) {
        note(r, maki_exchange_reply(r->exchange, (maki_str){ p->bytes, p->len }, &err), &err);
    }
    size_t left = atomic_fetch_sub(&r->waiting, p->len) - p->len;
    if (left < MAKI_RECORDER_BACKLOG_MAX / 2 && atomic_exchange(&r->full, false)) {
        maki_queue_push(e->options.loop, &r->capacity);
    }
    alloc->resize(alloc, p, sizeof *p + p->len, 0);
}

static void do_end(maki_recorder *e, maki_record *r)
{
    maki_err err = { .status = MAKI_OK };
    r->sync = (maki_sync_job){ .sync = { { -1, -1, -1 }, false },
                               .to = e->options.loop,
                               .done = &r->done };
    if (r->exchange) {
        note(r, maki_exchange_end(r->exchange, r->end_kind, &r->sync.sync, &err), &err);
        maki_exchange_close(r->exchange);
    }
    if (atomic_load(&r->lost)) {
        note(r, maki_fail_nomem(&err), &err);
    }
    if (maki_syncer_add(e->syncer, &r->sync)) e->syncer_sleeps = true;
}

static void run_item(maki_recorder *e, maki_queue_item *item)
{
    switch (item->what) {
    case START: do_start(e, MAKI_CONTAINER_OF(item, maki_record, start)); break;
    case HEAD: do_head(MAKI_CONTAINER_OF(item, maki_record, head)); break;
    case BYTES: do_bytes(e, MAKI_CONTAINER_OF(item, piece, item)); break;
    default: do_end(e, MAKI_CONTAINER_OF(item, maki_record, end)); break;
    }
}

/* One sync serves all exchanges that a batch ended, unless the next item keeps them waiting. */
static void wake_syncer(maki_recorder *e, maki_queue_item *next)
{
    bool slow = next && next->what == START &&
                MAKI_CONTAINER_OF(next, maki_record, start)->body->size > MAKI_RECORDER_CONSUMED;
    if (!e->syncer_sleeps || (next && !slow)) return;
    e->syncer_sleeps = false;
    maki_syncer_wake(e->syncer);
}

static maki_status open_proxy(maki_recorder *e)
{
    maki_err why = { .status = MAKI_OK };
    maki_status st = maki_proxy_open(e->env, &e->proxy_options, &e->proxy, &why);
    e->why.status = st;
    if (st == MAKI_OK)
        maki_syncer_use(e->syncer, e->proxy);
    else
        maki_fail(&e->why, st, "conversations cannot be kept in %s: %s", e->proxy_options.home,
                  why.msg);
    return st;
}

static void *work(void *ctx)
{
    maki_recorder *e = ctx;
    bool ended = false;
    int64_t ticked = 0;
    while (!ended) {
        maki_queue_item *item = maki_queue_wait_all(&e->queue, TICK_MS, &ended);
        while (item) {
            maki_queue_item *next = item->next; /* running it may give it away */
            run_item(e, item);
            wake_syncer(e, next);
            item = next;
        }
        int64_t now = e->env->clock->now_ms(e->env->clock);
        if (now - ticked >= TICK_MS || now < ticked) {
            if (e->proxy)
                maki_proxy_tick(e->proxy);
            else if (open_proxy(e) == MAKI_OK)
                maki_queue_push(e->options.loop, e->options.opened);
            ticked = now;
        }
    }
    return NULL;
}

/* ---- life ----------------------------------------------------------------------------------------- */

/* A full disk is no reason not to hand on what comes; anything else is a mistake that somebody should see. */
static maki_status begin(maki_recorder *e, maki_err *err)
{
    maki_status st = open_proxy(e);
    if (st == MAKI_OK) return MAKI_OK;
    if (st != MAKI_FULL) return maki_fail(err, st, "%s", e->why.msg);
    e->options.on_full(e->options.on_full_ctx, &e->why);
    return MAKI_OK;
}

maki_status maki_recorder_open(const maki_env *env, const maki_recorder_options *options,
                               maki_recorder **out, maki_err *err)
{
    maki_recorder *e = maki_new(env->alloc, maki_recorder);
    if (!e) return maki_fail_nomem(err);
    *e = (maki_recorder){ .env = env, .options = *options, .proxy_options = *options->proxy };
    maki_status st = maki_queue_open(&e->queue, false, err);
    e->nudge = event_new(options->base, -1, 0, on_nudge, e);
    if (st == MAKI_OK && !e->nudge) st = maki_fail_nomem(err);
    if (st == MAKI_OK) st = maki_syncer_open(env, &e->syncer, err);
    if (st == MAKI_OK) st = begin(e, err);
    e->running = st == MAKI_OK && maki_thread_start(&e->thread, work, e);
    if (st == MAKI_OK && !e->running) st = maki_fail(err, MAKI_NOMEM, "no thread could be started");
    if (st != MAKI_OK) {
        maki_recorder_close(e);
        return st;
    }
    *out = e;
    return MAKI_OK;
}

void maki_recorder_close(maki_recorder *e)
{
    if (!e) return;
    maki_queue_shutdown(&e->queue);
    if (e->running) pthread_join(e->thread, NULL);
    maki_syncer_close(e->syncer);
    maki_proxy_close(e->proxy);
    maki_queue_close(&e->queue);
    if (e->nudge) event_free(e->nudge);
    maki_delete(e->env->alloc, e);
}
