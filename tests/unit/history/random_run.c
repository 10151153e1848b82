/* random_run.c -- the invariants of a conversation that are checked after every random step. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "random_run.h"

model *run_model(run *r)
{
    return &r->models[r->now];
}

maki_conv *run_conv(run *r)
{
    return r->convs[r->now];
}

size_t run_chance(run *r, size_t limit)
{
    return tap_below(&r->random, limit);
}

void run_trace(run *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(r->steps + r->steps_len, RUN_STEPS_TEXT - r->steps_len, fmt, args);
    va_end(args);
    if (n > 0) r->steps_len += (size_t)n;
    if (r->steps_len >= RUN_STEPS_TEXT) r->steps_len = RUN_STEPS_TEXT - 1;
}

bool run_broke(run *r, const char *file, int line, const char *fmt, ...)
{
    va_list args;
    printf("# %s:%d: ", file, line);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    printf("\n# run again: %s %llu\n# its steps:\n", r->program, (unsigned long long)r->seed);
    for (char *text = r->steps, *end; (end = strchr(text, '\n')); text = end + 1) {
        printf("#   %.*s\n", (int)(end - text), text);
    }
    return false;
}

/* ---- the invariants -------------------------------------------------------------------------------- */

static maki_status take_event(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    model *m = ctx;
    (void)at;
    (void)err;
    if (ev <= m->event_count) return MAKI_OK;
    return model_take_event(m, row) ? MAKI_OK : MAKI_CORRUPT;
}

bool run_take_events(run *r)
{
    maki_err err = { 0 };
    maki_status st =
        maki_log_each_event(maki_conv_log(run_conv(r)), take_event, run_model(r), &err);
    MUST(st == MAKI_OK, "an event does not say where it stands: %s", err.msg);
    return true;
}

bool run_take_row(run *r, model_row *row)
{
    model *m = run_model(r);
    maki_index_record record;
    MUST(m->row_count < MODEL_ROWS, "too many rows for the model");
    row->seq = model_last(m) + 1;
    m->rows[m->row_count++] = row;
    maki_status st = maki_log_row(maki_conv_log(run_conv(r)), row->seq, &record, NULL);
    MUST(st == MAKI_OK, "row %llu is not in the index", (unsigned long long)row->seq);
    MUST(record.ts == row->ts, "row %llu has another time", (unsigned long long)row->seq);
    row->tokens = record.tokens;
    return true;
}

void run_write_model(run *r, const model_view *view)
{
    maki_buf_clear(&r->wanted);
    for (size_t i = 0; i < view->count; i++) {
        maki_buf_add(&r->wanted, model_json(view, i));
        maki_buf_add_byte(&r->wanted, '\n');
    }
}

typedef struct walk {
    run *r;
    size_t at;
    const char *wrong;
} walk;

static maki_status compare_seen(void *ctx, const maki_view_message *seen, maki_err *err)
{
    walk *w = ctx;
    const model_view *view = &w->r->view;
    (void)err;
    if (w->at >= view->count) {
        w->wrong = "the view is longer than the model's";
        return MAKI_CANCELLED;
    }
    const model_item *item = &view->items[w->at];
    uint64_t seq = item->row ? item->row->seq : 0, ev = item->row ? 0 : item->event->ev;
    if (seen->seq != seq || seen->ev != ev)
        w->wrong = "the view has another message here";
    else if (!maki_str_equal(seen->json, model_json(view, w->at)))
        w->wrong = "a message has other bytes";
    w->at++;
    return w->wrong ? MAKI_CANCELLED : MAKI_OK;
}

static void print_views(run *r, const maki_view *view)
{
    printf("# view:  ");
    for (size_t i = 0; i < view->count; i++) {
        const maki_view_item *it = &view->items[i];
        if (it->from)
            printf(" %llu-%llu", (unsigned long long)it->from, (unsigned long long)it->to);
        else
            printf(" [ev %llu]", (unsigned long long)it->synthetic->ev);
    }
    printf("\n# model: ");
    for (size_t i = 0; i < r->view.count; i++) {
        const model_item *it = &r->view.items[i];
        if (it->row)
            printf(" %llu", (unsigned long long)it->row->seq);
        else
            printf(" [ev %llu]", (unsigned long long)it->event->ev);
    }
    printf("\n");
}

