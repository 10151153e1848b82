/* status_bar.c -- format the status bar; over 100 % the bar is full, with an unknown window there is none. */
#include "chat/status_bar.h"

#include <math.h>
#include <stdio.h>

#include "base/str_util.h"
#include "base/text.h"

enum { CELLS = 8, CELL_BYTES = 3, MODEL_MAX = 100 };

static const char *grouped(double value, char out[MAKI_GROUPED_MAX])
{
    return maki_grouped(value < 1e15 ? (uint64_t)rint(value) : 1000000000000000u, out);
}

static double share_of(const maki_status_bar *bar)
{
    return bar->window > 0 ? bar->tokens / bar->window : 0;
}

maki_str maki_status_bar_text(const maki_status_bar *bar, char out[MAKI_STATUS_BAR_MAX])
{
    static const char full[] = "████████", empty[] = "░░░░░░░░";
    char tokens[MAKI_GROUPED_MAX], window[MAKI_GROUPED_MAX],
        cells_text[CELLS * CELL_BYTES + 2] = "", window_text[80] = "";
    double share = share_of(bar);
    int cells = share >= 1 ? CELLS : (int)(share * CELLS + 0.5);
    maki_str model = maki_utf8_truncate(maki_str_of(bar->model), MODEL_MAX);
    if (bar->window > 0) {
        snprintf(cells_text, sizeof cells_text, "%.*s%.*s ", cells * CELL_BYTES, full,
                 (CELLS - cells) * CELL_BYTES, empty);
        snprintf(window_text, sizeof window_text, " / %s tokens (%.0f %%)",
                 grouped(bar->window, window), share * 100);
    }
    int n = snprintf(out, MAKI_STATUS_BAR_MAX, "%s%s%s · %.0f message%s%s%.*s", cells_text,
                     grouped(bar->tokens, tokens), bar->window > 0 ? window_text : " tokens",
                     bar->messages, bar->messages == 1 ? "" : "s", model.len ? " · " : "",
                     MAKI_PRINTED(model));
    return (maki_str){ out, (size_t)n };
}

const char *maki_status_bar_colour(const maki_status_bar *bar)
{
    double share = share_of(bar);
    return share < 0.6 ? "\033[32m" : share < 0.85 ? "\033[33m" : "\033[31m";
}
