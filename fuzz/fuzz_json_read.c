/* fuzz_json_read.c -- the scanner and the walker agree with each other, with themselves and with RFC 8259.
 *
 * The input is the text.  It is scanned whole, in pieces and byte by byte, with both kinds of
 * kernels: status, message and spans must not differ.  What is right is then walked with base/json_access.h. */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/json_access.h"
#include "base/json_scan.h"
#include "base/str_util.h"
#include "base/text.h"

#include "json_reference.h"

enum { SPANS_MAX = 1 << 14, GET_MAX = 40 };

typedef struct outcome {
    maki_status status;
    maki_err err;
    size_t count;
    maki_json_span spans[SPANS_MAX];
} outcome;

static outcome expected, got;

static maki_status on_span(void *ctx, const maki_json_span *span, maki_err *err)
{
    outcome *o = ctx;
    (void)err;
    if (o->count < SPANS_MAX) o->spans[o->count] = *span;
    o->count++;
    return MAKI_OK;
}

static void begin(outcome *o, maki_json_scan_options *options)
{
    memset(&o->err, 0, sizeof o->err);
    o->status = MAKI_OK;
    o->count = 0;
    options->on_span = on_span;
    options->ctx = o;
}

static bool same_span(const maki_json_span *a, const maki_json_span *b)
{
    return a->kind == b->kind && a->depth == b->depth && a->start == b->start && a->end == b->end &&
           a->key_start == b->key_start && a->key_end == b->key_end && a->index == b->index;
}

static void must_be_same(const outcome *a, const outcome *b)
{
    MUST(a->status == b->status);
    MUST(strcmp(a->err.msg, b->err.msg) == 0);
    MUST(strcmp(a->err.code, b->err.code) == 0);
    MUST(a->count == b->count);
    for (size_t i = 0; i < a->count && i < SPANS_MAX; i++) {
        MUST(same_span(&a->spans[i], &b->spans[i]));
    }
}

/* ---- four ways to scan --------------------------------------------------------------------- */

static void scan_whole(maki_str text, maki_json_scan_options options, outcome *o)
{
    begin(o, &options);
    o->status = maki_json_scan_text(text, &options, &o->err);
}

/* Pieces of 0 to `longest` - 1 bytes; each in its own memory, so that reading past one is seen. */
static void scan_pieces(maki_str text, maki_json_scan_options options, fuzz_chance chance,
                        size_t longest, outcome *o)
{
    maki_json_scan scan;
    begin(o, &options);
    maki_json_scan_init(&scan, &options);
    while (o->status == MAKI_OK && text.len) {
        size_t n = longest == 1 ? 1 : fuzz_draw(&chance, longest);
        if (n > text.len) n = text.len;
        char *piece = malloc(n ? n : 1);
        MUST(piece);
        memcpy(piece, text.ptr, n);
        o->status = maki_json_scan_push(&scan, (maki_str){ piece, n }, &o->err);
        free(piece);
        text = maki_str_skip(text, n);
    }
    if (o->status == MAKI_OK) o->status = maki_json_scan_end(&scan, &o->err);
}

static void compare_scans(maki_str text, maki_json_scan_options options, fuzz_chance chance)
{
    options.kernels = &maki_text_plain;
    scan_whole(text, options, &expected);
    scan_pieces(text, options, chance, 1, &got);
    must_be_same(&expected, &got);
    options.kernels = maki_text_kernels_best();
    scan_whole(text, options, &got);
    must_be_same(&expected, &got);
    scan_pieces(text, options, chance, 1, &got);
    must_be_same(&expected, &got);
    scan_pieces(text, options, chance, 2 + text.len / 3, &got);
    must_be_same(&expected, &got);
}

/* ---- what must be true of the outcome ------------------------------------------------------ */

/* The byte position that the message names. */
static size_t position_in(const char *msg)
{
    const char *at = strstr(msg, "at byte ");
    MUST(at);
    return (size_t)strtoull(at + strlen("at byte "), NULL, 10);
}

