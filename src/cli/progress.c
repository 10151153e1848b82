/* progress.c -- progress bars on the terminal of standard error.
 *
 * A bar appears when the work has taken a second and is drawn at most five times a second, and once more at the end. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/platform.h"
#include "cli.h"

enum {
    CELLS = 40,
    HIDDEN_MAX = 2 << 20 /* remaining bytes that are counted too fast to show a bar */
};

void cli_progress_start(cli_progress *progress)
{
    *progress = (cli_progress){ .next_ms = maki_monotonic_ms() + 1000 };
}

static bool is_due(cli_progress *progress)
{
    int64_t now = maki_monotonic_ms();
    if (now < progress->next_ms) return false;
    progress->next_ms = now + 200;
    return true;
}

void cli_progress_show(cli_progress *progress, const char *label, uint64_t done, uint64_t total,
                       const char *detail)
{
    bool ended = progress->shown && total && done >= total;
    if (!isatty(STDERR_FILENO) || (!ended && !is_due(progress))) return;
    int percent = total && done < total ? (int)(done * 100 / total) : 100;
    fprintf(stderr, "\r  %s", label);
    if (total)
        fprintf(stderr, "[%-*.*s] %3d %%  ", CELLS, percent * CELLS / 100,
                "########################################", percent);
    fprintf(stderr, "%s ", detail);
    progress->shown = true;
}

void cli_progress_clear(cli_progress *progress)
{
    if (progress->shown) fprintf(stderr, "\r%79s\r", "");
    progress->shown = false;
}

static maki_status on_counting(void *ctx, uint64_t done, uint64_t total)
{
    if (done + HIDDEN_MAX >= total)
        cli_progress_clear(ctx);
    else
        cli_progress_show(ctx, "counting tokens ", done, total, "");
    return MAKI_OK;
}

void cli_progress_watch(maki *m, cli_progress *progress)
{
    cli_progress_start(progress);
    maki_set_progress(m, on_counting, progress);
}
