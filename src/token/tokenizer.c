/* tokenizer.c -- see <maki/token.h>.
 *
 * Most spans are short and most have been seen before, so their counts are remembered: two tables, one
 * for spans of up to 15 bytes and one for up to 31, in which a new span takes the place of the old one
 * with the same hash.  A span is its own key, with its length in the last byte: equal keys are equal
 * spans, and a count from memory is exact.  Encoding has a table of its own, with ids. */
#include <maki/token.h>

#include <assert.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "base/str.h"
#include "token/encoding.h"
#include "token/merge.h"

enum {
    SHORT = 15, /* bytes of a span */
    MIDDLE = 31,
    WAYS = 4,
    SHORT_BITS = 16, /* of the number of places */
    MIDDLE_BITS = 12,
    SOME = 32, /* spans looked up together */
    IDS_BITS = 15,
    IDS = 4,         /* remembered for a short span */
    WHOLE = 96,      /* bytes of a span that is merged at once */
    OUT = 1024,      /* ids handed on at once */
    LOOK_BACK = 8,   /* bytes of text before a new part that a cut in it may depend on */
    SPECIAL_MAX = 32 /* bytes of a special token, at most */
};
#define COUNT_BITS (0xfull << 60)

/* The bytes of a short span, then its length in the lower half of the last byte; in the upper half,
 * which is 0 in a key, the count.  Nothing has length 0: zeroed is empty. */
typedef struct short_place {
    uint64_t low, high;
} short_place;
typedef struct middle_place {
    uint64_t words[4]; /* the last byte is the length */
} middle_place;
typedef struct ids_place {
    uint64_t low, high;
    uint32_t ids[IDS];
} ids_place;

typedef struct memory {
    short_place short_places[1 << SHORT_BITS][WAYS];
    middle_place middle_places[1 << MIDDLE_BITS];
    unsigned char middle_counts[1 << MIDDLE_BITS];
} memory;

struct maki_tokenizer {
    maki_spans spans; /* first: its `take` gets a pointer to this */
    const maki_encoding *encoding;
    const maki_alloc *alloc;
    bool special, remembers;
    maki_scan_fn *scan;
    maki_merge_fn *merge;
    const unsigned char *end; /* of the text */
    uint64_t tokens;
    /* encoding */
    maki_ids_fn ids_fn; /* NULL when counting */
    void *ids_ctx;
    maki_err *err;
    maki_status status; /* of ids_fn */
    memory *memory;     /* NULL: none */
    ids_place *ids_memory;
    size_t out_n;
    uint32_t out[OUT]; /* from here on not zeroed at open */
    maki_merging merging;
};

/* ---- open and close -------------------------------------------------------------------------------- */

/* Take the fastest code that this processor can run. */
static void choose(maki_tokenizer *t)
{
    t->scan = t->encoding->scan;
    t->merge = maki_merge;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt")) {
        t->scan = t->encoding->scan_avx2;
        t->merge = maki_merge_avx2;
    }
#endif
}

static void *get_zeroed(const maki_alloc *alloc, size_t size)
{
    void *p = alloc->resize(alloc, NULL, 0, size);
    if (p) memset(p, 0, size);
    return p;
}

maki_status maki_tokenizer_open(const maki_env *env, const maki_encoding *encoding,
                                const maki_tokenizer_options *options, maki_tokenizer **out,
                                maki_err *err)
{
    maki_tokenizer_options chosen = MAKI_TOKENIZER_OPTIONS_INIT;
    if (options)
        memcpy(&chosen, options, options->size < sizeof chosen ? options->size : sizeof chosen);
    if (!encoding) return maki_fail(err, MAKI_INVALID, "there is no such encoding");
    maki_tokenizer *t = env->alloc->resize(env->alloc, NULL, 0, sizeof *t);
    if (!t) return maki_fail(err, MAKI_NOMEM, "out of memory");
    memset(t, 0, offsetof(maki_tokenizer, out));
    t->encoding = encoding;
    t->alloc = env->alloc;
    t->special = chosen.special;
    t->remembers = !chosen.no_memory;
    choose(t);
    if (t->remembers && !(t->memory = get_zeroed(t->alloc, sizeof *t->memory))) {
        maki_tokenizer_close(t);
        return maki_fail(err, MAKI_NOMEM, "out of memory");
    }
    *out = t;
    return MAKI_OK;
}

