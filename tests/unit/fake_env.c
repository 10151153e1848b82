/* fake_env.c -- every table function counts its call, then fails or calls the real function.
 *
 * The allocator puts a header with a mark and the size before each block, so that a wrong old size is found. */
#include "fake_env.h"

#include <errno.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* Count a call; true when it must fail. */
static bool must_fail(fake_fault *fault)
{
    fault->calls++;
    if (fault->calls != fault->fail_at) return false;
    fault->failed = true;
    return true;
}

static void set_fault(fake_fault *fault, size_t nth)
{
    *fault = (fake_fault){ .fail_at = nth };
}

/* ---- memory ---------------------------------------------------------------------------------- */

static const uint64_t block_mark = 0x6D616B6921626C6Bu;

typedef struct block {
    uint64_t mark;
    size_t size;
    alignas(max_align_t) unsigned char bytes[];
} block;

static block *block_of(void *p, size_t old_size)
{
    block *b = (block *)(void *)((unsigned char *)p - sizeof(block));
    if (b->mark != block_mark || b->size != old_size) {
        fprintf(stderr, "fake_env: a block of %zu bytes was freed as %zu\n", b->size, old_size);
        abort();
    }
    return b;
}

static void free_block(fake_env *fe, block *b)
{
    fe->live_bytes -= b->size;
    fe->live_blocks--;
    memset(b, 0xDD, sizeof *b + b->size);
    free(b);
}

static void *fake_resize(const maki_alloc *self, void *p, size_t old_size, size_t size)
{
    fake_env *fe = ((const struct fake_alloc_table *)(const void *)self)->fake;
    block *old = p ? block_of(p, old_size) : NULL;
    if (size == 0) {
        if (old) free_block(fe, old);
        return NULL;
    }
    if (must_fail(&fe->alloc)) return NULL;
    if (size > SIZE_MAX / 2) return NULL;
    block *b = malloc(sizeof *b + size);
    if (!b) return NULL;
    *b = (block){ .mark = block_mark, .size = size };
    memset(b->bytes, 0xCD, size);
    fe->live_bytes += size;
    fe->live_blocks++;
    if (old) {
        memcpy(b->bytes, old->bytes, old->size < size ? old->size : size);
        free_block(fe, old);
    }
    if (fe->live_bytes > fe->peak_bytes) fe->peak_bytes = fe->live_bytes;
    return b->bytes;
}

void fake_alloc_fail_at(fake_env *fe, size_t nth)
{
    set_fault(&fe->alloc, nth);
}

bool fake_alloc_failed(const fake_env *fe)
{
    return fe->alloc.failed;
}

size_t fake_alloc_live(const fake_env *fe)
{
    return fe->live_bytes;
}

size_t fake_alloc_blocks(const fake_env *fe)
{
    return fe->live_blocks;
}

/* ---- clock and random bytes -------------------------------------------------------------------- */

static int64_t fake_now_ms(const maki_clock *self)
{
    return ((const struct fake_clock_table *)(const void *)self)->fake->now_ms;
}

static unsigned char next_byte(fake_env *fe)
{
    uint64_t x = fe->random_state;
    if (fe->random_kind == FAKE_RANDOM_ZEROS) return 0;
    if (fe->random_kind == FAKE_RANDOM_COUNTER) return (unsigned char)fe->random_state++;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    fe->random_state = x;
    return (unsigned char)(x >> 32);
}

static maki_status fake_fill(const maki_random *self, void *out, size_t n, maki_err *err)
{
    fake_env *fe = ((const struct fake_random_table *)(const void *)self)->fake;
    unsigned char *at = out;
    if (must_fail(&fe->random)) return maki_fail(err, MAKI_IO, "fake_env: no random bytes");
    for (size_t i = 0; i < n; i++)
        at[i] = next_byte(fe);
    return MAKI_OK;
}

static void set_random(fake_env *fe, fake_random_kind kind, uint64_t state)
{
    fe->random_kind = kind;
    fe->random_state = state;
}

void fake_random_zeros(fake_env *fe)
{
    set_random(fe, FAKE_RANDOM_ZEROS, 0);
}

void fake_random_counter(fake_env *fe)
{
    set_random(fe, FAKE_RANDOM_COUNTER, 0);
}

void fake_random_seed(fake_env *fe, uint64_t seed)
{
    set_random(fe, FAKE_RANDOM_XORSHIFT, seed);
}

void fake_random_fail_at(fake_env *fe, size_t nth)
{
    set_fault(&fe->random, nth);
}

/* ---- files ------------------------------------------------------------------------------------- */

static const struct fake_files_table *table_of(const maki_files *self)
{
    return (const struct fake_files_table *)(const void *)self;
}

/* Count a file call; true, with errno set, when it must fail. */
static bool file_must_fail(fake_env *fe)
{
    if (!must_fail(&fe->files)) return false;
    errno = fe->files_errno;
    return true;
}

/* The same for read, pread, write and pwrite, which can also be interrupted or short. */
static bool transfer_must_fail(fake_env *fe, size_t *n)
{
    fe->transfers++;
    if (file_must_fail(fe)) return true;
    if (fe->interrupt_every && fe->transfers % fe->interrupt_every == 0) {
        errno = EINTR;
        return true;
    }
    if (fe->short_max && *n > fe->short_max) *n = fe->short_max;
    return false;
}

static int fake_open(const maki_files *self, const char *path, int flags, mode_t mode)
{
    const struct fake_files_table *t = table_of(self);
    if (file_must_fail(t->fake)) return -1;
    int fd = t->real->open(t->real, path, flags, mode);
    if (fd >= 0) t->fake->live_fds++;
    return fd;
}

