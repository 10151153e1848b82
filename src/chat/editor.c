/* editor.c -- see editor.h.
 *
 * libedit knows nothing of the bar.  We are asked for each character that it reads, and draw the bar then: from
 * where libedit left the cursor to the end of what is typed, everything below cleared, the bar, and back.  Only
 * relative moves are used, since a new line at the bottom scrolls the screen. */
#include "chat/editor.h"

#include <errno.h>
#include <histedit.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str_util.h"
#include "base/text.h"
#include "chat/terminal.h"
#include "chat/text_wrap.h"

enum { HISTORY_MAX = 1000, LINE_MAX_BYTES = 64 << 20 };

/* What is pasted has a mark before and behind it, if the terminal is asked for that (xterm, "bracketed paste"). */
enum { ESCAPE = 033, MARK_LEN = 5 };
static const char paste_begin[] = "[200~", paste_end[] = "[201~"; /* behind the escape */

/* Newlines and tabs of a paste are part of the message: shown as these, and themselves again when it is sent. */
enum { SHOWN_NEWLINE = 0x2424, SHOWN_TAB = 0x2409 };

struct maki_editor {
    const maki_env *env;
    EditLine *el;
    History *history;
    const char *prompt;
    const maki_editor_bar *bar;
    mbstate_t part;       /* of a character whose bytes come one by one */
    char ahead[MARK_LEN]; /* bytes that were looked at and are still to be read */
    size_t ahead_len;
    bool pasting;
    maki_buf line;
    bool interrupted;
    bool typed; /* when it was interrupted there was something */
};

/* ---- where things are ------------------------------------------------------------------------------ */

typedef struct place {
    unsigned row, column;
} place;

/* As libedit counts them: by the C library. */
static unsigned columns_of(wchar_t code)
{
    if ((unsigned)code < 0x20 || code == 0x7f) return 2; /* ^A */
    int width = wcwidth(code);
    return width < 0 ? 1 : (unsigned)width;
}

/* Where the cursor stands after the prompt and the characters up to `end`; a wide one does not stand half on
 * a line. */
static place place_of(const maki_editor *e, const wchar_t *from, const wchar_t *end, unsigned width)
{
    place at = { 0, (unsigned)strlen(e->prompt) };
    for (; from < end; from++) {
        unsigned columns = columns_of(*from);
        if (at.column + columns > width) at = (place){ at.row + 1, 0 };
        at.column += columns;
        if (at.column == width) at = (place){ at.row + 1, 0 };
    }
    return at;
}

static void move_by(char letter, unsigned n)
{
    if (n) printf("\033[%u%c", n, letter);
}

static void move_to(place from, place to)
{
    if (to.row > from.row) move_by('B', to.row - from.row);
    if (to.row < from.row) move_by('A', from.row - to.row);
    putchar('\r');
    move_by('C', to.column);
}

/* ---- the bar --------------------------------------------------------------------------------------- */

/* As much of a text as fits in one column less than the terminal has: the last one may wrap. */
static maki_str cut_to(maki_str text, unsigned width)
{
    unsigned used = 0;
    size_t at = 0, len = 0;
    for (; at < text.len; at += len) {
        used += maki_text_wrap_columns(maki_utf8_decode(text, at, &len));
        if (used >= width) break;
    }
    return maki_str_to(text, at);
}

static void draw_bar(maki_editor *e)
{
    unsigned width = maki_terminal_width();
    const LineInfoW *line = el_wline(e->el);
    place cursor = place_of(e, line->buffer, line->cursor, width);
    place end = place_of(e, line->buffer, line->lastchar, width);
    maki_str text = cut_to(e->bar->text, width);
    if (text.len == 0) return;
    move_to(cursor, end);
    printf("\033[J\r\n%s%.*s\033[0m", e->bar->look, MAKI_PRINTED(text));
    end.row++;
    move_to(end, cursor);
    fflush(stdout);
}

