/* property_test.c -- random conversations, held against a slow model after every step.
 *
 *     property_test                  the seeds 1 to 10,000
 *     property_test SEED             one of them, its steps printed: what a failure tells to run
 *     property_test FIRST COUNT      some of them
 *
 * A sequence appends turns in the shapes of both protocols, condenses, truncates, trims, prunes, pins,
 * rewinds, undoes, edits, expands, forks, opens again, and makes room by a preset or by a policy of
 * steps and windows by chance.  After each step:
 *
 *   - the view, its bytes and its totals are those of the model (model.h), and now and then its
 *     tokens in another family are what its messages add up to;
 *   - no hiding has parted a call from its result, or taken a pinned, a system or the first message;
 *   - moments remembered from before are still shown byte for byte.
 *
 * At the end everything is undone, newest first, which must give the untouched log; and the index is
 * deleted, which must come back as it was. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/str.h"
#include "fake_env.h"
#include "folder.h"
#include "history/conversation.h"
#include "history/facts.h"
#include "history/tally.h"
#include "log/beside.h"
#include "log/verify.h"
#include "manage/manage.h"
#include "model.h"
#include "random_rows.h"
#include "summary/offline.h"
#include "tap.h"

enum {
    SEEDS = 10000,
    ROWS_OF_TAP = 10,
    STEPS_LEAST = 6,
    STEPS_MORE = 34,
    CONVS = 4,
    MOMENTS = 256,
    STEPS_TEXT = 1 << 16
};

/* Small pieces of memory come and go all the time: a long quarantine only costs page faults. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=4:thread_local_quarantine_size_kb=64";
}

/* Blocks of a megabyte are asked for at every look at the events; under ASan each is a new map, which
 * costs more than all the rest.  So big ones of the same size are used again. */
enum { BIG = 1 << 16, BIGS = 8 };
static struct {
    void *at;
    size_t size;
} bigs[BIGS];

static void *reuse_big(const maki_alloc *self, void *p, size_t old_size, size_t size)
{
    (void)self;
    for (size_t i = 0; !p && size >= BIG && i < BIGS; i++) {
        void *at = bigs[i].at;
        if (!at || bigs[i].size != size) continue;
        bigs[i].at = NULL;
        return at;
    }
    for (size_t i = 0; p && size == 0 && old_size >= BIG && i < BIGS; i++) {
        if (bigs[i].at) continue;
        bigs[i].at = p;
        bigs[i].size = old_size;
        return NULL;
    }
    if (size) return realloc(p, size);
    free(p);
    return NULL;
}
static const maki_alloc reusing = { reuse_big };

static void free_bigs(void)
{
    for (size_t i = 0; i < BIGS; i++)
        free(bigs[i].at);
}

typedef struct moment {
    size_t conv;
    uint64_t seq, ev, hash;
} moment;

typedef struct run {
    uint64_t seed;
    tap_random random;
    maki_env env;
    fake_env fake;
    folder *folder;
    model models[CONVS];
    maki_conv *convs[CONVS];
    size_t conv_count, now; /* the one that is worked on */
    model_view view, rows;  /* the newest moment, with and without hiding */
    moment moments[MOMENTS];
    size_t moment_count;
    row_maker maker;
    bool undone_rewind; /* then the rows themselves may be out of order */
    size_t checks;
    maki_tally exact, other; /* count anew, in the default family and in another */
    maki_buf text, wanted;
    char steps[STEPS_TEXT];
    size_t steps_len;
} run;

/* What the steps did over all seeds: a check that nothing ever reaches is no check. */
static struct {
    size_t steps, ok, refused, rewound_undo, replayed, pending_forks, others;
    size_t stuck, managed, within, taken_back, kinds[MAKI_STEP_LAST + 1];
} tally;

static model *model_now(run *r)
{
    return &r->models[r->now];
}

static maki_conv *conv_now(run *r)
{
    return r->convs[r->now];
}

static size_t chance(run *r, size_t limit)
{
    return tap_below(&r->random, limit);
}

static void step(run *r, const char *fmt, ...) MAKI_PRINTF(2, 3);
static void step(run *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(r->steps + r->steps_len, STEPS_TEXT - r->steps_len, fmt, args);
    va_end(args);
    if (n > 0) r->steps_len += (size_t)n;
    if (r->steps_len >= STEPS_TEXT) r->steps_len = STEPS_TEXT - 1;
}

static bool broke(run *r, int line, const char *fmt, ...) MAKI_PRINTF(3, 4);
static bool broke(run *r, int line, const char *fmt, ...)
{
    va_list args;
    printf("# property_test.c:%d: ", line);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    printf("\n# run again: property_test %llu\n# its steps:\n", (unsigned long long)r->seed);
    for (char *text = r->steps, *end; (end = strchr(text, '\n')); text = end + 1) {
        printf("#   %.*s\n", (int)(end - text), text);
    }
    return false;
}
#define MUST(cond, ...)                                      \
    do {                                                     \
        if (!(cond)) return broke(r, __LINE__, __VA_ARGS__); \
    } while (0)

/* ---- what is true after every step ------------------------------------------------------------------ */

static maki_status take_event(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    model *m = ctx;
    (void)at;
    (void)err;
    if (ev <= m->event_count) return MAKI_OK;
    return model_take_event(m, row) ? MAKI_OK : MAKI_CORRUPT;
}

/* Let the model have the events that were written. */
static bool take_events(run *r)
{
    maki_err err = { 0 };
    maki_status st =
        maki_log_each_event(maki_conv_log(conv_now(r)), take_event, model_now(r), &err);
    MUST(st == MAKI_OK, "an event does not say where it stands: %s", err.msg);
    return true;
}

static bool take_row(run *r, model_row *row)
{
    model *m = model_now(r);
    maki_row record;
    MUST(m->row_count < MODEL_ROWS, "too many rows for the model");
    row->seq = model_last(m) + 1;
    m->rows[m->row_count++] = row;
    maki_status st = maki_log_row(maki_conv_log(conv_now(r)), row->seq, &record, NULL);
    MUST(st == MAKI_OK, "row %llu is not in the index", (unsigned long long)row->seq);
    MUST(record.ts == row->ts, "row %llu has another time", (unsigned long long)row->seq);
    row->tokens = record.tokens;
    return true;
}

static void write_model(run *r, const model_view *view)
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

