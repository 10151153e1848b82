/* spool.h -- a buffer for data of unknown length: in memory while it is small, then in a temporary file.
 *
 * Up to `in_memory` bytes are kept in a buffer.  Longer data moves to an unlinked temporary file, which is mapped when it
 * is read.  Where that file cannot be created or cannot grow (disk full, no descriptors), up to MAKI_SPOOL_FALLBACK bytes
 * stay in memory: a daemon whose disk is full can still forward ordinary requests.  Only our own file is mapped, because
 * other processes cannot truncate it while we read.  A spool belongs to one thread at a time. */
#ifndef MAKI_BASE_SPOOL_H
#define MAKI_BASE_SPOOL_H

#include <stdbool.h>

#include "base/buf.h"

enum {
    MAKI_SPOOL_MEMORY = 1 << 20, /* the default `in_memory` */
    MAKI_SPOOL_FALLBACK = 16 << 20
};

typedef struct maki_spool {
    const maki_env *env;
    maki_buf memory;
    size_t in_memory;
    uint64_t size;
    int fd;        /* -1: the data is in `memory` */
    bool fallback; /* the file failed: `memory` may hold MAKI_SPOOL_FALLBACK bytes */
    void *map;     /* of the file, after it was read; NULL: none */
    size_t mapped; /* length of the map */
} maki_spool;

maki_spool maki_spool_new(const maki_env *env, size_t in_memory);
void maki_spool_free(maki_spool *spool);  /* accepts one that was zeroed or freed */
void maki_spool_clear(maki_spool *spool); /* empties it; the buffer stays allocated */

maki_status maki_spool_add(maki_spool *spool, maki_str bytes, maki_err *err);
maki_sink maki_spool_sink(maki_spool *spool); /* the spool must not move while the sink is in use */
/* All bytes so far, borrowed until the next call. */
maki_status maki_spool_text(maki_spool *spool, maki_str *text, maki_err *err);
/* Read up to `capacity` bytes from offset `at`; *got 0 at the end. */
maki_status maki_spool_read(const maki_spool *spool, uint64_t at, char *out, size_t capacity,
                            size_t *got, maki_err *err);

#endif
