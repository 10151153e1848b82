/* http.c -- parse URLs, send HTTP/1.0 requests (the response is not chunked and ends with the connection), and start the
 * sibling programs. */
#include "http.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/platform.h"
#include "cli.h"

/* ---- addresses ----------------------------------------------------------------------------------- */

static bool needs_no_quoting(const char *text)
{
    for (; *text; text++) {
        if (!isalnum((unsigned char)*text) && !strchr("-._~:/[]", *text)) return false;
    }
    return true;
}

bool cli_url_parse(const char *text, cli_url *out)
{
    cli_url url = { 0 };
    size_t len = strlen(text);
    while (len && text[len - 1] == '/')
        len--;
    if (len >= sizeof url.text || strncmp(text, "http://", 7) != 0) return false;
    memcpy(url.text, text, len);
    if (!needs_no_quoting(url.text)) return false;

    const char *host = url.text + 7, *end = host;
    bool bracket = *host == '[';
    if (bracket) {
        host++;
        end = strchr(host, ']');
        if (!end) return false;
    } else {
        end += strcspn(host, ":/");
    }
    if (end == host || (size_t)(end - host) >= sizeof url.host) return false;
    memcpy(url.host, host, (size_t)(end - host));
    const char *after = bracket ? end + 1 : end;
    size_t digits = *after == ':' ? strspn(after + 1, "0123456789") : 0;
    if (digits > 5 || (*after == ':' && !digits)) return false;
    snprintf(url.port, sizeof url.port, "%.*s", digits ? (int)digits : 2,
             digits ? after + 1 : "80");
    snprintf(url.path, sizeof url.path, "%s", after + strcspn(after, "/"));
    *out = url;
    return true;
}

/* ---- requests ------------------------------------------------------------------------------------ */

static int open_socket(const cli_url *url, maki_err *err)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    int fd = -1, error = getaddrinfo(url->host, url->port, &hints, &found);
    if (error) {
        maki_fail(err, MAKI_UPSTREAM, "%s: %s", url->text, gai_strerror(error));
        return -1;
    }
    errno = 0;
    for (struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            int cause = errno;
            close(fd);
            fd = -1;
            errno = cause;
        }
    }
    freeaddrinfo(found);
    if (fd < 0) maki_fail(err, MAKI_UPSTREAM, "%s: %s", url->text, strerror(errno));
    return fd;
}

