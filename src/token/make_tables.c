/* make_tables.c -- convert a published encoding into the table that the library uses in place.
 *
 *     make_tables tiktoken FILE OUT     lines of "base64 rank"
 *     make_tables claude FILE OUT       the JSON of @anthropic-ai/tokenizer: "bpe_ranks": "! 5 base64 ..."
 *     make_tables classes FILE OUT      src/token/classes.txt, as a C header
 *
 * Run by the build only.  It checks what the tokenizer relies on, so that the build fails for an encoding without
 * it: every byte is a token; every other token is reached by merging, from two tokens of lower rank.
 *
 * `reach`.  Take a text w, once alone and once with more text after it.  Merging goes the same way in
 * both until a token X at the end of the common part merges with its right neighbour in one of them
 * only; then everything left of X is the same.  The next such step is by the token before X, into a token
 * of higher rank that begins with the two.  So a chain of such steps is a chain of pairs (l, r) of
 * rising rank in which r begins with the l before; the longest sum of the lengths of l is how far a
 * change can reach: a few hundred bytes, so that long texts can be merged in windows (merge.c). */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "token/table.h"

enum {
    TOKEN_MAX = 2048,  /* bytes of one token */
    PER_BUCKET = 4,    /* pairs in a bucket of the perfect hash, on average */
    LEAD_FIRST = 0xe3, /* lead bytes of the characters that `joins` covers */
    LEAD_LAST = 0xe9
};

typedef struct token {
    const unsigned char *bytes;
    uint32_t len;
    uint32_t left, right; /* indexes; for tokens longer than a byte */
} token;

typedef struct encoding {
    token *tokens; /* by rank */
    uint32_t count, first_id;
    unsigned char *bytes;
    size_t bytes_len;
    uint32_t byte_index[256];
    uint64_t *map; /* pairs to tokens, open addressing: key << 24 | index + 1; 0 is empty */
    uint32_t map_mask;
} encoding;

_Noreturn static void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("make_tables: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\n", stderr);
    va_end(args);
    exit(1);
}

static void *alloc_zeroed(size_t n)
{
    void *p = calloc(n ? n : 1, 1);
    if (!p) die("out of memory");
    return p;
}

static char *read_all(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    if (!file) die("cannot read %s: run scripts/setup", path);
    size_t capacity = 1 << 16, n = 0, got;
    char *text = malloc(capacity);
    while (text && (got = fread(text + n, 1, capacity - n - 1, file)) > 0) {
        n += got;
        if (n + 1 == capacity) text = realloc(text, capacity *= 2);
    }
    if (!text) die("out of memory");
    fclose(file);
    text[n] = 0;
    *len = n;
    return text;
}

/* ---- reading ------------------------------------------------------------------------------------ */

