/* beside.c -- see beside.h. */
#include "log/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "base/err.h"
#include "base/files.h"

enum { PATH_MOST = 4096, TRIES = 8, TELL_EVERY = 1 << 20 };

struct maki_beside {
    maki_env env;
    maki_log *log;
    const maki_beside_family *family;
    bool may_write;    /* the shared file */
    bool found;        /* path is where it is, if it is there */
    bool own;          /* it has become private */
    bool borrowed;     /* the private file is somebody else's: it is not closed here */
    maki_index index;  /* fd -1: there is none, or none that fits */
    maki_index *first; /* the log's */
    char path[PATH_MOST];
};

/* ---- its name ------------------------------------------------------------------------------------ */

bool maki_beside_path(const char *path, const char *family, char *out, size_t room)
{
    size_t stem = strlen(path) - strlen(".jsonl");
    return snprintf(out, room, "%.*s.idx.%s", (int)stem, path, family) < (int)room;
}

/* What it was called before: also the name of the first index of a log STEM.FAMILY.jsonl.  The family in
 * the header tells whose it is, for a first index is never in a family that stands beside. */
static bool former_is_ours(const maki_env *env, const char *path, const char *family, char *former,
                           size_t room)
{
    maki_index index;
    size_t stem = strlen(path) - strlen(".jsonl");
    if (snprintf(former, room, "%.*s.%s.idx", (int)stem, path, family) >= (int)room) return false;
    if (maki_index_open(&index, env, former, false, NULL) != MAKI_OK) return false;
    bool ours = strncmp(index.header.family, family, MAKI_FAMILY_LEN) == 0;
    maki_index_close(&index);
    return ours;
}

maki_status maki_beside_remove(const maki_env *env, const char *path, const char *family,
                               maki_err *err)
{
    const maki_files *files = env->files;
    char name[PATH_MOST];
    if (former_is_ours(env, path, family, name, sizeof name)) files->unlink(files, name);
    if (!maki_beside_path(path, family, name, sizeof name)) return MAKI_OK;
    if (files->unlink(files, name) < 0 && errno != ENOENT)
        return maki_fail_errno(err, "removing an old index");
    return MAKI_OK;
}

/* One that has the former name gets the present one; where that may not be, it is read where it is. */
static void find_file(maki_beside *b, bool may_rename)
{
    const maki_files *files = b->env.files;
    char former[PATH_MOST];
    if (b->found || !b->path[0]) return;
    b->found = true;
    int fd = files->open(files, b->path, O_RDONLY, 0);
    if (fd >= 0) files->close(files, fd);
    if (fd >= 0 ||
        !former_is_ours(&b->env, maki_log_path(b->log), b->family->name, former, sizeof former))
        return;
    if (!may_rename || files->rename(files, former, b->path) < 0)
        snprintf(b->path, sizeof b->path, "%s", former);
}

maki_status maki_beside_open(maki_log *log, const maki_beside_family *family, bool keep_private,
                             int private_fd, maki_beside **out, maki_err *err)
{
    maki_env env = *maki_log_env(log);
    maki_beside *b = env.alloc->resize(env.alloc, NULL, 0, sizeof *b);
    if (!b) return maki_fail_nomem(err);
    *b = (maki_beside){ .env = env,
                        .log = log,
                        .family = family,
                        .may_write = !keep_private,
                        .own = private_fd >= 0,
                        .borrowed = private_fd >= 0,
                        .index = { .fd = private_fd },
                        .first = maki_log_inside(log).index };
    b->index.env = &b->env;
    if (!maki_beside_path(maki_log_path(log), family->name, b->path, sizeof b->path)) {
        b->path[0] = '\0'; /* a file that is not there */
        b->may_write = false;
    }
    *out = b;
    return MAKI_OK;
}

static void drop(maki_beside *b)
{
    if (!b->borrowed) maki_index_close(&b->index);
    b->index.fd = -1;
    b->borrowed = false;
}

void maki_beside_close(maki_beside *b)
{
    if (!b) return;
    drop(b);
    b->env.alloc->resize(b->env.alloc, b, sizeof *b, 0);
}

