/* image_test.c -- what images cost: the figures are those that the providers publish as examples. */
#include "token/image.h"

#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "tap.h"

static const maki_image_rule patches_1 = { MAKI_IMAGE_PATCHES, 0, 0, 1 };
static const maki_image_rule patches_mini = { MAKI_IMAGE_PATCHES, 0, 0, 1.62 };
static const maki_image_rule tiles_gpt5 = { MAKI_IMAGE_TILES, 70, 140, 0 };

static const struct price_row {
    const char *name;
    const maki_image_rule *rule;
    uint32_t width, height;
    bool low;
    uint64_t tokens;
} price_rows[] = {
    /* clang-format off */
    { "Anthropic: small",                      &maki_image_anthropic,  200,  200, false,   54 },
    { "Anthropic: a thousand square",          &maki_image_anthropic, 1000, 1000, false, 1334 },
    { "Anthropic: the largest square",         &maki_image_anthropic, 1092, 1092, false, 1590 },
    { "Anthropic: a long edge is reduced_window",      &maki_image_anthropic, 3136,  200, false,  210 },
    { "Anthropic: never over 1,600",           &maki_image_anthropic, 8000, 8000, false, 1600 },
    { "Anthropic: one pixel",                  &maki_image_anthropic,    1,    1, false,    1 },
    { "OpenAI: 1024 square",                   &maki_image_openai,    1024, 1024, false,  765 },
    { "OpenAI: 2048 x 4096",                   &maki_image_openai,    2048, 4096, false, 1105 },
    { "OpenAI: low detail",                    &maki_image_openai,    4096, 8192, true,    85 },
    { "OpenAI: small ones are not enlarged",   &maki_image_openai,     128,   64, false,  255 },
    { "OpenAI: a line of pixels",              &maki_image_openai,  100000,    1, false,  765 },
    { "OpenAI: gpt-5",                         &tiles_gpt5,           1024, 1024, false,  630 },
    { "OpenAI: patches",                       &patches_1,            1024, 1024, false, 1024 },
    { "OpenAI: patches reduced_window to fit",         &patches_1,            1800, 2400, false, 1452 },
    { "OpenAI: patches with a factor",         &patches_mini,         1024, 1024, false, 1659 },
    { "OpenAI: patches of a line",             &patches_1,          100000,    1, false, 1536 },
    { "Gemini: small",                         &maki_image_gemini,     384,  384, false,  258 },
    { "Gemini: 960 x 540",                     &maki_image_gemini,     960,  540, false, 1548 },
    { "Gemini: 1024 square",                   &maki_image_gemini,    1024, 1024, false, 1032 },
    { "Gemini: tiles of 768 at most",          &maki_image_gemini,    1536, 1536, false, 1032 },
    { "unknown size: as 1024 square",          &maki_image_openai,       0,    0, false,  765 },
    { "unknown size, Anthropic",               &maki_image_anthropic,    0,  500, false, 1399 },
    /* clang-format on */
};

/* ---- headers --------------------------------------------------------------------------------------- */

static size_t base64(const unsigned char *bytes, size_t n, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t len = 0;
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16;
        if (i + 1 < n) three |= (uint32_t)bytes[i + 1] << 8;
        if (i + 2 < n) three |= bytes[i + 2];
        out[len++] = digits[three >> 18];
        out[len++] = digits[three >> 12 & 63];
        out[len++] = i + 1 < n ? digits[three >> 6 & 63] : '=';
        out[len++] = i + 2 < n ? digits[three & 63] : '=';
    }
    return len;
}

