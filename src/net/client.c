/* client.c -- connect curl's multi interface to libevent.
 *
 * curl reports which sockets it waits for and when its timer expires (multi_socket_action); both become events of the
 * loop.  While curl is on the stack (`curl_depth`) no call may be removed from it: a cancelled call is marked, aborts
 * at its next callback, and is removed when curl returns.  Finished calls go to a pool and are reused. */
#include "net/client.h"

#include <curl/curl.h>
#include <event2/event.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/platform.h"
#include "base/str_util.h"
#include "net/url.h"

enum {
    HEAD_MAX = 65536,     /* of a response */
    RECEIVE_BYTES = 2048, /* curl's receive buffer, one for each call */
    UPLOAD_BYTES = 16384, /* the minimum of curl; only for bodies from on_read_body */
    POOL_MAX = 256,       /* maximum of finished calls cached for reuse */
    SWEEP_SECONDS = 1,
};

/* A socket watched by the loop. */
typedef struct watch {
    struct event *event; /* NULL: not watched */
    short flags;
    bool in_use; /* by a call; false: its connection is idle */
} watch;

struct maki_client {
    const maki_env *env;
    struct event_base *base;
    maki_client_limits limits;
    CURLM *multi;
    struct event *timer, *sweep;
    maki_client_call *first; /* running */
    maki_client_call *pool;  /* idle, for reuse */
    size_t pooled;
    unsigned curl_depth;    /* > 0: curl is on the stack */
    size_t cancelled_count; /* calls cancelled while curl is on the stack */
    size_t unwatched;       /* calls whose socket cannot be watched: no memory */
    watch *watches;         /* by descriptor */
    size_t watch_capacity;
};

struct maki_client_call {
    maki_client *client;
    maki_client_call *next, *previous;
    CURL *easy;
    maki_client_callbacks callbacks;
    struct curl_slist *lines; /* in `block` */
    char *block; /* one allocation for the request's header lines and curl's list of them */
    size_t block_size, line_count;
    maki_buf head;        /* the response's, until complete */
    uint64_t body_offset; /* of the request's body */
    int64_t active;       /* time of the last byte in either direction (now_s) */
    bool is_head, head_done, body_paused, reply_paused, cancelled, in_multi;
    bool unwatched;         /* its socket cannot be watched */
    maki_status own_status; /* an error found here, not by curl; MAKI_OK: none */
    char message[CURL_ERROR_SIZE];
};

static int64_t now_s(void)
{
    return maki_monotonic_ms() / 1000;
}

/* ---- the end of a call ---------------------------------------------------------------------------- */

static void free_call(maki_client_call *call)
{
    const maki_alloc *alloc = call->client->env->alloc;
    curl_easy_cleanup(call->easy);
    maki_buf_free(&call->head);
    if (call->block) alloc->resize(alloc, call->block, call->block_size, 0);
    maki_delete(alloc, call);
}

static void link_call(maki_client_call *call)
{
    maki_client *c = call->client;
    call->previous = NULL;
    call->next = c->first;
    if (c->first) c->first->previous = call;
    c->first = call;
}

static void unlink_call(maki_client_call *call)
{
    if (call->previous) call->previous->next = call->next;
    if (call->next) call->next->previous = call->previous;
    if (call->client->first == call) call->client->first = call->next;
    call->next = call->previous = NULL;
}

/* Remove a call from curl and put it into the pool. */
static void retire(maki_client_call *call)
{
    maki_client *c = call->client;
    const maki_alloc *alloc = c->env->alloc;
    if (call->in_multi) curl_multi_remove_handle(c->multi, call->easy);
    call->in_multi = false;
    c->unwatched -= call->unwatched;
    call->unwatched = false;
    unlink_call(call);
    if (c->pooled == POOL_MAX) {
        free_call(call);
        return;
    }
    maki_buf_free(&call->head);
    if (call->block) alloc->resize(alloc, call->block, call->block_size, 0);
    call->block = NULL;
    call->next = c->pool;
    c->pool = call;
    c->pooled++;
}

static maki_status status_of(CURLcode code)
{
    switch (code) {
    case CURLE_OK: return MAKI_OK;
    case CURLE_OPERATION_TIMEDOUT: return MAKI_TIMEOUT;
    case CURLE_OUT_OF_MEMORY: return MAKI_NOMEM;
    default: return MAKI_UPSTREAM;
    }
}

