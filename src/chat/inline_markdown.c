/* inline_markdown.c -- see inline_markdown.h.
 *
 * The rules are CommonMark's, except that a mark beside a Chinese or Japanese character needs no space
 * around it: `**強調**です` is bold, as whoever wrote it meant. */
#include "chat/inline_markdown.h"

#include <ctype.h>

maki_inline maki_inline_new(maki_text_wrap *flow, unsigned base)
{
    return (maki_inline){ .flow = flow, .base = base, .before = ' ' };
}

static void say(maki_inline *p, uint32_t code, unsigned more)
{
    maki_text_wrap_put(p->flow, code, p->base | p->look | more);
    p->before = code;
}

static bool is_space(uint32_t code)
{
    return code == ' ' || code == '\t';
}

static bool is_word(uint32_t code)
{
    return code < 128 && isalnum((int)code);
}

/* ---- runs of marks -------------------------------------------------------------------------------- */

/* What a run switches; 0: it is just text. */
static unsigned switched(uint32_t mark, size_t run)
{
    if (mark == '~') return run == 2 ? MAKI_LOOK_STRIKE : 0;
    switch (run) {
    case 1: return MAKI_LOOK_ITALIC;
    case 2: return MAKI_LOOK_BOLD;
    case 3: return MAKI_LOOK_BOLD | MAKI_LOOK_ITALIC;
    default: return 0;
    }
}

/* Between two letters an underscore is part of a name, and a single star a product. */
static bool is_inside_word(const maki_inline *p, size_t run, uint32_t next)
{
    if (!is_word(p->before) || !is_word(next)) return false;
    return p->mark == '_' || (p->mark == '*' && run == 1 && !(p->look & MAKI_LOOK_ITALIC));
}

static void end_run(maki_inline *p, uint32_t next)
{
    size_t run = p->run;
    unsigned looks = is_inside_word(p, run, next) ? 0 : switched(p->mark, run);
    p->run = 0;
    if (p->mark == '`') {
        p->code = run;
    } else if ((p->look & looks) && !is_space(p->before)) {
        p->look &= ~looks;
    } else if (looks && !(p->look & looks) && !is_space(next)) {
        p->look |= looks;
    } else {
        while (run--)
            say(p, p->mark, 0);
    }
}

/* ---- code ----------------------------------------------------------------------------------------- */

/* Backticks in code wait too: as many as opened it close it, others belong to it. */
static void end_code_run(maki_inline *p)
{
    if (p->run == p->code) {
        p->code = 0;
        p->before = '`';
    } else {
        for (size_t i = 0; i < p->run; i++)
            say(p, '`', MAKI_LOOK_CODE);
    }
    p->run = 0;
}

/* The run that waits is over; `next` is the character behind it. */
static void settle_run(maki_inline *p, uint32_t next)
{
    if (p->run == 0) return;
    if (p->code) {
        end_code_run(p);
    } else {
        end_run(p, next);
    }
}

/* ---- links ---------------------------------------------------------------------------------------- */

static void plain_char(maki_inline *p, uint32_t code);

static void settle_unless_more(maki_inline *p, uint32_t code)
{
    if (code != p->mark) settle_run(p, code);
}

/* It is none after all: its characters are text, other brackets among them too. */
static void drop_link(maki_inline *p)
{
    size_t len = p->link_len;
    p->link_len = p->link_text = 0;
    for (size_t i = 0; i < len; i++) {
        settle_unless_more(p, p->link[i]);
        plain_char(p, p->link[i]);
    }
}

/* "[text](address)": the text underlined, and the address behind it unless it is the same. */
static void show_link(maki_inline *p)
{
    size_t text = p->link_text - 1, address = p->link_len - p->link_text - 2;
    const uint32_t *at = p->link + p->link_text + 2;
    bool same = text == address;
    for (size_t i = 0; i < text; i++) {
        uint32_t code = p->link[1 + i];
        same = same && code == at[i];
        if (code != '`' && code != '*') say(p, code, MAKI_LOOK_LINK); /* marks in it mark nothing */
    }
    if (!same) {
        say(p, ' ', 0);
        say(p, '(', MAKI_LOOK_DIM);
        for (size_t i = 0; i < address; i++)
            say(p, at[i], MAKI_LOOK_DIM);
        say(p, ')', MAKI_LOOK_DIM);
    }
    p->link_len = p->link_text = 0;
}

static void link_char(maki_inline *p, uint32_t code)
{
    bool bad = (p->link_text && p->link_len == p->link_text + 1 && code != '(') ||
               (!p->link_text && code == '[') || p->link_len == MAKI_INLINE_LINK;
    if (bad) {
        drop_link(p);
        maki_inline_char(p, code);
    } else if (p->link_text && code == ')') {
        show_link(p);
    } else {
        if (!p->link_text && code == ']') p->link_text = p->link_len;
        p->link[p->link_len++] = code;
    }
}

/* ---- characters ----------------------------------------------------------------------------------- */

static void escaped_char(maki_inline *p, uint32_t code)
{
    p->escaped = false;
    if (code < 128 && ispunct((int)code)) {
        say(p, code, 0);
    } else {
        say(p, '\\', 0);
        plain_char(p, code);
    }
}

static void plain_char(maki_inline *p, uint32_t code)
{
    bool marks = !p->code && (code == '*' || code == '_' || code == '~');
    if (p->escaped) {
        escaped_char(p, code);
    } else if (code == '`' || marks) {
        p->mark = code;
        p->run++;
    } else if (!p->code && code == '\\') {
        p->escaped = true;
    } else {
        say(p, code, p->code ? MAKI_LOOK_CODE : 0);
    }
}

void maki_inline_char(maki_inline *p, uint32_t code)
{
    if (p->link_len) {
        link_char(p, code);
        return;
    }
    settle_unless_more(p, code);
    if (code == '[' && !p->code && !p->escaped) {
        p->link[p->link_len++] = code;
    } else {
        plain_char(p, code);
    }
}

void maki_inline_flush(maki_inline *p)
{
    if (p->link_len) drop_link(p);
    settle_run(p, ' ');
    if (p->escaped) say(p, '\\', 0);
    p->escaped = false;
    p->before = ' ';
}
