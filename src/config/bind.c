/* bind.c -- bind values to settings: from the YAML tree of the file, the environment and the defaults.
 *
 * In:     a YAML tree, whose keys are the segments of the paths in the table; the environment.
 * Out:    values in config->values, each path once, sorted like the table; a problem for each mistake, which does
 *         not stop the binding.
 * Always: at most NODES_MAX nodes are visited, however many aliases there are. */
#include <string.h>

#include "base/sort.h"
#include "base/str_util.h"
#include "base/suggest.h"
#include "config/config_internal.h"
#include "config/expand.h"

enum { NODES_MAX = 20000, NAME_MAX = 200, KEYS_SHOWN = 8 };

typedef struct binder {
    maki_config *config;
    maki_problems *problems;
    maki_arena *arena;
    char *const *environment;
    size_t nodes; /* visited so far */
} binder;

static void bind_node(binder *b, const maki_setting_path *at, const maki_yaml_node *node);

/* Is the path inside an inline policy, a list of steps in place of a name?  Such a policy is named by the path of its
 * setting. */
static bool is_inline(const maki_setting_path *at)
{
    maki_setting_path parsed;
    if (at->count == 0 || !maki_str_starts(at->pattern, MAKI_LIT("policies."))) return false;
    if (!maki_setting_path_parse(at->names[0], &parsed)) return false;
    const maki_config_setting *row = maki_setting_path_setting(&parsed);
    return row && row->type == MAKI_CONFIG_POLICY;
}

/* The path as the file has it: with an editor's prefix, without that of an inline policy. */
static maki_str path_in_file(binder *b, const maki_setting_path *at)
{
    maki_str path = maki_setting_path_format(at, at->pattern, b->arena);
    if (is_inline(at) && path.len) return maki_str_skip(path, strlen("policies."));
    if (!at->editor.len) return path;
    if (!path.len) return at->editor;
    return maki_arena_print(b->arena, "%.*s.%.*s", MAKI_PRINTED(at->editor), MAKI_PRINTED(path));
}

/* ---- values ------------------------------------------------------------------------------------ */

maki_value *maki_config_value_at(const maki_config *config, maki_str path)
{
    for (size_t i = 0; i < config->count; i++) {
        if (maki_str_equal(config->values[i].path, path)) return &config->values[i];
    }
    return NULL;
}

static void append_value(maki_config *config, const maki_value *value)
{
    /* a failure stays in the arena's status */
    (void)maki_arena_add(&config->arena, &config->values, &config->count, &config->capacity, value,
                         sizeof *value, NULL);
}

/* A setting may be given twice, by its path and by an alias, if the values are equal. */
static void add_value(binder *b, const maki_value *value)
{
    const maki_value *existing = maki_config_value_at(b->config, value->path);
    if (!existing) {
        append_value(b->config, value);
        return;
    }
    if (maki_value_same(existing, value)) return;
    if (maki_str_equal(existing->written, value->written)) {
        maki_problem_add(b->problems, value->at,
                         "%.*s has another value on line %zu; remove one of them",
                         MAKI_PRINTED(value->written), existing->at.line);
    } else {
        maki_problem_add(
            b->problems, value->at,
            "%.*s and %.*s on line %zu are aliases with different values; remove one of them",
            MAKI_PRINTED(value->written), MAKI_PRINTED(existing->written), existing->at.line);
    }
}

/* A value without content at a path. */
static maki_value new_value(maki_arena *arena, const maki_setting_path *at,
                            const maki_config_setting *row)
{
    maki_value value = { .path = maki_setting_path_format(at, maki_str_of(row->path), arena),
                         .row = row,
                         .name_count = at->count };
    value.written = value.path;
    for (size_t i = 0; i < at->count; i++)
        value.names[i] = at->names[i];
    return value;
}

/* The same for a value from the file; an alias is resolved. */
static maki_value value_for(binder *b, const maki_setting_path *at, maki_text_position position)
{
    const maki_config_setting *row = maki_setting_path_setting(at);
    if (row->type == MAKI_CONFIG_ALIAS) row = maki_setting_find(maki_str_of(row->choices));
    maki_value value = new_value(b->arena, at, row);
    value.written = path_in_file(b, at);
    value.source = MAKI_CONFIG_FILE;
    value.at = position;
    return value;
}

/* ---- problems ------------------------------------------------------------------------------------------ */

