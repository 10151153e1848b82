/* threads.c -- several threads, each with its own tokenizer, share the tables of the encodings, and may share a
 * cache. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <maki/token.h>

#include "tap.h"

enum { THREADS = 4, ROUNDS = 20, TEXT = 100000 };

typedef struct worker {
    pthread_t thread;
    maki_str text;
    maki_token_cache *cache[3]; /* NULL: its own */
    uint64_t counted[3], again[3];
    uint64_t sum[3]; /* of the ids, each times its place */
} worker;

typedef struct summing {
    uint64_t sum, place;
} summing;

static maki_status add(void *ctx, const uint32_t *ids, size_t n, maki_err *err)
{
    summing *s = ctx;
    (void)err;
    for (size_t i = 0; i < n; i++)
        s->sum += ids[i] * ++s->place;
    return MAKI_OK;
}

/* No CHECK in here: the harness belongs to the first thread.  What fails leaves zeros. */
static void *work(void *ctx)
{
    worker *w = ctx;
    maki_env env = maki_env_system();
    for (size_t i = 0; maki_encoding_at(i); i++) {
        maki_tokenizer *t = NULL;
        summing s = { 0 };
        maki_tokenizer_options options = MAKI_TOKENIZER_OPTIONS_INIT;
        options.cache = w->cache[i];
        if (maki_tokenizer_open(&env, maki_encoding_at(i), &options, &t, NULL) != MAKI_OK)
            return NULL;
        w->counted[i] = maki_tokenizer_count(t, w->text);
        for (int round = 0; round < ROUNDS; round++)
            w->again[i] += maki_tokenizer_count(t, w->text);
        if (maki_tokenizer_encode(t, w->text, add, &s, NULL) == MAKI_OK) w->sum[i] = s.sum;
        maki_tokenizer_close(t);
    }
    return NULL;
}

static maki_str mixed_text(void)
{
    static const char *const words[] = {
        " the",    "'s",   "\n\n    ", "日本語", "한국어", "中文",   "😀👩‍💻",
        "Encoder", "1234", "; // ",    "Ünïcö",  "あいう", "()[]{}", "\t",
        " x"
    };
    char *text = malloc(TEXT + 32);
    tap_random random = { 99 };
    size_t n = 0;
    if (!text) abort();
    while (n < TEXT) {
        const char *word = words[tap_below(&random, COUNT(words))];
        memcpy(text + n, word, strlen(word));
        n += strlen(word);
        /* and one that was hardly seen before: places are taken from others all the time */
        for (size_t left = 3 + tap_below(&random, 12); left; left--)
            text[n++] = (char)('a' + tap_below(&random, 26));
    }
    return (maki_str){ text, n };
}

static void check_threads(const worker *alone, maki_token_cache *const cache[3])
{
    worker workers[THREADS] = { 0 };
    for (size_t i = 0; i < THREADS; i++) {
        workers[i].text = alone->text;
        memcpy(workers[i].cache, cache, sizeof workers[i].cache);
        CHECK_EQ(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        CHECK_EQ(pthread_join(workers[i].thread, NULL), 0);
        for (size_t k = 0; k < 3; k++) {
            CHECK(alone->counted[k] > 0);
            CHECK_EQ(workers[i].counted[k], alone->counted[k]);
            CHECK_EQ(workers[i].again[k], ROUNDS * alone->counted[k]);
            CHECK_EQ(workers[i].sum[k], alone->sum[k]);
        }
    }
}

static void check_cache(const worker *alone)
{
    maki_env env = maki_env_system();
    maki_token_cache *cache[3] = { NULL };
    maki_tokenizer_options options = MAKI_TOKENIZER_OPTIONS_INIT;
    maki_tokenizer *t = NULL;
    maki_err err = { 0 };
    for (size_t k = 0; k < 3; k++)
        CHECK_STATUS(maki_token_cache_open(&env, maki_encoding_at(k), &cache[k], &err), MAKI_OK,
                     &err);
    check_threads(alone, cache);

    tap_row("a cache belongs to one encoding");
    options.cache = cache[0];
    CHECK_STATUS(maki_tokenizer_open(&env, maki_encoding_at(1), &options, &t, &err), MAKI_INVALID,
                 &err);
    CHECK_STATUS(maki_token_cache_open(&env, NULL, &cache[0], &err), MAKI_INVALID, &err);
    for (size_t k = 0; k < 3; k++)
        maki_token_cache_close(cache[k]);
}

int main(void)
{
    static worker alone;
    static maki_token_cache *const none[3];
    maki_str text = mixed_text();
    alone.text = text;
    work(&alone);

    tap_row("%d threads count and encode what one does", THREADS);
    check_threads(&alone, none);
    tap_row("%d threads that share a cache count what one does", THREADS);
    check_cache(&alone);
    char *owned = NULL;
    memcpy(&owned, &text.ptr, sizeof owned); /* it was made here, and is given back here */
    free(owned);
    return tap_end();
}
