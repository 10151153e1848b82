/* editor.c -- a line editor: libedit, with a status bar drawn around its output, and bracketed paste.
 *
 * libedit calls read_char for each character.  Before it waits, the bar is drawn: move from the cursor to the end of the
 * line, clear everything below, print the bar, move back.  Only relative moves are used, since a newline at the bottom
 * scrolls the screen.  Positions are computed as libedit does, by wcwidth(). */
#include "chat/editor.h"

#include <errno.h>
#include <histedit.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str_util.h"
#include "base/text.h"
#include "chat/terminal.h"
#include "chat/text_wrap.h"

enum { HISTORY_MAX = 1000, LINE_MAX_BYTES = 64 << 20 };

/* Bracketed paste (xterm): the terminal sends these before and after a paste. */
enum { ESCAPE = 033, MARK_LEN = 5 };
static const char paste_begin[] = "[200~", paste_end[] = "[201~"; /* after the escape */

/* Newlines and tabs of a paste are displayed as these symbols, and restored when the line is returned. */
enum { SHOWN_NEWLINE = 0x2424, SHOWN_TAB = 0x2409 };

struct maki_editor {
    const maki_env *env;
    EditLine *el;
    History *history;
    const char *prompt;
    const maki_editor_bar *bar;
    mbstate_t decoder;
    char lookahead[MARK_LEN]; /* bytes read after an escape that were not a paste mark */
    size_t lookahead_len;
    bool pasting;
    maki_buf line;
    bool interrupted;
    bool was_empty; /* the interrupted line was empty */
};

/* ---- positions ------------------------------------------------------------------------------ */

typedef struct position {
    unsigned row, column;
} position;

/* The columns of a character, as libedit counts them. */
static unsigned columns_of(wchar_t code)
{
    if ((unsigned)code < 0x20 || code == 0x7f) return 2; /* ^A */
    int width = wcwidth(code);
    return width < 0 ? 1 : (unsigned)width;
}

/* The position after the prompt and the characters up to `end`; a wide character is not split between two lines. */
static position position_of(const maki_editor *e, const wchar_t *from, const wchar_t *end,
                            unsigned width)
{
    position cursor = { 0, (unsigned)strlen(e->prompt) };
    for (; from < end; from++) {
        unsigned columns = columns_of(*from);
        if (cursor.column + columns > width) cursor = (position){ cursor.row + 1, 0 };
        cursor.column += columns;
        if (cursor.column == width) cursor = (position){ cursor.row + 1, 0 };
    }
    return cursor;
}

static void move_by(char letter, unsigned n)
{
    if (n) printf("\033[%u%c", n, letter);
}

static void move_to(position from, position to)
{
    if (to.row > from.row) move_by('B', to.row - from.row);
    if (to.row < from.row) move_by('A', from.row - to.row);
    putchar('\r');
    move_by('C', to.column);
}

/* ---- status bar ------------------------------------------------------------------------------------ */

/* Truncate to the width less one column: a character in the last column may wrap. */
static maki_str truncate_columns(maki_str text, unsigned width)
{
    unsigned used = 0;
    size_t offset = 0, len = 0;
    for (; offset < text.len; offset += len) {
        used += maki_text_wrap_columns(maki_utf8_decode(text, offset, &len));
        if (used >= width) break;
    }
    return maki_str_prefix(text, offset);
}

static void draw_bar(maki_editor *e)
{
    unsigned width = maki_terminal_width();
    const LineInfoW *line = el_wline(e->el);
    position cursor = position_of(e, line->buffer, line->cursor, width);
    position end = position_of(e, line->buffer, line->lastchar, width);
    maki_str text = truncate_columns(e->bar->text, width);
    if (text.len == 0) return;
    move_to(cursor, end);
    printf("\033[J\r\n%s%.*s\033[0m", e->bar->style, MAKI_PRINTED(text));
    end.row++;
    move_to(end, cursor);
    fflush(stdout);
}

