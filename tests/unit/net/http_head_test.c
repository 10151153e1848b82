/* http_head_test.c -- parsing the heads of requests, and refusing invalid ones. */
#include "net/http_head.h"

#include <string.h>

#include "base/str_util.h"
#include "tap.h"

#define S(text)                   \
    {                             \
        "" text, sizeof(text) - 1 \
    }
#define GET "GET / HTTP/1.1\r\nHost: x\r\n"

/* clang-format off */
static const struct bad_row { const char *name; maki_str head; maki_status status; } bad_rows[] = {
    { "no target",                         S("GET HTTP/1.1\r\nHost: x\r\n\r\n"),            MAKI_INVALID },
    { "two spaces",                        S("GET  / HTTP/1.1\r\nHost: x\r\n\r\n"),         MAKI_INVALID },
    { "a method that is no token",         S("G(T / HTTP/1.1\r\nHost: x\r\n\r\n"),          MAKI_INVALID },
    { "another protocol",                  S("GET / SMTP/1.1\r\nHost: x\r\n\r\n"),          MAKI_INVALID },
    { "HTTP/2",                            S("GET / HTTP/2.0\r\nHost: x\r\n\r\n"),          MAKI_UNSUPPORTED },
    { "no Host",                           S("GET / HTTP/1.1\r\n\r\n"),                     MAKI_INVALID },
    { "two Hosts",                         S(GET "Host: y\r\n\r\n"),                        MAKI_INVALID },
    { "a space before the colon",          S(GET "A : b\r\n\r\n"),                          MAKI_INVALID },
    { "no colon",                          S(GET "A b\r\n\r\n"),                            MAKI_INVALID },
    { "an empty name",                     S(GET ": b\r\n\r\n"),                            MAKI_INVALID },
    { "a line that continues another",     S(GET "A: b\r\n c\r\n\r\n"),                     MAKI_INVALID },
    { "a line that ends with LF",          S("GET / HTTP/1.1\nHost: x\r\n\r\n"),            MAKI_INVALID },
    { "a CR inside",                       S(GET "A: b\rc\r\n\r\n"),                        MAKI_INVALID },
    { "a NUL inside",                      S(GET "A: b\0c\r\n\r\n"),                        MAKI_INVALID },
    { "a length that is no number",        S(GET "Content-Length: 1x\r\n\r\n"),             MAKI_INVALID },
    { "a length with a sign",              S(GET "Content-Length: +1\r\n\r\n"),             MAKI_INVALID },
    { "an empty length",                   S(GET "Content-Length:\r\n\r\n"),                MAKI_INVALID },
    { "a length of 19 digits",             S(GET "Content-Length: 1000000000000000000\r\n\r\n"), MAKI_INVALID },
    { "two different lengths",             S(GET "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"), MAKI_INVALID },
    { "a list of lengths",                 S(GET "Content-Length: 1, 1\r\n\r\n"),           MAKI_INVALID },
    { "a length and chunks",               S(GET "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"), MAKI_INVALID },
    { "chunks in HTTP/1.0",                S("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), MAKI_INVALID },
    { "chunks twice",                      S(GET "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"), MAKI_UNSUPPORTED },
    { "gzip as transfer coding",           S(GET "Transfer-Encoding: gzip, chunked\r\n\r\n"), MAKI_UNSUPPORTED },
    { "another expectation",               S(GET "Expect: tea\r\n\r\n"),                    MAKI_UNSUPPORTED },
};
/* clang-format on */

static void test_bad(void)
{
    static maki_http_head head;
    for (size_t i = 0; i < COUNT(bad_rows); i++) {
        maki_err err = { 0 };
        size_t used = 9;
        tap_row("refused: %s", bad_rows[i].name);
        CHECK_STATUS(maki_http_head_parse(bad_rows[i].head, MAKI_HTTP_HEAD_MAX, &head, &used, &err),
                     bad_rows[i].status, &err);
        CHECK_EQ(used, 0);
        CHECK(err.msg[0] != 0);
    }
}

static void test_parts(void)
{
    static maki_http_head head;
    maki_str all = MAKI_LIT("POST /v1/messages?beta=true HTTP/1.1\r\nhost: localhost:4141\r\n"
                            "X-Api-Key: k\r\nX-Name:  \t日本語 한국어 👋 \t\r\nEMPTY:\r\n"
                            "content-length: 12\r\nContent-Length: 12\r\n\r\nHello world!");
    size_t used = 0, whole = all.len - 12;
    maki_err err = { 0 };
    tap_row("every prefix of a head is incomplete");
    for (size_t n = 0; n < whole; n++) {
        CHECK_STATUS(maki_http_head_parse((maki_str){ all.ptr, n }, 9999, &head, &used, &err),
                     MAKI_OK, &err);
        CHECK_EQ(used, 0);
    }
    tap_row("a head and its fields");
    CHECK_STATUS(maki_http_head_parse(all, 9999, &head, &used, &err), MAKI_OK, &err);
    CHECK_EQ(used, whole);
    CHECK_STR(head.method, "POST");
    CHECK_STR(head.target, "/v1/messages?beta=true");
    CHECK_EQ(head.field_count, 6);
    CHECK_STR(head.fields[1].name, "X-Api-Key");
    CHECK_STR(*maki_http_field_find(&head, MAKI_LIT("x-name")), "日本語 한국어 👋");
    CHECK_STR(*maki_http_field_find(&head, MAKI_LIT("Empty")), "");
    CHECK(maki_http_field_find(&head, MAKI_LIT("x-nam")) == NULL);
    CHECK(head.has_length && head.body_length == 12 && !head.chunked && head.keep_alive);

    tap_row("empty lines before a request are skipped");
    CHECK_STATUS(maki_http_head_parse(MAKI_LIT("\r\n\r\n" GET "\r\n"), 9999, &head, &used, &err),
                 MAKI_OK, &err);
    CHECK_EQ(used, 4 + strlen(GET "\r\n"));
    CHECK(!head.has_length && !head.chunked);

    tap_row("the fields Transfer-Encoding, Expect and Connection");
    CHECK_STATUS(maki_http_head_parse(
                     MAKI_LIT(GET "Transfer-Encoding: Chunked\r\nExpect: 100-Continue\r\n"
                                  "Connection: x-hop , Close\r\nX-Hop: 1\r\nX-End: 1\r\n\r\n"),
                     9999, &head, &used, &err),
                 MAKI_OK, &err);
    CHECK(head.chunked && head.expect_continue && !head.keep_alive);
    CHECK(maki_http_hop_field(&head, MAKI_LIT("X-HOP")));
    CHECK(maki_http_hop_field(&head, MAKI_LIT("transfer-encoding")));
    CHECK(!maki_http_hop_field(&head, MAKI_LIT("x-end")));

    tap_row("HTTP/1.0 closes by default");
    CHECK_STATUS(maki_http_head_parse(MAKI_LIT("GET / HTTP/1.0\r\n\r\n"), 9999, &head, &used, &err),
                 MAKI_OK, &err);
    CHECK(!head.keep_alive);
    CHECK_STATUS(maki_http_head_parse(MAKI_LIT("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
                                      9999, &head, &used, &err),
                 MAKI_OK, &err);
    CHECK(head.keep_alive);
}

static void test_limits(void)
{
    static maki_http_head head;
    static char big[MAKI_HTTP_FIELDS * 8 + 100];
    size_t used = 0, n = strlen(GET);
    maki_err err = { 0 };
    tap_row("a head over the limit, complete or not");
    CHECK_STATUS(maki_http_head_parse(MAKI_LIT(GET "\r\n"), 20, &head, &used, &err), MAKI_TOOBIG,
                 &err);
    CHECK_STATUS(maki_http_head_parse(MAKI_LIT(GET), 20, &head, &used, &err), MAKI_TOOBIG, &err);
    tap_row("as many fields as the limit, and one more");
    memcpy(big, GET, n);
    for (size_t i = 1; i < MAKI_HTTP_FIELDS; i++, n += 6)
        memcpy(big + n, "a: b\r\n", 6);
    memcpy(big + n, "\r\n", 2);
    CHECK_STATUS(maki_http_head_parse((maki_str){ big, n + 2 }, 9999, &head, &used, &err), MAKI_OK,
                 &err);
    CHECK_EQ(head.field_count, MAKI_HTTP_FIELDS);
    memcpy(big + n, "a: b\r\n\r\n", 8);
    CHECK_STATUS(maki_http_head_parse((maki_str){ big, n + 8 }, 9999, &head, &used, &err),
                 MAKI_TOOBIG, &err);
}

int main(void)
{
    test_parts();
    test_bad();
    test_limits();
    return tap_end();
}
