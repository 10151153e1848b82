/* model_summarizer.c -- split a conversation into chunks that fit the model's window, summarize each with one request,
 * and merge the summaries into one.
 *
 * A failure sets `model_failed` when another summarizer may succeed; only then the offline one is run. */
#include "summary/model_summarizer.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/spool.h"
#include "base/str_util.h"
#include "base/text.h"
#include "summary/message_text.h"
#include "summary/summary_prompt.h"
#include "token/family.h"

enum {
    WINDOW_UNKNOWN = 32000,
    CHUNK_MIN = 512,        /* tokens: a smaller window is refused */
    REPLY_MIN = 1000,       /* tokens that a reply may always have */
    REPLY_SLACK = 64 << 10, /* bytes of a reply besides the summary: reasoning */
    HEAD_MAX = 1 << 20,     /* bytes of a prompt without the messages */
    FOCUS_TOKENS = 48,      /* of the sentence before a focus, in any language */
    PROMPT_OVERHEAD = 64,   /* tokens around the two messages of a request, and to spare */
    ROUNDS = 8,             /* maximum number of merges */
    SLICE = 4096            /* bytes of a text that is cut: how exactly chunks are filled */
};

/* ---- chunks -------------------------------------------------------------------------------------------- */

/* Texts in order, split into chunks of at most `capacity` tokens, between texts where possible.  A text longer than
 * a chunk is cut where that does not change its tokens, else between two characters. */
typedef struct chunks {
    maki_tokenizer *tokenizer; /* borrowed */
    uint64_t capacity;         /* maximum tokens of a chunk */
    maki_spool text;           /* the current chunk */
    uint64_t tokens;           /* of it */
    /* Called when the next text does not fit: uses the chunk, which is emptied afterwards. */
    maki_status (*full)(void *ctx, maki_err *err);
    void *ctx;
} chunks;

/* Flush the current chunk. */
static maki_status chunks_end(chunks *p, maki_err *err)
{
    maki_status st = p->full(p->ctx, err);
    maki_spool_clear(&p->text);
    p->tokens = 0;
    return st;
}

/* `tokens` are those of `text`: at most p->capacity. */
static maki_status append(chunks *p, maki_str text, uint64_t tokens, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (p->tokens && tokens > p->capacity - p->tokens) st = chunks_end(p, err);
    if (st == MAKI_OK) st = maki_spool_add(&p->text, text, err);
    p->tokens += tokens;
    return st;
}

/* The next slice of a text that is cut.  No byte has more than one token, so it fits a chunk. */
static maki_str slice_of(const chunks *p, maki_str text)
{
    size_t limit = p->capacity < SLICE ? (size_t)p->capacity : SLICE;
    maki_str slice = maki_utf8_truncate(text, limit);
    if (slice.len == text.len) return slice;
    size_t exact = maki_token_cut(slice);
    return exact ? maki_str_prefix(slice, exact) : slice;
}

/* `text` is valid UTF-8 that ends with a newline. */
static maki_status chunks_add(chunks *p, maki_str text, maki_err *err)
{
    maki_status st = MAKI_OK;
    uint64_t tokens = maki_tokenizer_count(p->tokenizer, text);
    if (tokens <= p->capacity) return append(p, text, tokens, err);
    while (st == MAKI_OK && text.len) {
        maki_str slice = slice_of(p, text);
        st = append(p, slice, maki_tokenizer_count(p->tokenizer, slice), err);
        text = maki_str_skip(text, slice.len);
    }
    return st;
}

/* The state of one summary. */
typedef struct summary_job {
    const maki_model_summarizer_options *options;
    const maki_family *family;
    maki_tokenizer *tokenizer;
    uint64_t max_tokens; /* of a reply */
    int64_t deadline;
    maki_script_counts letters; /* of the conversation so far: in which language to ask */
    maki_spool message;         /* one message as text */
    chunks chunks;
    bool merging;         /* the chunks contain summaries */
    maki_spool summaries; /* of the full chunks, a NUL after each */
    size_t count;         /* of them */
    maki_buf reply;
    maki_str text; /* of the reply, without reasoning */
    maki_summary *out;
    bool model_failed; /* the failure is the model's: another summarizer may succeed */
} summary_job;

/* ---- cancel and timeout ---------------------------------------------------------------------------------- */

static int64_t now_of(const summary_job *a)
{
    return a->options->env->clock->now_ms(a->options->env->clock);
}

static maki_status check_continue(summary_job *a, maki_err *err)
{
    const maki_model_summarizer_options *options = a->options;
    if (options->cancelled && options->cancelled(options->cancelled_ctx))
        return maki_fail(err, MAKI_CANCELLED, "the summary was cancelled");
    if (now_of(a) < a->deadline) return MAKI_OK;
    a->model_failed = true;
    return maki_fail(err, MAKI_TIMEOUT, "the model took longer than %lld ms to summarize",
                     (long long)options->settings->timeout_ms);
}