static void finish(maki_client_call *call, CURLcode code)
{
    maki_client_callbacks callbacks = call->callbacks;
    maki_status st = call->own_status != MAKI_OK ? call->own_status : status_of(code);
    char message[CURL_ERROR_SIZE];
    if (st == MAKI_OK && !call->head_done) st = MAKI_UPSTREAM;
    snprintf(message, sizeof message, "%s",
             call->message[0] ? call->message : curl_easy_strerror(code));
    retire(call);
    callbacks.on_done(callbacks.ctx, st, message);
}

static void retire_cancelled(maki_client *c)
{
    for (maki_client_call *call = c->first, *next; call && c->cancelled_count; call = next) {
        next = call->next;
        if (!call->cancelled) continue;
        c->cancelled_count--;
        retire(call);
    }
}

/* Fail the calls whose socket cannot be watched: they would never finish.  (An error returned to curl would abort all
 * other calls too.) */
static void finish_unwatched(maki_client *c)
{
    for (maki_client_call *call = c->first; call && c->unwatched;) {
        if (!call->unwatched) {
            call = call->next;
            continue;
        }
        c->unwatched--;
        call->unwatched = false;
        call->own_status = MAKI_NOMEM;
        snprintf(call->message, sizeof call->message, "out of memory");
        finish(call, CURLE_OUT_OF_MEMORY);
        call = c->first; /* the callback may have ended other calls */
    }
}

/* Called when curl has returned: finish the calls that are done or cancelled. */
static void reap(maki_client *c)
{
    CURLMsg *msg;
    int remaining;
    if (c->cancelled_count) retire_cancelled(c);
    if (c->unwatched) finish_unwatched(c);
    while ((msg = curl_multi_info_read(c->multi, &remaining))) {
        maki_client_call *call;
        CURLcode code = msg->data.result;
        if (msg->msg != CURLMSG_DONE) continue;
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&call);
        finish(call, code);
    }
}

/* ---- curl and the loop ---------------------------------------------------------------------------- */

static void socket_action(maki_client *c, curl_socket_t fd, int what)
{
    int running;
    c->curl_depth++;
    curl_multi_socket_action(c->multi, fd, what, &running);
    c->curl_depth--;
    if (c->curl_depth == 0) reap(c);
}

/* ---- sockets ----
 *
 * For every call on a reused connection curl asks to watch its socket, and afterwards to stop.  The socket stays
 * watched between calls, which saves system calls; curl calls close_socket when it closes one. */

/* The watch of a descriptor, in an array that grows to contain it; NULL: out of memory. */
static watch *get_watch(maki_client *c, curl_socket_t fd)
{
    const maki_alloc *alloc = c->env->alloc;
    size_t required = (size_t)fd + 1, capacity = c->watch_capacity ? c->watch_capacity : 64;
    while (capacity < required)
        capacity *= 2;
    if (capacity > c->watch_capacity) {
        watch *moved = alloc->resize(alloc, c->watches, c->watch_capacity * sizeof *moved,
                                     capacity * sizeof *moved);
        if (!moved) return NULL;
        memset(moved + c->watch_capacity, 0, (capacity - c->watch_capacity) * sizeof *moved);
        c->watches = moved;
        c->watch_capacity = capacity;
    }
    return &c->watches[fd];
}

static void unwatch(watch *w)
{
    if (w->event) event_free(w->event);
    *w = (watch){ 0 };
}

static void on_socket(evutil_socket_t fd, short what, void *ctx)
{
    maki_client *c = ctx;
    int flags = (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0);
    if (!c->watches[fd].in_use) { /* idle: the server closed it, which curl detects itself */
        unwatch(&c->watches[fd]);
        return;
    }
    socket_action(c, fd, flags);
}

/* The socket of a call cannot be watched: finish_unwatched fails the call. */
static int mark_unwatched(maki_client *c, CURL *easy)
{
    maki_client_call *call = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&call);
    if (call && !call->unwatched) c->unwatched++;
    if (call) call->unwatched = true;
    return 0;
}

