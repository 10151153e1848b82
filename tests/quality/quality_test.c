/* quality_test.c -- how many facts of the sample conversations the offline summary keeps.
 *
 *     quality_test DIRECTORY          the samples and their answer keys (make_samples.py)
 *     quality_test DIRECTORY NAME     print the summary of one sample
 *
 * The keys were written with the conversations, not extracted from them: `path`, `error` and
 * `task`, a tab, and the words that must stand in the summary. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

#include "base/files.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "history/facts.h"
#include "summary/measure.h"
#include "summary/offline.h"
#include "token/content.h"

enum { ARENA_MAX = 64 << 20 };

static maki_env env;

static maki_status read_file(const char *directory, const char *name, const char *end,
                             maki_buf *out)
{
    char path[512];
    maki_err err = { 0 };
    snprintf(path, sizeof path, "%s/%s%s", directory, name, end);
    *out = maki_buf_new(env.alloc, ARENA_MAX);
    FILE *file = fopen(path, "rb");
    if (!CHECK(file != NULL)) return MAKI_NOTFOUND;
    for (;;) {
        char *capacity = maki_buf_reserve(out, 1 << 16);
        size_t n = capacity ? fread(capacity, 1, 1 << 16, file) : 0;
        if (n == 0) break;
        out->len += n;
    }
    fclose(file);
    return maki_buf_status(out, &err);
}

/* Each line of a text. */
static bool next_line(maki_str *rest, maki_str *line)
{
    if (rest->len == 0) return false;
    const char *end = memchr(rest->ptr, '\n', rest->len);
    *line = maki_str_prefix(*rest, end ? (size_t)(end - rest->ptr) : rest->len);
    *rest = maki_str_skip(*rest, end ? line->len + 1 : line->len);
    return true;
}

static maki_status each_line(const void *source, maki_message_fn fn, void *ctx, maki_err *err)
{
    maki_str rest = *(const maki_str *)source, line, value;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && next_line(&rest, &line)) {
        st = maki_json_check(line, &value, err);
        if (st == MAKI_OK) st = fn(ctx, value, err);
    }
    return st;
}

typedef struct counted {
    maki_tokenizer *tokenizer;
    uint64_t tokens;
    size_t messages;
} counted;

static maki_status count_one(void *ctx, maki_str json, maki_err *err)
{
    counted *c = ctx;
    uint64_t tokens = 0;
    maki_counted_fields said = maki_counted_fields_of(json);
    maki_status st =
        maki_count_message(c->tokenizer, said.role, said.content, said.calls, &tokens, err);
    c->tokens += tokens;
    c->messages++;
    return st;
}

typedef struct score {
    size_t held[3], all[3];
} score;

/* How many lines of the key of each kind stand in the summary. */
static score look_up(maki_str key, maki_str summary)
{
    static const char *const kinds[] = { "path\t", "error\t", "task\t" };
    score s = { 0 };
    maki_str line;
    while (next_line(&key, &line)) {
        for (size_t k = 0; k < COUNT(kinds); k++) {
            maki_str kind = maki_str_of(kinds[k]);
            if (!maki_str_starts(line, kind)) continue;
            bool held = maki_str_contains(summary, maki_str_skip(line, kind.len));
            s.all[k]++;
            s.held[k] += held;
            if (!held) printf("# lost: %.*s\n", (int)line.len, line.ptr);
        }
    }
    return s;
}

static maki_status summarize(maki_str rows, maki_arena *arena, maki_str *out, maki_err *err)
{
    maki_summarizer offline = maki_summarizer_offline_with(NULL);
    maki_summary_request request = { .each = each_line, .source = &rows };
    maki_summary summary = { 0 };
    maki_status st = offline.run(&offline, &request, arena, &summary, err);
    *out = summary.text;
    return st;
}

static maki_status add(void *ctx, maki_str json, maki_err *err)
{
    (void)err;
    maki_digest_add(ctx, json);
    return MAKI_OK;
}

static maki_status judge(maki_str rows, maki_str text, maki_arena *arena, maki_fact_counts *out,
                         maki_err *err)
{
    maki_digest *digest;
    maki_status st = maki_digest_new(arena, &digest, err);
    if (st == MAKI_OK) st = each_line(&rows, add, digest, err);
    if (st != MAKI_OK) return st;
    maki_digest_end(digest);
    return maki_digest_count_facts(digest, text, out, err);
}