/* ---- one request ---------------------------------------------------------------------------------------- */

/* The prompt as it is sent: the messages are not copied into it. */
typedef struct prompt_text {
    maki_str head, tail;
    const maki_spool *messages;
} prompt_text;

static size_t copy_from(maki_str text, uint64_t at, char *out, size_t capacity)
{
    size_t n = text.len - (size_t)at;
    if (n > capacity) n = capacity;
    memcpy(out, text.ptr + at, n);
    return n;
}

static maki_status read_prompt(const void *ctx, uint64_t at, char *out, size_t capacity,
                               size_t *got, maki_err *err)
{
    const prompt_text *t = ctx;
    uint64_t middle = t->head.len + t->messages->size;
    *got = 0;
    if (at < t->head.len) {
        *got = copy_from(t->head, at, out, capacity);
    } else if (at < middle) {
        return maki_spool_read(t->messages, at - t->head.len, out, capacity, got, err);
    } else if (at < middle + t->tail.len) {
        *got = copy_from(t->tail, at - middle, out, capacity);
    }
    return MAKI_OK;
}

static maki_status on_reply(void *ctx, maki_str bytes, maki_err *err)
{
    summary_job *a = ctx;
    maki_status st = check_continue(a, err);
    if (st != MAKI_OK) return st;
    maki_buf_add(&a->reply, bytes);
    return maki_buf_status(&a->reply, err);
}

/* Remove the reasoning that some models write before the answer, <think>...</think>. */
static maki_str without_reasoning(maki_str text)
{
    const maki_str end = MAKI_LIT("</think>");
    text = maki_str_trim(text);
    if (!maki_str_starts(text, MAKI_LIT("<think>"))) return text;
    size_t at = maki_str_find_nocase(text, end);
    return maki_str_trim(at < text.len ? maki_str_skip(text, at + end.len) : MAKI_LIT(""));
}

/* Check that the reply is a valid summary.  Sets a->text. */
static maki_status check_reply(summary_job *a, const maki_model_usage *usage, maki_err *err)
{
    maki_str text = maki_buf_str(&a->reply);
    text.len -= maki_utf8_incomplete(text);
    if (!maki_utf8_valid(text, NULL) || memchr(text.ptr, '\0', text.len))
        return maki_fail(err, MAKI_UPSTREAM, "the model's reply has no text");
    a->text = without_reasoning(text);
    if (a->text.len == 0) return maki_refuse(err, "SUMMARY_EMPTY", "the model returned no text");
    uint64_t tokens = maki_tokenizer_count(a->tokenizer, a->text);
    if (usage->truncated || tokens > a->max_tokens + a->max_tokens / 2) /* tokenizers differ */
        return maki_fail(err, MAKI_TOOBIG, "the model's summary is longer than %llu tokens",
                         (unsigned long long)a->max_tokens);
    if (tokens < a->chunks.tokens + (a->merging ? 1 : 0)) return MAKI_OK;
    return maki_refuse(err, "CONTEXT_GREW", "the model's summary is not shorter than what it read");
}

static maki_status call_model(summary_job *a, maki_prompt prompt, maki_str head, maki_err *err)
{
    const maki_model_summarizer_options *options = a->options;
    maki_model_usage usage = { 0 };
    prompt_text text = { head, prompt.after, &a->chunks.text };
    maki_model_request request = {
        .name = options->name,
        .window = options->window,
        .system = prompt.system,
        .prompt = { head.len + a->chunks.text.size + prompt.after.len, read_prompt, &text },
        .prompt_tokens = a->chunks.tokens + maki_tokenizer_count(a->tokenizer, prompt.system) +
                         maki_tokenizer_count(a->tokenizer, head) +
                         maki_tokenizer_count(a->tokenizer, prompt.after),
        .max_tokens = a->max_tokens,
        .timeout_ms = a->deadline - now_of(a),
        .cancelled = options->cancelled,
        .cancelled_ctx = options->cancelled_ctx,
    };
    maki_err why = { 0 };
    maki_buf_clear(&a->reply);
    maki_status st = options->model->complete(options->model, &request, (maki_sink){ on_reply, a },
                                              &usage, &why);
    maki_summary_usage spent = { .input = (double)usage.input_tokens,
                                 .output = (double)usage.output_tokens,
                                 .cost = usage.cost };
    maki_summary_usage_add(&a->out->usage, &spent);
    if (st != MAKI_OK && why.status != st) maki_fail(&why, st, "the request to the model failed");
    if (st == MAKI_OK) st = check_continue(a, &why);
    if (st == MAKI_OK) st = check_reply(a, &usage, &why);
    a->model_failed |= st != MAKI_OK && st != MAKI_NOMEM && st != MAKI_CANCELLED;
    if (st != MAKI_OK && err) *err = why;
    return st;
}

