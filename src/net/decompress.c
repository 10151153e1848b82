/* decompress.c -- see decompress.h. */
#include "net/decompress.h"

#include <zlib.h>
#include <zstd.h>

#include "base/err.h"
#include "base/str.h"
#include "net/http_head.h"

enum {
    PIECE = 65536,
    ZSTD_WINDOW = 23 /* bits: 8 MB, more than which nobody may send over HTTP (RFC 9659) */
};

maki_coding maki_coding_of(maki_str value)
{
    if (value.len == 0 || maki_http_same(value, MAKI_LIT("identity"))) return MAKI_CODING_NONE;
    if (maki_http_same(value, MAKI_LIT("gzip")) || maki_http_same(value, MAKI_LIT("x-gzip")))
        return MAKI_CODING_GZIP;
    if (maki_http_same(value, MAKI_LIT("deflate"))) return MAKI_CODING_DEFLATE;
    if (maki_http_same(value, MAKI_LIT("zstd"))) return MAKI_CODING_ZSTD;
    return MAKI_CODING_UNKNOWN;
}

static maki_status not_packed(maki_err *err)
{
    return maki_fail(err, MAKI_INVALID, "the body is not packed as its Content-Encoding says");
}

/* Hand on what came out, and keep the ceiling. */
static maki_status give(maki_sink out, maki_str piece, uint64_t *total, uint64_t max, maki_err *err)
{
    *total += piece.len;
    if (*total > max) {
        return maki_fail(err, MAKI_TOOBIG, "a packed body of more than %llu bytes",
                         (unsigned long long)max);
    }
    return piece.len ? out.write(out.ctx, piece, err) : MAKI_OK;
}

/* zlib counts in 32 bits: the input is given in parts. */
static void feed(z_stream *z, maki_str *rest)
{
    size_t some = rest->len < (1u << 30) ? rest->len : 1u << 30;
    if (z->avail_in > 0) return;
    z->next_in = (Bytef *)(uintptr_t)rest->ptr;
    z->avail_in = (uInt)some;
    *rest = maki_str_from(*rest, some);
}

static maki_status run_zlib(z_stream *z, maki_str rest, uint64_t max, maki_sink out, maki_err *err)
{
    unsigned char piece[PIECE];
    uint64_t total = 0;
    maki_status st = MAKI_OK;
    int rc = Z_OK;
    while (st == MAKI_OK) {
        feed(z, &rest);
        if (rc == Z_STREAM_END) { /* several may follow each other */
            if (z->avail_in == 0) return MAKI_OK;
            if (inflateReset(z) != Z_OK) return not_packed(err);
        }
        z->next_out = piece;
        z->avail_out = PIECE;
        rc = inflate(z, Z_NO_FLUSH);
        if (rc == Z_MEM_ERROR) return maki_fail_nomem(err);
        if (rc != Z_OK && rc != Z_STREAM_END) return not_packed(err);
        st = give(out, (maki_str){ (char *)piece, PIECE - z->avail_out }, &total, max, err);
    }
    return st;
}

static maki_status decode_zlib(int window, maki_str packed, uint64_t max, maki_sink out,
                               maki_err *err)
{
    z_stream z = { 0 };
    if (inflateInit2(&z, window) != Z_OK) return maki_fail_nomem(err);
    maki_status st = run_zlib(&z, packed, max, out, err);
    inflateEnd(&z);
    return st;
}

static maki_status decode_zstd(maki_str packed, uint64_t max, maki_sink out, maki_err *err)
{
    char piece[PIECE];
    uint64_t total = 0;
    size_t rc = 1;
    maki_status st = MAKI_OK;
    ZSTD_DCtx *ctx = ZSTD_createDCtx();
    if (!ctx) return maki_fail_nomem(err);
    /* it is memory, for one request */
    ZSTD_DCtx_setParameter(ctx, ZSTD_d_windowLogMax, ZSTD_WINDOW);
    ZSTD_inBuffer in = { packed.ptr, packed.len, 0 };
    bool full = false; /* more may wait inside, though all input is taken */
    while (st == MAKI_OK && (in.pos < in.size || full)) {
        ZSTD_outBuffer to = { piece, PIECE, 0 };
        rc = ZSTD_decompressStream(ctx, &to, &in);
        if (ZSTD_isError(rc))
            st = not_packed(err);
        else
            st = give(out, (maki_str){ piece, to.pos }, &total, max, err);
        full = to.pos == PIECE;
    }
    if (st == MAKI_OK && rc != 0) st = not_packed(err); /* not whole */
    ZSTD_freeDCtx(ctx);
    return st;
}

maki_status maki_decompress(maki_coding coding, maki_str packed, uint64_t max, maki_sink out,
                            maki_err *err)
{
    uint64_t total = 0;
    switch (coding) {
    case MAKI_CODING_NONE: return give(out, packed, &total, max, err);
    case MAKI_CODING_GZIP: return decode_zlib(15 + 16, packed, max, out, err);
    case MAKI_CODING_DEFLATE: {
        /* With zlib's head, as the standard says, or without, as some send it. */
        bool raw = packed.len < 2 || (packed.ptr[0] & 0x0f) != 8 ||
                   ((unsigned char)packed.ptr[0] * 256u + (unsigned char)packed.ptr[1]) % 31 != 0;
        return decode_zlib(raw ? -15 : 15, packed, max, out, err);
    }
    case MAKI_CODING_ZSTD: return decode_zstd(packed, max, out, err);
    default:
        return maki_fail(err, MAKI_UNSUPPORTED,
                         "a Content-Encoding other than gzip, deflate and zstd");
    }
}
