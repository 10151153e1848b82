/* yaml.c -- parse YAML with libyaml's events.
 *
 * In:     the bytes of a file, of any content.
 * Out:    a tree in an arena, or problems with line, column and a hint.
 * Always: the depth and the number of nodes are limited, so the limit of the arena is not reached first. */
#include "config/yaml.h"

#include <yaml.h>

#include "base/err.h"
#include "base/str_util.h"
#include "base/text.h"

typedef struct anchor {
    maki_str name;
    maki_yaml_node *node;
    struct anchor *next;
} anchor;

typedef struct builder {
    maki_problems *problems;
    maki_arena *arena;
    maki_yaml_node *open[MAKI_YAML_DEPTH];
    size_t depth;
    maki_yaml_node *top;
    maki_yaml_item *pair;   /* its value is parsed next; NULL: none is pending */
    maki_yaml_item dropped; /* discards the value of a pair whose key is a mistake */
    anchor *anchors;        /* newest first, because a name may be redefined */
    size_t nodes;
    bool stop; /* after a mistake that ends the parsing */
} builder;

static maki_text_position position_of(yaml_mark_t mark)
{
    return (maki_text_position){ mark.line + 1, mark.column + 1 };
}

/* The line and column of a byte offset. */
static maki_text_position position_at(maki_str bytes, size_t at)
{
    maki_text_position position = { 1, 1 };
    for (size_t i = 0; i < at && i < bytes.len; i++) {
        unsigned char c = (unsigned char)bytes.ptr[i];
        if (c == '\n') {
            position = (maki_text_position){ position.line + 1, 1 };
        } else if ((c & 0xc0) != 0x80) {
            position.column++;
        }
    }
    return position;
}

#define STOP(b, at, ...)                                    \
    do {                                                    \
        maki_problem_add((b)->problems, (at), __VA_ARGS__); \
        (b)->stop = true;                                   \
    } while (0)

static maki_str copy_text(builder *b, const yaml_char_t *text, size_t len)
{
    char *at = maki_arena_get(b->arena, len + 1); /* NUL-terminated */
    if (at && len) memcpy(at, text, len);
    return at ? (maki_str){ at, len } : (maki_str){ "", 0 };
}

bool maki_yaml_is_null(const maki_yaml_node *node)
{
    return node->kind == MAKI_YAML_SCALAR && !node->quoted &&
           (node->text.len == 0 || maki_str_in(node->text, "~|null|Null|NULL"));
}

/* ---- building the tree ---------------------------------------------------------------------------------------- */

static const maki_yaml_item *find_key(const maki_yaml_node *map, maki_str key)
{
    const maki_yaml_item *item = map->first;
    while (item && !maki_str_equal(item->key, key))
        item = item->next;
    return item;
}

static maki_yaml_item *add_item(builder *b, maki_yaml_node *parent, maki_str key,
                                maki_text_position at)
{
    maki_yaml_item *item = maki_arena_get(b->arena, sizeof *item);
    if (!item) return &b->dropped;
    *item = (maki_yaml_item){ .key = key, .key_at = at };
    if (parent->last) {
        parent->last->next = item;
    } else {
        parent->first = item;
    }
    return parent->last = item;
}

/* Add a pair: a scalar where a mapping expects a key. */
static void add_key(builder *b, maki_yaml_node *map, const maki_yaml_node *scalar)
{
    const maki_yaml_item *duplicate = find_key(map, scalar->text);
    maki_str name = maki_problem_quote(b->arena, scalar->text, 60);
    bool merge = maki_str_equal(scalar->text, MAKI_LIT("<<")) && !scalar->quoted;
    if (merge) {
        maki_problem_add(b->problems, scalar->at,
                         "merge keys (<<) are not supported; repeat the settings");
    } else if (duplicate) {
        maki_problem_add(b->problems, scalar->at,
                         "duplicate key %.*s, first on line %zu; remove one of them",
                         MAKI_PRINTED(name), duplicate->key_at.line);
    }
    b->pair = merge || duplicate ? &b->dropped : add_item(b, map, scalar->text, scalar->at);
}

/* Add a node to the open container: as an item, a key or the value of the pending pair. */
static void attach(builder *b, maki_yaml_node *node)
{
    maki_yaml_node *parent = b->depth ? b->open[b->depth - 1] : NULL;
    if (!parent) {
        b->top = node;
    } else if (parent->kind == MAKI_YAML_LIST) {
        add_item(b, parent, (maki_str){ "", 0 }, node->at)->value = node;
    } else if (b->pair) {
        b->pair->value = node;
        b->pair = NULL;
    } else if (node->kind == MAKI_YAML_SCALAR) {
        add_key(b, parent, node);
    } else {
        STOP(b, node->at, "a key must be a scalar, not %s",
             node->kind == MAKI_YAML_LIST ? "a list" : "a mapping; does ${...} need quotes here?");
    }
}

