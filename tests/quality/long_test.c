/* long_test.c -- 2,000 turns of work in a window of 32,000 tokens.
 *
 *     long_test [POLICY]     prints the figures; policy maki by default
 *
 * A script plays a person and an agent with tools: in four languages, with parallel calls, files that are read again
 * and again, outputs of any length, errors.  Before each request the context manager runs if it is due, and the view is
 * checked: it fits, calls and results are together, and unless a step was taken it begins with the view sent before.
 * Ten rules and ten decisions of the first hundred turns are in every request.  In the end every byte is still in the log. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "directory.h"
#include "history/blocks.h"
#include "history/token_counter.h"
#include "manage/manage.h"
#include "manage/run_limits.h"
#include "summary/offline.h"
#include "tap.h"

enum {
    TURNS = 2000,
    WINDOW = 32000,
    OTHER = 1200,       /* system prompt and tools */
    RECOUNT_EVERY = 50, /* requests: then each message is counted again */
    TURNS_A_RUN = 20,   /* at least, on average */
    MIN_SAVED = 70,     /* percent of the tokens that would be sent without Maki */
    CALLS_MAX = 8,
    LAID_EVERY = 5,   /* turns: then the next rule or decision */
    LAID_PERCENT = 3, /* of the window, at most */
    FILES = 12
};

typedef struct play {
    maki_env env;
    maki_conv *conv;
    const maki_policy *policy;
    tap_random random;
    maki_buf row;               /* that is written now */
    maki_buf view, before;      /* what is sent now; what was sent last */
    maki_token_counter counter; /* to count again */
    maki_row_hasher said;       /* of all rows, with their newlines */
    uint64_t next_call;
    uint64_t requests, runs, failed_runs, recounted;
    uint64_t sent, whole;   /* tokens: with Maki; of everything each time */
    uint64_t bytes, reused; /* of the views; of them, what was sent the time before */
    uint64_t largest;       /* view, in tokens */
    uint64_t over, broken,
        moved; /* requests that would be refused; whose beginning changed without a step */
    uint64_t turns, missing; /* so far; rules and decisions that a request did not have */
} play;

/* ---- texts ---------------------------------------------------------------------------------------------------- */

static const char *const asks[] = {
    "Please look at %s and fix the failing case %u.",
    "%s のテスト %u が落ちます。原因を調べて直してください。",
    "请检查 %s，第 %u 个用例又失败了。",
    "%s 파일의 %u번 오류를 고쳐 주세요 🙏",
    "We decided to keep %s as it is; %u must stay the default.",
    "次は %s に %u 件の上限を付けてください。決定: 上限は設定で変えられること。",
    "把 %s 里的超时改成 %u 秒，不要改别的。",
};
static const char *const answers[] = {
    "Done: %s now handles %u, and the test passes.",
    "%s を直しました。%u 件のテストが通ります ✅",
    "已经修好 %s，共 %u 处改动。",
    "%s 수정했습니다. 테스트 %u개 통과.",
    "I left %s alone and noted %u as open.",
};
static const char *const words[] = { "static int ",  "return ",    "if (n == 0) ",    "設定を読む ",
                                     "错误处理 ",    "결과 확인 ", "/* cache */ ",    "for (;;) ",
                                     "0x1f ",        "\\n",        "\\\"quoted\\\" ", "🍣 ",
                                     "size_t len; ", "終わり。",   "，然后 " };

/* Rules and decisions by turns. */
static const char *const laid[] = {
    "Never push to the main branch without asking me.",
    "We decided to store the keys in Redis for one day.",
    "返事は必ず日本語で書いてください。",
    "ログの形式はJSONにすることに決めました。",
    "未经我同意，不得删除任何表。",
    "我们决定用 Vue 做后台页面。",
    "테스트 없이는 절대로 배포하지 마세요.",
    "결제 서비스는 토스로 하기로 했습니다.",
    "Under no circumstances may customer names appear in logs.",
    "The release goes out on the last Thursday of a month, that is decided.",
    "外部のライブラリを勝手に追加してはいけません。",
    "画像の保存先はS3に変更します。",
    "所有时间一律用 UTC，绝对不要用本地时间。",
    "错误码统一采用五位数字。",
    "운영 데이터베이스는 절대 건드리지 마세요.",
    "로그인 방식은 이메일 링크로 확정합니다.",
    "You must ask before you touch anything below billing.",
    "Let's go with SQLite for the desktop edition.",
    "Whatever happens, keep the public headers free of C++.",
    "Final call: the product is called Kingfisher 🐦.",
};

static size_t below(play *p, size_t limit)
{
    return tap_below(&p->random, limit);
}

