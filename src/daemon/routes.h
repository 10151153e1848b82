/* routes.h -- which paths are known, what is spoken there, and where it goes unless somebody says otherwise. */
#ifndef MAKI_DAEMON_ROUTES_H
#define MAKI_DAEMON_ROUTES_H

#include "wire/wire.h"

typedef enum maki_route_kind {
    MAKI_ROUTE_NONE,    /* unknown: 404 */
    MAKI_ROUTE_LOCAL,   /* answered here */
    MAKI_ROUTE_FORWARD, /* handed on */
    MAKI_ROUTE_RECORD,  /* handed on and recorded */
    MAKI_ROUTE_COUNT    /* handed on; answered here when upstream cannot */
} maki_route_kind;

typedef struct maki_route {
    maki_route_kind kind;
    maki_protocol protocol;
    const char *upstream; /* the default; NULL when another was chosen by name */
    maki_str model;       /* the part of the path that names it (Gemini); len 0: none */
} maki_route;

/* `path` without the query.  `chosen`: an upstream was named, so any path is handed on, and a known one is
 * recognised by its end ("/openai/v1/chat/completions", "/chat/completions").  `anthropic`: the request carries
 * anthropic-version, which tells whose /v1/models is meant. */
maki_route maki_route_find(maki_str method, maki_str path, bool chosen, bool anthropic);

/* A path in its parts: "/t/TOKEN" and "/u/NAME" in front are taken off; len 0 when they are not there. */
typedef struct maki_route_path {
    maki_str token, upstream;
    maki_str target; /* what is left, with the query: begins with a slash */
    maki_str path;   /* without */
    maki_str query;  /* without the question mark */
} maki_route_path;
/* False: the target is none that we can serve ("*", "http://...", a host and a port). */
bool maki_route_split(maki_str target, maki_route_path *out);

#endif
