/* fake_write.c -- write JSON by a format string, split and percent-decode texts.  Unlike in maki_jw_print nothing is
 * checked or added, so that a reply can be written in parts, or be invalid. */
#include "fake/fake_write.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/json_write.h"
#include "base/str_util.h"
#include "base/text.h"

static void write_string(maki_buf *out, maki_str text)
{
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(out), NULL);
    maki_jw_string(&w, text);
    if (maki_jw_end(&w) != MAKI_OK && out->status == MAKI_OK) out->status = MAKI_NOMEM;
}

static void write_args(maki_buf *out, const char *format, va_list args)
{
    for (;;) {
        size_t plain = strcspn(format, "'%");
        maki_buf_add(out, (maki_str){ format, plain });
        format += plain;
        if (!*format) return;
        if (*format++ == '\'') {
            maki_buf_add_byte(out, '"');
            continue;
        }
        switch (*format++) {
        case 't': write_string(out, va_arg(args, maki_str)); break;
        case 'r': maki_buf_add(out, va_arg(args, maki_str)); break;
        case 'n': maki_buf_print(out, "%" PRId64, va_arg(args, int64_t)); break;
        case 'x': maki_buf_print(out, "%016" PRIx64, va_arg(args, uint64_t)); break;
        default: maki_buf_add_byte(out, '%'); break;
        }
    }
}

void fake_write(maki_buf *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_args(out, format, args);
    va_end(args);
}

void fake_event(maki_buf *out, const char *name, const char *format, ...)
{
    va_list args;
    if (name) {
        maki_buf_add(out, MAKI_LIT("event: "));
        maki_buf_add(out, (maki_str){ name, strlen(name) });
        maki_buf_add_byte(out, '\n');
    }
    maki_buf_add(out, MAKI_LIT("data: "));
    va_start(args, format);
    write_args(out, format, args);
    va_end(args);
    maki_buf_add(out, MAKI_LIT("\n\n"));
}

maki_str fake_chunk(maki_str text, unsigned nth, unsigned count)
{
    size_t from = maki_utf8_truncate(text, text.len / count * nth).len;
    size_t to = nth + 1 == count ? text.len : text.len / count * (nth + 1);
    return maki_str_skip(maki_utf8_truncate(text, to), from);
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

size_t fake_unescape(maki_str text, char *out, size_t capacity)
{
    size_t n = 0;
    for (size_t i = 0; n < capacity && i < text.len; i++) {
        int high = i + 2 < text.len ? hex_value(text.ptr[i + 1]) : -1;
        int low = i + 2 < text.len ? hex_value(text.ptr[i + 2]) : -1;
        bool escape = text.ptr[i] == '%' && high >= 0 && low >= 0;
        out[n++] =
            escape ? (char)(unsigned char)((unsigned)high << 4 | (unsigned)low) : text.ptr[i];
        if (escape) i += 2;
    }
    return n;
}
