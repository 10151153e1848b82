/* tokenizer.c -- counting and encoding a text: it is cut into spans (scan.h), a span is looked up (span_cache.h) or merged
 * (merge.h).
 *
 * In:     a text, whole or in parts, any bytes.
 * Out:    how many tokens, or their ids, in order; the same with and without a cache, in one part or in many.
 * Always: the cache only saves time: when there is no memory for it, every span is merged. */
#include <maki/token.h>

#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str_util.h"
#include "token/encoding.h"
#include "token/merge.h"
#include "token/span_cache.h"

enum {
    BATCH = 32,         /* spans looked up together */
    MERGE_ONE_MAX = 64, /* bytes of a span that is merged without windows */
    CACHE_AFTER = 8192, /* short spans counted before the caches are allocated */
    IDS_MAX = 1024,     /* ids in one call of ids_fn */
    LOOKBEHIND = 8,     /* bytes before a new part that a cut in it may depend on */
    SPECIAL_MAX = 32    /* maximum bytes of a special token */
};

struct maki_tokenizer {
    maki_spans spans; /* first: add_spans gets a pointer to it */
    const maki_encoding *encoding;
    const maki_alloc *alloc;
    bool special, use_cache;
    maki_scan_fn *scan;
    maki_merger merge;
    const unsigned char *end; /* of the text */
    uint64_t tokens;
    maki_ids_fn ids_fn; /* NULL when counting */
    void *ids_ctx;
    maki_err *err;
    maki_status status;        /* of ids_fn */
    uint64_t short_spans;      /* so far */
    maki_span_cache *shared;   /* of a maki_token_cache, or NULL */
    maki_span_cache *cache;    /* the one in use: `own_cache` or `shared`; NULL: none */
    maki_span_cache own_cache; /* with `ids` */
    maki_medium_cache *medium; /* with `cache` */
    maki_cached_ids *ids;
    size_t out_n;
    uint32_t out[IDS_MAX]; /* from here on not zeroed at open */
    maki_merge_scratch scratch;
};

struct maki_token_cache {
    const maki_alloc *alloc;
    const maki_encoding *encoding;
    maki_span_cache spans; /* used by several threads, see span_cache.h */
};

/* ---- open and close -------------------------------------------------------------------------------- */

static void add_spans(maki_spans *spans);

/* Select the fastest functions that this processor supports. */
static void select_functions(maki_tokenizer *t)
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
    maki_tokenizer_options effective = MAKI_TOKENIZER_OPTIONS_INIT;
    if (options)
        memcpy(&effective, options,
               options->size < sizeof effective ? options->size : sizeof effective);
    if (!encoding) return maki_fail(err, MAKI_INVALID, "unknown encoding");
    if (effective.cache && effective.cache->encoding != encoding)
        return maki_fail(err, MAKI_INVALID, "the cache is of %s, not of %s",
                         effective.cache->encoding->name, encoding->name);
    maki_tokenizer *t = maki_new(env->alloc, maki_tokenizer);
    if (!t) return maki_fail_nomem(err);
    memset(t, 0, offsetof(maki_tokenizer, out));
    t->encoding = encoding;
    t->alloc = env->alloc;
    t->special = effective.special;
    t->use_cache = !effective.no_cache;
    if (effective.cache && maki_span_cache_is_shareable()) t->shared = &effective.cache->spans;
    select_functions(t);
    t->spans.flush = add_spans;
    *out = t;
    return MAKI_OK;
}

void maki_tokenizer_close(maki_tokenizer *t)
{
    if (!t) return;
    const maki_alloc *alloc = t->alloc;
    maki_span_cache_free(&t->own_cache, alloc);
    if (t->medium) maki_delete(alloc, t->medium);
    if (t->ids) alloc->resize(alloc, t->ids, sizeof *t->ids * MAKI_CACHE_SLOTS, 0);
    maki_delete(alloc, t);
}

