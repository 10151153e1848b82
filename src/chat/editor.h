/* editor.h -- a line typed at a prompt, with a bar under it.
 *
 * libedit edits (readline is under the GPL): arrows, history (of this run, in memory), Emacs keys; in the locale's
 * characters, so Japanese comes in and is moved through as a person expects.  What is pasted may have several lines:
 * their ends are shown as a sign, and are sent with it.  The bar stands on the line below whatever is being typed
 * and goes when the line is given; it follows the terminal's size. */
#ifndef MAKI_CHAT_EDITOR_H
#define MAKI_CHAT_EDITOR_H

#include <maki/env.h>

typedef struct maki_editor maki_editor;

typedef enum maki_editor_end {
    MAKI_EDITOR_LINE,
    MAKI_EDITOR_INTERRUPTED, /* Ctrl-C, and something was typed; it is dropped */
    MAKI_EDITOR_LEAVING,     /* Ctrl-C, and nothing was typed */
    MAKI_EDITOR_END          /* Ctrl-D, or the terminal is gone */
} maki_editor_end;

/* `env` is borrowed.  LC_CTYPE is set and maki_terminal_watch was called before. */
maki_status maki_editor_open(const maki_env *env, maki_editor **out, maki_err *err) MAKI_MUST_CHECK;
void maki_editor_close(maki_editor *editor); /* accepts NULL */

/* The line under the prompt, as much of it as the terminal is wide; text "": there is none. */
typedef struct maki_editor_bar {
    maki_str text;
    const char *look; /* an escape sequence; "" for none */
} maki_editor_bar;

/* Read a line.  `prompt` (ASCII) and `bar` are borrowed during the call; *line, without its newline, is until the next
 * one. */
maki_editor_end maki_editor_read(maki_editor *editor, const char *prompt,
                                 const maki_editor_bar *bar, maki_str *line);

#endif
