/* tokens_test.c -- the tokens of conversations: of views after every kind of change, across forks; and of imports
 * with any number of threads. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <maki/maki.h>

#include "base/str_util.h"
#include "directory.h"
#include "exchange.h"
#include "fake_env.h"
#include "history/conv.h"
#include "history/conv_internal.h"
#include "history/import.h"
#include "log/verify.h"
#include "tap.h"

static maki_conv *open_conv(const maki_env *env, const char *path, maki_conv_options options)
{
    maki_conv *conv = NULL;
    maki_err err = { 0 };
    CHECK_STATUS(maki_conv_open(env, path, &options, &conv, &err), MAKI_OK, &err);
    return conv;
}

static void say(maki_conv *conv, const char *row)
{
    maki_change change;
    maki_err err = { 0 };
    maki_str one = maki_str_of(row);
    CHECK_STATUS(maki_conv_append(conv, NULL, &one, 1, &change, &err), MAKI_OK, &err);
}

static uint64_t total_of(maki_conv *conv)
{
    maki_view_totals totals = { 0 };
    maki_err err = { 0 };
    CHECK_STATUS(maki_conv_total_now(conv, &totals, &err), MAKI_OK, &err);
    return totals.tokens;
}

/* ---- one by one ------------------------------------------------------------------------------------- */

#define PNG \
    "iVBORw0KGgoAAAANSUhEUgAAA+gAAAH0CAIAAA" /* the beginning of one of 1000 x 500: 667 tokens */

/* Expected counts from the official tools, plus 4 a message; and the estimate chars4. */
static const struct {
    const char *row;
    uint32_t tokens, chars4;
} known[] = {
    { "{\"role\":\"user\",\"content\":\"\"}", 4, 5 },
    { "{\"role\":\"user\",\"content\":\"hello world\"}", 6, 8 },
    { "{\"role\":\"user\"}", 4, 4 },
    { "{\"role\":\"user\",\"content\":\"hello world\",\"images\":[\"" PNG "\"]}", 673, 675 },
};

static void test_known(void)
{
    maki_env env = maki_env_system();
    maki_token_counter counter;
    maki_err err = { 0 };
    uint32_t tokens = 0;
    tap_row("messages, as the index counts them, and as chars4");
    maki_token_counter_init(&counter, &env);
    for (size_t i = 0; i < COUNT(known); i++) {
        uint64_t estimate = 0;
        maki_str row = maki_str_of(known[i].row);
        maki_counted_fields said = maki_counted_fields_of(row);
        CHECK_STATUS(maki_token_counter_row(&counter, i % 3, row, NULL, &tokens, &err), MAKI_OK,
                     &err);
        CHECK_STATUS(maki_counted_fields_count(NULL, &said, &estimate, &err), MAKI_OK, &err);
        if (!CHECK_EQ(tokens, known[i].tokens) || !CHECK_EQ(estimate, known[i].chars4))
            printf("# %s\n", known[i].row);
    }
    tokens = 9;
    CHECK_STATUS(
        maki_token_counter_unchecked(&counter, 0, MAKI_LIT("no JSON"), NULL, &tokens, &err),
        MAKI_OK, &err);
    CHECK_EQ(tokens, 0);
    CHECK_STATUS(maki_token_counter_unchecked(&counter, 0, MAKI_LIT(" {\"role\":\"user\"} "), NULL,
                                              &tokens, &err),
                 MAKI_OK, &err);
    CHECK_EQ(tokens, 4);
    maki_token_counter_close(&counter);
    maki_token_counter_close(&counter);
}

/* ---- views ----------------------------------------------------------------------------------------------- */

/* The slow way: count each message of the view. */
typedef struct slow {
    maki_token_counter counter;
    uint64_t tokens, told;
} slow;

static maki_status count_seen(void *ctx, const maki_view_message *seen, maki_err *err)
{
    slow *s = ctx;
    uint32_t tokens = 0;
    maki_status st = maki_token_counter_unchecked(&s->counter, 0, seen->json, NULL, &tokens, err);
    s->tokens += tokens;
    s->told += seen->row.tokens;
    return st;
}

