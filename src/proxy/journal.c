/* journal.c -- see journal.h.  Putting back is in journal_read.c. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/err.h"
#include "base/files.h"
#include "proxy/journal_inside.h"

enum { WAITING_MAX = 4 << 20 };

/* ---- which logs a half speaks of --------------------------------------------------------------------- */

/* Sessions stand in a set of their own half; a few thousand at most. */
bool maki_journal_touch(maki_journal *j, journal_half *half, const unsigned char *session)
{
    const maki_alloc *alloc = j->env.alloc;
    for (size_t i = half->touched_count; i > 0 && half->touched_count - i < LOOKED_BACK; i--) {
        if (memcmp(half->touched[i - 1], session, MAKI_SESSION_BYTES) == 0) return true;
    }
    if (half->touched_count == half->touched_room) {
        size_t room = half->touched_room ? half->touched_room * 2 : 64;
        void *moved = alloc->resize(alloc, half->touched, half->touched_room * MAKI_SESSION_BYTES,
                                    room * MAKI_SESSION_BYTES);
        if (!moved) return false;
        half->touched = moved;
        half->touched_room = room;
    }
    memcpy(half->touched[half->touched_count++], session, MAKI_SESSION_BYTES);
    return true;
}

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, MAKI_SESSION_BYTES);
}

static void sync_path(maki_journal *j, const char *path)
{
    const maki_files *files = j->env.files;
    int fd = files->open(files, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) return; /* erased, or it has no events */
    if (files->sync(files, fd) < 0) atomic_store(&j->failed, true);
    files->close(files, fd);
}

/* Make the logs of a half durable; then it may be written over. */
static void sync_logs(maki_journal *j, journal_half *half)
{
    char path[JOURNAL_PATH + 64];
    if (half->touched_count == 0) return;
    qsort(half->touched, half->touched_count, MAKI_SESSION_BYTES, by_bytes);
    for (size_t i = 0; i < half->touched_count; i++) {
        if (i > 0 && by_bytes(half->touched[i], half->touched[i - 1]) == 0) continue;
        for (int part = MAKI_LOG_MESSAGES; part <= MAKI_LOG_EVENTS; part++) {
            maki_journal_path(j, half->touched[i], (maki_log_part)part, path, sizeof path);
            sync_path(j, path);
        }
    }
    sync_path(j, j->sessions); /* the names of new ones */
    half->touched_count = 0;
}

