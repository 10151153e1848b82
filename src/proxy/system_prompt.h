/* system_prompt.h -- the system prompt and the tools that come with every request.
 *
 * They are not part of a conversation's identity.  Each is stored once, as a file named by its SHA-256, and an
 * event `system` says from where on which of them were effective.  Lines that differ in every request (Claude
 * Code's billing line) do not count as a change. */
#ifndef MAKI_PROXY_SYSTEM_PROMPT_H
#define MAKI_PROXY_SYSTEM_PROMPT_H

#include "base/buf.h"
#include "proxy/live_conversation.h"
#include "wire/wire.h"

/* System prompt and tools of a request: JSON values, len 0: absent. */
typedef struct maki_system_fields {
    maki_str system;  /* the field */
    maki_str leading; /* system messages before the others, joined by commas */
    maki_str tools;
} maki_system_fields;

/* A hash of all bytes; and one without the lines that differ in every request. */
uint64_t maki_system_hash(const maki_system_fields *now, uint64_t leading_hash);
uint64_t maki_system_masked(const maki_system_fields *now);
/* The hash of the leading messages alone. */
uint64_t maki_leading_hash(maki_str leading);
/* The persona of the model: a hash of the first bytes of the system prompt; 0 without one.  The rest (the
 * date, the directory, the state of a repository) changes during a conversation. */
uint32_t maki_system_persona(const maki_system_fields *now);

/* Write both as blobs into `directory`, count them, and add the fields of the event. */
maki_status maki_system_store(const maki_env *env, const char *directory, maki_tokenizer *tokenizer,
                              const maki_system_fields *now, maki_system_hashes *seen,
                              maki_buf *fields, maki_err *err);

#endif
