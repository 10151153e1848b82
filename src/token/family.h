/* family.h -- what a model makes of our tokens, and how well we know.
 *
 * Conversations are counted in o200k_base, once.  A model's tokens are those times the factor of its family;
 * the family states how far off that may be.  Factors are defaults, measured with the tokenizers that the
 * makers publish; `maki_calibration` replaces them by what the `usage` of real replies says.
 *
 * A vocabulary (o200k_base, cl100k_base, claude) is exact for the models that were made with it: who has the
 * text at hand counts in that one and needs no factor.  Everything here is pure. */
#ifndef MAKI_TOKEN_FAMILY_H
#define MAKI_TOKEN_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/token.h>

#include "base/json_write.h"
#include "token/image.h"

/* How a provider writes the definitions of tools into the prompt. */
typedef enum maki_tools_rule {
    MAKI_TOOLS_LINES_7,  /* OpenAI from gpt-4o on: a line for each function and argument */
    MAKI_TOOLS_LINES_10, /* OpenAI before that */
    MAKI_TOOLS_JSON      /* as JSON */
} maki_tools_rule;

typedef struct maki_family {
    const char *name;     /* "openai-o200k", "claude", "gemini" ... "other" */
    const char *encoding; /* a text is counted in it: the model's own vocabulary where we have it */
    double factor;        /* tokens of the model for one of o200k_base */
    double error;         /* the share it may be off on mixed text; 0: exact */
    uint32_t per_message; /* tokens around a message, its role included */
    uint32_t per_name;    /* one more when a message has a name */
    uint32_t per_reply;   /* the beginning of the reply, once a request */
    uint32_t per_tools;   /* once when there are tools */
    maki_tools_rule tools;
    maki_image_rule image;
} maki_family;

/* The family of a model; never NULL.  Case does not matter, nor does what providers put before a name
 * ("openrouter/anthropic/claude-...", "us.anthropic.claude-...", "models/gemini-...", "ft:gpt-4o:..."). */
const maki_family *maki_family_of(maki_str model);
/* How images count for it: by the family, or by the model where they differ inside of one. */
const maki_image_rule *maki_image_rule_of(maki_str model);

/* The families from 0, NULL after the last; and the one of that name, or NULL. */
const maki_family *maki_family_at(size_t i);
const maki_family *maki_family_named(maki_str name);
/* Its encoding is the vocabulary of its models. */
bool maki_family_exact(const maki_family *family);
/* The family of a vocabulary: itself, exact. */
const maki_family *maki_family_of_encoding(const maki_encoding *encoding);
/* The i-th name pattern of a family ("gpt-4o*"); false after the last. */
bool maki_family_pattern(const maki_family *family, size_t i, maki_str *out);

/* ---- calibration --------------------------------------------------------------------------------- */

/* What the replies of one model taught.  Zeroed: nothing yet. */
typedef struct maki_calibration {
    double factor;
    double error;     /* the usual distance from the factor, as a share */
    uint64_t samples; /* how many replies */
} maki_calibration;

/* A reply said that what we counted as `counted` (in o200k_base) was `reported` tokens.  Newer
 * replies weigh more, short requests less, and one that is far off only a little: a provider may have
 * added something that we do not see.  What cannot be true is passed over: answers false. */
bool maki_calibration_add(maki_calibration *state, const maki_family *family, double counted,
                          double reported);
/* Tokens of the model for one of o200k_base, and the share that may be off: by the calibration once it has
 * samples, else by the family.  `state` may be NULL. */
double maki_family_scale(const maki_family *family, const maki_calibration *state);
double maki_family_error(const maki_family *family, const maki_calibration *state);
/* `counted` tokens of o200k_base at that scale, as a whole number: what is shown, written and compared. */
double maki_scaled_tokens(double counted, double scale);
/* The same for a text that was counted in the family's own encoding. */
double maki_family_text_scale(const maki_family *family, const maki_calibration *state);
double maki_family_text_error(const maki_family *family, const maki_calibration *state);

/* {"factor", "error", "samples"}, as it is kept for each model; false when it is not that. */
bool maki_calibration_parse(maki_str json, maki_calibration *out);
void maki_calibration_write(maki_jw *w, const maki_calibration *state);

#endif