/* Move below the line, and clear what is there. */
static void leave_line(maki_editor *e)
{
    unsigned width = maki_terminal_width();
    const LineInfoW *line = el_wline(e->el);
    position cursor = position_of(e, line->buffer, line->cursor, width);
    move_to(cursor, position_of(e, line->buffer, line->lastchar, width));
    printf("\033[J\r\n");
    fflush(stdout);
}

/* The terminal was resized, or another program used it (Ctrl-Z): redraw from the prompt on. */
static void redraw(maki_editor *e)
{
    maki_terminal_wait_resized();
    const LineInfoW *line = el_wline(e->el);
    position cursor = position_of(e, line->buffer, line->cursor, maki_terminal_width());
    move_to(cursor, (position){ 0, 0 });
    /* This line, then those below it: with \033[J in the upper left corner tmux saves the screen, and restores it above
     * the prompt when the terminal grows. */
    printf("\033[K\0337\033[B\033[J\0338");
    fflush(stdout);
    el_set(e->el, EL_PREP_TERM, 0); /* or EL_PREP_TERM 1 would do nothing */
    el_set(e->el, EL_PREP_TERM, 1);
    el_resize(e->el);
    el_set(e->el, EL_REFRESH);
}

/* ---- characters ------------------------------------------------------------------------------------ */

/* Wait until standard input is readable, and draw the bar or redraw meanwhile.  False: Ctrl-C. */
static bool wait_for_input(maki_editor *e)
{
    for (;;) {
        if (!maki_terminal_has_input()) draw_bar(e);
        switch (maki_terminal_wait()) {
        case MAKI_TERMINAL_INPUT: return true;
        case MAKI_TERMINAL_INTERRUPT: return false;
        case MAKI_TERMINAL_RESIZE: redraw(e); break;
        }
    }
}

static int interrupt(maki_editor *e)
{
    const LineInfoW *line = el_wline(e->el);
    e->interrupted = true;
    e->was_empty = line->lastchar == line->buffer;
    leave_line(e);
    errno = EINTR;
    return -1;
}

/* Returns 1; 0 at the end of input; -1 on Ctrl-C or a failure. */
static int read_byte(maki_editor *e, char *out)
{
    if (e->lookahead_len) {
        *out = e->lookahead[0];
        memmove(e->lookahead, e->lookahead + 1, --e->lookahead_len);
        return 1;
    }
    for (;;) {
        if (!wait_for_input(e)) return interrupt(e);
        ssize_t n = read(STDIN_FILENO, out, 1);
        if (n >= 0 || errno != EINTR) return (int)n;
    }
}

/* After an escape: read the rest of a paste mark, if one follows; other bytes go to the lookahead. */
static bool read_paste_mark(maki_editor *e)
{
    bool begins = true, ends = true;
    if (e->lookahead_len) return false; /* not a mark */
    while ((begins || ends) && e->lookahead_len < MARK_LEN && maki_terminal_has_input()) {
        char *byte = &e->lookahead[e->lookahead_len];
        if (read(STDIN_FILENO, byte, 1) != 1) break;
        begins = begins && *byte == paste_begin[e->lookahead_len];
        ends = ends && *byte == paste_end[e->lookahead_len];
        e->lookahead_len++;
    }
    if (e->lookahead_len < MARK_LEN || !(begins || ends)) return false;
    e->pasting = begins;
    e->lookahead_len = 0;
    return true;
}

/* Convert a pasted character for display; false: omit it. */
static bool paste_char(wchar_t *code)
{
    if (*code == L'\r' || *code == L'\n') *code = SHOWN_NEWLINE;
    if (*code == L'\t') *code = SHOWN_TAB;
    return *code >= 0x20 && *code != 0x7f;
}

