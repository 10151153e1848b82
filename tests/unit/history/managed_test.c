/* managed_test.c -- random conversations (random_run.h) with runs of the context manager (manage/manage.h) between all
 * other steps, by a preset or by a policy of random steps and windows.
 *
 * After a run its token count is exact, pinned and system messages are unchanged, and undoing its events one by one
 * restores the view before it. */
#include <stdio.h>

#include "base/hash.h"
#include "manage/manage.h"
#include "random_run.h"
#include "summary/offline.h"

enum { SEEDS = 2000 };

static maki_token_counter exact; /* counts again, in the default family */

static struct {
    size_t managed, fits, undone, kinds[MAKI_STEP_KINDS];
} totals; /* over all seeds */

static double random_share(run *r)
{
    return run_chance(r, 8) ? 0 : (double)(1 + run_chance(r, 99)) / 100;
}

/* Steps with any values: invalid ones are refused, or do nothing. */
static maki_policy random_policy(run *r)
{
    static const maki_str tools[] = { { "*", 1 }, { "read_*", 6 }, { "LS", 2 } };
    if (run_chance(r, 2)) return *maki_policy_at(run_chance(r, 4));
    maki_policy policy = { .name = "random", .step_count = 1 + run_chance(r, 5) };
    for (size_t i = 0; i < policy.step_count; i++) {
        maki_step *step = &policy.steps[i];
        *step = maki_step_of(
            (maki_step_kind)(1 + run_chance(r, run_chance(r, 2) ? 3 : MAKI_STEP_LAST_RESORT)));
        step->when = run_chance(r, 2) ? 0 : (unsigned)run_chance(r, 8);
        step->from = random_share(r);
        step->below = random_share(r);
        step->target = random_share(r);
        step->keep = 1 + run_chance(r, 3);
        step->min_messages = run_chance(r, 8) ? 0 : run_chance(r, 20);
        step->min_saving = random_share(r);
        step->min_window = run_chance(r, 8) ? 0 : (double)run_chance(r, 5000);
        step->share = random_share(r);
        step->must_reach = step->kind <= MAKI_STEP_SHRINK_CODE && run_chance(r, 4) == 0;
        step->max_chars = run_chance(r, 300);
        step->head_chars = run_chance(r, 100);
        step->tail_chars = run_chance(r, 100);
        step->min_prunable_chars = run_chance(r, 1000);
        step->hard_clear = run_chance(r, 2);
        step->allow = &tools[run_chance(r, COUNT(tools))];
        step->deny = &tools[run_chance(r, COUNT(tools))];
        step->allow_count = run_chance(r, 2);
        step->deny_count = run_chance(r, 4) == 0;
    }
    return policy;
}

/* The reported tokens are those of the view, counted again. */
static bool check_exact(run *r, const maki_manage_report *report, double other)
{
    uint64_t sum = 0;
    maki_err err = { 0 };
    for (size_t i = 0; i < r->view.count; i++) {
        uint64_t tokens = 0;
        maki_status st =
            maki_token_counter_message(&exact, 0, model_json(&r->view, i), &tokens, &err);
        MUST(st == MAKI_OK, "counting anew: %s", err.msg);
        sum += tokens;
    }
    MUST(report->tokens_after == (double)sum + other, "%g tokens after, there are %llu",
         report->tokens_after, (unsigned long long)sum);
    MUST(report->fits == ((double)sum + other <= report->allowed), "within: %d", report->fits);
    return true;
}

/* Undo the events of a run, newest first: the view is as before the run. */
static bool undo_run(run *r, uint64_t events, uint64_t before)
{
    model *m = run_model(r);
    for (uint64_t ev = m->event_count; ev > events; ev--) {
        maki_change c;
        maki_err err = { 0 };
        model_type type = m->events[ev - 1]->type; /* others: the note that a run leaves */
        if (type == MODEL_UNDO || type == MODEL_OTHER || !model_counts(m, ev, UINT64_MAX)) continue;
        maki_status st = maki_conv_undo(run_conv(r), NULL, ev, &c, &err);
        MUST(st == MAKI_OK, "event %llu of the run cannot be undone: %s", (unsigned long long)ev,
             err.msg);
        if (!run_take_events(r)) return false;
    }
    if (!run_check_now(r)) return false;
    MUST(maki_row_hash(maki_buf_str(&r->wanted)) == before, "the run left something behind");
    totals.undone++;
    return true;
}

