/* hash.h -- SHA-256, by libcrypto. */
#ifndef MAKI_BASE_HASH_H
#define MAKI_BASE_HASH_H

#include <maki/env.h>

enum { MAKI_SHA256_LEN = 32 };

/* In pieces: open, add, finish (which also closes); or close to give up.  An opened one must be
 * finished or closed. */
typedef struct maki_sha256 {
    uint64_t state[16]; /* libcrypto's */
} maki_sha256;

maki_status maki_sha256_open(maki_sha256 *hash, maki_err *err) MAKI_MUST_CHECK;
void maki_sha256_add(maki_sha256 *hash, maki_str bytes);
void maki_sha256_finish(maki_sha256 *hash, unsigned char out[MAKI_SHA256_LEN]);
void maki_sha256_close(maki_sha256 *hash); /* accepts one that was finished or zeroed */

/* Of one text. */
maki_status maki_sha256_of(maki_str bytes, unsigned char out[MAKI_SHA256_LEN], maki_err *err);
/* 2 * n lower-case digits and a NUL. */
void maki_hex(const unsigned char *bytes, size_t n, char *out);

#endif
