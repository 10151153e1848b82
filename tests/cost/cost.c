/* cost.c -- the benchmarks of `make cost`: named operations whose instructions are counted.
 *
 *     cost --list     the names
 *     cost NAME       prepare the input of one, then do the work once
 *
 * scripts/cost counts what happens inside maki_cost_run with callgrind, so preparing is free.  Inputs
 * are generated here, always the same; the clock is fixed and random bytes are zeros.  To add an
 * operation of the table, write a function that writes its input and add a row to `works`. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <maki/maki.h>

#include "base/buf.h"
#include "base/json_access.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/str_util.h"
#include "base/text.h"

enum { MEGABYTE = 1 << 20, MESSAGES = 1000, STRINGS = 10000, INPUT_MAX = 64 << 20 };

typedef struct cost_state {
    maki_env env;
    maki *handle;
    const char *op;
    maki_buf input;
    uint64_t seen; /* what came out of it, so that nothing is left out */
    maki_err err;
} cost_state;

typedef struct cost_work {
    const char *name;
    void (*prepare)(cost_state *state);
    maki_status (*work)(cost_state *state);
} cost_work;

/* The symbol that scripts/cost looks for. */
maki_status maki_cost_run(const cost_work *work, cost_state *state);

__attribute__((noinline)) maki_status maki_cost_run(const cost_work *work, cost_state *state)
{
    return work->work(state);
}

/* ---- writing inputs ------------------------------------------------------------------------ */

static const char code_text[] =
    "static int read_row(struct reader *r, const char *path)\n"
    "{\n"
    "    if (!path) return fprintf(stderr, \"usage: %s FILE\\n\", \"reader\");\n"
    "    return r->count;\n"
    "}\n";
static const char prose_text[] =
    "The build is green again; the only change was the order of the two "
    "includes. テストが失敗する原因は、書き込みと索引の競合でした。 ";

static void field(maki_jw *w, const char *key, const char *value)
{
    maki_jw_key(w, maki_str_of(key));
    maki_jw_string(w, maki_str_of(value));
}

static void field_int(maki_jw *w, const char *key, int64_t value)
{
    maki_jw_key(w, maki_str_of(key));
    maki_jw_int(w, value);
}

static void field_bool(maki_jw *w, const char *key, bool value)
{
    maki_jw_key(w, maki_str_of(key));
    maki_jw_bool(w, value);
}

static void field_raw(maki_jw *w, const char *key, const char *json)
{
    maki_jw_key(w, maki_str_of(key));
    maki_jw_raw(w, maki_str_of(json));
}

/* `text`, `times` times. */
static void field_repeated(maki_jw *w, const char *key, const char *text, size_t times)
{
    maki_jw_key(w, maki_str_of(key));
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\""));
    for (size_t i = 0; i < times; i++) {
        maki_jw_escape(w, maki_str_of(text));
    }
    maki_jw_bytes(w, MAKI_LIT("\""));
}

static void field_id(maki_jw *w, const char *key, const char *prefix, size_t number)
{
    char id[40];
    snprintf(id, sizeof id, "%s%zu", prefix, number);
    field(w, key, id);
}

/* One block of an Anthropic message: text, a call or the result of the call before. */
static void block(maki_jw *w, size_t number)
{
    maki_jw_begin_object(w);
    if (number % 4 == 1) {
        field(w, "type", "tool_use");
        field_id(w, "id", "toolu_", number);
        field(w, "name", "write_file");
        field_raw(w, "input", "{\"path\":\"src/reader.c\",\"mode\":420}");
    } else if (number % 4 == 2) {
        field(w, "type", "tool_result");
        field_id(w, "tool_use_id", "toolu_", number - 1);
        field_repeated(w, "content", code_text, 3);
    } else {
        field(w, "type", "text");
        field_repeated(w, "text", prose_text, 3);
    }
    maki_jw_end_object(w);
}

/* Message `number` of a conversation with tools; `tagged` as after a condense and a truncation. */
static void message(maki_jw *w, size_t number, bool tagged)
{
    maki_jw_begin_object(w);
    field(w, "role", number % 2 ? "assistant" : "user");
    maki_jw_key(w, MAKI_LIT("content"));
    if (number % 4 == 0) {
        maki_jw_string(w, maki_str_of(prose_text));
    } else {
        maki_jw_begin_array(w);
        block(w, number);
        maki_jw_end_array(w);
    }
    field_int(w, "ts", 1000 + 100 * (int64_t)number);
    if (tagged && number > 0 && number < 400) field(w, "condenseParent", "c1");
    if (tagged && number >= 402 && number < 600) field(w, "truncationParent", "t1");
    if (tagged && number == 401) {
        field_bool(w, "isSummary", true);
        field(w, "condenseId", "c1");
    }
    if (tagged && number == 600) {
        field_bool(w, "isTruncationMarker", true);
        field(w, "truncationId", "t1");
    }
    maki_jw_end_object(w);
}

