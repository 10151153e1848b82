/* fake_server.h -- the HTTP handler of the fake provider: parse requests, record them, send the replies of their
 * scenarios. */
#ifndef MAKI_FAKE_FAKE_SERVER_H
#define MAKI_FAKE_FAKE_SERVER_H

#include "base/buf.h"
#include "fake/fake_record.h"
#include "fake/scenario.h"
#include "net/server.h"

enum {
    FAKE_PROTOCOLS_MAX = 16, /* greater than the number of protocols */
    FAKE_COUNTERS_MAX = 64   /* scenarios with `first` that are counted */
};

typedef struct fake_provider {
    const maki_env *env;
    struct event_base *base;
    fake_scenario scenario; /* the default */
    fake_record record;
    /* cached quick replies; len 0: not yet formatted */
    maki_buf quick[FAKE_PROTOCOLS_MAX];
    struct fake_scenario_counter {
        char scenario[96];
        uint64_t count;
    } counters[FAKE_COUNTERS_MAX]; /* how often a scenario with `first` was used */
} fake_provider;

void fake_provider_end(fake_provider *provider); /* frees the quick replies */

/* The callbacks for the server; `provider` must outlive it. */
maki_server_callbacks fake_provider_calls(fake_provider *provider);

#endif
