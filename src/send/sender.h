/* sender.h -- what the files of send/ share of a sender. */
#ifndef MAKI_SEND_SENDER_H
#define MAKI_SEND_SENDER_H

#include "send/send.h"

enum {
    MAKI_CACHED_WINDOWS = 8,
    MAKI_HEAD_MAX = 32 << 10, /* of a request */
    MAKI_TARGET_MAX = 2048
};

struct maki_sender {
    maki_send_options options;
    maki_provider provider;
    maki_blocking_client *link;
    struct maki_cached_window {
        char model[128];
        uint64_t tokens;
    } windows[MAKI_CACHED_WINDOWS]; /* what the provider told; the oldest gives way */
    size_t window_count;            /* that were ever kept */
};

/* Take back a head with its key. */
void maki_head_wipe(maki_buf *head);

#endif
