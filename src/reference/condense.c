/* condense.c -- a condense as in the reference: select the messages, call the summarizer, insert the summary.
 *
 * The messages are changed only after everything that can fail has succeeded.  The order of the checks is the
 * reference's, because it decides which error code a caller gets.  The summarizer reads the raw list since
 * the last summary, hidden messages included: a defect of the reference that the recorded cases
 * keep; a condense of a conversation summarizes its view. */
#include "reference/condense.h"

#include "base/err.h"
#include "base/str_util.h"
#include "history/synthetic.h"
#include "reference/keep.h"
#include "reference/view.h"
#include "summary/summary_prompt.h"

enum { KEEP = 3 }; /* the last messages are not condensed */

static const char instruction[] =
    "Condense the conversation so far as your instructions say. Do not answer it and call no tools.";

/* ---- the request ---------------------------------------------------------------------------- */

static void write_content(maki_jw *w, const maki_msg *msg, bool drop_images)
{
    maki_blocks blocks = maki_msg_blocks(msg);
    maki_str block;
    if (!drop_images || !maki_msg_has_block(msg, "image")) {
        maki_jw_raw(w, msg->content.len ? msg->content : MAKI_LIT("null"));
        return;
    }
    maki_jw_begin_array(w);
    while (maki_blocks_next(&blocks, &block)) {
        if (maki_json_field_in(block, "type", "image"))
            block = MAKI_LIT("{\"type\":\"text\",\"text\":\"" MAKI_IMAGE_PLACEHOLDER "\"}");
        maki_jw_raw(w, block);
    }
    maki_jw_end_array(w);
}

void maki_condense_request_write(maki_jw *w, const maki_condense_request *request)
{
    maki_jw_print(w, "{'system':%s,'messages':[", request->system);
    for (size_t i = 0; i < request->messages.count; i++) {
        maki_jw_print(w, "{'role':%v,'content':", request->messages.at[i]->role_text);
        write_content(w, request->messages.at[i], request->drop_images);
        maki_jw_end_object(w);
    }
    maki_jw_print(w, "{'role':'user','content':%z}]}", instruction);
}

static maki_status visit_messages(const void *source, maki_message_fn fn, void *ctx, maki_err *err)
{
    const maki_msgs *list = source;
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < list->count; i++)
        st = fn(ctx, list->at[i]->raw, err);
    return st;
}

maki_summary_request maki_msgs_request(const maki_msgs *list)
{
    return (maki_summary_request){ .each = visit_messages, .source = list };
}

static maki_status build_request(const maki_condense_input *in, maki_msgs source, maki_arena *arena,
                                 maki_condensed *out, maki_err *err)
{
    maki_condense_request *request = maki_arena_get(arena, sizeof *request);
    if (!request) return maki_arena_status(arena, err);
    request->messages = source;
    request->base = maki_msgs_request(&request->messages);
    request->drop_images = !in->supports_images;
    if (in->custom_prompt.len) {
        request->system = maki_str_trim(maki_json_text(in->custom_prompt, arena));
    }
    if (request->system.len == 0)
        request->system = maki_prompt_of(MAKI_LIT("standard"), MAKI_EN, false).system;
    out->request = request;
    return maki_arena_status(arena, err);
}

/* ---- counting ------------------------------------------------------------------------------- */

static size_t count_blocks(maki_msgs list)
{
    size_t n = 0;
    for (size_t i = 0; i < list.count; i++) {
        maki_blocks blocks = maki_msg_blocks(list.at[i]);
        maki_str block;
        while (maki_blocks_next(&blocks, &block))
            n++;
    }
    return n;
}

maki_status maki_count_messages(const maki_counter *counter, const maki_str *extra, size_t extra_n,
                                maki_msgs list, maki_arena *arena, double *tokens, maki_err *err)
{
    size_t n = 0;
    maki_str *items = maki_arena_array(arena, extra_n + count_blocks(list), sizeof *items);
    if (!items) return maki_arena_status(arena, err);
    for (; n < extra_n; n++)
        items[n] = extra[n];
    for (size_t i = 0; i < list.count; i++) {
        maki_blocks blocks = maki_msg_blocks(list.at[i]);
        while (maki_blocks_next(&blocks, &items[n]))
            n++;
    }
    return counter->count(counter, items, n, tokens, err);
}

/* ---- the condense --------------------------------------------------------------------------- */

/* The messages that the summarizer reads; MAKI_REFUSED when there are too few new ones. */
static maki_status select_source(const maki_condense_input *in, maki_arena *arena, maki_kept *kept,
                                 maki_msgs *source, maki_err *err)
{
    maki_status st = MAKI_OK;
    *kept = maki_keep_plain(in->messages, KEEP);
    if (in->native_tools) st = maki_keep(in->messages, KEEP, arena, kept, err);
    if (st != MAKI_OK) return st;

    /* with a preserved call the first kept message, its result, is included: it completes the pair */
    size_t end = kept->start + (kept->call_count > 0 ? 1 : 0);
    st =
        maki_view_since_summary(maki_msgs_slice(in->messages, 0, end), in->now, arena, source, err);
    if (st != MAKI_OK) return st;
    if (source->count <= 1 && in->messages.count <= KEEP + 1) {
        return maki_refuse(err, "NOT_ENOUGH_MESSAGES",
                           "%zu messages are too few to condense; at least %zu are needed",
                           in->messages.count, (size_t)KEEP + 2);
    }
    bool condensed_recently = source->count <= 1;
    for (size_t i = 0; i < kept->tail.count; i++)
        condensed_recently |= kept->tail.at[i]->is_summary;
    if (!condensed_recently) return MAKI_OK;
    return maki_refuse(err, "CONDENSED_RECENTLY",
                       "a summary stands among or right before the last %d messages", KEEP);
}

