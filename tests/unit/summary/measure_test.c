/* measure_test.c -- facts kept and lost. */
#include <stdio.h>

#include "fake_env.h"
#include "talk.h"

#include "summary/measure.h"

static const char talk[] = USER("Please change src/a.c so that max_rows is 250.")
    CALL("1", "Read", "{\"file_path\":\"src/a.c\"}") RESULT("1", "int hidden_name = 77;")
        CALL("2", "Bash", "{\"command\":\"make test\"}")
            FAILURE("2", "error: no rule 42\\nExit code: 2")
                SAYS("TODO: document it in docs/limits.md");

static maki_status add(void *ctx, maki_str json, maki_err *err)
{
    (void)err;
    maki_digest_add(ctx, json);
    return MAKI_OK;
}

static maki_status judge(const maki_summary_request *request, maki_str summary, maki_arena *arena,
                         maki_fact_counts *out, maki_err *err)
{
    maki_digest *digest;
    maki_status st = maki_digest_new(arena, &digest, err);
    if (st == MAKI_OK) st = request->each(request->source, add, digest, err);
    if (st != MAKI_OK) return st;
    maki_digest_end(digest);
    return maki_digest_count_facts(digest, summary, out, err);
}

static const struct {
    const char *name, *summary;
    uint64_t kept[MAKI_FACT_KINDS],
        lost[MAKI_FACT_KINDS]; /* paths, names, numbers, errors, tasks */
} rows[] = {
    { "nothing is kept", "a summary", { 0, 0, 0, 0, 0 }, { 2, 1, 1, 1, 1 } },
    { "all is kept",
      "src/a.c max_rows 250 error: no rule 42 TODO: document it in docs/limits.md",
      { 2, 1, 1, 1, 1 },
      { 0, 0, 0, 0, 0 } },
    { "part of a word is not the word",
      "src/a.cpp max_rows_2 1250",
      { 0, 0, 0, 0, 0 },
      { 2, 1, 1, 1, 1 } },
    { "the second place counts", "1250 and 250", { 0, 0, 1, 0, 0 }, { 2, 1, 0, 1, 1 } },
};

static void test_rows(void)
{
    maki_env env = maki_env_system();
    maki_str lines = maki_str_of(talk);
    for (size_t i = 0; i < COUNT(rows); i++) {
        maki_arena arena = maki_arena_new(env.alloc, 1 << 24);
        maki_summary_request request = talk_request(&lines);
        maki_fact_counts out;
        maki_err err = { 0 };
        uint64_t kept = 0, lost = 0;
        tap_row("%s", rows[i].name);
        CHECK_STATUS(judge(&request, maki_str_of(rows[i].summary), &arena, &out, &err), MAKI_OK,
                     &err);
        for (size_t k = 0; k < MAKI_FACT_KINDS; k++) {
            CHECK_EQ(out.kept[k], rows[i].kept[k]);
            CHECK_EQ(out.lost[k], rows[i].lost[k]);
            kept += rows[i].kept[k];
            lost += rows[i].lost[k];
        }
        CHECK(out.coverage.measured);
        CHECK_EQ(out.coverage.kept, kept);
        CHECK_EQ(out.coverage.lost, lost);
        maki_arena_free(&arena);
    }
}

static void test_faults(void)
{
    fake_env fe;
    maki_str lines = maki_str_of(talk);
    fake_env_init(&fe);
    tap_row("every allocation failing in turn");
    for (size_t nth = 1;; nth++) {
        maki_err err = { 0 };
        maki_fact_counts out;
        maki_summary_request request = talk_request(&lines);
        fake_alloc_fail_at(&fe, nth);
        maki_arena arena = maki_arena_new(fe.env.alloc, 1 << 24);
        maki_status st = judge(&request, MAKI_LIT("x"), &arena, &out, &err);
        bool injected = fake_alloc_failed(&fe);
        CHECK_STATUS(st, injected ? MAKI_NOMEM : MAKI_OK, &err);
        maki_arena_free(&arena);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        if (!injected) break;
    }
}

static maki_status many(const void *source, maki_message_fn fn, void *ctx, maki_err *err)
{
    maki_status st = MAKI_OK;
    for (int i = 0; st == MAKI_OK && i < *(const int *)source; i++) {
        char json[128];
        int n =
            snprintf(json, sizeof json, "{\"role\":\"user\",\"content\":\"see src/dir/f%d.c\"}", i);
        st = fn(ctx, (maki_str){ json, (size_t)n }, err);
    }
    return st;
}

static void test_bounds(void)
{
    fake_env fe;
    maki_err err = { 0 };
    maki_fact_counts out;
    int count = 20000;
    maki_summary_request request = { .each = many, .source = &count };
    fake_env_init(&fe);
    maki_arena arena = maki_arena_new(fe.env.alloc, 1 << 24);
    tap_row("more facts than it holds: the first ones, in little memory");
    CHECK_STATUS(judge(&request, MAKI_LIT("src/dir/f7.c"), &arena, &out, &err), MAKI_OK, &err);
    CHECK_EQ(out.coverage.kept, 1);
    CHECK_EQ(out.coverage.lost, MAKI_DIGEST_FACTS - 1);
    CHECK(out.coverage.list_len <= MAKI_LOST_FACTS_MAX);
    CHECK(fe.peak_bytes < 4 << 20);
    maki_arena_free(&arena);
}

static maki_status forgetful(const maki_summarizer *self, const maki_summary_request *request,
                             maki_arena *arena, maki_summary *out, maki_err *err)
{
    (void)self, (void)request, (void)arena, (void)err;
    out->text = MAKI_LIT("## Current Work\nAll is well.\n");
    return MAKI_OK;
}

static void test_completed(void)
{
    static const char said[] =
        USER("Never touch src/a.c. 必ず日本語で返事してください。") SAYS("Fine.");
    maki_arena arena = maki_arena_new(maki_env_system().alloc, 64 << 20);
    maki_summarizer model = { .usable = true, .run = forgetful };
    maki_summarizer measured = maki_summarizer_measured(&model);
    maki_str talk_of = maki_str_of(said);
    maki_summary_request request = talk_request(&talk_of);
    maki_summary summary = { .text = { "", 0 } };
    maki_err err = { 0 };
    tap_row("a model's summary that lacks a rule gets it");
    CHECK_STATUS(measured.run(&measured, &request, &arena, &summary, &err), MAKI_OK, &err);
    CHECK(maki_str_starts(summary.text, MAKI_LIT("## Current Work\nAll is well.\n")));
    CHECK(maki_str_contains(summary.text, MAKI_LIT("Never touch src/a.c.")));
    CHECK(maki_str_contains(summary.text, MAKI_LIT("必ず日本語で返事してください。")));
    maki_arena_free(&arena);
}

int main(void)
{
    test_rows();
    test_faults();
    test_bounds();
    test_completed();
    return tap_end();
}