static maki_yaml_node *new_node(builder *b, maki_yaml_kind kind, yaml_mark_t mark,
                                const yaml_char_t *anchor_name, const yaml_char_t *tag)
{
    maki_yaml_node *node = maki_arena_get(b->arena, sizeof *node);
    if (!node) return NULL;
    *node = (maki_yaml_node){ .kind = kind, .at = position_of(mark) };
    if (++b->nodes > MAKI_YAML_NODES) {
        STOP(b, node->at, "more than %d values; remove what is no configuration", MAKI_YAML_NODES);
    }
    if (tag) {
        maki_str name = maki_problem_quote(b->arena, maki_str_of((const char *)tag), 40);
        STOP(b, node->at, "the tag %.*s is not supported; remove it", MAKI_PRINTED(name));
    }
    if (anchor_name) {
        anchor *a = maki_arena_get(b->arena, sizeof *a);
        if (!a) return NULL;
        *a = (anchor){ copy_text(b, anchor_name, strlen((const char *)anchor_name)), node,
                       b->anchors };
        b->anchors = a;
    }
    return node;
}

static void push_container(builder *b, maki_yaml_node *node)
{
    if (!node) return;
    attach(b, node);
    if (b->depth == MAKI_YAML_DEPTH) {
        STOP(b, node->at, "nested more than %d levels deep; no setting is that deep",
             MAKI_YAML_DEPTH);
        return;
    }
    node->open = true;
    b->open[b->depth++] = node;
}

static void on_scalar(builder *b, const yaml_event_t *e)
{
    maki_yaml_node *node =
        new_node(b, MAKI_YAML_SCALAR, e->start_mark, e->data.scalar.anchor, e->data.scalar.tag);
    if (!node) return;
    node->text = copy_text(b, e->data.scalar.value, e->data.scalar.length);
    node->quoted = e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    attach(b, node);
}

static void on_alias(builder *b, const yaml_event_t *e)
{
    maki_str name = maki_str_of((const char *)e->data.alias.anchor);
    maki_str shown = maki_problem_quote(b->arena, name, 40);
    anchor *a = b->anchors;
    while (a && !maki_str_equal(a->name, name))
        a = a->next;
    if (!a) {
        STOP(b, position_of(e->start_mark), "undefined anchor: no &%.*s above",
             MAKI_PRINTED(shown));
    } else if (a->node->open) {
        STOP(b, position_of(e->start_mark), "*%.*s is inside its own anchor", MAKI_PRINTED(shown));
    } else {
        attach(b, a->node);
    }
}

static void on_event(builder *b, const yaml_event_t *e, size_t *documents)
{
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (++*documents > 1)
            STOP(b, position_of(e->start_mark),
                 "a second document begins here; a configuration is one document");
        break;
    case YAML_SCALAR_EVENT: on_scalar(b, e); break;
    case YAML_ALIAS_EVENT: on_alias(b, e); break;
    case YAML_SEQUENCE_START_EVENT:
        push_container(b, new_node(b, MAKI_YAML_LIST, e->start_mark, e->data.sequence_start.anchor,
                                   e->data.sequence_start.tag));
        break;
    case YAML_MAPPING_START_EVENT:
        push_container(b, new_node(b, MAKI_YAML_MAP, e->start_mark, e->data.mapping_start.anchor,
                                   e->data.mapping_start.tag));
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: b->open[--b->depth]->open = false; break;
    default: break;
    }
}

/* ---- syntax errors ----------------------------------------------------------------------------------- */

/* Checked before libyaml parses it, which accepts UTF-16 and reports byte offsets instead of lines. */
static bool check_utf8(maki_str bytes, maki_problems *problems)
{
    size_t bad_at = 0;
    if (bytes.len >= 2 && (maki_str_starts(bytes, MAKI_LIT("\xff\xfe")) ||
                           maki_str_starts(bytes, MAKI_LIT("\xfe\xff")))) {
        maki_problem_add(problems, ((maki_text_position){ 1, 1 }),
                         "this is UTF-16; save the file as UTF-8");
        return false;
    }
    if (maki_utf8_valid(bytes, &bad_at)) return true;
    maki_problem_add(problems, position_at(bytes, bad_at),
                     "not valid UTF-8 (byte 0x%02x); save the file as UTF-8",
                     (unsigned)(unsigned char)bytes.ptr[bad_at]);
    return false;
}

