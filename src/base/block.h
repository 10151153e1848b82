/* block.h -- a page-aligned buffer for file I/O.
 *
 * The kernel copies to and from it several times faster than to memory as an allocator returns it, 16 bytes after a
 * page boundary (measured: 100 MB read in 14 ms instead of 38). */
#ifndef MAKI_BASE_BLOCK_H
#define MAKI_BASE_BLOCK_H

#include <stdint.h>

#include <maki/env.h>

typedef struct maki_block {
    char *at;        /* `size` bytes; NULL: out of memory */
    void *allocated; /* the allocation that contains `at`, to be freed */
    size_t size;
} maki_block;

enum { MAKI_PAGE = 4096 };

static inline maki_block maki_block_new(const maki_alloc *alloc, size_t size)
{
    maki_block block = { .size = size };
    block.allocated = alloc->resize(alloc, NULL, 0, size + MAKI_PAGE);
    if (!block.allocated) return block;
    uintptr_t aligned = ((uintptr_t)block.allocated + MAKI_PAGE - 1) / MAKI_PAGE * MAKI_PAGE;
    block.at = (char *)block.allocated + (aligned - (uintptr_t)block.allocated);
    return block;
}

static inline void maki_block_free(const maki_alloc *alloc, maki_block *block)
{
    if (block->allocated) alloc->resize(alloc, block->allocated, block->size + MAKI_PAGE, 0);
    *block = (maki_block){ 0 };
}

#endif