static void messages(maki_jw *w, const char *key, bool tagged)
{
    maki_jw_key(w, maki_str_of(key));
    maki_jw_begin_array(w);
    for (size_t i = 0; i < MESSAGES; i++) {
        message(w, i, tagged);
    }
    maki_jw_end_array(w);
}

static void ended(maki_jw *w)
{
    if (maki_jw_end(w) == MAKI_OK) return;
    fprintf(stderr, "cost: the input does not fit\n");
    exit(1);
}

/* ---- base ---------------------------------------------------------------------------------- */

static void prepare_log(cost_state *s)
{
    for (size_t i = 0; s->input.len < MEGABYTE; i++) {
        maki_jw w;
        maki_jw_init(&w, maki_buf_sink(&s->input), &s->err);
        message(&w, i % MESSAGES, true);
        maki_jw_bytes(&w, MAKI_LIT("\n"));
        ended(&w);
    }
}

static maki_status count_span(void *ctx, const maki_json_span *span, maki_err *err)
{
    cost_state *s = ctx;
    (void)err;
    s->seen += span->end - span->start;
    return MAKI_OK;
}

static maki_status work_scan(cost_state *s)
{
    maki_json_scan_options options = {
        .json_lines = true, .report_depth = 1, .on_span = count_span, .ctx = s
    };
    return maki_json_scan_text(maki_buf_str(&s->input), &options, &s->err);
}

static void prepare_japanese(cost_state *s)
{
    while (s->input.len < MEGABYTE) {
        maki_buf_add(&s->input, MAKI_LIT("会話の先頭と直近の三件は必ず残し、その間を要約します。"));
    }
}

static maki_status work_utf8(cost_state *s)
{
    return maki_utf8_valid(maki_buf_str(&s->input), NULL) ? MAKI_OK : MAKI_INVALID;
}

static void prepare_array(cost_state *s)
{
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(&s->input), &s->err);
    maki_jw_begin_array(&w);
    for (size_t i = 0; i < MESSAGES; i++) {
        message(&w, i, true);
    }
    maki_jw_end_array(&w);
    ended(&w);
}

static maki_status work_fields(cost_state *s)
{
    maki_json_iter iter = maki_json_items(maki_buf_str(&s->input));
    maki_json_item item;
    maki_str value;
    while (maki_json_next(&iter, &item)) {
        if (maki_json_get(item.value, MAKI_LIT("role"), &value)) s->seen += value.len;
        if (maki_json_get(item.value, MAKI_LIT("content"), &value)) s->seen += value.len;
        if (maki_json_get(item.value, MAKI_LIT("ts"), &value)) s->seen += value.len;
        if (maki_json_get(item.value, MAKI_LIT("condenseParent"), &value)) s->seen += value.len;
    }
    return MAKI_OK;
}

/* Every string measured and cut in the middle, as pruning does. */
static maki_status work_units(cost_state *s)
{
    maki_json_iter iter = maki_json_items(maki_buf_str(&s->input));
    maki_json_item item, inner;
    while (maki_json_next(&iter, &item)) {
        maki_json_iter fields = maki_json_items(item.value);
        while (maki_json_next(&fields, &inner)) {
            if (maki_json_kind_of(inner.value) != MAKI_JSON_STRING) continue;
            maki_str escaped = maki_json_strip_quotes(inner.value);
            uint64_t units = maki_json_utf16_len(escaped);
            s->seen += maki_json_head(escaped, units / 3).len;
            s->seen += maki_json_tail(escaped, units / 3).len;
        }
    }
    return MAKI_OK;
}

static maki_status swallow(void *ctx, maki_str bytes, maki_err *err)
{
    cost_state *s = ctx;
    (void)err;
    s->seen += bytes.len;
    return MAKI_OK;
}

static void prepare_nothing(cost_state *s)
{
    (void)s;
}

