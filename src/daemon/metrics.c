/* metrics.c -- print the table of metrics in Prometheus' text format. */
#include "daemon/metrics.h"

#include <stdio.h>

maki_status maki_metrics_write(maki_metrics *metrics, maki_sink out, maki_err *err)
{
    const struct {
        const char *name, *kind, *help;
        uint64_t value;
    } rows[] = {
#define METRICS_ROW(name, kind, help) \
    { #name, kind, help, atomic_load_explicit(&metrics->name, memory_order_relaxed) },
        MAKI_METRICS_MAP(METRICS_ROW)
#undef METRICS_ROW
    };
    maki_status st = MAKI_OK;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && st == MAKI_OK; i++) {
        char text[400];
        int n = snprintf(text, sizeof text, "# HELP maki_%s %s\n# TYPE maki_%s %s\nmaki_%s %llu\n",
                         rows[i].name, rows[i].help, rows[i].name, rows[i].kind, rows[i].name,
                         (unsigned long long)rows[i].value);
        st = out.write(out.ctx, (maki_str){ text, (size_t)n }, err);
    }
    return st;
}
