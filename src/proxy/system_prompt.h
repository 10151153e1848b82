/* system_prompt.h -- the system prompt and the tools that come with every request.
 *
 * They are no part of a conversation's identity.  They are kept once, as files named by their SHA-256, and an
 * event `system` says from when on which of them were in force.  Lines that differ in every request (Claude
 * Code's billing line) do not count as a change. */
#ifndef MAKI_PROXY_SYSTEM_PROMPT_H
#define MAKI_PROXY_SYSTEM_PROMPT_H

#include "base/buf.h"
#include "proxy/live_conversation.h"
#include "wire/wire.h"

/* What a request came with: JSON values, len 0 for what is not there. */
typedef struct maki_system_now {
    maki_str system;  /* the field */
    maki_str leading; /* system messages that stand before the others, joined by commas */
    maki_str tools;
} maki_system_now;

/* Of all its bytes; and without the lines that differ each time. */
uint64_t maki_system_hash(const maki_system_now *now, uint64_t leading_hash);
uint64_t maki_system_masked(const maki_system_now *now);
/* Of the leading messages alone. */
uint64_t maki_leading_hash(maki_str leading);
/* Who the model is told to be: a hash of the beginning of the system prompt; 0 without one.  What follows (the
 * date, the folder, the state of a repository) changes while a conversation goes on. */
uint32_t maki_system_persona(const maki_system_now *now);

/* Keep both as blobs in `folder`, count them, and make the fields of the event.  */
maki_status maki_system_keep(const maki_env *env, const char *directory, maki_tokenizer *tokenizer,
                             const maki_system_now *now, maki_system_seen *seen, maki_buf *fields,
                             maki_err *err);

#endif
