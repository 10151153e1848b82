/* bench_tokens.c -- how fast tokens are counted and encoded.
 *
 *     bench_tokens speed ENCODING STEP FILE...   documents of 16 KB, MB/s; for each file one object
 *     bench_tokens worst ENCODING                100 KB in one piece, ms; 1 and 10 MB of "a"
 *
 * speed: `first` begins with nothing remembered, `warm` is the pass after it, and so for encoding;
 * `two_first` and `two_warm` are two threads that share a cache, each with its tokenizer and every
 * second document.  Each is the middle one of three, taken in turn.  `tokens` are those of every STEP-th
 * document, to be compared with the peer's.  Only the work itself is timed.  worst: the best of three. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include <maki/token.h>

enum { DOCUMENT = 16384, WORST = 100000, MEGABYTE = 1000000, TIMES = 3 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void stop(const char *words)
{
    fprintf(stderr, "bench_tokens: %s\n", words);
    exit(1);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double middle(double *values)
{
    qsort(values, TIMES, sizeof *values, by_size);
    return values[TIMES / 2];
}

/* `cache` NULL: with one of its own. */
static maki_tokenizer *open_tokenizer(const char *name, maki_token_cache *cache)
{
    maki_env env = maki_env_system();
    maki_tokenizer_options options = MAKI_TOKENIZER_OPTIONS_INIT;
    maki_tokenizer *t = NULL;
    maki_err err = { 0 };
    options.cache = cache;
    if (maki_tokenizer_open(&env, maki_encoding_find(name), &options, &t, &err) != MAKI_OK)
        stop(err.msg);
    return t;
}

static maki_token_cache *open_cache(const char *name)
{
    maki_env env = maki_env_system();
    maki_token_cache *cache = NULL;
    maki_err err = { 0 };
    if (maki_token_cache_open(&env, maki_encoding_find(name), &cache, &err) != MAKI_OK)
        stop(err.msg);
    return cache;
}

/* ---- documents ----------------------------------------------------------------------------- */

/* Every `step`-th document of the text from number `from`. */
typedef struct job {
    maki_tokenizer *tokenizer;
    maki_str text;
    size_t from, step;
    bool encode;
    uint64_t tokens;
} job;

static maki_status drop_ids(void *ctx, const uint32_t *ids, size_t n, maki_err *err)
{
    (void)err;
    *(uint32_t *)ctx ^= ids[n - 1]; /* read, so that they are there */
    return MAKI_OK;
}

static void *run(void *ctx)
{
    job *j = ctx;
    uint32_t last = 0;
    j->tokens = 0;
    for (size_t at = j->from * DOCUMENT; at < j->text.len; at += j->step * DOCUMENT) {
        size_t len = j->text.len - at < DOCUMENT ? j->text.len - at : DOCUMENT;
        maki_str document = { j->text.ptr + at, len };
        if (!j->encode)
            j->tokens += maki_tokenizer_count(j->tokenizer, document);
        else if (maki_tokenizer_encode(j->tokenizer, document, drop_ids, &last, NULL) != MAKI_OK)
            stop("cannot encode");
    }
    return NULL;
}

static double seconds_of(job *jobs, size_t count)
{
    pthread_t threads[2];
    double began = now();
    for (size_t i = 1; i < count; i++) {
        if (pthread_create(&threads[i], NULL, run, &jobs[i]) != 0) stop("no thread");
    }
    run(&jobs[0]);
    for (size_t i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    return now() - began;
}

static void measure(job *jobs, size_t count, bool encode, double *first, double *warm)
{
    double bytes = (double)jobs[0].text.len;
    for (size_t i = 0; i < count; i++) {
        jobs[i].encode = encode;
        maki_tokenizer_clear_cache(jobs[i].tokenizer);
    }
    *first = bytes / seconds_of(jobs, count) / 1e6;
    *warm = bytes / seconds_of(jobs, count) / 1e6;
}

/* Two threads that learn from each other, each with every second document. */
static void measure_two(const char *name, maki_str text, double *first, double *warm)
{
    maki_token_cache *cache = open_cache(name);
    job two[2];
    for (size_t i = 0; i < 2; i++)
        two[i] =
            (job){ .tokenizer = open_tokenizer(name, cache), .text = text, .from = i, .step = 2 };
    measure(two, 2, false, first, warm);
    for (size_t i = 0; i < 2; i++)
        maki_tokenizer_close(two[i].tokenizer);
    maki_token_cache_close(cache);
}

static maki_str read_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size == 0) stop("cannot read the file");
    size_t len = (size_t)st.st_size;
    const char *at = mmap(NULL, len, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (at == MAP_FAILED) stop("cannot map the file");
    return (maki_str){ at, len };
}

