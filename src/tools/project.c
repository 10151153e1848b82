/* project.c -- filter the tools by phase and permission, restrict their arguments in production, apply the budget.
 *
 * A restricted tool keeps its definition except for `properties`.  Names are compared unescaped. */
#include "tools/project.h"

#include "base/err.h"
#include "base/json_access.h"
#include "base/json_builder.h"
#include "base/json_print.h"
#include "base/sort.h"
#include "base/str_util.h"

/* ---- visibility ------------------------------------------------------------------------- */

static const struct {
    const char *phase, *categories;
} phases[] = {
    { "planning", "search|analyze|estimate|readFile" },
    { "executing", "readFile|writeFile|deleteFile|execute|modify|test|deploy" },
    { "reflecting", "evaluate|test|compare|measure" },
    { "verifying", "verify|audit|approve" },
};

static bool in_phase(maki_str tool, maki_str phase)
{
    for (size_t p = 0; p < sizeof phases / sizeof phases[0]; p++) {
        if (maki_str_equal(phase, maki_str_of(phases[p].phase)))
            return maki_json_field_in(tool, "category", phases[p].categories);
    }
    return false;
}

/* Is there a permission that contains this word?  "super-admin" grants "admin". */
static bool granted(maki_str permissions, maki_str word, maki_arena *arena)
{
    MAKI_JSON_EACH(item, maki_json_items(permissions)) {
        if (maki_json_kind_of(item.value) != MAKI_JSON_STRING) continue;
        if (maki_str_contains(maki_json_text(item.value, arena), word)) return true;
    }
    return false;
}

static bool permitted(maki_str tool, maki_str permissions, maki_arena *arena)
{
    MAKI_JSON_EACH(item, maki_json_items(maki_json_field(tool, "requiredPermissions"))) {
        if (maki_json_kind_of(item.value) != MAKI_JSON_STRING) return false;
        if (!granted(permissions, maki_json_text(item.value, arena), arena)) return false;
    }
    return true;
}

/* ---- production ------------------------------------------------------------------------------ */

static const char default_enums[] =
    "{\"deleteFile\":{\"path\":[\"/tmp/allowed-file-1.txt\",\"/tmp/allowed-file-2.txt\"]},"
    "\"execute\":{\"command\":[\"npm test\",\"npm run build\",\"npm run lint\"]}}";

static const char *restriction_text(maki_str tool_name, maki_str argument)
{
    if (maki_json_text_is(tool_name, MAKI_LIT("deleteFile")) &&
        maki_json_key_is(argument, MAKI_LIT("path"))) {
        return "File path (production: whitelist only)";
    }
    if (maki_json_text_is(tool_name, MAKI_LIT("execute")) &&
        maki_json_key_is(argument, MAKI_LIT("command"))) {
        return "Command (production: safe commands only)";
    }
    return "Production: listed values only";
}

static maki_str object_or(maki_str object, const char *name, maki_str fallback)
{
    maki_str value = maki_json_first_field(object, name, MAKI_JSON_OBJECT);
    return value.len ? value : fallback;
}

/* The item of an object whose key has this text. */
static bool find_item(maki_str object, maki_str key, maki_json_item *item)
{
    maki_json_iter iter = maki_json_items(object);
    maki_str wanted = { key.ptr - 1, key.len + 2 }; /* with its quotes */
    while (maki_json_next(&iter, item)) {
        if (maki_json_same_text((maki_str){ item->key.ptr - 1, item->key.len + 2 }, wanted))
            return true;
    }
    return false;
}

/* A rule for an argument is an array of values. */
static bool find_rule(maki_str rules, maki_str argument, maki_json_item *rule)
{
    return find_item(rules, argument, rule) && maki_json_kind_of(rule->value) == MAKI_JSON_ARRAY;
}

static void write_restricted(maki_jw *w, maki_str tool_name, const maki_json_item *rule)
{
    maki_jw_raw_key(w, rule->key);
    maki_jw_print(w, "{'type':'string','enum':%v,'description':%z}", rule->value,
                  restriction_text(tool_name, rule->key));
}

/* The properties with restricted arguments in place of the old ones, new ones at the end. */
static void write_properties(maki_jw *w, maki_str tool_name, maki_str properties, maki_str rules)
{
    maki_json_item old, new_rule;
    maki_jw_begin_object(w);
    MAKI_JSON_EACH(item, maki_json_items(properties)) {
        if (find_rule(rules, item.key, &new_rule)) {
            write_restricted(w, tool_name, &new_rule);
        } else {
            maki_jw_raw_key(w, item.key);
            maki_jw_raw(w, item.value);
        }
    }
    MAKI_JSON_EACH(rule, maki_json_items(rules)) {
        if (maki_json_kind_of(rule.value) == MAKI_JSON_ARRAY &&
            !find_item(properties, rule.key, &old))
            write_restricted(w, tool_name, &rule);
    }
    maki_jw_end_object(w);
}

/* `object` with the field `name` set to `value` (appended when it is new), as text. */
static maki_status with_field(maki_str object, maki_str name, maki_str value, maki_arena *arena,
                              maki_str *out, maki_err *err)
{
    maki_json_builder build;
    bool found = false;
    maki_json_builder_begin(&build, arena, err);
    maki_jw_begin_object(&build.w);
    MAKI_JSON_EACH(item, maki_json_items(object)) {
        bool same = maki_json_key_is(item.key, name);
        maki_jw_raw_key(&build.w, item.key);
        maki_jw_raw(&build.w, same ? value : item.value);
        found |= same;
    }
    if (!found) {
        maki_jw_key(&build.w, name);
        maki_jw_raw(&build.w, value);
    }
    maki_jw_end_object(&build.w);
    return maki_json_builder_end(&build, arena, out, err);
}

