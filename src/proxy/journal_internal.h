/* journal_internal.h -- the inside of a journal, for journal.c and journal_read.c. */
#ifndef MAKI_PROXY_JOURNAL_INTERNAL_H
#define MAKI_PROXY_JOURNAL_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/limits.h"
#include "proxy/journal.h"

enum {
    JOURNAL_SIZE = 16 << 20, /* of a half */
    LOOKED_BACK = 64         /* sessions: one that stands among the last is not noted again */
};

/* A piece in the file; its bytes follow, filled up to a multiple of 8. */
typedef struct journal_piece {
    uint64_t head_check; /* of all that follows in here; it covers the generation too */
    uint64_t generation; /* a half is read as long as it stays the same */
    uint32_t length, part;
    uint64_t at;
    unsigned char session[MAKI_SESSION_BYTES];
    uint64_t check; /* of the bytes */
} journal_piece;

typedef struct journal_half {
    int fd;
    uint64_t end;                                 /* where the next piece goes */
    unsigned char (*touched)[MAKI_SESSION_BYTES]; /* the logs it speaks of; some stand twice */
    size_t touched_count, touched_capacity;
} journal_half;

struct maki_journal {
    maki_env env;
    const maki_logger *logger;
    char directory[MAKI_PATH_MAX], sessions[MAKI_PATH_MAX];
    /* the thread that syncs */
    journal_half halves[2];
    size_t current;
    int64_t tried; /* when it was last off: in ms */
    uint64_t generation;
    maki_buf writing;
    /* the lock guards these */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    maki_buf waiting;   /* pieces that are not in the file yet */
    journal_half *full; /* the logs of this half are being synced; NULL: none */
    bool ending;

    atomic_bool off; /* it cannot be written: nothing is added */
    /* a log could not be synced: nothing is added any more, nothing written over */
    atomic_bool broken;
    pthread_t thread; /* that syncs logs */
    bool running;
};

static inline size_t journal_padded(size_t length)
{
    return (length + 7) & ~(size_t)7;
}

uint64_t journal_head_check(const journal_piece *piece);

/* The file of a log. */
void maki_journal_path(const maki_journal *j, const unsigned char *session, maki_log_part part,
                       char *out, size_t capacity);

/* Read both halves, the older one first, and put back what is missing.  The logs it speaks of are noted as
 * touched, and `generation` is the newest there was.  With `make`, logs that are not there are made. */
maki_status maki_journal_restore(maki_journal *j, bool make, uint64_t *restored, maki_err *err);
bool maki_journal_touch(maki_journal *j, journal_half *half, const unsigned char *session);

#endif
