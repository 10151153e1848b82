/* page.h -- the files of the web page at /, embedded in the program, looked up by path. */
#ifndef MAKI_DAEMON_PAGE_H
#define MAKI_DAEMON_PAGE_H

#include <maki/str.h>

typedef struct maki_page_file {
    const char *path; /* under which it is served */
    const char *type;
    const char *start, *end;
} maki_page_file;

/* NULL: no file has this path. */
const maki_page_file *maki_page_find(maki_str path);

#endif
