/* recording_state.c -- whether exchanges are recorded: set by the outcome of each, and reported when it changes.
 *
 * `err` alone is shared between threads, under the lock; the loop alone writes it.  A failure of the machine turns
 * recording off; a failure of one exchange is only logged, once a minute for each status. */
#include "daemon/recording_state.h"

#include "base/buf.h"
#include "base/json_print.h"
#include "base/str_util.h"

enum {
    LOG_INTERVAL_MS = 60000,  /* failures of one status are logged once in this interval */
    FREE_SPACE_MIN = 1 << 20, /* bytes; a disk with less counts as full */
    EVENT_MAX = 2048
};

void maki_recording_state_init(maki_recording_state *r)
{
    pthread_mutex_init(&r->lock, NULL);
    r->err = (maki_err){ .status = MAKI_OK };
    MAKI_COUNT_SET(r->metrics, recording, 1);
}

/* Failures that keep every exchange from being recorded, not just this one. */
static bool is_machine_failure(maki_status status)
{
    return status == MAKI_FULL || status == MAKI_IO || status == MAKI_DENIED ||
           status == MAKI_NOMEM;
}

static void emit_event(maki_recording_state *r, bool on, const maki_err *err)
{
    maki_jw w;
    maki_buf json = maki_buf_new(r->env->alloc, EVENT_MAX);
    maki_jw_init(&w, maki_buf_sink(&json), NULL);
    maki_jw_print(&w, "{'type':'recording','on':%b,'why':%z}", on, on ? NULL : err->msg);
    if (maki_jw_end(&w) == MAKI_OK && r->on_event)
        r->on_event(r->on_event_ctx, maki_buf_str(&json));
    maki_buf_free(&json);
}

static void set_on(maki_recording_state *r, bool on, const maki_err *err)
{
    pthread_mutex_lock(&r->lock);
    r->err = on ? (maki_err){ .status = MAKI_OK } : *err;
    pthread_mutex_unlock(&r->lock);
    MAKI_COUNT_SET(r->metrics, recording, on);
    maki_kv values[] = { MAKI_KV_S("status", maki_str_of(maki_status_name(err->status))),
                         MAKI_KV_S("why", maki_str_of(err->msg)) };
    if (on)
        maki_log_event(r->logger, MAKI_INFO, "recording_on", NULL, 0);
    else
        maki_log_event(r->logger, MAKI_ERROR, "recording_off", values, 2);
    emit_event(r, on, err);
}

static void log_failure(maki_recording_state *r, const maki_err *err)
{
    int64_t now = r->env->clock->now_ms(r->env->clock);
    size_t kind = (size_t)err->status <= MAKI_CANCELLED ? (size_t)err->status : 0;
    if (r->logged_ms[kind] && now - r->logged_ms[kind] < LOG_INTERVAL_MS) return;
    r->logged_ms[kind] = now;
    maki_kv values[] = { MAKI_KV_S("status", maki_str_of(maki_status_name(err->status))),
                         MAKI_KV_S("why", maki_str_of(err->msg)) };
    maki_log_event(r->logger, MAKI_ERROR, "record_failed", values, 2);
}

void maki_recording_state_count(maki_recording_state *r, const maki_err *err)
{
    if (err->status != MAKI_OK) MAKI_COUNT(r->metrics, record_failures_total, 1);
    maki_recording_state_update(r, err);
}

void maki_recording_state_update(maki_recording_state *r, const maki_err *err)
{
    bool is_on = r->err.status == MAKI_OK; /* only this thread writes it */
    bool recorded = err->status == MAKI_OK;
    if (!recorded) maki_last_failure_set(r->failure, "recording", "", err->msg);
    if (recorded && r->err.status == MAKI_FULL) {
        int64_t space = r->env->files->space(r->env->files, r->directory);
        if (space >= 0 && space < FREE_SPACE_MIN) return;
    }
    if (!recorded && !is_machine_failure(err->status))
        log_failure(r, err);
    else if (recorded != is_on)
        set_on(r, recorded, err);
}

bool maki_recording_state_is_on(maki_recording_state *r, maki_err *err)
{
    pthread_mutex_lock(&r->lock);
    *err = r->err;
    pthread_mutex_unlock(&r->lock);
    return err->status == MAKI_OK;
}