/* The keys that may follow a path: "enabled, base_dir, compression_threshold ..." */
static maki_str list_keys(binder *b, const maki_setting_path *at)
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

/* The path of a setting whose last segment is this key; NULL: none. */
static const char *path_ending_in(maki_str key)
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
    maki_str candidate;
    for (size_t n = 0; maki_setting_path_key(at, n, &candidate); n++)
        maki_suggest_candidate(&nearest, candidate);
    return nearest.found;
}

/* Split a key with dots: returns the part that is unknown; *at is the path before it. */
static maki_str unknown_part(const maki_setting_path *from, maki_str key, maki_setting_path *at)
{
    maki_setting_path next;
    *at = *from;
    for (size_t i = 1; i + 1 < key.len; i++) {
        if (key.ptr[i] != '.' || !maki_setting_path_step(at, maki_str_prefix(key, i), &next))
            continue;
        *at = next;
        key = maki_str_skip(key, i + 1);
        i = 0;
    }
    return key;
}

static void add_unknown(binder *b, const maki_setting_path *from, const maki_yaml_item *item)
{
    maki_setting_path parsed, *at = &parsed;
    maki_str part = unknown_part(from, item->key, at), parent = path_in_file(b, at);
    maki_str key = maki_problem_quote(b->arena, part, 60), nearest = nearest_key(at, part),
             name = key;
    const char *elsewhere = nearest.len ? NULL : path_ending_in(part);
    if (parent.len) {
        name = maki_arena_print(b->arena, "%.*s.%.*s", MAKI_PRINTED(parent), MAKI_PRINTED(key));
    }
    bool similar = nearest.len || elsewhere;
    maki_str suggestion = nearest.len ? nearest
                          : elsewhere ? maki_str_of(elsewhere)
                                      : list_keys(b, at);
    maki_problem_add(b->problems, item->key_at, "unknown setting %.*s; %s %.*s%s",
                     MAKI_PRINTED(name), similar ? "did you mean" : "expected",
                     MAKI_PRINTED(suggestion), similar ? "?" : "");
}

static const char *kind_name(const maki_yaml_node *node)
{
    return node->kind == MAKI_YAML_MAP    ? "a mapping"
           : node->kind == MAKI_YAML_LIST ? "a list"
                                          : "a single value";
}

static void add_kind_error(binder *b, const maki_setting_path *at, const maki_yaml_node *node)
{
    const maki_config_setting *row = maki_setting_path_setting(at);
    maki_str name = path_in_file(b, at);
    if (row && row->type != MAKI_CONFIG_ALIAS) {
        maki_str expected = maki_value_expected(row, b->arena);
        maki_problem_add(b->problems, node->at, "%.*s must be %.*s, not %s", MAKI_PRINTED(name),
                         MAKI_PRINTED(expected), kind_name(node));
        return;
    }
    maki_str keys = list_keys(b, at);
    bool list = maki_setting_path_has(at, "#");
    if (!keys.len && maki_setting_path_has(at, "*")) keys = MAKI_LIT("NAME: ...");
    maki_problem_add(b->problems, node->at, "%.*s must be %s%s%.*s%s, not %s", MAKI_PRINTED(name),
                     list ? "a list of mappings" : "a mapping", keys.len ? " (" : "",
                     MAKI_PRINTED(keys), keys.len ? ")" : "", kind_name(node));
}

/* ---- the file's tree ------------------------------------------------------------------------------------------ */

static void add_error(binder *b, maki_text_position position, const maki_value *value,
                      maki_str error)
{
    bool secret = value->row->type == MAKI_CONFIG_SECRET;
    maki_problem_add(b->problems, position, "%.*s %.*s", MAKI_PRINTED(value->written),
                     secret ? 14 : (int)error.len, secret ? "cannot be used" : error.ptr);
}

/* Expand the variables in `text`.  False: a problem was added.  A variable that is missing in a secret is not one: it
 * becomes value->missing. */
