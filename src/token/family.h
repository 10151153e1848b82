/* family.h -- families of models: how many of a model's tokens one token of o200k_base is, and the error of that estimate.
 *
 * Conversations are counted in o200k_base, once.  A model's tokens are that count times the factor of its family; the
 * family states the relative error.  Factors are defaults, measured with the published tokenizers; a maki_calibration
 * replaces them by what the `usage` of real replies reports.
 *
 * An encoding (o200k_base, cl100k_base, claude) is exact for its models: a caller that has the text counts in that encoding
 * and needs no factor.  Pure functions. */
#ifndef MAKI_TOKEN_FAMILY_H
#define MAKI_TOKEN_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/token.h>

#include "base/json_write.h"
#include "token/image.h"

/* The form in which a provider puts tool definitions into the prompt. */
typedef enum maki_tools_rule {
    MAKI_TOOLS_LINES_7,  /* OpenAI from gpt-4o on: a line for each function and argument */
    MAKI_TOOLS_LINES_10, /* OpenAI before that */
    MAKI_TOOLS_JSON      /* as JSON */
} maki_tools_rule;

typedef struct maki_family {
    const char *name;     /* "openai-o200k", "claude", "gemini" ... "other" */
    const char *encoding; /* to count a text in: the models' own where it is published */
    double factor;        /* tokens of the model per token of o200k_base */
    double error;         /* relative error on mixed text; 0: exact */
    uint32_t per_message; /* tokens of a message besides its content, role included */
    uint32_t per_name;    /* tokens when a message has a name */
    uint32_t per_reply;   /* start of the reply, once in a request */
    uint32_t per_tools;   /* once in a request with tools */
    maki_tools_rule tools;
    maki_image_rule image;
} maki_family;

/* The model's own name: after the last slash, after "ft:", after prefixes like "us.anthropic.".  A dot that is part of the
 * name follows a digit ("gpt-4.1"). */
maki_str maki_model_own_name(maki_str model);
/* The family of a model; never NULL.  Case and the prefixes of providers are ignored
 * ("openrouter/anthropic/claude-...", "us.anthropic.claude-...", "models/gemini-...", "ft:gpt-4o:..."). */
const maki_family *maki_family_of(maki_str model);
/* The image rule of a model: its own, or its family's. */
const maki_image_rule *maki_image_rule_of(maki_str model);

/* By index, from 0, NULL after the last; by name, or NULL. */
const maki_family *maki_family_at(size_t i);
const maki_family *maki_family_find(maki_str name);
/* Is its encoding that of its models? */
bool maki_family_exact(const maki_family *family);
/* The family whose models have this encoding. */
const maki_family *maki_family_of_encoding(const maki_encoding *encoding);
/* The i-th name pattern of a family ("gpt-4o*"); false after the last. */
bool maki_family_pattern(const maki_family *family, size_t i, maki_str *out);

/* ---- calibration --------------------------------------------------------------------------------- */

/* The factor and error of one model, from its replies.  Zeroed: no samples. */
typedef struct maki_calibration {
    double factor;
    double error;     /* mean relative deviation from the factor */
    uint64_t samples; /* replies */
} maki_calibration;

/* Add a sample: a request of `counted` tokens of o200k_base was `reported` tokens of the model.  Newer replies weigh more,
 * short requests less, and an outlier little: the provider may have added tokens of its own.  False: an implausible sample,
 * which is skipped. */
bool maki_calibration_add(maki_calibration *state, const maki_family *family, double counted,
                          double reported);
/* Tokens of the model per token of o200k_base, and the relative error: from the calibration once it has samples, else from
 * the family.  `state` may be NULL. */
double maki_family_scale(const maki_family *family, const maki_calibration *state);
double maki_family_error(const maki_family *family, const maki_calibration *state);
/* `counted` tokens of o200k_base at that scale, rounded up: the number that is shown, stored and compared. */
double maki_scaled_tokens(double counted, double scale);
/* The scale and the error of a text that was counted in the encoding of the family. */
double maki_family_text_scale(const maki_family *family, const maki_calibration *state);
double maki_family_text_error(const maki_family *family, const maki_calibration *state);

/* {"factor", "error", "samples"}, as stored for each model; false if it is not valid. */
bool maki_calibration_parse(maki_str json, maki_calibration *out);
void maki_calibration_write(maki_jw *w, const maki_calibration *state);

#endif
