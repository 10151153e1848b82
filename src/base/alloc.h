/* alloc.h -- allocate and free one zeroed object; grow an array. */
#ifndef MAKI_BASE_ALLOC_H
#define MAKI_BASE_ALLOC_H

#include <string.h>

#include <maki/env.h>

/* `size` zeroed bytes, or NULL. */
static inline void *maki_alloc_zeroed(const maki_alloc *alloc, size_t size)
{
    void *p = alloc->resize(alloc, NULL, 0, size);
    return p ? memset(p, 0, size) : NULL;
}

/* Allocate a zeroed object of a type (or NULL); free it. */
#define maki_new(alloc, type) ((type *)maki_alloc_zeroed((alloc), sizeof(type)))
#define maki_delete(alloc, p) ((void)(alloc)->resize((alloc), (p), sizeof *(p), 0))

/* Make sure that an array of `count` elements of `size` bytes has capacity for one more; a full array doubles.  Returns
 * the array, which may have moved, or NULL when out of memory: the old array is valid then. */
static inline void *maki_array_grow(const maki_alloc *alloc, void *array, size_t count,
                                    size_t *capacity, size_t size)
{
    size_t larger = *capacity ? *capacity * 2 : 4;
    if (count < *capacity) return array;
    void *moved = alloc->resize(alloc, array, *capacity * size, larger * size);
    if (moved) *capacity = larger;
    return moved;
}

#endif
