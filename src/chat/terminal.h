/* terminal.h -- the terminal that a chat runs in: how wide it is, what it can show, and its signals.
 *
 * Ctrl-C and a change of size come as signals, and a handler reaches nothing but variables of the process: so
 * there is one terminal a process. */
#ifndef MAKI_CHAT_TERMINAL_H
#define MAKI_CHAT_TERMINAL_H

#include <stdbool.h>

/* From now on Ctrl-C and changes of size are noted instead of acted on.  Going on after a stop (Ctrl-Z) counts as a
 * change of size: all has to be drawn again.  A signal that ends the program leaves the terminal as it was now. */
void maki_terminal_watch(void);
/* Was Ctrl-C pressed, or the size changed, since it was last asked?  Asking forgets it. */
bool maki_terminal_take_interrupt(void);
bool maki_terminal_take_resize(void);
bool maki_terminal_interrupted(void); /* the same without forgetting */

typedef enum maki_terminal_event {
    MAKI_TERMINAL_INPUT, /* a byte, or the end, can be read from standard input */
    MAKI_TERMINAL_INTERRUPT,
    MAKI_TERMINAL_RESIZE
} maki_terminal_event;
/* Wait for one of them; both signals are taken by that. */
maki_terminal_event maki_terminal_wait(void);
/* Wait until the size stays as it is, which it does while nobody drags the window: what is drawn in between would
 * stand in the wrong place.  Input and Ctrl-C end the waiting, and stay to be taken. */
void maki_terminal_wait_resized(void);
/* Is there input already? */
bool maki_terminal_has_input(void);

/* Standard output is a pipe that nobody reads any more. */
bool maki_terminal_output_closed(void);

unsigned maki_terminal_width(void); /* of standard output; 80 when it does not say */
/* Does standard output take escape sequences: a terminal, and not a dumb one? */
bool maki_terminal_styled(void);
bool maki_terminal_coloured(void); /* that, and NO_COLOR is not set */

/* What is pasted has a mark before and behind it from now on, or no more (xterm, "bracketed paste"). */
void maki_terminal_bracketed_paste(bool on);

/* While an answer is written what is typed is not shown; it stays for the next prompt. */
void maki_terminal_echo(bool on);

#endif