static void compare_with_reference(maki_str text, const maki_json_scan_options *options)
{
    json_reference r = json_reference_check((const uint8_t *)text.ptr, text.len,
                                            options->json_lines, options->max_depth);
    if (r.result == REFERENCE_OK) {
        MUST(expected.status == MAKI_OK);
        return;
    }
    MUST(expected.status == (r.result == REFERENCE_DEEP ? MAKI_TOOBIG : MAKI_INVALID));
    MUST(expected.err.status == expected.status);
    MUST(position_in(expected.err.msg) == r.at);
}

static bool is_json(const char *ptr, size_t len)
{
    maki_str value;
    return maki_json_check((maki_str){ ptr, len }, &value, NULL) == MAKI_OK && value.ptr == ptr &&
           value.len == len;
}

/* Also when the text as a whole is wrong: what was reported is right, and inside its parent. */
static void check_spans(maki_str text)
{
    for (size_t i = 0; i < expected.count && i < SPANS_MAX; i++) {
        const maki_json_span *s = &expected.spans[i];
        MUST(s->start < s->end && s->end <= text.len);
        MUST(is_json(text.ptr + s->start, s->end - s->start));
        MUST(maki_json_kind_of((maki_str){ text.ptr + s->start, s->end - s->start }) == s->kind);
        if (s->key_end == 0) continue;
        MUST(s->key_end < s->start);
        MUST(text.ptr[s->key_start] == '"' &&
             is_json(text.ptr + s->key_start, s->key_end - s->key_start));
    }
}

/* ---- walking ------------------------------------------------------------------------------- */

static void check_quoted(maki_str escaped)
{
    char *quoted = malloc(escaped.len + 2);
    MUST(quoted);
    quoted[0] = '"';
    memcpy(quoted + 1, escaped.ptr, escaped.len);
    quoted[escaped.len + 1] = '"';
    MUST(is_json(quoted, escaped.len + 2));
    free(quoted);
}

static void check_cuts(maki_str escaped, fuzz_chance *chance)
{
    uint64_t all = maki_json_utf16_len(escaped);
    uint64_t units = fuzz_draw(chance, (size_t)all + 3);
    maki_str head = maki_json_head(escaped, units);
    maki_str rest = maki_str_skip(escaped, head.len);
    MUST(head.ptr == escaped.ptr);
    MUST(maki_json_utf16_len(head) + maki_json_utf16_len(rest) == all);
    MUST(maki_json_utf16_len(head) <= units);
    MUST(rest.len == 0 || maki_json_utf16_len(head) + 2 > units); /* no longer one would fit */
    check_quoted(head);
    check_quoted(rest);

    maki_str tail = maki_json_tail(escaped, units);
    MUST(tail.ptr + tail.len == escaped.ptr + escaped.len);
    MUST(maki_json_utf16_len(tail) <= units);
    MUST(tail.len == escaped.len || maki_json_utf16_len(tail) + 2 > units);
    check_quoted(tail);
    check_quoted(maki_str_prefix(escaped, escaped.len - tail.len));
}

static void check_string(maki_str string, fuzz_chance *chance, maki_arena *arena)
{
    maki_str escaped = maki_json_strip_quotes(string);
    maki_str text = maki_json_text(string, arena);
    MUST(arena->status == MAKI_OK);
    MUST(maki_utf8_valid(text, NULL));
    MUST(maki_json_text_is(string, text));
    MUST(maki_json_same_text(string, string));
    MUST(maki_json_utf16_len(escaped) == maki_utf16_len(text));
    MUST(maki_text_plain.escaped_utf16_len(escaped.ptr, escaped.len) ==
         maki_json_utf16_len(escaped));
    check_cuts(escaped, chance);
}

static void check_number(maki_str number)
{
    char *copy = malloc(number.len + 1);
    MUST(copy);
    memcpy(copy, number.ptr, number.len);
    copy[number.len] = '\0';
    double want = strtod(copy, NULL), have = maki_json_double(number);
    MUST(memcmp(&want, &have, sizeof want) == 0);
    free(copy);
}

