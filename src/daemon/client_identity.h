/* client_identity.h -- the conversation id, the name and the credential of a client, in the head of a request. */
#ifndef MAKI_DAEMON_CLIENT_IDENTITY_H
#define MAKI_DAEMON_CLIENT_IDENTITY_H

#include "net/http_head.h"

/* The conversation id that the client sent; len 0: none. */
maki_str maki_client_identity_id(const maki_http_head *head);
/* What people call the client ("Claude Code"), else the library it uses or the name in its User-Agent; letters, digits and
 * punctuation, valid as long as the head.  len 0: unknown. */
maki_str maki_client_identity_name(const maki_http_head *head);
/* The client's key for the provider: Authorization, x-api-key and the like, or ?key= in `query`; len 0: none.
 * To be hashed at once, never stored. */
maki_str maki_client_identity_credential(const maki_http_head *head, maki_str query);
/* A parameter of a query string ("limit=5&agent=proxy"), not decoded; len 0 when it is absent. */
maki_str maki_query_value(maki_str query, const char *name);

#endif