/* Ask for a summary of what is in chunks. */
static maki_status ask(summary_job *a, maki_err *err)
{
    const maki_summary_settings *s = a->options->settings;
    maki_lang lang = s->has_lang ? s->lang : maki_script_counts_lang(&a->letters);
    maki_prompt prompt = maki_prompt_of(s->prompt, lang, s->has_lang);
    maki_buf head = maki_buf_new(a->options->env->alloc, HEAD_MAX);
    maki_status st = check_continue(a, err);
    if (a->merging) maki_buf_add(&head, maki_prompt_merge(lang));
    if (s->focus.len) {
        maki_buf_add(&head, maki_prompt_focus(lang));
        maki_buf_add(&head, s->focus);
        maki_buf_add(&head, MAKI_LIT("\n\n"));
    }
    maki_buf_add(&head, prompt.before);
    if (head.len && head.ptr[head.len - 1] != '\n') maki_buf_add(&head, MAKI_LIT("\n\n"));
    if (st == MAKI_OK) st = maki_buf_status(&head, err);
    if (st == MAKI_OK) st = call_model(a, prompt, maki_buf_str(&head), err);
    maki_buf_free(&head);
    return st;
}

/* ---- chunks --------------------------------------------------------------------------------------------- */

/* Summarize a full chunk, and append the summary to those to be merged. */
static maki_status summarize_chunk(void *ctx, maki_err *err)
{
    summary_job *a = ctx;
    maki_status st = ask(a, err);
    if (st == MAKI_OK) st = maki_spool_add(&a->summaries, MAKI_LIT("[summary]: "), err);
    if (st == MAKI_OK) st = maki_spool_add(&a->summaries, a->text, err);
    if (st == MAKI_OK) st = maki_spool_add(&a->summaries, (maki_str){ "\n\n", 3 }, err);
    a->count++;
    return st;
}

static maki_status on_message(void *ctx, maki_str json, maki_err *err)
{
    summary_job *a = ctx;
    maki_str text;
    maki_status st = check_continue(a, err);
    maki_spool_clear(&a->message);
    if (st == MAKI_OK) st = maki_message_text(json, &a->letters, maki_spool_sink(&a->message), err);
    if (st == MAKI_OK) st = maki_spool_text(&a->message, &text, err);
    return st == MAKI_OK && text.len ? chunks_add(&a->chunks, text, err) : st;
}

/* Split the summaries so far into chunks. */
static maki_status add_summaries(summary_job *a, maki_spool *from, maki_err *err)
{
    maki_str rest;
    maki_status st = maki_spool_text(from, &rest, err);
    while (st == MAKI_OK && rest.len) {
        size_t n = (size_t)((const char *)memchr(rest.ptr, '\0', rest.len) - rest.ptr);
        st = chunks_add(&a->chunks, maki_str_prefix(rest, n), err);
        rest = maki_str_skip(rest, n + 1);
    }
    return st;
}

static maki_status merge_once(summary_job *a, maki_err *err)
{
    maki_spool from = a->summaries;
    size_t before = a->count;
    a->summaries = maki_spool_new(a->options->env, MAKI_SPOOL_MEMORY);
    a->count = 0;
    a->merging = true;
    maki_status st = add_summaries(a, &from, err);
    maki_spool_free(&from);
    if (st != MAKI_OK || a->count + 1 < before) return st;
    a->model_failed = true;
    return maki_refuse(err, "CONTEXT_GREW", "the summaries of %zu parts do not fit its window",
                       before);
}

/* After the last message: summarize the only chunk, or merge the summaries until one is left. */
static maki_status finish(summary_job *a, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (a->chunks.tokens == 0) {
        a->model_failed = true;
        return maki_refuse(err, "SUMMARY_EMPTY", "there is no text to summarize");
    }
    for (int round = 0; st == MAKI_OK && a->count && round < ROUNDS; round++) {
        st = chunks_end(&a->chunks, err);
        if (st == MAKI_OK) st = merge_once(a, err);
    }
    if (st == MAKI_OK && a->count == 0) return ask(a, err);
    a->model_failed |= st == MAKI_OK;
    return st != MAKI_OK ? st : maki_refuse(err, "CONTEXT_GREW", "it takes too many chunks");
}

/* ---- limits -------------------------------------------------------------------------------------------------- */