static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *unused)
{
    maki_client *c = ctx;
    watch *w = get_watch(c, fd);
    (void)unused;
    if (!w) return what == CURL_POLL_REMOVE ? 0 : mark_unwatched(c, easy);
    w->in_use = what != CURL_POLL_REMOVE;
    if (!w->in_use) {
        if (w->flags != (EV_READ | EV_PERSIST)) unwatch(w);
        return 0;
    }
    short flags = (short)((what & CURL_POLL_IN ? EV_READ : 0) |
                          (what & CURL_POLL_OUT ? EV_WRITE : 0) | EV_PERSIST);
    if (w->event && w->flags == flags) return 0;
    if (w->event) event_free(w->event);
    w->flags = flags;
    w->event = event_new(c->base, fd, flags, on_socket, c);
    return w->event && event_add(w->event, NULL) == 0 ? 0 : mark_unwatched(c, easy);
}

static int close_socket(void *ctx, curl_socket_t fd)
{
    maki_client *c = ctx;
    if ((size_t)fd < c->watch_capacity) unwatch(&c->watches[fd]);
    return close(fd);
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    socket_action(ctx, CURL_SOCKET_TIMEOUT, 0);
}

static int set_timer(CURLM *multi, long ms, void *ctx)
{
    maki_client *c = ctx;
    (void)multi;
    if (ms < 0) return evtimer_del(c->timer);
    struct timeval tv = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };
    return evtimer_add(c->timer, &tv);
}

/* End calls without traffic for too long. */
static void on_sweep(evutil_socket_t fd, short what, void *ctx)
{
    maki_client *c = ctx;
    int64_t limit = c->limits.idle_ms / 1000, now = now_s();
    (void)fd, (void)what;
    for (maki_client_call *call = c->first; call;) {
        if (!call->in_multi || call->reply_paused || call->body_paused ||
            now - call->active <= limit) {
            call = call->next;
            continue;
        }
        call->own_status = MAKI_TIMEOUT;
        snprintf(call->message, sizeof call->message, "no data for %lld s", (long long)limit);
        finish(call, CURLE_OPERATION_TIMEDOUT);
        call = c->first; /* the callback may have ended other calls */
    }
}

/* Fail the call: returning 0 from a callback makes curl abort it. */
static size_t fail_call(maki_client_call *call, maki_status st, const char *message)
{
    call->own_status = st;
    snprintf(call->message, sizeof call->message, "%s", message);
    return 0;
}

/* ---- the request's body --------------------------------------------------------------------------- */

/* CURLOPT_READFUNCTION.  As in all callbacks, a cancelled call aborts. */
static size_t read_request_body(char *out, size_t size, size_t count, void *ctx)
{
    maki_client_call *call = ctx;
    bool end = false;
    if (call->cancelled) return CURL_READFUNC_ABORT;
    size_t n = call->callbacks.on_read_body(call->callbacks.ctx, call->body_offset, out,
                                            size * count, &end);
    if (call->cancelled) return CURL_READFUNC_ABORT;
    if (n == MAKI_CLIENT_CALL_ABORT) {
        (void)fail_call(call, MAKI_IO, "the body of the request could not be read again");
        return CURL_READFUNC_ABORT;
    }
    call->body_offset += n;
    call->active = now_s();
    call->body_paused = n == 0 && !end;
    return call->body_paused ? CURL_READFUNC_PAUSE : n;
}

/* CURLOPT_SEEKFUNCTION: the reused connection was dead, and the body is sent again on another. */
static int rewind_body(void *ctx, curl_off_t to, int origin)
{
    maki_client_call *call = ctx;
    if (origin != SEEK_SET || to < 0) return CURL_SEEKFUNC_FAIL;
    call->body_offset = (uint64_t)to;
    return CURL_SEEKFUNC_OK;
}

/* ---- the response ------------------------------------------------------------------------------------ */

/* Remove the first line from `rest`; returns it without CR, LF and trailing spaces. */
static maki_str next_line(maki_str *rest)
{
    maki_str line = maki_str_cut(rest, '\n');
    while (line.len && (line.ptr[line.len - 1] == '\r' || line.ptr[line.len - 1] == ' '))
        line.len--;
    return line;
}

/* Parse the fields leniently: lines without a colon are skipped.  False: more than MAKI_HTTP_FIELDS. */
static bool parse_fields(maki_str rest, maki_http_head *out)
{
    while (rest.len) {
        maki_str line = next_line(&rest);
        const char *colon = line.len ? memchr(line.ptr, ':', line.len) : NULL;
        if (!colon || colon == line.ptr) continue;
        if (out->field_count == MAKI_HTTP_FIELDS) return false;
        maki_str value = maki_str_skip(line, (size_t)(colon - line.ptr) + 1);
        while (value.len && (value.ptr[0] == ' ' || value.ptr[0] == '\t'))
            value = maki_str_skip(value, 1);
        out->fields[out->field_count++] =
            (maki_http_field){ { line.ptr, (size_t)(colon - line.ptr) }, value };
    }
    return true;
}

