/* turn_window.c -- windows that providers reported in the error of a request that was too long.
 *
 * A reported window is only used when it is smaller than the known one.  It may be wrong, so no request is refused
 * because of it; a larger request that the provider accepts proves it wrong, and removes it.
 *
 * Stored for all sessions of a maki_turns, and in the session's own events (`manifest`, "window") for the next
 * start. */
#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "engine/turn_internal.h"

enum { TOKENS_MIN = 1024 }; /* no model in use has a smaller window */

static maki_reported_window *lookup(maki_turn_state *w)
{
    maki_turns *t = w->turns;
    for (size_t i = 0; i < MAKI_REPORTED_WINDOWS; i++) {
        maki_reported_window *entry = &t->reported[i];
        if (entry->tokens > 0 && strcmp(entry->provider, t->provider.name) == 0 &&
            maki_str_equal(w->model, maki_str_of(entry->model)))
            return entry;
    }
    return NULL;
}

static void insert(maki_turn_state *w, double tokens)
{
    maki_turns *t = w->turns;
    maki_reported_window *entry = lookup(w);
    if (w->model.len >= sizeof entry->model) return;
    if (!entry)
        entry =
            &t->reported[t->reported_count++ % MAKI_REPORTED_WINDOWS]; /* the oldest is evicted */
    snprintf(entry->provider, sizeof entry->provider, "%s", t->provider.name);
    snprintf(entry->model, sizeof entry->model, "%.*s", (int)w->model.len, w->model.ptr);
    entry->tokens = tokens;
}

static bool use_window(maki_turn_state *w, double tokens)
{
    if (tokens < TOKENS_MIN || tokens >= w->limits.window) return false;
    w->limits.window = tokens;
    w->result->window = tokens;
    w->result->allowed = maki_run_limits_allowed(tokens, w->limits.max_tokens);
    return true;
}

void maki_turn_use_reported(maki_turn_state *w)
{
    const maki_reported_window *entry = lookup(w);
    w->window = w->limits.window;
    (void)use_window(w, entry ? entry->tokens : w->reported_window);
}

void maki_turn_learn_window(maki_turn_state *w)
{
    double tokens = (double)w->result->sent.window;
    if (use_window(w, tokens)) insert(w, tokens);
}

void maki_turn_test_window(maki_turn_state *w)
{
    maki_reported_window *entry = lookup(w);
    if ((double)w->result->sent.usage.input <= w->limits.window) return;
    if (entry) entry->tokens = 0;
    w->limits.window = w->window;
    w->result->window = w->window;
    w->result->allowed = maki_run_limits_allowed(w->window, w->limits.max_tokens);
}
