/* arena.c -- allocate from chunks that double from 1 KB to 1 MB; a larger request gets a separate chunk. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"

enum { CHUNK_MIN = 1024, CHUNK_MAX = 1 << 20, ALIGN = alignof(max_align_t) };

struct maki_arena_chunk {
    maki_arena_chunk *older;
    size_t size; /* header included */
    size_t used;
    alignas(max_align_t) unsigned char bytes[];
};

maki_arena maki_arena_new(const maki_alloc *alloc, size_t max)
{
    return (maki_arena){ .alloc = alloc, .max = max, .status = MAKI_OK };
}

void maki_arena_free(maki_arena *arena)
{
    while (arena->newest) {
        maki_arena_chunk *chunk = arena->newest;
        arena->newest = chunk->older;
        arena->alloc->resize(arena->alloc, chunk, chunk->size, 0);
    }
    arena->allocated = 0;
}

static void *fail(maki_arena *arena, maki_status status)
{
    if (arena->status == MAKI_OK) arena->status = status;
    return NULL;
}

static maki_arena_chunk *add_chunk(maki_arena *arena, size_t request)
{
    size_t size = arena->newest ? arena->newest->size * 2 : CHUNK_MIN;
    size_t min_size = 0;
    if (size > CHUNK_MAX) size = CHUNK_MAX;
    if (!maki_size_add(request, sizeof(maki_arena_chunk), &min_size))
        return fail(arena, MAKI_TOOBIG);
    if (size < min_size) size = min_size;
    if (size > arena->max - arena->allocated) size = min_size; /* near the limit: the minimum */
    if (size > arena->max - arena->allocated) return fail(arena, MAKI_TOOBIG);

    maki_arena_chunk *chunk = arena->alloc->resize(arena->alloc, NULL, 0, size);
    if (!chunk) return fail(arena, MAKI_NOMEM);
    *chunk = (maki_arena_chunk){ .older = arena->newest, .size = size };
    arena->newest = chunk;
    arena->allocated += size;
    return chunk;
}

void *maki_arena_get(maki_arena *arena, size_t size)
{
    if (arena->status != MAKI_OK) return NULL;
    if (size > SIZE_MAX - ALIGN) return fail(arena, MAKI_TOOBIG);
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (size == 0) size = ALIGN;

    maki_arena_chunk *chunk = arena->newest;
    if (!chunk || chunk->size - sizeof *chunk - chunk->used < size) chunk = add_chunk(arena, size);
    if (!chunk) return NULL;
    void *at = chunk->bytes + chunk->used;
    chunk->used += size;
    return memset(at, 0, size);
}

void *maki_arena_array(maki_arena *arena, size_t count, size_t size)
{
    size_t bytes = 0;
    if (!maki_size_mul(count, size, &bytes)) return fail(arena, MAKI_TOOBIG);
    return maki_arena_get(arena, bytes);
}

maki_str maki_arena_copy(maki_arena *arena, maki_str text)
{
    char *at = maki_arena_get(arena, text.len);
    if (!at) return (maki_str){ "", 0 };
    if (text.len) memcpy(at, text.ptr, text.len);
    return (maki_str){ at, text.len };
}

maki_str maki_arena_print(maki_arena *arena, const char *fmt, ...)
{
    va_list args, copy;
    va_start(args, fmt);
    va_copy(copy, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *at = n < 0 ? NULL : maki_arena_get(arena, (size_t)n + 1);
    if (at) vsnprintf(at, (size_t)n + 1, fmt, copy);
    va_end(copy);
    return at ? (maki_str){ at, (size_t)n } : (maki_str){ "", 0 };
}

maki_status maki_arena_status(const maki_arena *arena, maki_err *err)
{
    if (arena->status == MAKI_OK) return MAKI_OK;
    if (arena->status == MAKI_NOMEM) return maki_fail_nomem(err);
    return maki_fail(err, MAKI_TOOBIG, "more than %zu MB of working memory would be needed",
                     arena->max >> 20);
}

void *maki_arena_grow(maki_arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) return items;
    size_t larger = *capacity ? *capacity * 2 : 16;
    void *moved = maki_arena_array(arena, larger, size);
    if (!moved) return NULL;
    if (count) memcpy(moved, items, count * size);
    *capacity = larger;
    return moved;
}

maki_status maki_arena_add(maki_arena *arena, void *items, size_t *count, size_t *capacity,
                           const void *item, size_t size, maki_err *err)
{
    void *array;
    memcpy(&array, items, sizeof array);
    array = maki_arena_grow(arena, array, *count, capacity, size);
    if (!array) return maki_arena_status(arena, err);
    memcpy((char *)array + (*count)++ * size, item, size);
    memcpy(items, &array, sizeof array);
    return MAKI_OK;
}
