/* delta_decoder.c -- see delta_decoder.h. */
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

/* ---- telling --------------------------------------------------------------------------------------------- */

static maki_status tell(maki_delta_decoder *h, maki_str text, maki_err *err)
{
    h->at.text = text;
    return h->fn(h->ctx, &h->at, err);
}

static maki_status flush(maki_delta_decoder *h, maki_err *err)
{
    maki_str text = { h->held, h->fill };
    h->fill = 0;
    return text.len ? tell(h, text, err) : MAKI_OK;
}

/* Escapes come out one by one: they are told together with the text around them. */
static maki_status take(void *ctx, maki_str text, maki_err *err)
{
    maki_delta_decoder *h = ctx;
    maki_status st = MAKI_OK;
    if (text.len > sizeof h->held - h->fill) st = flush(h, err);
    if (st != MAKI_OK) return st;
    if (text.len > sizeof h->held) return tell(h, text, err);
    memcpy(h->held + h->fill, text.ptr, text.len);
    h->fill += text.len;
    return MAKI_OK;
}

static maki_status decode(maki_delta_decoder *h, maki_str escaped, maki_err *err)
{
    maki_sink sink = { take, h };
    return escaped.len ? maki_json_text_to(escaped, sink, err) : MAKI_OK;
}

/* ---- pairs ----------------------------------------------------------------------------------------------- */

/* An escape of a surrogate: \uD8xx to \uDBxx is the first of a pair, \uDCxx to \uDFxx the second. */
static bool is_half(maki_str escape, const char *third)
{
    return escape.len >= ESCAPE && escape.ptr[0] == '\\' && escape.ptr[1] == 'u' &&
           (escape.ptr[2] | 32) == 'd' && strchr(third, escape.ptr[3] | 32);
}

/* Does it end with the first of a pair?  A backslash before it may be one that is escaped itself. */
static bool ends_with_first(maki_str escaped)
{
    size_t backslashes = 0;
    if (escaped.len < ESCAPE) return false;
    size_t at = escaped.len - ESCAPE;
    if (!is_half(maki_str_from(escaped, at), "89ab")) return false;
    while (backslashes <= at && escaped.ptr[at - backslashes] == '\\')
        backslashes++;
    return backslashes % 2 == 1;
}

static maki_status end_waiting(maki_delta_decoder *h, maki_err *err)
{
    if (!h->waits) return MAKI_OK;
    h->waits = false;
    return decode(h, (maki_str){ h->waiting, ESCAPE }, err);
}

/* The second of the pair that waits, if it is here; what follows it. */
static maki_status join(maki_delta_decoder *h, maki_str *escaped, maki_err *err)
{
    char pair[2 * ESCAPE];
    if (!h->waits || !is_half(*escaped, "cdef")) return end_waiting(h, err);
    memcpy(pair, h->waiting, ESCAPE);
    memcpy(pair + ESCAPE, escaped->ptr, ESCAPE);
    h->waits = false;
    *escaped = maki_str_from(*escaped, ESCAPE);
    return decode(h, (maki_str){ pair, sizeof pair }, err);
}

static maki_status hear_text(maki_delta_decoder *h, maki_str escaped, maki_err *err)
{
    maki_status st = join(h, &escaped, err);
    if (st != MAKI_OK) return st;
    if (ends_with_first(escaped)) {
        escaped.len -= ESCAPE;
        memcpy(h->waiting, escaped.ptr + escaped.len, ESCAPE);
        h->waits = true;
    }
    st = decode(h, escaped, err);
    return st == MAKI_OK ? flush(h, err) : st;
}

/* ---- pieces ---------------------------------------------------------------------------------------------- */

/* Names and ids are short: what is longer than there is room for is cut. */
static maki_status hear_call(maki_delta_decoder *h, const maki_wire_delta *piece, maki_err *err)
{
    char name[256], id[256];
    size_t name_len = maki_json_copy_text(piece->value, name, sizeof name);
    size_t id_len = maki_is_string(piece->id) ? maki_json_copy_text(piece->id, id, sizeof id) : 0;
    h->at.id = (maki_str){ id, id_len };
    maki_status st = tell(h, (maki_str){ name, name_len }, err);
    h->at.id = (maki_str){ "", 0 };
    return st;
}

maki_status maki_delta_decoder_end(maki_delta_decoder *h, maki_err *err)
{
    maki_status st = h->fn ? end_waiting(h, err) : MAKI_OK;
    return st == MAKI_OK && h->fn ? flush(h, err) : st;
}

maki_status maki_delta_decoder_piece(maki_delta_decoder *h, const maki_wire_delta *piece,
                                     maki_err *err)
{
    if (!h->fn) return MAKI_OK;
    if (h->at.kind != piece->kind || h->at.call != piece->call) {
        maki_status st = maki_delta_decoder_end(h, err);
        if (st != MAKI_OK) return st;
        h->at = (maki_delta){ .kind = piece->kind, .call = piece->call };
    }
    if (piece->kind == MAKI_DELTA_CALL) return hear_call(h, piece, err);
    if (!maki_is_string(piece->value))
        return tell(h, piece->value, err); /* an input that is whole */
    return hear_text(h, maki_json_inside(piece->value), err);
}
