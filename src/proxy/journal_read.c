/* journal_read.c -- after a power cut: append to the logs what only the journal has.
 *
 * In:    both halves of the journal, the older one first; a half ends at the first header that is invalid or of another
 *        generation.
 * Out:   logs extended by the bytes of the records.  Bytes that a log already has are never changed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/err.h"
#include "base/files.h"
#include "proxy/journal_internal.h"
#include "proxy/live_conversation.h"

uint64_t journal_head_check(const journal_record *record)
{
    return XXH3_64bits(&record->generation, sizeof *record - offsetof(journal_record, generation));
}

void maki_journal_path(const maki_journal *j, const unsigned char *session, maki_log_part part,
                       char *out, size_t capacity)
{
    char id[37];
    maki_session_text(session, id);
    snprintf(out, capacity, "%s/%s%s.jsonl", j->sessions, id,
             part == MAKI_LOG_EVENTS ? ".events" : "");
}

/* Do the bytes of the file from `offset`, up to its end, equal those of `bytes`? */
static bool matches(const maki_files *files, int fd, uint64_t offset, maki_str bytes, uint64_t size)
{
    char block[4096];
    uint64_t end = offset + bytes.len < size ? offset + bytes.len : size;
    for (uint64_t from = offset; from < end;) {
        size_t n = end - from < sizeof block ? (size_t)(end - from) : sizeof block, got = 0;
        if (maki_file_read_at(files, fd, from, block, n, &got, NULL) != MAKI_OK || got != n ||
            memcmp(block, bytes.ptr + (from - offset), n) != 0)
            return false;
        from += n;
    }
    return true;
}

/* Restore one record.  A file with other bytes there was changed on purpose since then: it is not written. */
static maki_status restore_record(maki_journal *j, const journal_record *record, maki_str bytes,
                                  bool create, uint64_t *restored, maki_err *err)
{
    const maki_files *files = j->env.files;
    char path[MAKI_PATH_MAX + 64];
    maki_status st = MAKI_OK;
    maki_journal_path(j, record->session, (maki_log_part)record->part, path, sizeof path);
    /* only a record of its first bytes can create a log */
    int flags = create && record->offset == 0 ? O_CREAT : 0;
    int fd = files->open(files, path, O_RDWR | O_CLOEXEC | flags, 0600);
    if (fd < 0 && errno == ENOENT && !flags) return MAKI_OK;
    if (fd < 0) return maki_fail_errno(err, "cannot open a log to restore it");
    off_t size = maki_file_size(files, fd);
    if (size < 0) st = maki_fail_errno(err, "cannot read the size of a log");
    uint64_t length = size < 0 ? 0 : (uint64_t)size;
    if (st == MAKI_OK && length >= record->offset && length < record->offset + bytes.len &&
        matches(files, fd, record->offset, bytes, length)) {
        size_t present = (size_t)(length - record->offset);
        st = maki_file_write_at(files, fd, length,
                                (maki_str){ bytes.ptr + present, bytes.len - present }, err);
        ++*restored;
    }
    files->close(files, fd);
    return st;
}

static bool read_head(const maki_journal *j, const journal_half *half, uint64_t offset,
                      journal_record *record)
{
    size_t got = 0;
    return maki_file_read_at(j->env.files, half->fd, offset, record, sizeof *record, &got, NULL) ==
               MAKI_OK &&
           got == sizeof *record && record->head_check == journal_head_check(record);
}

/* The record at `offset` and its bytes; false: the half ends here. */
static bool read_record(const maki_journal *j, const journal_half *half, uint64_t offset,
                        journal_record *record, maki_buf *bytes)
{
    const maki_files *files = j->env.files;
    size_t got = 0;
    if (!read_head(j, half, offset, record) || record->generation == 0 ||
        record->length > MAKI_JOURNAL_MAX || record->part > MAKI_LOG_EVENTS)
        return false;
    maki_buf_clear(bytes);
    char *space = maki_buf_reserve(bytes, record->length);
    if (!space || maki_file_read_at(files, half->fd, offset + sizeof *record, space, record->length,
                                    &got, NULL) != MAKI_OK)
        return false;
    bytes->len += got;
    return got == record->length && record->check == XXH3_64bits(bytes->ptr, bytes->len);
}

static uint64_t generation_of(const maki_journal *j, const journal_half *half)
{
    journal_record record;
    return read_head(j, half, 0, &record) ? record.generation : 0;
}

static maki_status restore_half(maki_journal *j, journal_half *half, uint64_t generation,
                                bool create, uint64_t *restored, maki_err *err)
{
    maki_buf bytes = maki_buf_new(j->env.alloc, MAKI_JOURNAL_MAX);
    journal_record record;
    maki_status st = MAKI_OK;
    uint64_t offset = 0;
    while (st == MAKI_OK && generation && read_record(j, half, offset, &record, &bytes) &&
           record.generation == generation) {
        st = restore_record(j, &record, maki_buf_str(&bytes), create, restored, err);
        if (st == MAKI_OK && !maki_journal_touch(j, half, record.session))
            st = maki_fail_nomem(err);
        offset += sizeof record + journal_padded(record.length);
    }
    maki_buf_free(&bytes);
    return st;
}

maki_status maki_journal_restore(maki_journal *j, bool create, uint64_t *restored, maki_err *err)
{
    uint64_t count = 0;
    uint64_t generations[2] = { generation_of(j, &j->halves[0]), generation_of(j, &j->halves[1]) };
    size_t older = generations[0] <= generations[1] ? 0 : 1;
    maki_status st = restore_half(j, &j->halves[older], generations[older], create, &count, err);
    if (st == MAKI_OK)
        st = restore_half(j, &j->halves[1 - older], generations[1 - older], create, &count, err);
    j->generation = generations[1 - older];
    if (restored) *restored = count;
    return st;
}