/* Called by libedit for each character: 1, 0 at the end, -1 to stop. */
static int read_char(EditLine *el, wchar_t *out)
{
    maki_editor *e = NULL;
    el_get(el, EL_CLIENTDATA, &e);
    for (;;) {
        char byte;
        int n = read_byte(e, &byte);
        if (n <= 0) return n;
        if (byte == ESCAPE && read_paste_mark(e)) continue;
        size_t used = mbrtowc(out, &byte, 1, &e->decoder);
        if (used == (size_t)-2) continue; /* incomplete */
        if (used == (size_t)-1) {
            e->decoder = (mbstate_t){ 0 }; /* invalid in this locale: skipped */
        } else if (!e->pasting || paste_char(out)) {
            return 1;
        }
    }
}

static char *prompt_of(EditLine *el)
{
    /* libedit's type is char *, but it does not write there. */
    static char empty[] = "";
    maki_editor *e = NULL;
    el_get(el, EL_CLIENTDATA, &e);
    return e->prompt ? (char *)(uintptr_t)e->prompt : empty;
}

/* ---- lines ----------------------------------------------------------------------------------------- */

static maki_status init_libedit(maki_editor *e, maki_err *err)
{
    HistEvent event;
    e->el = el_init("maki", stdin, stdout, stderr);
    e->history = history_init();
    if (!e->el || !e->history) return maki_fail_nomem(err);
    history(e->history, &event, H_SETSIZE, HISTORY_MAX);
    history(e->history, &event, H_SETUNIQUE, 1);
    el_set(e->el, EL_CLIENTDATA, e);
    el_set(e->el, EL_EDITOR, "emacs");
    el_set(e->el, EL_SIGNAL, 0); /* terminal.c handles them */
    el_set(e->el, EL_PROMPT, prompt_of);
    el_set(e->el, EL_HIST, history, e->history);
    el_set(e->el, EL_GETCFN, read_char);
    el_set(e->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
    return MAKI_OK;
}

maki_status maki_editor_open(const maki_env *env, maki_editor **out, maki_err *err)
{
    maki_editor *e = maki_new(env->alloc, maki_editor);
    if (!e) return maki_fail_nomem(err);
    e->env = env;
    e->line = maki_buf_new(env->alloc, LINE_MAX_BYTES);
    maki_status st = init_libedit(e, err);
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
    maki_delete(e->env->alloc, e);
}

static void add_to_history(maki_editor *e, const char *line)
{
    HistEvent event;
    if (line[strspn(line, " \t\n")]) history(e->history, &event, H_ENTER, line);
}

/* The line without its newline, with the newlines and tabs of pastes restored. */
static maki_str line_text(maki_editor *e, maki_str text)
{
    size_t len = 0;
    maki_buf_clear(&e->line);
    while (text.len && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
        text.len--;
    for (size_t offset = 0; offset < text.len; offset += len) {
        uint32_t code = maki_utf8_decode(text, offset, &len);
        if (code == SHOWN_NEWLINE) {
            maki_buf_add_byte(&e->line, '\n');
        } else if (code == SHOWN_TAB) {
            maki_buf_add_byte(&e->line, '\t');
        } else {
            maki_buf_add(&e->line, (maki_str){ text.ptr + offset, len });
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
    e->interrupted = e->pasting = false;
    maki_terminal_bracketed_paste(true);
    const char *text = el_gets(e->el, &n);
    bool ended = !e->interrupted && (!text || n <= 0);
    maki_terminal_bracketed_paste(false);
    if (!e->interrupted) printf(ended ? "\r\033[J" : "\033[J"); /* erase the bar */
    fflush(stdout);
    if (e->interrupted)
        return e->was_empty ? MAKI_EDITOR_INTERRUPTED_EMPTY : MAKI_EDITOR_INTERRUPTED;
    if (ended) return MAKI_EDITOR_END;
    add_to_history(e, text);
    *line = line_text(e, maki_str_of(text));
    return MAKI_EDITOR_LINE;
}
