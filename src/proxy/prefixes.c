/* prefixes.c -- a hash table in a file: open addressing with linear probing; slot 0 is the header.
 *
 * Always: the capacity is a power of two, and at most half of it is used; each record has a checksum.  A deleted entry
 *         keeps its slot (a tombstone without a session), so that probing continues past it; growing omits it. */
#include "proxy/prefixes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/err.h"
#include "base/files.h"
#include "base/limits.h"

_Static_assert(sizeof(maki_prefix) == 64, "a record is a cache line");

enum { FIRST_CAPACITY = 4096, PROBE_RECORDS = 4, COPY_RECORDS = 256 };

/* The first record of the file. */
typedef struct table_header {
    char magic[8];
    uint64_t version, capacity;
    unsigned char reserved[32];
    uint64_t check; /* of all fields before */
} table_header;
_Static_assert(sizeof(table_header) == sizeof(maki_prefix), "records are aligned");

static const char magic[8] = "makipfx";

static uint32_t check_of(const maki_prefix *entry)
{
    uint32_t check = (uint32_t)XXH3_64bits(entry, offsetof(maki_prefix, check));
    return check ? check : 1;
}

static uint64_t slot_of(uint64_t capacity, const unsigned char *prefix)
{
    uint64_t hash;
    memcpy(&hash, prefix, sizeof hash); /* it is a hash already */
    return hash & (capacity - 1);
}

static uint64_t offset_of(uint64_t slot)
{
    return (slot + 1) * sizeof(maki_prefix);
}

/* ---- the file ------------------------------------------------------------------------------ */

static maki_status write_header(const maki_env *env, int fd, uint64_t capacity, maki_err *err)
{
    table_header header = { .version = 1, .capacity = capacity };
    static const maki_prefix last;
    memcpy(header.magic, magic, sizeof magic);
    header.check = XXH3_64bits(&header, offsetof(table_header, check));
    /* the last slot first: then the file has its length, with zeros in between */
    maki_status st = maki_file_write_at(env->files, fd, offset_of(capacity - 1),
                                        (maki_str){ (const char *)&last, sizeof last }, err);
    if (st != MAKI_OK) return st;
    return maki_file_write_at(env->files, fd, 0, (maki_str){ (const char *)&header, sizeof header },
                              err);
}

/* The table's capacity; 0: not a table, or corrupt. */
static uint64_t read_header(const maki_env *env, int fd)
{
    table_header header;
    size_t got = 0;
    off_t size = maki_file_size(env->files, fd);
    if (size < 0 ||
        maki_file_read_at(env->files, fd, 0, &header, sizeof header, &got, NULL) != MAKI_OK ||
        got != sizeof header || memcmp(header.magic, magic, sizeof magic) != 0 ||
        header.version != 1 ||
        header.check != XXH3_64bits(&header, offsetof(table_header, check)) ||
        header.capacity < PROBE_RECORDS || (header.capacity & (header.capacity - 1)) != 0 ||
        (uint64_t)size / sizeof header <= header.capacity)
        return 0;
    return header.capacity;
}

/* Called with every used slot, deleted and corrupt ones included. */
typedef maki_status (*entry_fn)(void *ctx, const maki_prefix *entry, maki_err *err);

static maki_status each_entry(maki_prefixes *t, entry_fn fn, void *ctx, maki_err *err)
{
    maki_prefix records[COPY_RECORDS];
    maki_status st = MAKI_OK;
    for (uint64_t slot = 0; st == MAKI_OK && slot < t->capacity; slot += COPY_RECORDS) {
        size_t got = 0;
        st = maki_file_read_at(t->env->files, t->fd, offset_of(slot), records, sizeof records, &got,
                               err);
        for (size_t i = 0; st == MAKI_OK && i < got / sizeof records[0]; i++) {
            if (records[i].check) st = fn(ctx, &records[i], err);
        }
    }
    return st;
}

static maki_status count_entry(void *ctx, const maki_prefix *entry, maki_err *err)
{
    (void)entry;
    (void)err;
    ++*(uint64_t *)ctx;
    return MAKI_OK;
}

static maki_status open_file(const maki_env *env, const char *path, int flags, int *fd,
                             maki_err *err)
{
    *fd = env->files->open(env->files, path, O_RDWR | O_CLOEXEC | flags, 0600);
    if (*fd < 0) return maki_fail_errno(err, "cannot open the table of prefixes");
    if (env->files->lock(env->files, *fd, LOCK_EX | LOCK_NB) == 0) return MAKI_OK;
    int reason = errno;
    env->files->close(env->files, *fd);
    *fd = -1;
    if (reason == EWOULDBLOCK)
        return maki_fail(err, MAKI_CONFLICT,
                         "another maki serve uses this directory; stop it, or set --home");
    errno = reason;
    return maki_fail_errno(err, "cannot lock the table of prefixes");
}

void maki_prefixes_close(maki_prefixes *t)
{
    if (t->fd >= 0) t->env->files->close(t->env->files, t->fd);
    t->fd = -1;
}

/* ---- lookup and insertion ------------------------------------------------------------------------------ */

