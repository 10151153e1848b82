/* bench_splice.c -- write a file of messages without one of them.
 *
 *     bench_splice IN OUT NUMBER
 *
 * IN is one JSON array; one pass finds the message, checks the whole file and copies the rest.
 * Prints one JSON object. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/block.h"
#include "base/err.h"
#include "base/files.h"
#include "base/json_scan.h"
#include "base/str_util.h"

#include "bench_peak.h"

enum { BLOCK = 1 << 20 };

static maki_status put(maki_sink sink, maki_str bytes, maki_err *err)
{
    return bytes.len ? sink.write(sink.ctx, bytes, err) : MAKI_OK;
}

/* What the scanner has told of the item so far: bytes [start, end) are to go. */
typedef struct item_cut {
    uint64_t index, start, end;
} item_cut;

static maki_status note_item(void *ctx, const maki_json_span *span, maki_err *err)
{
    item_cut *cut = ctx;
    if (span->depth == 0 && span->kind != MAKI_JSON_ARRAY) {
        return maki_fail(err, MAKI_INVALID, "not a JSON array");
    }
    if (span->depth == 0) return MAKI_OK;
    if (span->index + 1 == cut->index) cut->start = span->end; /* the comma before it goes too */
    if (span->index == cut->index) cut->end = span->end;
    return MAKI_OK;
}

/* The bytes [from, from + block.len) of the file without those of the cut. */
static maki_status put_around(maki_sink sink, maki_str block, uint64_t from, const item_cut *cut,
                              maki_err *err)
{
    uint64_t to = from + block.len;
    uint64_t stop = cut->start < from ? from : cut->start < to ? cut->start : to;
    uint64_t again = cut->end < stop ? stop : cut->end < to ? cut->end : to;
    maki_status st = put(sink, maki_str_prefix(block, (size_t)(stop - from)), err);
    return st == MAKI_OK ? put(sink, maki_str_skip(block, (size_t)(again - from)), err) : st;
}

static maki_status splice_item(const maki_env *env, int fd, uint64_t index, maki_sink sink,
                               maki_err *err)
{
    item_cut cut = { index, UINT64_MAX, UINT64_MAX };
    maki_json_scan_options options = { .report_depth = 1, .on_span = note_item, .ctx = &cut };
    maki_json_scan scan;
    maki_status st = MAKI_OK;
    uint64_t at = 0;
    if (index == 0) return maki_fail(err, MAKI_INVALID, "items are taken out from 1 on");
    maki_block block = maki_block_new(env->alloc, BLOCK);
    if (!block.at) return maki_fail_nomem(err);
    maki_json_scan_init(&scan, &options);
    for (size_t got = 1; st == MAKI_OK && got > 0; at += got) {
        st = maki_file_read_at(env->files, fd, at, block.at, block.size, &got, err);
        maki_str read = { block.at, got };
        if (st == MAKI_OK) st = maki_json_scan_push(&scan, read, err);
        if (st == MAKI_OK) st = put_around(sink, read, at, &cut, err);
    }
    if (st == MAKI_OK) st = maki_json_scan_end(&scan, err);
    if (st == MAKI_OK && cut.end == UINT64_MAX) {
        st = maki_fail(err, MAKI_NOTFOUND, "the array has no item %llu", (unsigned long long)index);
    }
    maki_block_free(env->alloc, &block);
    return st;
}

int main(int argc, char **argv)
{
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    if (argc != 4) {
        fprintf(stderr, "usage: bench_splice IN OUT NUMBER\n");
        return 2;
    }
    int in = open(argv[1], O_RDONLY | O_CLOEXEC);
    int out = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (in < 0 || out < 0) {
        perror(in < 0 ? argv[1] : argv[2]);
        return 1;
    }
    maki_fd_sink target = { env.files, out };
    maki_status st =
        splice_item(&env, in, strtoull(argv[3], NULL, 10), maki_fd_sink_of(&target), &err);
    close(in);
    if (close(out) != 0 && st == MAKI_OK) st = maki_fail_errno(&err, "closing");
    if (st != MAKI_OK) {
        fprintf(stderr, "bench_splice: %s\n", err.msg);
        return 1;
    }
    printf("{\"peak_kb\":%lu}\n", bench_peak_kb());
    return 0;
}