static maki_status compare_seen(void *ctx, const maki_seen *seen, maki_err *err)
{
    walk *w = ctx;
    const model_view *view = &w->r->view;
    (void)err;
    if (w->at >= view->count) {
        w->wrong = "the view is longer than the model's";
        return MAKI_CANCELLED;
    }
    const model_item *item = &view->items[w->at];
    uint64_t seq = item->row ? item->row->seq : 0, ev = item->row ? 0 : item->made->ev;
    if (seen->seq != seq || seen->ev != ev)
        w->wrong = "the view has another message here";
    else if (!maki_str_is(seen->json, model_json(view, w->at)))
        w->wrong = "a message has other bytes";
    w->at++;
    return w->wrong ? MAKI_CANCELLED : MAKI_OK;
}

static void print_views(run *r, const maki_view *view)
{
    printf("# ours:  ");
    for (size_t i = 0; i < view->count; i++) {
        const maki_view_item *it = &view->items[i];
        if (it->from)
            printf(" %llu-%llu", (unsigned long long)it->from, (unsigned long long)it->to);
        else
            printf(" [ev %llu]", (unsigned long long)it->made->ev);
    }
    printf("\n# model: ");
    for (size_t i = 0; i < r->view.count; i++) {
        const model_item *it = &r->view.items[i];
        if (it->row)
            printf(" %llu", (unsigned long long)it->row->seq);
        else
            printf(" [ev %llu]", (unsigned long long)it->made->ev);
    }
    printf("\n");
}

