/* token_work.c -- see token_work.h.
 *
 * The work is a list of units: a file, or a part of a large one.  A part begins and ends where a text
 * may be cut (maki_token_cut), which is found by looking at the bytes before its nominal edge; where
 * there is no such place the part before goes on.  So the sum is that of the whole file. */
#include "token_work.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

enum {
    PIECE = 1 << 20,       /* read at once */
    PART = 4 << 20,        /* of a large file */
    WINDOW = 64 << 10,     /* looked at before an edge */
    HEAD = 8192,           /* looked at to tell a binary file */
    MANY = 4 << 20,        /* more cores are not worth it below */
    THREADS_MOST = 64,     /* more were never seen to help */
    HELD_MOST = 256 << 20, /* without a place to cut; more is refused */
};

typedef struct unit {
    token_file *file;
    uint64_t part; /* which one; a whole file is part 0 of one */
    bool split;
} unit;

typedef struct work {
    const token_options *options;
    unit *units;
    size_t count;
    atomic_size_t next;
    atomic_uint_least64_t bytes; /* read so far */
    maki_token_memory *memory;   /* of all threads; NULL: each has its own */
    pthread_mutex_t lock;        /* guards what is below, and the results in files */
    pthread_cond_t ended;
    size_t running;
} work;

/* What one thread counts with. */
typedef struct counter {
    work *work;
    maki_tokenizer *tokenizer;
    char *piece; /* PIECE bytes */
    maki_err err;
} counter;

/* ---- reading ---------------------------------------------------------------------------------------- */

/* Fill `out`: short only at the end of the file.  -1: errno says why. */
static ssize_t read_full(int fd, char *out, size_t n)
{
    size_t got = 0;
    while (got < n) {
        ssize_t some = read(fd, out + got, n - got);
        if (some < 0 && errno == EINTR) continue;
        if (some < 0) return -1;
        if (some == 0) break;
        got += (size_t)some;
    }
    return (ssize_t)got;
}

static ssize_t pread_full(int fd, char *out, size_t n, uint64_t at)
{
    size_t got = 0;
    while (got < n) {
        ssize_t some = pread(fd, out + got, n - got, (off_t)(at + got));
        if (some < 0 && errno == EINTR) continue;
        if (some < 0) return -1;
        if (some == 0) break;
        got += (size_t)some;
    }
    return (ssize_t)got;
}