static maki_status restrict_tool(maki_projected *tool, maki_str name, maki_str rules,
                                 maki_arena *arena, maki_err *err)
{
    maki_str parameters = object_or(tool->raw, "parameters", MAKI_LIT("{\"type\":\"object\"}"));
    maki_str properties = object_or(parameters, "properties", MAKI_LIT("{}"));
    maki_json_builder build;
    maki_json_builder_begin(&build, arena, err);
    write_properties(&build.w, name, properties, rules);
    maki_status st = maki_json_builder_end(&build, arena, &properties, err);
    if (st == MAKI_OK) {
        st = with_field(parameters, MAKI_LIT("properties"), properties, arena, &parameters, err);
    }
    if (st == MAKI_OK) {
        st = with_field(tool->raw, MAKI_LIT("parameters"), parameters, arena, &tool->shown, err);
    }
    return st;
}

/* In production the arguments that have rules may only take the listed values. */
static maki_status restrict_arguments(maki_projected *tool, maki_str enums, maki_arena *arena,
                                      maki_err *err)
{
    maki_json_item rules;
    maki_str name = maki_json_string(tool->raw, "name");
    if (!find_item(enums, maki_json_strip_quotes(name), &rules)) return MAKI_OK;
    if (maki_json_kind_of(rules.value) != MAKI_JSON_OBJECT)
        return maki_fail(err, MAKI_INVALID,
                         "productionEnums: a tool needs an object {argument: [values]}");
    return restrict_tool(tool, name, rules.value, arena, err);
}

/* ---- budget ---------------------------------------------------------------------------------- */

/* UTF-16 units of compact JSON: white space between tokens does not count. */
static uint64_t compact_units(maki_str json)
{
    uint64_t units = 2, n = 0;
    maki_json_kind kind = maki_json_kind_of(json);
    if (kind != MAKI_JSON_OBJECT && kind != MAKI_JSON_ARRAY) return maki_json_utf16_len(json);
    MAKI_JSON_EACH(item, maki_json_items(json)) {
        units += compact_units(item.value) + (n++ > 0);
        if (kind == MAKI_JSON_OBJECT) units += maki_json_utf16_len(item.key) + 3;
    }
    return units;
}

static bool has_higher_priority(const void *a, const void *b)
{
    return ((const maki_projected *)a)->priority > ((const maki_projected *)b)->priority;
}

static maki_status apply_budget(maki_projection *p, bool urgent, maki_arena *arena, maki_err *err)
{
    maki_status st = MAKI_OK;
    size_t shown = 0;
    double tokens = 0;
    bool full = false;
    if (urgent) st = maki_sort(p->all, p->count, sizeof *p->all, has_higher_priority, arena, err);
    for (size_t i = 0; i < p->count; i++) {
        maki_projected *tool = &p->all[i];
        if (tool->left_out) continue;
        if (urgent) {
            if (++shown > MAKI_URGENT_TOOLS_MAX) {
                tool->left_out = "not among the five most important of an urgent task";
            }
            continue;
        }
        tokens += (double)((compact_units(tool->shown) + 3) / 4);
        full |= tokens > MAKI_TOOL_BUDGET;
        if (full) tool->left_out = "over the budget of 2000 tokens for tools";
    }
    return st;
}

static maki_status read_tools(maki_str array, maki_arena *arena, maki_projection *out,
                              maki_err *err)
{
    maki_json_iter iter = maki_json_items(array);
    maki_json_item item;
    out->all = maki_arena_array(arena, maki_json_count(array), sizeof *out->all);
    if (!out->all) return maki_arena_status(arena, err);
    for (size_t i = 0; maki_json_next(&iter, &item); i++) {
        if (!maki_json_string(item.value, "name").len) {
            return maki_fail(err, MAKI_INVALID, "tools[%zu]: must be an object with a name", i);
        }
        maki_projected *tool = &out->all[out->count++];
        tool->raw = tool->shown = item.value;
        tool->priority = maki_json_number(item.value, "priority", tool->priority);
    }
    return MAKI_OK;
}

maki_status maki_project(const maki_project_input *in, maki_arena *arena, maki_projection *out,
                         maki_err *err)
{
    maki_str enums = in->production_enums.len ? in->production_enums : maki_str_of(default_enums);
    *out = (maki_projection){ 0 };
    maki_status st = read_tools(in->tools, arena, out, err);
    for (size_t i = 0; st == MAKI_OK && i < out->count; i++) {
        maki_projected *tool = &out->all[i];
        if (!in_phase(tool->raw, in->phase)) {
            tool->left_out = "not for this phase";
        } else if (!permitted(tool->raw, in->permissions, arena)) {
            tool->left_out = "a permission is missing";
        } else if (in->production) {
            st = restrict_arguments(tool, enums, arena, err);
        }
    }
    if (st == MAKI_OK) st = apply_budget(out, in->urgent, arena, err);
    return st == MAKI_OK ? maki_arena_status(arena, err) : st;
}
