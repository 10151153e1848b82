/* http_chunk_test.c -- parsing chunked bodies, split at every offset. */
#include "net/http_chunk.h"

#include <string.h>

#include "base/str_util.h"
#include "tap.h"

#define S(text)                   \
    {                             \
        "" text, sizeof(text) - 1 \
    }

/* clang-format off */
static const struct chunk_row { const char *name; maki_str sent, body, left; maki_status status; } rows[] = {
    { "nothing",                   S("0\r\n\r\n"),                                 S(""),        S(""),    MAKI_OK },
    { "two chunks",                S("5\r\nHello\r\n06\r\n world\r\n0\r\n\r\n"),   S("Hello world"), S(""), MAKI_OK },
    { "what follows is not taken", S("3\r\n日\r\n0\r\n\r\nGET"),                   S("日"),      S("GET"), MAKI_OK },
    { "extensions and trailers",   S("A;x=\"y\";z\r\n0123456789\r\n0 ; a\r\nT: 1\r\nU: 2\r\n\r\n"), S("0123456789"), S(""), MAKI_OK },
    { "line ends inside the body", S("4\r\n\r\n\r\n\r\n0\r\n\r\n"),                S("\r\n\r\n"), S(""),   MAKI_OK },
    { "no digits",                 S("\r\n"),                                      S(""),        S(""),    MAKI_INVALID },
    { "a sign",                    S("-1\r\n"),                                    S(""),        S(""),    MAKI_INVALID },
    { "LF alone after the size",   S("1\na\r\n0\r\n\r\n"),                         S(""),        S(""),    MAKI_INVALID },
    { "a body longer than it says", S("1\r\nab\r\n0\r\n\r\n"),                     S(""),        S(""),    MAKI_INVALID },
    { "a trailer that ends with LF", S("0\r\nT: 1\n\r\n"),                         S(""),        S(""),    MAKI_INVALID },
    { "a size of 16 digits",       S("1000000000000000\r\n"),                      S(""),        S(""),    MAKI_TOOBIG },
};
/* clang-format on */

/* Feed it `step` bytes at a time. */
static void run(const struct chunk_row *row, size_t step)
{
    maki_chunks chunks = { 0 };
    char body[64];
    size_t at = 0, n = 0;
    bool end = false;
    maki_err err = { 0 };
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && !end && at < row->sent.len) {
        size_t some = row->sent.len - at < step ? row->sent.len - at : step, used;
        maki_str part;
        st = maki_chunks_parse(&chunks, (maki_str){ row->sent.ptr + at, some }, &used, &part, &end,
                               &err);
        if (st != MAKI_OK) break;
        CHECK(used > 0 && used <= some);
        memcpy(body + n, part.ptr, part.len);
        n += part.len;
        at += used;
    }
    CHECK_STATUS(st, row->status, &err);
    if (row->status != MAKI_OK) return;
    CHECK(end);
    CHECK_TEXT(((maki_str){ body, n }), row->body);
    CHECK_TEXT(((maki_str){ row->sent.ptr + at, row->sent.len - at }), row->left);
}

int main(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        tap_row("%s", rows[i].name);
        for (size_t step = 1; step <= rows[i].sent.len; step++)
            run(&rows[i], step);
    }

    tap_row("trailers over the limit");
    maki_chunks chunks = { 0 };
    maki_err err = { 0 };
    maki_status st = MAKI_OK;
    size_t used;
    maki_str part;
    bool end = false;
    st = maki_chunks_parse(&chunks, MAKI_LIT("0\r\n"), &used, &part, &end, &err);
    for (size_t i = 0; st == MAKI_OK && i < MAKI_CHUNK_LINE_MAX; i++)
        st = maki_chunks_parse(&chunks, MAKI_LIT("a: b\r\n"), &used, &part, &end, &err);
    CHECK_STATUS(st, MAKI_TOOBIG, &err);

    tap_row("writing the line before a chunk");
    char head[20];
    CHECK_TEXT(((maki_str){ head, maki_chunk_head(0x1a2b, head) }), MAKI_LIT("1a2b\r\n"));
    CHECK_EQ(maki_chunk_head(UINT64_MAX, head), 18);
    return tap_end();
}