static void check_sample(const char *directory, const char *name, maki_tokenizer *tokenizer)
{
    maki_arena arena = maki_arena_new(env.alloc, ARENA_MAX);
    maki_buf file, key;
    maki_err err = { 0 };
    counted all = { .tokenizer = tokenizer };
    maki_str text = { "", 0 };
    maki_fact_counts judged = { .coverage = { .measured = false } };
    if (read_file(directory, name, ".jsonl", &file) != MAKI_OK) return;
    if (read_file(directory, name, ".key", &key) != MAKI_OK) return;
    maki_str rows = maki_buf_str(&file);
    tap_row("%s: the summary is made", name);
    CHECK_STATUS(each_line(&rows, count_one, &all, &err), MAKI_OK, &err);
    CHECK_STATUS(summarize(rows, &arena, &text, &err), MAKI_OK, &err);
    CHECK_STATUS(judge(rows, text, &arena, &judged, &err), MAKI_OK, &err);
    CHECK_EQ(all.messages, 200);
    uint64_t tokens = maki_tokenizer_count(tokenizer, text);
    score s = look_up(maki_buf_str(&key), text);
    printf("# %s: %" PRIu64 " tokens of %" PRIu64
           " (%.1f %%); paths %zu of %zu, unresolved errors %zu of %zu, "
           "open tasks %zu of %zu; facts kept %" PRIu64 ", lost %" PRIu64 "\n",
           name, tokens, all.tokens, 100.0 * (double)tokens / (double)all.tokens, s.held[0],
           s.all[0], s.held[1], s.all[1], s.held[2], s.all[2], judged.coverage.kept,
           judged.coverage.lost);
    tap_row("%s: under a tenth of the tokens", name);
    CHECK(tokens * 10 < all.tokens);
    tap_row("%s: nine of ten paths", name);
    CHECK(s.all[0] >= 20 && s.held[0] * 10 >= s.all[0] * 9);
    tap_row("%s: every unresolved error", name);
    CHECK(s.all[1] >= 3);
    CHECK_EQ(s.held[1], s.all[1]);
    tap_row("%s: every open task", name);
    CHECK(s.all[2] >= 6);
    CHECK_EQ(s.held[2], s.all[2]);
    tap_row("%s: 19 of 20 facts", name);
    CHECK(judged.coverage.kept * 20 >= (judged.coverage.kept + judged.coverage.lost) * 19);
    tap_row("%s: the measure agrees on errors and tasks", name);
    CHECK_EQ(judged.lost[MAKI_FACT_ERROR], 0);
    CHECK_EQ(judged.lost[MAKI_FACT_TASK], 0);
    CHECK(judged.kept[MAKI_FACT_ERROR] >= s.all[1]);
    maki_buf_free(&file);
    maki_buf_free(&key);
    maki_arena_free(&arena);
}

static int show(const char *directory, const char *name)
{
    maki_arena arena = maki_arena_new(env.alloc, ARENA_MAX);
    maki_buf file;
    maki_str text = { "", 0 };
    maki_err err = { 0 };
    maki_status st = read_file(directory, name, ".jsonl", &file);
    if (st == MAKI_OK) st = summarize(maki_buf_str(&file), &arena, &text, &err);
    printf("%.*s", (int)text.len, text.ptr);
    maki_buf_free(&file);
    maki_arena_free(&arena);
    return st == MAKI_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const char *const names[] = { "en", "ja", "zh" };
    maki_tokenizer *tokenizer = NULL;
    maki_err err = { 0 };
    env = maki_env_system();
    if (argc < 2) return 2;
    if (argc > 2) return show(argv[1], argv[2]);
    if (maki_tokenizer_open(&env, maki_encoding_at(0), NULL, &tokenizer, &err) != MAKI_OK) return 1;
    for (size_t i = 0; i < COUNT(names); i++)
        check_sample(argv[1], names[i], tokenizer);
    maki_tokenizer_close(tokenizer);
    return tap_end();
}
