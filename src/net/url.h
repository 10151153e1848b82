/* url.h -- parse the base URL of a server into origin and path; recognise loopback addresses. */
#ifndef MAKI_NET_URL_H
#define MAKI_NET_URL_H

#include <stdbool.h>

#include <maki/str.h>

typedef struct maki_url {
    maki_str origin; /* "https://api.example.com:8443" */
    maki_str path;   /* "" or "/openai/v1": no slash at its end */
} maki_url;

/* False unless it is http or https, without a password, a query or invalid characters.  Spans point into `url`. */
bool maki_url_parse(maki_str url, maki_url *out);

/* Is it this machine: localhost, 127.x.y.z, [::1]? */
bool maki_url_is_loopback(maki_str origin);

#endif
