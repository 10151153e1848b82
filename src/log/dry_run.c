/* dry_run.c -- what would happen if: events that nobody else sees.
 *
 * A rehearsal reads the messages and the index like any reader.  Its events file is a copy without a name,
 * made when the first event is added: it takes no lock, holds nothing in memory, and is gone when the log is
 * closed or the process killed. */
#include <string.h>

#include "base/block.h"
#include "base/err.h"
#include "base/files.h"
#include "log/log_internal.h"

static maki_status copy_events(const maki_log *log, int to, char *block, maki_err *err)
{
    maki_status st = MAKI_OK;
    for (uint64_t at = 0; st == MAKI_OK && at < log->events_end;) {
        uint64_t left = log->events_end - at;
        size_t want = left < BLOCK ? (size_t)left : BLOCK, got = 0;
        st = maki_file_read_at(log->env.files, log->events_fd, at, block, want, &got, err);
        if (st == MAKI_OK && got < want)
            st = maki_fail(err, MAKI_CORRUPT, "the events file was cut short while in use");
        if (st == MAKI_OK)
            st = maki_file_write_at(log->env.files, to, at, (maki_str){ block, got }, err);
        at += got;
    }
    return st;
}

maki_status maki_log_save_tail(maki_log *log, maki_err *err)
{
    const maki_files *files = log->env.files;
    if (log->apart) return MAKI_OK;
    int fd = files->temp(files);
    if (fd < 0) return maki_fail_errno(err, "making a temporary file to rehearse in");
    maki_block block = maki_block_new(log->env.alloc, BLOCK);
    maki_status st = block.at ? copy_events(log, fd, block.at, err) : maki_fail_nomem(err);
    maki_block_free(log->env.alloc, &block);
    if (st != MAKI_OK) {
        files->close(files, fd);
        return st;
    }
    log->shared_fd = log->events_fd;
    log->events_fd = fd;
    log->apart = true;
    return MAKI_OK;
}

maki_status maki_log_dry_run(maki_log *log, maki_log_mark *mark, maki_err *err)
{
    maki_status st = log->options.rehearse ? MAKI_OK : maki_log_writable(log, err);
    if (st != MAKI_OK) return st;
    *mark = (maki_log_mark){ .events_end = log->events_end,
                             .ev = log->ev,
                             .rehearse = log->options.rehearse,
                             .read_only = log->read_only };
    memcpy(mark->sum, log->sum, MAKI_CHAIN_LEN);
    log->options.rehearse = log->read_only = true;
    return MAKI_OK;
}

void maki_log_dry_run_end(maki_log *log, const maki_log_mark *mark)
{
    if (log->apart && !mark->rehearse) {
        log->env.files->close(log->env.files, log->events_fd);
        log->events_fd = log->shared_fd;
        log->shared_fd = -1;
        log->apart = false;
    }
    log->events_end = mark->events_end;
    log->ev = mark->ev;
    memcpy(log->sum, mark->sum, MAKI_CHAIN_LEN);
    log->options.rehearse = mark->rehearse;
    log->read_only = mark->read_only;
    maki_log_discard_group(log);
}
