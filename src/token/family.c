/* family.c -- the table of families and models, names to rows, and calibration.
 *
 * In:     a model's name as any provider writes it; samples of counted and reported tokens.
 * Out:    a row of the table; a scale and its error.
 * Always: an unknown name has the family `other`; a calibrated factor stays between factor_min and factor_max. */
#include "token/family.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/json_access.h"
#include "base/json_print.h"
#include "base/str_util.h"

/* ---- the table ------------------------------------------------------------------------------------ */

/* Factors and errors of gemini to cohere were measured: the published tokenizers against o200k_base on 96
 * documents of 16 KB (English, source code, JSON, Japanese, Chinese and others, in the proportions of the corpus); the
 * error is the 90th percentile.  (With cl100k_base as the base errors were 0.14 to 0.55.)
 *
 * Those of openai-cl100k and claude-2 are measured between the encodings on 109 such documents: cl100k_base
 * has 1.00 times the tokens in English and code, 1.29 in Japanese and Chinese, 1.48 in Korean; claude 1.0 (JSON) to
 * 1.17 (C), 1.30, 1.35 and 1.70.
 *
 * claude and claude-4.7: published figures are 16 % more than gpt-4o in English, 30 % in Python, and from 4.7 on 1.0 to
 * 1.35 times that.  The factors are 1.12 and 1.32 per token of the encoding `claude`, times its 1.15; the error combines
 * both. */
/* clang-format off */
#define TILES(base, tile) { MAKI_IMAGE_TILES, base, tile, 0 }
#define PATCHES(factor)   { MAKI_IMAGE_PATCHES, 0, 0, factor }
#define AREA              { MAKI_IMAGE_AREA, 0, 0, 0 }
#define GEMINI            { MAKI_IMAGE_GEMINI, 0, 0, 0 }
static const maki_family families[] = {
    /* name            encoding       factor error  message name reply tools  rule                 image */
    { "openai-o200k",  "o200k_base",  1.00,  0,     4, 1, 3, 0,   MAKI_TOOLS_LINES_7,  TILES(85, 170) },
    { "openai-cl100k", "cl100k_base", 1.10,  0.19,  4, 1, 3, 0,   MAKI_TOOLS_LINES_10, TILES(85, 170) },
    { "claude",        "o200k_base",  1.29,  0.28,  4, 0, 3, 346, MAKI_TOOLS_JSON,     AREA },
    { "claude-4.7",    "o200k_base",  1.52,  0.35,  4, 0, 3, 346, MAKI_TOOLS_JSON,     AREA },
    { "claude-2",      "claude",      1.15,  0.27,  4, 0, 3, 0,   MAKI_TOOLS_JSON,     AREA },
    { "gemini",        "o200k_base",  1.07,  0.28,  4, 0, 3, 0,   MAKI_TOOLS_JSON,     GEMINI },
    { "llama-3",       "o200k_base",  0.99,  0.05,  4, 0, 3, 0,   MAKI_TOOLS_JSON,     AREA },
    { "llama-2",       "o200k_base",  1.31,  0.10,  4, 0, 3, 0,   MAKI_TOOLS_JSON,     AREA },
    { "qwen",          "o200k_base",  1.00,  0.09,  4, 0, 3, 0,   MAKI_TOOLS_JSON,     AREA },
    { "mistral",       "o200k_base",  1.08,  0.10,  4, 0, 3, 0,   MAKI_TOOLS_JSON,     AREA },
    { "deepseek",      "o200k_base",  1.02,  0.13,  4, 0, 3, 0,   MAKI_TOOLS_JSON,     AREA },
    { "cohere",        "o200k_base",  1.06,  0.21,  4, 0, 3, 0,   MAKI_TOOLS_JSON,     AREA },
    { "other",         "o200k_base",  1.10,  0.30,  4, 0, 3, 0,   MAKI_TOOLS_JSON,     AREA },
};

