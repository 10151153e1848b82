/* status_bar.c -- see status_bar.h. */
#include "chat/status_bar.h"

#include <stdio.h>

#include "base/str.h"
#include "base/text.h"

enum { CELLS = 8, CELL_BYTES = 3, GROUPED_MAX = 32, MODEL_SHOWN = 100 };

/* 1234567 as "1,234,567". */
static const char *grouped(double value, char out[GROUPED_MAX])
{
    char digits[24];
    size_t n = (size_t)snprintf(digits, sizeof digits, "%.0f", value < 1e15 ? value : 1e15);
    char *at = out;
    for (size_t i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) *at++ = ',';
        *at++ = digits[i];
    }
    *at = '\0';
    return out;
}

static double share_of(const maki_status_bar *bar)
{
    return bar->window > 0 ? bar->tokens / bar->window : 0;
}

maki_str maki_status_bar_text(const maki_status_bar *bar, char out[MAKI_STATUS_BAR_MAX])
{
    static const char full[] = "████████", empty[] = "░░░░░░░░";
    char tokens[GROUPED_MAX], window[GROUPED_MAX], filled[GROUPED_MAX] = "", all[80] = "";
    double share = share_of(bar);
    int cells = share >= 1 ? CELLS : (int)(share * CELLS + 0.5);
    maki_str model = maki_utf8_truncate(maki_str_of(bar->model), MODEL_SHOWN);
    if (bar->window > 0) {
        snprintf(filled, sizeof filled, "%.*s%.*s ", cells * CELL_BYTES, full,
                 (CELLS - cells) * CELL_BYTES, empty);
        snprintf(all, sizeof all, " / %s tokens (%.0f %%)", grouped(bar->window, window),
                 share * 100);
    }
    int n = snprintf(out, MAKI_STATUS_BAR_MAX, "%s%s%s · %.0f message%s%s%.*s", filled,
                     grouped(bar->tokens, tokens), bar->window > 0 ? all : " tokens", bar->messages,
                     bar->messages == 1 ? "" : "s", model.len ? " · " : "", MAKI_PRINTED(model));
    return (maki_str){ out, (size_t)n };
}

const char *maki_status_bar_colour(const maki_status_bar *bar)
{
    double share = share_of(bar);
    return share < 0.6 ? "\033[32m" : share < 0.85 ? "\033[33m" : "\033[31m";
}
