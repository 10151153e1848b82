/* op_context.c -- prompt.*, budget.*, tools.project, memory.hybrid_score, provider.is_overflow, session.parse_key: what
 * goes into a context besides its messages.  Pure; each reads its fields, calls its stage and writes the answer. */
#include <math.h>
#include <stddef.h>

#include "assemble/bootstrap.h"
#include "assemble/budget.h"
#include "base/err.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "base/time.h"
#include "memory/rank.h"
#include "ops/op_common.h"
#include "ops/operation.h"
#include "store/key.h"
#include "tools/project.h"
#include "wire/overflow.h"

/* ---- provider, session, memory -------------------------------------------------------------------- */

maki_status maki_op_provider_is_overflow(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_str error = MAKI_LIT("null");
    maki_json_get(call->input, MAKI_LIT("error"), &error);
    bool overflow = maki_is_overflow(error, call->arena);
    maki_status st = maki_arena_status(call->arena, err);
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'result':%b}", overflow);
    return MAKI_OK;
}

maki_status maki_op_session_parse_key(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_session_key key;
    maki_str text = maki_input_text(call, "key");
    maki_status st = maki_arena_status(call->arena, err);
    if (st == MAKI_OK) st = maki_session_key_parse(text, call->arena, &key, err);
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'agentId':%s,'mainKey':%s}", key.agent_id, key.main_key);
    return MAKI_OK;
}

maki_status maki_op_memory_hybrid_score(maki_op_call *call, maki_jw *out, maki_err *err)
{
    (void)err;
    double score = maki_hybrid_score(
        maki_input_number(call, "semantic", 0), maki_input_number(call, "keyword", 0),
        maki_input_number(call, "semanticWeight", MAKI_SEMANTIC_WEIGHT),
        maki_input_number(call, "keywordWeight", MAKI_KEYWORD_WEIGHT));
    maki_jw_print(out, "{'score':%f}", score);
    return MAKI_OK;
}

/* ---- prompt --------------------------------------------------------------------------------------- */

maki_status maki_op_prompt_truncate_file(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_str content = maki_json_strip_quotes(maki_input_string(call, "content"));
    (void)err;
    maki_jw_print(out, "{'text':");
    maki_truncate_file(out, content, (uint64_t)maki_input_number(call, "maxChars", 0));
    maki_jw_end_object(out);
    return MAKI_OK;
}

maki_status maki_op_prompt_bootstrap_limit(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_str name = maki_input_text(call, "file");
    maki_status st = maki_arena_status(call->arena, err);
    if (st != MAKI_OK) return st;
    const maki_bootstrap_file *file = maki_bootstrap_find(name);
    if (!file)
        return maki_fail(err, MAKI_NOTFOUND,
                         "not a bootstrap file; these are: AGENTS.md, SOUL.md, TOOLS.md, "
                         "IDENTITY.md, USER.md, README.md");
    maki_jw_print(out, "{'maxChars':%i}", (uint64_t)file->max_units);
    return MAKI_OK;
}

maki_status maki_op_prompt_sections(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_str wanted = maki_input_string(call, "mode");
    size_t mode = maki_str_index(maki_input_text(call, "mode"), "full|minimal|none");
    if (mode == SIZE_MAX)
        return maki_field_invalid(call, wanted, err, "mode must be full, minimal or none");
    maki_jw_print(out, "{'sections':[");
    for (size_t i = 0; i < MAKI_SECTION_COUNT; i++) {
        const maki_prompt_section *section = &maki_prompt_sections[i];
        if (maki_section_in(section, (maki_prompt_mode)mode))
            maki_jw_string(out, maki_str_of(section->name));
    }
    maki_jw_print(out, "]}");
    return MAKI_OK;
}

/* ---- budget --------------------------------------------------------------------------------------- */

maki_status maki_op_budget_allocate(maki_op_call *call, maki_jw *out, maki_err *err)
{
    double budget = maki_budget_of(maki_input_number(call, "maxTokens", 0));
    (void)err;
    maki_jw_print(out, "{'budget':%f,'layers':{", floor(budget));
    for (size_t i = 0; i < MAKI_LAYER_COUNT; i++)
        maki_jw_field_number(out, maki_layer_shares[i].name,
                             floor(budget * maki_layer_shares[i].share));
    maki_jw_print(out, "}}");
    return MAKI_OK;
}

static maki_status read_item(const maki_op_call *call, maki_str object, maki_budget_item *out,
                             maki_err *err)
{
    static const maki_nested_field fields[] = {
        { "priority", MAKI_JSON_NUMBER, offsetof(maki_budget_item, priority) },
        { "tokens", MAKI_JSON_NUMBER, offsetof(maki_budget_item, tokens) },
        { 0 }
    };
    maki_status st = maki_field_check_kind(call, object, "items[]", MAKI_JSON_OBJECT, err);
    if (st == MAKI_OK && !maki_json_get(object, MAKI_LIT("id"), &out->id))
        st = maki_field_invalid(call, object, err, "items[].id is missing");
    return st == MAKI_OK ? maki_field_nested(call, object, "items[]", fields, out, err) : st;
}