/* ---- does it fit the log? ------------------------------------------------------------------------ */

/* How many rows of the log as we know it are counted; somebody who knows more of it may have counted
 * more. */
static uint64_t common(const maki_beside *b)
{
    uint64_t ours = b->index.header.count, first = b->first->header.count;
    return ours < first ? ours : first;
}

/* The last record of these tells all rows before it: its chain covers them. */
static maki_status check_fit(maki_beside *b, bool *fits, maki_err *err)
{
    const maki_index_header *is = &b->index.header, *first = &b->first->header;
    maki_row ours, theirs;
    uint64_t n = common(b);
    *fits = strncmp(is->family, b->family->name, MAKI_FAMILY_LEN) == 0 && is->base == first->base &&
            memcmp(is->start, first->start, MAKI_CHAIN_LEN) == 0;
    if (!*fits || n == 0) return MAKI_OK;
    maki_status st = maki_index_get(b->first, n, &theirs, err);
    if (st != MAKI_OK) return st;
    *fits = maki_index_get(&b->index, n, &ours, NULL) == MAKI_OK && ours.offset == theirs.offset &&
            ours.length == theirs.length && memcmp(ours.chain, theirs.chain, MAKI_CHAIN_LEN) == 0 &&
            (n < is->count || is->end == ours.offset + ours.length + 1);
    return MAKI_OK;
}

/* Look again; *fits false: there is none that can be used. */
static maki_status look(maki_beside *b, bool *fits, maki_err *err)
{
    const maki_files *files = b->env.files;
    maki_err why = { 0 };
    maki_status st = MAKI_OK;
    *fits = false;
    find_file(b, b->may_write);
    if (!b->own && b->index.fd >= 0 && files->same(files, b->index.fd, b->path) != 1) drop(b);
    if (b->index.fd < 0) {
        st = maki_index_open(&b->index, &b->env, b->path, false, &why);
    } else {
        st = maki_index_refresh(&b->index, &why);
    }
    if (st == MAKI_NOMEM && err) *err = why;
    if (st == MAKI_NOMEM) return st;
    return st == MAKI_OK ? check_fit(b, fits, err) : MAKI_OK;
}

maki_status maki_beside_last(maki_beside *b, uint64_t *seq, maki_err *err)
{
    bool fits = false;
    maki_status st = look(b, &fits, err);
    *seq = maki_log_base(b->log) + (fits ? common(b) : 0);
    return st;
}

maki_status maki_beside_row(maki_beside *b, uint64_t seq, maki_row *out, maki_err *err)
{
    return maki_index_get(&b->index, seq - maki_log_base(b->log), out, err);
}

/* ---- the file ------------------------------------------------------------------------------------- */

static maki_index_header fresh_header(const maki_beside *b)
{
    maki_index_header header;
    const maki_index_header *first = &b->first->header;
    maki_index_header_init(&header, b->family->name, first->base, first->start);
    return header;
}

static maki_status make_private(maki_beside *b, maki_err *err)
{
    maki_index_header header = fresh_header(b);
    drop(b);
    maki_status st = maki_index_create(&b->index, &b->env, NULL, &header, err);
    b->own = st == MAKI_OK;
    return st;
}

/* A private one that does not fit any more begins again, in the same file: somebody has lent it. */
static maki_status begin_private(maki_beside *b, maki_err *err)
{
    maki_index_header header = fresh_header(b);
    bool fits = false;
    if (!b->own) return make_private(b, err);
    maki_status st = look(b, &fits, err);
    if (st != MAKI_OK || fits) return st;
    maki_str bytes = { (const char *)&header, sizeof header };
    st = maki_file_write_at(b->env.files, b->index.fd, 0, bytes, err);
    return st == MAKI_OK ? maki_index_refresh(&b->index, err) : st;
}

maki_status maki_beside_fd(maki_beside *b, int *fd, maki_err *err)
{
    const maki_files *files = b->env.files;
    maki_status st = b->own || b->may_write ? MAKI_OK : MAKI_DENIED;
    if (!b->own) find_file(b, b->may_write);
    if (!b->own && b->may_write) { /* may it really? */
        int there = files->open(files, b->path, O_RDWR | O_CREAT, 0600);
        if (there >= 0) files->close(files, there);
        if (there < 0) st = maki_fail_errno(err, "making an index");
    }
    if (st == MAKI_DENIED) st = make_private(b, err);
    *fd = b->own ? b->index.fd : -1;
    return st;
}

