/* markdown.h -- Markdown that reads well in a terminal, while it still comes.
 *
 *     maki_markdown md;
 *     maki_markdown_begin(&md, sink, 80, true);
 *     maki_markdown_add(&md, piece, &err);  ... as pieces come, cut anywhere
 *     st = maki_markdown_end(&md, &err);
 *
 * Headings, bold, italic, code, links, lists and quotes lose their marks and get a look; lines wrap at the
 * terminal's width under their bullet or bar.  Fenced code keeps its lines as they are, with the language above;
 * tables too.  The line breaks of a paragraph stay: in a chat people mean them.
 *
 * The same text gives the same bytes wherever it was cut.  Nothing is allocated. */
#ifndef MAKI_CHAT_MARKDOWN_H
#define MAKI_CHAT_MARKDOWN_H

#include "chat/inline_markdown.h"
#include "chat/text_wrap.h"

enum { MAKI_MARKDOWN_HEAD = 256 };

typedef enum maki_markdown_state {
    MAKI_MARKDOWN_BEGIN,      /* of a line: what is it? */
    MAKI_MARKDOWN_TEXT,       /* in a line of text */
    MAKI_MARKDOWN_TABLE,      /* in a line that is left as it is */
    MAKI_MARKDOWN_CODE_BEGIN, /* of a line of fenced code: does it end here? */
    MAKI_MARKDOWN_CODE        /* in such a line */
} maki_markdown_state;

typedef struct maki_markdown {
    maki_text_wrap flow;
    maki_inline phrase;
    maki_markdown_state state;
    char part[4]; /* the beginning of a character */
    size_t part_len;
    uint32_t head[MAKI_MARKDOWN_HEAD]; /* the beginning of a line, until it is clear what it is */
    size_t head_len;
    int indent;      /* spaces before it; -1: the one behind a quote's mark does not count */
    unsigned quotes; /* marks of quotes seen in this line */
    uint32_t fence;  /* what the code is fenced with */
    size_t fence_len;
    unsigned fence_quotes; /* that it stands in */
    bool began;            /* something was written */
    bool blank;            /* the last line was empty */
} maki_markdown;

/* `styled`: with escape sequences.  The sink is used until the end. */
void maki_markdown_begin(maki_markdown *md, maki_sink sink, unsigned width, bool styled);
/* The terminal has another width now. */
void maki_markdown_resize(maki_markdown *md, unsigned width);
/* What is complete of it is written; a failure of the sink is told, and sticks. */
maki_status maki_markdown_add(maki_markdown *md, maki_str piece, maki_err *err);
/* Nothing more comes: what waited is written, and the last line ended. */
maki_status maki_markdown_end(maki_markdown *md, maki_err *err);

#endif
