/* json_input.c -- see json_input.h. */
#include "json_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(json_input *in, const char *bytes, size_t n)
{
    if (in->len + n > in->room) {
        in->room = (in->len + n) * 2 + 64;
        in->text = realloc(in->text, in->room);
        if (!in->text) {
            fputs("maki: out of memory\n", stderr);
            exit(maki_status_exit(MAKI_NOMEM));
        }
    }
    memcpy(in->text + in->len, bytes, n);
    in->len += n;
}

static void add_text(json_input *in, const char *text)
{
    add(in, text, strlen(text));
}

static void add_quoted(json_input *in, const char *text)
{
    char escape[8];
    add(in, "\"", 1);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20)
            snprintf(escape, sizeof escape, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            snprintf(escape, sizeof escape, "\\%c", c);
        else
            snprintf(escape, sizeof escape, "%c", c);
        add_text(in, escape);
    }
    add(in, "\"", 1);
}

static void add_key(json_input *in, const char *field)
{
    if (in->len > 1) add(in, ",", 1);
    add_quoted(in, field);
    add(in, ":", 1);
}

void json_input_begin(json_input *in)
{
    in->len = 0;
    add(in, "{", 1);
}

void json_input_end(json_input *in)
{
    add(in, "}", 1);
}

void json_input_free(json_input *in)
{
    free(in->text);
    *in = (json_input){ 0 };
}

void json_input_text(json_input *in, const char *field, const char *text)
{
    add_key(in, field);
    add_quoted(in, text);
}

void json_input_raw(json_input *in, const char *field, const char *json)
{
    add_key(in, field);
    add_text(in, json);
}

maki_str json_input_str(const json_input *in)
{
    return (maki_str){ in->text ? in->text : "", in->len };
}

static maki_status keep(void *ctx, maki_str bytes, maki_err *err)
{
    (void)err;
    add(ctx, bytes.ptr, bytes.len);
    return MAKI_OK;
}

maki_sink json_input_sink(json_input *in)
{
    return (maki_sink){ keep, in };
}
