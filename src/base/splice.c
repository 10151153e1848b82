/* splice.c -- see splice.h. */
#include "base/splice.h"

#include <string.h>

#include "base/block.h"
#include "base/err.h"
#include "base/files.h"
#include "base/json_scan.h"
#include "base/str.h"

static maki_status check(uint64_t from, uint64_t to, const maki_edit *edits, size_t count,
                         maki_err *err)
{
    uint64_t at = from;
    for (size_t i = 0; i < count; i++) {
        if (edits[i].start < at || edits[i].end < edits[i].start || edits[i].end > to) {
            return maki_fail(err, MAKI_INVALID,
                             "edit %zu (bytes %llu to %llu) overlaps another or leaves the text", i,
                             (unsigned long long)edits[i].start, (unsigned long long)edits[i].end);
        }
        at = edits[i].end;
    }
    return MAKI_OK;
}

static maki_status put(maki_sink sink, maki_str bytes, maki_err *err)
{
    return bytes.len ? sink.write(sink.ctx, bytes, err) : MAKI_OK;
}

maki_status maki_splice_text(maki_str text, const maki_edit *edits, size_t count, maki_sink sink,
                             maki_err *err)
{
    maki_status st = check(0, text.len, edits, count, err);
    size_t at = 0;
    for (size_t i = 0; st == MAKI_OK && i < count; i++) {
        st = put(sink, (maki_str){ text.ptr + at, (size_t)edits[i].start - at }, err);
        if (st == MAKI_OK) st = put(sink, edits[i].text, err);
        at = (size_t)edits[i].end;
    }
    if (st == MAKI_OK) st = put(sink, maki_str_from(text, at), err);
    return st;
}

/* What goes out, gathered into whole blocks: writes that begin and end on a block's edge are much
 * faster than those that begin where the last edit happened to end. */
typedef struct gather {
    maki_sink sink;
    char *block;
    size_t fill;
} gather;

static maki_status flush_full(gather *g, maki_err *err)
{
    if (g->fill < MAKI_SPLICE_BLOCK) return MAKI_OK;
    g->fill = 0;
    return put(g->sink, (maki_str){ g->block, MAKI_SPLICE_BLOCK }, err);
}

static maki_status gather_text(gather *g, maki_str text, maki_err *err)
{
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && text.len) {
        size_t room = MAKI_SPLICE_BLOCK - g->fill, n = text.len < room ? text.len : room;
        memcpy(g->block + g->fill, text.ptr, n);
        g->fill += n;
        text = maki_str_from(text, n);
        st = flush_full(g, err);
    }
    return st;
}

/* Bytes [from, to) of the file. */
static maki_status gather_file(gather *g, const maki_files *files, int fd, uint64_t from,
                               uint64_t to, maki_err *err)
{
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && from < to) {
        size_t room = MAKI_SPLICE_BLOCK - g->fill, got = 0;
        size_t want = to - from < room ? (size_t)(to - from) : room;
        st = maki_file_read_at(files, fd, from, g->block + g->fill, want, &got, err);
        if (st != MAKI_OK) return st;
        g->fill += got;
        from += got;
        if (got < want) {
            return maki_fail(err, MAKI_CORRUPT, "the file ends at byte %llu, %llu bytes too early",
                             (unsigned long long)from, (unsigned long long)(to - from));
        }
        st = flush_full(g, err);
    }
    return st;
}

maki_status maki_splice_file(const maki_env *env, int fd, uint64_t from, uint64_t to,
                             const maki_edit *edits, size_t count, maki_sink sink, maki_err *err)
{
    maki_status st = check(from, to, edits, count, err);
    uint64_t at = from;
    if (st != MAKI_OK) return st;
    gather g = { .sink = sink };
    maki_block block = maki_block_new(env->alloc, MAKI_SPLICE_BLOCK);
    if (!block.at) return maki_fail_nomem(err);
    g.block = block.at;
    for (size_t i = 0; st == MAKI_OK && i < count; i++) {
        st = gather_file(&g, env->files, fd, at, edits[i].start, err);
        if (st == MAKI_OK) st = gather_text(&g, edits[i].text, err);
        at = edits[i].end;
    }
    if (st == MAKI_OK) st = gather_file(&g, env->files, fd, at, to, err);
    /* also when the file was too short: what was there is handed on before that is told */
    if (st == MAKI_OK || st == MAKI_CORRUPT) {
        maki_status last = put(sink, (maki_str){ g.block, g.fill }, st == MAKI_OK ? err : NULL);
        if (st == MAKI_OK) st = last;
    }
    maki_block_free(env->alloc, &block);
    return st;
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
