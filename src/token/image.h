/* image.h -- the tokens of an image, from its size in pixels by the published rule of the provider.
 *
 * Anthropic:      width * height / 750, scaled down to fit 1568 x 1568 pixels and 1,600 tokens.
 * OpenAI, tiles:  scaled into 2048 x 2048, then until the short side is 768 (never up); a base and
 *                 tokens for each tile of 512 x 512.  Low detail: the base.
 * OpenAI, patches: patches of 32 x 32, scaled down until they are at most 1,536; times a factor.
 * Gemini:         258 up to 384 x 384; else 258 for each tile.
 * Pure functions. */
#ifndef MAKI_TOKEN_IMAGE_H
#define MAKI_TOKEN_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/str.h>

typedef enum maki_image_kind {
    MAKI_IMAGE_AREA, /* Anthropic */
    MAKI_IMAGE_TILES,
    MAKI_IMAGE_PATCHES,
    MAKI_IMAGE_GEMINI
} maki_image_kind;

typedef struct maki_image_rule {
    maki_image_kind kind;
    uint32_t base, tile; /* of TILES */
    double factor;       /* of PATCHES */
} maki_image_rule;

extern const maki_image_rule maki_image_anthropic;
extern const maki_image_rule maki_image_openai; /* 85 and 170 a tile */
extern const maki_image_rule maki_image_gemini;

typedef struct maki_image_size {
    uint32_t width, height; /* 0: unknown */
} maki_image_size;

/* The tokens of an image.  An unknown size counts as MAKI_IMAGE_DEFAULT square. */
uint64_t maki_image_tokens(const maki_image_rule *rule, maki_image_size size, bool low_detail);
enum { MAKI_IMAGE_DEFAULT = 1024 };

/* The size in the header of a PNG, JPEG, GIF or WebP; false if it is none of them or truncated. */
bool maki_image_measure(maki_str escaped, maki_image_size *size);

/* The duration of audio in seconds: from the header of a WAV, else as of MP3 at 128 kbit/s. */
double maki_audio_seconds(maki_str escaped);

/* Decode base64 or a data URL.  `escaped`, also above, is what is between the quotes of a JSON string: escapes are decoded,
 * white space is skipped. */
typedef struct maki_base64 {
    maki_str escaped; /* remaining input */
    uint32_t bits;
    unsigned bit_count; /* in `bits`, not returned yet */
} maki_base64;
maki_base64 maki_base64_of(maki_str escaped);
/* The next `n` bytes, fewer at the end or before an invalid character. */
size_t maki_base64_read(maki_base64 *r, unsigned char *out, size_t n);
/* The length of the decoded bytes, from that of the text. */
double maki_base64_size(maki_str escaped);

#endif
