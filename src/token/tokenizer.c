/* tokenizer.c -- see <maki/token.h>.
 *
 * A text is cut into spans (scan.h), a span is looked up (span_cache.h) or merged (merge.h). */
#include <maki/token.h>

#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str_util.h"
#include "token/encoding.h"
#include "token/merge.h"
#include "token/span_cache.h"

enum {
    SOME = 32,       /* spans looked up together */
    WHOLE = 64,      /* bytes of a span that is merged at once */
    WORTH = 8192,    /* short spans after which remembering is worth its memory */
    OUT = 1024,      /* ids handed on at once */
    LOOK_BACK = 8,   /* bytes of text before a new part that a cut in it may depend on */
    SPECIAL_MAX = 32 /* bytes of a special token, at most */
};

struct maki_tokenizer {
    maki_spans spans; /* first: its `take` gets a pointer to this */
    const maki_encoding *encoding;
    const maki_alloc *alloc;
    bool special, remembers;
    maki_scan_fn *scan;
    maki_merger merge;
    const unsigned char *end; /* of the text */
    uint64_t tokens;
    /* encoding */
    maki_ids_fn ids_fn; /* NULL when counting */
    void *ids_ctx;
    maki_err *err;
    maki_status status; /* of ids_fn */
    uint64_t seen;      /* short spans so far */
    /* what was seen before; NULL: nothing */
    maki_span_cache *shared;    /* that of the memory shared with others */
    maki_span_cache *recall;    /* that in use: `own` or `shared` */
    maki_span_cache own;        /* with `ids` */
    maki_medium_cache *middles; /* with `recall` */
    maki_cached_ids *ids;
    size_t out_n;
    uint32_t out[OUT]; /* from here on not zeroed at open */
    maki_merge_scratch merging;
};

/* The memory that tokenizers share. */
struct maki_token_cache {
    const maki_alloc *alloc;
    const maki_encoding *encoding;
    maki_span_cache recall; /* used by many threads, see span_cache.h */
};

/* ---- open and close -------------------------------------------------------------------------------- */

/* Take the fastest code that this processor can run. */
static void choose(maki_tokenizer *t)
{
    t->scan = t->encoding->scan;
    t->merge = (maki_merger){ maki_merge, NULL };
#if defined(__x86_64__)
    /* LZCNT came with or before BMI2 in every processor; clang 14 cannot ask for it */
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2")) {
        t->scan = t->encoding->scan_avx2;
        t->merge = (maki_merger){ maki_merge_avx2, maki_merge_two_avx2 };
    }
#endif
}

maki_status maki_tokenizer_open(const maki_env *env, const maki_encoding *encoding,
                                const maki_tokenizer_options *options, maki_tokenizer **out,
                                maki_err *err)
{
    maki_tokenizer_options chosen = MAKI_TOKENIZER_OPTIONS_INIT;
    if (options)
        memcpy(&chosen, options, options->size < sizeof chosen ? options->size : sizeof chosen);
    if (!encoding) return maki_fail(err, MAKI_INVALID, "there is no such encoding");
    if (chosen.memory && chosen.memory->encoding != encoding)
        return maki_fail(err, MAKI_INVALID, "the memory belongs to %s, not to %s",
                         maki_encoding_name(chosen.memory->encoding), maki_encoding_name(encoding));
    maki_tokenizer *t = maki_new(env->alloc, maki_tokenizer);
    if (!t) return maki_fail(err, MAKI_NOMEM, "out of memory");
    memset(t, 0, offsetof(maki_tokenizer, out));
    t->encoding = encoding;
    t->alloc = env->alloc;
    t->special = chosen.special;
    t->remembers = !chosen.no_cache;
    if (chosen.memory && maki_span_cache_is_shareable()) t->shared = &chosen.memory->recall;
    choose(t);
    *out = t;
    return MAKI_OK;
}

void maki_tokenizer_close(maki_tokenizer *t)
{
    if (!t) return;
    const maki_alloc *alloc = t->alloc;
    maki_span_cache_free(&t->own, alloc);
    if (t->middles) alloc->resize(alloc, t->middles, sizeof *t->middles, 0);
    if (t->ids) alloc->resize(alloc, t->ids, sizeof *t->ids * MAKI_CACHE_SLOTS, 0);
    maki_delete(alloc, t);
}

static void forget_ids(maki_tokenizer *t)
{
    if (t->ids)
        memset(t->ids, 0xff, sizeof *t->ids * MAKI_CACHE_SLOTS); /* MAKI_NO_TOKEN everywhere */
}

void maki_tokenizer_clear_cache(maki_tokenizer *t)
{
    maki_span_cache_clear(&t->own);
    if (t->middles) memset(t->middles, 0, sizeof *t->middles);
    forget_ids(t);
}

