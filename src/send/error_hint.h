/* error_hint.h -- extract numbers from the error of a provider: the context window, the retry delay.
 *
 * They are in the message, or in fields that differ from provider to provider.  The caller checks whether a number is
 * plausible. */
#ifndef MAKI_SEND_ERROR_HINT_H
#define MAKI_SEND_ERROR_HINT_H

#include <stdint.h>

#include <maki/str.h>

/* The window in tokens, from the message of an error ("maximum context length is 8192 tokens") or from its fields (`error`:
 * the object with them, or any other value).  0: not given. */
uint64_t maki_error_hint_window(maki_str error, maki_str message);

/* The retry delay in ms: google.rpc.RetryInfo, OpenRouter's copy of the headers, "try again in 7s".  Below 0: not given. */
int64_t maki_error_hint_retry_delay(maki_str error, maki_str message, int64_t now_ms);

#endif
