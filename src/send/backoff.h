/* backoff.h -- how long to wait before a request is sent again. */
#ifndef MAKI_SEND_BACKOFF_H
#define MAKI_SEND_BACKOFF_H

#include <maki/env.h>

enum {
    MAKI_BACKOFF_FIRST = 500,            /* ms: at most so long before the first retry ... */
    MAKI_BACKOFF_MAX = 8000,             /* ... twice that before the next, up to this */
    MAKI_BACKOFF_RETRY_AFTER_MAX = 60000 /* a provider that asks for more is not waited for */
};

/* Before retry `nth` (from 0): any time up to a bound that doubles.  The whole of it is left to chance ("full
 * jitter"), because many clients that were refused together should not come back together. */
maki_status maki_backoff_random(const maki_random *random, unsigned nth, uint32_t *ms,
                                maki_err *err);

/* What the provider asks for, in ms: `after` is its Retry-After (seconds or an HTTP date), `after_ms` its
 * retry-after-ms, which is more exact; len 0: it was not there.  Below 0: it asks for nothing we understand. */
int64_t maki_backoff_retry_after(maki_str after, maki_str after_ms, int64_t now_ms);

/* A span that `text` begins with, in ms: "7s", "1.898s.", "6m0s", "350ms", "20 seconds".  Below 0: it does not. */
int64_t maki_backoff_span(maki_str text);

/* x-ratelimit-reset, in ms from now: a moment in seconds or milliseconds since 1970, a span, or seconds. */
int64_t maki_backoff_reset(maki_str text, int64_t now_ms);

#endif