/* Tokens of the longest prompt in any language, without messages: the language is not known yet. */
static uint64_t prompt_tokens(const summary_job *a)
{
    uint64_t limit = 0;
    for (size_t lang = 0; lang < MAKI_LANGS; lang++) {
        maki_prompt prompt = maki_prompt_of(a->options->settings->prompt, (maki_lang)lang, true);
        uint64_t n = maki_tokenizer_count(a->tokenizer, prompt.system) +
                     maki_tokenizer_count(a->tokenizer, prompt.before) +
                     maki_tokenizer_count(a->tokenizer, prompt.after) +
                     maki_tokenizer_count(a->tokenizer, maki_prompt_merge((maki_lang)lang));
        if (n > limit) limit = n;
    }
    return limit + PROMPT_OVERHEAD + FOCUS_TOKENS +
           maki_tokenizer_count(a->tokenizer, a->options->settings->focus);
}

/* Maximum tokens of a reply: as configured, limited by the window and by the share that a summary should have. */
static uint64_t reply_tokens(const maki_summary_settings *s, uint64_t window, uint64_t tokens)
{
    uint64_t limit = s->max_tokens < window / 4 ? s->max_tokens : window / 4;
    uint64_t wanted = (uint64_t)((double)tokens * (1 - s->ratio));
    if (wanted < REPLY_MIN) wanted = REPLY_MIN;
    return tokens && wanted < limit ? wanted : limit;
}

static maki_status set_limits(summary_job *a, uint64_t tokens, maki_err *err)
{
    uint64_t window = a->options->window ? a->options->window : WINDOW_UNKNOWN;
    a->max_tokens = reply_tokens(a->options->settings, window, tokens);
    double scale = maki_family_text_scale(a->family, NULL) *
                   (1 + maki_family_text_error(
                            a->family, NULL)); /* tokens of the model for one of the encoding */
    uint64_t capacity = (uint64_t)((double)(window - a->max_tokens) / scale),
             used = prompt_tokens(a);
    a->reply = maki_buf_new(a->options->env->alloc, a->max_tokens * 8 + REPLY_SLACK);
    a->chunks.capacity = capacity > used ? capacity - used : 0;
    if (a->chunks.capacity >= CHUNK_MIN) return MAKI_OK;
    a->model_failed = true;
    return maki_refuse(err, "WINDOW_TOO_SMALL",
                       "a window of %llu tokens leaves no space for what is to be summarized",
                       (unsigned long long)window);
}

/* ---- the summarizer --------------------------------------------------------------------------------------- */

static maki_status ask_model(summary_job *a, const maki_summary_request *request, maki_arena *arena,
                             maki_err *err)
{
    const maki_env *env = a->options->env;
    a->family = maki_family_of(a->options->name.model);
    a->deadline = now_of(a) + a->options->settings->timeout_ms;
    a->message = maki_spool_new(env, MAKI_SPOOL_MEMORY);
    a->summaries = maki_spool_new(env, MAKI_SPOOL_MEMORY);
    maki_status st =
        maki_tokenizer_open(env, maki_encoding_find(a->family->encoding), NULL, &a->tokenizer, err);
    a->chunks = (chunks){ .tokenizer = a->tokenizer,
                          .text = maki_spool_new(env, MAKI_SPOOL_MEMORY),
                          .full = summarize_chunk,
                          .ctx = a };
    if (st == MAKI_OK) st = set_limits(a, request->tokens, err);
    if (st == MAKI_OK) st = request->each(request->source, on_message, a, err);
    if (st == MAKI_OK) st = finish(a, err);
    if (st == MAKI_OK) {
        a->out->text = maki_arena_copy(arena, a->text);
        st = maki_arena_status(arena, err);
    }
    maki_spool_free(&a->message);
    maki_spool_free(&a->summaries);
    maki_spool_free(&a->chunks.text);
    maki_buf_free(&a->reply);
    maki_tokenizer_close(a->tokenizer);
    return st;
}

static maki_status run(const maki_summarizer *self, const maki_summary_request *request,
                       maki_arena *arena, maki_summary *out, maki_err *err)
{
    summary_job a = { .options = self->ctx, .out = out };
    maki_err why = { 0 };
    *out = (maki_summary){ .text = { "", 0 } };
    maki_str model = a.options->name.model;
    snprintf(out->usage.model, sizeof out->usage.model, "%.*s", MAKI_PRINTED(model));
    maki_status st = ask_model(&a, request, arena, &why);
    if (st == MAKI_OK) return MAKI_OK;
    if (!a.model_failed || st == MAKI_CANCELLED || st == MAKI_NOMEM) {
        if (err) *err = why;
        return st;
    }
    maki_offline_options offline = maki_summary_offline(a.options->settings);
    maki_summarizer other = maki_summarizer_offline_with(&offline);
    out->fallback_reason = why;
    return other.run(&other, request, arena, out, err);
}

maki_summarizer maki_summarizer_by_model(const maki_model_summarizer_options *options)
{
    return (maki_summarizer){ .usable = options->model != NULL, .run = run, .ctx = options };
}
