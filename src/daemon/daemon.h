/* daemon.h -- maki serve: its threads and how they are connected.
 *
 *     loop      sockets: clients (net/server), upstreams (net/client); its only files are spools of large bodies
 *     recorder  conversations (daemon/recorder)      syncer     fdatasync (daemon/syncer)
 *     api       requests that the daemon answers itself (daemon/api)
 *
 * Each thread owns its objects; they exchange items through queues. */
#ifndef MAKI_DAEMON_DAEMON_H
#define MAKI_DAEMON_DAEMON_H

#include "daemon/options.h"

typedef struct maki_daemon maki_daemon;

/* On MAKI_OK connections are accepted; the caller ends it with maki_daemon_close().  `options` and `logger` are
 * borrowed until then. */
maki_status maki_daemon_open(const maki_env *env, const maki_daemon_options *options,
                             const maki_logger *logger, maki_daemon **out, maki_err *err)
    MAKI_MUST_CHECK;
/* "http://127.0.0.1:4747", valid as long as the daemon. */
const char *maki_daemon_address(const maki_daemon *daemon);
/* Runs until SIGTERM or SIGINT, then finishes the requests in progress; a second signal, or stop_ms, ends it at once. */
void maki_daemon_run(maki_daemon *daemon);
void maki_daemon_close(maki_daemon *daemon); /* accepts NULL */

#endif
