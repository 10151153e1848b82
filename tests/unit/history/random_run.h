/* random_run.h -- conversations by chance, held against a slow model after every step.
 *
 * A program made of it walks through seeds, by default from 1 to as many as it wants:
 *
 *     PROGRAM                  all of them
 *     PROGRAM SEED             one of them, its steps printed: what a failure tells to run
 *     PROGRAM FIRST COUNT      some of them
 *
 * After each step:
 *
 *   - the view, its bytes and its totals are those of the model (model.h), and now and then its
 *     tokens are what its messages, counted anew, add up to;
 *   - no hiding has parted a call from its result, or taken a pinned, a system or the first message;
 *   - moments remembered from before are still shown byte for byte;
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

enum { RUN_CONVS = 4, RUN_MOMENTS = 256, RUN_STEPS_TEXT = 1 << 16 };

typedef struct moment {
    size_t conv;
    uint64_t seq, ev, hash;
} moment;

typedef struct run {
    const char *program; /* what a failure tells to run */
    uint64_t seed;
    tap_random random;
    maki_env env;
    fake_env fake;
    directory *directory;
    model models[RUN_CONVS];
    maki_conv *convs[RUN_CONVS];
    size_t conv_count, now; /* the one that is worked on */
    model_view view, rows;  /* the newest moment, with and without hiding */
    moment moments[RUN_MOMENTS];
    size_t moment_count;
    row_maker maker;
    bool undone_rewind; /* then the rows themselves may be out of order */
    size_t checks;
    maki_token_counter anew;
    maki_buf text, wanted;
    char steps[RUN_STEPS_TEXT];
    size_t steps_len;
    /* What the steps did over all seeds: a check that nothing ever reaches is no check. */
    struct {
        size_t steps, ok, refused, rewound_undo, replayed, pending_forks, sums, stuck, then;
    } reached;
} run;

/* All of these answer whether what must be true is; a failure has told itself and the steps so far. */
typedef bool run_step(run *r);

/* Walk through the seeds that the command line names, or the first `seeds`, taking `step` again and
 * again.  True: it was all of them, so `reached` is worth a look. */
bool run_seeds(run *r, int argc, char **argv, const char *program, uint64_t seeds, run_step *step);

/* ---- for the steps ----------------------------------------------------------------------------------- */

model *run_model(run *r); /* of the conversation that is worked on */
maki_conv *run_conv(run *r);
size_t run_chance(run *r, size_t limit); /* 0 to limit - 1 */
/* Write down what is done, a line a step. */
void run_tell(run *r, const char *fmt, ...) MAKI_PRINTF(2, 3);

bool run_broke(run *r, const char *file, int line, const char *fmt, ...) MAKI_PRINTF(4, 5);
#define MUST(cond, ...)                                                    \
    do {                                                                   \
        if (!(cond)) return run_broke(r, __FILE__, __LINE__, __VA_ARGS__); \
    } while (0)

/* Everything that is true after a step; the view as the model has it is then in r->view, its lines in
 * r->wanted. */
run_step run_check_now;
/* The same after a change, and what a change must tell of itself.  `events` and `tokens`: before it. */
bool run_check_change(run *r, maki_status st, const maki_change *c, const maki_err *err,
                      uint64_t events, uint64_t tokens);
bool run_check_moment(run *r, const moment *then);
bool run_take_events(run *r); /* let the model have the events that were written */
bool run_take_row(run *r, model_row *row);
void run_write_model(run *r, const model_view *view); /* into r->wanted */
/* The bytes maki_conv_write gives, into r->text. */
bool run_write_view(run *r, const maki_view *view, bool array);
bool run_compare_view(run *r, const maki_view *view); /* with r->view */

bool run_open(run *r, size_t which);
void run_close(run *r, size_t which);
const char *run_index_path(const model *m);

/* ---- the steps --------------------------------------------------------------------------------------- */

run_step run_ordinary_step; /* any of them, making room aside */
run_step run_append;
bool run_undo(run *r, uint64_t ev, maki_status *out);
/* With `can`, the newest that would not hide what may not be hidden; 0: there is none. */
uint64_t run_newest_that_counts(run *r, bool can);
/* A summariser that says little. */
maki_status run_tiny_summary(const maki_summarizer *self, const maki_summary_request *request,
                             maki_arena *arena, maki_summary *out, maki_err *err);

#endif
