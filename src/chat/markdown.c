/* markdown.c -- the block structure of Markdown: a state machine over characters.
 *
 * The beginning of a line is buffered (md->head) until its kind is known: "##" may become a heading, "**" a bold word.  Then
 * its characters go to the inline parser (md->line), or unwrapped to md->wrap. */
#include "chat/markdown.h"

#include "base/str_util.h"
#include "base/text.h"

enum { REPLACEMENT = 0xfffd, RULE = 0x2500, RULE_WIDTH_MAX = 60, INDENT_MAX = 40, TAB = 4 };

typedef enum kind { UNKNOWN, TEXT, HEADING, BULLET, NUMBER, QUOTE, TABLE, LINE, FENCE } kind;

void maki_markdown_begin(maki_markdown *md, maki_sink sink, unsigned width, bool styled)
{
    *md = (maki_markdown){ .wrap = maki_text_wrap_new(sink, width, styled) };
    md->line = maki_inline_new(&md->wrap, MAKI_STYLE_PLAIN);
}

void maki_markdown_resize(maki_markdown *md, unsigned width)
{
    md->wrap.width = width < MAKI_TEXT_WRAP_MIN ? MAKI_TEXT_WRAP_MIN : width;
}

/* ---- the kind of a line ------------------------------------------------------------------------------- */

/* The length of the run of `code` at the start of the line. */
static size_t run_of(const maki_markdown *md, uint32_t code)
{
    size_t n = 0;
    while (n < md->head_len && md->head[n] == code)
        n++;
    return n;
}

static bool is_space(uint32_t code)
{
    return code == ' ' || code == '\t';
}

static kind heading_or_text(const maki_markdown *md, bool complete)
{
    size_t n = run_of(md, '#');
    if (n > 6) return TEXT;
    if (n == md->head_len) return complete ? TEXT : UNKNOWN;
    return is_space(md->head[n]) ? HEADING : TEXT;
}

/* "- item", "---" or text. */
static kind bullet_or_line(const maki_markdown *md, bool complete)
{
    uint32_t mark = md->head[0];
    size_t n = run_of(md, mark);
    if (n == 1 && md->head_len == 2 && is_space(md->head[1]) && mark != '_') return BULLET;
    if (n < md->head_len) return TEXT;
    if (!complete) return UNKNOWN;
    return n >= 3 && mark != '+' ? LINE : TEXT;
}

static kind number_or_text(const maki_markdown *md, bool complete)
{
    size_t n = 0;
    while (n < md->head_len && md->head[n] >= '0' && md->head[n] <= '9')
        n++;
    if (n > 9) return TEXT;
    if (n == md->head_len) return complete ? TEXT : UNKNOWN;
    if (md->head[n] != '.' && md->head[n] != ')') return TEXT;
    if (n + 1 == md->head_len) return complete ? TEXT : UNKNOWN;
    return is_space(md->head[n + 1]) ? NUMBER : TEXT;
}

/* "```c" to the end of the line; with another backtick after it, it is inline code. */
static kind fence_or_text(const maki_markdown *md, bool complete)
{
    uint32_t mark = md->head[0];
    size_t n = run_of(md, mark);
    if (n == md->head_len && !complete) return UNKNOWN;
    if (n < 3) return TEXT;
    for (size_t i = n; i < md->head_len && mark == '`'; i++) {
        if (md->head[i] == mark) return TEXT;
    }
    return complete ? FENCE : UNKNOWN;
}

static kind kind_of(const maki_markdown *md, bool complete)
{
    if (md->head_len == MAKI_MARKDOWN_HEAD) return TEXT;
    switch (md->head[0]) {
    case '#': return heading_or_text(md, complete);
    case '-':
    case '*':
    case '_':
    case '+': return bullet_or_line(md, complete);
    case '`':
    case '~': return fence_or_text(md, complete);
    case '>': return QUOTE;
    case '|': return TABLE;
    default:
        if (md->head[0] >= '0' && md->head[0] <= '9') return number_or_text(md, complete);
        return TEXT;
    }
}

/* ---- the beginning of a line ---------------------------------------------------------------------- */

static void begin_indent(maki_markdown *md)
{
    for (int i = 0; i < md->indent; i++)
        maki_text_wrap_prefix(&md->wrap, MAKI_LIT(" "), false);
}

/* Begin a block: open styles of the previous one end. */
static void begin_block(maki_markdown *md, unsigned style)
{
    md->line = maki_inline_new(&md->wrap, style);
}

static void write_head(maki_markdown *md)
{
    for (size_t i = 0; i < md->head_len; i++)
        maki_inline_char(&md->line, md->head[i]);
}

