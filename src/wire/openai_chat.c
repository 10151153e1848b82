/* openai_chat.c -- OpenAI's chat completions, which many others speak too: messages are kept verbatim. */
#include "wire/read.h"

/* ---- requests ----------------------------------------------------------------------------------------- */

maki_status maki_chat_item(maki_reading *r, maki_str item, bool single)
{
    if (single) return maki_reading_wrong(r, "must stand in an array");
    return maki_reading_give(r, item);
}
