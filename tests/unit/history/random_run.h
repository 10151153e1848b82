/* random_run.h -- random conversations, compared with a slow model after every step.
 *
 * A test program runs a range of seeds, by default from 1 to a number of its own:
 *
 *     PROGRAM                  all of them
 *     PROGRAM SEED             one of them, its steps printed: the command that a failure prints
 *     PROGRAM FIRST COUNT      some of them
 *
 * After each step:
 *
 *   - the view, its bytes and its totals are those of the model (model.h), and now and then its
 *     tokens are what its messages, counted anew, add up to;
 *   - no hiding has parted a call from its result, or taken a pinned, a system or the first message;
 *   - revisions remembered from before are still shown byte for byte;
 *   - at a message alone, the view is the one from before the next message came.
 *
 * At the end of a seed everything is undone, newest first, which must give the untouched log; and the
 * index is deleted, which must come back as it was. */
#ifndef MAKI_TESTS_RANDOM_RUN_H
#define MAKI_TESTS_RANDOM_RUN_H

#include "base/str_util.h"
#include "directory.h"
#include "fake_env.h"
#include "history/conv.h"
#include "history/token_counter.h"
#include "model.h"
#include "random_rows.h"
#include "tap.h"

enum { RUN_CONVS = 4, RUN_REVISIONS = 256, RUN_STEPS_TEXT = 1 << 16 };

typedef struct revision {
    size_t conv;
    uint64_t seq, ev, hash;
} revision;

typedef struct run {
    const char *program; /* for the command that a failure prints */
    uint64_t seed;
    tap_random random;
    maki_env env;
    fake_env fake;
    directory *directory;
    model models[RUN_CONVS];
    maki_conv *convs[RUN_CONVS];
    size_t conv_count, now; /* `now`: the current conversation */
    model_view view, rows;  /* of the newest revision, with and without hiding */
    revision revisions[RUN_REVISIONS];
    size_t revision_count;
    row_maker maker;
    bool undone_rewind; /* then rows may be out of order */
    size_t checks;
    maki_token_counter anew;
    maki_buf text, wanted;
    char steps[RUN_STEPS_TEXT];
    size_t steps_len;
    /* How often each kind of check was made, over all seeds: the tests require a minimum. */
    struct {
        size_t steps, ok, refused, rewound_undo, replayed, pending_forks, sums, stuck, then;
    } reached;
} run;

/* True: the checks passed.  False: the failure and the steps before it were printed. */
typedef bool run_step(run *r);

/* Run the seeds that the command line names, or the first `seeds`, calling `step` repeatedly.  True: all `seeds` were
 * run, so `reached` can be checked. */
bool run_seeds(run *r, int argc, char **argv, const char *program, uint64_t seeds, run_step *step);

/* ---- for the steps ----------------------------------------------------------------------------------- */

model *run_model(run *r); /* of the current conversation */
maki_conv *run_conv(run *r);
size_t run_chance(run *r, size_t limit); /* 0 to limit - 1 */
/* Add to the trace of steps, a line for each. */
void run_trace(run *r, const char *fmt, ...) MAKI_PRINTF(2, 3);

bool run_broke(run *r, const char *file, int line, const char *fmt, ...) MAKI_PRINTF(4, 5);
#define MUST(cond, ...)                                                    \
    do {                                                                   \
        if (!(cond)) return run_broke(r, __FILE__, __LINE__, __VA_ARGS__); \
    } while (0)

/* Check the invariants after a step; afterwards the model's view is in r->view, its lines in r->wanted. */
run_step run_check_now;
/* The same after a change, and the fields of maki_change.  `events` and `tokens`: before it. */
bool run_check_change(run *r, maki_status st, const maki_change *c, const maki_err *err,
                      uint64_t events, uint64_t tokens);
bool run_check_revision(run *r, const revision *then);
bool run_take_events(run *r); /* add the events that were written to the model */
bool run_take_row(run *r, model_row *row);
void run_write_model(run *r, const model_view *view); /* into r->wanted */
/* The bytes maki_conv_write gives, into r->text. */
bool run_write_view(run *r, const maki_view *view, bool array);
bool run_compare_view(run *r, const maki_view *view); /* with r->view */

bool run_open(run *r, size_t which);
void run_close(run *r, size_t which);
const char *run_index_path(const model *m);

/* ---- the steps --------------------------------------------------------------------------------------- */

run_step run_ordinary_step; /* a random one, except a run of the manager */
run_step run_append;
bool run_undo(run *r, uint64_t ev, maki_status *out);
/* The newest event that counts; with `can`, the newest that may be undone; 0: none. */
uint64_t run_newest_that_counts(run *r, bool can);
/* A summarizer with a short answer. */
maki_status run_tiny_summary(const maki_summarizer *self, const maki_summary_request *request,
                             maki_arena *arena, maki_summary *out, maki_err *err);

#endif
