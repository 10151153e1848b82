/* text_avx2_test.c -- the plain and the AVX2 kernels return exactly what the reference does.
 *
 * Every text ends at the end of an allocated block, so that ASan finds a read past it.  The errors
 * are put at every offset from 0 to 80: inside a block of 32, across its edges, and in the tail. */
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/str_util.h"
#include "samples.h"
#include "tap.h"
#include "utf8_reference.h"

enum { BLOCK = 512 };
static char *block; /* BLOCK bytes */

/* Both kernel sets on `n` bytes that end with the block. */
static void compare(size_t n)
{
    const maki_text_kernels *plain = &maki_text_plain;
    const maki_text_kernels *best = maki_text_kernels_best();
    const char *text = block + BLOCK - n;
    size_t good = reference_valid_len(text, n), special = reference_special(text, n);
    CHECK_EQ(plain->utf8_valid_len(text, n), good);
    CHECK_EQ(best->utf8_valid_len(text, n), good);
    CHECK_EQ(plain->find_special(text, n), special);
    CHECK_EQ(best->find_special(text, n), special);
    size_t end = reference_string_end(text, n);
    CHECK_EQ(plain->skip_string(text, n), end);
    CHECK_EQ(best->skip_string(text, n), end);
}

static void compare_text(maki_str text)
{
    if (text.len) memcpy(block + BLOCK - text.len, text.ptr, text.len);
    compare(text.len);
}

/* `bytes` at `at` in a text of n bytes of ASCII. */
static void compare_at(size_t at, const void *bytes, size_t count, size_t n)
{
    char *text = block + BLOCK - n;
    memset(text, 'a', n);
    memcpy(text + at, bytes, count);
    compare(n);
}

static void test_names(void)
{
    tap_row("the best kernels are AVX2 where the processor has it");
    const char *best = maki_text_kernels_best()->name;
    CHECK_CSTR(maki_text_plain.name, "plain");
    CHECK_CSTR(best, maki_text_kernels_best() == &maki_text_plain ? "plain" : "avx2");
}

static void test_pairs(void)
{
    tap_row("every pair of bytes: alone, across a block's edge, at the text's end");
    for (unsigned pair = 0; pair < 0x10000; pair++) {
        unsigned char bytes[] = { (unsigned char)(pair >> 8), (unsigned char)pair };
        compare_at(0, bytes, 2, 2);
        compare_at(31, bytes, 2, 40);
        compare_at(62, bytes, 2, 64);
    }
}

static const unsigned char edges[] = { 0x00, 0x1F, 0x22, 0x41, 0x5C, 0x7F, 0x80, 0x8F, 0x90,
                                       0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xE0, 0xED, 0xF0, 0xFF };

static void test_triples(void)
{
    tap_row("three bytes: any lead, any second, a third at the edges");
    for (unsigned lead = 0xC0; lead <= 0xFF; lead++) {
        for (unsigned second = 0; second <= 0xFF; second++) {
            for (size_t third = 0; third < sizeof edges; third++) {
                unsigned char bytes[] = { (unsigned char)lead, (unsigned char)second,
                                          edges[third] };
                compare_at(30, bytes, 3, 64);
                compare_at(31, bytes, 3, 34);
            }
        }
    }
}

static void test_quadruples(void)
{
    tap_row("four bytes: leads from F0, any second, third and fourth at the edges");
    for (unsigned lead = 0xEF; lead <= 0xF8; lead++) {
        for (unsigned second = 0x7F; second <= 0xC0; second++) {
            for (size_t rest = 0; rest < sizeof edges * sizeof edges; rest++) {
                unsigned char bytes[] = { (unsigned char)lead, (unsigned char)second,
                                          edges[rest / sizeof edges], edges[rest % sizeof edges] };
                compare_at(29 + rest % 3, bytes, 4, 64);
            }
        }
    }
}

static void test_code_points(void)
{
    tap_row("every code point, surrogates as if they were characters, across a block's edge");
    for (uint32_t code = 0x80; code <= 0x10FFFF; code++) {
        unsigned char bytes[4];
        size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        uint32_t rest = code;
        for (size_t i = n - 1; i > 0; i--, rest >>= 6)
            bytes[i] = (unsigned char)(0x80 | (rest & 0x3F));
        bytes[0] = (unsigned char)((n == 2 ? 0xC0 : n == 3 ? 0xE0 : 0xF0) | rest);
        compare_at(32 - n + code % (n + 1), bytes, n, 64);
    }
}

