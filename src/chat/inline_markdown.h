/* inline_markdown.h -- parse the inline elements of Markdown: bold, italic, strikethrough, code, links.
 *
 * Input is a character at a time, so an answer may be split anywhere.  Ambiguous input stays pending: a run of asterisks
 * until the next character, a link until its end.  An opening delimiter applies at once, since the closing one may be
 * minutes away; a style that is never closed ends with its block. */
#ifndef MAKI_CHAT_INLINE_MARKDOWN_H
#define MAKI_CHAT_INLINE_MARKDOWN_H

#include "chat/text_wrap.h"

enum { MAKI_INLINE_LINK = 512 };

typedef struct maki_inline {
    maki_text_wrap *wrap;            /* borrowed */
    unsigned base;                   /* the style of the block */
    unsigned style;                  /* the open elements */
    uint32_t before;                 /* the previous character; a space at the beginning */
    uint32_t mark;                   /* the delimiter of the pending run */
    size_t run;                      /* its length; 0: none is pending */
    size_t code;                     /* backticks that opened the current code; 0: not in code */
    bool escaped;                    /* a backslash is pending */
    uint32_t link[MAKI_INLINE_LINK]; /* pending, from its bracket on */
    size_t link_len;                 /* 0: none is pending */
    size_t link_text;                /* the offset of ]; 0: not found yet */
} maki_inline;

maki_inline maki_inline_new(maki_text_wrap *wrap, unsigned base);
void maki_inline_char(maki_inline *text, uint32_t code);
/* At the end of a line or a block: write what is pending. */
void maki_inline_flush(maki_inline *text);

#endif
