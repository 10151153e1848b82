/* status_bar.h -- the status bar under the prompt: tokens and share of the context window, messages, model.
 *
 *     ███░░░░░ 71,234 / 200,000 tokens (36 %) · 42 messages · claude-sonnet-4-5 */
#ifndef MAKI_CHAT_STATUS_BAR_H
#define MAKI_CHAT_STATUS_BAR_H

#include <stdbool.h>

#include <maki/str.h>

enum { MAKI_STATUS_BAR_MAX = 300 };

/* Of the current view: the same figures as /status and the end of a turn. */
typedef struct maki_status_bar {
    double tokens, window; /* window 0: unknown, the share is omitted */
    double messages;       /* in view */
    const char *model;     /* truncated to 100 bytes */
    bool known;
} maki_status_bar;

/* The text is borrowed from `out`. */
maki_str maki_status_bar_text(const maki_status_bar *bar, char out[MAKI_STATUS_BAR_MAX]);
/* An escape sequence: green, yellow from 60 %, red from 85 %. */
const char *maki_status_bar_colour(const maki_status_bar *bar);

#endif
