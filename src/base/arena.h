/* arena.h -- an arena allocator: memory that is freed in one call.
 *
 * For what one operation or one turn needs, never for a history.  It has a limit.  The first failure sticks
 * (maki_arena_status): several calls need one check at the end, as long as the caller does not write through the NULL
 * that a failed call returns. */
#ifndef MAKI_BASE_ARENA_H
#define MAKI_BASE_ARENA_H

#include <maki/env.h>

typedef struct maki_arena_chunk maki_arena_chunk;

typedef struct maki_arena {
    const maki_alloc *alloc;
    maki_arena_chunk *newest;
    size_t allocated; /* bytes, chunk headers included */
    size_t max;
    maki_status status;
} maki_arena;

maki_arena maki_arena_new(const maki_alloc *alloc, size_t max);
void maki_arena_free(maki_arena *arena); /* accepts one that was zeroed or freed */

/* `size` zeroed bytes, aligned for any type, or NULL with the status set. */
void *maki_arena_get(maki_arena *arena, size_t size);
/* `count` zeroed elements of `size` bytes. */
void *maki_arena_array(maki_arena *arena, size_t count, size_t size);
/* A copy of `text`, or an empty string with the status set. */
maki_str maki_arena_copy(maki_arena *arena, maki_str text);
/* printf into the arena. */
maki_str maki_arena_print(maki_arena *arena, const char *fmt, ...) MAKI_PRINTF(2, 3);

/* MAKI_OK, MAKI_NOMEM or MAKI_TOOBIG with a message in *err. */
maki_status maki_arena_status(const maki_arena *arena, maki_err *err);

/* Make sure that an array has capacity for element `count`; a full array doubles.  Returns the array, which may have
 * moved, or NULL with the status set.  `items` may be NULL when *capacity is 0. */
void *maki_arena_grow(maki_arena *arena, void *items, size_t count, size_t *capacity, size_t size);
/* Append a copy of the `size` bytes at `item` to such an array.  `items` is the address of the pointer to its first
 * element. */
maki_status maki_arena_add(maki_arena *arena, void *items, size_t *count, size_t *capacity,
                           const void *item, size_t size, maki_err *err);

#endif
