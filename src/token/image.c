/* image.c -- the rules of the providers, and the headers of image and audio files.
 *
 * In:     base64 from outside, possibly truncated or of no known format.
 * Out:    tokens; sizes and durations as the header states them, false or a default otherwise.
 * Always: only the header is decoded (a JPEG up to its frame header), whatever the length. */
#include "token/image.h"

#include <math.h>
#include <string.h>

#include "base/str.h"

const maki_image_rule maki_image_anthropic = { MAKI_IMAGE_AREA, 0, 0, 0 };
const maki_image_rule maki_image_openai = { MAKI_IMAGE_TILES, 85, 170, 0 };
const maki_image_rule maki_image_gemini = { MAKI_IMAGE_GEMINI, 0, 0, 0 };

/* ---- the rules -------------------------------------------------------------------------------------- */

static uint64_t by_area(double width, double height)
{
    const double edge = 1568, per_token = 750, max = 1600;
    double scale = fmin(1, edge / fmax(width, height));
    double tokens = ceil(width * scale * (height * scale) / per_token);
    return (uint64_t)fmin(tokens, max);
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
    const double side = 32, max = 1536;
    double patches = ceil(width / side) * ceil(height / side);
    if (patches > max) {
        /* scaled down to that many, then further until they fill one direction exactly */
        double scale = sqrt(side * side * max / (width * height));
        double across = width * scale / side, down = height * scale / side;
        scale *= fmin(fmax(1, floor(across)) / across, fmax(1, floor(down)) / down);
        patches = fmax(1, ceil(width * scale / side - 1e-9)) *
                  fmax(1, ceil(height * scale / side - 1e-9));
    }
    return (uint64_t)ceil(fmin(patches, max) * rule->factor);
}

static uint64_t by_gemini(double width, double height)
{
    const double per_tile = 258, small = 384, min = 256, max = 768;
    if (width <= small && height <= small) return (uint64_t)per_tile;
    double unit = floor(fmin(width, height) / 1.5);
    unit = fmin(fmax(unit, min), max);
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

/* ---- base64 ------------------------------------------------------------------------------------------ */

typedef struct byte_reader {
    maki_str text; /* still to read */
    uint32_t bits;
    unsigned bit_count; /* of bits not yet returned */
} byte_reader;

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+' || c == '-') return 62;
    if (c == '/' || c == '_') return 63;
    return -1;
}

/* The next digit of base64, or -1 at the end.  "\/" is a slash; "\n" and spaces are skipped. */
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
        if (base64_digit(c) >= 0) return base64_digit(c);
        if ((unsigned char)c > ' ') return -1;
    }
    return -1;
}

/* The next byte, or -1. */
static int next_byte(byte_reader *r)
{
    while (r->bit_count < 8) {
        int d = next_digit(r);
        if (d < 0) return -1;
        r->bits = r->bits << 6 | (uint32_t)d;
        r->bit_count += 6;
    }
    r->bit_count -= 8;
    return (int)(r->bits >> r->bit_count & 0xFF);
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

static uint32_t read_be16(const unsigned char *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t read_be32(const unsigned char *p)
{
    return read_be16(p) << 16 | read_be16(p + 2);
}

static uint32_t read_le16(const unsigned char *p)
{
    return (uint32_t)p[1] << 8 | p[0];
}

static uint32_t read_le32(const unsigned char *p)
{
    return read_le16(p + 2) << 16 | read_le16(p);
}

static bool set_size(uint32_t width, uint32_t height, maki_image_size *size)
{
    const uint32_t max = 1u << 24; /* larger ones are corrupt */
    if (width == 0 || height == 0 || width > max || height > max) return false;
    *size = (maki_image_size){ width, height };
    return true;
}

/* Read the segments of a JPEG up to the frame header.  The first two bytes have been read. */
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
        if (read_bytes(r, head, 2) < 2 || read_be16(head) < 2) return false;
        bool frame =
            marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
        if (!frame) {
            if (!skip(r, read_be16(head) - 2)) return false;
            continue;
        }
        return read_bytes(r, head, 5) == 5 &&
               set_size(read_be16(head + 3), read_be16(head + 1), size);
    }
    return false;
}

static bool measure_webp(const unsigned char *head, maki_image_size *size)
{
    const unsigned char *p = head + 12;
    if (memcmp(p, "VP8X", 4) == 0) {
        uint32_t w = read_le16(p + 12) | (uint32_t)p[14] << 16;
        uint32_t h = read_le16(p + 15) | (uint32_t)p[17] << 16;
        return set_size(w + 1, h + 1, size);
    }
    if (memcmp(p, "VP8L", 4) == 0 && p[8] == 0x2F) {
        uint32_t bits = read_le32(p + 9);
        return set_size((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, size);
    }
    if (memcmp(p, "VP8 ", 4) == 0 && p[11] == 0x9D && p[12] == 0x01 && p[13] == 0x2A) {
        return set_size(read_le16(p + 14) & 0x3FFF, read_le16(p + 16) & 0x3FFF, size);
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
        return set_size(read_be32(head + 16), read_be32(head + 20), size);
    }
    if (n >= 10 && memcmp(head, "GIF8", 4) == 0) {
        return set_size(read_le16(head + 6), read_le16(head + 8), size);
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
        memcmp(head + 12, "fmt ", 4) == 0 && read_le32(head + 28) > 0) {
        rate = read_le32(head + 28);
    }
    return bytes / rate;
}
