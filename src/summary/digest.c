/* digest.c -- see digest.h: the sets, and the walk over a message's parts. */
#include "summary/digest.h"

#include "base/str_util.h"

enum { FACT_SLOTS = 2 * MAKI_DIGEST_FACTS };

maki_status maki_digest_new(maki_arena *arena, maki_digest **out, maki_err *err)
{
    maki_digest *d = maki_arena_get(arena, sizeof *d);
    if (!d) return maki_arena_status(arena, err);
    const struct {
        maki_text_set *set;
        size_t capacity, text, more;
    } sets[] = {
        { &d->files, 512, MAKI_ENTITY_MAX, 64 },
        { &d->runs, 128, 160, 160 },
        { &d->errors, 128, 300, 300 },
        { &d->tasks, 256, 400, 0 },
        { &d->decisions, 64, 500, 0 },
        { &d->points, 256, 400, 0 },
        { &d->names, 512, 64, 0 },
        { &d->code, 32, 24, MAKI_ENTITY_MAX },
        { &d->outcome.errors, 16, 300, 0 },
    };
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < sizeof sets / sizeof *sets; i++)
        st = maki_text_set_init(sets[i].set, arena, sets[i].capacity, sets[i].text, sets[i].more,
                                err);
    maki_keywords_init(&d->cues);
    d->arena = arena;
    d->facts = maki_arena_array(arena, MAKI_DIGEST_FACTS, sizeof *d->facts);
    d->fact_slots = maki_arena_array(arena, FACT_SLOTS, sizeof *d->fact_slots);
    if (st == MAKI_OK) st = maki_arena_status(arena, err);
    *out = d;
    return st;
}

/* ---- what everybody notes --------------------------------------------------------------------------- */

void maki_digest_fact(maki_digest *d, maki_fact kind, maki_str text)
{
    uint64_t key = maki_text_item_key(text) ^ (uint64_t)kind << 1;
    size_t s = (size_t)key % FACT_SLOTS;
    while (d->fact_slots[s] && d->fact_slots[s] != key)
        s = (s + 1) % FACT_SLOTS;
    if (d->fact_slots[s] || d->fact_count == MAKI_DIGEST_FACTS) return;
    d->fact_slots[s] = key;
    d->facts[d->fact_count++] = (maki_found_fact){ kind, maki_arena_copy(d->arena, text) };
}

void maki_digest_found(void *ctx, maki_fact kind, maki_str text)
{
    maki_digest *d = ctx;
    maki_text_set *set = kind == MAKI_FACT_PATH ? &d->files : &d->names;
    maki_digest_fact(d, kind, text);
    if (kind == MAKI_FACT_NUMBER) return;
    maki_text_item *note = maki_text_set_add(set, maki_text_item_key(text), text, 1, d->messages);
    if (kind == MAKI_FACT_NAME) note->weight = note->count;
}

void maki_digest_task(maki_digest *d, maki_str text, uint8_t kind)
{
    text = maki_str_trim(text);
    if (text.len < 3) return;
    maki_text_item *note =
        maki_text_set_add(&d->tasks, maki_text_item_key(text), text, 1, d->messages);
    note->kind = kind;
    note->state = MAKI_TASK_OPEN;
    note->weight = kind == MAKI_TASK_NEXT ? 1 : 4;
    note->sketch = maki_simhash_of(maki_text_item_text(note));
}

void maki_digest_decision(maki_digest *d, maki_str text, bool by_user)
{
    maki_text_set_add(&d->decisions, maki_text_item_key(text), text, by_user ? 2 : 1, d->messages);
}

void maki_digest_point(maki_digest *d, maki_str text, uint32_t weight)
{
    enum { LONGEST = 400 }; /* bytes: nothing is quoted in part */
    if (text.len <= LONGEST && weight)
        maki_text_set_add(&d->points, maki_text_item_key(text), text, weight, d->messages);
}

void maki_digest_error(maki_digest *d, maki_str line, uint64_t link, uint32_t weight)
{
    if (line.len == 0) return;
    maki_text_item *e =
        maki_text_set_add(&d->errors, maki_text_item_key(line), line, weight, d->messages);
    e->state = MAKI_ERROR_OPEN;
    e->link = link;
    e->more_len = 0;
    e->sketch = maki_simhash_of(maki_text_item_text(e));
}

/* ---- the walk ---------------------------------------------------------------------------------------- */

void maki_digest_add(maki_digest *d, maki_str json)
{
    maki_message_parts parts;
    maki_said_part part;
    d->messages++;
    if (!maki_message_parts_of(json, &parts)) return;
    while (maki_message_parts_next(&parts, &part)) {
        switch (part.kind) {
        case MAKI_SAID_CALL: maki_digest_call(d, &part); break;
        case MAKI_SAID_RESULT: maki_digest_result(d, &part); break;
        case MAKI_SAID_MEDIUM: break;
        case MAKI_SAID_TEXT:
            if (parts.is_summary)
                maki_digest_earlier(d, part.value);
            else
                maki_digest_text(d, parts.role, part.value);
        }
    }
}

/* What was announced long ago has happened, or was dropped without a word. */
void maki_digest_end(maki_digest *d)
{
    enum { RECENT = 8 }; /* messages */
    for (size_t i = 0; i < d->tasks.count; i++) {
        maki_text_item *t = &d->tasks.at[i];
        if (t->kind == MAKI_TASK_NEXT && t->last + RECENT < d->messages)
            t->state = MAKI_TASK_CLOSED;
    }
}
