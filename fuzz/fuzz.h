/* fuzz.h -- what the fuzz targets share: properties that abort, and chance drawn from the input. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A broken property is a bug: say which and end here, so that the fuzzer keeps the input. */
#define MUST(property)                                                             \
    do {                                                                           \
        if (!(property)) {                                                         \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #property); \
            abort();                                                               \
        }                                                                          \
    } while (0)

/* Numbers that depend on the input alone: the corpus stays plain text, a crash repeats itself. */
typedef struct fuzz_chance {
    uint64_t state;
} fuzz_chance;

static inline fuzz_chance fuzz_chance_of(const uint8_t *data, size_t size)
{
    fuzz_chance chance = { 14695981039346656037u };
    for (size_t i = 0; i < size; i++)
        chance.state = (chance.state ^ data[i]) * 1099511628211u;
    return chance;
}

static inline size_t fuzz_draw(fuzz_chance *chance, size_t below)
{
    chance->state = chance->state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(chance->state >> 33) % below;
}

#endif
