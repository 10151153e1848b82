/* sender.h -- struct maki_sender: options, provider, connection, and a cache of context windows; private to send/. */
#ifndef MAKI_SEND_SENDER_H
#define MAKI_SEND_SENDER_H

#include "send/send.h"

enum {
    MAKI_CACHED_WINDOWS = 8,
    MAKI_HEAD_MAX = 32 << 10, /* bytes of the HTTP header of a request */
    MAKI_TARGET_MAX = 2048
};

struct maki_sender {
    maki_send_options options;
    maki_provider provider;
    maki_blocking_client *client;
    struct maki_cached_window {
        char model[128];
        uint64_t tokens;
    } windows[MAKI_CACHED_WINDOWS]; /* reported by the provider; the oldest is evicted */
    size_t window_count;            /* inserted in total, evicted ones included */
};

/* Add the URL and the HTTP headers, with the API key, to a request, and send it; `target` is freed. */
maki_status maki_sender_run(maki_sender *sender, maki_buf *target,
                            maki_blocking_client_request *request,
                            maki_blocking_client_result *result, maki_err *err);

#endif
