/* op_archive.c -- history.log, export, import, verify, fsck: a whole conversation, streamed.
 *
 * Built on the public API (maki_conversation_*), as any other program would be.  The answer is complete also when
 * damage is found: it lists the findings, and the status is MAKI_CORRUPT. */
#include <string.h>

#include <maki/maki.h>

#include "base/buf.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "ops/op_common.h"
#include "ops/operation.h"

enum { NAME_MAX = 4096, FINDINGS_MAX = 100 };

static maki_status open_named(const maki_op_call *call, maki_conversation **out, maki_err *err)
{
    char name[NAME_MAX];
    maki_status st = maki_input_cstring(call, "conversation", name, NAME_MAX, err);
    return st == MAKI_OK ? maki_conversation_open(call->m, name, MAKI_OPEN, out, err) : st;
}

/* ---- log --------------------------------------------------------------------------------------------- */

static maki_status write_message(void *ctx, const maki_message *m, maki_err *err)
{
    maki_jw *out = ctx;
    (void)err;
    maki_jw_print(out, "{'seq':%i,'ts':%i,'tokens':%i,'hidden':%b,'pinned':%b,'message':%v}",
                  m->seq, m->ts, (uint64_t)m->tokens, m->hidden, m->pinned, m->json);
    return out->status;
}

static maki_status write_event(void *ctx, uint64_t ev, maki_str json, maki_err *err)
{
    maki_jw *out = ctx;
    (void)ev;
    (void)err;
    maki_jw_raw(out, json);
    return out->status;
}

typedef struct step_list {
    maki_conversation *c;
    maki_jw *out;
} step_list;

static maki_status write_step(void *ctx, uint64_t ev, maki_str json, maki_err *err)
{
    const step_list *list = ctx;
    maki_effect step;
    (void)json;
    maki_status st = maki_conversation_effect(list->c, ev, &step, err);
    if (st != MAKI_OK) return st == MAKI_NOTFOUND ? MAKI_OK : st;
    maki_jw_print(list->out,
                  "{'event':%i,'removed':%i,'restored':%I,'shortened':%I,'expanded':%I,"
                  "'effect':%z,'tokensBefore':%f,'tokensAfter':%f}",
                  ev, step.hidden, step.restored, step.shortened, step.expanded, step.effect,
                  step.tokens_before, step.tokens_after);
    return list->out->status;
}

maki_status maki_op_history_log(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_conversation *c = NULL;
    maki_status st = open_named(call, &c, err);
    if (st == MAKI_OK) {
        maki_jw_print(out, "{'messages':[");
        st = maki_conversation_each(c, MAKI_LATEST, true, write_message, out, err);
        maki_jw_print(out, "],'events':[");
        step_list list = { c, out };
        if (st == MAKI_OK) st = maki_conversation_each_event(c, write_event, out, err);
        maki_jw_print(out, "],'steps':[");
        if (st == MAKI_OK) st = maki_conversation_each_event(c, write_step, &list, err);
        maki_jw_print(out, "]}");
    }
    maki_conversation_close(c);
    return st;
}

/* ---- export, import -------------------------------------------------------------------------------------- */

typedef struct lines_sink {
    maki_jw *out;
    bool comma; /* a row has ended: the next one needs a comma before it */
    bool lines; /* newlines become commas */
} lines_sink;

static maki_status write_export(void *ctx, maki_str bytes, maki_err *err)
{
    lines_sink *s = ctx;
    (void)err;
    while (s->lines && bytes.len) {
        maki_str row;
        bool ended = maki_str_take(&bytes, '\n', &row);
        if (row.len && s->comma) maki_jw_bytes(s->out, MAKI_LIT(","));
        s->comma = (s->comma && !row.len) || ended;
        maki_jw_bytes(s->out, row);
    }
    maki_jw_bytes(s->out, bytes);
    return s->out->status;
}

