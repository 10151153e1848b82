/* fuzz_ops.c -- every operation answers any input with one JSON object.
 *
 * The input: the name of an operation, a newline, its input.  A name that is not known is answered
 * too, and then every pure operation is tried.  The clock stands still and the random source starts
 * anew for each run, so the same input must give the same bytes.  One more run has an allocation
 * fail: it may answer differently, but it answers. */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include <maki/maki.h>

#include "base/buf.h"
#include "base/str_util.h"

enum { MEMORY_MAX = 64 << 20, ANSWER_MAX = 256 << 20 };

/* ---- the outside world --------------------------------------------------------------------- */

typedef struct counted_alloc {
    maki_alloc alloc;
    size_t held;    /* bytes not given back */
    size_t calls;   /* that ask for memory */
    size_t fail_at; /* the call that fails, from 1; 0: none */
} counted_alloc;

static void *counted_resize(const maki_alloc *self, void *p, size_t old_size, size_t size)
{
    counted_alloc *counted = (counted_alloc *)(uintptr_t)self;
    MUST(p || old_size == 0);
    if (size > 0 && ++counted->calls == counted->fail_at) return NULL;
    MUST(counted->held >= old_size);
    counted->held = counted->held - old_size + size;
    MUST(counted->held <= MEMORY_MAX + (1u << 20)); /* the limit, and the handle */
    if (size == 0) {
        free(p);
        return NULL;
    }
    void *moved = realloc(p, size);
    MUST(moved);
    return moved;
}

static int64_t still(const maki_clock *self)
{
    (void)self;
    return 1700000000000;
}

typedef struct counting_random {
    maki_random random;
    uint8_t next;
} counting_random;

static maki_status count_up(const maki_random *self, void *out, size_t n, maki_err *err)
{
    counting_random *random = (counting_random *)(uintptr_t)self;
    (void)err;
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)out)[i] = random->next++;
    return MAKI_OK;
}

/* A conversation named in an input must not be looked for on this machine. */
static int no_open(const maki_files *self, const char *path, int flags, mode_t mode)
{
    (void)self;
    (void)path;
    (void)flags;
    (void)mode;
    errno = EACCES;
    return -1;
}

static int no_temp(const maki_files *self)
{
    return no_open(self, NULL, 0, 0);
}

static int no_stat(const maki_files *self, int fd, const char *path, struct stat *out)
{
    (void)fd, (void)out;
    return no_open(self, path, 0, 0);
}

static int no_mkdir(const maki_files *self, const char *path, mode_t mode)
{
    return no_open(self, path, 0, mode);
}

static int no_list(const maki_files *self, const char *directory,
                   bool (*name)(void *ctx, const char *name), void *ctx)
{
    (void)name, (void)ctx;
    return no_open(self, directory, 0, 0);
}

static int no_resolve(const maki_files *self, const char *path, char *out)
{
    (void)out;
    return no_open(self, path, 0, 0);
}

/* ---- one run ------------------------------------------------------------------------------- */

typedef struct run {
    maki_status status;
    maki_err err;
    maki_buf answer;
    size_t calls; /* for memory */
} run;

static run run_op(maki_str name, maki_str input, size_t fail_at)
{
    static const maki_clock clock = { still };
    counting_random random = { { count_up }, 0 };
    counted_alloc counted = { .alloc = { counted_resize }, .fail_at = fail_at };
    static const maki_files no_files = { .open = no_open,
                                         .temp = no_temp,
                                         .stat = no_stat,
                                         .mkdir = no_mkdir,
                                         .list = no_list,
                                         .resolve = no_resolve };
    maki_env system = maki_env_system();
    maki_options options = {
        sizeof options, { &counted.alloc, &clock, &random.random, &no_files }, MEMORY_MAX, NULL
    };
    run r = { .answer = maki_buf_new(system.alloc, ANSWER_MAX) };
    maki *m = NULL;

    r.status = maki_open(&options, &m, &r.err);
    if (r.status == MAKI_OK) {
        r.status = maki_op(m, name, input, maki_buf_sink(&r.answer), &r.err);
        maki_close(m);
    } else {
        MUST(fail_at && r.status == MAKI_NOMEM);
        maki_buf_add(&r.answer, MAKI_LIT("{\"error\":{\"code\":\"NOMEM\",\"message\":\"\"}}"));
    }
    MUST(counted.held == 0);
    r.calls = counted.calls;
    return r;
}

/* ---- what must be true of it --------------------------------------------------------------- */

static void check_answer(const run *r)
{
    maki_str value, error, code, message;
    maki_str answer = maki_buf_str(&r->answer);
    MUST(r->answer.status == MAKI_OK);
    MUST(maki_json_check(answer, &value, NULL) == MAKI_OK);
    MUST(value.len == answer.len); /* nothing around it, no newline */
    MUST(maki_json_kind_of(value) == MAKI_JSON_OBJECT);
    if (r->status == MAKI_OK) return;

    MUST(r->err.status == r->status);
    MUST(maki_json_get(value, MAKI_LIT("error"), &error));
    MUST(maki_json_kind_of(error) == MAKI_JSON_OBJECT);
    MUST(maki_json_get(error, MAKI_LIT("code"), &code));
    MUST(maki_json_kind_of(code) == MAKI_JSON_STRING);
    MUST(maki_json_text_is(code, maki_str_of(r->err.code)));
    MUST(maki_json_get(error, MAKI_LIT("message"), &message));
    MUST(maki_json_kind_of(message) == MAKI_JSON_STRING);
}

static void try_op(maki_str name, maki_str input, fuzz_chance *chance)
{
    run first = run_op(name, input, 0);
    run again = run_op(name, input, 0);
    check_answer(&first);
    MUST(first.status == again.status);
    MUST(maki_str_equal(maki_buf_str(&first.answer), maki_buf_str(&again.answer)));

    run poor = run_op(name, input, 1 + fuzz_draw(chance, first.calls));
    check_answer(&poor);
    MUST(poor.status == MAKI_NOMEM || poor.status == first.status);
    maki_buf_free(&first.answer);
    maki_buf_free(&again.answer);
    maki_buf_free(&poor.answer);
}

static bool is_pure(const maki_op_info *info)
{
    return strcmp(info->forms[0].class_name, "pure") == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    maki_str all = { (const char *)data, size };
    fuzz_chance chance = fuzz_chance_of(data, size);
    const char *newline = size ? memchr(data, '\n', size) : NULL;
    maki_str name = maki_str_prefix(all, newline ? (size_t)(newline - all.ptr) : size);
    maki_str input = maki_str_skip(all, newline ? name.len + 1 : size);
    const maki_op_info *info = maki_op_find(name);
    if (info) {
        if (is_pure(info)) try_op(name, input, &chance);
        return 0;
    }
    try_op(name, input, &chance);
    for (size_t i = 0; i < maki_op_count(); i++) {
        info = maki_op_at(i);
        if (is_pure(info)) try_op(maki_str_of(info->name), input, &chance);
    }
    return 0;
}
