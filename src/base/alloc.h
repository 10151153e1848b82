/* alloc.h -- one object from an allocator, zeroed, and its way back; arrays that grow. */
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

/* A zeroed object of a type, or NULL; and giving it back. */
#define maki_new(alloc, type) ((type *)maki_alloc_zeroed((alloc), sizeof(type)))
#define maki_delete(alloc, p) ((void)(alloc)->resize((alloc), (p), sizeof *(p), 0))

/* Space for one more of `count` things of `size` bytes in an array that doubles: where it is now, or NULL, and then it
 * is what it was. */
static inline void *maki_array_grow(const maki_alloc *alloc, void *array, size_t count,
                                    size_t *capacity, size_t size)
{
    size_t more = *capacity ? *capacity * 2 : 4;
    if (count < *capacity) return array;
    void *moved = alloc->resize(alloc, array, *capacity * size, more * size);
    if (moved) *capacity = more;
    return moved;
}

#endif
