/* random_seeds.c -- run the steps of one seed and its final checks, and all seeds of a program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history/facts.h"
#include "log/verify.h"
#include "random_run.h"

enum { ROWS_OF_TAP = 10, STEPS_MIN = 6, STEPS_MORE = 34 };

/* Many small blocks are allocated and freed: a long quarantine only costs page faults. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=4:thread_local_quarantine_size_kb=64";
}

/* Reading events allocates a megabyte each time; under ASan that is a new mapping, which costs more than all the rest.
 * So large blocks of the same size are reused. */
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

/* ---- final checks ------------------------------------------------------------------------------------------------ */

/* maki_conv_all_messages has every row. */
static bool check_everything(run *r)
{
    const maki_view *view;
    maki_err err = { 0 };
    model *m = run_model(r);
    maki_buf_clear(&r->wanted);
    for (uint64_t s = 1; s <= model_last(m); s++) {
        maki_buf_add(&r->wanted, model_row_at(m, s)->json);
        maki_buf_add_byte(&r->wanted, '\n');
    }
    maki_status st = maki_conv_all_messages(run_conv(r), &view, &err);
    MUST(st == MAKI_OK && run_write_view(r, view, false), "everything: %s", err.msg);
    MUST(maki_str_equal(maki_buf_str(&r->text), maki_buf_str(&r->wanted)),
         "everything is not all rows");
    return true;
}

static bool undo_all(run *r)
{
    const maki_view *view;
    maki_err err = { 0 };
    maki_status st = MAKI_OK;
    model *m = run_model(r);
    while (st == MAKI_OK) {
        run_trace(r, "undo all");
        if (!run_undo(r, 0, &st)) return false;
    }
    uint64_t left = run_newest_that_counts(r, false);
    if (left && m->events[left - 1]->type == MODEL_REWIND) {
        /* Events that were undone out of order can leave a rewind that cannot be undone, because that would hide what
         * must stay.  It is refused by the model, too, and must be rare. */
        r->reached.stuck++;
        return true;
    }
    MUST(left == 0, "event %llu counts and cannot be undone", (unsigned long long)left);
    model_untouched(m, &r->view);
    run_write_model(r, &r->view);
    st = maki_conv_view(run_conv(r), MAKI_NEWEST, MAKI_NEWEST, &view, &err);
    MUST(st == MAKI_OK, "the view: %s", err.msg);
    if (!run_compare_view(r, view) || !run_write_view(r, view, false)) return false;
    MUST(maki_str_equal(maki_buf_str(&r->text), maki_buf_str(&r->wanted)),
         "undoing everything does not give the untouched log");
    return true;
}

static bool rebuild_index(run *r, size_t which)
{
    const char *path = run_index_path(&r->models[which]);
    run_close(r, which);
    maki_str before = directory_read(path);
    unlink(path);
    bool opened = run_open(r, which);
    maki_str after = directory_read(run_index_path(&r->models[which]));
    bool same = before.ptr && after.ptr && maki_str_equal(before, after);
    free((void *)(uintptr_t)before.ptr);
    free((void *)(uintptr_t)after.ptr);
    if (!opened) return false;
    MUST(same, "the index of c%zu came back different", which);
    return true;
}

static bool verify(run *r, size_t which)
{
    maki_env env = maki_env_system();
    maki_recent_calls facts = { .alloc = env.alloc };
    maki_token_counter counter;
    maki_token_counter_init(&counter, &env);
    maki_log_options options = { .encoding = MAKI_INDEX_ENCODING,
                                 .facts = maki_row_facts_of,
                                 .facts_ctx = &facts,
                                 .tokens = maki_token_counter_row,
                                 .tokens_ctx = &counter };
    maki_err err = { 0 };
    char path[600];
    const char *index = run_index_path(&r->models[which]);
    snprintf(path, sizeof path, "%.*s.jsonl", (int)(strlen(index) - strlen(".idx")), index);
    maki_status st = maki_log_verify(&env, path, &options, NULL, NULL, NULL, &err);
    maki_token_counter_close(&counter);
    MUST(st == MAKI_OK, "verify of c%zu: %s", which, err.msg);
    return true;
}

