/* terminal.h -- the terminal of a chat: signals, waiting for input, width and capabilities, echo and bracketed paste.
 *
 * Ctrl-C and a resize are signals, and a signal handler can only set global variables: so there is one terminal for each
 * process. */
#ifndef MAKI_CHAT_TERMINAL_H
#define MAKI_CHAT_TERMINAL_H

#include <stdbool.h>

/* Install the signal handlers: Ctrl-C and a resize only set flags.  Continuing after a stop (Ctrl-Z) counts as a
 * resize: everything has to be redrawn.  A signal that ends the program restores the current mode of the terminal. */
void maki_terminal_watch(void);
/* Was Ctrl-C pressed, or the terminal resized?  Clears the flag. */
bool maki_terminal_take_interrupt(void);
bool maki_terminal_take_resize(void);
bool maki_terminal_interrupted(void); /* the same without clearing */

typedef enum maki_terminal_event {
    MAKI_TERMINAL_INPUT, /* standard input is readable, or at its end */
    MAKI_TERMINAL_INTERRUPT,
    MAKI_TERMINAL_RESIZE
} maki_terminal_event;
/* Wait for one of them; clears its flag. */
maki_terminal_event maki_terminal_wait(void);
/* Wait until no resize occurs for a short time: output during one would be at the wrong position.  Input
 * and Ctrl-C end the waiting, and stay pending. */
void maki_terminal_wait_resized(void);
/* Is input pending? */
bool maki_terminal_has_input(void);

/* Is standard output a pipe whose reader has closed it? */
bool maki_terminal_output_closed(void);

unsigned maki_terminal_width(void); /* of standard output; 80 if unknown */
/* Is standard output a terminal with escape sequences? */
bool maki_terminal_styled(void);
bool maki_terminal_coloured(void); /* that, and NO_COLOR is not set */

/* Switch bracketed paste (xterm) on or off. */
void maki_terminal_bracketed_paste(bool on);

/* Switch the echo of typed characters on or off; what is typed without it is read by the next prompt. */
void maki_terminal_echo(bool on);

#endif
