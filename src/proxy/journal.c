/* journal.c -- write records to the two halves of the journal, and sync logs before a half is overwritten.
 *
 * In:     records, added by one thread; sync requests of another.
 * Out:    durable records, in the journal or in their logs.
 * Always: a half is overwritten only when its logs are durable; the log of a record that could not be written to the
 *         journal is synced before maki_journal_sync returns, so there is never a gap before a later record.
 *
 * Restoring after a power cut is in journal_read.c. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/files.h"
#include "base/str_util.h"
#include "base/thread.h"
#include "proxy/journal_internal.h"

enum {
    PENDING_MAX = 4 << 20,
    RETRY_MS = 1000, /* between attempts to write while the journal is off */
    BOOT_MAX = 64
};

/* ---- off and on -------------------------------------------------------------------------------------- */

static bool is_on(maki_journal *j)
{
    return !atomic_load(&j->disabled) && !atomic_load(&j->broken);
}

static void turn_off(maki_journal *j, atomic_bool *flag, const maki_err *err)
{
    bool was_on = is_on(j);
    maki_kv values[] = { MAKI_KV_S("status", maki_str_of(maki_status_name(err->status))),
                         MAKI_KV_S("why", maki_str_of(err->msg)) };
    if (!atomic_exchange(flag, true) && was_on)
        maki_log_event(j->logger, MAKI_WARN, "journal_off", values, 2);
}

/* ---- the logs of a half ------------------------------------------------------------------------------- */

/* Add the log of a session to a half.  A few thousand at most; duplicates are removed before syncing. */
bool maki_journal_touch(maki_journal *j, journal_half *half, const unsigned char *session)
{
    const maki_alloc *alloc = j->env.alloc;
    for (size_t i = half->touched_count; i > 0 && half->touched_count - i < RECENT_SESSIONS; i--) {
        if (memcmp(half->touched[i - 1], session, MAKI_SESSION_BYTES) == 0) return true;
    }
    void *grown = maki_array_grow(alloc, half->touched, half->touched_count,
                                  &half->touched_capacity, MAKI_SESSION_BYTES);
    if (!grown) return false;
    half->touched = grown;
    memcpy(half->touched[half->touched_count++], session, MAKI_SESSION_BYTES);
    return true;
}

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, MAKI_SESSION_BYTES);
}

static maki_status sync_path(maki_journal *j, const char *path, maki_err *err)
{
    const maki_files *files = j->env.files;
    maki_status st = MAKI_OK;
    int fd = files->open(files, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0 && errno == ENOENT) return MAKI_OK; /* deleted, or without events */
    if (fd < 0) return maki_fail_errno(err, "cannot open a log to sync it");
    if (files->sync(files, fd) < 0) st = maki_fail_errno(err, "cannot sync a log");
    files->close(files, fd);
    return st;
}

static maki_status sync_session(maki_journal *j, const unsigned char *session, maki_err *err)
{
    char path[MAKI_PATH_MAX + 64];
    maki_status st = MAKI_OK;
    for (int part = MAKI_LOG_MESSAGES; part <= MAKI_LOG_EVENTS && st == MAKI_OK; part++) {
        maki_journal_path(j, session, (maki_log_part)part, path, sizeof path);
        st = sync_path(j, path, err);
    }
    return st;
}

/* Make the logs of a half durable; then it may be overwritten. */
static maki_status sync_logs(maki_journal *j, journal_half *half, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (half->touched_count == 0) return MAKI_OK;
    qsort(half->touched, half->touched_count, MAKI_SESSION_BYTES, by_bytes);
    for (size_t i = 0; i < half->touched_count && st == MAKI_OK; i++) {
        if (i > 0 && by_bytes(half->touched[i], half->touched[i - 1]) == 0) continue;
        st = sync_session(j, half->touched[i], err);
    }
    if (st == MAKI_OK) st = sync_path(j, j->sessions, err); /* the directory entries of new logs */
    if (st == MAKI_OK) half->touched_count = 0;
    return st;
}

