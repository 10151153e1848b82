/* random_steps.c -- random operations on a conversation, each with its checks; runs of the manager are in
 * managed_test.c. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/json_access.h"
#include "random_run.h"
#include "summary/offline.h"

static bool append_rows(run *r, model_row **rows, size_t count)
{
    maki_str json[8];
    maki_change c;
    maki_err err = { 0 };
    for (size_t i = 0; i < count; i++)
        json[i] = rows[i]->json;
    maki_status st = maki_conv_append(run_conv(r), NULL, json, count, &c, &err);
    run_trace(r, " -> %s\n", maki_status_name(st));
    MUST(st == MAKI_OK, "append: %s", err.msg);
    for (size_t i = 0; i < count; i++) {
        if (!run_take_row(r, rows[i])) return false;
    }
    MUST(c.seq == model_last(run_model(r)), "seq %llu", (unsigned long long)c.seq);
    return run_check_now(r);
}

/* Append what a client would: the results of open calls, or a new turn. */
bool run_append(run *r)
{
    model_row *rows[8];
    size_t n = 0;
    unsigned first = 0, waiting = model_pending(&r->view, &first);
    if (!waiting) {
        size_t kind = run_chance(r, 10);
        if (kind == 0)
            rows[n++] = row_plain(&r->maker, "system");
        else if (kind < 6)
            rows[n++] = row_plain(&r->maker, kind < 4 ? "user" : "assistant");
        if (kind >= 5) {
            rows[n] = row_call(&r->maker);
            first = rows[n]->call;
            waiting = rows[n++]->calls;
        }
    }
    size_t max = run_chance(r, 3) ? 8 : n + run_chance(r, 3); /* sometimes the rest comes later */
    while (waiting && n < max) {
        rows[n] = row_answer(&r->maker, first, waiting);
        first += rows[n]->answers;
        waiting -= rows[n++]->answers;
    }
    if (n == 0)
        rows[n++] = waiting ? row_answer(&r->maker, first, waiting) : row_plain(&r->maker, "user");
    run_trace(r, "append %zu, %u waiting", n, waiting);
    return append_rows(r, rows, n);
}

static bool do_bad_append(run *r)
{
    static const char *const bad[] = { "{\"role\":1}", "[]", "{\"role\":\"user\"", "" };
    model_row *row = row_call(&r->maker);
    maki_str json[2] = { row->json, maki_str_of(bad[run_chance(r, COUNT(bad))]) };
    maki_change c;
    maki_err err = { 0 };
    maki_status st = maki_conv_append(run_conv(r), NULL, json, 2, &c, &err);
    run_trace(r, "append bad -> %s\n", maki_status_name(st));
    MUST(st == MAKI_INVALID, "took a row that is not a message: %s", err.msg);
    return run_check_now(r);
}

static maki_status count_message(void *ctx, maki_str json, maki_err *err)
{
    size_t *n = ctx;
    (void)json;
    (void)err;
    ++*n;
    return MAKI_OK;
}

maki_status run_tiny_summary(const maki_summarizer *self, const maki_summary_request *request,
                             maki_arena *arena, maki_summary *out, maki_err *err)
{
    size_t n = 0;
    maki_status st = request->each(request->source, count_message, &n, err);
    (void)self;
    out->text = maki_arena_print(arena, "要約 %zu 😀 \"so\"\n", n);
    return st == MAKI_OK ? maki_arena_status(arena, err) : st;
}

