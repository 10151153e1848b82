/* guest.h -- what the daemon does with a request: whoever answers it keeps one of these as its first member. */
#ifndef MAKI_DAEMON_GUEST_H
#define MAKI_DAEMON_GUEST_H

#include "net/server.h"

typedef struct maki_guest maki_guest;

/* As the server calls them (server.h). */
typedef struct maki_guest_calls {
    void (*on_body)(maki_guest *guest, maki_conn *conn, maki_str bytes);
    void (*on_body_end)(maki_guest *guest, maki_conn *conn);
    void (*on_drained)(maki_guest *guest, maki_conn *conn);
    void (*on_gone)(maki_guest *guest, maki_conn *conn, maki_status why);
} maki_guest_calls;

struct maki_guest {
    const maki_guest_calls *calls;
};

#endif