static int base64_value(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Decode a word of base64 as the next token. */
static void add_token(encoding *v, const char *word, size_t len)
{
    unsigned char *out = v->bytes + v->bytes_len;
    uint32_t bits = 0, n = 0;
    size_t decoded = 0;
    for (size_t i = 0; i < len && word[i] != '='; i++) {
        int value = base64_value(word[i]);
        if (value < 0) die("token %u is not base64", v->count);
        bits = bits << 6 | (uint32_t)value;
        n += 6;
        if (n >= 8) {
            n -= 8;
            out[decoded++] = (unsigned char)(bits >> n);
        }
    }
    if (decoded == 0 || decoded > TOKEN_MAX) die("token %u has %zu bytes", v->count, decoded);
    v->tokens[v->count++] = (token){ .bytes = out, .len = (uint32_t)decoded };
    v->bytes_len += decoded;
}

static encoding new_encoding(size_t text_len)
{
    encoding v = { 0 };
    v.tokens = alloc_zeroed((text_len / 2 + 1) * sizeof v.tokens[0]);
    v.bytes = alloc_zeroed(text_len);
    return v;
}

static encoding read_tiktoken(const char *path)
{
    size_t len;
    char *text = read_all(path, &len), *line = text;
    encoding v = new_encoding(len);
    while (*line) {
        char *space = strchr(line, ' '), *end = strchr(line, '\n');
        if (!space || !end || space > end)
            die("%s: line %u is not \"base64 rank\"", path, v.count + 1);
        if (strtoul(space + 1, NULL, 10) != v.count) die("%s: rank %u is missing", path, v.count);
        add_token(&v, line, (size_t)(space - line));
        line = end + 1;
    }
    free(text);
    return v;
}

static encoding read_claude(const char *path)
{
    size_t len;
    char *text = read_all(path, &len), *at = strstr(text, "\"bpe_ranks\""), *after;
    if (!at || !(at = strchr(at, '!'))) die("%s has no bpe_ranks", path);
    encoding v = new_encoding(len);
    v.first_id = (uint32_t)strtoul(at + 1, &after, 10);
    while (*after == ' ') {
        char *word = after + 1;
        after = word + strcspn(word, " \"");
        add_token(&v, word, (size_t)(after - word));
    }
    free(text);
    return v;
}

/* ---- merging ------------------------------------------------------------------------------------ */

static uint64_t *map_slot(const encoding *v, uint64_t key)
{
    uint32_t i = (uint32_t)(maki_pair_hash(key) >> 20) & v->map_mask;
    while (v->map[i] && v->map[i] >> 24 != key)
        i = (i + 1) & v->map_mask;
    return &v->map[i];
}

static uint32_t pair_index(const encoding *v, uint32_t left, uint32_t right)
{
    uint64_t found = *map_slot(v, maki_pair_key(left, right));
    return found ? (uint32_t)(found & 0xffffff) - 1 : MAKI_NO_TOKEN;
}

/* Merge the bytes of a token with the pairs known so far; returns how many parts remain. */
static uint32_t merge_bytes(const encoding *v, const token *t, uint32_t parts[TOKEN_MAX])
{
    uint32_t n = t->len;
    for (uint32_t i = 0; i < n; i++)
        parts[i] = v->byte_index[t->bytes[i]];
    for (;;) {
        uint32_t best = MAKI_NO_TOKEN, best_at = 0;
        for (uint32_t i = 0; i + 1 < n; i++) {
            uint32_t merged = pair_index(v, parts[i], parts[i + 1]);
            if (merged < best) best = merged, best_at = i;
        }
        if (best == MAKI_NO_TOKEN) return n;
        parts[best_at] = best;
        memmove(parts + best_at + 1, parts + best_at + 2, (n - best_at - 2) * sizeof parts[0]);
        n--;
    }
}

/* Find the pair that each token is merged from. */
static void split_tokens(encoding *v)
{
    uint32_t parts[TOKEN_MAX];
    size_t size = 1;
    while (size < (size_t)v->count * 3)
        size *= 2;
    v->map = alloc_zeroed(size * sizeof v->map[0]);
    v->map_mask = (uint32_t)size - 1;
    memset(v->byte_index, 0xff, sizeof v->byte_index);
    for (uint32_t i = 0; i < v->count; i++) {
        if (v->tokens[i].len == 1) v->byte_index[v->tokens[i].bytes[0]] = i;
    }
    for (int b = 0; b < 256; b++) {
        if (v->byte_index[b] == MAKI_NO_TOKEN) die("byte %d has no token", b);
    }
    for (uint32_t i = 0; i < v->count; i++) {
        token *t = &v->tokens[i];
        if (t->len == 1) continue;
        if (merge_bytes(v, t, parts) != 2) die("token %u cannot be reached by merging", i);
        if (parts[0] >= i || parts[1] >= i) die("token %u is merged from a later one", i);
        t->left = parts[0];
        t->right = parts[1];
        uint64_t key = maki_pair_key(t->left, t->right), *slot = map_slot(v, key);
        if (*slot) die("tokens %u and %u are the same", i, (uint32_t)(*slot & 0xffffff) - 1);
        *slot = key << 24 | (i + 1);
    }
}

/* ---- reach -------------------------------------------------------------------------------------- */

/* The token of these bytes, or MAKI_NO_TOKEN. */
static uint32_t find_token(const encoding *v, const unsigned char *bytes, uint32_t len)
{
    uint32_t parts[TOKEN_MAX];
    token t = { .bytes = bytes, .len = len };
    return merge_bytes(v, &t, parts) == 1 ? parts[0] : MAKI_NO_TOKEN;
}

static uint32_t reach_of(const encoding *v)
{
    uint32_t *best = alloc_zeroed(
        v->count * sizeof best[0]); /* the longest chain whose last left token is this one */
    uint32_t reach = 0;
    for (uint32_t i = 0; i < v->count; i++) {
        const token *t = &v->tokens[i];
        if (t->len == 1) continue;
        const token *right = &v->tokens[t->right];
        uint32_t longest_before = 0;
        for (uint32_t len = 1; len <= right->len; len++) {
            uint32_t prefix = len == right->len ? t->right : find_token(v, right->bytes, len);
            if (prefix != MAKI_NO_TOKEN && best[prefix] > longest_before)
                longest_before = best[prefix];
        }
        uint32_t chain = v->tokens[t->left].len + longest_before;
        if (chain > best[t->left]) best[t->left] = chain;
        if (chain > reach) reach = chain;
    }
    free(best);
    return reach;
}

/* ---- joins -------------------------------------------------------------------------------------- */

static bool is_continuation(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Every character of three bytes whose bytes match: 0 matches any. */
static size_t matching_chars(const unsigned char shape[3], uint32_t *out)
{
    size_t n = 0;
    for (uint32_t a = LEAD_FIRST; a <= LEAD_LAST; a++) {
        if (shape[0] && shape[0] != a) continue;
        for (uint32_t b = 0x80; b <= 0xbf; b++) {
            if (shape[1] && shape[1] != b) continue;
            for (uint32_t c = 0x80; c <= 0xbf; c++) {
                if (shape[2] && shape[2] != c) continue;
                out[n++] = (a & 15) << 12 | (b & 63) << 6 | (c & 63);
            }
        }
    }
    return n;
}

/* Mark all pairs of characters between which this token could lie across bytes[at - 1] | bytes[at]; a
 * token may begin and end in the middle of a character. */
static void mark_joins(const token *t, uint32_t at, unsigned char *joins)
{
    static uint32_t lefts[7 * 64 * 64], rights[7 * 64 * 64];
    unsigned char left[3] = { 0 }, right[3] = { 0 };
    for (uint32_t i = 0; i < 3 && i < at; i++) {
        left[2 - i] = t->bytes[at - 1 - i];
        if (!is_continuation(left[2 - i])) break;
    }
    for (uint32_t i = 0; i < 3 && at + i < t->len && (i == 0 || is_continuation(t->bytes[at + i]));
         i++)
        right[i] = t->bytes[at + i];
    size_t n = matching_chars(left, lefts), m = matching_chars(right, rights);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < m; j++) {
            uint32_t bit = maki_join_bit(lefts[i], rights[j]);
            joins[bit / 8] = (unsigned char)(joins[bit / 8] | 1u << bit % 8);
        }
    }
}