static bool do_condense(run *r)
{
    maki_summarizer tiny = { .usable = true, .run = run_tiny_summary };
    maki_summarizer offline = maki_summarizer_offline_with(NULL);
    bool small = run_chance(r, 3);
    size_t keep = run_chance(r, 7);
    uint64_t events = run_model(r)->event_count, tokens = model_tokens(&r->view);
    model_item kept[8];
    size_t count = r->view.count < keep ? r->view.count : keep;
    memcpy(kept, r->view.items + r->view.count - count, count * sizeof kept[0]);
    maki_change c;
    maki_err err = { 0 };
    run_trace(r, "condense keep=%zu %s", keep, small ? "tiny" : "offline");
    maki_status st =
        maki_conv_condense(run_conv(r), NULL, keep, small ? &tiny : &offline, &c, &err);
    MUST(st == MAKI_OK || st == MAKI_REFUSED, "condense: %s", err.msg);
    if (!run_check_change(r, st, &c, &err, events, tokens)) return false;
    if (st != MAKI_OK) return true;
    MUST(run_model(r)->events[events]->message.len, "no summary");
    for (size_t i = 0; i < count; i++) {
        const model_item *now = &r->view.items[r->view.count - count + i];
        MUST(now->row == kept[i].row && now->event == kept[i].event, "the tail has changed");
    }
    MUST(c.tokens_after < c.tokens_before, "the context grew");
    return true;
}

static bool do_truncate(run *r)
{
    double fraction = (double)run_chance(r, 11) / 10;
    uint64_t events = run_model(r)->event_count, tokens = model_tokens(&r->view);
    model_item summary = { 0 }, last = { 0 };
    if (r->view.count) last = r->view.items[r->view.count - 1];
    for (size_t i = 0; i < r->view.count; i++) {
        const model_event *event = r->view.items[i].event; /* markers may go behind a new one */
        if (event && !maki_str_contains(event->message, MAKI_LIT("isTruncationMarker")))
            summary = r->view.items[i];
    }
    maki_change c;
    maki_err err = { 0 };
    run_trace(r, "truncate %.1f", fraction);
    maki_status st = maki_conv_truncate(run_conv(r), NULL, fraction, &c, &err);
    MUST(st == MAKI_OK || st == MAKI_REFUSED, "truncate: %s", err.msg);
    if (!run_check_change(r, st, &c, &err, events, tokens)) return false;
    bool found = !summary.event;
    for (size_t i = 0; i < r->view.count; i++)
        found = found || r->view.items[i].event == summary.event;
    MUST(found, "the newest summary was truncated away");
    MUST(st != MAKI_OK || r->view.items[r->view.count - 1].row == last.row, "the last is gone");
    return true;
}

/* A message of the view, 0 when it has none. */
static uint64_t some_visible(run *r)
{
    for (int i = 0; i < 8 && r->view.count; i++) {
        const model_item *item = &r->view.items[run_chance(r, r->view.count)];
        if (item->row) return item->row->seq;
    }
    return 0;
}

static bool do_trim(run *r)
{
    uint64_t seq = run_chance(r, 10) ? some_visible(r) : run_chance(r, 30);
    uint32_t block = (uint32_t)run_chance(r, 3), head = (uint32_t)run_chance(r, 60),
             tail = (uint32_t)run_chance(r, 60);
    uint64_t events = run_model(r)->event_count, tokens = model_tokens(&r->view);
    maki_change c;
    maki_err err = { 0 };
    run_trace(r, "trim seq=%llu block=%u head=%u tail=%u", (unsigned long long)seq, block, head,
              tail);
    bool visible = model_has(&r->view, seq);
    maki_status st = maki_conv_trim(run_conv(r), NULL, seq, block, head, tail, &c, &err);
    MUST(st == MAKI_OK || st == MAKI_REFUSED || st == MAKI_NOTFOUND, "trim: %s", err.msg);
    MUST(visible || st == MAKI_NOTFOUND, "trimmed what is not there");
    return run_check_change(r, st, &c, &err, events, tokens);
}