/* The reason phrase of a status line: "OK" of "HTTP/1.1 200 OK". */
static maki_str reason_of(maki_str line)
{
    maki_str_cut(&line, ' ');
    maki_str_cut(&line, ' ');
    return line;
}

static bool on_head_complete(maki_client_call *call)
{
    maki_http_head fields;
    long status = 0;
    fields.field_count = 0;
    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status / 100 == 1) { /* an interim response: the final one follows */
        maki_buf_clear(&call->head);
        return true;
    }
    maki_str rest = maki_buf_str(&call->head);
    maki_str reason = reason_of(next_line(&rest));
    if (!parse_fields(rest, &fields)) return false;
    call->head_done = true;
    call->callbacks.on_head(call->callbacks.ctx, (int)status, reason, &fields);
    maki_buf_free(&call->head);
    return true;
}

static size_t on_header_line(char *at, size_t size, size_t count, void *ctx)
{
    maki_client_call *call = ctx;
    maki_str line = { at, size * count };
    maki_err err;
    call->active = now_s();
    if (call->cancelled) return 0;
    if (call->head_done) return line.len; /* a trailer */
    bool end = line.len == 2 && line.ptr[0] == '\r';
    if (line.len == 1) end = line.ptr[0] == '\n';
    if (!end) maki_buf_add(&call->head, line);
    maki_status st = maki_buf_status(&call->head, &err);
    if (st != MAKI_OK) return fail_call(call, st, err.msg);
    if (end && !on_head_complete(call))
        return fail_call(call, MAKI_TOOBIG, "too many fields in the response's head");
    return call->cancelled ? 0 : line.len;
}

static size_t on_body_bytes(char *at, size_t size, size_t count, void *ctx)
{
    maki_client_call *call = ctx;
    size_t n = size * count;
    call->active = now_s();
    if (call->cancelled) return n == 0; /* any result but n aborts */
    call->callbacks.on_bytes(call->callbacks.ctx, (maki_str){ at, n });
    return call->cancelled ? 0 : n;
}

/* ---- starting a call ------------------------------------------------------------------------------ */

/* The options that are the same for every call of a handle. */
static void set_options(maki_client *c, maki_client_call *call)
{
    CURL *e = call->easy;
    curl_easy_setopt(e, CURLOPT_PRIVATE, call);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, call->message);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
    /* a cancelled call does not wait for DNS */
    curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
#endif
    curl_easy_setopt(e, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)c->limits.connect_ms);
    curl_easy_setopt(e, CURLOPT_BUFFERSIZE, (long)RECEIVE_BYTES);
    curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE, (long)UPLOAD_BYTES);
    curl_easy_setopt(e, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(e, CURLOPT_CLOSESOCKETDATA, c);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header_line);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, call);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body_bytes);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, call);
    curl_easy_setopt(e, CURLOPT_READFUNCTION, read_request_body);
    curl_easy_setopt(e, CURLOPT_READDATA, call);
    curl_easy_setopt(e, CURLOPT_SEEKFUNCTION, rewind_body);
    curl_easy_setopt(e, CURLOPT_SEEKDATA, call);
    if (c->limits.ca_file) curl_easy_setopt(e, CURLOPT_CAINFO, c->limits.ca_file);
}

static maki_client_call *new_call(maki_client *c)
{
    const maki_alloc *alloc = c->env->alloc;
    maki_client_call *call = c->pool;
    if (call) {
        c->pool = call->next;
        c->pooled--;
        return call;
    }
    call = alloc->resize(alloc, NULL, 0, sizeof *call);
    if (!call) return NULL;
    memset(call, 0, sizeof *call);
    call->client = c;
    call->easy = curl_easy_init();
    if (!call->easy) {
        maki_delete(alloc, call);
        return NULL;
    }
    set_options(c, call);
    return call;
}

static bool has_line(const maki_str *lines, size_t count, maki_str name)
{
    for (size_t i = 0; i < count; i++)
        if (lines[i].len > name.len && lines[i].ptr[name.len] == ':' &&
            maki_http_same(maki_str_prefix(lines[i], name.len), name))
            return true;
    return false;
}

