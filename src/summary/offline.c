/* offline.c -- see offline.h.
 *
 * One pass over the messages into a digest, whose size does not depend on them, and a text made of it. */
#include "summary/offline.h"

#include "base/str_util.h"
#include "history/facts.h"
#include "history/token_counter.h"
#include "summary/measure.h"
#include "summary/summary_writer.h"
#include "token/content.h"

enum { WORKING_MAX = 16 << 20, TEXT_MAX = 1 << 20, BUDGET_MAX = 8000, SHORT = 1000 };

uint64_t maki_offline_budget(uint64_t tokens, double ratio)
{
    uint64_t wanted = (uint64_t)((double)tokens * (ratio > 0 && ratio < 1 ? 1 - ratio : 0.25));
    uint64_t most = tokens * 9 / 100;
    if (most < SHORT) most = SHORT;
    if (most > BUDGET_MAX) most = BUDGET_MAX;
    return wanted < most ? wanted : most;
}

typedef struct work {
    maki_digest *digest;
    maki_tokenizer *tokenizer;
    bool count; /* nobody told how many tokens there are */
    uint64_t tokens;
} work;

static maki_status take(void *ctx, maki_str json, maki_err *err)
{
    work *w = ctx;
    uint64_t tokens = 0;
    maki_digest_add(w->digest, json);
    if (!w->count || maki_json_kind_of(json) != MAKI_JSON_OBJECT) return MAKI_OK;
    maki_countable said = maki_countable_of(json);
    maki_status st = maki_countable_count(w->tokenizer, &said, &tokens, err);
    w->tokens += tokens;
    return st;
}

static maki_status summarise(const maki_offline *how, const maki_summary_request *request,
                             maki_tokenizer *tokenizer, maki_arena *working, maki_buf *text,
                             maki_summary *out, maki_err *err)
{
    maki_judged judged = { .survey = { .measured = false } };
    work w = { .tokenizer = tokenizer, .tokens = request->tokens };
    w.count = how->budget == 0 && request->tokens == 0;
    maki_status st = maki_digest_new(working, &w.digest, err);
    if (st == MAKI_OK) st = request->each(request->source, take, &w, err);
    if (st != MAKI_OK) return st;
    maki_digest_end(w.digest);
    uint64_t budget = how->budget ? how->budget : maki_offline_budget(w.tokens, how->ratio);
    if (how->most && budget > how->most) budget = how->most;
    maki_lang lang = how->has_lang ? how->lang : maki_letters_lang(&w.digest->letters);
    st = maki_summary_compose(w.digest, lang, tokenizer, budget, working, text, err);
    if (st == MAKI_OK) st = maki_digest_judge(w.digest, maki_buf_str(text), &judged, err);
    out->survey = judged.survey;
    return st;
}

static maki_status run(const maki_summarizer *self, const maki_summary_request *request,
                       maki_arena *arena, maki_summary *out, maki_err *err)
{
    static const maki_offline usual = MAKI_OFFLINE_INIT;
    const maki_offline *how = self->ctx ? self->ctx : &usual;
    maki_env env = { .alloc = arena->alloc };
    maki_arena working = maki_arena_new(arena->alloc, WORKING_MAX);
    maki_buf text = maki_buf_new(arena->alloc, TEXT_MAX);
    maki_tokenizer *own = NULL;
    maki_status st = MAKI_OK;
    if (!how->tokenizer) st = maki_tokenizer_open(&env, maki_encoding_at(0), NULL, &own, err);
    if (st == MAKI_OK)
        st = summarise(how, request, own ? own : how->tokenizer, &working, &text, out, err);
    if (st == MAKI_OK) {
        out->text = maki_arena_copy(arena, maki_buf_str(&text));
        st = maki_arena_status(arena, err);
    }
    maki_tokenizer_close(own);
    maki_buf_free(&text);
    maki_arena_free(&working);
    return st;
}

maki_summarizer maki_summarizer_offline_with(const maki_offline *how)
{
    return (maki_summarizer){ .usable = true, .run = run, .ctx = how };
}

bool maki_summarizer_is_offline(const maki_summarizer *summarizer)
{
    return summarizer->run == run;
}
