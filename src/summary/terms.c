/* terms.c -- see terms.h. */
#include "summary/terms.h"

#include <string.h>

#include "base/text.h"

bool maki_is_hiragana(uint32_t code)
{
    return code >= 0x3041 && code <= 0x309F;
}

bool maki_is_cjk(uint32_t code)
{
    return (code >= 0x3041 && code <= 0x30FF) || (code >= 0x3400 && code <= 0x9FFF) ||
           (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
           (code >= 0x20000 && code <= 0x3FFFF);
}

static uint32_t mix(uint32_t h, uint32_t value)
{
    return (h ^ value) * 16777619u;
}

static uint32_t finish(uint32_t h)
{
    h ^= h >> 15;
    h *= 2246822519u;
    return h ^ h >> 13;
}

/* Keep the list sorted; it is short. */
static void add_term(maki_terms *terms, uint32_t term)
{
    size_t i = terms->count;
    while (i > 0 && terms->at[i - 1] > term)
        i--;
    if ((i > 0 && terms->at[i - 1] == term) || terms->count == MAKI_TERMS_MOST) return;
    memmove(terms->at + i + 1, terms->at + i, (terms->count - i) * sizeof *terms->at);
    terms->at[i] = term;
    terms->count++;
}

static uint32_t lower(uint32_t code)
{
    return code >= 'A' && code <= 'Z' ? code + 32 : code;
}

/* A letter of a script that writes words apart; digits and underscores belong to them. */
static bool is_letter(uint32_t code)
{
    uint32_t l = lower(code);
    if (code < 0x80) return (l >= 'a' && l <= 'z') || (l >= '0' && l <= '9') || l == '_';
    return code >= 0xC0 && code < 0x2000 && code != 0xD7 && code != 0xF7;
}

void maki_terms_of(maki_str text, maki_terms *out)
{
    uint32_t word = 2166136261u, before = 0;
    size_t letters = 0, len = 0;
    out->count = 0;
    for (size_t at = 0; at < text.len && out->count < MAKI_TERMS_MOST; at += len) {
        uint32_t code = maki_utf8_char(text, at, &len);
        if (is_letter(code)) {
            word = mix(word, lower(code));
            letters++;
        } else {
            if (letters >= 3) add_term(out, finish(word));
            word = 2166136261u;
            letters = 0;
        }
        uint32_t cjk = maki_is_cjk(code) ? code : 0;
        if (cjk && before && !(maki_is_hiragana(cjk) && maki_is_hiragana(before)))
            add_term(out, finish(mix(mix(2166136261u, before), cjk)));
        before = cjk;
    }
    if (letters >= 3) add_term(out, finish(word));
}

size_t maki_terms_shared(const maki_terms *a, const maki_terms *b)
{
    size_t i = 0, j = 0, shared = 0;
    while (i < a->count && j < b->count) {
        if (a->at[i] == b->at[j]) shared++;
        bool left = a->at[i] <= b->at[j], right = b->at[j] <= a->at[i];
        i += left;
        j += right;
    }
    return shared;
}

void maki_terms_sketch(const maki_terms *terms, uint64_t sketch[4])
{
    memset(sketch, 0, 4 * sizeof *sketch);
    for (size_t i = 0; i < terms->count; i++)
        sketch[terms->at[i] >> 30] |= (uint64_t)1 << (terms->at[i] & 63);
}

unsigned maki_sketch_shared(const uint64_t a[4], const uint64_t b[4])
{
    unsigned n = 0;
    for (size_t i = 0; i < 4; i++)
        n += (unsigned)__builtin_popcountll(a[i] & b[i]);
    return n;
}
