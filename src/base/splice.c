/* splice.c -- see splice.h. */
#include "base/splice.h"

#include <errno.h>

#include "base/err.h"
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

/* Bytes [from, to) of the file, through `block`. */
static maki_status copy(const maki_files *files, int fd, char *block, uint64_t from, uint64_t to,
                        maki_sink sink, maki_err *err)
{
    while (from < to) {
        size_t want = to - from < MAKI_SPLICE_BLOCK ? (size_t)(to - from) : MAKI_SPLICE_BLOCK;
        ssize_t got = files->pread(files, fd, block, want, (off_t)from);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return maki_fail_errno(err, "reading the text to splice");
        if (got == 0) {
            return maki_fail(err, MAKI_CORRUPT, "the file ends at byte %llu, %llu bytes too early",
                             (unsigned long long)from, (unsigned long long)(to - from));
        }
        maki_status st = put(sink, (maki_str){ block, (size_t)got }, err);
        if (st != MAKI_OK) return st;
        from += (uint64_t)got;
    }
    return MAKI_OK;
}

maki_status maki_splice_file(const maki_env *env, int fd, uint64_t from, uint64_t to,
                             const maki_edit *edits, size_t count, maki_sink sink, maki_err *err)
{
    maki_status st = check(from, to, edits, count, err);
    uint64_t at = from;
    if (st != MAKI_OK) return st;
    char *block = env->alloc->resize(env->alloc, NULL, 0, MAKI_SPLICE_BLOCK);
    if (!block) return maki_fail_nomem(err);
    for (size_t i = 0; st == MAKI_OK && i < count; i++) {
        st = copy(env->files, fd, block, at, edits[i].start, sink, err);
        if (st == MAKI_OK) st = put(sink, edits[i].text, err);
        at = edits[i].end;
    }
    if (st == MAKI_OK) st = copy(env->files, fd, block, at, to, sink, err);
    env->alloc->resize(env->alloc, block, MAKI_SPLICE_BLOCK, 0);
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
