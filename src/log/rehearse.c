/* rehearse.c -- what would happen if: events that nobody else sees.
 *
 * A rehearsal reads the messages and the index like any reader.  Its events file is a copy without a name,
 * made when the first event is added: it takes no lock, holds nothing in memory, and is gone when the log is
 * closed or the process killed. */
#include "base/block.h"
#include "base/err.h"
#include "base/files.h"
#include "log/log_inside.h"

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

maki_status maki_log_set_apart(maki_log *log, maki_err *err)
{
    const maki_files *files = log->env.files;
    if (log->apart) return MAKI_OK;
    int fd = files->temp(files, maki_temp_folder());
    if (fd < 0) return maki_fail_errno(err, "making a temporary file to rehearse in");
    maki_block block = maki_block_new(log->env.alloc, BLOCK);
    maki_status st = block.at ? copy_events(log, fd, block.at, err) : maki_fail_nomem(err);
    maki_block_free(log->env.alloc, &block);
    if (st != MAKI_OK) {
        files->close(files, fd);
        return st;
    }
    if (log->events_fd >= 0) files->close(files, log->events_fd);
    log->events_fd = fd;
    log->apart = true;
    return MAKI_OK;
}
