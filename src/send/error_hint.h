/* error_hint.h -- what an error tells besides its kind: how large the window is, how long to wait.
 *
 * Both stand in words for people or in corners of the error that differ from provider to provider.  A hint is what
 * they say, no more: whoever uses it checks whether it can be. */
#ifndef MAKI_SEND_ERROR_HINT_H
#define MAKI_SEND_ERROR_HINT_H

#include <stdint.h>

#include <maki/str.h>

/* The window in tokens, from the words of an error ("maximum context length is 8192 tokens") or its fields (`error` is
 * the object with them, or any other value).  0: it does not tell. */
uint64_t maki_error_hint_window(maki_str error, maki_str words);

/* When to try again, in ms: google.rpc.RetryInfo, OpenRouter's copy of the headers, "try again in 7s".  Below 0: it
 * does not tell. */
int64_t maki_error_hint_wait(maki_str error, maki_str words, int64_t now_ms);

#endif
