/* offline.c -- reads the messages once into a digest, whose size does not depend on them, and writes a text from it. */
#include "summary/offline.h"

#include "base/err.h"
#include "base/str_util.h"
#include "history/facts.h"
#include "history/token_counter.h"
#include "summary/measure.h"
#include "summary/summary_settings.h"
#include "summary/summary_writer.h"
#include "token/content.h"

#define SHARE 0.35 /* of a short text that may stay, unless a ratio over 0.75 is asked for */

enum {
    WORKING_MAX = 16 << 20,
    TEXT_MAX = 1 << 20,
    BUDGET_MAX = 8000,
    SHORT = 2700,      /* tokens: a summary of a short text may have as many */
    QUARTER = 4,       /* of a longer one, if people said so much */
    FIRST_MAX = 2000,  /* of rules and decisions, which may go over the budget */
    BRIEF = 1000,      /* tokens of a text */
    LEAST = 48,        /* of any summary: a heading and a sentence */
    FACTS_JUDGED = 256 /* facts: of more, half may be too many for the sets */
};

uint64_t maki_offline_budget(uint64_t tokens, double ratio)
{
    double share = ratio > 0 && ratio < 1 ? 1 - ratio : 0.25;
    uint64_t most = tokens * 9 / 100;
    if (share >= 0.25 && share < SHARE) share = SHARE;
    uint64_t wanted = (uint64_t)((double)tokens * share);
    if (most < SHORT) most = SHORT;
    if (most > BUDGET_MAX) most = BUDGET_MAX;
    return wanted < most ? wanted : most;
}

typedef struct work {
    maki_digest *digest;
    maki_tokenizer *tokenizer;
    bool count;               /* nobody told how many tokens there are */
    uint64_t tokens, earlier; /* of all; of earlier summaries among them */
} work;

static maki_status take(void *ctx, maki_str json, maki_err *err)
{
    work *w = ctx;
    uint64_t tokens = 0;
    uint32_t summaries = w->digest->summaries;
    maki_digest_add(w->digest, json);
    bool earlier = w->digest->summaries > summaries;
    if (!(w->count || earlier) || maki_json_kind_of(json) != MAKI_JSON_OBJECT) return MAKI_OK;
    maki_countable said = maki_countable_of(json);
    maki_status st = maki_countable_count(w->tokenizer, &said, &tokens, err);
    if (w->count) w->tokens += tokens;
    if (earlier) w->earlier += tokens;
    return st;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t greatest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What people said may fill the summary where the rest may not. */
static uint64_t people_of(const work *w, uint64_t budget)
{
    uint64_t fresh = w->tokens > w->earlier ? w->tokens - w->earlier : 0;
    uint64_t carried = least(w->earlier + fresh / QUARTER, w->tokens * 13 / 20);
    uint64_t most = w->earlier ? greatest(carried, w->tokens / QUARTER) : w->tokens / QUARTER;
    return greatest(budget, least(most, BUDGET_MAX));
}

/* An earlier summary stands for many times its tokens: it may stay as long as it is, as long as it is short and the
 * whole gets shorter. */
static uint64_t budget_of(const work *w, double ratio)
{
    uint64_t fresh = w->tokens > w->earlier ? w->tokens - w->earlier : 0;
    uint64_t budget = maki_offline_budget(w->tokens, ratio);
    uint64_t grown =
        least(w->earlier + maki_offline_budget(fresh, ratio), least(SHORT, w->tokens * 13 / 20));
    return w->earlier && grown > budget ? grown : budget;
}

/* Rules and decisions may go over the budget; of a short text they come on top of it. */
static maki_summary_limits limits_of(const maki_offline *how, const work *w)
{
    maki_summary_limits l = {
        .budget = how->budget, .first = how->budget, .total = how->budget, .people = how->budget
    };
    if (!how->budget) {
        bool brief = w->tokens < BRIEF;
        l.budget = budget_of(w, how->ratio);
        if (l.budget < LEAST) l.budget = LEAST;
        l.first = brief ? w->tokens * 2 / 3
                        : least(w->tokens * 3 / 4, l.budget > FIRST_MAX ? l.budget : FIRST_MAX);
        if (l.first < l.budget) l.first = l.budget;
        l.people = brief ? l.budget : people_of(w, l.budget);
        l.total = brief && l.first > l.budget ? l.first : l.people;
    }
    uint64_t most = how->most ? how->most : UINT64_MAX;
    return (maki_summary_limits){ least(l.budget, most), least(l.first, most), least(l.total, most),
                                  least(l.people, most) };
}

/* Were there facts, and are they lost although there was space for them? */
static bool is_empty(const maki_judged *judged, maki_str text, uint64_t tokens, uint64_t budget)
{
    uint64_t kept = judged->survey.kept, facts = kept + judged->survey.lost;
    if (text.len == 0 || (facts && kept == 0)) return true;
    return kept * 2 < facts && facts <= FACTS_JUDGED && tokens < budget * 3 / 4;
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
    maki_summary_limits limits = limits_of(how, &w);
    maki_lang lang = how->has_lang ? how->lang : maki_letters_lang(&w.digest->letters);
    st = maki_summary_compose(w.digest, lang, tokenizer, &limits, working, text, err);
    if (st == MAKI_OK) st = maki_digest_judge(w.digest, maki_buf_str(text), &judged, err);
    out->survey = judged.survey;
    if (st == MAKI_OK &&
        is_empty(&judged, maki_buf_str(text), maki_tokenizer_count(tokenizer, maki_buf_str(text)),
                 limits.budget))
        return maki_refuse(err, "SUMMARY_EMPTY", "the offline summary kept %llu of %llu facts",
                           (unsigned long long)judged.survey.kept,
                           (unsigned long long)(judged.survey.kept + judged.survey.lost));
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

maki_status maki_summarize_offline(const maki_summarizer *self, const maki_summary_request *request,
                                   maki_arena *arena, maki_summary *out, maki_err *err)
{
    const maki_offline how = maki_summary_offline(self->ctx);
    const maki_summarizer offline = maki_summarizer_offline_with(&how);
    return run(&offline, request, arena, out, err);
}

bool maki_summarizer_is_offline(const maki_summarizer *summarizer)
{
    return summarizer->run == run || summarizer->run == maki_summarize_offline;
}
