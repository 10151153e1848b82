/* routes.h -- map a method and a path to what to do with the request, its protocol and its default upstream. */
#ifndef MAKI_DAEMON_ROUTES_H
#define MAKI_DAEMON_ROUTES_H

#include "wire/wire.h"

typedef enum maki_route_kind {
    MAKI_ROUTE_NONE,    /* unknown: 404 */
    MAKI_ROUTE_LOCAL,   /* answered by the daemon */
    MAKI_ROUTE_FORWARD, /* forwarded */
    MAKI_ROUTE_RECORD,  /* forwarded and recorded */
    MAKI_ROUTE_COUNT    /* a token count: forwarded; answered by the daemon when upstream cannot */
} maki_route_kind;

typedef struct maki_route {
    maki_route_kind kind;
    maki_protocol protocol;
    const char *upstream; /* the default; NULL when one was named */
    maki_str model;       /* the part of the path that names it (Gemini); len 0: none */
} maki_route;

/* `path` without the query.  `named`: the request names an upstream, so any path is forwarded, and a known one is
 * recognised by its end ("/openai/v1/chat/completions", "/chat/completions").  `anthropic`: the request has the field
 * anthropic-version, so that /v1/models is Anthropic's. */
maki_route maki_route_find(maki_str method, maki_str path, bool named, bool anthropic);

/* The error message for a path that was not found: a constant. */
const char *maki_route_hint(maki_str method, maki_str path);

/* The parts of a path: "/t/TOKEN" and "/u/NAME" in front are removed; len 0 when absent. */
typedef struct maki_route_path {
    maki_str token, upstream;
    maki_str target; /* the rest, with the query: begins with a slash */
    maki_str path;   /* without the query */
    maki_str query;  /* without the question mark */
} maki_route_path;
/* False: the target cannot be served ("*", "http://...", HOST:PORT). */
bool maki_route_split(maki_str target, maki_route_path *out);

#endif
