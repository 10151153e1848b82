/* deltas.c -- what a reply says, for who listens; see wire.h.
 *
 * The files of the protocols tell it where they gather it.  A reply that is no stream is heard from its rows,
 * whatever its protocol. */
#include "wire/content_part.h"
#include "wire/reply.h"

void maki_wire_reply_on_delta(maki_wire_reply *r, maki_wire_delta_fn fn, void *ctx)
{
    r->ear.fn = fn;
    r->ear.ctx = ctx;
}

static void tell(maki_wire_reply *r, const maki_wire_delta *piece)
{
    if (r->failure.status != MAKI_OK) return;
    r->ear.any = true;
    r->failure.status = r->ear.fn(r->ear.ctx, piece, r->failure.err);
}

static bool says(const maki_wire_reply *r, maki_str value)
{
    return r->ear.fn && maki_is_string(value) && value.len > 2;
}

void maki_reply_delta(maki_wire_reply *r, maki_delta_kind kind, maki_str value)
{
    maki_wire_delta piece = { .kind = kind, .value = value };
    if (says(r, value)) tell(r, &piece);
}

void maki_reply_delta_call(maki_wire_reply *r, maki_part *part, maki_str name, maki_str id)
{
    maki_wire_delta piece = { MAKI_DELTA_CALL, r->ear.calls, name, id };
    if (!says(r, name) || (part && part->call)) return;
    r->ear.calls++;
    if (part) part->call = r->ear.calls;
    tell(r, &piece);
}

void maki_reply_delta_input(maki_wire_reply *r, const maki_part *part, maki_str value)
{
    uint32_t call = part ? part->call : r->ear.calls;
    maki_wire_delta piece = { .kind = MAKI_DELTA_INPUT, .call = call - 1, .value = value };
    bool whole = r->ear.fn && maki_is_object(value);
    if (call && (whole || says(r, value))) tell(r, &piece);
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

/* The texts of Responses' reasoning. */
static void hear_summary(maki_wire_reply *r, maki_str list)
{
    maki_json_iter iter = maki_array_items(list);
    maki_json_item item;
    while (maki_json_next(&iter, &item))
        maki_reply_delta(r, MAKI_DELTA_REASONING, maki_member_string(item.value, MAKI_LIT("text")));
}

static void hear_call(maki_wire_reply *r, maki_str name, maki_str id, maki_str input)
{
    maki_reply_delta_call(r, NULL, name, id);
    maki_reply_delta_input(r, NULL, input);
}

/* A call that the provider makes itself is heard like any other. */
static void hear_piece(maki_wire_reply *r, const maki_content_part *piece)
{
    maki_str input = maki_member(piece->block, MAKI_LIT("input"));
    switch (piece->kind) {
    case MAKI_CONTENT_TEXT: maki_reply_delta(r, MAKI_DELTA_TEXT, piece->text); break;
    case MAKI_CONTENT_CALL: hear_call(r, piece->name, piece->id, piece->input); break;
    case MAKI_CONTENT_THINKING:
        maki_reply_delta(r, MAKI_DELTA_REASONING, piece->text);
        hear_summary(r, maki_member(piece->block, MAKI_LIT("summary")));
        break;
    case MAKI_CONTENT_OTHER:
        if (maki_is_object(input))
            hear_call(r, maki_member(piece->block, MAKI_LIT("name")),
                      maki_member(piece->block, MAKI_LIT("id")), input);
        else
            maki_reply_delta(r, MAKI_DELTA_TEXT, maki_member(piece->block, MAKI_LIT("text")));
        break;
    default: break;
    }
}

void maki_reply_delta_row(maki_wire_reply *r, maki_str row)
{
    maki_content_parts pieces = maki_content_parts_of(row);
    maki_content_part piece;
    bool thought = false; /* a field has it; a server may say the same in two */
    while (r->ear.fn && maki_content_parts_next(&pieces, &piece)) {
        if (!piece.field.len || piece.kind != MAKI_CONTENT_THINKING || !thought)
            hear_piece(r, &piece);
        thought |= piece.kind == MAKI_CONTENT_THINKING && piece.field.len > 0;
    }
    maki_reply_delta(r, MAKI_DELTA_TEXT, pieces.refusal);
}
