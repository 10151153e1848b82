/* digest.c -- see digest.h: the sets, and the walk over a message's blocks. */
#include "summary/digest.h"

#include "base/str.h"

maki_status maki_digest_new(maki_arena *arena, maki_digest **out, maki_err *err)
{
    maki_digest *d = maki_arena_get(arena, sizeof *d);
    if (!d) return maki_arena_status(arena, err);
    const struct {
        maki_notes *set;
        size_t room, text, more;
    } sets[] = {
        { &d->files, 512, MAKI_FIND_MOST, 64 },
        { &d->runs, 128, 160, 160 },
        { &d->errors, 128, 300, 300 },
        { &d->tasks, 256, 400, 0 },
        { &d->decisions, 64, 500, 0 },
        { &d->points, 256, 400, 0 },
        { &d->words, 512, 64, 0 },
        { &d->code, 32, 24, MAKI_FIND_MOST },
        { &d->outcome.errors, 16, 300, 0 },
    };
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < sizeof sets / sizeof *sets; i++)
        st = maki_notes_init(sets[i].set, arena, sets[i].room, sets[i].text, sets[i].more, err);
    maki_cues_init(&d->cues);
    *out = d;
    return st;
}

/* ---- what everybody notes --------------------------------------------------------------------------- */

maki_str maki_digest_string(maki_str object, const char *name)
{
    maki_str value;
    return maki_block_string(object, maki_str_of(name), &value) ? value : (maki_str){ "", 0 };
}

void maki_digest_sketch(maki_note *note)
{
    maki_terms terms;
    maki_terms_of(maki_note_text(note), &terms);
    maki_terms_sketch(&terms, note->sketch);
}

void maki_digest_found(void *ctx, maki_find what, maki_str text)
{
    maki_digest *d = ctx;
    maki_notes *set = what == MAKI_FIND_PATH ? &d->files : &d->words;
    maki_note *note = maki_notes_add(set, maki_note_key(text), text, 1, d->messages);
    d->fresh += note->count == 1;
    if (what != MAKI_FIND_PATH) {
        note->kind = (uint8_t)what;
        note->weight = note->count;
    }
    if (d->watch) d->watch(d->watch_ctx, what, text);
}

void maki_digest_task(maki_digest *d, maki_str text, uint8_t kind)
{
    text = maki_str_trim(text);
    if (text.len < 3) return;
    maki_note *note = maki_notes_add(&d->tasks, maki_note_key(text), text, 1, d->messages);
    note->kind = kind;
    note->state = MAKI_TASK_OPEN;
    note->weight = kind == MAKI_TASK_NEXT ? 1 : 4;
    maki_digest_sketch(note);
}

void maki_digest_decision(maki_digest *d, maki_str text, bool by_user)
{
    maki_notes_add(&d->decisions, maki_note_key(text), text, by_user ? 2 : 1, d->messages);
}

void maki_digest_point(maki_digest *d, maki_str text, uint32_t weight)
{
    enum { LONGEST = 400 }; /* bytes: nothing is quoted in part */
    if (text.len <= LONGEST && weight)
        maki_notes_add(&d->points, maki_note_key(text), text, weight, d->messages);
}

void maki_digest_error(maki_digest *d, maki_str line, uint64_t link, uint32_t weight)
{
    if (line.len == 0) return;
    maki_note *e = maki_notes_add(&d->errors, maki_note_key(line), line, weight, d->messages);
    e->state = MAKI_ERROR_OPEN;
    e->link = link;
    e->more_len = 0;
    maki_digest_sketch(e);
}

/* ---- the walk ---------------------------------------------------------------------------------------- */

static void add_call_block(maki_digest *d, maki_str block)
{
    maki_str input = { "", 0 };
    (void)maki_json_get(block, MAKI_LIT("input"), &input);
    maki_digest_call(d, maki_digest_string(block, "id"), maki_digest_string(block, "name"), input);
}

static void add_result_block(maki_digest *d, maki_str block)
{
    maki_str content = { "", 0 }, error;
    (void)maki_json_get(block, MAKI_LIT("content"), &content);
    bool is_error = maki_json_get(block, MAKI_LIT("is_error"), &error) && maki_json_true(error);
    maki_digest_result(d, maki_digest_string(block, "tool_use_id"), content, is_error);
}

static void add_block(maki_digest *d, maki_role role, maki_str block, bool earlier)
{
    maki_str text = block;
    bool plain = maki_json_kind_of(block) == MAKI_JSON_STRING;
    bool spoken =
        maki_block_is(block, MAKI_LIT("text")) && maki_block_string(block, MAKI_LIT("text"), &text);
    if ((plain || spoken) && earlier) {
        maki_digest_earlier(d, text);
    } else if (plain || spoken) {
        maki_digest_text(d, role, text);
    } else if (maki_block_is(block, MAKI_LIT("tool_use"))) {
        add_call_block(d, block);
    } else if (maki_block_is(block, MAKI_LIT("tool_result"))) {
        add_result_block(d, block);
    }
}

/* OpenAI's: [{"id", "function": {"name", "arguments": "..."}}]. */
static void add_tool_calls(maki_digest *d, maki_str calls)
{
    maki_json_iter iter = maki_json_items(calls);
    maki_json_item item;
    while (maki_json_next(&iter, &item)) {
        maki_str input = { "", 0 }, function;
        if (!maki_json_get(item.value, MAKI_LIT("function"), &function) ||
            maki_json_kind_of(function) != MAKI_JSON_OBJECT)
            continue;
        (void)maki_json_get(function, MAKI_LIT("arguments"), &input);
        maki_digest_call(d, maki_digest_string(item.value, "id"),
                         maki_digest_string(function, "name"), input);
    }
}

void maki_digest_add(maki_digest *d, maki_str json)
{
    maki_str role_text, content = { "", 0 }, calls, flag, block;
    d->messages++;
    if (maki_json_kind_of(json) != MAKI_JSON_OBJECT) return;
    if (!maki_block_string(json, MAKI_LIT("role"), &role_text)) return;
    maki_role role = maki_role_of(role_text);
    bool there = maki_json_get(json, MAKI_LIT("content"), &content);
    if (role == MAKI_ROLE_TOOL) {
        maki_digest_result(d, maki_digest_string(json, "tool_call_id"), content, false);
        return;
    }
    bool earlier = maki_json_get(json, MAKI_LIT("isSummary"), &flag) && maki_json_true(flag);
    maki_blocks blocks = maki_content_blocks(there ? content : MAKI_LIT("null"));
    while (maki_blocks_next(&blocks, &block))
        add_block(d, role, block, earlier);
    if (role == MAKI_ROLE_ASSISTANT && maki_json_get(json, MAKI_LIT("tool_calls"), &calls))
        add_tool_calls(d, calls);
}

/* What was announced long ago has happened, or was dropped without a word. */
void maki_digest_end(maki_digest *d)
{
    enum { RECENT = 8 }; /* messages */
    for (size_t i = 0; i < d->tasks.count; i++) {
        maki_note *t = &d->tasks.at[i];
        if (t->kind == MAKI_TASK_NEXT && t->last + RECENT < d->messages)
            t->state = MAKI_TASK_CLOSED;
    }
}
