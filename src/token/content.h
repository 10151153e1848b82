/* content.h -- the tokens of a message by the engine's own rules, exact in one encoding.
 *
 *     text          its tokens
 *     reasoning     its text; encrypted reasoning by its length
 *     a call        its name, and its input as compact JSON (OpenAI: the text of the arguments)
 *     a result      its text or blocks
 *     image         by its size in pixels and the provider's rule (image.h)
 *     document      its text, also in base64 (text/...); pages are estimated from the length: 2,250 tokens for each 64 KB
 *     audio, video  10 tokens a second (OpenAI), 32 (Gemini), 263 (video), seconds from the length
 *     anything else its compact JSON: an overestimate is better than a request that does not fit
 *
 * and 4 tokens for the message itself.  Shapes: Anthropic, OpenAI (chat and responses), Gemini parts, Ollama.
 * Nothing is copied; memory does not grow with the message. */
#ifndef MAKI_TOKEN_CONTENT_H
#define MAKI_TOKEN_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/token.h>

#include "token/image.h"

enum { MAKI_PER_MESSAGE = 4 }; /* tokens of a message besides its content */

/* The tokens of a message: of JSON values that passed maki_json_check, len 0 if missing.  `t` NULL: an estimate, the
 * UTF-16 units of content and calls / 4. */
maki_status maki_count_message(maki_tokenizer *t, maki_str role, maki_str content,
                               maki_str tool_calls, uint64_t *tokens, maki_err *err)
    MAKI_MUST_CHECK;

/* The tokens of a message by kind of content. */
typedef struct maki_part_counts {
    uint64_t text, reasoning, calls, results, images, files;
    bool estimated; /* a size or length was unknown */
} maki_part_counts;
uint64_t maki_part_counts_sum(const maki_part_counts *parts);

typedef struct maki_content_rules {
    maki_tokenizer *tokenizer;
    const maki_image_rule *image; /* NULL: the provider's, recognized by the shape of the block */
} maki_content_rules;

/* Add to *parts, zeroed before the first call.  `content` is a string, an array of blocks, one block, or null. */
maki_status maki_count_content(const maki_content_rules *rules, maki_str content,
                               maki_part_counts *parts, maki_err *err) MAKI_MUST_CHECK;
/* `images` of an Ollama message: an array of base64.  Without a rule of the model they count as Anthropic's. */
void maki_count_images(const maki_content_rules *rules, maki_str images, maki_part_counts *parts);
/* `calls` is an OpenAI message's tool_calls. */
maki_status maki_count_calls(const maki_content_rules *rules, maki_str calls,
                             maki_part_counts *parts, maki_err *err) MAKI_MUST_CHECK;

#endif
