/* project.c -- see project.h. */
#include "tools/project.h"

#include "base/err.h"
#include "base/json.h"
#include "base/json_build.h"
#include "base/json_print.h"
#include "base/sort.h"
#include "base/str.h"

/* ---- who may be seen ------------------------------------------------------------------------- */

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
        if (maki_str_is(phase, maki_str_of(phases[p].phase)))
            return maki_json_field_in(tool, "category", phases[p].categories);
    }
    return false;
}

/* Is there a permission that contains this word?  "super-admin" grants "admin". */
static bool granted(maki_str permissions, maki_str word, maki_arena *arena)
{
    maki_json_iter iter = maki_json_items(permissions);
    maki_json_item item;
    while (maki_json_next(&iter, &item)) {
        if (maki_json_kind_of(item.value) != MAKI_JSON_STRING) continue;
        if (maki_str_has(maki_json_text(item.value, arena), word)) return true;
    }
    return false;
}

static bool permitted(maki_str tool, maki_str permissions, maki_arena *arena)
{
    maki_json_iter iter = maki_json_items(maki_json_field(tool, "requiredPermissions"));
    maki_json_item item;
    while (maki_json_next(&iter, &item)) {
        if (maki_json_kind_of(item.value) != MAKI_JSON_STRING) return false;
        if (!granted(permissions, maki_json_text(item.value, arena), arena)) return false;
    }
    return true;
}

/* ---- production ------------------------------------------------------------------------------ */

static const char default_enums[] =
    "{\"deleteFile\":{\"path\":[\"/tmp/allowed-file-1.txt\",\"/tmp/allowed-file-2.txt\"]},"
    "\"execute\":{\"command\":[\"npm test\",\"npm run build\",\"npm run lint\"]}}";

static const char *describe(maki_str tool_name, maki_str argument)
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

static maki_str object_or(maki_str object, const char *name, maki_str instead)
{
    maki_str value = maki_json_first(object, name, MAKI_JSON_OBJECT);
    return value.len ? value : instead;
}

/* The rule for an argument, by its escaped name. */
static bool find_rule(maki_str rules, maki_str argument, maki_json_item *rule)
{
    maki_json_iter iter = maki_json_items(rules);
    maki_str wanted = { argument.ptr - 1, argument.len + 2 };
    while (maki_json_next(&iter, rule)) {
        maki_str name = { rule->key.ptr - 1, rule->key.len + 2 };
        if (maki_json_kind_of(rule->value) != MAKI_JSON_ARRAY) continue;
        if (maki_json_same_text(name, wanted)) return true;
    }
    return false;
}

static void write_restricted(maki_jw *w, maki_str tool_name, const maki_json_item *rule)
{
    maki_jw_raw_key(w, rule->key);
    maki_jw_print(w, "{'type':'string','enum':%v,'description':%z}", rule->value,
                  describe(tool_name, rule->key));
}

/* The properties with restricted arguments in place of the old ones, new ones at the end. */
static void write_properties(maki_jw *w, maki_str tool_name, maki_str properties, maki_str rules)
{
    maki_json_iter iter = maki_json_items(properties);
    maki_json_item item, rule;
    maki_jw_object(w);
    while (maki_json_next(&iter, &item)) {
        if (find_rule(rules, item.key, &rule)) {
            write_restricted(w, tool_name, &rule);
        } else {
            maki_jw_raw_key(w, item.key);
            maki_jw_raw(w, item.value);
        }
    }
    iter = maki_json_items(rules);
    while (maki_json_next(&iter, &rule)) {
        maki_json_item had;
        bool there = false;
        maki_json_iter old = maki_json_items(properties);
        while (maki_json_next(&old, &had)) {
            there |= maki_json_same_text((maki_str){ had.key.ptr - 1, had.key.len + 2 },
                                         (maki_str){ rule.key.ptr - 1, rule.key.len + 2 });
        }
        if (!there && maki_json_kind_of(rule.value) == MAKI_JSON_ARRAY) {
            write_restricted(w, tool_name, &rule);
        }
    }
    maki_jw_end_object(w);
}

