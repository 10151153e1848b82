/* feed.h -- the text of a JSON string as lines of bounded length.
 *
 * A string may be a gigabyte; what is held is one line.  A line that is longer than MAKI_FEED_LINE comes
 * in several parts, cut at white space where there is some, never inside a character. */
#ifndef MAKI_SUMMARY_FEED_H
#define MAKI_SUMMARY_FEED_H

#include <stdbool.h>

#include <maki/env.h>

enum { MAKI_FEED_LINE = 4096 };

/* One line without its end, or a part of one: `more` says that it goes on.  Borrowed for the call. */
typedef void (*maki_line_fn)(void *ctx, maki_str line, bool more);

typedef struct maki_feed {
    char room[MAKI_FEED_LINE];
    size_t len;
    maki_line_fn fn;
    void *ctx;
} maki_feed;

/* Call fn for each line of `string`, a JSON string that was checked. */
void maki_feed_string(maki_feed *feed, maki_str string, maki_line_fn fn, void *ctx);

#endif
