/* dry_run.c -- a dry run: events that only this handle sees.
 *
 * Messages and index are read as by any reader.  The events file is replaced by an unlinked copy when the first event is
 * added; so a dry run takes no lock, holds nothing in memory, and leaves nothing behind when the log is closed or the
 * process killed. */
#include <assert.h>
#include <string.h>

#include "base/err.h"
#include "log/lines.h"
#include "log/log_internal.h"

maki_status maki_log_copy_events(maki_log *log, maki_err *err)
{
    const maki_files *files = log->env.files;
    if (log->events_copied) return MAKI_OK;
    int fd = files->temp(files);
    if (fd < 0) return maki_fail_errno(err, "cannot create a temporary file for a dry run");
    maki_status st = maki_file_copy(&log->env, log->events_fd, 0, log->events_end, fd, 0, err);
    if (st != MAKI_OK) {
        files->close(files, fd);
        return st;
    }
    log->shared_events_fd = log->events_fd;
    log->events_fd = fd;
    log->events_copied = true;
    return MAKI_OK;
}

maki_status maki_log_dry_run_begin(maki_log *log, maki_log_savepoint *mark, maki_err *err)
{
    maki_status st = log->options.dry_run ? MAKI_OK : maki_log_writable(log, err);
    if (st != MAKI_OK) return st;
    *mark = (maki_log_savepoint){ .events_end = log->events_end,
                                  .ev = log->ev,
                                  .dry_run = log->options.dry_run,
                                  .read_only = log->read_only };
    memcpy(mark->sum, log->sum, MAKI_CHAIN_LEN);
    log->options.dry_run = log->read_only = true;
    return MAKI_OK;
}

void maki_log_dry_run_end(maki_log *log, const maki_log_savepoint *mark)
{
    assert(log->options.dry_run && mark->ev <= log->ev && mark->events_end <= log->events_end);
    if (log->events_copied && !mark->dry_run) {
        log->env.files->close(log->env.files, log->events_fd);
        log->events_fd = log->shared_events_fd;
        log->shared_events_fd = -1;
        log->events_copied = false;
    }
    log->events_end = mark->events_end;
    log->ev = mark->ev;
    memcpy(log->sum, mark->sum, MAKI_CHAIN_LEN);
    log->options.dry_run = mark->dry_run;
    log->read_only = mark->read_only;
    maki_log_discard_group(log);
}
