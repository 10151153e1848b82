/* upstream.h -- the servers that requests are forwarded to: a name, a URL and patterns of models each.
 *
 *     openai=https://api.openai.com
 *     local=http://127.0.0.1:8000/v1 models=qwen*,llama-3*
 *
 * A request names one by its path (/u/NAME/...) or by x-maki-upstream; else by its model, when some
 * upstream has patterns; else the protocol's default. */
#ifndef MAKI_DAEMON_UPSTREAM_H
#define MAKI_DAEMON_UPSTREAM_H

#include <stdbool.h>

#include "base/buf.h"

enum { MAKI_UPSTREAMS_MAX = 32 };

typedef struct maki_upstream {
    char name[32];
    char origin[160]; /* "https://api.openai.com", without a path */
    char path[160];   /* the prefix of every target: "" or "/v1", no slash at its end */
    char models[160]; /* patterns separated by commas; "": none */
} maki_upstream;

typedef struct maki_upstreams {
    maki_upstream rows[MAKI_UPSTREAMS_MAX];
    size_t count;
    bool by_model; /* one of them has patterns */
} maki_upstreams;

/* Parse a line and add it, or replace the upstream of that name. */
maki_status maki_upstreams_add(maki_upstreams *list, maki_str line, maki_err *err);

/* NULL: not found. */
const maki_upstream *maki_upstream_find(const maki_upstreams *list, maki_str name);
const maki_upstream *maki_upstream_for_model(const maki_upstreams *list, maki_str model);

/* The target of a request: the upstream's path and the request's.  Where one ends as the other begins ("/v1"), that part
 * is not repeated. */
void maki_upstream_target(const maki_upstream *upstream, maki_str target, maki_buf *out);

#endif