/* The slot of a prefix, or the empty one where it would be. */
static maki_status find_slot(maki_prefixes *t, const unsigned char *prefix, uint64_t *slot,
                             maki_prefix *out, maki_err *err)
{
    maki_prefix records[PROBE_RECORDS];
    uint64_t from = slot_of(t->capacity, prefix);
    for (uint64_t probed = 0; probed < t->capacity; probed += PROBE_RECORDS) {
        uint64_t first = (from + probed) & (t->capacity - 1);
        size_t n = t->capacity - first < PROBE_RECORDS ? (size_t)(t->capacity - first)
                                                       : PROBE_RECORDS,
               got = 0;
        maki_status st = maki_file_read_at(t->env->files, t->fd, offset_of(first), records,
                                           n * sizeof records[0], &got, err);
        if (st != MAKI_OK) return st;
        for (size_t i = 0; i < n; i++) {
            bool same = memcmp(records[i].prefix, prefix, MAKI_PREFIX_LEN) == 0;
            if (records[i].check && !(same && records[i].check == check_of(&records[i]))) continue;
            *slot = first + i;
            *out = records[i];
            return MAKI_OK;
        }
        if (n < PROBE_RECORDS)
            probed -= PROBE_RECORDS - n; /* the end of the file: continue at its beginning */
    }
    return maki_fail(err, MAKI_CORRUPT, "the table of prefixes has no free slot");
}

/* A tombstone: a used slot without a session. */
static bool is_deleted(const maki_prefix *entry)
{
    static const unsigned char none[MAKI_SESSION_BYTES];
    return memcmp(entry->session, none, sizeof none) == 0;
}

maki_status maki_prefixes_find(maki_prefixes *t, const unsigned char prefix[MAKI_PREFIX_LEN],
                               maki_prefix *out, bool *found, maki_err *err)
{
    uint64_t slot;
    maki_status st = find_slot(t, prefix, &slot, out, err);
    *found = st == MAKI_OK && out->check != 0 && !is_deleted(out);
    return st;
}

static maki_status write_entry(maki_prefixes *t, const maki_prefix *entry, maki_err *err)
{
    maki_prefix old;
    uint64_t slot;
    maki_status st = find_slot(t, entry->prefix, &slot, &old, err);
    if (st == MAKI_OK)
        st = maki_file_write_at(t->env->files, t->fd, offset_of(slot),
                                (maki_str){ (const char *)entry, sizeof *entry }, err);
    if (st == MAKI_OK && !old.check) t->count++;
    return st;
}

static maki_status copy_entry(void *ctx, const maki_prefix *entry, maki_err *err)
{
    bool valid = entry->check == check_of(entry);
    return valid && !is_deleted(entry) ? write_entry(ctx, entry, err) : MAKI_OK;
}

/* Write a copy of twice the capacity to a new file, then rename it over the old one. */
static maki_status grow(maki_prefixes *t, maki_err *err)
{
    const maki_files *files = t->env->files;
    char path[MAKI_PATH_MAX];
    maki_prefixes larger = {
        .env = t->env, .path = t->path, .fd = -1, .capacity = t->capacity * 2
    };
    snprintf(path, sizeof path, "%s.new", t->path);
    files->unlink(files, path);
    maki_status st = open_file(t->env, path, O_CREAT | O_EXCL, &larger.fd, err);
    if (st == MAKI_OK) st = write_header(t->env, larger.fd, larger.capacity, err);
    if (st == MAKI_OK) st = each_entry(t, copy_entry, &larger, err);
    if (st == MAKI_OK && files->rename(files, path, t->path) != 0)
        st = maki_fail_errno(err, "cannot replace the table of prefixes");
    if (st != MAKI_OK) {
        maki_prefixes_close(&larger);
        files->unlink(files, path);
        return st;
    }
    maki_prefixes_close(t);
    *t = larger;
    return MAKI_OK;
}

static bool is_half_full(const maki_prefixes *t)
{
    return t->count * 2 >= t->capacity;
}

maki_status maki_prefixes_open(maki_prefixes *t, const maki_env *env, const char *path,
                               maki_err *err)
{
    *t = (maki_prefixes){ .env = env, .path = path, .fd = -1 };
    maki_status st = open_file(env, path, O_CREAT, &t->fd, err);
    if (st != MAKI_OK) return st;
    t->capacity = read_header(env, t->fd);
    if (t->capacity == 0) { /* new, or corrupt */
        t->capacity = FIRST_CAPACITY;
        if (env->files->truncate(env->files, t->fd, 0) != 0)
            st = maki_fail_errno(err, "cannot empty the table of prefixes");
        if (st == MAKI_OK) st = write_header(env, t->fd, t->capacity, err);
    } else {
        st = each_entry(t, count_entry, &t->count, err);
        if (st == MAKI_OK && is_half_full(t)) st = grow(t, err);
    }
    if (st != MAKI_OK) maki_prefixes_close(t);
    return st;
}

maki_status maki_prefixes_insert(maki_prefixes *t, maki_prefix entry, maki_err *err)
{
    maki_status st = is_half_full(t) ? grow(t, err) : MAKI_OK;
    entry.check = check_of(&entry);
    return st == MAKI_OK ? write_entry(t, &entry, err) : st;
}

maki_status maki_prefixes_delete(maki_prefixes *t, const maki_prefix *entry, maki_err *err)
{
    maki_prefix deleted = { .used = entry->used };
    memcpy(deleted.prefix, entry->prefix, sizeof deleted.prefix);
    deleted.check = check_of(&deleted);
    maki_prefix old;
    bool found;
    maki_status st = maki_prefixes_find(t, entry->prefix, &old, &found, err);
    return found ? write_entry(t, &deleted, err) : st; /* a missing entry needs no tombstone */
}
