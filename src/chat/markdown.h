/* markdown.h -- render Markdown in a terminal while it is being received.
 *
 *     maki_markdown md;
 *     maki_markdown_begin(&md, sink, 80, true);
 *     maki_markdown_add(&md, chunk, &err);  ... for each chunk, split anywhere
 *     st = maki_markdown_end(&md, &err);
 *
 * Headings, bold, italic, code, links, lists and quotes are displayed by styles instead of their marks; lines wrap at the
 * terminal's width, indented below their bullet or bar.  Fenced code and tables keep their lines.  The line breaks of a
 * paragraph are preserved, because in a chat they are intended.
 *
 * The output does not depend on where the text was split.  Nothing is allocated. */
#ifndef MAKI_CHAT_MARKDOWN_H
#define MAKI_CHAT_MARKDOWN_H

#include "chat/inline_markdown.h"
#include "chat/text_wrap.h"

enum { MAKI_MARKDOWN_HEAD = 256 };

typedef enum maki_markdown_state {
    MAKI_MARKDOWN_BEGIN,      /* of a line, its kind unknown */
    MAKI_MARKDOWN_TEXT,       /* within a line of text */
    MAKI_MARKDOWN_TABLE,      /* within a line that is not wrapped */
    MAKI_MARKDOWN_CODE_BEGIN, /* of a line of fenced code, maybe its end */
    MAKI_MARKDOWN_CODE        /* within such a line */
} maki_markdown_state;

typedef struct maki_markdown {
    maki_text_wrap wrap;
    maki_inline line;
    maki_markdown_state state;
    char part[4]; /* an incomplete character */
    size_t part_len;
    uint32_t head[MAKI_MARKDOWN_HEAD]; /* the start of a line, until its kind is known */
    size_t head_len;
    int indent;      /* spaces before it; -1: after a quote's >, whose space is skipped */
    unsigned quotes; /* > at the beginning of this line */
    uint32_t fence;  /* the character of the code's fence */
    size_t fence_len;
    unsigned fence_quotes; /* that the code is in */
    bool began;            /* something was written */
    bool blank;            /* the last line was empty */
} maki_markdown;

/* `styled`: write escape sequences.  The sink is used until maki_markdown_end. */
void maki_markdown_begin(maki_markdown *md, maki_sink sink, unsigned width, bool styled);
/* The terminal was resized. */
void maki_markdown_resize(maki_markdown *md, unsigned width);
/* Write what is complete; a failure of the sink is returned, by all later calls too. */
maki_status maki_markdown_add(maki_markdown *md, maki_str chunk, maki_err *err);
/* The text is complete: write what is pending, and end the last line. */
maki_status maki_markdown_end(maki_markdown *md, maki_err *err);

#endif
