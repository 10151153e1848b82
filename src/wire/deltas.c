/* deltas.c -- report the deltas of a reply to a callback while it arrives.
 *
 * The files of the protocols call maki_reply_emit, _emit_call and _emit_input for each event of a stream.  For a reply
 * that is not a stream the deltas are made from its rows, whatever the protocol.  After the callback's first error no
 * delta is reported. */
#include "wire/content_part.h"
#include "wire/reply.h"

void maki_wire_reply_on_delta(maki_wire_reply *r, maki_wire_delta_fn fn, void *ctx)
{
    r->listener.fn = fn;
    r->listener.ctx = ctx;
}

static void emit(maki_wire_reply *r, const maki_wire_delta *delta)
{
    if (r->failure.status != MAKI_OK) return;
    r->listener.called = true;
    r->failure.status = r->listener.fn(r->listener.ctx, delta, r->failure.err);
}

static bool should_emit(const maki_wire_reply *r, maki_str value)
{
    return r->listener.fn && maki_is_string(value) && value.len > 2;
}

void maki_reply_emit(maki_wire_reply *r, maki_delta_kind kind, maki_str value)
{
    maki_wire_delta delta = { .kind = kind, .value = value };
    if (should_emit(r, value)) emit(r, &delta);
}

void maki_reply_emit_call(maki_wire_reply *r, maki_open_part *part, maki_str name, maki_str id)
{
    maki_wire_delta delta = { MAKI_DELTA_CALL, r->listener.call_count, name, id };
    if (!should_emit(r, name) || (part && part->call)) return;
    r->listener.call_count++;
    if (part) part->call = r->listener.call_count;
    emit(r, &delta);
}

void maki_reply_emit_input(maki_wire_reply *r, const maki_open_part *part, maki_str value)
{
    uint32_t call = part ? part->call : r->listener.call_count;
    maki_wire_delta delta = { .kind = MAKI_DELTA_INPUT, .call = call - 1, .value = value };
    bool complete_input = r->listener.fn && maki_is_object(value);
    if (call && (complete_input || should_emit(r, value))) emit(r, &delta);
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

/* The texts of Responses' reasoning. */
static void emit_summary(maki_wire_reply *r, maki_str list)
{
    MAKI_JSON_EACH(item, maki_array_items(list))
        maki_reply_emit(r, MAKI_DELTA_REASONING, maki_json_string(item.value, "text"));
}

static void emit_call(maki_wire_reply *r, maki_str name, maki_str id, maki_str input)
{
    maki_reply_emit_call(r, NULL, name, id);
    maki_reply_emit_input(r, NULL, input);
}

/* A call that the provider runs itself is reported like any other. */
static void emit_part(maki_wire_reply *r, const maki_content_part *part)
{
    maki_str input = maki_member(part->block, MAKI_LIT("input"));
    switch (part->kind) {
    case MAKI_CONTENT_TEXT: maki_reply_emit(r, MAKI_DELTA_TEXT, part->text); break;
    case MAKI_CONTENT_CALL: emit_call(r, part->name, part->id, part->input); break;
    case MAKI_CONTENT_THINKING:
        maki_reply_emit(r, MAKI_DELTA_REASONING, part->text);
        emit_summary(r, maki_member(part->block, MAKI_LIT("summary")));
        break;
    case MAKI_CONTENT_OTHER:
        if (maki_is_object(input))
            emit_call(r, maki_member(part->block, MAKI_LIT("name")),
                      maki_member(part->block, MAKI_LIT("id")), input);
        else
            maki_reply_emit(r, MAKI_DELTA_TEXT, maki_member(part->block, MAKI_LIT("text")));
        break;
    default: break;
    }
}

void maki_reply_emit_row(maki_wire_reply *r, maki_str row)
{
    maki_content_parts parts = maki_content_parts_of_row(row);
    maki_content_part part;
    bool has_reasoning = false; /* a field had reasoning; a server may repeat it in another */
    while (r->listener.fn && maki_content_parts_next(&parts, &part)) {
        if (!part.field.len || part.kind != MAKI_CONTENT_THINKING || !has_reasoning)
            emit_part(r, &part);
        has_reasoning |= part.kind == MAKI_CONTENT_THINKING && part.field.len > 0;
    }
    maki_reply_emit(r, MAKI_DELTA_TEXT, parts.refusal);
}
