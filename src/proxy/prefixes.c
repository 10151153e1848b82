/* prefixes.c -- see prefixes.h. */
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

_Static_assert(sizeof(maki_prefix) == 64, "a record is a line of the cache");

enum { FIRST_CAPACITY = 4096, AT_ONCE = 4, COPY = 256 };

/* The first record of the file. */
typedef struct table_header {
    char magic[8];
    uint64_t version, capacity;
    unsigned char reserved[32];
    uint64_t check; /* of all that stands before */
} table_header;
_Static_assert(sizeof(table_header) == sizeof(maki_prefix), "records are aligned");

static const char magic[8] = "makipfx";

static uint32_t check_of(const maki_prefix *entry)
{
    uint32_t check = (uint32_t)XXH3_64bits(entry, offsetof(maki_prefix, check));
    return check ? check : 1;
}

static uint64_t place_of(uint64_t capacity, const unsigned char *prefix)
{
    uint64_t hash;
    memcpy(&hash, prefix, sizeof hash); /* it is a hash already */
    return hash & (capacity - 1);
}

static uint64_t offset_of(uint64_t place)
{
    return (place + 1) * sizeof(maki_prefix);
}

/* ---- the file ------------------------------------------------------------------------------ */

static maki_status write_header(const maki_env *env, int fd, uint64_t capacity, maki_err *err)
{
    table_header header = { .version = 1, .capacity = capacity };
    static const maki_prefix last;
    memcpy(header.magic, magic, sizeof magic);
    header.check = XXH3_64bits(&header, offsetof(table_header, check));
    /* the last place first: from then on the file has its length, zeros in between */
    maki_status st = maki_file_write_at(env->files, fd, offset_of(capacity - 1),
                                        (maki_str){ (const char *)&last, sizeof last }, err);
    if (st != MAKI_OK) return st;
    return maki_file_write_at(env->files, fd, 0, (maki_str){ (const char *)&header, sizeof header },
                              err);
}

/* Is it one of ours, whole?  Then its room is told, else 0. */
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
        header.capacity < AT_ONCE || (header.capacity & (header.capacity - 1)) != 0 ||
        (uint64_t)size / sizeof header <= header.capacity)
        return 0;
    return header.capacity;
}

/* Called with every place that is taken, by an entry or by what is left of one. */
typedef maki_status (*entry_fn)(void *ctx, const maki_prefix *entry, maki_err *err);

