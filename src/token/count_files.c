/* count_files.c -- the tokens of files, read in chunks, on all cores when there is much to count.
 *
 * In:     files by path, or standard input, of any size.
 * Out:    the tokens of each, or its error.
 * Always: the sum is that of the whole file.  The work is split into units: a file, or a part of a large one.  A part begins
 *         and ends where a text may be cut (maki_token_cut), which is searched in the bytes before its nominal edge; without
 *         such a position the part before it continues. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>

#include <maki/token.h>

#include "base/err.h"
#include "base/thread_pool.h"

enum {
    CHUNK = 1 << 20,        /* read at once */
    PART = 4 << 20,         /* of a large file */
    EDGE_WINDOW = 64 << 10, /* in which the cut before an edge is searched */
    PROBE = 8192,           /* in which a NUL makes a file binary */
    PARALLEL_MIN = 4 << 20, /* bytes; below it one core is used */
    BUFFER_MAX = 256 << 20, /* bytes without a position to cut; more is MAKI_TOOBIG */
};

/* The tokenizer and buffer of a worker, allocated for its first unit. */
typedef struct counter {
    maki_tokenizer *tokenizer;
    char *chunk; /* CHUNK bytes */
} counter;

typedef struct files_job {
    const maki_env *env;
    const maki_encoding *encoding;
    const maki_token_files_options *options;
    maki_token_cache *cache; /* shared by all workers; NULL: each has its own */
    counter counters[MAKI_THREADS_MAX];
    atomic_uint_least64_t done; /* bytes read so far */
    uint64_t total;             /* 0: unknown */
} files_job;

/* A file, or a part of one: a job of the thread pool and its result, which the caller's thread adds up. */
typedef struct unit {
    files_job *files_job;
    maki_token_file *file;
    uint64_t part, ticket;
    bool split; /* a part of the file; else all of it */
    bool binary;
    uint64_t bytes, tokens;
    maki_err err;
} unit;

/* ---- reading --------------------------------------------------------------------------------------- */

/* Read `n` bytes at `offset` (UINT64_MAX: the file position), fewer only at the end of the file; -1 and errno on
 * failure. */
static ssize_t read_full(const maki_files *files, int fd, char *out, size_t n, uint64_t offset)
{
    size_t got = 0;
    while (got < n) {
        ssize_t count_read = offset == UINT64_MAX ? files->read(files, fd, out + got, n - got)
                                                  : files->pread(files, fd, out + got, n - got,
                                                                 (off_t)(offset + got));
        if (count_read < 0 && errno == EINTR) continue;
        if (count_read < 0) return -1;
        if (count_read == 0) break;
        got += (size_t)count_read;
    }
    return (ssize_t)got;
}

static int open_file(const maki_env *env, const maki_token_file *file)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY;
    return file->path ? env->files->open(env->files, file->path, flags, 0) : 0;
}

static void close_file(const maki_env *env, int fd)
{
    if (fd > 0) env->files->close(env->files, fd);
}

static bool is_binary(const char *bytes, size_t n)
{
    return n > 0 && memchr(bytes, 0, n < PROBE ? n : PROBE) != NULL;
}

/* ---- a range of a file ------------------------------------------------------------------------------- */

typedef struct range {
    const maki_env *env;
    counter *counter;
    files_job *job; /* whose progress it is; NULL: not reported */
    size_t worker;
    int fd;
    uint64_t offset, end; /* of the bytes still to count; end UINT64_MAX: the end of the file */
    bool streamed;        /* read from the file position */
} range;

static void report_progress(const range *r, uint64_t bytes)
{
    files_job *c = r->job;
    if (!c) return;
    uint64_t done = atomic_fetch_add_explicit(&c->done, bytes, memory_order_relaxed) + bytes;
    if (r->worker == 0 && c->options->progress) /* the caller's thread */
        c->options->progress(c->options->ctx, done, c->total);
}

