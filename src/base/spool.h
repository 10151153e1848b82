/* spool.h -- bytes that come in pieces and may be many: in memory while they are few, then in a file.
 *
 * Up to `in_memory` bytes stand in a buffer; what outgrows it goes on in an unlinked file of our own,
 * which is mapped when it is read.  Where no such file can be made or it cannot grow (a full disk, no
 * descriptors left), up to MAKI_SPOOL_RESCUE bytes stay in memory: a daemon whose disk is full still hands
 * on what people send in practice.  A file of somebody else's is never mapped: it could be shortened
 * while we read it.  A spool belongs to one thread at a time. */
#ifndef MAKI_BASE_SPOOL_H
#define MAKI_BASE_SPOOL_H

#include <stdbool.h>

#include "base/buf.h"

enum {
    MAKI_SPOOL_MEMORY = 1 << 20, /* the usual `in_memory` */
    MAKI_SPOOL_RESCUE = 16 << 20
};

typedef struct maki_spool {
    const maki_env *env;
    maki_buf head;
    size_t in_memory;
    uint64_t size;
    int fd;        /* -1: all of it is in `head` */
    bool rescued;  /* `head` may hold MAKI_SPOOL_RESCUE bytes */
    void *map;     /* of the file, once it was read; NULL: none */
    size_t mapped; /* bytes of it */
} maki_spool;

maki_spool maki_spool_new(const maki_env *env, size_t in_memory);
void maki_spool_free(maki_spool *spool);  /* accepts one that was zeroed or freed */
void maki_spool_clear(maki_spool *spool); /* forgets the bytes, keeps the buffer */

maki_status maki_spool_add(maki_spool *spool, maki_str bytes, maki_err *err);
maki_sink maki_spool_sink(maki_spool *spool); /* adds; the spool must not move while it is in use */
/* All bytes so far, borrowed until the next call. */
maki_status maki_spool_text(maki_spool *spool, maki_str *text, maki_err *err);
/* Up to `room` bytes from `at` on; *got 0: there are none. */
maki_status maki_spool_read(const maki_spool *spool, uint64_t at, char *out, size_t capacity,
                            size_t *got, maki_err *err);

#endif
