/* tap.h -- a small test harness that prints TAP.
 *
 * A test is a row with a name: tap_row() begins one, the CHECKs after it belong to it, the next
 * tap_row() ends it.  A row without a failed check is "ok"; a failing check prints its file, line
 * and both values.  Checks never stop the program; they return whether they held, so a test that
 * cannot continue says `if (!CHECK(...)) return;`.
 *
 *     int main(void)
 *     {
 *         tap_row("an empty text has no units");
 *         CHECK_EQ(maki_utf16_len(MAKI_LIT("")), 0);
 *         return tap_end();
 *     }
 *
 * There is one run per process: the state of the harness is static. */
#ifndef MAKI_TESTS_TAP_H
#define MAKI_TESTS_TAP_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/status.h>
#include <maki/str.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* End the row before, if any, and begin one. */
void tap_row(const char *fmt, ...) MAKI_PRINTF(1, 2);
/* End the last row and print the plan.  Returns the exit code: 0 when every check held. */
int tap_end(void);

#define CHECK(cond) tap_check((cond), __FILE__, __LINE__, #cond)
/* Integers of any type. */
#define CHECK_EQ(got, want) \
    tap_check_eq((long long)(got), (long long)(want), __FILE__, __LINE__, #got)
/* Doubles, bit for bit: 0 and -0 differ. */
#define CHECK_DOUBLE(got, want) tap_check_double((got), (want), __FILE__, __LINE__, #got)
/* A maki_str against a string literal; the literal may contain NUL. */
#define CHECK_STR(got, literal) tap_check_text((got), MAKI_LIT(literal), __FILE__, __LINE__, #got)
/* A maki_str against another. */
#define CHECK_TEXT(got, want) tap_check_text((got), (want), __FILE__, __LINE__, #got)
/* Two strings that end with NUL. */
#define CHECK_CSTR(got, want) tap_check_cstr((got), (want), __FILE__, __LINE__, #got)
/* A status; the message of `err` (a maki_err *, or NULL) is printed on failure. */
#define CHECK_STATUS(got, want, err) \
    tap_check_status((got), (want), (err), __FILE__, __LINE__, #got)

bool tap_check(bool held, const char *file, int line, const char *what);
bool tap_check_eq(long long got, long long want, const char *file, int line, const char *what);
bool tap_check_double(double got, double want, const char *file, int line, const char *what);
bool tap_check_text(maki_str got, maki_str want, const char *file, int line, const char *what);
bool tap_check_cstr(const char *got, const char *want, const char *file, int line,
                    const char *what);
bool tap_check_status(maki_status got, maki_status want, const maki_err *err, const char *file,
                      int line, const char *what);

/* Pseudo-random numbers, the same in every run: xorshift64*.  The seed is not 0. */
typedef struct tap_random {
    uint64_t state;
} tap_random;
uint64_t tap_next(tap_random *random);
size_t tap_below(tap_random *random, size_t limit); /* 0 to limit - 1 */

#endif