/* Open the file to write, made if it is not there, and lock it. */
static maki_status open_locked(maki_beside *b, bool wait, maki_err *err)
{
    const maki_files *files = b->env.files;
    drop(b);
    b->index.fd = files->open(files, b->path, O_RDWR | O_CREAT, 0600);
    if (b->index.fd < 0) return maki_fail_errno(err, "making an index");
    while (files->lock(files, b->index.fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB) < 0) {
        if (errno == EINTR) continue;
        bool busy = errno == EWOULDBLOCK;
        maki_status st = maki_fail_errno(err, "locking an index");
        drop(b);
        return busy ? maki_fail(err, MAKI_CONFLICT, "somebody else is counting") : st;
    }
    return MAKI_OK;
}

/* Put an empty one in the place of the file that is open and locked; the new one is locked too before
 * anybody can see it. */
static maki_status replace(maki_beside *b, maki_err *err)
{
    const maki_files *files = b->env.files;
    maki_index_header header = fresh_header(b);
    maki_index made;
    char temp[PATH_MOST + 8];
    snprintf(temp, sizeof temp, "%s.new", b->path);
    maki_status st = maki_index_create(&made, &b->env, temp, &header, err);
    if (st == MAKI_OK && files->lock(files, made.fd, LOCK_EX | LOCK_NB) < 0)
        st = maki_fail_errno(err, "locking an index");
    if (st == MAKI_OK && files->rename(files, temp, b->path) < 0) {
        st = maki_fail_errno(err, "putting the new index in place");
    }
    if (st != MAKI_OK) {
        files->unlink(files, temp);
        maki_index_close(&made);
        return st;
    }
    drop(b);
    b->index = made;
    return MAKI_OK;
}

/* Ours alone to write, and as far as it goes it fits. */
static maki_status begin(maki_beside *b, bool wait, maki_err *err)
{
    const maki_files *files = b->env.files;
    bool fits = false;
    if (b->own || !b->may_write) return begin_private(b, err);
    find_file(b, true);
    maki_status st = MAKI_CONFLICT;
    for (int i = 0; st == MAKI_CONFLICT && i < TRIES; i++) {
        st = open_locked(b, wait, err);
        if (st == MAKI_CONFLICT) return st;
        if (st == MAKI_OK && files->same(files, b->index.fd, b->path) != 1) st = MAKI_CONFLICT;
    }
    if (st == MAKI_DENIED) return begin_private(b, err);
    if (st == MAKI_OK && maki_index_refresh(&b->index, NULL) == MAKI_OK) {
        st = check_fit(b, &fits, err);
    }
    if (st == MAKI_OK && !fits) st = replace(b, err);
    if (st != MAKI_OK) drop(b); /* which unlocks it */
    return st;
}

/* ---- counting -------------------------------------------------------------------------------------- */

/* Rows 1 to `to` of the log's index, from `from` on, through an intake. */
typedef struct counting {
    maki_beside *b;
    maki_intake *in;
    maki_status (*take)(struct counting *c, maki_batch *batch, maki_err *err);
    maki_buf bytes;
    maki_row rows[MAKI_BATCH_ROWS]; /* that stand in bytes */
    uint64_t done, total, told;
    const maki_beside_how *how;
    uint64_t tokens; /* so far */
    const char *wrong;
    uint64_t wrong_at;
} counting;

static maki_status tell(counting *c, maki_err *err)
{
    if (!c->how->progress || c->done < c->told + TELL_EVERY) return MAKI_OK;
    c->told = c->done;
    maki_status st = c->how->progress(c->how->ctx, c->done, c->total);
    return st == MAKI_OK ? st : maki_fail(err, st, "counting was stopped");
}

