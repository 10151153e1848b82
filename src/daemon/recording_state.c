/* recording_state.c -- see recording_state.h. */
#include "daemon/recording_state.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/json_print.h"
#include "base/str.h"

enum {
    QUIET_MS = 60000, /* a failure of one kind is logged once in this time */
    ROOM = 1 << 20,   /* of the disk: what is less is as good as full */
    TOLD_MAX = 2048
};

void maki_recording_state_init(maki_recording_state *r)
{
    pthread_mutex_init(&r->lock, NULL);
    r->why = (maki_err){ .status = MAKI_OK };
    MAKI_COUNT_SET(r->metrics, recording, 1);
}

/* What keeps every exchange from being recorded, not just this one. */
static bool is_the_machine(maki_status status)
{
    return status == MAKI_FULL || status == MAKI_IO || status == MAKI_DENIED ||
           status == MAKI_NOMEM;
}

static void tell(maki_recording_state *r, bool on, const maki_err *why)
{
    maki_jw w;
    maki_buf json = maki_buf_new(r->env->alloc, TOLD_MAX);
    maki_jw_init(&w, maki_buf_sink(&json), NULL);
    maki_jw_print(&w, "{'type':'recording','on':%b,'why':%z}", on, on ? NULL : why->msg);
    if (maki_jw_end(&w) == MAKI_OK && r->tell) r->tell(r->tell_ctx, maki_buf_str(&json));
    maki_buf_free(&json);
}

static void turn(maki_recording_state *r, bool on, const maki_err *why)
{
    pthread_mutex_lock(&r->lock);
    r->why = on ? (maki_err){ .status = MAKI_OK } : *why;
    pthread_mutex_unlock(&r->lock);
    MAKI_COUNT_SET(r->metrics, recording, on);
    maki_kv values[] = { MAKI_KV_S("status", maki_str_of(maki_status_name(why->status))),
                         MAKI_KV_S("why", maki_str_of(why->msg)) };
    if (on)
        maki_log_event(r->logger, MAKI_INFO, "recording_on", NULL, 0);
    else
        maki_log_event(r->logger, MAKI_ERROR, "recording_off", values, 2);
    tell(r, on, why);
}

static void log_failure(maki_recording_state *r, const maki_err *err)
{
    int64_t now = r->env->clock->now_ms(r->env->clock);
    size_t kind = (size_t)err->status <= MAKI_CANCELLED ? (size_t)err->status : 0;
    if (r->told[kind] && now - r->told[kind] < QUIET_MS) return;
    r->told[kind] = now;
    maki_kv values[] = { MAKI_KV_S("status", maki_str_of(maki_status_name(err->status))),
                         MAKI_KV_S("why", maki_str_of(err->msg)) };
    maki_log_event(r->logger, MAKI_ERROR, "record_failed", values, 2);
}

void maki_recording_state_note(maki_recording_state *r, const maki_err *err)
{
    if (err->status != MAKI_OK) MAKI_COUNT(r->metrics, record_failures_total, 1);
    maki_recording_state_learn(r, err);
}

void maki_recording_state_learn(maki_recording_state *r, const maki_err *err)
{
    bool is_on = r->why.status == MAKI_OK; /* nobody else writes it */
    bool works = err->status == MAKI_OK;
    if (works && r->why.status == MAKI_FULL) {
        int64_t space = r->env->files->space(r->env->files, r->directory);
        if (space >= 0 && space < ROOM) return;
    }
    if (!works && !is_the_machine(err->status))
        log_failure(r, err);
    else if (works != is_on)
        turn(r, works, err);
}

bool maki_recording_state_is_on(maki_recording_state *r, maki_err *why)
{
    pthread_mutex_lock(&r->lock);
    *why = r->why;
    pthread_mutex_unlock(&r->lock);
    return why->status == MAKI_OK;
}