static int fake_temp(const maki_files *self)
{
    const struct fake_files_table *t = table_of(self);
    if (file_must_fail(t->fake)) return -1;
    int fd = t->real->temp(t->real);
    if (fd >= 0) t->fake->live_fds++;
    return fd;
}

static int fake_close(const maki_files *self, int fd)
{
    const struct fake_files_table *t = table_of(self);
    int rc = t->real->close(t->real, fd);
    if (rc == 0) t->fake->live_fds--;
    return file_must_fail(t->fake) ? -1 : rc;
}

static ssize_t fake_read(const maki_files *self, int fd, void *out, size_t n)
{
    const struct fake_files_table *t = table_of(self);
    return transfer_must_fail(t->fake, &n) ? -1 : t->real->read(t->real, fd, out, n);
}

static ssize_t fake_pread(const maki_files *self, int fd, void *out, size_t n, off_t at)
{
    const struct fake_files_table *t = table_of(self);
    return transfer_must_fail(t->fake, &n) ? -1 : t->real->pread(t->real, fd, out, n, at);
}

static ssize_t fake_write(const maki_files *self, int fd, const void *bytes, size_t n)
{
    const struct fake_files_table *t = table_of(self);
    return transfer_must_fail(t->fake, &n) ? -1 : t->real->write(t->real, fd, bytes, n);
}

/* A function that is only counted: the real one, or a failure. */
#define COUNTED(type, name, args, ...)                                             \
    static type fake_##name args                                                   \
    {                                                                              \
        const struct fake_files_table *t = table_of(self);                         \
        return file_must_fail(t->fake) ? -1 : t->real->name(t->real, __VA_ARGS__); \
    }
/* clang-format off */
COUNTED(int, sync, (const maki_files *self, int fd), fd)
COUNTED(int, rename, (const maki_files *self, const char *from, const char *to), from, to)
COUNTED(int, unlink, (const maki_files *self, const char *path), path)
COUNTED(int, truncate, (const maki_files *self, int fd, off_t size), fd, size)
COUNTED(int, lock, (const maki_files *self, int fd, int how), fd, how)
COUNTED(int, allocate, (const maki_files *self, int fd, off_t size), fd, size)
COUNTED(int, stat, (const maki_files *self, int fd, const char *path, struct stat *out), fd, path, out)
COUNTED(int, mkdir, (const maki_files *self, const char *path, mode_t mode), path, mode)
COUNTED(int, list, (const maki_files *self, const char *directory, bool (*name)(void *, const char *), void *ctx), directory, name, ctx)
COUNTED(int, resolve, (const maki_files *self, const char *path, char *out), path, out)
COUNTED(int64_t, space, (const maki_files *self, const char *directory), directory)
/* clang-format on */

static int fake_dup(const maki_files *self, int fd)
{
    const struct fake_files_table *t = table_of(self);
    int copy = file_must_fail(t->fake) ? -1 : t->real->dup(t->real, fd);
    if (copy >= 0) t->fake->live_fds++;
    return copy;
}

static void *fake_map(const maki_files *self, int fd, size_t n)
{
    const struct fake_files_table *t = table_of(self);
    if (file_must_fail(t->fake)) return NULL;
    void *at = t->real->map(t->real, fd, n);
    if (at) t->fake->live_maps++;
    return at;
}

static void fake_unmap(const maki_files *self, void *at, size_t n)
{
    const struct fake_files_table *t = table_of(self);
    t->real->unmap(t->real, at, n);
    t->fake->live_maps--;
}

static ssize_t fake_pwrite(const maki_files *self, int fd, const void *bytes, size_t n, off_t at)
{
    const struct fake_files_table *t = table_of(self);
    return transfer_must_fail(t->fake, &n) ? -1 : t->real->pwrite(t->real, fd, bytes, n, at);
}

void fake_files_fail_at(fake_env *fe, size_t nth, int errno_value)
{
    set_fault(&fe->files, nth);
    fe->files_errno = errno_value;
}

bool fake_files_failed(const fake_env *fe)
{
    return fe->files.failed;
}

void fake_files_short(fake_env *fe, size_t max)
{
    fe->short_max = max;
}

void fake_files_interrupt(fake_env *fe, size_t every)
{
    fe->interrupt_every = every;
    fe->transfers = 0;
}

size_t fake_files_live(const fake_env *fe)
{
    return fe->live_fds + fe->live_maps;
}

void fake_env_init(fake_env *fe)
{
    memset(fe, 0, sizeof *fe);
    fe->now_ms = 1700000000000;
    fe->alloc_table = (struct fake_alloc_table){ { fake_resize }, fe };
    fe->clock_table = (struct fake_clock_table){ { fake_now_ms }, fe };
    fe->random_table = (struct fake_random_table){ { fake_fill }, fe };
    fe->files_table = (struct fake_files_table){
        .table = { .open = fake_open,
                   .temp = fake_temp,
                   .close = fake_close,
                   .read = fake_read,
                   .pread = fake_pread,
                   .write = fake_write,
                   .sync = fake_sync,
                   .rename = fake_rename,
                   .unlink = fake_unlink,
                   .map = fake_map,
                   .unmap = fake_unmap,
                   .pwrite = fake_pwrite,
                   .truncate = fake_truncate,
                   .lock = fake_lock,
                   .dup = fake_dup,
                   .allocate = fake_allocate,
                   .stat = fake_stat,
                   .mkdir = fake_mkdir,
                   .list = fake_list,
                   .resolve = fake_resolve,
                   .space = fake_space },
        .real = maki_env_system().files,
        .fake = fe,
    };
    fe->env = (maki_env){ &fe->alloc_table.table, &fe->clock_table.table, &fe->random_table.table,
                          &fe->files_table.table };
}
