/* fuzz_wire_gemini.c -- see fuzz_wire.h. */
#include "fuzz_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_wire(MAKI_WIRE_GEMINI, data, size);
    return 0;
}
