/* text_set.c -- items in an array, their keys in an open hash table next to it.  Removal is rare: a full set evicts
 * half of its items at once and is re-indexed. */
#include "summary/text_set.h"

#include <string.h>

#include "base/str_util.h"
#include "base/text.h"

#define ELLIPSIS "…"

maki_status maki_text_set_init(maki_text_set *set, maki_arena *arena, size_t capacity,
                               size_t text_capacity, size_t detail_capacity, maki_err *err)
{
    *set = (maki_text_set){ .capacity = capacity,
                            .text_capacity = text_capacity,
                            .detail_capacity = detail_capacity };
    set->slot_mask = 2 * capacity - 1;
    set->at = maki_arena_array(arena, capacity, sizeof *set->at);
    set->slots = maki_arena_array(arena, 2 * capacity, sizeof *set->slots);
    set->order = maki_arena_array(arena, capacity, sizeof *set->order);
    char *texts = maki_arena_array(arena, capacity, text_capacity + detail_capacity);
    if (!set->at || !set->slots || !set->order || !texts) return maki_arena_status(arena, err);
    for (size_t i = 0; i < capacity; i++) {
        set->at[i].text = texts + i * (text_capacity + detail_capacity);
        set->at[i].detail = set->at[i].text + text_capacity;
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
    bool fits = text.len <= capacity;
    if (!fits)
        text = maki_str_trim(maki_utf8_truncate(text, capacity > mark ? capacity - mark : 0));
    for (size_t i = 0; i < text.len; i++)
        out[i] = (unsigned char)text.ptr[i] < 0x20 ? ' ' : text.ptr[i];
    if (fits || capacity < mark) return text.len;
    memcpy(out + text.len, ELLIPSIS, mark);
    return text.len + mark;
}

void maki_text_set_set_text(const maki_text_set *set, maki_text_item *item, maki_str text)
{
    item->len = (uint16_t)maki_line_copy(item->text, set->text_capacity, text);
}

void maki_text_set_set_detail(const maki_text_set *set, maki_text_item *item, maki_str text)
{
    item->detail_len = (uint16_t)maki_line_copy(item->detail, set->detail_capacity, text);
}

maki_str maki_text_item_text(const maki_text_item *item)
{
    return (maki_str){ item->text, item->len };
}

maki_str maki_text_item_detail(const maki_text_item *item)
{
    return (maki_str){ item->detail, item->detail_len };
}

/* The slot where the key is, or the empty one where it would go. */
static size_t slot_of(const maki_text_set *set, uint64_t key)
{
    size_t s = (size_t)key & set->slot_mask;
    while (set->slots[s] && set->at[set->slots[s] - 1].key != key)
        s = (s + 1) & set->slot_mask;
    return s;
}

static void rebuild_index(maki_text_set *set)
{
    memset(set->slots, 0, (set->slot_mask + 1) * sizeof *set->slots);
    for (size_t i = 0; i < set->count; i++)
        set->slots[slot_of(set, set->at[i].key)] = (uint32_t)i + 1;
}

maki_text_item *maki_text_set_find(const maki_text_set *set, uint64_t key)
{
    uint32_t position = set->slots[slot_of(set, key)];
    return position ? &set->at[position - 1] : NULL;
}

static bool has_priority(const maki_text_item *a, const maki_text_item *b)
{
    if (a->weight != b->weight) return a->weight > b->weight;
    return a->last != b->last ? a->last > b->last : a < b; /* of equals the one inserted first */
}

/* Move an item to the free position `to`; the buffers for texts stay at their positions. */
static void move_item(maki_text_set *set, size_t from, size_t to)
{
    maki_text_item moved = set->at[from];
    char *text = set->at[to].text, *detail = set->at[to].detail;
    memcpy(text, moved.text, moved.len);
    memcpy(detail, moved.detail, moved.detail_len);
    set->at[to] = moved;
    set->at[to].text = text;
    set->at[to].detail = detail;
}

/* Remove the items with key 0, and close the gaps. */
static void compact(maki_text_set *set)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (set->at[i].key == 0) continue;
        if (i != count) move_item(set, i, count);
        count++;
    }
    set->count = count;
    rebuild_index(set);
}

static void evict_half(maki_text_set *set)
{
    uint32_t *order = set->order;
    for (size_t i = 0; i < set->count; i++) { /* sets are small */
        size_t pos = i;
        for (; pos > 0 && has_priority(&set->at[i], &set->at[order[pos - 1]]); pos--)
            order[pos] = order[pos - 1];
        order[pos] = (uint32_t)i;
    }
    for (size_t i = set->count / 2; i < set->count; i++)
        set->at[order[i]].key = 0;
    compact(set);
}

void maki_text_set_clear(maki_text_set *set)
{
    set->count = 0;
    rebuild_index(set);
}

maki_text_item *maki_text_set_add(maki_text_set *set, uint64_t key, maki_str text, uint32_t weight,
                                  uint32_t now)
{
    maki_text_item *item = maki_text_set_find(set, key);
    if (!item) {
        if (set->count == set->capacity) evict_half(set);
        size_t s = slot_of(set, key);
        item = &set->at[set->count];
        set->slots[s] = (uint32_t)++set->count;
        *item = (maki_text_item){
            .key = key, .first = now, .text = item->text, .detail = item->detail
        };
        maki_text_set_set_text(set, item, text);
    }
    if (item->weight < weight) item->weight = weight;
    item->last = now;
    item->count++;
    return item;
}
