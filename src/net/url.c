/* url.c -- split a URL into origin and path.  Strict: a URL that curl might parse differently is refused. */
#include "net/url.h"

#include "base/str_util.h"

/* Is it printable, without spaces and other characters that are invalid in a URL? */
static bool has_url_characters(maki_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] >= 0x7f || strchr("\"<>\\^`{|}#?", text.ptr[i]))
            return false;
    return true;
}

static size_t scheme_len(maki_str url)
{
    if (maki_str_starts(url, MAKI_LIT("http://"))) return 7;
    return maki_str_starts(url, MAKI_LIT("https://")) ? 8 : 0;
}

bool maki_url_parse(maki_str url, maki_url *out)
{
    size_t scheme_end = scheme_len(url);
    if (scheme_end == 0 || url.len == scheme_end || !has_url_characters(url)) return false;
    maki_str host = maki_str_skip(url, scheme_end);
    const char *slash = memchr(host.ptr, '/', host.len);
    size_t origin_len = slash ? (size_t)(slash - url.ptr) : url.len;
    if (origin_len == scheme_end || memchr(url.ptr, '@', origin_len))
        return false; /* no passwords here */
    maki_str path = maki_str_skip(url, origin_len);
    while (path.len && path.ptr[path.len - 1] == '/')
        path.len--;
    *out = (maki_url){ maki_str_prefix(url, origin_len), path };
    return true;
}

bool maki_url_is_loopback(maki_str origin)
{
    static const char *const names[] = { "localhost", "[::1]" };
    maki_str host = maki_str_skip(origin, scheme_len(origin));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        maki_str name = maki_str_of(names[i]);
        bool host_ends = host.len == name.len || (host.len > name.len && host.ptr[name.len] == ':');
        if (host_ends && maki_str_starts(host, name)) return true;
    }
    return maki_str_starts(host, MAKI_LIT("127."));
}
