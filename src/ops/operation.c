/* operation.c -- open and close a handle, look up and describe operations, run one.
 *
 * A call: the input is checked as JSON once, the row found, its form chosen and its fields checked; only then does the
 * operation run.  There is always exactly one complete answer: an operation fails before it writes anything, or says with
 * `answered` that its answer is complete; otherwise the error becomes the answer. */
#include "ops/operation.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <maki/maki.h>

#include "base/err.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "base/suggest.h"
#include "ops/op_common.h"

const char *maki_version(void)
{
    return MAKI_VERSION;
}

maki_status maki_open(const maki_options *options, maki **out, maki_err *err)
{
    maki_options defaults = { sizeof defaults, maki_env_system(), MAKI_MAX_MEMORY, NULL };
    if (!options) options = &defaults;
    if (options->size != sizeof *options) {
        return maki_fail(
            err, MAKI_UNSUPPORTED,
            "maki_options.size is %zu, this library expects %zu: recompile or use the matching library",
            options->size, sizeof *options);
    }
    const maki_alloc *alloc = options->env.alloc;
    maki *m = alloc->resize(alloc, NULL, 0, sizeof *m);
    if (!m) return maki_fail_nomem(err);
    *m = (maki){ .env = options->env, .max_memory = options->max_memory };
    if (options->home)
        snprintf(m->home, sizeof m->home, "%s", options->home);
    else
        (void)maki_home(m->home, sizeof m->home);
    *out = m;
    return MAKI_OK;
}

void maki_close(maki *m)
{
    if (!m) return;
    for (size_t i = 0; i < MAKI_TOKENIZERS; i++)
        maki_tokenizer_close(m->tokenizers[i]);
    m->env.alloc->resize(m->env.alloc, m, sizeof *m, 0);
}

void maki_set_config(maki *m, const maki_config *config)
{
    m->config = config;
}

void maki_set_model(maki *m, const maki_model *model)
{
    m->model = model;
}

void maki_set_logger(maki *m, maki_sink sink, const char *level)
{
    maki_str name = level ? maki_str_of(level) : MAKI_LIT("");
    if (!level && m->config) name = maki_config_text(m->config, "log.level");
    m->logger = (maki_logger){ m->env.clock, sink, MAKI_INFO };
    (void)maki_level_parse(name, &m->logger.min_level);
}

void maki_set_notify(maki *m, void (*fn)(void *ctx, maki_str json), void *ctx)
{
    m->notify = fn;
    m->notify_ctx = ctx;
}

void maki_set_cancel(maki *m, bool (*fn)(void *ctx), void *ctx)
{
    m->cancelled = fn;
    m->cancel_ctx = ctx;
}

void maki_deny_paths(maki *m)
{
    m->paths_denied = true;
}

const maki_logger *maki_logger_of(const maki *m)
{
    return m->logger.sink.write ? &m->logger : NULL;
}

maki_status maki_tokenizer_of(maki *m, const maki_encoding *encoding, maki_tokenizer **out,
                              maki_err *err)
{
    size_t i = 0;
    while (maki_encoding_at(i) != encoding)
        i++;
    assert(i < MAKI_TOKENIZERS);
    maki_status st = MAKI_OK;
    if (!m->tokenizers[i]) {
        st = maki_tokenizer_open(&m->env, encoding, NULL, &m->tokenizers[i], err);
    }
    *out = m->tokenizers[i];
    return st;
}

/* ---- the table ------------------------------------------------------------------------------- */

size_t maki_op_count(void)
{
    return maki_op_table_count;
}

const maki_op_info *maki_op_at(size_t index)
{
    return index < maki_op_table_count ? &maki_op_table[index].info : NULL;
}

/* NULL: unknown. */
static const maki_op_row *find_row(maki_str name)
{
    return maki_table_find(maki_op_table, maki_op_table_count, sizeof *maki_op_table, name);
}

maki_status maki_op_row_find(maki_str name, const maki_op_row **out, maki_err *err)
{
    *out = find_row(name);
    if (*out) return MAKI_OK;
    const char *nearest = maki_op_suggest(name);
    return maki_fail(err, MAKI_NOTFOUND, "unknown operation %.*s%s%s; maki op --list lists them",
                     (int)(name.len < 80 ? name.len : 80), name.ptr,
                     nearest ? "; did you mean " : "", nearest ? nearest : "");
}

