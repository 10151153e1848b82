/* op_messages.c -- session.messages: a range of the log for people to read, whether it is in view or not.
 *
 * In:    a conversation, opened read-only, the range, and how many characters of each text are wanted.
 * Out:   each message with its parts (ops/readable_part.h), what the view does with it, and the request that it answers.
 * Memory does not grow with the history: a view, and one message at a time. */
#include <string.h>

#include "base/err.h"
#include "base/json_print.h"
#include "history/facts.h"
#include "ops/exchange_list.h"
#include "ops/op_common.h"
#include "ops/operation.h"
#include "ops/readable_part.h"
#include "store/context_use.h"
#include "token/family.h"

enum { MESSAGES_MAX = 200, CHARS_DEFAULT = 4000, CHARS_MAX = 100000000 };

/* What the view does with a message. */
typedef struct message_state {
    bool hidden, pinned, shortened;
    uint64_t tokens; /* of the index, in view */
} message_state;

typedef struct message_writer {
    const maki_env *env;
    maki_jw *out;
    double scale;
    uint64_t from, to, chars;
    message_state states[MESSAGES_MAX];
    maki_exchange_facts *exchanges;
} message_writer;

/* ---- what the view does ----------------------------------------------------------------------------------------- */

static maki_status read_state(maki_conv *conv, const maki_view *view, uint64_t seq,
                              message_state *out, maki_err *err)
{
    maki_view_totals total;
    maki_status st = maki_conv_tokens(conv, seq, seq, &total, err);
    out->hidden = !maki_view_has(view, seq);
    out->pinned = maki_view_pinned(view, seq);
    out->tokens = total.tokens;
    for (size_t i = maki_view_trims_from(view, seq);
         i < view->trim_count && view->trims[i]->seq == seq; i++)
        out->shortened |= !view->trims[i]->restores;
    out->shortened &= !out->hidden;
    for (size_t i = 0; st == MAKI_OK && out->shortened && i < view->count; i++) {
        maki_view_item item = view->items[i];
        maki_view single = *view;
        if (!item.from || seq < item.from || seq > item.to) continue;
        item.from = item.to = seq;
        single.items = &item;
        single.count = 1;
        st = maki_conv_total(conv, &single, &total, err);
        out->tokens = total.tokens;
    }
    return st;
}

static maki_status read_states(maki_conv *conv, const maki_op_call *call, message_writer *w,
                               maki_err *err)
{
    const maki_view *view;
    uint64_t seq = MAKI_NEWEST, ev;
    maki_field_revision(call, &seq, &ev);
    maki_status st = maki_conv_view(conv, MAKI_NEWEST, ev, &view, err);
    for (seq = w->from; st == MAKI_OK && seq <= w->to; seq++)
        st = read_state(conv, view, seq, &w->states[seq - w->from], err);
    return st;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static void put_model(maki_jw *out, maki_str json)
{
    char model[MAKI_MODEL_MAX];
    maki_json_text_field(maki_json_field(json, "meta"), "model", model, sizeof model);
    maki_jw_field_text(out, "model", model);
}

static maki_status write_message(void *ctx, const maki_view_message *m, maki_err *err)
{
    message_writer *w = ctx;
    maki_jw *out = w->out;
    const message_state *state = &w->states[m->seq - w->from];
    const maki_exchange_facts *exchange = &w->exchanges[m->seq - w->from];
    bool damaged = m->row.flags & MAKI_ROW_NOT_MESSAGE;
    maki_status st = MAKI_OK;
    maki_jw_print(out, "{'seq':%i", m->seq);
    maki_put_role(out, damaged ? MAKI_LIT("{}") : m->json);
    maki_jw_print(out, "'ts':%i,'tokens':%f", m->row.ts,
                  maki_scaled_tokens((double)state->tokens, w->scale));
    if (state->tokens != m->row.tokens)
        maki_jw_field_number(out, "fullTokens",
                             maki_scaled_tokens((double)m->row.tokens, w->scale));
    maki_jw_print(out, "'hidden':%b,'pinned':%b,'shortened':%b", state->hidden, state->pinned,
                  state->shortened);
    if (!damaged) put_model(out, m->json);
    maki_jw_key(out, MAKI_LIT("parts"));
    if (damaged)
        maki_put_damaged(out, m->json, w->chars);
    else
        st = maki_put_parts(w->env, out, m->json, w->chars, err);
    if (exchange->ev && (m->row.flags & MAKI_ROW_ROLE) == MAKI_ROLE_ASSISTANT) {
        maki_jw_key(out, MAKI_LIT("exchange"));
        maki_put_exchange(out, exchange);
    }
    maki_jw_end_object(out);
    return st == MAKI_OK ? out->status : st;
}

/* The messages of one log: of the conversation or of a parent. */
static maki_status write_item(maki_conv *conv, message_writer *w, maki_view_item item,
                              maki_err *err)
{
    maki_view single = { .items = &item, .count = 1, .capacity = 1 };
    if (item.from < w->from) item.from = w->from;
    if (item.to > w->to) item.to = w->to;
    if (item.from > item.to) return MAKI_OK;
    maki_status st =
        maki_exchanges_of(item.log, item.from, item.to, w->exchanges + (item.from - w->from), err);
    return st == MAKI_OK ? maki_conv_each(conv, &single, write_message, w, err) : st;
}

static maki_status write_messages(maki_conv *conv, message_writer *w, maki_err *err)
{
    const maki_view *all;
    maki_status st = maki_conv_all_messages(conv, &all, err);
    if (st != MAKI_OK) return st;
    maki_jw_print(w->out, "{'messages':[");
    for (size_t i = 0; st == MAKI_OK && i < all->count; i++)
        st = write_item(conv, w, all->items[i], err);
    maki_jw_print(w->out, "]}");
    return st;
}

static void read_range(const maki_op_call *call, uint64_t last, message_writer *w)
{
    double chars = maki_input_number(call, "chars", CHARS_DEFAULT);
    w->from = (uint64_t)maki_input_number(call, "from", 1);
    w->to = (uint64_t)maki_input_number(call, "to", 0);
    w->chars = chars < CHARS_MAX ? (uint64_t)chars : CHARS_MAX;
    if (w->from == 0) w->from = 1;
    if (w->to > last) w->to = last;
    if (w->to >= w->from + MESSAGES_MAX) w->to = w->from + MESSAGES_MAX - 1;
}

maki_status maki_op_session_messages(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_conv *conv = NULL;
    maki_context_use use;
    maki_run_limits_options given = { .config = call->m->config };
    message_writer *w = maki_arena_get(call->arena, sizeof *w);
    if (!w) return maki_arena_status(call->arena, err);
    maki_status st = maki_field_conversation(call, MAKI_ACCESS_READ, &conv, err);
    if (st == MAKI_OK) st = maki_context_use_of(conv, &given, &use, err);
    if (st == MAKI_OK) {
        w->env = &call->m->env;
        w->out = out;
        w->scale = use.scale;
        read_range(call, maki_log_last(maki_conv_log(conv)), w);
        w->exchanges = maki_arena_array(call->arena, MESSAGES_MAX, sizeof *w->exchanges);
        st = maki_arena_status(call->arena, err);
    }
    if (st == MAKI_OK) st = read_states(conv, call, w, err);
    if (st == MAKI_OK) st = write_messages(conv, w, err);
    maki_conv_close(conv);
    return st;
}
