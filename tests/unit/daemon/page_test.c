/* page_test.c -- the files of the page: their size in all, and the conditions of a request. */
#include "daemon/page.h"

#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "tap.h"

enum { PAGE_MAX = 200000 }; /* bytes before compression, so that the page stays small */

/* clang-format off */
static const struct encoding_row { const char *name, *accept; bool gzip; } encodings[] = {
    { "no field",        "", false },
    { "gzip",            "gzip", true },
    { "of several",      "br;q=1.0, GZIP;q=0.8, *;q=0.1", true },
    { "refused",         "gzip;q=0", false },
    { "refused at length", "br, gzip ; q=0.000", false },
    { "any",             "*", true },
    { "any but gzip",    "*, gzip;q=0", false },
    { "none",            "identity, *;q=0", false },
    { "another name",    "x-gzip", false },
    { "empty items",     ",,;,", false },
};

static const struct tag_row { const char *name, *before, *after; bool cached; } tags[] = {
    { "the tag",          "\"", "\"", true },
    { "weak",             "W/\"", "\"", true },
    { "of the compressed body", "\"", "-gzip\"", true },
    { "one of several",   "\"other\" ,W/\"", "\", \"last\"", true },
    { "the beginning of another", "\"", "0\"", false },
    { "the end of another", "\"0", "\"", false },
    { "without quotes",   "", "", false },
    { "only one quote",   "\"", "", false },
};
/* clang-format on */

static void check_sizes(void)
{
    size_t size = 0, count = 0;
    const maki_page_file *file;
    for (; (file = maki_page_at(count)); count++) {
        maki_str plain = maki_page_body(file, false), compressed = maki_page_body(file, true);
        tap_row("%s", file->path);
        CHECK(plain.len > 0 && compressed.len > 18);
        CHECK(memcmp(compressed.ptr, "\x1f\x8b\x08", 3) == 0);
        CHECK(maki_page_find(maki_str_of(file->path)) == file);
        CHECK(strstr(file->fields, file->tag) && strstr(file->gzip_fields, file->tag));
        if (strcmp(file->path, "/") != 0) size += plain.len;
    }
    tap_row("all files together, %zu bytes", size);
    CHECK(count >= 5);
    CHECK(size < PAGE_MAX);
}

int main(void)
{
    const maki_page_file *file = maki_page_find(MAKI_LIT("/"));
    check_sizes();
    for (size_t i = 0; i < COUNT(encodings); i++) {
        tap_row("Accept-Encoding: %s", encodings[i].name);
        CHECK(maki_page_accepts_gzip(maki_str_of(encodings[i].accept)) == encodings[i].gzip);
    }
    for (size_t i = 0; i < COUNT(tags); i++) {
        char value[200];
        tap_row("If-None-Match: %s", tags[i].name);
        snprintf(value, sizeof value, "%s%s%s", tags[i].before, file->tag, tags[i].after);
        CHECK(maki_page_is_cached(file, maki_str_of(value)) == tags[i].cached);
    }
    tap_row("If-None-Match: *");
    CHECK(maki_page_is_cached(file, MAKI_LIT("*")));
    CHECK(!maki_page_is_cached(file, MAKI_LIT("")));
    return tap_end();
}
