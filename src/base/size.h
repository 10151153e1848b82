/* size.h -- size arithmetic that reports overflow. */
#ifndef MAKI_BASE_SIZE_H
#define MAKI_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>

/* *out = a + b, a * b; false, and *out unchanged, on overflow. */
static inline bool maki_size_add(size_t a, size_t b, size_t *out)
{
    size_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) return false;
    *out = sum;
    return true;
}

static inline bool maki_size_mul(size_t a, size_t b, size_t *out)
{
    size_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) return false;
    *out = product;
    return true;
}

#endif