/* Prune random ranges of random texts. */
static bool do_prune(run *r)
{
    maki_trim edits[8];
    maki_cut cuts[8][3];
    size_t count = 0;
    uint64_t events = run_model(r)->event_count, tokens = model_tokens(&r->view);
    maki_change c;
    maki_err err = { 0 };
    run_trace(r, "prune");
    for (size_t n = 1 + run_chance(r, COUNT(edits)); n > 0; n--) {
        const model_row *row = model_row_at(run_model(r), some_visible(r));
        if (!row || !row->text_count) continue;
        const model_text *text = &row->texts[run_chance(r, row->text_count)];
        maki_str old = { row->json.ptr + text->at, text->len };
        uint64_t units = text->whole ? 0 : maki_json_utf16_len(old), at = 0;
        maki_trim *edit = &edits[count];
        *edit = (maki_trim){ .seq = row->seq, .block = text->block, .part = text->part };
        edit->cuts = cuts[count++];
        for (size_t k = text->whole ? 1 : 1 + run_chance(r, 3); k > 0; k--) {
            uint64_t from = at + run_chance(r, (size_t)(units - at) + 1);
            uint64_t to = from + run_chance(r, (size_t)(units - from) + 1);
            if (to == from && !text->whole) continue;
            cuts[count - 1][edit->cut_count++] =
                (maki_cut){ from, to, MAKI_LIT("\"[略 \\ud83d\\ude00]\"") };
            at = to;
        }
        if (edit->cut_count == 0) continue;
        maki_status st = maki_conv_prune_savings(run_conv(r), row->json, edit, &err);
        MUST(st == MAKI_OK, "what it saves: %s", err.msg);
        run_trace(r, " %llu.%u.%u(%zu)", (unsigned long long)row->seq, text->block, text->part,
                  edit->cut_count);
    }
    maki_status st = maki_conv_prune(run_conv(r), NULL, edits, count, &c, &err);
    MUST(st == MAKI_OK || st == MAKI_REFUSED, "prune: %s", err.msg);
    return run_check_change(r, st, &c, &err, events, tokens);
}

static bool do_pin(run *r, bool pin)
{
    uint64_t seq = run_chance(r, 10) ? some_visible(r) : run_chance(r, 30);
    if (!pin && r->view.pin_count && run_chance(r, 5))
        seq = r->view.pins[run_chance(r, r->view.pin_count)];
    uint64_t events = run_model(r)->event_count, tokens = model_tokens(&r->view);
    maki_status want = !model_has(&r->view, seq)            ? MAKI_NOTFOUND
                       : model_pinned(&r->view, seq) == pin ? MAKI_REFUSED
                                                            : MAKI_OK;
    maki_change c;
    maki_err err = { 0 };
    run_trace(r, "%s seq=%llu", pin ? "pin" : "unpin", (unsigned long long)seq);
    maki_status st = maki_conv_pin(run_conv(r), NULL, seq, pin, &c, &err);
    MUST(st == want, "%s: %s, not %s", pin ? "pin" : "unpin", maki_status_name(st),
         maki_status_name(want));
    return run_check_change(r, st, &c, &err, events, tokens);
}

/* A cut between a call and its results is moved before the call. */
static uint64_t adjusted_cut(run *r, uint64_t seq)
{
    const model_row *next = model_row_at(run_model(r), seq + 1);
    for (uint64_t s = seq; next && next->answers && s > 0; s--) {
        const model_row *row = model_row_at(run_model(r), s);
        bool call =
            row->calls && next->answer >= row->call && next->answer < row->call + row->calls;
        if (call) return s - 1;
    }
    return seq;
}

/* The revision before a time, from the list of messages as a whole. */
static void before_time(run *r, int64_t ms, bool include, uint64_t *seq, uint64_t *ev)
{
    const model *m = run_model(r);
    uint64_t last = model_last(m), before = last, users = 0;
    bool exact = false;
    for (; before > 0; before--) {
        int64_t ts = model_row_at(m, before)->ts;
        exact = exact || ts == ms;
        if (ts != 0 && (ts < ms || (include && ts == ms))) break;
    }
    *seq = before;
    while (*seq < last && model_row_at(m, *seq + 1)->ts == 0) /* of the time of the one before */
        ++*seq;
    for (uint64_t s = last; s > before; s--) {
        const model_row *row = model_row_at(m, s);
        if (row->ts >= ms && maki_str_starts(row->json, MAKI_LIT("{\"role\":\"user\""))) users = s;
    }
    if (before > 0 && !exact && users) *seq = users - 1; /* what came between was being recorded */
    *seq = adjusted_cut(r, *seq);
    *ev = 0;
    for (size_t i = 0; i < m->event_count; i++) {
        const model_event *e = m->events[i];
        bool early = (int64_t)e->ts < ms || (include && (int64_t)e->ts == ms);
        if (e->type == MODEL_OTHER) continue;
        if (e->at > *seq || (e->at == *seq && !early)) break;
        *ev = e->ev;
    }
}

