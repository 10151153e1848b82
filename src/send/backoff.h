/* backoff.h -- how long to wait before a retry: exponential backoff with full jitter, or what the provider asks for. */
#ifndef MAKI_SEND_BACKOFF_H
#define MAKI_SEND_BACKOFF_H

#include <maki/env.h>

enum {
    MAKI_BACKOFF_FIRST = 500,            /* ms: the maximum before the first retry ... */
    MAKI_BACKOFF_MAX = 8000,             /* ... doubles with each retry, up to this */
    MAKI_BACKOFF_RETRY_AFTER_MAX = 60000 /* with a longer Retry-After there is no retry */
};

/* The backoff before retry `nth` (from 0): random from 0 to a maximum that doubles ("full jitter"), so that clients that
 * were refused together do not return together. */
maki_status maki_backoff_random(const maki_random *random, unsigned nth, uint32_t *ms,
                                maki_err *err);

/* The headers Retry-After (`after`: seconds or an HTTP date) and retry-after-ms (`after_ms`, which wins), in ms from now;
 * len 0: missing.  Below 0: neither is valid. */
int64_t maki_backoff_parse_retry_after(maki_str after, maki_str after_ms, int64_t now_ms);

/* The duration at the beginning of `text`, in ms: "7s", "1.898s.", "6m0s", "350ms", "20 seconds".  Below 0: none. */
int64_t maki_backoff_parse_duration(maki_str text);

/* x-ratelimit-reset, in ms from now: a time in seconds or milliseconds since 1970, a duration, or seconds. */
int64_t maki_backoff_parse_reset(maki_str text, int64_t now_ms);

#endif