maki_status maki_summarize(const maki_summarizer *summarizer, const maki_summary_request *request,
                           maki_arena *arena, maki_summary *out, maki_err *err)
{
    *out = (maki_summary){ .text = { "", 0 } };
    if (!summarizer || !summarizer->usable)
        return maki_refuse(err, "HANDLER_INVALID", "there is no summarizer that can be called");
    maki_status st = summarizer->run(summarizer, request, arena, out, err);
    if (st == MAKI_NOMEM || st == MAKI_TOOBIG) return st;
    if (st != MAKI_OK)
        return maki_refuse(err, "SUMMARIZER_FAILED", "the summarizer failed: %s",
                           err ? err->msg : "");
    out->text = maki_str_trim(out->text);
    if (out->text.len) return MAKI_OK;
    return maki_refuse(err, "SUMMARY_EMPTY", "the summarizer returned no text");
}

static maki_status run_summarizer(const maki_condense_input *in, maki_arena *arena,
                                  maki_condensed *out, double *output_tokens, maki_err *err)
{
    bool dedicated = in->dedicated && in->dedicated->usable;
    const maki_summarizer *summarizer = dedicated ? in->dedicated : in->summarizer;
    maki_summary summary;
    out->called = summarizer && summarizer->usable;
    maki_status st = maki_summarize(summarizer, &out->request->base, arena, &summary, err);
    out->cost = summary.usage.cost;
    out->summary = summary.text;
    *output_tokens = summary.usage.output;
    return st;
}

/* The tokens of the next request; the first message and tool definitions are not counted, as in the
 * reference. */
static maki_status count_after(const maki_condense_input *in, const maki_kept *kept,
                               maki_msg *summary, double output_tokens, maki_arena *arena,
                               double *tokens, maki_err *err)
{
    maki_msgs list = kept->tail;
    maki_status st = MAKI_OK;
    if (output_tokens == 0) /* the size of the summary is unknown */
        st = maki_msgs_with(kept->tail, 0, summary, arena, &list, err);
    if (st == MAKI_OK)
        st = maki_count_messages(in->counter, &in->system_prompt, 1, list, arena, tokens, err);
    *tokens += output_tokens;
    return st;
}

static maki_status insert_summary(const maki_condense_input *in, const maki_kept *kept,
                                  maki_msg *summary, maki_arena *arena, maki_msgs *out,
                                  maki_err *err)
{
    maki_status st = maki_msgs_with(in->messages, kept->start, summary, arena, out, err);
    for (size_t i = 1; st == MAKI_OK && i < kept->start; i++) {
        maki_tag *tag = &in->messages.at[i]->condense_parent;
        if (tag->value.len == 0) tag->value = summary->condense_id;
    }
    return st;
}

static maki_status check_reduction(const maki_condense_input *in, double after, maki_err *err)
{
    double before = in->tokens_before;
    bool smaller = after < before;
    if (smaller && (before - after) / before >= in->min_reduction) return MAKI_OK;
    return maki_refuse(err, "CONTEXT_GREW",
                       "condensing would leave %.0f tokens where %.0f were; at least %.0f %% less "
                       "is required",
                       after, before, in->min_reduction * 100);
}

maki_status maki_condense(const maki_condense_input *in, maki_arena *arena, maki_condensed *out,
                          maki_err *err)
{
    maki_kept kept = { 0 };
    maki_msgs source = { 0 }, messages = { 0 };
    maki_msg *summary = NULL;
    double output_tokens = 0;
    maki_summary_parts parts = { 0 };
    maki_str json;

    *out = (maki_condensed){ .messages = in->messages, .summary = { "", 0 } };
    maki_status st = select_source(in, arena, &kept, &source, err);
    if (st == MAKI_OK) st = build_request(in, source, arena, out, err);
    if (st == MAKI_OK) st = run_summarizer(in, arena, out, &output_tokens, err);
    if (st == MAKI_OK) st = maki_synthetic_id(in->random, arena, &out->id, err);
    if (st == MAKI_OK) {
        double first_ts = kept.tail.at[0]->has_ts ? kept.tail.at[0]->ts : in->now;
        parts = (maki_summary_parts){ .text = out->summary,
                                      .reasoning = kept.reasoning,
                                      .reasoning_count = kept.reasoning_count,
                                      .calls = kept.calls,
                                      .call_count = kept.call_count,
                                      .id = out->id,
                                      .ts = first_ts - 1 };
        st = maki_synthetic_summary(&parts, arena, &json, err);
    }
    if (st == MAKI_OK) st = maki_msg_synthetic(json, arena, &summary, err);
    if (st == MAKI_OK) {
        st = count_after(in, &kept, summary, output_tokens, arena, &out->tokens_after, err);
    }
    if (st == MAKI_OK) st = check_reduction(in, out->tokens_after, err);
    if (st == MAKI_OK) st = insert_summary(in, &kept, summary, arena, &messages, err);
    if (st == MAKI_OK) out->messages = messages;
    return st;
}