/* After going back to (to, ev) with `more` messages said since, the view must be what it was there. */
static bool check_rewound(run *r, uint64_t to, uint64_t ev, size_t more)
{
    static model_view then;
    model *m = run_model(r);
    if (ev == MAKI_NEWEST) ev = model_event_at(m, to);
    model_see(m, to, ev, true, &then);
    MUST(r->view.count == then.count + more, "%zu messages after going back, %zu were there",
         r->view.count, then.count);
    for (size_t i = 0; i < then.count; i++) {
        bool same = r->view.items[i].row == then.items[i].row &&
                    r->view.items[i].event == then.items[i].event;
        MUST(same && maki_str_equal(model_json(&r->view, i), model_json(&then, i)),
             "message %zu is not what it was then", i);
    }
    return true;
}

static bool rewind_to(run *r, uint64_t seq, uint64_t ev)
{
    model *m = run_model(r);
    uint64_t events = m->event_count, tokens = model_tokens(&r->view);
    uint64_t to = seq == MAKI_NEWEST ? (ev ? m->events[ev - 1]->at : m->base) : seq;
    uint64_t last = model_last(m);
    maki_change c;
    maki_err err = { 0 };
    maki_status st = maki_conv_rewind(run_conv(r), NULL, seq, ev, &c, &err);
    MUST(st == (to > last ? MAKI_NOTFOUND : MAKI_OK), "rewind: %s %s", maki_status_name(st),
         err.msg);
    if (!run_check_change(r, st, &c, &err, events, tokens)) return false;
    if (st != MAKI_OK) return true;
    to = adjusted_cut(r, to);
    MUST(m->events[events]->to == to, "went back to %llu, not %llu",
         (unsigned long long)m->events[events]->to, (unsigned long long)to);
    return check_rewound(r, to, ev, 0);
}

static bool do_rewind_seq(run *r)
{
    uint64_t last = model_last(run_model(r));
    uint64_t back = run_chance(r, 3) ? run_chance(r, 12) : run_chance(r, (size_t)last + 1);
    uint64_t seq = last > back ? last - back : run_chance(r, (size_t)last + 2);
    run_trace(r, "rewind seq=%llu", (unsigned long long)seq);
    return rewind_to(r, seq, MAKI_NEWEST);
}

static bool do_rewind_ev(run *r)
{
    size_t events = run_model(r)->event_count;
    if (!events) return do_rewind_seq(r);
    uint64_t ev = 1 + run_chance(r, events);
    run_trace(r, "rewind ev=%llu", (unsigned long long)ev);
    return rewind_to(r, MAKI_NEWEST, ev);
}

/* To a saved revision. */
static bool do_rewind_revision(run *r)
{
    const revision *then = &r->revisions[run_chance(r, r->revision_count)];
    if (then->conv != r->now) return true;
    run_trace(r, "rewind seq=%llu ev=%llu", (unsigned long long)then->seq,
              (unsigned long long)then->ev);
    return rewind_to(r, then->seq, then->ev);
}