/* Valid texts of `n` bytes, made of one character repeated, after `shift` bytes of ASCII. */
static void fill(size_t n, size_t shift, maki_str unit)
{
    char *text = block + BLOCK - n;
    memset(text, 'x', n);
    for (size_t at = shift; at + unit.len <= n; at += unit.len)
        memcpy(text + at, unit.ptr, unit.len);
}

static void test_mutations(void)
{
    static const char *const units[] = { "x", "é", "日", "한", "م", "😀", "e\u0301", "👩\u200D🚀" };
    tap_random random = { 20240229 };
    for (size_t u = 0; u < COUNT(units); u++) {
        tap_row("one byte changed at every offset of long texts of %s", units[u]);
        maki_str unit = maki_str_of(units[u]);
        for (size_t n = 81; n <= 130; n += 7) {
            for (size_t shift = 0; shift < 4; shift++) {
                fill(n, shift, unit);
                compare(n);
                for (size_t at = 0; at <= 80; at++) {
                    char *byte = block + BLOCK - n + at;
                    char was = *byte;
                    for (size_t e = 0; e < sizeof edges; e++) {
                        *byte = (char)edges[e];
                        compare(n);
                    }
                    *byte = (char)tap_next(&random);
                    compare(n);
                    *byte = was;
                }
            }
        }
    }
}

static void test_lengths(void)
{
    tap_row("every length from 0 to 200, so every tail, cut anywhere in a character");
    for (size_t n = 0; n <= 200; n++) {
        for (size_t i = 0; i < sample_count; i++) {
            maki_str text = samples[i].text;
            if (text.len == 0) continue;
            for (size_t at = 0; at < n; at++)
                block[BLOCK - n + at] = text.ptr[at % text.len];
            compare(n);
        }
    }
    tap_row("the samples as they are");
    for (size_t i = 0; i < sample_count; i++)
        compare_text(samples[i].text);
}

static void test_random(void)
{
    static const unsigned char leads[] = { 'a', 0xC3, 0xE3, 0xED, 0xF0, 0xF4, 0x80, 0x9F, 0xBF };
    tap_random random = { 7 };
    tap_row("random bytes, and random bytes that are nearly UTF-8");
    for (size_t round = 0; round < 100000; round++) {
        size_t n = tap_below(&random, 100);
        for (size_t i = 0; i < n; i++) {
            block[BLOCK - n + i] =
                round % 2 ? (char)tap_next(&random) : (char)leads[tap_below(&random, sizeof leads)];
        }
        compare(n);
    }
}

/* Random strings of few characters, so that escapes fall on every edge of every block. */
static void test_escapes(void)
{
    static const char letters[] = "\\\\\\u\"nab09Ff\x01x\xE3";
    tap_row("escapes: random strings dense with backslashes");
    tap_random random = { 77 };
    for (size_t i = 0; i < 200000; i++) {
        size_t n = tap_below(&random, 100);
        char *text = block + BLOCK - n;
        for (size_t k = 0; k < n; k++) {
            bool plain = tap_below(&random, 4) != 0;
            text[k] = plain ? "abcdefgh"[k % 8] : letters[tap_below(&random, sizeof letters - 1)];
        }
        CHECK_EQ(maki_text_plain.skip_string(text, n), reference_string_end(text, n));
        CHECK_EQ(maki_text_kernels_best()->skip_string(text, n), reference_string_end(text, n));
        size_t quote = 0; /* the first that is not escaped, whatever else is wrong */
        while (quote < n && text[quote] != '"')
            quote += text[quote] == '\\' ? 2 : 1;
        if (quote > n) quote = n;
        CHECK_EQ(maki_text_plain.string_end(text, n), quote);
        CHECK_EQ(maki_text_kernels_best()->string_end(text, n), quote);
    }
}

int main(void)
{
    block = malloc(BLOCK);
    if (!block) return 1;
    test_names();
    test_pairs();
    test_triples();
    test_quadruples();
    test_code_points();
    test_mutations();
    test_lengths();
    test_random();
    test_escapes();
    free(block);
    return tap_end();
}
