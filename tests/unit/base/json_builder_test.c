/* json_build_test.c -- small JSON in an arena: complete, and without leaks. */
#include "base/json_builder.h"

#include "base/json_access.h"
#include "fake_env.h"
#include "samples.h"
#include "tap.h"

/* An object with each sample as a key and as its value. */
static maki_status make(maki_arena *arena, maki_str *json, maki_err *err)
{
    maki_json_builder made;
    maki_json_builder_begin(&made, arena, err);
    maki_jw_begin_object(&made.w);
    for (size_t i = 0; i < sample_count; i++) {
        maki_jw_key(&made.w, samples[i].text);
        maki_jw_string(&made.w, samples[i].text);
    }
    for (int i = 0; i < 2000; i++) { /* more than the writer buffers */
        maki_jw_key(&made.w, MAKI_LIT("多"));
        maki_jw_int(&made.w, i);
    }
    maki_jw_end_object(&made.w);
    return maki_json_builder_end(&made, arena, json, err);
}

static void test_text(void)
{
    fake_env fe;
    maki_err err;
    maki_str json, value;
    fake_env_init(&fe);
    maki_arena arena = maki_arena_new(fe.env.alloc, 1 << 20);
    tap_row("what was written is in the arena, and the buffer is freed");
    if (CHECK_STATUS(make(&arena, &json, &err), MAKI_OK, &err) &&
        CHECK_STATUS(maki_json_check(json, &value, &err), MAKI_OK, &err)) {
        CHECK_EQ(maki_json_count(value), sample_count + 2000);
        for (size_t i = 0; i < sample_count; i++) {
            maki_str field;
            CHECK(maki_json_get(value, samples[i].text, &field));
            CHECK(maki_json_text_is(field, samples[i].text));
        }
    }
    CHECK_EQ(fake_alloc_live(&fe), arena.allocated);

    tap_row("nothing written is an empty text");
    maki_json_builder made;
    maki_json_builder_begin(&made, &arena, &err);
    CHECK_STATUS(maki_json_builder_end(&made, &arena, &json, &err), MAKI_OK, &err);
    CHECK_STR(json, "");
    maki_arena_free(&arena);
    CHECK_EQ(fake_alloc_live(&fe), 0);
}

static void test_faults(void)
{
    fake_env fe;
    maki_err err;
    maki_str json;
    fake_env_init(&fe);
    tap_row("every allocation fails in turn");
    size_t nth = 1;
    for (;; nth++) {
        maki_arena arena = maki_arena_new(fe.env.alloc, 1 << 20);
        fake_alloc_fail_at(&fe, nth);
        maki_status st = make(&arena, &json, &err);
        bool failed = fake_alloc_failed(&fe);
        CHECK_STATUS(st, failed ? MAKI_NOMEM : MAKI_OK, &err);
        CHECK_EQ(fake_alloc_live(&fe), arena.allocated);
        maki_arena_free(&arena);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        if (!failed) break;
    }
    CHECK(nth > 3);

    tap_row("more than the arena may hold");
    maki_arena arena = maki_arena_new(fe.env.alloc, 20000);
    fake_alloc_fail_at(&fe, 0);
    CHECK_STATUS(make(&arena, &json, &err), MAKI_TOOBIG, &err);
    maki_arena_free(&arena);
    CHECK_EQ(fake_alloc_live(&fe), 0);
}

int main(void)
{
    test_text();
    test_faults();
    return tap_end();
}
