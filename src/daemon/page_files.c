/* page_files.c -- embed the files of web/ as read-only data. */
#include "base/platform.h"

MAKI_EMBED(maki_page_html, "index.html");
MAKI_EMBED(maki_page_css, "page.css");
MAKI_EMBED(maki_page_js, "page.js");