static void *work(void *ctx)
{
    maki_journal *j = ctx;
    pthread_mutex_lock(&j->lock);
    for (;;) {
        while (!j->full && !j->ending)
            pthread_cond_wait(&j->changed, &j->lock);
        if (!j->full) break;
        journal_half *half = j->full;
        pthread_mutex_unlock(&j->lock);
        sync_logs(j, half);
        pthread_mutex_lock(&j->lock);
        j->full = NULL;
        pthread_cond_broadcast(&j->changed);
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

/* ---- opening ----------------------------------------------------------------------------------------- */

static maki_status open_half(maki_journal *j, size_t i, maki_err *err)
{
    const maki_files *files = j->env.files;
    char path[JOURNAL_PATH + 64];
    snprintf(path, sizeof path, "%s/journal.%zu", j->folder, i);
    j->halves[i].fd = files->open(files, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (j->halves[i].fd < 0) return maki_fail_errno(err, "opening the journal");
    /* a file that does not grow is synced faster; where there is no room for that, it grows */
    (void)!posix_fallocate(j->halves[i].fd, 0, JOURNAL_SIZE);
    return MAKI_OK;
}

/* Nothing in it counts from now on. */
static maki_status empty_half(maki_journal *j, journal_half *half, maki_err *err)
{
    static const char zeros[sizeof(journal_piece)];
    const maki_files *files = j->env.files;
    maki_status st = maki_file_write_at(files, half->fd, 0, (maki_str){ zeros, sizeof zeros }, err);
    if (st == MAKI_OK && files->sync(files, half->fd) < 0)
        st = maki_fail_errno(err, "syncing the journal");
    half->end = 0;
    return st;
}

static maki_status start_thread(maki_journal *j, maki_err *err)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    j->running = pthread_create(&j->thread, NULL, work, j) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return j->running ? MAKI_OK : maki_fail(err, MAKI_NOMEM, "no thread could be started");
}

maki_status maki_journal_open(const maki_env *env, const char *folder, const char *sessions,
                              maki_journal **out, uint64_t *restored, maki_err *err)
{
    maki_journal *j = env->alloc->resize(env->alloc, NULL, 0, sizeof *j);
    if (!j) return maki_fail_nomem(err);
    *j = (maki_journal){ .env = *env, .halves = { { .fd = -1 }, { .fd = -1 } } };
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->changed, NULL);
    j->waiting = maki_buf_new(env->alloc, WAITING_MAX);
    j->writing = maki_buf_new(env->alloc, WAITING_MAX);
    snprintf(j->folder, sizeof j->folder, "%s", folder);
    snprintf(j->sessions, sizeof j->sessions, "%s", sessions);
    maki_status st = open_half(j, 0, err);
    if (st == MAKI_OK) st = open_half(j, 1, err);
    if (st == MAKI_OK) st = maki_journal_restore(j, restored, err);
    for (size_t i = 0; i < 2 && st == MAKI_OK; i++) {
        sync_logs(j, &j->halves[i]);
        st = empty_half(j, &j->halves[i], err);
    }
    sync_path(j, j->folder);
    j->generation++;
    if (st == MAKI_OK) st = start_thread(j, err);
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
    if (j->running && !atomic_load(&j->failed)) { /* it was opened, and all is well */
        sync_logs(j, half);
        if (!atomic_load(&j->failed)) (void)!empty_half(j, half, NULL);
    }
    if (half->fd >= 0) j->env.files->close(j->env.files, half->fd);
    if (half->touched)
        alloc->resize(alloc, half->touched, half->touched_room * MAKI_SESSION_BYTES, 0);
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
    maki_buf_free(&j->waiting);
    maki_buf_free(&j->writing);
    pthread_cond_destroy(&j->changed);
    pthread_mutex_destroy(&j->lock);
    alloc->resize(alloc, j, sizeof *j, 0);
}

/* ---- adding ------------------------------------------------------------------------------------------ */

bool maki_journal_add(maki_journal *j, const unsigned char session[MAKI_SESSION_BYTES],
                      maki_log_part part, uint64_t at, maki_str bytes)
{
    if (bytes.len > MAKI_JOURNAL_MOST || atomic_load(&j->failed)) return false;
    journal_piece piece = { .length = (uint32_t)bytes.len, .part = (uint32_t)part, .at = at };
    memcpy(piece.session, session, sizeof piece.session);
    piece.check = XXH3_64bits(bytes.ptr, bytes.len);
    size_t size = sizeof piece + journal_padded(bytes.len);
    pthread_mutex_lock(&j->lock);
    char *room = j->waiting.len + size <= WAITING_MAX ? maki_buf_room(&j->waiting, size) : NULL;
    if (room) {
        memset(room + size - 8, 0, 8); /* what fills it up */
        memcpy(room, &piece, sizeof piece);
        memcpy(room + sizeof piece, bytes.ptr, bytes.len);
        j->waiting.len += size;
    }
    j->waiting.status = MAKI_OK; /* for want of memory this one is not added: the next may be */
    pthread_mutex_unlock(&j->lock);
    return room != NULL;
}

/* ---- syncing ----------------------------------------------------------------------------------------- */

/* Go on in the other half, whose logs are durable by then. */
static void turn_over(maki_journal *j)
{
    pthread_mutex_lock(&j->lock);
    while (j->full)
        pthread_cond_wait(&j->changed, &j->lock);
    j->full = &j->halves[j->current];
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->lock);
    j->current = 1 - j->current;
    j->halves[j->current].end = 0;
    j->generation++;
}

/* Number the pieces, and note which logs they are about. */
static maki_status seal(maki_journal *j, journal_half *half, maki_err *err)
{
    for (size_t at = 0; at < j->writing.len;) {
        journal_piece *piece = (journal_piece *)(void *)(j->writing.ptr + at);
        piece->generation = j->generation;
        piece->head_check = journal_head_check(piece);
        if (!maki_journal_touch(j, half, piece->session)) return maki_fail_nomem(err);
        at += sizeof *piece + journal_padded(piece->length);
    }
    return MAKI_OK;
}

maki_status maki_journal_sync(maki_journal *j, maki_err *err)
{
    const maki_files *files = j->env.files;
    pthread_mutex_lock(&j->lock);
    maki_buf taken = j->waiting;
    j->waiting = j->writing;
    j->writing = taken;
    pthread_mutex_unlock(&j->lock);
    if (j->writing.len == 0) return MAKI_OK;
    if (atomic_load(&j->failed)) { /* these came before it was known */
        maki_buf_clear(&j->writing);
        return maki_fail(err, MAKI_IO, "the journal could not be written");
    }
    if (j->halves[j->current].end + j->writing.len > JOURNAL_SIZE) turn_over(j);
    journal_half *half = &j->halves[j->current];
    maki_status st = seal(j, half, err);
    if (st == MAKI_OK)
        st = maki_file_write_at(files, half->fd, half->end, maki_buf_str(&j->writing), err);
    if (st == MAKI_OK && files->sync(files, half->fd) < 0)
        st = maki_fail_errno(err, "syncing the journal");
    half->end += j->writing.len;
    maki_buf_clear(&j->writing);
    if (st != MAKI_OK) atomic_store(&j->failed, true); /* from now on each log syncs itself */
    return st;
}
