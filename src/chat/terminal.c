/* terminal.c -- see terminal.h. */
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
    WIDTH_UNKNOWN = 80,
    SETTLE_MS = 300 /* tmux tells the first change at once, and those after it 250 ms later */
};

/* A handler can reach nothing else. */
static volatile sig_atomic_t interrupted, resized, marks_pastes;
static struct termios found; /* how the terminal was */
static bool has_found;
static const char paste_marks[] = "\033[?2004h", no_paste_marks[] = "\033[?2004l";

static void on_signal(int signal)
{
    if (signal == SIGINT) {
        interrupted = 1;
    } else {
        resized = 1;
    }
}

/* Whoever ends us finds the terminal as it was. */
static void on_end(int signal)
{
    if (has_found) tcsetattr(STDIN_FILENO, TCSANOW, &found);
    if (marks_pastes && write(STDOUT_FILENO, no_paste_marks, sizeof no_paste_marks - 1) < 0)
        marks_pastes = 0; /* it is gone */
    raise(signal);        /* SA_RESETHAND: now it does what it usually does */
}

void maki_terminal_watch(void)
{
    struct sigaction note = { .sa_handler = on_signal }; /* without SA_RESTART: a read ends */
    struct sigaction end = { .sa_handler = on_end, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };
    has_found = tcgetattr(STDIN_FILENO, &found) == 0;
    sigaction(SIGINT, &note, NULL);
    sigaction(SIGWINCH, &note, NULL);
    sigaction(SIGCONT, &note, NULL);
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGHUP, &end, NULL);
    sigaction(SIGQUIT, &end, NULL);
}

void maki_terminal_bracketed_paste(bool on)
{
    marks_pastes = on;
    fputs(on ? paste_marks : no_paste_marks, stdout);
    fflush(stdout);
}

static bool take(volatile sig_atomic_t *flag)
{
    bool was = *flag != 0;
    *flag = 0;
    return was;
}

bool maki_terminal_take_interrupt(void)
{
    return take(&interrupted);
}

bool maki_terminal_take_resize(void)
{
    return take(&resized);
}

bool maki_terminal_interrupted(void)
{
    return interrupted != 0;
}

/* The signals wait while we look at the flags, and come in ppoll: none is missed in between. */
static void hold_signals(sigset_t *before)
{
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGWINCH);
    sigaddset(&ours, SIGCONT);
    sigprocmask(SIG_BLOCK, &ours, before);
}

void maki_terminal_wait_resized(void)
{
    struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
    struct timespec quiet = { 0, SETTLE_MS * 1000000 };
    sigset_t before;
    hold_signals(&before);
    while (!interrupted && ppoll(&in, 1, &quiet, &before) < 0 && take(&resized)) {
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

maki_terminal_event maki_terminal_wait(void)
{
    struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
    maki_terminal_event event = MAKI_TERMINAL_INPUT;
    sigset_t before;
    hold_signals(&before);
    for (bool waiting = true; waiting;) {
        waiting = false;
        if (take(&interrupted)) {
            event = MAKI_TERMINAL_INTERRUPT;
        } else if (take(&resized)) {
            event = MAKI_TERMINAL_RESIZE;
        } else {
            waiting = ppoll(&in, 1, NULL, &before) < 0; /* a signal; anything else read() tells */
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
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return WIDTH_UNKNOWN;
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
