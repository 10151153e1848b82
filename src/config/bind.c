/* bind.c -- from the tree of a file to values: each key is a step through the table.
 *
 * Every mistake is noted and the rest is read on, so that one look shows them all.  The table says how
 * deep a walk can go, so aliases cannot make it longer than STEPS_MOST. */
#include <string.h>

#include "base/sort.h"
#include "base/str.h"
#include "base/suggest.h"
#include "config/config_internal.h"
#include "config/expand.h"

enum { STEPS_MAX = 20000, NAME_MAX = 200, KEYS_SHOWN = 8 };

typedef struct binder {
    maki_config *config;
    maki_problems *problems;
    maki_arena *arena;
    char *const *environment;
    size_t steps;
} binder;

static void bind_node(binder *b, const maki_setting_path *at, const maki_yaml_node *node);

/* Steps that are written where they are used: the name of their preset is that place. */
static bool is_inline(const maki_setting_path *at)
{
    maki_setting_path place;
    if (at->count == 0 || !maki_str_starts(at->pattern, MAKI_LIT("policies."))) return false;
    if (!maki_setting_path_of(at->names[0], &place)) return false;
    const maki_config_setting *row = maki_setting_path_setting(&place);
    return row && row->type == MAKI_CONFIG_POLICY;
}

/* As it stands in the file. */
static maki_str written(binder *b, const maki_setting_path *at)
{
    maki_str path = maki_setting_path_path(at, at->pattern, b->arena);
    if (is_inline(at) && path.len) return maki_str_from(path, strlen("policies."));
    if (!at->editor.len) return path;
    if (!path.len) return at->editor;
    return maki_arena_print(b->arena, "%.*s.%.*s", MAKI_PRINTED(at->editor), MAKI_PRINTED(path));
}

/* ---- keeping values ------------------------------------------------------------------------------------ */

maki_value *maki_config_value_at(const maki_config *config, maki_str path)
{
    for (size_t i = 0; i < config->count; i++) {
        if (maki_str_is(config->values[i].path, path)) return &config->values[i];
    }
    return NULL;
}

static void append(maki_config *config, const maki_value *value)
{
    /* the arena remembers a failure */
    (void)maki_arena_add(&config->arena, &config->values, &config->count, &config->capacity, value,
                         sizeof *value, NULL);
}

/* Two names for one setting are fine as long as they agree. */
static void keep(binder *b, const maki_value *value)
{
    const maki_value *other = maki_config_value_at(b->config, value->path);
    if (!other) {
        append(b->config, value);
        return;
    }
    if (maki_value_same(other, value)) return;
    if (maki_str_is(other->written, value->written)) {
        maki_problem_add(b->problems, value->at,
                         "%.*s has another value on line %zu; keep one of them",
                         MAKI_PRINTED(value->written), other->at.line);
    } else {
        maki_problem_add(
            b->problems, value->at,
            "%.*s and %.*s on line %zu are one setting with two values; keep one of them",
            MAKI_PRINTED(value->written), MAKI_PRINTED(other->written), other->at.line);
    }
}

/* A value for the row at this place. */
static maki_value new_value(maki_arena *arena, const maki_setting_path *at,
                            const maki_config_setting *row)
{
    maki_value value = { .path = maki_setting_path_path(at, maki_str_of(row->path), arena),
                         .row = row,
                         .name_count = at->count };
    value.written = value.path;
    for (size_t i = 0; i < at->count; i++)
        value.names[i] = at->names[i];
    return value;
}

/* The same from the file, and where this is another name for the row that it names. */
static maki_value value_for(binder *b, const maki_setting_path *at, maki_text_position spot)
{
    const maki_config_setting *row = maki_setting_path_setting(at);
    if (row->type == MAKI_CONFIG_SAME) row = maki_setting_named(maki_str_of(row->choices));
    maki_value value = new_value(b->arena, at, row);
    value.written = written(b, at);
    value.source = MAKI_CONFIG_FILE;
    value.at = spot;
    return value;
}

