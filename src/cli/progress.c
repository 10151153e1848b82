/* progress.c -- how far a long count of tokens has come: on a terminal, once it has taken a second. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli.h"

enum { NEARLY = 2 << 20 }; /* bytes that are counted before anybody can read the bar */

static maki_status show(void *ctx, uint64_t done, uint64_t total)
{
    cli_watch *watch = ctx;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ms = (now.tv_sec - watch->began.tv_sec) * (int64_t)1000 +
                 (now.tv_nsec - watch->began.tv_nsec) / 1000000;
    if (done + NEARLY >= total) {
        if (watch->shown) fprintf(stderr, "\r%70s\r", "");
        watch->shown = false;
    } else if (ms > 1000) {
        int percent = (int)(done * 100 / total);
        fprintf(stderr, "\r  counting tokens [%-40.*s] %3d %% ", percent * 40 / 100,
                "########################################", percent);
        watch->shown = true;
    }
    return MAKI_OK;
}

void cli_watch_counting(maki *m, cli_watch *watch)
{
    watch->shown = false;
    clock_gettime(CLOCK_MONOTONIC, &watch->began);
    if (isatty(STDERR_FILENO)) maki_watch_counting(m, show, watch);
}