static void fill_joins(const encoding *v, unsigned char *joins)
{
    for (uint32_t i = 0; i < v->count; i++) {
        const token *t = &v->tokens[i];
        for (uint32_t at = 1; at < t->len; at++) {
            if (is_continuation(t->bytes[at - 1]) && t->bytes[at] >= LEAD_FIRST &&
                t->bytes[at] <= LEAD_LAST)
                mark_joins(t, at, joins);
        }
    }
}

/* ---- the perfect hash ---------------------------------------------------------------------------- */

typedef struct perfect_hash {
    uint32_t buckets, slots;
    uint32_t *first, *next; /* lists of the tokens of each bucket, by index + 1; 0: end */
    uint32_t *order;        /* buckets, largest first */
    uint64_t *hashes;
    uint32_t *bucket; /* as in table.h */
    uint64_t *pairs;
} perfect_hash;

static void fill_buckets(const encoding *v, perfect_hash *h)
{
    uint32_t *sizes = alloc_zeroed(h->buckets * sizeof sizes[0]);
    uint32_t max_size = 0, n = 0;
    for (uint32_t i = 0; i < v->count; i++) {
        const token *t = &v->tokens[i];
        if (t->len == 1) continue;
        h->hashes[i] = maki_pair_hash(maki_pair_key(t->left + v->first_id, t->right + v->first_id));
        uint32_t b = maki_pair_place((uint32_t)(h->hashes[i] >> 32), h->buckets);
        h->bucket[b] |= maki_pair_bit(h->hashes[i]);
        h->next[i] = h->first[b];
        h->first[b] = i + 1;
        if (++sizes[b] > max_size) max_size = sizes[b];
    }
    for (uint32_t size = max_size + 1; size-- > 0;) {
        for (uint32_t b = 0; b < h->buckets; b++) {
            if (sizes[b] == size) h->order[n++] = b;
        }
    }
    free(sizes);
}

