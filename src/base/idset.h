/* idset.h -- a hash map from ids (JSON strings, compared by their text) to numbers, in an arena. */
#ifndef MAKI_BASE_IDSET_H
#define MAKI_BASE_IDSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json_access.h"

typedef struct maki_idset {
    struct maki_idset_slot {
        maki_str id;
        uint64_t hash;
        size_t value;
    } * slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
} maki_idset;

/* Insert `id` with a value; an id that is in the set keeps its first value.  An empty id is not inserted. */
maki_status maki_idset_add(maki_idset *set, maki_str id, size_t value, maki_arena *arena,
                           maki_err *err);
/* Is it in the set?  *value (unless NULL) becomes its value.  An empty id never is. */
bool maki_idset_has(const maki_idset *set, maki_str id, size_t *value);

#endif
