/* measure.c -- see measure.h. */
#include "summary/measure.h"

#include "base/buf.h"
#include "base/json_write.h"
#include "base/str.h"
#include "base/text.h"
#include "summary/probe.h"

enum { WORKING_MOST = 16 << 20, FACT_SHOWN = 120 /* bytes of a fact that is told by name */ };

/* ---- looking at what is read -------------------------------------------------------------------------- */

/* A summariser may stop, and read from the beginning again (another one after a failure): every message is
 * looked at once, the first time it comes by. */
typedef struct watcher {
    const maki_summary_request *request;
    maki_prober *prober;
    uint64_t seen;
} watcher;

typedef struct pass {
    watcher *w;
    uint64_t at; /* messages so far in this pass */
    maki_message_fn fn;
    void *ctx;
} pass;

static maki_status look(void *ctx, maki_str json, maki_err *err)
{
    pass *p = ctx;
    if (p->at++ == p->w->seen) {
        maki_prober_add(p->w->prober, json);
        p->w->seen++;
    }
    return p->fn ? p->fn(p->ctx, json, err) : MAKI_OK;
}

static maki_status each(const void *source, maki_message_fn fn, void *ctx, maki_err *err)
{
    watcher *w = *(watcher *const *)source;
    pass p = { .w = w, .fn = fn, .ctx = ctx };
    return w->request->each(w->request->source, look, &p, err);
}

/* ---- telling ------------------------------------------------------------------------------------------ */

static void name_one(maki_buf *list, maki_str text)
{
    char room[FACT_SHOWN * 6 + 2]; /* as JSON every byte may become six */
    maki_buf one = { .ptr = room, .room = sizeof room, .max = sizeof room };
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(&one), NULL);
    maki_jw_string(&w, maki_utf8_cut(text, FACT_SHOWN));
    if (maki_jw_end(&w) != MAKI_OK || list->len + one.len + 1 > list->max) return;
    if (list->len) maki_buf_add_byte(list, ',');
    maki_buf_add(list, maki_buf_str(&one));
}

/* What hurts most first: what is broken, what is to be done, where. */
static void tell(const maki_probed *probed, maki_survey *out)
{
    static const maki_fact order[] = { MAKI_FACT_ERROR, MAKI_FACT_TASK, MAKI_FACT_PATH,
                                       MAKI_FACT_NAME, MAKI_FACT_NUMBER };
    maki_buf list = { .ptr = out->list, .room = sizeof out->list, .max = sizeof out->list };
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++) {
        for (size_t i = 0; i < probed->lost_listed; i++) {
            if (probed->lost_list[i].kind == order[k]) name_one(&list, probed->lost_list[i].text);
        }
    }
    out->list_len = list.len;
    out->kept = probed->kept_all;
    out->lost = probed->lost_all;
    out->measured = true;
}

static maki_status run(const maki_summarizer *self, const maki_summary_request *request,
                       maki_arena *arena, maki_summary *out, maki_err *err)
{
    const maki_summarizer *of = self->ctx;
    maki_arena working = maki_arena_new(arena->alloc, WORKING_MOST);
    watcher w = { .request = request };
    watcher *source = &w;
    maki_summary_request watched = *request;
    maki_probed probed;
    maki_status st = maki_prober_new(&working, &w.prober, err);
    watched.each = each;
    watched.source = &source;
    if (st == MAKI_OK) st = of->run(of, &watched, arena, out, err);
    if (st == MAKI_OK && !out->survey.measured) {
        st = each(&source, NULL, NULL, err); /* what was not read */
        if (st == MAKI_OK) st = maki_prober_judge(w.prober, out->text, &working, &probed, err);
        if (st == MAKI_OK) tell(&probed, &out->survey);
    }
    maki_arena_free(&working);
    return st;
}

maki_summarizer maki_summarizer_measured(const maki_summarizer *of)
{
    return (maki_summarizer){ .usable = of && of->usable, .run = run, .ctx = of };
}
