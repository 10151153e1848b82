/* logs.c -- open and close the log of a test, and the fake disks: full, read-only, or failing from a call on. */
#include "logs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "tap.h"

/* ---- the disk ------------------------------------------------------------------------------------ */

static logs_disk *disk_of(const maki_files *self)
{
    return (logs_disk *)(uintptr_t)self;
}

static bool is_dead(const logs_disk *d)
{
    if (!d->dies_at || d->changes < d->dies_at) return false;
    errno = EIO;
    return true;
}

/* Count a call that changes a file; true when it must fail. */
static bool change_fails(logs_disk *d)
{
    d->changes++;
    return is_dead(d);
}

static int disk_open(const maki_files *self, const char *path, int flags, mode_t mode)
{
    logs_disk *d = disk_of(self);
    bool writes = (flags & O_ACCMODE) != O_RDONLY;
    if (is_dead(d) || ((flags & (O_CREAT | O_TRUNC)) && change_fails(d))) return -1;
    if (d->denies && writes) {
        errno = d->denies;
        return -1;
    }
    return d->under->open(d->under, path, flags, mode);
}

static int disk_temp(const maki_files *self)
{
    logs_disk *d = disk_of(self);
    return is_dead(d) ? -1 : d->under->temp(d->under);
}

static int disk_close(const maki_files *self, int fd)
{
    return disk_of(self)->under->close(disk_of(self)->under, fd);
}

static ssize_t disk_read(const maki_files *self, int fd, void *out, size_t n)
{
    logs_disk *d = disk_of(self);
    return is_dead(d) ? -1 : d->under->read(d->under, fd, out, n);
}

static ssize_t disk_pread(const maki_files *self, int fd, void *out, size_t n, off_t at)
{
    logs_disk *d = disk_of(self);
    return is_dead(d) ? -1 : d->under->pread(d->under, fd, out, n, at);
}

static ssize_t disk_pwrite(const maki_files *self, int fd, const void *bytes, size_t n, off_t at)
{
    logs_disk *d = disk_of(self);
    if (is_dead(d)) return -1;
    if (change_fails(d)) {
        if (d->half && n > 1) (void)!d->under->pwrite(d->under, fd, bytes, n / 2, at);
        errno = EIO;
        return -1;
    }
    if (d->full && d->capacity == 0) {
        errno = ENOSPC;
        return -1;
    }
    if (d->full && n > d->capacity) n = (size_t)d->capacity;
    if (d->full) d->capacity -= n;
    return d->under->pwrite(d->under, fd, bytes, n, at);
}

static ssize_t disk_write(const maki_files *self, int fd, const void *bytes, size_t n)
{
    logs_disk *d = disk_of(self);
    return change_fails(d) ? -1 : d->under->write(d->under, fd, bytes, n);
}

static int disk_sync(const maki_files *self, int fd)
{
    logs_disk *d = disk_of(self);
    struct stat st;
    if (change_fails(d)) return -1;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) d->directory_syncs++;
    return 0; /* the tests kill processes, not machines */
}

static int disk_rename(const maki_files *self, const char *from, const char *to)
{
    logs_disk *d = disk_of(self);
    return change_fails(d) ? -1 : d->under->rename(d->under, from, to);
}

static int disk_unlink(const maki_files *self, const char *path)
{
    logs_disk *d = disk_of(self);
    return change_fails(d) ? -1 : d->under->unlink(d->under, path);
}

static int disk_truncate(const maki_files *self, int fd, off_t size)
{
    logs_disk *d = disk_of(self);
    return change_fails(d) ? -1 : d->under->truncate(d->under, fd, size);
}

static int disk_lock(const maki_files *self, int fd, int how)
{
    return disk_of(self)->under->lock(disk_of(self)->under, fd, how);
}

static int disk_stat(const maki_files *self, int fd, const char *path, struct stat *out)
{
    logs_disk *d = disk_of(self);
    return is_dead(d) ? -1 : d->under->stat(d->under, fd, path, out);
}

static void disk_init(logs_disk *d, const maki_files *under)
{
    *d = (logs_disk){
        .table = { .open = disk_open,
                   .temp = disk_temp,
                   .close = disk_close,
                   .read = disk_read,
                   .pread = disk_pread,
                   .write = disk_write,
                   .sync = disk_sync,
                   .rename = disk_rename,
                   .unlink = disk_unlink,
                   .pwrite = disk_pwrite,
                   .truncate = disk_truncate,
                   .lock = disk_lock,
                   .stat = disk_stat },
        .under = under,
    };
}

