/* logs.h -- helpers of the tests of log/: a log in a temporary directory, and file tables that fail.
 *
 *     logs l;
 *     logs_open(&l, "messages.jsonl");
 *     maki_log *log = logs_get(&l);          // created if missing
 *     logs_append(log, "hello");
 *     maki_log_close(log);
 *     logs_close(&l);                        // also checks that nothing leaked
 */
#ifndef MAKI_TESTS_LOGS_H
#define MAKI_TESTS_LOGS_H

#include "directory.h"
#include "fake_env.h"
#include "history/facts.h"
#include "history/token_counter.h"
#include "log/log.h"

/* A disk with a fault of its own, over the real one.  Zeroed, it has none. */
typedef struct logs_disk {
    maki_files table; /* must be first */
    const maki_files *under;
    size_t changes;         /* calls so far that would change a file */
    size_t dies_at;         /* from this change on every call fails with EIO: a killed process */
    bool half;              /* the write that dies leaves half of its bytes */
    uint64_t capacity;      /* bytes that may still be written before ENOSPC */
    bool full;              /* `capacity` counts */
    int denies;             /* what opening for writing or making a file answers; 0: nothing */
    size_t directory_syncs; /* how often a directory was synced */
} logs_disk;

typedef struct logs {
    fake_env fe;
    maki_env env; /* that of `fe`, with `disk` between */
    logs_disk disk;
    directory f;
    char path[512], events[512], index[512];
    maki_recent_calls facts;
    maki_token_counter counter;
} logs;

/* `name` is that of the messages file. */
void logs_open(logs *l, const char *name);
void logs_close(logs *l);

maki_log_options logs_options(
    logs *l);                 /* with `facts` and `counter` as new, create, MAKI_DURABILITY_SYNC */
maki_log *logs_get(logs *l);  /* open with these; NULL after a failed check */
maki_log *logs_read(logs *l); /* the same, read_only */

/* {"role":"user","content":TEXT}, borrowed until the next call. */
maki_str logs_row(const char *text);
maki_status logs_append(maki_log *log, const char *text, maki_err *err);
/* Message `seq` has this text. */
bool logs_has(maki_log *log, uint64_t seq, const char *text);
/* How many events of this type there are. */
size_t logs_events(maki_log *log, const char *type);

/* Change a file behind the log's back. */
void logs_add_bytes(const char *path, maki_str bytes);
void logs_cut(const char *path, uint64_t size);
uint64_t logs_size(const char *path);

#endif
