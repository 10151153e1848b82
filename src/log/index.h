/* index.h -- a record of 64 bytes for every row of a log: its offset and the facts that never change.
 *
 * Derived: it can be missing, stale or corrupt without any loss, and is rebuilt from the
 * log.  It is written with pwrite, the count last, and replaced only by rename, so that readers in
 * other processes always see complete records.  Records are read with pread in small blocks and not
 * mapped: when another program truncates a mapped file, SIGBUS ends the process
 * (docs/decisions/0002-index-read-with-pread.md). */
#ifndef MAKI_LOG_INDEX_H
#define MAKI_LOG_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/env.h>

enum {
    MAKI_CHAIN_LEN = 16, /* bytes of SHA-256 stored for a row */
    MAKI_INDEX_ENCODING_LEN =
        16 /* capacity of the name of an encoding and its version, with a NUL */
};

/* What a record has besides offset, length, tokens and hashes: the facts that the facts function returns (log.h).
 * A new one is a row here, the size below, and its value in history/facts.c; older indexes are rebuilt. */
/* clang-format off */
#define MAKI_ROW_FACT_MAP(X)  \
    X(int64_t, ts)        \
    X(uint32_t, flags)    \
    X(uint32_t, call_seq) /* the message whose calls this one answers; 0: none */
/* clang-format on */
#define MAKI_ROW_FACT_FIELD(type, name) type name;

/* The record of one row, as stored in the file (little-endian machines only). */
typedef struct maki_index_record {
    uint64_t offset; /* in the messages file */
    uint32_t length; /* without the newline */
    uint32_t tokens;
    uint64_t tokens_so_far; /* of rows 1 to this one */
    MAKI_ROW_FACT_MAP(MAKI_ROW_FACT_FIELD)
    unsigned char chain[MAKI_CHAIN_LEN];
    uint64_t xxh3; /* of the row */
} maki_index_record;
_Static_assert(sizeof(maki_index_record) == 64, "a record has 64 bytes");

/* The header: 128 bytes before the records. */
typedef struct maki_index_header {
    char magic[8];
    uint32_t version;
    uint32_t row_size;
    uint64_t count;     /* records; written last */
    uint64_t end;       /* one past the newline of the last row in the messages file */
    uint64_t view_hash; /* of the view on disk, when there is one */
    uint64_t base;      /* seq of the last message before row 1: more than 0 in a fork */
    char encoding[MAKI_INDEX_ENCODING_LEN];
    unsigned char start[MAKI_CHAIN_LEN]; /* the chain before row 1 */
    uint64_t events;       /* events after the last write; if the file has fewer, some are lost */
    uint64_t events_check; /* xxh3 of `events` */
    /* A cache: the tokens of the newest view, valid for these numbers of records and events. */
    uint64_t view_tokens;
    uint32_t view_records, view_events;
    uint64_t view_check; /* xxh3 of these three; all are 0: unknown */
    uint64_t check;      /* xxh3 of all fields before it, with the mutable ones as 0 */
} maki_index_header;

typedef struct maki_index {
    const maki_env *env;
    int fd;
    bool is_private; /* in an unlinked file, for this handle alone */
    maki_index_header header;
    maki_index_record block[64]; /* the records read last, a cache */
    uint64_t block_first;        /* the number of block[0]; 0: none */
    size_t block_count;
} maki_index;

/* Store the number of events in the header.  Not synced; a number that is too small is harmless. */
maki_status maki_index_store_event_count(maki_index *index, uint64_t events, maki_err *err);

/* The check that belongs to the cached tokens of a header. */
uint64_t maki_index_view_check(const maki_index_header *header);
/* The cached tokens of the view; false: unknown. */
bool maki_index_view(const maki_index *index, uint64_t *tokens, uint64_t *records,
                     uint64_t *events);
/* Cache them in the index at `path`, if it is writable; a failure is harmless. */
void maki_index_store_view(const maki_env *env, const char *path, uint64_t tokens, uint64_t records,
                           uint64_t events);

/* Initialize *header with these values; magic, version and check are filled in. */
void maki_index_header_init(maki_index_header *header, const char *encoding, uint64_t base,
                            const unsigned char start[MAKI_CHAIN_LEN]);

/* Open an index.  MAKI_NOTFOUND: no such file; MAKI_CORRUPT: not an index, or damaged. */
maki_status maki_index_open(maki_index *index, const maki_env *env, const char *path, bool write,
                            maki_err *err);
/* Create an empty index at `path`, or, with `path` NULL, a private one. */
maki_status maki_index_create(maki_index *index, const maki_env *env, const char *path,
                              const maki_index_header *header, maki_err *err);
void maki_index_close(maki_index *index); /* accepts a zeroed one with fd -1 */

/* Read the header again: another process may have added records. */
maki_status maki_index_refresh(maki_index *index, maki_err *err);

/* Record `number`, from 1 to header.count. */
maki_status maki_index_get(maki_index *index, uint64_t number, maki_index_record *out,
                           maki_err *err);

/* Append records; `end` is where the last of their rows ends.  Not synced. */
maki_status maki_index_add(maki_index *index, const maki_index_record *rows, size_t count,
                           uint64_t end, maki_err *err);

#endif
