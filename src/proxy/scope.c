/* scope.c -- see scope.h. */
#include "proxy/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "base/hash.h"

enum { BLOCK = 64 }; /* of SHA-256 */

maki_status maki_secret_read(const maki_env *env, const char *path,
                             unsigned char secret[MAKI_SECRET_LEN], maki_err *err)
{
    const maki_files *files = env->files;
    size_t got = 0;
    int fd = files->open(files, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd >= 0) {
        maki_status st = maki_file_read_at(files, fd, 0, secret, MAKI_SECRET_LEN, &got, err);
        files->close(files, fd);
        if (st != MAKI_OK || got == MAKI_SECRET_LEN) return st;
    } else if (errno != ENOENT) { /* with another one, no conversation would be known any more */
        return maki_fail_errno(err, "opening the secret");
    }
    maki_status st = env->random->fill(env->random, secret, MAKI_SECRET_LEN, err);
    if (st != MAKI_OK) return st;
    return maki_file_replace(env, path, (maki_str){ (const char *)secret, MAKI_SECRET_LEN }, err);
}

static maki_status open_keyed(maki_sha256 *hash, const unsigned char *secret, unsigned char pad,
                              maki_err *err)
{
    unsigned char block[BLOCK];
    memset(block, pad, sizeof block);
    for (size_t i = 0; i < MAKI_SECRET_LEN; i++)
        block[i] ^= secret[i];
    maki_status st = maki_sha256_open(hash, err);
    if (st == MAKI_OK) maki_sha256_add(hash, (maki_str){ (const char *)block, sizeof block });
    return st;
}

maki_status maki_scope_of(const unsigned char secret[MAKI_SECRET_LEN], const maki_str *parts,
                          size_t count, unsigned char out[MAKI_PREFIX_LEN], maki_err *err)
{
    unsigned char digest[MAKI_SHA256_LEN];
    maki_sha256 hash;
    maki_status st = open_keyed(&hash, secret, 0x36, err);
    if (st != MAKI_OK) return st;
    for (size_t i = 0; i < count; i++) {
        uint64_t len = parts[i].len;
        maki_sha256_add(&hash, (maki_str){ (const char *)&len, sizeof len });
        maki_sha256_add(&hash, parts[i]);
    }
    maki_sha256_finish(&hash, digest);
    st = open_keyed(&hash, secret, 0x5c, err);
    if (st != MAKI_OK) return st;
    maki_sha256_add(&hash, (maki_str){ (const char *)digest, sizeof digest });
    maki_sha256_finish(&hash, digest);
    memcpy(out, digest, MAKI_PREFIX_LEN);
    return MAKI_OK;
}
