/* ascii.h -- classes of ASCII characters, independent of the locale. */
#ifndef MAKI_BASE_ASCII_H
#define MAKI_BASE_ASCII_H

#include <stdbool.h>

static inline char maki_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

/* White space of JSON. */
static inline bool maki_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static inline bool maki_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool maki_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool maki_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool maki_is_alnum(char c)
{
    return maki_is_digit(c) || maki_is_upper(c) || maki_is_lower(c);
}

static inline bool maki_is_hex(char c)
{
    return maki_is_digit(c) || (maki_lower(c) >= 'a' && maki_lower(c) <= 'f');
}

/* A character of an identifier. */
static inline bool maki_is_word_char(char c)
{
    return maki_is_alnum(c) || c == '_';
}

#endif
