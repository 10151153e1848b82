/* scope.h -- a keyed hash (HMAC) of a client's identity, part of the key of its prefixes, so that two clients never
 * share a conversation.
 *
 * A scope is HMAC-SHA-256 of the client's credential and its ids of the conversation, with a
 * secret of this machine: the credential cannot be derived from it, and the same conversation with another key
 * is another one. */
#ifndef MAKI_PROXY_SCOPE_H
#define MAKI_PROXY_SCOPE_H

#include <maki/env.h>

#include "wire/canon.h"

enum { MAKI_SECRET_LEN = 32 };

/* The secret of this machine, created if missing (0600). */
maki_status maki_secret_read(const maki_env *env, const char *path,
                             unsigned char secret[MAKI_SECRET_LEN], maki_err *err);

/* The scope of these parts, which may be empty; their lengths are hashed too. */
maki_status maki_scope_of(const unsigned char secret[MAKI_SECRET_LEN], const maki_str *parts,
                          size_t count, unsigned char out[MAKI_PREFIX_LEN], maki_err *err);

#endif