/* From the cursor to below what is typed, with nothing under it. */
static void leave_line(maki_editor *e)
{
    unsigned width = maki_terminal_width();
    const LineInfoW *line = el_wline(e->el);
    place cursor = place_of(e, line->buffer, line->cursor, width);
    move_to(cursor, place_of(e, line->buffer, line->lastchar, width));
    printf("\033[J\r\n");
    fflush(stdout);
}

/* The terminal has laid its lines out anew, or somebody else had it meanwhile (Ctrl-Z): begin at the prompt again. */
static void follow_size(maki_editor *e)
{
    maki_terminal_drain();
    const LineInfoW *line = el_wline(e->el);
    place cursor = place_of(e, line->buffer, line->cursor, maki_terminal_width());
    move_to(cursor, (place){ 0, 0 });
    /* This line, then those below it: tmux takes \033[J in the upper left corner for a wish to keep the screen, and
     * brings it back above the prompt when the terminal grows. */
    printf("\033[K\0337\033[B\033[J\0338");
    fflush(stdout);
    el_set(e->el, EL_PREP_TERM, 0); /* else libedit believes that it is prepared */
    el_set(e->el, EL_PREP_TERM, 1);
    el_resize(e->el);
    el_set(e->el, EL_REFRESH);
}

/* ---- characters ------------------------------------------------------------------------------------ */

/* False: Ctrl-C. */
static bool wait_for_input(maki_editor *e)
{
    for (;;) {
        if (!maki_terminal_has_input()) draw_bar(e);
        switch (maki_terminal_wait()) {
        case MAKI_TERMINAL_INPUT: return true;
        case MAKI_TERMINAL_INTERRUPT: return false;
        case MAKI_TERMINAL_RESIZE: follow_size(e); break;
        }
    }
}

static int interrupt(maki_editor *e)
{
    const LineInfoW *line = el_wline(e->el);
    e->interrupted = true;
    e->typed = line->lastchar > line->buffer;
    leave_line(e);
    errno = EINTR;
    return -1;
}

/* 1, 0 at the end, -1 to stop. */
static int read_byte(maki_editor *e, char *out)
{
    if (e->ahead_len) {
        *out = e->ahead[0];
        memmove(e->ahead, e->ahead + 1, --e->ahead_len);
        return 1;
    }
    for (;;) {
        if (!wait_for_input(e)) return interrupt(e);
        ssize_t n = read(STDIN_FILENO, out, 1);
        if (n >= 0 || errno != EINTR) return (int)n;
    }
}

/* An escape was read: does a mark of a paste follow?  What does not belong to one is read next. */
static bool take_mark(maki_editor *e)
{
    bool begins = true, ends = true;
    if (e->ahead_len) return false; /* these were looked at */
    while ((begins || ends) && e->ahead_len < MARK_LEN && maki_terminal_has_input()) {
        char *byte = &e->ahead[e->ahead_len];
        if (read(STDIN_FILENO, byte, 1) != 1) break;
        begins = begins && *byte == paste_begin[e->ahead_len];
        ends = ends && *byte == paste_end[e->ahead_len];
        e->ahead_len++;
    }
    if (e->ahead_len < MARK_LEN || !(begins || ends)) return false;
    e->pasting = begins;
    e->ahead_len = 0;
    return true;
}

/* A character of a paste as it is put into the line; false: it is left out. */
static bool paste_char(wchar_t *code)
{
    if (*code == L'\r' || *code == L'\n') *code = SHOWN_NEWLINE;
    if (*code == L'\t') *code = SHOWN_TAB;
    return *code >= 0x20 && *code != 0x7f;
}

/* What libedit calls for each character: 1, 0 at the end, -1 to stop. */
static int read_char(EditLine *el, wchar_t *out)
{
    maki_editor *e = NULL;
    el_get(el, EL_CLIENTDATA, &e);
    for (;;) {
        char byte;
        int n = read_byte(e, &byte);
        if (n <= 0) return n;
        if (byte == ESCAPE && take_mark(e)) continue;
        size_t used = mbrtowc(out, &byte, 1, &e->part);
        if (used == (size_t)-2) continue; /* more bytes belong to it */
        if (used == (size_t)-1) {
            e->part = (mbstate_t){ 0 }; /* no character of this locale: passed over */
        } else if (!e->pasting || paste_char(out)) {
            return 1;
        }
    }
}

