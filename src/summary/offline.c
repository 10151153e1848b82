/* offline.c -- digest the messages in one pass, derive the token limits, write the summary, and check its facts. */
#include "summary/offline.h"

#include "base/err.h"
#include "base/str_util.h"
#include "history/facts.h"
#include "history/token_counter.h"
#include "summary/measure.h"
#include "summary/summary_settings.h"
#include "summary/summary_writer.h"
#include "token/content.h"

#define SHARE 0.35 /* of a short text for its summary, unless the ratio is over 0.75 */

enum {
    WORKING_MAX = 16 << 20,
    TEXT_MAX = 1 << 20,
    BUDGET_MAX = 8000,
    SHORT = 2700,      /* tokens: a summary of a short text may have as many */
    USER_DIVISOR = 4,  /* divisor: share of a longer one for what the user said */
    RULES_MAX = 2000,  /* of rules and decisions, which may exceed the budget */
    BRIEF = 1000,      /* tokens of a text */
    BUDGET_MIN = 48,   /* minimum of any summary: a heading and a sentence */
    FACTS_JUDGED = 256 /* facts: up to here half of them must be kept; more may not fit the sets */
};

uint64_t maki_offline_budget(uint64_t tokens, double ratio)
{
    double share = ratio > 0 && ratio < 1 ? 1 - ratio : 0.25;
    uint64_t limit = tokens * 9 / 100;
    if (share >= 0.25 && share < SHARE) share = SHARE;
    uint64_t wanted = (uint64_t)((double)tokens * share);
    if (limit < SHORT) limit = SHORT;
    if (limit > BUDGET_MAX) limit = BUDGET_MAX;
    return wanted < limit ? wanted : limit;
}

typedef struct work {
    maki_digest *digest;
    maki_tokenizer *tokenizer;
    bool count;               /* the request has no token count: count here */
    uint64_t tokens, earlier; /* of all; of earlier summaries among them */
} work;