static bool finish(run *r)
{
    for (size_t i = 0; i < r->conv_count; i++) {
        if (!verify(r, i) || !rebuild_index(r, i)) return false;
    }
    for (size_t i = 0; i < r->revision_count; i++) {
        if (!run_check_revision(r, &r->revisions[i])) return false;
    }
    for (r->now = 0; r->now < r->conv_count; r->now++) {
        run_trace(r, "at the end: c%zu\n", r->now);
        if (!run_check_now(r) || !check_everything(r) || !undo_all(r)) return false;
    }
    return true;
}

static bool all_steps(run *r, run_step *step)
{
    size_t steps = STEPS_MIN + run_chance(r, STEPS_MORE);
    if (!run_open(r, 0) || !run_check_now(r)) return false;
    for (size_t i = run_chance(r, 4); i > 0; i--) {
        run_trace(r, "first: ");
        if (!run_append(r)) return false;
    }
    for (size_t i = 0; i < steps; i++) {
        run_trace(r, "%zu: ", i + 1);
        r->fake.now_ms += (int64_t)run_chance(r, 2000);
        r->reached.steps++;
        if (!step(r)) return false;
        bool again = r->revision_count && run_chance(r, 4) == 0;
        if (again && !run_check_revision(r, &r->revisions[run_chance(r, r->revision_count)]))
            return false;
    }
    return finish(r);
}

static bool run_seed(run *r, directory *f, uint64_t seed, run_step *step)
{
    r->seed = seed;
    r->random = (tap_random){ seed * 0x9E3779B97F4A7C15u | 1 };
    r->directory = f;
    fake_env_init(&r->fake);
    fake_random_seed(&r->fake, seed);
    r->env = maki_env_system();
    r->env.alloc = &reusing;
    r->env.random = r->fake.env.random;
    r->env.clock = r->fake.env.clock;
    r->conv_count = 1;
    r->now = r->revision_count = r->steps_len = 0;
    r->maker.next_call = 1;
    r->maker.clock = 1700000000000;
    r->undone_rewind = false;
    r->checks = 0;
    maki_token_counter_init(&r->anew, &r->env);
    r->steps[0] = '\0';
    memset(&r->models[0], 0, sizeof r->models[0]);
    snprintf(r->models[0].path, sizeof r->models[0].path, "%s/c0.jsonl", f->path);
    bool ok = all_steps(r, step);
    maki_token_counter_close(&r->anew);
    /* the indexes of other families stay: the next seed must find that they are not its own */
    for (size_t i = 0; i < RUN_CONVS; i++) {
        static const char *const names[] = { ".jsonl", ".events.jsonl", ".idx" };
        run_close(r, i);
        for (size_t k = 0; k < COUNT(names); k++) {
            char path[330];
            snprintf(path, sizeof path, "%s/c%zu%s", f->path, i, names[k]);
            unlink(path);
        }
    }
    model_pool_clear();
    return ok;
}

bool run_seeds(run *r, int argc, char **argv, const char *program, uint64_t seeds, run_step *step)
{
    directory f;
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : argc > 1 ? 1 : seeds;
    uint64_t part = count < ROWS_OF_TAP ? count : count / ROWS_OF_TAP;
    if (!getenv("TMPDIR") && access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
    directory_open(&f);
    r->program = program;
    r->text = maki_buf_new(maki_env_system().alloc, 64 << 20);
    r->maker.random = &r->random;
    r->maker.text = maki_buf_new(maki_env_system().alloc, 64 << 20);
    r->wanted = maki_buf_new(maki_env_system().alloc, 64 << 20);
    int failures = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        if ((seed - first) % part == 0) {
            tap_row("random conversations from seed %llu on", (unsigned long long)seed);
        }
        bool ok = run_seed(r, &f, seed, step);
        CHECK(ok);
        if (argc == 2 && ok) printf("%s", r->steps);
        if (!ok && ++failures == 5) break;
    }
    maki_buf_free(&r->text);
    maki_buf_free(&r->maker.text);
    maki_buf_free(&r->wanted);
    free_bigs();
    directory_close(&f);
    return argc == 1;
}
