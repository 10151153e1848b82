/* index.c -- the records of an index in a file, read in blocks of 64 and written with pwrite.
 *
 * Order of a write: the records after the last one, then `count` and `end` in the header, which publishes them.  A
 * process killed in between leaves records that no process reads and the next writer overwrites. */
#include "log/index.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/err.h"
#include "base/files.h"
#include "log/lines.h"

_Static_assert(sizeof(maki_index_header) == 128, "the header has 128 bytes");
_Static_assert(offsetof(maki_index_header, check) ==
                   offsetof(maki_index_header, view_check) + sizeof(uint64_t),
               "the cached tokens are the last fields before `check`");

static const char magic[8] = { 'M', 'A', 'K', 'I', 'I', 'D', 'X', '1' };
enum { VERSION = 1, BLOCK_ROWS = 64 };

/* The checksum of the header fields that do not change while the index grows. */
static uint64_t header_checksum(maki_index_header header)
{
    header.count = header.end = header.view_hash = header.check = 0;
    header.events = header.events_check = 0;
    header.view_tokens = header.view_check = 0;
    header.view_records = header.view_events = 0;
    return XXH3_64bits(&header, sizeof header);
}

void maki_index_header_init(maki_index_header *header, const char *encoding, uint64_t base,
                            const unsigned char start[MAKI_CHAIN_LEN])
{
    memset(header, 0, sizeof *header);
    memcpy(header->magic, magic, sizeof magic);
    header->version = VERSION;
    header->row_size = sizeof(maki_index_record);
    header->base = base;
    strncpy(header->encoding, encoding, sizeof header->encoding - 1);
    memcpy(header->start, start, MAKI_CHAIN_LEN);
    header->events_check = XXH3_64bits(&header->events, sizeof header->events);
    header->check = header_checksum(*header);
}

enum { VIEW_OFFSET = offsetof(maki_index_header, view_tokens) };

uint64_t maki_index_view_check(const maki_index_header *h)
{
    if (!h->view_tokens && !h->view_records && !h->view_events) return 0;
    return XXH3_64bits(&h->view_tokens, offsetof(maki_index_header, view_check) - VIEW_OFFSET);
}

maki_status maki_index_refresh(maki_index *index, maki_err *err)
{
    maki_index_header header;
    size_t got = 0;
    maki_status st =
        maki_file_read_at(index->env->files, index->fd, 0, &header, sizeof header, &got, err);
    if (st != MAKI_OK) return st;
    if (got < sizeof header || memcmp(header.magic, magic, sizeof magic) != 0 ||
        header.version != VERSION || header.row_size != sizeof(maki_index_record) ||
        header.check != header_checksum(header) ||
        header.events_check != XXH3_64bits(&header.events, sizeof header.events) ||
        header.view_check != maki_index_view_check(&header)) {
        return maki_fail(err, MAKI_CORRUPT, "the index is corrupt or of another version");
    }
    uint64_t size = 0;
    st = maki_file_get_size(index->env, index->fd, &size, err);
    if (st != MAKI_OK) return st;
    if (size < sizeof header || header.count > (size - sizeof header) / sizeof(maki_index_record))
        return maki_fail(err, MAKI_CORRUPT, "the index is truncated");
    index->header = header;
    index->block_count = 0; /* the last block may have been partly filled */
    return MAKI_OK;
}

maki_status maki_index_store_event_count(maki_index *index, uint64_t events, maki_err *err)
{
    struct {
        uint64_t events, check;
    } stored = { events, XXH3_64bits(&events, sizeof events) };
    maki_str bytes = { (const char *)&stored, sizeof stored };
    maki_status st = maki_file_write_at(index->env->files, index->fd,
                                        offsetof(maki_index_header, events), bytes, err);
    if (st != MAKI_OK) return st;
    index->header.events = stored.events;
    index->header.events_check = stored.check;
    return MAKI_OK;
}

/* ---- the tokens of the newest view ------------------------------------------------------------------ */

bool maki_index_view(const maki_index *index, uint64_t *tokens, uint64_t *records, uint64_t *events)
{
    const maki_index_header *h = &index->header;
    *tokens = h->view_tokens;
    *records = h->view_records;
    *events = h->view_events;
    return h->view_check != 0;
}

