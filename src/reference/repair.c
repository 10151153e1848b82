/* repair.c -- match tool results with their calls, in the Anthropic and in the OpenAI format.
 *
 * One message: a first pass determines whether anything must change, a second one assigns a call to each result.  A
 * whole list: each call gets its answers from the messages up to the next assistant message.  The input is not
 * changed. */
#include "reference/repair.h"

#include "base/id_map.h"
#include "base/str_util.h"

/* The result of a call that never got one. */
static const char missing_result[] =
    "No result was recorded: the call was interrupted before it finished.";

/* ---- results of one message ------------------------------------------------------------------ */

typedef struct calls {
    maki_str *ids; /* JSON strings, in call order */
    size_t count;
    size_t capacity;
    maki_id_map set;  /* id -> index */
    maki_id_map used; /* ids that have a result */
} calls;

static maki_status add_call(calls *c, maki_str id, maki_arena *arena, maki_err *err)
{
    size_t index = c->count;
    maki_status st = maki_arena_add(arena, &c->ids, &c->count, &c->capacity, &id, sizeof id, err);
    return st == MAKI_OK ? maki_id_map_add(&c->set, id, index, arena, err) : st;
}

static maki_status calls_before(maki_msgs history, maki_arena *arena, calls *out, maki_err *err)
{
    size_t i = history.count;
    maki_str block, id;
    maki_status st = MAKI_OK;
    while (i > 0 && history.at[i - 1]->role != MAKI_ROLE_ASSISTANT)
        i--;
    if (i == 0) return MAKI_OK;
    maki_blocks blocks = maki_msg_blocks(history.at[i - 1]);
    while (st == MAKI_OK && maki_next_block(&blocks, "tool_use", "id", &block, &id))
        st = add_call(out, id, arena, err);
    return st;
}

/* What to do with one block of the message. */
typedef enum block_action { BLOCK_KEEP, BLOCK_DROP, BLOCK_RENAME } block_action;

typedef struct block_plan {
    maki_str block;
    block_action action;
    maki_str old_id; /* of a tool_result */
    maki_str new_id;
    bool result;
} block_plan;

typedef struct repair {
    block_plan *blocks;
    size_t count;
    calls calls;
    bool needed;
} repair;

/* The first pass: drop repeated results, and determine whether anything must change. */
static maki_status find_changes(maki_str content, repair *r, maki_arena *arena, maki_err *err)
{
    maki_id_map seen = { 0 };
    maki_blocks blocks = maki_content_blocks(content);
    maki_status st = MAKI_OK;
    r->blocks = maki_arena_array(arena, maki_json_count(content), sizeof *r->blocks);
    if (!r->blocks) return maki_arena_status(arena, err);
    while (st == MAKI_OK && maki_blocks_next(&blocks, &r->blocks[r->count].block)) {
        block_plan *plan = &r->blocks[r->count++];
        plan->result = maki_json_field_in(plan->block, "type", "tool_result");
        if (!plan->result) continue;
        if (!maki_json_string_field(plan->block, "tool_use_id", &plan->old_id)) {
            plan->old_id = MAKI_LIT("\"\"");
        }
        if (maki_id_map_find(&seen, plan->old_id, NULL)) {
            plan->action = BLOCK_DROP;
            r->needed = true;
            continue;
        }
        st = maki_id_map_add(&seen, plan->old_id, 0, arena, err);
        if (!maki_id_map_find(&r->calls.set, plan->old_id, NULL)) r->needed = true;
    }
    for (size_t i = 0; i < r->calls.count; i++) {
        if (!maki_id_map_find(&seen, r->calls.ids[i], NULL)) r->needed = true;
    }
    return st;
}

/* The second pass: each result gets a call in turn, its own or the one at its index. */
static maki_status assign_calls(repair *r, maki_arena *arena, maki_err *err)
{
    size_t next = 0;
    for (size_t i = 0; i < r->count; i++) {
        block_plan *plan = &r->blocks[i];
        if (!plan->result || plan->action == BLOCK_DROP) continue;
        size_t index = next++;
        maki_str id = plan->old_id;
        bool is_own = maki_id_map_find(&r->calls.set, id, NULL) &&
                      !maki_id_map_find(&r->calls.used, id, NULL);
        if (!is_own) {
            bool is_free = index < r->calls.count &&
                           !maki_id_map_find(&r->calls.used, r->calls.ids[index], NULL);
            if (!is_free) {
                plan->action = BLOCK_DROP;
                continue;
            }
            id = r->calls.ids[index];
            plan->action = BLOCK_RENAME;
            plan->new_id = id;
        }
        maki_status st = maki_id_map_add(&r->calls.used, id, 0, arena, err);
        if (st != MAKI_OK) return st;
    }
    return MAKI_OK;
}

static void write_renamed(maki_jw *w, const block_plan *plan)
{
    maki_str id;
    if (!maki_json_get(plan->block, MAKI_LIT("tool_use_id"), &id)) { /* missing: append the field */
        maki_jw_begin_value(w);
        maki_jw_bytes(w, (maki_str){ plan->block.ptr, plan->block.len - 1 });
        maki_jw_bytes(w, MAKI_LIT(",\"tool_use_id\":"));
        maki_jw_bytes(w, plan->new_id);
        maki_jw_bytes(w, MAKI_LIT("}"));
        return;
    }
    size_t offset = (size_t)(id.ptr - plan->block.ptr);
    maki_jw_begin_value(w);
    maki_jw_bytes(w, (maki_str){ plan->block.ptr, offset });
    maki_jw_bytes(w, plan->new_id);
    maki_jw_bytes(w, maki_str_skip(plan->block, offset + id.len));
}

