/* turn_prepare.c -- the background thread that prepares a summary while the conversation goes on (manage/prepare.h).
 *
 * At most one thread at a time.  Its input is copied (maki_preparing), and it opens the session itself; until it is
 * joined the turn reads and writes only the two atomic flags. */
#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "base/thread.h"
#include "engine/turn_internal.h"
#include "manage/prepare.h"

static bool is_stopped(void *ctx)
{
    const maki_preparing *p = ctx;
    return atomic_load(&p->stop);
}

static void log_end(const maki_preparing *p, maki_status st, const maki_prepare_report *report,
                    const maki_err *err)
{
    const char *why = st != MAKI_OK ? err->code : report->fallback_reason.code;
    maki_kv values[] = { MAKI_KV_S("session", maki_str_of(p->path)),
                         MAKI_KV_I("event", report->event), MAKI_KV_N("cost", report->usage.cost),
                         MAKI_KV_S("reason", maki_str_of(why)) };
    maki_log_event(p->in.logger, MAKI_INFO, "prepare_done", values, why[0] ? 4 : 3);
}

static void *prepare(void *ctx)
{
    maki_preparing *p = ctx;
    maki_summarizer_choice summarizer;
    maki_prepare_report report = { 0 };
    maki_err err = { 0 };
    maki_status st = maki_summarizer_choose(&p->in, &by, &err);
    if (st == MAKI_OK) st = maki_prepare(p->in.env, p->path, p->keep, &by.measured, &report, &err);
    p->written = st == MAKI_OK && report.written;
    log_end(p, st, &report, &err);
    atomic_store(&p->done, true);
    return NULL;
}

bool maki_turns_wait(maki_turns *turns)
{
    maki_preparing *p = &turns->preparing;
    if (!p->running) return false;
    pthread_join(p->thread, NULL);
    p->running = false;
    return p->written;
}

void maki_turn_prepare_summary(maki_turn_state *w)
{
    maki_preparing *p = &w->turns->preparing;
    double percent = 100 * w->result->tokens / w->limits.window;
    if (p->running && atomic_load(&p->done)) (void)maki_turns_wait(w->turns);
    if (!w->options->background || p->running || w->summarizer.unusable.status != MAKI_OK ||
        !w->limits.automatic ||
        !maki_prepare_due(&w->summarizer.settings, percent, w->limits.threshold))
        return;
    p->keep = w->limits.keep ? w->limits.keep : MAKI_CONDENSE_KEEP;
    p->written = false;
    atomic_store(&p->stop, false);
    atomic_store(&p->done, false);
    memcpy(p->path, w->result->path, sizeof p->path);
    memcpy(p->agent, w->agent, sizeof p->agent);
    memcpy(p->profile, w->limits.profile, sizeof p->profile);
    memcpy(p->provider, w->result->provider, sizeof p->provider);
    memcpy(p->model, w->result->model, sizeof p->model);
    p->in = w->summarizer_options;
    p->in.agent = maki_str_of(p->agent);
    p->in.profile = maki_str_of(p->profile);
    p->in.provider = maki_str_of(p->provider);
    p->in.answering = maki_str_of(p->model);
    p->in.cancelled = is_stopped;
    p->in.cancelled_ctx = p;
    p->running = maki_thread_start(&p->thread, prepare, p);
    w->result->preparing = p->running;
}
