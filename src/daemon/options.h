/* options.h -- the daemon's options: one table gives the command line, its help and the settings of
 * maki.yaml (config/settings.c has their defaults).  The command line overrides the file. */
#ifndef MAKI_DAEMON_OPTIONS_H
#define MAKI_DAEMON_OPTIONS_H

#include <maki/config.h>

#include "base/logger.h"
#include "daemon/guard.h"
#include "daemon/upstream.h"
#include "net/client.h"
#include "net/server.h"

enum { MAKI_LISTEN_MAX = 4 };

typedef struct maki_daemon_options {
    maki_config *config; /* the strings below are borrowed from it, or from the command line */
    const char *listen[MAKI_LISTEN_MAX];
    char ports[MAKI_LISTEN_MAX]
              [24]; /* those of `listen` that were given as a port of this machine */
    size_t listen_count;
    const char *home; /* NULL: $MAKI_HOME, $XDG_DATA_HOME/maki or ~/.local/share/maki */
    const char *token;
    int ready_fd; /* the address is written there when connections are accepted; -1: standard output */
    size_t descriptors; /* limit of the process; 0: unknown */
    uint32_t stop_ms;
    maki_level log_level;
    bool help, unit;
    maki_guard guard;
    maki_upstreams upstreams;
    maki_server_limits server;
    maki_client_limits client;
} maki_daemon_options;

/* The configuration, overridden by the command line; with --help nothing is read.  `env` and argv
 * are borrowed.  The caller ends it with maki_daemon_options_free(), also after a failure. */
maki_status maki_daemon_options_read(const maki_env *env, char *const *environment, int argc,
                                     char **argv, maki_daemon_options *out, maki_err *err)
    MAKI_MUST_CHECK;
void maki_daemon_options_free(maki_daemon_options *options);
void maki_daemon_options_help(maki_sink out);

#endif
