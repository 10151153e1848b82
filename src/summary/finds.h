/* finds.h -- what must survive word for word: paths, names of things in code, numbers.
 *
 * Found by their form alone.  A path has a slash and looks like one, or is a name with the extension of
 * a source or text file; a name has an underscore or capitals inside; a number has two digits or more. */
#ifndef MAKI_SUMMARY_FINDS_H
#define MAKI_SUMMARY_FINDS_H

#include <stdbool.h>

#include <maki/str.h>

typedef enum maki_find { MAKI_FIND_PATH, MAKI_FIND_NAME, MAKI_FIND_NUMBER } maki_find;

enum { MAKI_FIND_MOST = 160 }; /* bytes; what is longer is none of them */

typedef void (*maki_find_fn)(void *ctx, maki_find what, maki_str text);

/* Call fn for each in the order they stand.  `text` is valid UTF-8. */
void maki_finds(maki_str text, maki_find_fn fn, void *ctx);

/* Does this look like the path of a file?  White space and CJK characters may be in it. */
bool maki_is_path(maki_str word);
/* A name of something in code: an underscore inside, or a capital after a small letter. */
bool maki_is_name(maki_str word);

#endif
