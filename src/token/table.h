/* table.h -- the table of an encoding, built into the library: read-only, used in place.
 *
 * make_tables.c writes it at build time, encoding_tables.c embeds it.  The file is a header, then
 * sections that the header points to, each at a multiple of 64 bytes, in the byte order of the
 * machine:
 *
 *     offsets   u32[tokens + 1]   where the bytes of each token begin in `bytes`; by id - first_id
 *     bytes     the bytes of all tokens, one after the other
 *     hash      u32[buckets]      the perfect hash of pairs: see maki_pair_merged
 *     pairs     u64[slots]        left (20 bits), right (20 bits), merged (24 bits)
 *     begin     u32[65536]        the token of two bytes, or MAKI_NO_TOKEN, by first << 8 | second
 *     joins     u8[32 KB]         bits: which pairs of CJK characters some token joins
 *
 * There is one pair for each token longer than a byte: the two tokens it is merged from last.
 * No other pair with the same bytes can come up in merging, because what merging does inside the
 * bytes of a token is the same in any context; make_tables checks that each token is reached. */
#ifndef MAKI_TOKEN_TABLE_H
#define MAKI_TOKEN_TABLE_H

#include <stdint.h>

#define MAKI_TABLE_MAGIC 0x316b6f746b616d01u /* with a version in the lowest byte */

enum {
    MAKI_TABLE_ALIGN = 64,
    MAKI_JOIN_BITS = 18, /* of the index into `joins` */
    MAKI_ID_BITS = 20
};
#define MAKI_NO_TOKEN UINT32_MAX

typedef struct maki_table {
    uint64_t magic;
    uint32_t first_id; /* of the tokens; special ones may lie below and above */
    uint32_t tokens;
    uint32_t longest; /* bytes of the longest token */
    uint32_t reach;   /* the maximum distance, in bytes, at which later bytes change tokens */
    uint32_t buckets, slots;
    uint64_t offsets, bytes, hash, pairs, begin, joins; /* from the start of this header */
    uint64_t size;                                      /* of the table, header included */
    uint32_t byte_ids[256];                             /* the token of each single byte */
} maki_table;

static inline const void *maki_table_part(const maki_table *table, uint64_t at)
{
    return (const char *)table + at;
}

static inline uint64_t maki_pair_key(uint32_t left, uint32_t right)
{
    return (uint64_t)left << MAKI_ID_BITS | right;
}

static inline uint64_t maki_pair_hash(uint64_t key)
{
    uint64_t h = key * 0x9e3779b97f4a7c15u;
    return (h ^ h >> 32) * 0xd6e8feb86659fd93u;
}

/* Multiply and shift: `hash` as a fraction of `range`. */
static inline uint32_t maki_pair_place(uint32_t hash, uint32_t range)
{
    return (uint32_t)((uint64_t)hash * range >> 32);
}

static inline uint32_t maki_pair_slot(uint64_t hash, uint32_t shift, uint32_t slots)
{
    return maki_pair_place((uint32_t)hash + shift * 0x9e3779b1u, slots);
}

/* The bit of a bucket's filter for a pair: one of its upper 16. */
static inline uint32_t maki_pair_bit(uint64_t hash)
{
    return 1u << (16 + (hash >> 32 & 15));
}

/* The perfect hash of pairs, read from the table once for many lookups. */
typedef struct maki_pairs {
    const uint32_t *buckets;
    const uint64_t *pairs;
    uint32_t bucket_count, slot_count;
} maki_pairs;

static inline maki_pairs maki_table_pairs(const maki_table *table)
{
    return (maki_pairs){ maki_table_part(table, table->hash), maki_table_part(table, table->pairs),
                         table->buckets, table->slots };
}

/* The token that a pair of adjacent tokens merges to, MAKI_NO_TOKEN when there is none.  Its id is
 * its rank: the lowest is merged first.
 *
 * A bucket holds a few pairs: in its lower half the shift that puts them into slots of their own, in
 * its upper half a Bloom filter.  Most lookups are of pairs that do not exist, and the filter answers most of those: then
 * slot 0 is read, which is in the cache and does not match, so that no branch has to be predicted. */
static inline uint32_t maki_pair_merged(maki_pairs in, uint32_t left, uint32_t right)
{
    uint64_t key = maki_pair_key(left, right), hash = maki_pair_hash(key);
    uint32_t bucket = in.buckets[maki_pair_place((uint32_t)(hash >> 32), in.bucket_count)];
    uint32_t slot = maki_pair_slot(hash, bucket & 0xffff, in.slot_count);
    if (!(bucket & maki_pair_bit(hash))) slot = 0;
    uint64_t pair = in.pairs[slot];
    return pair >> 24 == key ? (uint32_t)(pair & 0xffffff) : MAKI_NO_TOKEN;
}

/* The bit in `joins` of two neighbouring characters of three bytes each (E3 to E9), as code points. */
static inline uint32_t maki_join_bit(uint32_t left, uint32_t right)
{
    return ((left << 16 | right) * 0x9e3779b1u) >> (32 - MAKI_JOIN_BITS);
}

#endif