/* Put the pairs of a bucket into free slots under this shift, all or none. */
static bool place_bucket(const encoding *v, perfect_hash *h, uint32_t bucket, uint32_t shift)
{
    for (uint32_t i = h->first[bucket]; i; i = h->next[i - 1]) {
        const token *t = &v->tokens[i - 1];
        uint64_t *slot = &h->pairs[maki_pair_slot(h->hashes[i - 1], shift, h->slots)];
        if (*slot) {
            for (uint32_t k = h->first[bucket]; k != i; k = h->next[k - 1])
                h->pairs[maki_pair_slot(h->hashes[k - 1], shift, h->slots)] = 0;
            return false;
        }
        *slot = maki_pair_key(t->left + v->first_id, t->right + v->first_id) << 24 |
                (i - 1 + v->first_id);
    }
    h->bucket[bucket] |= shift;
    return true;
}

static void hash_pairs(const encoding *v, perfect_hash *h)
{
    h->first = alloc_zeroed(h->buckets * sizeof h->first[0]);
    h->order = alloc_zeroed(h->buckets * sizeof h->order[0]);
    h->next = alloc_zeroed(v->count * sizeof h->next[0]);
    h->hashes = alloc_zeroed(v->count * sizeof h->hashes[0]);
    fill_buckets(v, h);
    for (uint32_t i = 0; i < h->buckets; i++) {
        uint32_t shift = 0;
        while (shift <= UINT16_MAX && !place_bucket(v, h, h->order[i], shift))
            shift++;
        if (shift > UINT16_MAX) die("no perfect hash found: give it more slots");
    }
    for (uint32_t i = 0; i < h->slots;
         i++) { /* an empty slot must match no pair: not even (0, 0) */
        if (h->pairs[i] == 0) h->pairs[i] = UINT64_MAX;
    }
    free(h->first);
    free(h->order);
    free(h->next);
    free(h->hashes);
}

/* ---- writing ------------------------------------------------------------------------------------- */

/* Append a section to the layout; returns its offset. */
static uint64_t add_section(uint64_t *size, uint64_t bytes)
{
    uint64_t offset = *size;
    *size = (offset + bytes + MAKI_TABLE_ALIGN - 1) / MAKI_TABLE_ALIGN * MAKI_TABLE_ALIGN;
    return offset;
}

static void fill_begin(const encoding *v, uint32_t *begin)
{
    for (uint32_t i = 0; i < 65536; i++) {
        uint32_t merged = pair_index(v, v->byte_index[i >> 8], v->byte_index[i & 255]);
        begin[i] = merged == MAKI_NO_TOKEN ? MAKI_NO_TOKEN : merged + v->first_id;
    }
}

static void write_table(const encoding *v, const char *path)
{
    uint32_t pairs = v->count - 256;
    maki_table header = { .magic = MAKI_TABLE_MAGIC, .first_id = v->first_id, .tokens = v->count };
    header.buckets = pairs / PER_BUCKET + 1;
    header.slots = pairs + pairs / 50 + 1;
    header.reach = reach_of(v);
    uint64_t size = 0, joins = (1u << MAKI_JOIN_BITS) / 8;
    add_section(&size, sizeof header);
    header.offsets = add_section(&size, (v->count + 1) * sizeof(uint32_t));
    header.bytes = add_section(&size, v->bytes_len);
    header.hash = add_section(&size, header.buckets * sizeof(uint32_t));
    header.pairs = add_section(&size, header.slots * sizeof(uint64_t));
    header.begin = add_section(&size, 65536 * sizeof(uint32_t));
    header.joins = add_section(&size, joins);
    header.size = size;

    char *out = alloc_zeroed(size);
    uint32_t *offsets = (uint32_t *)(void *)(out + header.offsets);
    for (uint32_t i = 0; i < v->count; i++) {
        offsets[i] = (uint32_t)(v->tokens[i].bytes - v->bytes);
        if (v->tokens[i].len > header.longest) header.longest = v->tokens[i].len;
    }
    offsets[v->count] = (uint32_t)v->bytes_len;
    for (int b = 0; b < 256; b++)
        header.byte_ids[b] = v->byte_index[b] + v->first_id;
    memcpy(out, &header, sizeof header);
    memcpy(out + header.bytes, v->bytes, v->bytes_len);
    fill_begin(v, (uint32_t *)(void *)(out + header.begin));
    fill_joins(v, (unsigned char *)out + header.joins);
    perfect_hash h = { .buckets = header.buckets,
                       .slots = header.slots,
                       .bucket = (uint32_t *)(void *)(out + header.hash),
                       .pairs = (uint64_t *)(void *)(out + header.pairs) };
    hash_pairs(v, &h);

    FILE *file = fopen(path, "wb");
    if (!file || fwrite(out, 1, size, file) != size || fclose(file) != 0)
        die("cannot write %s", path);
    free(out);
}

