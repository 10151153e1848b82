/* scenario.h -- how the fake provider is told what to do.
 *
 * A mood is a word, or several joined by commas.  It stands in the header `x-fake`, in the last thing the
 * user said after `fake:`, or on the command line as the default; the first of these that is there
 * counts.
 *
 *     text                 say something: the default
 *     think                the same, with reasoning before it
 *     say:TEXT             say that; percent-encoded, so that it is one word
 *     stop:WORD            why it stopped, in place of the usual (OpenAI's chat only)
 *     tool:NAME {...}      call that tool with these arguments; once it answered, say something
 *     agent PATH           call whichever offered tool reads a file, to read PATH
 *     slow:MS              that long before each event
 *     chunk:N              so many bytes at a time, wherever that cuts
 *     cut:N                close the connection after N bytes of the body
 *     huge:BYTES           go on for about that many bytes
 *     429  500  overflow   an error, as this provider words it
 *     busy  key  forbidden  nomodel  quota   others; key and forbidden quote the key that was shown
 *     window:N             the error overflow, with N in its words, when a request has more tokens than that
 *     words:TEXT           with an error: its words, percent-encoded
 *     after:TEXT           with an error: its Retry-After, percent-encoded ("never": without); afterms:TEXT its
 *                          retry-after-ms, reset:TEXT x-ratelimit-reset, again:TEXT x-should-retry, delay:TEXT what
 *                          Gemini has in the body, id:TEXT its request-id, whatever bytes
 *     fail:N               the error `busy` in a stream, after N events
 *     hold:N               after N events of a stream nothing more, and no end
 *     first:N              all this for the first N requests in these very words; then just text
 *     garbage              bytes that are neither JSON nor events
 *     long  short          a Content-Length that promises more, or less, than comes
 *     silent               never answer
 *     quick                a fixed answer made before; the request is not looked at (for benches)
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
    FAKE_BAD_REQUEST, /* the request is wrong: no mood */
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
    uint64_t cut;   /* with cuts */
    uint64_t huge;  /* 0: not */
    uint64_t chunk; /* 0: as it comes */
    bool has_fail;
    uint64_t fail; /* with fails */
    bool has_hold;
    uint64_t hold;       /* with holds */
    uint64_t first;      /* 0: always */
    uint64_t window;     /* 0: any */
    maki_str error_text; /* of an error, percent-encoded; len 0: the provider's own */
    maki_str retry_after, retry_after_ms; /* percent-encoded; len 0: the usual */
    maki_str ratelimit_reset, should_retry, retry_delay;
    maki_str stop, request_id; /* len 0: the usual */
    maki_str say;              /* percent-encoded; len 0: what the fake provider thinks of itself */
    maki_str tool;             /* FAKE_TOOL: its name */
    maki_str arguments;        /* FAKE_TOOL: an object; FAKE_AGENT: the path */
} fake_scenario;

/* Read a mood.  Spans point into `words`.  False: a word of it is unknown (*unknown tells which), or
 * what should be an object is none. */
bool fake_scenario_read(maki_str words, fake_scenario *out, maki_str *unknown);
/* The mood in what a user said: what follows `fake:`.  len 0: there is none. */
maki_str fake_scenario_find(maki_str said);

#endif
