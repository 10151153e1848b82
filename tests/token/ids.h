/* ids.h -- lists of tokens for the tests: made in every way the library offers, compared and shown. */
#ifndef MAKI_TESTS_IDS_H
#define MAKI_TESTS_IDS_H

#include <maki/token.h>

#include "tap.h"

/* Zeroed is empty.  Out of memory ends the program. */
typedef struct id_list {
    uint32_t *ids;
    size_t count, capacity;
} id_list;

void ids_add(id_list *list, const uint32_t *more, size_t n);
void ids_free(id_list *list);
bool ids_same(const id_list *a, const id_list *b);

/* Replace what `out` had. */
void ids_encode(id_list *out, maki_tokenizer *tokenizer, maki_str text);
/* The same, in parts of random length, each in memory of its own; gives what the stream counted. */
uint64_t ids_encode_parts(id_list *out, maki_tokenizer *tokenizer, maki_str text,
                          tap_random *random);
uint64_t ids_count_parts(maki_tokenizer *tokenizer, maki_str text, tap_random *random);
/* Does decoding give this text? */
bool ids_decode_to(const maki_encoding *encoding, const id_list *list, maki_str text);

/* Remarks in TAP: where the lists part, the text there, and the tokens on both sides. */
void ids_show_difference(const maki_encoding *encoding, const char *how, maki_str text,
                         const id_list *want, const id_list *have);

#endif