static char *prompt_of(EditLine *el)
{
    /* libedit takes a char *, and does not write there. */
    static char empty[] = "";
    maki_editor *e = NULL;
    el_get(el, EL_CLIENTDATA, &e);
    return e->prompt ? (char *)(uintptr_t)e->prompt : empty;
}

/* ---- lines ----------------------------------------------------------------------------------------- */

static maki_status set_up(maki_editor *e, maki_err *err)
{
    HistEvent event;
    e->el = el_init("maki", stdin, stdout, stderr);
    e->history = history_init();
    if (!e->el || !e->history) return maki_fail_nomem(err);
    history(e->history, &event, H_SETSIZE, HISTORY_MAX);
    history(e->history, &event, H_SETUNIQUE, 1);
    el_set(e->el, EL_CLIENTDATA, e);
    el_set(e->el, EL_EDITOR, "emacs");
    el_set(e->el, EL_SIGNAL, 0); /* terminal.c has them */
    el_set(e->el, EL_PROMPT, prompt_of);
    el_set(e->el, EL_HIST, history, e->history);
    el_set(e->el, EL_GETCFN, read_char);
    el_set(e->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
    return MAKI_OK;
}

maki_status maki_editor_open(const maki_env *env, maki_editor **out, maki_err *err)
{
    maki_editor *e = env->alloc->resize(env->alloc, NULL, 0, sizeof *e);
    if (!e) return maki_fail_nomem(err);
    *e = (maki_editor){ .env = env, .line = maki_buf_new(env->alloc, LINE_MAX_BYTES) };
    maki_status st = set_up(e, err);
    if (st != MAKI_OK) {
        maki_editor_close(e);
        return st;
    }
    *out = e;
    return MAKI_OK;
}

void maki_editor_close(maki_editor *e)
{
    if (!e) return;
    if (e->history) history_end(e->history);
    if (e->el) el_end(e->el);
    maki_buf_free(&e->line);
    e->env->alloc->resize(e->env->alloc, e, sizeof *e, 0);
}

static void remember(maki_editor *e, const char *line)
{
    HistEvent event;
    if (line[strspn(line, " \t\n")]) history(e->history, &event, H_ENTER, line);
}

/* The line as it is meant: without its newline, with those of pastes. */
static maki_str meant(maki_editor *e, maki_str text)
{
    size_t len = 0;
    maki_buf_clear(&e->line);
    while (text.len && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
        text.len--;
    for (size_t at = 0; at < text.len; at += len) {
        uint32_t code = maki_utf8_decode(text, at, &len);
        if (code == SHOWN_NEWLINE) {
            maki_buf_add_byte(&e->line, '\n');
        } else if (code == SHOWN_TAB) {
            maki_buf_add_byte(&e->line, '\t');
        } else {
            maki_buf_add(&e->line, (maki_str){ text.ptr + at, len });
        }
    }
    return maki_buf_str(&e->line);
}

maki_editor_end maki_editor_read(maki_editor *e, const char *prompt, const maki_editor_bar *bar,
                                 maki_str *line)
{
    int n = 0;
    e->prompt = prompt;
    e->bar = bar;
    e->interrupted = e->typed = e->pasting = false;
    maki_terminal_mark_pastes(true);
    const char *text = el_gets(e->el, &n);
    bool ended = !e->interrupted && (!text || n <= 0);
    maki_terminal_mark_pastes(false);
    if (!e->interrupted) printf(ended ? "\r\033[J" : "\033[J"); /* the bar, come to by the cursor */
    fflush(stdout);
    if (e->interrupted) return e->typed ? MAKI_EDITOR_INTERRUPTED : MAKI_EDITOR_LEAVING;
    if (ended) return MAKI_EDITOR_END;
    remember(e, text);
    *line = meant(e, maki_str_of(text));
    return MAKI_EDITOR_LINE;
}
