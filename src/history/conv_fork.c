/* conv_fork.c -- create a fork: a new conversation that shares the history of another up to a revision.
 *
 * In:    the parent, a revision (seq, ev), and the path of the new messages file, which must not exist or be empty, in
 *        the directory of the parent (of a task: of the parent's directory).
 * Out:   a log whose first event names the parent's id, the revision and the chain hash there; no message is copied.
 * Must stay true: no call is cut from its results (the cut moves back), and the parent is not changed. */
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json_builder.h"
#include "base/limits.h"
#include "base/str_util.h"
#include "history/change_internal.h"
#include "history/erase.h"

maki_str maki_conv_id(const maki_conv *conv)
{
    maki_str p = maki_str_of(maki_log_path(conv->log));
    maki_str task = MAKI_LIT("/messages.jsonl");
    bool directory = p.len > task.len && maki_str_equal(maki_str_skip(p, p.len - task.len), task);
    size_t end = p.len - (directory ? task.len : strlen(".jsonl"));
    size_t start = end;
    while (start > 0 && p.ptr[start - 1] != '/')
        start--;
    return (maki_str){ p.ptr + start, end - start };
}

/* Would a fork at `path` find this conversation?  It looks for its parent by the id alone. */
static maki_status check_place(maki_conv *conv, const char *path, maki_err *err)
{
    const char *own = maki_log_path(conv->log);
    char id[MAKI_PATH_MAX], found[MAKI_PATH_MAX];
    maki_str_copy(maki_conv_id(conv), id, sizeof id);
    maki_status st = maki_conv_parent_path(path, id, found, sizeof found, err);
    if (st != MAKI_OK) return st;
    int fd = maki_log_open_files(conv->log).messages_fd;
    if (maki_file_same(conv->env.files, fd, found) == 1) return MAKI_OK;
    return maki_fail(err, MAKI_INVALID,
                     "%.80s is not next to %.80s, where a fork looks for its parent", path, own);
}

maki_status maki_conv_fork(maki_conv *conv, uint64_t seq, uint64_t ev, const char *path,
                           maki_str header, maki_err *err)
{
    char chain[2 * MAKI_CHAIN_LEN + 1];
    maki_conv *child = NULL;
    maki_change ignored;
    maki_index_record row;
    maki_json_builder build;
    maki_str fields;
    const maki_view *view;
    maki_status st = check_place(conv, path, err);
    if (st == MAKI_OK) st = maki_log_refresh(conv->log, err);
    if (st == MAKI_OK) st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    if (st == MAKI_OK) st = maki_adjust_cut(conv, &seq, err);
    if (st != MAKI_OK) return st;
    if (seq == 0 || seq > maki_log_last(conv->log)) {
        return maki_fail(err, MAKI_NOTFOUND, "there is no message %" PRIu64 " to fork at", seq);
    }
    if (st == MAKI_OK) st = maki_log_row(maki_conv_owner(conv, seq)->log, seq, &row, err);
    if (st != MAKI_OK) return st;
    if (ev == MAKI_NEWEST) ev = maki_events_at(&conv->events, seq);
    maki_hex(row.chain, MAKI_CHAIN_LEN, chain);

    maki_conv_options options = { .create = true,
                                  .durability = MAKI_DURABILITY_SYNC,
                                  .header = header };
    st = maki_conv_open(&conv->env, path, &options, &child, err);
    if (st != MAKI_OK) return st;
    bool blank = maki_log_last(child->log) == 0 && maki_log_events(child->log) == 0;
    if (!blank) st = maki_fail(err, MAKI_CONFLICT, "%s exists already", path);
    maki_json_builder_begin(&build, &child->arena, err);
    maki_jw_begin_object(&build.w);
    maki_jw_key(&build.w, MAKI_LIT("parent"));
    maki_jw_string(&build.w, maki_conv_id(conv));
    maki_jw_key(&build.w, MAKI_LIT("seq"));
    maki_jw_int(&build.w, (int64_t)seq);
    maki_jw_key(&build.w, MAKI_LIT("parentEv"));
    maki_jw_int(&build.w, (int64_t)ev);
    maki_jw_key(&build.w, MAKI_LIT("chain"));
    maki_jw_string(&build.w, maki_str_of(chain));
    maki_jw_end_object(&build.w);
    maki_status built = maki_json_builder_end(&build, &child->arena, &fields, err);
    if (st == MAKI_OK) st = built;
    if (st == MAKI_OK)
        st = maki_conv_add_event(child, "fork", maki_json_strip_quotes(fields), &ignored, err);
    maki_conv_close(child);
    if (st != MAKI_OK && blank) maki_conv_erase_new(&conv->env, path);
    return st;
}
