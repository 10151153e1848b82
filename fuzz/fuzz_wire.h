/* fuzz_wire.h -- requests and replies of one protocol; fuzz_wire_NAME.c says which.
 *
 * The first byte: q a request, e a reply of events, l of lines, j in one piece; the rest is its bytes. */
#ifndef FUZZ_WIRE_H
#define FUZZ_WIRE_H

#include "fuzz.h"
#include "wire/wire.h"

void fuzz_wire(maki_protocol protocol, const uint8_t *data, size_t size);

#endif
