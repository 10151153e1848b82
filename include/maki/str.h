/* str.h -- borrowed text: a pointer and a length, never owned, not NUL-terminated. */
#ifndef MAKI_STR_H
#define MAKI_STR_H

#include <stddef.h>
#include <string.h>

typedef struct maki_str {
    const char *ptr;
    size_t len;
} maki_str;

/* A literal of a struct, in C and in C++. */
#ifdef __cplusplus
#define MAKI_LITERAL(type) type
#else
#define MAKI_LITERAL(type) (type)
#endif

/* A string literal as a maki_str, without a call to strlen. */
#define MAKI_LIT(text)            \
    MAKI_LITERAL(maki_str)        \
    {                             \
        "" text, sizeof(text) - 1 \
    }

/* A C string, borrowed. */
static inline maki_str maki_str_of(const char *text)
{
    maki_str str = { text, strlen(text) };
    return str;
}

/* The two arguments of printf for "%.*s". */
#define MAKI_PRINTED(text) (int)(text).len, (text).ptr

#endif
