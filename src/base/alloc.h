/* alloc.h -- one object from an allocator, zeroed, and its way back. */
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

/* A zeroed object of a type, or NULL; the same with bytes behind it; and giving it back. */
#define maki_new(alloc, type) ((type *)maki_alloc_zeroed((alloc), sizeof(type)))
#define maki_new_with(alloc, type, bytes) \
    ((type *)maki_alloc_zeroed((alloc), sizeof(type) + (bytes)))
#define maki_delete(alloc, p) ((void)(alloc)->resize((alloc), (p), sizeof *(p), 0))

#endif