static bool send_all(int fd, maki_str bytes)
{
    while (bytes.len) {
        ssize_t n = send(fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        bytes = (maki_str){ bytes.ptr + n, bytes.len - (size_t)n };
    }
    return true;
}

bool cli_read_all(int fd, maki_buf *out)
{
    char block[1 << 16];
    for (;;) {
        ssize_t n = read(fd, block, sizeof block);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n == 0;
        maki_buf_add(out, (maki_str){ block, (size_t)n });
    }
}

/* Remove the head of a response; returns its status, 0 when it is not HTTP. */
static int remove_head(maki_buf *answer)
{
    maki_str response = cli_text(answer);
    char *end = memmem(response.ptr, response.len, "\r\n\r\n", 4);
    if (!end || response.len < 12 || memcmp(response.ptr, "HTTP/1.", 7) != 0) return 0;
    int status = atoi(response.ptr + 9);
    answer->len = (size_t)(response.ptr + response.len - (end + 4));
    memmove(answer->ptr, end + 4, answer->len);
    return status;
}

int cli_http_request(const cli_url *url, const char *method, const char *path, const char *fields,
                     maki_str body, maki_buf *answer, maki_err *err)
{
    char *head = NULL;
    int status = 0, fd = open_socket(url, err);
    if (fd < 0) return 0;
    int n = asprintf(&head, "%s %s%s HTTP/1.0\r\nHost: %s:%s\r\nContent-Length: %zu\r\n%s\r\n",
                     method, url->path, path, url->host, url->port, body.len, fields);
    if (n < 0) exit(maki_status_exit(MAKI_NOMEM));
    if (!send_all(fd, (maki_str){ head, (size_t)n }) || !send_all(fd, body) ||
        !cli_read_all(fd, answer)) {
        maki_fail(err, MAKI_UPSTREAM, "%s: %s", url->text, strerror(errno));
    } else {
        status = remove_head(answer);
        if (!status) maki_fail(err, MAKI_UPSTREAM, "%s: the response is not HTTP", url->text);
    }
    free(head);
    close(fd);
    return status;
}

/* ---- sibling programs ---------------------------------------------------------------------------- */

/* In the directory of this program (a build), or in MAKI_LIBEXEC relative to it, so that an installation can be
 * moved. */
bool cli_sibling_path(const char *name, char *out, size_t capacity)
{
    static const char *const directories[] = { "", MAKI_LIBEXEC "/" };
    char self[PATH_MAX];
    char *slash = maki_program_path(self, sizeof self) ? strrchr(self, '/') : NULL;
    for (size_t i = 0; slash && i < sizeof directories / sizeof directories[0]; i++) {
        slash[1] = '\0';
        int len = snprintf(out, capacity, "%s%s%s", self, directories[i], name);
        if (len > 0 && (size_t)len < capacity && access(out, X_OK) == 0) return true;
    }
    return false;
}

int cli_exec(const char *command, const char *name, char **argv)
{
    char path[PATH_MAX], title[PATH_MAX];
    snprintf(title, sizeof title, "%s %s", maki_program_name(), command);
    argv[0] = title;
    if (cli_sibling_path(name, path, sizeof path)) execv(path, argv);
    fprintf(
        stderr,
        "maki %s: cannot run %s: it is neither in the directory of this program nor in %s (%s); make builds it\n",
        command, name, MAKI_LIBEXEC, strerror(errno));
    return maki_status_exit(MAKI_NOTFOUND);
}

/* In the child: redirect standard output to the pipe, end with the parent, run the program. */
static void exec_child(const char *path, const char *const argv[], int out, pid_t parent)
{
    maki_exit_with_parent();
    if (getppid() != parent) _exit(0);
    dup2(out, STDOUT_FILENO);
    execv(path, (char *const *)(size_t)argv);
    _exit(127);
}

/* Read until the line with the address; later output is not read. */
static bool read_address(int fd, cli_url *listens)
{
    char output[512], address[256];
    size_t len = 0;
    while (len < sizeof output - 1) {
        ssize_t n = read(fd, output + len, sizeof output - 1 - len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        len += (size_t)n;
        output[len] = '\0';
        const char *line = strstr(output, "listening on ");
        if (line && strchr(line, '\n') && sscanf(line + 13, "%255s", address) == 1) {
            return cli_url_parse(address, listens);
        }
    }
    return false;
}

pid_t cli_start_sibling(const char *const argv[], cli_url *listens, maki_err *err)
{
    char path[PATH_MAX];
    int pipes[2];
    if (!cli_sibling_path(argv[0], path, sizeof path)) {
        maki_fail(err, MAKI_NOTFOUND,
                  "%s: not in the directory of the maki command; make builds it", argv[0]);
        return -1;
    }
    if (pipe(pipes) != 0) {
        maki_fail_errno(err, argv[0]);
        return -1;
    }
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        close(pipes[0]);
        exec_child(path, argv, pipes[1], parent);
    }
    close(pipes[1]);
    bool listening = pid > 0 && read_address(pipes[0], listens);
    /* The read end stays open, or a program that prints more would get SIGPIPE. */
    if (!listening) {
        maki_fail(err, MAKI_UPSTREAM, "%s: did not start; its error is above", argv[0]);
        cli_stop(pid);
        close(pipes[0]);
        return -1;
    }
    return pid;
}

void cli_stop(pid_t pid)
{
    if (pid <= 0) return;
    kill(pid, SIGTERM);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}
