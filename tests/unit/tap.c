/* tap.c -- the state of the current row, and the comparison and printing of values.
 *
 * "not ok" is printed at the first failed check, so that the diagnostics follow it and survive a later crash. */
#include "tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DIAGNOSTICS_MAX = 8, SHOWN_MAX = 200 };

static struct {
    unsigned rows, failed_rows;
    bool open;         /* a row is open */
    unsigned failures; /* in the open row */
    char name[400];
} run;

static void end_row(void)
{
    if (run.open && run.failures == 0) printf("ok %u - %s\n", run.rows, run.name);
    if (run.failures > DIAGNOSTICS_MAX) printf("# and %u more\n", run.failures - DIAGNOSTICS_MAX);
    fflush(stdout);
    run.open = false;
    run.failures = 0;
}

void tap_row(const char *fmt, ...)
{
    va_list args;
    end_row();
    run.open = true;
    run.rows++;
    va_start(args, fmt);
    vsnprintf(run.name, sizeof run.name, fmt, args);
    va_end(args);
    for (char *c = run.name; *c; c++) {
        if (*c == '#' || (unsigned char)*c < ' ') *c = '_'; /* '#' begins a TAP directive */
    }
}

int tap_end(void)
{
    end_row();
    printf("1..%u\n", run.rows);
    return run.failed_rows || run.rows == 0 ? 1 : 0;
}

/* Record a failure; true when the caller should print a diagnostic. */
static bool begin_diagnostic(const char *file, int line)
{
    if (!run.open) tap_row("a check outside of any row");
    if (run.failures++ == 0) {
        printf("not ok %u - %s\n", run.rows, run.name);
        run.failed_rows++;
    }
    if (run.failures > DIAGNOSTICS_MAX) return false;
    printf("# %s:%d: ", file, line);
    return true;
}

static bool end_diagnostic(void)
{
    putchar('\n');
    fflush(stdout);
    return false;
}

static void print_text(maki_str text)
{
    printf("(%zu bytes) \"", text.len);
    for (size_t i = 0; i < text.len && i < SHOWN_MAX; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < ' ' || c >= 0x7F || c == '\\')
            printf("\\x%02x", c);
        else
            putchar(c);
    }
    printf("\"%s", text.len > SHOWN_MAX ? "..." : "");
}

bool tap_check(bool held, const char *file, int line, const char *what)
{
    if (held || !begin_diagnostic(file, line)) return held;
    printf("%s does not hold", what);
    return end_diagnostic();
}

bool tap_check_eq(long long got, long long want, const char *file, int line, const char *what)
{
    if (got == want) return true;
    if (!begin_diagnostic(file, line)) return false;
    printf("%s is %lld, should be %lld", what, got, want);
    return end_diagnostic();
}

bool tap_check_double(double got, double want, const char *file, int line, const char *what)
{
    if (memcmp(&got, &want, sizeof got) == 0) return true;
    if (!begin_diagnostic(file, line)) return false;
    printf("%s is %.17g (%a), should be %.17g (%a)", what, got, got, want, want);
    return end_diagnostic();
}

bool tap_check_text(maki_str got, maki_str want, const char *file, int line, const char *what)
{
    bool same = got.len == want.len && (got.len == 0 || memcmp(got.ptr, want.ptr, got.len) == 0);
    if (same) return true;
    if (!begin_diagnostic(file, line)) return false;
    printf("%s is ", what);
    print_text(got);
    printf(", should be ");
    print_text(want);
    return end_diagnostic();
}

bool tap_check_cstr(const char *got, const char *want, const char *file, int line, const char *what)
{
    return tap_check_text((maki_str){ got, strlen(got) }, (maki_str){ want, strlen(want) }, file,
                          line, what);
}

bool tap_check_status(maki_status got, maki_status want, const maki_err *err, const char *file,
                      int line, const char *what)
{
    if (got == want) return true;
    if (!begin_diagnostic(file, line)) return false;
    printf("%s is %s, should be %s", what, maki_status_name(got), maki_status_name(want));
    if (err && got != MAKI_OK) {
        printf("; ");
        print_text((maki_str){ err->msg, strlen(err->msg) });
    }
    return end_diagnostic();
}

uint64_t tap_next(tap_random *random)
{
    uint64_t x = random->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    random->state = x;
    return x * 0x2545F4914F6CDD1Du;
}

size_t tap_below(tap_random *random, size_t limit)
{
    return (size_t)(tap_next(random) >> 16) % limit;
}