maki_status maki_token_cache_open(const maki_env *env, const maki_encoding *encoding,
                                  maki_token_cache **out, maki_err *err)
{
    if (!encoding) return maki_fail(err, MAKI_INVALID, "there is no such encoding");
    maki_token_cache *memory = maki_new(env->alloc, maki_token_cache);
    if (!memory) return maki_fail(err, MAKI_NOMEM, "out of memory");
    *memory = (maki_token_cache){ .alloc = env->alloc, .encoding = encoding };
    if (maki_span_cache_is_shareable() &&
        !maki_span_cache_init(&memory->recall, MAKI_SET_BITS, env->alloc)) {
        maki_token_cache_close(memory);
        return maki_fail(err, MAKI_NOMEM, "out of memory");
    }
    *out = memory;
    return MAKI_OK;
}

void maki_token_cache_close(maki_token_cache *memory)
{
    if (!memory) return;
    maki_span_cache_free(&memory->recall, memory->alloc);
    maki_delete(memory->alloc, memory);
}

/* The places to use, got when it pays by now.  Those that others use as well have no ids beside them. */
static maki_span_cache *places_for(maki_tokenizer *t, bool ids)
{
    if (!ids && t->shared) return t->shared;
    if (!t->own.places && !maki_span_cache_init(&t->own, MAKI_SET_BITS, t->alloc)) return NULL;
    return &t->own;
}

/* Get the memory of spans, if it pays by now.  It only saves time, so it is no error when there is none
 * to be had. */
static void prepare(maki_tokenizer *t)
{
    const maki_alloc *alloc = t->alloc;
    bool ids = t->ids_fn != NULL;
    t->recall = NULL;
    if (!t->remembers || (t->seen < WORTH && !(t->shared && !ids))) return;
    if (!t->middles) {
        t->middles = alloc->resize(alloc, NULL, 0, sizeof *t->middles);
        if (!t->middles) return;
        memset(t->middles, 0, sizeof *t->middles);
    }
    t->recall = places_for(t, ids);
    if (t->recall && ids && !t->ids) {
        t->ids = alloc->resize(alloc, NULL, 0, sizeof *t->ids * MAKI_CACHE_SLOTS);
        forget_ids(t);
    }
}

/* ---- counting -------------------------------------------------------------------------------------- */

static uint64_t count_span(maki_tokenizer *t, const unsigned char *at, size_t len)
{
    const maki_table *table = t->encoding->table;
    t->seen += len <= MAKI_SHORT_MAX;
    if (len <= WHOLE) return t->merge.one(table, at, len, &t->merging);
    return maki_merge_long(t->merge, table, at, len, &t->merging, NULL, NULL);
}

/* The count of a short span and its place; it is learnt if need be. */
static uint64_t count_short(maki_tokenizer *t, const maki_span_query *q, const unsigned char *at,
                            size_t len, size_t *place)
{
    maki_cached_ids *ids = t->recall == &t->own ? t->ids : NULL;
    uint64_t count = maki_span_cache_lookup(t->recall, ids, q, place);
    if (count) return count;
    count = count_span(t, at, len);
    *place = maki_span_cache_insert(t->recall, ids, q, t->merging.ids, count);
    return count;
}

static uint64_t count_middle(maki_tokenizer *t, const unsigned char *at, size_t len)
{
    bool known;
    unsigned char *count = maki_medium_cache_lookup(t->middles, at, len, &known);
    if (!known) *count = (unsigned char)count_span(t, at, len);
    return *count;
}

/* Ask for all short ones of these spans. */
static inline void ask(maki_tokenizer *t, const unsigned char *at, const unsigned char *const *ends,
                       size_t n, bool ids, maki_span_query *questions)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = (size_t)(ends[i] - at);
        if (len <= MAKI_SHORT_MAX) {
            questions[i] = maki_span_cache_query(t->recall, at, len, t->end);
            if (ids) __builtin_prefetch(&t->ids[questions[i].set]);
        }
        at = ends[i];
    }
}

static uint64_t count_some(maki_tokenizer *t, const unsigned char *at,
                           const unsigned char *const *ends, size_t n)
{
    maki_span_query questions[SOME];
    uint64_t tokens = 0, count;
    size_t place;
    ask(t, at, ends, n, false, questions);
    for (size_t i = 0; i < n; i++) {
        size_t len = (size_t)(ends[i] - at);
        const maki_span_query *q = &questions[i];
        if (len > MAKI_SHORT_MAX) {
            tokens += len <= MAKI_MEDIUM_MAX ? count_middle(t, at, len) : count_span(t, at, len);
        } else {
            count = maki_span_cache_lookup_first(t->recall, q);
            tokens += count ? count : count_short(t, q, at, len, &place);
        }
        at = ends[i];
    }
    return tokens;
}

