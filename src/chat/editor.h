/* editor.h -- a line editor with a status bar below the line.
 *
 * libedit (readline is under the GPL) does the editing: arrows, history (of this process, in memory), Emacs keys, in
 * characters of the locale, so that Japanese can be edited.  A paste may have several lines: its newlines are displayed as
 * a symbol, and are part of the line.  The bar is erased when the line is complete, and redrawn after a resize. */
#ifndef MAKI_CHAT_EDITOR_H
#define MAKI_CHAT_EDITOR_H

#include <maki/env.h>

typedef struct maki_editor maki_editor;

typedef enum maki_editor_end {
    MAKI_EDITOR_LINE,
    MAKI_EDITOR_INTERRUPTED,       /* Ctrl-C; the line is discarded */
    MAKI_EDITOR_INTERRUPTED_EMPTY, /* Ctrl-C on an empty line */
    MAKI_EDITOR_END                /* Ctrl-D, or the terminal was closed */
} maki_editor_end;

/* `env` is borrowed.  Set LC_CTYPE and call maki_terminal_watch before. */
maki_status maki_editor_open(const maki_env *env, maki_editor **out, maki_err *err) MAKI_MUST_CHECK;
void maki_editor_close(maki_editor *editor); /* accepts NULL */

/* The bar, truncated to the terminal's width; text "": none. */
typedef struct maki_editor_bar {
    maki_str text;
    const char *style; /* an escape sequence, or "" */
} maki_editor_bar;

/* Read a line.  `prompt` (ASCII) and `bar` are borrowed during the call; *line, without its newline, is until the next
 * one. */
maki_editor_end maki_editor_read(maki_editor *editor, const char *prompt,
                                 const maki_editor_bar *bar, maki_str *line);

#endif
