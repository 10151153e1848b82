/* text_wrap.h -- styled characters on a terminal, wrapped at its width.
 *
 * Text comes a character at a time and leaves a word at a time: a word goes to the next line when it does not
 * fit.  Between characters that are two columns wide (Chinese, Japanese, Korean, emoji) a line may end as well,
 * but none begins with a closing bracket or a full stop, nor ends with an opening bracket.  A word longer than
 * a line is cut.  Widths are Unicode's, as libutf8proc has them, whatever the locale.
 *
 * Control characters do not get through: what a model says must not move the cursor.
 *
 * Holds no memory of its own.  The first failure of the sink sticks, and maki_text_wrap_flush tells it. */
#ifndef MAKI_CHAT_TEXT_WRAP_H
#define MAKI_CHAT_TEXT_WRAP_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/env.h>

/* How a character looks: any of these together. */
typedef enum maki_look {
    MAKI_LOOK_PLAIN = 0,
    MAKI_LOOK_BOLD = 1,
    MAKI_LOOK_ITALIC = 2,
    MAKI_LOOK_STRIKE = 4,
    MAKI_LOOK_LINK = 8,
    MAKI_LOOK_CODE = 16,
    MAKI_LOOK_DIM = 32,
    MAKI_LOOK_HEADING = 64
} maki_look;

enum { MAKI_TEXT_WRAP_WORD = 256, MAKI_TEXT_WRAP_HANG = 160, MAKI_TEXT_WRAP_MIN = 10 };

typedef struct maki_text_wrap_char {
    uint32_t code;
    unsigned look;
    unsigned width;
} maki_text_wrap_char;

typedef struct maki_text_wrap {
    maki_sink sink;
    unsigned width; /* of the terminal; less than MAKI_TEXT_WRAP_MIN counts as that */
    bool styled;    /* else no escape sequences are written */

    unsigned column; /* that the cursor is in */
    unsigned spaces; /* that wait: at the end of a line they are not written */
    unsigned space_look;
    unsigned look;                                 /* that the terminal has now */
    maki_text_wrap_char word[MAKI_TEXT_WRAP_WORD]; /* that waits for its end */
    size_t word_len;
    unsigned word_width;
    char hang[MAKI_TEXT_WRAP_HANG]; /* what each line that follows from this one begins with */
    size_t hang_len;
    unsigned hang_width;

    char out[1024];
    size_t fill;
    maki_status status;
    maki_err err;
} maki_text_wrap;

maki_text_wrap maki_text_wrap_new(maki_sink sink, unsigned width, bool styled);

/* The columns of a character: 0, 1 or 2. */
unsigned maki_text_wrap_columns(uint32_t code);

/* At the beginning of a line: `text` now, and again (`repeats`) or as many spaces on each line that wraps. */
void maki_text_wrap_begin(maki_text_wrap *flow, maki_str text, bool repeats);
void maki_text_wrap_put(maki_text_wrap *flow, uint32_t code, unsigned look); /* wrapped */
void maki_text_wrap_raw(maki_text_wrap *flow, uint32_t code, unsigned look); /* where it stands */
/* End the line; the next one hangs on nothing. */
void maki_text_wrap_line(maki_text_wrap *flow);
/* What is complete goes to the sink.  A word that may go on waits. */
maki_status maki_text_wrap_flush(maki_text_wrap *flow, maki_err *err);

#endif
