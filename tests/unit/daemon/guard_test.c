/* guard_test.c -- access checks on the head of a request: Host, Origin, token. */
#include "daemon/guard.h"

#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "tap.h"

static const maki_guard plain = { 0 };
static const maki_guard open_to_all = { .token = "s3cret", .any_address = true };
static const maki_guard with_names = { .hosts = { "host.docker.internal" },
                                       .host_count = 1,
                                       .origins = { "https://example.com" },
                                       .origin_count = 1 };

/* clang-format off */
static const struct guard_row { const char *name; const maki_guard *guard; const char *fields, *path_token; int status; } rows[] = {
    { "127.0.0.1",              &plain, "Host: 127.0.0.1:4747\r\n", "", 0 },
    { "localhost in any case",  &plain, "Host: LocalHost\r\n", "", 0 },
    { "IPv6",                   &plain, "Host: [::1]:4747\r\n", "", 0 },
    { "another name: rebinding", &plain, "Host: evil.example:4747\r\n", "", 421 },
    { "a name that begins so",  &plain, "Host: localhost.evil.example\r\n", "", 421 },
    { "an address not ours",    &plain, "Host: 192.168.0.7:4747\r\n", "", 421 },
    { "an empty host",          &plain, "Host:\r\n", "", 421 },
    { "our own page",           &plain, "Host: localhost:4747\r\nOrigin: http://localhost:4747\r\n", "", 0 },
    { "another port's page",    &plain, "Host: localhost:4747\r\nOrigin: http://localhost:3000\r\n", "", 403 },
    { "another site's page",    &plain, "Host: localhost:4747\r\nOrigin: https://evil.example\r\n", "", 403 },
    { "a page of no origin",    &plain, "Host: localhost:4747\r\nOrigin: null\r\n", "", 403 },
    { "https is not ours",      &plain, "Host: localhost:4747\r\nOrigin: https://localhost:4747\r\n", "", 403 },
    { "an image on another site's page", &plain, "Host: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n", "", 403 },
    { "a link on another site's page",   &plain, "Host: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n", "", 0 },
    { "our own page's image",            &plain, "Host: localhost\r\nSec-Fetch-Site: same-origin\r\n", "", 0 },
    { "a host by name",         &with_names, "Host: host.docker.internal:4747\r\n", "", 0 },
    { "an origin by name",      &with_names, "Host: localhost\r\nOrigin: https://example.com\r\n", "", 0 },
    { "only that one",          &with_names, "Host: localhost\r\nOrigin: https://example.com.evil\r\n", "", 403 },
    { "no token",               &open_to_all, "Host: 10.0.0.1:4747\r\n", "", 401 },
    { "a token in the field",   &open_to_all, "Host: 10.0.0.1:4747\r\nX-Maki-Token: s3cret\r\n", "", 0 },
    { "a token in the path",    &open_to_all, "Host: [fe80::1]:4747\r\n", "s3cret", 0 },
    { "a wrong token",          &open_to_all, "Host: 10.0.0.1\r\nX-Maki-Token: s3cres\r\n", "", 401 },
    { "the beginning of it",    &open_to_all, "Host: 10.0.0.1\r\nX-Maki-Token: s3\r\n", "", 401 },
    { "more than it",           &open_to_all, "Host: 10.0.0.1\r\nX-Maki-Token: s3crets3cret\r\n", "", 401 },
    { "Authorization is not it", &open_to_all, "Host: 10.0.0.1\r\nAuthorization: Bearer s3cret\r\n", "", 401 },
    { "a name where any address is ours", &open_to_all, "Host: evil.example\r\nX-Maki-Token: s3cret\r\n", "", 421 },
};
/* clang-format on */

int main(void)
{
    static maki_http_head head;
    maki_err err;
    size_t used;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[400];
        tap_row("%s", rows[i].name);
        snprintf(text, sizeof text, "GET / HTTP/1.1\r\n%s\r\n", rows[i].fields);
        CHECK_STATUS(maki_http_head_parse(maki_str_of(text), 4096, &head, &used, &err), MAKI_OK,
                     &err);
        maki_guard_answer got =
            maki_guard_check(rows[i].guard, &head, maki_str_of(rows[i].path_token));
        CHECK_EQ(got.status, rows[i].status);
        CHECK_EQ(got.message != NULL, got.status != 0);
    }
    return tap_end();
}
