/* exchange_list.c -- read exchanges from the events file.
 *
 * The manifest of a request is written right after the rows of its reply, in one group, so it has `at` = the newest of
 * them; its usage follows with the same `at`.  So the exchange of a message is found by binary search
 * (maki_log_find_event), never by reading all events. */
#include "ops/exchange_list.h"

#include <string.h>

#include "base/json_access.h"
#include "base/json_print.h"
#include "base/str_util.h"

bool maki_exchange_begins(maki_str row, const maki_event_head *head)
{
    return maki_str_is(head->type, MAKI_LIT("manifest")) &&
           maki_str_has(row, MAKI_LIT("\"of\":\"exchange\""));
}

void maki_exchange_read_manifest(maki_str event, const maki_event_head *head,
                                 maki_exchange_facts *out)
{
    maki_json_item part;
    *out = (maki_exchange_facts){ .ev = head->ev, .at = head->at, .ts = head->ts };
    out->status = (int)maki_json_number_field(event, "status");
    maki_json_text_field(event, "end", out->end, sizeof out->end);
    maki_json_text_field(event, "model", out->model, sizeof out->model);
    out->first_ms = maki_json_number_field(event, "firstMs");
    out->ms = maki_json_number_field(event, "ms");
    out->system = maki_json_number_field(event, "systemTokens");
    out->tools = maki_json_number_field(event, "toolTokens");
    out->messages = maki_json_number_field(event, "messageTokens");
    MAKI_JSON_EACH(span, maki_json_items(maki_json_field(event, "spans"))) {
        maki_json_iter pair = maki_json_items(span.value);
        while (maki_json_next(&pair, &part))
            (void)maki_json_uint(part.value, &out->sent_to);
    }
}

void maki_exchange_read_usage(maki_str event, maki_exchange_facts *out)
{
    maki_str value;
    if (!maki_json_get(event, MAKI_LIT("input"), &value)) return;
    out->has_usage = true;
    out->input = maki_json_number_field(event, "input");
    out->output = maki_json_number_field(event, "output");
    out->cache_read = maki_json_number_field(event, "cacheRead");
    out->cache_write = maki_json_number_field(event, "cacheWrite");
    out->reasoning = maki_json_number_field(event, "reasoning");
    out->has_cost = maki_json_get(event, MAKI_LIT("cost"), &value);
    out->cost = maki_json_number_field(event, "cost");
}

bool maki_exchange_replied(const maki_exchange_facts *exchange)
{
    bool refused = exchange->status == 0 || exchange->status >= 300;
    return !refused && strcmp(exchange->end, "too long") != 0 &&
           (exchange->sent_to == 0 || exchange->sent_to < exchange->at);
}

typedef struct exchange_walk {
    uint64_t from, to;
    maki_exchange_facts *at;
    maki_exchange_facts *open; /* the exchange read last, if it is wanted */
} exchange_walk;

static maki_status read_event(void *ctx, uint64_t ev, maki_str row, uint64_t offset, maki_err *err)
{
    exchange_walk *w = ctx;
    maki_event_head head;
    maki_exchange_facts found;
    maki_str event;
    (void)ev;
    (void)offset;
    (void)err;
    if (!maki_event_head_of(row, &head)) return MAKI_OK;
    if (head.at > w->to) return MAKI_CANCELLED;
    bool begins = maki_exchange_begins(row, &head);
    bool usage = w->open && maki_str_is(head.type, MAKI_LIT("usage"));
    if ((!begins && !usage) || maki_json_check(row, &event, NULL) != MAKI_OK) return MAKI_OK;
    if (usage) {
        if (!w->open->has_usage) maki_exchange_read_usage(event, w->open);
        return MAKI_OK;
    }
    w->open = NULL;
    maki_exchange_read_manifest(event, &head, &found);
    maki_exchange_facts *slot = &w->at[head.at - w->from];
    if (slot->ev || !maki_exchange_replied(&found)) return MAKI_OK;
    *slot = found;
    w->open = slot;
    return MAKI_OK;
}

maki_status maki_exchanges_of(maki_log *log, uint64_t from, uint64_t to, maki_exchange_facts *at,
                              maki_err *err)
{
    exchange_walk walk = { .from = from, .to = to, .at = at };
    return maki_log_each_event_until(log, MAKI_EVENT_BY_MESSAGE, from, read_event, &walk, err);
}

void maki_put_exchange(maki_jw *out, const maki_exchange_facts *x)
{
    maki_jw_print(out, "{'ev':%i,'ts':%i,'status':%i,'end':%z,'firstMs':%f,'ms':%f,'model':%s",
                  x->ev, x->ts, (int64_t)x->status, x->end, x->first_ms, x->ms,
                  maki_str_of(x->model));
    if (x->has_usage)
        maki_jw_print(out, "'input':%f,'output':%f,'cacheRead':%f", x->input, x->output,
                      x->cache_read);
    if (x->has_cost) maki_jw_field_number(out, "cost", x->cost);
    maki_jw_end_object(out);
}
