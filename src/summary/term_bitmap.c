/* term_bitmap.c -- split a text into terms, hash each, and set one bit for it. */
#include "summary/term_bitmap.h"

#include <stdbool.h>

#include "base/text.h"

static bool is_hiragana(uint32_t code)
{
    return code >= 0x3041 && code <= 0x309F;
}

static bool is_cjk(uint32_t code)
{
    return (code >= 0x3041 && code <= 0x30FF) || (code >= 0x3400 && code <= 0x9FFF) ||
           (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
           (code >= 0x20000 && code <= 0x3FFFF);
}

static uint32_t mix(uint32_t h, uint32_t value)
{
    return (h ^ value) * 16777619u;
}

static uint32_t lower(uint32_t code)
{
    return code >= 'A' && code <= 'Z' ? code + 32 : code;
}

/* A character of a word in a script with spaces between words; digits and underscores included. */
static bool is_letter(uint32_t code)
{
    uint32_t l = lower(code);
    if (code < 0x80) return (l >= 'a' && l <= 'z') || (l >= '0' && l <= '9') || l == '_';
    return code >= 0xC0 && code < 0x2000 && code != 0xD7 && code != 0xF7;
}

typedef void (*term_fn)(void *ctx, uint32_t h);

enum { TERMS = 64 };

typedef struct collector {
    const maki_term_filter *without; /* or NULL */
    uint32_t *terms;
    size_t count, capacity;
} collector;

static void add_term(void *ctx, uint32_t h)
{
    collector *c = ctx;
    if (c->without && c->without->bits[h >> 26] >> (h >> 20 & 63) & 1) return;
    if (c->count < c->capacity) c->terms[c->count++] = h;
}

static void filter_term(void *ctx, uint32_t h)
{
    ((maki_term_filter *)ctx)->bits[h >> 26] |= (uint64_t)1 << (h >> 20 & 63);
}

static uint32_t spread(uint32_t h)
{
    h ^= h >> 15;
    h *= 2246822519u;
    return h ^ h >> 13;
}

static void each_term(maki_str text, term_fn fn, void *ctx)
{
    const uint32_t empty = 2166136261u;
    uint32_t word = empty, previous = 0;
    size_t letters = 0, len = 0, terms = 0;
    for (size_t at = 0; at <= text.len && terms < TERMS; at += len) {
        uint32_t code = at < text.len ? maki_utf8_decode(text, at, &len) : 0;
        if (at == text.len) len = 1;
        uint32_t cjk = is_cjk(code) ? code : 0;
        if (is_letter(code)) {
            word = mix(word, lower(code));
            letters++;
        } else {
            if (letters >= 3) fn(ctx, spread(word) & ~(uint32_t)MAKI_TERM_CJK);
            terms += letters >= 3;
            word = empty;
            letters = 0;
        }
        if (cjk && previous && !(is_hiragana(cjk) && is_hiragana(previous))) {
            fn(ctx, spread(mix(mix(empty, previous), cjk)) | MAKI_TERM_CJK);
            terms++;
        }
        previous = cjk;
    }
}

size_t maki_terms_of(maki_str text, const maki_term_filter *filter, uint32_t *terms,
                     size_t capacity)
{
    collector c = { .without = filter, .terms = terms, .capacity = capacity };
    each_term(text, add_term, &c);
    return c.count;
}

maki_term_bitmap maki_term_bitmap_of_terms(const uint32_t *terms, size_t count)
{
    maki_term_bitmap hash = { { 0 } };
    for (size_t i = 0; i < count; i++)
        hash.bits[terms[i] >> 30] |= (uint64_t)1 << (terms[i] & 63);
    return hash;
}

maki_term_bitmap maki_term_bitmap_without(maki_str text, const maki_term_filter *filter)
{
    uint32_t terms[TERMS + 1];
    return maki_term_bitmap_of_terms(terms, maki_terms_of(text, filter, terms, TERMS + 1));
}

maki_term_bitmap maki_term_bitmap_of(maki_str text)
{
    return maki_term_bitmap_without(text, NULL);
}

void maki_term_filter_add(maki_term_filter *filter, maki_str text)
{
    each_term(text, filter_term, filter);
}

unsigned maki_term_bitmap_shared(const maki_term_bitmap *a, const maki_term_bitmap *b)
{
    unsigned n = 0;
    for (size_t i = 0; i < 4; i++)
        n += (unsigned)__builtin_popcountll(a->bits[i] & b->bits[i]);
    return n;
}
