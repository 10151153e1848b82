/* id_map.c -- a hash table from ids to numbers: open addressing with linear probing, at most half full. */
#include "base/id_map.h"

/* The slot of `id`, or the empty one where it would be inserted. */
static struct maki_id_map_slot *find_slot(const maki_id_map *map, maki_str id, uint64_t hash)
{
    size_t i = (size_t)hash & (map->capacity - 1);
    while (map->slots[i].id.len &&
           (map->slots[i].hash != hash || !maki_json_same_text(map->slots[i].id, id))) {
        i = (i + 1) & (map->capacity - 1);
    }
    return &map->slots[i];
}

static maki_status grow(maki_id_map *map, maki_arena *arena, maki_err *err)
{
    maki_id_map larger = { .capacity = map->capacity ? map->capacity * 2 : 16,
                           .count = map->count };
    larger.slots = maki_arena_array(arena, larger.capacity, sizeof *larger.slots);
    if (!larger.slots) return maki_arena_status(arena, err);
    for (size_t i = 0; i < map->capacity; i++) {
        struct maki_id_map_slot *slot = &map->slots[i];
        if (slot->id.len) *find_slot(&larger, slot->id, slot->hash) = *slot;
    }
    *map = larger;
    return MAKI_OK;
}

maki_status maki_id_map_add(maki_id_map *map, maki_str id, size_t value, maki_arena *arena,
                            maki_err *err)
{
    if (id.len == 0) return MAKI_OK;
    if (map->count * 2 >= map->capacity) {
        maki_status st = grow(map, arena, err);
        if (st != MAKI_OK) return st;
    }
    uint64_t hash = maki_json_text_hash(id);
    struct maki_id_map_slot *slot = find_slot(map, id, hash);
    if (slot->id.len) return MAKI_OK;
    *slot = (struct maki_id_map_slot){ id, hash, value };
    map->count++;
    return MAKI_OK;
}

bool maki_id_map_find(const maki_id_map *map, maki_str id, size_t *value)
{
    if (id.len == 0 || map->count == 0) return false;
    const struct maki_id_map_slot *slot = find_slot(map, id, maki_json_text_hash(id));
    if (slot->id.len == 0) return false;
    if (value) *value = slot->value;
    return true;
}