bool run_compare_view(run *r, const maki_view *view)
{
    maki_view_totals total;
    maki_err err = { 0 };
    walk w = { .r = r };
    maki_status st = maki_conv_each(run_conv(r), view, compare_seen, &w, &err);
    if (!w.wrong && w.at < r->view.count) w.wrong = "the view is shorter than the model's";
    if (w.wrong) print_views(r, view);
    MUST(!w.wrong, "message %zu of the view: %s", w.at, w.wrong);
    MUST(st == MAKI_OK, "going through the view: %s", err.msg);
    MUST(maki_conv_total(run_conv(r), view, &total, &err) == MAKI_OK, "totals: %s", err.msg);
    MUST(total.messages == r->view.count, "%llu messages, the model has %zu",
         (unsigned long long)total.messages, r->view.count);
    MUST(total.tokens == model_tokens(&r->view), "%llu tokens, the model has %llu",
         (unsigned long long)total.tokens, (unsigned long long)model_tokens(&r->view));
    for (size_t i = 0; i < r->view.pin_count; i++) {
        MUST(maki_view_pinned(view, r->view.pins[i]), "%llu is not pinned",
             (unsigned long long)r->view.pins[i]);
    }
    MUST(view->pin_count == r->view.pin_count, "%zu pins, the model has %zu", view->pin_count,
         r->view.pin_count);
    return true;
}

bool run_write_view(run *r, const maki_view *view, bool array)
{
    maki_err err = { 0 };
    maki_buf_clear(&r->text);
    maki_status st = maki_conv_write(run_conv(r), view, array, maki_buf_sink(&r->text), &err);
    MUST(st == MAKI_OK, "writing the view: %s", err.msg);
    return true;
}

/* The view as an array: the lines with commas for newlines, in brackets. */
static bool check_array(run *r, const maki_view *view)
{
    if (!run_write_view(r, view, true)) return false;
    maki_str got = maki_buf_str(&r->text), lines = maki_buf_str(&r->wanted);
    size_t inside = lines.len ? lines.len - 1 : 0;
    MUST(got.len == inside + 2 && got.ptr[0] == '[' && got.ptr[got.len - 1] == ']',
         "the array has %zu bytes for %zu of lines", got.len, lines.len);
    for (size_t i = 0; i < inside; i++) {
        char want = lines.ptr[i] == '\n' ? ',' : lines.ptr[i];
        MUST(got.ptr[i + 1] == want, "the array differs at byte %zu", i + 1);
    }
    return true;
}

static bool save_revision(run *r)
{
    model *m = run_model(r);
    revision now = { r->now, model_last(m), m->event_count,
                     maki_row_hash(maki_buf_str(&r->wanted)) };
    for (size_t i = 0; i < r->revision_count; i++) {
        const revision *old = &r->revisions[i];
        if (old->conv != now.conv || old->seq != now.seq || old->ev != now.ev) continue;
        MUST(old->hash == now.hash, "the same revision has another view than before");
        return true;
    }
    if (r->revision_count < RUN_REVISIONS) r->revisions[r->revision_count++] = now;
    return true;
}

static bool check_sum(run *r, const maki_view *view)
{
    maki_view_totals total;
    maki_err err = { 0 };
    uint64_t sum = 0;
    maki_status st = maki_conv_total(run_conv(r), view, &total, &err);
    for (size_t i = 0; st == MAKI_OK && i < r->view.count; i++) {
        uint64_t tokens = 0;
        st = maki_token_counter_message(&r->anew, 0, model_json(&r->view, i), &tokens, &err);
        sum += tokens;
    }
    MUST(st == MAKI_OK, "tokens: %s", err.msg);
    MUST(total.tokens == sum, "%llu tokens, its messages have %llu",
         (unsigned long long)total.tokens, (unsigned long long)sum);
    r->reached.sums++;
    return true;
}

/* At a message alone, the view is the one from before the next message came. */
static bool check_then(run *r)
{
    const maki_view *view;
    maki_err err = { 0 };
    model *m = run_model(r);
    uint64_t last = model_last(m), seq = last ? 1 + r->checks * 7919 % last : 0;
    if (seq == last) return true;
    model_see(m, seq, UINT64_MAX, true, &r->view);
    maki_status st = maki_conv_view(run_conv(r), seq, MAKI_NEWEST, &view, &err);
    MUST(st == MAKI_OK, "the view at message %llu: %s", (unsigned long long)seq, err.msg);
    if (!run_compare_view(r, view)) return false;
    for (size_t i = 0; i < r->revision_count; i++) {
        const revision *then = &r->revisions[i];
        if (then->conv != r->now || then->seq != seq || then->ev != model_event_at(m, seq))
            continue;
        r->reached.then++;
        return run_check_revision(r, &(revision){ r->now, seq, MAKI_NEWEST, then->hash });
    }
    return true;
}