/* ---- classes of characters ------------------------------------------------------------------------- */

enum { BLOCK = 128, BLOCKS = 0x110000 / BLOCK };

static int class_named(const char *name, size_t len)
{
    static const char *const names[] = { "rest", "upper",  "lower", "other-letter",
                                         "mark", "number", "space" };
    for (int i = 0; i < 7; i++) {
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0) return i;
    }
    die("classes: unknown class %.*s", (int)len, name);
}

static void read_classes(const char *path, unsigned char *classes)
{
    size_t len;
    char *text = read_all(path, &len), *save = NULL;
    unsigned char class = 0;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (line[0] == '#') continue;
        if (line[0] != ' ') {
            class = (unsigned char)class_named(line, strlen(line));
            continue;
        }
        for (char *at = line; *at == ' ';) {
            unsigned long first = strtoul(at + 1, &at, 16), last = first;
            if (*at == '-') last = strtoul(at + 1, &at, 16);
            if (last >= 0x110000 || first > last) die("%s: bad range %lx", path, first);
            memset(classes + first, class, last - first + 1);
        }
    }
    free(text);
}

static void write_numbers(FILE *file, const char *name, const unsigned char *numbers, size_t n)
{
    fprintf(file, "static const unsigned char %s[%zu] = {", name, n);
    for (size_t i = 0; i < n; i++)
        fprintf(file, "%s%u,", i % 32 ? "" : "\n    ", numbers[i]);
    fputs("\n};\n", file);
}

/* Blocks of 128 characters; equal blocks are written once. */
static void write_classes(const char *from, const char *path)
{
    unsigned char *classes = alloc_zeroed(0x110000), *blocks = alloc_zeroed(0x110000),
                  block_of[BLOCKS];
    size_t n = 0;
    read_classes(from, classes);
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t k = 0;
        while (k < n && memcmp(blocks + k * BLOCK, classes + i * BLOCK, BLOCK) != 0)
            k++;
        if (k == 256) die("too many different blocks of classes");
        if (k == n) memcpy(blocks + n++ * BLOCK, classes + i * BLOCK, BLOCK);
        block_of[i] = (unsigned char)k;
    }
    FILE *file = fopen(path, "w");
    if (!file) die("cannot write %s", path);
    fputs("/* Made by make_tables from src/token/classes.txt. */\n", file);
    write_numbers(file, "class_block", block_of, BLOCKS);
    write_numbers(file, "class_of_char", blocks, n * BLOCK);
    if (fclose(file) != 0) die("cannot write %s", path);
    free(classes);
    free(blocks);
}

int main(int argc, char **argv)
{
    if (argc != 4) die("usage: make_tables tiktoken|claude|classes FILE OUT");
    if (strcmp(argv[1], "classes") == 0) {
        write_classes(argv[2], argv[3]);
        return 0;
    }
    encoding v = strcmp(argv[1], "claude") == 0 ? read_claude(argv[2]) : read_tiktoken(argv[2]);
    split_tokens(&v);
    write_table(&v, argv[3]);
    free(v.tokens);
    free(v.bytes);
    free(v.map);
    return 0;
}
