/* op_archive.c -- history.log, export, import, verify, fsck: a conversation as a whole. */
#include <stdio.h>
#include <string.h>

#include <maki/maki.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json_print.h"
#include "base/str.h"
#include "ops/op.h"
#include "ops/op_common.h"

enum { NAME_MAX = 4096, FINDINGS_TOLD = 100 };

/* A string field as a C string; false when it has a NUL or is too long. */
static maki_status name_field(const maki_op_call *call, const char *field, char out[NAME_MAX],
                              maki_err *err)
{
    maki_str string = maki_in_string(call, field);
    size_t n = maki_json_copy_text(string, out, NAME_MAX - 1);
    out[n] = '\0';
    if (strlen(out) == n && string.len < NAME_MAX) return MAKI_OK;
    return maki_fail(err, MAKI_INVALID, "%s is not a name, at byte %zu", field,
                     (size_t)(string.ptr - call->base));
}

static maki_status open_named(const maki_op_call *call, maki_conversation **out, maki_err *err)
{
    char name[NAME_MAX];
    maki_status st = name_field(call, "conversation", name, err);
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

maki_status maki_op_history_log(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_conversation *c = NULL;
    maki_status st = open_named(call, &c, err);
    if (st == MAKI_OK) {
        maki_jw_print(out, "{'messages':[");
        st = maki_conversation_each(c, MAKI_LATEST, true, write_message, out, err);
        maki_jw_print(out, "],'events':[");
        if (st == MAKI_OK) st = maki_conversation_each_event(c, write_event, out, err);
        maki_jw_print(out, "]}");
    }
    maki_conversation_close(c);
    return st;
}

/* ---- export, import -------------------------------------------------------------------------------------- */

typedef struct lines_sink {
    maki_jw *out;
    bool comma; /* a row has ended: one is due when another comes */
    bool rows;  /* newlines become commas */
} lines_sink;

static maki_status write_export(void *ctx, maki_str bytes, maki_err *err)
{
    lines_sink *s = ctx;
    (void)err;
    while (s->rows && bytes.len) {
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
    maki_conversation *c = NULL;
    maki_status st = name_field(call, "format", format, err);
    if (!maki_in(call, "format", &given)) strcpy(format, "roo");
    if (st == MAKI_OK) st = open_named(call, &c, err);
    if (st == MAKI_OK) {
        lines_sink sink = { .out = out, .rows = strcmp(format, "lines") == 0 };
        maki_jw_print(out, "{'format':%s,'export':", maki_str_of(format));
        maki_jw_begin_value(out);
        if (sink.rows) maki_jw_bytes(out, MAKI_LIT("["));
        st = maki_conversation_export(c, format, (maki_sink){ write_export, &sink }, err);
        if (sink.rows) maki_jw_bytes(out, MAKI_LIT("]"));
        maki_jw_end_object(out);
    }
    maki_conversation_close(c);
    return st;
}

maki_status maki_op_history_import(maki_op_call *call, maki_jw *out, maki_err *err)
{
    char name[NAME_MAX], source[NAME_MAX], format[NAME_MAX];
    maki_str given;
    maki_imported got;
    bool named = maki_in(call, "format", &given);
    maki_status st = name_field(call, "conversation", name, err);
    if (st == MAKI_OK) st = name_field(call, "source", source, err);
    if (st == MAKI_OK) st = name_field(call, "format", format, err);
    if (st != MAKI_OK) return st;
    st = maki_conversation_import(call->m, source, name, named ? format : NULL, NULL, &got, err);
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'format':%s,'messages':%i,'events':%i,'skipped':%i,'other':%i}",
                  maki_str_of(got.format), got.messages, got.events, got.skipped, got.other);
    return MAKI_OK;
}

/* ---- verify, fsck -------------------------------------------------------------------------------------------- */

typedef struct findings {
    maki_buf json; /* the inside of an array */
    size_t count;
} findings;

static void add_finding(void *ctx, const maki_damage *d)
{
    findings *f = ctx;
    maki_jw w;
    if (f->count++ >= FINDINGS_TOLD) return;
    if (f->json.len) maki_buf_add(&f->json, MAKI_LIT(","));
    maki_jw_init(&w, maki_buf_sink(&f->json), NULL);
    maki_jw_print(&w, "{'file':%s,'offset':%i,'seq':%i,'ev':%i,'what':%s}", maki_str_of(d->file),
                  d->offset, d->seq, d->ev, maki_str_of(d->what));
    (void)!maki_jw_end(&w); /* the buffer remembers */
}

static maki_status prove(maki_op_call *call, bool repair, maki_jw *out, maki_err *err)
{
    char name[NAME_MAX];
    maki_proof proof = { 0 };
    findings f = { .json = maki_buf_new(call->m->env.alloc, 1 << 20) };
    maki_status st = name_field(call, "conversation", name, err);
    if (st == MAKI_OK) {
        st = maki_conversation_verify(call->m, name, repair, add_finding, &f, &proof, err);
    }
    maki_status kept = maki_buf_status(&f.json, st == MAKI_OK ? err : NULL);
    if (st == MAKI_OK) st = kept;
    if (st == MAKI_OK || (st == MAKI_CORRUPT && proof.found > 0)) {
        maki_jw_print(out,
                      "{'ok':%b,'messages':%i,'events':%i,'found':%i,'earlier':%i,'findings':[%v]}",
                      st == MAKI_OK, proof.messages, proof.events, proof.found, proof.earlier,
                      maki_buf_str(&f.json));
        call->answered = true;
        if (maki_jw_end(out) != MAKI_OK) st = out->status; /* before the findings go */
    }
    maki_buf_free(&f.json);
    return st;
}

maki_status maki_op_history_verify(maki_op_call *call, maki_jw *out, maki_err *err)
{
    return prove(call, false, out, err);
}

maki_status maki_op_history_fsck(maki_op_call *call, maki_jw *out, maki_err *err)
{
    return prove(call, maki_in_bool(call, "repair", false), out, err);
}
