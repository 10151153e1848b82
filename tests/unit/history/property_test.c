/* property_test.c -- random conversations, compared with a slow model after every step (random_run.h).
 *
 * A sequence appends turns in the shapes of both protocols, condenses, truncates, trims, prunes, pins,
 * rewinds, undoes, edits, expands, forks and reopens.  managed_test.c adds runs of the context manager. */
#include "random_run.h"

enum { SEEDS = 10000 };

int main(int argc, char **argv)
{
    static run r;
    if (run_seeds(&r, argc, argv, "property_test", SEEDS, run_ordinary_step)) {
        tap_row("the checks were reached: %zu steps, %zu changes, %zu refused, %zu rewinds undone, "
                "%zu revisions shown again, %zu forks with a call open, %zu sums counted anew, "
                "%zu views at a message",
                r.reached.steps, r.reached.ok, r.reached.refused, r.reached.rewound_undo,
                r.reached.replayed, r.reached.pending_forks, r.reached.sums, r.reached.then);
        CHECK(r.reached.stuck < 20);
        CHECK(r.reached.ok > 20000 && r.reached.refused > 5000 && r.reached.rewound_undo > 500 &&
              r.reached.replayed > 50000 && r.reached.pending_forks > 50 &&
              r.reached.sums > 20000 && r.reached.then > 10000);
    }
    return tap_end();
}
