/* recorder.h -- the thread that owns all conversations: the loop queues what it forwards, this thread records it in order.
 *
 * These functions are called on the event loop's thread; each adds to the recorder's queue and never blocks.  A
 * maki_record is one exchange.  It is a member of the loop's state of the exchange; the loop frees it after `on_done`:
 *
 *     maki_recorder_start -> maki_recorder_head -> maki_recorder_bytes ... -> maki_recorder_end -> on_done
 *
 * What is recorded is durable when on_done is called.  The callbacks are called on the loop's thread, through its queue.
 *
 * When the disk is full at the start, nothing is recorded and every exchange reports why; opening is retried once a
 * second. */
#ifndef MAKI_DAEMON_RECORDER_H
#define MAKI_DAEMON_RECORDER_H

#include <stdatomic.h>

#include "base/queue.h"
#include "base/spool.h"
#include "daemon/syncer.h"
#include "net/decompress.h"
#include "proxy/proxy.h"

struct event_base;

typedef struct maki_recorder maki_recorder;
typedef struct maki_record maki_record;

struct maki_record {
    /* set by the loop before the start, unchanged until on_done */
    maki_exchange_info in; /* the spans live as long as the record */
    maki_spool *body; /* complete; from the start on the loop only reads it, with maki_spool_read */
    maki_coding coding;
    void (*on_model)(maki_record *record);    /* after maki_recorder_lookup_model: `model` is set */
    void (*on_consumed)(maki_record *record); /* `consumed` is set, and the body was large */
    void (*on_capacity)(maki_record *record); /* after maki_recorder_bytes returned false */
    void (*on_done)(maki_record *record);

    /* set before on_model: the model that the body names; model_len 0: none */
    char model[200];
    size_t model_len;
    /* set before on_done: the first failure */
    maki_err err;

    bool paused; /* used by the loop alone: on_capacity is pending */

    /* used by the recorder, but where a comment differs */
    maki_exchange *exchange;
    int response_status;
    char response_type[80];
    maki_exchange_end_kind end_kind;
    char reason[128];      /* why upstream gave no response; set before the end */
    atomic_bool consumed;  /* the body is not needed any more */
    atomic_size_t pending; /* bytes of the response that are in the queue */
    atomic_bool full;      /* on_capacity is wanted */
    atomic_bool lost;      /* some bytes could not be queued: out of memory */
    maki_queue_item lookup, start, head, end, consumed_item, capacity, done;
    maki_sync_job sync;
};

enum {
    MAKI_RECORDER_BACKLOG_MAX = 4 << 20,  /* maximum of bytes of one response in the queue */
    MAKI_RECORDER_CONSUMED_MIN = 16 << 10 /* on_consumed is called for bodies larger than this */
};

typedef struct maki_recorder_options {
    const maki_proxy_options *proxy;
    struct event_base *base; /* the loop, */
    maki_queue *loop;        /* and where the callbacks go */
    uint64_t body_max;       /* maximum size of a decompressed body */
    /* Called before maki_recorder_open returns when the disk is too full to open the conversations. */
    void (*on_full)(void *ctx, const maki_err *err);
    void *on_full_ctx;
    /* queued for the loop when a later attempt has opened them; owned by the caller, outlives the recorder */
    maki_queue_item *opened;
} maki_recorder_options;

maki_status maki_recorder_open(const maki_env *env, const maki_recorder_options *options,
                               maki_recorder **out, maki_err *err) MAKI_MUST_CHECK;
/* What is in the queue is recorded first.  Accepts NULL. */
void maki_recorder_close(maki_recorder *recorder);

/* Look up the model that the body asks for, before the start: on_model reports it. */
void maki_recorder_lookup_model(maki_recorder *recorder, maki_record *record);
void maki_recorder_start(maki_recorder *recorder, maki_record *record);
void maki_recorder_head(maki_recorder *recorder, maki_record *record, int status, maki_str type);
/* Copies `bytes`.  False: the queue is full, send no more until on_capacity. */
bool maki_recorder_bytes(maki_recorder *recorder, maki_record *record, maki_str bytes);
void maki_recorder_end(maki_recorder *recorder, maki_record *record, maki_exchange_end_kind kind);

#endif
