/* mask.h -- replace credentials in text that others wrote, before it is stored: providers quote them in errors. */
#ifndef MAKI_BASE_MASK_H
#define MAKI_BASE_MASK_H

#include "base/hash.h"

/* The credential of a request: its hash, so that the credential itself is not stored. */
typedef struct maki_credential {
    size_t len; /* 0: none */
    unsigned char hash[MAKI_SHA256_LEN];
} maki_credential;

/* `value` is the key, or a header's value with its scheme ("Bearer KEY"). */
maki_credential maki_credential_of(maki_str value);

/* Replace `credential` and whatever has the form of a key by ***, in place; returns the new length, at most `len`.  The
 * form of a key: a known prefix (sk-, ghp_, AIza, eyJ ...), or 20 letters and digits in a row. */
size_t maki_mask(char *text, size_t len, const maki_credential *credential);

#endif