static bool compare_view(run *r, const maki_view *view)
{
    maki_view_totals total;
    maki_err err = { 0 };
    walk w = { .r = r };
    maki_status st = maki_conv_each(conv_now(r), view, compare_seen, &w, &err);
    if (!w.wrong && w.at < r->view.count) w.wrong = "the view is shorter than the model's";
    if (w.wrong) print_views(r, view);
    MUST(!w.wrong, "message %zu of the view: %s", w.at, w.wrong);
    MUST(st == MAKI_OK, "going through the view: %s", err.msg);
    MUST(maki_conv_total(conv_now(r), view, &total, &err) == MAKI_OK, "totals: %s", err.msg);
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

/* The bytes maki_conv_write gives, in r->text. */
static bool write_view(run *r, const maki_view *view, bool array)
{
    maki_err err = { 0 };
    maki_buf_clear(&r->text);
    maki_status st = maki_conv_write(conv_now(r), view, array, maki_buf_sink(&r->text), &err);
    MUST(st == MAKI_OK, "writing the view: %s", err.msg);
    return true;
}

/* The same as an array: every newline a comma, brackets around it. */
static bool check_array(run *r, const maki_view *view)
{
    if (!write_view(r, view, true)) return false;
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

static bool remember(run *r)
{
    model *m = model_now(r);
    moment now = { r->now, model_last(m), m->event_count, maki_row_hash(maki_buf_str(&r->wanted)) };
    for (size_t i = 0; i < r->moment_count; i++) {
        const moment *old = &r->moments[i];
        if (old->conv != now.conv || old->seq != now.seq || old->ev != now.ev) continue;
        MUST(old->hash == now.hash, "the same moment has another view than before");
        return true;
    }
    if (r->moment_count < MOMENTS) r->moments[r->moment_count++] = now;
    return true;
}

/* In another family, which the index beside the log has to keep up with. */
static bool check_other(run *r, const maki_view *view)
{
    size_t family = 1 + r->seed % 2;
    maki_view_totals total;
    maki_err err = { 0 };
    uint64_t sum = 0;
    maki_status st = maki_conv_total_in(conv_now(r), view, family, false, &total, &err);
    for (size_t i = 0; st == MAKI_OK && i < r->view.count; i++) {
        uint64_t tokens = 0;
        st = maki_tally_message(&r->other, 0, model_json(&r->view, i), &tokens, &err);
        sum += tokens;
    }
    MUST(st == MAKI_OK, "tokens in %s: %s", maki_tally_name(family), err.msg);
    MUST(total.tokens == sum && !total.estimated, "%llu tokens in %s, its messages have %llu",
         (unsigned long long)total.tokens, maki_tally_name(family), (unsigned long long)sum);
    tally.others++;
    return true;
}

static bool check_now(run *r)
{
    const maki_view *view;
    maki_err err = { 0 };
    model *m = model_now(r);
    if (!take_events(r)) return false;
    model_see(m, UINT64_MAX, UINT64_MAX, true, &r->view);
    model_see(m, UINT64_MAX, UINT64_MAX, false, &r->rows);
    maki_status st = maki_conv_view(conv_now(r), MAKI_NOW, MAKI_NOW, &view, &err);
    MUST(st == MAKI_OK, "the view: %s", err.msg);
    if (!compare_view(r, view)) return false;
    if (r->checks++ % 8 == r->seed % 8 && !check_other(r, view)) return false;
    const char *broken = model_broken(&r->view, &r->rows);
    if (broken) print_views(r, view);
    MUST(!broken, "%s", broken);
    for (size_t i = 0; !r->undone_rewind && i < r->view.count; i++) {
        MUST(!model_misplaced(&r->view, i), "a call or result is out of place at %zu", i);
    }
    write_model(r, &r->view);
    if (!write_view(r, view, false)) return false;
    MUST(maki_str_is(maki_buf_str(&r->text), maki_buf_str(&r->wanted)), "the view has other bytes");
    if (!remember(r)) return false;
    return chance(r, 8) ? true : check_array(r, view);
}

static bool check_moment(run *r, const moment *then)
{
    const maki_view *view;
    maki_err err = { 0 };
    size_t now = r->now;
    r->now = then->conv;
    maki_status st = maki_conv_view(conv_now(r), then->seq, then->ev, &view, &err);
    MUST(st == MAKI_OK, "the moment (%llu, %llu): %s", (unsigned long long)then->seq,
         (unsigned long long)then->ev, err.msg);
    bool ok = write_view(r, view, false);
    r->now = now;
    if (!ok) return false;
    tally.replayed++;
    MUST(maki_row_hash(maki_buf_str(&r->text)) == then->hash,
         "conversation %zu does not show the moment (%llu, %llu) as it was", then->conv,
         (unsigned long long)then->seq, (unsigned long long)then->ev);
    return true;
}

/* ---- opening -------------------------------------------------------------------------------------------- */

static bool open_conv(run *r, size_t which)
{
    maki_err err = { 0 };
    maki_conv_options options = { .create = true, .durability = MAKI_LAZY };
    maki_status st =
        maki_conv_open(&r->env, r->models[which].path, &options, &r->convs[which], &err);
    MUST(st == MAKI_OK, "opening %s: %s", r->models[which].path, err.msg);
    return true;
}

static void close_conv(run *r, size_t which)
{
    maki_conv_close(r->convs[which]);
    r->convs[which] = NULL;
}

static const char *index_path(const model *m)
{
    static char path[330];
    snprintf(path, sizeof path, "%.*s.idx", (int)(strlen(m->path) - strlen(".jsonl")), m->path);
    return path;
}

/* ---- the steps ------------------------------------------------------------------------------------------- */

/* What a change must tell of itself. */
static bool check_change(run *r, maki_status st, const maki_change *c, const maki_err *err,
                         uint64_t events, uint64_t tokens)
{
    model *m = model_now(r);
    step(r, " -> %s%s%s\n", maki_status_name(st), st == MAKI_OK ? "" : ": ",
         st == MAKI_OK ? "" : err->msg);
    if (st == MAKI_OK)
        tally.ok++;
    else
        tally.refused++;
    if (!check_now(r)) return false;
    if (st != MAKI_OK) {
        MUST(m->event_count == events, "a refused change left an event");
        return true;
    }
    MUST(c->event == m->event_count && c->event == events + 1, "event %llu of %zu",
         (unsigned long long)c->event, m->event_count);
    MUST(c->seq == model_last(m), "seq %llu", (unsigned long long)c->seq);
    MUST(memcmp(c->head, maki_log_head(maki_conv_log(conv_now(r))), MAKI_CHAIN_LEN) == 0,
         "another head");
    MUST(c->tokens_before == tokens, "tokensBefore %llu, were %llu",
         (unsigned long long)c->tokens_before, (unsigned long long)tokens);
    MUST(c->tokens_after == model_tokens(&r->view), "tokensAfter %llu",
         (unsigned long long)c->tokens_after);
    return true;
}

static bool append_rows(run *r, model_row **rows, size_t count)
{
    maki_str json[8];
    maki_change c;
    maki_err err = { 0 };
    for (size_t i = 0; i < count; i++)
        json[i] = rows[i]->json;
    maki_status st = maki_conv_append(conv_now(r), NULL, json, count, &c, &err);
    step(r, " -> %s\n", maki_status_name(st));
    MUST(st == MAKI_OK, "append: %s", err.msg);
    for (size_t i = 0; i < count; i++) {
        if (!take_row(r, rows[i])) return false;
    }
    MUST(c.seq == model_last(model_now(r)), "seq %llu", (unsigned long long)c.seq);
    return check_now(r);
}

/* What a client would say next: the results that are waited for, or a new turn. */
static bool do_append(run *r)
{
    model_row *rows[8];
    size_t n = 0;
    unsigned first = 0, waiting = model_pending(&r->view, &first);
    if (!waiting) {
        size_t kind = chance(r, 10);
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
    size_t most = chance(r, 3) ? 8 : n + chance(r, 3); /* sometimes the rest comes later */
    while (waiting && n < most) {
        rows[n] = row_answer(&r->maker, first, waiting);
        first += rows[n]->answers;
        waiting -= rows[n++]->answers;
    }
    if (n == 0)
        rows[n++] = waiting ? row_answer(&r->maker, first, waiting) : row_plain(&r->maker, "user");
    step(r, "append %zu, %u waiting", n, waiting);
    return append_rows(r, rows, n);
}

static bool do_bad_append(run *r)
{
    static const char *const bad[] = { "{\"role\":1}", "[]", "{\"role\":\"user\"", "" };
    model_row *row = row_call(&r->maker);
    maki_str json[2] = { row->json, maki_str_of(bad[chance(r, COUNT(bad))]) };
    maki_change c;
    maki_err err = { 0 };
    maki_status st = maki_conv_append(conv_now(r), NULL, json, 2, &c, &err);
    step(r, "append bad -> %s\n", maki_status_name(st));
    MUST(st == MAKI_INVALID, "took a row that is not a message: %s", err.msg);
    return check_now(r);
}

static maki_status tiny_summary(const maki_summarizer *self, const maki_summary_request *request,
                                maki_arena *arena, maki_summary *out, maki_err *err);

static maki_status count_message(void *ctx, maki_str json, maki_err *err)
{
    size_t *n = ctx;
    (void)json;
    (void)err;
    ++*n;
    return MAKI_OK;
}

static maki_status tiny_summary(const maki_summarizer *self, const maki_summary_request *request,
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
    maki_summarizer tiny = { .usable = true, .run = tiny_summary };
    maki_summarizer offline = maki_summarizer_offline();
    bool small = chance(r, 3);
    size_t keep = chance(r, 7);
    uint64_t events = model_now(r)->event_count, tokens = model_tokens(&r->view);
    model_item kept[8];
    size_t count = r->view.count < keep ? r->view.count : keep;
    memcpy(kept, r->view.items + r->view.count - count, count * sizeof kept[0]);
    maki_change c;
    maki_err err = { 0 };
    step(r, "condense keep=%zu %s", keep, small ? "tiny" : "offline");
    maki_status st =
        maki_conv_condense(conv_now(r), NULL, keep, small ? &tiny : &offline, &c, &err);
    MUST(st == MAKI_OK || st == MAKI_REFUSED, "condense: %s", err.msg);
    if (!check_change(r, st, &c, &err, events, tokens)) return false;
    if (st != MAKI_OK) return true;
    MUST(model_now(r)->events[events]->made.len, "no summary");
    for (size_t i = 0; i < count; i++) {
        const model_item *now = &r->view.items[r->view.count - count + i];
        MUST(now->row == kept[i].row && now->made == kept[i].made, "the tail has changed");
    }
    MUST(c.tokens_after < c.tokens_before, "the context grew");
    return true;
}

static bool do_truncate(run *r)
{
    double fraction = (double)chance(r, 11) / 10;
    uint64_t events = model_now(r)->event_count, tokens = model_tokens(&r->view);
    model_item summary = { 0 }, last = { 0 };
    if (r->view.count) last = r->view.items[r->view.count - 1];
    for (size_t i = 0; i < r->view.count; i++) {
        const model_event *made = r->view.items[i].made; /* markers may go behind a new one */
        if (made && !maki_str_has(made->made, MAKI_LIT("isTruncationMarker")))
            summary = r->view.items[i];
    }
    maki_change c;
    maki_err err = { 0 };
    step(r, "truncate %.1f", fraction);
    maki_status st = maki_conv_truncate(conv_now(r), NULL, fraction, &c, &err);
    MUST(st == MAKI_OK || st == MAKI_REFUSED, "truncate: %s", err.msg);
    if (!check_change(r, st, &c, &err, events, tokens)) return false;
    bool found = !summary.made;
    for (size_t i = 0; i < r->view.count; i++)
        found = found || r->view.items[i].made == summary.made;
    MUST(found, "the newest summary was truncated away");
    MUST(st != MAKI_OK || r->view.items[r->view.count - 1].row == last.row, "the last is gone");
    return true;
}

/* A message of the view, 0 when it has none. */
static uint64_t some_visible(run *r)
{
    for (int i = 0; i < 8 && r->view.count; i++) {
        const model_item *item = &r->view.items[chance(r, r->view.count)];
        if (item->row) return item->row->seq;
    }
    return 0;
}

static bool do_trim(run *r)
{
    uint64_t seq = chance(r, 10) ? some_visible(r) : chance(r, 30);
    uint32_t block = (uint32_t)chance(r, 3), head = (uint32_t)chance(r, 60),
             tail = (uint32_t)chance(r, 60);
    uint64_t events = model_now(r)->event_count, tokens = model_tokens(&r->view);
    maki_change c;
    maki_err err = { 0 };
    step(r, "trim seq=%llu block=%u head=%u tail=%u", (unsigned long long)seq, block, head, tail);
    bool visible = model_has(&r->view, seq);
    maki_status st = maki_conv_trim(conv_now(r), NULL, seq, block, head, tail, &c, &err);
    MUST(st == MAKI_OK || st == MAKI_REFUSED || st == MAKI_NOTFOUND, "trim: %s", err.msg);
    MUST(visible || st == MAKI_NOTFOUND, "trimmed what is not there");
    return check_change(r, st, &c, &err, events, tokens);
}

/* Some texts of some messages, cut here and there. */
static bool do_prune(run *r)
{
    maki_trim edits[8];
    maki_cut cuts[8][3];
    size_t count = 0;
    uint64_t events = model_now(r)->event_count, tokens = model_tokens(&r->view);
    maki_change c;
    maki_err err = { 0 };
    step(r, "prune");
    for (size_t n = 1 + chance(r, COUNT(edits)); n > 0; n--) {
        const model_row *row = model_row_at(model_now(r), some_visible(r));
        if (!row || !row->text_count) continue;
        const model_text *text = &row->texts[chance(r, row->text_count)];
        maki_str old = { row->json.ptr + text->at, text->len };
        uint64_t units = text->whole ? 0 : maki_json_units(old), at = 0;
        maki_trim *edit = &edits[count];
        *edit = (maki_trim){ .seq = row->seq, .block = text->block, .part = text->part };
        edit->cuts = cuts[count++];
        for (size_t k = text->whole ? 1 : 1 + chance(r, 3); k > 0; k--) {
            uint64_t from = at + chance(r, (size_t)(units - at) + 1);
            uint64_t to = from + chance(r, (size_t)(units - from) + 1);
            if (to == from && !text->whole) continue;
            cuts[count - 1][edit->cut_count++] =
                (maki_cut){ from, to, MAKI_LIT("\"[略 \\ud83d\\ude00]\"") };
            at = to;
        }
        if (edit->cut_count == 0) continue;
        maki_status st = maki_conv_prune_saves(conv_now(r), row->json, edit, &err);
        MUST(st == MAKI_OK, "what it saves: %s", err.msg);
        step(r, " %llu.%u.%u(%zu)", (unsigned long long)row->seq, text->block, text->part,
             edit->cut_count);
    }
    maki_status st = maki_conv_prune(conv_now(r), NULL, edits, count, &c, &err);
    MUST(st == MAKI_OK || st == MAKI_REFUSED, "prune: %s", err.msg);
    return check_change(r, st, &c, &err, events, tokens);
}

static bool do_pin(run *r, bool pin)
{
    uint64_t seq = chance(r, 10) ? some_visible(r) : chance(r, 30);
    if (!pin && r->view.pin_count && chance(r, 5)) seq = r->view.pins[chance(r, r->view.pin_count)];
    uint64_t events = model_now(r)->event_count, tokens = model_tokens(&r->view);
    maki_status want = !model_has(&r->view, seq)            ? MAKI_NOTFOUND
                       : model_pinned(&r->view, seq) == pin ? MAKI_REFUSED
                                                            : MAKI_OK;
    maki_change c;
    maki_err err = { 0 };
    step(r, "%s seq=%llu", pin ? "pin" : "unpin", (unsigned long long)seq);
    maki_status st = maki_conv_pin(conv_now(r), NULL, seq, pin, &c, &err);
    MUST(st == want, "%s: %s, not %s", pin ? "pin" : "unpin", maki_status_name(st),
         maki_status_name(want));
    return check_change(r, st, &c, &err, events, tokens);
}

/* A cut between a call and its results goes before the call. */
static uint64_t settled(run *r, uint64_t seq)
{
    const model_row *next = model_row_at(model_now(r), seq + 1);
    for (uint64_t s = seq; next && next->answers && s > 0; s--) {
        const model_row *row = model_row_at(model_now(r), s);
        bool call =
            row->calls && next->answer >= row->call && next->answer < row->call + row->calls;
        if (call) return s - 1;
    }
    return seq;
}

/* After going back to (to, ev) with `more` messages said since, the view must be what it was there. */
static bool check_rewound(run *r, uint64_t to, uint64_t ev, size_t more)
{
    static model_view then;
    model *m = model_now(r);
    if (ev == MAKI_NOW) ev = model_event_at(m, to);
    model_see(m, to, ev, true, &then);
    MUST(r->view.count == then.count + more, "%zu messages after going back, %zu were there",
         r->view.count, then.count);
    for (size_t i = 0; i < then.count; i++) {
        bool same = r->view.items[i].row == then.items[i].row &&
                    r->view.items[i].made == then.items[i].made;
        MUST(same && maki_str_is(model_json(&r->view, i), model_json(&then, i)),
             "message %zu is not what it was then", i);
    }
    return true;
}

static bool rewind_to(run *r, uint64_t seq, uint64_t ev)
{
    model *m = model_now(r);
    uint64_t events = m->event_count, tokens = model_tokens(&r->view);
    uint64_t to = seq == MAKI_NOW ? (ev ? m->events[ev - 1]->at : m->base) : seq;
    uint64_t last = model_last(m);
    maki_change c;
    maki_err err = { 0 };
    maki_status st = maki_conv_rewind(conv_now(r), NULL, seq, ev, &c, &err);
    MUST(st == (to > last ? MAKI_NOTFOUND : MAKI_OK), "rewind: %s %s", maki_status_name(st),
         err.msg);
    if (!check_change(r, st, &c, &err, events, tokens)) return false;
    if (st != MAKI_OK) return true;
    to = settled(r, to);
    MUST(m->events[events]->to == to, "went back to %llu, not %llu",
         (unsigned long long)m->events[events]->to, (unsigned long long)to);
    return check_rewound(r, to, ev, 0);
}

static bool do_rewind_seq(run *r)
{
    uint64_t last = model_last(model_now(r));
    uint64_t back = chance(r, 3) ? chance(r, 12) : chance(r, (size_t)last + 1);
    uint64_t seq = last > back ? last - back : chance(r, (size_t)last + 2);
    step(r, "rewind seq=%llu", (unsigned long long)seq);
    return rewind_to(r, seq, MAKI_NOW);
}

static bool do_rewind_ev(run *r)
{
    size_t events = model_now(r)->event_count;
    if (!events) return do_rewind_seq(r);
    uint64_t ev = 1 + chance(r, events);
    step(r, "rewind ev=%llu", (unsigned long long)ev);
    return rewind_to(r, MAKI_NOW, ev);
}

/* To a moment that was seen. */
static bool do_rewind_moment(run *r)
{
    const moment *then = &r->moments[chance(r, r->moment_count)];
    if (then->conv != r->now) return true;
    step(r, "rewind seq=%llu ev=%llu", (unsigned long long)then->seq, (unsigned long long)then->ev);
    return rewind_to(r, then->seq, then->ev);
}

static bool do_rewind_time(run *r)
{
    model *m = model_now(r);
    int64_t ms = r->maker.clock - (int64_t)chance(r, 40000);
    bool include = chance(r, 2);
    uint64_t got = 0, want = model_last(m);
    maki_err err = { 0 };
    uint64_t last = want, behind = 0; /* those without a time are of the time of the one before */
    bool timed = false;
    for (; want > 0; want--) {
        int64_t ts = model_row_at(m, want)->ts;
        timed = timed || ts != 0;
        if (ts != 0 && (ts < ms || (include && ts == ms))) break;
        behind = ts != 0 ? 0 : behind ? behind : want;
    }
    if (behind) want = behind;
    maki_status st = maki_conv_seq_before(conv_now(r), ms, include, &got, &err);
    if (last > 0 && !timed) {
        MUST(st == MAKI_REFUSED, "a time where no message has one is not refused");
        return true;
    }
    step(r, "rewind to a time: seq=%llu", (unsigned long long)got);
    MUST(st == MAKI_OK && got == want, "the message before a time is %llu, not %llu",
         (unsigned long long)got, (unsigned long long)want);
    return rewind_to(r, got, MAKI_NOW);
}

/* Would this event, undone, hide what may not be hidden? */
static bool would_break(run *r, uint64_t target)
{
    static model_view view, rows;
    model *m = model_now(r);
    model_event undo = {
        .type = MODEL_UNDO, .of = m, .ev = m->event_count + 1, .at = model_last(m), .target = target
    };
    if (m->event_count == MODEL_EVENTS) return false;
    m->events[m->event_count++] = &undo;
    model_see(m, UINT64_MAX, UINT64_MAX, true, &view);
    model_see(m, UINT64_MAX, UINT64_MAX, false, &rows);
    m->event_count--;
    return model_broken(&view, &rows) != NULL;
}

/* Does undoing it bring rows back that others were said after? */
static bool changes_rows(run *r, uint64_t target)
{
    model *m = model_now(r);
    const model_event *e = m->events[target - 1];
    return e->type == MODEL_REWIND || (e->type == MODEL_UNDO && changes_rows(r, e->target));
}

/* With `can`, the newest that would not hide what may not be hidden. */
static uint64_t newest_that_counts(run *r, bool can)
{
    model *m = model_now(r);
    for (uint64_t ev = m->event_count; ev > 0; ev--) {
        model_type type = m->events[ev - 1]->type;
        if (type == MODEL_UNDO || type == MODEL_FORK || type == MODEL_OTHER) continue;
        if (model_counts(m, ev, UINT64_MAX) && !(can && would_break(r, ev))) return ev;
    }
    return 0;
}

static bool undo(run *r, uint64_t ev, maki_status *out)
{
    model *m = model_now(r);
    uint64_t events = m->event_count, tokens = model_tokens(&r->view);
    uint64_t target = ev ? ev : newest_that_counts(r, true);
    bool can = target && m->events[target - 1]->type != MODEL_FORK &&
               m->events[target - 1]->type != MODEL_OTHER && model_counts(m, target, UINT64_MAX) &&
               !would_break(r, target);
    maki_change c;
    maki_err err = { 0 };
    maki_status st = maki_conv_undo(conv_now(r), NULL, ev, &c, &err);
    MUST(st == (can ? MAKI_OK : MAKI_REFUSED), "undo of %llu: %s %s", (unsigned long long)target,
         maki_status_name(st), err.msg);
    if (st == MAKI_OK && changes_rows(r, target)) {
        r->undone_rewind = true;
        tally.rewound_undo++;
    }
    *out = st;
    if (!check_change(r, st, &c, &err, events, tokens)) return false;
    MUST(st != MAKI_OK || m->events[events]->target == target, "undid %llu, not %llu",
         (unsigned long long)m->events[events]->target, (unsigned long long)target);
    return true;
}

static bool do_undo(run *r, bool newest)
{
    maki_status st;
    size_t events = model_now(r)->event_count;
    uint64_t ev = newest || !events ? 0 : 1 + chance(r, events);
    step(r, "undo ev=%llu", (unsigned long long)ev);
    return undo(r, ev, &st);
}

/* An edit, or without a message a deletion. */
static bool do_edit(run *r, bool with)
{
    model *m = model_now(r);
    uint64_t last = model_last(m), events = m->event_count, tokens = model_tokens(&r->view);
    uint64_t seq = chance(r, 4) ? some_visible(r) : chance(r, (size_t)last + 3);
    size_t kind = chance(r, 6);
    model_row *row = !with      ? NULL
                     : kind < 4 ? row_plain(&r->maker, "user")
                     : kind < 5 ? row_plain(&r->maker, "assistant")
                                : row_call(&r->maker);
    maki_change c;
    maki_err err = { 0 };
    step(r, "%s seq=%llu", with ? "edit" : "delete", (unsigned long long)seq);
    maki_status want = seq == 0 ? MAKI_INVALID : seq > last ? MAKI_NOTFOUND : MAKI_OK;
    uint64_t to = want == MAKI_OK ? settled(r, seq - 1) : 0;
    maki_status st =
        maki_conv_edit(conv_now(r), NULL, seq, row ? row->json : (maki_str){ "", 0 }, &c, &err);
    MUST(st == want, "edit: %s %s", maki_status_name(st), err.msg);
    if (!take_events(r)) return false;
    if (st == MAKI_OK && row && !take_row(r, row)) return false;
    if (!check_change(r, st, &c, &err, events, tokens)) return false;
    if (st != MAKI_OK) return true;
    MUST(m->events[events]->to == to, "went back to %llu",
         (unsigned long long)m->events[events]->to);
    MUST(!row || r->view.items[r->view.count - 1].row == row, "the new text is not there");
    return check_rewound(r, to, MAKI_NOW, row ? 1 : 0);
}

/* After a prune was taken back for it, a message is shown as it came. */
static bool check_whole(run *r, uint64_t seq)
{
    for (size_t i = 0; i < r->view.count; i++) {
        const model_row *row = r->view.items[i].row;
        if (row && row->seq == seq)
            MUST(maki_str_is(model_json(&r->view, i), row->json), "it is not whole again");
    }
    return true;
}

static bool do_expand(run *r)
{
    model *m = model_now(r);
    uint64_t last = model_last(m), events = m->event_count, tokens = model_tokens(&r->view);
    uint64_t seq = 1 + chance(r, (size_t)last + 1);
    maki_change c;
    maki_err err = { 0 };
    step(r, "expand seq=%llu", (unsigned long long)seq);
    maki_status st = maki_conv_expand(conv_now(r), NULL, seq, &c, &err);
    MUST(st == MAKI_OK || st == MAKI_REFUSED, "expand: %s", err.msg);
    if (!check_change(r, st, &c, &err, events, tokens)) return false;
    if (st == MAKI_OK) {
        const model_event *e = m->events[events];
        model_type type = e->type == MODEL_UNDO ? m->events[e->target - 1]->type : e->type;
        MUST(type == MODEL_HIDING || type == MODEL_TRIM || type == MODEL_PRUNE,
             "undid something else");
        if (e->type == MODEL_PRUNE && !check_whole(r, seq)) return false;
    }
    return true;
}

/* ---- making room ----------------------------------------------------------------------------------------- */

static double some_share(run *r)
{
    return chance(r, 8) ? 0 : (double)(1 + chance(r, 99)) / 100;
}

/* Steps with any amounts: those that make no sense are refused, or do nothing. */
static maki_policy some_policy(run *r)
{
    static const maki_str tools[] = { { "*", 1 }, { "read_*", 6 }, { "LS", 2 } };
    if (chance(r, 2)) return *maki_policy_at(chance(r, 4));
    maki_policy policy = { .name = "by chance", .step_count = 1 + chance(r, 5) };
    for (size_t i = 0; i < policy.step_count; i++) {
        maki_step *step = &policy.steps[i];
        *step = maki_step_of((maki_step_kind)chance(r, chance(r, 2) ? 3 : MAKI_STEP_LAST + 1));
        step->when = chance(r, 2) ? 0 : (unsigned)chance(r, 8);
        step->from = some_share(r);
        step->below = some_share(r);
        step->target = some_share(r);
        step->keep = 1 + chance(r, 3);
        step->min_messages = chance(r, 8) ? 0 : chance(r, 20);
        step->min_saving = some_share(r);
        step->min_window = chance(r, 8) ? 0 : (double)chance(r, 5000);
        step->share = some_share(r);
        step->must_reach = step->kind <= MAKI_STEP_SHRINK_CODE && chance(r, 4) == 0;
        step->max_chars = chance(r, 300);
        step->head_chars = chance(r, 100);
        step->tail_chars = chance(r, 100);
        step->min_prunable_chars = chance(r, 1000);
        step->hard_clear = chance(r, 2);
        step->allow = &tools[chance(r, COUNT(tools))];
        step->deny = &tools[chance(r, COUNT(tools))];
        step->allow_count = chance(r, 2);
        step->deny_count = chance(r, 4) == 0;
    }
    return policy;
}

/* What is sent is what was counted, to the token. */
static bool check_exact(run *r, const maki_manage_report *report, double other)
{
    uint64_t sum = 0;
    maki_err err = { 0 };
    for (size_t i = 0; i < r->view.count; i++) {
        uint64_t tokens = 0;
        maki_status st = maki_tally_message(&r->exact, 0, model_json(&r->view, i), &tokens, &err);
        MUST(st == MAKI_OK, "counting anew: %s", err.msg);
        sum += tokens;
    }
    MUST(report->tokens_after == (double)sum + other, "%g tokens after, there are %llu",
         report->tokens_after, (unsigned long long)sum);
    MUST(report->within == ((double)sum + other <= report->allowed), "within: %d", report->within);
    return true;
}

/* Undone, newest first, the events of a run leave nothing behind. */
static bool take_back(run *r, uint64_t events, uint64_t before)
{
    model *m = model_now(r);
    for (uint64_t ev = m->event_count; ev > events; ev--) {
        maki_change c;
        maki_err err = { 0 };
        model_type type = m->events[ev - 1]->type; /* others: the note that a run leaves */
        if (type == MODEL_UNDO || type == MODEL_OTHER || !model_counts(m, ev, UINT64_MAX)) continue;
        maki_status st = maki_conv_undo(conv_now(r), NULL, ev, &c, &err);
        MUST(st == MAKI_OK, "event %llu of the run cannot be undone: %s", (unsigned long long)ev,
             err.msg);
        if (!take_events(r)) return false;
    }
    if (!check_now(r)) return false;
    MUST(maki_row_hash(maki_buf_str(&r->wanted)) == before, "the run left something behind");
    tally.taken_back++;
    return true;
}

/* A message that is pinned looks as before. */
static bool check_pinned(run *r, const model_view *before)
{
    for (size_t i = 0; i < before->count; i++) {
        const model_row *row = before->items[i].row;
        if (!row || !(row->system || model_pinned(before, row->seq))) continue;
        size_t k = 0;
        while (k < r->view.count && r->view.items[k].row != row)
            k++;
        MUST(k < r->view.count, "message %llu had to stay", (unsigned long long)row->seq);
        MUST(maki_str_is(model_json(before, i), model_json(&r->view, k)),
             "message %llu was shortened", (unsigned long long)row->seq);
    }
    return true;
}

static bool do_manage(run *r)
{
    static model_view before;
    for (size_t i = chance(r, 2) ? 0 : 3 + chance(r, 6); i > 0; i--) {
        step(r, "more to say: ");
        if (!do_append(r)) return false;
    }
    maki_summarizer tiny = { .usable = chance(r, 8) > 0, .run = tiny_summary };
    maki_summarizer offline = maki_summarizer_offline();
    maki_policy policy = some_policy(r);
    maki_manage_in in = { .window = chance(r, 4) ? (double)(60 + chance(r, 3000))
                                                 : (double)(2000 + chance(r, 998001)),
                          .max_tokens = (double)chance(r, 100),
                          .other_tokens = (double)chance(r, 30),
                          .threshold = (double)chance(r, 110),
                          .force = chance(r, 2),
                          .keep = chance(r, 5),
                          .policy = &policy,
                          .summarizer = chance(r, 2) ? &tiny : &offline };
    maki_manage_report report;
    maki_err err = { 0 };
    uint64_t events = model_now(r)->event_count;
    uint64_t hash = maki_row_hash(maki_buf_str(&r->wanted));
    before = r->view;
    maki_status st = maki_manage_conversation(conv_now(r), &in, &report, &err);
    step(r, "manage %s window=%g -> %s %s", policy.name, in.window, maki_status_name(st),
         report.action);
    for (size_t i = 0; i < report.taken_count; i++) {
        const maki_taken *taken = &report.taken[i];
        step(r, " %s%s%s", maki_step_name(taken->kind), taken->undone ? "-" : ":", taken->refused);
        if (taken->event && !taken->undone) tally.kinds[taken->kind]++;
    }
    step(r, "\n");
    MUST(st == MAKI_OK, "manage: %s", err.msg);
    if (!check_now(r) || !check_exact(r, &report, in.other_tokens) || !check_pinned(r, &before))
        return false;
    tally.managed++;
    tally.within += report.within;
    return chance(r, 2) ? true : take_back(r, events, hash);
}

static bool do_fork(run *r)
{
    model *m = model_now(r);
    uint64_t last = model_last(m);
    maki_err err = { 0 };
    if (r->conv_count == CONVS || last == 0) return true;
    uint64_t seq = chance(r, 2) ? last : 1 + chance(r, (size_t)last);
    unsigned first;
    if (seq == last && model_pending(&r->view, &first)) tally.pending_forks++;
    size_t child = r->conv_count;
    model *c = &r->models[child];
    memset(c, 0, sizeof *c);
    c->parent = m;
    snprintf(c->path, sizeof c->path, "%s/c%zu.jsonl", r->folder->path, child);
    step(r, "fork seq=%llu", (unsigned long long)seq);
    c->base = settled(r, seq);
    maki_status st = maki_conv_fork(conv_now(r), seq, MAKI_NOW, c->path, &err);
    step(r, " -> %s, now in c%zu\n", maki_status_name(st), child);
    MUST(st == (c->base ? MAKI_OK : MAKI_NOTFOUND), "fork: %s", err.msg);
    if (st != MAKI_OK) return true;
    c->fork_ev = model_event_at(m, c->base);
    r->conv_count++;
    r->now = child;
    if (!open_conv(r, child)) return false;
    MUST(maki_log_base(maki_conv_log(conv_now(r))) == c->base, "forked at %llu, not %llu",
         (unsigned long long)maki_log_base(maki_conv_log(conv_now(r))),
         (unsigned long long)c->base);
    return check_now(r);
}

static bool do_reopen(run *r)
{
    step(r, "reopen\n");
    close_conv(r, r->now);
    return open_conv(r, r->now) && check_now(r);
}

static bool do_switch(run *r)
{
    r->now = chance(r, r->conv_count);
    step(r, "switch to c%zu\n", r->now);
    return check_now(r);
}

static bool do_note(run *r)
{
    maki_change c;
    maki_err err = { 0 };
    step(r, "note\n");
    maki_status st =
        maki_conv_note(conv_now(r), "usage", MAKI_LIT("\"input\":5,\"seq\":1,\"to\":0"), &c, &err);
    MUST(st == MAKI_OK, "note: %s", err.msg);
    return check_now(r);
}

/* Somebody else wrote first. */
static bool do_conflict(run *r)
{
    unsigned char head[MAKI_CHAIN_LEN];
    maki_change c;
    maki_err err = { 0 };
    memcpy(head, maki_log_head(maki_conv_log(conv_now(r))), sizeof head);
    head[3] ^= 1;
    maki_status st = chance(r, 2) ? maki_conv_truncate(conv_now(r), head, 0.5, &c, &err)
                                  : maki_conv_rewind(conv_now(r), head, 1, MAKI_NOW, &c, &err);
    step(r, "a head that has moved -> %s\n", maki_status_name(st));
    MUST(st == MAKI_CONFLICT, "wrote on a head that had moved: %s", maki_status_name(st));
    return check_now(r);
}

static bool one_step(run *r)
{
    size_t n = chance(r, 100);
    tally.steps++;
    if (n < 37) return do_append(r);
    if (n < 42) return do_manage(r);
    if (n < 50) return do_condense(r);
    if (n < 56) return do_truncate(r);
    if (n < 60) return do_trim(r);
    if (n < 63) return do_prune(r);
    if (n < 67) return do_pin(r, true);
    if (n < 70) return do_pin(r, false);
    if (n < 74) return do_rewind_seq(r);
    if (n < 76) return do_rewind_ev(r);
    if (n < 77) return do_rewind_moment(r);
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

/* ---- the end ------------------------------------------------------------------------------------------------ */

/* Every row there is, whatever was done. */
static bool check_everything(run *r)
{
    const maki_view *view;
    maki_err err = { 0 };
    model *m = model_now(r);
    maki_buf_clear(&r->wanted);
    for (uint64_t s = 1; s <= model_last(m); s++) {
        maki_buf_add(&r->wanted, model_row_at(m, s)->json);
        maki_buf_add_byte(&r->wanted, '\n');
    }
    maki_status st = maki_conv_everything(conv_now(r), &view, &err);
    MUST(st == MAKI_OK && write_view(r, view, false), "everything: %s", err.msg);
    MUST(maki_str_is(maki_buf_str(&r->text), maki_buf_str(&r->wanted)),
         "everything is not all rows");
    return true;
}

static bool undo_all(run *r)
{
    const maki_view *view;
    maki_err err = { 0 };
    maki_status st = MAKI_OK;
    model *m = model_now(r);
    while (st == MAKI_OK) {
        step(r, "undo all");
        if (!undo(r, 0, &st)) return false;
    }
    uint64_t left = newest_that_counts(r, false);
    if (left && m->events[left - 1]->type == MODEL_REWIND) {
        /* Events that were undone out of order can leave a rewind that cannot be: what it left out would
         * hide what has to stay.  That is refused, as the model says too; it must be rare. */
        tally.stuck++;
        return true;
    }
    MUST(left == 0, "event %llu counts and cannot be undone", (unsigned long long)left);
    model_untouched(m, &r->view);
    write_model(r, &r->view);
    st = maki_conv_view(conv_now(r), MAKI_NOW, MAKI_NOW, &view, &err);
    MUST(st == MAKI_OK, "the view: %s", err.msg);
    if (!compare_view(r, view) || !write_view(r, view, false)) return false;
    MUST(maki_str_is(maki_buf_str(&r->text), maki_buf_str(&r->wanted)),
         "undoing everything does not give the untouched log");
    return true;
}

static bool rebuild_index(run *r, size_t which)
{
    const char *path = index_path(&r->models[which]);
    close_conv(r, which);
    maki_str before = folder_read(path);
    unlink(path);
    bool opened = open_conv(r, which);
    maki_str after = folder_read(index_path(&r->models[which]));
    bool same = before.ptr && after.ptr && maki_str_is(before, after);
    free((void *)(uintptr_t)before.ptr);
    free((void *)(uintptr_t)after.ptr);
    if (!opened) return false;
    MUST(same, "the index of c%zu came back different", which);
    return true;
}

static bool proved(run *r, size_t which)
{
    maki_env env = maki_env_system();
    maki_fact_state facts = { .alloc = env.alloc };
    maki_tally counter;
    maki_tally_init(&counter, &env, 0);
    maki_log_options options = { .family = MAKI_FAMILY,
                                 .facts = maki_facts_of,
                                 .facts_ctx = &facts,
                                 .tokens = maki_tally_row,
                                 .tokens_ctx = &counter };
    maki_beside_family other = { maki_tally_name(1 + r->seed % 2), maki_tally_read, &r->other };
    options.beside = &other;
    options.beside_count = 1;
    maki_err err = { 0 };
    char path[600];
    const char *index = index_path(&r->models[which]);
    snprintf(path, sizeof path, "%.*s.jsonl", (int)(strlen(index) - strlen(".idx")), index);
    maki_status st = maki_log_verify(&env, path, &options, NULL, NULL, NULL, &err);
    maki_tally_close(&counter);
    MUST(st == MAKI_OK, "verify of c%zu: %s", which, err.msg);
    return true;
}

static bool finish(run *r)
{
    for (size_t i = 0; i < r->conv_count; i++) {
        if (!proved(r, i) || !rebuild_index(r, i)) return false;
    }
    for (size_t i = 0; i < r->moment_count; i++) {
        if (!check_moment(r, &r->moments[i])) return false;
    }
    for (r->now = 0; r->now < r->conv_count; r->now++) {
        step(r, "at the end: c%zu\n", r->now);
        if (!check_now(r) || !check_everything(r) || !undo_all(r)) return false;
    }
    return true;
}

static bool all_steps(run *r)
{
    size_t steps = STEPS_LEAST + chance(r, STEPS_MORE);
    if (!open_conv(r, 0) || !check_now(r)) return false;
    for (size_t i = chance(r, 4); i > 0; i--) {
        step(r, "first: ");
        if (!do_append(r)) return false;
    }
    for (size_t i = 0; i < steps; i++) {
        step(r, "%zu: ", i + 1);
        r->fake.now_ms += (int64_t)chance(r, 2000);
        if (!one_step(r)) return false;
        bool again = r->moment_count && chance(r, 4) == 0;
        if (again && !check_moment(r, &r->moments[chance(r, r->moment_count)])) return false;
    }
    return finish(r);
}

static bool run_seed(run *r, folder *f, uint64_t seed)
{
    r->seed = seed;
    r->random = (tap_random){ seed * 0x9E3779B97F4A7C15u | 1 };
    r->folder = f;
    fake_env_init(&r->fake);
    fake_random_seed(&r->fake, seed);
    r->env = maki_env_system();
    r->env.alloc = &reusing;
    r->env.random = r->fake.env.random;
    r->env.clock = r->fake.env.clock;
    r->conv_count = 1;
    r->now = r->moment_count = r->steps_len = 0;
    r->maker.next_call = 1;
    r->maker.clock = 1700000000000;
    r->undone_rewind = false;
    r->checks = 0;
    maki_tally_init(&r->other, &r->env, 1 + seed % 2);
    maki_tally_init(&r->exact, &r->env, 0);
    r->steps[0] = '\0';
    memset(&r->models[0], 0, sizeof r->models[0]);
    snprintf(r->models[0].path, sizeof r->models[0].path, "%s/c0.jsonl", f->path);
    bool ok = all_steps(r);
    maki_tally_close(&r->other);
    maki_tally_close(&r->exact);
    /* the indexes of other families stay: the next seed must find that they are not its own */
    for (size_t i = 0; i < CONVS; i++) {
        static const char *const names[] = { ".jsonl", ".events.jsonl", ".idx" };
        close_conv(r, i);
        for (size_t k = 0; k < COUNT(names); k++) {
            char path[330];
            snprintf(path, sizeof path, "%s/c%zu%s", f->path, i, names[k]);
            unlink(path);
        }
    }
    model_pool_clear();
    return ok;
}

int main(int argc, char **argv)
{
    static run r;
    folder f;
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : argc > 1 ? 1 : SEEDS;
    uint64_t part = count < ROWS_OF_TAP ? count : count / ROWS_OF_TAP;
    if (!getenv("TMPDIR") && access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
    folder_open(&f);
    r.text = maki_buf_new(maki_env_system().alloc, 64 << 20);
    r.maker.random = &r.random;
    r.maker.text = maki_buf_new(maki_env_system().alloc, 64 << 20);
    r.wanted = maki_buf_new(maki_env_system().alloc, 64 << 20);
    int failures = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        if ((seed - first) % part == 0) {
            tap_row("random conversations from seed %llu on", (unsigned long long)seed);
        }
        bool ok = run_seed(&r, &f, seed);
        CHECK(ok);
        if (argc == 2 && ok) printf("%s", r.steps);
        if (!ok && ++failures == 5) break;
    }
    if (count == SEEDS) {
        tap_row("the checks were reached: %zu steps, %zu changes, %zu refused, %zu rewinds undone, "
                "%zu moments shown again, %zu forks with a call open, %zu sums in another family",
                tally.steps, tally.ok, tally.refused, tally.rewound_undo, tally.replayed,
                tally.pending_forks, tally.others);
        tap_row("and %zu runs that make room, %zu within, %zu taken back", tally.managed,
                tally.within, tally.taken_back);
        CHECK(tally.stuck < 20);
        CHECK(tally.managed > 5000 && tally.within > 3000 && tally.taken_back > 1000);
        for (size_t i = 0; i < COUNT(tally.kinds); i++) {
            printf("# %s %zu\n", maki_step_name((maki_step_kind)i), tally.kinds[i]);
            CHECK(tally.kinds[i] > 100);
        }
        CHECK(tally.ok > 20000 && tally.refused > 5000 && tally.rewound_undo > 500 &&
              tally.replayed > 50000 && tally.pending_forks > 50 && tally.others > 20000);
    }
    maki_buf_free(&r.text);
    maki_buf_free(&r.maker.text);
    maki_buf_free(&r.wanted);
    free_bigs();
    folder_close(&f);
    return tap_end();
}
