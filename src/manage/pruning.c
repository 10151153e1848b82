/* pruning.c -- visit the parts of a view, and write the edits that a step adds.
 *
 * In:     the view without its trims (offsets refer to the original text), and a function for each part.
 * Out:    events `trim`, of at most MAKI_EDITS_MAX edits each.
 * Always: tool calls are matched to their results by a hash of the id, in a ring of the newest MAKI_CALLS_MAX; a result
 *         whose call is no longer in it is visited without one. */
#include "manage/pruning.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/json_builder.h"
#include "history/blocks.h"
#include "history/facts.h"

enum {
    ARENA_MAX = 16 << 20, /* of one event: more than MAKI_EDITS_MAX texts ever need */
    TEXT_MAX = 1200,      /* of one replacement text, in bytes */
    INPUT_MAX = 1 << 14   /* longer arguments are not parsed */
};

/* ---- calls -------------------------------------------------------------------------------------- */

static uint64_t hash_text(maki_str string)
{
    uint64_t hash = maki_json_text_hash(string);
    return hash ? hash : 1; /* 0 means none */
}

/* Which files the call names, from its arguments, a JSON object. */
static void read_input(maki_pruning_call *call, maki_str input)
{
    maki_tool_args args = maki_tool_args_of(input);
    size_t arguments = maki_json_count(input) - (args.path.len > 0);
    size_t commands = args.command.len > 0;
    call->kind = maki_tool_kind_by_command(call->kind, &args);
    if (commands && args.command.len == 0)
        arguments--; /* it was the name of the operation, not a parameter of it */
    if (args.path.len == 0) {
        if (args.paths.len) call->path = maki_row_hash(args.paths);
        return;
    }
    call->path = hash_text(args.path);
    call->file_len = maki_json_copy_text(args.path, call->file, sizeof call->file);
    call->only_path = arguments == 0;
}

static void add_call(maki_pruning *p, maki_str id, maki_str name, maki_str input)
{
    maki_pruning_call *call = &p->calls[p->next_call++ % MAKI_CALLS_MAX];
    *call = (maki_pruning_call){ .id = hash_text(id) };
    call->name_len = maki_json_copy_text(name, call->name, sizeof call->name);
    maki_str plain = { call->name, call->name_len };
    call->kind = maki_tool_kind_of(plain);
    if (input.len == 0 || input.len > INPUT_MAX) return;
    call->input = maki_row_hash(input) ^ maki_row_hash(plain);
    if (maki_json_kind_of(input) == MAKI_JSON_OBJECT) read_input(call, input);
}

/* Arguments that are JSON in a string. */
static maki_status add_openai_call(maki_pruning *p, maki_str call, maki_err *err)
{
    maki_str id, function, name, arguments, input = { "", 0 };
    if (!maki_json_string_field(call, "id", &id) ||
        !maki_json_get(call, MAKI_LIT("function"), &function) ||
        !maki_json_string_field(function, "name", &name))
        return MAKI_OK;
    maki_arena arena = maki_arena_new(p->arena.alloc, 4 * INPUT_MAX);
    bool has = maki_json_string_field(function, "arguments", &arguments);
    if (has && arguments.len <= INPUT_MAX) {
        maki_str text = maki_json_text(arguments, &arena);
        if (maki_json_check(text, &input, NULL) != MAKI_OK) input = (maki_str){ "", 0 };
    }
    add_call(p, id, name, input);
    maki_status st = maki_arena_status(&arena, err);
    maki_arena_free(&arena);
    return st;
}

static maki_status add_calls(maki_pruning *p, maki_str row, maki_err *err)
{
    maki_str content, calls, block, id, name, input;
    maki_status st = MAKI_OK;
    if (maki_json_get(row, MAKI_LIT("content"), &content)) {
        maki_blocks blocks = maki_content_blocks(content);
        while (maki_blocks_next(&blocks, &block)) {
            if (!maki_json_field_in(block, "type", "tool_use") ||
                !maki_json_string_field(block, "id", &id) ||
                !maki_json_string_field(block, "name", &name))
                continue;
            if (!maki_json_get(block, MAKI_LIT("input"), &input)) input = (maki_str){ "", 0 };
            add_call(p, id, name, input);
        }
    }
    if (!maki_json_get(row, MAKI_LIT("tool_calls"), &calls)) return MAKI_OK;
    MAKI_JSON_EACH_WHILE(st == MAKI_OK, item, maki_json_items(calls))
        st = add_openai_call(p, item.value, err);
    return st;
}

