/* url_test.c -- parsing URLs of servers. */
#include "net/url.h"

#include "base/str_util.h"
#include "tap.h"

/* clang-format off */
static const struct url_row { const char *url, *origin, *path; bool loopback; } rows[] = {
    { "http://127.0.0.1:9",         "http://127.0.0.1:9",     "",           true },
    { "http://localhost/",          "http://localhost",       "",           true },
    { "https://[::1]:8443/v1//",    "https://[::1]:8443",     "/v1",        true },
    { "https://h.example/openai/v1/", "https://h.example",    "/openai/v1", false },
    { "http://localhost.example",   "http://localhost.example", "",         false },
    { "http://10.127.0.1",          "http://10.127.0.1",      "",           false },
};
static const char *const bad[] = { "", "http://", "https:///x", "ftp://h", "http://a:b@h", "http://h/?q", "http://h/ x", "http://海苔" };
/* clang-format on */

int main(void)
{
    maki_url parts;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tap_row("%s", rows[i].url);
        if (!CHECK(maki_url_parse(maki_str_of(rows[i].url), &parts))) continue;
        CHECK_TEXT(parts.origin, maki_str_of(rows[i].origin));
        CHECK_TEXT(parts.path, maki_str_of(rows[i].path));
        CHECK_EQ(maki_url_is_loopback(parts.origin), rows[i].loopback);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        tap_row("invalid URL: %s", bad[i]);
        CHECK(!maki_url_parse(maki_str_of(bad[i]), &parts));
    }
    return tap_end();
}