static bool do_rewind_time(run *r)
{
    model *m = run_model(r);
    int64_t ms = r->maker.clock - (int64_t)run_chance(r, 40000);
    bool include = run_chance(r, 2), timed = false;
    uint64_t got = 0, got_ev = 0, want = 0, want_ev = 0, last = model_last(m);
    maki_err err = { 0 };
    before_time(r, ms, include, &want, &want_ev);
    for (uint64_t s = last; s > 0; s--)
        timed = timed || model_row_at(m, s)->ts != 0;
    maki_status st = maki_conv_before(run_conv(r), ms, include, &got, &got_ev, &err);
    if (last > 0 && !timed) {
        MUST(st == MAKI_REFUSED, "a time where no message has one is not refused");
        return true;
    }
    run_trace(r, "rewind to a time: seq=%llu", (unsigned long long)got);
    MUST(st == MAKI_OK && got == want, "the message before a time is %llu, not %llu",
         (unsigned long long)got, (unsigned long long)want);
    MUST(got_ev == want_ev, "the event before a time is %llu, not %llu", (unsigned long long)got_ev,
         (unsigned long long)want_ev);
    return rewind_to(r, got, got_ev);
}

/* Would this event, or those of a run up to `to`, undone, hide what may not be hidden? */
static bool would_break(run *r, uint64_t target, uint64_t to)
{
    static model_view view, rows;
    model *m = run_model(r);
    model_event undo = { .type = MODEL_UNDO,
                         .of = m,
                         .ev = m->event_count + 1,
                         .at = model_last(m),
                         .target = target,
                         .to = to };
    if (m->event_count == MODEL_EVENTS) return false;
    m->events[m->event_count++] = &undo;
    model_see(m, UINT64_MAX, UINT64_MAX, true, &view);
    model_see(m, UINT64_MAX, UINT64_MAX, false, &rows);
    m->event_count--;
    return model_broken(&view, &rows) != NULL;
}

/* Does undoing it restore rows that are older than later ones in the view? */
static bool changes_rows(run *r, uint64_t target)
{
    model *m = run_model(r);
    const model_event *e = m->events[target - 1];
    return e->type == MODEL_REWIND || (e->type == MODEL_UNDO && changes_rows(r, e->target));
}

/* The last event of a run that has more than one; 0: it has not. */
static uint64_t run_end_of(const model_event *e)
{
    return e->run_to > e->run ? e->run_to : 0;
}

uint64_t run_newest_that_counts(run *r, bool can)
{
    model *m = run_model(r);
    for (uint64_t ev = m->event_count; ev > 0; ev--) {
        const model_event *e = m->events[ev - 1];
        if (e->type == MODEL_UNDO || e->type == MODEL_FORK || e->type == MODEL_OTHER) continue;
        uint64_t target = e->run ? e->run : ev;
        if (model_counts(m, ev, UINT64_MAX) && !(can && would_break(r, target, run_end_of(e))))
            return ev;
    }
    return 0;
}

bool run_undo(run *r, uint64_t ev, maki_status *out)
{
    model *m = run_model(r);
    uint64_t events = m->event_count, tokens = model_tokens(&r->view);
    uint64_t newest = ev ? ev : run_newest_that_counts(r, true);
    const model_event *e = newest ? m->events[newest - 1] : NULL;
    uint64_t target = e && !ev && e->run ? e->run : newest, to = e && !ev ? run_end_of(e) : 0;
    bool can = e && e->type != MODEL_FORK && e->type != MODEL_OTHER &&
               model_counts(m, newest, UINT64_MAX) && !would_break(r, target, to);
    maki_change c;
    maki_err err = { 0 };
    maki_status st = maki_conv_undo(run_conv(r), NULL, ev, &c, &err);
    MUST(st == (can ? MAKI_OK : MAKI_REFUSED), "undo of %llu: %s %s", (unsigned long long)target,
         maki_status_name(st), err.msg);
    if (st == MAKI_OK && changes_rows(r, target)) {
        r->undone_rewind = true;
        r->reached.rewound_undo++;
    }
    *out = st;
    if (!run_check_change(r, st, &c, &err, events, tokens)) return false;
    MUST(st != MAKI_OK || (m->events[events]->target == target && m->events[events]->to == to),
         "undid %llu, not %llu", (unsigned long long)m->events[events]->target,
         (unsigned long long)target);
    return true;
}