static void clear_ids(maki_tokenizer *t)
{
    if (t->ids) memset(t->ids, 0xff, sizeof *t->ids * MAKI_CACHE_SLOTS); /* MAKI_NO_TOKEN */
}

void maki_tokenizer_clear_cache(maki_tokenizer *t)
{
    maki_span_cache_clear(&t->own_cache);
    if (t->medium) memset(t->medium, 0, sizeof *t->medium);
    clear_ids(t);
}

maki_status maki_token_cache_open(const maki_env *env, const maki_encoding *encoding,
                                  maki_token_cache **out, maki_err *err)
{
    if (!encoding) return maki_fail(err, MAKI_INVALID, "unknown encoding");
    maki_token_cache *cache = maki_new(env->alloc, maki_token_cache);
    if (!cache) return maki_fail_nomem(err);
    *cache = (maki_token_cache){ .alloc = env->alloc, .encoding = encoding };
    if (maki_span_cache_is_shareable() &&
        !maki_span_cache_init(&cache->spans, MAKI_SET_BITS, env->alloc)) {
        maki_token_cache_close(cache);
        return maki_fail_nomem(err);
    }
    *out = cache;
    return MAKI_OK;
}

void maki_token_cache_close(maki_token_cache *cache)
{
    if (!cache) return;
    maki_span_cache_free(&cache->spans, cache->alloc);
    maki_delete(cache->alloc, cache);
}

/* Allocate the caches after CACHE_AFTER short spans.  Out of memory is no error: t->cache stays NULL. */
static void prepare_cache(maki_tokenizer *t)
{
    bool ids = t->ids_fn != NULL, shared = t->shared && !ids; /* a shared cache has no ids */
    t->cache = NULL;
    if (!t->use_cache || (t->short_spans < CACHE_AFTER && !shared)) return;
    if (!t->medium && !(t->medium = maki_new(t->alloc, maki_medium_cache))) return;
    if (!shared && !t->own_cache.slots &&
        !maki_span_cache_init(&t->own_cache, MAKI_SET_BITS, t->alloc))
        return;
    t->cache = shared ? t->shared : &t->own_cache;
    if (ids && !t->ids) {
        t->ids = t->alloc->resize(t->alloc, NULL, 0, sizeof *t->ids * MAKI_CACHE_SLOTS);
        clear_ids(t);
    }
}

/* ---- spans ----------------------------------------------------------------------------------------- */

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
        size_t capacity = IDS_MAX - t->out_n, count = n < capacity ? n : capacity;
        memcpy(t->out + t->out_n, ids, count * sizeof ids[0]);
        t->out_n += count;
        ids += count;
        n -= count;
        if (t->out_n == IDS_MAX) flush_ids(t);
    }
}

static uint64_t count_span(maki_tokenizer *t, const unsigned char *at, size_t len)
{
    const maki_table *table = t->encoding->table;
    t->short_spans += len <= MAKI_SHORT_MAX;
    if (len <= MERGE_ONE_MAX) return t->merge.one(table, at, len, &t->scratch);
    return maki_merge_long(t->merge, table, at, len, &t->scratch, NULL, NULL);
}

static void encode_span(maki_tokenizer *t, const unsigned char *at, size_t len)
{
    if (len <= MERGE_ONE_MAX)
        add_ids(t, t->scratch.ids, count_span(t, at, len));
    else
        maki_merge_long(t->merge, t->encoding->table, at, len, &t->scratch, add_ids, t);
}

/* The count of a short span, inserted into the cache if missing, and its slot. */
static uint64_t count_short(maki_tokenizer *t, const maki_span_query *q, const unsigned char *at,
                            size_t len, size_t *slot)
{
    maki_cached_ids *ids = t->cache == &t->own_cache ? t->ids : NULL;
    uint64_t count = maki_span_cache_lookup(t->cache, ids, q, slot);
    if (count) return count;
    count = count_span(t, at, len);
    *slot = maki_span_cache_insert(t->cache, ids, q, t->scratch.ids, count);
    return count;
}

