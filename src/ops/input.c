/* input.c -- operations whose input is read from a descriptor: one input, or a row {"op", "input"} on each line.
 *
 * A megabyte is read into memory; larger input goes to an unlinked file (spool.h).  Each row gets exactly one line of
 * answer, in order, and a failing row does not stop the next one; only a failing sink does. */
#include <errno.h>

#include "base/err.h"
#include "base/spool.h"
#include "base/str_util.h"
#include "ops/op_common.h"
#include "ops/operation.h"

enum { READ_BLOCK = 1 << 16 };

/* Read a block; *got 0 is the end. */
static maki_status read_block(const maki_env *env, int fd, char *block, size_t *got, maki_err *err)
{
    ssize_t n;
    do {
        n = env->files->read(env->files, fd, block, READ_BLOCK);
    } while (n < 0 && errno == EINTR);
    if (n < 0) return maki_fail_errno(err, "cannot read the input");
    *got = (size_t)n;
    return MAKI_OK;
}

maki_status maki_op_read(maki *m, maki_str name, int fd, maki_sink out, maki_err *err)
{
    char block[READ_BLOCK];
    maki_spool input = maki_spool_new(&m->env, MAKI_SPOOL_MEMORY);
    maki_str text;
    size_t got = 1;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && got > 0) {
        st = read_block(&m->env, fd, block, &got, err);
        if (st == MAKI_OK) st = maki_spool_add(&input, (maki_str){ block, got }, err);
    }
    if (st == MAKI_OK) st = maki_spool_text(&input, &text, err);
    if (st == MAKI_OK) st = maki_op(m, name, text, out, err);
    maki_spool_free(&input);
    return st;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Parse a row {"op", "input"}.  The JSON is checked once for the whole row, so that error positions count from its
 * start. */
static maki_status parse_row(maki_str text, const maki_op_row **row, maki_str *input,
                             maki_arena *arena, maki_err *err)
{
    maki_str value, op;
    maki_status st = maki_json_check(text, &value, err);
    if (st != MAKI_OK) return st;
    if (!maki_field(value, "op", &op) || maki_json_kind_of(op) != MAKI_JSON_STRING) {
        return maki_fail(err, MAKI_INVALID,
                         "a row must be an object {\"op\": NAME, \"input\": {...}}");
    }
    maki_str name = maki_json_text(op, arena);
    st = maki_arena_status(arena, err);
    if (st != MAKI_OK) return st;
    st = maki_op_row_find(name, row, err);
    if (st != MAKI_OK) return st;
    if (maki_json_get(value, MAKI_LIT("input"), input)) return MAKI_OK;
    return maki_fail(err, MAKI_INVALID, "the row has no \"input\"");
}

static maki_status run_row(maki *m, maki_str text, maki_sink out, maki_err *err)
{
    const maki_op_row *row = NULL;
    maki_str input;
    maki_err error = { 0 };
    maki_arena arena = maki_arena_new(m->env.alloc, m->max_memory);
    maki_status st = parse_row(text, &row, &input, &arena, &error);
    maki_arena_free(&arena);
    st = st == MAKI_OK ? maki_op_run_checked(m, row, text.ptr, input, out, err)
                       : maki_write_error_response(out, &error, err);
    maki_status ended = out.write(out.ctx, MAKI_LIT("\n"), NULL);
    return st != MAKI_OK ? st : ended;
}

/* Records whether writing failed, which ends the run. */
typedef struct checked_sink {
    maki_sink to;
    maki_status status;
} checked_sink;

static maki_status checked_write(void *ctx, maki_str bytes, maki_err *err)
{
    checked_sink *sink = ctx;
    maki_status st = sink->to.write(sink->to.ctx, bytes, err);
    if (sink->status == MAKI_OK) sink->status = st;
    return st;
}

typedef struct row_reader {
    maki *m;
    maki_spool row;
    checked_sink sink;
    maki_err first; /* the first failure of a row; MAKI_OK: none */
} row_reader;

/* The row is complete: run it.  Fails only when no further answer can be written. */
static maki_status end_row(row_reader *r, maki_err *err)
{
    maki_str text;
    maki_err error = { 0 };
    maki_status st = maki_spool_text(&r->row, &text, err);
    if (st != MAKI_OK) return st;
    if (!maki_str_only(text, " \t\r")) {
        st = run_row(r->m, text, (maki_sink){ checked_write, &r->sink }, &error);
        if (st != MAKI_OK && r->first.status == MAKI_OK) r->first = error;
    }
    maki_spool_clear(&r->row);
    if (r->sink.status != MAKI_OK && err) *err = error;
    return r->sink.status;
}

static maki_status add_bytes(row_reader *r, maki_str bytes, maki_err *err)
{
    while (bytes.len) {
        maki_str part;
        bool ended = maki_str_take(&bytes, '\n', &part);
        maki_status st = maki_spool_add(&r->row, part, err);
        if (st == MAKI_OK && ended) st = end_row(r, err);
        if (st != MAKI_OK) return st;
    }
    return MAKI_OK;
}

maki_status maki_op_lines(maki *m, int fd, maki_sink out, maki_err *err)
{
    char block[READ_BLOCK];
    size_t got = 1;
    row_reader r = { .m = m,
                     .row = maki_spool_new(&m->env, MAKI_SPOOL_MEMORY),
                     .sink = { .to = out } };
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && got > 0) {
        st = read_block(&m->env, fd, block, &got, err);
        if (st == MAKI_OK) st = add_bytes(&r, (maki_str){ block, got }, err);
    }
    if (st == MAKI_OK && r.row.size > 0) st = end_row(&r, err); /* a last line without a newline */
    maki_spool_free(&r.row);
    if (st != MAKI_OK) return st;
    if (r.first.status != MAKI_OK && err) *err = r.first;
    return r.first.status;
}