maki_status maki_op_budget_fit(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_str array;
    size_t n = 0, kept = 0;
    double budget = maki_input_number(call, "budgetTokens", 0);
    maki_input_value(call, "items", &array);
    maki_budget_item *items = maki_arena_array(call->arena, maki_json_count(array), sizeof *items);
    if (!items) return maki_arena_status(call->arena, err);
    maki_status st = MAKI_OK;
    MAKI_JSON_EACH_WHILE(st == MAKI_OK, item, maki_json_items(array)) {
        st = read_item(call, item.value, &items[n++], err);
    }
    if (st == MAKI_OK) st = maki_budget_fit(items, n, budget, call->arena, &kept, err);
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'kept':[");
    for (size_t i = 0; i < kept; i++)
        maki_jw_raw(out, items[i].id);
    maki_jw_print(out, "]}");
    return MAKI_OK;
}

/* ---- tools ---------------------------------------------------------------------------------------- */

enum { URGENT_WITHIN_MS = 60 * 60 * 1000 };

/* Urgent if the field of the task is set, else when its deadline is less than an hour away. */
static maki_status read_urgency(const maki_op_call *call, bool *urgent, maki_err *err)
{
    maki_str task, value;
    double deadline = 0;
    if (!maki_input_value(call, "task", &task)) return MAKI_OK;
    if (maki_field(task, "urgency", &value)) {
        *urgent = maki_json_kind_of(value) == MAKI_JSON_STRING &&
                  maki_json_text_is(value, MAKI_LIT("high"));
        return maki_field_check_kind(call, value, "task.urgency", MAKI_JSON_STRING, err);
    }
    if (!maki_field(task, "deadline", &value)) return MAKI_OK;
    if (maki_json_kind_of(value) == MAKI_JSON_NUMBER) {
        deadline = maki_json_double(value);
    } else if (maki_json_kind_of(value) != MAKI_JSON_STRING ||
               !maki_time_parse(maki_json_text(value, call->arena), &deadline)) {
        return maki_field_invalid(call, value, err,
                                  "task.deadline must be milliseconds or a time like "
                                  "2026-01-27T09:30:00Z");
    }
    *urgent = deadline - maki_field_now(call) <= URGENT_WITHIN_MS;
    return maki_arena_status(call->arena, err);
}

static maki_status read_runtime(const maki_op_call *call, maki_project_input *in, maki_err *err)
{
    struct {
        maki_str phase, permissions, environment;
    } given = { MAKI_LIT("\"\""), in->permissions, MAKI_LIT("\"\"") };
    static const maki_nested_field fields[] = {
        { "phase", MAKI_JSON_STRING, 0 },
        { "permissions", MAKI_JSON_ARRAY, sizeof(maki_str) },
        { "environment", MAKI_JSON_STRING, 2 * sizeof(maki_str) },
        { 0 },
    };
    maki_str runtime;
    maki_input_value(call, "runtime", &runtime);
    maki_status st = maki_field_nested(call, runtime, "runtime", fields, &given, err);
    in->permissions = given.permissions;
    in->phase = maki_json_text(given.phase, call->arena);
    in->production = maki_json_text_in(given.environment, "production|prod");
    return st;
}

static void write_projection(maki_jw *out, const maki_projection *p)
{
    maki_str name;
    maki_jw_print(out, "{'tools':[");
    for (size_t i = 0; i < p->count; i++) {
        if (!p->all[i].left_out) maki_jw_raw(out, p->all[i].shown);
    }
    maki_jw_print(out, "],'leftOut':[");
    for (size_t i = 0; i < p->count; i++) {
        if (!p->all[i].left_out) continue;
        maki_json_get(p->all[i].raw, MAKI_LIT("name"), &name);
        maki_jw_print(out, "{'name':%v,'reason':%z}", name, p->all[i].left_out);
    }
    maki_jw_print(out, "]}");
}

maki_status maki_op_tools_project(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_project_input in = { .phase = { "", 0 } };
    maki_projection projection;
    maki_input_value(call, "tools", &in.tools);
    maki_input_value(call, "productionEnums", &in.production_enums);
    maki_status st = read_runtime(call, &in, err);
    if (st == MAKI_OK) st = read_urgency(call, &in.urgent, err);
    if (st == MAKI_OK) st = maki_project(&in, call->arena, &projection, err);
    if (st == MAKI_OK) write_projection(out, &projection);
    return st;
}