static bool do_undo(run *r, bool newest)
{
    maki_status st;
    size_t events = run_model(r)->event_count;
    uint64_t ev = newest || !events ? 0 : 1 + run_chance(r, events);
    run_trace(r, "undo ev=%llu", (unsigned long long)ev);
    return run_undo(r, ev, &st);
}

/* An edit, or without a message a deletion. */
static bool do_edit(run *r, bool with)
{
    model *m = run_model(r);
    uint64_t last = model_last(m), events = m->event_count, tokens = model_tokens(&r->view);
    uint64_t seq = run_chance(r, 4) ? some_visible(r) : run_chance(r, (size_t)last + 3);
    size_t kind = run_chance(r, 6);
    model_row *row = !with      ? NULL
                     : kind < 4 ? row_plain(&r->maker, "user")
                     : kind < 5 ? row_plain(&r->maker, "assistant")
                                : row_call(&r->maker);
    maki_change c;
    maki_err err = { 0 };
    run_trace(r, "%s seq=%llu", with ? "edit" : "delete", (unsigned long long)seq);
    maki_status want = seq == 0 ? MAKI_INVALID : seq > last ? MAKI_NOTFOUND : MAKI_OK;
    uint64_t to = want == MAKI_OK ? adjusted_cut(r, seq - 1) : 0;
    maki_status st =
        maki_conv_edit(run_conv(r), NULL, seq, row ? row->json : (maki_str){ "", 0 }, &c, &err);
    MUST(st == want, "edit: %s %s", maki_status_name(st), err.msg);
    if (!run_take_events(r)) return false;
    if (st == MAKI_OK && row && !run_take_row(r, row)) return false;
    if (!run_check_change(r, st, &c, &err, events, tokens)) return false;
    if (st != MAKI_OK) return true;
    MUST(m->events[events]->to == to, "went back to %llu",
         (unsigned long long)m->events[events]->to);
    MUST(!row || r->view.items[r->view.count - 1].row == row, "the new text is not there");
    return check_rewound(r, to, MAKI_NEWEST, row ? 1 : 0);
}

/* After an expand, the message has its original bytes. */
static bool check_restored(run *r, uint64_t seq)
{
    for (size_t i = 0; i < r->view.count; i++) {
        const model_row *row = r->view.items[i].row;
        if (row && row->seq == seq)
            MUST(maki_str_equal(model_json(&r->view, i), row->json), "it is not whole again");
    }
    return true;
}

static bool do_expand(run *r)
{
    model *m = run_model(r);
    uint64_t last = model_last(m), events = m->event_count, tokens = model_tokens(&r->view);
    uint64_t seq = 1 + run_chance(r, (size_t)last + 1);
    maki_change c;
    maki_err err = { 0 };
    run_trace(r, "expand seq=%llu", (unsigned long long)seq);
    maki_status st = maki_conv_expand(run_conv(r), NULL, seq, &c, &err);
    MUST(st == MAKI_OK || st == MAKI_REFUSED, "expand: %s", err.msg);
    if (!run_check_change(r, st, &c, &err, events, tokens)) return false;
    if (st == MAKI_OK) {
        const model_event *e = m->events[events];
        model_type type = e->type == MODEL_UNDO ? m->events[e->target - 1]->type : e->type;
        MUST(type == MODEL_HIDING || type == MODEL_TRIM || type == MODEL_PRUNE,
             "undid something else");
        if (e->type == MODEL_PRUNE && !check_restored(r, seq)) return false;
    }
    return true;
}

