/* session_watch.h -- sessions that any process changes, as events {"type": "changed", "agent", "session"} for /maki/events.
 *
 * The directories agents/AGENT/sessions are watched, not their files, and only while somebody listens.  All changes
 * of one session in a fifth of a second are one event.  After too many at once there is one without `session`: any session may
 * have changed.  Where the system cannot watch directories, there are no such events. */
#ifndef MAKI_DAEMON_SESSION_WATCH_H
#define MAKI_DAEMON_SESSION_WATCH_H

#include "daemon/broadcast.h"

typedef struct maki_session_watch maki_session_watch;

/* Watches while `broadcast` has listeners (maki_broadcast_watch). */
maki_status maki_session_watch_open(const maki_env *env, struct event_base *base, const char *home,
                                    maki_broadcast *broadcast, maki_session_watch **out,
                                    maki_err *err) MAKI_MUST_CHECK;
/* After maki_broadcast_end; before maki_broadcast_close.  Accepts NULL. */
void maki_session_watch_close(maki_session_watch *watch);

#endif
