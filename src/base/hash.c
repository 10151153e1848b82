/* hash.c -- see hash.h. */
#include "base/hash.h"

#include <assert.h>
#include <stdatomic.h>

#include <openssl/evp.h>

#include "base/err.h"

/* Looking the algorithm up costs more than hashing a short row: it is done once in a process.  What
 * is found never changes and is never given back. */
static const EVP_MD *sha256(void)
{
    static _Atomic(EVP_MD *) found;
    EVP_MD *md = atomic_load_explicit(&found, memory_order_acquire), *none = NULL;
    if (md) return md;
    md = EVP_MD_fetch(NULL, "SHA256", NULL);
    if (md && !atomic_compare_exchange_strong(&found, &none, md)) {
        EVP_MD_free(md); /* another thread was faster */
        md = none;
    }
    return md;
}

maki_status maki_sha256_open(maki_sha256 *hash, maki_err *err)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    if (!ctx) return maki_fail_nomem(err);
    if (EVP_DigestInit_ex2(ctx, sha256(), NULL) != 1) {
        EVP_MD_CTX_free(ctx);
        return maki_fail(err, MAKI_UNSUPPORTED, "libcrypto has no SHA-256");
    }
    hash->state = ctx;
    return MAKI_OK;
}

void maki_sha256_add(maki_sha256 *hash, maki_str bytes)
{
    int ok = EVP_DigestUpdate(hash->state, bytes.ptr, bytes.len);
    assert(ok == 1); /* a digest in memory cannot fail once it is open */
    (void)ok;
}

void maki_sha256_finish(maki_sha256 *hash, unsigned char out[MAKI_SHA256_LEN])
{
    int ok = EVP_DigestFinal_ex(hash->state, out, NULL);
    assert(ok == 1);
    (void)ok;
    maki_sha256_close(hash);
}

void maki_sha256_close(maki_sha256 *hash)
{
    EVP_MD_CTX_free(hash->state);
    hash->state = NULL;
}

maki_status maki_sha256_of(maki_str bytes, unsigned char out[MAKI_SHA256_LEN], maki_err *err)
{
    maki_sha256 hash = { 0 };
    maki_status st = maki_sha256_open(&hash, err);
    if (st != MAKI_OK) return st;
    maki_sha256_add(&hash, bytes);
    maki_sha256_finish(&hash, out);
    return MAKI_OK;
}

void maki_hex(const unsigned char *bytes, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * n] = '\0';
}