static void say(play *p, const char *fmt, ...) MAKI_PRINTF(2, 3);
static void say(play *p, const char *fmt, ...)
{
    char text[1000];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    maki_buf_add(&p->row, maki_str_of(text));
}

/* `seed` makes the text: the same seed, the same text. */
static void say_text(play *p, uint64_t seed, size_t count)
{
    tap_random random = { seed * 2654435761u + 1 };
    for (size_t i = 0; i < count; i++)
        maki_buf_add(&p->row, maki_str_of(words[tap_below(&random, COUNT(words))]));
}

static void file_name(play *p, size_t n, char out[64])
{
    static const char *const names[] = { "src/parser.c", "src/設定.c", "lib/缓存.h",
                                         "tests/run.sh" };
    snprintf(out, 64, "%s.%zu", names[n % COUNT(names)], n);
    (void)p;
}

/* ---- appending and sending ------------------------------------------------------------------------------------- */

static void begin_row(play *p, const char *role)
{
    maki_buf_clear(&p->row);
    say(p, "{\"role\":\"%s\",\"content\":", role);
}

static void append(play *p)
{
    maki_change change;
    maki_err err = { 0 };
    say(p, "}");
    maki_str row = maki_buf_str(&p->row);
    CHECK_STATUS(maki_conv_append(p->conv, NULL, &row, 1, &change, &err), MAKI_OK, &err);
    maki_row_hasher_add(&p->said, row);
    maki_row_hasher_add(&p->said, MAKI_LIT("\n"));
}

/* Checks a view as a provider does. */
typedef struct view_check {
    play *p;
    uint64_t calls[CALLS_MAX]; /* hashes of the ids in the message before */
    size_t call_count;
    uint64_t broken, tokens;
    bool counts;
} view_check;

static uint64_t hash_of(maki_str object, const char *name)
{
    maki_str value;
    return maki_json_get(object, maki_str_of(name), &value) ? maki_row_hash(value) : 0;
}

/* Is every call of the message before answered here, once, and no other? */
static bool answered(const view_check *l, const uint64_t *results, size_t count)
{
    if (count != l->call_count) return false;
    for (size_t i = 0; i < count; i++) {
        size_t found = 0;
        for (size_t k = 0; k < count; k++)
            found += l->calls[i] == results[k];
        if (found != 1) return false;
    }
    return true;
}

static maki_status check_message(void *ctx, const maki_view_message *seen, maki_err *err)
{
    view_check *l = ctx;
    maki_str content, block;
    uint64_t calls[CALLS_MAX], results[CALLS_MAX], tokens = 0;
    size_t call_count = 0, result_count = 0;
    if (maki_json_get(seen->json, MAKI_LIT("content"), &content)) {
        maki_blocks blocks = maki_content_blocks(content);
        while (maki_blocks_next(&blocks, &block)) {
            if (maki_json_field_in(block, "type", "tool_use") && call_count < CALLS_MAX)
                calls[call_count++] = hash_of(block, "id");
            if (maki_json_field_in(block, "type", "tool_result") && result_count < CALLS_MAX)
                results[result_count++] = hash_of(block, "tool_use_id");
        }
    }
    if (!answered(l, results, result_count)) l->broken++;
    memcpy(l->calls, calls, call_count * sizeof calls[0]);
    l->call_count = call_count;
    maki_buf_add(&l->p->view, seen->json);
    maki_buf_add_byte(&l->p->view, '\n');
    if (!l->counts) return MAKI_OK;
    maki_status st = maki_token_counter_message(&l->p->counter, 0, seen->json, &tokens, err);
    l->tokens += tokens;
    return st;
}

/* The view must begin with the one sent before, unless a step was taken. */
static void compare(play *p, bool stepped)
{
    size_t n = 0, most = p->before.len < p->view.len ? p->before.len : p->view.len;
    while (n < most && p->before.ptr[n] == p->view.ptr[n])
        n++;
    p->bytes += p->view.len;
    p->reused += n;
    if (!stepped && n < p->before.len) p->moved++;
    maki_buf swap = p->before;
    p->before = p->view;
    p->view = swap;
}