static maki_status on_message(void *ctx, maki_str json, maki_err *err)
{
    work *w = ctx;
    uint64_t tokens = 0;
    uint32_t summaries = w->digest->summaries;
    maki_digest_add(w->digest, json);
    bool earlier = w->digest->summaries > summaries;
    if (!(w->count || earlier) || maki_json_kind_of(json) != MAKI_JSON_OBJECT) return MAKI_OK;
    maki_counted_fields said = maki_counted_fields_of(json);
    maki_status st = maki_counted_fields_count(w->tokenizer, &said, &tokens, err);
    if (w->count) w->tokens += tokens;
    if (earlier) w->earlier += tokens;
    return st;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Token limit of a summary with all that the user said; at least the budget. */
static uint64_t user_limit(const work *w, uint64_t budget)
{
    uint64_t new_tokens = w->tokens > w->earlier ? w->tokens - w->earlier : 0;
    uint64_t carried = min_u64(w->earlier + new_tokens / USER_DIVISOR, w->tokens * 13 / 20);
    uint64_t limit =
        w->earlier ? max_u64(carried, w->tokens / USER_DIVISOR) : w->tokens / USER_DIVISOR;
    return max_u64(budget, min_u64(limit, BUDGET_MAX));
}

/* The budget.  An earlier summary replaced many times its tokens: it is carried on in full while it is short and the
 * total shrinks. */
static uint64_t budget_of(const work *w, double ratio)
{
    uint64_t new_tokens = w->tokens > w->earlier ? w->tokens - w->earlier : 0;
    uint64_t budget = maki_offline_budget(w->tokens, ratio);
    uint64_t grown = min_u64(w->earlier + maki_offline_budget(new_tokens, ratio),
                             min_u64(SHORT, w->tokens * 13 / 20));
    return w->earlier && grown > budget ? grown : budget;
}

/* Those of an earlier summary are carried on in full as long as the whole becomes a sixth shorter. */
static uint64_t rules_of_brief(const work *w)
{
    uint64_t new_tokens = w->tokens > w->earlier ? w->tokens - w->earlier : 0;
    uint64_t all = w->tokens * 2 / 3, carried = w->earlier + new_tokens * 2 / 3;
    return w->earlier ? max_u64(all, min_u64(carried, w->tokens * 5 / 6)) : all;
}

/* Rules and decisions may exceed the budget; of a short text they are added to it. */
static maki_summary_limits limits_of(const maki_offline_options *options, const work *w)
{
    maki_summary_limits l = { .budget = options->budget,
                              .rules = options->budget,
                              .total = options->budget,
                              .user = options->budget };
    if (!options->budget) {
        bool brief = w->tokens < BRIEF;
        l.budget = budget_of(w, options->ratio);
        if (l.budget < BUDGET_MIN) l.budget = BUDGET_MIN;
        l.rules = brief ? rules_of_brief(w)
                        : min_u64(w->tokens * 3 / 4, l.budget > RULES_MAX ? l.budget : RULES_MAX);
        if (l.rules < l.budget) l.rules = l.budget;
        l.user = brief ? l.budget : user_limit(w, l.budget);
        l.total = brief && l.rules > l.budget ? l.rules : l.user;
    }
    uint64_t limit = options->max_tokens ? options->max_tokens : UINT64_MAX;
    return (maki_summary_limits){ min_u64(l.budget, limit), min_u64(l.rules, limit),
                                  min_u64(l.total, limit), min_u64(l.user, limit) };
}

/* Were too many facts lost, although there was space for them? */
static bool lost_facts(const maki_fact_counts *judged, maki_str text, uint64_t tokens,
                       uint64_t budget)
{
    uint64_t kept = judged->coverage.kept, facts = kept + judged->coverage.lost;
    if (text.len == 0 || (facts && kept == 0)) return true;
    return kept * 2 < facts && facts <= FACTS_JUDGED && tokens < budget * 3 / 4;
}

static maki_status summarize(const maki_offline_options *options,
                             const maki_summary_request *request, maki_tokenizer *tokenizer,
                             maki_arena *working, maki_buf *text, maki_summary *out, maki_err *err)
{
    maki_fact_counts judged = { .coverage = { .measured = false } };
    work w = { .tokenizer = tokenizer, .tokens = request->tokens };
    w.count = options->budget == 0 && request->tokens == 0;
    maki_status st = maki_digest_new(working, &w.digest, err);
    if (st == MAKI_OK) maki_focus_set(&w.digest->focus, options->focus);
    if (st == MAKI_OK) st = request->each(request->source, on_message, &w, err);
    if (st != MAKI_OK) return st;
    maki_digest_end(w.digest);
    maki_summary_limits limits = limits_of(options, &w);
    maki_lang lang =
        options->has_lang ? options->lang : maki_script_counts_lang(&w.digest->letters);
    st = maki_summary_compose(w.digest, lang, tokenizer, &limits, working, text, err);
    if (st == MAKI_OK) st = maki_digest_count_facts(w.digest, maki_buf_str(text), &judged, err);
    out->coverage = judged.coverage;
    if (st == MAKI_OK &&
        lost_facts(&judged, maki_buf_str(text), maki_tokenizer_count(tokenizer, maki_buf_str(text)),
                   limits.budget))
        return maki_refuse(err, "SUMMARY_EMPTY", "the offline summary kept %llu of %llu facts",
                           (unsigned long long)judged.coverage.kept,
                           (unsigned long long)(judged.coverage.kept + judged.coverage.lost));
    return st;
}

static maki_status run(const maki_summarizer *self, const maki_summary_request *request,
                       maki_arena *arena, maki_summary *out, maki_err *err)
{
    static const maki_offline_options defaults = MAKI_OFFLINE_INIT;
    const maki_offline_options *options = self->ctx ? self->ctx : &defaults;
    maki_env env = { .alloc = arena->alloc };
    maki_arena working = maki_arena_new(arena->alloc, WORKING_MAX);
    maki_buf text = maki_buf_new(arena->alloc, TEXT_MAX);
    maki_tokenizer *own = NULL;
    maki_status st = MAKI_OK;
    if (!options->tokenizer) st = maki_tokenizer_open(&env, maki_encoding_at(0), NULL, &own, err);
    if (st == MAKI_OK)
        st = summarize(options, request, own ? own : options->tokenizer, &working, &text, out, err);
    if (st == MAKI_OK) {
        out->text = maki_arena_copy(arena, maki_buf_str(&text));
        st = maki_arena_status(arena, err);
    }
    maki_tokenizer_close(own);
    maki_buf_free(&text);
    maki_arena_free(&working);
    return st;
}

maki_summarizer maki_summarizer_offline_with(const maki_offline_options *options)
{
    return (maki_summarizer){ .usable = true, .run = run, .ctx = options };
}

maki_status maki_summarize_offline(const maki_summarizer *self, const maki_summary_request *request,
                                   maki_arena *arena, maki_summary *out, maki_err *err)
{
    const maki_offline_options options = maki_summary_offline(self->ctx);
    const maki_summarizer offline = maki_summarizer_offline_with(&options);
    return run(&offline, request, arena, out, err);
}

bool maki_summarizer_is_offline(const maki_summarizer *summarizer)
{
    return summarizer->run == run || summarizer->run == maki_summarize_offline;
}
