/* metrics.h -- counters and gauges of the daemon, in the text format of Prometheus.
 *
 * Any thread updates them, atomically; nothing here blocks.  No label contains data of a client. */
#ifndef MAKI_DAEMON_METRICS_H
#define MAKI_DAEMON_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

#include <maki/env.h>

/* clang-format off */
#define MAKI_METRICS_MAP(X)                                                                                     \
    /* name                      kind       description                                                     */ \
    X(requests_total,            "counter", "requests received")                                                \
    X(local_requests_total,      "counter", "of these, answered by the daemon")                                 \
    X(refused_total,             "counter", "requests refused for their host, origin or token")                 \
    X(exchanges_total,           "counter", "requests forwarded and recorded")                                  \
    X(passed_total,              "counter", "requests forwarded without recording")                             \
    X(open_exchanges,            "gauge",   "requests in progress")                                             \
    X(open_connections,          "gauge",   "connections of clients")                                           \
    X(event_listeners,           "gauge",   "clients that listen to events")                                    \
    X(client_gone_total,         "counter", "clients that disconnected before the end of the response")            \
    X(upstream_failures_total,   "counter", "requests without a complete response from upstream")                  \
    X(record_failures_total,     "counter", "exchanges that could not be recorded completely")                  \
    X(recording,                 "gauge",   "1 while exchanges are recorded, 0 while the machine cannot")       \
    X(unrecorded_total,          "counter", "exchanges answered before their request was complete: not recorded")\
    X(request_bytes_total,       "counter", "bytes of bodies from clients")                                     \
    X(reply_bytes_total,         "counter", "bytes of bodies from upstream")                                    \
    X(first_byte_ms_total,       "counter", "from the end of a request to the response's head, total")             \
    X(first_byte_count_total,    "counter", "responses in that sum")                                              \
    X(accept_failures_total,     "counter", "times no connection could be accepted")
/* clang-format on */

typedef struct maki_metrics {
#define MAKI_METRICS_FIELD(name, kind, help) _Atomic uint64_t name;
    MAKI_METRICS_MAP(MAKI_METRICS_FIELD)
#undef MAKI_METRICS_FIELD
} maki_metrics;

#define MAKI_COUNT(metrics, name, n) \
    atomic_fetch_add_explicit(&(metrics)->name, (uint64_t)(n), memory_order_relaxed)
#define MAKI_COUNT_DOWN(metrics, name) \
    atomic_fetch_sub_explicit(&(metrics)->name, 1, memory_order_relaxed)
#define MAKI_COUNTED(metrics, name) atomic_load_explicit(&(metrics)->name, memory_order_relaxed)
#define MAKI_COUNT_SET(metrics, name, n) \
    atomic_store_explicit(&(metrics)->name, (uint64_t)(n), memory_order_relaxed)

/* All of them as Prometheus reads them ("maki_requests_total 12"). */
maki_status maki_metrics_write(maki_metrics *metrics, maki_sink out, maki_err *err);

#endif
