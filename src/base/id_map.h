/* id_map.h -- a hash map from ids (JSON strings, compared by their text) to numbers, in an arena. */
#ifndef MAKI_BASE_ID_MAP_H
#define MAKI_BASE_ID_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json_access.h"

typedef struct maki_id_map {
    struct maki_id_map_slot {
        maki_str id;
        uint64_t hash;
        size_t value;
    } * slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
} maki_id_map;

/* Insert `id` with a value; an id that is in the map keeps its first value.  An empty id is not inserted. */
maki_status maki_id_map_add(maki_id_map *map, maki_str id, size_t value, maki_arena *arena,
                            maki_err *err);
/* Is it in the map?  *value (unless NULL) becomes its value.  An empty id never is. */
bool maki_id_map_find(const maki_id_map *map, maki_str id, size_t *value);

#endif
