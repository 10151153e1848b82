/* conversation_api.c -- <maki/conversation.h> on top of history/conv.h.
 *
 * Translates options, structs and callbacks between the two, so that the public ones stay compatible.  A handle owns
 * its conversation; a second one, read-only, is opened when the view at a revision and the whole log are needed at once. */
#include <fcntl.h>
#include <string.h>

#include <maki/maki.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/json_access.h"
#include "base/limits.h"
#include "base/str_util.h"
#include "history/conv.h"
#include "history/erase.h"
#include "history/export.h"
#include "history/facts.h"
#include "history/import.h"
#include "history/token_counter.h"
#include "log/verify.h"
#include "ops/op_common.h"
#include "ops/operation.h"
#include "store/context_use.h"
#include "token/family.h"

struct maki_conversation {
    const maki_alloc *alloc;
    maki_conv *conv;
    maki_conv *second; /* the same files read-only; opened on first use */
    maki *m;
    maki_context_use *use; /* read on first use */
    maki_env env;
    char path[MAKI_PATH_MAX];
};

void maki_set_progress(maki *m, maki_status (*fn)(void *ctx, uint64_t done, uint64_t total),
                       void *ctx)
{
    m->counting = fn;
    m->counting_ctx = ctx;
}

void maki_set_threads(maki *m, size_t threads)
{
    m->threads = threads;
}

maki_status maki_conversation_open(maki *m, const char *path, maki_open_mode mode,
                                   maki_conversation **out, maki_err *err)
{
    const maki_alloc *alloc = m->env.alloc;
    maki_conv_options conv_options = { .create = mode == MAKI_OPEN_CREATE,
                                       .checked = true, /* maki_conversation_append */
                                       .read_only = mode == MAKI_OPEN_READ,
                                       .share_index = mode == MAKI_OPEN_READ_SHARED,
                                       .durability = MAKI_DURABILITY_SYNC,
                                       .threads = m->threads,
                                       .progress = m->counting,
                                       .progress_ctx = m->counting_ctx };
    maki_conversation *c = alloc->resize(alloc, NULL, 0, sizeof *c);
    if (!c) return maki_fail_nomem(err);
    *c = (maki_conversation){ .alloc = alloc, .m = m, .env = m->env };
    maki_status st = maki_conversation_path(m, path, c->path, sizeof c->path, err);
    if (st == MAKI_OK) st = maki_messages_file_check(&m->env, c->path, err);
    if (st == MAKI_OK) st = maki_conv_open(&m->env, c->path, &conv_options, &c->conv, err);
    if (st != MAKI_OK) {
        maki_conversation_close(c);
        return st;
    }
    *out = c;
    return MAKI_OK;
}

void maki_conversation_close(maki_conversation *c)
{
    if (!c) return;
    maki_conv_close(c->conv);
    maki_conv_close(c->second);
    if (c->use) maki_delete(c->alloc, c->use);
    c->alloc->resize(c->alloc, c, sizeof *c, 0);
}

uint64_t maki_conversation_last(const maki_conversation *c)
{
    return maki_log_last(maki_conv_log(c->conv));
}

uint64_t maki_conversation_events(const maki_conversation *c)
{
    return maki_log_events(maki_conv_log(c->conv));
}

static maki_status check_message(maki_str text, maki_str *message, maki_err *err)
{
    maki_status st = maki_json_check(text, message, err);
    return st == MAKI_OK ? maki_role_check(*message, err) : st;
}

maki_status maki_message_check(maki_str message, maki_err *err)
{
    return check_message(message, &message, err);
}

maki_status maki_conversation_append(maki_conversation *c, maki_str message, uint64_t *seq,
                                     maki_err *err)
{
    maki_change change;
    maki_status st = check_message(message, &message, err);
    if (st == MAKI_OK) st = maki_conv_append(c->conv, NULL, &message, 1, &change, err);
    if (st == MAKI_OK && seq) *seq = change.seq;
    return st;
}

/* ---- visiting ---------------------------------------------------------------------------- */

typedef struct message_visitor {
    const maki_view *view; /* the visible messages */
    maki_each_message fn;
    void *ctx;
} message_visitor;

