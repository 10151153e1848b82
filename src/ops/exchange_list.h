/* exchange_list.h -- requests to a model, read from the events about them: manifest {"of":"exchange"}, usage,
 * provider_error (docs/internals/events.md). */
#ifndef MAKI_OPS_EXCHANGE_LIST_H
#define MAKI_OPS_EXCHANGE_LIST_H

#include "base/json_write.h"
#include "base/limits.h"
#include "log/log.h"

/* What a usage event says of a request. */
typedef struct maki_exchange_usage {
    bool known, has_cost;
    double input, output, cache_read, cache_write, reasoning, cost;
} maki_exchange_usage;

typedef struct maki_exchange_facts {
    uint64_t ev, at; /* of the manifest; at: the newest message then, of a reply its last */
    int64_t ts;
    int status; /* of HTTP; 0: no reply */
    char end[24];
    double first_ms, ms;
    char model[MAKI_MODEL_MAX];
    double system, tools, messages; /* tokens of the request's parts, as the index counts */
    uint64_t sent_to;               /* the last message that was sent; 0: unknown */
    maki_exchange_usage usage;
} maki_exchange_facts;

/* Is it the manifest of a request?  From its bytes: it is not parsed. */
bool maki_exchange_begins(maki_str row, const maki_event_head *head);
void maki_exchange_read_manifest(maki_str event, const maki_event_head *head,
                                 maki_exchange_facts *out);
/* One of a summary alone says nothing about an exchange: then *out is unchanged. */
void maki_exchange_read_usage(maki_str event, maki_exchange_usage *out);
/* Was a reply recorded, however it ended? */
bool maki_exchange_replied(const maki_exchange_facts *exchange);

/* The exchanges whose replies are messages [from, to] of the log: at[seq - from], ev 0 where there is none.  `at` has
 * to - from + 1 elements. */
maki_status maki_exchanges_of(maki_log *log, uint64_t from, uint64_t to, maki_exchange_facts *at,
                              maki_err *err);

/* {"ev", "ts", "status", "end", "firstMs", "ms", "model", "input", "output", "cacheRead", "cost"?} as the next value. */
void maki_put_exchange(maki_jw *out, const maki_exchange_facts *exchange);

#endif