/* ---- mistakes ------------------------------------------------------------------------------------------ */

/* "enabled, base_dir, compression_threshold ..." */
static maki_str keys_here(binder *b, const maki_setting_path *at)
{
    maki_str words = { "", 0 }, key;
    size_t n = 0;
    for (; n < KEYS_SHOWN && maki_setting_path_key(at, n, &key); n++) {
        words = maki_arena_print(b->arena, "%.*s%s%.*s", MAKI_PRINTED(words), n ? ", " : "",
                                 MAKI_PRINTED(key));
    }
    if (!maki_setting_path_key(at, n, &key)) return words;
    return maki_arena_print(b->arena, "%.*s ...", MAKI_PRINTED(words));
}

/* A row elsewhere whose last segment is this key. */
static const char *elsewhere(maki_str key)
{
    const maki_config_setting *row;
    for (size_t i = 0; (row = maki_setting_at(i)) != NULL; i++) {
        const char *dot = strrchr(row->path, '.');
        if (dot && maki_edit_distance(maki_str_of(dot + 1), key) == 0) return row->path;
    }
    return NULL;
}

static maki_str nearest_key(const maki_setting_path *at, maki_str key)
{
    maki_suggest nearest = maki_suggest_for(key);
    maki_str other;
    for (size_t n = 0; maki_setting_path_key(at, n, &other); n++)
        maki_suggest_candidate(&nearest, other);
    return nearest.found;
}

/* The part of a key with dots that is not known, and the place it would be at. */
static maki_str unknown_part(const maki_setting_path *from, maki_str key, maki_setting_path *at)
{
    maki_setting_path next;
    *at = *from;
    for (size_t i = 1; i + 1 < key.len; i++) {
        if (key.ptr[i] != '.' || !maki_setting_path_step(at, maki_str_to(key, i), &next)) continue;
        *at = next;
        key = maki_str_from(key, i + 1);
        i = 0;
    }
    return key;
}

static void tell_unknown(binder *b, const maki_setting_path *from, const maki_yaml_item *item)
{
    maki_setting_path place, *at = &place;
    maki_str part = unknown_part(from, item->key, at), here = written(b, at);
    maki_str key = maki_problem_quote(b->arena, part, 60), near = nearest_key(at, part), name = key;
    const char *other = near.len ? NULL : elsewhere(part);
    if (here.len) {
        name = maki_arena_print(b->arena, "%.*s.%.*s", MAKI_PRINTED(here), MAKI_PRINTED(key));
    }
    bool slip = near.len || other;
    maki_str words = near.len ? near : other ? maki_str_of(other) : keys_here(b, at);
    maki_problem_add(b->problems, item->key_at, "there is no setting %.*s; %s %.*s%s",
                     MAKI_PRINTED(name), slip ? "did you mean" : "here go", MAKI_PRINTED(words),
                     slip ? "?" : "");
}

static const char *kind_words(const maki_yaml_node *node)
{
    return node->kind == MAKI_YAML_MAP    ? "a mapping"
           : node->kind == MAKI_YAML_LIST ? "a list"
                                          : "a single value";
}

static void tell_kind(binder *b, const maki_setting_path *at, const maki_yaml_node *node)
{
    const maki_config_setting *row = maki_setting_path_setting(at);
    maki_str name = written(b, at);
    if (row && row->type != MAKI_CONFIG_SAME) {
        maki_str wanted = maki_value_expected(row, b->arena);
        maki_problem_add(b->problems, node->at, "%.*s must be %.*s, not %s", MAKI_PRINTED(name),
                         MAKI_PRINTED(wanted), kind_words(node));
        return;
    }
    maki_str keys = keys_here(b, at);
    bool list = maki_setting_path_has(at, "#");
    if (!keys.len && maki_setting_path_has(at, "*")) keys = MAKI_LIT("NAME: ...");
    maki_problem_add(b->problems, node->at, "%.*s must be %s%s%.*s%s, not %s", MAKI_PRINTED(name),
                     list ? "a list of mappings" : "a mapping", keys.len ? " (" : "",
                     MAKI_PRINTED(keys), keys.len ? ")" : "", kind_words(node));
}

