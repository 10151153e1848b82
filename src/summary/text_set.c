/* text_set.c -- see text_set.h. */
#include "summary/text_set.h"

#include <string.h>

#include "base/str_util.h"
#include "base/text.h"

#define ELLIPSIS "…"

maki_status maki_text_set_init(maki_text_set *notes, maki_arena *arena, size_t capacity,
                               size_t text_capacity, size_t more_capacity, maki_err *err)
{
    *notes = (maki_text_set){ .capacity = capacity,
                              .text_capacity = text_capacity,
                              .more_capacity = more_capacity };
    notes->slot_mask = 2 * capacity - 1;
    notes->at = maki_arena_array(arena, capacity, sizeof *notes->at);
    notes->slots = maki_arena_array(arena, 2 * capacity, sizeof *notes->slots);
    notes->order = maki_arena_array(arena, capacity, sizeof *notes->order);
    char *texts = maki_arena_array(arena, capacity, text_capacity + more_capacity);
    if (!notes->at || !notes->slots || !notes->order || !texts)
        return maki_arena_status(arena, err);
    for (size_t i = 0; i < capacity; i++) {
        notes->at[i].text = texts + i * (text_capacity + more_capacity);
        notes->at[i].more = notes->at[i].text + text_capacity;
    }
    return MAKI_OK;
}

uint64_t maki_text_item_key(maki_str text)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < text.len; i++)
        h = (h ^ (unsigned char)text.ptr[i]) * 1099511628211u;
    h ^= h >> 29;
    return h ? h : 1; /* 0 says "no link" */
}

size_t maki_line_copy(char *out, size_t capacity, maki_str text)
{
    size_t mark = sizeof ELLIPSIS - 1;
    text = maki_str_trim(text);
    bool whole = text.len <= capacity;
    if (!whole)
        text = maki_str_trim(maki_utf8_truncate(text, capacity > mark ? capacity - mark : 0));
    for (size_t i = 0; i < text.len; i++)
        out[i] = (unsigned char)text.ptr[i] < 0x20 ? ' ' : text.ptr[i];
    if (whole || capacity < mark) return text.len;
    memcpy(out + text.len, ELLIPSIS, mark);
    return text.len + mark;
}

void maki_text_set_set(const maki_text_set *notes, maki_text_item *note, maki_str text)
{
    note->len = (uint16_t)maki_line_copy(note->text, notes->text_capacity, text);
}

void maki_text_set_set_more(const maki_text_set *notes, maki_text_item *note, maki_str text)
{
    note->more_len = (uint16_t)maki_line_copy(note->more, notes->more_capacity, text);
}

maki_str maki_text_item_text(const maki_text_item *note)
{
    return (maki_str){ note->text, note->len };
}

maki_str maki_text_item_more(const maki_text_item *note)
{
    return (maki_str){ note->more, note->more_len };
}

/* The slot where the key is, or the empty one where it would go. */
static size_t slot_of(const maki_text_set *notes, uint64_t key)
{
    size_t s = (size_t)key & notes->slot_mask;
    while (notes->slots[s] && notes->at[notes->slots[s] - 1].key != key)
        s = (s + 1) & notes->slot_mask;
    return s;
}

static void index_again(maki_text_set *notes)
{
    memset(notes->slots, 0, (notes->slot_mask + 1) * sizeof *notes->slots);
    for (size_t i = 0; i < notes->count; i++)
        notes->slots[slot_of(notes, notes->at[i].key)] = (uint32_t)i + 1;
}

maki_text_item *maki_text_set_find(const maki_text_set *notes, uint64_t key)
{
    uint32_t place = notes->slots[slot_of(notes, key)];
    return place ? &notes->at[place - 1] : NULL;
}

static bool matters_more(const maki_text_item *a, const maki_text_item *b)
{
    if (a->weight != b->weight) return a->weight > b->weight;
    return a->last != b->last ? a->last > b->last : a->key > b->key;
}

/* Move the note at `from` to the free place `to`; the places keep their memory for texts. */
static void move_note(maki_text_set *notes, size_t from, size_t to)
{
    maki_text_item moved = notes->at[from];
    char *text = notes->at[to].text, *more = notes->at[to].more;
    memcpy(text, moved.text, moved.len);
    memcpy(more, moved.more, moved.more_len);
    notes->at[to] = moved;
    notes->at[to].text = text;
    notes->at[to].more = more;
}

/* Close the gaps: what has key 0 goes. */
static void pack(maki_text_set *notes)
{
    size_t kept = 0;
    for (size_t i = 0; i < notes->count; i++) {
        if (notes->at[i].key == 0) continue;
        if (i != kept) move_note(notes, i, kept);
        kept++;
    }
    notes->count = kept;
    index_again(notes);
}

static void make_capacity(maki_text_set *notes)
{
    uint32_t *order = notes->order;
    for (size_t i = 0; i < notes->count; i++) { /* sets are small */
        size_t at = i;
        for (; at > 0 && matters_more(&notes->at[i], &notes->at[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = (uint32_t)i;
    }
    for (size_t i = notes->count / 2; i < notes->count; i++)
        notes->at[order[i]].key = 0;
    pack(notes);
}

void maki_text_set_clear(maki_text_set *notes)
{
    notes->count = 0;
    index_again(notes);
}

maki_text_item *maki_text_set_add(maki_text_set *notes, uint64_t key, maki_str text,
                                  uint32_t weight, uint32_t now)
{
    maki_text_item *note = maki_text_set_find(notes, key);
    if (!note) {
        if (notes->count == notes->capacity) make_capacity(notes);
        size_t s = slot_of(notes, key);
        note = &notes->at[notes->count];
        notes->slots[s] = (uint32_t)++notes->count;
        *note =
            (maki_text_item){ .key = key, .first = now, .text = note->text, .more = note->more };
        maki_text_set_set(notes, note, text);
    }
    if (note->weight < weight) note->weight = weight;
    note->last = now;
    note->count++;
    return note;
}
