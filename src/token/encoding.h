/* encoding.h -- an encoding: its table, its scanner and its special tokens. */
#ifndef MAKI_TOKEN_ENCODING_H
#define MAKI_TOKEN_ENCODING_H

#include <maki/token.h>

#include "token/scan.h"

typedef struct maki_special {
    const char *text;
    uint32_t id;
} maki_special;

struct maki_encoding {
    const char *name;
    const maki_table *table;
    maki_scan_fn *scan, *scan_avx2;
    const maki_special *special; /* ends with text NULL */
};

/* The longest special token that begins at `at`, where `remaining` bytes may be read; NULL: none. */
const maki_special *maki_special_at(const maki_encoding *encoding, const char *at,
                                    size_t remaining);

#endif