/* Headers that curl adds by default; a name without a value prevents that. */
static char default_headers[][16] = { "Accept:", "User-Agent:", "Expect:", "Content-Type:" };
enum { DEFAULT_HEADERS = sizeof default_headers / sizeof default_headers[0] };

/* Copy a header line as a C string to *end.  For curl "Name:" without a value removes a field, so a field with an
 * empty value is written as "Name;". */
static char *append_line(char **end, maki_str line)
{
    char *start = *end;
    memcpy(start, line.ptr, line.len);
    start[line.len] = '\0';
    if (line.len && start[line.len - 1] == ':') start[line.len - 1] = ';';
    *end = start + line.len + 1;
    return start;
}

static void link_line(maki_client_call *call, char *text)
{
    struct curl_slist *node = &call->lines[call->line_count++];
    *node = (struct curl_slist){ .data = text };
    if (call->line_count > 1) node[-1].next = node;
}

/* Write the lines and curl's list nodes into one block: curl does not copy the list. */
static maki_status write_lines(maki_client_call *call, const maki_str *lines, size_t count,
                               maki_err *err)
{
    const maki_alloc *alloc = call->client->env->alloc;
    size_t nodes = (count + DEFAULT_HEADERS + 1) * sizeof(struct curl_slist), size = nodes;
    for (size_t i = 0; i < count; i++)
        size += lines[i].len + 1;
    call->block = alloc->resize(alloc, NULL, 0, size);
    if (!call->block) return maki_fail_nomem(err);
    call->block_size = size;
    call->lines = (struct curl_slist *)(void *)call->block;
    call->line_count = 0;
    char *end = call->block + nodes;
    for (size_t i = 0; i < count; i++)
        link_line(call, append_line(&end, lines[i]));
    for (size_t i = 0; i < DEFAULT_HEADERS; i++) {
        maki_str name = maki_str_of(default_headers[i]);
        if (!has_line(lines, count, maki_str_prefix(name, name.len - 1)))
            link_line(call, default_headers[i]);
    }
    return MAKI_OK;
}

maki_status maki_client_prepare(maki_client *c, maki_str method, const maki_str *lines,
                                size_t line_count, const maki_client_callbacks *callbacks,
                                maki_client_call **out, maki_err *err)
{
    char name[32];
    if (method.len >= sizeof name)
        return maki_fail(err, MAKI_UNSUPPORTED, "a method with a name of %zu bytes", method.len);
    maki_client_call *call = new_call(c);
    if (!call) return maki_fail_nomem(err);
    call->callbacks = *callbacks;
    call->head = maki_buf_new(c->env->alloc, HEAD_MAX);
    call->body_offset = 0;
    call->head_done = call->body_paused = call->reply_paused = call->cancelled = false;
    call->own_status = MAKI_OK;
    call->message[0] = '\0';
    link_call(call);
    if (write_lines(call, lines, line_count, err) != MAKI_OK) {
        retire(call);
        return MAKI_NOMEM;
    }
    snprintf(name, sizeof name, "%.*s", (int)method.len, method.ptr);
    curl_easy_setopt(call->easy, CURLOPT_CUSTOMREQUEST, name);
    call->is_head = maki_str_equal(method, MAKI_LIT("HEAD"));
    *out = call;
    return MAKI_OK;
}

static void set_body(maki_client_call *call, const maki_client_call_request *request)
{
    static char chunked[] = "Transfer-Encoding: chunked";
    CURL *e = call->easy;
    bool in_memory = request->kind == MAKI_CLIENT_CALL_WHOLE;
    if (request->kind == MAKI_CLIENT_CALL_NO_BODY) {
        curl_easy_setopt(e, CURLOPT_HTTPGET, 1L); /* also ends an earlier NOBODY */
        if (call->is_head) curl_easy_setopt(e, CURLOPT_NOBODY, 1L);
        return;
    }
    curl_off_t size = in_memory ? (curl_off_t)request->body.len : (curl_off_t)request->length;
    if (request->kind == MAKI_CLIENT_CALL_CHUNKED) {
        link_line(call, chunked);
        size = -1;
    }
    curl_easy_setopt(e, CURLOPT_POST, 1L);
    curl_easy_setopt(e, CURLOPT_POSTFIELDS, in_memory ? request->body.ptr : NULL);
    curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, size);
}

