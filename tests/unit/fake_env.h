/* fake_env.h -- a maki_env for tests: deterministic, counts its calls, fails on demand.
 *
 *     fake_env fe;
 *     fake_env_init(&fe);
 *     for (size_t nth = 1;; nth++) {
 *         fake_alloc_fail_at(&fe, nth);
 *         maki_status st = work(&fe.env, &err);
 *         bool injected = fake_alloc_failed(&fe);
 *         CHECK_STATUS(st, injected ? MAKI_NOMEM : MAKI_OK, &err);
 *         CHECK_EQ(fake_alloc_live(&fe), 0);
 *         if (!injected) break;
 *     }
 *
 * Calls are counted from 1 since the last ..._fail_at(); only the n-th fails and later ones succeed, which finds code
 * that ignores a failure; n = 0: none fails.
 *
 * A fake_env must not move after fake_env_init(): its tables point into it.  It owns nothing that
 * has to be freed.  Misuse of the allocator (a wrong old size, a block of another allocator) aborts. */
#ifndef MAKI_TESTS_FAKE_ENV_H
#define MAKI_TESTS_FAKE_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/env.h>

/* Counts calls of one kind and fails one of them. */
typedef struct fake_fault {
    size_t calls;
    size_t fail_at;
    bool failed;
} fake_fault;

typedef enum fake_random_kind {
    FAKE_RANDOM_ZEROS,
    FAKE_RANDOM_COUNTER,
    FAKE_RANDOM_XORSHIFT
} fake_random_kind;

typedef struct fake_env {
    maki_env env; /* pass this */

    fake_fault alloc;
    size_t live_bytes, live_blocks, peak_bytes;

    int64_t now_ms; /* of the clock; 1700000000000 at first */

    fake_fault random;
    fake_random_kind random_kind;
    uint64_t random_state;

    fake_fault files;
    int files_errno;
    size_t short_max;       /* a read or write moves at most this many bytes; 0: no limit */
    size_t interrupt_every; /* every n-th read or write fails with EINTR; 0: none; not 1 */
    size_t transfers;       /* reads and writes so far */
    size_t live_fds, live_maps;

    /* The tables of `env`; a function finds the fake_env by its `self`. */
    struct fake_alloc_table {
        maki_alloc table;
        struct fake_env *fake;
    } alloc_table;
    struct fake_clock_table {
        maki_clock table;
        struct fake_env *fake;
    } clock_table;
    struct fake_random_table {
        maki_random table;
        struct fake_env *fake;
    } random_table;
    struct fake_files_table {
        maki_files table;
        const maki_files *real;
        struct fake_env *fake;
    } files_table;
} fake_env;

/* Nothing fails, random bytes are zeros, files are the real ones. */
void fake_env_init(fake_env *fe);

/* ---- memory: every resize moves the block; new bytes are 0xCD, freed ones 0xDD ----------------- */

void fake_alloc_fail_at(fake_env *fe, size_t nth); /* freeing is not counted and cannot fail */
bool fake_alloc_failed(const fake_env *fe);        /* was the failure injected? */
size_t fake_alloc_live(const fake_env *fe);        /* bytes not freed */
size_t fake_alloc_blocks(const fake_env *fe);

/* ---- random bytes ----------------------------------------------------------------------------- */

void fake_random_zeros(fake_env *fe);
void fake_random_counter(fake_env *fe);             /* 0, 1, 2 ... 255, 0 ... */
void fake_random_seed(fake_env *fe, uint64_t seed); /* xorshift; seed is not 0 */
void fake_random_fail_at(fake_env *fe, size_t nth); /* with MAKI_IO */

/* ---- files ------------------------------------------------------------------------------------ */

/* Every function but unmap is counted.  A failing one does nothing, except close, which closes. */
void fake_files_fail_at(fake_env *fe, size_t nth, int errno_value);
bool fake_files_failed(const fake_env *fe);
void fake_files_short(fake_env *fe, size_t max);
void fake_files_interrupt(fake_env *fe, size_t every);
/* Descriptors opened and maps made through the fake and still open. */
size_t fake_files_live(const fake_env *fe);

#endif
