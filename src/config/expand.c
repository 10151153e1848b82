/* expand.c -- expand references to environment variables.
 *
 * In:     a value of the file; it may contain any bytes.
 * Out:    the text with every reference replaced, once: an expanded value is not expanded again. */
#include "config/expand.h"

#include <ctype.h>

#include "base/str_util.h"

bool maki_variable(char *const *environment, maki_str name, maki_str *value)
{
    for (size_t i = 0; environment && environment[i]; i++) {
        maki_str entry = maki_str_of(environment[i]);
        if (!maki_str_starts(entry, name) || entry.ptr[name.len] != '=') continue;
        *value = maki_str_skip(entry, name.len + 1);
        return true;
    }
    return false;
}

/* The length of the variable name at the start of `text`; 0: none. */
static size_t name_len(maki_str text)
{
    size_t n = 0;
    while (n < text.len && (isalnum((unsigned char)text.ptr[n]) || text.ptr[n] == '_'))
        n++;
    return n && isdigit((unsigned char)text.ptr[0]) ? 0 : n;
}

/* The value of the reference at the start of `text` ("${NAME...}"); *len is the length of the reference. */
static maki_str expand_reference(maki_str text, char *const *environment, maki_expanded *out,
                                 size_t *len)
{
    maki_str value = { "", 0 }, inside = maki_str_skip(text, 2);
    const char *end = memchr(inside.ptr, '}', inside.len);
    if (!end) {
        out->error = "${ is not closed by }; write $${ for a literal ${";
        return value;
    }
    *len = (size_t)(end + 1 - text.ptr);
    inside.len = (size_t)(end - inside.ptr);
    maki_str name = maki_str_prefix(inside, name_len(inside)),
             rest = maki_str_skip(inside, name.len);
    bool has_default = maki_str_starts(rest, MAKI_LIT(":-"));
    if (name.len == 0 || (rest.len && !has_default)) {
        out->error = "expected ${NAME} or ${NAME:-default}";
        return value;
    }
    /* as in a shell, :- applies to an empty variable too */
    if (maki_variable(environment, name, &value) && (value.len || !has_default)) {
        if (out->variable.len == 0) out->variable = name;
        return value;
    }
    if (!has_default && out->missing.len == 0) out->missing = name;
    return has_default ? maki_str_skip(rest, 2) : (maki_str){ "", 0 };
}

/* Expand into `to`, or with `to` NULL only measure; returns the length. */
static size_t expand_into(maki_str text, char *const *environment, maki_expanded *out, char *to)
{
    size_t fill = 0;
    while (text.len && !out->error) {
        maki_str piece = maki_str_prefix(text, 1);
        size_t consumed = 1;
        if (maki_str_starts(text, MAKI_LIT("$${"))) {
            piece = (maki_str){ "${", 2 };
            consumed = 3;
        } else if (maki_str_starts(text, MAKI_LIT("${"))) {
            piece = expand_reference(text, environment, out, &consumed);
        }
        if (to && piece.len) memcpy(to + fill, piece.ptr, piece.len);
        fill += piece.len;
        text = maki_str_skip(text, consumed);
    }
    return fill;
}

maki_expanded maki_expand(maki_str text, char *const *environment, maki_arena *arena)
{
    maki_expanded out = { .text = { "", 0 } };
    size_t n = expand_into(text, environment, &out, NULL);
    char *at = out.error ? NULL : maki_arena_get(arena, n + 1);
    if (at) out.text = (maki_str){ at, expand_into(text, environment, &out, at) };
    return out;
}