static maki_status work_write(cost_state *s)
{
    maki_jw w;
    maki_jw_init(&w, (maki_sink){ swallow, s }, &s->err);
    maki_jw_begin_array(&w);
    for (size_t i = 0; i < STRINGS; i++) {
        maki_jw_string(&w, maki_str_of(i % 2 ? code_text : prose_text));
    }
    maki_jw_end_array(&w);
    return maki_jw_end(&w);
}

/* ---- operations ---------------------------------------------------------------------------- */

static int64_t still(const maki_clock *self)
{
    (void)self;
    return 1700000000000;
}

static maki_status zeros(const maki_random *self, void *out, size_t n, maki_err *err)
{
    (void)self;
    (void)err;
    memset(out, 0, n);
    return MAKI_OK;
}

static maki_status work_op(cost_state *s)
{
    return maki_op(s->handle, maki_str_of(s->op), maki_buf_str(&s->input),
                   (maki_sink){ swallow, s }, &s->err);
}

static void input_messages(maki_jw *w)
{
    messages(w, "messages", true);
}

static void input_truncate(maki_jw *w)
{
    messages(w, "messages", false);
    field_raw(w, "fraction", "0.5");
}

static void summarizer(maki_jw *w)
{
    field_raw(w, "summarizer",
              "{\"chunks\":[\"This is \",\"a summary\"],\"cost\":0.05,\"outputTokens\":150}");
    field_raw(w, "counter", "{\"kind\":\"chars4\"}");
    field(w, "systemPrompt", "You are a helpful assistant.");
}

static void input_condense(maki_jw *w)
{
    messages(w, "messages", false);
    field_int(w, "prevContextTokens", 150000);
    field_bool(w, "useNativeTools", true);
    summarizer(w);
}

static void input_rewind(maki_jw *w)
{
    messages(w, "api", true);
    maki_jw_key(w, MAKI_LIT("ui"));
    maki_jw_begin_array(w);
    for (size_t i = 0; i < MESSAGES; i++) {
        maki_jw_begin_object(w);
        field_int(w, "ts", 1000 + 100 * (int64_t)i);
        field(w, "say", i % 2 ? "text" : "user_feedback");
        field_repeated(w, "text", prose_text, 1);
        maki_jw_end_object(w);
    }
    maki_jw_end_array(w);
    field(w, "by", "ts");
    field_int(w, "value", 1000 + 100 * (MESSAGES * 4 / 5));
}

static void input_manage(maki_jw *w)
{
    messages(w, "messages", false);
    field_int(w, "totalTokens", 90000);
    field_int(w, "contextWindow", 100000);
    field_int(w, "maxTokens", 8192);
    field_bool(w, "autoCondenseContext", true);
    field_int(w, "autoCondenseContextPercent", 75);
    field_raw(w, "profileThresholds", "{}");
    field(w, "currentProfileId", "default");
    summarizer(w);
}

/* OpenAI shape: an answer of the tool after each call. */
static void openai_message(maki_jw *w, size_t number)
{
    maki_jw_begin_object(w);
    if (number % 4 == 1) {
        field(w, "role", "assistant");
        field_raw(w, "content", "null");
        maki_jw_key(w, MAKI_LIT("tool_calls"));
        maki_jw_begin_array(w);
        maki_jw_begin_object(w);
        field_id(w, "id", "call_", number);
        field(w, "type", "function");
        field_raw(w, "function", "{\"name\":\"exec\",\"arguments\":\"{\\\"cmd\\\":\\\"ls\\\"}\"}");
        maki_jw_end_object(w);
        maki_jw_end_array(w);
    } else if (number % 4 == 2) {
        field(w, "role", "tool");
        field_id(w, "tool_call_id", "call_", number - 1);
        field(w, "tool_name", "exec");
        field_repeated(w, "content", code_text, 30);
    } else {
        field(w, "role", number % 4 == 0 ? "user" : "assistant");
        field_repeated(w, "content", prose_text, 2);
    }
    maki_jw_end_object(w);
}

static void input_prune(maki_jw *w)
{
    maki_jw_key(w, MAKI_LIT("messages"));
    maki_jw_begin_array(w);
    for (size_t i = 0; i < MESSAGES; i++) {
        openai_message(w, i);
    }
    maki_jw_end_array(w);
    field_int(w, "contextWindowTokens", 200000);
    field_raw(w, "settings",
              "{\"keepLastAssistants\":3,\"softTrimRatio\":0.3,\"hardClearRatio\":0.9,"
              "\"minPrunableToolChars\":1000,\"tools\":{},"
              "\"softTrim\":{\"maxChars\":4000,\"headChars\":1500,\"tailChars\":1500},"
              "\"hardClear\":{\"enabled\":true,\"placeholder\":\"[cleared]\"}}");
}

