/* simhash.c -- terms of a text are hashed, each to one bit. */
#include "summary/simhash.h"

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

/* A letter of a script that writes words apart; digits and underscores belong to them. */
static bool is_letter(uint32_t code)
{
    uint32_t l = lower(code);
    if (code < 0x80) return (l >= 'a' && l <= 'z') || (l >= '0' && l <= '9') || l == '_';
    return code >= 0xC0 && code < 0x2000 && code != 0xD7 && code != 0xF7;
}

static void add_term(maki_simhash *simhash, uint32_t h)
{
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    simhash->bits[h >> 30] |= (uint64_t)1 << (h & 63);
}

maki_simhash maki_simhash_of(maki_str text)
{
    enum { TERMS = 64 };
    const uint32_t empty = 2166136261u;
    maki_simhash out = { { 0 } };
    uint32_t word = empty, before = 0;
    size_t letters = 0, len = 0, terms = 0;
    for (size_t at = 0; at <= text.len && terms < TERMS; at += len) {
        uint32_t code = at < text.len ? maki_utf8_decode(text, at, &len) : 0;
        if (at == text.len) len = 1;
        uint32_t cjk = is_cjk(code) ? code : 0;
        if (is_letter(code)) {
            word = mix(word, lower(code));
            letters++;
        } else {
            if (letters >= 3) add_term(&out, word);
            terms += letters >= 3;
            word = empty;
            letters = 0;
        }
        if (cjk && before && !(is_hiragana(cjk) && is_hiragana(before))) {
            add_term(&out, mix(mix(empty, before), cjk));
            terms++;
        }
        before = cjk;
    }
    return out;
}

unsigned maki_simhash_similarity(const maki_simhash *a, const maki_simhash *b)
{
    unsigned n = 0;
    for (size_t i = 0; i < 4; i++)
        n += (unsigned)__builtin_popcountll(a->bits[i] & b->bits[i]);
    return n;
}