/* ---- the walk ------------------------------------------------------------------------------------------ */

static void tell_fault(binder *b, maki_text_position spot, const maki_value *value, maki_str fault)
{
    bool hidden = value->row->type == MAKI_CONFIG_SECRET;
    maki_problem_add(b->problems, spot, "%.*s %.*s", MAKI_PRINTED(value->written),
                     hidden ? 14 : (int)fault.len, hidden ? "cannot be used" : fault.ptr);
}

/* The text with its variables; false: it was a mistake, and is noted. */
static bool expand(binder *b, maki_text_position spot, maki_value *value, maki_str text,
                   maki_str *out)
{
    maki_expanded got = maki_expand(text, b->environment, b->arena);
    maki_str name = value->written;
    *out = got.text;
    if (got.wrong) {
        maki_problem_add(b->problems, spot, "%.*s: %s", MAKI_PRINTED(name), got.wrong);
        return false;
    }
    if (got.missing.len && value->row->type == MAKI_CONFIG_SECRET) {
        value->missing = maki_arena_copy(b->arena, got.missing);
    } else if (got.missing.len) {
        maki_problem_add(b->problems, spot,
                         "%.*s: the variable %.*s is not set; set it, or write ${%.*s:-default}",
                         MAKI_PRINTED(name), MAKI_PRINTED(got.missing), MAKI_PRINTED(got.missing));
        return false;
    }
    return true;
}

static void bind_scalar(binder *b, const maki_setting_path *at, const maki_yaml_node *node)
{
    if (!maki_setting_path_setting(at)) {
        tell_kind(b, at, node);
        return;
    }
    maki_value value = value_for(b, at, node->at);
    bool literal = node->quoted && !maki_str_has(node->text, MAKI_LIT("${"));
    maki_str text;
    if (!expand(b, node->at, &value, node->text, &text)) return;
    maki_str fault =
        maki_value_read(&value, text, literal ? MAKI_VALUE_QUOTED : MAKI_VALUE_PLAIN, b->arena);
    if (fault.len) {
        tell_fault(b, node->at, &value, fault);
    } else {
        keep(b, &value);
    }
}

static bool read_item(binder *b, maki_value *value, const maki_yaml_node *node, maki_str *out)
{
    if (node->kind != MAKI_YAML_SCALAR || maki_yaml_is_null(node)) {
        maki_problem_add(b->problems, node->at, "%.*s is a list of texts; this is %s",
                         MAKI_PRINTED(value->written),
                         maki_yaml_is_null(node) ? "nothing" : kind_words(node));
        return false;
    }
    if (!expand(b, node->at, value, node->text, out)) return false;
    maki_str fault = maki_value_check_item(value->row, *out, b->arena);
    if (fault.len == 0 && out->len && memchr(out->ptr, '\0', out->len)) {
        fault = MAKI_LIT("must not contain a NUL character");
    }
    if (fault.len) tell_fault(b, node->at, value, fault);
    return fault.len == 0;
}

static void bind_texts(binder *b, const maki_setting_path *at, const maki_yaml_node *node)
{
    maki_value value = value_for(b, at, node->at);
    size_t n = 0;
    for (const maki_yaml_item *i = node->first; i; i = i->next)
        n++;
    maki_str *items = maki_arena_array(b->arena, n, sizeof *items);
    if (!items || (b->steps += n) > STEPS_MAX) return;
    for (const maki_yaml_item *i = node->first; i; i = i->next) {
        if (read_item(b, &value, i->value, &items[value.count])) value.count++;
    }
    value.items = items;
    keep(b, &value);
}

