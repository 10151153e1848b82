/* suggest_test.c -- which name was meant. */
#include "base/suggest.h"

#include <string.h>

#include "base/str_util.h"
#include "tap.h"

/* clang-format off */
static const struct distance_row { const char *a, *b; size_t want; } distances[] = {
    { "", "", 0 }, { "", "abc", 3 }, { "kitten", "sitting", 3 }, { "Enabled", "enabled", 0 },
    { "設定", "設計", 1 }, { "모델", "모형", 1 }, { "🍣", "🍙", 1 }, { "é", "e", 1 },
    { "\xff", "a", SIZE_MAX },
    { "0123456789012345678901234567890123456789012345678901234567890123", "a", SIZE_MAX },
};
static const char *const names[] = { "enabled", "base_dir", "compression_threshold", "sqlite-vec", "要約", "要約の長さ" };
static const struct nearest_row { const char *name, *want; } nearests[] = {
    { "enabeld", "enabled" }, { "ENABLED", "enabled" }, { "compresion_treshold", "compression_threshold" },
    { "sqlite", "sqlite-vec" }, { "要釣", "要約" }, { "zzz", "" }, { "x", "" }, { "", "" },
    { "completely different words", "" }, { "sqrt", "" },
};
/* clang-format on */

int main(void)
{
    for (size_t i = 0; i < COUNT(distances); i++) {
        tap_row("from %s to %s", distances[i].a, distances[i].b);
        maki_str a = maki_str_of(distances[i].a), b = maki_str_of(distances[i].b);
        CHECK_EQ(maki_edit_distance(a, b), distances[i].want);
        CHECK_EQ(maki_edit_distance(b, a), distances[i].want);
    }
    for (size_t i = 0; i < COUNT(nearests); i++) {
        tap_row("nearest to \"%s\"", nearests[i].name);
        maki_suggest nearest = maki_suggest_for(maki_str_of(nearests[i].name));
        for (size_t j = 0; j < COUNT(names); j++)
            maki_suggest_candidate(&nearest, maki_str_of(names[j]));
        CHECK_TEXT(nearest.found, maki_str_of(nearests[i].want));
    }
    return tap_end();
}
