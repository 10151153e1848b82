/* sort_test.c -- sorted, stable, and nothing lost. */
#include "base/sort.h"

#include <string.h>

#include "fake_env.h"
#include "tap.h"

enum { MOST = 300 };

typedef struct card {
    unsigned key;
    unsigned was_at; /* where it stood: of equal keys the lower one must come first */
} card;

static bool key_before(const void *a, const void *b)
{
    return ((const card *)a)->key < ((const card *)b)->key;
}

static bool never_before(const void *a, const void *b)
{
    (void)a;
    (void)b;
    return false;
}

static bool byte_before(const void *a, const void *b)
{
    return *(const char *)a < *(const char *)b;
}

static bool word_before(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b) < 0;
}

/* Every number of elements, with few keys (many equal ones) and with many. */
static void test_cards(void)
{
    fake_env fe;
    tap_random random = { 52 };
    fake_env_init(&fe);
    tap_row("every count up to %d: in order, equal ones in their old order, each still there",
            MOST);
    for (size_t count = 0; count <= MOST; count++) {
        for (unsigned kinds = 1; kinds <= 1000; kinds *= 10) {
            card cards[MOST + 1];
            bool seen[MOST + 1] = { false };
            maki_err err;
            maki_arena arena = maki_arena_new(fe.env.alloc, 1 << 20);
            for (size_t i = 0; i <= MOST; i++) {
                cards[i] = (card){ (unsigned)tap_below(&random, kinds), (unsigned)i };
            }
            CHECK_STATUS(maki_sort(cards, count, sizeof cards[0], key_before, &arena, &err),
                         MAKI_OK, &err);
            for (size_t i = 0; i < count; i++) {
                CHECK(cards[i].was_at < count && !seen[cards[i].was_at]);
                seen[cards[i].was_at] = true;
                if (i == 0) continue;
                CHECK(cards[i - 1].key <= cards[i].key);
                if (cards[i - 1].key == cards[i].key) CHECK(cards[i - 1].was_at < cards[i].was_at);
            }
            for (size_t i = count; i <= MOST; i++)
                CHECK_EQ(cards[i].was_at, i); /* not touched */
            maki_arena_free(&arena);
        }
    }
    CHECK_EQ(fake_alloc_live(&fe), 0);
}

static void test_others(void)
{
    fake_env fe;
    maki_err err;
    fake_env_init(&fe);
    maki_arena arena = maki_arena_new(fe.env.alloc, 1 << 20);

    tap_row("when all are equal, all stay in place");
    char same[] = "日本語のまま";
    CHECK_STATUS(maki_sort(same, sizeof same - 1, 1, never_before, &arena, &err), MAKI_OK, &err);
    CHECK_CSTR(same, "日本語のまま");

    tap_row("elements of one byte, sorted backwards before");
    char bytes[] = "zyxwvutsrqponmlkjihgfedcba";
    CHECK_STATUS(maki_sort(bytes, 26, 1, byte_before, &arena, &err), MAKI_OK, &err);
    CHECK_CSTR(bytes, "abcdefghijklmnopqrstuvwxyz");

    tap_row("pointers to words of several languages");
    const char *words[] = { "한국", "emoji", "日本", "😀", "عربي", "中文" };
    CHECK_STATUS(maki_sort(words, 6, sizeof words[0], word_before, &arena, &err), MAKI_OK, &err);
    static const char *const want[] = { "emoji", "عربي", "中文", "日本", "한국", "😀" };
    for (size_t i = 0; i < 6; i++)
        CHECK_CSTR(words[i], want[i]);
    maki_arena_free(&arena);
}

static void test_faults(void)
{
    fake_env fe;
    maki_err err;
    card cards[] = { { 2, 0 }, { 1, 1 }, { 0, 2 } };
    fake_env_init(&fe);
    tap_row("out of memory: reported, and the elements are unchanged");
    maki_arena arena = maki_arena_new(fe.env.alloc, 1 << 20);
    fake_alloc_fail_at(&fe, 1);
    CHECK_STATUS(maki_sort(cards, 3, sizeof cards[0], key_before, &arena, &err), MAKI_NOMEM, &err);
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQ(cards[i].was_at, i);
    maki_arena_free(&arena);

    tap_row("more than the arena may hold");
    arena = maki_arena_new(fe.env.alloc, 16);
    CHECK_STATUS(maki_sort(cards, 3, sizeof cards[0], key_before, &arena, &err), MAKI_TOOBIG, &err);
    tap_row("none and one need no memory at all");
    CHECK_STATUS(maki_sort(NULL, 0, 8, key_before, &arena, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_sort(cards, 1, sizeof cards[0], key_before, &arena, &err), MAKI_OK, &err);
    CHECK_EQ(cards[0].key, 2);
    maki_arena_free(&arena);
    CHECK_EQ(fake_alloc_live(&fe), 0);
}

int main(void)
{
    test_cards();
    test_others();
    test_faults();
    return tap_end();
}