static const maki_pruning_call *call_of(const maki_pruning *p, maki_str object, const char *field)
{
    maki_str id;
    if (!maki_json_string_field(object, field, &id)) return NULL;
    uint64_t hash = hash_text(id);
    for (size_t i = 0; i < MAKI_CALLS_MAX; i++) { /* newest first */
        size_t at = (p->next_call + MAKI_CALLS_MAX - 1 - i) % MAKI_CALLS_MAX;
        if (p->calls[at].id == hash) return &p->calls[at];
    }
    return NULL;
}

/* ---- parts ---------------------------------------------------------------------------------------- */

static bool is_image(maki_str block)
{
    return maki_json_field_in(block, "type", "image") ||
           maki_json_field_in(block, "type", "image_url") ||
           maki_json_field_in(block, "type", "input_image");
}

static bool has_image(maki_str content)
{
    maki_blocks blocks = maki_content_blocks(content);
    maki_str block;
    while (maki_blocks_next(&blocks, &block)) {
        if (is_image(block)) return true;
    }
    return false;
}

static maki_status visit_part(maki_pruning *p, maki_pruning_part *piece, maki_str value,
                              maki_err *err)
{
    piece->value = value;
    piece->image = maki_json_kind_of(value) != MAKI_JSON_STRING;
    piece->trim = maki_view_trim(p->view, piece->seq, piece->block, piece->part);
    if (piece->trim && piece->trim->restores) piece->old = false; /* it was expanded by a person */
    return p->fn(p, piece, err);
}

/* The texts and images of a tool result that is a list. */
static maki_status visit_list(maki_pruning *p, maki_pruning_part of, maki_str list, maki_err *err)
{
    maki_blocks items = maki_content_blocks(list);
    maki_str item, text;
    bool first = true; /* the first text is part 0 */
    maki_status st = MAKI_OK;
    of.with_image = has_image(list);
    for (uint32_t i = 1; st == MAKI_OK && maki_blocks_next(&items, &item); i++) {
        maki_pruning_part piece = of;
        bool is_text = maki_json_string_field(item, "text", &text);
        if (!is_text && !is_image(item)) continue;
        piece.part = is_text && first ? 0 : i;
        first = first && !is_text;
        st = visit_part(p, &piece, is_text ? text : item, err);
    }
    return st;
}

static maki_status visit_block(maki_pruning *p, maki_pruning_part piece, maki_str block,
                               maki_err *err)
{
    maki_str value;
    if (maki_json_kind_of(block) == MAKI_JSON_STRING) return visit_part(p, &piece, block, err);
    if (maki_json_field_in(block, "type", "text") && maki_json_string_field(block, "text", &value))
        return visit_part(p, &piece, value, err);
    if (is_image(block)) return visit_part(p, &piece, block, err);
    if (!maki_json_field_in(block, "type", "tool_result") ||
        !maki_json_get(block, MAKI_LIT("content"), &value))
        return MAKI_OK;
    piece.result = true;
    piece.failed = maki_json_true_field(block, "is_error");
    piece.call = call_of(p, block, "tool_use_id");
    if (maki_json_kind_of(value) == MAKI_JSON_STRING) return visit_part(p, &piece, value, err);
    return visit_list(p, piece, value, err);
}

static maki_status visit_row(maki_pruning *p, const maki_view_message *seen, maki_err *err)
{
    maki_str content, block;
    unsigned role = seen->row.flags & MAKI_ROW_ROLE;
    maki_pruning_part piece = { .row = seen->json, .seq = seen->seq, .position = p->position };
    maki_status st = MAKI_OK;
    if (!maki_json_get(seen->json, MAKI_LIT("content"), &content)) return MAKI_OK;
    piece.old = p->position >= p->prefix && p->position < p->tail && role != MAKI_ROLE_SYSTEM &&
                !maki_view_pinned(p->view, seen->seq);
    if (role == MAKI_ROLE_TOOL) {
        piece.result = true;
        piece.call = call_of(p, seen->json, "tool_call_id");
        piece.with_image = has_image(content);
    }
    maki_blocks blocks = maki_content_blocks(content);
    for (; st == MAKI_OK && maki_blocks_next(&blocks, &block); piece.block++)
        st = visit_block(p, piece, block, err);
    return st;
}

