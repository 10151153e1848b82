/* demo_managed.h -- the demo's fourth conversation: long, and kept within a small window by Maki itself. */
#ifndef MAKI_CLI_DEMO_MANAGED_H
#define MAKI_CLI_DEMO_MANAGED_H

#include "http.h"

/* Write it into the daemon by its operations, a new session each time.  Returns the HTTP status of the last request, or 0
 * and *err. */
int cli_demo_managed(const cli_url *daemon, maki_err *err);

#endif
