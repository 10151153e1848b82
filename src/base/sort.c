/* sort.c -- a stable sort of an array: merge sort, bottom up, with its buffer in an arena. */
#include "base/sort.h"

#include <string.h>

static void merge(const char *from, char *to, size_t left, size_t middle, size_t right, size_t size,
                  bool (*before)(const void *, const void *))
{
    size_t a = left, b = middle;
    for (size_t i = left; i < right; i++) {
        bool take_b = a == middle || (b < right && before(from + b * size, from + a * size));
        memcpy(to + i * size, from + (take_b ? b++ : a++) * size, size);
    }
}

maki_status maki_sort(void *items, size_t count, size_t size,
                      bool (*before)(const void *a, const void *b), maki_arena *arena,
                      maki_err *err)
{
    if (count < 2) return MAKI_OK;
    char *from = items;
    char *to = maki_arena_array(arena, count, size);
    if (!to) return maki_arena_status(arena, err);
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t left = 0; left < count; left += 2 * width) {
            size_t middle = left + width < count ? left + width : count;
            size_t right = middle + width < count ? middle + width : count;
            merge(from, to, left, middle, right, size, before);
        }
        char *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) memcpy(items, from, count * size);
    return MAKI_OK;
}