static void begin_number(maki_markdown *md)
{
    for (size_t i = 0; i < md->head_len; i++) {
        char digit = (char)md->head[i];
        maki_text_wrap_prefix(&md->wrap, (maki_str){ &digit, 1 }, false);
    }
}

static void write_rule(maki_markdown *md, unsigned columns)
{
    for (unsigned i = 0; i < columns && i < md->wrap.width - md->wrap.prefix_width; i++)
        maki_text_wrap_unwrapped(&md->wrap, RULE, MAKI_STYLE_DIM);
}

static void begin_code(maki_markdown *md)
{
    size_t n = run_of(md, md->head[0]);
    md->fence = md->head[0];
    md->fence_len = n;
    md->fence_quotes = md->quotes;
    write_rule(md, 2);
    while (n < md->head_len && is_space(md->head[n]))
        n++;
    if (n < md->head_len) maki_text_wrap_unwrapped(&md->wrap, ' ', MAKI_STYLE_DIM);
    for (; n < md->head_len; n++)
        maki_text_wrap_unwrapped(&md->wrap, md->head[n], MAKI_STYLE_DIM);
}

/* Write the bar of a quote; what follows is parsed as the start of a line. */
static void begin_quote(maki_markdown *md)
{
    maki_text_wrap_prefix(&md->wrap, MAKI_LIT("│ "), true);
    md->quotes++;
    md->indent = -1;
}

static void begin_line(maki_markdown *md, kind line)
{
    md->state = MAKI_MARKDOWN_TEXT;
    if (line != QUOTE) begin_indent(md);
    switch (line) {
    case HEADING: begin_block(md, MAKI_STYLE_HEADING); break;
    case BULLET:
        begin_block(md, MAKI_STYLE_PLAIN);
        maki_text_wrap_prefix(&md->wrap, MAKI_LIT("• "), false);
        break;
    case NUMBER:
        begin_block(md, MAKI_STYLE_PLAIN);
        begin_number(md);
        break;
    case QUOTE:
        begin_quote(md);
        md->state = MAKI_MARKDOWN_BEGIN;
        break;
    case TABLE:
        maki_text_wrap_unwrapped(&md->wrap, '|', MAKI_STYLE_PLAIN);
        md->state = MAKI_MARKDOWN_TABLE;
        break;
    case LINE: write_rule(md, RULE_WIDTH_MAX); break;
    case FENCE:
        begin_code(md);
        md->state = MAKI_MARKDOWN_CODE;
        break;
    default: write_head(md); break;
    }
    md->head_len = 0;
}

static void on_begin(maki_markdown *md, uint32_t code)
{
    if (is_space(code) && md->head_len == 0) {
        int columns = code == '\t' ? TAB : 1;
        if (md->indent + columns <= INDENT_MAX) md->indent += columns;
        return;
    }
    md->head[md->head_len++] = code;
    kind line = kind_of(md, false);
    if (line != UNKNOWN) begin_line(md, line);
}

/* ---- ends of lines -------------------------------------------------------------------------------- */

static void next_line(maki_markdown *md)
{
    maki_text_wrap_newline(&md->wrap);
    md->began = true;
    md->blank = false;
    md->indent = 0;
    md->quotes = 0;
}

/* Consecutive empty lines are written as one; leading ones are omitted. */
static void empty_line(maki_markdown *md)
{
    begin_block(md, MAKI_STYLE_PLAIN);
    if (md->quotes) {
        next_line(md);
        return;
    }
    if (md->began && !md->blank) maki_text_wrap_newline(&md->wrap);
    md->blank = true;
    md->indent = 0;
}

static void end_text(maki_markdown *md)
{
    maki_inline_flush(&md->line);
    if (md->line.base) begin_block(md, MAKI_STYLE_PLAIN); /* a heading is one line */
    next_line(md);
    md->state = MAKI_MARKDOWN_BEGIN;
}

static void begin_code_line(maki_markdown *md)
{
    next_line(md);
    md->state = MAKI_MARKDOWN_CODE_BEGIN;
}

/* The line ended before its kind was known. */
static void end_unknown_line(maki_markdown *md)
{
    if (md->head_len == 0) {
        empty_line(md);
        return;
    }
    begin_line(md, kind_of(md, true));
    if (md->state == MAKI_MARKDOWN_CODE) {
        begin_code_line(md);
    } else {
        end_text(md);
    }
}

/* ---- fenced code ---------------------------------------------------------------------------------- */