/* The longest pattern that matches wins; * at its end matches anything. */
static const struct model_row {
    const char *patterns, *family;
    maki_image_rule image; /* if it differs from the family's */
    bool has_image;
} models[] = {
    { "gpt-5*", "openai-o200k", TILES(70, 140), true },
    { "gpt-5-mini*", "openai-o200k", PATCHES(1.62), true },
    { "gpt-5-nano*", "openai-o200k", PATCHES(2.46), true },
    { "gpt-4o*", "openai-o200k", TILES(85, 170), false },
    { "gpt-4o-mini*", "openai-o200k", TILES(2833, 5667), true },
    { "chatgpt-4o*|gpt-4.1*", "openai-o200k", TILES(85, 170), false },
    { "gpt-4.1-mini*", "openai-o200k", PATCHES(1.62), true },
    { "gpt-4.1-nano*", "openai-o200k", PATCHES(2.46), true },
    { "gpt-4.5*|gpt-oss*", "openai-o200k", TILES(85, 170), false },
    { "o1|o1-*|o3|o3-*|o4|o4-*", "openai-o200k", TILES(75, 150), true },
    { "o4-mini*", "openai-o200k", PATCHES(1.72), true },
    { "codex*", "openai-o200k", TILES(85, 170), false },
    { "computer-use-preview*", "openai-o200k", TILES(65, 129), true },
    { "o200k_base", "openai-o200k", TILES(85, 170), false },
    { "gpt-4|gpt-4-*|gpt-3.5*|gpt-35*|text-embedding-3*|text-embedding-ada-002*|"
      "davinci-002*|babbage-002*|cl100k_base", "openai-cl100k", TILES(85, 170), false },
    { "claude*", "claude", AREA, false },
    { "claude-opus-4-7*|claude-opus-4.7*|claude-opus-4-8*|claude-opus-4.8*|claude-opus-5*|"
      "claude-sonnet-5*|claude-haiku-5*", "claude-4.7", AREA, false },
    { "claude-1*|claude-2*|claude-v1*|claude-v2*|claude-instant*", "claude-2", AREA, false },
    { "gemini*|gemma*|palm*", "gemini", GEMINI, false },
    { "llama*|meta-llama*", "llama-3", AREA, false },
    { "llama-2*|llama2*|meta-llama-2*|codellama*|tinyllama*|vicuna*|mistral-7b*|mixtral*",
      "llama-2", AREA, false },
    { "qwen*|qwq*|qvq*", "qwen", AREA, false },
    { "mistral*|ministral*|magistral*|devstral*|codestral*|pixtral*|open-mistral*",
      "mistral", AREA, false },
    { "deepseek*", "deepseek", AREA, false },
    { "command*|c4ai*|aya*", "cohere", AREA, false },
    { "kimi*|moonshot*|glm*", "other", AREA, false },
    { "grok*", "other", TILES(85, 170), true },
};
/* clang-format on */

enum { FAMILIES = sizeof families / sizeof families[0], MODELS = sizeof models / sizeof models[0] };

const maki_family *maki_family_at(size_t i)
{
    return i < FAMILIES ? &families[i] : NULL;
}

const maki_family *maki_family_find(maki_str name)
{
    for (size_t i = 0; i < FAMILIES; i++) {
        if (maki_str_equal(name, maki_str_of(families[i].name))) return &families[i];
    }
    return NULL;
}

const maki_family *maki_family_of_encoding(const maki_encoding *encoding)
{
    maki_str name = maki_str_of(maki_encoding_name(encoding));
    for (size_t i = 0; i < FAMILIES; i++) {
        bool exact = maki_family_exact(&families[i]);
        if (exact && maki_str_equal(name, maki_str_of(families[i].encoding))) return &families[i];
    }
    return &families[FAMILIES - 1];
}

bool maki_family_exact(const maki_family *family)
{
    return family->error == 0 || strcmp(family->encoding, "o200k_base") != 0;
}

bool maki_family_pattern(const maki_family *family, size_t i, maki_str *out)
{
    for (size_t k = 0; k < MODELS; k++) {
        const char *patterns = models[k].patterns;
        while (strcmp(models[k].family, family->name) == 0 && maki_words_next(&patterns, out)) {
            if (i-- == 0) return true;
        }
    }
    return false;
}

/* ---- names ------------------------------------------------------------------------------------------ */

maki_str maki_model_own_name(maki_str model)
{
    const char *slash = maki_str_last(model, '/');
    if (slash) model = maki_str_skip(model, (size_t)(slash + 1 - model.ptr));
    if (model.len > 3 && strncasecmp(model.ptr, "ft:", 3) == 0) model = maki_str_skip(model, 3);
    size_t start = 0;
    for (size_t i = 0; i + 1 < model.len && !strchr("-:0123456789", model.ptr[i]); i++)
        if (model.ptr[i] == '.') start = i + 1;
    return maki_str_skip(model, start);
}

