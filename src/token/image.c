/* image.c -- the rules of the providers, and the headers of image and audio files.
 *
 * In:     untrusted base64, possibly truncated or of an unknown format.
 * Out:    tokens; sizes and durations as the header states them, false or a default otherwise.
 * Always: only the header is decoded (a JPEG up to its frame header), whatever the length. */
#include "token/image.h"

#include <math.h>
#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"

const maki_image_rule maki_image_anthropic = { MAKI_IMAGE_AREA, 0, 0, 0 };
const maki_image_rule maki_image_openai = { MAKI_IMAGE_TILES, 85, 170, 0 };
const maki_image_rule maki_image_gemini = { MAKI_IMAGE_GEMINI, 0, 0, 0 };

/* ---- the rules -------------------------------------------------------------------------------------- */

static uint64_t tokens_by_area(double width, double height)
{
    const double edge = 1568, per_token = 750, max = 1600;
    double scale = fmin(1, edge / fmax(width, height));
    double tokens = ceil(width * scale * (height * scale) / per_token);
    return (uint64_t)fmin(tokens, max);
}

static uint64_t tokens_by_tiles(const maki_image_rule *rule, double width, double height)
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

static uint64_t tokens_by_patches(const maki_image_rule *rule, double width, double height)
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

static uint64_t tokens_by_gemini(double width, double height)
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
    case MAKI_IMAGE_AREA: return tokens_by_area(width, height);
    case MAKI_IMAGE_TILES: return low_detail ? rule->base : tokens_by_tiles(rule, width, height);
    case MAKI_IMAGE_PATCHES: return tokens_by_patches(rule, width, height);
    case MAKI_IMAGE_GEMINI: return tokens_by_gemini(width, height);
    }
    return 0;
}

/* ---- base64 ------------------------------------------------------------------------------------------ */

static int base64_digit(int c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+' || c == '-') return 62;
    if (c == '/' || c == '_') return 63;
    return -1;
}

/* The next character, its escape decoded, or -1 at the end. */
static int next_char(maki_base64 *r)
{
    size_t len = 1;
    if (!r->escaped.len) return -1;
    uint32_t c = (unsigned char)r->escaped.ptr[0];
    if (c == '\\') c = maki_json_escape_code(r->escaped, &len);
    r->escaped = maki_str_skip(r->escaped, len);
    return (int)c;
}

maki_base64 maki_base64_of(maki_str escaped)
{
    maki_base64 all = { .escaped = escaped }, r = all;
    for (const char *scheme = "data:"; *scheme; scheme++)
        if (next_char(&r) != *scheme) return all;
    for (int c = 0; c >= 0 && c != ',';)
        c = next_char(&r);
    return r;
}

double maki_base64_size(maki_str escaped)
{
    return (double)maki_json_utf16_len(maki_base64_of(escaped).escaped) * 3 / 4;
}

/* The next byte, or -1. */
static int next_byte(maki_base64 *r)
{
    while (r->bit_count < 8) {
        int c = next_char(r), digit = base64_digit(c);
        if (c >= 0 && c <= ' ') continue;
        if (digit < 0) return -1;
        r->bits = r->bits << 6 | (uint32_t)digit;
        r->bit_count += 6;
    }
    r->bit_count -= 8;
    return (int)(r->bits >> r->bit_count & 0xFF);
}

size_t maki_base64_read(maki_base64 *r, unsigned char *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int byte = next_byte(r);
        if (byte < 0) return i;
        out[i] = (unsigned char)byte;
    }
    return n;
}

static bool skip_bytes(maki_base64 *r, size_t n)
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
static bool measure_jpeg(maki_base64 *r, maki_image_size *size)
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
        if (maki_base64_read(r, head, 2) < 2 || read_be16(head) < 2) return false;
        bool is_frame_header =
            marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
        if (!is_frame_header) {
            if (!skip_bytes(r, read_be16(head) - 2)) return false;
            continue;
        }
        return maki_base64_read(r, head, 5) == 5 &&
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

bool maki_image_measure(maki_str escaped, maki_image_size *size)
{
    unsigned char head[30] = { 0 };
    maki_base64 reader = maki_base64_of(escaped);
    *size = (maki_image_size){ 0 };
    size_t n = maki_base64_read(&reader, head, sizeof head);
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
        maki_base64 jpeg = maki_base64_of(escaped);
        return skip_bytes(&jpeg, 2) && measure_jpeg(&jpeg, size);
    }
    return false;
}

double maki_audio_seconds(maki_str escaped)
{
    const double mp3_rate = 16000; /* bytes a second */
    unsigned char head[32] = { 0 };
    maki_base64 reader = maki_base64_of(escaped);
    double bytes = maki_base64_size(escaped), rate = mp3_rate;
    size_t n = maki_base64_read(&reader, head, sizeof head);
    if (n == sizeof head && memcmp(head, "RIFF", 4) == 0 && memcmp(head + 8, "WAVE", 4) == 0 &&
        memcmp(head + 12, "fmt ", 4) == 0 && read_le32(head + 28) > 0) {
        rate = read_le32(head + 28);
    }
    return bytes / rate;
}
