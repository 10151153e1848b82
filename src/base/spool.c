/* spool.c -- bytes in memory up to a limit, in an unlinked temporary file above it.
 *
 * Always: the data is either in `memory`, or in the file with `memory` empty.  When the disk is
 *         full, it moves back into memory, up to MAKI_SPOOL_FALLBACK. */
#include "base/spool.h"

#include <string.h>

#include "base/err.h"
#include "base/files.h"

maki_spool maki_spool_new(const maki_env *env, size_t in_memory)
{
    return (maki_spool){
        .env = env, .memory = maki_buf_new(env->alloc, in_memory), .in_memory = in_memory, .fd = -1
    };
}

static void unmap(maki_spool *s)
{
    if (s->map) s->env->files->unmap(s->env->files, s->map, s->mapped);
    s->map = NULL;
}

static void reset_memory(maki_spool *s)
{
    maki_buf_free(&s->memory);
    s->memory = maki_buf_new(s->env->alloc, s->in_memory);
    s->fallback = false;
}

void maki_spool_clear(maki_spool *s)
{
    if (!s->env) return;
    unmap(s);
    if (s->fd >= 0) s->env->files->close(s->env->files, s->fd);
    s->fd = -1;
    s->size = 0;
    if (s->fallback) reset_memory(s);
    maki_buf_clear(&s->memory);
}

void maki_spool_free(maki_spool *s)
{
    maki_spool_clear(s);
    maki_buf_free(&s->memory);
}

/* Move the data from memory to a temporary file. */
static maki_status move_to_file(maki_spool *s, maki_err *err)
{
    const maki_files *files = s->env->files;
    s->fd = files->temp(files);
    if (s->fd < 0) return maki_fail_errno(err, "cannot create a temporary file");
    maki_status st = maki_file_write_at(files, s->fd, 0, maki_buf_str(&s->memory), err);
    if (st != MAKI_OK) {
        files->close(files, s->fd);
        s->fd = -1;
        return st;
    }
    reset_memory(s);
    return MAKI_OK;
}

static bool fits(const maki_spool *s, size_t more)
{
    size_t limit = s->fallback ? MAKI_SPOOL_FALLBACK : s->in_memory;
    return s->fd < 0 && s->memory.len <= limit && more <= limit - s->memory.len;
}

/* Writing to the file failed: move the data back into memory, if it fits there together with `more` bytes. */
static bool move_to_memory(maki_spool *s, size_t more)
{
    size_t got = 0;
    if (s->fallback || s->size > MAKI_SPOOL_FALLBACK || more > MAKI_SPOOL_FALLBACK - s->size)
        return false;
    s->memory.max = MAKI_SPOOL_FALLBACK;
    if (s->fd >= 0) {
        char *copy = maki_buf_reserve(&s->memory, (size_t)s->size);
        if (!copy ||
            maki_file_read_at(s->env->files, s->fd, 0, copy, (size_t)s->size, &got, NULL) !=
                MAKI_OK ||
            got < s->size) {
            reset_memory(s);
            return false;
        }
        s->memory.len = got;
        unmap(s);
        s->env->files->close(s->env->files, s->fd);
        s->fd = -1;
    }
    s->fallback = true;
    return true;
}

static maki_status add_to_file(maki_spool *s, maki_str bytes, maki_err *err)
{
    maki_status st = s->fd < 0 ? move_to_file(s, err) : MAKI_OK;
    if (st == MAKI_OK) st = maki_file_write_at(s->env->files, s->fd, s->size, bytes, err);
    if (st == MAKI_OK) s->size += bytes.len;
    return st;
}

maki_status maki_spool_add(maki_spool *s, maki_str bytes, maki_err *err)
{
    if (!fits(s, bytes.len)) {
        maki_status st = add_to_file(s, bytes, err);
        if (st == MAKI_OK || !move_to_memory(s, bytes.len)) return st;
    }
    maki_buf_add(&s->memory, bytes);
    s->size = s->memory.len;
    return maki_buf_status(&s->memory, err);
}

static maki_status sink_write(void *ctx, maki_str bytes, maki_err *err)
{
    return maki_spool_add(ctx, bytes, err);
}

maki_sink maki_spool_sink(maki_spool *s)
{
    return (maki_sink){ sink_write, s };
}

maki_status maki_spool_text(maki_spool *s, maki_str *text, maki_err *err)
{
    const maki_files *files = s->env->files;
    *text = maki_buf_str(&s->memory);
    if (s->fd < 0) return MAKI_OK;
    if (s->map && s->mapped != s->size) unmap(s);
    if (!s->map) s->map = files->map(files, s->fd, (size_t)s->size);
    if (!s->map) return maki_fail_errno(err, "cannot map a temporary file");
    s->mapped = (size_t)s->size;
    *text = (maki_str){ s->map, s->mapped };
    return MAKI_OK;
}

maki_status maki_spool_read(const maki_spool *s, uint64_t at, char *out, size_t capacity,
                            size_t *got, maki_err *err)
{
    *got = 0;
    if (at >= s->size) return MAKI_OK;
    if (capacity > s->size - at) capacity = (size_t)(s->size - at);
    if (s->fd < 0) {
        memcpy(out, s->memory.ptr + at, capacity);
        *got = capacity;
        return MAKI_OK;
    }
    return maki_file_read_at(s->env->files, s->fd, at, out, capacity, got, err);
}
