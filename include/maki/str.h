/* str.h -- borrowed text: a pointer and a length, never owned, not NUL-terminated. */
#ifndef MAKI_STR_H
#define MAKI_STR_H

#include <stddef.h>

typedef struct maki_str {
    const char *ptr;
    size_t len;
} maki_str;

/* A string literal as a maki_str, without a call to strlen. */
#define MAKI_LIT(text)            \
    (maki_str)                    \
    {                             \
        "" text, sizeof(text) - 1 \
    }

#endif
