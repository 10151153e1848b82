/* hash.c -- SHA-256 and hexadecimal digits, with the SHA256_ functions of libcrypto rather than EVP.
 *
 * The first EVP digest of a process reads openssl.cnf and loads the providers, which costs 1 to 5 ms and 2 MB, as much
 * as the rest of a command. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/hash.h"

#include <openssl/sha.h>

_Static_assert(sizeof(SHA256_CTX) <= sizeof((maki_sha256){ 0 }.state), "a SHA256_CTX must fit");

void maki_sha256_init(maki_sha256 *hash)
{
    SHA256_Init((SHA256_CTX *)hash->state);
}

void maki_sha256_update(maki_sha256 *hash, maki_str bytes)
{
    SHA256_Update((SHA256_CTX *)hash->state, bytes.ptr, bytes.len);
}

void maki_sha256_final(maki_sha256 *hash, unsigned char out[MAKI_SHA256_LEN])
{
    SHA256_Final(out, (SHA256_CTX *)hash->state);
}

void maki_sha256_of(maki_str bytes, unsigned char out[MAKI_SHA256_LEN])
{
    maki_sha256 hash;
    maki_sha256_init(&hash);
    maki_sha256_update(&hash, bytes);
    maki_sha256_final(&hash, out);
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

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool maki_unhex(const char *digits, size_t n, unsigned char *out)
{
    for (size_t i = 0; i < n; i++) {
        int high = hex_value(digits[2 * i]), low = hex_value(digits[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        out[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}
