/* bench_peak.h -- how much memory this program held at most.
 *
 * VmHWM of /proc/self/status: the peak of all resident pages, shared code and mapped files included,
 * so an upper bound of the peak of RssAnon.  Not ru_maxrss: that starts from the memory of the program
 * that started this one, and would measure the interpreter of bench/run. */
#ifndef BENCH_PEAK_H
#define BENCH_PEAK_H

#include <stdio.h>

static inline unsigned long bench_peak_kb(void)
{
    unsigned long peak = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "VmHWM: %lu", &peak) == 1) break;
    }
    if (file) fclose(file);
    return peak;
}

#endif
