/* event_memory.c -- a pool allocator: blocks of one size in one reserved region, with a free list; larger ones from
 * malloc. A pointer belongs to the pool when its address is in the region.  The lock guards the free list. */
#include "net/event_memory.h"

#include <event2/event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/platform.h"

#define BLOCK_SIZE  ((size_t)32)
#define REGION_SIZE ((size_t)32 << 20) /* of addresses: memory is used page by page */

typedef union block {
    union block *next; /* while free */
    char bytes[BLOCK_SIZE];
} block;

static struct {
    pthread_mutex_t lock;
    block *start, *end; /* the region */
    block *unused;      /* the blocks from here to `end` were never allocated */
    block *freed;       /* the free list */
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_in_pool(const void *p)
{
    return (uintptr_t)p >= (uintptr_t)pool.start && (uintptr_t)p < (uintptr_t)pool.end;
}

static void *alloc_block(size_t size)
{
    block *allocated = NULL;
    if (size <= BLOCK_SIZE) {
        pthread_mutex_lock(&pool.lock);
        if (pool.freed) {
            allocated = pool.freed;
            pool.freed = allocated->next;
        } else if (pool.unused < pool.end) {
            allocated = pool.unused++;
        }
        pthread_mutex_unlock(&pool.lock);
    }
    return allocated ? allocated : malloc(size);
}

static void free_block(void *p)
{
    if (!is_in_pool(p)) {
        free(p);
        return;
    }
    block *freed_block = p;
    pthread_mutex_lock(&pool.lock);
    freed_block->next = pool.freed;
    pool.freed = freed_block;
    pthread_mutex_unlock(&pool.lock);
}

static void *resize(void *p, size_t size)
{
    if (!p) return alloc_block(size);
    if (!is_in_pool(p)) return realloc(p, size);
    if (size <= BLOCK_SIZE) return p;
    void *larger = malloc(size);
    if (!larger) return NULL;
    memcpy(larger, p, BLOCK_SIZE);
    free_block(p);
    return larger;
}

void maki_event_memory_install(void)
{
    void *region = maki_reserve_pages(REGION_SIZE);
    if (!region) return;
    /* grow by a page, not by two megabytes */
    maki_huge_pages(region, REGION_SIZE, false);
    pool.start = pool.unused = region;
    pool.end = pool.start + REGION_SIZE / sizeof(block);
    event_set_mem_functions(alloc_block, resize, free_block);
}
