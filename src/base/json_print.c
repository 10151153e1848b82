/* json_print.c -- see json_print.h. */
#include "base/json_print.h"

#include <assert.h>
#include <stdarg.h>

#include "base/str.h"

/* 'name': or 'text' as it stands in a shape, with its quotes.  What fits goes straight to where bytes wait. */
static void write_spelled(maki_jw *w, maki_str spelled)
{
    size_t colon = spelled.ptr[spelled.len - 1] == ':', last = spelled.len - 1 - colon;
    maki_jw_begin_value(w);
    if (spelled.len <= w->size - w->fill) {
        char *at = (w->capacity ? w->capacity : w->waiting) + w->fill;
        memcpy(at, spelled.ptr, spelled.len);
        at[0] = at[last] = '"';
        w->fill += spelled.len;
        w->written += spelled.len;
    } else {
        maki_jw_bytes(w, MAKI_LIT("\""));
        maki_jw_bytes(w, (maki_str){ spelled.ptr + 1, last - 1 });
        maki_jw_bytes(w, colon ? MAKI_LIT("\":") : MAKI_LIT("\""));
    }
    w->after_key = colon;
}

/* The key that stands before a value; it is written with it. */
static inline void write_key(maki_jw *w, maki_str *key)
{
    if (key->len) write_spelled(w, *key);
    key->len = 0;
}

static void write_quoted(maki_jw *w, maki_str escaped)
{
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\""));
    maki_jw_bytes(w, escaped);
    maki_jw_bytes(w, MAKI_LIT("\""));
}

/* A text of that kind; left out when it is empty and the kind says so. */
static void write_text(maki_jw *w, maki_str *key, char kind, maki_str text)
{
    if (text.len == 0 && strchr("vSQz", kind)) {
        key->len = 0;
        return;
    }
    write_key(w, key);
    if (kind == 'v')
        maki_jw_raw(w, text);
    else if (kind == 'q' || kind == 'Q')
        write_quoted(w, text);
    else
        maki_jw_string(w, text);
}

static void write_argument(maki_jw *w, maki_str *key, char kind, va_list *args)
{
    const char *plain;
    int64_t number;
    switch (kind) {
    case 'z':
        plain = va_arg(*args, const char *);
        write_text(w, key, kind, maki_str_of(plain ? plain : ""));
        break;
    case 'i':
    case 'I':
        number = va_arg(*args, int64_t);
        if (number == 0 && kind == 'I') {
            key->len = 0;
            break;
        }
        write_key(w, key);
        maki_jw_int(w, number);
        break;
    case 'f':
        write_key(w, key);
        maki_jw_double(w, va_arg(*args, double));
        break;
    case 'b':
        write_key(w, key);
        maki_jw_bool(w, va_arg(*args, int));
        break;
    default: write_text(w, key, kind, va_arg(*args, maki_str)); break;
    }
}

/* 'name': or 'text' at `shape`; what follows it. */
static const char *read_spelled(maki_jw *w, maki_str *key, const char *shape)
{
    const char *end = strchr(shape + 1, '\'');
    assert(end);
    end += end[1] == ':' ? 2 : 1;
    maki_str spelled = { shape, (size_t)(end - shape) };
    write_key(w, key);
    if (end[-1] == ':')
        *key = spelled;
    else
        write_spelled(w, spelled);
    return end;
}

/* true, null, 1: as it stands. */
static const char *read_plain(maki_jw *w, maki_str *key, const char *shape)
{
    maki_str value = { shape, strcspn(shape, ",]}") };
    assert(value.len > 0);
    write_key(w, key);
    maki_jw_raw(w, value);
    return shape + value.len;
}

void maki_jw_print_args(maki_jw *w, const char *shape, va_list *args)
{
    maki_str key = { "", 0 };
    while (*shape) {
        switch (*shape) {
        case ',': shape++; break;
        case '{':
        case '[':
            write_key(w, &key);
            if (*shape++ == '{')
                maki_jw_object(w);
            else
                maki_jw_array(w);
            break;
        case '}': maki_jw_end_object(w), shape++; break;
        case ']': maki_jw_end_array(w), shape++; break;
        case '\'': shape = read_spelled(w, &key, shape); break;
        case '%':
            write_argument(w, &key, shape[1], args);
            shape += 2;
            break;
        default: shape = read_plain(w, &key, shape); break;
        }
    }
    write_key(w, &key);
}

void maki_jw_print(maki_jw *w, const char *shape, ...)
{
    va_list args;
    va_start(args, shape);
    maki_jw_print_args(w, shape, &args);
    va_end(args);
}
