/* anthropic.c -- Anthropic's messages: kept verbatim. */
#include "wire/read.h"

/* ---- requests ----------------------------------------------------------------------------------------- */

maki_status maki_anthropic_item(maki_reading *r, maki_str item, bool single)
{
    if (single) return maki_reading_wrong(r, "must stand in an array");
    return maki_reading_give(r, item);
}
