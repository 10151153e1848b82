/* line_reader.h -- the text of a JSON string as lines of bounded length.
 *
 * A string may be a gigabyte; only one line is buffered.  A line that is longer than MAKI_LINE_READER_LINE comes
 * in several parts, cut at white space where there is some, never inside a character. */
#ifndef MAKI_SUMMARY_LINE_READER_H
#define MAKI_SUMMARY_LINE_READER_H

#include <stdbool.h>

#include <maki/env.h>

enum { MAKI_LINE_READER_LINE = 4096 };

/* One line without its end, or a part of one; `more`: the line continues.  Borrowed for the call. */
typedef void (*maki_text_line_fn)(void *ctx, maki_str line, bool more);

typedef struct maki_line_reader {
    char buffer[MAKI_LINE_READER_LINE];
    size_t len;
    maki_text_line_fn fn;
    void *ctx;
} maki_line_reader;

/* Call fn for each line of `string`, a JSON string that was checked. */
void maki_line_reader_string(maki_line_reader *reader, maki_str string, maki_text_line_fn fn,
                             void *ctx);
/* The same for a text that is not JSON. */
void maki_line_reader_text(maki_line_reader *reader, maki_str text, maki_text_line_fn fn,
                           void *ctx);

#endif