static maki_status on_message(void *ctx, const maki_view_message *seen, maki_err *err)
{
    maki_pruning *p = ctx;
    maki_status st = MAKI_OK;
    if (p->done || p->count == MAKI_EDITS_MAX) return MAKI_CANCELLED;
    if (seen->seq && !(seen->row.flags & MAKI_ROW_NOT_MESSAGE)) {
        if (seen->row.flags & MAKI_ROW_CALLS) st = add_calls(p, seen->json, err);
        if (st == MAKI_OK) st = visit_row(p, seen, err);
    }
    p->position++;
    return st;
}

/* ---- which messages are old --------------------------------------------------------------------------- */

enum { KEEP_DEFAULT = 3 };

/* The position of the n-th last assistant message; 0 when there are fewer. */
static maki_status tail_of(const maki_view *view, size_t n, uint64_t *tail, maki_err *err)
{
    uint64_t at = maki_view_count(view);
    *tail = 0;
    for (size_t i = view->count; i > 0; i--) {
        const maki_view_item *item = &view->items[i - 1];
        if (item->from == 0) at--;
        for (uint64_t seq = item->to; item->from && seq >= item->from; seq--) {
            maki_index_record row;
            maki_status st = maki_log_row(item->log, seq, &row, err);
            if (st != MAKI_OK) return st;
            at--;
            if ((row.flags & MAKI_ROW_ROLE) != MAKI_ROLE_ASSISTANT || --n > 0) continue;
            *tail = at;
            return MAKI_OK;
        }
    }
    return MAKI_OK;
}

static maki_status find_old_range(maki_pruning *p, maki_err *err)
{
    maki_status st = maki_conv_view(p->work->conv, MAKI_NEWEST, MAKI_NEWEST, &p->view, err);
    if (st == MAKI_OK) st = maki_view_fixed_prefix(p->view, &p->prefix, err);
    if (st == MAKI_OK)
        st = tail_of(p->view, p->step->keep ? p->step->keep : KEEP_DEFAULT, &p->tail, err);
    return st;
}

uint64_t maki_pruning_shown_units(const maki_trim *trim, uint64_t units)
{
    uint64_t removed = 0;
    if (!trim || trim->restores) return units;
    if (trim->cut_count == 0) return (uint64_t)trim->head + trim->tail;
    for (size_t i = 0; i < trim->cut_count; i++)
        removed += trim->cuts[i].to - trim->cuts[i].from;
    return removed < units ? units - removed : 0;
}

maki_status maki_pruning_limit(maki_manage_state *work, const maki_step *step, double *tokens,
                               maki_err *err)
{
    maki_pruning p = { .work = work, .step = step };
    maki_status st = find_old_range(&p, err);
    uint64_t at = 0;
    *tokens = 0;
    for (size_t i = 0; st == MAKI_OK && i < p.view->count; i++) {
        const maki_view_item *item = &p.view->items[i];
        if (item->from == 0) at++;
        for (uint64_t seq = item->from; seq && seq <= item->to && st == MAKI_OK; seq++, at++) {
            maki_index_record row;
            st = maki_log_row(item->log, seq, &row, err);
            bool old = at >= p.prefix && at < p.tail && st == MAKI_OK;
            if (old && (row.flags & MAKI_ROW_ANSWERS)) *tokens += row.tokens;
        }
    }
    return st;
}

/* ---- edits ------------------------------------------------------------------------------------------------ */