static bool expand(binder *b, maki_text_position position, maki_value *value, maki_str text,
                   maki_str *out)
{
    maki_expanded expanded = maki_expand(text, b->environment, b->arena);
    maki_str name = value->written;
    *out = expanded.text;
    if (expanded.error) {
        maki_problem_add(b->problems, position, "%.*s: %s", MAKI_PRINTED(name), expanded.error);
        return false;
    }
    if (expanded.missing.len && value->row->type == MAKI_CONFIG_SECRET) {
        value->missing = maki_arena_copy(b->arena, expanded.missing);
    } else if (expanded.missing.len) {
        maki_problem_add(
            b->problems, position,
            "%.*s: the environment variable %.*s is not set; set it, or write ${%.*s:-default}",
            MAKI_PRINTED(name), MAKI_PRINTED(expanded.missing), MAKI_PRINTED(expanded.missing));
        return false;
    }
    return true;
}

static void bind_scalar(binder *b, const maki_setting_path *at, const maki_yaml_node *node)
{
    if (!maki_setting_path_setting(at)) {
        add_kind_error(b, at, node);
        return;
    }
    maki_value value = value_for(b, at, node->at);
    bool literal = node->quoted && !maki_str_contains(node->text, MAKI_LIT("${"));
    maki_str text;
    if (!expand(b, node->at, &value, node->text, &text)) return;
    maki_str error =
        maki_value_read(&value, text, literal ? MAKI_VALUE_QUOTED : MAKI_VALUE_PLAIN, b->arena);
    if (error.len) {
        add_error(b, node->at, &value, error);
    } else {
        add_value(b, &value);
    }
}

static bool read_item(binder *b, maki_value *value, const maki_yaml_node *node, maki_str *out)
{
    if (node->kind != MAKI_YAML_SCALAR || maki_yaml_is_null(node)) {
        maki_problem_add(b->problems, node->at, "%.*s must be a list of strings; this item is %s",
                         MAKI_PRINTED(value->written),
                         maki_yaml_is_null(node) ? "null" : kind_name(node));
        return false;
    }
    if (!expand(b, node->at, value, node->text, out)) return false;
    maki_str error = maki_value_check_item(value->row, *out, b->arena);
    if (error.len == 0 && out->len && memchr(out->ptr, '\0', out->len)) {
        error = MAKI_LIT("must not contain a NUL character");
    }
    if (error.len) add_error(b, node->at, value, error);
    return error.len == 0;
}

static void bind_strings(binder *b, const maki_setting_path *at, const maki_yaml_node *node)
{
    maki_value value = value_for(b, at, node->at);
    size_t n = 0;
    for (const maki_yaml_item *i = node->first; i; i = i->next)
        n++;
    maki_str *items = maki_arena_array(b->arena, n, sizeof *items);
    if (!items || (b->nodes += n) > NODES_MAX) return;
    for (const maki_yaml_item *i = node->first; i; i = i->next) {
        if (read_item(b, &value, i->value, &items[value.count])) value.count++;
    }
    value.items = items;
    add_value(b, &value);
}

/* An inline policy: its name is the path of this setting, and its steps are bound below policies.NAME. */
static void bind_policy(binder *b, const maki_setting_path *at, const maki_yaml_node *node)
{
    maki_value value = value_for(b, at, node->at);
    maki_setting_path steps;
    value.text = value.path;
    add_value(b, &value);
    maki_setting_path presets = { .pattern = MAKI_LIT("policies") };
    if (maki_setting_path_step(&presets, value.path, &steps)) bind_node(b, &steps, node);
}

static void bind_list(binder *b, const maki_setting_path *at, const maki_yaml_node *node)
{
    const maki_config_setting *row = maki_setting_path_setting(at);
    size_t n = 0;
    if (row && maki_value_is_list(row)) {
        bind_strings(b, at, node);
    } else if (row && row->type == MAKI_CONFIG_POLICY) {
        bind_policy(b, at, node);
    } else if (!maki_setting_path_has(at, "#")) {
        add_kind_error(b, at, node);
    } else {
        for (const maki_yaml_item *i = node->first; i; i = i->next, n++) {
            maki_setting_path next;
            maki_str name = maki_arena_print(b->arena, "%zu", n);
            if (maki_setting_path_step(at, name, &next)) bind_node(b, &next, i->value);
        }
    }
}

/* The error of a name that the user chose, or NULL.  Names become parts of paths, session keys and log lines. */
static const char *name_error(const maki_setting_path *at)
{
    maki_str name = at->names[at->count - 1];
    if (name.len > NAME_MAX) return "is longer than 200 bytes";
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (c < 0x20 || c == 0x7f) return "has a control character in its name";
        if (!maki_str_starts(at->pattern, MAKI_LIT("agents")) || (c != '/' && c != ':')) continue;
        return "is not a valid agent name: / and : are not allowed";
    }
    bool dots = maki_str_equal(name, MAKI_LIT(".")) || maki_str_equal(name, MAKI_LIT(".."));
    return dots ? "is not a valid name" : NULL;
}

