/* journal_read.c -- after a power cut: what the journal has and the logs have not is put back. */
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

uint64_t journal_head_check(const journal_piece *piece)
{
    return XXH3_64bits(&piece->generation, sizeof *piece - offsetof(journal_piece, generation));
}

void maki_journal_path(const maki_journal *j, const unsigned char *session, maki_log_part part,
                       char *out, size_t capacity)
{
    char id[37];
    maki_session_text(session, id);
    snprintf(out, capacity, "%s/%s%s.jsonl", j->sessions, id,
             part == MAKI_LOG_EVENTS ? ".events" : "");
}

/* Is `bytes`, as far as the file reaches, what stands there? */
static bool agrees(const maki_files *files, int fd, uint64_t at, maki_str bytes, uint64_t size)
{
    char block[4096];
    uint64_t end = at + bytes.len < size ? at + bytes.len : size;
    for (uint64_t from = at; from < end;) {
        size_t n = end - from < sizeof block ? (size_t)(end - from) : sizeof block, got = 0;
        if (maki_file_read_at(files, fd, from, block, n, &got, NULL) != MAKI_OK || got != n ||
            memcmp(block, bytes.ptr + (from - at), n) != 0)
            return false;
        from += n;
    }
    return true;
}

/* One piece.  A file that goes on differently was changed since by somebody who knew what they did: it is
 * left alone. */
static maki_status put_back(maki_journal *j, const journal_piece *piece, maki_str bytes, bool make,
                            uint64_t *restored, maki_err *err)
{
    const maki_files *files = j->env.files;
    char path[MAKI_PATH_MAX + 64];
    maki_status st = MAKI_OK;
    maki_journal_path(j, piece->session, (maki_log_part)piece->part, path, sizeof path);
    /* without its beginning there is nothing to go on from */
    int create = make && piece->at == 0 ? O_CREAT : 0;
    int fd = files->open(files, path, O_RDWR | O_CLOEXEC | create, 0600);
    if (fd < 0 && errno == ENOENT && !create) return MAKI_OK;
    if (fd < 0) return maki_fail_errno(err, "opening a log to put back what it lacks");
    off_t size = maki_file_size(files, fd);
    if (size < 0) st = maki_fail_errno(err, "asking the size of a log");
    uint64_t has = size < 0 ? 0 : (uint64_t)size;
    if (st == MAKI_OK && has >= piece->at && has < piece->at + bytes.len &&
        agrees(files, fd, piece->at, bytes, has)) {
        size_t known = (size_t)(has - piece->at);
        st = maki_file_write_at(files, fd, has, (maki_str){ bytes.ptr + known, bytes.len - known },
                                err);
        ++*restored;
    }
    files->close(files, fd);
    return st;
}

static bool read_head(const maki_journal *j, const journal_half *half, uint64_t at,
                      journal_piece *piece)
{
    size_t got = 0;
    return maki_file_read_at(j->env.files, half->fd, at, piece, sizeof *piece, &got, NULL) ==
               MAKI_OK &&
           got == sizeof *piece && piece->head_check == journal_head_check(piece);
}

/* The piece at `at`, its bytes appended to `bytes`; false when there is none (any more). */
static bool read_piece(const maki_journal *j, const journal_half *half, uint64_t at,
                       journal_piece *piece, maki_buf *bytes)
{
    const maki_files *files = j->env.files;
    size_t got = 0;
    if (!read_head(j, half, at, piece) || piece->generation == 0 ||
        piece->length > MAKI_JOURNAL_MAX || piece->part > MAKI_LOG_EVENTS)
        return false;
    maki_buf_clear(bytes);
    char *capacity = maki_buf_reserve(bytes, piece->length);
    if (!capacity || maki_file_read_at(files, half->fd, at + sizeof *piece, capacity, piece->length,
                                       &got, NULL) != MAKI_OK)
        return false;
    bytes->len += got;
    return got == piece->length && piece->check == XXH3_64bits(bytes->ptr, bytes->len);
}

static uint64_t generation_of(const maki_journal *j, const journal_half *half)
{
    journal_piece piece;
    return read_head(j, half, 0, &piece) ? piece.generation : 0;
}

static maki_status restore_half(maki_journal *j, journal_half *half, uint64_t generation, bool make,
                                uint64_t *restored, maki_err *err)
{
    maki_buf bytes = maki_buf_new(j->env.alloc, MAKI_JOURNAL_MAX);
    journal_piece piece;
    maki_status st = MAKI_OK;
    uint64_t at = 0;
    while (st == MAKI_OK && generation && read_piece(j, half, at, &piece, &bytes) &&
           piece.generation == generation) {
        st = put_back(j, &piece, maki_buf_str(&bytes), make, restored, err);
        if (st == MAKI_OK && !maki_journal_touch(j, half, piece.session)) st = maki_fail_nomem(err);
        at += sizeof piece + journal_padded(piece.length);
    }
    maki_buf_free(&bytes);
    return st;
}

maki_status maki_journal_restore(maki_journal *j, bool make, uint64_t *restored, maki_err *err)
{
    uint64_t count = 0;
    uint64_t generations[2] = { generation_of(j, &j->halves[0]), generation_of(j, &j->halves[1]) };
    size_t older = generations[0] <= generations[1] ? 0 : 1;
    maki_status st = restore_half(j, &j->halves[older], generations[older], make, &count, err);
    if (st == MAKI_OK)
        st = restore_half(j, &j->halves[1 - older], generations[1 - older], make, &count, err);
    j->generation = generations[1 - older];
    if (restored) *restored = count;
    return st;
}
