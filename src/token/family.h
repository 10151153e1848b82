/* family.h -- which vocabulary counts for a model, and how well.
 *
 * A vocabulary (o200k_base, cl100k_base, claude) is exact for the models that were made with it and
 * never changes.  Other models are counted in the nearest vocabulary and multiplied by a factor; the
 * family states how far off that may be.  Factors are defaults, measured on the corpus of this project
 * with the tokenizers that the makers publish; `maki_calibration` replaces them by what the `usage` of
 * real replies says.  Everything here is pure. */
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
    const char *encoding; /* the vocabulary it is counted in */
    double factor;        /* tokens of the model for one of the vocabulary */
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
/* The family of a vocabulary: itself, exact. */
const maki_family *maki_family_of_encoding(const maki_encoding *encoding);
/* The i-th name pattern of a family ("gpt-4o*"), NULL after the last. */
const char *maki_family_pattern(const maki_family *family, size_t i);

/* ---- calibration --------------------------------------------------------------------------------- */

/* What the replies of one model taught.  Zeroed: nothing yet. */
typedef struct maki_calibration {
    double factor;
    double error;     /* the usual distance from the factor, as a share */
    uint64_t samples; /* how many replies */
} maki_calibration;

/* A reply said that what we counted as `counted` (before any factor) was `reported` tokens.  Newer
 * replies weigh more, short requests less, and one that is far off only a little: a provider may have
 * added something that we do not see.  What cannot be true is passed over: answers false. */
bool maki_calibration_add(maki_calibration *state, const maki_family *family, double counted,
                          double reported);
/* The factor and error to use: of the calibration once it has samples, else of the family. */
double maki_calibration_factor(const maki_calibration *state, const maki_family *family);
double maki_calibration_error(const maki_calibration *state, const maki_family *family);

/* {"factor", "error", "samples"}, as it is kept for each model; false when it is not that. */
bool maki_calibration_parse(maki_str json, maki_calibration *out);
void maki_calibration_write(maki_jw *w, const maki_calibration *state);

#endif
