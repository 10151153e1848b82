/* reply_dump.c -- feed the bytes of a test's reply to the parser, and print the result as one text to compare. */
#include "reply_dump.h"

#include <stdio.h>
#include <string.h>

#include "base/str_util.h"

maki_str quotes(maki_buf *out, const char *text)
{
    maki_buf_clear(out);
    for (; *text; text++)
        maki_buf_add_byte(out, *text == '\'' ? '"' : *text);
    return maki_buf_str(out);
}

maki_str reply_bytes(maki_buf *out, reply_form form, const char *text)
{
    maki_buf_clear(out);
    if (form == EVENTS) maki_buf_add(out, MAKI_LIT("data: "));
    for (; *text; text++) {
        maki_buf_add_byte(out, *text == '\'' ? '"' : *text);
        if (form != EVENTS || *text != '\n') continue;
        maki_buf_add_byte(out, '\n');
        if (text[1]) maki_buf_add(out, MAKI_LIT("data: "));
    }
    return maki_buf_str(out);
}

static void print_meta(maki_buf *out, const char *name, maki_str value)
{
    if (value.len == 0) return;
    maki_buf_add(out, maki_str_of(name));
    maki_buf_add(out, value);
}

static void print_result(const maki_wire_result *result, maki_buf *out)
{
    const maki_wire_usage *u = &result->usage;
    char usage[160];
    for (size_t i = 0; i < result->row_count; i++) {
        maki_buf_add(out, result->rows[i]);
        maki_buf_add_byte(out, '\n');
    }
    print_meta(out, " stop=", result->stop);
    print_meta(out, " id=", result->id);
    print_meta(out, " model=", result->model);
    snprintf(usage, sizeof usage, " usage=%llu/%llu/%llu/%llu/%llu", (unsigned long long)u->input,
             (unsigned long long)u->output, (unsigned long long)u->cache_read,
             (unsigned long long)u->cache_write, (unsigned long long)u->reasoning);
    if (u->known) maki_buf_add(out, maki_str_of(usage));
    print_meta(out, " error=", result->error);
    if (result->complete) maki_buf_add(out, MAKI_LIT(" complete"));
    if (result->invalid) maki_buf_add(out, MAKI_LIT(" invalid"));
}

maki_status reply_dump(const maki_env *env, maki_protocol protocol, reply_form form, int status,
                       maki_str bytes, size_t step, maki_buf *out, maki_err *err)
{
    static const maki_str types[] = { { "text/event-stream; charset=utf-8", 32 },
                                      { "text/event-stream", 17 },
                                      { "application/x-ndjson", 20 },
                                      { "application/json", 16 } };
    maki_wire_reply *reply = NULL;
    maki_wire_result result;
    maki_buf_clear(out);
    maki_status st = maki_wire_reply_open(env, protocol, status, types[form], &reply, err);
    for (size_t at = 0; st == MAKI_OK && at < bytes.len; at += step) {
        size_t some = bytes.len - at < step ? bytes.len - at : step;
        st = maki_wire_reply_add(reply, (maki_str){ bytes.ptr + at, some }, err);
    }
    if (st == MAKI_OK) st = maki_wire_reply_end(reply, &result, err);
    if (st == MAKI_OK) print_result(&result, out);
    maki_wire_reply_close(reply);
    return st;
}
