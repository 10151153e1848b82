/* fuzz_summary.c -- any conversation has a summary: valid UTF-8, within its budget, the same each time,
 * and one that can be read back as an earlier summary.  As text for a model it is UTF-8 without control
 * characters.
 *
 * The input is lines of JSON; a line that is none becomes the text of a message. */
#include "fuzz.h"

#include <string.h>

#include "base/buf.h"
#include "base/json_access.h"
#include "base/json_write.h"
#include "base/str_util.h"
#include "base/text.h"
#include "summary/message_text.h"
#include "summary/offline.h"

enum { MOST = 1 << 26, BUDGET = 600 };

/* Lines as rows, each a JSON value on a line of its own. */
static maki_buf rows_of(const maki_env *env, maki_str input)
{
    maki_buf rows = maki_buf_new(env->alloc, MOST);
    maki_err err;
    while (input.len) {
        const char *end = memchr(input.ptr, '\n', input.len);
        maki_str line = maki_str_prefix(input, end ? (size_t)(end - input.ptr) : input.len), value;
        input = maki_str_skip(input, end ? line.len + 1 : line.len);
        if (maki_json_check(line, &value, NULL) == MAKI_OK) {
            maki_buf_add(&rows, value);
        } else if (maki_utf8_valid(line, NULL)) {
            maki_jw w;
            maki_jw_init(&w, maki_buf_sink(&rows), &err);
            maki_jw_begin_object(&w);
            maki_jw_key(&w, MAKI_LIT("role"));
            maki_jw_string(&w, line.len % 2 ? MAKI_LIT("user") : MAKI_LIT("assistant"));
            maki_jw_key(&w, MAKI_LIT("isSummary"));
            maki_jw_bool(&w, line.len % 5 == 0);
            maki_jw_key(&w, MAKI_LIT("content"));
            maki_jw_string(&w, line);
            maki_jw_end_object(&w);
            MUST(maki_jw_end(&w) == MAKI_OK);
        } else {
            continue;
        }
        maki_buf_add_byte(&rows, '\n');
    }
    return rows;
}

static maki_status each(const void *source, maki_message_fn fn, void *ctx, maki_err *err)
{
    maki_str rest = *(const maki_str *)source;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && rest.len) {
        size_t n = (size_t)((const char *)memchr(rest.ptr, '\n', rest.len) - rest.ptr);
        st = fn(ctx, maki_str_prefix(rest, n), err);
        rest = maki_str_skip(rest, n + 1);
    }
    return st;
}

static maki_str summarise(maki_str rows, maki_tokenizer *tokenizer, maki_arena *arena)
{
    maki_offline_options how = MAKI_OFFLINE_INIT;
    maki_summary_request request = { .each = each, .source = &rows };
    maki_summary summary = { .text = { "", 0 } };
    maki_err err;
    how.budget = BUDGET;
    how.tokenizer = tokenizer;
    maki_summarizer offline = maki_summarizer_offline_with(&how);
    MUST(offline.run(&offline, &request, arena, &summary, &err) == MAKI_OK);
    return summary.text;
}

static maki_buf as_earlier(const maki_env *env, maki_str text)
{
    maki_buf row = maki_buf_new(env->alloc, MOST);
    maki_err err;
    maki_jw w;
    maki_buf_add(&row, MAKI_LIT("{\"role\":\"assistant\",\"isSummary\":true,\"content\":"));
    maki_jw_init(&w, maki_buf_sink(&row), &err);
    maki_jw_string(&w, text);
    MUST(maki_jw_end(&w) == MAKI_OK);
    maki_buf_add(&row, MAKI_LIT("}\n"));
    return row;
}

static maki_status render(void *ctx, maki_str json, maki_err *err)
{
    maki_script_counts letters = { 0 };
    return maki_message_text(json, &letters, maki_buf_sink(ctx), err);
}

static void check_rendered(const maki_env *env, maki_str rows)
{
    maki_buf text = maki_buf_new(env->alloc, MOST);
    maki_err err;
    MUST(each(&rows, render, &text, &err) == MAKI_OK);
    MUST(maki_utf8_valid(maki_buf_str(&text), NULL));
    for (size_t i = 0; i < text.len; i++)
        MUST((unsigned char)text.ptr[i] >= 0x20 || text.ptr[i] == '\n' || text.ptr[i] == '\t');
    maki_buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    maki_env env = maki_env_system();
    maki_arena arena = maki_arena_new(env.alloc, MOST);
    maki_tokenizer *tokenizer = NULL;
    maki_err err;
    MUST(maki_tokenizer_open(&env, maki_encoding_at(0), NULL, &tokenizer, &err) == MAKI_OK);
    maki_buf rows = rows_of(&env, (maki_str){ (const char *)data, size });
    maki_str all = maki_buf_str(&rows);
    maki_str text = summarise(all, tokenizer, &arena);
    MUST(maki_utf8_valid(text, NULL));
    MUST(maki_tokenizer_count(tokenizer, text) <= BUDGET);
    MUST(maki_str_equal(text, summarise(all, tokenizer, &arena)));
    check_rendered(&env, all);
    maki_buf earlier = as_earlier(&env, text);
    MUST(maki_utf8_valid(summarise(maki_buf_str(&earlier), tokenizer, &arena), NULL));
    maki_buf_free(&earlier);
    maki_buf_free(&rows);
    maki_tokenizer_close(tokenizer);
    maki_arena_free(&arena);
    return 0;
}