static void count_spans(maki_spans *spans)
{
    maki_tokenizer *t = (maki_tokenizer *)(void *)spans;
    const unsigned char *at = spans->start;
    prepare(t);
    for (size_t i = 0, n; i < spans->n; i += n) {
        n = !t->recall ? 1 : spans->n - i < SOME ? spans->n - i : SOME;
        t->tokens += t->recall ? count_some(t, at, spans->ends + i, n)
                               : count_span(t, at, (size_t)(spans->ends[i] - at));
        at = spans->ends[i + n - 1];
    }
    spans->start = at;
    spans->n = 0;
}

/* ---- encoding -------------------------------------------------------------------------------------- */

static void flush_ids(maki_tokenizer *t)
{
    if (t->status == MAKI_OK && t->out_n)
        t->status = t->ids_fn(t->ids_ctx, t->out, t->out_n, t->err);
    t->tokens += t->out_n;
    t->out_n = 0;
}

static void add_ids(void *ctx, const uint32_t *ids, size_t n)
{
    maki_tokenizer *t = ctx;
    while (n) {
        size_t capacity = OUT - t->out_n, some = n < capacity ? n : capacity;
        memcpy(t->out + t->out_n, ids, some * sizeof ids[0]);
        t->out_n += some;
        ids += some;
        n -= some;
        if (t->out_n == OUT) flush_ids(t);
    }
}

static void encode_span(maki_tokenizer *t, const unsigned char *at, size_t len)
{
    const maki_table *table = t->encoding->table;
    t->seen += len <= MAKI_SHORT_MAX;
    if (len > WHOLE) {
        maki_merge_long(t->merge, table, at, len, &t->merging, add_ids, t);
    } else {
        add_ids(t, t->merging.ids, t->merge.one(table, at, len, &t->merging));
    }
}

static inline void encode_short(maki_tokenizer *t, const maki_span_query *q,
                                const unsigned char *at, size_t len)
{
    size_t place = q->set;
    uint64_t count = maki_span_cache_lookup_first(t->recall, q);
    if (!count) count = count_short(t, q, at, len, &place);
    maki_cached_ids *known = &t->ids[place];
    if (known->ids[0] == MAKI_NO_TOKEN) { /* too many, or it was only counted */
        encode_span(t, at, len);
        if (count <= MAKI_CACHED_IDS)
            memcpy(known->ids, t->merging.ids, count * sizeof known->ids[0]);
        return;
    }
    if (OUT - t->out_n < MAKI_CACHED_IDS) flush_ids(t);
    memcpy(t->out + t->out_n, known->ids,
           sizeof known->ids); /* perhaps too many: overwritten next */
    t->out_n += count;
}

static void encode_some(maki_tokenizer *t, const unsigned char *at,
                        const unsigned char *const *ends, size_t n)
{
    maki_span_query questions[SOME];
    ask(t, at, ends, n, true, questions);
    for (size_t i = 0; i < n; i++) {
        size_t len = (size_t)(ends[i] - at);
        if (len <= MAKI_SHORT_MAX) {
            encode_short(t, &questions[i], at, len);
        } else {
            encode_span(t, at, len);
        }
        at = ends[i];
    }
}

static void encode_spans(maki_spans *spans)
{
    maki_tokenizer *t = (maki_tokenizer *)(void *)spans;
    const unsigned char *at = spans->start;
    prepare(t);
    for (size_t i = 0, n; i < spans->n && t->status == MAKI_OK; i += n) {
        n = !t->recall || !t->ids ? 1 : spans->n - i < SOME ? spans->n - i : SOME;
        if (t->recall && t->ids) {
            encode_some(t, at, spans->ends + i, n);
        } else {
            encode_span(t, at, (size_t)(spans->ends[i] - at));
        }
        at = spans->ends[i + n - 1];
    }
    spans->start = at;
    spans->n = 0;
}

/* ---- texts ----------------------------------------------------------------------------------------- */

static void scan(maki_tokenizer *t, const unsigned char *at, const unsigned char *end)
{
    if (at == end || t->status != MAKI_OK) return;
    t->spans.start = at;
    t->end = end;
    t->scan(t->encoding->table, at, end, &t->spans);
}

/* Special tokens are taken out; what stands between them is text of its own. */
static void scan_special(maki_tokenizer *t, const unsigned char *at, const unsigned char *end)
{
    const unsigned char *from = at;
    while (at < end && (at = memchr(at, '<', (size_t)(end - at)))) {
        const maki_special *s = maki_special_at(t->encoding, (const char *)at, (size_t)(end - at));
        if (!s) {
            at++;
            continue;
        }
        scan(t, from, at);
        if (t->ids_fn)
            add_ids(t, &s->id, 1);
        else
            t->tokens++;
        from = at += strlen(s->text);
    }
    scan(t, from, end);
}

