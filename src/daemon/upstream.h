/* upstream.h -- where requests go: named servers, one line of configuration each.
 *
 *     openai=https://api.openai.com
 *     local=http://127.0.0.1:8000/v1 models=qwen*,llama-3*
 *
 * A request names one by its path (/u/NAME/...) or by x-maki-upstream; else by the model it asks for, when some line
 * has patterns; else the protocol's own. */
#ifndef MAKI_DAEMON_UPSTREAM_H
#define MAKI_DAEMON_UPSTREAM_H

#include <stdbool.h>

#include "base/buf.h"

enum { MAKI_UPSTREAMS_MAX = 32 };

typedef struct maki_upstream {
    char name[32];
    char origin[160]; /* "https://api.openai.com", without a path */
    char path[160];   /* what stands before every target: "" or "/v1", no slash at its end */
    char models[160]; /* patterns separated by commas; "": none */
} maki_upstream;

typedef struct maki_upstreams {
    maki_upstream rows[MAKI_UPSTREAMS_MAX];
    size_t count;
    bool by_model; /* some have patterns */
} maki_upstreams;

/* Add a line, or replace the one of that name. */
maki_status maki_upstreams_add(maki_upstreams *all, maki_str line, maki_err *err);

/* NULL: there is none. */
const maki_upstream *maki_upstream_named(const maki_upstreams *all, maki_str name);
const maki_upstream *maki_upstream_for_model(const maki_upstreams *all, maki_str model);

/* The target to ask for there: the base's path and the request's.  Where one ends as the other begins ("/v1"), it is
 * said once. */
void maki_upstream_target(const maki_upstream *upstream, maki_str target, maki_buf *out);

#endif
