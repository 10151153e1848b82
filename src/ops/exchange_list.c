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
    return maki_str_equal(head->type, MAKI_LIT("manifest")) &&
           maki_str_contains(row, MAKI_LIT("\"of\":\"exchange\""));
}

static double number_of(maki_str value)
{
    return maki_json_kind_of(value) == MAKI_JSON_NUMBER ? (double)maki_json_double(value) : 0;
}

static void copy_text(maki_str value, char *out, size_t capacity)
{
    if (maki_json_kind_of(value) == MAKI_JSON_STRING)
        out[maki_json_copy_text(value, out, capacity - 1)] = '\0';
}

static void read_spans(maki_str spans, uint64_t *last)
{
    maki_json_item part;
    MAKI_JSON_EACH(span, maki_json_items(spans)) {
        maki_json_iter pair = maki_json_items(span.value);
        while (maki_json_next(&pair, &part))
            (void)maki_json_uint(part.value, last);
    }
}

/* In one pass: a conversation has many. */
void maki_exchange_read_manifest(maki_str event, const maki_event_head *head,
                                 maki_exchange_facts *out)
{
#define IS(name) maki_str_equal(item.key, MAKI_LIT(name))
    *out = (maki_exchange_facts){ .ev = head->ev, .at = head->at, .ts = head->ts };
    MAKI_JSON_EACH(item, maki_json_fields(event)) {
        if (IS("status")) out->status = (int)number_of(item.value);
        if (IS("end")) copy_text(item.value, out->end, sizeof out->end);
        if (IS("model")) copy_text(item.value, out->model, sizeof out->model);
        if (IS("firstMs")) out->first_ms = number_of(item.value);
        if (IS("ms")) out->ms = number_of(item.value);
        if (IS("systemTokens")) out->system = number_of(item.value);
        if (IS("toolTokens")) out->tools = number_of(item.value);
        if (IS("messageTokens")) out->messages = number_of(item.value);
        if (IS("spans")) read_spans(item.value, &out->sent_to);
    }
}

void maki_exchange_read_usage(maki_str event, maki_exchange_usage *out)
{
    maki_exchange_usage u = { 0 };
    MAKI_JSON_EACH(item, maki_json_fields(event)) {
        if (IS("input")) {
            u.input = number_of(item.value);
            u.known = true;
        }
        if (IS("output")) u.output = number_of(item.value);
        if (IS("cacheRead")) u.cache_read = number_of(item.value);
        if (IS("cacheWrite")) u.cache_write = number_of(item.value);
        if (IS("reasoning")) u.reasoning = number_of(item.value);
        if (IS("cost")) {
            u.cost = number_of(item.value);
            u.has_cost = maki_json_kind_of(item.value) == MAKI_JSON_NUMBER;
        }
    }
#undef IS
    if (u.known) *out = u;
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
    bool usage = w->open && maki_str_equal(head.type, MAKI_LIT("usage"));
    if ((!begins && !usage) || maki_json_check(row, &event, NULL) != MAKI_OK) return MAKI_OK;
    if (usage) {
        if (!w->open->usage.known) maki_exchange_read_usage(event, &w->open->usage);
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
    if (x->usage.known)
        maki_jw_print(out, "'input':%f,'output':%f,'cacheRead':%f", x->usage.input, x->usage.output,
                      x->usage.cache_read);
    if (x->usage.has_cost) maki_jw_field_number(out, "cost", x->usage.cost);
    maki_jw_end_object(out);
}
