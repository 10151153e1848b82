/* scenario.h -- how the fake provider replies to a request: the keywords, and their parser.
 *
 * A scenario is a keyword, or several joined by commas.  It is in the header `x-fake`, in the user's last text
 * after `fake:`, or on the command line as the default; the first of these applies.
 *
 *     text                 answer with text: the default
 *     think                the same, after reasoning
 *     say:TEXT             answer with TEXT; percent-encoded, so that it is one word
 *     stop:WORD            the finish_reason (OpenAI's chat only)
 *     cached:PERCENT       the usage says that so much of the request was read from the provider's cache
 *     tool:NAME {...}      call that tool with these arguments; after its result answer with text
 *     agent PATH           call the tool that reads files, with PATH
 *     slow:MS              delay before each event
 *     chunk:N              send N bytes at a time, wherever that splits
 *     cut:N                close the connection after N bytes of the body
 *     huge:BYTES           an answer of about that many bytes
 *     429  500  overflow   an error, as this provider sends it
 *     busy  key  forbidden  nomodel  quota   other errors; key and forbidden quote the API key
 *     window:N             the error overflow, with N in its message, when a request has more tokens than that
 *     words:TEXT           with an error: its message, percent-encoded
 *     after:TEXT           with an error: its Retry-After, percent-encoded ("never": without); afterms:TEXT its
 *                          retry-after-ms, reset:TEXT x-ratelimit-reset, again:TEXT x-should-retry, delay:TEXT what
 *                          Gemini has in the body, id:TEXT its request-id
 *     fail:N               the error `busy` in a stream, after N events
 *     hold:N               stop a stream after N events, without its end
 *     first:N              only for the first N requests with this same scenario; then text
 *     corrupt              bytes that are neither JSON nor events
 *     long  short          a Content-Length larger, or smaller, than the body
 *     silent               never reply
 *     quick                a fixed reply, independent of the request (for benchmarks)
 *     quickstream          the same as a stream */
#ifndef MAKI_FAKE_SCENARIO_H
#define MAKI_FAKE_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/str.h>

typedef enum fake_action {
    FAKE_TEXT,
    FAKE_TOOL,
    FAKE_AGENT,
    FAKE_RATE_LIMIT, /* from here to FAKE_BAD_REQUEST: an error */
    FAKE_SERVER_ERROR,
    FAKE_OVERFLOW,
    FAKE_BUSY,
    FAKE_KEY,
    FAKE_FORBIDDEN,
    FAKE_NO_MODEL,
    FAKE_QUOTA,
    FAKE_BAD_REQUEST, /* the request is invalid; not a scenario */
    FAKE_CORRUPT,
    FAKE_LONG,
    FAKE_SHORT,
    FAKE_SILENT,
    FAKE_QUICK,
    FAKE_QUICK_STREAM
} fake_action;

typedef struct fake_scenario {
    fake_action action;
    bool think;
    uint64_t slow_ms;
    bool has_cut;
    uint64_t cut;   /* with has_cut */
    uint64_t huge;  /* 0: off */
    uint64_t chunk; /* 0: everything */
    bool has_fail;
    uint64_t fail; /* with has_fail */
    bool has_hold;
    uint64_t hold;       /* with has_hold */
    uint64_t first;      /* 0: always */
    uint64_t cached;     /* percent, at most 100 */
    uint64_t window;     /* 0: any */
    maki_str error_text; /* of an error, percent-encoded; len 0: the provider's own */
    maki_str retry_after, retry_after_ms; /* percent-encoded; len 0: the default */
    maki_str ratelimit_reset, should_retry, retry_delay;
    maki_str stop, request_id; /* len 0: the default */
    maki_str say;              /* percent-encoded; len 0: the default answer */
    maki_str tool;             /* FAKE_TOOL: its name */
    maki_str arguments;        /* FAKE_TOOL: an object; FAKE_AGENT: the path */
} fake_scenario;

/* Parse a scenario.  Spans point into `text`.  False: a keyword is unknown (*unknown), or the arguments are not a
 * JSON object. */
bool fake_scenario_read(maki_str text, fake_scenario *out, maki_str *unknown);
/* The scenario in a user's text: what follows `fake:`.  len 0: none. */
maki_str fake_scenario_find(maki_str user_text);

#endif
