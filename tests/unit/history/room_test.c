/* room_test.c -- random conversations (random_run.h) in which room is made all the time, by a preset or
 * by a policy of steps and windows by chance, with every other step in between.
 *
 * A run counts what it leaves to the token, leaves alone what may not change, and taken back, event by
 * event, leaves nothing behind. */
#include <stdio.h>

#include "base/hash.h"
#include "manage/manage.h"
#include "random_run.h"
#include "summary/offline.h"

enum { SEEDS = 2000 };

static maki_token_counter exact; /* counts anew, in the default family */

static struct {
    size_t managed, within, taken_back, kinds[MAKI_STEP_KINDS];
} capacity; /* over all seeds */

static double some_share(run *r)
{
    return run_chance(r, 8) ? 0 : (double)(1 + run_chance(r, 99)) / 100;
}

/* Steps with any amounts: those that make no sense are refused, or do nothing. */
static maki_policy some_policy(run *r)
{
    static const maki_str tools[] = { { "*", 1 }, { "read_*", 6 }, { "LS", 2 } };
    if (run_chance(r, 2)) return *maki_policy_at(run_chance(r, 4));
    maki_policy policy = { .name = "by chance", .step_count = 1 + run_chance(r, 5) };
    for (size_t i = 0; i < policy.step_count; i++) {
        maki_step *step = &policy.steps[i];
        *step = maki_step_of(
            (maki_step_kind)(1 + run_chance(r, run_chance(r, 2) ? 3 : MAKI_STEP_LAST)));
        step->when = run_chance(r, 2) ? 0 : (unsigned)run_chance(r, 8);
        step->from = some_share(r);
        step->below = some_share(r);
        step->target = some_share(r);
        step->keep = 1 + run_chance(r, 3);
        step->min_messages = run_chance(r, 8) ? 0 : run_chance(r, 20);
        step->min_saving = some_share(r);
        step->min_window = run_chance(r, 8) ? 0 : (double)run_chance(r, 5000);
        step->share = some_share(r);
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

/* What is sent is what was counted, to the token. */
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
    MUST(report->within == ((double)sum + other <= report->allowed), "within: %d", report->within);
    return true;
}

/* Undone, newest first, the events of a run leave nothing behind. */
static bool take_back(run *r, uint64_t events, uint64_t before)
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
    capacity.taken_back++;
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

static bool make_capacity(run *r)
{
    static model_view before;
    for (size_t i = run_chance(r, 4) ? 0 : 3 + run_chance(r, 6); i > 0; i--) {
        run_tell(r, "more to say: ");
        if (!run_append(r)) return false;
    }
    maki_summarizer tiny = { .usable = run_chance(r, 8) > 0, .run = run_tiny_summary };
    maki_summarizer offline = maki_summarizer_offline_with(NULL);
    maki_policy policy = some_policy(r);
    maki_manage_in in = { .window = run_chance(r, 4) ? (double)(60 + run_chance(r, 3000))
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
    run_tell(r, "manage %s window=%g -> %s %s", policy.name, in.window, maki_status_name(st),
             maki_step_name(report.action));
    for (size_t i = 0; i < report.taken_count; i++) {
        const maki_step_result *taken = &report.taken[i];
        run_tell(r, " %s%s%s", maki_step_name(taken->kind), taken->undone ? "-" : ":",
                 taken->refused);
        if (taken->event && !taken->undone) capacity.kinds[taken->kind]++;
    }
    run_tell(r, "\n");
    MUST(st == MAKI_OK, "manage: %s", err.msg);
    if (!run_check_now(r) || !check_once(r, events) || !check_exact(r, &report, in.other_tokens) ||
        !check_pinned(r, &before))
        return false;
    capacity.managed++;
    capacity.within += report.within;
    return run_chance(r, 2) ? true : take_back(r, events, hash);
}

static bool one_step(run *r)
{
    return run_chance(r, 4) ? run_ordinary_step(r) : make_capacity(r);
}

int main(int argc, char **argv)
{
    static run r;
    maki_env env = maki_env_system();
    maki_token_counter_init(&exact, &env);
    if (run_seeds(&r, argc, argv, "room_test", SEEDS, one_step)) {
        tap_row("%zu runs that make room, %zu within, %zu taken back", capacity.managed,
                capacity.within, capacity.taken_back);
        CHECK(r.reached.stuck < 20);
        CHECK(capacity.managed > 5000 && capacity.within > 3000 && capacity.taken_back > 1000);
        for (size_t i = MAKI_STEP_NONE + 1; i < MAKI_STEP_TRIM; i++) {
            printf("# %s %zu\n", maki_step_name((maki_step_kind)i), capacity.kinds[i]);
            CHECK(capacity.kinds[i] > 100);
        }
    }
    maki_token_counter_close(&exact);
    return tap_end();
}