static maki_status write_content(const repair *r, maki_arena *arena, maki_str *json, maki_err *err)
{
    maki_json_builder build;
    maki_json_builder_begin(&build, arena, err);
    maki_jw_begin_array(&build.w);
    for (size_t i = 0; i < r->calls.count; i++) {
        if (maki_id_map_find(&r->calls.used, r->calls.ids[i], NULL)) continue;
        maki_jw_print(&build.w, "{'type':'tool_result','tool_use_id':%v,'content':%z}",
                      r->calls.ids[i], missing_result);
    }
    for (size_t i = 0; i < r->count; i++) {
        if (r->blocks[i].action == BLOCK_KEEP) maki_jw_raw(&build.w, r->blocks[i].block);
        if (r->blocks[i].action == BLOCK_RENAME) write_renamed(&build.w, &r->blocks[i]);
    }
    maki_jw_end_array(&build.w);
    return maki_json_builder_end(&build, arena, json, err);
}

maki_status maki_repair_results(maki_msgs history, maki_msg *message, maki_arena *arena,
                                maki_msg **out, maki_err *err)
{
    repair r = { 0 };
    maki_str content;
    *out = message;
    bool blocks = message->content.len && message->content.ptr[0] == '[';
    if (message->role != MAKI_ROLE_USER || !blocks) return MAKI_OK;
    maki_status st = calls_before(history, arena, &r.calls, err);
    if (st != MAKI_OK || r.calls.count == 0) return st;
    st = find_changes(message->content, &r, arena, err);
    if (st != MAKI_OK || !r.needed) return st;
    st = assign_calls(&r, arena, err);
    if (st == MAKI_OK) st = write_content(&r, arena, &content, err);
    maki_msg *copy = st == MAKI_OK ? maki_arena_get(arena, sizeof *copy) : NULL;
    if (!copy) return st == MAKI_OK ? maki_arena_status(arena, err) : st;
    *copy = *message;
    *out = copy;
    maki_msg_set_content(copy, content);
    return MAKI_OK;
}

/* ---- pairs of a list ------------------------------------------------------------------- */

static bool result_id(const maki_msg *m, maki_str *id)
{
    return m->role == MAKI_ROLE_TOOL && maki_json_string_field(m->raw, "tool_call_id", id);
}

/* The results in [from, to) by their ids, the first of each. */
static maki_status results_in(maki_msgs list, size_t from, size_t to, maki_arena *arena,
                              maki_id_map *out, maki_err *err)
{
    maki_status st = MAKI_OK;
    maki_str id;
    for (size_t i = from; st == MAKI_OK && i < to; i++) {
        if (result_id(list.at[i], &id)) st = maki_id_map_add(out, id, i, arena, err);
    }
    return st;
}

static maki_status build_result(maki_str call_id, maki_arena *arena, maki_msg **out, maki_err *err)
{
    maki_str json;
    maki_status st =
        maki_json_build_print(arena, &json, err, "{'role':'tool','tool_call_id':%v,'content':%z}",
                              call_id, missing_result);
    return st == MAKI_OK ? maki_msg_synthetic(json, arena, out, err) : st;
}

/* The results of the calls of list.at[index], searched up to `to`. */
static maki_status answer_calls(maki_msgs list, size_t index, size_t to, maki_arena *arena,
                                maki_msgs *out, maki_err *err)
{
    maki_id_map results = { 0 }, answered = { 0 };
    maki_status st = results_in(list, index + 1, to, arena, &results, err);
    MAKI_JSON_EACH_WHILE(st == MAKI_OK, call, maki_msg_calls(list.at[index])) {
        maki_str id;
        size_t found = 0;
        maki_msg *result = NULL;
        if (!maki_json_string_field(call.value, "id", &id)) continue;
        if (maki_id_map_find(&answered, id, NULL)) continue;
        if (maki_id_map_find(&results, id, &found)) {
            result = list.at[found];
        } else {
            st = build_result(id, arena, &result, err);
        }
        if (st == MAKI_OK) st = maki_id_map_add(&answered, id, 0, arena, err);
        if (st == MAKI_OK) st = maki_msgs_add(out, result, arena, err);
    }
    return st;
}

maki_status maki_repair_pairs(maki_msgs list, maki_arena *arena, maki_msgs *out, maki_err *err)
{
    maki_msgs result = { 0 };
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < list.count; i++) {
        maki_msg *m = list.at[i];
        size_t end = i + 1;
        if (m->role == MAKI_ROLE_TOOL)
            continue; /* follows its call, or answers none and is dropped */
        st = maki_msgs_add(&result, m, arena, err);
        if (m->role != MAKI_ROLE_ASSISTANT || st != MAKI_OK) continue;
        while (end < list.count && list.at[end]->role != MAKI_ROLE_ASSISTANT)
            end++;
        st = answer_calls(list, i, end, arena, &result, err);
    }
    *out = result;
    return st;
}
