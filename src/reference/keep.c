/* keep.c -- select what a condense preserves: the last messages, and the calls that their tool results answer.
 *
 * In:    a list of messages and how many to keep.  Out: the tail, and the blocks of calls and reasoning to preserve.
 * The calls of the LOOKBACK messages before the tail are indexed by id; the call of each result is then looked up.
 *
 * Calls come in the order of the results, each once; of two calls with one id the newer counts. */
#include "reference/keep.h"

#include "base/id_map.h"

enum { LOOKBACK = 3 }; /* messages before the tail that are searched for the call of a result */

maki_kept maki_keep_plain(maki_msgs list, size_t keep)
{
    size_t start = list.count > keep ? list.count - keep : 0;
    return (maki_kept){ .tail = maki_msgs_slice(list, start, list.count), .start = start };
}

/* The tool_use blocks of the messages just before the tail, by id, the newest first. */
typedef struct found_call {
    maki_str block;
    const maki_msg *msg;
} found_call;

typedef struct calls_before {
    found_call *at;
    size_t count, capacity;
    maki_id_map ids; /* id -> its index */
} calls_before;

static maki_status find_calls(maki_msgs list, size_t from, size_t to, maki_arena *arena,
                              calls_before *out, maki_err *err)
{
    maki_status st = MAKI_OK;
    for (size_t i = to; st == MAKI_OK && i > from; i--) {
        maki_blocks all = maki_msg_blocks(list.at[i - 1]);
        maki_str block, id;
        if (list.at[i - 1]->role != MAKI_ROLE_ASSISTANT) continue;
        while (st == MAKI_OK && maki_next_block(&all, "tool_use", "id", &block, &id)) {
            found_call one = { block, list.at[i - 1] };
            st = maki_id_map_add(&out->ids, id, out->count, arena, err);
            if (st == MAKI_OK)
                st = maki_arena_add(arena, &out->at, &out->count, &out->capacity, &one, sizeof one,
                                    err);
        }
    }
    return st;
}

static maki_status add_reasoning(const maki_msg *msg, maki_kept *kept, size_t *capacity,
                                 maki_arena *arena, maki_err *err)
{
    maki_blocks all = maki_msg_blocks(msg);
    maki_str block;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && maki_next_block(&all, "reasoning", NULL, &block, NULL))
        st = maki_arena_add(arena, &kept->reasoning, &kept->reasoning_count, capacity, &block,
                            sizeof block, err);
    return st;
}

maki_status maki_keep(maki_msgs list, size_t keep, maki_arena *arena, maki_kept *out, maki_err *err)
{
    maki_kept kept = maki_keep_plain(list, keep);
    size_t from = kept.start > LOOKBACK ? kept.start - LOOKBACK : 0;
    size_t call_capacity = 0, reasoning_capacity = 0;
    calls_before before = { 0 };
    maki_id_map used = { 0 };
    maki_status st = find_calls(list, from, kept.start, arena, &before, err);

    for (size_t i = 0; st == MAKI_OK && i < kept.tail.count; i++) {
        maki_blocks all = maki_msg_blocks(kept.tail.at[i]);
        maki_str block, id;
        size_t index = 0;
        if (kept.tail.at[i]->role != MAKI_ROLE_USER) continue;
        while (st == MAKI_OK && maki_next_block(&all, "tool_result", "tool_use_id", &block, &id)) {
            if (maki_id_map_find(&used, id, NULL) || !maki_id_map_find(&before.ids, id, &index))
                continue;
            st = maki_id_map_add(&used, id, 0, arena, err);
            if (st == MAKI_OK)
                st = maki_arena_add(arena, &kept.calls, &kept.call_count, &call_capacity,
                                    &before.at[index].block, sizeof(maki_str), err);
            if (st == MAKI_OK)
                st = add_reasoning(before.at[index].msg, &kept, &reasoning_capacity, arena, err);
        }
    }
    if (st == MAKI_OK) *out = kept;
    return st;
}
