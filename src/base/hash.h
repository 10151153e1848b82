/* hash.h -- SHA-256, by libcrypto, and hexadecimal. */
#ifndef MAKI_BASE_HASH_H
#define MAKI_BASE_HASH_H

#include <stdbool.h>

#include <maki/env.h>

enum { MAKI_SHA256_LEN = 32 };

/* An incremental hash: init, update, final.  Nothing has to be freed. */
typedef struct maki_sha256 {
    uint64_t state[16]; /* a SHA256_CTX */
} maki_sha256;

void maki_sha256_init(maki_sha256 *hash);
void maki_sha256_update(maki_sha256 *hash, maki_str bytes);
void maki_sha256_final(maki_sha256 *hash, unsigned char out[MAKI_SHA256_LEN]);

/* The hash of `bytes`. */
void maki_sha256_of(maki_str bytes, unsigned char out[MAKI_SHA256_LEN]);
/* Write 2 * n lower-case digits and a NUL. */
void maki_hex(const unsigned char *bytes, size_t n, char *out);
/* Decode 2 * n lower-case digits into n bytes; false: another character. */
bool maki_unhex(const char *digits, size_t n, unsigned char *out);

#endif