static maki_status each_entry(maki_prefixes *t, entry_fn fn, void *ctx, maki_err *err)
{
    maki_prefix some[COPY];
    maki_status st = MAKI_OK;
    for (uint64_t place = 0; st == MAKI_OK && place < t->capacity; place += COPY) {
        size_t got = 0;
        st =
            maki_file_read_at(t->env->files, t->fd, offset_of(place), some, sizeof some, &got, err);
        for (size_t i = 0; st == MAKI_OK && i < got / sizeof some[0]; i++) {
            if (some[i].check) st = fn(ctx, &some[i], err);
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
    if (*fd < 0) return maki_fail_errno(err, "opening the table of prefixes");
    if (env->files->lock(env->files, *fd, LOCK_EX | LOCK_NB) == 0) return MAKI_OK;
    int reason = errno;
    env->files->close(env->files, *fd);
    *fd = -1;
    if (reason == EWOULDBLOCK)
        return maki_fail(err, MAKI_CONFLICT,
                         "another maki serve uses this folder; stop it, or give --home");
    errno = reason;
    return maki_fail_errno(err, "locking the table of prefixes");
}

void maki_prefixes_close(maki_prefixes *t)
{
    if (t->fd >= 0) t->env->files->close(t->env->files, t->fd);
    t->fd = -1;
}

/* ---- finding and putting ------------------------------------------------------------------------------- */

/* The place of a prefix, or the empty one where it would stand. */
static maki_status find_place(maki_prefixes *t, const unsigned char *prefix, uint64_t *place,
                              maki_prefix *out, maki_err *err)
{
    maki_prefix some[AT_ONCE];
    uint64_t from = place_of(t->capacity, prefix);
    for (uint64_t looked = 0; looked < t->capacity; looked += AT_ONCE) {
        uint64_t first = (from + looked) & (t->capacity - 1);
        size_t n = t->capacity - first < AT_ONCE ? (size_t)(t->capacity - first) : AT_ONCE, got = 0;
        maki_status st = maki_file_read_at(t->env->files, t->fd, offset_of(first), some,
                                           n * sizeof some[0], &got, err);
        if (st != MAKI_OK) return st;
        for (size_t i = 0; i < n; i++) {
            bool same = memcmp(some[i].prefix, prefix, MAKI_PREFIX_LEN) == 0;
            if (some[i].check && !(same && some[i].check == check_of(&some[i]))) continue;
            *place = first + i;
            *out = some[i];
            return MAKI_OK;
        }
        if (n < AT_ONCE) looked -= AT_ONCE - n; /* the end of the file: on at its beginning */
    }
    return maki_fail(err, MAKI_CORRUPT, "the table of prefixes has no free place");
}

/* Its place stays taken, for those that had to go past it; so it is of no session. */
static bool is_dropped(const maki_prefix *entry)
{
    static const unsigned char none[MAKI_SESSION_BYTES];
    return memcmp(entry->session, none, sizeof none) == 0;
}

maki_status maki_prefixes_find(maki_prefixes *t, const unsigned char prefix[MAKI_PREFIX_LEN],
                               maki_prefix *out, bool *found, maki_err *err)
{
    uint64_t place;
    maki_status st = find_place(t, prefix, &place, out, err);
    *found = st == MAKI_OK && out->check != 0 && !is_dropped(out);
    return st;
}

static maki_status put(maki_prefixes *t, const maki_prefix *entry, maki_err *err)
{
    maki_prefix there;
    uint64_t place;
    maki_status st = find_place(t, entry->prefix, &place, &there, err);
    if (st == MAKI_OK)
        st = maki_file_write_at(t->env->files, t->fd, offset_of(place),
                                (maki_str){ (const char *)entry, sizeof *entry }, err);
    if (st == MAKI_OK && !there.check) t->count++;
    return st;
}

static maki_status copy_entry(void *ctx, const maki_prefix *entry, maki_err *err)
{
    bool whole = entry->check == check_of(entry);
    return whole && !is_dropped(entry) ? put(ctx, entry, err) : MAKI_OK;
}

/* Write it anew with twice the room, beside it, then in its place. */
static maki_status grow(maki_prefixes *t, maki_err *err)
{
    const maki_files *files = t->env->files;
    char beside[MAKI_PATH_MAX];
    maki_prefixes larger = {
        .env = t->env, .path = t->path, .fd = -1, .capacity = t->capacity * 2
    };
    snprintf(beside, sizeof beside, "%s.new", t->path);
    files->unlink(files, beside);
    maki_status st = open_file(t->env, beside, O_CREAT | O_EXCL, &larger.fd, err);
    if (st == MAKI_OK) st = write_header(t->env, larger.fd, larger.capacity, err);
    if (st == MAKI_OK) st = each_entry(t, copy_entry, &larger, err);
    if (st == MAKI_OK && files->rename(files, beside, t->path) != 0)
        st = maki_fail_errno(err, "replacing the table of prefixes");
    if (st != MAKI_OK) {
        maki_prefixes_close(&larger);
        files->unlink(files, beside);
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
    if (t->capacity == 0) { /* new, or not to be trusted */
        t->capacity = FIRST_CAPACITY;
        if (env->files->truncate(env->files, t->fd, 0) != 0)
            st = maki_fail_errno(err, "emptying the table of prefixes");
        if (st == MAKI_OK) st = write_header(env, t->fd, t->capacity, err);
    } else {
        st = each_entry(t, count_entry, &t->count, err);
        if (st == MAKI_OK && is_half_full(t)) st = grow(t, err);
    }
    if (st != MAKI_OK) maki_prefixes_close(t);
    return st;
}

maki_status maki_prefixes_put(maki_prefixes *t, maki_prefix entry, maki_err *err)
{
    maki_status st = is_half_full(t) ? grow(t, err) : MAKI_OK;
    entry.check = check_of(&entry);
    return st == MAKI_OK ? put(t, &entry, err) : st;
}

maki_status maki_prefixes_drop(maki_prefixes *t, const maki_prefix *entry, maki_err *err)
{
    maki_prefix dropped = { .used = entry->used };
    memcpy(dropped.prefix, entry->prefix, sizeof dropped.prefix);
    dropped.check = check_of(&dropped);
    maki_prefix there;
    bool found;
    maki_status st = maki_prefixes_find(t, entry->prefix, &there, &found, err);
    return found ? put(t, &dropped, err) : st; /* what is not there takes no place */
}