void maki_index_store_view(const maki_env *env, const char *path, uint64_t tokens, uint64_t records,
                           uint64_t events)
{
    maki_index_header h = { .view_tokens = tokens,
                            .view_records = (uint32_t)records,
                            .view_events = (uint32_t)events };
    maki_str bytes = { (const char *)&h + VIEW_OFFSET, sizeof h - sizeof h.check - VIEW_OFFSET };
    if (records > UINT32_MAX || events > UINT32_MAX) return;
    h.view_check = maki_index_view_check(&h);
    int fd = env->files->open(env->files, path, O_WRONLY, 0);
    if (fd < 0) return;
    (void)!maki_file_write_at(env->files, fd, VIEW_OFFSET, bytes, NULL);
    env->files->close(env->files, fd);
}

/* ---- opening ---------------------------------------------------------------------------------------- */

maki_status maki_index_open(maki_index *index, const maki_env *env, const char *path, bool write,
                            maki_err *err)
{
    *index = (maki_index){ .env = env, .fd = -1 };
    index->fd = env->files->open(env->files, path, write ? O_RDWR : O_RDONLY, 0);
    if (index->fd < 0) return maki_fail_errno(err, "cannot open the index");
    maki_status st = maki_index_refresh(index, err);
    if (st != MAKI_OK) maki_index_close(index);
    return st;
}

maki_status maki_index_create(maki_index *index, const maki_env *env, const char *path,
                              const maki_index_header *header, maki_err *err)
{
    const maki_files *files = env->files;
    *index = (maki_index){ .env = env, .fd = -1, .is_private = path == NULL, .header = *header };
    index->fd =
        path ? files->open(files, path, O_RDWR | O_CREAT | O_TRUNC, 0600) : files->temp(files);
    if (index->fd < 0) return maki_fail_errno(err, "cannot create the index");
    maki_str bytes = { (const char *)&index->header, sizeof index->header };
    maki_status st = maki_file_write_at(files, index->fd, 0, bytes, err);
    if (st != MAKI_OK) maki_index_close(index);
    return st;
}

void maki_index_close(maki_index *index)
{
    if (index->fd >= 0) index->env->files->close(index->env->files, index->fd);
    index->fd = -1;
}

maki_status maki_index_get(maki_index *index, uint64_t number, maki_index_record *out,
                           maki_err *err)
{
    if (number == 0 || number > index->header.count) {
        return maki_fail(err, MAKI_NOTFOUND, "there is no row %llu", (unsigned long long)number);
    }
    bool cached = index->block_count && number >= index->block_first &&
                  number < index->block_first + index->block_count;
    if (!cached) {
        uint64_t first = (number - 1) / BLOCK_ROWS * BLOCK_ROWS + 1;
        uint64_t remaining = index->header.count - first + 1;
        size_t count = remaining < BLOCK_ROWS ? (size_t)remaining : BLOCK_ROWS, got = 0;
        uint64_t offset = sizeof(maki_index_header) + (first - 1) * sizeof(maki_index_record);
        maki_status st = maki_file_read_at(index->env->files, index->fd, offset, index->block,
                                           count * sizeof(maki_index_record), &got, err);
        if (st != MAKI_OK) return st;
        index->block_first = first;
        index->block_count = got / sizeof(maki_index_record);
        if (number >= first + index->block_count) {
            return maki_fail(err, MAKI_CORRUPT, "the index was truncated while in use");
        }
    }
    *out = index->block[number - index->block_first];
    return MAKI_OK;
}

/* Append new records to the cached block if they follow on it: a writer reads the newest ones next. */
static void cache_appended(maki_index *index, const maki_index_record *rows, size_t count)
{
    uint64_t next = index->block_first + index->block_count;
    if (index->block_count == 0 || next != index->header.count + 1 ||
        count > BLOCK_ROWS - index->block_count) {
        index->block_count = 0;
        return;
    }
    memcpy(index->block + index->block_count, rows, count * sizeof(maki_index_record));
    index->block_count += count;
}

maki_status maki_index_add(maki_index *index, const maki_index_record *rows, size_t count,
                           uint64_t end, maki_err *err)
{
    const maki_files *files = index->env->files;
    uint64_t offset = sizeof(maki_index_header) + index->header.count * sizeof(maki_index_record);
    assert(count == 0 || end > rows[count - 1].offset);
    maki_str bytes = { (const char *)rows, count * sizeof(maki_index_record) };
    maki_status st = maki_file_write_at(files, index->fd, offset, bytes, err);
    if (st != MAKI_OK) return st;
    struct {
        uint64_t count, end;
    } published = { index->header.count + count, end };
    bytes = (maki_str){ (const char *)&published, sizeof published };
    st = maki_file_write_at(files, index->fd, offsetof(maki_index_header, count), bytes, err);
    if (st != MAKI_OK) return st;
    cache_appended(index, rows, count);
    index->header.count = published.count;
    index->header.end = published.end;
    return MAKI_OK;
}