/* A policy that is written where it is used: a preset with the name of that place. */
static void bind_policy(binder *b, const maki_setting_path *at, const maki_yaml_node *node)
{
    maki_value value = value_for(b, at, node->at);
    maki_setting_path steps;
    value.text = value.path;
    keep(b, &value);
    maki_setting_path presets = { .pattern = MAKI_LIT("policies") };
    if (maki_setting_path_step(&presets, value.path, &steps)) bind_node(b, &steps, node);
}

static void bind_list(binder *b, const maki_setting_path *at, const maki_yaml_node *node)
{
    const maki_config_setting *row = maki_setting_path_setting(at);
    size_t n = 0;
    if (row && maki_value_is_list(row)) {
        bind_texts(b, at, node);
    } else if (row && row->type == MAKI_CONFIG_POLICY) {
        bind_policy(b, at, node);
    } else if (!maki_setting_path_has(at, "#")) {
        tell_kind(b, at, node);
    } else {
        for (const maki_yaml_item *i = node->first; i; i = i->next, n++) {
            maki_setting_path next;
            maki_str name = maki_arena_print(b->arena, "%zu", n);
            if (maki_setting_path_step(at, name, &next)) bind_node(b, &next, i->value);
        }
    }
}

/* Names become parts of paths, of session keys and of lines in the log. */
static const char *name_fault(const maki_setting_path *at)
{
    maki_str name = at->names[at->count - 1];
    if (name.len > NAME_MAX) return "is too long for a name: 200 bytes at most";
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (c < 0x20 || c == 0x7f) return "has a control character in its name";
        if (!maki_str_starts(at->pattern, MAKI_LIT("agents")) || (c != '/' && c != ':')) continue;
        return "is not a name for an agent: / and : are not allowed in it";
    }
    bool dots = maki_str_is(name, MAKI_LIT(".")) || maki_str_is(name, MAKI_LIT(".."));
    return dots ? "is not a name" : NULL;
}

static void bind_pair(binder *b, const maki_setting_path *at, const maki_yaml_item *item)
{
    maki_setting_path next;
    if (!maki_setting_path_step(at, item->key, &next)) {
        tell_unknown(b, at, item);
        return;
    }
    const char *fault = next.count > at->count ? name_fault(&next) : NULL;
    if (!fault) {
        bind_node(b, &next, item->value);
        return;
    }
    maki_str name = maki_problem_quote(b->arena, item->key, 40);
    maki_problem_add(b->problems, item->key_at, "%.*s %s", MAKI_PRINTED(name), fault);
}

static void bind_node(binder *b, const maki_setting_path *at, const maki_yaml_node *node)
{
    if (++b->steps > STEPS_MAX) return;  /* told at the end */
    if (maki_yaml_is_null(node)) return; /* as if it were not there */
    if (node->kind == MAKI_YAML_SCALAR) {
        bind_scalar(b, at, node);
    } else if (node->kind == MAKI_YAML_LIST) {
        bind_list(b, at, node);
    } else if (!maki_setting_path_has(at, NULL) || maki_setting_path_has(at, "#")) {
        tell_kind(b, at, node);
    } else {
        for (const maki_yaml_item *i = node->first; i; i = i->next)
            bind_pair(b, at, i);
    }
}

void maki_config_bind(maki_config *config, const maki_yaml_node *top, char *const *environment,
                      maki_problems *problems)
{
    binder b = { config, problems, &config->arena, environment, 0 };
    maki_setting_path start = { .pattern = { "", 0 } };
    if (maki_yaml_is_null(top)) return;
    if (top->kind != MAKI_YAML_MAP) {
        maki_problem_add(problems, top->at,
                         "the file must be a mapping, lines of \"key: value\", not %s",
                         kind_words(top));
        return;
    }
    bind_node(&b, &start, top);
    if (b.steps > STEPS_MAX) {
        maki_problem_add(problems, top->at,
                         "with its aliases written out, the file has more than %d values",
                         STEPS_MAX);
    }
}

