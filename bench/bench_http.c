/* bench_http.c -- how long one request takes: to the first byte of the reply, and to its last.
 *
 *     bench_http PORT PATH BODY COUNT SESSIONS [HEADER ...]
 *
 * COUNT requests with the file BODY, one after the other on one connection, each named one of SESSIONS
 * sessions in turn.  Prints the median and the 99th percentile of both, in microseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "bench_client.h"

enum { HEAD = 8192, REPLY = 1 << 20 };

static void send_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent <= 0) bench_stop("the connection was closed");
        bytes += sent;
        n -= (size_t)sent;
    }
}

/* The length of the reply once its head is here; 0: not yet. */
static size_t length_of(char *reply, size_t n)
{
    reply[n] = '\0';
    char *end = strstr(reply, "\r\n\r\n");
    if (!end) return 0;
    if (strncmp(reply, "HTTP/1.1 200", 12) != 0) bench_stop(reply);
    char *length = strcasestr(reply, "\r\ncontent-length:");
    if (!length || length > end) bench_stop("a reply without a length");
    return (size_t)(end + 4 - reply) + strtoul(length + 17, NULL, 10);
}

static void one(int fd, const char *head, size_t head_len, const char *body, size_t body_len,
                double *first, double *last)
{
    static char reply[REPLY + 1];
    size_t got = 0, want = 0;
    double began = bench_now_us();
    send_all(fd, head, head_len);
    send_all(fd, body, body_len);
    while (want == 0 || got < want) {
        ssize_t n = recv(fd, reply + got, REPLY - got, 0);
        if (n <= 0) bench_stop("the reply was cut");
        if (got == 0) *first = bench_now_us() - began;
        got += (size_t)n;
        if (want == 0) want = length_of(reply, got);
    }
    *last = bench_now_us() - began;
}

static char *read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) bench_stop("cannot read the body");
    *len = (size_t)ftell(f);
    rewind(f);
    char *bytes = malloc(*len + 1);
    if (!bytes || fread(bytes, 1, *len, f) != *len) bench_stop("cannot read the body");
    fclose(f);
    return bytes;
}

int main(int argc, char **argv)
{
    char head[HEAD], more[HEAD / 2] = "";
    size_t body_len;
    if (argc < 6) bench_stop("usage: bench_http PORT PATH BODY COUNT SESSIONS [HEADER ...]");
    char *body = read_file(argv[3], &body_len);
    size_t count = strtoul(argv[4], NULL, 10), sessions = strtoul(argv[5], NULL, 10);
    double *first = calloc(count, sizeof *first), *last = calloc(count, sizeof *last);
    if (!first || !last || count == 0 || sessions == 0)
        bench_stop("COUNT and SESSIONS are 1 or more");
    for (int i = 6; i < argc; i++)
        snprintf(more + strlen(more), sizeof more - strlen(more), "%s\r\n", argv[i]);
    int fd = bench_connect(argv[1]);
    for (size_t i = 0; i < count; i++) {
        int n = snprintf(head, sizeof head,
                         "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Type: "
                         "application/json\r\nAuthorization: Bearer bench\r\nx-maki-session: "
                         "s%zu\r\n%sContent-Length: %zu\r\n\r\n",
                         argv[2], argv[1], i % sessions, more, body_len);
        one(fd, head, (size_t)n, body, body_len, &first[i], &last[i]);
    }
    qsort(first, count, sizeof *first, bench_by_size);
    qsort(last, count, sizeof *last, bench_by_size);
    printf("{\"first_us\":%.1f,\"first_p99_us\":%.1f,\"end_us\":%.1f,\"end_p99_us\":%.1f}\n",
           first[count / 2], first[count * 99 / 100], last[count / 2], last[count * 99 / 100]);
    return 0;
}
