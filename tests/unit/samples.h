/* samples.h -- sample texts in many languages, for all tests. */
#ifndef MAKI_TESTS_SAMPLES_H
#define MAKI_TESTS_SAMPLES_H

#include <stdint.h>

#include <maki/str.h>

typedef struct sample {
    const char *name;
    maki_str text;  /* valid UTF-8 */
    uint64_t units; /* its length in UTF-16 units */
} sample;

extern const sample samples[];
extern const size_t sample_count;

#endif