static void input_project(maki_jw *w)
{
    static const char *const kinds[] = { "readFile", "writeFile", "execute", "deleteFile",
                                         "search" };
    maki_jw_key(w, MAKI_LIT("tools"));
    maki_jw_begin_array(w);
    for (size_t i = 0; i < MESSAGES; i++) {
        maki_jw_begin_object(w);
        field_id(w, "name", "tool_", i);
        field(w, "category", kinds[i % 5]);
        field_int(w, "priority", (int64_t)(i * 7919 % 101));
        field_raw(w, "parameters",
                  "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"}}}");
        maki_jw_end_object(w);
    }
    maki_jw_end_array(w);
    field_raw(w, "runtime",
              "{\"phase\":\"executing\",\"permissions\":[\"admin\"],\"environment\":\"dev\"}");
    field_raw(w, "productionEnums", "{}");
}

static const struct op_input {
    const char *op;
    void (*write)(maki_jw *w); /* the fields of its input */
} op_inputs[] = {
    { "history.effective", input_messages }, { "history.condense", input_condense },
    { "history.truncate", input_truncate },  { "history.rewind", input_rewind },
    { "manage.run", input_manage },          { "prune.tools", input_prune },
    { "tools.project", input_project },
};
enum { OP_INPUTS = sizeof op_inputs / sizeof op_inputs[0] };

static void prepare_op(cost_state *s, const struct op_input *input)
{
    static const maki_clock clock = { still };
    static const maki_random random = { zeros };
    maki_options options = { sizeof options, s->env, MAKI_MAX_MEMORY, NULL };
    maki_jw w;
    options.env.clock = &clock;
    options.env.random = &random;
    s->op = input->op;
    maki_jw_init(&w, maki_buf_sink(&s->input), &s->err);
    maki_jw_begin_object(&w);
    input->write(&w);
    maki_jw_end_object(&w);
    ended(&w);
    if (maki_open(&options, &s->handle, &s->err) != MAKI_OK) exit(1);
}

/* ---- the table ----------------------------------------------------------------------------- */

static const cost_work works[] = {
    { "scan_log_1mb", prepare_log, work_scan },
    { "utf8_japanese_1mb", prepare_japanese, work_utf8 },
    { "fields_1000_messages", prepare_array, work_fields },
    { "units_1000_messages", prepare_array, work_units },
    { "write_10000_strings", prepare_nothing, work_write },
};
enum { WORKS = sizeof works / sizeof works[0] };

static int list(void)
{
    for (size_t i = 0; i < WORKS; i++) {
        puts(works[i].name);
    }
    for (size_t i = 0; i < OP_INPUTS; i++) {
        puts(op_inputs[i].op);
    }
    return 0;
}

/* Prepares the input of `name` and says what to do with it. */
static bool prepare(const char *name, cost_state *s, cost_work *work)
{
    for (size_t i = 0; i < WORKS; i++) {
        if (strcmp(works[i].name, name) != 0) continue;
        *work = works[i];
        work->prepare(s);
        return true;
    }
    for (size_t i = 0; i < OP_INPUTS; i++) {
        if (strcmp(op_inputs[i].op, name) != 0) continue;
        prepare_op(s, &op_inputs[i]);
        *work = (cost_work){ .name = name, .work = work_op };
        return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    cost_state s = { .env = maki_env_system() };
    cost_work work;
    if (argc == 2 && strcmp(argv[1], "--list") == 0) return list();
    s.input = maki_buf_new(s.env.alloc, INPUT_MAX);
    if (argc != 2 || !prepare(argv[1], &s, &work)) {
        fprintf(stderr, "usage: cost --list | NAME\n");
        return 2;
    }
    maki_status st = maki_cost_run(&work, &s);
    if (st == MAKI_OK) {
        printf("%s: %zu bytes in, %" PRIu64 " out\n", work.name, s.input.len, s.seen);
    } else {
        fprintf(stderr, "cost: %s: %s %s\n", work.name, maki_status_name(st), s.err.msg);
    }
    maki_close(s.handle);
    maki_buf_free(&s.input);
    return st == MAKI_OK ? 0 : 1;
}