void maki_tokenizer_close(maki_tokenizer *t)
{
    if (!t) return;
    const maki_alloc *alloc = t->alloc;
    if (t->memory) alloc->resize(alloc, t->memory, sizeof *t->memory, 0);
    if (t->ids_memory) alloc->resize(alloc, t->ids_memory, sizeof(ids_place) << IDS_BITS, 0);
    alloc->resize(alloc, t, sizeof *t, 0);
}

void maki_tokenizer_forget(maki_tokenizer *t)
{
    if (t->memory) memset(t->memory, 0, sizeof *t->memory);
    if (t->ids_memory) memset(t->ids_memory, 0, sizeof(ids_place) << IDS_BITS);
}

/* ---- counting -------------------------------------------------------------------------------------- */

static const uint64_t low_mask[SHORT + 1] = {
    0,     0xff,  0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff,
    ~0ull, ~0ull, ~0ull,  ~0ull,    ~0ull,      ~0ull,        ~0ull,          ~0ull
};
static const uint64_t high_mask[SHORT + 1] = { 0,
                                               0,
                                               0,
                                               0,
                                               0,
                                               0,
                                               0,
                                               0,
                                               0,
                                               0xff,
                                               0xffff,
                                               0xffffff,
                                               0xffffffff,
                                               0xffffffffff,
                                               0xffffffffffff,
                                               0xffffffffffffff };

/* The first 16 bytes at `at`, those after `len` zeroed, `len` in the last. */
static inline short_place short_key(const maki_tokenizer *t, const unsigned char *at, size_t len)
{
    short_place key;
    if (t->end - at >= 16) {
        memcpy(&key, at, 16);
    } else {
        unsigned char copy[16] = { 0 };
        memcpy(copy, at, len);
        memcpy(&key, copy, 16);
    }
    key.low &= low_mask[len];
    key.high = (key.high & high_mask[len]) | (uint64_t)len << 56;
    return key;
}

static inline uint64_t hash_of(uint64_t low, uint64_t high)
{
    uint64_t h = low * 0x9e3779b97f4a7c15u ^ high * 0xc2b2ae3d27d4eb4fu;
    return h ^ h >> 29;
}

static inline size_t place_of(uint64_t hash, unsigned bits)
{
    return hash * 0xd6e8feb86659fd93u >> (64 - bits);
}

static uint64_t count_span(maki_tokenizer *t, const unsigned char *at, size_t len)
{
    const maki_table *table = t->encoding->table;
    if (len <= WHOLE) return t->merge(table, at, len, &t->merging);
    return maki_merge_long(t->merge, table, at, len, &t->merging, NULL, NULL);
}

static inline bool same_short(const short_place *place, const short_place *key)
{
    return place->low == key->low && (place->high & ~COUNT_BITS) == key->high;
}

/* A short span that is about to be looked up. */
typedef struct question {
    short_place key;
    short_place *set;
} question;

static inline question ask(maki_tokenizer *t, const unsigned char *at, size_t len)
{
    short_place key = short_key(t, at, len);
    short_place *set = t->memory->short_places[place_of(hash_of(key.low, key.high), SHORT_BITS)];
    __builtin_prefetch(set);
    return (question){ key, set };
}

static uint64_t count_new(maki_tokenizer *t, const question *q, const unsigned char *at, size_t len)
{
    short_place *set = q->set;
    for (size_t k = 1; k < WAYS; k++) {
        if (same_short(&set[k], &q->key)) {
            short_place found = set[k];
            set[k] = set[k - 1];
            set[k - 1] = found;
            return found.high >> 60;
        }
    }
    uint64_t count = count_span(t, at, len);
    size_t i = 0; /* the first free place; else the last, where what was asked for least has sunk */
    while (i < WAYS - 1 && set[i].high)
        i++;
    set[i] = (short_place){ q->key.low, q->key.high | count << 60 };
    return count;
}

static uint64_t count_middle(maki_tokenizer *t, const unsigned char *at, size_t len)
{
    middle_place key = { { 0 } };
    memcpy(&key, at, len);
    key.words[3] |= (uint64_t)len << 56;
    uint64_t hash =
        hash_of(hash_of(key.words[0], key.words[1]), hash_of(key.words[2], key.words[3]));
    size_t i = place_of(hash, MIDDLE_BITS);
    middle_place *place = &t->memory->middle_places[i];
    if (memcmp(place, &key, sizeof key) == 0) return t->memory->middle_counts[i];
    uint64_t count = count_span(t, at, len);
    *place = key;
    t->memory->middle_counts[i] = (unsigned char)count;
    return count;
}

