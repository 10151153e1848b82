/* page.c -- the table of the page's files, made by scripts/embed_page, and the conditions of a request for one.
 *
 * The policy allows what the daemon serves itself, and images inside of a document; no inline code, no form, no frame. */
#include "daemon/page.h"

#include <string.h>

#include "base/ascii.h"
#include "base/platform.h"
#include "base/str_util.h"
#include "net/http_head.h"

MAKI_EMBED(maki_page_bytes, "page_files.bin");
extern const char maki_page_bytes[];

#define FIELDS                                                                              \
    "Cache-Control: no-cache\r\n"                                                           \
    "Vary: Accept-Encoding\r\n"                                                             \
    "X-Content-Type-Options: nosniff\r\n"                                                   \
    "Referrer-Policy: no-referrer\r\n"                                                      \
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "    \
    "connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; " \
    "frame-ancestors 'none'\r\n"

#define PAGE_FILE(path, type, tag, ...)                              \
    { path,                                                          \
      type,                                                          \
      tag,                                                           \
      FIELDS "ETag: \"" tag "\"\r\n",                                \
      FIELDS "ETag: \"" tag "-gzip\"\r\nContent-Encoding: gzip\r\n", \
      __VA_ARGS__ },

static const maki_page_file files[] = {
#include "page_files.h"
};
enum { FILE_COUNT = sizeof files / sizeof files[0] };

const maki_page_file *maki_page_find(maki_str path)
{
    return MAKI_TABLE_FIND(files, path);
}

const maki_page_file *maki_page_at(size_t i)
{
    return i < FILE_COUNT ? &files[i] : NULL;
}

maki_str maki_page_body(const maki_page_file *file, bool gzip)
{
    return gzip ? (maki_str){ maki_page_bytes + file->gzip_at, file->gzip_size }
                : (maki_str){ maki_page_bytes + file->at, file->size };
}

static maki_str without_spaces(maki_str text)
{
    while (text.len && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = maki_str_skip(text, 1);
    while (text.len && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
        text.len--;
    return text;
}

/* Of "W/\"tag\"" and "\"tag-gzip\"": the tag is that of the content. */
static bool is_tag(maki_str item, maki_str tag)
{
    if (maki_str_equal(item, MAKI_LIT("*"))) return true;
    if (maki_str_starts(item, MAKI_LIT("W/"))) item = maki_str_skip(item, 2);
    if (item.len < 2 || item.ptr[0] != '"' || item.ptr[item.len - 1] != '"') return false;
    item = maki_str_prefix(maki_str_skip(item, 1), item.len - 2);
    if (!maki_str_starts(item, tag)) return false;
    item = maki_str_skip(item, tag.len);
    return item.len == 0 || maki_str_equal(item, MAKI_LIT("-gzip"));
}

bool maki_page_is_cached(const maki_page_file *file, maki_str if_none_match)
{
    while (if_none_match.len) {
        maki_str item = without_spaces(maki_str_cut(&if_none_match, ','));
        if (is_tag(item, maki_str_of(file->tag))) return true;
    }
    return false;
}

/* "q=0", "q=0.000" */
static bool is_zero(maki_str parameter)
{
    parameter = without_spaces(parameter);
    if (parameter.len < 3 || maki_lower(parameter.ptr[0]) != 'q' || parameter.ptr[1] != '=')
        return false;
    for (size_t i = 2; i < parameter.len; i++) {
        if (parameter.ptr[i] != '0' && parameter.ptr[i] != '.') return false;
    }
    return true;
}

bool maki_page_accepts_gzip(maki_str accept_encoding)
{
    bool any = false;
    while (accept_encoding.len) {
        maki_str item = maki_str_cut(&accept_encoding, ',');
        maki_str name = without_spaces(maki_str_cut(&item, ';'));
        bool allowed = !is_zero(item);
        if (maki_http_same(name, MAKI_LIT("gzip"))) return allowed;
        if (maki_str_equal(name, MAKI_LIT("*"))) any = allowed;
    }
    return any;
}