static void *run_log_syncer(void *ctx)
{
    maki_journal *j = ctx;
    pthread_mutex_lock(&j->lock);
    for (;;) {
        while (!j->full && !j->ending)
            pthread_cond_wait(&j->changed, &j->lock);
        if (!j->full) break;
        journal_half *half = j->full;
        maki_err err = { .status = MAKI_OK };
        pthread_mutex_unlock(&j->lock);
        if (sync_logs(j, half, &err) != MAKI_OK) turn_off(j, &j->broken, &err);
        pthread_mutex_lock(&j->lock);
        j->full = NULL;
        pthread_cond_broadcast(&j->changed);
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

/* ---- opening ----------------------------------------------------------------------------------------- */

/* Allocate the blocks of a half: a preallocated file is synced faster. */
static maki_status preallocate(const maki_files *files, const journal_half *half, maki_err *err)
{
    return files->allocate(files, half->fd, JOURNAL_HALF_SIZE) == 0
               ? MAKI_OK
               : maki_fail_errno(err, "cannot allocate space for the journal");
}

static maki_status open_half(maki_journal *j, size_t i, maki_err *err)
{
    const maki_files *files = j->env.files;
    char path[MAKI_PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/journal.%zu", j->directory, i);
    j->halves[i].fd = files->open(files, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (j->halves[i].fd < 0) return maki_fail_errno(err, "cannot open the journal");
    (void)!preallocate(files, &j->halves[i], NULL); /* on failure the file grows as it is written */
    return MAKI_OK;
}

static maki_status sync_half(maki_journal *j, const journal_half *half, maki_err *err)
{
    bool synced = j->env.files->sync(j->env.files, half->fd) == 0;
    return synced ? MAKI_OK : maki_fail_errno(err, "cannot sync the journal");
}

/* Write an empty header, which ends the half for readers. */
static maki_status write_end(maki_journal *j, const journal_half *half, uint64_t offset,
                             maki_err *err)
{
    static const char zeros[sizeof(journal_record)];
    return maki_file_write_at(j->env.files, half->fd, offset, (maki_str){ zeros, sizeof zeros },
                              err);
}

static maki_status empty_half(maki_journal *j, journal_half *half, maki_err *err)
{
    maki_status st = write_end(j, half, 0, err);
    if (st == MAKI_OK) st = sync_half(j, half, err);
    half->end = 0;
    return st;
}

/* Was the journal opened before in this boot?  Opening it writes the boot's id to a file, unsynced: a power cut leaves
 * an older id or none, and every boot has another id. */
static bool is_same_boot(const maki_journal *j, const char *path, maki_str boot)
{
    const maki_files *files = j->env.files;
    char written[BOOT_MAX];
    size_t got = 0;
    int fd = boot.len ? files->open(files, path, O_RDONLY | O_CLOEXEC, 0) : -1;
    if (fd < 0) return false;
    maki_status st = maki_file_read_at(files, fd, 0, written, sizeof written, &got, NULL);
    files->close(files, fd);
    return st == MAKI_OK && maki_str_equal(boot, (maki_str){ written, got });
}

/* The journal is empty now.  Without this file every missing log is restored, deleted ones too. */
static void write_boot_id(const maki_journal *j, const char *path, maki_str boot)
{
    const maki_files *files = j->env.files;
    if (!boot.len) {
        files->unlink(files, path);
        return;
    }
    int fd = files->open(files, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return;
    (void)!maki_file_write_at(files, fd, 0, boot, NULL);
    files->close(files, fd);
}

static maki_status open_files(maki_journal *j, maki_str boot, uint64_t *restored, maki_err *err)
{
    char boot_path[MAKI_PATH_MAX + 64];
    snprintf(boot_path, sizeof boot_path, "%s/journal.boot", j->directory);
    maki_status st = open_half(j, 0, err);
    if (st == MAKI_OK) st = open_half(j, 1, err);
    bool same = st == MAKI_OK && is_same_boot(j, boot_path, boot);
    if (st == MAKI_OK) st = maki_journal_restore(j, !same, restored, err);
    for (size_t i = 0; i < 2 && st == MAKI_OK; i++) {
        st = sync_logs(j, &j->halves[i], err);
        if (st == MAKI_OK) st = empty_half(j, &j->halves[i], err);
    }
    if (st == MAKI_OK) st = sync_path(j, j->directory, err);
    if (st == MAKI_OK && !same) write_boot_id(j, boot_path, boot);
    j->generation++;
    if (st != MAKI_OK) return st;
    j->running = maki_thread_start(&j->thread, run_log_syncer, j);
    return j->running ? MAKI_OK : maki_fail(err, MAKI_NOMEM, "cannot start the journal's thread");
}

maki_status maki_journal_open(const maki_env *env, const maki_journal_options *options,
                              maki_journal **out, uint64_t *restored, maki_err *err)
{
    maki_journal *j = maki_new(env->alloc, maki_journal);
    if (!j) return maki_fail_nomem(err);
    *j = (maki_journal){ .env = *env,
                         .logger = options->logger,
                         .halves = { { .fd = -1 }, { .fd = -1 } } };
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->changed, NULL);
    j->pending = maki_buf_new(env->alloc, PENDING_MAX);
    j->writing = maki_buf_new(env->alloc, PENDING_MAX);
    snprintf(j->directory, sizeof j->directory, "%s", options->directory);
    snprintf(j->sessions, sizeof j->sessions, "%s", options->sessions);
    maki_str boot =
        maki_str_prefix(options->boot, options->boot.len < BOOT_MAX ? options->boot.len : BOOT_MAX);
    maki_status st = open_files(j, boot, restored, err);
    if (st != MAKI_OK) {
        maki_journal_close(j);
        return st;
    }
    *out = j;
    return MAKI_OK;
}

static void close_half(maki_journal *j, journal_half *half)
{
    const maki_alloc *alloc = j->env.alloc;
    if (j->running && is_on(j) &&
        sync_logs(j, half, NULL) == MAKI_OK) /* opened, and all logs are durable */
        (void)!empty_half(j, half, NULL);
    if (half->fd >= 0) j->env.files->close(j->env.files, half->fd);
    if (half->touched)
        alloc->resize(alloc, half->touched, half->touched_capacity * MAKI_SESSION_BYTES, 0);
}

void maki_journal_close(maki_journal *j)
{
    if (!j) return;
    const maki_alloc *alloc = j->env.alloc;
    if (j->running) {
        (void)!maki_journal_sync(j, NULL);
        pthread_mutex_lock(&j->lock);
        j->ending = true;
        pthread_cond_broadcast(&j->changed);
        pthread_mutex_unlock(&j->lock);
        pthread_join(j->thread, NULL);
    }
    for (size_t i = 0; i < 2; i++)
        close_half(j, &j->halves[i]);
    maki_buf_free(&j->pending);
    maki_buf_free(&j->writing);
    pthread_cond_destroy(&j->changed);
    pthread_mutex_destroy(&j->lock);
    maki_delete(alloc, j);
}

/* ---- adding ------------------------------------------------------------------------------------------ */

bool maki_journal_add(maki_journal *j, const unsigned char session[MAKI_SESSION_BYTES],
                      maki_log_part part, uint64_t offset, maki_str bytes)
{
    if (bytes.len > MAKI_JOURNAL_MAX || !is_on(j)) return false;
    journal_record record = { .length = (uint32_t)bytes.len,
                              .part = (uint32_t)part,
                              .offset = offset };
    memcpy(record.session, session, sizeof record.session);
    record.check = XXH3_64bits(bytes.ptr, bytes.len);
    size_t size = sizeof record + journal_padded(bytes.len);
    pthread_mutex_lock(&j->lock);
    char *space = j->pending.len + size <= PENDING_MAX ? maki_buf_reserve(&j->pending, size) : NULL;
    if (space) {
        memset(space + size - 8, 0, 8); /* the padding */
        memcpy(space, &record, sizeof record);
        memcpy(space + sizeof record, bytes.ptr, bytes.len);
        j->pending.len += size;
    }
    j->pending.status = MAKI_OK; /* out of memory: this record is not added, the next may be */
    pthread_mutex_unlock(&j->lock);
    return space != NULL;
}

/* ---- syncing ----------------------------------------------------------------------------------------- */

/* Switch to the other half, once its logs are durable. */
static maki_status switch_half(maki_journal *j, maki_err *err)
{
    pthread_mutex_lock(&j->lock);
    while (j->full)
        pthread_cond_wait(&j->changed, &j->lock);
    bool broken = atomic_load(&j->broken);
    if (!broken) j->full = &j->halves[j->current];
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->lock);
    if (broken) return maki_fail(err, MAKI_IO, "a log could not be synced");
    j->current = 1 - j->current;
    j->halves[j->current].end = 0;
    j->generation++;
    return MAKI_OK;
}

/* Set the generation of the pending records, and add their logs to the half. */
static maki_status stamp_records(maki_journal *j, journal_half *half, maki_err *err)
{
    for (size_t pos = 0; pos < j->writing.len;) {
        journal_record *record = (journal_record *)(void *)(j->writing.ptr + pos);
        record->generation = j->generation;
        record->head_check = journal_head_check(record);
        if (!maki_journal_touch(j, half, record->session)) return maki_fail_nomem(err);
        pos += sizeof *record + journal_padded(record->length);
    }
    return MAKI_OK;
}

static maki_status write_records(maki_journal *j, maki_err *err)
{
    const maki_files *files = j->env.files;
    maki_status st = MAKI_OK;
    if (j->halves[j->current].end + j->writing.len > JOURNAL_HALF_SIZE) st = switch_half(j, err);
    journal_half *half = &j->halves[j->current];
    if (st == MAKI_OK) st = stamp_records(j, half, err);
    if (st == MAKI_OK)
        st = maki_file_write_at(files, half->fd, half->end, maki_buf_str(&j->writing), err);
    if (st == MAKI_OK) st = sync_half(j, half, err);
    if (st == MAKI_OK) half->end += j->writing.len;
    return st;
}

/* Records could not be written to the journal: sync their logs instead. */
static maki_status sync_logs_instead(maki_journal *j, maki_err *err)
{
    maki_err reason = { .status = MAKI_OK };
    maki_status st = MAKI_OK;
    const unsigned char *last = NULL;
    for (size_t pos = 0; pos < j->writing.len && st == MAKI_OK;) {
        const journal_record *record = (const journal_record *)(const void *)(j->writing.ptr + pos);
        bool same = last && by_bytes(last, record->session) == 0;
        if (!same) st = sync_session(j, record->session, &reason);
        last = record->session;
        pos += sizeof *record + journal_padded(record->length);
    }
    if (st == MAKI_OK) st = sync_path(j, j->sessions, &reason);
    if (st == MAKI_OK) return MAKI_OK;
    turn_off(j, &j->broken, &reason);
    return maki_fail(err, st, "%s", reason.msg);
}

/* Can both halves be allocated and written?  Also overwrites a torn record. */
static maki_status probe(maki_journal *j, maki_err *err)
{
    journal_half *half = &j->halves[j->current];
    maki_status st = MAKI_OK;
    for (size_t i = 0; i < 2 && st == MAKI_OK; i++)
        st = preallocate(j->env.files, &j->halves[i], err);
    if (st == MAKI_OK && half->end + sizeof(journal_record) <= JOURNAL_HALF_SIZE)
        st = write_end(j, half, half->end, err);
    if (st == MAKI_OK) st = sync_half(j, half, err);
    return st;
}

static void turn_on_if_writable(maki_journal *j)
{
    int64_t now = j->env.clock->now_ms(j->env.clock);
    if (now - j->retry_ms < RETRY_MS && now >= j->retry_ms) return;
    j->retry_ms = now;
    if (probe(j, NULL) != MAKI_OK) return;
    atomic_store(&j->disabled, false);
    maki_log_event(j->logger, MAKI_INFO, "journal_on", NULL, 0);
}

maki_status maki_journal_sync(maki_journal *j, maki_err *err)
{
    maki_err reason = { .status = MAKI_OK };
    pthread_mutex_lock(&j->lock);
    maki_buf pending = j->pending;
    j->pending = j->writing;
    j->writing = pending;
    pthread_mutex_unlock(&j->lock);
    maki_status st = MAKI_OK;
    if (j->writing.len) { /* also when it is off: they were added before that */
        bool written = is_on(j) && write_records(j, &reason) == MAKI_OK;
        if (!written) st = sync_logs_instead(j, err);
        if (reason.status != MAKI_OK) {
            j->retry_ms = j->env.clock->now_ms(j->env.clock);
            turn_off(j, &j->disabled, &reason);
        }
        maki_buf_clear(&j->writing);
    }
    if (atomic_load(&j->disabled) && !atomic_load(&j->broken)) turn_on_if_writable(j);
    return st;
}