bool run_check_now(run *r)
{
    const maki_view *view;
    maki_err err = { 0 };
    model *m = run_model(r);
    if (!run_take_events(r) || !check_then(r)) return false;
    model_see(m, UINT64_MAX, UINT64_MAX, true, &r->view);
    model_see(m, UINT64_MAX, UINT64_MAX, false, &r->rows);
    maki_status st = maki_conv_view(run_conv(r), MAKI_NEWEST, MAKI_NEWEST, &view, &err);
    MUST(st == MAKI_OK, "the view: %s", err.msg);
    if (!run_compare_view(r, view)) return false;
    if (r->checks++ % 8 == r->seed % 8 && !check_sum(r, view)) return false;
    const char *broken = model_broken(&r->view, &r->rows);
    if (broken) print_views(r, view);
    MUST(!broken, "%s", broken);
    for (size_t i = 0; !r->undone_rewind && i < r->view.count; i++) {
        MUST(!model_misplaced(&r->view, i), "a call or result is out of place at %zu", i);
    }
    run_write_model(r, &r->view);
    if (!run_write_view(r, view, false)) return false;
    MUST(maki_str_equal(maki_buf_str(&r->text), maki_buf_str(&r->wanted)),
         "the view has other bytes");
    if (!save_revision(r)) return false;
    return run_chance(r, 8) ? true : check_array(r, view);
}

bool run_check_revision(run *r, const revision *then)
{
    const maki_view *view;
    maki_err err = { 0 };
    size_t now = r->now;
    r->now = then->conv;
    maki_status st = maki_conv_view(run_conv(r), then->seq, then->ev, &view, &err);
    MUST(st == MAKI_OK, "the revision (%llu, %llu): %s", (unsigned long long)then->seq,
         (unsigned long long)then->ev, err.msg);
    bool ok = run_write_view(r, view, false);
    r->now = now;
    if (!ok) return false;
    r->reached.replayed++;
    MUST(maki_row_hash(maki_buf_str(&r->text)) == then->hash,
         "conversation %zu does not show the revision (%llu, %llu) as it was", then->conv,
         (unsigned long long)then->seq, (unsigned long long)then->ev);
    return true;
}

/* ---- opening -------------------------------------------------------------------------------------------- */

bool run_open(run *r, size_t which)
{
    maki_err err = { 0 };
    maki_conv_options options = { .create = true, .durability = MAKI_DURABILITY_AT_END };
    maki_status st =
        maki_conv_open(&r->env, r->models[which].path, &options, &r->convs[which], &err);
    MUST(st == MAKI_OK, "opening %s: %s", r->models[which].path, err.msg);
    return true;
}

void run_close(run *r, size_t which)
{
    maki_conv_close(r->convs[which]);
    r->convs[which] = NULL;
}

const char *run_index_path(const model *m)
{
    static char path[330];
    snprintf(path, sizeof path, "%.*s.idx", (int)(strlen(m->path) - strlen(".jsonl")), m->path);
    return path;
}

bool run_check_change(run *r, maki_status st, const maki_change *c, const maki_err *err,
                      uint64_t events, uint64_t tokens)
{
    model *m = run_model(r);
    run_trace(r, " -> %s%s%s\n", maki_status_name(st), st == MAKI_OK ? "" : ": ",
              st == MAKI_OK ? "" : err->msg);
    if (st == MAKI_OK)
        r->reached.ok++;
    else
        r->reached.refused++;
    if (!run_check_now(r)) return false;
    if (st != MAKI_OK) {
        MUST(m->event_count == events, "a refused change left an event");
        return true;
    }
    MUST(c->event == m->event_count && c->event == events + 1, "event %llu of %zu",
         (unsigned long long)c->event, m->event_count);
    MUST(c->seq == model_last(m), "seq %llu", (unsigned long long)c->seq);
    MUST(memcmp(c->head, maki_log_head(maki_conv_log(run_conv(r))), MAKI_CHAIN_LEN) == 0,
         "another head");
    MUST(c->tokens_before == tokens, "tokensBefore %llu, were %llu",
         (unsigned long long)c->tokens_before, (unsigned long long)tokens);
    MUST(c->tokens_after == model_tokens(&r->view), "tokensAfter %llu",
         (unsigned long long)c->tokens_after);
    maki_change later; /* what the log says of it afterwards */
    MUST(maki_conv_event_effect(run_conv(r), c->event, &later, NULL) == MAKI_OK, "it is no step");
    MUST(memcmp(&later.effect, &c->effect, sizeof c->effect) == 0 && later.visible == c->visible &&
             later.tokens_before == c->tokens_before && later.tokens_after == c->tokens_after,
         "step %llu is reported in another way later", (unsigned long long)c->event);
    return true;
}