static void check_view(play *p, const maki_manage_report *report)
{
    const maki_view *view;
    maki_err err = { 0 };
    view_check l = { .p = p, .counts = p->requests % RECOUNT_EVERY == 0 };
    maki_buf_clear(&p->view);
    CHECK_STATUS(maki_conv_view(p->conv, MAKI_NEWEST, MAKI_NEWEST, &view, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_conv_each(p->conv, view, check_message, &l, &err), MAKI_OK, &err);
    if (l.counts) {
        p->recounted++;
        CHECK_EQ(l.tokens + OTHER, report->tokens_after);
    }
    p->broken += l.broken || l.call_count;
    for (size_t i = 0; i < COUNT(laid) && i * LAID_EVERY < p->turns; i++) {
        bool missing = !maki_str_contains(maki_buf_str(&p->view), maki_str_of(laid[i]));
        if (missing && !p->missing++) printf("# turn %d lacks %s\n", (int)p->turns, laid[i]);
    }
}

/* A request: a run of the manager if it is due, then the view is sent. */
static void request(play *p)
{
    maki_summarizer offline = maki_summarizer_offline_with(NULL);
    maki_manage_report report;
    maki_err err = { 0 };
    maki_manage_options in = { .window = WINDOW,
                               .other_tokens = OTHER,
                               .threshold = 75,
                               .policy = p->policy,
                               .summarizer = &offline };
    CHECK_STATUS(maki_manage_conversation(p->conv, &in, &report, &err), MAKI_OK, &err);
    p->requests++;
    p->runs += report.run != 0;
    p->failed_runs += report.failed;
    p->over += !report.fits || report.tokens_after > WINDOW;
    check_view(p, &report);
    compare(p, report.run != 0);
    uint64_t tokens = (uint64_t)report.tokens_after;
    if (tokens > p->largest) p->largest = tokens;
    p->sent += tokens;
    p->whole += maki_log_tokens(maki_conv_log(p->conv)) + OTHER;
}

/* ---- a turn ------------------------------------------------------------------------------------------------- */

static void say_result(play *p, uint64_t id, size_t file)
{
    char name[64];
    file_name(p, file, name);
    say(p, "{\"type\":\"tool_result\",\"tool_use_id\":\"call_%" PRIu64 "\"", id);
    size_t kind = below(p, 20);
    if (kind == 0) {
        say(p, ",\"is_error\":true,\"content\":\"error: %s:%zu: expected ';' 構文エラー\"}", name,
            below(p, 400));
        return;
    }
    say(p, ",\"content\":\"%s\\n", name);
    if (kind == 1)
        say_text(p, p->next_call, 300 + below(p, 900)); /* a long output, once */
    else if (kind < 8)
        say_text(p, file + 1, 40 + 4 * file); /* a file, the same each time */
    else
        say_text(p, p->next_call, 3 + below(p, 25));
    say(p, "\"}");
}

/* One or two calls at a time, now and then three, and their results. */
static void use_tools(play *p)
{
    size_t count = 1 + below(p, 5) / 2, file = below(p, FILES);
    uint64_t first = p->next_call;
    char name[64];
    begin_row(p, "assistant");
    say(p, "[{\"type\":\"text\",\"text\":\"見てみます。\"}");
    for (size_t i = 0; i < count; i++) {
        file_name(p, (file + i) % FILES, name);
        say(p,
            ",{\"type\":\"tool_use\",\"id\":\"call_%" PRIu64
            "\",\"name\":\"%s\",\"input\":{\"path\":\"%s\"}}",
            p->next_call++, i % 2 ? "run" : "read_file", name);
    }
    say(p, "]");
    append(p);
    begin_row(p, "user");
    for (size_t i = 0; i < count; i++) {
        say(p, "%s", i ? "," : "[");
        say_result(p, first + i, (file + i) % FILES);
    }
    say(p, "]");
    append(p);
    request(p);
}

static void turn(play *p)
{
    char name[64];
    file_name(p, below(p, FILES), name);
    begin_row(p, "user");
    say(p, "\"");
    if (p->turns % LAID_EVERY == 0 && p->turns / LAID_EVERY < COUNT(laid))
        say(p, "%s\\n", laid[p->turns / LAID_EVERY]);
    p->turns++;
    say(p, asks[below(p, COUNT(asks))], name, (unsigned)below(p, 1000));
    say(p, "\"");
    append(p);
    request(p);
    for (size_t rounds = below(p, 5) / 2; rounds > 0; rounds--)
        use_tools(p);
    begin_row(p, "assistant");
    say(p, "\"");
    say(p, answers[below(p, COUNT(answers))], name, (unsigned)below(p, 1000));
    say_text(p, p->next_call + 77, below(p, 30));
    say(p, "\"");
    append(p);
}

/* ---- the end -------------------------------------------------------------------------------------------------- */

static maki_status hash_bytes(void *ctx, maki_str bytes, maki_err *err)
{
    (void)err;
    maki_row_hasher_add(ctx, bytes);
    return MAKI_OK;
}

static void check_everything(play *p)
{
    const maki_view *view;
    maki_row_hasher kept;
    maki_err err = { 0 };
    maki_row_hasher_begin(&kept);
    CHECK_STATUS(maki_conv_all_messages(p->conv, &view, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_conv_write(p->conv, view, false, (maki_sink){ hash_bytes, &kept }, &err),
                 MAKI_OK, &err);
    CHECK(maki_row_hasher_end(&kept) == maki_row_hasher_end(&p->said));
}

static uint64_t count_text(play *p, const char *text)
{
    char json[400];
    uint64_t tokens = 0;
    maki_err err = { 0 };
    int n = snprintf(json, sizeof json, "{\"role\":\"user\",\"content\":\"%s\"}", text);
    CHECK_STATUS(
        maki_token_counter_message(&p->counter, 0, (maki_str){ json, (size_t)n }, &tokens, &err),
        MAKI_OK, &err);
    return tokens;
}

static void check_figures(play *p)
{
    uint64_t allowed = (uint64_t)maki_run_limits_allowed(WINDOW, 0);
    double saved = 100 - 100 * (double)p->sent / (double)p->whole;
    double a_run = (double)TURNS / (double)(p->runs ? p->runs : 1);
    printf("# policy %s: %d turns, %" PRIu64 " requests, %" PRIu64 " messages, %" PRIu64
           " tokens\n",
           p->policy->name, TURNS, p->requests, maki_log_last(maki_conv_log(p->conv)),
           maki_log_tokens(maki_conv_log(p->conv)));
    printf("# sent %" PRIu64 " of %" PRIu64 " tokens: %.1f %% fewer\n", p->sent, p->whole, saved);
    printf("# %" PRIu64 " runs (%" PRIu64
           " failed), one in %.1f turns; the largest view had %" PRIu64 " tokens of %d (%" PRIu64
           " allowed)\n",
           p->runs, p->failed_runs, a_run, p->largest, WINDOW, allowed);
    printf("# %.1f %% of the bytes of a request were the beginning of the one before; %" PRIu64
           " views counted again\n",
           100 * (double)p->reused / (double)p->bytes, p->recounted);

    tap_row("no view is over the window");
    CHECK(p->over == 0 && p->largest <= allowed);
    tap_row("no call is separated from its result");
    CHECK_EQ(p->broken, 0);
    tap_row("at least %d %% fewer tokens are sent", MIN_SAVED);
    CHECK(saved >= MIN_SAVED);
    tap_row("between steps a request begins with the one before");
    CHECK_EQ(p->moved, 0);
    tap_row("there are at least %d turns for a step", TURNS_A_RUN);
    CHECK(p->runs > 0 && a_run >= TURNS_A_RUN);
    uint64_t tokens = 0;
    for (size_t i = 0; i < COUNT(laid); i++)
        tokens += count_text(p, laid[i]);
    printf("# %zu rules and decisions, %" PRIu64 " tokens, in every request\n", COUNT(laid),
           tokens);
    tap_row("rules and decisions of the first hundred turns are in every request");
    CHECK_EQ(p->missing, 0);
    CHECK(tokens * 100 <= (uint64_t)WINDOW * LAID_PERCENT);
    tap_row("every word is still in the log");
    check_everything(p);
}

int main(int argc, char **argv)
{
    static play p;
    directory f;
    maki_err err = { 0 };
    maki_conv_options options = { .create = true,
                                  .durability = MAKI_DURABILITY_AT_END,
                                  .threads = 1 };
    directory_open(&f);
    p.env = maki_env_system();
    p.policy = maki_policy_find(maki_str_of(argc > 1 ? argv[1] : "maki"));
    p.random.state = 2000;
    p.row = maki_buf_new(p.env.alloc, 1 << 20);
    p.view = maki_buf_new(p.env.alloc, 16 << 20);
    p.before = maki_buf_new(p.env.alloc, 16 << 20);
    maki_token_counter_init(&p.counter, &p.env);
    maki_row_hasher_begin(&p.said);
    tap_row("%d turns", TURNS);
    if (CHECK(p.policy != NULL) &&
        CHECK_STATUS(
            maki_conv_open(&p.env, directory_file(&f, "長い.jsonl"), &options, &p.conv, &err),
            MAKI_OK, &err)) {
        for (int i = 0; i < TURNS; i++)
            turn(&p);
        check_figures(&p);
    }
    maki_conv_close(p.conv);
    maki_token_counter_close(&p.counter);
    maki_buf_free(&p.row);
    maki_buf_free(&p.view);
    maki_buf_free(&p.before);
    directory_close(&f);
    return tap_end();
}
