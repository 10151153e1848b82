/* token_counter.c -- count the tokens of messages in o200k_base, with one tokenizer for each worker thread.
 *
 * In:    a row, or a message that is not in a log.  Out: its tokens.
 * Must stay true: a row has the same tokens whoever counts it, with or without spans. */
#include "history/token_counter.h"

#include "base/ascii.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "history/facts.h"
#include "token/content.h"

void maki_token_counter_init(maki_token_counter *counter, const maki_env *env)
{
    *counter = (maki_token_counter){ .env = *env };
}

void maki_token_counter_close(maki_token_counter *counter)
{
    for (size_t i = 0; i < MAKI_THREADS_MAX; i++) {
        maki_tokenizer_close(counter->tokenizers[i]);
        counter->tokenizers[i] = NULL;
    }
}

maki_status maki_counted_fields_count(maki_tokenizer *t, const maki_counted_fields *parts,
                                      uint64_t *tokens, maki_err *err)
{
    maki_content_rules rules = { .tokenizer = t };
    maki_part_counts images = { 0 };
    maki_status st = maki_count_message(t, parts->role, parts->content, parts->calls, tokens, err);
    if (st != MAKI_OK || !parts->images.len) return st;
    maki_count_images(&rules, parts->images, &images);
    *tokens += images.images;
    return MAKI_OK;
}

static maki_status count(maki_token_counter *counter, size_t worker,
                         const maki_counted_fields *parts, uint64_t *tokens, maki_err *err)
{
    maki_tokenizer **t =
        worker == 0 && counter->borrowed ? &counter->borrowed : &counter->tokenizers[worker];
    maki_status st = MAKI_OK;
    if (!*t)
        st =
            maki_tokenizer_open(&counter->env, maki_encoding_find(MAKI_LOG_ENCODING), NULL, t, err);
    if (st != MAKI_OK) return st;
    return maki_counted_fields_count(*t, parts, tokens, err);
}

maki_status maki_token_counter_message(maki_token_counter *counter, size_t worker, maki_str message,
                                       uint64_t *tokens, maki_err *err)
{
    while (message.len && maki_is_space(message.ptr[0]))
        message = maki_str_skip(message, 1);
    while (message.len && maki_is_space(message.ptr[message.len - 1]))
        message.len--;
    maki_counted_fields parts = maki_counted_fields_of(message);
    return count(counter, worker, &parts, tokens, err);
}

maki_status maki_token_counter_row(void *ctx, size_t worker, maki_str row,
                                   const maki_row_spans *spans, uint32_t *tokens, maki_err *err)
{
    uint64_t n = 0;
    maki_counted_fields parts;
    maki_status st = maki_counted_fields_from_spans(row, spans, &parts)
                         ? count(ctx, worker, &parts, &n, err)
                         : maki_token_counter_message(ctx, worker, row, &n, err);
    *tokens = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    return st;
}

maki_status maki_token_counter_unchecked(void *ctx, size_t worker, maki_str row,
                                         const maki_row_spans *spans, uint32_t *tokens,
                                         maki_err *err)
{
    maki_str object;
    maki_status st = maki_json_check(row, &object, NULL);
    (void)spans; /* of a file: not trusted */
    if (st != MAKI_OK || maki_json_kind_of(object) != MAKI_JSON_OBJECT) {
        *tokens = 0;
        return MAKI_OK;
    }
    return maki_token_counter_row(ctx, worker, object, NULL, tokens, err);
}