maki_status maki_client_call_start(maki_client_call *call, const maki_client_call_request *request,
                                   maki_err *err)
{
    CURL *e = call->easy;
    /* A proxy from the environment is used only for https, which it tunnels unchanged, and not for loopback
     * addresses, which it cannot reach. */
    maki_str origin = maki_str_of(request->origin);
    bool tunnel = maki_str_starts(origin, MAKI_LIT("https:")) && !maki_url_is_loopback(origin);
    call->active = now_s();
    set_body(call, request);
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, call->lines);
    bool options_set = curl_easy_setopt(e, CURLOPT_URL, request->origin) == CURLE_OK &&
                       curl_easy_setopt(e, CURLOPT_PROXY, tunnel ? NULL : "") == CURLE_OK &&
                       curl_easy_setopt(e, CURLOPT_REQUEST_TARGET, request->target) == CURLE_OK;
    call->in_multi = options_set && curl_multi_add_handle(call->client->multi, e) == CURLM_OK;
    return call->in_multi ? MAKI_OK : maki_fail_nomem(err);
}

/* ---- controlling a call --------------------------------------------------------------------------- */

static void set_pauses(maki_client_call *call)
{
    maki_client *c = call->client;
    int mask = (call->reply_paused ? CURLPAUSE_RECV : 0) | (call->body_paused ? CURLPAUSE_SEND : 0);
    c->curl_depth++;
    curl_easy_pause(call->easy, mask); /* may call back with buffered bytes */
    c->curl_depth--;
    if (c->curl_depth == 0 && c->cancelled_count) retire_cancelled(c);
}

void maki_client_call_body_ready(maki_client_call *call)
{
    if (!call->body_paused) return;
    call->body_paused = false;
    call->active = now_s();
    set_pauses(call);
}

void maki_client_call_pause(maki_client_call *call)
{
    if (call->reply_paused) return;
    call->reply_paused = true;
    set_pauses(call);
}

void maki_client_call_resume(maki_client_call *call)
{
    if (!call->reply_paused) return;
    call->reply_paused = false;
    call->active = now_s();
    set_pauses(call);
}

void maki_client_call_cancel(maki_client_call *call)
{
    if (!call || call->cancelled) return;
    call->cancelled = true;
    if (call->client->curl_depth == 0)
        retire(call);
    else
        call->client->cancelled_count++;
}

/* ---- open and close -------------------------------------------------------------------------------------- */

maki_status maki_client_open(const maki_env *env, struct event_base *base,
                             const maki_client_limits *limits, maki_client **out, maki_err *err)
{
    maki_client *c = maki_new(env->alloc, maki_client);
    if (!c) return maki_fail_nomem(err);
    *c = (maki_client){ .env = env, .base = base };
    curl_global_init(CURL_GLOBAL_DEFAULT);
    c->limits = limits ? *limits : (maki_client_limits)MAKI_CLIENT_LIMITS_INIT;
    c->timer = evtimer_new(base, on_timer, c);
    c->sweep = event_new(base, -1, EV_PERSIST, on_sweep, c);
    c->multi = curl_multi_init();
    struct timeval interval = { .tv_sec = SWEEP_SECONDS };
    if (!c->timer || !c->sweep || !c->multi || event_add(c->sweep, &interval) != 0) {
        maki_client_close(c);
        return maki_fail_nomem(err);
    }
    curl_multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    curl_multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c);
    curl_multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(c->multi, CURLMOPT_TIMERDATA, c);
    curl_multi_setopt(c->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    curl_multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, (long)c->limits.idle_max);
    *out = c;
    return MAKI_OK;
}

void maki_client_limit(maki_client *c, size_t connections)
{
    long max = connections < LONG_MAX ? (long)connections : LONG_MAX;
    curl_multi_setopt(c->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, max);
}

void maki_client_close(maki_client *c)
{
    if (!c) return;
    while (c->first)
        retire(c->first);
    while (c->pool) {
        maki_client_call *call = c->pool;
        c->pool = call->next;
        free_call(call);
    }
    if (c->multi) curl_multi_cleanup(c->multi);
    for (size_t i = 0; i < c->watch_capacity; i++)
        unwatch(&c->watches[i]);
    if (c->watches)
        c->env->alloc->resize(c->env->alloc, c->watches, c->watch_capacity * sizeof *c->watches, 0);
    if (c->timer) event_free(c->timer);
    if (c->sweep) event_free(c->sweep);
    curl_global_cleanup();
    maki_delete(c->env->alloc, c);
}
