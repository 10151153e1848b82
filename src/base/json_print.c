/* json_print.c -- write JSON as a format string says: parsed in one pass, with conversions (%s, %i, ...) as in printf.
 *
 * A key is pending until its value is known: when the value is omitted, the key is too. */
#include "base/json_print.h"

#include <assert.h>
#include <stdarg.h>

#include "base/str_util.h"

/* Write 'name': or 'text' from the format, with its quotes.  It is copied in one step when it fits into the buffer. */
static void write_literal(maki_jw *w, maki_str literal)
{
    size_t colon = literal.ptr[literal.len - 1] == ':', last = literal.len - 1 - colon;
    maki_jw_begin_value(w);
    if (literal.len <= w->capacity - w->fill) {
        char *at = w->buffer + w->fill;
        memcpy(at, literal.ptr, literal.len);
        at[0] = at[last] = '"';
        w->fill += literal.len;
        w->written += literal.len;
    } else {
        maki_jw_bytes(w, MAKI_LIT("\""));
        maki_jw_bytes(w, (maki_str){ literal.ptr + 1, last - 1 });
        maki_jw_bytes(w, colon ? MAKI_LIT("\":") : MAKI_LIT("\""));
    }
    w->after_key = colon;
}

/* Write the pending key, if any, before its value. */
static inline void write_key(maki_jw *w, maki_str *key)
{
    if (key->len) write_literal(w, *key);
    key->len = 0;
}

static void write_quoted(maki_jw *w, maki_str escaped)
{
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\""));
    maki_jw_bytes(w, escaped);
    maki_jw_bytes(w, MAKI_LIT("\""));
}

/* Write a string as its conversion says; some conversions omit an empty one. */
static void write_text(maki_jw *w, maki_str *key, char conversion, maki_str text)
{
    if (text.len == 0 && strchr("vSQz", conversion)) {
        key->len = 0;
        return;
    }
    write_key(w, key);
    if (conversion == 'v')
        maki_jw_raw(w, text);
    else if (conversion == 'q' || conversion == 'Q')
        write_quoted(w, text);
    else
        maki_jw_string(w, text);
}

static void write_argument(maki_jw *w, maki_str *key, char conversion, va_list *args)
{
    const char *cstring;
    int64_t number;
    switch (conversion) {
    case 'z':
        cstring = va_arg(*args, const char *);
        write_text(w, key, conversion, maki_str_of(cstring ? cstring : ""));
        break;
    case 'i':
    case 'I':
        number = va_arg(*args, int64_t);
        if (number == 0 && conversion == 'I') {
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
    default: write_text(w, key, conversion, va_arg(*args, maki_str)); break;
    }
}

/* Parse 'name': (the key becomes pending) or 'text' (written) at `format`; returns the position after it. */
static const char *parse_literal(maki_jw *w, maki_str *key, const char *format)
{
    const char *end = strchr(format + 1, '\'');
    assert(end);
    end += end[1] == ':' ? 2 : 1;
    maki_str literal = { format, (size_t)(end - format) };
    write_key(w, key);
    if (end[-1] == ':')
        *key = literal;
    else
        write_literal(w, literal);
    return end;
}

/* Copy a value without quotes (true, null, 1); returns the position after it. */
static const char *parse_bare(maki_jw *w, maki_str *key, const char *format)
{
    maki_str value = { format, strcspn(format, ",]}") };
    assert(value.len > 0);
    write_key(w, key);
    maki_jw_raw(w, value);
    return format + value.len;
}

void maki_jw_print_args(maki_jw *w, const char *format, va_list *args)
{
    maki_str key = { "", 0 };
    while (*format) {
        switch (*format) {
        case ',': format++; break;
        case '{':
        case '[':
            write_key(w, &key);
            if (*format++ == '{')
                maki_jw_begin_object(w);
            else
                maki_jw_begin_array(w);
            break;
        case '}': maki_jw_end_object(w), format++; break;
        case ']': maki_jw_end_array(w), format++; break;
        case '\'': format = parse_literal(w, &key, format); break;
        case '%':
            write_argument(w, &key, format[1], args);
            format += 2;
            break;
        default: format = parse_bare(w, &key, format); break;
        }
    }
    write_key(w, &key);
}

void maki_jw_print(maki_jw *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    maki_jw_print_args(w, format, &args);
    va_end(args);
}
