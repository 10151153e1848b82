/* demo.h -- POST /maki/demo: plays `maki demo --once` into this daemon, one at a time.
 *
 * The command is the program `maki` in the directory of the daemon's own, or where an installation has it.  It gets the
 * daemon's address and state directory in its environment, where a token is not visible to other users.  Any thread may
 * start it; a thread of its own waits for its end. */
#ifndef MAKI_DAEMON_DEMO_H
#define MAKI_DAEMON_DEMO_H

#include <maki/env.h>

typedef struct maki_demo maki_demo;

/* Strings are borrowed and must live as long; `token` NULL: none is required. */
maki_status maki_demo_open(const maki_env *env, const char *home, const char *address,
                           const char *token, maki_demo **out, maki_err *err) MAKI_MUST_CHECK;
/* MAKI_CONFLICT: one is playing; MAKI_NOTFOUND: there is no such program. */
maki_status maki_demo_start(maki_demo *demo, maki_err *err);
/* Ends one that is playing.  Accepts NULL. */
void maki_demo_close(maki_demo *demo);

#endif