static uint64_t slow_total(maki_conv *conv)
{
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    const maki_view *view;
    slow s = { .tokens = 0 };
    maki_token_counter_init(&s.counter, &env);
    CHECK_STATUS(maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_conv_each(conv, view, count_seen, &s, &err), MAKI_OK, &err);
    maki_token_counter_close(&s.counter);
    return s.tokens;
}

static void check_totals(maki_conv *conv, const char *when)
{
    if (!CHECK_EQ(total_of(conv), slow_total(conv))) printf("# %s\n", when);
}

static maki_status tiny_summary(const maki_summarizer *self, const maki_summary_request *request,
                                maki_arena *arena, maki_summary *out, maki_err *err)
{
    (void)self;
    (void)request;
    out->text = maki_arena_print(arena, "短い要約: they read a file. %d", 7);
    return maki_arena_status(arena, err);
}

static const char *const talk[] = {
    "{\"role\":\"system\",\"content\":\"You are careful.\"}",
    "{\"role\":\"user\",\"content\":\"ログイン画面が落ちます。調べてください。\"}",
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"I look.\"},{\"type\":"
    "\"tool_use\",\"id\":\"t1\",\"name\":\"read_file\",\"input\":{\"path\":\"src/login.c\"}}]}",
    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":"
    "\"int main(void)\\n{\\n    char name[8];\\n    strcpy(name, getenv(\\\"LONGEST_NAME\\\"));\\n    "
    "return login(name);\\n}\\n/* and a long comment that nobody needs to see any more, but which "
    "is here all the same, because somebody once thought that it might be of use to somebody, "
    "some day, and so it stays, and stays, and stays, in every copy of it. */\\n\"}]}",
    "{\"role\":\"assistant\",\"content\":\"A buffer of eight bytes, and a name of any length. "
    "Größe zählt; размер имеет значение.\"}",
    "{\"role\":\"user\",\"content\":\"Please mend it.\"}",
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","
    "\"function\":{\"name\":\"edit\",\"arguments\":\"{\\\"path\\\":\\\"src/login.c\\\"}\"}}]}",
    "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"done\"}",
    "{\"role\":\"assistant\",\"content\":\"Mended.\"}",
    "{\"role\":\"user\",\"content\":\"この絵は？\",\"images\":[\"" PNG "\"]}",
};