static void whole(maki_tokenizer *t, maki_str text)
{
    const unsigned char *at = (const unsigned char *)text.ptr;
    t->tokens = 0;
    if (text.len == 0) return;
    if (t->special)
        scan_special(t, at, at + text.len);
    else
        scan(t, at, at + text.len);
}

uint64_t maki_tokenizer_count(maki_tokenizer *t, maki_str text)
{
    t->spans.take = count_spans;
    t->ids_fn = NULL;
    t->status = MAKI_OK;
    whole(t, text);
    return t->tokens;
}

maki_status maki_tokenizer_encode(maki_tokenizer *t, maki_str text, maki_ids_fn fn, void *ctx,
                                  maki_err *err)
{
    t->spans.take = encode_spans;
    t->ids_fn = fn;
    t->ids_ctx = ctx;
    t->err = err;
    t->status = MAKI_OK;
    t->out_n = 0;
    whole(t, text);
    flush_ids(t);
    return t->status;
}

size_t maki_token_cut(maki_str text)
{
    const unsigned char *at = (const unsigned char *)text.ptr;
    return text.len ? (size_t)(maki_scan_cut(at, at + text.len) - at) : 0;
}

/* ---- parts ----------------------------------------------------------------------------------------- */

static maki_status add_whole(maki_token_stream *stream, maki_tokenizer *t, maki_str text,
                             maki_ids_fn fn, void *ctx, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (fn) {
        st = maki_tokenizer_encode(t, text, fn, ctx, err);
        if (st == MAKI_OK) stream->tokens += t->tokens;
    } else {
        stream->tokens += maki_tokenizer_count(t, text);
    }
    return st;
}

static maki_status hold(maki_token_stream *stream, const maki_alloc *alloc, maki_str part,
                        maki_err *err)
{
    size_t need = stream->len + part.len, capacity = stream->capacity ? stream->capacity : 4096;
    if (need < part.len) return maki_fail(err, MAKI_TOOBIG, "a text of %zu bytes", part.len);
    while (capacity < need)
        capacity = capacity > SIZE_MAX / 2 ? need : capacity * 2;
    if (capacity > stream->capacity) {
        char *held = alloc->resize(alloc, stream->held, stream->capacity, capacity);
        if (!held) return maki_fail(err, MAKI_NOMEM, "out of memory");
        stream->held = held;
        stream->capacity = capacity;
    }
    if (part.len) memcpy(stream->held + stream->len, part.ptr, part.len);
    stream->len = need;
    return MAKI_OK;
}

/* Where to cut `text`, of which the first `looked` bytes were looked through before. */
static size_t cut_after(const maki_tokenizer *t, maki_str text, size_t looked)
{
    size_t from = looked > LOOK_BACK ? looked - LOOK_BACK : 0;
    size_t cut = maki_token_cut((maki_str){ text.ptr + from, text.len - from });
    /* a special token may lie across a place that is good otherwise: cut before its first byte */
    while (cut && t->special) {
        size_t back = cut + from < SPECIAL_MAX ? cut + from : SPECIAL_MAX;
        const char *mark = maki_str_last((maki_str){ text.ptr + from + cut - back, back }, '<');
        if (!mark) break;
        if ((size_t)(mark - text.ptr) <= from) return 0;
        cut = maki_token_cut((maki_str){ text.ptr + from, (size_t)(mark - text.ptr) - from });
    }
    return cut ? cut + from : 0;
}

maki_status maki_token_stream_add(maki_token_stream *stream, maki_tokenizer *t, maki_str part,
                                  maki_ids_fn fn, void *ctx, maki_err *err)
{
    size_t looked = stream->len;
    maki_str text = part;
    if (part.len == 0) return MAKI_OK;
    if (stream->len) {
        maki_status st = hold(stream, t->alloc, part, err);
        if (st != MAKI_OK) return st;
        text = (maki_str){ stream->held, stream->len };
    }
    size_t cut = cut_after(t, text, looked);
    maki_status st =
        cut ? add_whole(stream, t, (maki_str){ text.ptr, cut }, fn, ctx, err) : MAKI_OK;
    if (st != MAKI_OK) return st;
    if (stream->len == 0) {
        return hold(stream, t->alloc, (maki_str){ text.ptr + cut, text.len - cut }, err);
    }
    memmove(stream->held, stream->held + cut, stream->len - cut);
    stream->len -= cut;
    return MAKI_OK;
}

maki_status maki_token_stream_end(maki_token_stream *stream, maki_tokenizer *t, maki_ids_fn fn,
                                  void *ctx, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (stream->len)
        st = add_whole(stream, t, (maki_str){ stream->held, stream->len }, fn, ctx, err);
    if (stream->held) t->alloc->resize(t->alloc, stream->held, stream->capacity, 0);
    stream->held = NULL;
    stream->len = stream->capacity = 0;
    return st;
}
