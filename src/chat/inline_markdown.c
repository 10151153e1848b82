/* inline_markdown.c -- parse delimiter runs, code spans and links, a character at a time, and write styled characters to
 * the text wrapper.
 *
 * The rules are CommonMark's, except that a delimiter next to a Chinese or Japanese character needs no space around it:
 * `**強調**です` is bold, as intended. */
#include "chat/inline_markdown.h"

#include <ctype.h>

maki_inline maki_inline_new(maki_text_wrap *wrap, unsigned base)
{
    return (maki_inline){ .wrap = wrap, .base = base, .before = ' ' };
}

static void put(maki_inline *p, uint32_t code, unsigned extra_style)
{
    maki_text_wrap_put(p->wrap, code, p->base | p->style | extra_style);
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

/* ---- delimiter runs -------------------------------------------------------------------------------- */

/* The styles that a run toggles; 0: it is text. */
static unsigned styles_of(uint32_t mark, size_t run)
{
    if (mark == '~') return run == 2 ? MAKI_STYLE_STRIKE : 0;
    switch (run) {
    case 1: return MAKI_STYLE_ITALIC;
    case 2: return MAKI_STYLE_BOLD;
    case 3: return MAKI_STYLE_BOLD | MAKI_STYLE_ITALIC;
    default: return 0;
    }
}

/* Between two letters an underscore is part of a name, and an asterisk a product. */
static bool is_inside_word(const maki_inline *p, size_t run, uint32_t next)
{
    if (!is_word(p->before) || !is_word(next)) return false;
    return p->mark == '_' || (p->mark == '*' && run == 1 && !(p->style & MAKI_STYLE_ITALIC));
}

static void end_run(maki_inline *p, uint32_t next)
{
    size_t run = p->run;
    unsigned styles = is_inside_word(p, run, next) ? 0 : styles_of(p->mark, run);
    p->run = 0;
    if (p->mark == '`') {
        p->code = run;
    } else if ((p->style & styles) && !is_space(p->before)) {
        p->style &= ~styles;
    } else if (styles && !(p->style & styles) && !is_space(next)) {
        p->style |= styles;
    } else {
        while (run--)
            put(p, p->mark, 0);
    }
}

/* ---- code ----------------------------------------------------------------------------------------- */

/* A run of the same number of backticks as the opening one ends the code; others are part of it. */
static void end_code_run(maki_inline *p)
{
    if (p->run == p->code) {
        p->code = 0;
        p->before = '`';
    } else {
        for (size_t i = 0; i < p->run; i++)
            put(p, '`', MAKI_STYLE_CODE);
    }
    p->run = 0;
}

/* The pending run is complete; `next` is the character after it. */
static void resolve_run(maki_inline *p, uint32_t next)
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

static void resolve_unless_same(maki_inline *p, uint32_t code)
{
    if (code != p->mark) resolve_run(p, code);
}

/* Not a link: process the pending characters as text. */
static void abandon_link(maki_inline *p)
{
    size_t len = p->link_len;
    p->link_len = p->link_text = 0;
    for (size_t i = 0; i < len; i++) {
        resolve_unless_same(p, p->link[i]);
        plain_char(p, p->link[i]);
    }
}

/* "[text](address)": the text underlined, followed by the address unless it is the same. */
static void write_link(maki_inline *p)
{
    size_t text = p->link_text - 1, address = p->link_len - p->link_text - 2;
    const uint32_t *target = p->link + p->link_text + 2;
    bool same = text == address;
    for (size_t i = 0; i < text; i++) {
        uint32_t code = p->link[1 + i];
        same = same && code == target[i];
        if (code != '`' && code != '*')
            put(p, code, MAKI_STYLE_LINK); /* delimiters have no meaning here */
    }
    if (!same) {
        put(p, ' ', 0);
        put(p, '(', MAKI_STYLE_DIM);
        for (size_t i = 0; i < address; i++)
            put(p, target[i], MAKI_STYLE_DIM);
        put(p, ')', MAKI_STYLE_DIM);
    }
    p->link_len = p->link_text = 0;
}

static void link_char(maki_inline *p, uint32_t code)
{
    bool invalid = (p->link_text && p->link_len == p->link_text + 1 && code != '(') ||
                   (!p->link_text && code == '[') || p->link_len == MAKI_INLINE_LINK;
    if (invalid) {
        abandon_link(p);
        maki_inline_char(p, code);
    } else if (p->link_text && code == ')') {
        write_link(p);
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
        put(p, code, 0);
    } else {
        put(p, '\\', 0);
        plain_char(p, code);
    }
}

static void plain_char(maki_inline *p, uint32_t code)
{
    bool delimiter = !p->code && (code == '*' || code == '_' || code == '~');
    if (p->escaped) {
        escaped_char(p, code);
    } else if (code == '`' || delimiter) {
        p->mark = code;
        p->run++;
    } else if (!p->code && code == '\\') {
        p->escaped = true;
    } else {
        put(p, code, p->code ? MAKI_STYLE_CODE : 0);
    }
}

void maki_inline_char(maki_inline *p, uint32_t code)
{
    if (p->link_len) {
        link_char(p, code);
        return;
    }
    resolve_unless_same(p, code);
    if (code == '[' && !p->code && !p->escaped) {
        p->link[p->link_len++] = code;
    } else {
        plain_char(p, code);
    }
}

void maki_inline_flush(maki_inline *p)
{
    if (p->link_len) abandon_link(p);
    resolve_run(p, ' ');
    if (p->escaped) put(p, '\\', 0);
    p->escaped = false;
    p->before = ' ';
}