static bool do_fork(run *r)
{
    model *m = run_model(r);
    uint64_t last = model_last(m);
    maki_err err = { 0 };
    if (r->conv_count == RUN_CONVS || last == 0) return true;
    uint64_t seq = run_chance(r, 2) ? last : 1 + run_chance(r, (size_t)last);
    unsigned first;
    if (seq == last && model_pending(&r->view, &first)) r->reached.pending_forks++;
    size_t child = r->conv_count;
    model *c = &r->models[child];
    memset(c, 0, sizeof *c);
    c->parent = m;
    snprintf(c->path, sizeof c->path, "%s/c%zu.jsonl", r->directory->path, child);
    run_trace(r, "fork seq=%llu", (unsigned long long)seq);
    c->base = adjusted_cut(r, seq);
    maki_status st =
        maki_conv_fork(run_conv(r), seq, MAKI_NEWEST, c->path, (maki_str){ "", 0 }, &err);
    run_trace(r, " -> %s, now in c%zu\n", maki_status_name(st), child);
    MUST(st == (c->base ? MAKI_OK : MAKI_NOTFOUND), "fork: %s", err.msg);
    if (st != MAKI_OK) return true;
    c->fork_ev = model_event_at(m, c->base);
    r->conv_count++;
    r->now = child;
    if (!run_open(r, child)) return false;
    MUST(maki_log_base(maki_conv_log(run_conv(r))) == c->base, "forked at %llu, not %llu",
         (unsigned long long)maki_log_base(maki_conv_log(run_conv(r))),
         (unsigned long long)c->base);
    return run_check_now(r);
}

static bool do_reopen(run *r)
{
    run_trace(r, "reopen\n");
    run_close(r, r->now);
    return run_open(r, r->now) && run_check_now(r);
}

static bool do_switch(run *r)
{
    r->now = run_chance(r, r->conv_count);
    run_trace(r, "switch to c%zu\n", r->now);
    return run_check_now(r);
}

static bool do_note(run *r)
{
    maki_change c;
    maki_err err = { 0 };
    run_trace(r, "note\n");
    maki_status st = maki_conv_add_event(run_conv(r), "usage",
                                         MAKI_LIT("\"input\":5,\"seq\":1,\"to\":0"), &c, &err);
    MUST(st == MAKI_OK, "note: %s", err.msg);
    return run_check_now(r);
}

/* A change with an outdated head. */
static bool do_conflict(run *r)
{
    unsigned char head[MAKI_CHAIN_LEN];
    maki_change c;
    maki_err err = { 0 };
    memcpy(head, maki_log_head(maki_conv_log(run_conv(r))), sizeof head);
    head[3] ^= 1;
    maki_status st = run_chance(r, 2)
                         ? maki_conv_truncate(run_conv(r), head, 0.5, &c, &err)
                         : maki_conv_rewind(run_conv(r), head, 1, MAKI_NEWEST, &c, &err);
    run_trace(r, "a head that has moved -> %s\n", maki_status_name(st));
    MUST(st == MAKI_CONFLICT, "wrote on a head that had moved: %s", maki_status_name(st));
    return run_check_now(r);
}

bool run_ordinary_step(run *r)
{
    size_t n = run_chance(r, 100);
    if (n < 42) return run_append(r);
    if (n < 50) return do_condense(r);
    if (n < 56) return do_truncate(r);
    if (n < 60) return do_trim(r);
    if (n < 63) return do_prune(r);
    if (n < 67) return do_pin(r, true);
    if (n < 70) return do_pin(r, false);
    if (n < 74) return do_rewind_seq(r);
    if (n < 76) return do_rewind_ev(r);
    if (n < 77) return do_rewind_revision(r);
    if (n < 78) return do_rewind_time(r);
    if (n < 81) return do_undo(r, true);
    if (n < 85) return do_undo(r, false);
    if (n < 88) return do_edit(r, true);
    if (n < 90) return do_edit(r, false);
    if (n < 92) return do_expand(r);
    if (n < 94) return do_fork(r);
    if (n < 96) return do_reopen(r);
    if (n < 97) return do_note(r);
    if (n < 98) return do_switch(r);
    if (n < 99) return do_bad_append(r);
    return do_conflict(r);
}
