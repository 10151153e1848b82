/* scope.c -- read or create the secret, and compute scopes: HMAC-SHA-256 over parts with their lengths. */
#define OPENSSL_SUPPRESS_DEPRECATED /* the HMAC that can be updated in steps */
#include "proxy/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include <openssl/hmac.h>

#include "base/err.h"
#include "base/files.h"
#include "base/hash.h"

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
    } else if (errno != ENOENT) { /* a new secret would hide all recorded conversations */
        return maki_fail_errno(err, "cannot open the secret");
    }
    maki_status st = env->random->fill(env->random, secret, MAKI_SECRET_LEN, err);
    if (st != MAKI_OK) return st;
    return maki_file_replace(env, path, (maki_str){ (const char *)secret, MAKI_SECRET_LEN }, err);
}

maki_status maki_scope_of(const unsigned char secret[MAKI_SECRET_LEN], const maki_str *parts,
                          size_t count, unsigned char out[MAKI_PREFIX_LEN], maki_err *err)
{
    unsigned char digest[MAKI_SHA256_LEN];
    HMAC_CTX *hmac = HMAC_CTX_new();
    bool ok = hmac && HMAC_Init_ex(hmac, secret, MAKI_SECRET_LEN, EVP_sha256(), NULL) == 1;
    for (size_t i = 0; ok && i < count; i++) {
        uint64_t len = parts[i].len;
        ok = HMAC_Update(hmac, (const unsigned char *)&len, sizeof len) == 1 &&
             HMAC_Update(hmac, (const unsigned char *)parts[i].ptr, parts[i].len) == 1;
    }
    ok = ok && HMAC_Final(hmac, digest, NULL) == 1;
    HMAC_CTX_free(hmac);
    if (!ok) return maki_fail_nomem(err);
    memcpy(out, digest, MAKI_PREFIX_LEN);
    return MAKI_OK;
}
