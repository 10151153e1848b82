/* client_identity.h -- what a request's head tells about who sent it. */
#ifndef MAKI_DAEMON_CLIENT_IDENTITY_H
#define MAKI_DAEMON_CLIENT_IDENTITY_H

#include "net/http_head.h"

/* The id by which the client itself names the conversation; len 0: none. */
maki_str maki_client_identity_id(const maki_http_head *head);
/* The key it shows to the provider: Authorization, x-api-key and the like, or ?key= in `query`; len 0: none.
 * To be hashed at once, never to be kept. */
maki_str maki_client_identity_credential(const maki_http_head *head, maki_str query);
/* A parameter of a query string ("limit=5&agent=proxy"), as it stands; len 0 when it is not there. */
maki_str maki_query_value(maki_str query, const char *name);

#endif