#define BYTES(...) (const unsigned char[]){ __VA_ARGS__ }, sizeof((unsigned char[]){ __VA_ARGS__ })
#define ZEROS10    0, 0, 0, 0, 0, 0, 0, 0, 0, 0
static const struct header_row {
    const char *name;
    const unsigned char *bytes;
    size_t n;
    uint32_t width, height; /* 0: not measured */
} header_rows[] = {
    { "PNG",
      BYTES(0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13, 'I', 'H', 'D', 'R', 0, 0, 7, 0x80, 0,
            0, 4, 0x38, 8, 2),
      1920, 1080 },
    { "GIF", BYTES('G', 'I', 'F', '8', '9', 'a', 0x40, 1, 0xf0, 0, 0, 0, 0), 320, 240 },
    { "WebP, lossy",
      BYTES('R', 'I', 'F', 'F', 0, 0, 0, 0, 'W', 'E', 'B', 'P', 'V', 'P', '8', ' ', 0, 0, 0, 0, 0,
            0, 0, 0x9d, 1, 0x2a, 0x20, 3, 0x58, 2),
      800, 600 },
    { "WebP, lossless",
      BYTES('R', 'I', 'F', 'F', 0, 0, 0, 0, 'W', 'E', 'B', 'P', 'V', 'P', '8', 'L', 0, 0, 0, 0,
            0x2f, 0x1f, 0xc3, 0x95, 0, ZEROS10),
      800, 600 },
    { "WebP, extended",
      BYTES('R', 'I', 'F', 'F', 0, 0, 0, 0, 'W', 'E', 'B', 'P', 'V', 'P', '8', 'X', 10, 0, 0, 0, 0,
            0, 0, 0, 0x1f, 3, 0, 0x57, 2, 0),
      800, 600 },
    { "JPEG with a segment before the frame",
      BYTES(0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xff, 0xc2, 0, 17, 8, 2, 0x58, 3, 0x20, 3),
      800, 600 },
    { "JPEG that ends before its frame", BYTES(0xff, 0xd8, 0xff, 0xe0, 0, 40, 1, 2), 0, 0 },
    { "JPEG with a length of nothing", BYTES(0xff, 0xd8, 0xff, 0xe0, 0, 0, 1, 2, 3), 0, 0 },
    { "PNG cut off", BYTES(0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13, 'I', 'H', 'D'), 0, 0 },
    { "PNG without a width",
      BYTES(0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13, 'I', 'H', 'D', 'R', 0, 0, 0, 0, 0, 0,
            4, 0x38),
      0, 0 },
    { "PNG of four billion pixels a side",
      BYTES(0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13, 'I', 'H', 'D', 'R', 255, 255, 255,
            255, 255, 255, 255, 255),
      0, 0 },
    { "something else", BYTES('B', 'M', 1, 2, 3, 4, 5, 6, 7, 8, ZEROS10, ZEROS10), 0, 0 },
    { "nothing", BYTES(0), 0, 0 },
};

static void test_headers(void)
{
    char text[200], escaped[400];
    for (size_t i = 0; i < COUNT(header_rows); i++) {
        const struct header_row *row = &header_rows[i];
        maki_image_size size;
        size_t n = base64(row->bytes, row->n, text), m = 0;
        tap_row("%s", row->name);
        CHECK_EQ(maki_image_measure((maki_str){ text, n }, &size), row->width > 0);
        CHECK_EQ(size.width, row->width);
        CHECK_EQ(size.height, row->height);
        for (size_t k = 0; k < n; k++) { /* as some write it into JSON: "\/" and lines */
            if (text[k] == '/') escaped[m++] = '\\';
            escaped[m++] = text[k];
            if (k % 10 == 9) escaped[m++] = '\\', escaped[m++] = 'n';
        }
        CHECK_EQ(maki_image_measure((maki_str){ escaped, m }, &size), row->width > 0);
        CHECK_EQ(size.height, row->height);
        for (size_t k = 0; k < n; k++)
            maki_image_measure((maki_str){ text, k }, &size); /* cut anywhere */
    }
}

static void test_audio(void)
{
    unsigned char wav[1000] = "RIFF____WAVEfmt \x10\0\0\0\1\0\1\0\x80\xbb\0\0\0\x77\1\0";
    static char text[2000];
    tap_row("WAV by its header: 96,000 bytes a second");
    size_t n = base64(wav, 960, text);
    CHECK(maki_audio_seconds((maki_str){ text, n }) > 0.0099);
    CHECK(maki_audio_seconds((maki_str){ text, n }) < 0.0101);
    tap_row("anything else as MP3: 16,000 bytes a second");
    memset(text, 'A', sizeof text);
    CHECK_DOUBLE(maki_audio_seconds((maki_str){ text, 1280 }), 0.06);
}

int main(void)
{
    for (size_t i = 0; i < COUNT(price_rows); i++) {
        const struct price_row *row = &price_rows[i];
        tap_row("%s", row->name);
        maki_image_size size = { row->width, row->height };
        CHECK_EQ(maki_image_tokens(row->rule, size, row->low), row->tokens);
    }
    test_headers();
    test_audio();
    return tap_end();
}
