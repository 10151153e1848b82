/* limit.c -- find the turn limit of a session, count its turns, and hide the oldest turns.
 *
 * Turns are counted from the newest message back, from the index; no message is read.  Another process that changes
 * the view between counting and hiding makes the write fail with MAKI_CONFLICT, and both are retried. */
#include "store/limit.h"

#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "history/facts.h"

enum { ATTEMPTS_MAX = 8 };

bool maki_session_from_channel(const maki_session *s)
{
    char prefix[MAKI_KEY_MAX];
    const char *rest = s->key;
    if (s->channel[0]) return true;
    if (strcmp(s->agent, "proxy") == 0) return false; /* with any key of a client */
    snprintf(prefix, sizeof prefix, "agent:%s:", s->agent);
    if (strncmp(rest, prefix, strlen(prefix)) != 0) return false;
    const char *colon = strchr(rest + strlen(prefix), ':');
    return colon && colon[1];
}

uint64_t maki_turn_limit(const maki_turn_limits *limits, bool channel)
{
    const double candidates[] = { limits->agent, channel ? limits->global : 0,
                                  channel ? limits->provider : 0, channel ? limits->user : 0 };
    double lowest = 0;
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        if (candidates[i] >= 1 && (lowest < 1 || candidates[i] < lowest)) lowest = candidates[i];
    }
    return (uint64_t)lowest;
}

/* ---- turns of a view ------------------------------------------------------------------------------- */

/* The state of counting turns in a view, newest message first. */
typedef struct turn_counter {
    uint64_t turns;    /* counted so far */
    uint64_t messages; /* so far */
    uint64_t stop_at;  /* turns */
    uint64_t
        keep; /* messages from the end of the view that contain `stop_at` turns; 0: there are fewer turns */
} turn_counter;

static bool is_turn_start(const maki_index_record *row)
{
    return (row->flags & MAKI_ROW_ROLE) == MAKI_ROLE_USER && !(row->flags & MAKI_ROW_ANSWERS);
}

static maki_status count_turns(const maki_view *view, turn_counter *w, maki_err *err)
{
    bool oldest_is_turn = false; /* the oldest message so far that is not a system message */
    for (size_t i = view->count; i > 0; i--) {
        const maki_view_item *item = &view->items[i - 1];
        if (item->from == 0) w->messages++;
        for (uint64_t n = item->to; item->from && n >= item->from; n--) {
            maki_index_record row;
            maki_status st = maki_log_row(item->log, n, &row, err);
            if (st != MAKI_OK) return st;
            w->messages++;
            if ((row.flags & MAKI_ROW_ROLE) == MAKI_ROLE_SYSTEM) continue;
            oldest_is_turn = is_turn_start(&row) && !maki_view_pinned(view, n);
            if (oldest_is_turn && ++w->turns == w->stop_at) w->keep = w->messages;
        }
    }
    if (!oldest_is_turn) return MAKI_OK;
    if (w->turns-- == w->stop_at) w->keep = 0; /* the first message does not count */
    return MAKI_OK;
}

static maki_status count_current_turns(maki_conv *conv, uint64_t stop_at, turn_counter *w,
                                       maki_err *err)
{
    const maki_view *view;
    *w = (turn_counter){ .stop_at = stop_at };
    maki_status st = maki_log_refresh(maki_conv_log(conv), err);
    if (st == MAKI_OK) st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    return st == MAKI_OK ? count_turns(view, w, err) : st;
}

/* Count the current view, and hide; MAKI_CONFLICT: another process changed it in between. */
static maki_status limit_once(maki_conv *conv, uint64_t limit, uint64_t remaining, bool preview,
                              maki_turn_limit_report *out, maki_err *err)
{
    unsigned char head[MAKI_CHAIN_LEN];
    turn_counter w;
    *out = (maki_turn_limit_report){ 0 };
    maki_status st = count_current_turns(conv, remaining, &w, err);
    if (st != MAKI_OK) return st;
    out->turns = out->left = w.turns;
    if (limit == 0 || w.turns <= limit) return MAKI_OK;
    out->left = remaining;
    if (preview) return MAKI_OK;
    memcpy(head, maki_log_head(maki_conv_log(conv)), sizeof head);
    st = maki_conv_keep_newest(conv, head, w.keep, &out->change, err);
    if (st == MAKI_OK) st = count_current_turns(conv, 0, &w, err);
    if (st == MAKI_OK) out->left = w.turns;
    return st;
}

maki_status maki_conv_limit_turns(maki_conv *conv, uint64_t limit, bool preview,
                                  maki_turn_limit_report *out, maki_err *err)
{
    uint64_t remaining = limit - (limit + 4) / 5; /* a fifth is hidden at once */
    maki_status st = MAKI_CONFLICT;
    for (int i = 0; st == MAKI_CONFLICT && i < ATTEMPTS_MAX; i++)
        st = limit_once(conv, limit, remaining ? remaining : 1, preview, out, err);
    return st;
}
