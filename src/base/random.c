/* random.c -- random UUIDs: 16 random bytes, of which RFC 4122 fixes six bits. */
#include "base/random.h"

#include <stdio.h>

maki_status maki_uuid(const maki_random *random, char out[MAKI_UUID_LEN + 1], maki_err *err)
{
    unsigned char b[16];
    maki_status st = random->fill(random, b, sizeof b, err);
    if (st != MAKI_OK) return st;
    b[6] = (unsigned char)((b[6] & 0x0F) | 0x40); /* version 4 */
    b[8] = (unsigned char)((b[8] & 0x3F) | 0x80); /* the variant of RFC 4122 */
    snprintf(out, MAKI_UUID_LEN + 1,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
             b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
             b[15]);
    return MAKI_OK;
}
