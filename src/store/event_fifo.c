/* event_fifo.c -- write an event into the daemon's FIFO, and the event of a run. */
#include "store/event_fifo.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/json_print.h"

void maki_managing_event(maki_buf *out, maki_str session, const char *reason, double tokens,
                         double window)
{
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(out), NULL);
    maki_jw_print(&w,
                  "{'type':'managing','session':%s,'reason':%z,'tokens':%f,'window':%f,'usage':%f}",
                  session, reason, tokens, window, tokens / window);
    if (maki_jw_end(&w) != MAKI_OK) maki_buf_clear(out);
}

/* Opened for reading too: then a daemon that just ended is no SIGPIPE, and none at all is no error. */
void maki_event_fifo_send(const maki_env *env, const char *home, maki_str json)
{
    const maki_files *files = env->files;
    char path[MAKI_PATH_MAX], line[MAKI_EVENT_MAX];
    int n = snprintf(path, sizeof path, "%s/" MAKI_EVENT_FIFO, home);
    if (n < 0 || (size_t)n >= sizeof path || json.len == 0 || json.len >= sizeof line) return;
    if (!maki_file_is(files, path, S_IFIFO)) return;
    int fd = files->open(files, path, O_RDWR | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd < 0) return;
    memcpy(line, json.ptr, json.len);
    line[json.len] = '\n';
    (void)!files->write(files, fd, line, json.len + 1);
    files->close(files, fd);
}
