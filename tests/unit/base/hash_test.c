/* hash_test.c -- SHA-256 against known digests, at once and in pieces cut anywhere. */
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/str_util.h"
#include "tap.h"

#define S(text)                   \
    {                             \
        "" text, sizeof(text) - 1 \
    }

/* The first three are of FIPS 180-4's examples; the others were made with Python's hashlib. */
static const struct hash_row {
    const char *name;
    maki_str text;
    const char *hex;
} hash_rows[] = {
    { "nothing", S(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
    { "abc", S("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
    { "two blocks", S("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    { "Japanese", S("巻物は日本語で書かれている。"),
      "d3cd176e886dd44cfb356f3107f34c79de9055a567e74f913e588fbae89c64bf" },
    { "emoji joined by ZWJ", S("👨\u200D👩\u200D👧\u200D👦"),
      "32b7d42dae221e37043eef14ee3525ad7c3c081364c26eb3652709873ee78f15" },
    { "a NUL inside", S("a\0b"),
      "59b271ae1bbcb1d31d41929817f4b16fb439eb4f31520b5ad1d5ce98920a7138" },
};

static void check_digest(const unsigned char *digest, const char *hex)
{
    char got[2 * MAKI_SHA256_LEN + 1];
    maki_hex(digest, MAKI_SHA256_LEN, got);
    CHECK_CSTR(got, hex);
}

static void test_known(void)
{
    for (size_t i = 0; i < COUNT(hash_rows); i++) {
        const struct hash_row *row = &hash_rows[i];
        unsigned char digest[MAKI_SHA256_LEN];
        tap_row("%s", row->name);
        maki_sha256_of(row->text, digest);
        check_digest(digest, row->hex);
        for (size_t cut = 0; cut <= row->text.len; cut++) {
            maki_sha256 hash;
            maki_sha256_init(&hash);
            maki_sha256_update(&hash, maki_str_prefix(row->text, cut));
            maki_sha256_update(&hash, (maki_str){ NULL, 0 });
            maki_sha256_update(&hash, maki_str_skip(row->text, cut));
            maki_sha256_final(&hash, digest);
            check_digest(digest, row->hex);
        }
    }
}

static void test_million(void)
{
    tap_row("a million times the letter a, in pieces of 997 bytes (FIPS 180-4)");
    maki_sha256 hash;
    unsigned char digest[MAKI_SHA256_LEN];
    char piece[997];
    memset(piece, 'a', sizeof piece);
    maki_sha256_init(&hash);
    for (size_t left = 1000000; left > 0;) {
        size_t n = left < sizeof piece ? left : sizeof piece;
        maki_sha256_update(&hash, (maki_str){ piece, n });
        left -= n;
    }
    maki_sha256_final(&hash, digest);
    check_digest(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_hex(void)
{
    tap_row("hexadecimal digits of every byte");
    for (int byte = 0; byte < 256; byte++) {
        unsigned char b = (unsigned char)byte;
        char hex[4] = "..!";
        maki_hex(&b, 1, hex);
        CHECK_EQ(strtol(hex, NULL, 16), byte);
        CHECK(maki_unhex(hex, 1, &b) && b == byte);
        CHECK_EQ(strlen(hex), 2);
        CHECK(strpbrk(hex, "ABCDEF") == NULL);
    }
    tap_row("invalid hexadecimal digits");
    for (const char *p = "0g A-\0", *end = p + 6; p + 1 < end; p++) {
        unsigned char b;
        CHECK(!maki_unhex(p, 1, &b));
    }
    tap_row("hexadecimal digits of nothing");
    char none[1] = "x";
    maki_hex((const unsigned char *)"", 0, none);
    CHECK_EQ(none[0], '\0');
}

int main(void)
{
    test_known();
    test_million();
    test_hex();
    return tap_end();
}
