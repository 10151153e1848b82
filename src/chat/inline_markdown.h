/* inline_markdown.h -- what stands inside a line of Markdown: bold, italic, struck out, code, links.
 *
 * Fed a character at a time, so it does not matter where an answer was cut.  What cannot be known yet waits:
 * a run of stars for the character behind it, a link for its end.  An opening mark acts at once, since the
 * closing one may be minutes away; what was never closed ends with its block. */
#ifndef MAKI_CHAT_INLINE_MARKDOWN_H
#define MAKI_CHAT_INLINE_MARKDOWN_H

#include "chat/text_wrap.h"

enum { MAKI_INLINE_LINK = 512 };

typedef struct maki_inline {
    maki_text_wrap *flow; /* borrowed */
    unsigned base;        /* how the block looks */
    unsigned look;        /* what is open on top of it */
    uint32_t before;      /* the character before; a space at the beginning */
    uint32_t mark;        /* of the run that waits */
    size_t run;           /* its length; 0: none waits */
    size_t code;          /* backticks that opened the code we are in; 0: we are in none */
    bool escaped;         /* a backslash waits */
    uint32_t link[MAKI_INLINE_LINK]; /* from its bracket on */
    size_t link_len;                 /* 0: none waits */
    size_t link_text;                /* where its text ends; 0: it has not */
} maki_inline;

maki_inline maki_inline_new(maki_text_wrap *flow, unsigned base);
void maki_inline_char(maki_inline *phrase, uint32_t code);
/* The line ends, or the block is about to: nothing waits any longer. */
void maki_inline_flush(maki_inline *phrase);

#endif