/* Count (fn NULL) or encode a range.  With `skip_binary`, one that begins with binary data is not counted: *binary. */
static maki_status count_range(range *r, bool skip_binary, maki_ids_fn fn, void *ctx,
                               uint64_t *tokens, bool *binary, maki_err *err)
{
    maki_tokenizer *t = r->counter->tokenizer;
    maki_token_stream stream = { 0 };
    maki_status st = MAKI_OK;
    uint64_t start = r->offset;
    for (;;) {
        uint64_t remaining = r->end - r->offset;
        ssize_t got = read_full(r->env->files, r->fd, r->counter->chunk,
                                remaining < CHUNK ? (size_t)remaining : CHUNK,
                                r->streamed ? UINT64_MAX : r->offset);
        if (got < 0) st = maki_fail_errno(err, "");
        if (got <= 0) break;
        bool first = r->offset == start;
        maki_str chunk = { r->counter->chunk, (size_t)got };
        r->offset += chunk.len;
        report_progress(r, chunk.len);
        *binary = skip_binary && first && is_binary(chunk.ptr, chunk.len);
        if (*binary) break;
        if (!fn && first && chunk.len < CHUNK) { /* all of it: no stream is needed */
            *tokens = maki_tokenizer_count(t, chunk);
            return MAKI_OK;
        }
        st = maki_token_stream_add(&stream, t, chunk, fn, ctx, err);
        if (st == MAKI_OK && stream.len > BUFFER_MAX)
            st = maki_fail(err, MAKI_TOOBIG, "more than %d MB without a position to cut",
                           BUFFER_MAX >> 20);
        if (st != MAKI_OK) break;
    }
    maki_status ended = maki_token_stream_end(&stream, t, fn, ctx, st == MAKI_OK ? err : NULL);
    *tokens = stream.tokens;
    return st == MAKI_OK ? ended : st;
}

/* Where part `i` of a file begins: a position to cut in the bytes before its nominal edge; false: none. */
static bool edge_of(const range *r, uint64_t size, uint64_t i, uint64_t *edge)
{
    uint64_t nominal = i * PART;
    *edge = nominal == 0 ? 0 : size;
    if (nominal == 0 || nominal >= size) return true;
    ssize_t got =
        read_full(r->env->files, r->fd, r->counter->chunk, EDGE_WINDOW, nominal - EDGE_WINDOW);
    size_t cut = got > 0 ? maki_token_cut((maki_str){ r->counter->chunk, (size_t)got }) : 0;
    *edge = nominal - EDGE_WINDOW + cut;
    return cut > 0;
}

static void find_edges(range *r, const unit *u)
{
    uint64_t size = u->file->size, next = u->part + 1;
    if (!edge_of(r, size, u->part, &r->offset))
        r->end = r->offset; /* the part before includes it */
    while (r->end != r->offset && !edge_of(r, size, next, &r->end))
        next++;
    if (r->end == size) r->end = UINT64_MAX; /* it may have grown */
}

/* ---- a worker ---------------------------------------------------------------------------------------- */

static maki_status counter_open(const maki_env *env, const maki_encoding *encoding, bool special,
                                maki_token_cache *cache, counter *out, maki_err *err)
{
    maki_tokenizer_options options = MAKI_TOKENIZER_OPTIONS_INIT;
    if (out->tokenizer) return MAKI_OK;
    options.special = special;
    options.cache = cache;
    if (!out->chunk) out->chunk = env->alloc->resize(env->alloc, NULL, 0, CHUNK);
    if (!out->chunk) return maki_fail_nomem(err);
    return maki_tokenizer_open(env, encoding, &options, &out->tokenizer, err);
}

static void counter_close(const maki_env *env, counter *c)
{
    maki_tokenizer_close(c->tokenizer);
    if (c->chunk) env->alloc->resize(env->alloc, c->chunk, CHUNK, 0);
}

static void do_unit(void *ctx, size_t worker)
{
    unit *u = ctx;
    files_job *c = u->files_job;
    maki_token_file *file = u->file;
    range r = { .env = c->env,
                .counter = &c->counters[worker],
                .job = c,
                .worker = worker,
                .fd = -1,
                .end = UINT64_MAX,
                .streamed = file->size == 0 };
    if (counter_open(c->env, c->encoding, c->options->special, c->cache, r.counter, &u->err) !=
        MAKI_OK)
        return;
    r.fd = open_file(c->env, file);
    if (r.fd < 0) {
        maki_fail_errno(&u->err, "");
        return;
    }
    if (u->split) find_edges(&r, u);
    uint64_t start = r.offset;
    if (r.offset != r.end)
        (void)count_range(&r, file->skip_binary && u->part == 0, NULL, NULL, &u->tokens, &u->binary,
                          &u->err);
    u->bytes = r.offset - start;
    close_file(c->env, r.fd);
}

