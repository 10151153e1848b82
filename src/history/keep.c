/* keep.c -- see keep.h. */
#include "history/keep.h"

#include "base/str.h"
#include "history/idset.h"

maki_kept maki_keep_plain(maki_msgs list, size_t keep)
{
    size_t start = list.count > keep ? list.count - keep : 0;
    return (maki_kept){ .tail = maki_msgs_slice(list, start, list.count), .start = start };
}

typedef struct blocks {
    maki_str *at;
    size_t count;
    size_t room;
} blocks;

static maki_status add(blocks *list, maki_str block, maki_arena *arena, maki_err *err)
{
    void *at = maki_arena_grow(arena, list->at, list->count, &list->room, sizeof(maki_str));
    if (!at) return maki_arena_status(arena, err);
    list->at = at;
    list->at[list->count++] = block;
    return MAKI_OK;
}

/* The tool_use block with this id in an assistant message. */
static bool find_call(const maki_msg *msg, maki_str id, maki_str *call)
{
    maki_blocks all = maki_msg_blocks(msg);
    maki_str block, own;
    if (msg->role != MAKI_ROLE_ASSISTANT) return false;
    while (maki_blocks_next(&all, &block)) {
        if (!maki_block_is(block, MAKI_LIT("tool_use"))) continue;
        if (!maki_block_string(block, MAKI_LIT("id"), &own)) continue;
        if (!maki_json_same_text(own, id)) continue;
        *call = block;
        return true;
    }
    return false;
}

static maki_status add_reasoning(const maki_msg *msg, blocks *list, maki_arena *arena,
                                 maki_err *err)
{
    maki_blocks all = maki_msg_blocks(msg);
    maki_str block;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && maki_blocks_next(&all, &block)) {
        if (maki_block_is(block, MAKI_LIT("reasoning"))) st = add(list, block, arena, err);
    }
    return st;
}

maki_status maki_keep(maki_msgs list, size_t keep, const maki_rules *rules, maki_arena *arena,
                      maki_kept *out, maki_err *err)
{
    maki_kept kept = maki_keep_plain(list, keep);
    size_t from = kept.start > rules->pair_lookback ? kept.start - rules->pair_lookback : 0;
    blocks calls = { 0 }, reasoning = { 0 };
    maki_idset taken = { 0 };
    maki_status st = MAKI_OK;

    for (size_t i = 0; i < kept.tail.count && kept.start > 0; i++) {
        maki_blocks all = maki_msg_blocks(kept.tail.at[i]);
        maki_str block, id, call;
        if (kept.tail.at[i]->role != MAKI_ROLE_USER) continue;
        while (maki_blocks_next(&all, &block)) {
            if (!maki_block_is(block, MAKI_LIT("tool_result"))) continue;
            if (!maki_block_string(block, MAKI_LIT("tool_use_id"), &id)) continue;
            if (maki_idset_has(&taken, id, NULL)) continue;
            for (size_t back = kept.start; back > from; back--) { /* the newest first */
                if (!find_call(list.at[back - 1], id, &call)) continue;
                st = maki_idset_add(&taken, id, 0, arena, err);
                if (st == MAKI_OK) st = add(&calls, call, arena, err);
                if (st == MAKI_OK) st = add_reasoning(list.at[back - 1], &reasoning, arena, err);
                if (st != MAKI_OK) return st;
                break;
            }
        }
    }
    kept.calls = calls.at;
    kept.call_count = calls.count;
    kept.reasoning = reasoning.at;
    kept.reasoning_count = reasoning.count;
    *out = kept;
    return MAKI_OK;
}