static uint64_t count_medium(maki_tokenizer *t, const unsigned char *at, size_t len)
{
    bool hit;
    unsigned char *count = maki_medium_cache_lookup(t->medium, at, len, &hit);
    if (!hit) *count = (unsigned char)count_span(t, at, len);
    return *count;
}

static inline void encode_short(maki_tokenizer *t, const maki_span_query *q,
                                const unsigned char *at, size_t len)
{
    size_t slot = q->set;
    uint64_t count = maki_span_cache_lookup_first(t->cache, q);
    if (!count) count = count_short(t, q, at, len, &slot);
    maki_cached_ids *cached = &t->ids[slot];
    if (cached->ids[0] == MAKI_NO_TOKEN) { /* too many ids, or it was only counted */
        encode_span(t, at, len);
        if (count <= MAKI_CACHED_IDS)
            memcpy(cached->ids, t->scratch.ids, count * sizeof cached->ids[0]);
        return;
    }
    if (IDS_MAX - t->out_n < MAKI_CACHED_IDS) flush_ids(t);
    /* perhaps more than `count`: the next ids overwrite the rest */
    memcpy(t->out + t->out_n, cached->ids, sizeof cached->ids);
    t->out_n += count;
}

/* Count or encode a batch of spans with the cache: all short ones are queried before the first is looked up. */
static inline void add_batch(maki_tokenizer *t, const unsigned char *start,
                             const unsigned char *const *ends, size_t n, bool encode)
{
    maki_span_query queries[BATCH];
    const unsigned char *at = start;
    for (size_t i = 0; i < n; at = ends[i++]) {
        size_t len = (size_t)(ends[i] - at);
        if (len > MAKI_SHORT_MAX) continue;
        queries[i] = maki_span_cache_query(t->cache, at, len, t->end);
        if (encode) __builtin_prefetch(&t->ids[queries[i].set]);
    }
    uint64_t tokens = 0;
    at = start;
    for (size_t i = 0; i < n; at = ends[i++]) {
        size_t len = (size_t)(ends[i] - at), slot;
        if (encode && len <= MAKI_SHORT_MAX) {
            encode_short(t, &queries[i], at, len);
        } else if (encode) {
            encode_span(t, at, len);
        } else if (len > MAKI_SHORT_MAX) {
            tokens += len <= MAKI_MEDIUM_MAX ? count_medium(t, at, len) : count_span(t, at, len);
        } else {
            uint64_t count = maki_span_cache_lookup_first(t->cache, &queries[i]);
            tokens += count ? count : count_short(t, &queries[i], at, len, &slot);
        }
    }
    t->tokens += tokens;
}

