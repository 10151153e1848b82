/* journal_internal.h -- struct maki_journal and the format of its records; private to journal.c and journal_read.c. */
#ifndef MAKI_PROXY_JOURNAL_INTERNAL_H
#define MAKI_PROXY_JOURNAL_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/limits.h"
#include "proxy/journal.h"

enum {
    JOURNAL_HALF_SIZE = 16 << 20, /* bytes */
    RECENT_SESSIONS = 64          /* number of touched sessions that are searched for duplicates */
};

/* The header of a record in the file; its bytes follow, padded to a multiple of 8. */
typedef struct journal_record {
    uint64_t head_check; /* of all fields below */
    uint64_t generation; /* a half ends where the generation changes */
    uint32_t length, part;
    uint64_t offset; /* in the log */
    unsigned char session[MAKI_SESSION_BYTES];
    uint64_t check; /* of the bytes */
} journal_record;

typedef struct journal_half {
    int fd;
    uint64_t end; /* where the next record is written */
    unsigned char (
        *touched)[MAKI_SESSION_BYTES]; /* sessions whose logs it has records of; with duplicates */
    size_t touched_count, touched_capacity;
} journal_half;

struct maki_journal {
    maki_env env;
    const maki_logger *logger;
    char directory[MAKI_PATH_MAX], sessions[MAKI_PATH_MAX];
    /* owned by the thread that calls maki_journal_sync */
    journal_half halves[2];
    size_t current;
    int64_t retry_ms; /* when writing last failed */
    uint64_t generation;
    maki_buf writing;
    /* the lock guards these */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    maki_buf pending;   /* records that are not in the file yet */
    journal_half *full; /* the logs of this half are being synced; NULL: none */
    bool ending;

    atomic_bool disabled; /* the journal cannot be written: no records are added */
    /* a log could not be synced: nothing is added and nothing overwritten */
    atomic_bool broken;
    pthread_t thread; /* syncs the logs of a full half */
    bool running;
};

static inline size_t journal_padded(size_t length)
{
    return (length + 7) & ~(size_t)7;
}

uint64_t journal_head_check(const journal_record *record);

/* The file of a log. */
void maki_journal_path(const maki_journal *j, const unsigned char *session, maki_log_part part,
                       char *out, size_t capacity);

/* Read both halves, the older one first, and restore what the logs have lost.  The logs of a half are added to its
 * `touched`, and `generation` is set to the newest.  `create`: restore missing logs too. */
maki_status maki_journal_restore(maki_journal *j, bool create, uint64_t *restored, maki_err *err);
bool maki_journal_touch(maki_journal *j, journal_half *half, const unsigned char *session);

#endif
