/* size_test.c -- sums and products that overflow are reported, and leave the output unchanged. */
#include "base/size.h"

#include <stdint.h>

#include "tap.h"

/* clang-format off */
static const struct size_row { const char *name; char op; size_t a, b; bool fits; size_t result; } size_rows[] = {
    { "0 + 0",                        '+', 0, 0,                        true,  0 },
    { "2 + 3",                        '+', 2, 3,                        true,  5 },
    { "the largest sum",              '+', SIZE_MAX - 1, 1,             true,  SIZE_MAX },
    { "largest + 0",                  '+', SIZE_MAX, 0,                 true,  SIZE_MAX },
    { "largest + 1",                  '+', SIZE_MAX, 1,                 false, 0 },
    { "1 + largest",                  '+', 1, SIZE_MAX,                 false, 0 },
    { "largest + largest",            '+', SIZE_MAX, SIZE_MAX,          false, 0 },
    { "half + half + 1",              '+', SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1, false, 0 },
    { "0 * largest",                  '*', 0, SIZE_MAX,                 true,  0 },
    { "largest * 0",                  '*', SIZE_MAX, 0,                 true,  0 },
    { "1 * largest",                  '*', 1, SIZE_MAX,                 true,  SIZE_MAX },
    { "6 * 7",                        '*', 6, 7,                        true,  42 },
    { "2 * half",                     '*', 2, SIZE_MAX / 2,             true,  SIZE_MAX - 1 },
    { "2 * (half + 1)",               '*', 2, SIZE_MAX / 2 + 1,         false, 0 },
    { "a product that wraps to small", '*', (size_t)1 << 33, (size_t)1 << 31, false, 0 },
    { "largest * largest",            '*', SIZE_MAX, SIZE_MAX,          false, 0 },
};
/* clang-format on */

int main(void)
{
    for (size_t i = 0; i < COUNT(size_rows); i++) {
        const struct size_row *row = &size_rows[i];
        size_t out = 77;
        tap_row("%s", row->name);
        bool fits = row->op == '+' ? maki_size_add(row->a, row->b, &out)
                                   : maki_size_mul(row->a, row->b, &out);
        CHECK(fits == row->fits);
        CHECK_EQ(out, row->fits ? row->result : 77);
    }
    return tap_end();
}
