/* recorder.h -- the thread that owns all conversations: it gets what passes, in order, and records it.
 *
 * The loop hands over; nothing here makes it wait.  A maki_record is one exchange.  It is part of what the loop
 * keeps about the exchange, and the loop frees it after `on_done`:
 *
 *     maki_recorder_start -> maki_recorder_head -> maki_recorder_bytes ... -> maki_recorder_end -> on_done
 *
 * What is recorded is durable when on_done comes.  The callbacks come in the loop's thread, through its queue.
 *
 * Where there is no room on the disk to begin with, nothing is recorded and every exchange says why; opening is
 * tried again once a second. */
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
    maki_exchange_in in; /* the spans live as long as the record */
    maki_spool *body;    /* whole; from the start on the loop only reads it, with maki_spool_read */
    maki_coding coding;
    void (*on_took)(maki_record *record);     /* `taken` is set, and the body was large */
    void (*on_capacity)(maki_record *record); /* after maki_recorder_bytes said it is full */
    void (*on_done)(maki_record *record);

    /* set when on_done comes: how it went */
    maki_err err;

    bool told_full; /* the loop's: on_room is to come */

    /* the engine's own */
    maki_exchange *exchange;
    int reply_status;
    char reply_type[80];
    maki_exchange_end_kind end_kind;
    atomic_bool taken;     /* the body is not needed any more */
    atomic_size_t waiting; /* bytes of the reply that the engine has not seen */
    atomic_bool full;      /* on_room is wanted */
    atomic_bool lost;      /* some bytes could not be handed over */
    maki_queue_item start, head, end, took, capacity, done;
    maki_sync_job sync;
};

enum {
    MAKI_RECORDER_BACKLOG_MAX = 4 << 20, /* bytes of one reply that may wait for the engine */
    MAKI_RECORDER_CONSUMED = 16 << 10    /* bodies larger than this are told to be taken */
};

typedef struct maki_recorder_options {
    const maki_proxy_options *proxy;
    struct event_base *base; /* the loop, */
    maki_queue *loop;        /* and where the callbacks go */
    uint64_t body_max;       /* bytes of a body when it is unpacked */
    /* Told before maki_recorder_open returns that conversations could not be opened for want of room, and why. */
    void (*on_full)(void *ctx, const maki_err *err);
    void *on_full_ctx;
    /* handed to the loop when they are open at last; the caller's, who outlives the engine */
    maki_queue_item *opened;
} maki_recorder_options;

maki_status maki_recorder_open(const maki_env *env, const maki_recorder_options *options,
                               maki_recorder **out, maki_err *err) MAKI_MUST_CHECK;
/* What was handed over is recorded first.  Accepts NULL. */
void maki_recorder_close(maki_recorder *engine);

void maki_recorder_start(maki_recorder *engine, maki_record *record);
void maki_recorder_head(maki_recorder *engine, maki_record *record, int status, maki_str type);
/* Copies.  False: send no more until on_room. */
bool maki_recorder_bytes(maki_recorder *engine, maki_record *record, maki_str bytes);
void maki_recorder_end(maki_recorder *engine, maki_record *record, maki_exchange_end_kind kind);

#endif
