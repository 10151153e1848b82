/* splice.c -- see splice.h. */
#include "base/splice.h"

#include "base/block.h"
#include "base/err.h"
#include "base/files.h"
#include "base/json_scan.h"
#include "base/str.h"

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
    maki_status st = put(sink, maki_str_to(block, (size_t)(stop - from)), err);
    return st == MAKI_OK ? put(sink, maki_str_from(block, (size_t)(again - from)), err) : st;
}

maki_status maki_splice_item(const maki_env *env, int fd, uint64_t index, maki_sink sink,
                             maki_err *err)
{
    item_cut cut = { index, UINT64_MAX, UINT64_MAX };
    maki_json_scan_options options = { .report_depth = 1, .on_span = note_item, .ctx = &cut };
    maki_json_scan scan;
    maki_status st = MAKI_OK;
    uint64_t at = 0;
    if (index == 0) return maki_fail(err, MAKI_INVALID, "items are taken out from 1 on");
    maki_block block = maki_block_new(env->alloc, MAKI_SPLICE_BLOCK);
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

maki_edit maki_splice_cut(uint64_t previous_end, uint64_t start, uint64_t end, uint64_t next_start,
                          bool any_kept_before)
{
    /* The comma goes with the item: the one before it when something stays before it, else the one
     * after it.  Neighbouring cuts then touch and never overlap. */
    if (any_kept_before) return (maki_edit){ previous_end, end, { "", 0 } };
    return (maki_edit){ start, next_start ? next_start : end, { "", 0 } };
}