/* Pinned and system messages are still there, unchanged. */
static bool check_pinned(run *r, const model_view *before)
{
    for (size_t i = 0; i < before->count; i++) {
        const model_row *row = before->items[i].row;
        if (!row || !(row->system || model_pinned(before, row->seq))) continue;
        size_t k = 0;
        while (k < r->view.count && r->view.items[k].row != row)
            k++;
        MUST(k < r->view.count, "message %llu had to stay", (unsigned long long)row->seq);
        MUST(maki_str_equal(model_json(before, i), model_json(&r->view, k)),
             "message %llu was shortened", (unsigned long long)row->seq);
    }
    return true;
}

/* A run writes at most one event that condenses, one that truncates and one that shortens, and its record. */
static bool check_once(run *r, uint64_t events)
{
    model *m = run_model(r);
    size_t hiding = 0, shortening = 0, records = 0;
    for (uint64_t ev = events; ev < m->event_count; ev++) {
        model_type type = m->events[ev]->type;
        hiding += type == MODEL_HIDING;
        shortening += type == MODEL_PRUNE;
        records += type == MODEL_OTHER;
    }
    MUST(hiding <= 2 && shortening <= 1 && records <= 1 &&
             hiding + shortening + records == m->event_count - events,
         "the run wrote %zu events that hide, %zu that shorten, %zu records", hiding, shortening,
         records);
    return true;
}

static bool run_manager(run *r)
{
    static model_view before;
    for (size_t i = run_chance(r, 4) ? 0 : 3 + run_chance(r, 6); i > 0; i--) {
        run_trace(r, "more messages: ");
        if (!run_append(r)) return false;
    }
    maki_summarizer tiny = { .usable = run_chance(r, 8) > 0, .run = run_tiny_summary };
    maki_summarizer offline = maki_summarizer_offline_with(NULL);
    maki_policy policy = random_policy(r);
    maki_manage_options in = { .window = run_chance(r, 4) ? (double)(60 + run_chance(r, 3000))
                                                          : (double)(2000 + run_chance(r, 998001)),
                               .max_tokens = (double)run_chance(r, 100),
                               .other_tokens = (double)run_chance(r, 30),
                               .threshold = (double)run_chance(r, 110),
                               .force = run_chance(r, 2),
                               .keep = run_chance(r, 5),
                               .policy = &policy,
                               .summarizer = run_chance(r, 2) ? &tiny : &offline };
    maki_manage_report report;
    maki_err err = { 0 };
    uint64_t events = run_model(r)->event_count;
    uint64_t hash = maki_row_hash(maki_buf_str(&r->wanted));
    before = r->view;
    maki_status st = maki_manage_conversation(run_conv(r), &in, &report, &err);
    run_trace(r, "manage %s window=%g -> %s %s", policy.name, in.window, maki_status_name(st),
              maki_step_name(report.action));
    for (size_t i = 0; i < report.taken_count; i++) {
        const maki_step_result *taken = &report.taken[i];
        run_trace(r, " %s%s%s", maki_step_name(taken->kind), taken->undone ? "-" : ":",
                  taken->refused);
        if (taken->event && !taken->undone) totals.kinds[taken->kind]++;
    }
    run_trace(r, "\n");
    MUST(st == MAKI_OK, "manage: %s", err.msg);
    if (!run_check_now(r) || !check_once(r, events) || !check_exact(r, &report, in.other_tokens) ||
        !check_pinned(r, &before))
        return false;
    totals.managed++;
    totals.fits += report.fits;
    return run_chance(r, 2) ? true : undo_run(r, events, hash);
}

static bool one_step(run *r)
{
    return run_chance(r, 4) ? run_ordinary_step(r) : run_manager(r);
}

int main(int argc, char **argv)
{
    static run r;
    maki_env env = maki_env_system();
    maki_token_counter_init(&exact, &env);
    if (run_seeds(&r, argc, argv, "managed_test", SEEDS, one_step)) {
        tap_row("%zu runs of the manager, %zu within, %zu undone", totals.managed, totals.fits,
                totals.undone);
        CHECK(r.reached.stuck < 20);
        CHECK(totals.managed > 5000 && totals.fits > 3000 && totals.undone > 1000);
        for (size_t i = MAKI_STEP_NONE + 1; i < MAKI_STEP_TRIM; i++) {
            printf("# %s %zu\n", maki_step_name((maki_step_kind)i), totals.kinds[i]);
            CHECK(totals.kinds[i] > 100);
        }
    }
    maki_token_counter_close(&exact);
    return tap_end();
}