maki_status maki_op_history_export(maki_op_call *call, maki_jw *out, maki_err *err)
{
    char format[NAME_MAX];
    maki_str given;
    maki_revision at;
    maki_conversation *c = NULL;
    maki_status st = maki_input_cstring(call, "format", format, NAME_MAX, err);
    if (!maki_input_value(call, "format", &given)) strcpy(format, "roo");
    if (st == MAKI_OK) st = open_named(call, &c, err);
    if (st == MAKI_OK) {
        lines_sink sink = { .out = out, .lines = strcmp(format, "lines") == 0 };
        maki_jw_print(out, "{'format':%s,'export':", maki_str_of(format));
        maki_jw_begin_value(out);
        if (sink.lines) maki_jw_bytes(out, MAKI_LIT("["));
        maki_field_revision(call, &at.seq, &at.ev);
        st = maki_conversation_export(c, at, format, (maki_sink){ write_export, &sink }, err);
        if (sink.lines) maki_jw_bytes(out, MAKI_LIT("]"));
        maki_jw_end_object(out);
    }
    maki_conversation_close(c);
    return st;
}

maki_status maki_op_history_import(maki_op_call *call, maki_jw *out, maki_err *err)
{
    char name[NAME_MAX], source[NAME_MAX], format[NAME_MAX];
    maki_str given;
    maki_import_result imported;
    bool named = maki_input_value(call, "format", &given);
    maki_status st = maki_input_cstring(call, "conversation", name, NAME_MAX, err);
    if (st == MAKI_OK) st = maki_input_cstring(call, "source", source, NAME_MAX, err);
    if (st == MAKI_OK) st = maki_input_cstring(call, "format", format, NAME_MAX, err);
    if (st != MAKI_OK) return st;
    st = maki_conversation_import(call->m, source, name, named ? format : NULL, NULL, &imported,
                                  err);
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'format':%s,'messages':%i,'events':%i,'skipped':%i,'other':%i}",
                  maki_str_of(imported.format), imported.messages, imported.events,
                  imported.skipped, imported.other);
    return MAKI_OK;
}

/* ---- verify, fsck -------------------------------------------------------------------------------------------- */

typedef struct findings {
    maki_buf json; /* the items of an array */
    size_t count;
} findings;

static void add_finding(void *ctx, const maki_damage *d)
{
    findings *f = ctx;
    maki_jw w;
    if (f->count++ >= FINDINGS_MAX) return;
    if (f->json.len) maki_buf_add(&f->json, MAKI_LIT(","));
    maki_jw_init(&w, maki_buf_sink(&f->json), NULL);
    maki_jw_print(&w, "{'file':%s,'offset':%i,'seq':%i,'ev':%i,'what':%s}", maki_str_of(d->file),
                  d->offset, d->seq, d->ev, maki_str_of(d->what));
    (void)!maki_jw_end(&w); /* the status of the buffer is checked at the end */
}

static maki_status run_verify(maki_op_call *call, bool repair, maki_jw *out, maki_err *err)
{
    char name[NAME_MAX];
    maki_verification proof = { 0 };
    findings f = { .json = maki_buf_new(call->m->env.alloc, 1 << 20) };
    maki_status st = maki_input_cstring(call, "conversation", name, NAME_MAX, err);
    if (st == MAKI_OK) {
        st = maki_conversation_verify(call->m, name, repair, add_finding, &f, &proof, err);
    }
    maki_status complete = maki_buf_status(&f.json, st == MAKI_OK ? err : NULL);
    if (st == MAKI_OK) st = complete;
    if (st == MAKI_OK || (st == MAKI_CORRUPT && proof.found > 0)) {
        maki_jw_print(out,
                      "{'ok':%b,'messages':%i,'events':%i,'found':%i,'earlier':%i,'findings':[%v]}",
                      st == MAKI_OK, proof.messages, proof.events, proof.found, proof.earlier,
                      maki_buf_str(&f.json));
        call->answered = true;
        if (maki_jw_end(out) != MAKI_OK) st = out->status; /* before the findings are freed */
    }
    maki_buf_free(&f.json);
    return st;
}

maki_status maki_op_history_verify(maki_op_call *call, maki_jw *out, maki_err *err)
{
    return run_verify(call, false, out, err);
}

maki_status maki_op_history_fsck(maki_op_call *call, maki_jw *out, maki_err *err)
{
    return run_verify(call, maki_input_bool(call, "repair", false), out, err);
}