/* Can the start of this line be a closing fence (spaces, fence, spaces)?  `complete`: is the line one? */
static bool is_closing_fence(const maki_markdown *md, bool complete)
{
    size_t i = 0, fence = 0;
    while (i < md->head_len && is_space(md->head[i]))
        i++;
    for (; i < md->head_len && md->head[i] == md->fence; i++)
        fence++;
    while (fence >= md->fence_len && i < md->head_len && is_space(md->head[i]))
        i++;
    return i == md->head_len && i < MAKI_MARKDOWN_HEAD && (!complete || fence >= md->fence_len);
}

static void write_code(maki_markdown *md)
{
    for (size_t i = 0; i < md->head_len; i++)
        maki_text_wrap_unwrapped(&md->wrap, md->head[i], MAKI_STYLE_CODE);
    md->head_len = 0;
    md->state = MAKI_MARKDOWN_CODE;
}

static void end_code(maki_markdown *md)
{
    write_rule(md, 2);
    next_line(md);
    begin_block(md, MAKI_STYLE_PLAIN);
    md->head_len = 0;
    md->state = MAKI_MARKDOWN_BEGIN;
}

static void on_char(maki_markdown *md, uint32_t code);

static void on_code_begin(maki_markdown *md, uint32_t code)
{
    if (md->quotes < md->fence_quotes && md->head_len == 0) { /* each line of a quote has its > */
        if (is_space(code)) return;
        if (code == '>') {
            begin_quote(md);
        } else {
            end_code(md);
            on_char(md, code);
        }
        return;
    }
    if (md->indent < 0 && code == ' ') {
        md->indent = 0;
        return;
    }
    md->indent = 0;
    md->head[md->head_len++] = code;
    if (!is_closing_fence(md, false)) write_code(md);
}

static void end_code_begin(maki_markdown *md)
{
    if (is_closing_fence(md, true)) {
        end_code(md);
    } else {
        write_code(md);
        begin_code_line(md);
    }
}

/* ---- characters ----------------------------------------------------------------------------------- */

static void on_newline(maki_markdown *md)
{
    switch (md->state) {
    case MAKI_MARKDOWN_BEGIN: end_unknown_line(md); break;
    case MAKI_MARKDOWN_CODE_BEGIN: end_code_begin(md); break;
    case MAKI_MARKDOWN_CODE: begin_code_line(md); break;
    default: end_text(md); break;
    }
}

static void on_char(maki_markdown *md, uint32_t code)
{
    if (code == '\r') return;
    if (code == '\n') {
        on_newline(md);
        return;
    }
    switch (md->state) {
    case MAKI_MARKDOWN_BEGIN: on_begin(md, code); break;
    case MAKI_MARKDOWN_TEXT: maki_inline_char(&md->line, code); break;
    case MAKI_MARKDOWN_TABLE: maki_text_wrap_unwrapped(&md->wrap, code, MAKI_STYLE_PLAIN); break;
    case MAKI_MARKDOWN_CODE_BEGIN: on_code_begin(md, code); break;
    case MAKI_MARKDOWN_CODE: maki_text_wrap_unwrapped(&md->wrap, code, MAKI_STYLE_CODE); break;
    }
}

static void on_byte(maki_markdown *md, char byte)
{
    md->part[md->part_len++] = byte;
    maki_str part = { md->part, md->part_len };
    size_t len = md->part_len;
    if (maki_utf8_valid(part, NULL)) {
        md->part_len = 0;
        on_char(md, maki_utf8_decode(part, 0, &len));
    } else if (maki_utf8_incomplete(part) < len) {
        md->part_len = 0;
        on_char(md, REPLACEMENT);
        if (len > 1)
            on_byte(md, byte); /* the byte that made it invalid may begin the next character */
    }
}

maki_status maki_markdown_add(maki_markdown *md, maki_str chunk, maki_err *err)
{
    for (size_t i = 0; i < chunk.len; i++)
        on_byte(md, chunk.ptr[i]);
    return maki_text_wrap_flush(&md->wrap, err);
}

maki_status maki_markdown_end(maki_markdown *md, maki_err *err)
{
    bool code = md->state == MAKI_MARKDOWN_CODE || md->state == MAKI_MARKDOWN_CODE_BEGIN;
    if (md->part_len) on_char(md, REPLACEMENT);
    md->part_len = 0;
    if (md->state == MAKI_MARKDOWN_CODE || md->state == MAKI_MARKDOWN_TEXT ||
        md->state == MAKI_MARKDOWN_TABLE || md->head_len || md->quotes)
        on_newline(md);
    if (code && md->state == MAKI_MARKDOWN_CODE_BEGIN) end_code(md);
    return maki_text_wrap_flush(&md->wrap, err);
}