static int open_file(const token_file *file)
{
    if (cli_is(file->path, "-")) return STDIN_FILENO;
    return open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

static void close_file(int fd)
{
    if (fd > STDIN_FILENO) close(fd);
}

static bool is_binary(const char *bytes, size_t n)
{
    return n > 0 && memchr(bytes, 0, n < HEAD ? n : HEAD) != NULL;
}

/* ---- counting one unit ------------------------------------------------------------------------------- */

typedef struct range {
    int fd;
    uint64_t at, end; /* end UINT64_MAX: to the end of the file, wherever that is */
    bool streamed;
} range;

/* The next piece of a range; 0 at its end, -1: errno. */
static ssize_t next_piece(counter *c, range *r)
{
    uint64_t left = r->end - r->at;
    size_t n = left < PIECE ? (size_t)left : PIECE;
    ssize_t got =
        r->streamed ? read_full(r->fd, c->piece, n) : pread_full(r->fd, c->piece, n, r->at);
    if (got > 0) {
        r->at += (uint64_t)got;
        atomic_fetch_add_explicit(&c->work->bytes, (uint64_t)got, memory_order_relaxed);
    }
    return got;
}

/* Count or encode a range.  `walked`: stop at once when it is binary, and say so. */
static maki_status count_range(counter *c, range *r, maki_ids_fn fn, void *ctx, bool walked,
                               uint64_t *tokens, bool *binary)
{
    maki_token_stream stream = { 0 };
    maki_status st = MAKI_OK;
    uint64_t start = r->at;
    ssize_t got;
    while (st == MAKI_OK && (got = next_piece(c, r)) != 0) {
        if (got < 0) {
            c->err = token_errno();
            st = c->err.status;
            break;
        }
        maki_str piece = { c->piece, (size_t)got };
        *binary = walked && r->at - start == piece.len && is_binary(piece.ptr, piece.len);
        if (*binary) break;
        if (!fn && piece.len < PIECE && r->at - start == piece.len) { /* all of it at once */
            *tokens = maki_tokenizer_count(c->tokenizer, piece);
            return MAKI_OK;
        }
        st = maki_token_stream_add(&stream, c->tokenizer, piece, fn, ctx, &c->err);
        if (st == MAKI_OK && stream.len > HELD_MOST) {
            c->err = (maki_err){ .status = st = MAKI_TOOBIG };
            snprintf(c->err.msg, sizeof c->err.msg, "more than %d MB without a place to cut",
                     HELD_MOST >> 20);
        }
    }
    maki_status ended =
        maki_token_stream_end(&stream, c->tokenizer, fn, ctx, st == MAKI_OK ? &c->err : NULL);
    *tokens = stream.tokens;
    return st == MAKI_OK ? ended : st;
}

/* Where part `i` of a file begins: a place to cut in the bytes before its nominal edge; false: none. */
static bool edge_of(counter *c, int fd, const token_file *file, uint64_t i, uint64_t *edge)
{
    uint64_t nominal = i * PART;
    *edge = nominal == 0 ? 0 : file->size;
    if (nominal == 0 || nominal >= file->size) return true;
    ssize_t got = pread_full(fd, c->piece, WINDOW, nominal - WINDOW);
    size_t cut = got > 0 ? maki_token_cut((maki_str){ c->piece, (size_t)got }) : 0;
    *edge = nominal - WINDOW + cut;
    return cut > 0;
}

static range range_of(counter *c, int fd, const unit *u)
{
    const token_file *file = u->file;
    range r = { .fd = fd, .end = UINT64_MAX, .streamed = file->streamed };
    if (!u->split) return r;
    uint64_t next = u->part + 1;
    if (!edge_of(c, fd, file, u->part, &r.at)) r.end = r.at; /* the part before has it */
    while (r.end != r.at && !edge_of(c, fd, file, next, &r.end))
        next++;
    if (r.end == file->size) r.end = UINT64_MAX; /* it may have grown */
    return r;
}

static void do_unit(counter *c, const unit *u)
{
    token_file *file = u->file;
    work *w = c->work;
    bool binary = false;
    uint64_t tokens = 0, bytes = 0;
    maki_status st = MAKI_OK;
    int fd = open_file(file);
    if (fd < 0) {
        c->err = token_errno();
        st = c->err.status;
    } else {
        range r = range_of(c, fd, u);
        bool walked = file->walked && !w->options->all && u->part == 0;
        uint64_t start = r.at;
        if (r.at != r.end) st = count_range(c, &r, NULL, NULL, walked, &tokens, &binary);
        bytes = r.at - start;
        close_file(fd);
    }
    pthread_mutex_lock(&w->lock);
    file->tokens += tokens;
    file->bytes += bytes;
    file->binary |= binary;
    if (st != MAKI_OK && file->err.status == MAKI_OK) file->err = c->err;
    pthread_mutex_unlock(&w->lock);
}

/* ---- threads ------------------------------------------------------------------------------------------ */

static bool counter_open(counter *c, work *w, const token_options *options)
{
    maki_env env = maki_env_system();
    maki_tokenizer_options how = MAKI_TOKENIZER_OPTIONS_INIT;
    how.special = options->special;
    how.memory = w->memory;
    *c = (counter){ .work = w, .piece = malloc(PIECE) };
    if (!c->piece) {
        errno = ENOMEM;
        c->err = token_errno();
        return false;
    }
    return maki_tokenizer_open(&env, options->encoding, &how, &c->tokenizer, &c->err) == MAKI_OK;
}

static void counter_close(counter *c)
{
    maki_tokenizer_close(c->tokenizer);
    free(c->piece);
}

/* Take units until there are none.  Without memory to count with, each one fails. */
static void *run_units(void *ctx)
{
    work *w = ctx;
    counter c;
    bool open = counter_open(&c, w, w->options);
    size_t i;
    while ((i = atomic_fetch_add(&w->next, 1)) < w->count) {
        if (open) {
            do_unit(&c, &w->units[i]);
        } else {
            pthread_mutex_lock(&w->lock);
            w->units[i].file->err = c.err;
            pthread_mutex_unlock(&w->lock);
        }
    }
    counter_close(&c);
    pthread_mutex_lock(&w->lock);
    w->running--;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static size_t core_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int n = CPU_COUNT(&set);
    return n < 1 ? 1 : n > THREADS_MOST ? THREADS_MOST : (size_t)n;
}

/* ---- progress ------------------------------------------------------------------------------------------ */

static void show_progress(const work *w, uint64_t total)
{
    uint64_t done = atomic_load_explicit(&w->bytes, memory_order_relaxed);
    char bar[31];
    if (total == 0) {
        fprintf(stderr, "\r%" PRIu64 " MB read ", done >> 20);
        return;
    }
    double share = done < total ? (double)done / (double)total : 1;
    size_t full = (size_t)(share * 30);
    memset(bar, '-', 30);
    memset(bar, '#', full);
    bar[30] = '\0';
    fprintf(stderr, "\r[%s] %3.0f %%  %" PRIu64 " of %" PRIu64 " MB ", bar, share * 100, done >> 20,
            total >> 20);
}

/* Wait for the threads.  Nothing is shown in the first second, and nothing stays. */
static void wait_for(work *w, uint64_t total)
{
    bool terminal = isatty(STDERR_FILENO), shown = false;
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec++;
    pthread_mutex_lock(&w->lock);
    while (w->running) {
        if (!terminal) {
            pthread_cond_wait(&w->ended, &w->lock);
        } else if (pthread_cond_timedwait(&w->ended, &w->lock, &at) == ETIMEDOUT) {
            show_progress(w, total);
            shown = true;
            at.tv_nsec += 200000000;
            at.tv_sec += at.tv_nsec / 1000000000;
            at.tv_nsec %= 1000000000;
        }
    }
    pthread_mutex_unlock(&w->lock);
    if (shown) fprintf(stderr, "\r%70s\r", "");
}

static void run_threads(work *w, size_t n, uint64_t total)
{
    pthread_t threads[THREADS_MOST];
    size_t started = 0;
    w->running = n;
    while (started < n && pthread_create(&threads[started], NULL, run_units, w) == 0)
        started++;
    if (started < n) { /* no more to be had: this one works too */
        pthread_mutex_lock(&w->lock);
        w->running = w->running - n + started + 1;
        pthread_mutex_unlock(&w->lock);
        run_units(w);
    }
    wait_for(w, total);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

/* ---- the list of units ---------------------------------------------------------------------------------- */

/* Is a large file of a folder binary?  Small ones are looked at when they are read. */
static bool looks_binary(const token_file *file)
{
    char head[HEAD];
    int fd = open_file(file);
    if (fd < 0) return false;
    ssize_t got = pread_full(fd, head, sizeof head, 0);
    close_file(fd);
    return got > 0 && is_binary(head, (size_t)got);
}

static uint64_t parts_of(token_file *file, const token_options *options)
{
    if (file->err.status != MAKI_OK) return 0;
    bool split = !file->streamed && !options->special && file->size >= 2 * PART;
    if (!split) return 1;
    if (file->walked && !options->all && looks_binary(file)) {
        file->binary = true;
        return 0;
    }
    return (file->size + PART - 1) / PART;
}

static void add_units(work *w, token_files *files)
{
    uint64_t total = 0;
    for (size_t i = 0; i < files->count; i++)
        total += parts_of(&files->at[i], w->options);
    w->units = calloc(total ? total : 1, sizeof w->units[0]);
    if (!w->units) {
        fputs("maki: out of memory\n", stderr);
        exit(maki_status_exit(MAKI_NOMEM));
    }
    for (size_t i = 0; i < files->count; i++) {
        token_file *file = &files->at[i];
        uint64_t parts = file->binary ? 0 : parts_of(file, w->options);
        for (uint64_t k = 0; k < parts && w->count < total; k++)
            w->units[w->count++] = (unit){ .file = file, .part = k, .split = parts > 1 };
    }
}

void token_count_files(token_files *files, const token_options *options)
{
    work w = { .options = options, .lock = PTHREAD_MUTEX_INITIALIZER };
    uint64_t total = 0;
    bool unknown = false;
    pthread_cond_init(&w.ended, NULL);
    for (size_t i = 0; i < files->count; i++) {
        total += files->at[i].size;
        unknown |= files->at[i].streamed && files->at[i].size == 0;
    }
    add_units(&w, files);
    size_t n = core_count();
    if (n > w.count) n = w.count;
    if (total < MANY && !(unknown && isatty(STDERR_FILENO))) {
        w.running = 1;
        run_units(&w); /* here and now */
    } else {
        maki_env env = maki_env_system();
        /* it only saves time: without it they count all the same */
        if (n > 1 && maki_token_memory_open(&env, options->encoding, &w.memory, NULL) != MAKI_OK)
            w.memory = NULL;
        run_threads(&w, n, unknown ? 0 : total);
    }
    maki_token_memory_close(w.memory);
    free(w.units);
    pthread_cond_destroy(&w.ended);
    pthread_mutex_destroy(&w.lock);
}

void token_encode_file(token_file *file, const token_options *options, maki_ids_fn fn, void *ctx)
{
    work w = { .options = options };
    counter c;
    bool binary = false;
    maki_status st = MAKI_OK;
    int fd = -1;
    if (!counter_open(&c, &w, options)) {
        st = c.err.status;
    } else if ((fd = open_file(file)) < 0) {
        c.err = token_errno();
        st = c.err.status;
    } else {
        range r = { .fd = fd, .end = UINT64_MAX, .streamed = file->streamed };
        st = count_range(&c, &r, fn, ctx, false, &file->tokens, &binary);
        file->bytes = r.at;
        close_file(fd);
    }
    if (st != MAKI_OK) file->err = c.err;
    counter_close(&c);
}