static void speed(const char *name, const char *step, const char *path)
{
    maki_str text = read_file(path);
    job one = { .tokenizer = open_tokenizer(name, NULL), .text = text, .step = 1 };
    job encoding = { .tokenizer = open_tokenizer(name, NULL), .text = text, .step = 1 };
    job part = { .tokenizer = one.tokenizer, .text = text, .step = strtoul(step, NULL, 10) };
    double first[TIMES], warm[TIMES], encode_first[TIMES], encode_warm[TIMES], two_first[TIMES],
        two_warm[TIMES];
    if (part.step == 0) stop("STEP is 1 or more");
    run(&part); /* the tables are in memory, the processor is awake */
    for (size_t i = 0; i < TIMES; i++) {
        measure(&one, 1, false, &first[i], &warm[i]);
        measure_two(name, text, &two_first[i], &two_warm[i]);
        measure(&encoding, 1, true, &encode_first[i], &encode_warm[i]);
    }
    printf("{\"first\":%.2f,\"warm\":%.2f,\"encode_first\":%.2f,\"encode_warm\":%.2f,"
           "\"two_first\":%.2f,\"two_warm\":%.2f,\"tokens\":%llu}",
           middle(first), middle(warm), middle(encode_first), middle(encode_warm),
           middle(two_first), middle(two_warm), (unsigned long long)part.tokens);
    maki_tokenizer_close(one.tokenizer);
    maki_tokenizer_close(encoding.tokenizer);
}

/* ---- the worst cases ----------------------------------------------------------------------- */

static uint32_t chance(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % below);
}

/* One piece of this kind; gives its length. */
static size_t fill(char *text, size_t len, const char *kind)
{
    uint64_t state = 4;
    size_t n = 0;
    while (n + 3 <= len) {
        uint32_t kana = 0x3041 + chance(&state, 0x53);
        if (strcmp(kind, "kana") == 0) {
            text[n++] = (char)0xe3;
            text[n++] = (char)(0x80 | (kana >> 6 & 0x3f));
            text[n++] = (char)(0x80 | (kana & 0x3f));
        } else if (strcmp(kind, "letters") == 0) {
            text[n++] = (char)('a' + chance(&state, 26));
        } else if (strcmp(kind, "mixed case") == 0) {
            text[n++] = (char)("aA"[chance(&state, 2)] + (char)chance(&state, 26));
        } else {
            text[n++] = *kind;
        }
    }
    return n;
}

/* Milliseconds, with nothing remembered. */
static double milliseconds(maki_tokenizer *t, maki_str text)
{
    double times[TIMES];
    for (size_t i = 0; i < TIMES; i++) {
        maki_tokenizer_clear_cache(t);
        double began = now();
        if (maki_tokenizer_count(t, text) == 0) stop("no tokens");
        times[i] = (now() - began) * 1e3;
    }
    qsort(times, TIMES, sizeof *times, by_size);
    return times[0]; /* what is slower was somebody else's doing: the work is the same each time */
}

static void worst(const char *name)
{
    static const char *const kinds[] = { "a", " ", "^", "letters", "kana", "mixed case" };
    maki_tokenizer *t = open_tokenizer(name, NULL);
    char *text = malloc(10 * MEGABYTE);
    if (!text) stop("out of memory");
    printf("{");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = fill(text, WORST, kinds[i]);
        printf("\"%s\":%.3f,", kinds[i], milliseconds(t, (maki_str){ text, n }));
    }
    memset(text, 'a', 10 * MEGABYTE);
    double one = milliseconds(t, (maki_str){ text, MEGABYTE });
    printf("\"1 MB\":%.3f,\"10 MB\":%.3f}\n", one,
           milliseconds(t, (maki_str){ text, 10 * MEGABYTE }));
    free(text);
    maki_tokenizer_close(t);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "worst") == 0) {
        worst(argv[2]);
        return 0;
    }
    if (argc < 5 || strcmp(argv[1], "speed") != 0) {
        fprintf(stderr, "usage: bench_tokens speed ENCODING STEP FILE... | worst ENCODING\n");
        return 2;
    }
    for (int i = 4; i < argc; i++) {
        printf(i == 4 ? "[" : ",");
        speed(argv[2], argv[3], argv[i]);
    }
    printf("]\n");
    return 0;
}