static maki_status pass_on(counting *c, bool all, maki_err *err)
{
    maki_status st = MAKI_OK;
    maki_intake_pass(c->in);
    while (st == MAKI_OK) {
        maki_batch *batch = NULL;
        st = maki_intake_take(c->in, all, &batch, err);
        if (st != MAKI_OK || !batch) break;
        for (size_t i = 0; i < batch->count; i++) {
            c->tokens += batch->rows[i].tokens;
            batch->rows[i].tokens_so_far = c->tokens;
        }
        st = c->take(c, batch, err);
        c->done += batch->len;
        if (st == MAKI_OK) st = tell(c, err);
    }
    return st;
}

/* The records of rows that stand one after the other from row `n` on: a batch of them, or one that is
 * longer. */
static maki_status next_rows(counting *c, uint64_t n, uint64_t to, size_t *count, size_t *bytes,
                             maki_err *err)
{
    *count = *bytes = 0;
    for (; n <= to && *count < MAKI_BATCH_ROWS; n++) {
        maki_row *row = &c->rows[*count];
        maki_status st = maki_index_get(c->b->first, n, row, err);
        if (st != MAKI_OK) return st;
        size_t len = (size_t)row->length + 1;
        bool behind = *count == 0 || row->offset == c->rows[0].offset + *bytes;
        if (*count && (*bytes + len > MAKI_BATCH_BYTES || !behind)) break;
        *bytes += len;
        ++*count;
    }
    return MAKI_OK;
}

static maki_status add_rows(counting *c, uint64_t n, size_t count, maki_err *err)
{
    maki_status st = MAKI_OK;
    const maki_hint none = { { 0 } };
    const char *at = c->bytes.ptr;
    for (size_t i = 0; st == MAKI_OK && i < count; i++) {
        const maki_row *row = &c->rows[i];
        maki_str text = { at, row->length };
        at += row->length + 1;
        if (maki_row_hash(text) != row->xxh3) {
            return maki_fail(err, MAKI_CORRUPT,
                             "message %" PRIu64 " is not what was written; see maki fsck",
                             maki_log_base(c->b->log) + n + i);
        }
        if (!maki_intake_fits(c->in, row->offset, text.len)) st = pass_on(c, false, err);
        if (st == MAKI_OK) st = maki_intake_add(c->in, text, row, &none, err);
    }
    return st;
}

static maki_status count_rows(counting *c, uint64_t from, uint64_t to, maki_err *err)
{
    maki_beside *b = c->b;
    maki_status st = MAKI_OK;
    int fd = maki_log_inside(b->log).messages_fd;
    for (uint64_t n = from; st == MAKI_OK && n <= to;) {
        size_t count = 0, bytes = 0, got = 0;
        st = next_rows(c, n, to, &count, &bytes, err);
        maki_buf_clear(&c->bytes);
        char *room = st == MAKI_OK ? maki_buf_room(&c->bytes, bytes) : NULL;
        if (st == MAKI_OK && !room) st = maki_buf_status(&c->bytes, err);
        if (st != MAKI_OK) break;
        st = maki_file_read_at(b->env.files, fd, c->rows[0].offset, room, bytes, &got, err);
        if (st == MAKI_OK && got < bytes)
            st = maki_fail(err, MAKI_CORRUPT, "messages are gone; see maki fsck");
        if (st == MAKI_OK) st = add_rows(c, n, count, err);
        n += count;
    }
    return st == MAKI_OK ? pass_on(c, true, err) : st;
}

/* The whole of it: rows from..to of the log, each batch to c->take. */
static maki_status run(counting *c, uint64_t from, uint64_t to, maki_err *err)
{
    const maki_alloc *alloc = c->b->env.alloc;
    const maki_beside_family *family = c->b->family;
    size_t threads = c->total > MAKI_MUCH ? c->how->threads : 1;
    c->bytes = maki_buf_new(alloc, (size_t)MAKI_ROW_MAX + 1);
    maki_status st = maki_intake_open(alloc, threads, family->tokens, family->ctx, &c->in, err);
    if (st == MAKI_OK) st = count_rows(c, from, to, err);
    maki_intake_close(c->in);
    maki_buf_free(&c->bytes);
    return st;
}