/* ---- over the file: the environment -------------------------------------------------------------------- */

static void override(maki_config *config, const maki_value *value)
{
    maki_value *there = maki_config_value_at(config, value->path);
    if (there) {
        *there = *value;
    } else {
        append(config, value);
    }
}

void maki_config_bind_environment(maki_config *config, char *const *environment,
                                  maki_problems *problems)
{
    const maki_config_setting *row;
    const char *file = problems->file;
    problems->file = NULL; /* it is not the file that is wrong */
    for (size_t i = 0; (row = maki_setting_at(i)) != NULL; i++) {
        maki_str text;
        if (!row->variable) continue;
        if (!maki_variable(environment, maki_str_of(row->variable), &text) || !text.len) continue;
        maki_value value = { .path = maki_str_of(row->path),
                             .written = maki_str_of(row->variable),
                             .row = row,
                             .source = MAKI_CONFIG_ENVIRONMENT,
                             .variable = maki_str_of(row->variable) };
        text = maki_arena_print(&config->arena, "%s", text.ptr);
        maki_str fault = maki_value_read(&value, text, MAKI_VALUE_VARIABLE, &config->arena);
        if (fault.len) {
            binder b = { config, problems, &config->arena, environment, 0 };
            tell_fault(&b, (maki_text_position){ 0, 0 }, &value, fault);
        } else {
            override(config, &value);
        }
    }
    problems->file = file;
}

/* ---- under it: the defaults ---------------------------------------------------------------------------- */

static void bind_default(maki_config *config, const maki_setting_path *at,
                         const maki_config_setting *row, const char *initial,
                         char *const *environment)
{
    maki_arena *arena = &config->arena;
    maki_value value = new_value(arena, at, row);
    if (maki_config_value_at(config, value.path)) return;
    maki_expanded got = maki_expand(maki_str_of(initial), environment, arena);
    if (got.text.len == 0) return; /* a key that the environment does not have */
    if (got.variable.len) {
        value.source = MAKI_CONFIG_ENVIRONMENT;
        value.variable = maki_arena_print(arena, "%.*s", MAKI_PRINTED(got.variable));
    }
    if (maki_value_read(&value, got.text, MAKI_VALUE_PLAIN, arena).len == 0) append(config, &value);
}

/* As the rows stand in the table; values of one row as they came. */
static bool stands_before(const void *a, const void *b)
{
    const maki_value *left = a, *right = b;
    return left->rank < right->rank;
}

static void rank_values(maki_config *config, const maki_config_setting *row, size_t rank)
{
    for (size_t i = 0; i < config->count; i++) {
        if (config->values[i].row == row) config->values[i].rank = rank;
    }
}

maki_status maki_config_bind_defaults(maki_config *config, char *const *environment, maki_err *err)
{
    const maki_config_setting *row;
    const char *path, *initial;
    maki_setting_path at;
    for (size_t i = 0; (row = maki_setting_at(i)) != NULL; i++) {
        if (!row->initial || strpbrk(row->path, "*#")) continue;
        if (maki_setting_path_of(maki_str_of(row->path), &at)) {
            bind_default(config, &at, row, row->initial, environment);
        }
    }
    for (size_t i = 0; maki_config_named_default(i, &path, &initial), path; i++) {
        if (!maki_setting_path_of(maki_str_of(path), &at)) continue;
        bind_default(config, &at, maki_setting_path_setting(&at), initial, environment);
    }
    for (size_t i = 0; (row = maki_setting_at(i)) != NULL; i++)
        rank_values(config, row, i);
    maki_status st = maki_arena_status(&config->arena, err);
    if (st != MAKI_OK) return st;
    return maki_sort(config->values, config->count, sizeof config->values[0], stands_before,
                     &config->arena, err);
}