maki_status maki_pruning_text(maki_pruning *p, maki_str *out, maki_err *err, const char *fmt, ...)
{
    char text[TEXT_MAX];
    maki_json_builder build;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    assert(n >= 0 && n < TEXT_MAX); /* its arguments were cut before */
    maki_json_builder_begin(&build, &p->arena, err);
    maki_jw_string(&build.w, (maki_str){ text, (size_t)n });
    return maki_json_builder_end(&build, &p->arena, out, err);
}

maki_status maki_pruning_add(maki_pruning *p, const maki_pruning_part *piece, const maki_cut *cuts,
                             size_t count, maki_err *err)
{
    maki_cut *copy = maki_arena_array(&p->arena, count, sizeof *copy);
    maki_trim edit = { .seq = piece->seq,
                       .block = piece->block,
                       .part = piece->part,
                       .cuts = copy,
                       .cut_count = count };
    if (!copy) return maki_arena_status(&p->arena, err);
    for (size_t i = 0; i < count; i++)
        copy[i] = cuts[i];
    maki_status st = maki_conv_prune_savings(p->work->conv, piece->row, &edit, err);
    uint32_t saved_now = piece->trim ? piece->trim->tokens : 0;
    if (st != MAKI_OK || edit.tokens <= saved_now || p->count == MAKI_EDITS_MAX) return st;
    p->saved += edit.tokens - saved_now;
    p->edits[p->count++] = edit;
    return MAKI_OK;
}

/* Visit the view once. */
static maki_status visit_view(maki_pruning *p, maki_err *err)
{
    p->position = p->count = p->next_call = 0;
    p->saved = 0;
    memset(p->calls, 0, sizeof p->calls);
    maki_status st = find_old_range(p, err);
    if (st != MAKI_OK) return st;
    maki_view untrimmed = *p->view; /* offsets refer to the message without trims */
    untrimmed.trim_count = 0;
    st = maki_conv_each(p->work->conv, &untrimmed, on_message, p, err);
    return st == MAKI_CANCELLED ? MAKI_OK : st;
}

static maki_status open_pruning(maki_manage_state *work, const maki_step *step,
                                maki_pruning_part_fn fn, void *ctx, maki_pruning **out,
                                maki_err *err)
{
    const maki_alloc *alloc = maki_log_env(maki_conv_log(work->conv))->alloc;
    maki_pruning *p = maki_new(alloc, maki_pruning);
    if (!p) return maki_fail_nomem(err);
    p->work = work;
    p->step = step;
    p->fn = fn;
    p->ctx = ctx;
    p->arena = maki_arena_new(alloc, ARENA_MAX);
    *out = p;
    return MAKI_OK;
}

static void close_pruning(maki_pruning *p)
{
    const maki_alloc *alloc = p->arena.alloc;
    maki_arena_free(&p->arena);
    maki_delete(alloc, p);
}

maki_status maki_pruning_scan(maki_manage_state *work, const maki_step *step,
                              maki_pruning_part_fn fn, void *ctx, maki_err *err)
{
    maki_pruning *p = NULL;
    maki_status st = open_pruning(work, step, fn, ctx, &p, err);
    if (st != MAKI_OK) return st;
    st = visit_view(p, err);
    close_pruning(p);
    return st;
}

maki_status maki_pruning_run(maki_manage_state *work, const maki_step *step,
                             maki_pruning_part_fn fn, void *ctx, maki_step_effect *effect,
                             maki_err *err)
{
    maki_pruning *p = NULL;
    bool full = true;
    maki_status st = open_pruning(work, step, fn, ctx, &p, err);
    if (st != MAKI_OK) return st;
    while (st == MAKI_OK && full && effect->count < MAKI_STEP_EFFECT_MAX) {
        maki_change change;
        st = visit_view(p, err);
        full = p->count == MAKI_EDITS_MAX && !p->done;
        if (st != MAKI_OK || p->count == 0) break;
        st = maki_conv_prune(work->conv, NULL, p->edits, p->count, &change, err);
        if (st == MAKI_OK) maki_step_effect_event(effect, &change);
        if (st == MAKI_OK) st = maki_manage_count(work, &work->report->tokens_after, err);
        maki_arena_free(&p->arena); /* the event has the texts now */
        p->arena = maki_arena_new(p->arena.alloc, ARENA_MAX);
    }
    close_pruning(p);
    return st;
}
