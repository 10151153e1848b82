/* decompress_test.c -- decompressing bodies in every coding; invalid ones and bombs are refused. */
#include "net/decompress.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/str_util.h"
#include "fake_env.h"
#include "tap.h"

enum { CAPACITY = 1 << 20 };
static char compressed[CAPACITY];

static maki_str pack_zlib(maki_str text, int window)
{
    z_stream z = { 0 };
    deflateInit2(&z, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
    z.next_in = (Bytef *)(uintptr_t)text.ptr;
    z.avail_in = (uInt)text.len;
    z.next_out = (Bytef *)compressed;
    z.avail_out = CAPACITY;
    CHECK_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return (maki_str){ compressed, CAPACITY - z.avail_out };
}

static maki_str pack(maki_coding coding, maki_str text)
{
    if (coding == MAKI_CODING_GZIP) return pack_zlib(text, 15 + 16);
    if (coding == MAKI_CODING_DEFLATE) return pack_zlib(text, 15);
    return (maki_str){ compressed, ZSTD_compress(compressed, CAPACITY, text.ptr, text.len, 3) };
}

static const struct coding_row {
    const char *name;
    maki_coding coding;
} codings[] = { { "gzip", MAKI_CODING_GZIP },
                { "deflate", MAKI_CODING_DEFLATE },
                { "zstd", MAKI_CODING_ZSTD } };

static const char *const texts[] = { "", "x", "{\"text\":\"日本語 中文 한국어 🍣\"}" };

static void run_coding(const struct coding_row *row, maki_buf *out)
{
    static char large[300000];
    maki_err err;
    maki_sink sink = maki_buf_sink(out);
    for (size_t i = 0; i < COUNT(texts); i++) {
        tap_row("%s: %zu bytes", row->name, strlen(texts[i]));
        maki_str in = pack(row->coding, maki_str_of(texts[i]));
        maki_buf_clear(out);
        CHECK_STATUS(maki_decompress(row->coding, in, CAPACITY, sink, &err), MAKI_OK, &err);
        CHECK_TEXT(maki_buf_str(out), maki_str_of(texts[i]));
    }
    tap_row("%s: over the limit", row->name);
    maki_str in = pack(row->coding, (maki_str){ large, sizeof large });
    CHECK(in.len < 2000);
    maki_buf_clear(out);
    CHECK_STATUS(maki_decompress(row->coding, in, sizeof large, sink, &err), MAKI_OK, &err);
    CHECK_EQ(out->len, sizeof large);
    maki_buf_clear(out);
    CHECK_STATUS(maki_decompress(row->coding, in, sizeof large - 1, sink, &err), MAKI_TOOBIG, &err);
    tap_row("%s: truncated at every offset", row->name);
    for (size_t len = 1; len < in.len; len += in.len / 7) {
        maki_buf_clear(out);
        maki_status st =
            maki_decompress(row->coding, maki_str_prefix(in, len), CAPACITY, sink, &err);
        CHECK_STATUS(st, MAKI_INVALID, &err);
    }
    tap_row("%s: invalid bytes", row->name);
    maki_buf_clear(out);
    CHECK_STATUS(maki_decompress(row->coding, MAKI_LIT("hello, world"), CAPACITY, sink, &err),
                 MAKI_INVALID, &err);
}

int main(void)
{
    fake_env fe;
    maki_err err;
    fake_env_init(&fe);
    maki_buf out = maki_buf_new(fe.env.alloc, CAPACITY);
    for (size_t i = 0; i < COUNT(codings); i++)
        run_coding(&codings[i], &out);
    tap_row("deflate without the zlib header, as some clients send it");
    maki_buf_clear(&out);
    maki_str raw = pack_zlib(MAKI_LIT("hello hello"), -15);
    CHECK_STATUS(maki_decompress(MAKI_CODING_DEFLATE, raw, CAPACITY, maki_buf_sink(&out), &err),
                 MAKI_OK, &err);
    CHECK_STR(maki_buf_str(&out), "hello hello");
    tap_row("zstd with a window over 8 MB is refused");
    static const char wide[] =
        "\x28\xb5\x2f\xfd\x00\x88\x09\x00\x00x"; /* a window of 128 MB, one byte */
    maki_buf_clear(&out);
    CHECK_STATUS(maki_decompress(MAKI_CODING_ZSTD, (maki_str){ wide, sizeof wide - 1 }, CAPACITY,
                                 maki_buf_sink(&out), &err),
                 MAKI_INVALID, &err);
    tap_row("names of codings");
    CHECK_EQ(maki_coding_of(MAKI_LIT("")), MAKI_CODING_NONE);
    CHECK_EQ(maki_coding_of(MAKI_LIT("Identity")), MAKI_CODING_NONE);
    CHECK_EQ(maki_coding_of(MAKI_LIT("GZIP")), MAKI_CODING_GZIP);
    CHECK_EQ(maki_coding_of(MAKI_LIT("zstd")), MAKI_CODING_ZSTD);
    CHECK_EQ(maki_coding_of(MAKI_LIT("br")), MAKI_CODING_UNKNOWN);
    CHECK_EQ(maki_coding_of(MAKI_LIT("gzip, gzip")), MAKI_CODING_UNKNOWN);
    CHECK_STATUS(maki_decompress(MAKI_CODING_UNKNOWN, MAKI_LIT("x"), 9, maki_buf_sink(&out), &err),
                 MAKI_UNSUPPORTED, &err);
    maki_buf_free(&out);
    return tap_end();
}
