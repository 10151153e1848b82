/* sort.h -- a stable sort with its working memory in an arena. */
#ifndef MAKI_BASE_SORT_H
#define MAKI_BASE_SORT_H

#include <stdbool.h>

#include "base/arena.h"

/* Sort `count` elements of `size` bytes; `before(a, b)`: a must come before b.  Equal elements keep their order. */
maki_status maki_sort(void *items, size_t count, size_t size,
                      bool (*before)(const void *a, const void *b), maki_arena *arena,
                      maki_err *err);

#endif
