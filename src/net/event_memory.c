/* event_memory.c -- small blocks of one size in one region; anything else from malloc. */
#include "net/event_memory.h"

#include <event2/event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/platform.h"

#define BLOCK  ((size_t)32)
#define REGION ((size_t)32 << 20) /* of addresses: a page is taken when it is first written to */

typedef union block {
    union block *next; /* while it is free */
    char bytes[BLOCK];
} block;

static struct {
    pthread_mutex_t lock;
    block *start, *end; /* the region */
    block *unused;      /* from here to the end nothing was ever given out */
    block *freed;
} small = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_small(const void *p)
{
    return (uintptr_t)p >= (uintptr_t)small.start && (uintptr_t)p < (uintptr_t)small.end;
}

static void *get(size_t size)
{
    block *got = NULL;
    if (size <= BLOCK) {
        pthread_mutex_lock(&small.lock);
        if (small.freed) {
            got = small.freed;
            small.freed = got->next;
        } else if (small.unused < small.end) {
            got = small.unused++;
        }
        pthread_mutex_unlock(&small.lock);
    }
    return got ? got : malloc(size);
}

static void give_back(void *p)
{
    if (!is_small(p)) {
        free(p);
        return;
    }
    block *back = p;
    pthread_mutex_lock(&small.lock);
    back->next = small.freed;
    small.freed = back;
    pthread_mutex_unlock(&small.lock);
}

static void *resize(void *p, size_t size)
{
    if (!p) return get(size);
    if (!is_small(p)) return realloc(p, size);
    if (size <= BLOCK) return p;
    void *larger = malloc(size);
    if (!larger) return NULL;
    memcpy(larger, p, BLOCK);
    give_back(p);
    return larger;
}

void maki_event_memory_use(void)
{
    void *region = maki_reserve_pages(REGION);
    if (!region) return;
    /* a descriptor more is a page more, not two megabytes */
    maki_huge_pages(region, REGION, false);
    small.start = small.unused = region;
    small.end = small.start + REGION / sizeof(block);
    event_set_mem_functions(get, resize, give_back);
}
