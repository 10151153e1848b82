/* image.c -- see image.h. */
#include "token/image.h"

#include <math.h>
#include <string.h>

#include "base/str_util.h"

const maki_image_rule maki_image_anthropic = { MAKI_IMAGE_AREA, 0, 0, 0 };
const maki_image_rule maki_image_openai = { MAKI_IMAGE_TILES, 85, 170, 0 };
const maki_image_rule maki_image_gemini = { MAKI_IMAGE_GEMINI, 0, 0, 0 };

/* ---- the rules -------------------------------------------------------------------------------------- */

static uint64_t by_area(double width, double height)
{
    const double edge = 1568, per_token = 750, most = 1600;
    double scale = fmin(1, edge / fmax(width, height));
    double tokens = ceil(width * scale * (height * scale) / per_token);
    return (uint64_t)fmin(tokens, most);
}

static uint64_t by_tiles(const maki_image_rule *rule, double width, double height)
{
    const double box = 2048, short_side = 768, tile = 512;
    double scale = fmin(1, box / fmax(width, height));
    width *= scale;
    height *= scale;
    scale = fmin(1, short_side / fmin(width, height));
    double across = fmax(1, ceil(floor(width * scale) / tile));
    double down = fmax(1, ceil(floor(height * scale) / tile));
    return rule->base + rule->tile * (uint64_t)(across * down);
}

static uint64_t by_patches(const maki_image_rule *rule, double width, double height)
{
    const double side = 32, most = 1536;
    double patches = ceil(width / side) * ceil(height / side);
    if (patches > most) {
        /* shrunk to that many, then a little more, so that whole patches fit in one direction */
        double scale = sqrt(side * side * most / (width * height));
        double across = width * scale / side, down = height * scale / side;
        scale *= fmin(fmax(1, floor(across)) / across, fmax(1, floor(down)) / down);
        patches = fmax(1, ceil(width * scale / side - 1e-9)) *
                  fmax(1, ceil(height * scale / side - 1e-9));
    }
    return (uint64_t)ceil(fmin(patches, most) * rule->factor);
}

static uint64_t by_gemini(double width, double height)
{
    const double per_tile = 258, small = 384, least = 256, most = 768;
    if (width <= small && height <= small) return (uint64_t)per_tile;
    double unit = floor(fmin(width, height) / 1.5);
    unit = fmin(fmax(unit, least), most);
    return (uint64_t)(per_tile * ceil(width / unit) * ceil(height / unit));
}

uint64_t maki_image_tokens(const maki_image_rule *rule, maki_image_size size, bool low_detail)
{
    double width = size.width, height = size.height;
    if (size.width == 0 || size.height == 0) width = height = MAKI_IMAGE_DEFAULT;
    switch (rule->kind) {
    case MAKI_IMAGE_AREA: return by_area(width, height);
    case MAKI_IMAGE_TILES: return low_detail ? rule->base : by_tiles(rule, width, height);
    case MAKI_IMAGE_PATCHES: return by_patches(rule, width, height);
    case MAKI_IMAGE_GEMINI: return by_gemini(width, height);
    }
    return 0;
}

/* ---- base64, byte by byte ---------------------------------------------------------------------------- */

typedef struct byte_reader {
    maki_str text; /* what is left of it */
    uint32_t bits;
    unsigned count; /* of bits that wait */
} byte_reader;

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+' || c == '-') return 62;
    if (c == '/' || c == '_') return 63;
    return -1;
}

/* The next character of base64, or -1 at the end.  "\/" is a slash, "\n" and spaces are nothing. */
static int next_digit(byte_reader *r)
{
    while (r->text.len) {
        char c = r->text.ptr[0];
        size_t step = 1;
        if (c == '\\' && r->text.len > 1) {
            c = r->text.ptr[1] == '/' ? '/' : ' ';
            step = 2;
        }
        r->text = maki_str_from(r->text, step);
        if (c == '=') return -1;
        if (digit(c) >= 0) return digit(c);
        if ((unsigned char)c > ' ') return -1;
    }
    return -1;
}

/* The next byte, or -1. */
static int next_byte(byte_reader *r)
{
    while (r->count < 8) {
        int d = next_digit(r);
        if (d < 0) return -1;
        r->bits = r->bits << 6 | (uint32_t)d;
        r->count += 6;
    }
    r->count -= 8;
    return (int)(r->bits >> r->count & 0xFF);
}

