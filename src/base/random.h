/* random.h -- random ids. */
#ifndef MAKI_BASE_RANDOM_H
#define MAKI_BASE_RANDOM_H

#include <maki/env.h>

enum { MAKI_UUID_LEN = 36 };

/* A random UUID (version 4) in lower case, NUL-terminated. */
maki_status maki_uuid(const maki_random *random, char out[MAKI_UUID_LEN + 1], maki_err *err);

#endif
