/* bench_first.c -- when the first words of a streamed answer reach the caller: through our sender, and on a bare socket.
 *
 *     bench_first PORT COUNT
 *
 * COUNT requests each, in turn, to the fake provider on PORT, every client on one connection that it keeps.  The clock
 * runs from the request until the first text is in the caller's hands; on the bare socket until the bytes are here
 * that hold it.  Prints medians and 99th percentiles in microseconds: of both, and of what ours took more in each
 * round. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str_util.h"
#include "send/send.h"

#include "bench_client.h"

enum { HEAD = 1024, REPLY = 1 << 20 };

static const maki_str body = {
    "{\"model\":\"bench\",\"max_tokens\":64,\"stream\":true,"
    "\"messages\":[{\"role\":\"user\",\"content\":\"東京の天気は? Say it in a few words.\"}]}",
    sizeof "{\"model\":\"bench\",\"max_tokens\":64,\"stream\":true,"
           "\"messages\":[{\"role\":\"user\",\"content\":\"東京の天気は? Say it in a few words.\"}]}" -
        1
};

/* ---- ours ------------------------------------------------------------------------------------------------- */

static maki_status on_delta(void *ctx, const maki_delta *piece, maki_err *err)
{
    double *first = ctx;
    (void)err;
    if (*first == 0 && piece->kind == MAKI_DELTA_TEXT) *first = bench_now_us();
    return MAKI_OK;
}

static double ask(maki_sender *sender)
{
    double first = 0;
    maki_send_request request = { .stream = true, .body = maki_send_text(&body) };
    maki_send_callbacks calls = { .ctx = &first, .on_delta = on_delta };
    maki_send_result result;
    maki_err err = { 0 };
    double began = bench_now_us();
    if (maki_send(sender, &request, &calls, &result, &err) != MAKI_OK) bench_stop(err.msg);
    if (first == 0) bench_stop("an answer without words");
    return first - began;
}

/* ---- a bare socket ---------------------------------------------------------------------------------------- */

static double ask_bare(int fd, const char *port)
{
    static char reply[REPLY + 1];
    char request[HEAD];
    size_t got = 0;
    double first = 0, began = bench_now_us();
    int n = snprintf(request, sizeof request,
                     "POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Type: "
                     "application/json\r\nanthropic-version: 2023-06-01\r\nx-api-key: bench\r\n"
                     "Content-Length: %zu\r\n\r\n%.*s",
                     port, body.len, (int)body.len, body.ptr);
    if (send(fd, request, (size_t)n, MSG_NOSIGNAL) != n) bench_stop("the connection was closed");
    for (;;) {
        ssize_t more = recv(fd, reply + got, REPLY - got, 0);
        if (more <= 0) bench_stop("the reply was cut");
        got += (size_t)more;
        reply[got] = '\0';
        if (first == 0 && strstr(reply, "text_delta")) first = bench_now_us();
        if (got > 5 && memcmp(reply + got - 5, "0\r\n\r\n", 5) == 0) break;
    }
    if (first == 0) bench_stop("an answer without words");
    return first - began;
}

/* ---- both ------------------------------------------------------------------------------------------------- */

static void print(const char *name, double *times, size_t count, const char *after)
{
    qsort(times, count, sizeof *times, bench_by_size);
    printf("\"%s_us\":%.1f,\"%s_p99_us\":%.1f%s", name, times[count / 2], name,
           times[count * 99 / 100], after);
}

int main(int argc, char **argv)
{
    maki_env env = maki_env_system();
    maki_provider provider = { .name = "fake",
                               .protocol = MAKI_WIRE_ANTHROPIC,
                               .key = MAKI_LIT("bench"),
                               .model = MAKI_LIT("bench"),
                               .timeout_ms = 60000 };
    maki_send_options options = { .env = &env, .provider = &provider };
    maki_sender *sender = NULL;
    maki_err err = { 0 };
    char url[64];
    if (argc != 3) bench_stop("usage: bench_first PORT COUNT");
    size_t count = strtoul(argv[2], NULL, 10);
    double *ours = calloc(count, sizeof *ours), *bare = calloc(count, sizeof *bare);
    double *more = calloc(count, sizeof *more);
    if (!ours || !bare || !more || count == 0) bench_stop("COUNT is 1 or more");
    snprintf(url, sizeof url, "http://127.0.0.1:%s", argv[1]);
    if (maki_provider_set_url(&provider, maki_str_of(url), &err) != MAKI_OK) bench_stop(err.msg);
    if (maki_sender_open(&options, &sender, &err) != MAKI_OK) bench_stop(err.msg);
    int fd = bench_connect(argv[1]);
    (void)ask(sender); /* the connections are made, the caches warm */
    (void)ask_bare(fd, argv[1]);
    for (size_t i = 0; i < count; i++) {
        if (i % 2) ours[i] = ask(sender);
        bare[i] = ask_bare(fd, argv[1]);
        if (i % 2 == 0) ours[i] = ask(sender);
        more[i] = ours[i] - bare[i];
    }
    printf("{");
    print("ours", ours, count, ",");
    print("bare", bare, count, ",");
    print("more", more, count, "}\n");
    close(fd);
    maki_sender_close(sender);
    free(ours);
    free(bare);
    free(more);
    return 0;
}