static size_t read_bytes(byte_reader *r, unsigned char *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int byte = next_byte(r);
        if (byte < 0) return i;
        out[i] = (unsigned char)byte;
    }
    return n;
}

static bool skip(byte_reader *r, size_t n)
{
    while (n > 0 && next_byte(r) >= 0)
        n--;
    return n == 0;
}

/* ---- headers ------------------------------------------------------------------------------------------ */

static uint32_t big2(const unsigned char *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t big4(const unsigned char *p)
{
    return big2(p) << 16 | big2(p + 2);
}

static uint32_t little2(const unsigned char *p)
{
    return (uint32_t)p[1] << 8 | p[0];
}

static uint32_t little4(const unsigned char *p)
{
    return little2(p + 2) << 16 | little2(p);
}

static bool sized(uint32_t width, uint32_t height, maki_image_size *size)
{
    const uint32_t most = 1u << 24; /* more is a lie */
    if (width == 0 || height == 0 || width > most || height > most) return false;
    *size = (maki_image_size){ width, height };
    return true;
}

/* Walk the segments of a JPEG to the frame header.  The first two bytes have been read. */
static bool measure_jpeg(byte_reader *r, maki_image_size *size)
{
    enum { SEGMENTS = 256 };
    unsigned char head[5];
    for (int i = 0; i < SEGMENTS; i++) {
        int marker = next_byte(r);
        if (marker != 0xFF) return false;
        while (marker == 0xFF) /* fill bytes are allowed */
            marker = next_byte(r);
        if (marker < 0 || marker == 0xD9 || marker == 0xDA) return false;
        if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8)) continue; /* has no length */
        if (read_bytes(r, head, 2) < 2 || big2(head) < 2) return false;
        bool frame =
            marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
        if (!frame) {
            if (!skip(r, big2(head) - 2)) return false;
            continue;
        }
        return read_bytes(r, head, 5) == 5 && sized(big2(head + 3), big2(head + 1), size);
    }
    return false;
}

static bool measure_webp(const unsigned char *head, maki_image_size *size)
{
    const unsigned char *p = head + 12;
    if (memcmp(p, "VP8X", 4) == 0) {
        uint32_t w = little2(p + 12) | (uint32_t)p[14] << 16;
        uint32_t h = little2(p + 15) | (uint32_t)p[17] << 16;
        return sized(w + 1, h + 1, size);
    }
    if (memcmp(p, "VP8L", 4) == 0 && p[8] == 0x2F) {
        uint32_t bits = little4(p + 9);
        return sized((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, size);
    }
    if (memcmp(p, "VP8 ", 4) == 0 && p[11] == 0x9D && p[12] == 0x01 && p[13] == 0x2A) {
        return sized(little2(p + 14) & 0x3FFF, little2(p + 16) & 0x3FFF, size);
    }
    return false;
}

bool maki_image_measure(maki_str base64, maki_image_size *size)
{
    unsigned char head[30] = { 0 };
    byte_reader reader = { .text = base64 };
    *size = (maki_image_size){ 0 };
    size_t n = read_bytes(&reader, head, sizeof head);
    if (n >= 24 && memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0) {
        return sized(big4(head + 16), big4(head + 20), size);
    }
    if (n >= 10 && memcmp(head, "GIF8", 4) == 0) {
        return sized(little2(head + 6), little2(head + 8), size);
    }
    if (n == 30 && memcmp(head, "RIFF", 4) == 0 && memcmp(head + 8, "WEBP", 4) == 0) {
        return measure_webp(head, size);
    }
    if (n >= 4 && head[0] == 0xFF && head[1] == 0xD8) {
        byte_reader again = { .text = base64 };
        return skip(&again, 2) && measure_jpeg(&again, size);
    }
    return false;
}

double maki_audio_seconds(maki_str base64)
{
    const double mp3 = 16000; /* bytes a second */
    unsigned char head[32] = { 0 };
    byte_reader reader = { .text = base64 };
    double bytes = (double)base64.len * 3 / 4, rate = mp3;
    size_t n = read_bytes(&reader, head, sizeof head);
    if (n == sizeof head && memcmp(head, "RIFF", 4) == 0 && memcmp(head + 8, "WAVE", 4) == 0 &&
        memcmp(head + 12, "fmt ", 4) == 0 && little4(head + 28) > 0) {
        rate = little4(head + 28);
    }
    return bytes / rate;
}
