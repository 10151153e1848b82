/* bench_summary.c -- how long the offline summary of a megabyte of conversation takes.
 *
 *     bench_summary BYTES FILE...     files of JSON lines, over and over until there are BYTES
 *
 * Prints one object: milliseconds (the middle one of five), bytes, messages, the tokens of the summary
 * and the peak of memory.  Only the work itself is timed; the tokens it replaces are counted in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_peak.h"

#include "base/buf.h"
#include "base/str_util.h"
#include "summary/offline.h"

enum { TIMES = 5 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void stop(const char *words)
{
    fprintf(stderr, "bench_summary: %s\n", words);
    exit(1);
}

/* Add the lines of a file while whole lines fit. */
static size_t add_lines(maki_buf *out, const char *path, size_t most)
{
    char *line = NULL;
    size_t capacity = 0, rows = 0;
    FILE *file = fopen(path, "rb");
    if (!file) stop(path);
    for (;;) {
        ssize_t n = getline(&line, &capacity, file);
        if (n <= 0 || out->len + (size_t)n > most) break;
        maki_buf_add(out, (maki_str){ line, (size_t)n });
        rows++;
    }
    free(line);
    fclose(file);
    return rows;
}

static maki_status each_line(const void *source, maki_message_fn fn, void *ctx, maki_err *err)
{
    maki_str rest = *(const maki_str *)source;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t n = (size_t)(end - rest.ptr); /* every line was read whole, with its end */
        st = fn(ctx, maki_str_prefix(rest, n), err);
        rest = maki_str_skip(rest, n + 1);
    }
    return st;
}

static double summarise(const maki_env *env, maki_str rows, size_t *bytes)
{
    maki_arena arena = maki_arena_new(env->alloc, 64 << 20);
    maki_summarizer offline = maki_summarizer_offline_with(NULL);
    maki_summary_request request = { .each = each_line, .source = &rows };
    maki_summary summary = { .text = { "", 0 } };
    maki_err err = { 0 };
    double began = now_ms();
    if (offline.run(&offline, &request, &arena, &summary, &err) != MAKI_OK) stop(err.msg);
    double took = now_ms() - began;
    *bytes = summary.text.len;
    maki_arena_free(&arena);
    return took;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    maki_env env = maki_env_system();
    double took[TIMES];
    size_t rows = 0, summary = 0, added = 1;
    if (argc < 3) stop("bench_summary BYTES FILE...");
    size_t most = (size_t)strtoull(argv[1], NULL, 10);
    maki_buf talk = maki_buf_new(env.alloc, most + 1);
    while (added) {
        added = 0;
        for (int i = 2; i < argc; i++)
            added += add_lines(&talk, argv[i], most);
        rows += added;
    }
    for (size_t i = 0; i < TIMES; i++)
        took[i] = summarise(&env, maki_buf_str(&talk), &summary);
    qsort(took, TIMES, sizeof *took, by_size);
    printf("{\"ms\":%.2f,\"bytes\":%zu,\"messages\":%zu,\"summary_bytes\":%zu,\"peak_kb\":%lu}\n",
           took[TIMES / 2], talk.len, rows, summary, bench_peak_kb());
    maki_buf_free(&talk);
    return 0;
}