const maki_op_info *maki_op_find(maki_str name)
{
    const maki_op_row *row = find_row(name);
    return row ? &row->info : NULL;
}

const char *maki_op_suggest(maki_str name)
{
    maki_suggest nearest = { .name = name, .limit = 6 };
    for (size_t i = 0; i < maki_op_table_count; i++) {
        const char *other = maki_op_table[i].info.name;
        const char *dot = strchr(other, '.');
        if (dot && maki_str_equal(name, maki_str_of(dot + 1))) return other; /* "truncate" */
        maki_suggest_candidate(&nearest, maki_str_of(other));
    }
    return nearest.found.ptr;
}

/* ---- describing a row -------------------------------------------------------------------- */

static void describe_fields(maki_jw *w, const char *name, const maki_op_field *fields)
{
    maki_jw_field_array(w, name);
    for (; fields->name; fields++)
        maki_jw_print(w, "{'name':%s,'type':%s,'required':%b,'help':%s}", maki_str_of(fields->name),
                      maki_str_of(fields->type), fields->required, maki_str_of(fields->help));
    maki_jw_end_array(w);
}

static void describe_form(maki_jw *w, const maki_op_form *form)
{
    maki_jw_print(w, "{'chosenBy':%z,'class':%z,'effect':%z", form->chosen_by, form->class_name,
                  form->effect);
    describe_fields(w, "input", form->input);
    describe_fields(w, "output", form->output);
    maki_jw_print(w, "'example':%v,'answer':%v}", maki_str_of(form->example),
                  maki_str_of(form->answer));
}

maki_status maki_op_describe(const maki_op_info *op, maki_sink out, maki_err *err)
{
    maki_jw w;
    maki_jw_init(&w, out, err);
    maki_jw_print(&w, "{'name':%z,'help':%z,'forms':[", op->name, op->help);
    for (size_t i = 0; i < op->form_count; i++)
        describe_form(&w, &op->forms[i]);
    maki_jw_print(&w, "]}");
    return maki_jw_end(&w);
}

/* ---- running --------------------------------------------------------------------------------- */

/* Records whether anything was written yet. */
typedef struct watched_sink {
    maki_sink to;
    bool used;
} watched_sink;

static maki_status watched_write(void *ctx, maki_str bytes, maki_err *err)
{
    watched_sink *sink = ctx;
    sink->used = true;
    return sink->to.write(sink->to.ctx, bytes, err);
}

maki_status maki_op_run_checked(maki *m, const maki_op_row *row, const char *input_start,
                                maki_str value, maki_sink out, maki_err *err)
{
    maki_err error = { 0 };
    watched_sink watched = { .to = out };
    maki_arena arena = maki_arena_new(m->env.alloc, m->max_memory);
    maki_op_call call = { .m = m, .arena = &arena, .input_start = input_start, .input = value };
    maki_jw w;

    maki_jw_init(&w, (maki_sink){ watched_write, &watched }, &error);
    size_t form;
    maki_status st = maki_form_select(&call, row, &form, &error);
    if (st == MAKI_OK)
        st = maki_fields_check(&call, row->info.name, row->info.forms[form].input, &error);
    if (st == MAKI_OK) st = row->run[form](&call, &w, &error);
    bool complete = st == MAKI_OK || call.answered;
    if (complete) {
        maki_status ended = maki_jw_end(&w);
        if (ended != MAKI_OK) st = ended;
    }
    maki_arena_free(&arena);
    if (st == MAKI_OK) return MAKI_OK;
    if (!complete && !watched.used) return maki_write_error_response(out, &error, err);
    if (err) *err = error;
    return st;
}

maki_status maki_op(maki *m, maki_str name, maki_str input, maki_sink out, maki_err *err)
{
    const maki_op_row *row;
    maki_err error = { 0 };
    maki_str value;
    maki_status st = maki_op_row_find(name, &row, &error);
    if (st == MAKI_OK) st = maki_json_check(input, &value, &error);
    if (st != MAKI_OK) return maki_write_error_response(out, &error, err);
    return maki_op_run_checked(m, row, input.ptr, value, out, err);
}
