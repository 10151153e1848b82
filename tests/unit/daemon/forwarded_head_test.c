/* forwarded_head_test.c -- which header lines are forwarded, and which identify the client; metrics as text. */
#include "daemon/forwarded_head.h"

#include <string.h>

#include "base/str_util.h"
#include "daemon/client_identity.h"
#include "daemon/metrics.h"
#include "fake_env.h"
#include "tap.h"

static maki_http_head head;

static void parse(const char *fields)
{
    static char text[2000];
    size_t used;
    maki_err err;
    strcpy(text, "POST / HTTP/1.1\r\nHost: a\r\n");
    strcat(text, fields);
    strcat(text, "\r\n");
    CHECK_STATUS(maki_http_head_parse(maki_str_of(text), 4096, &head, &used, &err), MAKI_OK, &err);
}

static void run_request(maki_buf *out)
{
    maki_str lines[MAKI_HTTP_FIELDS];
    tap_row("a request's lines: order, case and spacing stay; Maki's own fields are removed");
    parse("authorization:Bearer k\r\nX-Maki-Session: s\r\nCONNECTION: keep-alive, X-Private\r\n"
          "x-private: 1\r\nAccept-Encoding: gzip, br\r\nX-Empty:\r\nExpect: 100-continue\r\n"
          "Content-Length:  3\r\nTE: trailers\r\nx-twice: 1\r\nX-Twice:   2\r\n");
    size_t n = maki_forward_request(&head, lines);
    maki_buf_clear(out);
    for (size_t i = 0; i < n; i++) {
        maki_buf_add(out, lines[i]);
        maki_buf_add_byte(out, '\n');
    }
    CHECK_STR(maki_buf_str(out), "authorization:Bearer k\nAccept-Encoding: identity\nX-Empty:\n"
                                 "Content-Length:  3\nx-twice: 1\nX-Twice:   2\n");
}

static void run_reply(maki_buf *out)
{
    tap_row("a reply's lines, with a length");
    parse("Content-Type: text/event-stream\r\nContent-Length: 12\r\nConnection: close\r\nX: y\r\n");
    maki_buf_clear(out);
    maki_forward_response got = maki_forward_lines(&head, out);
    CHECK(got.has_length);
    CHECK_EQ(got.length, 12);
    CHECK_STR(got.type, "text/event-stream");
    CHECK_STR(maki_buf_str(out),
              "Host: a\r\nContent-Type: text/event-stream\r\nContent-Length: 12\r\nX: y\r\n");
}

static void run_caller(void)
{
    tap_row("the identity of the client");
    parse("Session_Id: 会話\r\nX-Api-Key: k1\r\n");
    CHECK_STR(maki_client_identity_credential(&head, MAKI_LIT("key=k2")), "k1");
    CHECK_STR(maki_client_identity_id(&head), "会話");
    parse("X-Claude-Code-Session-Id: abc\r\nSession-Id: def\r\n");
    CHECK_STR(maki_client_identity_id(&head), "abc");
    CHECK_STR(maki_client_identity_credential(&head, MAKI_LIT("alt=sse&key=k2&x")), "k2");
    CHECK_STR(maki_client_identity_credential(&head, MAKI_LIT("monkey=k2")), "");
}

static void run_metrics(maki_buf *out)
{
    static maki_metrics metrics;
    maki_err err;
    tap_row("metrics as Prometheus reads them");
    MAKI_COUNT(&metrics, requests_total, 3);
    MAKI_COUNT(&metrics, open_exchanges, 2);
    MAKI_COUNT_DOWN(&metrics, open_exchanges);
    maki_buf_clear(out);
    CHECK_STATUS(maki_metrics_write(&metrics, maki_buf_sink(out), &err), MAKI_OK, &err);
    CHECK(maki_str_contains(maki_buf_str(out), MAKI_LIT("\n# TYPE maki_requests_total counter\n"
                                                        "maki_requests_total 3\n")));
    CHECK(maki_str_contains(maki_buf_str(out), MAKI_LIT("\nmaki_open_exchanges 1\n")));
    CHECK(maki_str_contains(maki_buf_str(out), MAKI_LIT("\nmaki_record_failures_total 0\n")));
}

int main(void)
{
    fake_env fe;
    fake_env_init(&fe);
    maki_buf out = maki_buf_new(fe.env.alloc, 1 << 16);
    run_request(&out);
    run_reply(&out);
    run_caller();
    run_metrics(&out);
    maki_buf_free(&out);
    return tap_end();
}
