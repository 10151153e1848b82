/* pid_file.h -- the file serve.pid in the state directory: which daemon uses that directory, and where it listens.
 *
 * Three lines: process id, address, time of its start in milliseconds since 1970.  The daemon holds an exclusive flock on
 * it while it runs, so that no second one records into the same directory; a file without a lock was left behind by a
 * daemon that was killed.  Readers (cli/running_daemon.c) take no lock: it would stop a daemon that starts just then. */
#ifndef MAKI_DAEMON_PID_FILE_H
#define MAKI_DAEMON_PID_FILE_H

#include <maki/env.h>

#define MAKI_PID_FILE "serve.pid"

/* Lock the file in `home`, which is created if missing.  *fd stays open until maki_pid_file_close().  MAKI_CONFLICT:
 * another daemon holds the lock; *err names its address.  Where the file cannot be written (a full or read-only disk)
 * MAKI_OK and *fd -1. */
maki_status maki_pid_file_open(const maki_env *env, const char *home, int *fd, maki_err *err)
    MAKI_MUST_CHECK;
/* The address, known once the daemon listens. */
void maki_pid_file_write(const maki_env *env, int fd, const char *address);
/* Remove the file; accepts -1. */
void maki_pid_file_close(const maki_env *env, const char *home, int fd);

#endif