/* `object` with the field `name` set to `value` (appended when it is new), as text. */
static maki_status with_field(maki_str object, maki_str name, maki_str value, maki_arena *arena,
                              maki_str *out, maki_err *err)
{
    maki_json_iter iter = maki_json_items(object);
    maki_json_item item;
    maki_json_build made;
    bool there = false;
    maki_json_build_begin(&made, arena, err);
    maki_jw_object(&made.w);
    while (maki_json_next(&iter, &item)) {
        bool same = maki_json_key_is(item.key, name);
        maki_jw_raw_key(&made.w, item.key);
        maki_jw_raw(&made.w, same ? value : item.value);
        there |= same;
    }
    if (!there) {
        maki_jw_key(&made.w, name);
        maki_jw_raw(&made.w, value);
    }
    maki_jw_end_object(&made.w);
    return maki_json_build_end(&made, arena, out, err);
}

static maki_status restrict_tool(maki_projected *tool, maki_str name, maki_str rules,
                                 maki_arena *arena, maki_err *err)
{
    maki_str parameters = object_or(tool->raw, "parameters", MAKI_LIT("{\"type\":\"object\"}"));
    maki_str properties = object_or(parameters, "properties", MAKI_LIT("{}"));
    maki_json_build made;
    maki_json_build_begin(&made, arena, err);
    write_properties(&made.w, name, properties, rules);
    maki_status st = maki_json_build_end(&made, arena, &properties, err);
    if (st == MAKI_OK) {
        st = with_field(parameters, MAKI_LIT("properties"), properties, arena, &parameters, err);
    }
    if (st == MAKI_OK) {
        st = with_field(tool->raw, MAKI_LIT("parameters"), parameters, arena, &tool->shown, err);
    }
    return st;
}

/* In production the arguments that have rules may only take the listed values. */
static maki_status make_safe(maki_projected *tool, maki_str enums, maki_arena *arena, maki_err *err)
{
    maki_json_iter iter = maki_json_items(enums);
    maki_json_item rule;
    maki_str name = maki_json_string(tool->raw, "name");
    while (maki_json_next(&iter, &rule)) {
        maki_str rule_name = { rule.key.ptr - 1, rule.key.len + 2 };
        if (!maki_json_same_text(name, rule_name)) continue;
        if (maki_json_kind_of(rule.value) != MAKI_JSON_OBJECT) {
            return maki_fail(err, MAKI_INVALID,
                             "productionEnums: a tool needs an object {argument: [values]}");
        }
        return restrict_tool(tool, name, rule.value, arena, err);
    }
    return MAKI_OK;
}

/* ---- budget ---------------------------------------------------------------------------------- */

/* UTF-16 units of compact JSON: white space between tokens does not count. */
static uint64_t compact_units(maki_str json)
{
    maki_json_iter iter = maki_json_items(json);
    maki_json_item item;
    uint64_t units = 2, n = 0;
    maki_json_kind kind = maki_json_kind_of(json);
    if (kind != MAKI_JSON_OBJECT && kind != MAKI_JSON_ARRAY) return maki_json_units(json);
    while (maki_json_next(&iter, &item)) {
        units += compact_units(item.value) + (n++ > 0);
        if (kind == MAKI_JSON_OBJECT) units += maki_json_units(item.key) + 3;
    }
    return units;
}

static bool more_important(const void *a, const void *b)
{
    return ((const maki_projected *)a)->priority > ((const maki_projected *)b)->priority;
}

static maki_status apply_budget(maki_projection *p, bool urgent, maki_arena *arena, maki_err *err)
{
    maki_status st = MAKI_OK;
    size_t shown = 0;
    double tokens = 0;
    bool full = false;
    if (urgent) st = maki_sort(p->all, p->count, sizeof *p->all, more_important, arena, err);
    for (size_t i = 0; i < p->count; i++) {
        maki_projected *tool = &p->all[i];
        if (tool->left_out) continue;
        if (urgent) {
            if (++shown > MAKI_TOOL_URGENT) {
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

maki_status maki_project(const maki_project_in *in, maki_arena *arena, maki_projection *out,
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
            st = make_safe(tool, enums, arena, err);
        }
    }
    if (st == MAKI_OK) st = apply_budget(out, in->urgent, arena, err);
    return st == MAKI_OK ? maki_arena_status(arena, err) : st;
}
