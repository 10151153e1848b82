/* sender.h -- what the files of send/ share of a sender. */
#ifndef MAKI_SEND_SENDER_H
#define MAKI_SEND_SENDER_H

#include "send/send.h"

enum {
    MAKI_WINDOWS_KEPT = 8,
    MAKI_HEAD_MAX = 32 << 10, /* of a request */
    MAKI_TARGET_MAX = 2048
};

struct maki_sender {
    maki_send_options options;
    maki_provider provider;
    maki_link *link;
    struct maki_kept_window {
        char model[128];
        uint64_t tokens;
    } windows[MAKI_WINDOWS_KEPT]; /* what the provider told; the oldest gives way */
    size_t window_count;          /* that were ever kept */
};

/* Take back a head with its key. */
void maki_head_wipe(maki_buf *head);

#endif
