/* event_fifo_reader.c -- read lines from the FIFO, and broadcast those that are events. */
#include "daemon/event_fifo_reader.h"

#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "store/event_fifo.h"

struct maki_event_fifo_reader {
    const maki_env *env;
    maki_broadcast *broadcast;
    struct event *readable;
    int fd;
    char path[MAKI_PATH_MAX];
    size_t len; /* bytes of an incomplete line */
    char line[2 * MAKI_EVENT_MAX];
};

/* Anybody with this user's rights may write: only events that the page knows go on. */
static void on_line(const maki_event_fifo_reader *r, maki_str line)
{
    maki_str event;
    if (maki_json_check(line, &event, NULL) == MAKI_OK &&
        maki_json_field_is(event, "type", "managing"))
        maki_broadcast_send(r->broadcast, event);
}

/* Broadcast the complete lines and keep the rest; a line that is too long is dropped. */
static void take_lines(maki_event_fifo_reader *r)
{
    maki_str rest = { r->line, r->len }, line;
    while (memchr(rest.ptr, '\n', rest.len)) {
        maki_str_take(&rest, '\n', &line);
        on_line(r, line);
    }
    r->len = rest.len < sizeof r->line ? rest.len : 0;
    memmove(r->line, rest.ptr, r->len);
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
    maki_event_fifo_reader *r = ctx;
    const maki_files *files = r->env->files;
    ssize_t n = files->read(files, (int)fd, r->line + r->len, sizeof r->line - r->len);
    (void)what;
    if (n <= 0) return;
    r->len += (size_t)n;
    take_lines(r);
}

maki_event_fifo_reader *maki_event_fifo_reader_open(const maki_env *env, struct event_base *base,
                                                    const char *home, maki_broadcast *broadcast)
{
    const maki_files *files = env->files;
    maki_event_fifo_reader *r = maki_new(env->alloc, maki_event_fifo_reader);
    if (!r) return NULL;
    *r = (maki_event_fifo_reader){ .env = env, .broadcast = broadcast, .fd = -1 };
    snprintf(r->path, sizeof r->path, "%s/" MAKI_EVENT_FIFO, home);
    if (maki_file_is(files, r->path, S_IFIFO))
        files->unlink(files, r->path); /* of a daemon that was killed */
    if (mkfifo(r->path, 0600) == 0)
        r->fd = files->open(files, r->path, O_RDWR | O_NONBLOCK | O_CLOEXEC, 0);
    if (r->fd >= 0) r->readable = event_new(base, r->fd, EV_READ | EV_PERSIST, on_readable, r);
    if (r->readable && event_add(r->readable, NULL) == 0) return r;
    maki_event_fifo_reader_close(r);
    return NULL;
}

void maki_event_fifo_reader_close(maki_event_fifo_reader *r)
{
    if (!r) return;
    if (r->readable) event_free(r->readable);
    if (r->fd >= 0) {
        r->env->files->unlink(r->env->files, r->path);
        r->env->files->close(r->env->files, r->fd);
    }
    maki_delete(r->env->alloc, r);
}
