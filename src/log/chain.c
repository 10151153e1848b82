/* chain.c -- the hashes that prove a log: xxHash of a row, and the SHA-256 chain over rows and events.
 *
 * In:     the bytes of a row or event; a chain as stored, in hexadecimal.
 * Out:    the hash; the decoded chain, or false when it is invalid. */
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash.h"
#include "base/str_util.h"
#include "log/log.h"

uint64_t maki_row_hash(maki_str row)
{
    return XXH3_64bits(row.ptr, row.len);
}

_Static_assert(sizeof(XXH3_state_t) <= sizeof(maki_row_hasher), "xxHash's state fits");

void maki_row_hasher_begin(maki_row_hasher *hasher)
{
    XXH3_64bits_reset((XXH3_state_t *)(void *)hasher->state);
}

void maki_row_hasher_add(maki_row_hasher *hasher, maki_str bytes)
{
    XXH3_64bits_update((XXH3_state_t *)(void *)hasher->state, bytes.ptr, bytes.len);
}

uint64_t maki_row_hasher_end(const maki_row_hasher *hasher)
{
    return XXH3_64bits_digest((const XXH3_state_t *)(const void *)hasher->state);
}

void maki_chain_next(const unsigned char before[MAKI_CHAIN_LEN], maki_str bytes,
                     unsigned char out[MAKI_CHAIN_LEN])
{
    unsigned char digest[MAKI_SHA256_LEN];
    maki_sha256 hash;
    maki_sha256_init(&hash);
    maki_sha256_update(&hash, (maki_str){ (const char *)before, MAKI_CHAIN_LEN });
    maki_sha256_update(&hash, bytes);
    maki_sha256_final(&hash, digest);
    memcpy(out, digest, MAKI_CHAIN_LEN);
}

bool maki_chain_parse(maki_str string, unsigned char out[MAKI_CHAIN_LEN])
{
    return string.len == 2 * MAKI_CHAIN_LEN + 2 && string.ptr[0] == '"' &&
           maki_unhex(string.ptr + 1, MAKI_CHAIN_LEN, out);
}

bool maki_event_parse_sum(maki_str row, maki_str *covered, unsigned char sum[MAKI_CHAIN_LEN])
{
    /* ...,"sum":"32 digits"} */
    maki_str key = MAKI_LIT(",\"sum\":\"");
    size_t suffix_len = key.len + 2 * MAKI_CHAIN_LEN + 2;
    if (row.len < suffix_len || memcmp(row.ptr + row.len - 2, "\"}", 2) != 0) return false;
    const char *suffix = row.ptr + row.len - suffix_len;
    if (memcmp(suffix, key.ptr, key.len) != 0 || !maki_unhex(suffix + key.len, MAKI_CHAIN_LEN, sum))
        return false;
    *covered = maki_str_prefix(row, row.len - suffix_len);
    return true;
}
