/* synthetic.h -- the messages that Maki writes itself, as JSON in an arena, and the fixed texts in them. */
#ifndef MAKI_HISTORY_SYNTHETIC_H
#define MAKI_HISTORY_SYNTHETIC_H

#include "base/arena.h"
#include "base/str_util.h"

#include <maki/env.h>

/* The reasoning block before the text of a summary: some providers want reasoning before every tool call. */
#define MAKI_SUMMARY_REASONING \
    "Condensing conversation context. The summary captures key information."
/* Replaces an image in the input of a summarizer. */
#define MAKI_IMAGE_PLACEHOLDER "[An image stood here]"
/* Before the text of a summary that is a system message. */
#define MAKI_SYSTEM_SUMMARY_PREFIX "[Previous conversation summary]\n"

/* The marker of a truncation: "[Truncation: N messages hidden]".  `id` is a JSON string. */
maki_status maki_synthetic_marker(size_t hidden, maki_str id, double ts, maki_arena *arena,
                                  maki_str *json, maki_err *err);

/* A summary: reasoning, the blocks in `reasoning`, the text, the blocks in `calls`. */
typedef struct maki_summary_parts {
    maki_str text; /* not escaped */
    const maki_str *reasoning;
    size_t reasoning_count;
    const maki_str *calls;
    size_t call_count;
    maki_str id; /* a JSON string */
    double ts;
} maki_summary_parts;
maki_status maki_synthetic_summary(const maki_summary_parts *parts, maki_arena *arena,
                                   maki_str *json, maki_err *err);

/* A message {role, content} of plain text. */
maki_status maki_synthetic_text(maki_str role, maki_str text, maki_arena *arena, maki_str *json,
                                maki_err *err);

/* A random id as a JSON string in the arena. */
maki_status maki_synthetic_id(const maki_random *random, maki_arena *arena, maki_str *id,
                              maki_err *err);

#endif
