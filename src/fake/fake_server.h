/* fake_server.h -- the fake provider on its connections: who asks what, and how fast it is told. */
#ifndef MAKI_FAKE_FAKE_SERVER_H
#define MAKI_FAKE_FAKE_SERVER_H

#include "base/buf.h"
#include "fake/fake_record.h"
#include "fake/scenario.h"
#include "net/server.h"

enum {
    FAKE_PROTOCOLS_MAX = 16, /* protocols at most */
    FAKE_COUNTERS_MAX = 64   /* moods with `first` that are counted */
};

typedef struct fake_provider {
    const maki_env *env;
    struct event_base *base;
    fake_scenario scenario; /* unless the request says otherwise */
    fake_record record;
    /* quick answers, made when first asked for; zeroed: not yet */
    maki_buf quick[FAKE_PROTOCOLS_MAX];
    struct fake_scenario_counter {
        char scenario[96];
        uint64_t count;
    } counters[FAKE_COUNTERS_MAX]; /* how often a mood with `first` was asked for */
} fake_provider;

void fake_provider_end(fake_provider *provider); /* gives back what was made */

/* What the server calls; `provider` is borrowed as long as the server lives. */
maki_server_callbacks fake_provider_calls(fake_provider *provider);

#endif