static void test_views(void)
{
    maki_env env = maki_env_system();
    maki_summarizer tiny = { .usable = true, .run = tiny_summary };
    maki_change c;
    maki_err err = { 0 };
    directory f;
    char path[400], child[400];
    directory_open(&f);
    snprintf(path, sizeof path, "%s", directory_file(&f, "talk.jsonl"));
    snprintf(child, sizeof child, "%s", directory_file(&f, "child.jsonl"));
    maki_conv *conv = open_conv(&env, path, (maki_conv_options){ .create = true });

    tap_row("the total of a view is the sum of its messages, after every kind of change");
    check_totals(conv, "empty");
    for (size_t i = 0; i < COUNT(talk); i++) {
        say(conv, talk[i]);
        check_totals(conv, "appended");
    }
    CHECK_STATUS(maki_conv_trim(conv, NULL, 4, 0, 40, 20, &c, &err), MAKI_OK, &err);
    check_totals(conv, "trimmed");
    CHECK_STATUS(maki_conv_truncate(conv, NULL, 0.4, &c, &err), MAKI_OK, &err);
    check_totals(conv, "truncated");
    CHECK_STATUS(maki_conv_undo(conv, NULL, 0, &c, &err), MAKI_OK, &err);
    check_totals(conv, "undone");
    CHECK_STATUS(maki_conv_fork(conv, 9, MAKI_NEWEST, child, (maki_str){ "", 0 }, &err), MAKI_OK,
                 &err);
    maki_conv *fork = open_conv(&env, child, (maki_conv_options){ .create = false });
    check_totals(fork, "forked");
    say(fork, "{\"role\":\"user\",\"content\":\"子の会話: and on with it\"}");
    check_totals(fork, "and gone on");
    CHECK_STATUS(maki_conv_condense(fork, NULL, 2, &tiny, &c, &err), MAKI_OK, &err);
    check_totals(fork, "and condensed");

    tap_row("sums over ranges of messages, also across a fork");
    for (uint64_t from = 1; from <= 10; from++) {
        for (uint64_t to = from; to <= 10; to++) {
            maki_view_totals all = { 0 }, a = { 0 }, b = { 0 };
            CHECK_STATUS(maki_conv_tokens(fork, from, to, &all, &err), MAKI_OK, &err);
            CHECK_STATUS(maki_conv_tokens(fork, from, from, &a, &err), MAKI_OK, &err);
            CHECK_STATUS(maki_conv_tokens(fork, from + 1, to, &b, &err), MAKI_OK, &err);
            CHECK(all.tokens == a.tokens + b.tokens && all.messages == to - from + 1);
        }
    }
    maki_view_totals none = { 0 };
    CHECK_STATUS(maki_conv_tokens(fork, 0, UINT64_MAX, &none, &err), MAKI_OK, &err);
    CHECK_EQ(none.messages, 10);
    CHECK_STATUS(maki_conv_tokens(fork, 11, 20, &none, &err), MAKI_OK, &err);
    CHECK_EQ(none.messages + none.tokens, 0);
    maki_conv_close(fork);
    maki_conv_close(conv);

    tap_row("changes and messages report the same tokens");
    conv = open_conv(&env, path, (maki_conv_options){ .create = false });
    uint64_t before = total_of(conv);
    CHECK_STATUS(maki_conv_truncate(conv, NULL, 0.5, &c, &err), MAKI_OK, &err);
    CHECK_EQ(c.tokens_before, before);
    CHECK_EQ(c.tokens_after, total_of(conv));
    const maki_view *view;
    slow s = { .tokens = 0 };
    maki_token_counter_init(&s.counter, &env);
    CHECK_STATUS(maki_conv_all_messages(conv, &view, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_conv_each(conv, view, count_seen, &s, &err), MAKI_OK, &err);
    CHECK_EQ(s.told, s.tokens);
    maki_token_counter_close(&s.counter);
    CHECK_STATUS(maki_conv_undo(conv, NULL, 0, &c, &err), MAKI_OK, &err);
    maki_conv_close(conv);

    tap_row("events name the family of their tokens");
    maki_str events = directory_read(directory_file(&f, "talk.events.jsonl"));
    CHECK(maki_str_contains(events, MAKI_LIT(",\"family\":\"o200k_base\"")));
    free((void *)(uintptr_t)events.ptr);
    directory_close(&f);
}

/* Events of former versions have an estimate, and no `family`. */
static void test_old_events(void)
{
    maki_env env = maki_env_system();
    maki_change c;
    maki_err err = { 0 };
    directory f;
    tap_row("estimates in old events are replaced by counts");
    directory_open(&f);
    maki_conv *conv =
        open_conv(&env, directory_file(&f, "old.jsonl"), (maki_conv_options){ .create = true });
    for (size_t i = 0; i < COUNT(talk); i++)
        say(conv, talk[i]);
    CHECK_STATUS(
        maki_conv_add_event(conv, "trim",
                            MAKI_LIT("\"seq\":4,\"block\":0,\"headUnits\":40,\"tailUnits\":20,"
                                     "\"tokens\":9999"),
                            &c, &err),
        MAKI_OK, &err);
    CHECK_STATUS(
        maki_conv_add_event(conv, "truncate",
                            MAKI_LIT("\"hidden\":[[5,6]],\"hiddenEvents\":[],\"before\":7,"
                                     "\"tokens\":12345,\"message\":{\"role\":\"user\","
                                     "\"content\":\"[2 messages hidden]\"},\"messages\":2"),
                            &c, &err),
        MAKI_OK, &err);
    CHECK_EQ(total_of(conv), slow_total(conv));
    /* condensing them counts what it hides as it is, not as it was estimated */
    maki_summarizer tiny = { .usable = true, .run = tiny_summary };
    CHECK_STATUS(maki_conv_condense(conv, NULL, 1, &tiny, &c, &err), MAKI_OK, &err);
    CHECK(c.tokens_after < c.tokens_before);
    CHECK_EQ(total_of(conv), slow_total(conv));
    maki_conv_close(conv);
    directory_close(&f);
}

/* ---- a long source ------------------------------------------------------------------------------------- */

/* A source of about `bytes`: calls and results far apart, some lines broken. */
static maki_str make_source(size_t bytes, size_t *broken)
{
    static const char *const words[] = { "the ",   "index ",  "与 ",         "書き込み", "race; ",
                                         "(see ",  "main.c)", "\\n\\n",      "0x7fff ",  "naïve ",
                                         "don't ", "12345 ",  "\\\"so\\\" ", "ログ " };
    maki_env env = maki_env_system();
    maki_buf out = maki_buf_new(env.alloc, bytes + (1 << 20));
    tap_random random = { 99 };
    char text[200];
    *broken = 0;
    for (size_t n = 0; out.len < bytes; n++) {
        size_t kind = n % 5, most = n % 701 == 0 ? 40000 : 60;
        if (n % 97 == 0) {
            maki_buf_add(&out, MAKI_LIT("{\"content\":\"no role\"}\n"));
            ++*broken;
        }
        if (n % 1009 == 0) {
            maki_buf_add(&out, MAKI_LIT("{\"role\":\"user\",\n"));
            ++*broken;
        }
        if (kind == 1) {
            snprintf(text, sizeof text,
                     "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t%zu\","
                     "\"name\":\"ls\",\"input\":{\"n\":%zu}},{\"type\":\"text\",\"text\":\"",
                     n, n);
        } else if (kind == 2) {
            snprintf(text, sizeof text,
                     "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
                     "\"t%zu\",\"content\":\"",
                     n - 1);
        } else {
            snprintf(text, sizeof text, "{\"role\":\"%s\",\"ts\":%zu,\"content\":\"",
                     kind % 2 ? "assistant" : "user", 1700000000000 + n);
        }
        maki_buf_add(&out, maki_str_of(text));
        for (size_t i = tap_below(&random, most); i > 0; i--)
            maki_buf_add(&out, maki_str_of(words[tap_below(&random, COUNT(words))]));
        maki_buf_add(&out, kind == 1 || kind == 2 ? MAKI_LIT("\"}]}\n") : MAKI_LIT("\"}\n"));
    }
    return maki_buf_str(&out); /* with the bytes, never freed by maki_buf_free: by free() */
}

/* ---- the public API -------------------------------------------------------------------------------------------- */

static maki_status note_counting(void *ctx, uint64_t done, uint64_t total)
{
    uint64_t *most = ctx;
    CHECK(done >= *most && done <= total);
    *most = done;
    return MAKI_OK;
}

static void test_public(const char *source)
{
    maki *m = NULL;
    maki_conversation *c = NULL;
    maki_import_result got;
    maki_token_total all, view;
    maki_err err = { 0 };
    directory f;
    char path[400];
    uint64_t most = 0;
    tap_row("<maki/conversation.h>: sums, threads and progress");
    directory_open(&f);
    snprintf(path, sizeof path, "%s", directory_file(&f, "x.jsonl"));
    if (!CHECK_STATUS(maki_open(NULL, &m, &err), MAKI_OK, &err)) return;
    maki_set_threads(m, 2);
    maki_set_progress(m, note_counting, &most);
    CHECK_STATUS(maki_conversation_import(m, source, path, "lines", NULL, &got, &err), MAKI_OK,
                 &err);
    CHECK_EQ(most, 0);
    CHECK_STATUS(maki_conversation_open(m, path, MAKI_OPEN, &c, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_conversation_tokens(c, 1, UINT64_MAX, &all, &err), MAKI_OK, &err);
    CHECK_EQ(all.messages, got.messages);
    CHECK_STATUS(maki_conversation_view_tokens(c, MAKI_LATEST, &view, &err), MAKI_OK, &err);
    CHECK_EQ(all.tokens, view.tokens);
    maki_conversation_close(c);
    CHECK_DOUBLE(maki_model_scale("gpt-4o"), 1);
    CHECK(maki_model_scale("claude-sonnet-4-5") > 1.1);

    tap_row("rebuilding an index reports its progress");
    unlink(directory_file(&f, "x.idx"));
    most = 0;
    c = NULL;
    CHECK_STATUS(maki_conversation_open(m, path, MAKI_OPEN, &c, &err), MAKI_OK, &err);
    CHECK(most > 4 << 20);
    maki_conversation_close(c);
    maki_verification proof;
    maki_set_progress(m, NULL, NULL);
    CHECK_STATUS(maki_conversation_verify(m, path, false, NULL, NULL, &proof, &err), MAKI_OK, &err);
    maki_close(m);
    directory_close(&f);
}

/* ---- imports ---------------------------------------------------------------------------------------------------- */

typedef struct told {
    uint64_t lines[2000];
    size_t count;
} told;

static void note_skipped(void *ctx, uint64_t line, const char *why)
{
    told *t = ctx;
    (void)why;
    if (t->count < COUNT(t->lines)) t->lines[t->count++] = line;
}

static bool same_file(const directory *f, const char *a, const char *b)
{
    maki_str x = directory_read(directory_file(f, a)), y = directory_read(directory_file(f, b));
    bool same = x.ptr && y.ptr && maki_str_equal(x, y);
    free((void *)(uintptr_t)x.ptr);
    free((void *)(uintptr_t)y.ptr);
    return same;
}

static void test_imports(const char *source, size_t broken)
{
    static told one, more;
    fake_env fe;
    directory f;
    directory_open(&f);
    fake_env_init(&fe); /* its clock stands still: events are the same bytes */
    maki_env env = maki_env_system();
    env.clock = fe.env.clock;
    env.random = fe.env.random;
    for (size_t threads = 1; threads <= 4; threads++) {
        char path[400], name[40];
        maki_err err = { 0 };
        maki_import_report report;
        told *t = threads == 1 ? &one : &more;
        maki_import_options options = { .format = "lines", .skipped = note_skipped, .ctx = t };
        t->count = 0;
        tap_row("an import with %zu threads: the same files, the same lines skipped", threads);
        snprintf(name, sizeof name, "t%zu.jsonl", threads);
        snprintf(path, sizeof path, "%s", directory_file(&f, name));
        maki_conv *conv = open_conv(&env, path,
                                    (maki_conv_options){ .create = true,
                                                         .durability = MAKI_DURABILITY_AT_END,
                                                         .threads = threads });
        CHECK_STATUS(maki_import(&env, source, conv, &options, &report, &err), MAKI_OK, &err);
        CHECK_EQ(report.skipped, broken);
        CHECK_EQ(report.messages, maki_log_last(maki_conv_log(conv)));
        CHECK_EQ(total_of(conv), slow_total(conv));
        maki_conv_close(conv);
        if (threads > 1) {
            const char *ends[] = { ".jsonl", ".events.jsonl", ".idx" };
            for (size_t i = 0; i < COUNT(ends); i++) {
                char a[40], b[40];
                snprintf(a, sizeof a, "t1%s", ends[i]);
                snprintf(b, sizeof b, "t%zu%s", threads, ends[i]);
                CHECK(same_file(&f, a, b));
            }
            CHECK(more.count == one.count &&
                  memcmp(more.lines, one.lines, one.count * sizeof one.lines[0]) == 0);
        }
    }

    tap_row("they verify, and a rebuilt index has the same bytes");
    maki_token_counter counter;
    maki_recent_calls facts = { .alloc = env.alloc };
    maki_token_counter_init(&counter, &env);
    maki_log_options options = { .encoding = MAKI_INDEX_ENCODING,
                                 .facts = maki_row_facts_of,
                                 .facts_ctx = &facts,
                                 .tokens = maki_token_counter_row,
                                 .tokens_ctx = &counter };
    maki_err err = { 0 };
    CHECK_STATUS(
        maki_log_verify(&env, directory_file(&f, "t3.jsonl"), &options, NULL, NULL, NULL, &err),
        MAKI_OK, &err);
    maki_token_counter_close(&counter);
    unlink(directory_file(&f, "t3.idx"));
    maki_conv *conv =
        open_conv(&env, directory_file(&f, "t3.jsonl"), (maki_conv_options){ .threads = 2 });
    maki_conv_close(conv);
    CHECK(same_file(&f, "t1.idx", "t3.idx"));
    directory_close(&f);
}

/* An allocator for several threads, whose n-th call fails. */
typedef struct failing {
    maki_alloc table; /* first */
    pthread_mutex_t lock;
    size_t calls, fail_at, live; /* by the lock */
    bool failed;
} failing;

static void *failing_resize(const maki_alloc *self, void *p, size_t old_size, size_t size)
{
    failing *a = (failing *)(uintptr_t)self;
    pthread_mutex_lock(&a->lock);
    bool fails = size && ++a->calls == a->fail_at;
    a->failed |= fails;
    if (!fails) a->live += size - (p ? old_size : 0);
    pthread_mutex_unlock(&a->lock);
    if (fails) return NULL;
    if (size) return realloc(p, size);
    free(p);
    return NULL;
}

static void test_import_memory(const char *source)
{
    failing a = { .table = { failing_resize }, .lock = PTHREAD_MUTEX_INITIALIZER };
    maki_env env = maki_env_system();
    env.alloc = &a.table;
    tap_row("an import with three threads, each allocation failing in turn");
    for (size_t nth = 1;; nth++) {
        directory f;
        maki_conv *conv = NULL;
        maki_import_report report;
        maki_err err = { 0 };
        maki_conv_options options = { .create = true,
                                      .durability = MAKI_DURABILITY_AT_END,
                                      .threads = 3 };
        maki_import_options how = { .format = "lines" };
        directory_open(&f);
        a.calls = 0;
        a.fail_at = nth;
        a.failed = false;
        maki_status st = maki_conv_open(&env, directory_file(&f, "x.jsonl"), &options, &conv, &err);
        if (st == MAKI_OK) st = maki_import(&env, source, conv, &how, &report, &err);
        maki_conv_close(conv);
        bool failed = a.failed;
        bool done = st == MAKI_OK; /* a tokenizer can do without memory of what it has seen */
        if (!done || !failed) CHECK_STATUS(st, failed ? MAKI_NOMEM : MAKI_OK, &err);
        CHECK_EQ(a.live, 0);
        a.fail_at = 0;
        /* what is there is whole rows, and another handle goes on with it */
        conv = NULL;
        options.create = false;
        st = maki_conv_open(&env, directory_file(&f, "x.jsonl"), &options, &conv, &err);
        CHECK(st == MAKI_OK || st == MAKI_NOTFOUND);
        if (conv) CHECK_EQ(maki_log_events(maki_conv_log(conv)), done ? 1 : 0);
        maki_conv_close(conv);
        directory_close(&f);
        if (!failed) break;
        if (nth > 60) nth += nth / 10; /* later ones are much the same */
    }
}

/* A line that is no message between a call and its result, both not yet published. */
static void test_skipped_between(void)
{
    maki_env env = maki_env_system();
    static const char source[] =
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"ls\","
        "\"input\":{}}]}\n"
        "{\"content\":\"no role\"}\n"
        "{\"content\":\"none here\"}\n"
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":"
        "\"x\"}]}\n";
    directory f;
    maki_conv *conv = NULL;
    maki_import_report report;
    maki_err err = { 0 };
    maki_index_record row;
    tap_row("a result is matched with its call across skipped lines");
    directory_open(&f);
    maki_import_options lines = { .format = "lines" };
    CHECK_STATUS(exchange_in(&env, &f, "source", maki_str_of(source), &lines, &conv, &report, &err),
                 MAKI_OK, &err);
    CHECK_EQ(report.messages, 2);
    CHECK_EQ(report.skipped, 2);
    CHECK_STATUS(maki_log_row(maki_conv_log(conv), 2, &row, &err), MAKI_OK, &err);
    CHECK_EQ(row.call_seq, 1);
    maki_conv_close(conv);
    directory_close(&f);
}

int main(void)
{
    directory f;
    size_t broken = 0, few = 0;
    char big[400], small[400];
    test_known();
    test_views();
    test_old_events();
    test_skipped_between();
    directory_open(&f);
    snprintf(big, sizeof big, "%s", directory_file(&f, "big"));
    snprintf(small, sizeof small, "%s", directory_file(&f, "small"));
    maki_str source = make_source(6 << 20, &broken);
    directory_write(big, source);
    free((void *)(uintptr_t)source.ptr);
    source = make_source(5 << 19, &few);
    directory_write(small, source);
    free((void *)(uintptr_t)source.ptr);
    test_imports(big, broken);
    test_import_memory(small);
    test_public(big);
    directory_close(&f);
    return tap_end();
}