/* Some spans at a time, so that memory is fetched for several at once. */
static uint64_t count_some(maki_tokenizer *t, const unsigned char *at,
                           const unsigned char *const *ends, size_t n)
{
    question questions[SOME];
    uint64_t tokens = 0;
    const unsigned char *from = at;
    for (size_t i = 0; i < n; i++) {
        size_t len = (size_t)(ends[i] - from);
        if (len <= SHORT) questions[i] = ask(t, from, len);
        from = ends[i];
    }
    for (size_t i = 0; i < n; i++) {
        size_t len = (size_t)(ends[i] - at);
        const question *q = &questions[i];
        if (len > SHORT) {
            tokens += len <= MIDDLE ? count_middle(t, at, len) : count_span(t, at, len);
        } else if (same_short(q->set, &q->key)) {
            tokens += q->set->high >> 60;
        } else {
            tokens += count_new(t, q, at, len);
        }
        at = ends[i];
    }
    return tokens;
}

static void count_spans(maki_spans *spans)
{
    maki_tokenizer *t = (maki_tokenizer *)(void *)spans;
    const unsigned char *at = spans->start;
    for (size_t i = 0; i < spans->n;) {
        size_t n = spans->n - i < SOME ? spans->n - i : SOME;
        if (t->memory) {
            t->tokens += count_some(t, at, spans->ends + i, n);
        } else {
            n = 1;
            t->tokens += count_span(t, at, (size_t)(spans->ends[i] - at));
        }
        i += n;
        at = spans->ends[i - 1];
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
        size_t room = OUT - t->out_n, some = n < room ? n : room;
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
    if (len > WHOLE) {
        maki_merge_long(t->merge, table, at, len, &t->merging, add_ids, t);
    } else {
        add_ids(t, t->merging.ids, t->merge(table, at, len, &t->merging));
    }
}

static inline void encode_short(maki_tokenizer *t, const unsigned char *at, size_t len)
{
    short_place key = short_key(t, at, len);
    ids_place *place = &t->ids_memory[place_of(hash_of(key.low, key.high), IDS_BITS)];
    if (place->low != key.low || (place->high & ~COUNT_BITS) != key.high) {
        size_t n = t->merge(t->encoding->table, at, len, &t->merging);
        if (n > IDS) {
            add_ids(t, t->merging.ids, n);
            return;
        }
        *place = (ids_place){ .low = key.low, .high = key.high | (uint64_t)n << 60 };
        memcpy(place->ids, t->merging.ids, n * sizeof place->ids[0]);
    }
    if (OUT - t->out_n < IDS) flush_ids(t);
    memcpy(t->out + t->out_n, place->ids,
           sizeof place->ids); /* a few too many: they are overwritten */
    t->out_n += place->high >> 60;
}

static void encode_spans(maki_spans *spans)
{
    maki_tokenizer *t = (maki_tokenizer *)(void *)spans;
    const unsigned char *at = spans->start;
    for (size_t i = 0; i < spans->n && t->status == MAKI_OK; i++) {
        size_t len = (size_t)(spans->ends[i] - at);
        if (len <= SHORT && t->ids_memory)
            encode_short(t, at, len);
        else
            encode_span(t, at, len);
        at = spans->ends[i];
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
    if (t->remembers && !t->ids_memory) {
        t->ids_memory = get_zeroed(t->alloc, sizeof(ids_place) << IDS_BITS);
        if (!t->ids_memory) return maki_fail(err, MAKI_NOMEM, "out of memory");
    }
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
    size_t need = stream->len + part.len, room = stream->room ? stream->room : 4096;
    if (need < part.len) return maki_fail(err, MAKI_TOOBIG, "a text of %zu bytes", part.len);
    while (room < need)
        room = room > SIZE_MAX / 2 ? need : room * 2;
    if (room > stream->room) {
        char *held = alloc->resize(alloc, stream->held, stream->room, room);
        if (!held) return maki_fail(err, MAKI_NOMEM, "out of memory");
        stream->held = held;
        stream->room = room;
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
        const char *mark = memrchr(text.ptr + from + cut - back, '<', back);
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
    if (stream->held) t->alloc->resize(t->alloc, stream->held, stream->room, 0);
    stream->held = NULL;
    stream->len = stream->room = 0;
    return st;
}
