/* turn_window.c -- windows that providers told when they found a request too long.
 *
 * What they tell is smaller than what we took the window to be, or it is not used: it only ever makes a window
 * smaller.  It refuses nothing by itself, since it may be wrong; whether a request fits is for the provider to say,
 * and a request that it took although it was larger proves the figure wrong.
 *
 * Kept for all sessions of a maki_turns, and in the session's own events (`manifest`, "window") for the next start. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "engine/turn_internal.h"

enum { LEAST = 1024 }; /* no model that anybody talks to has less */

static maki_reported_window *find(maki_turn_work *w)
{
    maki_turns *t = w->turns;
    for (size_t i = 0; i < MAKI_REPORTED_WINDOWS; i++) {
        maki_reported_window *kept = &t->told[i];
        if (kept->tokens > 0 && strcmp(kept->provider, t->provider.name) == 0 &&
            maki_str_is(w->model, maki_str_of(kept->model)))
            return kept;
    }
    return NULL;
}

static void keep(maki_turn_work *w, double tokens)
{
    maki_turns *t = w->turns;
    maki_reported_window *place = find(w);
    if (w->model.len >= sizeof place->model) return;
    if (!place)
        place = &t->told[t->told_count++ % MAKI_REPORTED_WINDOWS]; /* the oldest gives way */
    snprintf(place->provider, sizeof place->provider, "%s", t->provider.name);
    snprintf(place->model, sizeof place->model, "%.*s", (int)w->model.len, w->model.ptr);
    place->tokens = tokens;
}

static bool use(maki_turn_work *w, double tokens)
{
    if (tokens < LEAST || tokens >= w->figures.window) return false;
    w->figures.window = tokens;
    w->result->window = tokens;
    w->result->allowed = maki_run_limits_allowed(tokens, w->figures.max_tokens);
    return true;
}

void maki_turn_use_reported(maki_turn_work *w)
{
    const maki_reported_window *kept = find(w);
    w->window = w->figures.window;
    (void)use(w, kept ? kept->tokens : w->recalled);
}

void maki_turn_learn_window(maki_turn_work *w)
{
    double tokens = (double)w->result->sent.window;
    if (use(w, tokens)) keep(w, tokens);
}

void maki_turn_test_window(maki_turn_work *w)
{
    maki_reported_window *kept = find(w);
    if ((double)w->result->sent.usage.input <= w->figures.window) return;
    if (kept) kept->tokens = 0;
    w->figures.window = w->window;
    w->result->window = w->window;
    w->result->allowed = maki_run_limits_allowed(w->window, w->figures.max_tokens);
}
