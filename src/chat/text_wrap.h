/* text_wrap.h -- styled characters on a terminal, wrapped at its width.
 *
 * Input is a character at a time, output a word at a time: a word that does not fit begins the next line.  A line may also
 * break next to a character that is two columns wide (Chinese, Japanese, Korean, emoji), but not before a closing bracket
 * or a full stop, nor after an opening bracket.  A word longer than a line is split.  Widths are Unicode's (libutf8proc),
 * in every locale.
 *
 * Control characters are replaced: the output of a model must not move the cursor.
 *
 * Nothing is allocated.  After the first failure of the sink nothing is written, and maki_text_wrap_flush returns
 * that failure. */
#ifndef MAKI_CHAT_TEXT_WRAP_H
#define MAKI_CHAT_TEXT_WRAP_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/env.h>

/* The style of a character: a bit set. */
typedef enum maki_style {
    MAKI_STYLE_PLAIN = 0,
    MAKI_STYLE_BOLD = 1,
    MAKI_STYLE_ITALIC = 2,
    MAKI_STYLE_STRIKE = 4,
    MAKI_STYLE_LINK = 8,
    MAKI_STYLE_CODE = 16,
    MAKI_STYLE_DIM = 32,
    MAKI_STYLE_HEADING = 64
} maki_style;

enum { MAKI_TEXT_WRAP_WORD = 256, MAKI_TEXT_WRAP_PREFIX = 160, MAKI_TEXT_WRAP_MIN = 10 };

typedef struct maki_text_wrap_char {
    uint32_t code;
    unsigned style;
    unsigned width;
} maki_text_wrap_char;

typedef struct maki_text_wrap {
    maki_sink sink;
    unsigned width; /* of the terminal; less than MAKI_TEXT_WRAP_MIN counts as that */
    bool styled;    /* else no escape sequences are written */

    unsigned column; /* of the cursor */
    unsigned spaces; /* pending: at the end of a line they are omitted */
    unsigned space_style;
    unsigned style;                                /* the terminal's current one */
    maki_text_wrap_char word[MAKI_TEXT_WRAP_WORD]; /* pending, incomplete */
    size_t word_len;
    unsigned word_width;
    char prefix
        [MAKI_TEXT_WRAP_PREFIX]; /* written at the start of each line that continues this one */
    size_t prefix_len;
    unsigned prefix_width;

    char out[1024];
    size_t fill;
    maki_status status;
    maki_err err;
} maki_text_wrap;

maki_text_wrap maki_text_wrap_new(maki_sink sink, unsigned width, bool styled);

/* The columns of a character: 0, 1 or 2. */
unsigned maki_text_wrap_columns(uint32_t code);

/* At the beginning of a line: write `text`; the lines that continue it begin with the same (`repeats`) or with spaces. */
void maki_text_wrap_prefix(maki_text_wrap *wrap, maki_str text, bool repeats);
void maki_text_wrap_put(maki_text_wrap *wrap, uint32_t code, unsigned style); /* wrapped */
void maki_text_wrap_unwrapped(maki_text_wrap *wrap, uint32_t code,
                              unsigned style); /* never moved to the next line */
/* End the line; the next one has no prefix. */
void maki_text_wrap_newline(maki_text_wrap *wrap);
/* Write what is complete to the sink; an incomplete word stays pending. */
maki_status maki_text_wrap_flush(maki_text_wrap *wrap, maki_err *err);

#endif
