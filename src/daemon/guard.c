/* guard.c -- three checks of a request's head, in this order: Host (else 421), Origin (else 403), token (else 401). */
#include "daemon/guard.h"

#include "base/str_util.h"

/* "localhost:4747" -> "localhost", "[::1]:4747" -> "[::1]" */
static maki_str without_port(maki_str host)
{
    size_t end_of_name = 0;
    if (host.len && host.ptr[0] == '[') {
        const char *end = memchr(host.ptr, ']', host.len);
        end_of_name = end ? (size_t)(end - host.ptr) : host.len;
    }
    while (end_of_name < host.len && host.ptr[end_of_name] != ':')
        end_of_name++;
    return maki_str_prefix(host, end_of_name);
}

/* A numeric address cannot be rebound by DNS. */
static bool is_address(maki_str host)
{
    bool ipv6 = host.len > 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']';
    for (size_t i = ipv6; i < host.len - ipv6; i++) {
        char c = host.ptr[i];
        bool hex = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':';
        if (!(c >= '0' && c <= '9') && c != '.' && !(ipv6 && hex)) return false;
    }
    return host.len > 0;
}

static bool is_our_host(const maki_guard *guard, maki_str host)
{
    host = without_port(host);
    if (maki_http_same(host, MAKI_LIT("localhost")) ||
        maki_str_equal(host, MAKI_LIT("127.0.0.1")) || maki_str_equal(host, MAKI_LIT("[::1]"))) {
        return true;
    }
    if (guard->any_address && is_address(host)) return true;
    for (size_t i = 0; i < guard->host_count; i++) {
        if (maki_http_same(host, maki_str_of(guard->hosts[i]))) return true;
    }
    return false;
}

/* Our own page: http://HOST, with the Host of this request. */
static bool is_our_origin(const maki_guard *guard, maki_str origin, maki_str host)
{
    for (size_t i = 0; i < guard->origin_count; i++) {
        if (maki_http_same(origin, maki_str_of(guard->origins[i]))) return true;
    }
    return maki_str_starts(origin, MAKI_LIT("http://")) &&
           maki_http_same(maki_str_skip(origin, 7), host);
}

/* A browser marks requests that a page of another site makes; following a link to our page is harmless. */
static bool is_cross_site(const maki_http_head *head)
{
    if (!maki_http_same(maki_http_value(head, "sec-fetch-site"), MAKI_LIT("cross-site"))) {
        return false;
    }
    bool navigation = maki_http_same(maki_http_value(head, "sec-fetch-mode"), MAKI_LIT("navigate"));
    return !(navigation && maki_str_equal(head->method, MAKI_LIT("GET")));
}

/* Compared in constant time: the duration does not depend on how many bytes match. */
static bool same_secret(maki_str given, maki_str token)
{
    unsigned char differ = given.len != token.len;
    for (size_t i = 0; i < token.len; i++) {
        differ |= (unsigned char)((given.len ? given.ptr[i % given.len] : 0) ^ token.ptr[i]);
    }
    return differ == 0;
}

maki_guard_answer maki_guard_check(const maki_guard *guard, const maki_http_head *head,
                                   maki_str path_token)
{
    maki_str host = maki_http_value(head, "host"), origin = maki_http_value(head, "origin");
    maki_str given = maki_http_value(head, "x-maki-token");
    bool http_1_0 = head->minor == 0 && host.len == 0; /* not a browser */
    if (!http_1_0 && !is_our_host(guard, host)) {
        return (maki_guard_answer){ 421, "wrong_host",
                                    "the Host of this request is not allowed; use 127.0.0.1 or "
                                    "localhost, or start Maki with --allow-host" };
    }
    bool allowed = origin.len && is_our_origin(guard, origin, host);
    if (!allowed && (origin.len || is_cross_site(head))) {
        return (maki_guard_answer){ 403, "wrong_origin",
                                    "pages of other sites may not send requests to Maki; allow one "
                                    "with --allow-origin" };
    }
    if (!guard->token) return (maki_guard_answer){ .status = 0 };
    if (!same_secret(path_token.len ? path_token : given, maki_str_of(guard->token))) {
        return (
            maki_guard_answer){ 401, "wrong_token",
                                "a token is required: in the header x-maki-token, or as /t/TOKEN "
                                "before the path" };
    }
    return (maki_guard_answer){ .status = 0 };
}
