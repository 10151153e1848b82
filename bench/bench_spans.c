/* bench_spans.c -- find every row of a log and every field of every row.
 *
 *     bench_spans FILE
 *
 * Prints one JSON object: rows, fields, a sum of their places (so that nothing can be left out) and
 * the memory it took. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/block.h"
#include "base/err.h"
#include "base/json_scan.h"

#include "bench_peak.h"

enum { BLOCK = 1 << 18 };

typedef struct tally {
    uint64_t rows, fields, places;
} tally;

static maki_status on_span(void *ctx, const maki_json_span *span, maki_err *err)
{
    tally *t = ctx;
    (void)err;
    t->rows += span->depth == 0;
    t->fields += span->depth == 1;
    t->places += span->start ^ span->end ^ span->key_start ^ span->key_end;
    return MAKI_OK;
}

/* All of a file, BLOCK bytes at a time. */
static maki_status scan_file(const maki_env *env, int fd, const maki_json_scan_options *options,
                             maki_err *err)
{
    maki_json_scan scan;
    maki_status st = MAKI_OK;
    maki_json_scan_init(&scan, options);
    maki_block block = maki_block_new(env->alloc, BLOCK);
    if (!block.at) return maki_fail_nomem(err);
    while (st == MAKI_OK) {
        uint64_t at = scan.at + scan.pending_len;
        ssize_t got = env->files->pread(env->files, fd, block.at, block.size, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) st = maki_fail_errno(err, "reading JSON");
        if (got <= 0) break;
        st = maki_json_scan_push(&scan, (maki_str){ block.at, (size_t)got }, err);
    }
    if (st == MAKI_OK) st = maki_json_scan_end(&scan, err);
    maki_block_free(env->alloc, &block);
    return st;
}

int main(int argc, char **argv)
{
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    tally t = { 0, 0, 0 };
    if (argc != 2) {
        fprintf(stderr, "usage: bench_spans FILE\n");
        return 2;
    }
    int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        perror(argv[1]);
        return 1;
    }
    maki_json_scan_options options = {
        .json_lines = true, .report_depth = 1, .on_span = on_span, .ctx = &t
    };
    maki_status st = scan_file(&env, fd, &options, &err);
    close(fd);
    if (st != MAKI_OK) {
        fprintf(stderr, "bench_spans: %s\n", err.msg);
        return 1;
    }
    printf("{\"rows\":%" PRIu64 ",\"fields\":%" PRIu64 ",\"places\":%" PRIu64 ",\"peak_kb\":%lu}\n",
           t.rows, t.fields, t.places, bench_peak_kb());
    return 0;
}