static const struct model_row *find_model_row(maki_str model)
{
    const struct model_row *best = NULL;
    maki_str name = maki_model_own_name(model), pattern;
    size_t best_len = 0;
    for (size_t i = 0; i < MODELS; i++) {
        for (const char *patterns = models[i].patterns; maki_words_next(&patterns, &pattern);) {
            if (pattern.len < best_len || !maki_str_glob(pattern, name, true)) continue;
            best = &models[i];
            best_len = pattern.len;
        }
    }
    return best;
}

const maki_family *maki_family_of(maki_str model)
{
    const struct model_row *row = find_model_row(model);
    return row ? maki_family_find(maki_str_of(row->family)) : &families[FAMILIES - 1];
}

const maki_image_rule *maki_image_rule_of(maki_str model)
{
    const struct model_row *row = find_model_row(model);
    return row && row->has_image ? &row->image : &maki_family_of(model)->image;
}

/* ---- calibration ------------------------------------------------------------------------------------- */

static const double factor_min = 0.2, factor_max = 5;
static const double error_first = 0.1; /* until there are two samples */
static const double error_min = 0.01;

/* Round to the six decimals that are stored, so that writing and reading a calibration does not change it. */
static double round_stored(double value)
{
    return round(value * 1e6) / 1e6;
}

bool maki_calibration_add(maki_calibration *state, const maki_family *family, double counted,
                          double reported)
{
    const double weight_min = 0.1;  /* of a new sample, so that a change has an effect */
    const double half_weight = 500; /* a request of this many tokens has half the weight */
    double ratio = reported / counted;
    if (!(counted >= 1) || !(reported >= 1) || !isfinite(ratio)) return false;
    if (ratio < factor_min || ratio > factor_max) return false;
    double factor = maki_family_scale(family, state);
    double error = maki_family_error(family, state);
    if (error < error_min) error = error_min;
    if (state->samples >= 3) { /* limit an outlier */
        double max_deviation = fmax(3 * error, 0.05) * factor;
        ratio = fmin(fmax(ratio, factor - max_deviation), factor + max_deviation);
    }
    double weight = fmax(1 / (double)(state->samples + 1), weight_min);
    weight *= counted / (counted + half_weight);
    double deviation = fabs(ratio - factor) / factor;
    if (state->samples == 0) deviation = error = error_first;
    state->factor = round_stored(factor + weight * (ratio - factor));
    state->error = round_stored(fmax(error + weight * (deviation - error), error_min));
    state->samples++;
    return true;
}

double maki_family_scale(const maki_family *family, const maki_calibration *state)
{
    return state && state->samples ? state->factor : family->factor;
}

double maki_family_error(const maki_family *family, const maki_calibration *state)
{
    return state && state->samples ? state->error : family->error;
}

double maki_scaled_tokens(double counted, double scale)
{
    return ceil(counted * scale - 1e-6) + 0.0; /* 100 at 1.1 are 110; -0 becomes 0 */
}

double maki_family_text_scale(const maki_family *family, const maki_calibration *state)
{
    bool calibrated = state && state->samples;
    return !calibrated && maki_family_exact(family) ? 1 : maki_family_scale(family, state);
}

double maki_family_text_error(const maki_family *family, const maki_calibration *state)
{
    bool calibrated = state && state->samples;
    return !calibrated && maki_family_exact(family) ? 0 : maki_family_error(family, state);
}

static bool number_in(maki_str object, const char *name, double min, double max, double *out)
{
    *out = maki_json_number(object, name, NAN);
    return *out >= min && *out <= max;
}

bool maki_calibration_parse(maki_str json, maki_calibration *out)
{
    double samples = 0;
    maki_calibration state = { 0 };
    if (!number_in(json, "factor", factor_min, factor_max, &state.factor) ||
        !number_in(json, "error", 0, factor_max, &state.error) ||
        !number_in(json, "samples", 0, 1e15, &samples))
        return false;
    state.samples = (uint64_t)samples;
    *out = state;
    return true;
}

void maki_calibration_write(maki_jw *w, const maki_calibration *state)
{
    maki_jw_print(w, "{'factor':%f,'error':%f,'samples':%i}", state->factor, state->error,
                  state->samples);
}
