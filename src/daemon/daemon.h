/* daemon.h -- maki serve: everything that runs, put together.
 *
 *     loop     sockets: clients (net/server), upstreams (net/client); never a file but a large body's own
 *     engine   conversations (daemon/engine)        syncer      fdatasync (daemon/syncer)
 *     api      what is answered here (daemon/api)
 *
 * Each owns its things; what goes from one to another goes through a queue. */
#ifndef MAKI_DAEMON_DAEMON_H
#define MAKI_DAEMON_DAEMON_H

#include "daemon/options.h"

typedef struct maki_daemon maki_daemon;

/* On MAKI_OK connections are taken; the caller ends it with maki_daemon_close().  `options` and `logger` are
 * borrowed until then. */
maki_status maki_daemon_open(const maki_env *env, const maki_daemon_options *options,
                             const maki_logger *logger, maki_daemon **out, maki_err *err)
    MAKI_MUST_CHECK;
/* "http://127.0.0.1:4747", valid as long as the daemon. */
const char *maki_daemon_address(const maki_daemon *daemon);
/* Until SIGTERM or SIGINT, and what was running then is finished; a second signal, or the limit on that time, ends it at
 * once. */
void maki_daemon_run(maki_daemon *daemon);
void maki_daemon_close(maki_daemon *daemon); /* accepts NULL */

#endif
