/* json_print.c -- see json_print.h. */
#include "base/json_print.h"

#include <assert.h>
#include <stdarg.h>

#include "base/str.h"

/* The key that stands before a value; it is written with it. */
static void write_key(maki_jw *w, maki_str *key)
{
    if (!key->len) return;
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\""));
    maki_jw_bytes(w, *key);
    maki_jw_bytes(w, MAKI_LIT("\":"));
    w->after_key = true;
    key->len = 0;
}

static void write_quoted(maki_jw *w, maki_str escaped)
{
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\""));
    maki_jw_bytes(w, escaped);
    maki_jw_bytes(w, MAKI_LIT("\""));
}

/* One character that opens or closes; commas are passed over. */
static void write_mark(maki_jw *w, maki_str *key, char mark)
{
    if (mark == ',') return;
    write_key(w, key);
    switch (mark) {
    case '{': maki_jw_object(w); break;
    case '}': maki_jw_end_object(w); break;
    case '[': maki_jw_array(w); break;
    default: maki_jw_end_array(w); break;
    }
}

static void write_argument(maki_jw *w, maki_str *key, char kind, va_list *args)
{
    maki_str text = { "", 0 };
    int64_t number = 0;
    bool left_out = false;
    switch (kind) {
    case 'z': {
        const char *plain = va_arg(*args, const char *);
        if (plain) text = maki_str_of(plain);
        left_out = text.len == 0;
        break;
    }
    case 'v':
    case 'S':
    case 's':
    case 'q':
    case 'Q':
        text = va_arg(*args, maki_str);
        left_out = text.len == 0 && (kind == 'v' || kind == 'S' || kind == 'Q');
        break;
    case 'i':
    case 'I':
        number = va_arg(*args, int64_t);
        left_out = number == 0 && kind == 'I';
        break;
    default: break;
    }
    if (left_out) {
        key->len = 0;
        return;
    }
    write_key(w, key);
    switch (kind) {
    case 'v': maki_jw_raw(w, text); break;
    case 'q':
    case 'Q': write_quoted(w, text); break;
    case 'i':
    case 'I': maki_jw_int(w, number); break;
    case 'f': maki_jw_double(w, va_arg(*args, double)); break;
    case 'b': maki_jw_bool(w, va_arg(*args, int)); break;
    default: maki_jw_string(w, text); break;
    }
}

void maki_jw_print(maki_jw *w, const char *shape, ...)
{
    va_list args;
    maki_str key = { "", 0 };
    va_start(args, shape);
    while (*shape) {
        if (strchr("{}[],", *shape)) {
            write_mark(w, &key, *shape++);
        } else if (*shape == '%') {
            write_argument(w, &key, shape[1], &args);
            shape += 2;
        } else if (*shape == '\'') {
            maki_str text = { shape + 1, strcspn(shape + 1, "'") };
            shape += text.len + 2;
            bool is_key = *shape == ':';
            if (!is_key) write_key(w, &key);
            if (is_key)
                key = text, shape++;
            else
                write_quoted(w, text);
        } else {
            maki_str value = { shape, strcspn(shape, ",]}") };
            assert(value.len > 0);
            write_key(w, &key);
            maki_jw_raw(w, value);
            shape += value.len;
        }
    }
    va_end(args);
    write_key(w, &key);
}
