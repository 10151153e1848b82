/* delta_decoder.c -- decode JSON escapes to UTF-8, also surrogate pairs that are split between two deltas.
 *
 * In:    deltas as the protocols report them: JSON strings split anywhere, or complete JSON values.
 * Out:   calls of fn with whole characters, in the same order; the text of a delta is emitted before
 *        maki_delta_decoder_add returns, except the first half of a pair.
 * A failure of fn ends the decoding with its status. */
#include "send/delta_decoder.h"

#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "wire/json_row.h"

enum { ESCAPE = 6 }; /* bytes of \uXXXX */

maki_delta_decoder maki_delta_decoder_new(maki_delta_fn fn, void *ctx)
{
    return (maki_delta_decoder){ .fn = fn, .ctx = ctx };
}

/* ---- output ---------------------------------------------------------------------------------------------- */

static maki_status emit(maki_delta_decoder *d, maki_str text, maki_err *err)
{
    d->delta.text = text;
    return d->fn(d->ctx, &d->delta, err);
}

static maki_status flush(maki_delta_decoder *d, maki_err *err)
{
    maki_str text = { d->buffer, d->fill };
    d->fill = 0;
    return text.len ? emit(d, text, err) : MAKI_OK;
}

/* The JSON reader returns escapes one by one: they are emitted together with the text around them. */
static maki_status append(void *ctx, maki_str text, maki_err *err)
{
    maki_delta_decoder *d = ctx;
    maki_status st = MAKI_OK;
    if (text.len > sizeof d->buffer - d->fill) st = flush(d, err);
    if (st != MAKI_OK) return st;
    if (text.len > sizeof d->buffer) return emit(d, text, err);
    memcpy(d->buffer + d->fill, text.ptr, text.len);
    d->fill += text.len;
    return MAKI_OK;
}

static maki_status decode(maki_delta_decoder *d, maki_str escaped, maki_err *err)
{
    maki_sink sink = { append, d };
    return escaped.len ? maki_json_unescape_to(escaped, sink, err) : MAKI_OK;
}

/* ---- pairs ----------------------------------------------------------------------------------------------- */

/* Does it begin with the escape of a surrogate, whose second hex digit is one of `digits`?  \uD8xx to \uDBxx is the first
 * half of a pair, \uDCxx to \uDFxx the second. */
static bool is_surrogate(maki_str escape, const char *digits)
{
    return escape.len >= ESCAPE && escape.ptr[0] == '\\' && escape.ptr[1] == 'u' &&
           (escape.ptr[2] | 32) == 'd' && strchr(digits, escape.ptr[3] | 32);
}

/* Does it end with the first half of a pair?  The backslash may itself be escaped: then their number is even. */
static bool ends_with_high_surrogate(maki_str escaped)
{
    size_t backslashes = 0;
    if (escaped.len < ESCAPE) return false;
    size_t start = escaped.len - ESCAPE;
    if (!is_surrogate(maki_str_skip(escaped, start), "89ab")) return false;
    while (backslashes <= start && escaped.ptr[start - backslashes] == '\\')
        backslashes++;
    return backslashes % 2 == 1;
}

static maki_status flush_surrogate(maki_delta_decoder *d, maki_err *err)
{
    if (!d->has_surrogate) return MAKI_OK;
    d->has_surrogate = false;
    return decode(d, (maki_str){ d->surrogate, ESCAPE }, err);
}

/* Decode the pending half: with the second one if the text begins with that, which is then skipped; else alone. */
static maki_status join_pair(maki_delta_decoder *d, maki_str *escaped, maki_err *err)
{
    char pair[2 * ESCAPE];
    if (!d->has_surrogate || !is_surrogate(*escaped, "cdef")) return flush_surrogate(d, err);
    memcpy(pair, d->surrogate, ESCAPE);
    memcpy(pair + ESCAPE, escaped->ptr, ESCAPE);
    d->has_surrogate = false;
    *escaped = maki_str_skip(*escaped, ESCAPE);
    return decode(d, (maki_str){ pair, sizeof pair }, err);
}

static maki_status decode_text(maki_delta_decoder *d, maki_str escaped, maki_err *err)
{
    maki_status st = join_pair(d, &escaped, err);
    if (st != MAKI_OK) return st;
    if (ends_with_high_surrogate(escaped)) {
        escaped.len -= ESCAPE;
        memcpy(d->surrogate, escaped.ptr + escaped.len, ESCAPE);
        d->has_surrogate = true;
    }
    st = decode(d, escaped, err);
    return st == MAKI_OK ? flush(d, err) : st;
}

/* ---- deltas ---------------------------------------------------------------------------------------------- */

/* Names and ids longer than the buffer are truncated. */
static maki_status decode_call(maki_delta_decoder *d, const maki_wire_delta *wire, maki_err *err)
{
    char name[256], id[256];
    size_t name_len = maki_json_copy_text(wire->value, name, sizeof name);
    size_t id_len = maki_is_string(wire->id) ? maki_json_copy_text(wire->id, id, sizeof id) : 0;
    d->delta.id = (maki_str){ id, id_len };
    maki_status st = emit(d, (maki_str){ name, name_len }, err);
    d->delta.id = (maki_str){ "", 0 };
    return st;
}

maki_status maki_delta_decoder_end(maki_delta_decoder *d, maki_err *err)
{
    maki_status st = d->fn ? flush_surrogate(d, err) : MAKI_OK;
    return st == MAKI_OK && d->fn ? flush(d, err) : st;
}

maki_status maki_delta_decoder_add(maki_delta_decoder *d, const maki_wire_delta *wire,
                                   maki_err *err)
{
    if (!d->fn) return MAKI_OK;
    if (d->delta.kind != wire->kind || d->delta.call != wire->call) {
        maki_status st = maki_delta_decoder_end(d, err);
        if (st != MAKI_OK) return st;
        d->delta = (maki_delta){ .kind = wire->kind, .call = wire->call };
    }
    if (wire->kind == MAKI_DELTA_CALL) return decode_call(d, wire, err);
    if (!maki_is_string(wire->value))
        return emit(d, wire->value, err); /* the input of a call, as JSON */
    return decode_text(d, maki_json_strip_quotes(wire->value), err);
}
