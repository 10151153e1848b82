/* json_reference.h -- RFC 8259 once more, slow and obvious, to compare json_scan with. */
#ifndef FUZZ_JSON_REFERENCE_H
#define FUZZ_JSON_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct json_reference {
    enum { REFERENCE_OK, REFERENCE_WRONG, REFERENCE_DEEP } result;
    size_t at; /* unless it is OK: the byte at which the text can no longer become right */
} json_reference;

/* One value, or with `sequence` any number of them, a line each. */
json_reference json_reference_check(const uint8_t *text, size_t size, bool sequence,
                                    unsigned max_depth);

#endif