/* The last field of that name is the one that is found. */
static void check_get(maki_str object, maki_arena *arena)
{
    maki_json_iter outer = maki_json_items(object);
    maki_json_item one, other;
    for (size_t n = 0; n < GET_MAX && maki_json_next(&outer, &one); n++) {
        maki_str name = maki_json_text((maki_str){ one.key.ptr - 1, one.key.len + 2 }, arena);
        maki_str want = { NULL, 0 }, have = { NULL, 0 };
        MUST(arena->status == MAKI_OK && maki_json_key_is(one.key, name));
        maki_json_iter inner = maki_json_items(object);
        while (maki_json_next(&inner, &other)) {
            if (maki_json_key_is(other.key, name)) want = other.value;
        }
        MUST(maki_json_get(object, name, &have));
        MUST(want.ptr == have.ptr && want.len == have.len);
    }
}

typedef struct walker {
    maki_str text;
    maki_arena arena;
    fuzz_chance chance;
    unsigned report_depth;
    size_t spans; /* how many of `expected` were met */
} walker;

/* Values are met in the order in which the scanner reports them: inner ones first. */
static void walk(walker *w, maki_json_item item, unsigned depth, uint64_t index)
{
    maki_json_kind kind = maki_json_kind_of(item.value);
    maki_json_iter iter = maki_json_items(item.value);
    maki_json_item inner;
    uint64_t count = 0;
    while (maki_json_next(&iter, &inner))
        walk(w, inner, depth + 1, count++);
    MUST(count == maki_json_count(item.value));
    if (kind == MAKI_JSON_ARRAY || kind == MAKI_JSON_OBJECT) {
        MUST(maki_text_plain.container_len(item.value.ptr, item.value.len) == item.value.len);
    }

    if (kind == MAKI_JSON_STRING) check_string(item.value, &w->chance, &w->arena);
    if (kind == MAKI_JSON_NUMBER) check_number(item.value);
    if (kind == MAKI_JSON_OBJECT) check_get(item.value, &w->arena);
    if (depth > w->report_depth) return;

    uint64_t start = (uint64_t)(item.value.ptr - w->text.ptr);
    maki_json_span span = { .kind = kind, .depth = depth, .start = start, .index = index };
    span.end = start + item.value.len;
    if (item.start != item.value.ptr) { /* it has a key */
        span.key_start = (uint64_t)(item.start - w->text.ptr);
        span.key_end = span.key_start + item.key.len + 2;
        maki_str key = { item.start, item.key.len + 2 };
        check_string(key, &w->chance, &w->arena);
    }
    MUST(w->spans < expected.count);
    if (w->spans < SPANS_MAX) MUST(same_span(&expected.spans[w->spans], &span));
    w->spans++;
}

static void walk_text(maki_str text, fuzz_chance chance, unsigned report_depth)
{
    maki_env env = maki_env_system();
    maki_str value;
    walker w = { .text = text, .chance = chance, .report_depth = report_depth };
    w.arena = maki_arena_new(env.alloc, 1u << 28);
    if (maki_json_check(text, &value, NULL) == MAKI_OK) {
        maki_json_item item = { .key = { "", 0 }, .value = value, .start = value.ptr };
        walk(&w, item, 0, 0);
        MUST(w.spans == expected.count);
    }
    maki_arena_free(&w.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    maki_str text = { (const char *)data, size };
    fuzz_chance chance = fuzz_chance_of(data, size);
    maki_json_scan_options options = { .report_depth = (unsigned)fuzz_draw(&chance, 9) };
    options.max_depth = fuzz_draw(&chance, 4) ? 512 : 1 + (unsigned)fuzz_draw(&chance, 6);

    options.json_lines = true;
    compare_scans(text, options, chance);
    compare_with_reference(text, &options);
    check_spans(text);

    options.json_lines = false;
    compare_scans(text, options, chance);
    compare_with_reference(text, &options);
    check_spans(text);
    if (expected.status == MAKI_OK) walk_text(text, chance, options.report_depth);
    return 0;
}