/* ---- a log ---------------------------------------------------------------------------------------- */

void logs_open(logs *l, const char *name)
{
    memset(l, 0, sizeof *l);
    fake_env_init(&l->fe);
    disk_init(&l->disk, l->fe.env.files);
    l->env = l->fe.env;
    l->env.files = &l->disk.table;
    directory_open(&l->f);
    bool task = strcmp(name, "messages.jsonl") == 0;
    int stem = (int)(strlen(name) - strlen(".jsonl"));
    snprintf(l->path, sizeof l->path, "%s/%s", l->f.path, name);
    snprintf(l->events, sizeof l->events, "%s/%.*s%sevents.jsonl", l->f.path, task ? 0 : stem, name,
             task ? "" : ".");
    snprintf(l->index, sizeof l->index, "%s/%.*s.idx", l->f.path, stem, name);
}

void logs_close(logs *l)
{
    maki_token_counter_close(&l->counter);
    CHECK_EQ(fake_alloc_live(&l->fe), 0);
    CHECK_EQ(fake_files_live(&l->fe), 0);
    directory_close(&l->f);
}

maki_log_options logs_options(logs *l)
{
    l->facts = (maki_recent_calls){ .alloc = l->env.alloc };
    maki_token_counter_close(&l->counter);
    maki_token_counter_init(&l->counter, &l->env);
    return (maki_log_options){ .create = true,
                               .durability = MAKI_DURABILITY_SYNC,
                               .encoding = MAKI_INDEX_ENCODING,
                               .facts = maki_row_facts_of,
                               .facts_ctx = &l->facts,
                               .tokens = maki_token_counter_row,
                               .tokens_ctx = &l->counter };
}

maki_log *logs_get(logs *l)
{
    maki_err err = { 0 };
    maki_log *log = NULL;
    maki_log_options options = logs_options(l);
    CHECK_STATUS(maki_log_open(&l->env, l->path, &options, &log, &err), MAKI_OK, &err);
    return log;
}

maki_log *logs_read(logs *l)
{
    maki_err err = { 0 };
    maki_log *log = NULL;
    maki_log_options options = logs_options(l);
    options.read_only = true;
    CHECK_STATUS(maki_log_open(&l->env, l->path, &options, &log, &err), MAKI_OK, &err);
    return log;
}

maki_str logs_row(const char *text)
{
    static char row[1 << 18];
    int n = snprintf(row, sizeof row, "{\"role\":\"user\",\"content\":\"%s\"}", text);
    return (maki_str){ row, (size_t)n };
}

maki_status logs_append(maki_log *log, const char *text, maki_err *err)
{
    maki_status st = maki_log_begin(log, NULL, err);
    if (st != MAKI_OK) return st;
    st = maki_log_add_row(log, logs_row(text), NULL, err);
    if (st == MAKI_OK) return maki_log_commit(log, err);
    maki_log_abort(log);
    return st;
}

bool logs_has(maki_log *log, uint64_t seq, const char *text)
{
    static const maki_alloc *alloc;
    maki_env system = maki_env_system();
    alloc = system.alloc;
    maki_buf row = maki_buf_new(alloc, (size_t)MAKI_ROW_MAX);
    maki_err err = { 0 };
    bool same = maki_log_read(log, seq, &row, &err) == MAKI_OK &&
                maki_str_equal(maki_buf_str(&row), logs_row(text));
    maki_buf_free(&row);
    return same;
}

typedef struct counting {
    maki_str type;
    size_t n;
} counting;

static maki_status count_event(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    counting *c = ctx;
    maki_str event, type;
    (void)ev;
    (void)at;
    maki_status st = maki_json_check(row, &event, err);
    if (st == MAKI_OK && maki_json_get(event, MAKI_LIT("type"), &type) &&
        maki_json_text_is(type, c->type)) {
        c->n++;
    }
    return st;
}

size_t logs_events(maki_log *log, const char *type)
{
    counting c = { maki_str_of(type), 0 };
    maki_err err = { 0 };
    CHECK_STATUS(maki_log_each_event(log, count_event, &c, &err), MAKI_OK, &err);
    return c.n;
}

void logs_add_bytes(const char *path, maki_str bytes)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && write(fd, bytes.ptr, bytes.len) == (ssize_t)bytes.len);
    if (fd >= 0) close(fd);
}

void logs_cut(const char *path, uint64_t size)
{
    CHECK_EQ(truncate(path, (off_t)size), 0);
}

uint64_t logs_size(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}
