/* page.c -- the table of the page's files; page_files.c embeds their bytes from web/. */
#include "daemon/page.h"

#include "base/str_util.h"

extern const char maki_page_html[], maki_page_html_end[];
extern const char maki_page_css[], maki_page_css_end[];
extern const char maki_page_js[], maki_page_js_end[];

static const maki_page_file files[] = {
    { "/", "text/html; charset=utf-8", maki_page_html, maki_page_html_end },
    { "/maki/page.css", "text/css; charset=utf-8", maki_page_css, maki_page_css_end },
    { "/maki/page.js", "text/javascript; charset=utf-8", maki_page_js, maki_page_js_end },
};

const maki_page_file *maki_page_find(maki_str path)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (maki_str_is(path, maki_str_of(files[i].path))) return &files[i];
    }
    return NULL;
}