static maki_status new_counting(maki_beside *b, const maki_beside_how *how, counting **out,
                                maki_err *err)
{
    counting *c = b->env.alloc->resize(b->env.alloc, NULL, 0, sizeof *c);
    if (!c) return maki_fail_nomem(err);
    memset(c, 0, sizeof *c);
    c->b = b;
    c->how = how;
    *out = c;
    return MAKI_OK;
}

static maki_status publish(counting *c, maki_batch *batch, maki_err *err)
{
    const maki_row *last = &batch->rows[batch->count - 1];
    return maki_index_add(&c->b->index, batch->rows, batch->count, last->offset + last->length + 1,
                          err);
}

static maki_status go_on(maki_beside *b, counting *c, maki_err *err)
{
    const maki_index_header *is = &b->index.header, *first = &b->first->header;
    maki_row last = { 0 };
    maki_status st = is->count ? maki_index_get(&b->index, is->count, &last, err) : MAKI_OK;
    c->take = publish;
    c->tokens = last.tokens_so_far;
    c->total = first->end > is->end ? first->end - is->end : 0;
    return st == MAKI_OK ? run(c, is->count + 1, first->count, err) : st;
}

maki_status maki_beside_count(maki_beside *b, const maki_beside_how *how, maki_err *err)
{
    const maki_files *files = b->env.files;
    counting *c = NULL;
    maki_status st = begin(b, how->wait, err);
    if (st != MAKI_OK) return st;
    st = new_counting(b, how, &c, err);
    if (st == MAKI_OK) st = go_on(b, c, err);
    if (c) b->env.alloc->resize(b->env.alloc, c, sizeof *c, 0);
    if (!b->own) files->lock(files, b->index.fd, LOCK_UN);
    return st;
}

/* ---- proving ------------------------------------------------------------------------------------------ */

static maki_status compare(counting *c, maki_batch *batch, maki_err *err)
{
    for (size_t i = 0; i < batch->count && !c->wrong; i++) {
        maki_row stored;
        uint64_t n = c->wrong_at + 1; /* the row that comes next */
        maki_status st = maki_index_get(&c->b->index, n, &stored, err);
        if (st != MAKI_OK) return st;
        if (memcmp(&stored, &batch->rows[i], sizeof stored) != 0)
            c->wrong = "a record of it is wrong";
        c->wrong_at = n;
    }
    return c->wrong ? MAKI_CANCELLED : MAKI_OK;
}

maki_status maki_beside_prove(maki_beside *b, size_t threads, const char **wrong, uint64_t *seq,
                              maki_err *err)
{
    const maki_files *files = b->env.files;
    maki_beside_how how = { .threads = threads };
    counting *c = NULL;
    bool fits = false;
    *wrong = NULL;
    *seq = 0;
    maki_err why = { 0 };
    find_file(b, false);
    maki_status st = maki_index_open(&b->index, &b->env, b->path, false, &why);
    if (st == MAKI_CORRUPT) {
        /* one that nobody has begun to fill is as good as none */
        int fd = files->open(files, b->path, O_RDONLY, 0);
        if (fd < 0 || files->size(files, fd) > 0) *wrong = "it is damaged";
        if (fd >= 0) files->close(files, fd);
        return MAKI_OK;
    }
    if (st == MAKI_NOTFOUND) return MAKI_OK;
    if (st != MAKI_OK && err) *err = why;
    if (st == MAKI_OK) st = check_fit(b, &fits, err);
    if (st == MAKI_OK && fits) {
        maki_index_header due = fresh_header(b);
        due.count = b->index.header.count;
        due.end = b->index.header.end;
        if (memcmp(&due, &b->index.header, sizeof due) != 0) *wrong = "its header is damaged";
    }
    if (st == MAKI_OK && fits && !*wrong) st = new_counting(b, &how, &c, err);
    if (c) {
        c->take = compare;
        c->total = b->index.header.end;
        st = run(c, 1, common(b), err);
        *wrong = c->wrong;
        *seq = c->wrong ? maki_log_base(b->log) + c->wrong_at : 0;
        if (*wrong) st = MAKI_OK;
        b->env.alloc->resize(b->env.alloc, c, sizeof *c, 0);
    }
    drop(b);
    return st;
}
