/* terminal.c -- signal handlers that set flags, waiting for input without missing a signal, and properties of the
 * terminal.
 *
 * A flag is checked with the signals blocked, and ppoll unblocks them while it waits: none is lost in between. */
#include "chat/terminal.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum {
    DEFAULT_WIDTH = 80,
    RESIZE_QUIET_MS =
        300 /* tmux reports the first change at once, and those after it 250 ms later */
};

/* Set by the signal handlers. */
static volatile sig_atomic_t interrupted, resized, bracketed_paste;
static struct termios initial; /* the mode of the terminal at the start */
static bool has_initial;
static const char paste_on[] = "\033[?2004h", paste_off[] = "\033[?2004l";

static void on_signal(int signal)
{
    if (signal == SIGINT) {
        interrupted = 1;
    } else {
        resized = 1;
    }
}

/* Restore the terminal, then end by the signal. */
static void on_termination(int signal)
{
    if (has_initial) tcsetattr(STDIN_FILENO, TCSANOW, &initial);
    if (bracketed_paste && write(STDOUT_FILENO, paste_off, sizeof paste_off - 1) < 0)
        bracketed_paste = 0; /* the terminal was closed */
    raise(signal);           /* SA_RESETHAND: the default action */
}

void maki_terminal_watch(void)
{
    struct sigaction flag = { .sa_handler =
                                  on_signal }; /* no SA_RESTART: read() fails with EINTR */
    struct sigaction end = { .sa_handler = on_termination,
                             .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };
    has_initial = tcgetattr(STDIN_FILENO, &initial) == 0;
    sigaction(SIGINT, &flag, NULL);
    sigaction(SIGWINCH, &flag, NULL);
    sigaction(SIGCONT, &flag, NULL);
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGHUP, &end, NULL);
    sigaction(SIGQUIT, &end, NULL);
}

void maki_terminal_bracketed_paste(bool on)
{
    bracketed_paste = on;
    fputs(on ? paste_on : paste_off, stdout);
    fflush(stdout);
}

static bool test_and_clear(volatile sig_atomic_t *flag)
{
    bool was = *flag != 0;
    *flag = 0;
    return was;
}

bool maki_terminal_take_interrupt(void)
{
    return test_and_clear(&interrupted);
}

bool maki_terminal_take_resize(void)
{
    return test_and_clear(&resized);
}

bool maki_terminal_interrupted(void)
{
    return interrupted != 0;
}

/* Block the signals; *before is the previous mask, for ppoll and sigprocmask. */
static void block_signals(sigset_t *before)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGWINCH);
    sigaddset(&blocked, SIGCONT);
    sigprocmask(SIG_BLOCK, &blocked, before);
}

void maki_terminal_wait_resized(void)
{
    struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
    struct timespec quiet = { 0, RESIZE_QUIET_MS * 1000000 };
    sigset_t before;
    block_signals(&before);
    while (!interrupted && ppoll(&in, 1, &quiet, &before) < 0 && test_and_clear(&resized)) {
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

maki_terminal_event maki_terminal_wait(void)
{
    struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
    maki_terminal_event event = MAKI_TERMINAL_INPUT;
    sigset_t before;
    block_signals(&before);
    for (bool waiting = true; waiting;) {
        waiting = false;
        if (test_and_clear(&interrupted)) {
            event = MAKI_TERMINAL_INTERRUPT;
        } else if (test_and_clear(&resized)) {
            event = MAKI_TERMINAL_RESIZE;
        } else {
            waiting = ppoll(&in, 1, NULL, &before) < 0; /* a signal; read() reports other errors */
        }
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return event;
}

bool maki_terminal_has_input(void)
{
    struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
    return poll(&in, 1, 0) > 0;
}

bool maki_terminal_output_closed(void)
{
    struct pollfd out = { .fd = STDOUT_FILENO };
    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

unsigned maki_terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return DEFAULT_WIDTH;
    return size.ws_col;
}

bool maki_terminal_styled(void)
{
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

bool maki_terminal_coloured(void)
{
    return maki_terminal_styled() && !getenv("NO_COLOR");
}

void maki_terminal_echo(bool on)
{
    struct termios mode;
    if (tcgetattr(STDIN_FILENO, &mode) != 0) return;
    if (on) {
        mode.c_lflag |= ECHO;
    } else {
        mode.c_lflag &= (tcflag_t)~ECHO;
    }
    tcsetattr(STDIN_FILENO, TCSADRAIN, &mode);
}
