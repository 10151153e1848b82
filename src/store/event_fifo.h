/* event_fifo.h -- the FIFO in the state directory by which any process sends an event to the daemon that uses it.
 *
 * The daemon creates it, reads lines of JSON from it and forwards them to /maki/events (daemon/event_fifo_reader.h).  A
 * process that writes needs no address and no token, and never waits: without a daemon the event is lost. */
#ifndef MAKI_STORE_EVENT_FIFO_H
#define MAKI_STORE_EVENT_FIFO_H

#include "base/buf.h"

#define MAKI_EVENT_FIFO "serve.events"

enum {
    MAKI_EVENT_MAX = 4096
}; /* with its newline; what POSIX writes into a FIFO at once (PIPE_BUF, on Linux) */

/* The event of a run that starts: {"type":"managing", "session", "reason", "tokens", "window", "usage"}. */
void maki_managing_event(maki_buf *out, maki_str session, const char *reason, double tokens,
                         double window);

/* Send one JSON object; failures are ignored. */
void maki_event_fifo_send(const maki_env *env, const char *home, maki_str json);

#endif