/* The line of a position; *from is the part of it that begins at the position. */
static maki_str line_at(maki_str bytes, maki_text_position position, maki_str *from)
{
    size_t line = 1, i = 0;
    while (i < bytes.len && line < position.line)
        line += bytes.ptr[i++] == '\n';
    maki_str rest = maki_str_skip(bytes, i);
    const char *end = rest.len ? memchr(rest.ptr, '\n', rest.len) : NULL;
    if (end) rest.len = (size_t)(end - rest.ptr);
    *from = rest;
    for (size_t column = 1; from->len && column < position.column; column++) {
        size_t len = 1;
        (void)maki_utf8_decode(*from, 0, &len);
        *from = maki_str_skip(*from, len);
    }
    return rest;
}

/* A hint for an error of libyaml: its usual cause. */
static const char *hint(const char *problem, maki_str line, maki_str from)
{
    static const struct hint_row {
        const char *problem, *hint;
    } rows[] = {
        { "mapping values are not allowed",
          "; is the indentation of a line above different, or does a value with a colon need quotes?" },
        { "did not find expected ',' or", "; a bracket or brace is not closed" },
        { "could not find expected ':'", "; a key needs a colon and a space after it" },
        { "did not find expected key", "; does its indentation match the lines above?" },
        { "end of stream", "; a quote, bracket or brace is not closed" },
    };
    bool flow = strstr(problem, "did not find expected ',' or") != NULL;
    if (from.len && from.ptr[0] == '\t')
        return "; tabs are not allowed as indentation in YAML: use spaces";
    if (from.len && strchr("%@`", from.ptr[0])) return "; put the value in quotes";
    if (flow && maki_str_contains(line, MAKI_LIT("${")))
        return "; in braces and brackets \"${...}\" needs quotes";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strstr(problem, rows[i].problem)) return rows[i].hint;
    }
    return "";
}

static void add_syntax_error(const yaml_parser_t *parser, maki_str bytes, maki_problems *problems)
{
    const char *problem = parser->problem ? parser->problem : "syntax error";
    if (parser->error == YAML_READER_ERROR) {
        maki_problem_add(problems, position_at(bytes, parser->problem_offset),
                         "not valid YAML: %s; remove the character", problem);
        return;
    }
    maki_text_position at = position_of(parser->problem_mark);
    maki_str from, line = line_at(bytes, at, &from);
    const char *context = parser->context ? parser->context : "",
               *advice = hint(problem, line, from);
    bool on_another_line = parser->context && parser->context_mark.line + 1 != at.line;
    if (on_another_line) {
        maki_problem_add(problems, at, "not valid YAML: %s, %s that began on line %zu%s", problem,
                         context, parser->context_mark.line + 1, advice);
    } else {
        maki_problem_add(problems, at, "not valid YAML: %s%s%s%s", problem, context[0] ? ", " : "",
                         context, advice);
    }
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static maki_status read_events(yaml_parser_t *parser, builder *b, maki_str bytes, maki_err *err)
{
    size_t documents = 0;
    for (bool end = false; !end && !b->stop;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) {
            if (parser->error == YAML_MEMORY_ERROR) return maki_fail_nomem(err);
            add_syntax_error(parser, bytes, b->problems);
            b->stop = true;
            break;
        }
        on_event(b, &event, &documents);
        end = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        maki_status st = maki_arena_status(b->arena, err);
        if (st != MAKI_OK) return st;
    }
    return MAKI_OK;
}

maki_status maki_yaml_read(maki_str bytes, maki_problems *problems, maki_yaml_node **top,
                           maki_err *err)
{
    builder b = { .problems = problems, .arena = problems->arena };
    yaml_parser_t parser;
    *top = NULL;
    if (bytes.len > MAKI_YAML_BYTES) {
        maki_problem_add(problems, ((maki_text_position){ 0, 0 }),
                         "larger than %d KB; remove what is no configuration",
                         MAKI_YAML_BYTES >> 10);
        return MAKI_OK;
    }
    if (!check_utf8(bytes, problems)) return MAKI_OK;
    if (!yaml_parser_initialize(&parser)) return maki_fail_nomem(err);
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes.ptr, bytes.len);
    maki_status st = read_events(&parser, &b, bytes, err);
    yaml_parser_delete(&parser);
    if (st == MAKI_OK && !b.stop) *top = b.top;
    return st;
}