static maki_status visit_message(void *ctx, const maki_view_message *seen, maki_err *err)
{
    const message_visitor *v = ctx;
    maki_message message = { .seq = seen->seq,
                             .ev = seen->ev,
                             .ts = seen->row.ts,
                             .tokens = seen->row.tokens,
                             .hidden = seen->seq && !maki_view_has(v->view, seen->seq),
                             .pinned = seen->seq && maki_view_pinned(v->view, seen->seq),
                             .json = seen->json };
    return v->fn(v->ctx, &message, err);
}

/* A conversation has one view at a time: open it again for a view of the whole log. */
static maki_status open_second(maki_conversation *c, const maki_view **all, maki_err *err)
{
    maki_conv_options options = { .read_only = true };
    maki_status st = MAKI_OK;
    if (!c->second) st = maki_conv_open(&c->env, c->path, &options, &c->second, err);
    if (st == MAKI_OK) st = maki_conv_all_messages(c->second, all, err);
    return st;
}

maki_status maki_conversation_each(maki_conversation *c, maki_revision at, bool all,
                                   maki_each_message fn, void *ctx, maki_err *err)
{
    message_visitor v = { .fn = fn, .ctx = ctx };
    const maki_view *visited;
    maki_status st = maki_conv_view(c->conv, at.seq, at.ev, &v.view, err);
    visited = v.view;
    if (st == MAKI_OK && all) st = open_second(c, &visited, err);
    if (st == MAKI_OK)
        st = maki_conv_each(all ? c->second : c->conv, visited, visit_message, &v, err);
    return st;
}

typedef struct event_visitor {
    maki_each_event fn;
    void *ctx;
} event_visitor;

static maki_status visit_event(void *ctx, uint64_t ev, maki_str row, uint64_t offset, maki_err *err)
{
    const event_visitor *v = ctx;
    maki_str event;
    (void)offset;
    maki_status st = maki_json_check(row, &event, err);
    return st == MAKI_OK ? v->fn(v->ctx, ev, event, err) : st;
}

maki_status maki_conversation_each_event(maki_conversation *c, maki_each_event fn, void *ctx,
                                         maki_err *err)
{
    event_visitor v = { fn, ctx };
    return maki_log_each_event(maki_conv_log(c->conv), visit_event, &v, err);
}

maki_status maki_conversation_effect(maki_conversation *c, uint64_t ev, maki_effect *out,
                                     maki_err *err)
{
    maki_change did;
    maki_run_limits_options none = { .config = c->m->config };
    maki_status st = maki_conv_event_effect(c->conv, ev, &did, err);
    if (st == MAKI_OK && !c->use) {
        c->use = maki_new(c->alloc, maki_context_use);
        st = c->use ? maki_context_use_of(c->conv, &none, c->use, err) : maki_fail_nomem(err);
    }
    if (st != MAKI_OK) return st;
    *out = (maki_effect){ did.effect.hidden,
                          did.effect.restored,
                          did.effect.shortened,
                          did.effect.expanded,
                          maki_context_tokens(c->use, (double)did.tokens_before),
                          maki_context_tokens(c->use, (double)did.tokens_after),
                          "" };
    maki_view_change_text(&did.effect, out->effect);
    return MAKI_OK;
}

/* ---- tokens ------------------------------------------------------------------------------------------ */

maki_status maki_conversation_tokens(maki_conversation *c, uint64_t from, uint64_t to,
                                     maki_token_total *out, maki_err *err)
{
    maki_view_totals total = { 0 };
    maki_status st = maki_conv_tokens(c->conv, from, to, &total, err);
    *out = (maki_token_total){ total.messages, total.tokens };
    return st;
}

maki_status maki_conversation_view_tokens(maki_conversation *c, maki_revision at,
                                          maki_token_total *out, maki_err *err)
{
    maki_view_totals total = { 0 };
    const maki_view *view;
    maki_status st = maki_conv_view(c->conv, at.seq, at.ev, &view, err);
    if (st == MAKI_OK) st = maki_conv_total(c->conv, view, &total, err);
    *out = (maki_token_total){ total.messages, total.tokens };
    return st;
}

