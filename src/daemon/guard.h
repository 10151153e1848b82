/* guard.h -- which requests the daemon accepts.
 *
 * Any page in a browser can send requests to 127.0.0.1.  So the Host must be one of ours (a name that was made to
 * resolve to this address is not: DNS rebinding), and a page that sends a request must be our own or one that was
 * allowed by name.  When other machines can reach the daemon, every client needs the token as well. */
#ifndef MAKI_DAEMON_GUARD_H
#define MAKI_DAEMON_GUARD_H

#include "net/http_head.h"

enum { MAKI_GUARD_NAMES = 16 };

typedef struct maki_guard {
    const char *token; /* NULL: none is required */
    bool any_address;  /* bound to all addresses: any numeric Host is ours */
    /* besides localhost, 127.0.0.1 and [::1]; without a port */
    const char *hosts[MAKI_GUARD_NAMES];
    size_t host_count;
    const char *origins[MAKI_GUARD_NAMES]; /* "https://example.com": allowed besides our own */
    size_t origin_count;
} maki_guard;

typedef struct maki_guard_answer {
    int status; /* 0: accepted; else the HTTP status of the refusal */
    const char *type, *message;
} maki_guard_answer;

/* `path_token`: from /t/TOKEN/ in the path; len 0: none. */
maki_guard_answer maki_guard_check(const maki_guard *guard, const maki_http_head *head,
                                   maki_str path_token);

#endif