/* ---- the list of units --------------------------------------------------------------------------------- */

/* Is a large file binary?  A small one is checked when it is read. */
static bool is_large_file_binary(const maki_env *env, const maki_token_file *file)
{
    char head[PROBE];
    int fd = open_file(env, file);
    ssize_t got = fd < 0 ? -1 : read_full(env->files, fd, head, sizeof head, 0);
    close_file(env, fd);
    return got > 0 && is_binary(head, (size_t)got);
}

static uint64_t parts_of(const files_job *c, maki_token_file *file)
{
    if (file->err.status != MAKI_OK) return 0;
    if (c->options->special || file->size < 2 * (uint64_t)PART) return 1;
    file->binary = file->skip_binary && is_large_file_binary(c->env, file);
    return file->binary ? 0 : (file->size + PART - 1) / PART;
}

/* Run the units, in the pool if there is one, and add up the results. */
static void run_units(unit *units, uint64_t count, maki_thread_pool *pool)
{
    for (uint64_t i = 0; i < count; i++) {
        if (pool)
            units[i].ticket = maki_thread_pool_add(pool, do_unit, &units[i]);
        else
            do_unit(&units[i], 0);
    }
    for (uint64_t i = 0; i < count; i++) {
        unit *u = &units[i];
        if (pool) maki_thread_pool_wait(pool, u->ticket);
        u->file->tokens += u->tokens;
        u->file->bytes += u->bytes;
        u->file->binary |= u->binary;
        if (u->err.status != MAKI_OK && u->file->err.status == MAKI_OK) u->file->err = u->err;
    }
}

maki_status maki_token_count_files(const maki_env *env, const maki_encoding *encoding,
                                   const maki_token_files_options *options,
                                   maki_token_file *const *files, size_t n, maki_err *err)
{
    files_job c = { .env = env, .encoding = encoding, .options = options };
    const maki_alloc *alloc = env->alloc;
    uint64_t count = 0, filled = 0;
    bool sizes_known = true;
    maki_thread_pool *pool = NULL;
    for (size_t i = 0; i < n; i++) {
        c.total += files[i]->size;
        sizes_known = sizes_known && (files[i]->size || files[i]->err.status != MAKI_OK);
        count += parts_of(&c, files[i]);
    }
    unit *units = count ? alloc->resize(alloc, NULL, 0, count * sizeof *units) : NULL;
    if (count && !units) return maki_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        uint64_t parts = files[i]->binary ? 0 : parts_of(&c, files[i]);
        for (uint64_t k = 0; k < parts; k++)
            units[filled++] =
                (unit){ .files_job = &c, .file = files[i], .part = k, .split = parts > 1 };
    }
    /* the pool and the cache only save time: without them the counts are the same */
    if (filled > 1 && c.total >= PARALLEL_MIN &&
        maki_thread_pool_open(alloc, 0, &pool, NULL) != MAKI_OK)
        pool = NULL;
    if (pool && maki_token_cache_open(env, encoding, &c.cache, NULL) != MAKI_OK) c.cache = NULL;
    if (!sizes_known) c.total = 0;
    run_units(units, filled, pool);
    maki_thread_pool_close(pool);
    for (size_t i = 0; i < MAKI_THREADS_MAX; i++)
        counter_close(env, &c.counters[i]);
    maki_token_cache_close(c.cache);
    if (units) alloc->resize(alloc, units, count * sizeof *units, 0);
    return MAKI_OK;
}

maki_status maki_token_encode_file(const maki_env *env, const maki_encoding *encoding, bool special,
                                   maki_token_file *file, maki_ids_fn fn, void *ctx)
{
    counter single = { .tokenizer = NULL };
    range r = { .env = env, .counter = &single, .end = UINT64_MAX, .streamed = file->size == 0 };
    bool binary = false;
    maki_status st = counter_open(env, encoding, special, NULL, &single, &file->err);
    if (st == MAKI_OK && (r.fd = open_file(env, file)) < 0) st = maki_fail_errno(&file->err, "");
    if (st == MAKI_OK) {
        st = count_range(&r, false, fn, ctx, &file->tokens, &binary, &file->err);
        file->bytes = r.offset;
        close_file(env, r.fd);
    }
    counter_close(env, &single);
    return st;
}