double maki_model_scale(const char *model)
{
    return maki_family_scale(maki_family_of(maki_str_of(model)), NULL);
}

/* ---- other formats ------------------------------------------------------------------------------------ */

maki_status maki_conversation_import(maki *m, const char *source, const char *path,
                                     const char *format, const maki_import_hooks *hooks,
                                     maki_import_result *out, maki_err *err)
{
    char file[MAKI_PATH_MAX];
    struct stat st_file;
    maki_conv *conv = NULL;
    maki_import_options options = { .format = format };
    maki_import_report report = { 0 };
    maki_conv_options conv_options = { .create = true,
                                       .durability = MAKI_DURABILITY_AT_END,
                                       .threads = m->threads };
    maki_status st = maki_conversation_path(m, path, file, sizeof file, err);
    if (st != MAKI_OK) return st;
    if (m->env.files->stat(m->env.files, AT_FDCWD, file, &st_file) == 0 && st_file.st_size > 0) {
        return maki_fail(err, MAKI_CONFLICT,
                         "%.150s already exists; an import creates a new conversation", file);
    }
    if (hooks) {
        options.progress = hooks->progress;
        options.skipped = hooks->skipped;
        options.ctx = hooks->ctx;
    }
    st = maki_conv_open(&m->env, file, &conv_options, &conv, err);
    if (st == MAKI_OK) st = maki_import(&m->env, source, conv, &options, &report, err);
    maki_conv_close(conv);
    if (st != MAKI_OK) {
        maki_conv_erase_new(&m->env, file);
        return st;
    }
    *out = (maki_import_result){ report.format, report.messages, report.events, report.skipped,
                                 report.other };
    return MAKI_OK;
}

maki_status maki_conversation_export(maki_conversation *c, maki_revision at, const char *format,
                                     maki_sink out, maki_err *err)
{
    maki_export_format known;
    if (strcmp(format, "roo-ui") == 0) return maki_export_ui(c->conv, at.seq, at.ev, out, err);
    maki_status st = maki_export_format_parse(maki_str_of(format), &known, err);
    return st == MAKI_OK ? maki_export(c->conv, at.seq, at.ev, known, out, err) : st;
}

/* ---- verifying --------------------------------------------------------------------------------------------- */

typedef struct damage_visitor {
    void (*fn)(void *ctx, const maki_damage *damage);
    void *ctx;
} damage_visitor;

static maki_status visit_finding(void *ctx, const maki_finding *f, maki_err *err)
{
    const damage_visitor *v = ctx;
    maki_damage damage = { f->file, f->offset, f->seq, f->ev, f->what, f->from, f->repair };
    (void)err;
    if (v->fn) v->fn(v->ctx, &damage);
    return MAKI_OK;
}

maki_status maki_conversation_verify(maki *m, const char *path, bool repair,
                                     void (*fn)(void *ctx, const maki_damage *damage), void *ctx,
                                     maki_verification *out, maki_err *err)
{
    char file[MAKI_PATH_MAX];
    damage_visitor visitor = { fn, ctx };
    maki_verify_result verified = { 0 };
    maki_recent_calls state = { .alloc = m->env.alloc };
    maki_token_counter counter;
    maki_token_counter_init(&counter, &m->env);
    maki_log_options options = { .encoding = MAKI_INDEX_ENCODING,
                                 .facts = maki_row_facts_of,
                                 .facts_ctx = &state,
                                 .tokens = maki_token_counter_row,
                                 .tokens_ctx = &counter,
                                 .threads = m->threads,
                                 .progress = m->counting,
                                 .progress_ctx = m->counting_ctx };
    maki_status st = maki_conversation_path(m, path, file, sizeof file, err);
    if (st == MAKI_OK) {
        st = repair ? maki_log_fsck(&m->env, file, &options, true, visit_finding, &visitor,
                                    &verified, err)
                    : maki_log_verify(&m->env, file, &options, visit_finding, &visitor, &verified,
                                      err);
    }
    maki_token_counter_close(&counter);
    *out = (maki_verification){ verified.messages, verified.events, verified.findings,
                                verified.damage };
    return st;
}
