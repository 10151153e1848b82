/* page.h -- the files of the web page, embedded in the program, looked up by path: / and /maki/page/NAME.
 *
 * Every file of web/ and the modules that src/meson.build names are in it, plain and compressed (scripts/embed_page). */
#ifndef MAKI_DAEMON_PAGE_H
#define MAKI_DAEMON_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <maki/str.h>

typedef struct maki_page_file {
    const char *path; /* under which it is served */
    const char *type; /* Content-Type */
    const char *tag;  /* of its content: what is between the quotes of ETag */
    /* Header lines, each ended by CRLF, of the plain and of the compressed body; the policy is among them. */
    const char *fields, *gzip_fields;
    size_t at, size, gzip_at, gzip_size; /* in maki_page_bytes() */
} maki_page_file;

/* NULL: no file has this path. */
const maki_page_file *maki_page_find(maki_str path);
/* The i-th, in no particular order; NULL after the last. */
const maki_page_file *maki_page_at(size_t i);
maki_str maki_page_body(const maki_page_file *file, bool gzip);

/* Does If-None-Match say that the client has this content? */
bool maki_page_is_cached(const maki_page_file *file, maki_str if_none_match);
/* Does Accept-Encoding allow gzip? */
bool maki_page_accepts_gzip(maki_str accept_encoding);

#endif
