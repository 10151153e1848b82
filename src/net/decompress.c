/* decompress.c -- decompress a body with zlib or zstd: the output is written to the sink one buffer at a time, after
 * its total was checked against the limit, so memory does not depend on the size of the body. */
#include "net/decompress.h"

#include <zlib.h>
#include <zstd.h>

#include "base/err.h"
#include "base/str_util.h"
#include "net/http_head.h"

enum {
    BUFFER_SIZE = 65536,
    ZSTD_WINDOW_LOG_MAX = 23 /* bits: 8 MB, the maximum over HTTP (RFC 9659) */
};

maki_coding maki_coding_of(maki_str value)
{
    static const char *const names[] = { [MAKI_CODING_NONE] = "identity",
                                         [MAKI_CODING_GZIP] = "gzip",
                                         [MAKI_CODING_DEFLATE] = "deflate",
                                         [MAKI_CODING_ZSTD] = "zstd" };
    if (value.len == 0) return MAKI_CODING_NONE;
    for (maki_coding coding = MAKI_CODING_NONE; coding < MAKI_CODING_UNKNOWN; coding++) {
        if (maki_http_same(value, maki_str_of(names[coding]))) return coding;
    }
    return maki_http_same(value, MAKI_LIT("x-gzip")) ? MAKI_CODING_GZIP : MAKI_CODING_UNKNOWN;
}

static maki_status fail_corrupt(maki_err *err)
{
    return maki_fail(err, MAKI_INVALID, "the body is corrupt, or not in its Content-Encoding");
}

/* Check the limit, then write a buffer of output to the sink. */
static maki_status emit(maki_sink out, maki_str buffer, uint64_t *total, uint64_t max,
                        maki_err *err)
{
    *total += buffer.len;
    if (*total > max) {
        return maki_fail(err, MAKI_TOOBIG, "a compressed body of more than %llu bytes",
                         (unsigned long long)max);
    }
    return buffer.len ? out.write(out.ctx, buffer, err) : MAKI_OK;
}

/* zlib counts in 32 bits, so the input is passed in chunks of at most 1 GB. */
static void refill_input(z_stream *z, maki_str *rest)
{
    size_t n = rest->len < (1u << 30) ? rest->len : 1u << 30;
    if (z->avail_in > 0) return;
    z->next_in = (Bytef *)(uintptr_t)rest->ptr;
    z->avail_in = (uInt)n;
    *rest = maki_str_skip(*rest, n);
}

static maki_status run_zlib(z_stream *z, maki_str rest, uint64_t max, maki_sink out, maki_err *err)
{
    unsigned char buffer[BUFFER_SIZE];
    uint64_t total = 0;
    maki_status st = MAKI_OK;
    int rc = Z_OK;
    while (st == MAKI_OK) {
        refill_input(z, &rest);
        if (rc == Z_STREAM_END) { /* several streams may be concatenated */
            if (z->avail_in == 0) return MAKI_OK;
            if (inflateReset(z) != Z_OK) return fail_corrupt(err);
        }
        z->next_out = buffer;
        z->avail_out = BUFFER_SIZE;
        rc = inflate(z, Z_NO_FLUSH);
        if (rc == Z_MEM_ERROR) return maki_fail_nomem(err);
        if (rc != Z_OK && rc != Z_STREAM_END) return fail_corrupt(err);
        st = emit(out, (maki_str){ (char *)buffer, BUFFER_SIZE - z->avail_out }, &total, max, err);
    }
    return st;
}

static maki_status decode_zlib(int window_bits, maki_str compressed, uint64_t max, maki_sink out,
                               maki_err *err)
{
    z_stream z = { 0 };
    if (inflateInit2(&z, window_bits) != Z_OK) return maki_fail_nomem(err);
    maki_status st = run_zlib(&z, compressed, max, out, err);
    inflateEnd(&z);
    return st;
}

static maki_status decode_zstd(maki_str compressed, uint64_t max, maki_sink out, maki_err *err)
{
    char buffer[BUFFER_SIZE];
    uint64_t total = 0;
    size_t rc = 1;
    maki_status st = MAKI_OK;
    ZSTD_DCtx *ctx = ZSTD_createDCtx();
    if (!ctx) return maki_fail_nomem(err);
    /* a limit on memory per request */
    ZSTD_DCtx_setParameter(ctx, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX);
    ZSTD_inBuffer in = { compressed.ptr, compressed.len, 0 };
    bool output_full = false; /* then zstd may have more output, even if all input is consumed */
    while (st == MAKI_OK && (in.pos < in.size || output_full)) {
        ZSTD_outBuffer output = { buffer, BUFFER_SIZE, 0 };
        rc = ZSTD_decompressStream(ctx, &output, &in);
        if (ZSTD_isError(rc))
            st = fail_corrupt(err);
        else
            st = emit(out, (maki_str){ buffer, output.pos }, &total, max, err);
        output_full = output.pos == BUFFER_SIZE;
    }
    if (st == MAKI_OK && rc != 0) st = fail_corrupt(err); /* truncated */
    ZSTD_freeDCtx(ctx);
    return st;
}

maki_status maki_decompress(maki_coding coding, maki_str compressed, uint64_t max, maki_sink out,
                            maki_err *err)
{
    uint64_t total = 0;
    switch (coding) {
    case MAKI_CODING_NONE: return emit(out, compressed, &total, max, err);
    case MAKI_CODING_GZIP: return decode_zlib(15 + 16, compressed, max, out, err);
    case MAKI_CODING_DEFLATE: {
        /* With a zlib header, as the standard requires, or raw deflate, as some clients send. */
        bool raw =
            compressed.len < 2 || (compressed.ptr[0] & 0x0f) != 8 ||
            ((unsigned char)compressed.ptr[0] * 256u + (unsigned char)compressed.ptr[1]) % 31 != 0;
        return decode_zlib(raw ? -15 : 15, compressed, max, out, err);
    }
    case MAKI_CODING_ZSTD: return decode_zstd(compressed, max, out, err);
    default:
        return maki_fail(err, MAKI_UNSUPPORTED,
                         "a Content-Encoding other than gzip, deflate and zstd");
    }
}
