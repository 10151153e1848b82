/* bench_splice.c -- write a file of messages without the one in its middle.
 *
 *     bench_splice IN OUT
 *
 * IN is one JSON array.  One scan finds where every message stands, since how many there are is
 * only known at its end; then the file is copied around the message N/2.  Prints one JSON object. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files.h"
#include "base/json_scan.h"
#include "base/splice.h"

#include "bench_peak.h"

enum { PLACES_MAX = 12 << 20 };

typedef struct place {
    uint64_t start, end;
} place;

static maki_status on_span(void *ctx, const maki_json_span *span, maki_err *err)
{
    maki_buf *places = ctx;
    place at = { span->start, span->end };
    if (span->depth == 0) return MAKI_OK;
    maki_buf_add(places, (maki_str){ (const char *)&at, sizeof at });
    return maki_buf_status(places, err);
}

static maki_status without_middle(const maki_env *env, int in, int out, uint64_t *removed,
                                  maki_err *err)
{
    maki_buf found = maki_buf_new(env->alloc, PLACES_MAX);
    maki_fd_sink target = { env->files, out };
    maki_json_scan_options options = { .report_depth = 1, .on_span = on_span, .ctx = &found };
    maki_status st = maki_json_scan_file(env, in, &options, err);
    const place *all = (const place *)(const void *)found.ptr;
    size_t count = found.len / sizeof(place);
    if (st == MAKI_OK && count < 3) st = maki_fail(err, MAKI_INVALID, "too few messages");
    if (st == MAKI_OK) {
        const place *middle = &all[count / 2];
        maki_edit cut =
            maki_splice_cut(middle[-1].end, middle->start, middle->end, middle[1].start, true);
        *removed = cut.end - cut.start;
        st = maki_splice_file(env, in, 0, (uint64_t)env->files->size(env->files, in), &cut, 1,
                              maki_fd_sink_of(&target), err);
    }
    maki_buf_free(&found);
    return st;
}

int main(int argc, char **argv)
{
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    uint64_t removed = 0;
    if (argc != 3) {
        fprintf(stderr, "usage: bench_splice IN OUT\n");
        return 2;
    }
    int in = open(argv[1], O_RDONLY | O_CLOEXEC);
    int out = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (in < 0 || out < 0) {
        perror(in < 0 ? argv[1] : argv[2]);
        return 1;
    }
    maki_status st = without_middle(&env, in, out, &removed, &err);
    close(in);
    if (close(out) != 0 && st == MAKI_OK) st = maki_fail_errno(&err, "closing");
    if (st != MAKI_OK) {
        fprintf(stderr, "bench_splice: %s\n", err.msg);
        return 1;
    }
    printf("{\"removed\":%" PRIu64 ",\"peak_kb\":%lu}\n", removed, bench_peak_kb());
    return 0;
}