static void add_spans(maki_spans *spans)
{
    maki_tokenizer *t = (maki_tokenizer *)(void *)spans;
    const unsigned char *at = spans->start;
    bool encode = t->ids_fn != NULL;
    prepare_cache(t);
    bool cached = t->cache && (!encode || t->ids);
    for (size_t i = 0, n; i < spans->n && t->status == MAKI_OK; i += n) {
        n = !cached ? 1 : spans->n - i < BATCH ? spans->n - i : BATCH;
        if (cached && encode)
            add_batch(t, at, spans->ends + i, n, true);
        else if (cached)
            add_batch(t, at, spans->ends + i, n, false);
        else if (encode)
            encode_span(t, at, (size_t)(spans->ends[i] - at));
        else
            t->tokens += count_span(t, at, (size_t)(spans->ends[i] - at));
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

/* Special tokens are one token each; the texts between them are scanned independently. */
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

static void tokenize(maki_tokenizer *t, maki_str text)
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
    t->ids_fn = NULL;
    t->status = MAKI_OK;
    tokenize(t, text);
    return t->tokens;
}

maki_status maki_tokenizer_encode(maki_tokenizer *t, maki_str text, maki_ids_fn fn, void *ctx,
                                  maki_err *err)
{
    t->ids_fn = fn;
    t->ids_ctx = ctx;
    t->err = err;
    t->status = MAKI_OK;
    t->out_n = 0;
    tokenize(t, text);
    flush_ids(t);
    return t->status;
}

size_t maki_token_cut(maki_str text)
{
    const unsigned char *at = (const unsigned char *)text.ptr;
    return text.len ? (size_t)(maki_scan_cut(at, at + text.len) - at) : 0;
}

/* ---- streams --------------------------------------------------------------------------------------- */

static maki_status add_text(maki_token_stream *stream, maki_tokenizer *t, maki_str text,
                            maki_ids_fn fn, void *ctx, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (fn)
        st = maki_tokenizer_encode(t, text, fn, ctx, err);
    else
        maki_tokenizer_count(t, text);
    if (st == MAKI_OK) stream->tokens += t->tokens;
    return st;
}

static maki_status append(maki_token_stream *stream, const maki_alloc *alloc, maki_str part,
                          maki_err *err)
{
    size_t need = stream->len + part.len, capacity = stream->capacity ? stream->capacity : 4096;
    if (need < part.len) return maki_fail(err, MAKI_TOOBIG, "a text of %zu bytes", part.len);
    while (capacity < need)
        capacity = capacity > SIZE_MAX / 2 ? need : capacity * 2;
    if (capacity > stream->capacity) {
        char *buffer = alloc->resize(alloc, stream->buffer, stream->capacity, capacity);
        if (!buffer) return maki_fail_nomem(err);
        stream->buffer = buffer;
        stream->capacity = capacity;
    }
    if (part.len) memcpy(stream->buffer + stream->len, part.ptr, part.len);
    stream->len = need;
    return MAKI_OK;
}

/* Where to cut `text`, in whose first `scanned` bytes no cut was found before. */
static size_t cut_after(const maki_tokenizer *t, maki_str text, size_t scanned)
{
    size_t from = scanned > LOOKBEHIND ? scanned - LOOKBEHIND : 0;
    size_t cut = maki_token_cut((maki_str){ text.ptr + from, text.len - from });
    /* a special token may lie across this position: cut before its first byte */
    while (cut && t->special) {
        size_t lookback = cut + from < SPECIAL_MAX ? cut + from : SPECIAL_MAX;
        const char *mark =
            maki_str_last((maki_str){ text.ptr + from + cut - lookback, lookback }, '<');
        if (!mark) break;
        if ((size_t)(mark - text.ptr) <= from) return 0;
        cut = maki_token_cut((maki_str){ text.ptr + from, (size_t)(mark - text.ptr) - from });
    }
    return cut ? cut + from : 0;
}

maki_status maki_token_stream_add(maki_token_stream *stream, maki_tokenizer *t, maki_str part,
                                  maki_ids_fn fn, void *ctx, maki_err *err)
{
    size_t scanned = stream->len;
    maki_str text = part;
    if (part.len == 0) return MAKI_OK;
    if (stream->len) {
        maki_status st = append(stream, t->alloc, part, err);
        if (st != MAKI_OK) return st;
        text = (maki_str){ stream->buffer, stream->len };
    }
    size_t cut = cut_after(t, text, scanned);
    maki_status st = cut ? add_text(stream, t, (maki_str){ text.ptr, cut }, fn, ctx, err) : MAKI_OK;
    if (st != MAKI_OK) return st;
    if (stream->len == 0) {
        return append(stream, t->alloc, (maki_str){ text.ptr + cut, text.len - cut }, err);
    }
    memmove(stream->buffer, stream->buffer + cut, stream->len - cut);
    stream->len -= cut;
    return MAKI_OK;
}

maki_status maki_token_stream_end(maki_token_stream *stream, maki_tokenizer *t, maki_ids_fn fn,
                                  void *ctx, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (stream->len)
        st = add_text(stream, t, (maki_str){ stream->buffer, stream->len }, fn, ctx, err);
    if (stream->buffer) t->alloc->resize(t->alloc, stream->buffer, stream->capacity, 0);
    stream->buffer = NULL;
    stream->len = stream->capacity = 0;
    return st;
}