static void bind_pair(binder *b, const maki_setting_path *at, const maki_yaml_item *item)
{
    maki_setting_path next;
    if (!maki_setting_path_step(at, item->key, &next)) {
        add_unknown(b, at, item);
        return;
    }
    const char *error = next.count > at->count ? name_error(&next) : NULL;
    if (!error) {
        bind_node(b, &next, item->value);
        return;
    }
    maki_str name = maki_problem_quote(b->arena, item->key, 40);
    maki_problem_add(b->problems, item->key_at, "%.*s %s", MAKI_PRINTED(name), error);
}

static void bind_node(binder *b, const maki_setting_path *at, const maki_yaml_node *node)
{
    if (++b->nodes > NODES_MAX) return;  /* reported at the end */
    if (maki_yaml_is_null(node)) return; /* like a missing key */
    if (node->kind == MAKI_YAML_SCALAR) {
        bind_scalar(b, at, node);
    } else if (node->kind == MAKI_YAML_LIST) {
        bind_list(b, at, node);
    } else if (!maki_setting_path_has(at, NULL) || maki_setting_path_has(at, "#")) {
        add_kind_error(b, at, node);
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
                         kind_name(top));
        return;
    }
    bind_node(&b, &start, top);
    if (b.nodes > NODES_MAX) {
        maki_problem_add(problems, top->at,
                         "with its aliases expanded, the file has more than %d values", NODES_MAX);
    }
}

/* ---- the environment -------------------------------------------------------------------- */

static void replace_value(maki_config *config, const maki_value *value)
{
    maki_value *existing = maki_config_value_at(config, value->path);
    if (existing) {
        *existing = *value;
    } else {
        append_value(config, value);
    }
}

void maki_config_bind_environment(maki_config *config, char *const *environment,
                                  maki_problems *problems)
{
    const maki_config_setting *row;
    const char *file = problems->file;
    problems->file = NULL; /* these problems have no file */
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
        maki_str error = maki_value_read(&value, text, MAKI_VALUE_VARIABLE, &config->arena);
        if (error.len) {
            binder b = { config, problems, &config->arena, environment, 0 };
            add_error(&b, (maki_text_position){ 0, 0 }, &value, error);
        } else {
            replace_value(config, &value);
        }
    }
    problems->file = file;
}

/* ---- the defaults ---------------------------------------------------------------------------- */

static void bind_default(maki_config *config, const maki_setting_path *at,
                         const maki_config_setting *row, const char *initial,
                         char *const *environment)
{
    maki_arena *arena = &config->arena;
    maki_value value = new_value(arena, at, row);
    if (maki_config_value_at(config, value.path)) return;
    maki_expanded expanded = maki_expand(maki_str_of(initial), environment, arena);
    if (expanded.text.len == 0) return; /* an API key that is not in the environment */
    if (expanded.variable.len) {
        value.source = MAKI_CONFIG_ENVIRONMENT;
        value.variable = maki_arena_print(arena, "%.*s", MAKI_PRINTED(expanded.variable));
    }
    if (maki_value_read(&value, expanded.text, MAKI_VALUE_PLAIN, arena).len == 0)
        append_value(config, &value);
}

/* Orders by the table; values of one row stay in insertion order, because the sort is stable. */
static bool has_lower_rank(const void *a, const void *b)
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
        if (maki_setting_path_parse(maki_str_of(row->path), &at)) {
            bind_default(config, &at, row, row->initial, environment);
        }
    }
    for (size_t i = 0; maki_config_named_default(i, &path, &initial), path; i++) {
        if (!maki_setting_path_parse(maki_str_of(path), &at)) continue;
        bind_default(config, &at, maki_setting_path_setting(&at), initial, environment);
    }
    for (size_t i = 0; (row = maki_setting_at(i)) != NULL; i++)
        rank_values(config, row, i);
    maki_status st = maki_arena_status(&config->arena, err);
    if (st != MAKI_OK) return st;
    return maki_sort(config->values, config->count, sizeof config->values[0], has_lower_rank,
                     &config->arena, err);
}
